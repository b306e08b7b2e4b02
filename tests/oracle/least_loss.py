"""The least expected loss by the plainest linear program: every ordered pair, every guess, no symmetry, dual simplex."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog


def least_loss(distance: Any, prior: Any, loss: Any) -> float:
    """The optimum for an n × n float distance (inf allowed), n probabilities and an n × m loss; prior None = worst case."""
    n, m = np.shape(loss)
    rows: list[np.ndarray] = []
    for x in range(n):
        for y in range(n):
            if x != y and math.isfinite(distance[x][y]):
                for w in range(m):
                    row = np.zeros(n * m + 1)
                    row[x * m + w], row[y * m + w] = math.exp(-distance[x][y]), -1
                    rows.append(row)
    cost = np.zeros(n * m + 1)
    if prior is None:
        cost[-1] = 1
        for x in range(n):
            row = np.zeros(n * m + 1)
            row[x * m : (x + 1) * m], row[-1] = loss[x], -1
            rows.append(row)
    else:
        cost[:-1] = (np.asarray(prior, dtype=float)[:, None] * np.asarray(loss, dtype=float)).ravel()
    sums = np.hstack([np.kron(np.eye(n), np.ones((1, m))), np.zeros((n, 1))])
    solved = linprog(
        cost,
        A_ub=np.array(rows) if rows else None,
        b_ub=np.zeros(len(rows)) if rows else None,
        A_eq=sums,
        b_eq=np.ones(n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)
