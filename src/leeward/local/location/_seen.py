# SPDX-License-Identifier: Apache-2.0
"""How likely what an attacker sees is from each place where somebody may be: of reports of each kind, one after another.

An attacker who knows that n reports are of one place adds up the logarithms of these. He is given what was drawn, before it
is moved into the box, to places or to cells, which tells him as much or more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward.local.location._after import PriorPlaces, lengths
from leeward.local.location._over_places import OverPlaces
from leeward.mechanism._planar import PlanarMechanism
from leeward.mechanism._predictive import PredictiveMechanism, TrackState
from leeward.noise import Bits

Floats = NDArray[np.float64]
Points = NDArray[np.int64]


class KeptOfTrack(Protocol):
    """What is kept of a track between rows."""

    @property
    def state(self) -> TrackState:
        """Of the mechanism."""


TrackStep = Callable[[Any, tuple[int, int], int], tuple[tuple[int, int] | None, Any, str]]


class Seen(Protocol):
    """Reports of some kind, of people who stay where they are."""

    def logs(self, people: NDArray[np.intp], bits: Bits) -> Iterator[Floats]:
        """Yield, for one report after another of people at these places, its log-likelihood from each place: shape (n, P).

        A number that does not depend on the place may be left out of it.
        """


class SeenPlanar:
    """Reports of planar Laplace noise, each on its own.

    Args:
        mechanism: the noise.
        points: the grid points of the places, shape (P, 2).
    """

    def __init__(self, mechanism: PlanarMechanism, points: Points) -> None:
        self._mechanism, self._points = mechanism, points

    def of(self, noisy: Points) -> Floats:
        """Return the log-likelihood of noisy grid points, shape (n, 2), from each place."""
        noise = self._mechanism.noise
        return -float(noise.rate) * lengths((noisy[:, None] - self._points).astype(np.float64), noise.norm)

    def logs(self, people: NDArray[np.intp], bits: Bits) -> Iterator[Floats]:
        """Draw and weigh one report of each person after another."""
        while True:
            yield self.of(self._mechanism.noisy(self._points[people], bits))


class SeenOverPlaces:
    """Reports that are drawn over public places, each on its own.

    Args:
        over: the mechanism.
        nearest: of the attacker's places, the number of the public place that each is moved to, shape (P,).
    """

    def __init__(self, over: OverPlaces, nearest: NDArray[np.intp]) -> None:
        self._over, self._nearest = over, nearest
        self._columns = {z: column for column, z in enumerate(over.mechanism.outputs)}
        self._shown = _numbers(_pairs(over.places.latitude, over.places.longitude))
        self.chances = over.mechanism.to_numpy()[nearest]  # of each noisy place
        self._logs = np.log(self.chances, out=np.full(self.chances.shape, -np.inf), where=self.chances > 0)

    def shown(self, latitude: Floats, longitude: Floats) -> Floats | None:
        """Return the log-likelihood of reports as they are shown, from each place; None if one is no public place."""
        at = [self._shown.get(pair) for pair in _pairs(latitude, longitude)]
        numbers = np.array([number for number in at if number is not None], np.intp)
        if len(numbers) < len(at):
            return None
        chances = self._over.chances[self._nearest][:, numbers].T
        return np.log(chances, out=np.full(chances.shape, -np.inf), where=chances > 0)

    def logs(self, people: NDArray[np.intp], bits: Bits) -> Iterator[Floats]:
        """Draw and weigh one report of each person after another."""
        points = self._over.points[self._nearest[people]]
        while True:
            drawn = self._over.report(points, bits)
            yield self._logs[:, [self._columns[i, j] for i, j in drawn.tolist()]].T


class SeenTracks:
    """Rows of tracks, where a new report is drawn only if a test fails: at rows that are not paid for nothing is seen.

    Args:
        mechanism: test and report.
        points: the grid points of the places, shape (P, 2).
        step: from what is kept of a track, a grid point and a time to what goes out, what is kept then, and what was done.
        start: what is kept before the first row.
        between: microseconds of public time between two rows.
    """

    def __init__(
        self, mechanism: PredictiveMechanism, points: Points, step: TrackStep, start: KeptOfTrack, between: int
    ) -> None:
        self._mechanism, self._points = mechanism, points
        self._step, self._start, self._between = step, start, between
        self._planar = SeenPlanar(mechanism.noise, points)

    def logs(self, people: NDArray[np.intp], bits: Bits) -> Iterator[Floats]:
        """Draw and weigh one row of each person after another, each track from its beginning."""
        at = [(int(i), int(j)) for i, j in self._points[people].tolist()]
        kept, time = [self._start] * len(at), 0
        while True:
            found = np.zeros((len(at), len(self._points)))
            for row, point in enumerate(at):
                before = kept[row].state
                _, kept[row], done = self._step(kept[row], point, time)
                found[row] = self.of(before, kept[row].state.last, done)
            yield found
            time += self._between

    def of(self, before: TrackState, last: tuple[int, int] | None, done: str) -> Floats:
        """Return the log-likelihood of what is seen of a row from each place, given what was public before it."""
        found = np.zeros(len(self._points))
        if done in ("new", "held") and before.last is not None:
            found += self._test(before.last, holds=done == "held")
        if done == "new" and last is not None:
            found += self._planar.of(np.array([last], np.int64))[0]
        return found

    @vanishing
    def _test(self, prediction: tuple[int, int], *, holds: bool) -> Floats:
        """Return the log of the chance that a test holds, or fails: 1 − ½e^(−t·|f − l|) or ½e^(−t·|f − l|)."""
        made = self._mechanism
        away = lengths((np.array(prediction) - self._points).astype(np.float64), made.noise.noise.norm) * float(
            made.noise.step
        )
        beyond = away - float(made.near)
        smaller = -float(made.test) * np.abs(beyond) - math.log(2)
        larger = np.log1p(-np.exp(smaller))
        return np.where((beyond <= 0) == holds, larger, smaller)


def seen_of(mechanism: PlanarMechanism, over: OverPlaces | None, places: PriorPlaces) -> SeenPlanar | SeenOverPlaces:
    """Return how likely reports are from places: of planar Laplace noise, or drawn over public places."""
    if over is None:
        return SeenPlanar(mechanism, mechanism.snap(places.at))
    return SeenOverPlaces(over, over.places.nearest(places.latitude, places.longitude))


def _numbers(places: list[tuple[float, float]]) -> dict[tuple[float, float], int]:
    """Return the number of each place, as it is listed, and as CSV writes it where that is no other place's."""
    short = [(round(north, 7), round(east, 7)) for north, east in places]
    many = Counter(short)
    return {at: number for number, at in enumerate(short) if many[at] == 1} | {
        at: number for number, at in enumerate(places)
    }


def _pairs(latitude: Floats, longitude: Floats) -> list[tuple[float, float]]:
    return list(zip(latitude.tolist(), longitude.tolist(), strict=True))
