# SPDX-License-Identifier: Apache-2.0
"""Geometric noise that is cut off: P(k) ∝ e^{−rate·|k|} for whole numbers k of at most ``reach``, and nothing beyond.

On k = 0, …, N (``both_ways`` false) or k = −N, …, N. It is no law of a pure promise: next to its end a ratio is infinite.
That happens with the probability of its end alone, which is the δ of `leeward.mechanism.UnknownKeys`. (Both ways it is the
k-truncated symmetric geometric law of D. Desfontaines, J. Voss, B. Gipson and C. Mandayam, *Differentially private partition
selection*, 2022.)

It is drawn exactly. The geometric law cut off below 2^m, with N < 2^m ≤ 2N + 1, has m independent binary digits, digit j
being 1 with probability 1/(1 + e^{rate·2^j}) (`leeward.noise._geometric`); a draw above N is drawn again. The law falls, so
the N + 1 values that are kept, which are more than half of the 2^m, have at least half of its probability. Both ways, a fair
coin gives the sign, and a draw of −0 is drawn again, sign and all: of the others each k has the right weight, and 0 one and
not two. How often something is drawn again tells nothing of what is kept.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward.errors import NoiseError
from leeward.exact._real import Exact, Real, finite, integer, whole
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.noise._bernoulli import WIDTH, compare
from leeward.noise._bits import Bits
from leeward.noise._by_tail import ByTail
from leeward.noise._digits import floor_digits

LONGEST_REACH: Final = 2**40
"""The farthest that noise is cut off: sums with counts stay far below 64 bits."""

_WORDS_AT_ONCE: Final = 1 << 18


@dataclass(frozen=True)
class CutGeometric(ByTail):
    """The law P(k) ∝ e^{−rate·|k|} on 0, …, reach, or on −reach, …, reach.

    Args:
        rate: above 0 and finite.
        reach: N, the greatest value, from 0 to 2⁴⁰.
        both_ways: whether noise may be negative too.

    Raises:
        InexactError: for a float rate.
        InputError: for a rate that is not positive and finite, or a reach that is not a whole number of at least 0.
        NoiseError: for a reach above 2⁴⁰.
    """

    rate: Real
    reach: int
    both_ways: bool

    def __init__(self, rate: Exact, reach: int, *, both_ways: bool = False) -> None:
        object.__setattr__(self, "rate", finite(rate, "rate"))
        object.__setattr__(self, "reach", whole(reach, "reach", 0, says="noise goes so far and no farther"))
        object.__setattr__(self, "both_ways", both_ways)
        if self.reach > LONGEST_REACH:
            raise NoiseError(
                f"Noise of up to {self.reach:,}", "counts with it may not fit in 64 bits", "Take a larger ε or δ"
            )

    # ---- the law, exactly

    @functools.cached_property
    def end(self) -> Weight:
        """P(K = reach): the least probability of a value that occurs."""
        return exp_minus(self.rate * self.reach) / self._weight

    @functools.cached_property
    def _weight(self) -> Weight:
        """Σ e^{−rate·|k|} over all values."""
        q = exp_minus(self.rate)
        up = (1 - exp_minus(self.rate * (self.reach + 1))) / (1 - q)
        return 2 * up - 1 if self.both_ways else up

    def pmf(self, k: int) -> Weight:
        """Return P(K = k)."""
        k = integer(k, "k")
        if not (-self.reach if self.both_ways else 0) <= k <= self.reach:
            return weight(0)
        return exp_minus(self.rate * abs(k)) / self._weight

    def tail(self, k: int) -> Weight:
        """Return P(K ≥ k)."""
        k = integer(k, "k")
        if k > self.reach:
            return weight(0)
        if k <= 0:
            return 1 - self.tail(1 - k) if self.both_ways else weight(1)
        decay = exp_minus(self.rate * k) - exp_minus(self.rate * (self.reach + 1))
        return decay / ((1 - exp_minus(self.rate)) * self._weight)

    def mean_absolute(self) -> Weight:
        """Return E|K|."""
        q, n = exp_minus(self.rate), self.reach
        up = q * (1 - (n + 1) * exp_minus(self.rate * n) + n * exp_minus(self.rate * (n + 1))) / ((1 - q) * (1 - q))
        return (2 * up if self.both_ways else up) / self._weight

    # ---- drawing

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return ``size`` independent draws, exactly from the law."""
        out = np.empty(size, np.int64)
        missing = np.arange(size)
        while missing.size:
            drawn = self._magnitudes(missing.size, bits)
            keep = drawn <= self.reach
            if self.both_ways:
                negative = (bits.words(missing.size) & np.uint64(1)).astype(bool)
                keep &= ~(negative & (drawn == 0))
                drawn = np.where(negative, -drawn, drawn)
            out[missing[keep]] = drawn[keep]
            missing = missing[~keep]
        return out

    @functools.cached_property
    def _digits(self) -> tuple[list[Weight], NDArray[np.uint32]]:
        ones = [exp_minus(self.rate * 2**j) for j in range(self.reach.bit_length())]
        chances = [one / (1 + one) for one in ones]
        return chances, np.array([floor_digits(p, WIDTH) for p in chances], np.uint32)[:, None]

    def _magnitudes(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return draws of the geometric law cut off at the next power of two."""
        chances, floors = self._digits
        out = np.zeros(size, np.int64)
        step = max(_WORDS_AT_ONCE // max(len(chances), 1), 1)
        for start in range(0, size if chances else 0, step):
            part = out[start : start + step]
            words = np.empty((len(chances), part.size), np.uint32)
            bits.fill(words)
            ones = compare(words, floors, None, functools.partial(_chance, chances, part.size), bits)
            for j, digit in enumerate(ones):
                part |= digit.astype(np.int64) << j
        return out


def _chance(chances: list[Weight], draws: int, place: int) -> Weight:
    """Return the probability of the digit that stands at a place of rows of draws."""
    return chances[place // draws]
