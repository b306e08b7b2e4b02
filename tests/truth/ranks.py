"""Tiny worlds of percentiles by rank: two people with a number of 0, 1 or 2 each, and which grid point a plan names.

The chance of each point is worked out by `tests.oracle.ranks` from sorted lists; of the plan only its rate is taken.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.oracle import ranks
from tests.truth import numbers

from leeward.cli import LeewardError
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.query import records, statistic

POINTS = tuple(map(Fraction, range(3)))


class World(numbers.World):
    """A plan of a percentile by rank, and its universe."""

    __hash__ = numbers.World.__hash__
    plan: RankPlan  # type: ignore[assignment]

    @property
    def rate(self) -> float:
        return float(self.plan.mechanism.rate)

    @property
    def p(self) -> Fraction:
        return Fraction(self.query.numeric.p)  # type: ignore[union-attr]

    def held(self, table: Any) -> list[tuple[Fraction, ...]]:
        """The numbers of the people in each group, in order."""
        return [
            tuple(sorted(Fraction(record[1]) for record in table if record is not None and record[0] == group))
            for group in self.cells
        ]

    def named(self, people: Sequence[int]) -> tuple[float, ...]:
        """How likely each point is, where the people of a group have these numbers."""
        return ranks.named(self.rate, self.p, POINTS, tuple(map(Fraction, people)))

    @functools.cache  # noqa: B019 - worlds live as long as the tests
    def loss(self, x: Any, y: Any) -> float:
        """The largest log-ratio of all answers together, of two tables."""
        pairs = zip(self.held(x), self.held(y), strict=True)
        return sum(ranks.told_apart(self.rate, self.p, POINTS, these, those) for these, those in pairs)

    def spread(self, x: Any, y: Any) -> Fraction:
        """How far a change moves the rank errors of two points of a group apart, added up over the groups."""
        found = Fraction(0)
        for these, those in zip(self.held(x), self.held(y), strict=True):
            moved = [ranks.rank_error(those, z, self.p) - ranks.rank_error(these, z, self.p) for z in POINTS]
            found += max(moved) - min(moved)
        return found


def _table(combine: Any) -> Any:
    return records("people.parquet", person="user", combine=combine)


QUESTIONS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    **{name: asked for name, asked in numbers.QUESTIONS.items() if asked[1] in {"median", "min", "max", "percentile"}},
    "two thirds": (numbers.TABLE, "percentile", {**numbers.ONE, "p": "200/3"}),
    "ninety in groups": (numbers.TABLE, "percentile", {**numbers.IN_GROUPS, "p": "90"}),
    "median in one group": (numbers.TABLE, "median", {**numbers.ONE, "by": "sex", "groups": ["f"]}),
    "median of sums": (_table("sum"), "median", numbers.ONE),
    "greatest of several": (_table("max"), "max", numbers.ONE),
}


@functools.cache
def worlds() -> tuple[World, ...]:
    """Every combination that is not refused."""
    found = []
    for notion, question in itertools.product(numbers.NOTIONS, QUESTIONS):
        table, kind, described = QUESTIONS[question]
        try:
            planned = plan_rank(statistic(table, kind, **described), numbers.NOTIONS[notion](described.get("people")))  # type: ignore[arg-type]
        except LeewardError:
            continue
        found.append(World(f"{notion}, {question}", planned))  # type: ignore[arg-type]
    return tuple(found)
