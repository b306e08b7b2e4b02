# SPDX-License-Identifier: Apache-2.0
"""The public values that a reading can have: bounds and a step, in the unit of the column."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import given_array
from leeward._taught import taught
from leeward.errors import InputError
from leeward.local.series._quantities import check_unit, positive_quantity, quantity

Integers = NDArray[np.int64]

_LEAST: Final = Fraction(1, 10**200)
_FARTHEST: Final = 2**30
"""In steps. A float that is scaled within it is less than 2⁻²¹ of a step off: see `ReadingGrid.steps`."""

_DOUBTFUL: Final = 2.0**-20
_HALF: Final = Fraction(1, 2)


@taught
@dataclass(frozen=True)
class ReadingGrid:
    """The public values a reading can have: lower, lower + step, …, upper.

    Attributes:
        unit: the unit of the column of readings: W, kW, Wh, kWh, …
        lower: the least value, such as ``"0 kW"``, a multiple of the step; below 0 where a meter may run backwards.
        upper: the greatest value, likewise. Readings beyond are moved to it first.
        step: from one value to the next, such as ``"1 W"``.
        low_value: the least value as an exact number of the unit; ``high_value`` and ``step_value`` likewise.
        lowest: the least value in steps; ``highest`` likewise.

    Raises:
        InputError: if the units differ in kind, or the values are not a grid.
    """

    unit: str
    lower: str
    upper: str
    step: str
    low_value: Fraction = field(init=False, repr=False, compare=False)
    high_value: Fraction = field(init=False, repr=False, compare=False)
    step_value: Fraction = field(init=False, repr=False, compare=False)
    lowest: int = field(init=False, repr=False, compare=False)
    highest: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_unit(self.unit, "the readings' unit")
        step = positive_quantity(self.step, "step").into(self.unit)
        low, high = (quantity(getattr(self, name), name).into(self.unit) for name in ("lower", "upper"))
        lowest, highest = low / step, high / step
        if lowest.denominator != 1 or highest.denominator != 1 or low >= high:
            raise InputError(
                f"Readings from {self.lower} to {self.upper} in steps of {self.step}",
                "that is not a grid",
                "Give lower < upper, both whole numbers of steps",
            )
        if max(abs(lowest), abs(highest)) > _FARTHEST:
            raise InputError(
                f"A step of {self.step}", "the bounds are more than 2^30 of them away from 0", "Take a larger step"
            )
        if max(abs(low), abs(high)) >= 2**62 or step < _LEAST:
            raise InputError(
                f"Readings from {self.lower} to {self.upper} in steps of {self.step}",
                "columns hold numbers below 4·10^18, and steps of at least 10^-200, of their unit",
                "Take another unit",
            )
        self.__dict__.update(low_value=low, high_value=high, step_value=step, lowest=int(lowest), highest=int(highest))

    @property
    def width(self) -> Fraction:
        """The public range, in the unit."""
        return self.high_value - self.low_value

    def steps(self, values: NDArray[Any]) -> tuple[Integers, int]:
        """Return values as the nearest grid points (half up), moved to the bounds, and how many lay beyond them.

        Moving to the bounds never takes two readings further apart. Snapping does, by less than a step, and not at all where
        they are whole steps apart. Floats suggest a grid point; near the middle of two, where their errors could decide,
        exact numbers do. Decimals are read as the floats nearest to them.
        """
        values, low, high = given_array(values), float(self.low_value), float(self.high_value)
        beyond = int(np.count_nonzero((values < low) | (values > high)))
        if values.dtype.kind in "iu":
            near = np.clip(values, int(np.floor(low)), int(np.ceil(high))).astype(np.int64)
            top, bottom = (1 / self.step_value).numerator, (1 / self.step_value).denominator
            if max(abs(low), abs(high)) * top * 2 < 2**60:
                return np.clip((2 * near * top + bottom) // (2 * bottom), self.lowest, self.highest), beyond
        near = np.clip(np.asarray(values, np.float64), low, high)
        scaled = near * float(1 / self.step_value) + 0.5
        found = np.floor(scaled).astype(np.int64)
        doubtful = np.abs(scaled - np.rint(scaled)) < _DOUBTFUL
        if doubtful.any():
            distinct, at = np.unique(near[doubtful], return_inverse=True)
            exactly = [math.floor(Fraction(x) / self.step_value + _HALF) for x in distinct.tolist()]
            found[doubtful] = np.array(exactly, np.int64)[at]
        return np.clip(found, self.lowest, self.highest), beyond

    def values(self, steps: Integers, *, whole: bool = False) -> NDArray[Any]:
        """Return grid points as values in the unit of the column: floats, or integers where asked and the step is whole."""
        if whole and self.step_value.denominator == 1:
            most = (2**63 - 1) // int(self.step_value)  # noise may leave what 64 bits hold
            return np.clip(steps, -most, most) * int(self.step_value)
        return in_unit(steps, self.step_value)


def in_unit(steps: Integers, step: Fraction) -> NDArray[np.float64]:
    """Return whole numbers of steps in the unit of a step: the floats that are nearest to them."""
    far = max(abs(int(steps.max(initial=0))), abs(int(steps.min(initial=0))))
    if far * step.numerator < 2**53 and step.denominator < 2**53:  # both are floats, and one division rounds once
        return np.asarray(steps * step.numerator / step.denominator, np.float64)
    distinct, at = np.unique(steps, return_inverse=True)
    return np.array([float(step * k) for k in distinct.tolist()], np.float64)[at].reshape(steps.shape)
