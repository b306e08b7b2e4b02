"""Series of readings, such as those of electricity meters: what is promised, what it costs, and the noise.

The distances and noises are those of `leeward.mechanism._series`. Every meter is protected on its own: what one meter's
readings cost is not shared with another's, and the distance between two sets of series is the sum over meters.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

import numpy as np

from leeward._private import reading
from leeward._taught import taught
from leeward.errors import InputError, LowUtilityError, RefusedError
from leeward.exact._real import Exact, Real, exact, positive
from leeward.exact._weight import log
from leeward.local.series._after import After, read_prior
from leeward.local.series._quantities import Quantity, plain, positive_quantity
from leeward.local.series._readings import Columns, Grid, Integers, Missing, Readings, find_columns, read_readings
from leeward.local.series._schedule import Schedule
from leeward.mechanism._series import WIDEST_NORM, Between, SeriesMechanism, SeriesNoise, SeriesPrice
from leeward.noise import Bits, SystemBits
from leeward.tables._bare import bare, named_index, without_attrs

FLOAT_ROUNDING: Final = Fraction(1, 2**20)
"""What scaling and rounding floats adds to snapping, in steps; see `Grid.steps`."""

_SHOWS: Final = 0.01
"""Steps: with a smaller mean error, readings are published as they are, but for one in a hundred."""


@dataclass(frozen=True)
class Option:
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

    ``Series(between="maximum", within="100 W", factor=2, window=60, …)``: two series of a meter that differ by at most 100 W
    in every reading of an hour are indistinguishable up to a factor of 2, by what is published of that hour;
    with ``smooth``, if they differ in that hour only (see `published`).

    Args:
        between: the distance between series: ``"maximum"`` (d_∞), ``"manhattan"`` (d_1) or ``"hamming"`` (d_h, where
            ``epsilon`` is for each reading that changes, however far).
        epsilon: ε for each ``unit``, exact.
        unit: the amount that ``epsilon`` is for, such as ``"10 W"``.
        within: instead of these: an amount; with ``factor``.
        factor: how much likelier any output may be from one of two series that far apart; exact, above 1.
        window: n, how many readings ``"maximum"`` lets move together: the period is cut into windows of n readings, one
            after another from its start, and under norm noise what moves readings of two windows costs both.
        noise: ``"norm"`` or ``"independent"``; see `leeward.mechanism._series`. By default norm noise where it serves.
        values: the unit of the column of readings: W, kW, Wh, kWh, …
        step: the public grid step, such as ``"1 W"``.
        lower: the public least reading, such as ``"0 kW"``; below 0 where a meter may run backwards.
        upper: the public greatest reading. Readings beyond are moved to it first.
        start: when the first reading of the period is due.
        end: the end of the period: a reading then is not part of it.
        every: the time between two readings.
        zone: the time zone of times without an offset; by default, times are of a clock that never changes.
        missing: what happens where a reading is missing: ``"refuse"``, or ``"keep"``: it stays missing, and it shows.
        smooth: see `After`.
        clamp: see `After`.
        prior: a public prior, pairs (value, weight); see `After`.
        bits: the entropy source; by default a fresh cryptographic stream for each call.

    Attributes:
        epsilon: ε.
        unit: the amount that it is for; with ``within`` and ``factor``, ε is ln(factor) for that amount.
        size: that amount in the column's unit.
        schedule: the public clock.
        grid: the public values.
        mechanism: the mechanism of one window, in the column's unit and grid steps.
        price: what one meter costs over the period.

    Raises:
        InexactError: for a float ε or factor.
        InputError: for options that are malformed, or units that do not go together.
        RefusedError: if ε is so large that readings would be shown.
        LowUtilityError: if ε is so small that they would say nothing.
    """

    def __init__(
        self,
        *,
        between: Between = "maximum",
        epsilon: Exact | None = None,
        unit: str | None = None,
        within: str | None = None,
        factor: Exact | None = None,
        window: int = 1,
        noise: SeriesNoise | None = None,
        values: str,
        step: str,
        lower: str,
        upper: str,
        start: str | datetime,
        end: str | datetime,
        every: str,
        zone: str | None = None,
        missing: Missing = "refuse",
        smooth: int = 1,
        clamp: bool = False,
        prior: Iterable[tuple[Exact, Exact]] | None = None,
        bits: Bits | None = None,
    ) -> None:
        self.schedule = Schedule(start=start, end=end, every=every, zone=zone)
        self.grid = Grid(unit=values, step=step, lower=lower, upper=upper)
        self.epsilon, self.unit, self.promise = _promise(between, epsilon, unit, within, factor, self.grid)
        if not isinstance(window, bool) and isinstance(window, int) and window > self.schedule.slots:
            raise InputError(
                f"A window of {window:,} readings", f"the period has {self.schedule.slots:,}", "Take a shorter window"
            )
        self.size = self.unit.into(self.grid.unit)
        self.window = window
        self.mechanism = self._mechanism(between, noise)
        self.missing = missing
        self.after = After(smooth, clamp, None if prior is None else read_prior(prior))
        self.bits = bits
        self._sane()

    def _mechanism(self, between: Between, noise: SeriesNoise | None) -> SeriesMechanism:
        per_unit = self.epsilon if between == "hamming" else self.epsilon / self.size
        return SeriesMechanism(
            between, per_unit, window=self.window, noise=noise, step=self.grid.step, width=self.grid.width
        )

    def _sane(self) -> None:
        error, unit = self.mechanism.typical_error(), self.grid.unit
        if error < _SHOWS * float(self.grid.step):
            raise RefusedError(
                f"{self.promise}",
                f"hardly a reading would move by a step of {plain(self.grid.step)} {unit}: they would be shown",
                "Take a smaller ε, or a smaller step if closer readings are what is to be hidden",
            )
        if error > 100 * float(self.grid.width):
            raise LowUtilityError(
                f"{self.promise}",
                f"a reading would be {error:,.4g} {unit} off on average, and its whole range is {plain(self.grid.width)}"
                f" {unit}",
                "Take a larger ε, a shorter window, or another distance",
            )

    # ---- what is promised

    @property
    def between(self) -> Between:
        """The distance."""
        return self.mechanism.between

    @property
    def windows(self) -> int:
        """How many windows the period has."""
        return self.schedule.windows(self.window)

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
        beside = self.after.smooth // 2
        if self.mechanism.noise == "norm":
            seen = min(1 + 2 * math.ceil(beside / self.window), self.windows)
        else:
            seen = min(self.window + 2 * beside, self.schedule.slots)
        return self.mechanism.rate * self.size * seen

    def _per_unit(self, mechanism: SeriesMechanism) -> SeriesPrice:
        found, unit = mechanism.price(self.windows), self.size
        return SeriesPrice(found.readings * unit, found.window * unit, found.total * unit)

    def describe(self) -> list[Option]:
        """Return, for the same ε and unit, what every distance and noise would give: their mean errors and prices."""
        asked: list[tuple[Between, SeriesNoise]] = [("maximum", "independent"), ("manhattan", "independent")]
        if self.window <= WIDEST_NORM:
            asked.insert(0, ("maximum", "norm"))
        asked.append(("hamming", "independent"))
        found = []
        for between, noise in asked:
            mechanism = self._mechanism(between, noise)
            chosen = (between, noise) == (self.between, self.mechanism.noise)
            found.append(Option(between, noise, mechanism.typical_error(), self._per_unit(mechanism), chosen))
        return found

    @property
    def fit_for_release(self) -> bool:
        """Whether the noise comes from fresh entropy."""
        return self.bits is None or self.bits.fit_for_release

    # ---- perturbing

    def perturb(self, table: Any, *, time: str, value: str, meter: str | None = None) -> Any:
        """Return a copy of a table with its readings perturbed; other columns stay as they are, with a warning.

        Rows outside the period are left out.

        Args:
            table: a DataFrame or a pyarrow Table; the same kind is returned, in the same order.
            time: the column of times.
            value: the column of readings.
            meter: the column that says whose reading it is; None where there is one meter.

        Raises:
            DataError: for readings that are not as described; see `leeward.local.series._readings`.
        """
        columns = Columns(time, value, meter)
        with reading("The table of readings", "Give each column one type, and readings as numbers"):
            held = _arrow(table, columns)
            readings = read_readings(held, columns, self.grid, self.schedule, self.missing)
            # before anything is drawn: a column that cannot be passed on is refused
            kept = _kept(table, readings.rows)
        index = named_index(table) if hasattr(table, "iloc") else []
        warn_untouched([*(str(name) for name in table_names(table) if name not in columns.names), *index])
        return _with(kept, value, readings, self.release(readings), self.grid)

    def release(self, readings: Readings, bits: Bits | None = None) -> Integers:
        """Return what is published for each reading, in steps; any value where there is none."""
        bits = bits or self.bits or SystemBits()
        if self.mechanism.noise == "independent":
            noisy = self.mechanism.release(readings.steps, bits)
        else:
            noisy = self._by_window(readings, bits)
        return self.after(noisy, readings, self.grid, self.mechanism)

    def _by_window(self, readings: Readings, bits: Bits) -> Integers:
        """Draw noise for whole windows. Where a reading is missing a public value stands in, and its noise is dropped."""
        window, place = np.divmod(readings.slot, self.window)
        distinct, row = np.unique(readings.meter * self.windows + window, return_inverse=True)
        held = np.full((len(distinct), self.window), self.grid.lower, np.int64)
        held[row, place] = readings.steps
        noisy: Integers = self.mechanism.release(held, bits)[row, place]
        return noisy

    def __repr__(self) -> str:
        return f"Series(between={self.between!r}, {self.promise}, window={self.window}, noise={self.mechanism.noise!r})"


