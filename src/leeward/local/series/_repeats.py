# SPDX-License-Identifier: Apache-2.0
"""The same noisy reading for the same meter and time: it is drawn once, and later runs show it again.

A store keeps, for each meter and time, the noisy reading that was drawn first. What a later run shows of it follows from the
first table alone, also where the true reading was corrected since: so it costs nothing more in any distance, and whoever has
both tables knows no more than from one. What a reading was when it was drawn is kept as a keyed hash, to tell the curator
how many were corrected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private
from leeward.ledger import MemoizedReports
from leeward.ledger._identity import named
from leeward.ledger._memoized_reports import Once
from leeward.local._stores import StoreSection, forgotten
from leeward.local.series._days import AS_WRITTEN
from leeward.local.series._grid import Integers
from leeward.local.series._readings import Readings
from leeward.local.series._schedule import Schedule
from leeward.local.series._series import Series

Draw = Callable[[Readings], Integers]
"""Noisy readings in steps, for readings."""


class Repeat(StoreSection):
    """``[repeat]``: the same noisy reading for the same meter and time."""


def law_of(series: Series, price: str) -> str:
    """Return how a reading is drawn, in words that must not change: an answer of another law is not the same answer."""
    return f"{price}, clock {series.schedule.zone or AS_WRITTEN}"


class Remembered(Private):
    """What a store remembers of the readings of one run.

    Args:
        store: the noisy readings that were drawn before.
        readings: those of the table.
        schedule: their clock.
        laws: how each is drawn, where that depends on its meter; None where a store has one law.

    Attributes:
        known: which of the readings have been drawn before.
        corrected: how many of those shown are of another reading than when they were drawn; for the curator only.
    """

    __slots__ = ("_laws", "_points", "_store", "_who", "corrected", "known")

    def __init__(
        self, store: MemoizedReports, readings: Readings, schedule: Schedule, laws: list[str] | None = None
    ) -> None:
        self._store, self._laws, self.corrected = store, laws, 0
        names = [named(meter) for meter in readings.meters]
        self._who = [names[meter] for meter in readings.meter.tolist()]
        moments = schedule.first + readings.slot * schedule.step
        # beside what a reading is asked by stands its row, for what is drawn
        self._points = np.column_stack([moments, np.zeros_like(moments), np.arange(len(moments))])
        self.known: NDArray[np.bool_] = np.zeros(len(readings), bool)
        rows = np.flatnonzero(readings.there)
        asked = store.keys(self._people(rows), self._points[rows, :2], self._laws_of(rows))
        held = store.known(asked)
        self.known[rows] = [key in held for key in asked]

    def shown(self, once: Once, readings: Readings, draw: Draw) -> Integers:
        """Return a noisy reading in steps for each that is there; any value where there is none.

        Args:
            once: answers of the store, within its transaction.
            readings: those of the table, less those that are not paid for.
            draw: what is published of those that are new.

        Raises:
            DataError: one that was remembered, and so not paid for, is remembered no more.
        """
        noisy = readings.steps.copy()
        there = np.flatnonzero(readings.there)
        for law, rows in self._by_law(there):

            def drawn(points: Integers) -> Integers:
                new = points[:, 2]
                if self.known[new].any():
                    raise forgotten()
                return np.column_stack([draw(readings.of(new)), self._marks(readings, new)])

            reports = once(self._people(rows), self._points[rows], drawn, law)
            noisy[rows] = reports[:, 0]
            self.corrected += int((reports[:, 1] != self._marks(readings, rows)).sum())
        return noisy

    def _by_law(self, rows: Integers) -> list[tuple[str | None, Integers]]:
        if self._laws is None:
            return [(None, rows)]
        each = np.array([self._laws[row] for row in rows.tolist()])
        return [(law, rows[each == law]) for law in dict.fromkeys(each.tolist())]

    def _people(self, rows: Integers) -> list[str]:
        return [self._who[row] for row in rows.tolist()]

    def _laws_of(self, rows: Integers) -> list[str] | None:
        return None if self._laws is None else [self._laws[row] for row in rows.tolist()]

    def _marks(self, readings: Readings, rows: Integers) -> Integers:
        """Return a keyed hash of each reading at its time, 8 bytes: two readings have one by a chance of 2⁻⁶⁴."""
        moments, steps = self._points[rows, 0].tolist(), readings.steps[rows].tolist()
        parts = zip(self._people(rows), moments, steps, strict=True)
        hashed = b"".join(mark[:8] for mark in self._store.digests("a reading", parts))
        return np.frombuffer(hashed, "<i8").astype(np.int64)
