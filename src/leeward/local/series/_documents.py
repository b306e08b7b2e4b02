# SPDX-License-Identifier: Apache-2.0
"""The privacy statements of series as documents: what lies beside the file that ``leeward perturb`` writes, and bills.

Exact numbers are texts ("1/3"); decimals are for display.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from leeward._document import Document, Part
from leeward.ledger._person_budgets import Over
from leeward.local._statement import Perturbation
from leeward.local.series._routes import Way
from leeward.local.series._schedule import Per
from leeward.mechanism._series import Between, SeriesNoise

Published = Literal[
    "readings", "totals per hour", "totals per day", "totals per month", "totals per period", "tree of totals"
]
"""What goes out."""


class SeriesPromise(Part):
    """The promise.

    Attributes:
        asked: what was asked for.
        between: between which series.
        distance: the same as a sign: d_∞, d_1 or d_h.
        epsilon: ε for each unit of that distance.
        unit: the unit, such as ``1 kW``.
        window: how many readings a window has; None for totals.
        span: of what it is a promise about, in words.
        text: the promise in words.
    """

    asked: str
    between: Between
    distance: str
    epsilon: str
    unit: str
    window: int | None
    span: str
    text: str


class SeriesPricePart(Part):
    """What the noise costs in every distance, exactly.

    Attributes:
        manhattan: ε for each unit that readings move in all (d_1).
        maximum_window: ε for each unit that all readings of a window move at once (d_∞).
        maximum_published_window: likewise of all readings of the period, to who sees what is published of one window.
        maximum_total: ε for each unit that all readings of the period move at once (d_∞).
        hamming: ε for one reading that changes, however far (d_h).
        per: the unit.
        longest_span: how many readings the longest window or total has.
        texts: the same in words.
    """

    manhattan: str
    maximum_window: str
    maximum_published_window: str
    maximum_total: str
    hamming: str
    per: str
    longest_span: int
    texts: tuple[str, ...]


class SeriesSnapping(Part):
    """What rounding readings to the grid costs beyond, in each distance; None where it is not given, for totals."""

    manhattan: str | None
    maximum_window: str | None
    maximum_total: str
    text: str


class SchedulePart(Part):
    """When readings are due, in ISO 8601, how many there are, and in how many windows, or totals, they lie."""

    start: str
    end: str
    every: str
    zone: str | None
    readings: int
    windows: int


class GridPart(Part):
    """The grid that readings are rounded to, in a unit, and their public bounds."""

    unit: str
    step: str
    lower: str
    upper: str
    text: str


class SeriesMechanism(Part):
    """The noise, and its rate for each unit of the grid; for totals, that of the longest; for a tree, of all levels."""

    name: SeriesNoise | Literal["geometric"]
    rate: str
    text: str


class ReadingError(Part):
    """How far a reading is off on average, on the grid and halfway between two of its points."""

    unit: str
    reading: float
    reading_halfway: float
    text: str


class TotalError(Part):
    """How far a total is off on average, by the number of its readings, and what rounding one reading moves it at most."""

    unit: str
    by_readings: Mapping[int, float]
    rounding_of_a_reading: float
    text: str


class TreeLevelError(Part):
    """How far the totals of one level of a tree are off.

    Attributes:
        level: the span of its totals.
        spans: how many the period has.
        share: its part of ε, exact.
        rate: the rate of its noise for each unit of the grid, exact.
        mean: E|noise| of a total's own noise.
        within_95: a total's own noise is at most this with a chance of 95 % or more.
        deviation: the standard deviation of a total's own noise.
        consistent_deviation: that of what is published at most, rounded to whole steps.
    """

    level: Per
    spans: int
    share: str
    rate: str
    mean: float
    within_95: float
    deviation: float
    consistent_deviation: float


class TreeError(Part):
    """How far the totals of a tree are off, by level, and what rounding one reading moves one of them at most."""

    unit: str
    levels: tuple[TreeLevelError, ...]
    rounding_of_a_reading: float
    text: str


class SeriesBudget(Part):
    """How many times the readings of a meter's day may be published, and what happens to more.

    Attributes:
        reports_a_day: the bound, in runs that publish some of that day.
        over: what happens to days beyond it.
        text: both in words.
    """

    reports_a_day: int
    over: Over
    text: str


class SeriesOption(Part):
    """What other noise would be worth at the same ε: its mean error, and its prices as in `SeriesPricePart`."""

    between: Between
    noise: SeriesNoise
    mean_error: float
    manhattan: str
    maximum_window: str
    maximum_total: str
    chosen: bool
    text: str


class SeriesRoute(Part):
    """One way to the totals of one span, at the promise that is asked for.

    Attributes:
        span: what is totalled, the longest of them.
        way: noisy readings added up (with noise of their own, or one draw for each span), the total alone, or a tree.
        deviation: the standard deviation of the total's error; from readings of a group, where that is one meter.
        levels: of a tree, which totals are published.
        chosen: whether it is the one that is asked for.
        text: the same in words.
    """

    span: Per
    way: Way
    deviation: float
    levels: tuple[Per, ...]
    chosen: bool
    text: str


class ApplianceSees(Part):
    """What somebody learns of whether an appliance ran, who knows all else (`leeward.local.series.Appliance`).

    Attributes:
        level: of whose meter; None where all have one ε.
        days: on how many days it ran, if it did.
        most: the log-odds that what is published can have at most, for or against it, exact.
        right: how often the best guess from noisy values is right; ½ where nothing is learnt. From what is published, no
            guess is right more often.
        right_error: its standard error.
        right_by_squares: of a tree, how often a guess by least squares is right, from published totals before they are
            rounded to whole steps; None elsewhere.
        text: the same in words.
    """

    level: str | None
    days: int
    most: str
    right: float
    right_error: float
    right_by_squares: float | None
    text: str


class AppliancePart(Part):
    """Somebody who knows an appliance's signature and every reading but for it: who he is, and what he learns."""

    text: str
    sees: tuple[ApplianceSees, ...]


