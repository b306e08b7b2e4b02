# SPDX-License-Identifier: Apache-2.0
"""How far a clamped, possibly centred, directed geometric answer lies from the truth: closed forms, exact.

The error is ``E = clip(K − S, −below, above)``: K the noise, S a public shift (0 unless the answer is centred), ``below``
and ``above`` the distance from the truth to the public bounds. Everything follows from the layers of E,

    E⁺ = Σ_{k=1..above} [K − S ≥ k],   E⁻ = Σ_{k=1..below} [K − S ≤ −k],

because both tails of K are geometric: only sums Σ r^k and Σ k·r^k are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leeward.exact._real import Exact, Real, integer
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.noise import DirectedGeometric


@dataclass(frozen=True)
class Accuracy:
    """The exact law of the error of one answer, in grid steps.

    Attributes:
        law: the noise K before centring and clamping.
        shifts: what is subtracted from it: pairs (integer, probability), independent of everything.
        below: how far the output can lie below the truth; None for no bound.
        above: how far it can lie above; None for no bound.
    """

    law: DirectedGeometric
    shifts: Sequence[tuple[int, Weight]] = ((0, weight(1)),)
    below: int | None = None
    above: int | None = None

    def bias(self) -> Weight:
        """Return the mean error: positive where answers are over-reported on average."""
        return self._mixed(lambda up, down: up[0] - down[0])

    def expected_error(self) -> Weight:
        """Return the mean absolute error E|E|."""
        return self._mixed(lambda up, down: up[0] + down[0])

    def mean_squared_error(self) -> Weight:
        """Return E[E²] = Var E + (E E)²."""
        return self._mixed(lambda up, down: up[1] + down[1])

    def variance(self) -> Weight:
        """Return the variance of the error."""
        return self.mean_squared_error() - self.bias() ** 2

    def cdf(self, error: int) -> Weight:
        """Return P(E ≤ error)."""
        error = integer(error, "error")
        if self.above is not None and error >= self.above:
            return weight(1)
        if self.below is not None and error < -self.below:
            return weight(0)
        return sum(((self.law.cdf(error + s) * p) for s, p in self.shifts), weight(0))

    def within(self, alpha: int) -> Weight:
        """Return P(|E| ≤ α): (α, δ)-usefulness with 1 − δ this number."""
        alpha = integer(alpha, "alpha")
        if alpha < 0:
            return weight(0)
        return self.cdf(alpha) - self.cdf(-alpha - 1)

    def quantile(self, p: Weight | Exact) -> int:
        """Return the least error e with P(E ≤ e) ≥ p, for 0 < p < 1."""
        p = weight(p)
        guess = self.law.quantile(p) - self.shifts[0][0]
        if self.above is not None:
            guess = min(guess, self.above)
        if self.below is not None:
            guess = max(guess, -self.below)
        while self.cdf(guess - 1) >= p:
            guess -= 1
        while self.cdf(guess) < p:
            guess += 1
        return guess

    def _mixed(self, combine: Callable[[_Sums, _Sums], Weight]) -> Weight:
        total = weight(0)
        for shift, p in self.shifts:
            up = _layers(self.law, shift, self.above)
            down = _layers(self.law.reverse(), -shift, self.below)
            total += combine(up, down) * p
        return total


_Sums = tuple[Weight, Weight]


def _layers(law: DirectedGeometric, shift: int, last: int | None) -> _Sums:
    """Return Σ P(K ≥ k + shift) and Σ (2k − 1)·P(K ≥ k + shift) over k = 1, …, last."""
    a, b = exp_minus(law.up), exp_minus(law.down)
    flat = max(-shift - 1, 0) if last is None else min(max(-shift - 1, 0), last)  # so many k have k + shift < 0
    one, two = weight(flat), weight(flat * flat)
    if flat and not law.down.is_infinite:  # there the tail is 1 − P(K ≤ k + shift − 1)
        share = (1 - a) / (1 - a * b) * exp_minus(law.down * (1 - shift))
        first, second = _sums(-law.down, 1, flat)
        one, two = one - share * first, two - share * second
    if last is not None and flat == last:
        return one, two
    share = (1 - b) / (1 - a * b)
    if law.up.is_infinite:  # the tail is P(K ≥ 0) at k = −shift, and 0 beyond
        at = flat + 1
        return (one + share, two + share * (2 * at - 1)) if at == -shift else (one, two)
    first, second = _sums(law.up, flat + 1, last)
    share = share * exp_minus(law.up * shift)
    return one + share * first, two + share * second


def _sums(rate: Real, first: int, last: int | None) -> _Sums:
    """Return Σ x^k and Σ (2k − 1)·x^k over k = first, …, last, with x = e^{−rate} ≠ 1."""
    x = exp_minus(rate)
    start, end = exp_minus(rate * first), weight(0) if last is None else exp_minus(rate * (last + 1))
    plain = (start - end) / (1 - x)
    powers = (first * start - (last or 0) * end) / (1 - x) + (x * start - end) / (1 - x) ** 2  # Σ k·x^k
    return plain, 2 * powers - plain
