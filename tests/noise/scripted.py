"""A source of bits that says what it is told to: for ties, ends of ranges, and counting what is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.noise import Bits


class Scripted(Bits):
    """Gives each request the next item of the script: an array fills it, an int is its little-endian octets.

    Running out of script fails the test, so does a request of another size than an array scripted for it.
    """

    def __init__(self, *script: NDArray[Any] | int, then: int | None = None) -> None:
        self.script, self.then, self.drawn = list(script), then, 0

    def fill(self, out: NDArray[Any]) -> None:
        self.drawn += 1
        if not self.script and self.then is None:
            raise AssertionError("more bits were drawn than the script holds")
        item = self.script.pop(0) if self.script else self.then
        if isinstance(item, int):
            octets = item.to_bytes(out.nbytes, "little") if item >= 0 else b"\xff" * out.nbytes
            out.view(np.uint8).reshape(-1)[:] = np.frombuffer(octets, np.uint8)
        else:
            assert item is not None
            assert item.size == out.size, f"{out.size} words were asked for, {item.size} scripted"
            out.reshape(-1)[:] = item.reshape(-1)


ONES = -1
"""A request of any size, every bit set."""


def rows(words: Iterable[int], columns: int = 1) -> NDArray[np.uint32]:
    """The same word for every draw of a digit: shape (digits, columns)."""
    return np.repeat(np.array(list(words), np.uint32)[:, None], columns, axis=1)
