# SPDX-License-Identifier: Apache-2.0
"""What is done with positions besides noise, and what anything that describes a mechanism for positions may ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._document import Part
from leeward.distance._plane import Norm
from leeward.exact._real import Real
from leeward.ledger._person_budgets import Over
from leeward.local.location._asked import Asked
from leeward.local.location._box import Box
from leeward.local.location._projection import LocalPlane
from leeward.mechanism._planar import Displacement, PlanarMechanism

Outside = Literal["refuse", "clamp"]
Missing = Literal["refuse", "keep"]
LevelOf = Literal["person", "row"]
"""Whether a person has one level in a table, or each row its own."""


Drawn = Literal["best", "exponential"]
"""How reports are drawn over public places."""

Otherwise = Literal["withhold", "repeat"]
"""What goes out of a row of a track that is not asked for, or not paid for: nothing, or the last report again."""


class Compared(Part):
    """Expected distances of reports, as they are shown, from the truth in metres, for someone at a place as the prior says.

    Attributes:
        planar_laplace: of planar Laplace, moved into the box: an estimate.
        remapped: of planar Laplace with the Bayes remap to the places: an estimate.
        remapped_error: its standard error.
        best: of the best mechanism over the places; None where there are too many to solve for, or two on one grid point.
    """

    planar_laplace: float
    remapped: float
    remapped_error: float
    best: float | None


class DisplacedPlaces(Part):
    """How far reports from some of the places lie from the truth, for someone who is at one of them, each as likely.

    Attributes:
        name: which places.
        places: how many.
        lightest: the least of their weights.
        heaviest: the largest.
        mean: the expected distance in metres.
    """

    name: str
    places: int
    lightest: float
    heaviest: float
    mean: float


class FeltPart(Part):
    """Reports that are drawn over public places, whose distances count as elastic, by regions, or as they are.

    Attributes:
        places: how many there are.
        mechanism: the best one, or the exponential one.
        scale: of the exponential one, what its ε is as a share of the promise; None for the best.
        directed: of the exponential one, whether it uses the direction of the promise; None for the best.
        text: what is promised beside the distance, in words.
        expected_distance: from the truth, in metres, for someone at a place as the weights say.
        displaced: the same by parts of the places.
    """

    places: int
    mechanism: Drawn
    scale: float | None
    directed: bool | None
    text: tuple[str, ...]
    expected_distance: float
    displaced: tuple[DisplacedPlaces, ...]


class AttackerSees(Part):
    """What an attacker's best guess is worth after so many reports of one stop (`leeward.local.location.AttackerView`).

    Attributes:
        level: whose reports these are; None where all are alike.
        reports: how many he has seen; of tracks, how many rows.
        right: how likely he names the right place.
        right_error: its standard error; 0 where it is exact.
        distance: how far his best guess lies from the truth on average, in metres.
        distance_error: its standard error.
    """

    level: str | None
    reports: int
    right: float
    right_error: float
    distance: float
    distance_error: float


class AttackerPart(Part):
    """An attacker who knows a public prior over places.

    Attributes:
        places: how many there are.
        text: what he sees.
        sees: what he learns.
    """

    places: int
    text: str
    sees: tuple[AttackerSees, ...]


class TrackLimit(Part):
    """What a person's track may cost: as it was asked for, in what stretch of time (None for in all), and ε, exact."""

    asked: str
    window: str | None
    epsilon_per_metre: str


class TrackPart(Part):
    """Reports of tracks, of which a new one is drawn only where the last has become wrong.

    Attributes:
        near: within which length the last report is to hold.
        every: how long after a row that was asked for no other is; None for no schedule.
        otherwise: what goes out of rows that are not asked for or not paid for.
        test_epsilon_per_metre: what a test costs.
        report_epsilon_per_metre: what a new report costs.
        limits: what a track may cost.
        text: what is promised of tracks, in words.
        near_text: how far from the truth a report is that is shown again, in words.
    """

    near: str
    every: str | None
    otherwise: Otherwise
    test_epsilon_per_metre: str
    report_epsilon_per_metre: str
    limits: tuple[TrackLimit, ...]
    text: str
    near_text: str


@dataclass(frozen=True)
class Terms:
    """What a job does besides noise.

    Attributes:
        places: whether reports are moved to a public list of places ("remap"), or drawn over it ("best", "exponential");
            None for neither.
        compared: expected distances over that list; None where they were not asked for.
        h3: the resolution of the cells that are published; None for none.
        reports_a_day: how many reports of a person and day are paid for; None for no bound.
        a_day: instead, ε a metre that the reports of a person and day may cost together; None for no bound.
        over: what happens to more.
        days: which day a report belongs to, in words; None for no bound.
        repeats: whether the same report is shown for the same person and grid point.
        track: test and report for tracks; None where each row has a report of its own.
        felt: what is said of reports over places by the exponential mechanism, or with felt distances; None of others.
        never: the names of regions into which passing is not promised.
        attacker: what somebody learns who knows where people usually are; None where that was not asked.
    """

    places: str | None = None
    compared: Compared | None = None
    h3: int | None = None
    reports_a_day: int | None = None
    a_day: Real | None = None
    over: Over | None = None
    days: str | None = None
    repeats: bool = False
    track: TrackPart | None = None
    felt: FeltPart | None = None
    never: tuple[str, ...] = ()
    attacker: AttackerPart | None = None

    @property
    def over_places(self) -> bool:
        """Whether a mechanism over places takes the place of planar Laplace."""
        return self.places in get_args(Drawn)


class PositionNoise(Protocol):
    """Noise for positions in a box, as statements, pictures and comparisons see it: what `PlanarLaplace` says of each."""

    box: Box
    plane: LocalPlane
    mechanism: PlanarMechanism
    asked: Asked
    promise: str
    epsilon: Real
    outside: Outside
    missing: Missing
    fit_for_release: bool

    @property
    def terms(self) -> Terms: ...

    @property
    def norm(self) -> Norm: ...

    @property
    def step(self) -> Real: ...

    @property
    def snapping(self) -> Real: ...

    @property
    def ground_epsilon(self) -> Real: ...

    def describe(self) -> Displacement: ...

    def to_grid(self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> NDArray[np.int64]: ...

    def shown(self, noisy: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def perturb_points(
        self, latitude: ArrayLike, longitude: ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
