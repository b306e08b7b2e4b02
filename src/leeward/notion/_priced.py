# SPDX-License-Identifier: Apache-2.0
"""A price with what it rests on: the least multiple of another notion that covers a release, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace

from leeward.exact._real import Real, inf


@dataclass(frozen=True)
class Price:
    """A price, and what it rests on.

    Attributes:
        cost: the least c with d ≤ c·d', or an upper bound of it; ∞ where there is none, or none was derived.
        because: why it is ∞; empty if it is not.
        least: whether it is known to be the least: no smaller c covers.
        unpromised: whether it is ∞ because the release promises nothing where the budget protects.
    """

    cost: Real
    because: str = ""
    least: bool = True
    unpromised: bool = False

    def times(self, factor: int) -> Price:
        """Return the price of so many."""
        return replace(self, cost=self.cost * factor)


def refused(because: str) -> Price:
    """Return the price of what is not derived."""
    return Price(inf, because, least=False)


def dearest(found: list[Price]) -> Price:
    """Return the price that covers several things at once: the largest, and the first ∞ there is."""
    without = [p for p in found if p.cost.is_infinite]
    if without:
        return next((p for p in without if p.least), without[0])
    largest = max(p.cost for p in found)
    return Price(largest, least=any(p.least and p.cost == largest for p in found))
