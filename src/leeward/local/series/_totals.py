# SPDX-License-Identifier: Apache-2.0
"""Totals of readings, over an hour, a day, a month or the whole period, of each meter or of each group, such as a feeder.

A total of n readings of one meter moves by at most d_1, but by up to n times d_∞: under ``"maximum"`` its noise has rate
ε/n, and its span is the window that ε is about. Under ``"hamming"`` one reading that changes moves it by the public range.
Each reading is part of one total, so the totals of a day cost what one of them does, however many meters a group has: the
promise is about the readings of each meter, and the readings of the others do not matter for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from leeward._taught import taught
from leeward.errors import check_choice
from leeward.exact._real import ZERO, Real
from leeward.exact._weight import Weight
from leeward.local.series._grid import Integers, in_unit
from leeward.local.series._readings import Readings
from leeward.local.series._schedule import Day, Per
from leeward.local.series._series import FLOAT_ROUNDING, Series, refuse_useless
from leeward.mechanism import Geometric
from leeward.mechanism._series import SeriesPrice
from leeward.noise import Bits, SystemBits

if TYPE_CHECKING:
    import pyarrow as pa

_HOUR = 3_600_000_000
_ENERGY = {"W": "Wh", "kW": "kWh", "MW": "MWh"}


@taught
@dataclass(frozen=True)
class Totals:
    """Noisy totals for the promise of a `Series`.

    Attributes:
        series: what is promised, and the public clock and grid. Its window is not used: a total's own span is one.
        per: ``"hour"``, ``"day"`` (of 23 or 25 hours where the clocks change), ``"month"`` or ``"period"``.

    Raises:
        InputError: there is no such span, or readings are due less often than it.
        RefusedError: if ε is so large that totals would be shown.
        LowUtilityError: if ε is so small that they would say nothing.
    """

    series: Series
    per: Per = "day"

    def __post_init__(self) -> None:
        check_choice("per", self.per, get_args(Per), "totals have no such span")
        width = self.series.grid.width * self.step / self.series.grid.step_value
        for readings in {span.readings for span in self.spans}:
            error = float(self.expected_error(readings))
            each = self.law(readings).line.rise * self.series.grid.step_value
            refuse_useless(
                self.series, "total", each, error, self.step, width * readings, self.unit, "or another distance"
            )

    @cached_property
    def spans(self) -> list[Day]:
        """The spans that are added up: see `Schedule.spans`."""
        return self.series.schedule.spans(self.per)

    @property
    def unit(self) -> str:
        """The unit of a total: energy for readings of power, else that of the readings."""
        return _ENERGY.get(self.series.grid.unit, self.series.grid.unit)

    @property
    def step(self) -> Fraction:
        """The grid step of a total, in its unit."""
        hours = Fraction(self.series.schedule.step, _HOUR) if self.unit != self.series.grid.unit else Fraction(1)
        return self.series.grid.step_value * hours

    def law(self, readings: int) -> Geometric:
        """Return the mechanism for a total of so many readings, in steps."""
        return self.series.mechanism.total(readings)

    @property
    def price(self) -> SeriesPrice:
        """What one meter costs: ε for each of the series' units, in d_1, in d_∞ for one span, and in d_∞ for all."""
        unit, lengths = self.series.size, Counter(span.readings for span in self.spans)
        rates = {readings: self.law(readings).line.rise * unit for readings in lengths}
        windows = {readings: rate * readings for readings, rate in rates.items()}
        total = sum((windows[readings] * spans for readings, spans in lengths.items()), start=ZERO)
        return SeriesPrice(max(rates.values()), max(windows.values()), total)

    @property
    def snapping(self) -> Real:
        """What readings between grid points cost beyond the price over the period, as ε; nothing on the grid."""
        return self.price.total / self.series.size * self.series.grid.step_value * (1 + FLOAT_ROUNDING)

    def expected_error(self, readings: int | None = None) -> Weight:
        """Return E|error| of a total of so many readings, in its unit; by default of the longest span."""
        longest = max(span.readings for span in self.spans)
        return self.law(readings or longest).expected_error() * self.step

    def true(self, readings: Readings, group: Integers, groups: int) -> Integers:
        """Return the exact totals in steps, shape (groups, spans): for the curator only. Missing readings add nothing."""
        return exact_totals(self.spans, readings, group, groups)

    def release(self, readings: Readings, group: Integers, groups: int, bits: Bits | None = None) -> Integers:
        """Return noisy totals in steps: shape (groups, spans).

        Args:
            readings: checked readings.
            group: for each of them, the number of its group.
            groups: how many groups there are.
            bits: the entropy source; by default the series', or a fresh cryptographic stream.
        """
        bits = bits or self.series.bits or SystemBits()
        totals = self.true(readings, group, groups)
        lengths = np.array([span.readings for span in self.spans])
        for length in np.unique(lengths).tolist():
            same = lengths == length
            totals[:, same] = self.law(length).noisy(totals[:, same], bits)
        return totals

    def beginnings(self) -> pa.Array:
        """Return what names each span, as a pyarrow array: when its first reading is due, or the date of its first day."""
        import pyarrow as pa

        if self.per == "hour":
            return self.series.schedule.starts(self.spans)
        return pa.array([span.date for span in self.spans], pa.date32())

    def values(self, steps: Integers) -> NDArray[np.float64]:
        """Return totals as floats in their unit."""
        return in_unit(steps, self.step)


def exact_totals(spans: Sequence[Day], readings: Readings, group: Integers, groups: int) -> Integers:
    """Return the exact totals of some spans in steps, shape (groups, spans): for the curator only."""
    starts = np.array([span.first for span in spans])
    span = np.searchsorted(starts, readings.slot, side="right") - 1
    totals = np.zeros(groups * len(starts), np.int64)
    np.add.at(totals, (group * len(starts) + span)[readings.there], readings.steps[readings.there])
    return totals.reshape(groups, len(starts))
