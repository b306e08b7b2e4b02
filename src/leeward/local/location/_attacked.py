# SPDX-License-Identifier: Apache-2.0
"""The attacker after publishing: what he believes once he has seen the reports, against where people were.

For the machine on which the positions are, and its owner's eyes alone: the figures depend on the positions. He knows the
mechanism, a public prior over places, and which rows are of one stop: a person's rows whose true position is nearest to one
of these places. After one row, and after all rows of a stop, he believes place x with a chance in proportion to
prior(x)·∏ Pr[row | x], the exact law up to the rounding of floats, and guesses the place of least expected distance.

What he sees must be one noisy grid point, or one public place. So it is refused of reports that were moved to places or
given as cells afterwards, and on a grid finer than 5 cm; reports at the edge of the box, where all that lies beyond is
moved, are left out and counted. Of a track he replays what is public: the schedule, the limits, and the last report, which a
row shows again if its test held. (A new report that equals the last one is taken for it: with a step s and noise of ε a
metre that happens with a chance of about (ε·s)²/2π a row, at most, and more often only at the edge of the box.) While the
last report is one at the edge of the box, rows of a track are left out too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._plain import counted, likely, share_of
from leeward._private import Private
from leeward.errors import DataError, RefusedError
from leeward.ledger._identity import payer
from leeward.local.location._after import PriorPlaces
from leeward.local.location._attacker import believed
from leeward.local.location._length import off
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._posterior import FINEST
from leeward.local.location._seen import SeenPlanar, SeenTracks
from leeward.local.location._tracks import TrackPlace, Tracks

Floats = NDArray[np.float64]

_ROUNDED: Final = 1e-6  # degrees: more than rounding moves a report
_DIGIT: Final = 1.5e-7  # degrees: reports have seven decimals, and another machine may round the last one otherwise
_AT_ONCE: Final = 1 << 21


@dataclass(frozen=True, repr=False, slots=True)
class Attacked(Private):
    """What an attacker's belief is worth, on average. It depends on the positions: for the curator only.

    Attributes:
        what: after what he is asked.
        many: over how many rows, or stops, the figures are means.
        believed: how likely he holds the right place to be.
        right: how often his guess is the right place.
        expected: how far off he expects his guess to be, in metres: his expected inference error.
        off: how far off it is.
    """

    what: str
    many: int
    believed: float
    right: float
    expected: float
    off: float

    def __str__(self) -> str:
        return (
            f"after {self.what} ({self.many:,}) he holds the right place for {likely(self.believed)} likely and guesses it"
            f" {share_of(self.right)} of the time; he expects to be {off(self.expected)} m off, and is {off(self.off)} m off"
        )


@dataclass(repr=False, slots=True)
class _Means(Private):
    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros(4))
    many: int = 0

    def add(self, logs: Floats, truth: NDArray[np.intp], places: PriorPlaces) -> None:
        belief = believed(logs)
        expected = belief @ places.apart
        guess = expected.argmin(axis=1)
        rows = np.arange(len(truth))
        self.sums += [
            belief[rows, truth].sum(),
            (guess == truth).sum(),
            expected[rows, guess].sum(),
            places.apart[guess, truth].sum(),
        ]
        self.many += len(truth)

    def of(self, what: str) -> Attacked:
        return Attacked(what, self.many, *(float(each) for each in self.sums / max(self.many, 1)))


class Attack(Private):
    """An attack on reports, row by row.

    Args:
        places: where people may be, with the attacker's prior.
        tracks: test and report; None where each row has a report of its own.
        repeats: whether the same report is shown on one grid point: it is then seen once.
    """

    __slots__ = (
        "_beyond",
        "_kept",
        "_none",
        "_one",
        "_places",
        "_prior",
        "_repeats",
        "_seen",
        "_stops",
        "_tracks",
        "_vague",
    )

    def __init__(self, places: PriorPlaces, tracks: Tracks | None, *, repeats: bool) -> None:
        self._places, self._tracks, self._repeats = places, tracks, repeats
        self._prior = np.log(places.prior, out=np.full(len(places.prior), -np.inf), where=places.prior > 0)
        self._none, self._one, self._beyond = _Means(), _Means(), 0
        self._stops: dict[tuple[str, int], Floats] = {}
        self._seen: set[tuple[str, int, float, float]] = set()
        self._kept: dict[str, TrackPlace] = {}
        self._vague: set[str] = set()

    def take(
        self,
        geo: PlanarLaplace,
        truth: NDArray[np.intp],
        people: Sequence[Any] | None,
        times: Sequence[int] | None,
        reports: Floats,
    ) -> None:
        """Look at the next rows.

        Args:
            geo: the mechanism of their reports.
            truth: the number of the place nearest to each true position.
            people: whose each row is; None where nobody says: each is somebody else's.
            times: when each is, for tracks.
            reports: latitudes and longitudes as published, shape (2, n); NaN where nothing went out.
        """
        who = None if people is None else [payer(person) for person in people]
        if self._tracks is not None and who is not None and times is not None:
            self._take_tracks(self._tracks, truth, who, times, reports)
            return
        there = np.flatnonzero(~np.isnan(reports[0]))
        step = max(_AT_ONCE // len(self._prior), 1)
        for start in range(0, len(there), step):
            part = there[start : start + step]
            logs, known = _likelihood(geo, self._places, reports[0, part], reports[1, part])
            self._beyond += int((~known).sum())
            rows = part[known]
            self._add(logs[known], truth[rows], None if who is None else [who[row] for row in rows], reports[:, rows])

    def _add(self, logs: Floats, truth: NDArray[np.intp], who: list[str] | None, reports: Floats) -> None:
        self._none.add(np.tile(self._prior, (len(truth), 1)), truth, self._places)
        self._one.add(self._prior + logs, truth, self._places)
        for row, person in enumerate(who or ()):
            key = person, int(truth[row])
            if self._repeats:
                report = (*key, float(reports[0, row]), float(reports[1, row]))
                if report in self._seen:
                    continue
                self._seen.add(report)
            self._stops[key] = self._stops.get(key, self._prior) + logs[row]

    def _take_tracks(
        self, tracks: Tracks, truth: NDArray[np.intp], who: list[str], times: Sequence[int], reports: Floats
    ) -> None:
        points = tracks.geo.mechanism.snap(self._places.at)
        seen_by = SeenTracks(tracks.mechanism, points, tracks.step, TrackPlace(), 1)
        missing = np.isnan(reports[0])
        shown, known = np.zeros((len(who), 2), np.int64), np.zeros(len(who), bool)
        shown[~missing], known[~missing] = _grid_points(tracks.geo, *reports[:, ~missing])
        for row, person in enumerate(who):
            before = self._kept.get(person, TrackPlace())
            report = None if missing[row] else (int(shown[row, 0]), int(shown[row, 1]))
            self._kept[person], done = tracks.replayed(before, times[row], report)
            if done not in ("new", "held"):
                continue
            vague = person in self._vague
            (self._vague.discard if known[row] else self._vague.add)(person)
            if vague or not known[row]:
                self._beyond += 1
            else:
                logs = seen_by.of(before.state, self._kept[person].state.last, done)
                self._add(logs[None], truth[row : row + 1], [person], reports[:, row : row + 1])

    def found(self) -> list[Attacked]:
        """Return the figures: of no row and of one, and where the table says who is who of all rows of a stop."""
        found = [self._none.of("no row"), self._one.of("one row")]
        if self._stops:
            every = _Means()
            keys = list(self._stops)
            step = max(_AT_ONCE // len(self._prior), 1)
            for start in range(0, len(keys), step):
                part = keys[start : start + step]
                every.add(
                    np.array([self._stops[key] for key in part]),
                    np.array([at for _, at in part], np.intp),
                    self._places,
                )
            found.append(every.of("all rows of a person at one place"))
        return found

    @property
    def notes(self) -> list[str]:
        """The figures in words, and what was left out."""
        found = [f"for the curator only: {each}" for each in self.found()]
        if self._beyond:
            found.append(
                f"for the curator only: left out: {counted(self._beyond, 'row')}, because a report at the edge of the box"
                " stands for all that lie beyond it"
            )
        return found


def _likelihood(
    geo: PlanarLaplace, places: PriorPlaces, north: Floats, east: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the log-likelihood of reports from each place, shape (n, P), and of which it is known."""
    seen_by = geo.seen(places)
    if isinstance(seen_by, SeenPlanar):
        points, known = _grid_points(geo, north, east)
        return seen_by.of(points), known
    logs = seen_by.shown(north, east)
    if logs is None:
        raise _made_by_another("none of the public places", "draws reports over these")
    return logs, np.ones(len(north), bool)


