"""The best decision about one count, as linear programs over every private mechanism: no recursion, no noise law."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_array


def best_by_program(
    fall: float | None, rise: float | None, k: int, alpha: float, delta: float = 0.0, n: int = 3
) -> float:
    """The greatest Pr[safe] at distance k from unsafe.

    Variables: Pr[safe | c] for counts −k+1, …, n seen from the boundary (c ≤ 0 is safe, so the target is c = 1 − k); both
    words, both directions of every step; Pr[safe | c] ≤ α for each unsafe c. A rate of None is not protected.
    """
    counts = list(range(1 - k, n + 1))
    rows, limits = [], []

    def at_most(terms: dict[int, float], limit: float) -> None:
        row = np.zeros(len(counts))
        for c, factor in terms.items():
            row[counts.index(c)] += factor
        rows.append(row)
        limits.append(limit)

    for low, high in itertools.pairwise(counts):
        if fall is not None:
            grows = np.exp(fall)  # the truth high passed off as low: both words at most this much likelier
            at_most({high: 1, low: -grows}, delta)
            at_most({high: -1, low: grows}, grows - 1 + delta)
        if rise is not None:
            grows = np.exp(rise)
            at_most({low: 1, high: -grows}, delta)
            at_most({low: -1, high: grows}, grows - 1 + delta)
    bounds = [(0, alpha if c > 0 else 1) for c in counts]
    goal = np.zeros(len(counts))
    goal[counts.index(1 - k)] = -1
    found = linprog(goal, A_ub=lil_array(np.array(rows)).tocsr(), b_ub=limits, bounds=bounds, method="highs")
    assert found.success
    return float(-found.fun)
