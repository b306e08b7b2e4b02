# SPDX-License-Identifier: Apache-2.0
"""The variance of one number a person, and how far each kind of change moves it.

The variance here is that of all people who have a number: the mean square of the distances from their mean. (The estimate
for a larger population from a sample of m of them is m/(m − 1) times as large.) Nobody, and one person alone, have none.

**Theorem.** Let the numbers lie in a range of width w.

1. Of m numbers, m public, a single one that moves by at most d ≤ w moves the variance by at most d(2w − d)(m − 1)/m²; by
   w²(m − 1)/m² where it may become any other. With m private the largest of these counts, that of m = 2.
2. All at once, by at most d each, move it by at most d(w − d) where d ≤ w/2, and by at most w²/4.
3. Somebody who comes lets it rise by at most w²/4 and fall by at most w²/12.

*Proof.* 1. Let the others have the mean c and the variance s². With a number x among them the variance is ((m − 1)/m)·s² +
((m − 1)/m²)·(x − c)². So it moves by (m − 1)/m² times |x − y|·|x + y − 2c|, and of numbers within the range that are d
apart the last factor is at most 2w − d; d(2w − d) rises up to w. It is reached where all others are at one bound, and (m −
1)/m² is largest for m = 2. 2. The deviation is a seminorm: it moves by at most that of the moves, so by at most d; and it
is at most w/2. From a deviation r it falls to r − d at least, and r² − (r − d)² ≤ d(w − d). 3. With one person alone it is
0, so it rises by at most w²/4, reached from one bound to the other. By the formula in 1 it falls by at most s²/m, with m −
1 others; two are needed for s² > 0, so m ≥ 3, and s² ≤ w²/4. ∎

With m public, m²/step² times the variance is a whole number, so nothing is rounded before noise is added, unless so small a
unit does not fit in 64 bits: then the variance is rounded half up to 2^j such units, and moves are rounded up to them. With
m private the answer is made from noisy sums (`leeward.planner._spread`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

from leeward._taught import taught
from leeward.errors import InputError, SpecError
from leeward.notion._value_grid import ValueGrid
from leeward.query._numeric import Numeric, NumericKind

Spread = Literal["variance", "standard deviation"]

SPREADS: tuple[Spread, ...] = get_args(Spread)
"""The kinds of question that a variance answers."""

MOST_STEPS = 2**17
"""The most steps of a range: sums of their squares over 2²⁸ people fit in 64 bits."""

_MOST_UNITS = 2**60


@taught
@dataclass(frozen=True)
class Variance(Numeric):
    """The variance of all values: the mean square of their distances from their mean; 0 for nobody.

    Attributes:
        grid: the public grid on which it is published, after the noise; None publishes exact quotients.
        root: whether its square root, the standard deviation, is published instead; ``grid`` is then that of the root.
    """

    kind: ClassVar[NumericKind] = "variance"
    grid: Fraction | None = None
    root: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.root and self.grid is None:
            raise InputError("A standard deviation without a grid", "roots are not rational", "Give grid")
        if self.grid is not None and self.grid <= 0:
            raise InputError(f"grid = {self.grid}", "a grid has a positive step", "Give a positive rational")
        if self.grid is not None and self.grid > self.most:
            raise InputError(
                f"grid = {self.grid} for a {self.name} of at most {self.most}",
                "only 0 lies on it, so the answer would be the same for all data",
                "Take a finer one",
            )

    @property
    def name(self) -> Spread:
        """What is published: ``variance`` or ``standard deviation``."""
        return SPREADS[self.root]

    @property
    def most(self) -> Fraction:
        """The largest that is possible: half the range for a standard deviation, and its square for a variance."""
        half = self.values.width / 2
        return half if self.root else half * half

    @property
    def most_apart(self) -> Fraction:
        """The largest that is possible: the least is 0."""
        return self.most

    @property
    def unit(self) -> Fraction:
        """What one unit of noise stands for where the number of people is public: step²/m², or 2^j times that.

        Raises:
            InputError: it is private.
        """
        if self.people is None:
            raise InputError("The unit of a variance", "the number of people is private", "Give people")
        smallest = (self.values.step / self.people) ** 2
        units = self.values.width**2 / 4 / smallest
        return smallest * (1 << (math.floor(units) // _MOST_UNITS).bit_length())

    def answer(self, present: Sequence[Fraction]) -> Fraction:
        """Return the variance, with a public number of people in whole units; 0 for nobody."""
        if not present:
            return Fraction(0)
        n, total = len(present), sum(present, Fraction(0))
        return self.in_units(sum((x * x for x in present), Fraction(0)) / n - (total / n) ** 2)

    def in_units(self, variance: Fraction) -> Fraction:
        """Return a variance rounded half up to whole units, where the number of people is public."""
        if self.people is None:
            return variance
        return math.floor(variance / self.unit + Fraction(1, 2)) * self.unit

    def single(self, move: Fraction) -> Fraction:
        """Return d(2w − d)(m − 1)/m² for a move by d, with m = 2 where the number of people is private."""
        m = self.people or 2
        return self._up(move * (2 * self.values.width - move) * Fraction(m - 1, m * m))

    def together(self, move: Fraction) -> Fraction | None:
        """Return d(w − d) for moves by d up to half the range, else a quarter of its square."""
        least = min(move, self.values.width / 2)
        return self._up(least * (self.values.width - least))

    def presence(self) -> tuple[Fraction, Fraction]:
        """Return a quarter and a twelfth of the squared range."""
        square = self.values.width**2
        return square / 4, square / 12

    def published(self, variance: Fraction) -> Fraction:
        """Return what is published of a noisy variance: it or its root, within what is possible and rounded half up."""
        half = self.values.width / 2
        inside = min(max(variance, Fraction(0)), half * half)
        if self.grid is None:
            return inside
        doubled = math.isqrt(math.floor(4 * inside / self.grid**2)) if self.root else math.floor(2 * inside / self.grid)
        return min((doubled + 1) // 2, math.floor(self.most / self.grid)) * self.grid

    @property
    def rounding(self) -> Fraction:
        """How far rounding moves what is published at most: half a step of the grid, or more next to the largest."""
        if self.grid is None:
            return Fraction(0)
        return max(self.grid / 2, self.most % self.grid)

    def of_error(self, error: float) -> float:
        """Return how far what is published is off at most where the noisy variance is off by so much, whatever the data.

        |√a − √b| ≤ √|a − b|, for a deviation.
        """
        return (math.sqrt(error) if self.root else error) + float(self.rounding)

    def apart(self, published: Fraction, least: Fraction, greatest: Fraction) -> float:
        """Return how far what is published is at most from that of a variance between two, rounded up."""
        half = self.values.width / 2
        low, high = (min(max(end, Fraction(0)), half * half) for end in (least, greatest))
        ends = (math.sqrt(low), math.sqrt(high)) if self.root else (float(low), float(high))
        far = max(float(published) - ends[0], ends[1] - float(published), 0.0)
        return min(far * (1 + 1e-9), float(self.most_apart))

    def _up(self, move: Fraction) -> Fraction:
        return move if self.people is None else math.ceil(move / self.unit) * self.unit


def spread(kind: str, values: ValueGrid, people: int | None, grid: Fraction | None) -> Variance:
    """Return the question of a variance or a standard deviation, by default on the grid of the numbers, or its square."""
    if values.steps > MOST_STEPS:
        raise SpecError(
            f"A {kind} of numbers from {values.lower} to {values.upper} in steps of {values.step}",
            f"sums of squares of more than {MOST_STEPS:,} steps do not fit in 64 bits",
            "Take a larger step, or narrower bounds",
        )
    root = kind == SPREADS[True]
    published = (values.step if root else values.step**2) if grid is None else grid
    return Variance(values, people, grid=published, root=root)
