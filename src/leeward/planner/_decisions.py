# SPDX-License-Identifier: Apache-2.0
"""Both decisions about one count at once: safe, obscure or dangerous, and how often the truth is called each.

*Safe* is about "at most t", *dangerous* about "at least T" with T > t (Takagi et al., ADP, Section II-B4). Both are read
off the same unclamped noisy count, so the second costs nothing. Each keeps its own promise: never wrong, or wrong with
probability at most α for one count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leeward._plain import echo
from leeward._taught import taught
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import Exact
from leeward.exact._weight import Weight, weight
from leeward.mechanism._threshold_rule import CountNoise, ThresholdRule, alarm, check_noise, sanitizer

State = Literal["safe", "obscure", "dangerous"]

STATES: tuple[State, ...] = ("safe", "obscure", "dangerous")
"""Every state, from the least noisy count to the greatest."""


class Chances(NamedTuple):
    """How often a count is called each state: exact, summing to 1."""

    safe: Weight
    obscure: Weight
    dangerous: Weight


@dataclass(frozen=True)
class Decisions:
    """What is said of each noisy count. Build it with `decisions`.

    Attributes:
        safe: the decision "at most t"; None if not asked for.
        dangerous: the decision "at least T"; None if not asked for.
    """

    safe: ThresholdRule | None
    dangerous: ThresholdRule | None

    def states(self, noisy: NDArray[np.int64], least: NDArray[np.int64] | None = None) -> NDArray[np.str_]:
        """Return "safe", "obscure" or "dangerous" for each unclamped noisy count; the same shape.

        With large α both thresholds may claim a value; then nothing is said of it, which keeps both promises.

        Args:
            noisy: what *safe* is read off.
            least: what *dangerous* is read off, nowhere above ``noisy``; by default the same.
        """
        low, high = self._edges
        nothing = np.zeros(np.shape(noisy), np.bool_)
        safe = nothing if low is None else np.less_equal(noisy, low)
        dangerous = nothing if high is None else np.greater_equal(noisy if least is None else least, high)
        return np.where(safe, STATES[0], np.where(dangerous, STATES[2], STATES[1]))

    def probabilities(self, count: int) -> Chances:
        """Return Pr[safe | c], Pr[obscure | c] and Pr[dangerous | c], exactly."""
        low, high = self._edges
        safe = weight(0) if self.safe is None or low is None else self.safe.law.cdf(low - count)
        dangerous = weight(0) if self.dangerous is None or high is None else self.dangerous.law.tail(high - count)
        return Chances(safe, 1 - safe - dangerous, dangerous)

    def curve(self, counts: Iterable[int] | None = None) -> dict[int, Chances]:
        """Return the chances of each state for each true count.

        By default those to 5 past the greater threshold, from 0, or from 500 below it.
        """
        if counts is None:
            ends = [self.safe.bound + 1 if self.safe else 0, self.dangerous.bound if self.dangerous else 0]
            counts = range(max(0, max(ends) - 500), max(ends) + 5)
        return {c: self.probabilities(c) for c in counts}

    @property
    def never_wrong(self) -> bool:
        """Whether nothing that is said is ever wrong."""
        return all(d is None or d.never_wrong for d in (self.safe, self.dangerous))

    @property
    def error_at_most(self) -> Fraction | None:
        """α: how often a decision about one count may be wrong; None where every decision is never wrong."""
        return next((d.error_at_most for d in (self.safe, self.dangerous) if d and d.error_at_most), None)

    @property
    def wrong_at_most(self) -> Fraction:
        """How often what is said of one count can be wrong: α, or 2α where one between t and T can get either wrong word."""
        errors = [d.error_at_most or Fraction(0) for d in (self.safe, self.dangerous) if d is not None]
        if self.safe is not None and self.dangerous is not None and self.dangerous.bound > self.safe.bound + 1:
            return sum(errors, start=Fraction(0))
        return max(errors)

    @property
    def _edges(self) -> tuple[int | None, int | None]:
        """The greatest noisy count called safe, and the least called dangerous."""
        low = None if self.safe is None else self.safe.threshold
        high = None if self.dangerous is None else self.dangerous.threshold
        if low is not None and high is not None and low >= high:
            low, high = high - 1, low + 1
        return low, high


def can_be_wrong(law: CountNoise, *, safe: bool, dangerous: bool) -> bool:
    """Return whether one of the words that are said of a count can be wrong under this noise."""
    return (safe and not law.down.is_infinite) or (dangerous and not law.up.is_infinite)


@taught
def decisions(
    law: CountNoise,
    *,
    safe_at_most: int | None = None,
    dangerous_at_least: int | None = None,
    error_at_most: Exact | None = None,
) -> Decisions:
    """Return the best threshold decisions under this noise.

    Args:
        law: the noise on one count, before clamping.
        safe_at_most: t, what *safe* means; None for no such decision.
        dangerous_at_least: T > t, what *dangerous* means; None for no such decision.
        error_at_most: α, the largest probability of a wrong word about one count. It is for those of the decisions that can
            be wrong: *dangerous* under notions whose steps only lower counts, *safe* under those whose steps only raise
            them, both under notions that protect both directions.

    Raises:
        InputError: no decision is asked for, T ≤ t, or α is given where neither can be wrong.
        NotPrivateError: α is missing where one can.
    """
    check_noise(law)
    if safe_at_most is None and dangerous_at_least is None:
        raise InputError(
            "No decision", "there is nothing to decide", "Give safe_at_most, or dangerous_at_least, or both"
        )
    if safe_at_most is not None and dangerous_at_least is not None and dangerous_at_least <= safe_at_most:
        raise InputError(
            f"safe_at_most = {safe_at_most} and dangerous_at_least = {dangerous_at_least}",
            "a count would be both safe and dangerous",
            f"Give dangerous_at_least = {safe_at_most + 1} or more",
        )
    can_err = can_be_wrong(law, safe=safe_at_most is not None, dangerous=dangerous_at_least is not None)
    if error_at_most is not None and not can_err:
        raise InputError(
            f"error_at_most = {echo(error_at_most)}",
            "under this notion what is asked for is never wrong, and no error is granted",
            "Leave error_at_most out",
        )
    safe = dangerous = None
    if safe_at_most is not None:
        safe = sanitizer(law, safe_at_most, None if law.down.is_infinite else error_at_most)
    if dangerous_at_least is not None:
        if error_at_most is None and not law.up.is_infinite and safe is not None and safe.never_wrong:
            raise NotPrivateError(
                f"dangerous_at_least = {dangerous_at_least} without error_at_most",
                "under this notion 'safe' is never wrong, but a count can be over-reported, so 'dangerous' can be wrong",
                "Give error_at_most = \"1e-4\": the largest probability of a wrong 'dangerous' for one place",
            )
        dangerous = alarm(law, dangerous_at_least, None if law.up.is_infinite else error_at_most)
    return Decisions(safe, dangerous)
