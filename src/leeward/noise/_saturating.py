# SPDX-License-Identifier: Apache-2.0
"""Adding noise to 64-bit counts: a sum that would leave the range stops at its end, and never wraps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import clipped, given_array
from leeward.errors import InputError

LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1


def add_saturating(
    counts: NDArray[np.int64], noise: NDArray[np.int64], lower: int = LEAST, upper: int = MOST
) -> NDArray[np.int64]:
    """Return counts + noise, clamped to [lower, upper].

    Clamping is post-processing of the exact integer sum, so it costs no privacy; the bounds must be public.

    Raises:
        InputError: if lower > upper, or a bound does not fit in 64 bits.
    """
    if not LEAST <= lower <= upper <= MOST:
        raise InputError(
            f"Bounds {lower}..{upper}", "they must be in order and fit in 64 bits", "Give lower ≤ upper within ±2^63"
        )
    counts, noise = given_array(counts, np.int64), given_array(noise, np.int64)
    with np.errstate(over="ignore"):  # what wraps is put right on the next line
        total = np.add(counts, noise)
    wrapped = ((counts ^ total) & (noise ^ total)) < 0  # both had one sign and the sum has the other
    total = np.where(wrapped, np.where(counts < 0, LEAST, MOST), total)
    return clipped(total, lower, upper)
