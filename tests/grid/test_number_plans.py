"""The noise of every planned statistic under every notion of rows: allowed on every pair of tables.

A mean over a private number of people has two noisy parts, the sum (in half steps from the middle) and the number, whose
prices add up; going from one group to another costs the metric notions what the largest move of a number does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.grid.notions import BASES, Row
from tests.grid.queries import STATISTICS, Query
from tests.grid.test_sensitivities import Moves, plain
from tests.oracle import universe
from tests.oracle.universe import Row as Record

from leeward.cli import LeewardError
from leeward.notion import Manhattan, Maximum, NormalisedManhattan, Notion, ValueGrid
from leeward.planner._number_plan import plan_number
from leeward.query import sensitivity

HALF = Fraction(1, 2)
WHOLE = [Record(x, y) for x in range(3) for y in range(2)]
ROWS = [None, *WHOLE, Record(None, 0)]
HALVES = [None, *WHOLE[:3], Record(HALF, 0), Record(3 * HALF, 1)]


def moved(rate: Any, width: Any, elsewhere: Any) -> Callable[[Any, Any], Any]:
    """A number moves within its group; nobody, and another group where that is a step, are ``width`` away."""

    def step(r: Any, s: Any) -> Any:
        if r is None or s is None:
            return math.inf if width is None else rate * width
        return rate * abs(r.x - s.x) if r.y == s.y else elsewhere

    return step


def metric(name: str, notion: Notion, rate: Any, width: Any, *, crossing: bool) -> Row:
    """A metric notion on rows, where going to another group costs the width, or is not a step of its own."""
    steps = moved(rate, width, rate * 2 if crossing else math.inf)
    if isinstance(notion, Maximum):
        return Row(name, notion, None, frozenset({"rows"}), lambda tables: universe.everybody(steps, tables))
    return Row(name, notion, steps, frozenset({"rows"}))


def metrics(*, crossing: bool) -> list[Row]:
    whole, one_sided_components = ValueGrid(0, 2), ValueGrid(0, 2, "1/2")
    return [
        metric("manhattan", Manhattan(1, whole), 1, 2, crossing=crossing),
        metric("manhattan, people public", Manhattan(1, whole, unit=2, nobody=False), HALF, None, crossing=crossing),
        metric("manhattan of halves", Manhattan(1, one_sided_components), 1, 2, crossing=crossing),
        metric("normalised", NormalisedManhattan(3, whole), Fraction(3, 2), 2, crossing=crossing),
        metric(
            "maximum", Maximum(1, whole), 1, 2, crossing=True
        ),  # where absence is protected, any replacement is a step
        metric("maximum, people public", Maximum(2, whole, nobody=False), 2, None, crossing=crossing),
    ]


ANY = [row for row in BASES if "rows" in row.kinds]


def pairs(row: Row, query: Query, answer: Callable[[Any], Any]) -> Iterator[Moves]:
    """Tables of one person with any record, and of two people."""
    metric = isinstance(row.notion, Manhattan)
    every = HALVES if "halves" in row.name else [r for r in ROWS if not metric or r is None or r.x is not None]
    few = [None, *(r for r in every if r in (Record(0), Record(1, 1), Record(2), Record(3 * HALF, 1), Record(None)))]
    for secrets in (universe.all_of(every, 1), universe.all_of(few, 2)):
        can_be = np.array([bool(query.fits(secret)) for secret in secrets])
        if not can_be.any():  # no table of one person is of two people
            continue
        found = [answer(secret) if fits else None for secret, fits in zip(secrets, can_be, strict=True)]
        size = max((len(told) for told in found if told is not None), default=1)
        told = [one if one is not None else (Fraction(0),) * size for one in found]
        parts = math.lcm(*(value.denominator for row_ in told for value in row_))
        whole = np.array([[int(value * parts) for value in one] for one in told], dtype=np.int64)
        yield Moves(row.between(secrets), whole, parts, can_be)


def sum_and_number(query: Query) -> Callable[[Any], Any]:
    """Twice the sum of the distances from the middle in steps, and the number of people, group by group."""
    values, groups = query.query.values, query.query.groups or (None,)

    def answer(table: Any) -> Any:
        told = []
        for group in groups:
            there = [r for r in table if r is not None and r.x is not None and group in (None, r.y)]
            numbers = [
                values.lower + math.floor((r.x - values.lower) / values.step + HALF) * values.step for r in there
            ]
            middle = (values.lower + values.upper) / 2
            told += [sum((2 * (n - middle) / values.step for n in numbers), Fraction(0)), Fraction(len(there))]
        return tuple(told)

    return answer


def check(row: Row, query: Query, more: Any = 1) -> bool:
    """Whether a plan is made; it must be allowed, with rates so many times as large."""
    try:
        plan = plan_number(query.query, row.notion)
    except LeewardError:
        return False
    groups = max(1, len(query.query.groups))
    if len(plan.parts) == 2:
        up, down = ([plain(getattr(part.line, way)) for part in plan.parts] * groups for way in ("rise", "fall"))
        answer = sum_and_number(query)
    else:
        up, down = ([plain(getattr(plan.parts[0].line, way))] * query.query.cells for way in ("rise", "fall"))
        answer = query.answer
    for one in pairs(row, query, answer):
        assert one.spent([rate * more for rate in up], [rate * more for rate in down])[0], (
            f"{query.name} under {row.name}: {plan.parts} is too little noise"
        )
    return True


@pytest.mark.parametrize("start", range(0, len(STATISTICS), 20))
def test_the_noise_of_a_plan_is_enough(start: int) -> None:
    made = [check(row, query) for query in STATISTICS[start : start + 20] for row in [*ANY, *metrics(crossing=True)]]
    assert sum(made) > len(made) / 3


@pytest.mark.parametrize("start", range(7))
def test_sensitivities_under_metric_notions_of_rows(start: int) -> None:
    """As `tests.grid.test_sensitivities`; another group is reached over nobody."""
    answered, queries = 0, STATISTICS[start::7]  # of each kind some: counts of people alone are refused
    for query in queries:
        for row in metrics(crossing=False):
            try:
                line = sensitivity(row.notion, query.query).line
            except LeewardError:
                continue
            answered += 1
            for one in pairs(row, query, query.answer):
                rates = [[plain(rate)] * one.moves.shape[1] for rate in (line.rise, line.fall)]
                assert one.spent(*rates)[0], f"{query.name} under {row.name}: {line} is too little noise"
    assert answered > 2 * len(queries)


@pytest.mark.parametrize("row", [ANY[0], ANY[1], *metrics(crossing=True)[:5]], ids=lambda row: row.name)
@pytest.mark.parametrize("name", ["sum, step 1", "median, step 1 by group", "mean, step 1", "mean, step 1 by group"])
def test_a_hundredth_less_noise_is_noticed(name: str, row: Row) -> None:
    query = next(q for q in STATISTICS if q.name == f"statistic: {name}")
    if check(row, query):
        with pytest.raises(AssertionError, match="too little noise"):
            check(row, query, Fraction(101, 100))


def test_a_forgotten_way_to_another_group_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    grouped = next(q for q in STATISTICS if q.name == "statistic: median, step 1 by group")
    row = metrics(crossing=True)[0]
    assert check(row, grouped)
    monkeypatch.setattr("leeward.planner._number_plan.steps_of", lambda query, notion: notion.steps)
    with pytest.raises(AssertionError, match="too little noise"):
        check(row, grouped)
