# SPDX-License-Identifier: Apache-2.0
"""Several looks at one count as one noise law: by how much noise lets the count seem larger than it is at any of them.

A count c is published iff at some look j its noise exceeds t + g_j − c, so iff max_j (noise_j − g_j) exceeds t − c. This
maximum is a noise law like any other where *safe* is decided: its distribution function is the product of theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from leeward.exact._real import Real, inf, integer
from leeward.exact._weight import Weight, weight
from leeward.noise import DirectedGeometric
from leeward.noise._by_tail import ByTail


@dataclass(frozen=True)
class LargestLook(ByTail):
    """The law of max_j (noise_j − g_j), for upward noise of rising rates and margins of which the last is 0.

    Attributes:
        laws: the noise of each look.
        margins: g_j of each.
    """

    laws: tuple[DirectedGeometric, ...]
    margins: tuple[int, ...]

    @property
    def up(self) -> Real:
        """The rate at which large values get rarer: that of the look with the most noise."""
        return self.laws[0].up

    @property
    def down(self) -> Real:
        """∞: the last look has no margin and its noise is never below 0, so neither is the maximum."""
        return inf

    def tail(self, k: int) -> Weight:
        """Return P(maximum ≥ k)."""
        k = integer(k, "k") - 1
        below = (law.cdf(k + margin) for law, margin in zip(self.laws, self.margins, strict=True))
        return 1 - math.prod(below, start=weight(1))

    def published(self, k: int) -> tuple[Weight, ...]:
        """Return for each look how likely it is the first to exceed k + its margin."""
        found, none_before = [], weight(1)
        for law, margin in zip(self.laws, self.margins, strict=True):
            found.append(none_before * law.tail(k + margin + 1))
            none_before = none_before * law.cdf(k + margin)
        return tuple(found)
