# SPDX-License-Identifier: Apache-2.0
"""Norm noise on vectors of integers: P(z) ∝ e^{−rate·‖z‖_∞}, on all of ℤⁿ or on its non-negative part, sampled exactly.

A private mechanism for the distance ε·d_∞, or for its one-sided sister ε·max_i(y_i − y'_i) on y' ≤ y (a K-norm mechanism:
M. Hardt and K. Talwar, *On the geometry of differential privacy*, 2010, here on the integers).

How it is drawn: with x = e^{−rate}, ``x^‖z‖ = (1 − x)·Σ_{R ≥ ‖z‖} x^R``. So z is a *uniform* point of the cube of radius R,
where R has weight ``C_R·x^R`` and C_R counts the cube's points: (R + 1)ⁿ on one side, (2R + 1)ⁿ on both. And because
``Σ_R C_R·x^R = (Σ_m A_m·x^m) / (1 − x)^{n+1}`` with the Eulerian numbers A_m of type A, or B (F. Brenti, *q-Eulerian
polynomials arising from Coxeter groups*, 1994), R is a small m of weight A_m·x^m plus n + 1 independent geometric
variables. Nothing is rejected and nothing is rounded.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from typing import Any, Final

import flint
import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, NoiseError
from leeward.exact._real import Exact, Real, inf, positive, whole
from leeward.exact._weight import Weight, exp_minus, weight, weighted_sum
from leeward.noise._bernoulli import Coin
from leeward.noise._bits import Bits
from leeward.noise._by_tail import ByTail
from leeward.noise._geometric import LEAST_RATE, DirectedGeometric
from leeward.noise._saturating import add_saturating
from leeward.noise._uniform import uniform_below

_WIDEST: Final = 2**62 - 1  # 2R + 1 points still fit


@dataclass(frozen=True)
class NormNoise:
    """The law P(z) ∝ e^{−rate·max_i |z_i|} on ℤⁿ, or on z ≥ 0 where it is one-sided.

    Args:
        rate: the price of one step of the largest coordinate; exact, finite and above 0.
        size: n, the number of coordinates.
        one_sided: whether only z ≥ 0 occur.

    Raises:
        InexactError: for a float rate.
        InputError: for a rate that is not above 0, or a size below 1.
        NoiseError: for a rate below 2⁻⁵⁰, or infinite.
    """

    rate: Real
    size: int
    one_sided: bool

    def __init__(self, rate: Exact, size: int, *, one_sided: bool) -> None:
        number = positive(rate, "rate")
        if number < LEAST_RATE or number.is_infinite:
            raise NoiseError(
                f"Norm noise of rate {number}",
                "only finite rates from 2^-50 upwards are sampled, so that the noise fits in 64 bits",
                "Take a larger ε, or coarser units for the answer",
            )
        object.__setattr__(self, "rate", number)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "one_sided", one_sided)

    # ---- drawing

    def sample(self, draws: int, bits: Bits) -> NDArray[np.int64]:
        """Return independent draws, exactly from the law: int64, shape (draws, size).

        A radius that 64 bits cannot hold stops at 2⁶² − 1.
        """
        radius = self._cube(draws, bits)
        limits = np.repeat(radius + 1 if self.one_sided else 2 * radius + 1, self.size)
        points = uniform_below(limits, limits.size, bits).reshape(draws, self.size)
        return points if self.one_sided else points - radius[:, None]

    def _cube(self, draws: int, bits: Bits) -> NDArray[np.int64]:
        """Return draws of R, the radius of the cube to take a uniform point of."""
        total = np.zeros(draws, np.int64)
        law = DirectedGeometric.one_sided(self.rate)
        for _ in range(self.size + 1):
            total = add_saturating(total, law.sample(draws, bits), 0, _WIDEST)
        left = np.arange(draws)
        for m in range(len(self._eulerian) - 1):
            if not left.size:
                break
            on = _eulerian_coin(self.rate, self.size, self.one_sided, m).flip(left.size, bits)
            left = left[on]
            total[left] = np.minimum(total[left] + 1, _WIDEST)
        return total

    # ---- the law, exactly

    @property
    def _eulerian(self) -> tuple[int, ...]:
        return _eulerian(self.size, self.one_sided)

    @property
    def _norm(self) -> Weight:
        """P(0), the weight of the origin: (1 − x)ⁿ over the Eulerian polynomial at x."""
        return _origin(self.rate, self.size, self.one_sided)

    def pmf(self, point: tuple[int, ...]) -> Weight:
        """Return P(z) for one point."""
        z = [operator.index(k) for k in point]
        if len(z) != self.size:
            raise InputError(f"A point of {len(z)} coordinates", f"this noise has {self.size}", "Give one for each")
        if self.one_sided and min(z) < 0:
            return weight(0)
        return self._norm * exp_minus(self.rate * max(map(abs, z)))

    def shell(self, radius: int) -> int:
        """Return N_r, the number of points with ‖z‖_∞ = r: (2r + 1)ⁿ − (2r − 1)ⁿ, or (r + 1)ⁿ − rⁿ on one side; N_0 = 1."""
        if radius < 1:
            return int(radius == 0)
        return self._points(radius) - self._points(radius - 1)

    def _points(self, radius: int) -> int:
        """C_R: how many points the cube of this radius has."""
        return int((radius + 1 if self.one_sided else 2 * radius + 1) ** self.size)

    def radius_pmf(self, radius: int) -> Weight:
        """Return P(‖z‖_∞ = r) = N_r·e^{−rate·r}·P(0)."""
        return self._norm * self.shell(radius) * exp_minus(self.rate * max(radius, 0))

    def radius_mean(self) -> Weight:
        """Return E‖z‖_∞, by summing P(‖z‖ > r) over the cubes: E R − x/(1 − x)."""
        x = exp_minus(self.rate)
        edge = self._moment(1)
        return (edge - 1 if self.one_sided else (edge - 1) / 2) - x / (1 - x)

    def marginal(self) -> Marginal:
        """Return the law of one coordinate."""
        return Marginal(self)

    def _moment(self, power: int) -> Weight:
        """E[edge^power], where edge is R + 1 (one side) or 2R + 1: the Eulerian polynomials of two sizes, power ≥ −1."""
        x = exp_minus(self.rate)
        top, bottom = (_polynomial(self.rate, n, self.one_sided) for n in (self.size + power, self.size))
        return top / bottom / (1 - x) ** power


@dataclass(frozen=True)
class Marginal(ByTail):
    """The exact law of one coordinate of norm noise: what decisions about one count need.

    Given R it is uniform on 0..R (one side) or −R..R, so every sum is one of ``C_R·x^R`` with the power n − 1 or n.
    """

    noise: NormNoise

    @property
    def up(self) -> Real:
        """The rate at which large upward noise dies out."""
        return self.noise.rate

    @property
    def down(self) -> Real:
        """The rate at which large downward noise dies out; ∞ where there is none."""
        return inf if self.noise.one_sided else self.noise.rate

    def tail(self, k: int) -> Weight:
        """Return P(z_1 ≥ k)."""
        k = operator.index(k)
        if self.noise.one_sided:
            return weight(1) if k <= 0 else self._above(k)
        return self._above(k) if k > 0 else 1 - self._above(1 - k)

    def mean(self) -> Weight:
        """Return E z_1."""
        return (self.noise._moment(1) - 1) / 2 if self.noise.one_sided else weight(0)

    def mean_absolute(self) -> Weight:
        """Return E|z_1|: about (n + 1)/(2·rate) for small rates, where independent noise of the same promise has n/rate."""
        if self.noise.one_sided:
            return self.mean()
        return (self.noise._moment(1) - self.noise._moment(-1)) / 4

    def variance(self) -> Weight:
        """Return Var z_1."""
        one, two = self.noise._moment(1), self.noise._moment(2)
        if not self.noise.one_sided:
            return (two - 1) / 12
        return (2 * two - 3 * one + 1) / 6 - self.mean() ** 2

    def _above(self, k: int) -> Weight:
        """P(z_1 ≥ k) for k ≥ 1: ``x^k·Σ_i c_i·k^{n−1−i}``, in work that does not depend on k or on the rate.

        It is the sum over R ≥ k of (edge − (k or 2k − 1))·edge^(n−1)·x^R, halved on both sides, with R = k + j and the
        powers of ``edge = k + (j + 1)``, or ``2k + (2j + 1)``, written out: the sums over j are Eulerian polynomials.
        """
        noise = self.noise
        n, scale = noise.size, k if noise.one_sided else 2 * k
        terms = [c * scale ** (n - 1 - i) for i, c in enumerate(_tail_terms(n, noise.one_sided))]
        top = sum(terms[1:], start=terms[0])
        tail = weighted_sum((exp_minus(noise.rate * (k + m)), int(c)) for m, c in enumerate(top.coeffs()))
        return tail / _polynomial(noise.rate, n, noise.one_sided) / (1 if noise.one_sided else 2)


@functools.lru_cache(maxsize=64)
def _tail_terms(size: int, one_sided: bool) -> tuple[Any, ...]:
    """c_i·A_n as polynomials in x: C(n−1, i)·A_{i+1}·(1 − x)^{n−1−i}; with B, (B_{i+1} + B_i·(1 − x)) for A_{i+1}."""
    gap, found = flint.fmpz_poly([1, -1]), []
    for i in range(size):
        part = flint.fmpz_poly(list(_eulerian(i + 1, one_sided)))
        if not one_sided:
            part += flint.fmpz_poly(list(_eulerian(i, one_sided))) * gap
        found.append(part * gap ** (size - 1 - i) * math.comb(size - 1, i))
    return tuple(found)


@functools.lru_cache(maxsize=256)
def _eulerian(size: int, one_sided: bool) -> tuple[int, ...]:
    """Eulerian numbers: Σ_R (R+1)ⁿ·x^R = Σ A_m·x^m/(1−x)^{n+1} (type A), with 2R+1 for R+1 (type B)."""
    row = [1]
    for n in range(1, size + 1):
        padded = [0, *row, 0]
        if one_sided:  # A(n, m) = (m + 1)·A(n−1, m) + (n − m)·A(n−1, m−1)
            row = [(m + 1) * padded[m + 1] + (n - m) * padded[m] for m in range(n)]
        else:  # B(n, m) = (2m + 1)·B(n−1, m) + (2n − 2m + 1)·B(n−1, m−1)
            row = [(2 * m + 1) * padded[m + 1] + (2 * n - 2 * m + 1) * padded[m] for m in range(n + 1)]
    return tuple(row)


def _polynomial(rate: Real, size: int, one_sided: bool) -> Weight:
    return weighted_sum((exp_minus(rate * m), number) for m, number in enumerate(_eulerian(size, one_sided)))


@functools.lru_cache(maxsize=256)
def _origin(rate: Real, size: int, one_sided: bool) -> Weight:
    return (1 - exp_minus(rate)) ** size / _polynomial(rate, size, one_sided)


@functools.lru_cache(maxsize=4096)
def _eulerian_coin(rate: Real, size: int, one_sided: bool, m: int) -> Coin:
    """The coin Pr[more than m | at least m] of the Eulerian part."""
    weights: list[tuple[Weight, Any]] = [
        (exp_minus(rate * (i - m)), number) for i, number in enumerate(_eulerian(size, one_sided)) if i >= m
    ]
    return Coin(weighted_sum(weights[1:]) / weighted_sum(weights))
