# SPDX-License-Identifier: Apache-2.0
"""Reports that are drawn over a public list of places, one row of chances for each place."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._taught import taught
from leeward.analysis import CertifiedExponential, certified_exponential
from leeward.errors import InputError
from leeward.exact._real import Real
from leeward.local.location._after import PriorPlaces
from leeward.local.location._felt import Felt
from leeward.local.location._terms import DisplacedPlaces, FeltPart, PositionNoise
from leeward.mechanism import FiniteMechanism
from leeward.noise import Bits, SystemBits

Floats = NDArray[np.float64]
Points = NDArray[np.int64]

MOST: Final = 256
"""Places up to which the exponential mechanism is worked out: the proof looks at each place as each other at each report."""


class OverPlaces(ABC):
    """A mechanism whose reports are public places. A position is first moved to the nearest one.

    So the promise is about places: people at one place are not distinguished at all, and people near one another whose
    nearest places differ by as much as these places are apart.
    """

    places: PriorPlaces

    @property
    @abstractmethod
    def mechanism(self) -> FiniteMechanism:
        """Its exact chances: grid points of the places in, grid points of noisy places out."""

    @property
    @abstractmethod
    def loss(self) -> float:
        """The expected distance in metres from the place of the truth, for someone at a place as the prior says."""

    def shown(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the numbers of the places that are shown for the numbers of noisy ones: post-processing."""
        return numbers

    @functools.cached_property
    def points(self) -> Points:
        """The grid points of the places, shape (P, 2)."""
        return np.array(self.mechanism.inputs, np.int64)

    @functools.cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        return {point: number for number, point in enumerate(self.mechanism.inputs)}

    @functools.cached_property
    def chances(self) -> Floats:
        """How likely each place is shown for each, as floats, shape (P, P)."""
        found = np.zeros((len(self.points), len(self.points)))
        at = self.shown(np.array([self._numbers[z] for z in self.mechanism.outputs]))
        np.add.at(found.T, at, self.mechanism.to_numpy().T)
        return found

    @functools.cached_property
    def displaced(self) -> Floats:
        """Expected metres from each place to where it is shown, shape (P,)."""
        return np.asarray((self.chances * self.places.apart).sum(axis=1), np.float64)

    def report(self, points: Points, bits: Bits | None = None) -> Points:
        """Return a grid point drawn for each grid point of a place, shape (n, 2).

        Args:
            points: the grid points, shape (n, 2).
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        bits = bits or SystemBits()
        found = np.empty_like(points)
        distinct, which = np.unique(points, axis=0, return_inverse=True)
        for number, (i, j) in enumerate(distinct.tolist()):
            rows = np.flatnonzero(which.ravel() == number)
            found[rows] = self.mechanism.sample((i, j), len(rows), bits)
        return found

    def degrees(self, points: Points) -> tuple[Floats, Floats]:
        """Return latitudes and longitudes of the places that are shown for noisy grid points."""
        at = self.shown(np.array([self._numbers[i, j] for i, j in points.tolist()], np.intp))
        return self.places.latitude[at], self.places.longitude[at]

    def displaced_by(self, felt: Felt) -> tuple[DisplacedPlaces, ...]:
        """Return how far reports lie from the truth by quarters of the places, the lightest first, and for each region."""
        given = self.places.weights
        order = np.argsort(given, kind="stable")
        named = [
            (f"quarter {k + 1} of 4 by weight", part) for k, part in enumerate(np.array_split(order, 4)) if len(part)
        ]
        named = named if len(set(given.tolist())) > 1 else [("all places", order)]
        named += [(region.name, np.array(sorted(region.members))) for region in felt.regions]
        return tuple(
            DisplacedPlaces(
                name=name,
                places=len(part),
                lightest=float(f"{given[part].min():.4g}"),
                heaviest=float(f"{given[part].max():.4g}"),
                mean=float(f"{self.displaced[part].mean():.4g}"),
            )
            for name, part in named
        )


@taught
@dataclass(frozen=True)
class ExponentialOverPlaces(OverPlaces):
    """The exponential mechanism over public places, followed by the Bayes remap for their prior.

    Attributes:
        places: the places with their prior.
        certified: the mechanism on the grid points of the places, with its proof.
        guess: the number of the place that is shown for each noisy one: that of least expected distance from the truth.
    """

    places: PriorPlaces
    certified: CertifiedExponential
    guess: tuple[int, ...]

    @classmethod
    def of(cls, geo: PositionNoise, places: PriorPlaces, felt: Felt) -> ExponentialOverPlaces:
        """Work out the mechanism: of those that are proved private, the one of least expected distance.

        Raises:
            InputError: if there are more than `MOST` places, or two on one grid point.
        """
        points = distinct_points(geo, places, MOST, "the exponential mechanism is worked out")
        found = [
            cls(places, each, tuple(_best_guesses(each.mechanism, places)))
            for each in certified_exponential(felt.promise(geo, points, places.weights.tolist()))
        ]
        return min(found, key=lambda each: each.loss)

    @property
    def mechanism(self) -> FiniteMechanism:
        """Its exact chances."""
        return self.certified.mechanism

    @functools.cached_property
    def loss(self) -> float:
        """The expected distance in metres from the place of the truth."""
        return float(self.places.prior @ self.displaced)

    def shown(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the Bayes remap."""
        return np.array(self.guess, np.intp)[numbers]


def _best_guesses(mechanism: FiniteMechanism, places: PriorPlaces) -> list[int]:
    joint = places.prior[:, None] * mechanism.to_numpy()
    best: list[int] = np.argmin(joint.T @ places.apart, axis=1).tolist()
    return best


def distinct_points(geo: PositionNoise, places: PriorPlaces, most: int, what: str) -> list[tuple[int, int]]:
    """Return the grid points of places."""
    points = [(int(i), int(j)) for i, j in geo.mechanism.snap(places.at)]
    if len(points) > most:
        raise InputError(f"{len(points)} places", f"{what} for {most} at most", "Take fewer, or the remap")
    if len(set(points)) < len(points):
        raise InputError("Places on one grid point", "they cannot be distinguished", "Join them, or take a finer step")
    return points


def said_of(over: OverPlaces, felt: Felt, epsilon: Real) -> FeltPart:
    """Return what a statement says of reports over places."""
    certified = over.certified if isinstance(over, ExponentialOverPlaces) else None
    return FeltPart(
        places=len(over.points),
        mechanism="best" if certified is None else "exponential",
        scale=None if certified is None else certified.scale,
        directed=None if certified is None else certified.directed,
        text=felt.texts(epsilon),
        expected_distance=float(f"{over.loss:.4g}"),
        displaced=over.displaced_by(felt),
    )
