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

How good the name is. With n options, let q = e^{−rate·(k + 1)}. Whatever the counts are, the option named first is more than
k below the largest count with probability at most

    1 − ∫₀¹ (1 − q·u)^{n−1} du = 1 − (1 − (1 − q)ⁿ)/(n·q) < (n − 1)·q/2,

and with one largest count and all others k + 1 below it with just this probability. Proof: let every option arrive at a
time u of its own, uniform between 0 and 1, and let the one that is accepted and arrives first be named. The bad ones are
those more than k below. Taking out a good one that is not the largest, making it bad, and accepting bad ones more often each
only bring the first arrival of a bad one forward against that of a good one. In the end one option is certainly accepted, at
a time u, and n − 1 are bad, each accepted before u with probability q·u.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._integers import least
from leeward._plain import echo
from leeward._taught import taught
from leeward.distance import Derived
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, finite, outward, plainly, whole
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.noise import Bits, FirstAccepted, SystemBits, flip_minus, uniform_below
from leeward.noise._first_accepted import exponents

_BITS = 56
"""Of a chance: as many as are told of a float, and a few more."""


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
        return flip_minus(exponents(self.rate, gaps), lambda i: exp_minus(self.rate * int(gaps[i])), bits)

    def chance_below(self, options: int, gap: int) -> float:
        """Return the largest chance, over all counts, that the option named first is more than ``gap`` below the largest.

        The formula above, as a bound: rounded up, by less than one part in 10¹⁵.

        Args:
            options: n, how many there are.
            gap: k, at least 0.

        Raises:
            InputError: if there is no option, or the gap is below 0.
        """
        n, k = whole(options, "options"), whole(gap, "gap", 0, says="it is not a number of people")
        if n == 1:
            return 0.0
        for precision in (96, 192, 384, 768):
            with flint.ctx.workprec(precision):
                exponent = -(self.rate * (k + 1)).arb(precision)
                q = exponent.exp()
                # a chance that cannot be told from 0 in so many bits is below its linear bound
                chance = 1 + (n * (-q).log1p()).expm1() / (n * q)
                linear = (n - 1) * q / 2
                if chance.is_finite() and chance.rel_accuracy_bits() >= _BITS:
                    return min(outward(chance)[1], 1.0)
        return min(outward(linear)[1], 1.0)

    def within(self, options: int, chance: Exact = "0.95") -> int:
        """Return the least k such that, whatever the counts, the option named first is at most k below the largest count.

        Args:
            options: how many there are.
            chance: with which probability that holds at least, below 1.

        Raises:
            InputError: if there is no option, or the chance is not a rational of at least 0 and below 1.
        """
        asked = exact(chance).rational
        if asked is None or not 0 <= asked < 1:
            raise InputError(f"chance = {echo(chance)}", "it is not a probability below 1", 'Give, say, "0.95"')
        whole(options, "options")

        def kept(k: int) -> bool:
            return Fraction(self.chance_below(options, k)) <= 1 - asked

        return least(kept)

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
        """Pr[i] of each option left: that of one run of a single point with the loss that it has."""
        chances = FirstAccepted(self.rate).pmf([-count for count in counts.values()], [1] * len(counts))
        return dict(zip(counts, chances, strict=True))

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1 or shape[0] < self.how_many:
            raise InputError(
                f"Counts of shape {shape}",
                f"{self.how_many:,} of the options are named, and each has one count",
                "Give one row with a count for each option",
            )
