# SPDX-License-Identifier: Apache-2.0
"""A public region of the Earth, between two meridians and two parallels (WGS 84, degrees)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import clipped, given_array
from leeward._plain import echo
from leeward.errors import DataError, InputError
from leeward.exact._real import plainly

Floats = NDArray[np.float64]

POLE: Final = 89.0
"""Degrees of latitude beyond which no box may reach: meridians meet there."""

WIDEST: Final = 90.0
"""Degrees of longitude that a box may span."""


@dataclass(frozen=True)
class Box:
    """A public region: west to east, south to north; west > east means that it crosses the antimeridian.

    Args:
        west: longitude of the western edge, in degrees.
        south: latitude of the southern edge, in degrees.
        east: longitude of the eastern edge, in degrees.
        north: latitude of the northern edge, in degrees.

    Raises:
        InputError: if it is empty, reaches a pole, or spans more than 90° of longitude.
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        for name in ("west", "south", "east", "north"):
            value = plainly(getattr(self, name))
            limit = 180 if name in {"west", "east"} else 90
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= limit:
                raise InputError(
                    f"A box with {name} = {echo(value)}",
                    f"it must be a number of degrees from -{limit} to {limit}",
                    "Give west, south, east, north in degrees (WGS 84)",
                )
            object.__setattr__(self, name, float(value))
        if self.south >= self.north:
            raise InputError(
                f"A box from {self.south} up to {self.north}",
                "it is empty",
                "Give south < north (latitudes, in degrees)",
            )
        if not 0 < self.width <= WIDEST:
            raise InputError(
                f"A box that spans {self.width:g} degrees of longitude",
                f"no plane is true to distances over more than {WIDEST:g}, and none at 0",
                "Give a smaller public region; west > east means that it crosses the antimeridian",
            )
        reach = self.hull()
        if max(-reach[0], reach[1]) > POLE:
            raise InputError(
                f"A box that reaches latitude {max(-reach[0], reach[1]):.1f} on the shortest ways across it",
                "near a pole the box is not a region of a plane",
                f"Keep it within {POLE:g} degrees of the equator",
            )

    @property
    def width(self) -> float:
        """Degrees of longitude from west to east."""
        return (self.east - self.west) % 360 if self.east != self.west else 0.0

    @property
    def middle(self) -> tuple[float, float]:
        """Latitude and longitude of the middle, in degrees."""
        return (self.south + self.north) / 2, (self.west + self.width / 2 + 180) % 360 - 180

    def hull(self) -> tuple[float, float]:
        """Return the latitudes, south and north, that the shortest ways between points of the box stay within.

        Between two points of one parallel the shortest way bulges towards the pole, most at its middle: on the sphere up to
        tan φ' = tan φ / cos(Δλ/2). A hundredth of the bulge is added for the flattening of the Earth.
        """
        half = math.cos(math.radians(self.width) / 2)

        def bulge(latitude: float) -> float:
            away = math.degrees(math.atan(math.tan(math.radians(latitude)) / half)) - latitude
            return latitude + 1.01 * away

        return (bulge(self.south) if self.south < 0 else self.south), (
            bulge(self.north) if self.north > 0 else self.north
        )

    def holds(self, latitude: Floats, longitude: Floats) -> NDArray[np.bool_]:
        """Return which points lie in the box, edges included; NaN does not."""
        latitude, longitude = given_array(latitude, np.float64), given_array(longitude, np.float64)
        east_of = (longitude - self.west) % 360
        return (latitude >= self.south) & (latitude <= self.north) & (east_of <= self.width)

    def inside(self, latitude: Floats, longitude: Floats, *, margin: float) -> NDArray[np.bool_]:
        """Return which points lie in the box farther than so many degrees from its edges."""
        east_of = (longitude - self.west) % 360
        across = (east_of > margin) & (east_of < self.width - margin)
        return (latitude > self.south + margin) & (latitude < self.north - margin) & across

    def nearest(self, latitude: Floats, longitude: Floats) -> tuple[Floats, Floats]:
        """Return points with latitude and longitude each moved to the nearest in the box."""
        latitude, longitude = given_array(latitude, np.float64), given_array(longitude, np.float64)
        centre = self.middle[1]
        offset = (longitude - centre + 180) % 360 - 180
        held = centre + clipped(offset, -self.width / 2, self.width / 2)
        # 180 is not -180 to a reader who compares it with the edges
        along = clipped(held, self.west, self.east) if self.west < self.east else (held + 180) % 360 - 180
        return clipped(latitude, self.south, self.north), along

    def rounded(self, latitude: Floats, longitude: Floats, digits: int) -> tuple[Floats, Floats]:
        """Return points of the box rounded to so many decimals, those beyond an edge that has more of them on the edge."""
        north, east = clipped(np.round(latitude, digits), self.south, self.north), np.round(longitude, digits)
        beyond = (east - self.west) % 360
        nearer = np.where(beyond - self.width < 360 - beyond, self.east, self.west)
        return north, np.where(beyond > self.width, nearer, east)

    def check(self, latitude: Floats, longitude: Floats, *, clamp: bool) -> None:
        """Refuse points that cannot be positions in the box.

        Args:
            latitude: degrees, shape (n,).
            longitude: degrees, shape (n,).
            clamp: whether points outside the box are allowed, because they are moved into it.

        Raises:
            DataError: for numbers that are not degrees, for columns that look swapped, for points outside the box. Which of
                them, if any, is itself a fact about the data: for the curator only.
        """
        if not (np.isfinite(latitude).all() and np.isfinite(longitude).all()):
            raise DataError(
                "Some positions are missing or not finite (this is for the curator only)",
                "there is nothing to add noise to",
                'Remove these rows, or choose missing = "keep": they stay missing, and that they are missing is published',
            )
        inside = self.holds(latitude, longitude)
        if inside.all():
            return
        if self.holds(longitude, latitude).all():
            raise DataError(
                "Latitude and longitude look swapped (this is for the curator only)",
                "every position lies in the box once they are exchanged",
                "Name the columns the other way round",
            )
        if (np.abs(latitude) > 90).any() or (np.abs(longitude) > 360).any():
            raise DataError(
                "Some positions are not degrees (this is for the curator only)",
                "a latitude lies beyond 90, or a longitude beyond 360: they may be projected metres, or of another CRS",
                "Give WGS 84 degrees",
            )
        if not clamp:
            raise DataError(
                "Some positions lie outside the public box (this is for the curator only)",
                "the noise and its promise are made for the box",
                'Choose the box larger without looking at the data, or outside = "clamp": they are moved into it first',
            )
