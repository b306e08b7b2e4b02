# SPDX-License-Identifier: Apache-2.0
"""The one noise law on the line: the directed geometric, sampled exactly.

P(k) = c·e^{−up·k} for k ≥ 0 and c·e^{−down·|k|} for k < 0: upward noise has rate ``up``, downward noise rate ``down``,
either may be ∞. It is the difference of two independent geometric variables of rates ``up`` and ``down`` (T. Kozubowski
and S. Inusah, *A skew Laplace distribution on integers*, 2006). up = down is the two-sided geometric law of Ghosh,
Roughgarden and Sundararajan (*Universally utility-maximizing privacy mechanisms*, 2009); down = ∞ is the noise of AGeo
(ADP Def. VIII.1), which never falls below the truth.

Machine-checked (docs/proved.md): `noise_sums_to_1`, `difference_of_draws`, `drawn_is_one_sided`, `digits_independent`,
`digit_odds`, `counted_is_one_sided`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._arrays import given_array, vanishing
from leeward.errors import NoiseError
from leeward.exact._real import Exact, Real, inf, integer, positive, whole_of
from leeward.exact._weight import Weight, exp_minus
from leeward.noise._bernoulli import WIDTH, compare, settle
from leeward.noise._bits import Bits
from leeward.noise._by_tail import within
from leeward.noise._digits import floor_digits
from leeward.noise._saturating import MOST

LEAST_RATE: Final = Fraction(1, 2**50)
"""The smallest rate sampled: below it the noise does not fit in 64 bits."""

_TAIL_FROM: Final = 45  # e^-45 < 2^-64: the word of the tail decides almost nothing, and costs what a digit costs
_WORDS_AT_ONCE: Final = 1 << 18  # a megabyte: stays in the second-level cache


class BinaryDigits:
    """The geometric law P(k) = (1 − e^{−s})·e^{−sk}, k = 0, 1, 2, …, as independent binary digits.

    Digit j of k is 1 with probability 1/(1 + e^{s·2^j}), independently of the others, because e^{−sk} is a product over
    the digits (G. Marsaglia, *Random variables with independent binary digits*, 1971). The digits below J are drawn one
    word each; what is above them is geometric of rate s·2^J: one word says whether it is 0, and further coins of
    probability e^{−s·2^J} count on. The law is the same for every J; the least J with s·2^J ≥ ``tail_from`` is taken.
    So the work does not depend on the value drawn, but for chances below 2⁻³².

    Args:
        rate: s, at least 2⁻⁵⁰.
        tail_from: the least rate left to the tail.

    Raises:
        NoiseError: if the rate is below 2⁻⁵⁰.
        UndecidedError: if a digit of a probability is not settled at 4,096 bits.
    """

    def __init__(self, rate: Real, tail_from: int = _TAIL_FROM) -> None:
        _check(rate)
        self.count = next(j for j in range(64) if rate * 2**j >= tail_from)
        ones = [exp_minus(rate * 2**j) for j in range(self.count + 1)]
        self.probabilities: list[Weight] = [w / (1 + w) for w in ones[:-1]] + ones[-1:]
        floors = [floor_digits(p, WIDTH) for p in self.probabilities]
        self._floors = np.array(floors, np.uint32)[:, None]
        self._places = np.array([1 << j % 8 for j in range(self.count)], np.uint8)[:, None]

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return ``size`` independent draws; a draw above 2⁶³ − 1 is given as 2⁶³ − 1."""
        out = np.zeros(size, "<i8")
        rows = self.count + 1
        step = max(_WORDS_AT_ONCE // rows, 1)
        buffer = np.empty(rows * min(step, size), np.uint32)
        for start in range(0, size, step):
            part = out[start : start + step]
            words = buffer[: rows * part.size].reshape(rows, part.size)
            bits.fill(words)
            self._assemble(words, part, bits)
        return out.astype(np.int64, copy=False)

    def _assemble(self, words: NDArray[np.uint32], out: NDArray[np.int64], bits: Bits) -> None:
        """Turn one word for each digit (rows) of each draw (columns) into the draws."""
        n = out.size
        ones = compare(words, self._floors, None, lambda i: self.probabilities[i // n], bits)
        octets, digits = out.view(np.uint8).reshape(n, 8), ones[:-1].view(np.uint8)
        for octet, first in enumerate(range(0, self.count, 8)):
            group = digits[first : first + 8]
            np.multiply(group, self._places[first : first + 8], out=group)  # NumPy multiplies octets faster than shifts
            octets[:, octet] = np.bitwise_or.reduce(group, axis=0)
        if np.count_nonzero(ones[-1]):
            for i in np.flatnonzero(ones[-1]).tolist():
                out[i] = min(int(out[i]) + (self._tail(bits) << self.count), MOST)

    def _tail(self, bits: Bits) -> int:
        """Return a tail known not to be 0."""
        tail = 1
        while tail << self.count <= MOST and settle(self.probabilities[-1], bits.integer(WIDTH), WIDTH, bits):
            tail += 1
        return tail


def _check(rate: Real) -> Real:
    if rate < LEAST_RATE:
        raise NoiseError(
            f"Geometric noise of rate {rate}",
            "only rates from 2^-50 upwards are sampled, so that the noise fits in 64 bits",
            "Take a larger ε, or coarser units for the answer",
        )
    return rate


@functools.lru_cache(maxsize=256)
def _digits(rate: Real) -> BinaryDigits:
    return BinaryDigits(rate)


@dataclass(frozen=True)
class DirectedGeometric:
    """The law P(k) = c·e^{−up·k} for k ≥ 0, c·e^{−down·|k|} for k < 0, on the integers.

    With a = e^{−up} and b = e^{−down}: c = (1 − a)(1 − b)/(1 − ab). All formulas are those of Kozubowski and Inusah
    (2006), or follow by summing a geometric series. Rates are exact and above 0; ∞ leaves out that direction.

    Args:
        up: the rate of upward noise.
        down: the rate of downward noise.

    Raises:
        InexactError: for a float rate.
        InputError: for a rate that is not above 0.
        NoiseError: for a rate below 2⁻⁵⁰.
    """

    up: Real
    down: Real

    def __init__(self, up: Exact, down: Exact) -> None:
        for name, given in (("up", up), ("down", down)):
            object.__setattr__(self, name, _check(positive(given, name)))

    @classmethod
    def one_sided(cls, rate: Exact) -> DirectedGeometric:
        """Return the law P(k) = (1 − e^{−rate})·e^{−rate·k} on k = 0, 1, 2, …: noise that only adds."""
        return cls(rate, inf)

    def reverse(self) -> DirectedGeometric:
        """Return the law of −k."""
        return DirectedGeometric(self.down, self.up)

    # ---- drawing

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return ``size`` independent draws, exactly from the law; what 64 bits cannot hold stops at ±(2⁶³ − 1)."""
        if self.down.is_infinite:
            return _upward(self.up, size, bits)
        if self.up.is_infinite:
            return -_upward(self.down, size, bits)
        return _upward(self.up, size, bits) - _upward(self.down, size, bits)

    # ---- the law, exactly

    @functools.cached_property
    def _ab(self) -> tuple[Weight, Weight]:
        return exp_minus(self.up), exp_minus(self.down)

    @functools.cached_property
    def _shares(self) -> tuple[Weight, Weight]:
        """P(K ≥ 0) and P(K ≤ 0), of which powers of e^{−up} and e^{−down} are the tails."""
        a, b = self._ab
        return (1 - b) / (1 - a * b), (1 - a) / (1 - a * b)

    @functools.cached_property
    def _peak(self) -> Weight:
        a, b = self._ab
        return (1 - a) * (1 - b) / (1 - a * b)

    def pmf(self, k: int) -> Weight:
        """Return P(K = k)."""
        return self._peak * self._decay(integer(k, "k"))

    def cdf(self, k: int) -> Weight:
        """Return P(K ≤ k)."""
        k = integer(k, "k")
        if k >= 0:
            return 1 - self.tail(k + 1)
        return self._shares[1] * self._decay(k)

    def tail(self, k: int) -> Weight:
        """Return P(K ≥ k)."""
        k = integer(k, "k")
        if k < 0:
            return 1 - self.cdf(k - 1)
        return self._shares[0] * self._decay(k)

    def _decay(self, k: int) -> Weight:
        return exp_minus((self.up if k >= 0 else self.down) * abs(k))

    def quantile(self, p: Weight | Exact) -> int:
        """Return the least integer k with P(K ≤ k) ≥ p, for 0 < p < 1.

        Raises:
            InputError: if p is not strictly between 0 and 1.
        """
        p = within(p)
        k = self._near_quantile(p)
        while self.cdf(k) >= p:
            k -= 1
        while self.cdf(k) < p:
            k += 1
        return k

    def _near_quantile(self, p: Weight) -> int:
        """Invert the tail or the cdf by interval arithmetic, to within about one."""
        a, b = self._ab
        upper = self.cdf(-1) < p
        rate = self.up if upper else self.down
        share = (1 - p) * (1 - a * b) / (1 - b) if upper else p * (1 - a * b) / (1 - a)
        if rate.is_infinite:
            return 0
        with flint.ctx.workprec(192):
            distance = whole_of((-share.arb(192).log() / rate.arb(192)).mid().ceil())
        return distance if upper else -distance

    def mean(self) -> Weight:
        """Return E K = a/(1 − a) − b/(1 − b)."""
        a, b = self._ab
        return a / (1 - a) - b / (1 - b)

    def variance(self) -> Weight:
        """Return Var K = a/(1 − a)² + b/(1 − b)², the sum of the variances of the two geometric variables."""
        a, b = self._ab
        return a / (1 - a) ** 2 + b / (1 - b) ** 2

    def mean_absolute(self) -> Weight:
        """Return E|K| = c·(a/(1 − a)² + b/(1 − b)²), with c = P(K = 0)."""
        return self.pmf(0) * self.variance()

    # ---- for plots

    @vanishing
    def pmf_array(self, k: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return P(K = k) as floats, for plots and tables; never compare these with a promise."""
        k = given_array(k, np.float64)
        up, down = float(self.up), float(self.down)
        with np.errstate(invalid="ignore"):  # ∞·0 at k = 0, replaced
            decay = np.where(k > 0, -up * k, np.where(k < 0, down * k, 0.0))
        scale = math.expm1(-up) * math.expm1(-down) / -math.expm1(-up - down)
        return scale * np.exp(decay)


def _upward(rate: Real, size: int, bits: Bits) -> NDArray[np.int64]:
    return np.zeros(size, np.int64) if rate.is_infinite else _digits(rate).sample(size, bits)
