# SPDX-License-Identifier: Apache-2.0
"""Lengths between points of the plane, in whole units: what elastic distances and policies of regions shorten."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, get_args

from leeward._taught import in_order, taught
from leeward.distance._directed import FiniteDistance
from leeward.distance._plane import Norm
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, Real, exact


class Lengths:
    """Exact lengths between listed points of the plane, as integers: of one fraction of the unit for all.

    Attributes:
        points: as given.
        squares: row by row, the length from each point to each, squared (Manhattan lengths are squared too), times fine².
        fine: how many parts of a unit the coordinates are counted in.
    """

    def __init__(self, points: Iterable[Any], norm: Norm) -> None:
        check_choice("norm", norm, get_args(Norm), "it is not a norm of the plane")
        self.points = in_order("points", points)
        at = [_rational(point) for point in self.points]
        self.fine = math.lcm(*(part.denominator for each in at for part in each))
        east, north = ([int(each[axis] * self.fine) for each in at] for axis in (0, 1))
        places = list(zip(east, north, strict=True))
        if norm == "manhattan":
            self.squares = [[(abs(a - c) + abs(b - d)) ** 2 for c, d in places] for a, b in places]
        else:
            self.squares = [[(a - c) ** 2 + (b - d) ** 2 for c, d in places] for a, b in places]

    def whole(self) -> list[list[int]]:
        """Return the lengths in whole units, rounded down."""
        return [[math.isqrt(square) // self.fine for square in row] for row in self.squares]

    def reached(self, row: int, within: Fraction) -> list[bool]:
        """Return which points lie within a length of one of them."""
        most = (within * self.fine) ** 2
        return [square <= most for square in self.squares[row]]


@taught
def whole_lengths(points: Iterable[Any], norm: Norm = "euclidean") -> FiniteDistance[Any]:
    """Return the lengths between points of the plane in whole units, rounded down, as a distance: by shortest paths.

    At most the length itself, so privacy for it is privacy for `leeward.distance.Plane`, at the same rate (Chatzikokolakis
    et al. 2013, Proposition 1). All values are integers: whatever is built on them by sums and minima is exact and cheap.

    Args:
        points: pairs of exact rationals, such as metres; distinct.
        norm: ``"euclidean"`` or ``"manhattan"``.

    Raises:
        InputError: for points that are no such pairs, or repeat.
    """
    lengths = Lengths(points, norm)
    return FiniteDistance.closed(lengths.points, lengths.whole())


def rational(value: Exact, name: str, least: Exact = 0) -> Fraction:
    """Read an exact rational of at least so much."""
    number: Real = exact(value)
    if number.rational is None or number < least:
        raise InputError(f"{name} = {number}", f"it is a rational number of at least {least}", 'Give such as "200"')
    return number.rational


def _rational(point: Sequence[Exact]) -> tuple[Fraction, Fraction]:
    if not isinstance(point, Sequence) or isinstance(point, str) or len(point) != 2:
        raise InputError("A point that is no pair", "it is an east and a north in one unit", "Give pairs of numbers")
    return rational(point[0], "east", -_FAR), rational(point[1], "north", -_FAR)


_FAR = 10**12
