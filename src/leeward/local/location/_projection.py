# SPDX-License-Identifier: Apache-2.0
"""A local plane for a public box: metres east and north, in which no distance is longer than on the ground.

Noise needs a plane, and the Earth (the WGS 84 ellipsoid) is not one. Degrees will not do: at 60° north one of longitude is
half as long as one of latitude, so noise that is round in degrees has twice the promised ε a metre from east to west. Two
projections are tried, transverse Mercator and Lambert's conformal conic, each centred on the box, and the one whose scale
varies less is taken. Both are conformal: around a point the scale is the same in all directions. Coordinates are divided by
the largest scale over the box, so that d(plane) ≤ d(ground), and noise that is ε·d-private in the plane is ε·d-private on
the ground (Chatzikokolakis et al., Fact 5, with Δ = 1).
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError
from leeward.local.location._box import Box

Floats = NDArray[np.float64]

MOST: Final = 0.05
"""The largest relative difference of scales over a box that is accepted."""

_NODES: Final = 65
_COMPUTED: Final = 1e-8  # what numerical differentiation leaves of a scale's digits, with room to spare


@dataclass(frozen=True)
class LocalPlane:
    """The plane of a public box.

    Args:
        box: the public region.

    Attributes:
        projection: its definition, as PROJ reads it.
        name: of the projection, in words.
        shrinkage: how much shorter a distance can be in the plane than on the ground, relatively: between points of the box
            (1 − shrinkage)·d(ground) ≤ d(plane) ≤ d(ground).
        scale: what the projection's own metres are divided by.

    Raises:
        InputError: if the scale differs by more than 5 % over the box.
    """

    box: Box
    projection: str = field(init=False)
    name: str = field(init=False)
    shrinkage: float = field(init=False)
    scale: float = field(init=False)
    _local: threading.local = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        import pyproj

        north, east = self.box.middle
        tried = []
        for name, text in (
            ("transverse Mercator", f"+proj=tmerc +lat_0={north!r} +lon_0={east!r}"),
            ("Lambert conformal conic", f"+proj=lcc +lat_0={north!r} +lat_1={north!r} +lon_0={east!r}"),
        ):
            if name.startswith("Lambert") and abs(north) < 1:
                continue  # its cone opens into a plane at the equator
            least, most = _scales(pyproj.Proj(text + " +ellps=WGS84"), self.box)
            tried.append((1 - least / most, most, name, text))
        shrinkage, scale, name, text = min(tried)
        if not shrinkage <= MOST:
            raise InputError(
                f"A box over which every plane's scale differs by {100 * shrinkage:.0f} %",
                f"more than {100 * MOST:.0f} % is too much for one plane",
                "Give a smaller public region, or cut it into several",
            )
        for key, value in (("projection", text), ("name", name), ("shrinkage", shrinkage), ("scale", scale)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "_local", threading.local())

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalPlane, (self.box,)

    def project(self, latitude: Floats, longitude: Floats) -> Floats:
        """Return positions in metres east and north of the middle of the box: shape (n, 2)."""
        east, north = self._transformer().transform(longitude, latitude)
        return np.column_stack([east, north]) / self.scale

    def unproject(self, positions: Floats) -> tuple[Floats, Floats]:
        """Return latitude and longitude in degrees of positions in metres, shape (n, 2)."""
        away = positions * self.scale
        longitude, latitude = self._transformer().transform(away[:, 0], away[:, 1], direction="INVERSE")
        return latitude, longitude

    def _transformer(self) -> Any:
        """PROJ's objects must not be shared by threads: each has its own."""
        if (made := getattr(self._local, "transformer", None)) is None:
            import pyproj

            made = pyproj.Transformer.from_pipeline(
                f"+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad +step {self.projection} +ellps=WGS84"
            )
            self._local.transformer = made
        return made

    def extent(self) -> tuple[float, float, float, float]:
        """Return the smallest rectangle of the plane around the box: west, south, east, north in metres."""
        rim = np.linspace(0, 1, 257)
        ends = np.zeros_like(rim)
        across, up = np.concatenate([rim, rim, ends, ends + 1]), np.concatenate([ends, ends + 1, rim, rim])
        edge = self.project(*_inside(self.box, up, across))
        low, high = edge.min(axis=0), edge.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    @property
    def diagonal(self) -> float:
        """Metres across the box."""
        west, south, east, north = self.extent()
        return math.hypot(east - west, north - south)


def _inside(box: Box, up: Floats, across: Floats) -> tuple[Floats, Floats]:
    return box.south + up * (box.north - box.south), (box.west + across * box.width + 180) % 360 - 180


def _scales(projection: Any, box: Box) -> tuple[float, float]:
    """Return bounds on the scale over the box and over all shortest ways between its points.

    The scale is taken at a grid of nodes; between nodes it is a smooth function, and is allowed to leave the range of the
    nodes by as much as two neighbours differ at most.
    """
    south, north = box.hull()
    up, across = (g.ravel() for g in np.meshgrid(np.linspace(0, 1, _NODES), np.linspace(0, 1, _NODES), indexing="ij"))
    longitude = _inside(box, up, across)[1]
    factors = projection.get_factors(longitude, south + up * (north - south), errcheck=False)
    scale = np.stack([np.asarray(factors.tissot_semimajor), np.asarray(factors.tissot_semiminor)])
    if not np.isfinite(scale).all():
        return math.nan, math.nan
    at = scale.reshape(2, _NODES, _NODES)
    margin = max(float(np.abs(np.diff(at, axis=axis)).max()) for axis in (1, 2)) + _COMPUTED
    return float(scale.min()) - margin, float(scale.max()) + margin
