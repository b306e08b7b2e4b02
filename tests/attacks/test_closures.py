"""Attack: finite distances from 10^−600 to 10^600: closures, sums, promises that both hold, and prices, in fractions.

The oracle is Floyd's algorithm on `Fraction`, so that every comparison is exact and no false alarm is possible.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from leeward.distance import FiniteDistance, both_hold
from leeward.exact import exact, inf

Matrix = list[list[Fraction | None]]
"""None is ∞."""

SCALES = [Fraction(10) ** power for power in (0, -9, 9, -20, 400, -400, 600, -330, -310)]


def drawn(draw: random.Random, size: int) -> Matrix:
    scales = draw.sample(SCALES, draw.randint(1, 3))

    def entry() -> Fraction | None:
        kind = draw.random()
        if kind < 0.25:
            return None if kind < 0.15 else Fraction(0)
        more = draw.choice(scales) * draw.randint(0, 3) if draw.random() < 0.4 else 0
        return draw.choice(scales) * draw.randint(1, 6) + more

    return [[Fraction(0) if i == j else entry() for j in range(size)] for i in range(size)]


def closed(made: Matrix) -> Matrix:
    made = [list(row) for row in made]
    for k, i, j in itertools.product(range(len(made)), repeat=3):
        first, second, far = made[i][k], made[k][j], made[i][j]
        if first is not None and second is not None and (far is None or first + second < far):
            made[i][j] = first + second
    return made


def least(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return other if one is None else one if other is None else min(one, other)


def price(one: Matrix, other: Matrix) -> Fraction | None:
    """The least c with one ≤ c · other; None for none."""
    most = Fraction(0)
    for i, j in itertools.product(range(len(one)), repeat=2):
        mine, theirs = one[i][j], other[i][j]
        if theirs is None or mine == 0:
            continue
        if mine is None or theirs == 0:
            return None
        most = max(most, mine / theirs)
    return most


def distance(made: Matrix) -> FiniteDistance[int]:
    return FiniteDistance.closed(range(len(made)), [[inf if v is None else exact(v) for v in row] for row in made])


def is_same(found: Any, expected: Matrix) -> bool:
    pairs = itertools.product(range(len(expected)), repeat=2)
    return all(found(i, j) == (inf if (v := expected[i][j]) is None else v) for i, j in pairs)


def attack(seed: int, number: int) -> None:
    draw = random.Random(seed)
    for _ in range(number):
        size = draw.randint(2, 6)
        given = drawn(draw, size), drawn(draw, size)
        (one, other), (a, b) = map(closed, given), map(distance, given)
        points = range(size)
        assert is_same(a, one)
        assert is_same(a.reverse().on(points), [list(column) for column in zip(*one, strict=True)])
        both = [[least(x, y) for x, y in zip(r, s, strict=True)] for r, s in zip(one, other, strict=True)]
        assert is_same(both_hold(a, b).on(points), closed(both))
        total = [
            [None if x is None or y is None else x + y for x, y in zip(r, s, strict=True)]
            for r, s in zip(one, other, strict=True)
        ]
        assert is_same((a + b).on(points), total)
        expected = price(one, other)
        assert a.price_in(b) == (inf if expected is None else expected)


def test_distances_of_all_sizes_are_exact() -> None:
    attack(3, 80)


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_distances_of_all_sizes_are_exact_at_length(seed: int) -> None:
    attack(seed, 1000)


def test_the_oracle_finds_a_shorter_way() -> None:
    way: Matrix = [[Fraction(0), Fraction(5), Fraction(1)], [None, Fraction(0), None], [None, Fraction(1), Fraction(0)]]
    assert closed(way)[0][1] == 2
    assert not is_same(distance(way), way)
