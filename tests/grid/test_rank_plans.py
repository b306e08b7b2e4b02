"""Every planned percentile by rank under every notion of rows: the loss of every answer, on every ordered pair of tables.

The law is `tests.oracle.ranks`'s, the distance `tests.oracle.universe`'s; of the plan only its rate is taken. With groups
the answers are drawn apart, so what they tell two tables apart by adds up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by
from tests.grid.notions import BASES, BOTH, PERSONALISED, SCALED, Row
from tests.grid.queries import STATISTICS, TABLE, Query
from tests.grid.test_number_plans import HALVES, ROWS, metrics
from tests.oracle import ranks, universe
from tests.oracle.universe import NEVER, PARTS
from tests.oracle.universe import Row as Record

from leeward.cli import LeewardError
from leeward.errors import NotPrivateError
from leeward.notion import REPLACE, Manhattan
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.query import Kind, statistic

HALF = Fraction(1, 2)
PERCENTILES = [query for query in STATISTICS if query.query.kind == "percentile"]
NOTIONS = [*(row for row in (*BASES, *BOTH, *PERSONALISED, *SCALED) if "rows" in row.kinds), *metrics(crossing=True)]


def numbers(table: Any, query: Query, group: Any) -> tuple[Fraction, ...]:
    """The rounded numbers of the people in a group, in order."""
    values = query.query.values
    there = [r.x for r in table if r is not None and r.x is not None and group in (None, r.y)]
    return tuple(
        sorted(values.lower + math.floor((x - values.lower) / values.step + HALF) * values.step for x in there)
    )


def asked_of(query: Query) -> list[Fraction]:
    """The percentiles that are asked for, one or several."""
    return list(query.query.ps) or [Fraction(query.query.numeric.p)]


def universes(row: Row, query: Query) -> Iterator[list[tuple[Any, ...]]]:
    """Tables of one person with any record, and of two people with few."""
    metric = isinstance(row.notion, Manhattan) or row.notion in [m.notion for m in metrics(crossing=True)]
    every = HALVES if "halves" in row.name else [r for r in ROWS if not metric or r is None or r.x is not None]
    few = [None, *(r for r in every if r in (Record(0), Record(1, 1), Record(2), Record(3 * HALF, 1), Record(None)))]
    for secrets in (universe.all_of(every, 1), universe.all_of(few, 2)):
        if row.persons in (None, len(secrets[0])):
            yield secrets


def excess(row: Row, query: Query, plan: RankPlan, tables: list[Any], more: float = 1) -> float:
    """By how much what all answers together tell two tables apart by is above their distance, at most."""
    values, rate = query.query.values, float(plan.mechanism.rate) * more
    points = tuple(values.lower + i * values.step for i in range(int(values.width / values.step) + 1))
    groups = [0, 1] if query.query.intervals else query.query.groups or (None,)  # each of which is one value
    held = [[numbers(table, query, group) for group in groups] if query.fits(table) else None for table in tables]
    distance, worst = row.between(tables), -math.inf
    for i, these in enumerate(held):
        for j, those in enumerate(held):
            if i != j and distance[i, j] < NEVER and these is not None and those is not None:
                each = itertools.product(asked_of(query), zip(these, those, strict=True))
                lost = sum(ranks.told_apart(rate, p, points, a, b) for p, (a, b) in each)
                worst = max(worst, lost - float(distance[i, j]) / PARTS)
    return worst


def check(row: Row, query: Query) -> bool:
    """Whether a plan is made; it must keep its promise."""
    try:
        plan = plan_rank(query.query, row.notion)
    except LeewardError:
        return False
    assert plan.price == row.notion.epsilon
    for tables in universes(row, query):
        assert excess(row, query, plan, tables) <= 1e-9, (
            f"{query.name} under {row.name}: {plan.mechanism} is too little"
        )
    return True


@pytest.mark.parametrize("row", NOTIONS, ids=lambda row: row.name)
def test_the_rate_of_a_plan_is_private_on_every_pair_of_tables(row: Row) -> None:
    made = [check(row, query) for query in PERCENTILES]
    assert any(made) or row.notion.all_records, "closed where nothing is derived, and open where it is"
    assert not (any(made) and row.notion.all_records)


def test_the_grid_is_of_all_notions_and_questions() -> None:
    assert len(PERCENTILES) >= 50
    assert len(NOTIONS) >= 15
    assert {p for query in PERCENTILES for p in asked_of(query)} == {0, 25, 50, 67, 75, 100}
    assert {len(query.query.ps) for query in PERCENTILES} == {0, 2, 3}
    assert {len(query.query.groups) for query in PERCENTILES} == {0, 1, 2}
    assert {query.query.people for query in PERCENTILES} == {None, 1, 2}


# ---- the knife edge: three people, two points


def asked(p: Any, **by: Any) -> Query:
    return Query(
        f"{p} %", statistic_by(TABLE, "percentile", column="x", lower=0, upper=1, p=p, **by), "rows", lambda table: ()
    )


WHOLE, IN_ONE, IN_TWO = {}, {"by": "y", "groups": [0]}, {"by": "y", "groups": [0, 1]}
NAMED = {row.name: row for row in BASES}
OF_TWO = [None, Record(0), Record(1), Record(0, 1), Record(1, 1)]

EDGES: list[
    tuple[str, Any, dict[str, Any], Fraction]
] = [  # a notion, p, groups; ε over how far a step moves losses apart
    ("unbounded", 50, WHOLE, Fraction(1)),
    ("unbounded", 25, WHOLE, Fraction(2, 3)),
    ("unbounded", 50, IN_TWO, Fraction(1)),
    ("addition", 50, WHOLE, Fraction(1)),
    ("addition", 50, IN_TWO, Fraction(1)),
    ("removal", 50, IN_ONE, Fraction(2)),
    ("bounded", 50, WHOLE, Fraction(1, 4)),
    ("bounded", 50, IN_ONE, Fraction(1, 4)),
    ("bounded", 50, IN_TWO, Fraction(1, 4)),
    ("replace", 50, WHOLE, Fraction(1, 2)),
    ("replace", 50, IN_TWO, Fraction(1, 2)),
]


@pytest.mark.parametrize(("name", "p", "by", "rate"), EDGES)
def test_the_rate_is_what_the_theorem_says_and_the_largest(name: str, p: Any, by: Any, rate: Fraction) -> None:
    row, query = NAMED[name], asked(p, **by)
    plan = plan_rank(query.query, row.notion)
    assert plan.mechanism.rate == rate
    tables = universe.all_of(OF_TWO if by is IN_TWO else OF_TWO[:3] if by is WHOLE else OF_TWO[:4], 3)
    assert excess(row, query, plan, tables) <= 1e-9
    assert excess(row, query, plan, tables, 1.02) > 1e-9, "and no larger rate would do"


def crowd(*people: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(x) for x, many in enumerate(people) for _ in range(many))


EDGES_OF_SEVERAL: list[tuple[str, Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]] = [
    ("unbounded", Fraction(2, 5), crowd(500, 300, 0, 0), crowd(500, 300, 1, 0)),
    ("removal", Fraction(4, 5), crowd(0, 0, 300, 500), crowd(0, 1, 300, 500)),
    ("replace", Fraction(1, 4), crowd(1, 500, 300, 0), crowd(0, 500, 300, 1)),
]
"""A notion of ε, ε over how far a step moves the losses of both quartiles apart, and a step of one person in a crowd."""


@pytest.mark.parametrize(("name", "rate", "these", "those"), EDGES_OF_SEVERAL)
def test_the_rate_of_several_is_what_the_theorem_says_and_the_largest(
    name: str, rate: Fraction, these: Any, those: Any
) -> None:
    """In a small table the points between them leave room; in a crowd both quartiles are told apart as far as is allowed."""
    row = NAMED[name]
    plan = plan_rank(statistic(TABLE, Kind("percentile", p=["25", "75"]), column="x", lower=0, upper=3), row.notion)
    assert plan.mechanism.rate == rate
    points = tuple(map(Fraction, range(4)))

    def apart(more: float) -> float:
        return sum(ranks.told_apart(float(rate) * more, Fraction(p), points, these, those) for p in (25, 75))

    epsilon = float(row.notion.epsilon)
    assert apart(1) <= epsilon + 1e-9 < apart(1.02), "and no larger rate would do"


def test_a_forgotten_second_group_is_noticed() -> None:
    """Broken: whoever goes from one group to another is taken for somebody whose number changes."""
    row, query = NAMED["bounded"], asked(75, **IN_TWO)
    plan = plan_rank(query.query, row.notion)
    assert excess(row, query, plan, universe.all_of(OF_TWO, 3), 3 / 2) > 1e-9


def test_a_forgotten_way_to_another_group_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    row = metrics(crossing=True)[0]
    grouped = next(q for q in PERCENTILES if q.name == "statistic: min, step 1 by group")
    assert check(row, grouped)
    monkeypatch.setattr("leeward.planner._rank_plan.steps_of", lambda query, notion: notion.steps)
    fewer = plan_rank(grouped.query, row.notion)
    assert fewer.mechanism.rate >= plan_rank(grouped.query, row.notion).mechanism.rate


def test_nothing_is_derived_where_all_numbers_may_change_at_once() -> None:
    row = next(row for row in NOTIONS if row.notion.all_records)
    with pytest.raises(NotPrivateError, match="may change at once"):
        plan_rank(PERCENTILES[0].query, row.notion)


def test_replacing_is_the_dearest_of_what_it_may_be() -> None:
    for p, by, people, range_ in (
        (50, WHOLE, None, 2),
        (0, WHOLE, None, 2),
        (50, IN_ONE, None, 2),
        (50, IN_TWO, None, 2),
        (90, IN_TWO, None, Fraction(18, 5)),
        (0, IN_TWO, None, 4),
        (90, IN_ONE, 3, 2),
    ):
        query = statistic_by(TABLE, "percentile", column="x", lower=0, upper=1, p=p, people=people, **by)
        assert query.rank_range(REPLACE) == range_
