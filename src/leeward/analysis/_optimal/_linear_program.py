# SPDX-License-Identifier: Apache-2.0
"""The linear program of least expected loss, over orbits of (secret, guess) pairs, and a lower bound that can be trusted.

    minimise Σ π(x)·K(x, w)·ℓ(x, w)   over K ≥ 0 with rows of sum 1 and e^{−d(x → x')}·K(x, w) ≤ K(x', w)

HiGHS's interior point method solves it in floats, or one of our own that takes it apart
(`leeward.analysis._optimal._interior_point`). The primal
answer is repaired elsewhere; from the dual answer follows, by weak duality and with every rounding counted, a loss
that no private mechanism can go below.
"""

from __future__ import annotations

import concurrent.futures
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._progress import Progress, silent
from leeward.analysis._optimal._interior_point import solve_by_columns
from leeward.errors import UndecidedError

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-13
"""Factors e^{−d} below this constrain less than the solver can see: left out here, made good by the repair."""
LARGE = 150_000
"""Constraints from which a program without symmetries is solved by columns."""
ENOUGH = 1e-3
"""Relative gap up to which that answer is taken; beyond, HiGHS is asked."""
SMALL = 1e-3
"""Least expected losses below this part of the largest loss may be lost among what the solver tolerates."""
METHODS = {"highs-ipm": 10_000, "highs-ds": 1_000_000}
"""HiGHS's methods in the order in which they are tried, and the steps after which one is taken to go on for ever.

Programs of thousands of variables take the interior point some sixty."""
HEARTBEAT = 5.0
"""Seconds between two signs of life."""


@dataclass(frozen=True)
class Solution:
    """What the solver found, expanded to all secrets and guesses.

    Attributes:
        matrix: n × m floats; neither exactly stochastic nor exactly private.
        value: the solver's own objective.
        bound: no private mechanism has a smaller expected loss, rounding included.
        variables: of the program.
        constraints: of the program.
    """

    matrix: Floats
    value: float
    bound: float
    variables: int
    constraints: int


