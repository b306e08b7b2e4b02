"""Tiny worlds of percentiles by rank: two people with a number of 0, 1 or 2 each, and which grid point a plan names.

The chance of each point is worked out by `tests.oracle.ranks` from sorted lists; of the plan only its rate is taken.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.asking import statistic_by
from tests.oracle import ranks
from tests.truth import numbers

from leeward.cli import LeewardError
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.query import records

POINTS = tuple(map(Fraction, range(3)))


class World(numbers.World):
    """A plan of a percentile by rank, and its universe."""

    __hash__ = numbers.World.__hash__
    plan: RankPlan  # type: ignore[assignment]

    @property
    def rate(self) -> float:
        return float(self.plan.mechanism.rate)

    def held(self, table: Any) -> list[tuple[Fraction, ...]]:
        """The numbers of the people in each group, in order."""
        return [
            tuple(sorted(Fraction(record[1]) for record in table if record is not None and record[0] == group))
            for group in self.cells
        ]

    def outcomes(self, people: Sequence[int]) -> dict[tuple[int, ...], float]:
        """How likely the answers of a group are, in order, where its people have these numbers."""
        each = [ranks.named(self.rate, p, POINTS, tuple(map(Fraction, people))) for p in self.ps]
        found = dict[tuple[int, ...], float]()
        for drawn in itertools.product(range(len(POINTS)), repeat=len(each)):
            chance = math.prod(law[z] for law, z in zip(each, drawn, strict=True))
            shown = tuple(sorted(drawn))
            found[shown] = found.get(shown, 0.0) + chance
        return found

    @functools.cache  # noqa: B019 - worlds live as long as the tests
    def loss(self, x: Any, y: Any) -> float:
        """The largest log-ratio of all answers together, of two tables."""
        pairs = zip(self.held(x), self.held(y), strict=True)
        each = itertools.product(self.ps, pairs)
        return sum(ranks.told_apart(self.rate, p, POINTS, these, those) for p, (these, those) in each)

    def spread(self, x: Any, y: Any) -> Fraction:
        """How far a change moves the rank errors of two points of a group apart, added up over groups and percentiles."""
        found = Fraction(0)
        for p, (these, those) in itertools.product(self.ps, zip(self.held(x), self.held(y), strict=True)):
            moved = [ranks.rank_error(those, z, p) - ranks.rank_error(these, z, p) for z in POINTS]
            found += max(moved) - min(moved)
        return found


def _table(combine: Any) -> Any:
    return records("people.parquet", person="user", combine=combine)


QUESTIONS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    **{name: asked for name, asked in numbers.QUESTIONS.items() if asked[1] in {"median", "min", "max", "percentile"}},
    "two thirds": (numbers.TABLE, "percentile", {**numbers.ONE, "p": "200/3"}),
    "thirds of several": (_table("min"), "percentile", {**numbers.ONE, "p": ["100/3", "200/3"]}),
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
            planned = plan_rank(
                statistic_by(table, kind, **described), numbers.NOTIONS[notion](described.get("people"))
            )  # type: ignore[arg-type]
        except LeewardError:
            continue
        found.append(World(f"{notion}, {question}", planned))  # type: ignore[arg-type]
    return tuple(found)
