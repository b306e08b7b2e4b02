"""The best decision about one count, by going through all tables of a few people: nothing is better, and it is attained.

The oracle is the definition of privacy on whole tables (`tests.oracle.universe`), and knows of no steps of counts: of all
functions of the count that are private and wrong with probability α at most, the largest everywhere at once.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.grid.notions import BASES, BY_NAME, OTHER_UNITS, Row, both, personalised
from tests.oracle import universe

import leeward as lw
from leeward.exact import Weight
from leeward.mechanism import FiniteMechanism
from leeward.mechanism._threshold_rule import CountNoise
from leeward.noise import DirectedGeometric
from leeward.notion import GroupDP
from leeward.planner import Option, decisions
from leeward.planner._option import best_possible
from leeward.query import CountVisitors

PEOPLE = 3
AT = [None, frozenset("a"), frozenset("b"), frozenset("c")]
ALPHA = Fraction(1, 20)


def query() -> CountVisitors:
    visits = lw.visits("visits.parquet", person="user", place="venue", time="at")
    places = lw.places("places.parquet", place="venue")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    return lw.count_visitors(visits, places, **window, places_per_person=1)


def told(notion: Any, t: int, alpha: Fraction | None = ALPHA, law: CountNoise | None = None) -> Any:
    noise = law or DirectedGeometric("1", "1")
    decided = decisions(noise, safe_at_most=t, dangerous_at_least=t + 1 if alpha else None, error_at_most=alpha)
    return best_possible(Option("geometric", notion=notion, price=notion.epsilon, decisions=decided), query())


def best(costs: Any, counts: list[int], wrong: set[int], alpha: float) -> dict[int, float]:
    """The greatest Pr[word | c], from 1 downwards until every pair of tables is private; α where the word is wrong."""
    chance = {c: alpha if c in wrong else 1.0 for c in counts}
    between: dict[tuple[int, int], float] = {}
    for i, j in np.argwhere(costs < universe.NEVER).tolist():
        pair = counts_of[i], counts_of[j]
        if pair[0] != pair[1]:
            between[pair] = min(between.get(pair, math.inf), costs[i, j] / universe.PARTS)
    while True:
        before = dict(chance)
        for (c, d), cost in between.items():
            chance[c] = min(chance[c], math.exp(cost) * chance[d])  # the word, from c to d
            chance[d] = min(chance[d], 1 - math.exp(-cost) * (1 - chance[c]))  # the other word
        if chance == before:
            return chance


TABLES: list[Any] = list(itertools.product(AT, repeat=PEOPLE))
counts_of = [sum(record == frozenset("a") for record in table) for table in TABLES]

GROUPS = [
    Row("two and one", GroupDP(1, [(0, 1), (2,)]), None, tables=lambda s: universe.one_group(1, [(0, 1), (2,)], s)),
    Row("all", GroupDP(2, [(0, 1, 2)]), None, tables=lambda s: universe.one_group(2, [(0, 1, 2)], s)),
]
EACH = [personalised(BY_NAME[n], 1, "1/2", 2) for n in ("unbounded", "addition", "bounded", "presence", "graded")]
TWO = [
    made
    for one, two in itertools.combinations(("addition", "removal", "bounded", "presence", "graded", "graded facts"), 2)
    if (made := both(BY_NAME[one], BY_NAME[two])) is not None and isinstance(made.notion, lw.Notion)
]
VISITS = [row for row in [*BASES, *OTHER_UNITS] if "visits" in row.kinds and row.listed is None]
ROWS = [*(row for row in VISITS if row.persons in {None, PEOPLE}), *GROUPS, *EACH, *TWO]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_nothing_is_better_and_it_is_attained(row: Row) -> None:
    """For every threshold below the number of people; above, only notions that know the number have no unsafe table."""
    costs = row.between(TABLES)
    known = row.persons is not None or row in GROUPS
    claimed = 0
    for t, alpha in itertools.product(range(PEOPLE + known), (Fraction(0), ALPHA, Fraction(1, 2))):
        said = told(row.notion, t, alpha or None, None if alpha else DirectedGeometric("1", "inf"))
        for word, wrong in ((0, set(range(t + 1, 9))), (1, set(range(t + 1)))):
            if not alpha and word:  # noise upwards is never wrong about safe
                continue
            right = best(costs, list(range(PEOPLE + 1)), wrong, float(alpha))
            for c in range(PEOPLE + 1):
                chance = said(c)[word]
                if chance is not None:
                    claimed += 1
                    assert float(chance) == pytest.approx(right[c], abs=1e-12), (t, alpha, word, c)
    assert bool(claimed) == (row.name.split(",")[0] not in {"adp", "osdp", "uldp"})


@pytest.mark.parametrize(
    "groups", [[(0, 1), (2, 3)], [(0,), (1, 2, 3)], [(0, 1, 2, 3)], [(0,), (1,), (2,), (3,)]], ids=str
)
@pytest.mark.parametrize("t", [0, 1, 2, 3])
def test_under_groups_it_is_private_and_a_little_more_is_not(groups: list[tuple[int, ...]], t: int) -> None:
    """Found by hand: a group was taken for so many people at ε/m each, and a private decision was better than the best."""
    notion = GroupDP("1", groups)
    curve = [told(notion, t)(c)[0] for c in range(5)]
    tables = list(itertools.product("ab", repeat=4))

    def mechanism(of: list[Weight]) -> FiniteMechanism:
        return FiniteMechanism(tables, ("safe", "not"), [[p, 1 - p] for p in (of[x.count("a")] for x in tables)])

    assert lw.verify(mechanism(curve), notion)
    more = Fraction(1, 1000)
    for c in range(t + 1):
        raised = [p + more if i == c else p for i, p in enumerate(curve)]
        assert not lw.verify(mechanism(raised), notion)


def test_the_decision_that_was_better_than_the_best() -> None:
    tables = list(itertools.product("ab", repeat=4))
    rows = [["27/100", "73/100"] if x.count("a") <= 1 else ["1/10", "9/10"] for x in tables]
    notion = GroupDP("1", [[0, 1], [2, 3]])
    assert lw.verify(FiniteMechanism(tables, ("safe", "not"), rows), notion)
    assert all(float(told(notion, 1, Fraction(1, 10))(c)[0]) >= 0.27 for c in (0, 1))


def test_where_too_few_people_are_there_nothing_limits_safe() -> None:
    assert [told(GroupDP("1", [[0, 1], [2]]), t)(0)[0] == 1 for t in (2, 3, 4)] == [False, True, True]
    own = lw.Personalised(lw.AdditionOnly("1"), ["1", "2"])
    assert [told(own, t)(0)[0] == 1 for t in (1, 2)] == [False, True]
