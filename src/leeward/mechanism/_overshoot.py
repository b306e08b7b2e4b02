# SPDX-License-Identifier: Apache-2.0
"""By how much a bound on all who were at a place lies above them: two upward noises, and those left out elsewhere.

For independent geometric noises of rates a and b, with x = e^{−a} and y = e^{−b}, summing the geometric series gives

    P(sum ≥ m) = (y^{m+1}·(1 − x) − x^{m+1}·(1 − y)) / (y − x),    x^m·(1 + m·(1 − x)) where x = y,    m ≥ 0.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from leeward.exact._real import Real, inf, integer
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.noise._by_tail import ByTail


@dataclass(frozen=True)
class Overshoot(ByTail):
    """The law of G + H + d: G and H independent upward geometric noise, d a whole number that is known.

    Attributes:
        counted: the rate of the noise G on the number of people counted at a place.
        left_out: the rate of the noise H on D, the most people left out at any place.
        most: d, what D is taken to be. At a place where nobody was left out the bound is then too high by exactly this law;
            where some were, by less.
    """

    counted: Real
    left_out: Real
    most: int = 0

    @property
    def up(self) -> Real:
        """The rate at which large values get rarer: the smaller of the two."""
        return min(self.counted, self.left_out)

    @property
    def down(self) -> Real:
        """∞: neither noise is ever below 0."""
        return inf

    @functools.cached_property
    def _xy(self) -> tuple[Weight, Weight]:
        return exp_minus(self.counted), exp_minus(self.left_out)

    def tail(self, k: int) -> Weight:
        """Return P(value ≥ k)."""
        m = integer(k, "k") - self.most
        if m <= 0:
            return weight(1)
        (x, y), more = self._xy, m + 1
        if self.counted == self.left_out:
            return exp_minus(self.counted * m) * (1 + m * (1 - x))
        top = exp_minus(self.left_out * more) * (1 - x) - exp_minus(self.counted * more) * (1 - y)
        return top / (y - x)

    def mean(self) -> Weight:
        """Return its mean: x/(1 − x) + y/(1 − y) + d."""
        x, y = self._xy
        return x / (1 - x) + y / (1 - y) + self.most

    def mean_absolute(self) -> Weight:
        """Return its mean: it is never below 0."""
        return self.mean()
