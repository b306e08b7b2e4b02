# SPDX-License-Identifier: Apache-2.0
"""The least rate at which a count is called *safe* often enough, where *safe* may be wrong with probability α.

At scale c the noise K_c has rates c·up and c·down. *Safe* is said up to the threshold that α allows: with
``k(c) = max {k : P(K_c ≤ k) ≤ α}`` a count that is g below unsafe is called safe with probability ``P(K_c ≤ k(c) + g)``.
A larger c is *not* always better: while k(c) stands still that probability may fall, and only where k(c) moves does it jump.

**What is exact.** ``P(K_c ≤ j)`` falls in c for j < 0 and rises for j ≥ 0. (The logarithm of the tail of a side of rate u
from m ≥ 1 on, the other rate being a, changes at the rate h(a) − h(u + a) − u·m with ``h(x) = x/(e^{cx} − 1)``; and
0 ≤ −h' ≤ 1/2.) Hence:

1. k(c) moves one way only, towards −1. So stretches of equal k(c) are found by halving. On one of them the wish is met from
   some multiple on if k + g ≥ 0, which halving finds too, and otherwise at its first multiple if anywhere.
2. If p ≤ α the wish is always met, because ``P(K_c ≤ k(c) + 1) > α``. Otherwise a shift by g changes probabilities by a
   factor of at most e^{c·down·g}, and those of complements by at most e^{c·up·g}. So ``c ≥ ln(p/α)/(g·down)`` and
   ``c ≥ ln((1 − α)/(1 − p))/(g·up)``, and stretches before that need no look.
3. Where k(c) < 0 ≤ k(c) + g, which then stays so, ``P(K_c ≤ k) = A(c)·e^{c·down·k} ≤ α`` and
   ``P(K_c > k + g) = B(c)·e^{−c·up·(k + g + 1)} ≤ 1 − p`` together give
   ``c·(g + 1) ≥ ln(B(c)/(1 − p))/up + ln(A(c)/α)/down``, where A and B grow with c: stretches
   before that need no look either.

The others are gone through in order, so the first multiple that meets the wish is the least. There are few of them, unless
p is hardly above α. Comparisons are made in floats; what these do not settle beyond doubt is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from leeward._integers import least_between
from leeward.distance import Line
from leeward.errors import LowUtilityError
from leeward.exact._weight import Weight, log
from leeward.noise import DirectedGeometric
from leeward.noise._geometric import LEAST_RATE

_CLOSE = 1e-9
"""Logarithms further apart than this are ordered rightly by floats: their error is a thousand times less."""

_SLACK = 1e-12
"""What is taken off bounds that are computed in floats, of their size."""

MOST_STRETCHES = 20_000
"""The most stretches that are gone through: seconds."""


@dataclass(frozen=True)
class SafeWish:
    """A count g below unsafe shall be called safe with probability p, and an unsafe one with α at most.

    Attributes:
        line: the rates at scale 1; ``rise``, the rate of downward noise, is finite.
        gap: g ≥ 1.
        chance: p, between 0 and 1.
        error: α, between 0 and 1.
        step: multiples of it are tried.
        most: the largest multiple.
    """

    line: Line
    gap: int
    chance: Weight
    error: Weight
    step: Fraction
    most: int

    def least(self) -> int:
        """Return the least i ≥ 1 for which the scale i·step meets the wish.

        Raises:
            LowUtilityError: if none up to ``most`` does, or too many stretches would have to be gone through.
        """
        i = self._first()
        for _ in range(MOST_STRETCHES):
            if i > self.most:
                raise LowUtilityError(
                    "That accuracy", "no rate that noise can have reaches it", "Ask for a little less"
                )
            below = self._below(i)
            if self._met(i, below):
                return i
            last = _last(lambda j: not self._moved(j, below), i, self.most)  # noqa: B023 - used at once
            if below + self.gap >= 0 and self._met(last, below):
                return _last(lambda j: not self._met(j, below), i, last) + 1  # noqa: B023
            i = self._crossing(last + 1) if below < 0 <= below + self.gap else last + 1
        raise LowUtilityError(
            f"A probability so little above error_at_most, {self.gap} people below the threshold",
            f"more than {MOST_STRETCHES:,} stretches of rates would have to be looked at to find the least",
            "Ask for a little more, or for no more than error_at_most",
        )

    def _first(self) -> int:
        """The least multiple that can be drawn, or that by which the wish may be met, if it is larger."""
        low = 0.0
        if self.chance > self.error:
            said, missed = _log(self.chance) - _log(self.error), _log(1 - self.error) - _log(1 - self.chance)
            low = max(said / float(self.line.rise), missed / float(self.line.fall)) / self.gap  # 1/∞ is 0
        slowest = min(self.line.rise, self.line.fall)
        drawn = _last(lambda j: slowest * self.step * (j - 1) < LEAST_RATE, 1, self.most)
        return max(drawn, math.floor(Fraction(low * (1 - _SLACK)) / self.step), 1)

    def _crossing(self, i: int) -> int:
        """The least multiple from i on by which the wish may be met, where k(c) < 0 ≤ k(c) + g from i on."""
        while True:
            up, down = self._rates(i)
            whole = _log_minus(up + down)
            over = (_log_minus(down) - whole - _log(1 - self.chance)) / up
            under = (_log_minus(up) - whole - _log(self.error)) / down
            steps = over + under - _SLACK * (abs(over) + abs(under))
            reached = math.floor(Fraction(steps) * i / (self.gap + 1))
            if reached <= i:
                return i
            i = reached

    def _below(self, i: int) -> int:
        """k(i·step): the largest k with P(K ≤ k) ≤ α."""
        up, down = self._rates(i)
        whole = _log_minus(up + down)
        k = -max(1, math.ceil((_log_minus(up) - whole - _log(self.error)) / down))
        if k == -1 and not math.isinf(up):
            k = max(math.floor((_log_minus(down) - whole - _log(1 - self.error)) / up) - 1, -1)
        while self._sign(i, k, self.error) > 0:
            k -= 1
        while self._sign(i, k + 1, self.error) <= 0:
            k += 1
        return k

    def _moved(self, i: int, below: int) -> bool:
        """Whether k(i·step) is another."""
        return self._sign(i, below, self.error) > 0 or self._sign(i, below + 1, self.error) <= 0

    def _met(self, i: int, below: int) -> bool:
        return self._sign(i, below + self.gap, self.chance) >= 0

    def _sign(self, i: int, k: int, bound: Weight) -> int:
        """The sign of P(K ≤ k) − bound at the multiple i."""
        up, down = self._rates(i)
        if k < 0:
            apart = _log_minus(up) - _log_minus(up + down) + down * k - _log(bound)
        elif math.isinf(up):
            return 1
        else:
            apart = _log(1 - bound) - _log_minus(down) + _log_minus(up + down) + up * (k + 1)
        if abs(apart) > _CLOSE:
            return 1 if apart > 0 else -1
        scale = self.step * i
        law = DirectedGeometric(up=self.line.fall * scale, down=self.line.rise * scale)
        return (law.cdf(k) - bound).sign()

    def _rates(self, i: int) -> tuple[float, float]:
        scale = float(self.step * i)
        return float(self.line.fall) * scale, float(self.line.rise) * scale


def _log(chance: Weight) -> float:
    return float(log(chance))


def _log_minus(rate: float) -> float:
    """ln(1 − e^{−rate})."""
    return math.log(-math.expm1(-rate))


def _last(holds: Callable[[int], bool], first: int, most: int) -> int:
    """Return the last number up to ``most`` for which something holds: for the first, and once ended never again."""
    low, reach = first, 1
    while low + reach <= most and holds(low + reach):
        low, reach = low + reach, 2 * reach
    high = min(low + reach, most + 1)  # does not hold, or is beyond
    return least_between(lambda number: not holds(number), low, high) - 1
