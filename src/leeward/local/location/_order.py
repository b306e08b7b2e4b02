# SPDX-License-Identifier: Apache-2.0
"""Whether positions can be told by the order of rows, beside what goes out with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private
from leeward.local._order import Order, note_of_order

Floats = NDArray[np.float64]


class PositionOrder(Private):
    """Whether the order of rows tells positions, beside the columns of persons and times where these are named.

    Rows of one person are near one another anyway, and told to be theirs. Where times rise, or fall, from row to row, the
    order is that of the times, and only rows of one time are compared.
    """

    __slots__ = ("_all", "_falls", "_last", "_of_one_time", "_rises")

    def __init__(self) -> None:
        self._all, self._of_one_time = Order(), Order()
        self._rises = self._falls = True
        self._last: list[Any] = [None, None]

    def add(self, north: Floats, east: Floats, who: list[Any] | None = None, when: list[Any] | None = None) -> None:
        """Add rows: degrees, and the columns of persons and of times where they were named."""
        if not len(north):
            return
        at, counted, same = np.column_stack([north, east]), np.ones(len(north), bool), np.ones(len(north), bool)
        if who is not None:
            counted = np.array([a != b for a, b in zip([self._last[0], *who], who, strict=False)], bool)
            self._last[0] = who[-1]
        if when is not None:
            pairs = list(zip([self._last[1], *when], when, strict=False))
            same = np.array([a == b for a, b in pairs], bool)
            moved = [pair for pair, asked in zip(pairs, counted & ~same, strict=True) if asked and pair[0] is not None]
            self._rises &= all(_before(a, b) for a, b in moved)
            self._falls &= all(_before(b, a) for a, b in moved)
            self._last[1] = when[-1]
        else:
            self._rises = self._falls = False
        self._all.add(at, counted)
        self._of_one_time.add(at, counted & same)

    @property
    def note(self) -> str | None:
        """What to tell the curator, if anything."""
        by_time = self._rises or self._falls
        return note_of_order("position") if (self._of_one_time if by_time else self._all).tells else None


def order_of_positions(north: Floats, east: Floats) -> str | None:
    """Return what to tell the curator of the order of positions in degrees, if anything."""
    order = PositionOrder()
    order.add(north, east)
    return order.note


def _before(a: Any, b: Any) -> bool:
    try:
        return bool(a < b)
    except TypeError:
        return False
