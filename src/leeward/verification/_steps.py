# SPDX-License-Identifier: Apache-2.0
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
from leeward.errors import UndecidedError
from leeward.exact._real import Real

_ONE_BY_ONE = 40
"""How many irreducible points of a row are found one at a time."""


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
        for _ in range(_ONE_BY_ONE):  # where there are many more, it is quicker to try all points at once
            if not left.any():
                break
            j = int(np.argmin(np.where(left, row, np.inf)))
            if row[j] + self._least * (1 - 1e-9) > row[left].max():
                return found | left  # nothing left is far enough to be divided by j or by what is beyond it
            found[j], left[j] = True, False
            left &= ~self._divided(x, np.array([j]), left)
        return found | (left & ~self._divided(x, np.flatnonzero(row > 0), left))

    def _divided(self, x: int, via: NDArray[np.intp], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of ``among`` are divided by one of the points ``via``."""
        ends = np.flatnonzero(among)
        row, second = self._at[x], self._at[np.ix_(via, ends)]
        with np.errstate(invalid="ignore"):
            gaps = np.abs(row[via, None] + second - row[ends])
        near = (gaps <= (0 if self._exact else 1e-9 * row[ends])) & (second > 0)
        if not self._exact:
            for at, k in np.argwhere(near).tolist():
                near[at, k] = self._adds_up(x, int(via[at]), int(ends[k]))
        divided: NDArray[np.bool_] = np.zeros_like(among)
        divided[ends] = near.any(axis=0)
        return divided

    def _adds_up(self, x: int, via: int, end: int) -> bool:
        key = int(self._codes[x, via]), int(self._codes[via, end]), int(self._codes[x, end])
        if key not in self._sums:
            first, second, whole = (self._values[code] for code in key)
            try:
                self._sums[key] = first + second == whole
            except UndecidedError:
                self._sums[key] = False  # then the pair is looked at itself
        return self._sums[key]
