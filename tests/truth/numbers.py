"""Tiny worlds of numbers: two people with a number of 0, 1 or 2 each, and what a plan publishes of them.

The people are in one or two groups. The exact answers are computed here from the tables, in the integers that the plan says
it draws around.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from tests.asking import statistic_by

import leeward as lw
from leeward.cli import LeewardError
from leeward.notion import ValueGrid
from leeward.planner import NumberPlan
from leeward.planner._number_plan import plan_number
from leeward.query import Statistic, records

TABLE = records("people.parquet", person="user", keep={"state": ["IN"]})
ROWS = records("people.parquet", person="user")  # of rows, tests/session/test_each_row.py
TIMED = records("people.parquet", person="user", time="at", timezone="Asia/Tokyo")
DAY = {"start": "2026-01-01", "end": "2026-01-02"}
CROSSED: dict[str, Any] = {"by": {"sex": ["f", "m"], "town": ["A"]}}
VALUES = ValueGrid(0, 2, 1)
SPREADS = ("variance", "standard deviation")
NEAR = 40


@dataclass(frozen=True)
class World:
    """A plan about numbers, and its universe.

    Attributes:
        name: what is varied, in words.
        plan: the plan.
    """

    name: str
    plan: NumberPlan
    groups: tuple[tuple[int, ...], ...] = ((0,), (1,))
    own: tuple[float, ...] = field(default=())

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def notion(self) -> Any:
        return self.plan.notion

    @property
    def query(self) -> Statistic:
        return self.plan.counted

    @property
    def price(self) -> Any:
        return self.notion.epsilon

    @property
    def unit(self) -> str:
        return "table" if "largest change" in self.notion.words.definition else "person"

    @property
    def ps(self) -> tuple[Fraction, ...]:
        """The percentiles asked for, one or several."""
        return self.query.ps or (Fraction(self.query.numeric.p),)  # type: ignore[union-attr]

    # ---- the universe: a record is (group, number)

    @property
    def cells(self) -> tuple[Any, ...]:
        return tuple(self.query.groups) or (None,)

    @functools.cached_property
    def records(self) -> tuple[Any, ...]:
        """Nobody, and every number in every group, asked for or not; where the number of people is public, all have one."""
        more = ("x", None) if self.query.others else ()
        held = tuple(itertools.product((*self.cells, *more), (0, 1, 2)))
        return held if self.query.people is not None else (None, *held)

    @functools.cached_property
    def tables(self) -> tuple[Any, ...]:
        return tuple(itertools.product(self.records, repeat=2))

    def apart(self, r: Any, s: Any) -> float:
        """How far two records are from one another: numbers by their difference, all else by the range."""
        if r == s:
            return 0.0
        if r is None or s is None:
            return 2.0 if self.notion.nobody else math.inf
        return float(abs(r[1] - s[1])) if r[0] == s[0] else 2.0

    def keeps(self, r: Any, s: Any) -> bool:
        return False

    def sensitive(self, r: Any) -> bool:
        return False

    def exact(self, table: Any) -> tuple[int, ...]:
        """What noise is added to, in the order of the answers."""
        found: list[int] = []
        for group in self.cells:
            here = [record[1] for record in table if record is not None and counts_in(self.query, record[0]) == group]
            kind = self.query.kind
            if kind == "histogram":
                found += [len(here)] if self.query.column is None else [here.count(0), len(here) - here.count(0)]
            elif kind == "sum":
                found.append(sum(here))
            elif kind == "percentile":
                for p in self.ps:
                    at = math.floor(p * len(here) / 100)
                    found.append(sorted(here)[min(at, len(here) - 1)] if here else 0)
            elif kind in SPREADS and self.query.people is not None:  # in parts of a squared step, m² of which are one
                found.append(len(here) * sum(x * x for x in here) - sum(here) ** 2)
            elif self.query.people is None:  # the sum of distances from the middle in half steps, and the number
                squares = [sum(2 * (2 * x - 2) ** 2 - 4 for x in here)] if kind in SPREADS else []
                found += [2 * sum(here) - 2 * len(here), *squares, len(here)]
            else:
                grid = self.query.numeric.grid  # type: ignore[union-attr]
                found.append(math.floor(Fraction(sum(here), len(here)) / grid + Fraction(1, 2)))
        return tuple(found)

    # ---- the mechanism

    @functools.cached_property
    def chances(self) -> tuple[Mapping[int, float], ...]:
        k = np.arange(-2 * NEAR, 2 * NEAR + 1)
        laws = (part.law.pmf_array(k).tolist() for part in self.plan.parts)
        return tuple(dict(zip(k.tolist(), law, strict=True)) for law in laws)

    @functools.cache  # noqa: B019
    def _ratio(self, part: int, move: int) -> float:
        """The largest log-ratio of one noisy answer whose truth is 0 and whose cover is ``move``."""
        chance, found = self.chances[part], -math.inf
        for z in range(-NEAR // 2, NEAR // 2):
            p, q = chance[z], chance[z - move]
            if p:
                found = max(found, math.log(p / q) if q else math.inf)
        return found

    def loss(self, x: Any, y: Any) -> float:
        """The largest log-ratio of all noisy answers of two tables."""
        pairs = zip(self.exact(x), self.exact(y), strict=True)
        n = len(self.plan.parts)
        return sum(self._ratio(i % n, after - before) for i, (before, after) in enumerate(pairs))


def counts_in(query: Statistic, key: Any) -> Any:
    """The group in which somebody with this key counts."""
    return query.groups[-1] if query.others and key not in query.groups[:-1] else key


NOTIONS: Mapping[str, Any] = {
    "dp": lambda people: lw.UnboundedDP("1"),
    "bounded-dp": lambda people: lw.BoundedDP("1"),
    "replace": lambda people: lw.ReplaceDP("1"),
    "addition-only": lambda people: lw.AdditionOnly("1"),
    "removal-only": lambda people: lw.RemovalOnly("1"),
    "both": lambda people: lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("2")),
    "manhattan": lambda people: lw.Manhattan("1", VALUES, nobody=people is None),
    "manhattan by 2": lambda people: lw.Manhattan("1", VALUES, unit="2 years", nobody=people is None),
    "normalised": lambda people: lw.notion.NormalisedManhattan("1", VALUES, nobody=people is None),
    "maximum": lambda people: lw.notion.Maximum("1", VALUES, nobody=people is None),
}

ONE: dict[str, Any] = {"column": "age", "lower": 0, "upper": 2}
IN_GROUPS: dict[str, Any] = {**ONE, "by": "sex", "groups": ["f", "m"]}
BINS: dict[str, Any] = {"column": "age", "lower": 0, "upper": 2}

QUESTIONS: Mapping[str, tuple[Any, str, dict[str, Any]]] = {
    "sum": (TABLE, "sum", ONE),
    "sum of rows": (ROWS, "sum", ONE),
    "sum of two": (TABLE, "sum", {**ONE, "people": 2}),
    "sum in groups": (TABLE, "sum", IN_GROUPS),
    "mean": (TABLE, "mean", ONE),
    "mean of two": (TABLE, "mean", {**ONE, "people": 2, "grid": "1/2"}),
    "mean in groups": (TABLE, "mean", IN_GROUPS),
    "variance": (TABLE, "variance", {**ONE, "grid": "1/4"}),
    "variance of two": (TABLE, "variance", {**ONE, "people": 2, "grid": "3/8"}),
    "variance in groups": (TABLE, "variance", IN_GROUPS),
    "deviation": (TABLE, "standard deviation", {**ONE, "grid": "1/4"}),
    "deviation of two": (TABLE, "standard deviation", {**ONE, "people": 2, "grid": "1/8"}),
    "median": (TABLE, "median", ONE),
    "least": (TABLE, "min", ONE),
    "greatest": (TABLE, "max", ONE),
    "percentile": (TABLE, "percentile", {**ONE, "p": "25"}),
    "quartiles": (TABLE, "percentile", {**ONE, "p": ["25", "50", "75"]}),
    "extremes in groups": (TABLE, "percentile", {**IN_GROUPS, "p": ["0", "100"]}),
    "median of two": (TABLE, "median", {**ONE, "people": 2}),
    "median in groups": (TABLE, "median", IN_GROUPS),
    "histogram": (TABLE, "histogram", BINS),
    "histogram of groups": (TABLE, "histogram", {"by": "sex", "groups": ["f", "m"]}),
    "histogram in groups": (TABLE, "histogram", {**BINS, "by": "sex", "groups": ["f", "m"]}),
    "histogram of groups, and others": (TABLE, "histogram", {"by": "sex", "groups": ["f"], "others": "else"}),
    "median in a group, and others": (TABLE, "median", {**ONE, "by": "sex", "groups": ["f"], "others": "else"}),
    "histogram in one group": (TABLE, "histogram", {**BINS, "by": "sex", "groups": ["f"]}),
    "sums of several": (records("people.parquet", person="user", combine="sum"), "sum", ONE),
    "least of several, in groups": (records("people.parquet", person="user", combine="min"), "median", IN_GROUPS),
    "mean in groups, of a day": (TIMED, "mean", {**IN_GROUPS, **DAY}),
    "histogram of groups, of a day": (TIMED, "histogram", {"by": "sex", "groups": ["f", "m"], **DAY}),
    "histogram by two columns": (TABLE, "histogram", CROSSED),
    "sum by intervals": (TABLE, "sum", {**ONE, "by": {"sex": {"lower": 0, "upper": 2, "step": 1}}}),
    "median by an interval": (TABLE, "median", {**ONE, "by": {"sex": {"lower": 0, "upper": 3, "step": 3}}}),
    "sum by two columns": (TABLE, "sum", {**ONE, **CROSSED}),
    "median of a day": (TIMED, "median", {**ONE, **DAY}),
    "histogram of a day": (TIMED, "histogram", {**BINS, **DAY}),
    "greatest of several": (records("people.parquet", person="user", combine="max"), "histogram", BINS),
}


def worlds() -> list[World]:
    """Every combination that is not refused."""
    found = []
    for notion, question in itertools.product(NOTIONS, QUESTIONS):
        table, kind, described = QUESTIONS[question]
        try:
            planned = plan_number(statistic_by(table, kind, **described), NOTIONS[notion](described.get("people")))  # type: ignore[arg-type]
        except LeewardError:
            continue
        found.append(World(f"{notion}, {question}", planned))
    return found
