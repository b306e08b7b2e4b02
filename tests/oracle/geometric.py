"""The directed geometric law by brute summation at high precision: slow, and sharing nothing with `leeward.noise`.

Weights are e^{-rate·|k|} and nothing else: the normaliser and every moment are sums over the support, cut where what is
left is below 10^-45 of the whole. Fit for rates from about 0.05 upwards. Digits of probabilities come from mpmath at a
precision far beyond the digit asked for, read from the raw mantissa (`mpmath.floor` rounds to 53 bits).
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath

CUT = mpmath.mpf(10) ** -45
PRECISION = 400


class DirectedGeometricBySummation:
    """P(k) ∝ e^{-up·k} for k ≥ 0, e^{-down·|k|} for k < 0; a rate of None is infinite."""

    def __init__(self, up: mpmath.mpf | None, down: mpmath.mpf | None) -> None:
        self.weights: dict[int, mpmath.mpf] = {0: mpmath.mpf(1)}
        with mpmath.workprec(PRECISION):
            for rate, sign in ((up, 1), (down, -1)):
                k = 1
                while rate is not None and (weight := mpmath.exp(-rate * k)) > CUT:
                    self.weights[sign * k] = weight
                    k += 1
            self.total = mpmath.fsum(self.weights.values())

    def pmf(self, k: int) -> mpmath.mpf:
        with mpmath.workprec(PRECISION):
            return self.weights.get(k, mpmath.mpf(0)) / self.total

    def expect(self, f: Callable[[int], float]) -> mpmath.mpf:
        with mpmath.workprec(PRECISION):
            return mpmath.fsum(f(k) * w for k, w in self.weights.items()) / self.total

    def cdf(self, k: int) -> mpmath.mpf:
        return self.expect(lambda j: j <= k)


def digits(number: mpmath.mpf, width: int) -> int:
    """⌊2^width · number⌋ of an mpf known to well over ``width`` bits: int() reads the mantissa and rounds nothing."""
    with mpmath.workprec(width + PRECISION):
        return int(mpmath.ldexp(number, width))
