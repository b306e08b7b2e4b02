# SPDX-License-Identifier: Apache-2.0
"""An interior point method for private mechanisms without symmetries: one small dense system for each guess.

The program couples the guesses only through the row sums,

    minimise Σ_w c_w·k_w   over columns k_w with  G·k_w ≥ 0  and  Σ_w k_w = 1,

where the same G holds privacy and positivity for every guess. So each Newton step of a primal-dual interior point method
(Mehrotra's predictor and corrector, with Gondzio's corrections) falls apart into n × n systems ``H_w = Gᵀ·diag(λ_w/s_w)·G``
and one more, ``Σ_w H_w^{-1}``, for the row sums: m Cholesky factors of size n a step, where a general solver factors one
matrix of size n·m. Every iterate is strictly private; what is returned are the best columns and the best multipliers met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._progress import Progress, silent

Floats = NDArray[np.float64]

STEPS = 250
CLOSE = 1e-6
"""Relative gap between the best columns and the best bound at which to stop."""
CORRECTIONS = 2


@dataclass(frozen=True)
class Columns:
    """What the method found.

    Attributes:
        matrix: n × m, strictly private, rows of sum 1 up to rounding.
        value: its cost.
        bound: no private matrix costs less, rounding included.
    """

    matrix: Floats
    value: float
    bound: float


def solve_by_columns(cost: Floats, pairs: NDArray[np.intp], factors: Floats, progress: Progress = silent) -> Columns:
    """Return the best columns found with ``factor·K(x, w) ≤ K(x', w)`` on all pairs, and the best bound.

    Args:
        cost: n × m: π(x)·ℓ(x, w).
        pairs: (number, 2) ordered pairs (x, x').
        factors: e^{−d(x → x')} of each, below 1: secrets at distance 0 leave no strictly private matrix.
        progress: called every few steps with the interval in which the optimum lies.
    """
    sparse = optional("scipy.sparse", "An optimal mechanism")
    n, count = len(cost), len(pairs)
    index = np.arange(count)
    entries = np.concatenate([-factors, np.ones(count)])
    private = sparse.csr_matrix((entries, (np.tile(index, 2), pairs.T.ravel())), shape=(count, n))
    size = float(np.abs(cost).mean()) or 1.0
    state = _State(private, cost / size, pairs, factors)
    matrix, value, bound, multipliers = state.columns, np.inf, -np.inf, state.dual[:count]
    for step in range(STEPS):
        promised = float((state.cost - state.private.T @ state.dual[:count]).min(axis=1).sum())
        if promised > bound:
            bound, multipliers = promised, state.dual[:count]
        reached, off = float((state.cost * state.columns).sum()), np.abs(1 - state.columns.sum(axis=1)).max()
        if off < 1e-11 and reached < value:
            matrix, value = state.columns, reached
        if step % 10 == 9:
            progress(f"step {step + 1}: the least loss is between {bound * size:.6g} and {value * size:.6g}")
        if value - bound <= CLOSE * abs(value) or not state.advance():
            break
    return Columns(matrix, value * size, _proved(cost, private, multipliers * size))


def _proved(cost: Floats, private: Any, multipliers: Floats) -> float:
    """Weak duality with every rounding counted: for λ ≥ 0 no matrix costs less than Σ_x min_w (c − Gᵀλ)(x, w)."""
    size = np.abs(cost) + abs(private).T @ multipliers
    terms = int(np.diff(private.tocsc().indptr).max(initial=0)) + 8
    least = (cost - private.T @ multipliers - terms * 2.0**-51 * size).min(axis=1)
    return float(least.sum() - len(least) * 2.0**-50 * np.abs(least).sum())


class _State:
    """Columns k, slacks s = G·k > 0, multipliers λ > 0 and prices y, and one step on."""

    def __init__(self, private: Any, cost: Floats, pairs: NDArray[np.intp], factors: Floats) -> None:
        sparse = optional("scipy.sparse", "An optimal mechanism")
        n, m = cost.shape
        self.private, self.pairs, self.factors, self.cost = private, pairs, factors, cost
        self.g = sparse.vstack([private, sparse.eye(n)], format="csr")
        self.gt, self.squared = self.g.T.tocsr(), self.g.multiply(self.g).T.tocsr()
        self.columns = np.full((n, m), 1 / m)
        self.slack = self.g @ self.columns
        self.dual = 1 / self.slack
        self.dual *= np.abs(cost).sum() / np.abs(self.gt @ self.dual).sum()
        self.prices = np.zeros(n)

    def advance(self) -> bool:
        """Take one step; False where rounding leaves none to take."""
        with np.errstate(all="ignore"):
            if not self._factor():
                return False
            products = self.dual * self.slack
            mean = float(products.mean())
            move = self._direction(-products)
            up, down = _reach(self.slack, move[1]), _reach(self.dual, move[2])
            ahead = float(((self.slack + up * move[1]) * (self.dual + down * move[2])).mean())
            target = max((ahead / mean) ** 3, 0.02) * mean
            wanted = target - products - move[1] * move[2]
            move = self._direction(wanted)
            up, down = _reach(self.slack, move[1]), _reach(self.dual, move[2])
            for _ in range(CORRECTIONS):
                further = min(1.0, up + 0.2), min(1.0, down + 0.2)
                reached = (self.slack + further[0] * move[1]) * (self.dual + further[1] * move[2])
                push = np.maximum(np.clip(reached, 0.1 * target, 10 * target) - reached, -10 * target)
                other = self._direction(wanted + push)
                longer = _reach(self.slack, other[1]), _reach(self.dual, other[2])
                if not sum(longer) > up + down + 0.02:
                    break
                wanted, move, (up, down) = wanted + push, other, longer
            if not all(np.isfinite(part).all() for part in move) or max(up, down) < 1e-8:
                return False
            close = max(0.95, 1 - mean * self.cost.shape[1])
            self.columns = self.columns + close * up * move[0]
            self.slack = self.slack + close * up * move[1]
            self.dual = self.dual + close * down * move[2]
            self.prices = self.prices + close * down * move[3]
            for _ in range(2):  # what rounding added to the multipliers of tight pairs, shared out again
                missing = self.cost - self.gt @ self.dual - self.prices[:, None]
                inner = np.matmul(self.inverses, missing.T[:, :, None])[:, :, 0].T
                change = self.weight * (self.g @ inner)
                if not (np.abs(change) < 0.5 * self.dual).all():  # more than rounding: the next step sees to it
                    break
                self.dual = self.dual + change
        return bool((self.slack > 0).all() and (self.dual > 0).all())

    def _factor(self) -> bool:
        """Invert every H_w, scaled to a unit diagonal, and their sum."""
        (n, m), index = self.cost.shape, np.arange(self.cost.shape[0])
        self.weight = self.dual / self.slack
        h = np.zeros((m, n, n))
        h[:, *self.pairs.T] = -(self.factors[:, None] * self.weight[: len(self.pairs)]).T
        h += h.transpose(0, 2, 1)
        root = np.sqrt((self.squared @ self.weight).T)
        h /= root[:, :, None] * root[:, None, :]
        h[:, index, index] = 1
        half = _half_inverse(h)
        if half is None:
            return False
        half /= root[:, None, :]
        self.inverses = np.matmul(half.transpose(0, 2, 1), half)
        total = self.inverses.sum(axis=0)
        scale = np.sqrt(total.diagonal())
        whole = _half_inverse(total / np.outer(scale, scale))
        if whole is None:
            return False
        whole /= scale
        self.shared = whole.T @ whole
        return True

    def _direction(self, wanted: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Solve for the moves that change the products λ·s by ``wanted``, refined once."""
        off = self.g @ self.columns - self.slack
        missing = self.cost - self.gt @ self.dual - self.prices[:, None]
        right = self.gt @ (wanted / self.slack - self.weight * off) - missing
        sums = 1 - self.columns.sum(axis=1)
        columns, prices = self._solve(right, sums)
        more, change = self._solve(
            right + prices[:, None] - self.gt @ (self.weight * (self.g @ columns)), sums - columns.sum(axis=1)
        )
        columns, prices = columns + more, prices + change
        slack = self.g @ columns + off
        return columns, slack, (wanted - self.dual * slack) / self.slack, prices

    def _solve(self, right: Floats, sums: Floats) -> tuple[Floats, Floats]:
        """Solve ``H_w·k_w − y = right_w`` and ``Σ_w k_w = sums``."""
        first = np.matmul(self.inverses, right.T[:, :, None])[:, :, 0].T
        prices = self.shared @ (sums - first.sum(axis=1))
        return first + (self.inverses @ prices).T, prices


def _half_inverse(matrices: Floats) -> Floats | None:
    """Return L^{-1} of the Cholesky factors of matrices with unit diagonal, a little ridge added where rounding needs it."""
    for ridge in (0.0, 1e-15, 1e-14, 1e-13, 1e-12):
        try:
            return np.linalg.inv(np.linalg.cholesky(matrices + ridge * np.eye(matrices.shape[-1])))
        except np.linalg.LinAlgError:
            continue
    return None


def _reach(values: Floats, moves: Floats) -> float:
    """Return how far one can go, at most 1, before a positive value reaches 0."""
    falling = moves < 0
    return min(1.0, float((values[falling] / -moves[falling]).min())) if falling.any() else 1.0
