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
from leeward.exact import ZERO, Real, inf
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
from leeward.notion._notion import PrivacyDescription
from leeward.notion._sees import MOST_NUMBERS

GRID = ValueGrid(0, MOST_NUMBERS + 4)
EVERY = [None, *range(GRID.steps + 1)]


def moving(slope: Fraction | int, nobody: float) -> tables.Steps:
    """A move by m costs m times the slope; to and from nobody, so much."""
    return lambda r, s: nobody if r is None or s is None else slope * abs(r - s)


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


class Bent(Notion):
    """A class of a user's own, which may be anything between two numbers, and lists all of them."""

    name = "bent"
    words = PrivacyDescription("it", "a number", "", "a number nearby", "person")
    changes = (Change("any", "a number becomes another", lambda x, y: ABSENT not in (x, y), records=tuple(EVERY[1:])),)

    def record(self, before: Any, after: Any) -> Real:
        if before is ABSENT or after is ABSENT:
            return ZERO if before is after else inf
        return self.epsilon * min(2, abs(min(after, 50) - min(before, 50)))

    def cost(self, change: Change) -> Real:
        return self.epsilon * 2


@pytest.mark.parametrize("order", [1, -1])
def test_a_list_of_more_numbers_is_not_settled_by_three(order: int) -> None:
    steady = Manhattan(1, GRID, nobody=False)
    both: Any = both_hold(*(Bent(1), steady)[::order])
    assert BoundedDP(1).price_in(Bent(1)) == inf  # 60 and 70 are not told apart
    assert Bent(1).price_in(BoundedDP(1)) == 2
    assert both.price_in(steady) == both.price_in(Bent(1)) == 1
    told = Bent(1).priced_in(steady)
    assert (told.cost, "numbers would have to be gone through" in told.because) == (inf, True)