def warn_untouched(names: Iterable[str]) -> None:
    """Warn of columns that are published as they are."""
    if (text := untouched(names)) is not None:
        warnings.warn(text[0].upper() + text[1:], UserWarning, stacklevel=4)


def untouched(names: Iterable[str]) -> str | None:
    """Return a warning that names the columns that are published as they are, or None where there are none."""
    left = list(names)
    if not left:
        return None
    return (
        f"these columns are published as they are, and noise on readings protects nothing they say: {', '.join(left)}"
    )


def table_names(table: Any) -> list[Any]:
    """Return the names of the columns of a DataFrame or a pyarrow Table.

    Raises:
        InputError: it is neither.
    """
    if hasattr(type(table), "column_names"):
        return list(table.column_names)
    if hasattr(table, "columns") and hasattr(table, "iloc"):
        return list(table.columns)
    raise InputError(
        f"A table of type {type(table).__name__}", "only a DataFrame or a pyarrow Table is read", "Convert it"
    )


def _arrow(table: Any, columns: Columns) -> Any:
    import pyarrow as pa

    names = table_names(table)
    find_columns(columns, [str(name) for name in names])
    if hasattr(type(table), "column_names"):
        return table.select(columns.names)
    return pa.table({name: pa.chunked_array([pa.array(table[name], from_pandas=True)]) for name in columns.names})


