# SPDX-License-Identifier: Apache-2.0
"""The directed line: answers that are numbers, or vectors of numbers.

Machine-checked (docs/proved.md): `line_hemimetric`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from leeward._taught import in_order
from leeward.distance._directed import DirectedDistance, FiniteDistance, comparable, factor_of, side_by_side
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact


class Line(DirectedDistance[Any]):
    """The directed line: ``d(y → y') = rise·(y'−y)⁺ + fall·(y−y')⁺``; on vectors the sum over coordinates.

    ``rise`` is the price of pushing an answer up by 1, ``fall`` of pushing it down. A rate of 0 would mean that the answer
    may not depend on the data at all; ∞ means that this direction is not protected.

    Args:
        rise: rate a in (0, ∞].
        fall: rate b in (0, ∞].
    """

    def __init__(self, rise: Exact, fall: Exact) -> None:
        self.rise, self.fall = exact(rise), exact(fall)
        for name, rate in (("rise", self.rise), ("fall", self.fall)):
            if rate.sign() <= 0:
                raise InputError(
                    f"Line({name}={rate})",
                    "a rate of 0 means that the answer may not depend on the data: publish a constant instead",
                    f"Give {name} a positive rate, or lw.inf where that direction needs no protection",
                )

    def __call__(self, x: object, y: object) -> Real:
        """Return the price of moving from answer (or vector of answers) x to y.

        Raises:
            InputError: for vectors of different lengths.
        """
        total = ZERO
        for before, after in side_by_side(_coordinates(x), _coordinates(y)):
            move = exact(after) - exact(before)
            total = total + (self.rise * move if move >= 0 else self.fall * -move)
        return total

    def scale(self, factor: Exact) -> Line:
        """Return the line with both rates multiplied."""
        return Line(self.rise * factor_of(factor), self.fall * factor_of(factor))

    def reverse(self) -> Line:
        """Return the line with rise and fall exchanged."""
        return Line(self.fall, self.rise)

    def __add__(self, other: DirectedDistance[Any]) -> DirectedDistance[Any]:
        if isinstance(other, Line):
            return Line(self.rise + other.rise, self.fall + other.fall)
        return super().__add__(other)

    def on(self, points: Iterable[Any]) -> FiniteDistance[Any]:
        """Return the exact matrix on the given points; integers are done in whole arrays."""
        points = in_order("points", points)
        if not all(isinstance(p, int | np.integer) and not isinstance(p, bool) for p in points):
            return FiniteDistance.trusted(points, [[self(x, y) for y in points] for x in points])
        wide = max(map(abs, map(int, points)), default=0) >= 2**62  # then a difference may not fit in 64 bits
        grid = np.array([int(p) for p in points], dtype=object if wide else np.int64)
        moves = grid[None, :] - grid[:, None]
        distinct, codes = np.unique(moves, return_inverse=True)
        values = tuple(self.rise * int(m) if m >= 0 else self.fall * int(-m) for m in distinct)
        return FiniteDistance.coded(points, values, codes.reshape(moves.shape))

    def _both(self, other: DirectedDistance[Any]) -> DirectedDistance[Any]:
        if isinstance(other, Line):  # coordinate by coordinate, each way by whichever is cheaper
            return Line(min(self.rise, other.rise), min(self.fall, other.fall))
        return super()._both(other)

    def price_in(self, other: Line) -> Real:
        """Return the least c with ``d ≤ c·d'``; ∞ if this line promises nothing in a direction where the other does."""
        comparable(self, other, Line)
        pairs = ((self.rise, other.rise), (self.fall, other.fall))
        return max((mine / theirs for mine, theirs in pairs if not theirs.is_infinite), default=ZERO)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and (self.rise, self.fall) == (other.rise, other.fall)

    def __hash__(self) -> int:
        return hash((Line, self.rise, self.fall))

    def __str__(self) -> str:
        return f"Line(rise={self.rise}, fall={self.fall})"

    __repr__ = __str__


def _coordinates(x: Any) -> tuple[Any, ...]:
    if isinstance(x, np.ndarray):
        return tuple(x.ravel().tolist())
    return tuple(x) if isinstance(x, tuple | list) else (int(x) if isinstance(x, np.integer) else x,)
