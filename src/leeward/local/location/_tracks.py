# SPDX-License-Identifier: Apache-2.0
"""Tracks: a person's reports at many times, of which a new one is drawn only where the last has become wrong.

The mechanism is test and report (`leeward.mechanism._predictive`, with theorem and proof), on the grid of planar Laplace
noise. What comes before and after it is public: a schedule thins the rows before anything is asked of them, limits say what
a person's track may cost in all or in any stretch of time, and a step that is not asked for, or not paid for, is missing or
shows the last report again.

Each step costs c·(d + a), a what snapping takes positions apart; so limits are kept as one report's factor is
(`leeward.local.location._asked`): ε·(W + a) ≤ ln F.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._plain import at_most, odds
from leeward._private import Private
from leeward._taught import taught
from leeward.errors import DataError, InputError, check_choice
from leeward.exact._real import Exact
from leeward.ledger._identity import payer
from leeward.local.location._after import PriorPlaces
from leeward.local.location._asked import Asked
from leeward.local.location._length import on_earth
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._terms import Otherwise, TrackLimit, TrackPart
from leeward.local.series._quantities import microseconds
from leeward.mechanism._predictive import HELD, START, UNPAID, Allowance, PredictiveMechanism, TrackState
from leeward.noise import Bits, SystemBits

if TYPE_CHECKING:
    from leeward.local.location._attacker import AttackerView

Points = NDArray[np.int64]
GridPoint = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TrackPlace:
    """What is kept of a person between reports: all of it is public.

    Attributes:
        state: of the mechanism.
        asked: the time of the last row that was asked for.
    """

    state: TrackState = START
    asked: int | None = None


@taught
class Tracks:
    """Test and report for tracks of positions.

    ``Tracks(geo, near="1 km", in_window={"within": "200 m", "factor": "64"}, window="1 d")``: any two tracks of the same
    times that are at most 200 metres apart at each time, and differ within one day only, are indistinguishable up to a
    factor of 64.

    Args:
        geo: the noise of a report, and the box; not the best mechanism over places.
        near: while the test says that a person is within this length of their last report, it is what goes out.
        test: what a test costs as a share of a report, exact.
        every: rows that follow the last one that was asked for by less than this time are not asked for; None for none.
        in_all: what a track may cost in all, with the keys of a promise: within and factor, or epsilon and unit.
        in_window: what it may cost in any stretch of time of the length ``window``.
        window: that length, such as ``"1 d"``.
        otherwise: what goes out of a row that is not asked for or not paid for.
        bits: the entropy source; by default a fresh cryptographic stream.

    Attributes:
        mechanism: the mechanism on the grid.
        limits: each limit as it was asked for, with its span.

    Raises:
        InputError: without a limit, for a window without its limit or the other way round, or keys that are malformed.
        LowUtilityError: a limit that snapping alone would use up by half.
    """

    def __init__(
        self,
        geo: PlanarLaplace,
        *,
        near: str,
        test: Exact = "1/3",
        every: str | None = None,
        in_all: Mapping[str, Any] | None = None,
        in_window: Mapping[str, Any] | None = None,
        window: str | None = None,
        otherwise: Otherwise = "withhold",
        bits: Bits | None = None,
    ) -> None:
        check_choice("otherwise", otherwise, get_args(Otherwise), "it is not an option")
        if geo.terms.over_places:
            raise InputError(
                "Tracks over a mechanism for places", "a test is about planar noise", "Take the remap, or none"
            )
        if in_all is None and in_window is None:
            raise InputError(
                "Tracks without a limit",
                "reports of one person add up, and nothing would bound what they cost together",
                'Give in_all, or in_window and window: in_window = {within = "200 m", factor = "64"}, window = "1 d"',
            )
        if (in_window is None) != (window is None):
            raise InputError(
                "in_window and window", "one says how much, the other in what stretch of time", "Give both, or neither"
            )
        span = None if window is None else microseconds(window, "window")
        asked = [(in_all, None, None), (in_window, span, window)]
        self.limits = [(Asked.of(**_keys(keys)), length, words) for keys, length, words in asked if keys is not None]
        self.geo, self.near, self.every, self.otherwise = geo, near, every, otherwise
        self._every = 0 if every is None else microseconds(every, "every")
        self.mechanism = PredictiveMechanism(
            geo.mechanism,
            near=on_earth(near, "near"),
            test=test,
            allowances=[Allowance(limit.kept(geo.apart), length) for limit, length, _ in self.limits],
        )
        self._bits = bits or SystemBits()

    # ---- one report

    def report(
        self, place: TrackPlace, latitude: float, longitude: float, time: int
    ) -> tuple[tuple[float, float] | None, TrackPlace]:
        """Return what goes out of one row, in degrees, or None; and what is to be kept. Touches no file.

        Args:
            place: what was kept; `TrackPlace()` at first.
            latitude: degrees.
            longitude: degrees.
            time: microseconds, of any public clock; never before that of the last row.

        Raises:
            DataError: for a position that `PlanarLaplace.perturb_one` refuses.
            InputError: for a time before that of the last row.
        """
        north, east = np.array([latitude], np.float64), np.array([longitude], np.float64)
        if not self.geo.present(north, east)[0]:
            return None, place
        at = self.geo.to_grid(north, east)[0].tolist()
        shown, kept, _ = self.step(place, (at[0], at[1]), time)
        if shown is None:
            return None, kept
        back = self.geo.shown(np.array([shown], np.int64))
        return (float(back[0][0]), float(back[1][0])), kept

    def step(self, place: TrackPlace, point: GridPoint, time: int) -> tuple[GridPoint | None, TrackPlace, str]:
        """Return the grid point that goes out, or None; what is to be kept; and what was done, in one word."""
        state, asked = place.state, place.asked
        if asked is not None and asked <= time < asked + self._every:
            done = "unasked"
        else:
            answer, state = self.mechanism.step(state, point, time, self._bits)
            asked = time
            if answer not in (UNPAID, HELD):
                return state.last, TrackPlace(state, asked), "new"
            done = "held" if answer == HELD else "unpaid"
        shown = state.last if done == "held" or self.otherwise == "repeat" else None
        return shown, TrackPlace(state, asked), done

    def replayed(self, place: TrackPlace, time: int, report: GridPoint | None) -> tuple[TrackPlace, str]:
        """Return what is kept after a row, and what was done, from what went out of it alone.

        A report that is the last one again counts as held. It may have been a new one: near a corner of the box many noisy
        points are moved to the same one. So a row without a report may not have been paid for if it then was not.

        Args:
            place: what was kept before.
            time: of the row.
            report: the grid point that went out; None for none.

        Raises:
            DataError: nothing went out where something had to.
        """
        if place.asked is not None and place.asked <= time < place.asked + self._every:
            return place, "unasked"
        at_most = place.state if report is not None else self._dearest(place.state)
        if self.mechanism.plan(at_most, time) == "unpaid":
            return TrackPlace(self.mechanism.after(place.state, time, UNPAID), time), "unpaid"
        if report is None:
            raise DataError(
                "A row of a track without a report that was paid for (this is for the curator only)",
                "the limits of the spec pay for it, so the file was made by another one",
                "Give the spec that the file was made with",
            )
        held = place.state.last == report
        state = self.mechanism.after(place.state, time, HELD if held else report)
        return TrackPlace(state, time), "held" if held else "new"

    def _dearest(self, state: TrackState) -> TrackState:
        """Return the state as if each report that was shown again had been a new one at the same point."""
        test, report = self.mechanism.costs
        held = state.tests - max(state.reports - 1, 0)
        costs = tuple((at, cost + report if cost == test else cost) for at, cost in state.costs)
        return replace(state, costs=costs, paid=state.paid + held * report)

    # ---- what is promised

    def attacker(
        self,
        latitude: ArrayLike,
        longitude: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        between: str,
        rows: Sequence[int] = (1, 10, 100),
        trials: int = 200,
    ) -> tuple[AttackerView, ...]:
        """Return what somebody learns from the rows of one stop, as `PlanarLaplace.attacker` does: simulated.

        He sees which rows have a new report and which show the last one again, and how likely either is from each place.

        Args:
            latitude: of the places where people may be, in degrees, shape (P,); all in the box; at most 2,000.
            longitude: of the places, shape (P,).
            weights: the attacker's prior, public; equal by default.
            between: how long after each row the next one is, such as ``"5 min"``.
            rows: how many rows of one stop he sees.
            trials: how many people are simulated, each from the beginning of a track.

        Raises:
            InputError: for places or numbers that are malformed, or too many.
        """
        from leeward.local.location._attacker import attacker_views
        from leeward.local.location._seen import SeenTracks

        places = PriorPlaces.of(self.geo.plane, latitude, longitude, weights)
        points = self.geo.mechanism.snap(places.at)
        seen_by = SeenTracks(self.mechanism, points, self.step, TrackPlace(), microseconds(between, "between"))
        return attacker_views(seen_by, places, rows, trials, self._bits)

    @property
    def surely_near(self) -> float:
        """Metres from the truth, on the ground, from which on a report is shown again with a chance of 1 in 20 or less.

        The test compares with the grid point next to the truth, in a plane in which distances are shorter.
        """
        away = float(self.mechanism.near) + math.log(10) / float(self.mechanism.test) + float(self.geo.apart) / 2
        return away / (1 - self.geo.plane.shrinkage)

    def part(self) -> TrackPart:
        """Return what a statement says of tracks."""
        made, geo = self.mechanism, self.geo
        promised = "; ".join(
            f"any two tracks of the same times that are at most {limit.length} metres apart at each time"
            + ("" if words is None else f", and differ within {words} only,")
            + f" by at most {_factor(limit)}"
            for limit, _, words in self.limits
        )
        return TrackPart(
            near=self.near,
            every=self.every,
            otherwise=self.otherwise,
            test_epsilon_per_metre=str(made.test),
            report_epsilon_per_metre=str(geo.epsilon),
            limits=tuple(
                TrackLimit(asked=limit.text, window=words, epsilon_per_metre=str(limit.kept(geo.apart)))
                for limit, _, words in self.limits
            ),
            text=f"What is published tells apart {promised}. A first report costs ε = {geo.epsilon} a metre, a test"
            f" {made.test}, a new report after it both; a row whose cost is not within the limits is not asked for",
            near_text=f"The last report is shown again while a test says that it is within {self.near}: beyond"
            f" {at_most(self.surely_near, 3)} m it is shown again with a chance of 1 in 20 or less",
        )


class TracksOfPeople(Private):
    """The tracks of a table's people, row by row, each person's in the order of time."""

    __slots__ = ("_done", "_places", "_tracks")

    def __init__(self, tracks: Tracks) -> None:
        self._tracks, self._done = tracks, Counter[str]()
        self._places: dict[str, TrackPlace] = {}

    def take(self, people: Sequence[Any], times: Sequence[int], points: Points) -> tuple[Points, NDArray[np.bool_]]:
        """Return grid points that go out for the next rows, shape (n, 2), and which of them do.

        Raises:
            DataError: rows of a person are not in the order of time.
            InputError: an id that is no one's.
        """
        shown, there = np.zeros_like(points), np.zeros(len(points), bool)
        for row, (person, time, at) in enumerate(zip(people, times, points.tolist(), strict=True)):
            who = payer(person)
            place = self._places.get(who, TrackPlace())
            if place.asked is not None and time < place.asked:
                raise DataError(
                    "Rows of a person that are not in the order of time (this is for the curator only)",
                    "what a track costs is added up in that order",
                    "Sort the table by its times",
                )
            point, self._places[who], done = self._tracks.step(place, (at[0], at[1]), time)
            self._done[done] += 1
            if point is not None:
                shown[row], there[row] = point, True
        return shown, there

    @property
    def notes(self) -> list[str]:
        """What to tell the curator: what became of rows, and what the dearest track costs."""
        words = {
            "new": "with a new report",
            "held": "with the last one again, which still held",
            "unasked": "not asked for, by the schedule",
            "unpaid": "not paid for, by the limits",
        }
        counts = ", ".join(f"{self._done[key]:,} {what}" for key, what in words.items())
        most = max((place.state.paid for place in self._places.values()), default=0)
        cost = in_sum(float(self._tracks.mechanism.unit * most), self._tracks.geo)
        return [f"for the curator only: of the rows {counts}; the dearest track cost {cost} in all"]


def in_sum(epsilon: float, geo: PlanarLaplace) -> str:
    """Say what reports cost together: ε a metre, and the factor that it is for 100 metres, rounded up."""
    factor = odds(epsilon * (100 * float(geo.ground_epsilon) / float(geo.epsilon) + float(geo.apart)))
    return f"ε = {at_most(epsilon, 4)} a metre (a factor of {factor} for 100 metres)"


def _keys(given: Mapping[str, Any]) -> dict[str, Any]:
    known = ("within", "factor", "epsilon", "unit")
    if unknown := [key for key in given if key not in known]:
        raise InputError(
            f"A limit with {unknown[0]!r}", "it is not a part of a promise", f"Its keys are {', '.join(known)}"
        )
    return {key: given.get(key) for key in known}


def _factor(limit: Asked) -> str:
    if limit.factor is not None:
        return f"the factor {limit.factor}, snapping included"
    return f"the factor e^({limit.loss}), and what snapping costs"