def _kept(table: Any, rows: Integers) -> Any:
    """Return some rows of a table, and nothing that was not named."""
    return bare(table.take(rows)) if hasattr(type(table), "column_names") else without_attrs(table.iloc[rows].copy())


def _with(kept: Any, column: str, readings: Readings, steps: Integers, grid: Grid) -> Any:
    """Return the rows that are kept with one column replaced by grid points."""
    if hasattr(type(kept), "column_names"):
        return replaced(kept, column, readings.there, steps, grid)
    whole = kept[column].dtype.kind in "iu" and grid.step.denominator == 1 and bool(readings.there.all())
    values = grid.values(steps, whole=whole)
    kept[column] = values if readings.there.all() else np.where(readings.there, values, np.nan)
    return kept


def replaced(table: Any, column: str, there: Any, steps: Integers, grid: Grid) -> Any:
    """Return a pyarrow table with one column replaced by grid points; missing where there is none."""
    import pyarrow as pa

    at = table.column_names.index(column)
    before = table.schema.field(at).type
    # of text it is not known what the numbers are, but whole ones can be written
    whole = grid.step.denominator == 1 and (pa.types.is_integer(before) or pa.types.is_large_string(before))
    kind = pa.int64() if whole else pa.float64()
    made = pa.array(grid.values(steps, whole=whole), kind, mask=~there)
    return table.set_column(at, pa.field(column, kind), made)


def _promise(
    between: str, epsilon: Exact | None, unit: str | None, within: str | None, factor: Exact | None, grid: Grid
) -> tuple[Real, Quantity, str]:
    """Return ε, the amount it is for, and how it was asked for."""
    if between == "hamming":
        if epsilon is None or unit is not None or within is not None or factor is not None:
            raise InputError(
                "The promise for hamming",
                "it is about a reading that changes, however far",
                'Write epsilon = "1", and no unit',
            )
        return _finite(epsilon), Quantity(grid.width, grid.unit), f'epsilon="{exact(epsilon)}"'
    if (
        (epsilon is None) == (within is None)
        or (within is None) != (factor is None)
        or (epsilon is None) != (unit is None)
    ):
        raise InputError(
            "The promise is given twice, or in part",
            "it is either epsilon and unit, or within and factor",
            'Write epsilon = "1", unit = "10 W"; or within = "10 W", factor = "2"',
        )
    if epsilon is not None and unit is not None:
        amount = positive_quantity(unit, "unit")
        return (
            _finite(epsilon),
            amount,
            f'epsilon="{exact(epsilon)}", unit="{unit}"',
        )
    assert within is not None
    assert factor is not None
    odds = exact(factor)
    if odds.is_infinite or odds <= 1:
        raise InputError(
            f"factor = {odds}", "it is how much likelier an output may be, above 1 and finite", 'Write factor = "2"'
        )
    amount = positive_quantity(within, "within")
    return log(odds), amount, f'within="{within}", factor="{odds}"'


def _finite(epsilon: Exact) -> Real:
    number = positive(epsilon, "epsilon")
    if number.is_infinite:
        raise RefusedError("epsilon = inf", "it is not a promise at all", 'Write a finite one, such as "1"')
    return number
