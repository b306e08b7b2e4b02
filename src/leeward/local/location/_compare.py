# SPDX-License-Identifier: Apache-2.0
"""The best that a promise allows over public places, beside planar Laplace: expected distances, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._progress import Progress, silent
from leeward.analysis import Optimal, optimal
from leeward.analysis._remap import stochastic
from leeward.distance import DirectedDistance, Plane
from leeward.local.location._after import BayesRemap, PriorPlaces, h3_cells, h3_centres
from leeward.local.location._felt import METRES, Felt
from leeward.local.location._over_places import OverPlaces, distinct_points
from leeward.local.location._terms import Compared, PositionNoise
from leeward.mechanism import FiniteMechanism

Floats = NDArray[np.float64]

MOST: Final = 60
"""Places up to which the linear program is solved: its size grows with their square, and more than a minute is long."""


@dataclass(frozen=True)
class BestOverPlaces(OverPlaces):
    """The mechanism of least expected distance among all that keep a promise between public places, certified.

    Attributes:
        places: the places with their prior.
        optimal: the certified mechanism on the grid points of the places; its loss and its lower bound are in metres.
    """

    places: PriorPlaces
    optimal: Optimal

    @classmethod
    def of(
        cls,
        geo: PositionNoise,
        latitude: ArrayLike,
        longitude: ArrayLike,
        weights: ArrayLike | None = None,
        progress: Progress = silent,
        felt: Felt = METRES,
    ) -> BestOverPlaces:
        """Solve for the best mechanism.

        Args:
            geo: the promise: box, ε a metre and norm.
            latitude: of the places, in degrees.
            longitude: of the places.
            weights: the prior, public; equal by default.
            progress: called with a line of text at each stage.
            felt: what distances between places count as; by default themselves.

        Raises:
            InputError: if there are more than `MOST` places, or two on one grid point.
        """
        places = PriorPlaces.of(geo.plane, latitude, longitude, weights)
        points = distinct_points(geo, places, MOST, "the best mechanism is solved")
        promise: DirectedDistance[Any] = Plane(geo.epsilon * geo.step, geo.norm)
        if not felt.plain:
            promise = felt.promise(geo, points, places.weights.tolist())
        prior = stochastic([float(chance) for chance in places.prior])
        # the promise is about grid points, but the loss is between the places themselves; in millimetres it is exact
        apart = [[Fraction(round(1000 * d), 1000) for d in row] for row in places.apart.tolist()]
        return cls(places, optimal(points, promise, prior=prior, loss=apart, progress=progress))

    @property
    def mechanism(self) -> FiniteMechanism:
        """Its exact chances."""
        return self.optimal.mechanism

    @property
    def loss(self) -> float:
        """The expected distance in metres from the place of the truth."""
        return float(self.optimal.loss)


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
    places = PriorPlaces.of(geo.plane, latitude, longitude, weights)
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


def _best(geo: PositionNoise, places: PriorPlaces, away: Floats) -> float | None:
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
