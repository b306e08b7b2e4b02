# SPDX-License-Identifier: Apache-2.0
"""The public numbers that a record can be: a grid with two ends."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral

from leeward.errors import InputError
from leeward.exact._real import Exact, exact, plainly


class ValueGrid:
    """A public universe of numbers: ``lower``, ``lower + step``, …, ``upper``.

    The paper's q[0..k] is ``ValueGrid(0, q·k, q)``.

    Args:
        lower: the least value, an exact rational.
        upper: the greatest; values beyond are clamped before anything else is done with them.
        step: the grid step q; the range must be a whole number of steps.

    Raises:
        InputError: if the bounds are reversed or equal, or the range is not a whole number of steps.
    """

    def __init__(self, lower: Exact, upper: Exact, step: Exact = 1) -> None:
        numbers = [exact(number).rational for number in (lower, upper, step)]
        if any(number is None for number in numbers):
            raise InputError("Values that are not rational", "a grid is made of rationals", "Give fractions")
        self.lower, self.upper, self.step = (number for number in numbers if number is not None)
        if self.step <= 0 or self.upper <= self.lower or (self.upper - self.lower) % self.step:
            raise InputError(
                f"Values from {self.lower} to {self.upper} in steps of {self.step}",
                "that is not a grid",
                "Give lower < upper, a whole number of steps apart",
            )

    @property
    def width(self) -> Fraction:
        """d_V(V): how far apart two values can be."""
        return self.upper - self.lower

    @property
    def steps(self) -> int:
        """k: how many steps lead from the least value to the greatest; there is one more value."""
        return int(self.width / self.step)

    @property
    def points(self) -> tuple[Fraction, ...]:
        """All values, from the least to the greatest."""
        return tuple(self.lower + i * self.step for i in range(self.steps + 1))

    def all_in(self, listed: Iterable[object]) -> bool:
        """Whether a list has every value; whatever else it has."""
        return len({value for value in listed if value in self}) == self.steps + 1

    @property
    def grid_with_zero(self) -> Fraction:
        """The coarsest grid through 0 that holds every value, and so every sum of values."""
        common = math.lcm(self.step.denominator, self.lower.denominator)
        return Fraction(math.gcd(int(self.step * common), int(self.lower * common)), common)

    @property
    def _numbers(self) -> tuple[Fraction, Fraction, Fraction]:
        return self.lower, self.upper, self.step

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Integral | Fraction):
            return False
        value = Fraction(plainly(value))
        return bool(self.lower <= value <= self.upper and (value - self.lower) % self.step == 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueGrid) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        return f'ValueGrid("{self.lower}", "{self.upper}", "{self.step}")'
