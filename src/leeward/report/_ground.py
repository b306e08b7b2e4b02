# SPDX-License-Identifier: Apache-2.0
"""The ground under a map: degrees on a plane, round lengths, and squares for lists too long to draw place by place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KM_PER_DEGREE = math.radians(1) * 6371.0088
"""Kilometres in a degree of latitude, on the sphere of the Earth's mean radius."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ground:
    """Places on a plane, in kilometres from the middle of their box.

    The plane is the equirectangular one: longitudes shrunk by the cosine of the middle latitude, where alone its
    distances are exact. Over a city that is within a part in a thousand.

    Attributes:
        east: kilometres east of the middle, one a place.
        north: kilometres north of it.
        latitude: of the middle, in degrees.
        longitude: of the middle, in degrees.
    """

    east: Floats
    north: Floats
    latitude: float
    longitude: float

    @classmethod
    def of(cls, latitude: Floats, longitude: Floats) -> Ground:
        """Lay out places given in degrees (finite, at least one); the box may cross the antimeridian."""
        turned = np.exp(1j * np.radians(longitude)).mean()
        about = math.degrees(np.angle(turned))
        offset = (longitude - about + 180) % 360 - 180
        middle = (latitude.min() + latitude.max()) / 2
        shift = (offset.min() + offset.max()) / 2
        return cls(
            (offset - shift) * KM_PER_DEGREE * math.cos(math.radians(middle)),
            (latitude - middle) * KM_PER_DEGREE,
            float(middle),
            float((about + shift + 180) % 360 - 180),
        )

    @property
    def width(self) -> float:
        """Kilometres from the westernmost place to the easternmost."""
        return float(np.ptp(self.east))

    @property
    def height(self) -> float:
        """Kilometres from the southernmost place to the northernmost."""
        return float(np.ptp(self.north))


@dataclass(frozen=True)
class Squares:
    """Places sorted into the squares of a lattice.

    Attributes:
        east: the middle of each column, in kilometres, ascending.
        north: the middle of each row, in kilometres, ascending.
        index: for each place the number of its square, ``row * len(east) + column``.
    """

    east: Floats
    north: Floats
    index: Ints

    @property
    def one_each(self) -> bool:
        """Whether no square holds two places."""
        return int(np.bincount(self.index).max()) <= 1

    def total(self, weights: NDArray[np.generic] | None = None) -> Floats:
        """Add up the weights (default 1) of the places in each square: shape (rows, columns)."""
        size = len(self.north) * len(self.east)
        return np.bincount(self.index, weights, minlength=size).astype(float).reshape(len(self.north), -1)


def is_lattice(ground: Ground) -> bool:
    """Whether the places are the cells of a rectangular grid (at least half of them listed)."""
    columns, rows = (len(np.unique(_millimetres(axis))) for axis in (ground.east, ground.north))
    return min(columns, rows) > 1 and columns * rows <= 2 * len(ground.east)


def squares(ground: Ground, most: int = 400) -> Squares:
    """Sort places into at most `most` columns and rows; the cells of a grid are never cut, only joined whole.

    Places that are not a grid are put in squares that hold four on average.
    """
    if is_lattice(ground):
        (column, east), (row, north) = _joined(ground.east, most), _joined(ground.north, most)
    else:
        side = max(
            math.sqrt(4 * ground.width * ground.height / len(ground.east)), max(ground.width, ground.height) / most
        )
        (column, east), (row, north) = _cut(ground.east, side), _cut(ground.north, side)
    return Squares(east, north, row * len(east) + column)


def round_length(limit: float) -> float:
    """Return the largest of 1, 2, 5 × 10^k kilometres that is at most `limit` (> 0): the length of a scale bar."""
    power = 10.0 ** math.floor(math.log10(limit))
    return next(digit * power for digit in (5, 2, 1) if digit * power <= limit * (1 + 1e-12))


def _millimetres(axis: Floats) -> Ints:
    return np.round(axis * 1e6).astype(np.int64)


def _joined(axis: Floats, most: int) -> tuple[Ints, Floats]:
    lines, inverse = np.unique(_millimetres(axis), return_inverse=True)
    together = math.ceil(len(lines) / most)
    number = inverse // together
    return number, np.bincount(number, axis) / np.bincount(number)


def _cut(axis: Floats, side: float) -> tuple[Ints, Floats]:
    count = max(1, math.ceil(float(np.ptp(axis)) / side)) if side else 1
    number = np.minimum((axis - axis.min()) // side if side else np.zeros_like(axis), count - 1).astype(np.int64)
    return number, axis.min() + (np.arange(count) + 0.5) * side
