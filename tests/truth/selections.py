"""Tiny worlds of names: which of two or three keys a plan names, of every table there can be.

The tables and their counts are those of the worlds of visits and numbers; the chance of each name is worked out here, from
what permute-and-flip is said to do, and nothing of the package is asked.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

from tests.asking import statistic_by
from tests.truth import numbers, visits

import leeward as lw
from leeward.cli import LeewardError
from leeward.query import records


def named(rate: float, gaps: Sequence[int]) -> list[float]:
    """The chance of each name: each is accepted by its gap alone, and one of those accepted is named, each as likely."""
    accepted = [math.exp(-rate * gap) for gap in gaps]
    found = [0.0] * len(gaps)
    for who in itertools.product((False, True), repeat=len(gaps)):
        chance = math.prod(p if yes else 1 - p for p, yes in zip(accepted, who, strict=True))
        for i, yes in enumerate(who):
            found[i] += chance / sum(who) if yes and chance else 0.0
    return found


def worst(rate: float, options: int, most: int) -> float:
    """The least chance that the one named is at most so far off: one is right, and all others are one further off."""
    bad = math.exp(-rate * (most + 1))
    return (1 - (1 - bad) ** options) / (options * bad)


class Named:
    """What both kinds of world share."""

    plan: Any
    notion: Any

    @property
    def price(self) -> Any:
        return self.notion.epsilon

    @property
    def rate(self) -> float:
        return float(self.plan.mechanism.rate)

    @property
    def busiest(self) -> bool:
        return bool(self.plan.query.which == "busiest")

    @property
    def options(self) -> int:
        """How many names its statement is about."""
        raise NotImplementedError

    def held(self, table: Any) -> tuple[int, ...]:
        """The count of each key."""
        raise NotImplementedError

    @functools.cache  # noqa: B019 - worlds live as long as the tests
    def names(self, counts: tuple[int, ...]) -> list[float]:
        """The chance of each name."""
        gaps = [max(counts) - c if self.busiest else c - min(counts) for c in counts]
        return named(self.rate, gaps)

    def loss(self, x: Any, y: Any) -> float:
        """The largest log-ratio of one name, of two tables."""
        pairs = zip(self.names(self.held(x)), self.names(self.held(y)), strict=True)
        return max((math.log(p / q) if q else math.inf) if p else -math.inf for p, q in pairs)


class OfVisits(Named, visits.World):
    """Which place."""

    __hash__ = visits.World.__hash__

    @property
    def options(self) -> int:
        return self.places

    @property
    def stops(self) -> None:
        return None

    def held(self, table: Any) -> tuple[int, ...]:
        return self.counts(table)


class OfNumbers(Named, numbers.World):
    """Which group, or which interval."""

    __hash__ = numbers.World.__hash__

    @property
    def options(self) -> int:
        return len(self.held(self.tables[0]))

    def held(self, table: Any) -> tuple[int, ...]:
        return self.exact(table)


BY_SEX: dict[str, Any] = {"by": "sex", "groups": ["f", "m"]}
ASKED: dict[str, tuple[Any, str, dict[str, Any]]] = {
    **{name: asked for name, asked in numbers.QUESTIONS.items() if asked[1] == "histogram"},
    "three groups": (numbers.TABLE, "histogram", {"by": "sex", "groups": ["f", "m", "x"]}),
    "groups of several": (records("people.parquet", person="user", combine="min"), "histogram", BY_SEX),
    "groups of rows": (numbers.ROWS, "histogram", BY_SEX),
}


@functools.cache
def worlds() -> tuple[Named, ...]:
    """Every combination that is not refused."""
    found: list[Named] = []
    for notion, question, which in itertools.product(visits.NOTIONS, visits.QUESTIONS, ("busiest", "quietest")):
        asked, extra = visits.NOTIONS[notion]
        for look in ("plain",) if (notion, question) != ("dp", "no bound") else visits.LOOKS:
            table, span, places = visits.LOOKS[look]
            query = lw.count_visitors(table, visits.LIST, **span, **visits.QUESTIONS[question])
            try:
                planned = lw.plan(lw.select(query, which), asked).listing(places)
            except LeewardError:
                continue
            found.append(OfVisits(f"{notion}, {question}, {which}, {look}", planned, places, **extra))
    for notion, question, which in itertools.product(numbers.NOTIONS, ASKED, ("busiest", "quietest")):
        table, kind, described = ASKED[question]
        try:
            planned = lw.plan(lw.select(statistic_by(table, kind, **described), which), numbers.NOTIONS[notion](None))  # type: ignore[arg-type, call-overload]
        except LeewardError:
            continue
        found.append(OfNumbers(f"{notion}, {question}, {which}", planned))
    return tuple(found)
