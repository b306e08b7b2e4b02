"""Numbers by public groups: going from one group to another, or to none that is listed, is never told too clearly.

The oracle's records are (group, number): within a group a number moves as the notion says, and any other change of a record
costs what two numbers can be apart at most; each person at an ε of their own. The noise of a plan must keep that for every
pair of whole tables, answer by answer.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by
from tests.oracle import universe
from tests.oracle.tables import Cost, Steps

from leeward.exact import Real
from leeward.notion import Manhattan, Notion, Personalised, UnboundedDP, ValueGrid
from leeward.planner import NumberPlan
from leeward.planner._number_plan import plan_number
from leeward.query import records, statistic

LISTED = {1: ["g"], 2: ["g", "h"]}
VALUES = ValueGrid(8, 10)


def moves(rate: Cost, *, nobody: bool) -> Steps:
    """ε·d_1 within a group; the width of the universe for any other change of a record."""

    def step(r: Any, s: Any) -> Cost:
        if r is None or s is None:
            return rate * 2 if nobody else math.inf
        return rate * (abs(r[1] - s[1]) if r[0] == s[0] else 2)

    return step


def in_and_out(rate: Cost) -> Steps:
    return lambda r, s: rate if (r is None) != (s is None) else math.inf


NOTIONS: dict[str, tuple[Notion, list[Steps]]] = {
    "people public": (Manhattan(1, VALUES, nobody=False), [moves(1, nobody=False)] * 2),
    "absence protected": (Manhattan(1, VALUES), [moves(1, nobody=True)] * 2),
    "each their own, people public": (
        Personalised(Manhattan(1, VALUES, nobody=False), ["1", "1/10"]),
        [moves(1, nobody=False), moves(Fraction(1, 10), nobody=False)],
    ),
    "each their own": (
        Personalised(Manhattan(1, VALUES), ["1/10", "2"]),
        [moves(Fraction(1, 10), nobody=True), moves(2, nobody=True)],
    ),
    "unbounded": (UnboundedDP(1), [in_and_out(1)] * 2),
    "unbounded, each their own": (
        Personalised(UnboundedDP(1), ["1/10", "1"]),
        [in_and_out(Fraction(1, 10)), in_and_out(1)],
    ),
}


def answers(kind: str, table: tuple[Any, ...], groups: list[str]) -> list[int]:
    """The exact whole numbers that are drawn about, group by group."""
    found = []
    for group in groups:
        numbers = sorted(record[1] for record in table if record is not None and record[0] == group)
        if kind == "sum":
            found.append(sum(numbers))
        elif kind == "median":
            found.append(numbers[len(numbers) // 2] if numbers else 8)
        else:  # of a mean, twice the distance from the middle, and how many
            found += [sum(2 * (n - 9) for n in numbers), len(numbers)]
    return found


def number(rate: Real) -> Cost:
    return math.inf if rate.is_infinite else rate.rational


def told(plan: NumberPlan, kind: str, groups: list[str], notion: str) -> list[str]:
    """The pairs of tables that the noise tells apart further than the notion allows."""
    steps = NOTIONS[notion][1]
    every = [*itertools.product(["g", "h", "z"], (8, 9, 10)), None]
    tables = universe.all_of(every, 2)
    made = universe.closed(universe.one_person(steps, tables))
    rates = [(number(part.law.down), number(part.law.up)) for part in plan.parts]
    exact = [answers(kind, table, groups) for table in tables]
    over = []
    for i, j in itertools.permutations(range(len(tables)), 2):
        if made[i, j] >= universe.NEVER:
            continue
        spent: Cost = 0
        for k, (before, after) in enumerate(zip(exact[i], exact[j], strict=True)):
            rise, fall = rates[k % len(rates)]
            if before != after:
                spent += (after - before) * rise if after > before else (before - after) * fall
        if spent > Fraction(int(made[i, j]), universe.PARTS):
            over.append(f"{tables[i]} → {tables[j]}: {spent} of {Fraction(int(made[i, j]), universe.PARTS)}")
    return over


ASKED: dict[str, dict[str, Any]] = {
    "sum": {"kind": "sum"},
    "median": {"kind": "median"},
    "mean": {"kind": "mean", "grid": "1"},
}


def planned(kind: str, notion: Notion, listed: int) -> NumberPlan:
    query = statistic_by(
        records("t.parquet", person="each row"),
        column="number",
        lower=8,
        upper=10,
        by="group",
        groups=LISTED[listed],
        **ASKED[kind],
    )
    return plan_number(query, notion)


@pytest.mark.parametrize("listed", LISTED)
@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("notion", NOTIONS)
def test_no_two_tables_are_told_apart_further_than_promised(notion: str, kind: str, listed: int) -> None:
    assert told(planned(kind, NOTIONS[notion][0], listed), kind, LISTED[listed], notion) == []


def test_leaving_the_only_listed_group_is_a_change_of_record() -> None:
    """Its number of people is not public, and a sum falls by all that the person had."""
    query = statistic(
        records("t.parquet", person="each row"), "sum", column="number", lower=8, upper=10, by={"group": ["g"]}
    )
    line = plan_number(query, Manhattan(1, VALUES, nobody=False)).parts[0]
    assert line.law.up * 10 / query.values.grid_with_zero <= 2  # type: ignore[union-attr]
    alone = statistic(records("t.parquet", person="each row"), "sum", column="number", lower=8, upper=10)
    assert plan_number(alone, Manhattan(1, VALUES, nobody=False)).parts[0].law.up == 1


def test_the_one_with_the_smallest_epsilon_decides() -> None:
    each = Personalised(Manhattan(1, VALUES, nobody=False), ["1", "1/10"])
    least = Manhattan("1/10", VALUES, nobody=False)
    for kind, listed in itertools.product(ASKED, LISTED):
        own, alike = planned(kind, each, listed), planned(kind, least, listed)
        assert [repr(part) for part in own.parts] == [repr(part) for part in alike.parts]


@pytest.mark.parametrize("notion", ["people public", "each their own, people public"])
def test_the_rule_that_there_was_is_rejected(notion: str, monkeypatch: Any) -> None:
    from leeward.notion import REPLACE, Step
    from leeward.planner import _number_plan as number_plan

    def before(query: Any, of: Notion) -> tuple[Step, ...]:
        between = of.cost(REPLACE)  # the largest of all persons, and only where several groups are listed
        return (*of.steps, Step(REPLACE, between)) if len(query.groups) > 1 else of.steps

    monkeypatch.setattr(number_plan, "steps_of", before)
    listed = 1 if notion == "people public" else 2
    assert told(planned("sum", NOTIONS[notion][0], listed), "sum", LISTED[listed], notion)
