"""Decisions from noisy counts: which outputs may be called *safe*, and how often the truth is.

The proposition is "the count is at most t" (Takagi et al., ADP, Definition II.5). A sanitizer calls an output z *safe* iff
``z ≤ t'``. Where noise is never negative, t' = t and *safe* is never wrong: the error is one-sided (Definition II.6 with
α = 0), and ``Pr[safe | c] = 1 − e^{−b(t+1−c)}`` for c ≤ t, which no mechanism for one count betters. Where noise can be
negative, t' is lowered until ``Pr[safe | t+1] ≤ α``; it may be negative, so decisions are taken on unclamped integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, NotShelteredError
from leeward.exponential import Weight, weight
from leeward.noise import DirectedGeometric
from leeward.real import Exact, exact


@dataclass(frozen=True)
class Sanitizer:
    """Calls an unclamped noisy count z *safe* iff ``z ≤ threshold``.

    Build it with `sanitizer`.

    Attributes:
        at_most: t, what *safe* means: at most t people.
        threshold: t', the largest noisy count that is called safe.
        law: the noise on one count.
        error_at_most: the α asked for; None where the promise is "never wrong".
    """

    at_most: int
    threshold: int
    law: DirectedGeometric
    error_at_most: Fraction | None

    def safe(self, noisy: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which noisy counts are called safe; the same shape."""
        return noisy <= self.threshold

    def probability_safe(self, count: int) -> Weight:
        """Return Pr[safe | true count], exactly."""
        return self.law.cdf(self.threshold - count)

    @property
    def never_wrong(self) -> bool:
        """Whether *safe* is never said of more than ``at_most`` people."""
        return self.error_at_most is None

    @property
    def error(self) -> Weight:
        """The largest Pr[safe | unsafe]: attained at t + 1, 0 where never wrong."""
        return self.probability_safe(self.at_most + 1)

    def decision_curve(self, counts: Iterable[int] | None = None) -> dict[int, Weight]:
        """Return Pr[safe | c] for each true count c (by default 0 to t + 5)."""
        return {c: self.probability_safe(c) for c in (range(self.at_most + 6) if counts is None else counts)}


def sanitizer(law: DirectedGeometric, at_most: int, error_at_most: Exact | None = None) -> Sanitizer:
    """Return the best threshold sanitizer for "the count is at most t" under this noise.

    Args:
        law: the noise on one count.
        at_most: t ≥ 0.
        error_at_most: α, the largest Pr[safe | unsafe] for one count; needed iff noise can be negative.

    Raises:
        InputError: if t is negative or α is not in (0, 1), or if α is given where *safe* is never wrong.
        NotShelteredError: if α is missing where noise can be negative.
    """
    if at_most < 0:
        raise InputError(f"safe_at_most = {at_most}", "a count is never below 0", "Give at least 0")
    if law.down.is_infinite:
        if error_at_most is not None:
            raise InputError(
                f"error_at_most = {error_at_most}",
                "under this notion noise never lowers a count, so 'safe' is never wrong and no error is granted",
                "Leave error_at_most out",
            )
        return Sanitizer(at_most, at_most, law, None)
    if error_at_most is None:
        raise NotShelteredError(
            f"safe_at_most = {at_most} without error_at_most",
            "under this notion a count can be under-reported, so 'safe' cannot be promised never to be wrong",
            "Give error_at_most = \"1e-4\" (the largest probability of a wrong 'safe' for one place), or choose a notion"
            ' whose steps only lower counts: "presence" or "addition-only"',
        )
    alpha = exact(error_at_most).rational
    if alpha is None or not 0 < alpha < 1:
        raise InputError(
            f"error_at_most = {error_at_most}", "it is no probability between 0 and 1", 'Give, say, "1e-4"'
        )
    below = law.quantile(alpha)  # the smallest k with P(noise ≤ k) ≥ α
    if law.cdf(below) > weight(alpha):
        below -= 1
    return Sanitizer(at_most, at_most + 1 + below, law, alpha)
