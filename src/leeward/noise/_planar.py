# SPDX-License-Identifier: Apache-2.0
"""Planar noise: P(z) ∝ e^{−rate·‖z‖} over the points z of a square grid, sampled exactly.

The Laplace law of the plane (K. Chatzikokolakis et al., *Broadening the Scope of Differential Privacy Using Metrics*, 2013,
Section 4.1 and 6.2; M. Andrés et al., *Geo-indistinguishability*, 2013) on a grid instead of on ℝ²: no floating-point number
decides anything, and the normaliser is the same wherever the noise is centred.

How it is drawn. Manhattan norm: the plain product of two directed geometric laws. Euclidean norm: by rejection from the
product of two of rate s = rate/√2. Because ‖z‖₁ ≤ √2·‖z‖₂, the candidate z is kept with probability
e^{−rate·(‖z‖₂ − ‖z‖₁/√2)} ≤ 1, an exact coin; on the diagonals, where |z_1| = |z_2|, the exponent is exactly 0. On a fine
grid π/4 of the candidates are kept, and never under 0.73 of them. How many are drawn depends on the noise alone.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, get_args

import flint
import numpy as np
from numpy.typing import NDArray

from leeward.distance._plane import Norm
from leeward.errors import NoiseError, check_choice
from leeward.exact._real import Exact, Real, exact, outward, positive, sqrt
from leeward.exact._weight import Weight, exp, exp_minus
from leeward.noise._bernoulli import flip_minus
from leeward.noise._bits import Bits
from leeward.noise._geometric import LEAST_RATE, DirectedGeometric

MOST_RATE: Final = 2**512
"""Floats still hold what such a rate costs anywhere in 64 bits; noise of it is 0 but for once in e^(2^512)."""

_AT_ONCE: Final = 1 << 17  # candidates in memory at a time
_KEPT: Final = 0.73
_SERIES_BELOW: Final = 2  # rates from which the normaliser is summed point by point


@dataclass(frozen=True)
class Enclosure:
    """An irrational number that can be enclosed as tightly as asked (see `leeward.noise._digits.Enclosed`)."""

    arb: Callable[[int], Any]
    rational: None = None

    def bounds(self) -> tuple[float, float]:
        """Return floats (lower, upper) that enclose the value."""
        return outward(self.arb(128))

    def __float__(self) -> float:
        """Round to a nearby float: for display and plots only."""
        return float(self.arb(128))


@dataclass(frozen=True)
class PlanarNoise:
    """The law P(z) ∝ e^{−rate·‖z‖} on ℤ².

    Args:
        rate: what one step of the grid costs; exact, finite and above 0.
        norm: ``"euclidean"`` or ``"manhattan"``.

    Raises:
        InexactError: for a float rate.
        InputError: for a rate that is not above 0, or an unknown norm.
        NoiseError: for a rate below 2⁻⁴⁹ or above 2⁵¹².
    """

    rate: Real
    norm: Norm

    def __init__(self, rate: Exact, norm: Norm = "euclidean") -> None:
        number = positive(rate, "rate")
        check_choice("norm", norm, get_args(Norm), "it is not a norm of the plane")
        if number < LEAST_RATE * 2:
            raise NoiseError(
                f"Planar noise of rate {number}",
                "only rates from 2^-49 upwards are sampled, so that the noise fits in 64 bits",
                "Take a larger ε, or a coarser grid",
            )
        if number > MOST_RATE:
            raise NoiseError(
                f"Planar noise of rate {number if number.is_infinite else 'above 2^512'}",
                "there would be none: a draw is other than 0 once in e^(2^512)",
                "Take a smaller ε, or a finer grid",
            )
        object.__setattr__(self, "rate", number)
        object.__setattr__(self, "norm", norm)

    # ---- drawing

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return independent draws, exactly from the law: int64, shape (size, 2)."""
        if self.norm == "manhattan":
            return self._candidates(size, bits)
        out = np.empty((size, 2), np.int64)
        filled = 0
        while filled < size:
            drawn = self._candidates(min(int((size - filled) / _KEPT) + 4, _AT_ONCE), bits)
            kept = drawn[self._keep(drawn, bits)][: size - filled]  # the first ones kept, so no draw is favoured
            out[filled : filled + len(kept)] = kept
            filled += len(kept)
        return out

    @functools.cached_property
    def _axis(self) -> DirectedGeometric:
        rate = self.rate if self.norm == "manhattan" else self.rate / sqrt(2)
        return DirectedGeometric(rate, rate)

    def _candidates(self, size: int, bits: Bits) -> NDArray[np.int64]:
        return self._axis.sample(2 * size, bits).reshape(size, 2)

    @functools.cached_property
    def _rate_bounds(self) -> tuple[float, float]:
        return self.rate.bounds()

    def _keep(self, z: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        """Flip the coin e^{−x} of each candidate.

        x = rate·(‖z‖₂ − ‖z‖₁/√2) is written as rate·(|z_1| − |z_2|)²/2 / (‖z‖₂ + ‖z‖₁/√2): nothing cancels, so floats know
        it to about ten units in the last place; it is exactly 0 on the diagonals.
        """
        size = np.abs(z)
        apart = (size[:, 0] - size[:, 1]).astype(np.float64)
        one, two = size.astype(np.float64).T
        away = np.hypot(one, two) + (one + two) * np.sqrt(0.5)
        x = self._rate_bounds[1] * (apart * apart / np.maximum(away, 1.0)) / 2  # only the origin is nearer than 1
        return flip_minus(x, lambda i: self._chance(*z[i].tolist()), bits)

    def _chance(self, i: int, j: int) -> Weight:
        return exp_minus(self.rate * (sqrt(i * i + j * j) - (abs(i) + abs(j)) / sqrt(2)))

    # ---- the law, exactly

    def length(self, point: tuple[int, int]) -> Real:
        """Return ‖z‖, exactly."""
        i, j = (operator.index(k) for k in point)
        return exact(abs(i) + abs(j)) if self.norm == "manhattan" else sqrt(i * i + j * j)

    def weight(self, point: tuple[int, int]) -> Weight:
        """Return e^{−rate·‖z‖}: the probability of z up to the normaliser, which is one number for all z."""
        return exp_minus(self.rate * self.length(point))

    @property
    def normaliser(self) -> Enclosure:
        """Σ_z e^{−rate·‖z‖}, as tightly enclosed as asked."""
        return Enclosure(lambda precision: self._sums(precision)[0])

    def pmf(self, point: tuple[int, int]) -> Weight:
        """Return P(z): exact, with the logarithm of the normaliser as an atom of its exponent."""
        return exp(-self.rate * self.length(point) - Real({(1, (_LogNormaliser(self),)): Fraction(1)}))

    def mean_length(self) -> Enclosure:
        """Return E‖z‖, in grid steps: −Z′/Z, where Z is the normaliser as a function of the rate. About 2/rate."""

        def enclose(precision: int) -> Any:
            with flint.ctx.workprec(precision + 32):
                total, slope = self._sums(precision)
                return -slope / total

        return Enclosure(enclose)

    def _sums(self, precision: int) -> tuple[Any, Any]:
        """Enclose Z(rate) = Σ_z e^{−rate·‖z‖} and its derivative."""
        with flint.ctx.workprec(precision + 32):
            rate = self.rate._arb()
            if self.norm == "manhattan":  # coth²(rate/2)
                coth = (rate / 2).coth()
                return coth**2, coth * (1 - coth**2)
            if self.rate < _SERIES_BELOW:
                return _by_poisson(rate, precision)
            return _by_points(rate, precision)


@dataclass(frozen=True)
class _LogNormaliser:
    """The atom ln Z: ratios of probabilities lose it, and sums can be enclosed."""

    law: PlanarNoise

    def arb(self) -> Any:
        """Enclose it at the precision in force."""
        return self.law._sums(flint.ctx.prec)[0].log()

    def __str__(self) -> str:
        return f"log(sum of exp(-{self.law.rate}*{self.law.norm} length))"


def _by_poisson(rate: Any, precision: int) -> tuple[Any, Any]:
    """Poisson's summation formula: Z(r) = Σ_k 2πr/(r² + 4π²|k|²)^{3/2}, k over the dual grid; k = 0 gives 2π/r².

    The others are expanded in powers of (r/2π)², which leaves the Epstein zeta functions of the grid,
    Σ_{k≠0} |k|^{−2s} = 4ζ(s)β(s) with Dirichlet's β(s) = 4^{−s}(ζ(s, ¼) − ζ(s, ¾)). The ratio of the absolute values of two
    terms falls with n, so the rest is less than a geometric series that starts at the first term left out.
    """
    pi = flint.arb.pi()
    q = (rate / (2 * pi)) ** 2
    total, slope, power, coefficient = flint.arb(0), flint.arb(0), flint.arb(1), Fraction(1)
    n = 0
    while True:
        s = flint.arb(flint.fmpq(2 * n + 3, 2))
        epstein = 4 * s.zeta() * (s.zeta(flint.arb(1) / 4) - s.zeta(flint.arb(3) / 4)) / flint.arb(4) ** s
        term = power * epstein * flint.arb(flint.fmpq(coefficient.numerator, coefficient.denominator))
        ratio = q * (2 * n + 3) ** 2 / ((2 * n + 2) * (2 * n + 1))
        if abs(term) * (2 * n + 1) < flint.arb(2) ** -precision and ratio < flint.arb(1) / 2:
            rest = flint.arb(0, (2 * abs(term) * (2 * n + 1)).upper())
            scale = 1 / (2 * pi) ** 2
            return 2 * pi / rate**2 + rate * scale * (total + rest), -4 * pi / rate**3 + scale * (slope + rest)
        total, slope, power = total + term, slope + term * (2 * n + 1), power * q
        coefficient *= Fraction(-3 - 2 * n, 2 * n + 2)
        n += 1


def _by_points(rate: Any, precision: int) -> tuple[Any, Any]:
    """Add up the points with max |z_i| ≤ R, and enclose the rest by its shells: 8m points from m to √2·m away."""
    total, slope, radius = flint.arb(1), flint.arb(0), 0
    while True:
        radius += 1
        for other in range(radius + 1):
            away = flint.arb(radius * radius + other * other).sqrt()
            term = (4 if other in (0, radius) else 8) * (-rate * away).exp()
            total, slope = total + term, slope - away * term
        shell = radius + 1
        first = 12 * flint.arb(shell) ** 2 * (-rate * shell).exp()
        ratio = (-rate).exp() * (flint.arb(shell + 1) / shell) ** 2
        if ratio < flint.arb(1) / 2 and first < flint.arb(2) ** -precision:
            rest = flint.arb(0, (2 * first).upper())
            return total + rest, slope + rest
