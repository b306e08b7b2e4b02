# SPDX-License-Identifier: Apache-2.0
"""Which count is the largest: report noisy max with one-sided noise, drawn as permute-and-flip, exact.

Every option gets exponential noise of one rate on its count, and the option with the largest sum is named. The same law,
without real numbers (Z. Ding, D. Kifer, S. M. N. Saghaian, T. Steinke, Y. Wang, Y. Xiao and D. Zhang, *The
Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with Exponential Noise*, 2021): each option is accepted with
probability e^{−rate·(largest count − its count)}, and one of the accepted is named, each alike (R. McKenna and D. Sheldon,
*Permute-and-Flip*, 2020). With p_j for those probabilities,

    Pr[i] = p_i · ∫₀¹ Π_{j ≠ i} (1 − p_j·u) du.

Theorem. Let a step move the counts by δ. Then Pr[i] changes by a factor of at most e^{rate·(max δ − min δ)}: i is named iff
its own noise exceeds max_{j ≠ i} (count_j + noise_j) − count_i, the step raises that by at most max δ − min δ whatever the
noise of the others, and an exponential exceeds x + t with at least e^{−rate·t} times its chance of exceeding x. So where the
counts move one way along each step, by at most 1, the rate is ε, however many of them move; where one may rise while another
falls it is ε/2. The usual proofs for DP know the two cases as monotonic and general; a notion with a direction is always of
the first kind.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._taught import taught
from leeward.distance import Derived
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, finite, plainly, whole
from leeward.exact._weight import Weight, exp_minus, weight, weighted_sum
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.noise import Bits, SystemBits, flip_minus, uniform_below


@taught
class NoisyMax:
    """Names the options whose counts are the largest, as far as exponential noise lets it; no count is published.

    Args:
        rate: of the noise: what a step costs in which one count rises above another by 1. `leeward.query.rate_between`
            derives it from a notion and a query.
        how_many: options named, one after the other, none twice; each costs the same.

    Raises:
        InputError: if the rate is not positive and finite, or ``how_many`` is below 1.
    """

    def __init__(self, rate: Exact, *, how_many: int = 1) -> None:
        self.rate, self.how_many = finite(rate, "rate"), whole(how_many, "how_many")

    def __repr__(self) -> str:
        return f'NoisyMax("{self.rate}", how_many={self.how_many})'

    @property
    def distance(self) -> Derived[tuple[int, ...]]:
        """What it is private for, between two rows of counts: ``how_many·rate·(max δ − min δ)``, δ their difference."""
        rate = self.rate * self.how_many

        def spread(x: tuple[int, ...], y: tuple[int, ...]) -> Real:
            self._check((len(x),))
            self._check((len(y),))
            if len(x) != len(y):
                raise InputError("Rows of different lengths", "each option has a count in both", "Give equal rows")
            moves: list[int] = [plainly(b) - plainly(a) for a, b in zip(x, y, strict=True)]
            return rate * (max(moves) - min(moves))

        return Derived(f"{rate}·(max δ − min δ)", spread)

    def release(self, counts: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return the positions of the options named, shape (how_many,), in the order in which they were drawn.

        Args:
            counts: one integer an option, shape (n,), n ≥ how_many.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.

        Raises:
            InputError: if they are not a row of integers, or fewer than are to be named.
        """
        truth, bits = integers(counts), bits or SystemBits()
        self._check(truth.shape)
        left, named = np.arange(truth.size), np.empty(self.how_many, np.int64)
        for turn in range(self.how_many):
            here = truth[left]
            accepted = np.flatnonzero(self._accept(here.max().astype(np.uint64) - here.astype(np.uint64), bits))
            one = accepted[uniform_below(accepted.size, 1, bits)[0]]
            named[turn], left = left[one], np.delete(left, one)
        return named

    def _accept(self, gaps: NDArray[np.uint64], bits: Bits) -> NDArray[np.bool_]:
        """Flip the coin e^{−rate·gap} of each option."""
        exponents = self.rate.bounds()[1] * gaps.astype(np.float64)
        return flip_minus(exponents, lambda i: exp_minus(self.rate * int(gaps[i])), bits)

    def on(self, vectors: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given rows of counts (all of one length); outputs are tuples of positions."""
        vectors = tuple(tuple(map(plainly, vector)) for vector in vectors)
        for vector in vectors:
            self._check((len(vector),))
        if len({len(vector) for vector in vectors}) > 1:
            raise InputError("Rows of different lengths", "each option has a count in all", "Give equal rows")
        return FiniteMechanism.from_rows({vector: self._row(vector) for vector in vectors})

    def _row(self, counts: tuple[int, ...]) -> dict[tuple[int, ...], Weight]:
        named: dict[tuple[int, ...], Weight] = {(): weight(1)}
        for _ in range(self.how_many):
            named = {
                (*before, i): p * chance
                for before, p in named.items()
                for i, chance in self._first({i: c for i, c in enumerate(counts) if i not in before}).items()
            }
        return named

    def _first(self, counts: dict[int, int]) -> dict[int, Weight]:
        """Pr[i] of each option left: the polynomial in u, integrated."""
        largest = max(counts.values())
        accepted = {i: exp_minus(self.rate * (largest - c)) for i, c in counts.items()}
        chance = {}
        for i, p in accepted.items():
            polynomial = [p]
            for q in (q for j, q in accepted.items() if j != i):
                polynomial = [
                    a - q * b for a, b in zip([*polynomial, weight(0)], [weight(0), *polynomial], strict=True)
                ]
            chance[i] = weighted_sum((c / (power + 1), 1) for power, c in enumerate(polynomial))
        return chance

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1 or shape[0] < self.how_many:
            raise InputError(
                f"Counts of shape {shape}",
                f"{self.how_many:,} of the options are named, and each has one count",
                "Give one row with a count for each option",
            )
