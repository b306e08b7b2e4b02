# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of perturbed positions as a document: what lies beside the file that ``leeward perturb`` writes.

Exact numbers are texts ("log(2)/200"); decimals beside them are for display.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from leeward._document import Document, Part
from leeward.distance._plane import Norm
from leeward.ledger._person_budgets import Over
from leeward.local._statement import Perturbation
from leeward.local.location._terms import AttackerPart, Compared, FeltPart, LevelOf, TrackPart


class PositionPromise(Part):
    """The promise about one report: ``Pr[Z | x] ≤ e^(ε·d + s)·Pr[Z | x']`` for positions x and x' that are d metres apart.

    Attributes:
        asked: what was asked for.
        epsilon_per_metre: ε in the plane, exact.
        epsilon_per_metre_decimal: the same as a decimal.
        norm: of which distance in the plane.
        ground_epsilon_per_metre: ε for distances on the ground.
        snapping: s, what moving positions to the grid costs.
        snapping_decimal: the same as a decimal.
        text: the promise in words.
        factors: e^(ε·d + s) for some distances.
    """

    asked: str
    epsilon_per_metre: str
    epsilon_per_metre_decimal: float
    norm: Norm
    ground_epsilon_per_metre: str
    snapping: str
    snapping_decimal: float
    text: str
    factors: Mapping[str, str]


class BoxPart(Part):
    """The public region, in degrees (WGS 84); west > east means that it crosses the antimeridian."""

    west: float
    south: float
    east: float
    north: float


class PlanePart(Part):
    """The plane that positions are projected to: as PROJ reads it, with its scale divided out, and how much it shortens."""

    projection: str
    scale: float
    shrinkage: float
    text: str


class PositionMechanism(Part):
    """The noise, and the step of its grid in metres."""

    name: Literal["planar Laplace", "best over places", "exponential over places"]
    text: str
    step: str


class DisplacementPart(Part):
    """How far reports lie from the truth, in metres: on average, and within which distance half and 95 % of them lie."""

    mean: float
    median: float
    within_95: float


class ReportBudget(Part):
    """How many reports of a person and day are paid for, and what happens to more; None without budgets.

    Attributes:
        reports_a_day: the bound.
        a_day: of reports of several levels, the bound of what they cost together: ε a metre, exact.
        over: what happens to reports beyond it.
        days: which day a report belongs to, in words.
        repeats: whether the same report is shown for the same person and grid point.
    """

    reports_a_day: int | None
    a_day: str | None
    over: Over | None
    days: str | None
    repeats: bool


class PositionLevel(Part):
    """What one level of ε is held to: the parts of a statement that are its own.

    Attributes:
        name: as the public column names it.
        promise: what is promised of one report at this level.
        displacement: how far its reports lie from the truth; None for the best mechanism over places.
        expected_loss: expected distances over a public list; None where they were not asked for.
    """

    name: str
    promise: PositionPromise
    displacement: DisplacementPart | None
    expected_loss: Compared | None


class PositionExchange(Part):
    """That two people exchange their positions: ε a metre of the one and of the other added up, and snapping likewise."""

    levels: tuple[str, str]
    epsilon_per_metre: str
    snapping: str


class PositionLevelsPart(Part):
    """The levels of ε of a table.

    Attributes:
        column: the public column that names them.
        of: whether each person has one level, or each row its own.
        each: what each level is held to; the statement's own promise is that of the largest ε.
        exchanges: for each two of them, what it costs that two people exchange their positions, one report each.
        text: what is promised between levels, and what is not, in words.
    """

    column: str
    of: LevelOf
    each: tuple[PositionLevel, ...]
    exchanges: tuple[PositionExchange, ...]
    text: str


class LocationStatement(Perturbation, Document):
    """The privacy statement of perturbed positions; the attributes of a `Perturbation`, and these.

    Attributes:
        kind: ``location``.
        promise: what is promised of one report.
        box: the public region.
        plane: the plane that it is projected to.
        mechanism: the noise.
        displacement: how far reports lie from the truth; None for the best mechanism over places.
        expected_loss: expected distances over a public list; None where they were not asked for.
        budget: how many reports are paid for.
        levels: each person's own ε; None where all have one.
        track: test and report for tracks; None where each row has a report of its own.
        attacker: what somebody learns who knows where people usually are, simulated; None where that was not asked.
        felt: reports over public places by the exponential mechanism, or with felt distances; None for others.
    """

    kind: Literal["location"]
    promise: PositionPromise
    box: BoxPart
    plane: PlanePart
    mechanism: PositionMechanism
    displacement: DisplacementPart | None
    expected_loss: Compared | None
    budget: ReportBudget
    levels: PositionLevelsPart | None
    track: TrackPart | None
    felt: FeltPart | None
    attacker: AttackerPart | None


__all__ = ["LocationStatement"]
