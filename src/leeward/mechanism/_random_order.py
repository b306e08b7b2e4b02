# SPDX-License-Identifier: Apache-2.0
"""How many of many counts are reached in a random order, before what those reached have cost is more than a limit.

Give each count a moment of its own, independent and uniform between 0 and 1: their order is then a random one. At a moment
u each of the others lies before with chance u, so what those before have cost is a sum of independent steps, and a count is
reached iff that sum is within the limit:

    Pr[count i is reached] = ∫₀¹ Pr[Σ_{j ≠ i} 1[u_j < u]·cost_j ≤ limit] du.

The integrand is a polynomial in u. It is 1 before the sum can have come near the limit, and 0 after it has left it behind;
between, Gauss's rule is exact up to degree 255, and to about twelve digits beyond. The law of the sum is read off its
Fourier transform, a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing

Floats = NDArray[np.float64]
_POINTS = 128


def reached(numbers: Sequence[int], chances: Sequence[Sequence[float]], costs: Sequence[int], limit: int) -> Floats:
    """Return for each kind of count the probability that one of its counts is reached.

    Args:
        numbers: how many counts there are of each kind.
        chances: for each kind how likely one of it that is reached costs each of these; else it is free.
        costs: whole numbers above 0.
        limit: a count is reached iff those before it cost at most so much, together.
    """
    many, chance, each = np.array(numbers, np.float64), np.array(chances, np.float64), np.array(costs, np.int64)
    most = max(costs)
    if (sum(numbers) - 1) * most <= limit:
        return np.ones(many.size)
    mean, spread = float(many @ chance @ each), float(many @ chance @ each**2)
    if not mean:
        return np.ones(many.size)
    first, last = (_moment(mean, spread, limit, most, side) for side in (-1, 1))
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    total = np.full(many.size, first)
    for point, share in zip((points + 1) / 2, weights / 2, strict=True):
        moment = first + (last - first) * point
        total += (last - first) * share * _within(moment, many, chance, each, limit)
    return np.asarray(total.clip(0.0, 1.0), np.float64)


def _far(spread: float, most: int) -> float:
    """How far from its mean a sum of this variance or less is with a chance below 1e-25, by Bernstein's inequality."""
    return 12 * sqrt(spread) + 61 * most


def _moment(mean: float, spread: float, limit: int, most: int, side: int) -> float:
    """Return the last moment at which the sum is surely within the limit (side −1), or the first at which surely not (1)."""
    beyond = limit + side * 61 * most
    if beyond <= 0:
        return 0.0
    root = (side * 12 * sqrt(spread) + sqrt(144 * spread + 4 * mean * beyond)) / (2 * mean)
    return min(root * root, 1.0)


@vanishing
def _within(moment: float, many: Floats, chance: Floats, costs: NDArray[np.int64], limit: int) -> Floats:
    """Return for each kind how likely all others but one of its counts cost at most the limit up to this moment."""
    mean, far = moment * float(many @ chance @ costs), _far(moment * float(many @ chance @ costs**2), int(costs.max()))
    start = max(int(mean - far), 0)
    size = 1 << int(mean + far - start + 2).bit_length()
    if limit < start or limit >= start + size:
        return np.full(many.size, float(limit >= start))
    turns = np.exp(-2j * np.pi * np.outer(costs, np.arange(size // 2 + 1)) / size)
    steps = 1 + moment * (chance @ (turns - 1))
    powers = steps ** (many - 1)[:, None]
    before, after = (np.ones((many.size + 1, turns.shape[1]), complex) for _ in range(2))
    for kind in range(many.size):
        before[kind + 1] = before[kind] * powers[kind] * steps[kind]
        after[-2 - kind] = after[-1 - kind] * powers[-1 - kind] * steps[-1 - kind]
    laws = np.fft.irfft(before[:-1] * after[1:] * powers, size)
    return np.asarray(laws[:, np.arange(start, limit + 1) % size].sum(axis=1), np.float64)
