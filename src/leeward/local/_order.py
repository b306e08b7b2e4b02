# SPDX-License-Identifier: Apache-2.0
"""The order of rows, which goes out as it is: whether what noise is to hide can be read off it.

Where rows are sorted by a value, or so that like ones lie together, rows that follow one another differ less than rows in
random order. Their mean squared difference is then small against twice the variance (J. von Neumann, Distribution of the
ratio of the mean square successive difference to the variance, 1941): near 1 in random order, near 0 in a sorted table.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_ALIKE: Final = 0.5
"""Below this ratio neighbours explain more than half of the variance."""

_DEVIATIONS: Final = 5
"""In random order the ratio has a standard deviation of about 1/√pairs; so far below 1 it is hardly ever by chance."""


class Order(Private):
    """Whether rows that follow one another hold like values. It is about the data: for the curator only.

    Rows are added a batch at a time, and not kept.
    """

    __slots__ = ("_apart", "_last", "_origin", "_pairs", "_rows", "_squares", "_sums")

    def __init__(self) -> None:
        self._origin: Floats | None = None
        self._last: Floats | None = None
        self._sums = self._squares = self._apart = np.zeros(1)
        self._rows = self._pairs = 0

    def add(self, values: Floats, counted: Flags) -> None:
        """Add rows.

        Args:
            values: shape (n, k); rows with NaN are passed over.
            counted: shape (n,), whether a row is compared with the one before it.
        """
        there = ~np.isnan(values).any(axis=1)
        values, counted = values[there], counted[there]
        if not len(values):
            return
        if self._origin is None or self._last is None:
            self._origin, self._last, counted = values[0], values[0], np.append(False, counted[1:])
        moves = np.diff(values, axis=0, prepend=self._last[None])[counted]
        away = values - self._origin
        self._apart, self._pairs = self._apart + (moves**2).sum(axis=0), self._pairs + len(moves)
        self._sums, self._squares = self._sums + away.sum(axis=0), self._squares + (away**2).sum(axis=0)
        self._rows, self._last = self._rows + len(values), values[-1]

    @property
    def tells(self) -> bool:
        """Whether neighbours are so alike in one of the values, or more, that it is hardly by chance."""
        if not self._pairs:
            return False
        variance = self._squares / self._rows - (self._sums / self._rows) ** 2
        below = min(_ALIKE, 1 - _DEVIATIONS / math.sqrt(self._pairs))
        return bool((self._apart < below * 2 * variance * self._pairs).any())


def note_of_order(value: str) -> str:
    """Return what to tell the curator of rows in an order that tells a value: "position" or "reading"."""
    return (
        f"for the curator only: rows that follow one another have a like {value}, as in a table sorted by it. Their order is"
        f" published, and tells a {value} more closely than the noisy one does; put the rows into another order first,"
        " such as a random one"
    )
