# SPDX-License-Identifier: Apache-2.0
"""Totals of the hours, days and months of each meter at once, from one tree of noise, that add up.

The noise and its price are those of `leeward.mechanism._tree`: all levels together cost what one total does. Parts are made
to add up to their whole by `leeward.mechanism._consistent`, which reads noisy totals only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final, get_args

from leeward._taught import taught
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, Real
from leeward.local.series._grid import Integers
from leeward.local.series._readings import Readings
from leeward.local.series._schedule import Day, Per
from leeward.local.series._series import FLOAT_ROUNDING, refuse_useless
from leeward.local.series._totals import Totals, exact_totals
from leeward.mechanism._consistent import Consistency
from leeward.mechanism._series import SeriesPrice
from leeward.mechanism._tree import TreeMechanism
from leeward.noise import Bits, SystemBits

_LEVELS: Final[tuple[Per, ...]] = ("hour", "day", "month")
_LIKELY: Final = "39/40"
"""A node's noise is as likely to be above the quantile of this as below that of 1/40: within both with 95 %."""
_FINEST: Final = 1000
_ROUNDED: Final = 0.2
"""What rounding adds to the variance of a total at most, in steps squared: 1/12 on the widest level; below it up to 0.19, as
totals also take up what is left of their whole."""


@dataclass(frozen=True)
class LevelError:
    """How far the totals of one level are off, in the unit of totals.

    Attributes:
        level: ``"hour"``, ``"day"``, ``"month"`` or ``"period"``.
        spans: how many of them the period has.
        share: its part of ε.
        rate: the exact rate of its noise, for each unit that readings move.
        mean: E|noise| of a node's own noise.
        within: a node's own noise is at most this with a chance of 95 % or more; exact.
        deviation: the standard deviation of a node's own noise.
        consistent: the largest of the standard deviations of what is published, rounded to whole steps.
    """

    level: Per
    spans: int
    share: Real
    rate: Real
    mean: float
    within: float
    deviation: float
    consistent: float


@taught
@dataclass(frozen=True)
class TotalsTree:
    """Noisy totals of several spans of the calendar at once, for the promise of a `Series`.

    Attributes:
        totals: what is promised, and of which span ``"maximum"`` lets all readings move together (`Totals.per`).
        levels: which spans are totalled, in any order.
        shares: what part of ε each level gets, exact, 1 together; None for equal parts.
        mechanism: the noise of the tree, in the unit of readings.

    Raises:
        InputError: there is no such span, or shares are not those of the levels.
        InexactError: for a float share.
        RefusedError: as for `Totals`, at any level.
        LowUtilityError: as for `Totals`, at any level.
    """

    totals: Totals
    levels: Sequence[Per] = _LEVELS
    shares: Mapping[Per, Exact] | None = None
    mechanism: TreeMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for level in self.levels:
            check_choice("levels", level, get_args(Per), "totals have no such span")
        levels = tuple(level for level in get_args(Per) if level in self.levels)
        if len(levels) != len(self.levels) or len(levels) < 2:
            raise InputError(
                f"levels = {', '.join(self.levels) or 'none'}",
                "a tree has two levels or more, each once",
                'Write levels = ["hour", "day", "month"]; of one level, publish totals',
            )
        object.__setattr__(self, "levels", levels)
        if self.shares is not None and (not isinstance(self.shares, Mapping) or set(self.shares) != set(levels)):
            raise InputError(
                "Shares of other levels than those of the tree",
                f"its levels are {', '.join(levels)}",
                "Give each of them its part of ε, 1 together",
            )
        series, stops = self.totals.series, [[span.stop for span in spans] for spans in self.spans]
        mechanism = series.mechanism
        object.__setattr__(
            self,
            "mechanism",
            TreeMechanism(
                mechanism.between,
                mechanism.epsilon,
                levels=stops,
                spans=[span.stop for span in self.totals.spans],
                shares=None if self.shares is None else [self.shares[level] for level in levels],
                step=mechanism.step,
                width=mechanism.width,
            ),
        )
        self._check()

    def _check(self) -> None:
        series, step = self.totals.series, self.totals.step
        width = series.grid.width * step / series.grid.step_value
        for spans, law in zip(self.spans, self.mechanism.laws, strict=True):
            longest = max(span.readings for span in spans)
            error, each = float(law.expected_error() * step), law.line.rise * series.grid.step_value
            instead = "another distance, fewer levels, or a larger share for this one"
            refuse_useless(series, "total", each, error, step, width * longest, self.totals.unit, instead)

    @cached_property
    def spans(self) -> tuple[list[Day], ...]:
        """The spans of each level, from the narrowest."""
        return tuple(self.totals.series.schedule.spans(level) for level in self.levels)

    @property
    def price(self) -> SeriesPrice:
        """What one meter costs, all levels together: ε for each of the series' units, as for `Totals.price`."""
        found, unit = self.mechanism.price, self.totals.series.size
        return SeriesPrice(found.readings * unit, found.window * unit, found.total * unit)

    @property
    def snapping(self) -> Real:
        """What readings between grid points cost beyond the price over the period, as ε; nothing on the grid."""
        return self.mechanism.price.total * self.totals.series.grid.step_value * (1 + FLOAT_ROUNDING)

    @cached_property
    def consistency(self) -> Consistency:
        """How noisy totals are made to add up: least squares, weighted by their variances to three digits or more."""
        least = min(self._variances)
        ratios = tuple(Fraction(each / least).limit_denominator(_FINEST) for each in self._variances)
        return Consistency(self.mechanism.starts, len(self.spans[0]), ratios)

    @property
    def _variances(self) -> list[float]:
        """The variance of two-sided geometric noise of rate r, 1/(2·sinh²(r/2)), of each level, in steps."""
        rates = [min(float(law.law.up), 300.0) for law in self.mechanism.laws]
        return [0.5 / math.sinh(rate / 2) ** 2 for rate in rates]

    def errors(self) -> list[LevelError]:
        """Return how far the totals of each level are off, from the narrowest; of readings on the grid."""
        return list(self._errors)

    @cached_property
    def _errors(self) -> tuple[LevelError, ...]:
        step, variances = float(self.totals.step), self._variances
        after = self.consistency.deviations()
        scale, found = math.sqrt(min(variances)), []
        for number, (level, law) in enumerate(zip(self.levels, self.mechanism.laws, strict=True)):
            found.append(
                LevelError(
                    level,
                    len(self.spans[number]),
                    self.mechanism.shares[number],
                    law.line.rise,
                    float(law.expected_error()) * step,
                    law.law.quantile(_LIKELY) * step,
                    math.sqrt(variances[number]) * step,
                    math.hypot(max(after[number]) * scale, math.sqrt(_ROUNDED)) * step,
                )
            )
        return tuple(found)

    def release(self, readings: Readings, group: Integers, groups: int, bits: Bits | None = None) -> list[Integers]:
        """Return noisy totals in steps that add up: shape (groups, spans) for each level, from the narrowest.

        Args:
            readings: checked readings.
            group: for each of them, the number of its group.
            groups: how many groups there are.
            bits: the entropy source; by default the series', or a fresh cryptographic stream.
        """
        bits = bits or self.totals.series.bits or SystemBits()
        narrowest = exact_totals(self.spans[0], readings, group, groups)
        return self.consistency(self.mechanism.release(narrowest, bits))
