# SPDX-License-Identifier: Apache-2.0
"""Series of readings, such as those of electricity meters: what is promised, what it costs, and the noise.

The distances and noises are those of `leeward.mechanism._series`. Every meter is protected on its own: what one meter's
readings cost is not shared with another's, and the distance between two sets of series is the sum over meters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, get_args

import numpy as np

from leeward._private import reading
from leeward._taught import taught
from leeward.errors import InputError, LowUtilityError, check_choice
from leeward.exact._real import Real
from leeward.local._neighbours import check_neighbours
from leeward.local._untouched import untouched, warn
from leeward.local.series._closeness import Closeness
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._order import order_of_readings
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._quantities import Quantity, in_digits, plain
from leeward.local.series._readings import Columns, Missing, Readings, find_columns, read_readings
from leeward.local.series._schedule import Schedule
from leeward.mechanism._series import DISTANCES, WIDEST_NORM, Between, SeriesMechanism, SeriesNoise, SeriesPrice
from leeward.noise import Bits, SystemBits
from leeward.tables._columns import check_named
from leeward.tables._frames import frame_of
from leeward.tables._given import Table

_SAYS: Final = 10
"""Ranges: with a larger mean error, the mean of a thousand readings is hardly known within the range."""

FLOAT_ROUNDING: Final = Fraction(1, 2**20)
"""What scaling and rounding floats adds to snapping, in steps; see `ReadingGrid.steps`."""


@dataclass(frozen=True)
class SeriesChoice:
    """What one choice of distance and noise gives, for the same ε and unit.

    Attributes:
        between: the distance.
        noise: one draw a window, or one a reading.
        mean_error: E|error| of a reading on the grid, in the column's unit, before anything is done with it.
        price: ε in each distance, for each unit.
        chosen: whether it is the one asked for.
    """

    between: Between
    noise: SeriesNoise
    mean_error: float
    price: SeriesPrice
    chosen: bool


@taught
class Series:
    """Exact noise for series of readings, one for each meter.

    ``Series(Closeness(within="100 W", factor=2, window=60), ReadingGrid(…), Schedule(…))`` promises what its `Closeness`
    says; with a moving average, of series that differ in one window only (see `published`).

    Args:
        closeness: which series are to be indistinguishable, and how far.
        grid: the public values of readings, and their unit.
        schedule: the public clock: when readings are due.
        noise: ``"norm"`` or ``"independent"``; see `leeward.mechanism._series`. By default norm noise where it serves.
        missing: what happens where a reading is missing: ``"refuse"``, or ``"keep"``: it stays missing, and it shows.
        post_processing: what is done with noisy readings; by default nothing.
        bits: the entropy source; by default a fresh cryptographic stream for each call.

    Attributes:
        epsilon: ε.
        unit: the amount that it is for.
        size: that amount in the column's unit.
        mechanism: the mechanism of one window, in the column's unit and grid steps.

    Raises:
        InputError: for units that do not go together, or a window longer than the period.
    """

    def __init__(
        self,
        closeness: Closeness,
        grid: ReadingGrid,
        schedule: Schedule,
        *,
        noise: SeriesNoise | None = None,
        missing: Missing = "refuse",
        post_processing: PostProcessing | None = None,
        bits: Bits | None = None,
    ) -> None:
        self.closeness, self.grid, self.schedule = closeness, grid, schedule
        window, slots = closeness.window, schedule.slots
        if window > slots:
            raise InputError(f"A window of {window:,} readings", f"the period has {slots:,}", "Take a shorter window")
        self.epsilon, self.unit = closeness.loss, closeness.amount or Quantity(grid.width, grid.unit)
        self.size = self.unit.into(grid.unit)
        if closeness.factor is not None and (self.size / grid.step_value).denominator > 1:
            raise InputError(
                f"{closeness} on a grid of {plain(grid.step_value)} {grid.unit}",
                f"{self.unit} is not a whole number of steps: readings that far apart would be rounded further apart",
                "Give a step that divides it; or epsilon and unit, beside which rounding is told",
            )
        self.mechanism = self._mechanism(closeness.between, noise)
        check_choice("missing", missing, get_args(Missing), "it is not an option")
        self.missing, self.bits = missing, bits
        self.post_processing = PostProcessing() if post_processing is None else post_processing
        self._beside = self.post_processing.smooth // 2

    def _mechanism(self, between: Between, noise: SeriesNoise | None) -> SeriesMechanism:
        per_unit = self.epsilon / self.size if DISTANCES[between].by_amount else self.epsilon
        step, width = self.grid.step_value, self.grid.width
        return SeriesMechanism(between, per_unit, window=self.closeness.window, noise=noise, step=step, width=width)

    def check(self) -> None:
        """Refuse what would show readings, or say nothing about them: done before any reading is drawn or described.

        Raises:
            RefusedError: if ε is so large that readings would be shown.
            LowUtilityError: if ε is so small that they would say nothing.
        """
        grid, mechanism = self.grid, self.mechanism
        each = mechanism.rate * grid.step_value
        instead = "a shorter window, or another distance; or publish totals"
        refuse_useless(
            self, "reading", each, mechanism.typical_error(), grid.step_value, grid.width, grid.unit, instead
        )

    # ---- what is promised

    @property
    def windows(self) -> int:
        """How many windows the period has."""
        return self.schedule.windows(self.closeness.window)

    @property
    def price(self) -> SeriesPrice:
        """What one meter costs over the period: ε for each `unit`, in d_1, in d_∞ for a window, and in d_∞ for all."""
        return self._per_unit(self.mechanism)

    @property
    def snapping(self) -> SeriesPrice:
        """What readings between grid points cost beyond `price`, once, as ε: nothing for readings on the grid."""
        step = self.mechanism.step * (1 + FLOAT_ROUNDING)
        found = self.mechanism.price(self.windows)
        # in d_1 every reading may be snapped apart by a step, but norm noise sees only the largest move of each window
        seen = self.windows if self.mechanism.noise == "norm" else self.schedule.slots
        return SeriesPrice(found.readings * step * seen, found.window * step, found.total * step)

    @property
    def published(self) -> Real:
        """What is published of one window costs in d_∞, if all readings of the period move: ε for each `unit`.

        Without a moving average it is the window's own price. With one, it comes from n + smooth − 1 noisy readings;
        under norm noise, from every window that one of them lies in.
        """
        beside, window = self._beside, self.closeness.window
        if self.mechanism.noise == "norm":
            seen = min(1 + 2 * math.ceil(beside / window), self.windows)
        else:
            seen = min(window + 2 * beside, self.schedule.slots)
        return self.mechanism.rate * self.size * seen

    def _per_unit(self, mechanism: SeriesMechanism) -> SeriesPrice:
        found, unit = mechanism.price(self.windows), self.size
        return SeriesPrice(found.readings * unit, found.window * unit, found.total * unit)

    def describe(self) -> list[SeriesChoice]:
        """Return, for the same ε and unit, what every distance and noise would give: their mean errors and prices."""
        drawn = [noise for noise in get_args(SeriesNoise) if noise != "norm" or self.closeness.window <= WIDEST_NORM]
        found = []
        for between, noise in (
            (name, noise) for name, kind in DISTANCES.items() for noise in kind.noises if noise in drawn
        ):
            mechanism = self._mechanism(between, noise)
            chosen = (between, noise) == (self.closeness.between, self.mechanism.noise)
            found.append(SeriesChoice(between, noise, mechanism.typical_error(), self._per_unit(mechanism), chosen))
        return found

    @property
    def fit_for_release(self) -> bool:
        """Whether the noise comes from fresh entropy."""
        return self.bits is None or self.bits.fit_for_release

    # ---- perturbing

    def perturb(self, table: Table, *, time: str, value: str, meter: str | None = None) -> Table:
        """Return a copy of a table with its readings perturbed; other columns stay as they are, with a warning.

        Rows outside the period are left out. The others keep their order, with a warning where it goes by readings and not
        by their meters and times: it then tells readings more closely than noisy ones do.

        Args:
            table: a DataFrame or a pyarrow Table; the same kind is returned, in the same order.
            time: the column of times.
            value: the column of readings.
            meter: the column that says whose reading it is; None where there is one meter.

        Raises:
            DataError: for readings that are not as described; see `leeward.local.series._readings`.
            RefusedError: as for `check`.
            LowUtilityError: as for `check`.
        """
        return perturb_frame(self, table, Columns(time, value, meter), lambda readings, _: self.release(readings))

    def release(self, readings: Readings, bits: Bits | None = None) -> Integers:
        """Return what is published for each reading, in steps; any value where there is none."""
        return self.finish(self.draw(readings, bits), readings)

    def draw(self, readings: Readings, bits: Bits | None = None) -> Integers:
        """Return a noisy reading in steps for each reading; any value where there is none."""
        self.check()
        bits = bits or self.bits or SystemBits()
        if self.mechanism.noise == "independent":
            return self.mechanism.release(readings.steps, bits)
        return self._by_window(readings, bits)

    def finish(self, noisy: Integers, readings: Readings) -> Integers:
        """Return what is made of noisy readings; see `PostProcessing`."""
        return self.post_processing(noisy, readings, self.grid, self.mechanism)

    def _by_window(self, readings: Readings, bits: Bits) -> Integers:
        """Draw noise for whole windows. Where a reading is missing a public value stands in, and its noise is dropped."""
        size = self.closeness.window
        window, place = np.divmod(readings.slot, size)
        distinct, row = np.unique(readings.meter * self.windows + window, return_inverse=True)
        held = np.full((len(distinct), size), self.grid.lowest, np.int64)
        held[row, place] = readings.steps
        noisy: Integers = self.mechanism.release(held, bits)[row, place]
        return noisy

    def __repr__(self) -> str:
        return (
            f"Series({self.closeness!r}, {self.grid!r}, {self.schedule!r}, noise={self.mechanism.noise!r},"
            f" missing={self.missing!r}, post_processing={self.post_processing!r})"
        )


def refuse_useless(
    series: Series, what: str, each: Real, error: float, step: Fraction, width: Fraction, unit: str, instead: str
) -> None:
    """Refuse a grid whose neighbours are told apart, and a mean error of many times the range of what is published.

    One step costs ``each``, as ε, and rounding may take two values a step further apart. Step and width of the range are in
    the unit of ``what`` is published, "reading" or "total"; ``instead`` may be asked for, beside a larger ε.
    """
    check_neighbours(each * 2, str(series.closeness), f"{what}s", f"{plain(step)} {unit}")
    if error > _SAYS * float(width):
        raise LowUtilityError(
            f"{series.closeness}",
            f"a {what} would be {in_digits(error)} {unit} off on average, and its whole range is {plain(width)} {unit}",
            f"Take a larger ε, {instead}",
        )


def perturb_frame(
    series: Series,
    table: Table,
    columns: Columns,
    release: Callable[[Readings, Any], Integers],
    level: str | None = None,
) -> Table:
    """Return a copy of a table with its readings perturbed; see `Series.perturb`.

    ``release`` says what is published, in steps, for readings and the columns that were read as a pyarrow Table. The public
    column of levels goes out as whoever names it knows, and no warning repeats it.
    """
    series.check()
    names = [*columns.names, *([] if level is None else [level])]
    with reading("The table of readings", "Give each column one type, and readings as numbers"):
        frame = frame_of(table)
        find_columns(columns, frame.names)
        check_named(names, frame.names)
        arrow = frame.arrow(names)
        readings = read_readings(arrow, columns, series.grid, series.schedule, series.missing)
        # before anything is drawn: a column that cannot be passed on is refused
        kept = frame.copied(readings.rows, [columns.value])
    notes = readings.notes(arrow.num_rows - len(readings))
    warn(untouched(kept.others(names), "readings"), *order_of_readings(readings), *notes)
    whole = frame.may_be_whole(columns.value, readings.there)
    kept.put(columns.value, series.grid.values(release(readings, arrow), whole=whole), readings.there)
    made: Table = kept.held
    return made