class SeriesLevel(Part):
    """What one level of ε is held to: the parts of a statement that are its own.

    Attributes:
        name: as the public column names it.
        promise: what is promised to a meter of this level.
        price: what its noise costs in every distance.
        snapping: what rounding to the grid costs beyond.
        mechanism: its noise.
        mean_error: how far what is published of it is off.
    """

    name: str
    promise: SeriesPromise
    price: SeriesPricePart
    snapping: SeriesSnapping
    mechanism: SeriesMechanism
    mean_error: ReadingError | TotalError | TreeError


class SeriesExchange(Part):
    """That two meters exchange their readings: ε for each unit of the distance, of the one and of the other added up."""

    levels: tuple[str, str]
    epsilon: str
    per: str


class SeriesLevelsPart(Part):
    """The levels of ε of a table, one for each meter.

    Attributes:
        column: the public column that names the level of each meter.
        each: what each level is held to; the statement's own promise is that of the largest ε.
        exchanges: for each two of them, what it costs that two meters exchange their readings.
        text: what is promised between levels, and what is not, in words.
    """

    column: str
    each: tuple[SeriesLevel, ...]
    exchanges: tuple[SeriesExchange, ...]
    text: str


class SeriesStatement(Perturbation, Document):
    """The privacy statement of perturbed readings, or of noisy totals; the attributes of a `Perturbation`, and these.

    Attributes:
        kind: ``series``.
        publishes: ``readings``, or totals and their span, or a tree of totals of several spans.
        promise: what is promised.
        price: what the noise costs in every distance.
        snapping: what rounding to the grid costs beyond.
        schedule: when readings are due.
        grid: what they are rounded to.
        mechanism: the noise.
        mean_error: how far what is published is off.
        options: what other noise would be worth at the same ε; none for totals.
        routes: the ways to the totals that are published, at the same promise; none for readings.
        levels: each meter's own ε; None where all have one.
        budget: how many times a day of a meter may be published; None where nobody counts.
        repeats: whether the same noisy reading is shown for the same meter and time.
        attacker: what somebody learns of whether an appliance ran, simulated; None where that was not asked.
    """

    kind: Literal["series"]
    publishes: Published
    promise: SeriesPromise
    price: SeriesPricePart
    snapping: SeriesSnapping
    schedule: SchedulePart
    grid: GridPart
    mechanism: SeriesMechanism
    mean_error: ReadingError | TotalError | TreeError
    options: tuple[SeriesOption, ...]
    routes: tuple[SeriesRoute, ...]
    levels: SeriesLevelsPart | None
    budget: SeriesBudget | None
    repeats: bool
    attacker: AppliancePart | None


class BillingStatement(Document):
    """What is promised of bills that are never too low, what is not, and to whom.

    Attributes:
        format: 1.
        kind: ``billing``.
        price: ε for each unit that bills fall, the year's settlement included; ``inf`` to who sees an exact rebate.
        definition: the inequality.
        protects: what is protected.
        does_not_protect: what is not.
        guaranteed: what always holds.
        rebate: what becomes of what was paid too much.
    """

    format: Literal[1]
    kind: Literal["billing"]
    price: str
    definition: str
    protects: str
    does_not_protect: str
    guaranteed: str
    rebate: str


__all__ = ["BillingStatement", "SeriesStatement"]