def _grid_points(geo: PlanarLaplace, north: Floats, east: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the noisy grid points that reports show, and where no other point is shown so: inside the box."""
    assert geo.mechanism.lower is not None
    assert geo.mechanism.upper is not None
    points = geo.mechanism.snap(geo.plane.project(*geo.box.nearest(north, east)))
    known = ((points > geo.mechanism.lower) & (points < geo.mechanism.upper)).all(axis=1)
    known &= geo.box.inside(north, east, margin=_ROUNDED)
    again = np.array(geo.shown(points[known])) - np.array([north[known], east[known]])
    again[1] = (again[1] + 180) % 360 - 180
    if (np.abs(again) > _DIGIT).any():
        raise _made_by_another("on no point of the grid", "shows grid points")
    return points, known


def _made_by_another(where: str, what: str) -> DataError:
    return DataError(
        f"Reports that are {where} (this is for the curator only)",
        f"the spec {what}, so the file was made by another one",
        "Give the spec that the file was made with",
    )


def check_attackable(geo: PlanarLaplace) -> None:
    """Refuse reports of which no exact law is known."""
    changed = (
        "moved to public places" if geo.terms.places == "remap" else "H3 cells" if geo.terms.h3 is not None else ""
    )
    if changed:
        raise RefusedError(
            f"An attack on reports that are {changed}",
            "many noisy points become the same report, and the sum of their chances is not exact",
            "Ask the plan, whose attacker sees noisy points, which tell as much or more; or draw over places",
        )
    if geo.step < FINEST and not geo.terms.over_places:
        raise RefusedError(
            f"An attack on reports of a grid of {geo.step} metres",
            "reports are rounded to a centimetre, so one stands for several points of that grid",
            f"Give a step of at least {float(FINEST)} metres",
        )
