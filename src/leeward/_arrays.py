# SPDX-License-Identifier: Apache-2.0
"""Arrays that a caller gives: what is masked in them is missing, and is not taken for what lies under the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from leeward.errors import DataError

vanishing = np.errstate(under="ignore")
"""Decorates what works with chances so small that floats hold them as 0: the caller's program may have NumPy raise there."""


def given_array(values: ArrayLike, kind: DTypeLike | None = None) -> NDArray[Any]:
    """Return values that a caller gave as an array, as `numpy.asarray` does.

    Raises:
        DataError: some are masked. Under a mask the value is still there, and would be published as if it were not.
    """
    if _is_masked(values):
        raise DataError(
            "An array of which some values are masked (this is for the curator only)",
            "they are missing, and what lies under the mask is not to be published",
            "Leave them out, or fill them with a public value: values.filled(…)",
        )
    return np.asarray(values, kind)


def clipped(values: NDArray[Any], low: ArrayLike, high: ArrayLike) -> NDArray[Any]:
    """Return values moved to the bounds, as `numpy.clip` does, which takes several times as long for a single one."""
    found: NDArray[Any] = np.minimum(np.maximum(values, low), high)
    return found


def _is_masked(values: Any) -> bool:
    if type(values) is np.ndarray:  # no subclass: there is no mask; asked several times for each single position
        return False
    if isinstance(values, list | tuple):
        return any(map(_is_masked, values))
    return isinstance(values, np.ndarray) and bool(np.any(getattr(values, "mask", False)))
