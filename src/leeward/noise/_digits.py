# SPDX-License-Identifier: Apache-2.0
"""The exact binary digits of a real number: what a random word is compared with.

A coin of probability p compares a uniform real U, drawn one word at a time, with p. The first w bits of p are the exact
integer ⌊2^w·p⌋. It is read off an enclosure of p by interval arithmetic, refined until both ends have the same floor. A
dyadic p would never be settled that way, so p says first whether it is rational (`leeward.exact._weight.Weight.rational`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import flint

from leeward.errors import UndecidedError
from leeward.exact._real import PRECISIONS


class Enclosed(Protocol):
    """An exact real number: one that knows when it is rational and can be enclosed as tightly as asked.

    `leeward.exact._real.Real` and `leeward.exact._weight.Weight` are such numbers; so is any object with these two members.
    """

    @property
    def rational(self) -> Fraction | None:
        """The value as a Fraction where its form shows it rational, else None."""

    def arb(self, precision: int) -> Any:
        """Enclose the value as an Arb ball computed with ``precision`` bits."""


def floor_digits(number: Enclosed, width: int) -> int:
    """Return ⌊2^width · number⌋ exactly.

    Raises:
        UndecidedError: if the number is so near a multiple of 2^-width that 4,096 further bits do not show on which
            side it lies, and its form does not show it rational.
    """
    return floor_and_rest(number, width)[0]


def floor_and_rest(number: Enclosed, width: int) -> tuple[int, bool]:
    """Return (⌊2^width · number⌋, whether anything is left below it): the rest is False iff 2^width · number is whole."""
    rational = number.rational
    if rational is not None:
        floor, rest = divmod(rational.numerator << width, rational.denominator)
        return floor, bool(rest)
    return _floor_by_refinement(number.arb, width), True


def _floor_by_refinement(enclose: Any, width: int) -> int:
    for precision in PRECISIONS:
        with flint.ctx.workprec(precision + width):
            # Every rounding widens the ball, so the only integer in the floored ball is the floor.
            floor = (enclose(precision + width) * flint.arb(2) ** width).floor().unique_fmpz()
        if floor is not None:
            return int(floor)
    raise UndecidedError(
        f"Binary digit {width} of a probability",
        f"{PRECISIONS[-1]} bits more do not settle it, and the form of the probability does not prove it rational",
        "Use rational parameters, or ones a little further apart",
    )
