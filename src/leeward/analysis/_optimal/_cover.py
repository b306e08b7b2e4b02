# SPDX-License-Identifier: Apache-2.0
"""Which pairs of secrets a linear program needs: the irreducible ones, or a spanner of the space.

d-privacy is a constraint for every ordered pair. A pair (x, x') with some x'' strictly between, where
``d(x → x'') + d(x'' → x') = d(x → x')``, follows from the two shorter ones and is dropped: nothing is lost. A δ-spanner
keeps fewer pairs still, such that shortest paths along them are at most δ times too long; asking for privacy at
``d_spanner/δ ≤ d`` on these pairs alone implies d-privacy, at some price in utility.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.distance import FiniteDistance

Pairs = NDArray[np.intp]
"""Ordered pairs of rows, shape (number of pairs, 2)."""


def irreducible(distance: FiniteDistance[Any]) -> Pairs:
    """Return the ordered pairs at finite distance that no secret strictly between makes redundant. Exact."""
    values, codes, size = distance.values, distance.codes, len(distance.values)
    matrix = np.array([float(v) for v in values])[codes]
    needed = np.isfinite(matrix) & ~np.eye(len(codes), dtype=bool)
    between: dict[int, bool] = {}
    kind = np.int64 if size**3 < 2**63 else object  # keys of three codes must not wrap
    for j in range(len(codes)):
        with np.errstate(invalid="ignore"):
            slack = matrix[:, j, None] + matrix[None, j, :] - matrix
        suspect = needed & (np.abs(slack) <= 1e-9 * np.maximum(matrix, 1))
        suspect[matrix[:, j] == 0, :] = False  # equivalent points, at distance 0, are not strictly between
        suspect[:, matrix[j, :] == 0] = False
        rows, columns = np.nonzero(suspect)
        keys = (codes[rows, j].astype(kind) * size + codes[j, columns]) * size + codes[rows, columns]
        for key in np.unique(keys):
            if int(key) not in between:
                first, second, direct = (values[int(key) // size**p % size] for p in (2, 1, 0))
                between[int(key)] = first + second == direct
        redundant = np.array([between[int(key)] for key in keys], dtype=bool)
        needed[rows[redundant], columns[redundant]] = False
    return np.argwhere(needed)


def spanner(distance: FiniteDistance[Any], orbits: NDArray[np.intp], dilation: float) -> Pairs:
    """Return the pairs of a greedy spanner: shortest paths along them are at most ``dilation`` times the distance.

    Whole orbits of pairs under the symmetries of the space are added at once, so the spanner has the same symmetries.

    Args:
        distance: the space.
        orbits: n × n labels of the orbits of ordered pairs.
        dilation: at least 1.
    """
    matrix = np.array([float(v) for v in distance.values])[distance.codes]
    n = len(matrix)
    reached = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    flat = orbits.ravel()
    order = np.argsort(flat, kind="stable")
    labels, starts = np.unique(flat[order], return_index=True)
    members = dict(zip(labels.tolist(), np.split(order, starts[1:]), strict=True))
    first = {label: int(pairs[0]) for label, pairs in members.items()}
    kept: list[NDArray[np.intp]] = []
    for label in sorted(members, key=lambda l: (matrix.flat[first[l]], l)):
        x, y = divmod(first[label], n)
        if x == y or not np.isfinite(matrix[x, y]) or reached[x, y] <= matrix[x, y] * dilation * (1 - 1e-12):
            continue
        pairs = np.stack(np.divmod(members[label], n), axis=1)
        kept.append(pairs)
        for u, v in pairs:
            reached = np.minimum(reached, reached[:, u, None] + (matrix[u, v] + reached[None, v, :]))
    return np.concatenate(kept) if kept else np.empty((0, 2), dtype=np.intp)
