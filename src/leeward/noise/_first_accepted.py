# SPDX-License-Identifier: Apache-2.0
"""Permute-and-flip over runs of points that are alike: a million points cost what their distinct losses cost.

Points come in runs; the n points of a run have one loss ℓ. Each point arrives at a moment of its own, independent and
uniform between 0 and 1, and is accepted with probability p = e^{−rate·(ℓ − least loss)}. The one that is named is the first
to arrive of those accepted: of a random order, the first whose coin shows heads (R. McKenna and D. Sheldon,
*Permute-and-Flip*, 2020).

A run is drawn at once. None of its points is accepted before the moment u with probability (1 − p·u)ⁿ. So with a uniform V
of its own for each run, its first acceptance is at

    T = (1 − V^{1/n}) / p,

which is after 1, that is never, with the chance (1 − p)ⁿ that none is accepted. The run of the least T is named. The least
loss has p = 1, so its T is at most 1 and one run is always named. Within a run, the points are alike: each is as likely.
And the chance of a run is

    Pr[run k] = n_k·p_k·∫₀¹ (1 − p_k·u)^{n_k − 1}·Π_{j ≠ k} (1 − p_j·u)^{n_j} du.

V is known by its binary digits: 64 of them are drawn, and T lies between its values at both ends of what is left open. Where
those of two runs overlap, further digits are drawn and the ends are enclosed more tightly, as often as it takes. So the law
is the one above, exactly; floats only rule out runs that are provably not first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward.errors import NoiseError
from leeward.exact._real import Exact, Real, finite
from leeward.exact._weight import Weight, exp_minus, weight, weighted_sum
from leeward.noise._bits import Bits
from leeward.noise._uniform import uniform_below

_WORD = 64
_FAR = 1e300
"""A longer logarithm of a moment, or of an odds, stands for this one: it is never the least, and floats hold it."""


def exponents(rate: Real, gaps: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the floats next to rate·gap, of each gap; what is beyond floats stands at one that they hold."""
    with np.errstate(over="ignore"):
        return np.minimum(min(rate.bounds()[1], _FAR) * gaps.astype(np.float64), _FAR)


class FirstAccepted:
    """Draws one point of many, by permute-and-flip over runs of equal loss.

    Args:
        rate: a point is accepted e^{−rate} times as often for each unit of its loss.

    Raises:
        InputError: if the rate is not positive and finite.
    """

    def __init__(self, rate: Exact) -> None:
        self.rate: Real = finite(rate, "rate")

    def __repr__(self) -> str:
        return f'FirstAccepted("{self.rate}")'

    def draw(self, losses: ArrayLike, sizes: ArrayLike, bits: Bits) -> tuple[int, int]:
        """Return the run of the point that is named, and the place of the point in it.

        Args:
            losses: of a point of each run, integers, shape (runs,); runs of equal loss may stand beside one another.
            sizes: how many points each run has, from 1 to 2⁶³ − 1, shape (runs,).
            bits: where the bits come from.

        Raises:
            NoiseError: there is no run, or one without points.
        """
        lost, many = _checked(losses, sizes)
        gaps = lost.astype(np.uint64) - lost.min().astype(np.uint64)
        words = bits.words(gaps.size)
        low, high = self._moments(gaps, many, words)
        first = np.flatnonzero(low <= high.min()).tolist()
        if len(first) > 1:
            runs = {run: _Moment(self.rate * int(gaps[run]), int(many[run]), int(words[run])) for run in first}
            first = [_earliest(runs, bits)]
        return first[0], int(uniform_below(int(many[first[0]]), 1, bits)[0])

    def pmf(self, losses: ArrayLike, sizes: ArrayLike) -> list[Weight]:
        """Return the exact chance of each run: the integral above, of a polynomial in u. For few points."""
        lost, many = (row.tolist() for row in _checked(losses, sizes))
        accepted = [exp_minus(self.rate * (loss - min(lost))) for loss in lost]
        chances = []
        for run, p in enumerate(accepted):
            polynomial = [p * many[run]]
            for other, q in enumerate(accepted):
                for _ in range(many[other] - (other == run)):
                    polynomial = _times_one_minus(q, polynomial)
            chances.append(weighted_sum((c / (power + 1), 1) for power, c in enumerate(polynomial)))
        return chances

    def _moments(
        self, gaps: NDArray[np.uint64], sizes: NDArray[np.int64], words: NDArray[np.uint64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return floats between which the logarithm of each T lies, whatever the further bits of its V."""
        scaled = exponents(self.rate, gaps)
        least = (words >> np.uint64(11)) * 2.0**-53  # exact, and so is what is at most 2⁻⁵³ above it
        ends = []
        for v, side in ((least + 2.0**-53, -1), (least, 1)):
            with np.errstate(divide="ignore"):
                log = np.log(-np.expm1(np.log(v) / sizes))
            # The logarithm and expm1 round by a few units in the last place, and expm1 of what is below 0 does not magnify
            # them; so do the rate and its product. 2⁻⁴⁴ is more than ten times all of that.
            slack = (scaled + np.abs(np.maximum(log, -_FAR)) + 1) * 2.0**-44
            ends.append(scaled + log + side * slack)
        return ends[0], ends[1]


class _Moment:
    """The logarithm of T of one run, as far as the bits of its V are drawn."""

    def __init__(self, exponent: Real, size: int, word: int) -> None:
        self.exponent, self.size = exponent, size
        self.prefix, self.width = word, _WORD

    def extend(self, bits: Bits) -> None:
        """Draw further bits."""
        self.prefix, self.width = self.prefix << _WORD | bits.integer(_WORD), self.width + _WORD

    def ends(self) -> tuple[Any, Any]:
        """Return Arb numbers between which it lies."""
        precision = self.width + 2 * _WORD
        with flint.ctx.workprec(precision):
            return self._at(self.prefix + 1, precision).lower(), self._at(self.prefix, precision).upper()

    def _at(self, numerator: int, precision: int) -> Any:
        exponent = self.exponent.arb(precision)
        if numerator == 0:
            return exponent  # V = 0: T = 1/p
        if numerator == 1 << self.width:
            return flint.arb("-inf")  # V = 1: T = 0
        log = (flint.arb(numerator) / flint.arb(1 << self.width)).log()
        return exponent + (-(log / self.size).expm1()).log()


def _earliest(runs: dict[int, _Moment], bits: Bits) -> int:
    """Return the run of the least T; further bits are drawn while more than one may be it."""
    while True:
        ends = {run: moment.ends() for run, moment in runs.items()}
        soonest = min(high for _, high in ends.values())
        runs = {run: moment for run, moment in runs.items() if not ends[run][0] > soonest}
        if len(runs) == 1:
            return next(iter(runs))
        for moment in runs.values():
            moment.extend(bits)


def _times_one_minus(q: Weight, polynomial: Sequence[Weight]) -> list[Weight]:
    """Return (1 − q·u) times a polynomial in u, given by its coefficients."""
    zero = weight(0)
    return [a - q * b for a, b in zip([*polynomial, zero], [zero, *polynomial], strict=True)]


def _checked(losses: ArrayLike, sizes: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lost, many = (given_array(row) for row in (losses, sizes))
    whole = all(row.ndim == 1 and row.dtype.kind == "i" for row in (lost, many))
    if not whole or lost.shape != many.shape or not lost.size or many.min() < 1:
        raise NoiseError(
            f"Runs of shape {lost.shape} and {many.shape}",
            "each has an integer for its loss, and points",
            "Give as many losses as sizes, and leave out runs without points",
        )
    return lost.astype(np.int64), many.astype(np.int64)
