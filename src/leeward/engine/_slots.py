# SPDX-License-Identifier: Apache-2.0
"""Which of several windows each row is in, found in one pass: one division, and perhaps one join with a short table.

The ends of windows that people ask for are multiples of an hour, a day or a quarter of an hour apart. So the time from
the first start to the last end is cut into equal slots, as long as the greatest common divisor of all distances between
ends, and every window is a run of slots. The slot of a row is one division; the table of slots says which windows it belongs
to (none, one, or several that overlap). Where windows of one length follow each other, the slot is the window. Where the
ends are so odd that there are more than `MOST` slots, rows and windows are compared instead, which is slower and gives the
same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis
import numpy as np
import pyarrow as pa

from leeward._buffers import numbers
from leeward.engine._bound import Bound
from leeward.engine._builtin import whole_quotient

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST = 100_000
"""So many slots of windows at most: their table is joined with all rows."""


def windowed(rows: ir.Table, ends: Sequence[tuple[int, int]], bound: Bound) -> ir.Table:
    """Return the rows of each window, once for every window that they are in: to be fetched before others are asked for.

    Args:
        rows: an Ibis table with a column ``stamp`` of whole numbers, none null.
        ends: of each window, integers (first, end): a stamp is in it iff first ≤ stamp < end.
        bound: where the table is.

    Returns:
        Its rows with ``window``, the place of the window in ``ends``, and ``first``, where that begins.
    """
    some = [(place, first, end) for place, (first, end) in enumerate(ends) if first < end]
    if len(some) == 1:
        ((place, first, end),) = some
        inside = rows.filter((rows.stamp >= first) & (rows.stamp < end))
        return inside.mutate(window=ibis.literal(place, "int32"), first=ibis.literal(first, "int64"))
    if not some:
        none = rows.filter(ibis.literal(False))
        return none.mutate(window=ibis.literal(0, "int32"), first=ibis.literal(0, "int64"))
    low, high = min(first for _, first, _ in some), max(end for _, _, end in some)
    length = math.gcd(*(end - low for each in some for end in each[1:]))
    if sum(end - first for _, first, end in some) // length > MOST:
        return _compared(rows, some, bound)
    inside = (rows.stamp >= low) & (rows.stamp < high)
    slot = whole_quotient(inside.ifelse(rows.stamp, low) - low, ibis.literal(length, "int64"))
    held = [
        (place, first, slot)
        for place, first, end in some
        for slot in range((first - low) // length, (end - low) // length)
    ]
    if held == [(place, low + place * length, place) for place in range(len(ends))]:  # each slot is a window
        cut = rows.filter(inside).mutate(window=slot)
        return cut.mutate(first=cut.window * length + low)
    slots = _table("leeward_slots", ("window", "first", "slot"), held, bound)
    found = rows.filter(inside).mutate(slot=slot)
    joined = found.inner_join(slots, found.slot == slots.slot)
    return joined.select(*rows.columns, "window", "first")


def _compared(rows: ir.Table, some: Sequence[tuple[int, int, int]], bound: Bound) -> ir.Table:
    windows = _table("leeward_windows", ("window", "first", "end"), some, bound)
    joined = rows.inner_join(windows, [rows.stamp >= windows.first, rows.stamp < windows.end])
    return joined.select(*rows.columns, "window", "first")


def _table(name: str, columns: Sequence[str], held: Sequence[tuple[int, int, int]], bound: Bound) -> ir.Table:
    made = dict(zip(columns, zip(*held, strict=True), strict=True))
    arrays = {column: numbers(np.array(values, np.int64)) for column, values in made.items()}
    return bound.register(name, pa.table(arrays))
