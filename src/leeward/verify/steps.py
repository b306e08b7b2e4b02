"""Which ordered pairs of a finite space must be looked at exactly, and which follow from them.

If ``d(x → x'') + d(x'' → x') = d(x → x')`` with both parts above 0, then d-privacy of the two parts gives that of the
whole: multiply the two inequalities. By induction on the distance it is enough to decide the *irreducible* pairs, those
that no third point divides: on a line the neighbours, in a graph its edges.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leeward.distance import common_unit
from leeward.real import Real


class IrreduciblePairs:
    """Finds the irreducible pairs of a finite directed distance, row by row.

    Args:
        values: the distinct distances.
        codes: n × n codes into them.
    """

    def __init__(self, values: Sequence[Real], codes: NDArray[np.intp]) -> None:
        self._values, self._codes = values, codes
        unit = common_unit(values)
        self._exact = unit is not None and max(unit[1], default=0) < 2**52
        if unit is not None and self._exact:  # integers: sums of floats are exact
            sizes = np.array([np.inf if m < 0 else float(m) for m in unit[1]])
        else:
            sizes = np.array([float(v) for v in values])
        self._at = sizes[codes]
        self._least = sizes[(sizes > 0) & np.isfinite(sizes)].min(initial=np.inf)
        self._sums: dict[tuple[int, int, int], bool] = {}

    def of(self, x: int) -> NDArray[np.bool_]:
        """Return which x' ≠ x at finite distance are not divided by a third point.

        Nearest first: if x' is divided at all, it is divided by an irreducible point, and that one is nearer.
        """
        row: NDArray[np.float64] = self._at[x]
        found: NDArray[np.bool_] = row == 0
        found[x] = False
        left: NDArray[np.bool_] = np.isfinite(row) & (row > 0)
        while left.any():
            j = int(np.argmin(np.where(left, row, np.inf)))
            found[j], left[j] = True, False
            if not left.any() or row[j] + self._least * (1 - 1e-9) > row[left].max():
                break  # nothing left is far enough to be divided by j or by what is beyond it
            left &= ~self._divided_by(x, j, left)
        return found | left

    def _divided_by(self, x: int, j: int, left: NDArray[np.bool_]) -> NDArray[np.bool_]:
        row: NDArray[np.float64] = self._at[x]
        through: NDArray[np.float64] = row[j] + self._at[j]
        beyond: NDArray[np.bool_] = left & (self._at[j] > 0)
        with np.errstate(invalid="ignore"):
            divided: NDArray[np.bool_] = beyond & (np.abs(through - row) <= (0 if self._exact else 1e-9 * row))
        if self._exact:
            return divided
        for k in np.flatnonzero(divided).tolist():
            key = int(self._codes[x, j]), int(self._codes[j, k]), int(self._codes[x, k])
            if key not in self._sums:
                first, second, whole = (self._values[code] for code in key)
                self._sums[key] = first + second == whole
            divided[k] = self._sums[key]
        return divided
