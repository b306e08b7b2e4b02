# SPDX-License-Identifier: Apache-2.0
"""The public universe of the numbers of a statistic: bounds and a step, as fine as numbers are read exactly."""

from __future__ import annotations

import math
from fractions import Fraction

from leeward.errors import InputError, SpecError
from leeward.exact._real import Exact, exact
from leeward.notion._value_grid import ValueGrid

MOST_FINE = 2**53
"""The most parts of 1 that a step and its bounds may need: every float times so many is read exactly enough."""


def public_values(lower: Exact, upper: Exact, step: Exact) -> ValueGrid:
    """Return the public universe of numbers: exact, and of so few and so large steps that they are counted in 64 bits."""
    values = ValueGrid(lower, upper, step)
    if (4 * max(abs(values.lower), abs(values.upper)) + values.step) * fine(values) >= 2**62:
        given = f"Numbers from {values.lower} to {values.upper} in steps of {values.step}"
        raise SpecError(given, "so many steps do not fit in 64 bits", "Take a larger step, or narrower bounds")
    if fine(values) > MOST_FINE:
        given = f"Numbers from {values.lower} in steps of {values.step}"
        raise SpecError(
            given, "so small parts of 1 are not read exactly", "Store the numbers in a smaller unit, and give its steps"
        )
    return values


def fine(values: ValueGrid) -> int:
    """Return the least whole number that makes the bounds and the step of a universe whole."""
    return math.lcm(values.lower.denominator, values.step.denominator)


def rational(value: Exact, name: str) -> Fraction:
    """Return an exact number of a question as a fraction."""
    number = exact(value).rational
    if number is None:
        raise InputError(f"{name} = {value}", "it is not rational", "Give a decimal or fraction in a string")
    return number
