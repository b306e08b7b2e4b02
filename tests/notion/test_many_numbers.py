"""Promises about more numbers than are gone through one by one, alone and two at once, against shortest paths over all."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.oracle import tables, universe
from tests.oracle.universe import Matrix

from leeward import both_hold
from leeward.exact import ZERO, Real, exact, inf
from leeward.notion import (
    ABSENT,
    AdditionOnly,
    BoundedDP,
    LocalDP,
    Manhattan,
    Notion,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
)
from leeward.notion._change import Change
from leeward.notion._metric import bounded_change
from leeward.notion._notion import PrivacyDescription
from leeward.notion._sees import MOST_NUMBERS, Sees

GRID = ValueGrid(0, MOST_NUMBERS + 4)
EVERY = [None, *range(GRID.steps + 1)]
TWO_SIDES = (Fraction(1, 24), Fraction(1, 48))
"""What a move up by one, and one down, cost in a notion of a user's own."""


class Sided(Notion):
    """More for each step up than for each step down; who is absent is no secret."""

    name = "sided"
    words = PrivacyDescription("it", "a number", "", "a number nearby", "person")
    changes: tuple[Change, ...] = (bounded_change(1),)

    def __init__(self, epsilon: Any, *, plain: bool = True) -> None:
        self.plain = plain
        super().__init__(epsilon)

    @property
    def sees(self) -> Sees:
        return Sees(values=GRID, plain=self.plain)

    def record(self, before: Any, after: Any) -> Real:
        if before is ABSENT or after is ABSENT:
            return ZERO if before is after else inf
        up, down = TWO_SIDES
        return self.epsilon * exact(up * (after - before) if after > before else down * (before - after))

    def cost(self, change: Change) -> Real:
        return self.epsilon * max(TWO_SIDES)


def moving(slope: Fraction | int, nobody: float) -> tables.Steps:
    """A move by m costs m times the slope; to and from nobody, so much."""
    return lambda r, s: nobody if r is None or s is None else slope * abs(r - s)


def sided(r: Any, s: Any) -> Any:
    up, down = TWO_SIDES
    return math.inf if r is None or s is None else max(up * (s - r), down * (r - s))


WIDE = GRID.steps
SINGLE: list[tuple[str, Notion, tables.Steps]] = [
    ("unbounded", UnboundedDP(1), tables.unbounded(1)),
    ("bounded", BoundedDP("1/2"), tables.bounded(Fraction(1, 2))),
    ("replace", ReplaceDP(2), tables.replace(2)),
    ("local", LocalDP(5), tables.bounded(5)),
    ("addition", AdditionOnly(1), tables.addition_only(1)),
    ("removal", RemovalOnly(1), tables.removal_only(1)),
    ("manhattan", Manhattan("1/8", GRID), moving(Fraction(1, 8), Fraction(WIDE, 8))),
    ("public people", Manhattan("1/60", GRID, nobody=False), moving(Fraction(1, 60), math.inf)),
    ("steep", Manhattan(3, GRID, nobody=False), moving(3, math.inf)),
    ("sided", Sided(1), sided),
]
ALL: list[tuple[str, Notion, tuple[int, ...]]] = [
    *((name, notion, (i,)) for i, (name, notion, _) in enumerate(SINGLE)),
    *(
        (f"{SINGLE[i][0]}; {SINGLE[j][0]}", both_hold(SINGLE[i][1], SINGLE[j][1]), (i, j))
        for i, j in itertools.combinations(range(len(SINGLE)), 2)
    ),
]
"""Each alone, and all in twos; with the steps of which."""


@functools.cache
def single(number: int) -> Matrix:
    return universe.matrix(SINGLE[number][2], EVERY)


@functools.cache
def apart(number: int) -> Matrix:
    return universe.closed(functools.reduce(np.minimum, map(single, ALL[number][2])))


@pytest.mark.sweep
@pytest.mark.parametrize("mine", range(len(ALL)), ids=lambda number: ALL[number][0])
def test_a_price_is_that_among_all_numbers(mine: int) -> None:
    for other in range(len(ALL)):
        price = ALL[mine][1].priced_in(ALL[other][1])
        truth = universe.price(apart(mine), apart(other))
        found = math.inf if price.cost.is_infinite else price.cost.rational
        assert (found, price.least or found == math.inf) == (truth, True), ALL[other][0]


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: ALL[number][0])
def test_two_numbers_are_as_far_apart_as_among_all(number: int) -> None:
    for x, y in itertools.permutations([0, 1, 37, 99, WIDE], 2):
        found = ALL[number][1].on([(x,), (y,)])((x,), (y,))
        truth = apart(number)[EVERY.index(x), EVERY.index(y)]
        assert found == (inf if truth >= universe.NEVER else Fraction(int(truth), universe.PARTS)), (x, y)


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_not_said_to_be_constant_or_in_proportion_is_refused(order: int) -> None:
    bent = Sided(1, plain=False)
    both: Any = both_hold(*(bent, BoundedDP(1))[::order])
    assert "numbers would have to be gone through" in BoundedDP(1).priced_in(bent).because
    assert "numbers would have to be gone through" in both.priced_in(Manhattan(1, GRID)).because


def test_that_must_be_said() -> None:
    assert not Sees(values=GRID).is_plain
    assert Sees().is_plain
    assert not Sees().beside(Sees(values=GRID)).is_plain
