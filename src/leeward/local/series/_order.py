# SPDX-License-Identifier: Apache-2.0
"""Whether readings can be told by the order of rows, beside what their meters and times tell."""

from __future__ import annotations

import numpy as np

from leeward.local._order import Order, note_of_order
from leeward.local.series._grid import Integers
from leeward.local.series._readings import Readings


def order_of_readings(readings: Readings) -> list[str]:
    """Return what to tell the curator of the order of readings, if anything."""
    values = np.where(readings.there, readings.steps, np.nan)
    slot, order = readings.slot, Order()
    same, step = np.diff(readings.meter) == 0, np.diff(slot)
    if _one_way(step):
        # sorted by time: what a time has in common goes, and readings of one time are compared
        there = ~np.isnan(values)
        _, at = np.unique(slot, return_inverse=True)
        sums, counts = (np.bincount(at[there], each, at.max(initial=0) + 1) for each in (values[there], None))
        values, counted = values - (sums / np.maximum(counts, 1))[at], step == 0
    else:
        counted = ~same if _one_way(step[same]) else np.ones(len(same), bool)
    order.add(values[:, None], np.append(False, counted)[: len(values)])
    return [note_of_order("reading")] if order.tells else []


def _one_way(steps: Integers) -> bool:
    return bool((steps >= 0).all() or (steps <= 0).all())
