# SPDX-License-Identifier: Apache-2.0
"""The best that a promise allows over public places, beside planar Laplace: expected distances, before anything is spent."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._progress import Progress, silent
from leeward.analysis import Optimal, optimal
from leeward.analysis._remap import stochastic
from leeward.distance import Plane
from leeward.errors import InputError
from leeward.local.location._after import BayesRemap, Places, h3_cells, h3_centres
from leeward.local.location._terms import Compared, PositionNoise
from leeward.noise import Bits, SystemBits

Floats = NDArray[np.float64]
Points = NDArray[np.int64]

MOST: Final = 60
"""Places up to which the linear program is solved: its size grows with their square, and more than a minute is long."""


@dataclass(frozen=True)
class BestOverPlaces:
    """The mechanism of least expected distance among all that keep a promise between public places, certified.

    A position is first moved to the nearest place. So the promise is about places: people at one place are not distinguished
    at all, and people near one another whose nearest places differ by as much as these places are apart.

    Attributes:
        places: the places with their prior.
        optimal: the certified mechanism on the grid points of the places; its loss and its lower bound are in metres.
    """

    places: Places
    optimal: Optimal

    @classmethod
    def of(
        cls,
        geo: PositionNoise,
        latitude: ArrayLike,
        longitude: ArrayLike,
        weights: ArrayLike | None = None,
        progress: Progress = silent,
    ) -> BestOverPlaces:
        """Solve for the best mechanism.

        Args:
            geo: the promise: box, ε a metre and norm.
            latitude: of the places, in degrees.
            longitude: of the places.
            weights: the prior, public; equal by default.
            progress: called with a line of text at each stage.

        Raises:
            InputError: if there are more than `MOST` places, or two on one grid point.
        """
        places = Places.of(geo.plane, latitude, longitude, weights)
        points = [(int(i), int(j)) for i, j in geo.mechanism.snap(places.at)]
        if len(points) > MOST:
            raise InputError(
                f"{len(points)} places", f"the best mechanism is solved for {MOST} at most", "Take fewer, or the remap"
            )
        if len(set(points)) < len(points):
            raise InputError(
                "Places on one grid point", "they cannot be distinguished", "Join them, or take a finer step"
            )
        promise = Plane(geo.epsilon * geo.step, geo.norm)
        prior = stochastic([float(chance) for chance in places.prior])
        # the promise is about grid points, but the loss is between the places themselves; in millimetres it is exact
        apart = [[Fraction(round(1000 * d), 1000) for d in row] for row in places.apart.tolist()]
        return cls(places, optimal(points, promise, prior=prior, loss=apart, progress=progress))

    @property
    def loss(self) -> float:
        """The expected distance in metres from the place of the truth."""
        return float(self.optimal.loss)

    @functools.cached_property
    def points(self) -> Points:
        """The grid points of the places, shape (P, 2)."""
        return np.array(self.optimal.mechanism.inputs, np.int64)

    def report(self, points: Points, bits: Bits | None = None) -> Points:
        """Return a grid point drawn for each grid point of a place, shape (n, 2).

        Args:
            points: the grid points, shape (n, 2).
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        mechanism, bits = self.optimal.mechanism, bits or SystemBits()
        found = np.empty_like(points)
        distinct, which = np.unique(points, axis=0, return_inverse=True)
        for number, (i, j) in enumerate(distinct.tolist()):
            rows = np.flatnonzero(which.ravel() == number)
            found[rows] = mechanism.sample((i, j), len(rows), bits)
        return found

    def degrees(self, points: Points) -> tuple[Floats, Floats]:
        """Return latitudes and longitudes of the places at grid points."""
        numbers = {point: number for number, point in enumerate(self.optimal.mechanism.inputs)}
        at = [numbers[i, j] for i, j in points.tolist()]
        return self.places.latitude[at], self.places.longitude[at]


def compare_over_places(
    geo: PositionNoise,
    latitude: ArrayLike,
    longitude: ArrayLike,
    weights: ArrayLike | None = None,
    draws: int = 20_000,
) -> Compared:
    """Return what planar Laplace, its Bayes remap and the best mechanism over public places cost in expected distance.

    Args:
        geo: the promise, and the cells that reports are given as.
        latitude: of the places, in degrees.
        longitude: of the places.
        weights: the prior, public; equal by default.
        draws: for the estimate. They are of made-up people at the places: no data is touched.
    """
    places = Places.of(geo.plane, latitude, longitude, weights)
    remap = BayesRemap(places, geo.mechanism.snapped(places.at), float(geo.epsilon), geo.norm)
    truth = np.random.default_rng().choice(len(places.at), draws, p=places.prior)
    noisy = geo.mechanism.noisy(geo.mechanism.snap(places.at[truth]))
    held = np.clip(noisy, geo.mechanism.lower, geo.mechanism.upper)
    shown = _published(geo, *geo.box.nearest(*geo.plane.unproject(geo.mechanism.positions(held))))
    plain = np.hypot(*(shown - places.at[truth]).T)
    reported = _published(geo, places.latitude, places.longitude)
    away = np.hypot(*np.moveaxis(places.at[:, None] - reported[None], 2, 0))
    moved = away[truth, remap(geo.mechanism.positions(noisy))]
    return Compared(
        planar_laplace=float(plain.mean()),
        remapped=float(moved.mean()),
        remapped_error=float(moved.std() / np.sqrt(draws)),
        best=_best(geo, places, away),
    )


def _published(geo: PositionNoise, latitude: Floats, longitude: Floats) -> Floats:
    """Return where reports at these positions are published, in metres: themselves, or the centres of their cells."""
    if (h3 := geo.terms.h3) is not None:
        latitude, longitude = h3_centres(h3_cells(latitude, longitude, h3))
    return geo.plane.project(latitude, longitude)


def _best(geo: PositionNoise, places: Places, away: Floats) -> float | None:
    """Return the expected distance of the best mechanism, given metres from each place to each report; None without one."""
    points = geo.mechanism.snap(places.at).tolist()
    if len(points) > MOST or len({(i, j) for i, j in points}) < len(points):
        return None
    best = BestOverPlaces.of(geo, places.latitude, places.longitude, places.prior)
    if geo.terms.h3 is None:
        return best.loss
    law, inputs = best.optimal.mechanism, best.optimal.mechanism.inputs
    ever = set(law.outputs)  # not every place need be reported
    chances = [[float(law.probability(x, z)) if z in ever else 0.0 for z in inputs] for x in inputs]
    return float(places.prior @ (np.array(chances) * away).sum(axis=1))
