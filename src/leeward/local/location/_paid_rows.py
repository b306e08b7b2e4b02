# SPDX-License-Identifier: Apache-2.0
"""Which rows of a file were paid for, and that what is drawn is what was charged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private
from leeward.errors import DataError
from leeward.local.location._files import Floats


class PaidRows(Private):
    """One bit for each row of a file: written a batch at a time, read in batches that may be cut elsewhere.

    And the keys of reports that were known to a store, and so not charged; and a digest of what decides who pays for what
    (positions, people and times, row by row), to notice that what is drawn is not what was charged.

    Attributes:
        known: the keys of reports that the store knew.
    """

    __slots__ = ("_charged", "_drawn", "_packed", "_rest", "known")

    def __init__(self) -> None:
        self.known = set[bytes]()
        self._packed: list[tuple[NDArray[np.uint8], int]] = []
        self._rest = np.zeros(0, bool)
        self._charged, self._drawn = hashlib.sha256(), hashlib.sha256()

    def append(self, mask: NDArray[np.bool_], north: Floats, east: Floats, extra: Sequence[Sequence[Any]]) -> None:
        """Add the next rows: which of them are paid for, and what decides it."""
        self._packed.append((np.packbits(mask), len(mask)))
        self._charged.update(_bytes_of(north, east, extra))

    def take(self, north: Floats, east: Floats, extra: Sequence[Sequence[Any]]) -> NDArray[np.bool_]:
        """Return which of the next rows are paid for."""
        count = len(north)
        self._drawn.update(_bytes_of(north, east, extra))
        while len(self._rest) < count:
            if not self._packed:
                raise _changed()
            bits, size = self._packed.pop(0)
            self._rest = np.concatenate([self._rest, np.unpackbits(bits, count=size).astype(bool)])
        found, self._rest = self._rest[:count], self._rest[count:]
        return found

    def check(self) -> None:
        """Refuse to show what was drawn of another table than the one that was charged."""
        if self._charged.digest() != self._drawn.digest():
            raise _changed()


def _bytes_of(north: Floats, east: Floats, extra: Sequence[Sequence[Any]]) -> bytes:
    """Rows one after the other, so that it does not matter where batches are cut; different rows are written differently."""
    return b"".join(repr(row).encode() for row in zip(north.tolist(), east.tolist(), *extra, strict=True))


def _changed() -> DataError:
    return DataError(
        "The table was changed between charging and drawing (this is for the curator only)",
        "what would be written is not what was paid for; nothing was written, and the charge stands",
        "Leave the file alone, and run again",
    )
