# SPDX-License-Identifier: Apache-2.0
"""Budgets of meters: how many times noisy readings of a meter's day may be published.

Every run draws new noise, so two runs that publish one day of a meter cost twice what one does. A store counts, for each
meter and day of the public clock, in how many runs it was published; what is not paid for is withheld, or the run refused.
All readings of a meter's day go out together, so they are one report.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward.ledger import PersonBudgets
from leeward.ledger._person_budgets import Over
from leeward.local._stores import StoreSection
from leeward.local.series._days import AS_WRITTEN
from leeward.local.series._readings import Readings
from leeward.local.series._schedule import Per, Schedule
from leeward.local.series._series import Series

_FIRST: Final = date(1970, 1, 1).toordinal()


class Budget(StoreSection):
    """``[budget]``: how many times the readings of a meter's day are paid for, and where that is kept."""

    reports_a_day: int
    over: Over = "refuse"


def price_of(series: Series, totals: Per | None, tree: str = "") -> str:
    """Return what one publication of a day costs, in words that must not change: a store is made for one price.

    The more readings a day has, the more it costs that all of them move; what rounding costs hangs on the step, and what any
    change of one reading costs, on the bounds. ``totals`` is the span of what is published, of a tree the one that its
    promise is about; None for readings. ``tree`` names its levels and their parts of ε.
    """
    mechanism, grid, apart = series.mechanism, series.grid, Fraction(series.schedule.step, 10**6)
    drawn = f"totals per {totals}" if totals else f"{mechanism.noise} noise on windows of {mechanism.window} readings"
    return (
        f"{mechanism.kind.symbol}, {mechanism.epsilon} for each {grid.unit}, {drawn}{tree}, {apart} s apart,"
        f" steps of {grid.step_value} {grid.unit} from {grid.low_value} to {grid.high_value}"
    )


def charge(
    store: PersonBudgets, over: Over, readings: Readings, schedule: Schedule, known: NDArray[np.bool_] | None = None
) -> tuple[Readings, int]:
    """Charge each meter for each day of which it has readings; return what is paid for, and how many readings are not.

    What is not paid for is as if it were missing: nothing is published of it, nor made of it. Readings that are ``known``
    are shown again as they were, which costs nothing.

    Raises:
        CapExceededError: some day is not paid for, and ``over`` is ``"refuse"``. For the curator only.
        BudgetConflictError: the store counts days by another rule.
    """
    days = schedule.days
    at = np.searchsorted([day.first for day in days], readings.slot, side="right") - 1
    keys = readings.meter * len(days) + at
    new = readings.there if known is None else readings.there & ~known
    charged, place = np.unique(keys[new], return_inverse=True)
    numbers = [days[key % len(days)].date.toordinal() - _FIRST for key in charged.tolist()]
    meters = [readings.meters[key // len(days)] for key in charged.tolist()]
    with store.charging(over) as pay:
        paid = pay(meters, numbers, schedule.zone or AS_WRITTEN)
    there: NDArray[np.bool_] = readings.there.copy()
    there[new] = paid[place]
    return replace(readings, there=there), int((readings.there & ~there).sum())
