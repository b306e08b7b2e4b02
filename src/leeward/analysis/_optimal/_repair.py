# SPDX-License-Identifier: Apache-2.0
"""From a solver's floats to an exact mechanism: rows of sum 1, no negative entry, every ratio strictly within its bound.

Solvers return negative entries, rows of sum 1 ± 1e-9, and ratios over the bound or infinite. The repair works in integers:

1. Round the matrix to multiples of 2^−60, clipping at 0, rows summing to exactly 1.
2. Replace each factor e^d by a rational E just below it, so that what is then proved holds strictly; secrets that are
   *near* one another (a positive d below a threshold) are held to be at distance 0, which is stricter, and share a row.
3. *Lift* each column w by the least constant v_w that mends it: ``K(x, w) + v ≤ E·(K(x', w) + v)`` iff
   ``v ≥ (K(x, w) − E·K(x', w))/(E − 1)``. Columns in which nothing is wrong get 0.
4. Divide by 1 + Σ v_w.

The result mixes the solver's matrix with a mechanism that ignores the secret, as little as is needed in each column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward.exact._real import ZERO, Real, whole_of
from leeward.exact._weight import Weight, weight
from leeward.mechanism import FiniteMechanism

DENOMINATOR = 2**60
EXTRA_BITS = 40
"""Bits to which factors e^d are rounded down, and as many more as the smallest d needs: an enclosure in floats sees it."""
FAR = 64
"""Factors above 2^FAR are taken for 2^FAR: entries are multiples of 1/DENOMINATOR, so that larger ones forbid no less."""
NEVER_APART = Fraction(1, 2**40)
"""Secrets nearer than this are always given one row: no solver in floats can tell e^d from 1, or mend by so little."""
LEAST_MASS = 1e-9
"""Columns whose largest entry is below this are noise of the solver: left out."""


def factor_below(cost: Real, bits: int = EXTRA_BITS) -> int:
    """Return an integer E with E/2^bits < e^cost (= at cost 0), as large as possible but for `FAR`."""
    if cost > FAR:  # e^FAR > 2^FAR
        return 1 << (bits + FAR)
    with flint.ctx.workprec(64 + 2 * bits + 2 * FAR):
        scaled = cost.arb(flint.ctx.prec).exp() * flint.arb(2) ** bits
        return min(whole_of(scaled.lower().floor()) - (1 if cost else 0), 1 << (bits + FAR))


def repair(
    secrets: Sequence[Any],
    guesses: Sequence[Any],
    matrix: NDArray[np.float64],
    pairs: NDArray[np.intp],
    costs: Sequence[Real],
    near: Fraction = NEVER_APART,
) -> FiniteMechanism:
    """Return an exact mechanism near the matrix that is private on the given pairs.

    Args:
        secrets: n labels of the rows.
        guesses: m labels of the columns.
        matrix: n × m floats.
        pairs: the ordered pairs (x, x') that must satisfy ``K(x, w) ≤ e^cost·K(x', w)``; they must generate the rest.
        costs: d(x → x') for each pair.
        near: positive costs below this are taken for 0; at least `NEVER_APART`.
    """
    costs = [ZERO if cost < near else cost for cost in costs]
    matrix = _merge_equivalent(np.clip(matrix, 0, None), pairs, costs)
    kept = np.nonzero(matrix.max(axis=0) > LEAST_MASS)[0]
    whole = _integers(matrix[:, kept])
    bits = EXTRA_BITS + max(0, -math.floor(math.log2(min((float(c) for c in costs if c), default=1))))
    below = {c: factor_below(c, bits) for c in set(costs)}
    factors = np.array([below[c] for c in costs], dtype=object)
    lifts = [_lift(column, pairs, factors, bits) for column in whole.T]
    total = DENOMINATOR + sum(lifts)
    seen: dict[int, int] = {}
    codes = np.array(
        [[seen.setdefault(int(k) + v, len(seen)) for k, v in zip(row, lifts, strict=True)] for row in whole]
    )
    values: list[Weight] = [weight(Fraction(k, total)) for k in seen]
    return FiniteMechanism.coded(secrets, [guesses[w] for w in kept.tolist()], values, codes)


def _lift(column: NDArray[Any], pairs: NDArray[np.intp], factors: NDArray[Any], bits: int) -> int:
    """Return the least integer v that mends a column, in units of 1/DENOMINATOR."""
    rough = column.astype(np.float64)
    suspect = rough[pairs[:, 0]] >= rough[pairs[:, 1]] * (factors.astype(np.float64) * 2.0**-bits) * (1 - 1e-9)
    lift = 0
    for (x, y), factor in zip(pairs[suspect], factors[suspect], strict=True):
        short = (int(column[x]) << bits) - factor * int(column[y])
        if short > 0:  # never so for equivalent points, whose rows are equal
            lift = max(lift, -(-short // (factor - (1 << bits))))
    return lift


def _integers(matrix: NDArray[np.float64]) -> NDArray[Any]:
    """Return the rows as Python ints that sum to exactly DENOMINATOR; equal rows stay equal."""
    rows = []
    for row in matrix / matrix.sum(axis=1, keepdims=True):
        parts = [int(p * DENOMINATOR) for p in row.tolist()]
        parts[int(np.argmax(row))] += DENOMINATOR - sum(parts)
        rows.append(parts)
    return np.array(rows, dtype=object)


def _merge_equivalent(
    matrix: NDArray[np.float64], pairs: NDArray[np.intp], costs: Sequence[Real]
) -> NDArray[np.float64]:
    """Give secrets at distance 0 (in either direction: rows sum to 1) the mean of their rows."""
    equivalent = pairs[[not c for c in costs]]
    if not len(equivalent):
        return matrix
    sparse = optional("scipy.sparse", "An optimal mechanism")
    csgraph = optional("scipy.sparse.csgraph", "An optimal mechanism")
    graph = sparse.coo_matrix(
        (np.ones(len(equivalent)), (equivalent[:, 0], equivalent[:, 1])), shape=(len(matrix), len(matrix))
    )
    classes = csgraph.connected_components(graph, directed=False)[1]
    return np.array([matrix[classes == c].mean(axis=0) for c in classes])
