# SPDX-License-Identifier: Apache-2.0
"""The sparse vector technique of DP on integers with exact noise, correct: for comparison with `Sanitized`.

M. Lyu, D. Su and N. Li, *Understanding the Sparse Vector Technique for Differential Privacy* (2017), Algorithm 1: one noisy
threshold for the whole run, fresh noise on each count, stop after c answers above. Half of ε goes to the threshold and half
to the counts; what is published is only above or not, never a count. `Sanitized` needs no noise on its threshold, uses the
whole ε for the counts, publishes the exceeding count, and is never wrong when it says *safe* (ADP, Section V-B, Remark):
that is what a one-sided notion buys.

Noise on integers is two-sided geometric, for Laplace noise on the reals: the proof needs only that a shift by 1 changes a
probability by at most e^{rate}.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._taught import taught
from leeward.exact._real import Exact, Real, finite, plainly, whole
from leeward.exact._weight import Weight, exp_minus, weight, weighted_sum
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._sanitized import as_given, row_of_counts, whole_thresholds
from leeward.noise import Bits, DirectedGeometric, SystemBits, add_saturating

Pattern = tuple[str | None, ...]
"""One word a count: "below", "above", or None after the stop."""


@dataclass(frozen=True)
class SparseVectorResult:
    """What the sparse vector technique says, count by count.

    Attributes:
        answered: whether this count was reached before the stop.
        above: whether it was said to be above; False where not answered.
    """

    answered: NDArray[np.bool_]
    above: NDArray[np.bool_]


@taught
class SparseVector:
    """Says of each count whether it is above its threshold, ε in all, until ``stop_after`` were above.

    Args:
        epsilon: ε of the DP notion, for the whole run.
        at_most: the threshold t, one for all counts or one for each; "above" is about counts over t.
        stop_after: c.
        monotonic: whether all counts move the same way along each step (true of counts under unbounded DP), which halves
            the noise on counts (Lyu, Su and Li, Section 4.3).

    Raises:
        InputError: if ``stop_after`` is below 1 or ε is infinite.
    """

    def __init__(
        self, epsilon: Exact, *, at_most: int | Sequence[int], stop_after: int = 1, monotonic: bool = False
    ) -> None:
        number = finite(epsilon, "epsilon")
        stop_after = whole(stop_after, "stop_after")
        self._thresholds = whole_thresholds(at_most)
        self.epsilon, self.at_most = number, as_given(at_most, self._thresholds)
        self.stop_after, self.monotonic = stop_after, monotonic
        rate = number / (2 * stop_after) / (1 if monotonic else 2)
        self.threshold_law = DirectedGeometric(number / 2, number / 2)
        self.count_law = DirectedGeometric(rate, rate)

    def __repr__(self) -> str:
        more = f"stop_after={self.stop_after}, monotonic={self.monotonic}"
        return f'SparseVector("{self.epsilon}", at_most={self.at_most!r}, {more})'

    @property
    def price(self) -> Real:
        """ε: what one run costs."""
        return self.epsilon

    def release(self, counts: ArrayLike, bits: Bits | None = None) -> SparseVectorResult:
        """Answer the counts (integers of shape (n,), in the public order).

        Raises:
            InputError: if they are not a row of integers, or thresholds were given for another number of counts.
        """
        truth, bits = row_of_counts(counts, self._thresholds), bits or SystemBits()
        moved = add_saturating(truth, self.count_law.sample(truth.size, bits))
        threshold = np.broadcast_to(self.threshold_law.sample(1, bits), truth.shape)
        above = moved > add_saturating(np.broadcast_to(self._thresholds, truth.shape), threshold)
        before: NDArray[np.int64] = np.cumsum(above) - above
        answered: NDArray[np.bool_] = np.less(before, self.stop_after)
        return SparseVectorResult(answered, answered & above)

    def on(self, vectors: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given vectors of counts (all of one length): one output a `Pattern`."""
        vectors = tuple(tuple(map(plainly, vector)) for vector in vectors)
        thresholds = np.broadcast_to(self._thresholds, (len(vectors[0]),)).tolist()
        outputs = patterns(len(thresholds), self.stop_after)
        rows = [
            [
                pattern_probability(
                    self.threshold_law, self.count_law, [t - c for c, t in zip(v, thresholds, strict=True)], z
                )
                for z in outputs
            ]
            for v in vectors
        ]
        return FiniteMechanism(vectors, outputs, rows)


def patterns(counts: int, stop_after: int) -> list[Pattern]:
    """Return everything that can be said of so many counts."""
    found: dict[Pattern, None] = {}
    for words in itertools.product(("below", "above"), repeat=counts):
        before = [words[:i].count("above") for i in range(counts)]
        found[tuple(w if n < stop_after else None for w, n in zip(words, before, strict=True))] = None
    return list(found)


def pattern_probability(
    threshold: DirectedGeometric, count: DirectedGeometric, gaps: Sequence[int], pattern: Pattern
) -> Weight:
    """Return the exact probability of a pattern: Σ_ρ P(ρ)·Π_i P(count i is below, or above, its gap + ρ).

    For ρ beyond all gaps each factor is ``1 − A·x^ρ`` or ``A·x^ρ`` with x = e^{−rate}: expanded, the sums are geometric.

    Args:
        threshold: the law of the noise ρ on all thresholds; two-sided.
        count: the law of the noise on each count; two-sided, its rates equal.
        gaps: t_i − c_i.
        pattern: what is said.
    """
    said = [(gap, word == "above") for gap, word in zip(gaps, pattern, strict=True) if word is not None]
    low = min([-gap for gap, _ in said] + [0]) - 1
    high = max([-gap for gap, _ in said] + [0]) + 1
    terms = []
    for rho in range(low, high + 1):
        term = threshold.pmf(rho)
        for gap, above in said:
            term *= count.tail(gap + rho + 1) if above else count.cdf(gap + rho)
        terms.append(term)
    terms += _side(threshold, count, said, high + 1)
    terms += _side(threshold.reverse(), count, [(-gap - 1, not above) for gap, above in said], 1 - low)
    return weighted_sum((term, 1) for term in terms)


def _side(
    threshold: DirectedGeometric, count: DirectedGeometric, said: Sequence[tuple[int, bool]], first: int
) -> list[Weight]:
    """Sum over ρ ≥ first > 0, where every gap + ρ ≥ 0: P(noise > gap + ρ) = A·x^(gap + ρ + 1)."""
    share = count.tail(0)
    polynomial = [weight(1)]  # in x^ρ
    for gap, above in said:
        factor = share * exp_minus(count.up * (gap + 1))
        constant, slope = (weight(0), factor) if above else (weight(1), -factor)
        longer = [constant * c for c in polynomial] + [weight(0)]
        for power, c in enumerate(polynomial):
            longer[power + 1] += slope * c
        polynomial = longer
    head = threshold.tail(0) * (1 - exp_minus(threshold.up))  # P(ρ) = head·e^{−up·ρ}
    rates = [threshold.up + count.up * power for power in range(len(polynomial))]
    return [
        c * head * exp_minus(rate * first) / (1 - exp_minus(rate)) for c, rate in zip(polynomial, rates, strict=True)
    ]
