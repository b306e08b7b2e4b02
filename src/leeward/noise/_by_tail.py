# SPDX-License-Identifier: Apache-2.0
"""A law of whole numbers that is known by its tail: all else that is asked of noise on one count follows."""

from __future__ import annotations

from abc import ABC, abstractmethod

from leeward._integers import least_between
from leeward.errors import InputError
from leeward.exact._real import Exact, integer
from leeward.exact._weight import Weight, weight


class ByTail(ABC):
    """A law of whole numbers."""

    @abstractmethod
    def tail(self, k: int) -> Weight:
        """Return P(K ≥ k)."""

    def cdf(self, k: int) -> Weight:
        """Return P(K ≤ k)."""
        return 1 - self.tail(integer(k, "k") + 1)

    def pmf(self, k: int) -> Weight:
        """Return P(K = k)."""
        k = integer(k, "k")
        return self.tail(k) - self.tail(k + 1)

    def quantile(self, p: Weight | Exact) -> int:
        """Return the least integer k with P(K ≤ k) ≥ p, for 0 < p < 1.

        Raises:
            InputError: if p is not strictly between 0 and 1.
        """
        p = within(p)
        low, high = -1, 1
        while self.cdf(high) < p:
            high *= 2
        while self.cdf(low) >= p:
            low *= 2
        return least_between(lambda k: self.cdf(k) >= p, low, high)


def within(p: Weight | Exact) -> Weight:
    """Return at which probability a quantile is asked for.

    Raises:
        InputError: if p is not strictly between 0 and 1.
    """
    p = weight(p)
    if not 0 < p < 1:
        raise InputError(f"The quantile at {float(p):.6g}", "p must lie strictly between 0 and 1", "Give such a p")
    return p
