"""The package's own objects for the promises and conditions that `tests.oracle.promises` describes, and a stream of them."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import leeward as lw
from leeward.notion import Notion

HALF = Fraction(1, 2)
INFINITE = float("inf")


def condition(told: tuple[Any, ...]) -> Any:
    kind = told[0]
    if kind == "not":
        return ~condition(told[1])
    if kind in {"and", "or"}:
        one, two = map(condition, told[1:])
        return one & two if kind == "and" else one | two
    if kind == "has":
        return lw.has(told[1])
    return (
        lw.where(told[1], one_of=told[2]) if kind == "among" else lw.where(told[1], at_least=told[2], at_most=told[3])
    )


def _rate(number: Any) -> Any:
    return lw.inf if number == INFINITE else number


_PLAIN = {
    "unbounded": lw.UnboundedDP,
    "bounded": lw.BoundedDP,
    "replace": lw.ReplaceDP,
    "addition": lw.AdditionOnly,
    "removal": lw.RemovalOnly,
    "presence": lw.Presence,
}


def notion(told: tuple[Any, ...]) -> Any:
    """What the package makes of a described promise."""
    kind = told[0]
    if kind in _PLAIN:
        return _PLAIN[kind](told[1])
    if kind in {"graded", "facts"}:
        return (lw.notion.Graded if kind == "graded" else lw.notion.GradedFacts)(told[1], _rate(told[2]))
    if kind == "adp":
        return lw.ADP(told[1], [condition(p) for p in told[2]], absent_too=told[3])
    if kind == "osdp":
        return lw.OSDP(told[1], condition(told[2]), told[3])
    if kind == "both":
        made = lw.both_hold(notion(told[1]), notion(told[2]))
        assert isinstance(made, Notion)
        return made
    if kind == "scaled":
        return notion(told[2]).scale(told[1])
    if kind == "each":
        return lw.Personalised(notion(told[1]), told[2])
    points = list(dict.fromkeys(record for pair in told[2] for record in pair))
    far = [[0 if x == y else _rate(told[2].get((x, y), INFINITE)) for y in points] for x in points]
    return lw.notion.RecordDistance(told[1], lw.distance.FiniteDistance.closed(points, far))


class Draw:
    """A reproducible stream of described conditions and promises."""

    def __init__(self, seed: int, *, facts: str = "abc", rows: bool = False, listed: Any = None) -> None:
        self.random, self.facts, self.rows, self.listed = random.Random(seed), facts, rows, listed

    def among(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def epsilon(self) -> Fraction:
        return Fraction(self.among(1, 2, 3, HALF))

    def atom(self) -> tuple[Any, ...]:
        if not self.rows:
            return "has", self.among(*self.facts)
        column = self.among("x", "x", "y")
        if self.random.random() < 0.4:
            return "among", column, self.random.sample([-1, 0, 1, 2, 3, HALF, "w", "3"], self.among(1, 2, 3))
        least, most = self.among(None, -1, 0, 1, 3), self.among(0, 1, 2, 4)
        return "from", column, least, most

    def condition(self, depth: int = 2) -> tuple[Any, ...]:
        if not depth or self.random.random() < 0.4:
            return self.atom()
        kind = self.among("not", "and", "or")
        parts = 1 if kind == "not" else 2
        return (kind, *(self.condition(depth - 1) for _ in range(parts)))

    def base(self) -> tuple[Any, ...]:
        e = self.epsilon()
        kinds = ["unbounded", "bounded", "replace", "addition", "removal", "adp", "adp", "osdp", "osdp"]
        if not self.rows:
            kinds += ["presence", "graded", "facts"]
        if self.listed is not None:
            kinds += ["listed", "listed"]
        kind = self.among(*kinds)
        if kind in {"graded", "facts"}:
            return kind, e, self.among(Fraction(1), Fraction(4), INFINITE)
        if kind == "adp":
            return kind, e, [self.condition(1) for _ in range(self.among(1, 2))], self.among(False, True)
        if kind == "osdp":
            return kind, e, self.condition(1), self.among("any", "non-sensitive")
        if kind == "listed":
            pairs = {
                (r, s): self.among(1, 2, 3, INFINITE, INFINITE) for r in self.listed for s in self.listed if r != s
            }
            return kind, e, pairs
        return kind, e

    def promise(self, depth: int = 2) -> tuple[Any, ...]:
        """A promise that is the same for everybody: combined, scaled, nested."""
        if not depth or self.random.random() < 0.35:
            return self.base()
        if self.random.random() < 0.75:
            return "both", self.promise(depth - 1), self.promise(depth - 1)
        return "scaled", self.among(HALF, Fraction(2)), self.promise(depth - 1)

    def to_two(self, depth: int = 2) -> tuple[Any, ...]:
        """A promise to two persons, each perhaps at an ε of their own."""
        made = self.promise(depth)
        if self.random.random() < 0.3:
            return "each", made, [Fraction(self.among(1, 3, Fraction(1, 10))) for _ in range(2)]
        return made
