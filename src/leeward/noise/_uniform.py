# SPDX-License-Identifier: Apache-2.0
"""Uniform integers below n, exactly: by rejection, never by a remainder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import given_array
from leeward.errors import NoiseError
from leeward.noise._bits import Bits


def uniform_below(limits: NDArray[np.int64] | int, size: int, bits: Bits) -> NDArray[np.int64]:
    """Return independent integers, the i-th uniform on 0, …, limits[i] − 1.

    A word is cut to as many bits as the limit needs and drawn again while it is not below it: under two words each on
    average. How often that happens is independent of the integer kept.

    Args:
        limits: one limit for all, or one for each, shape (size,); at least 1 and at most 2⁶³.
        size: how many.
        bits: where the bits come from.

    Raises:
        NoiseError: if a limit is below 1 or above 2⁶³.
    """
    limits = given_array(limits)
    low, high = (int(np.min(limits)), int(np.max(limits))) if size else (1, 1)
    if low < 1 or high > 1 << 63:
        raise NoiseError(
            "A uniform integer below a limit outside 1, …, 2^63", "it has no value in 64 bits", "Check the limit"
        )
    limit = np.broadcast_to(limits.astype(np.uint64), (size,))
    mask = limit - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    out = bits.words(size) & mask
    while (again := np.flatnonzero(out >= limit)).size:
        out[again] = bits.words(again.size) & mask[again]
    return out.astype(np.int64)