@dataclass(frozen=True)
class Program:
    """A least-loss program in floats.

    Attributes:
        orbits: n × m labels: equal labels are one variable.
        pairs: (number, 2) ordered pairs of secrets to keep close.
        factors: e^{−d} of each pair, rounded down.
        prior: n probabilities; None for the risk-averse consumer, who minimises the largest expected loss.
        loss: n × m.
    """

    orbits: NDArray[np.intp]
    pairs: NDArray[np.intp]
    factors: Floats
    prior: Floats | None
    loss: Floats

    def constraints(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Return (left, right, factor) of the distinct constraints ``factor·v[left] ≤ v[right]``, the tightest of each."""
        seen = self.factors > NEGLIGIBLE
        left = self.orbits[self.pairs[seen, 0]].ravel()
        right = self.orbits[self.pairs[seen, 1]].ravel()
        factor = np.repeat(self.factors[seen], self.orbits.shape[1])
        order = np.lexsort((-factor, right, left))
        left, right, factor = left[order], right[order], factor[order]
        first = np.append(True, (left[1:] != left[:-1]) | (right[1:] != right[:-1]))[: len(left)] & (left != right)
        return left[first], right[first], factor[first]

    def solve(self, progress: Progress = silent) -> Solution:
        """Solve in the program's own unit of loss: what the solvers tolerate is absolute, and what is asked for is not.

        The unit is the largest loss; where the least expected loss turns out to be far smaller, and not well known, then
        once more with that as the unit. Units are powers of two, so that nothing is rounded.

        Raises:
            UndecidedError: if the solver gives up.
        """
        weights = 1.0 if self.prior is None else self.prior[:, None]
        unit = _power_of_two(float((self.loss * weights).max()))
        solution = self._in_unit(unit, progress)
        if 0 < solution.value < SMALL * unit and solution.value - solution.bound > ENOUGH * solution.value:
            try:
                finer = self._in_unit(_power_of_two(solution.value), progress)
            except UndecidedError:
                return solution
            if finer.value - finer.bound < solution.value - solution.bound:
                return finer
        return solution

    def _in_unit(self, unit: float, progress: Progress) -> Solution:
        # a loss of a secret that cannot be may be far above the unit: it stays a float in it
        unit = max(unit, math.ldexp(_power_of_two(float(self.loss.max())), -900))
        found = replace(self, loss=self.loss / unit)._solve(progress)
        return replace(found, value=found.value * unit, bound=found.bound * unit)

    def _solve(self, progress: Progress) -> Solution:
        """Solve: by HiGHS's interior point, or by columns where the program is large and has no symmetry."""
        size = len(self.pairs) * self.orbits.shape[1]
        whole = int(self.orbits.max()) + 1 == self.orbits.size
        if self.prior is not None and whole and size > LARGE and (self.factors < 1 - 1e-9).all():
            found = solve_by_columns(self.prior[:, None] * self.loss, self.pairs, self.factors, progress)
            if found.value - found.bound <= ENOUGH * found.value:
                return Solution(found.matrix, found.value, found.bound, self.orbits.size, size)
        return _watched(self._by_highs, progress)

    def _by_highs(self) -> Solution:
        sparse = optional("scipy.sparse", "An optimal mechanism")
        linprog = optional("scipy.optimize", "An optimal mechanism").linprog
        count = int(self.orbits.max()) + 1
        left, right, factor = self.constraints()
        index = np.arange(len(left))
        private = sparse.csr_matrix(
            (np.concatenate([factor, -np.ones(len(left))]), (np.tile(index, 2), np.concatenate([left, right]))),
            shape=(len(left), count),
        )
        rows = self._rows(count)
        if self.prior is None:
            losses = self._losses(count)
            private = sparse.vstack([sparse.hstack([private, sparse.csr_matrix((len(left), 1))]), losses], format="csr")
            cost = np.append(np.zeros(count), 1.0)
            equal = sparse.hstack([rows, sparse.csr_matrix((rows.shape[0], 1))], format="csr")
        else:
            cost = np.bincount(self.orbits.ravel(), (self.prior[:, None] * self.loss).ravel(), minlength=count)
            equal = rows
        solve: Any = linprog  # its stubs know fewer shapes than it takes
        for method, most in METHODS.items():  # the simplex method should the interior point method give up
            result = solve(
                cost,
                A_ub=private if private.shape[0] else None,
                b_ub=np.zeros(private.shape[0]) if private.shape[0] else None,
                A_eq=equal,
                b_eq=np.ones(equal.shape[0]),
                bounds=(0, None),
                method=method,
                options={"maxiter": most},
            )
            if result.status == 0:
                break
        else:
            raise UndecidedError("The linear program", f"the solver gave up: {result.message}", "Try a spanner")
        multipliers = np.minimum(np.asarray(result.ineqlin.marginals), 0) if private.shape[0] else np.zeros(0)
        together = int(np.bincount(self.orbits.ravel()).max())  # so many costs were added up for one variable
        bound = _lower_bound(cost, private, multipliers, equal, np.asarray(result.eqlin.marginals), together)
        return Solution(result.x[:count][self.orbits], float(result.fun), bound, len(cost), private.shape[0])

    def _rows(self, count: int) -> Any:
        """One row-sum equation for each orbit of secrets."""
        sparse = optional("scipy.sparse", "An optimal mechanism")
        n, m = self.orbits.shape
        every = sparse.csr_matrix((np.ones(n * m), (np.repeat(np.arange(n), m), self.orbits.ravel())), shape=(n, count))
        kept: dict[int, int] = {}
        for x in range(n):
            kept.setdefault(int(self.orbits[x].min()), x)  # secrets of one orbit share their smallest label
        return every[sorted(kept.values())]

    def _losses(self, count: int) -> Any:
        """Each secret's expected loss, minus the last variable: rows of ``… ≤ t``."""
        sparse = optional("scipy.sparse", "An optimal mechanism")
        n, m = self.orbits.shape
        each = sparse.csr_matrix(
            (self.loss.ravel(), (np.repeat(np.arange(n), m), self.orbits.ravel())), shape=(n, count)
        )
        return sparse.hstack([each, sparse.csr_matrix(-np.ones((n, 1)))], format="csr")


def _power_of_two(size: float) -> float:
    """Return the power of two just above a size, within what divides any loss without a rounding; 1 for 0."""
    return math.ldexp(1.0, min(max(math.frexp(size)[1], -1000), 1000)) if size else 1.0


def _watched(solve: Callable[[], Solution], progress: Progress) -> Solution:
    """Run a solver that says nothing in a thread of its own, and say every few seconds that it is still at work."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        solved, start = pool.submit(solve), time.monotonic()
        while True:
            try:
                return solved.result(timeout=HEARTBEAT)
            except concurrent.futures.TimeoutError:
                if solved.done():
                    raise  # it was the solver's own
                progress(f"solving for {time.monotonic() - start:.0f} s")


def _lower_bound(cost: Floats, private: Any, multipliers: Floats, equal: Any, prices: Floats, together: int) -> float:
    """Weak duality with rounding counted.

    With λ ≤ 0 on the private rows and any prices y on the row sums, Σ y is a lower bound once every reduced cost
    ``c − A_privᵀλ − A_eqᵀy`` is ≥ 0. Prices are lowered by what is missing; for columns in no row sum (the risk-averse
    consumer's level) λ is scaled down instead.
    """
    member = np.asarray(equal.sum(axis=0)).ravel() > 0
    if not member.all() and len(multipliers):  # the level column: 1 − Σ(−λ)(1) ≥ 0
        missing = (cost - private.T @ multipliers)[~member]
        if missing.min() < 1e-12:
            shrink = 1.0 / (1.0 - missing.min() + 1e-12)
            multipliers, prices = multipliers * shrink, prices * shrink
    reduced = cost - private.T @ multipliers - equal.T @ prices
    size = np.abs(cost) + abs(private).T @ np.abs(multipliers) + equal.T @ np.abs(prices)
    terms = np.diff(private.tocsc().indptr) + np.diff(equal.tocsc().indptr) + 8 + together
    missing = np.maximum(0.0, terms * 2.0**-51 * size - reduced) * member
    coo = equal.tocoo()
    lowered = prices.copy()
    shift = np.zeros(len(prices))
    np.maximum.at(shift, coo.row, missing[coo.col] / coo.data)
    lowered -= shift
    return float(lowered.sum() - len(lowered) * 2.0**-50 * np.abs(lowered).sum())
