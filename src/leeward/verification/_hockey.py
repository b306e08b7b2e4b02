# SPDX-License-Identifier: Apache-2.0
"""The (ε, δ) form of d-privacy: how far any set of outputs can break the bound.

``Pr[Z | x] ≤ e^d · Pr[Z | x'] + δ`` for all sets Z iff ``Σ_z max(Pr[z|x] − e^d·Pr[z|x'], 0) ≤ δ``: the worst set holds
exactly the outputs that break the bound (the hockey-stick divergence). No pair follows from others here, so every ordered
pair is compared, by floats with a proved error first and exactly where they are near δ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward.errors import InputError, UndecidedError
from leeward.exact._real import ZERO, Exact, Real
from leeward.exact._weight import Weight, exp, weight, weighted_sum
from leeward.verification._logs import Matrix, enclosed, logs
from leeward.verification._verdict import DeltaVerdict, Interval

_BLOCK = 1 << 15  # entries summed at once: they stay in the cache

_PLAIN = 600
"""Distances up to which e^d is a float, and what underflow takes from e^d·Pr is below e^600·2^-1074 < 10^-60."""


@vanishing
def verify_delta(
    matrix: Matrix,
    distances: tuple[Real, ...],
    between: NDArray[np.intp],
    delta: Weight | Exact,
    steps: NDArray[np.bool_] | None = None,
) -> DeltaVerdict:
    """Decide (d, δ)-privacy over the ordered pairs that are steps, or over all; see `leeward.verification.verify`."""
    bound = weight(delta)
    if bound < 0 or bound > 1:
        raise InputError(f"delta = {delta}", "it is a probability", 'Give a number from 0 to 1, such as delta = "1e-6"')
    asked = np.array([not d.is_infinite for d in distances])[between]
    np.fill_diagonal(asked, False)
    if steps is not None:
        asked &= steps
    note, count = getattr(matrix, "note", ""), int(asked.sum())
    whom = "any ordered pair" if steps is None else "any neighbours"
    one = None if steps is None else max((distances[code] for code in np.unique(between[asked])), default=ZERO)
    if not count:
        reason = "no two secrets are at finite distance, so nothing is promised and nothing can be broken"
        return DeltaVerdict("private", reason, 0, None, bound, (0.0, 0.0), weight(0), note, one)
    sums, error = _sums(matrix, distances, between)
    sums = np.where(asked, sums, -np.inf)
    x, y = (int(i) for i in np.unravel_index(int(sums.argmax()), sums.shape))
    worst, exactly = (x, y), _Exactly(matrix, distances, between)
    outcome, reason = "private", f"no set of outputs breaks the bound by more than δ, for {whom}"
    broken = f"a set of outputs breaks the bound by more than δ, for {'a pair' if steps is None else 'neighbours'}"
    needed: Weight | None = None
    try:
        needed = exactly.needed(x, y)
        for i, j in np.argwhere(asked & (sums >= sums[x, y] - 2 * error)).tolist():  # the worst of all is among these
            value = exactly.needed(i, j)
            if value > needed:
                worst, needed = (i, j), value
        if needed > bound:
            outcome, reason = "not private", broken
    except UndecidedError as unsettled:
        certain = float(sums.max()) - error > (bound.bounds()[1] if bound else 0.0)
        outcome, reason = ("not private", broken) if certain else ("undecided", str(unsettled))
    most = float(np.nextafter(sums.max() + error, np.inf))
    least = needed.bounds()[0] if needed is not None else float(sums.max()) - error
    interval: Interval = (max(least, 0.0), most)
    pair = matrix.inputs[worst[0]], matrix.inputs[worst[1]]
    return DeltaVerdict(outcome, reason, count, pair, bound, interval, needed, note, one)  # type: ignore[arg-type]


@vanishing
def _sums(matrix: Matrix, distances: tuple[Real, ...], between: NDArray[np.intp]) -> tuple[NDArray[np.float64], float]:
    """Return Σ_z max(Pr[z|x] − e^d·Pr[z|x'], 0) for all ordered pairs, and a bound on its error.

    A term is positive only where its subtrahend is below the minuend, so the subtrahends that count sum to at most 1, and a
    relative error η of each is an error of at most η of the sum; the minuends likewise.
    """
    logarithms = logs(matrix)
    lower, upper = matrix.bounds()
    minuend = (lower + upper) / 2
    subtrahend = np.where(logarithms.zero, -np.inf, logarithms.at)
    middles, radii = enclosed(distances)
    middles = np.where(np.isfinite(middles), middles, 0.0)  # pairs at ∞ are not asked about; ∞ − ∞ would be no number
    n, m = minuend.shape
    sums = np.empty((n, n))
    allowed = middles[between]
    plain = bool((middles[np.isfinite(middles)] <= _PLAIN).all())
    factors = np.exp(np.minimum(allowed, _PLAIN)) if plain else allowed  # ∞ allows everything; its sums are not used
    step = max(_BLOCK // m, 1)
    buffer = np.empty((min(step, n), m))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part = buffer[: len(minuend[rows])]
        for x in range(n):
            if plain:
                np.multiply(minuend[rows], factors[x, rows, None], out=part)
            else:  # e^1 > 1 ≥ any minuend
                np.exp(np.minimum(subtrahend[rows] + factors[x, rows, None], 1.0), out=part)
            np.subtract(minuend[x], part, out=part)
            np.maximum(part, 0, out=part).sum(axis=1, out=sums[x, rows])
    sizes = np.abs(logarithms.at).max(initial=0) + np.abs(middles[np.isfinite(middles)]).max(initial=0)
    exponent = logarithms.error + radii.max(initial=0) + sizes * 2.0**-51
    with np.errstate(over="ignore"):  # then all pairs are compared exactly
        relative = np.expm1(exponent)  # of a power
    relative += 2.0**-46  # 64 units in the last place for the exponential and a product
    return sums, float(relative * 2 + (upper - lower).sum(axis=1).max() + (m + 4) * 2.0**-52)


class _Exactly:
    """The exact hockey-stick sum of an ordered pair, once for each multiset of (values, distance)."""

    def __init__(self, matrix: Matrix, distances: tuple[Real, ...], between: NDArray[np.intp]) -> None:
        self._matrix, self._distances, self._between = matrix, distances, between
        self._terms: dict[tuple[int, int, int], Weight] = {}
        self._known: dict[Any, Weight] = {}

    def needed(self, x: int, y: int) -> Weight:
        """Return the least δ for which x may pass as y."""
        distance = int(self._between[x, y])
        codes = self._matrix.codes
        pairs, counts = np.unique(np.stack([codes[x], codes[y]]), axis=1, return_counts=True)
        key = distance, pairs.tobytes(), counts.tobytes()
        if key not in self._known:
            terms = zip(pairs.T.tolist(), counts.tolist(), strict=True)
            self._known[key] = weighted_sum((self._term(a, b, distance), count) for (a, b), count in terms)
        return self._known[key]

    def _term(self, above: int, below: int, distance: int) -> Weight:
        key = above, below, distance
        if key not in self._terms:
            values = self._matrix.values
            term = values[above] - values[below] * exp(self._distances[distance])
            self._terms[key] = term if term.sign() > 0 else weight(0)
        return self._terms[key]
