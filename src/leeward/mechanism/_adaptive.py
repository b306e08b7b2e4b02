# SPDX-License-Identifier: Apache-2.0
"""The sanitized mechanism with a budget: counts far above their threshold are published for less, so more of them are.

The adaptive sparse vector with gap (Z. Ding, Y. Wang, D. Zhang and D. Kifer, *Free Gap Information from the Differentially
Private Sparse Vector and Noisy Max Mechanisms*, 2019, Algorithm 2) looks at each count twice: first with much noise and a
threshold that only a large count exceeds, for little; then as usual. In its directed form nothing is paid for the
threshold, *safe* is never wrong and free at every look, and the noisy count itself is published.

Counts come in a public order. At each, the looks j = 1, …, m take their turn, with rates r_1 < … < r_m = ε and margins
g_1 ≥ … ≥ g_m = 0: fresh upward geometric noise of rate r_j is added, and the first look at which the noisy count exceeds
t + g_j publishes it and spends r_j. Where none does, *safe* is said. When less than ε of the budget is left all stops.

Theorem: if every single count only falls along the steps of the notion, by at most 1 a step, the whole output is private at
the budget. *Safe* at a count has the probability Π_j Pr[noise ≤ t + g_j − c], which never falls as c falls. That look j
publishes z has Π_{i<j} Pr[noise_i ≤ t + g_i − c] · Pr[noise_j = z − c]: the first factors never fall as c falls, and the
last falls by e^{r_j} at most. So each published count costs its r_j, and nothing else costs anything; the sum is within the
budget whatever the counts are, because where it stops depends on answers already published alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._integers import least
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import ZERO, Exact, Real, finite, plainly
from leeward.exact._weight import Weight, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._looks import LargestLook
from leeward.mechanism._random_order import reached
from leeward.mechanism._sanitized import NOT_ANSWERED, SAFE, as_given, row_of_counts, whole_thresholds
from leeward.noise import Bits, DirectedGeometric, SystemBits, add_saturating
from leeward.noise._saturating import MOST

_EARLY, _MOST_CODED = -3, 1 << 60
"""Where one integer stands for an answer: from −3 down, those of the looks before the last; counts beyond are cut."""

Answer = str | tuple[int, int] | None
"""``"safe"``; (look, noisy count), looks counted from 0; or None after the stop."""


@dataclass(frozen=True)
class AdaptiveAnswers:
    """What is said, count by count in the public order.

    Attributes:
        answered: whether this count was reached before the stop.
        safe: whether it was called safe; False where not answered.
        look: at which look it was published, from 0; −1 where it was not.
        count: the noisy count where it was published, else 0.
        spent: what was spent in all.
    """

    answered: NDArray[np.bool_]
    safe: NDArray[np.bool_]
    look: NDArray[np.int64]
    count: NDArray[np.int64]
    spent: Real

    def coded(self, looks: int) -> NDArray[np.int64]:
        """Return one integer an answer, of a mechanism with so many looks; `decoded` reads it.

        `SAFE`, `NOT_ANSWERED`, the noisy count z of the last look, or −3 − (z·(looks − 1) + j) of look j before it.
        """
        early, most = looks - 1, _MOST_CODED // max(looks - 1, 1)
        before_last = _EARLY - (np.minimum(self.count, most) * early + self.look)
        shown = np.where(self.look < early, before_last, self.count)
        return np.where(self.safe, SAFE, np.where(self.answered, shown, NOT_ANSWERED))


def decoded(stored: NDArray[np.int64], looks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (look, count) of each stored integer: at which look it was published, from 0, and its noisy count; else −1."""
    early = looks - 1
    number = np.where(stored <= _EARLY, _EARLY - stored, 0)
    before_last, last = stored <= _EARLY, stored >= 0
    look = np.where(before_last, number % max(early, 1), np.where(last, early, -1))
    return look, np.where(before_last, number // max(early, 1), np.where(last, stored, -1))


@taught
class AdaptiveSanitized:
    """Says *safe* for free, and pays for each count that it publishes: little for one far above its threshold.

    Args:
        line: what one count's rise and fall by 1 cost: rise must be ∞; the fall is ε, what the last look spends.
        at_most: the threshold t, one for all counts or one for each.
        budget: what may be spent in all, at least ε.
        looks: the shares of ε that the earlier looks spend, rising, each between 0 and 1: by default one look at a half.
        margins: how far over its threshold a noisy count must be at each of these looks; by default so far that an empty
            place is published as rarely as by the last look: ⌈(1/share − 1)·(t + 1)⌉ for the largest threshold.

    Raises:
        NotPrivateError: if a count can rise along a step of the notion.
        InputError: if the budget is below ε, or looks and margins are not as described.
    """

    name: ClassVar[Literal["adaptive"]] = "adaptive"
    each_alone: ClassVar = True  # its rates are for one count's move by a step of the notion

    def __init__(
        self,
        line: Line,
        *,
        at_most: int | Sequence[int],
        budget: Exact,
        looks: Sequence[Exact] = ("1/2",),
        margins: Sequence[int] | None = None,
    ) -> None:
        if not line.rise.is_infinite:
            raise NotPrivateError(
                "The adaptive sanitized mechanism under a notion whose steps can raise a count",
                "saying 'safe' is free only where its probability grows along every step, that is, where counts only fall",
                "Use presence or addition-only",
            )
        epsilon, self.budget = finite(line.fall, "epsilon"), finite(budget, "budget")
        if self.budget < epsilon:
            raise InputError(f"budget = {self.budget}", f"one count may cost {epsilon}", "Give at least as much")
        self._thresholds = whole_thresholds(at_most)
        if self._thresholds.size and self._thresholds.min() < 0:
            raise InputError("at_most below 0", "a count is never below 0", "Give at least 0")
        shares = [finite(share, "a look's share") for share in looks]
        if any(later <= earlier for earlier, later in zip([ZERO, *shares], [*shares, finite(1, "1")], strict=True)):
            raise InputError("Looks that do not rise from 0 to 1", "each spends more than the one before", "Order them")
        top = int(self._thresholds.max(initial=0)) + 1
        wide = [_up((1 / share - 1) * top) for share in shares] if margins is None else [*margins]
        if len(wide) != len(shares) or any(type(plainly(g)) is not int or g < 0 for g in wide):
            raise InputError(
                f"{len(wide)} margins", f"there are {len(shares)} looks, and each has one", "Give numbers ≥ 0"
            )
        self.line, self.at_most = line, as_given(at_most, self._thresholds)
        self.shares = (*shares, finite(1, "1"))
        self.rates = tuple(epsilon * share for share in self.shares)
        self.margins = (*(int(g) for g in wide), 0)
        self.laws = tuple(DirectedGeometric(up=rate, down=line.rise) for rate in self.rates)
        self.law = LargestLook(self.laws, self.margins)

    def __repr__(self) -> str:
        rates = ", ".join(map(str, self.rates))
        return (
            f"AdaptiveSanitized({self.line}, at_most={self.at_most!r}, budget={self.budget}, rates=({rates}),"
            f" margins={self.margins})"
        )

    @property
    def price(self) -> Real:
        """The budget: what a step costs at most that lowers each count by 1 at most; see `Sanitized.price`."""
        return self.budget

    @property
    def stop_after(self) -> int:
        """c: how many counts the budget pays for in full. At least so many are published before it stops."""
        return _times(self.budget, self.rates[-1])

    def payments(self, counts: int | None) -> int:
        """Return how often ε is paid at most for so many counts (None: not known), of a budget of c·ε: min(c, n)."""
        return self.stop_after if counts is None else min(self.stop_after, counts)

    @property
    def costs(self) -> tuple[tuple[int, ...], int]:
        """What each look spends, in whole parts of ε, and how many parts may be spent where a count is still looked at.

        Raises:
            InputError: if a look's share of ε is not rational.
        """
        shares = [share.rational for share in self.shares]
        if any(share is None for share in shares):
            raise InputError(
                "Looks at irrational shares", "they are not whole parts of anything", 'Give, say, ("1/2",)'
            )
        parts = math.lcm(*(int(share.denominator) for share in shares if share is not None))
        spent = _times(self.budget * parts, self.rates[-1]) - parts
        return tuple(int(share * parts) for share in shares if share is not None), spent

    def release(self, counts: ArrayLike, bits: Bits | None = None) -> AdaptiveAnswers:
        """Answer the counts (int64, shape (n,), in the public order).

        Raises:
            InputError: if they are not a row of integers, or thresholds were given for another number of counts.
        """
        truth, bits = row_of_counts(counts, self._thresholds), bits or SystemBits()
        look, shown = np.full(truth.size, -1, np.int64), np.zeros(truth.size, np.int64)
        for j, (law, margin) in enumerate(zip(self.laws, self.margins, strict=True)):
            noisy = add_saturating(truth, law.sample(truth.size, bits))
            bar = add_saturating(
                np.broadcast_to(self._thresholds, truth.shape), np.full(truth.shape, min(margin, MOST), np.int64)
            )
            here = (look < 0) & (noisy > bar)
            look[here], shown[here] = j, noisy[here]
        spent, end = ZERO, truth.size
        for at in np.flatnonzero(look >= 0).tolist():
            spent = spent + self.rates[look[at]]
            if self.budget - spent < self.rates[-1]:
                end = at + 1
                break
        answered = np.arange(truth.size) < end
        published = answered & (look >= 0)
        return AdaptiveAnswers(
            answered, answered & ~published, np.where(published, look, -1), np.where(published, shown, 0), spent
        )

    def stored(self, counts: ArrayLike, bits: Bits) -> NDArray[np.int64]:
        """Return one integer for each answer of a release, as `AdaptiveAnswers.coded`."""
        return self.release(counts, bits).coded(len(self.laws))

    def expected_answered_if_empty(self, counts: int) -> float:
        """Return how many of so many counts are answered on average, those published included, if all of them are 0.

        Raises:
            InputError: if thresholds are one for each count, or a look's share of ε is not rational.
        """
        if self._thresholds.ndim:
            raise InputError(
                "Thresholds that are one for each count", "how many are reached is known for one", "Give one threshold"
            )
        published = [[float(p) for p in self.law.published(int(self._thresholds))]]
        return counts * float(reached([counts], published, *self.costs)[0])

    def on(self, vectors: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given rows of counts (all of one length); an output is a tuple of `Answer`.

        Noisy counts above all truths and margins are merged, which loses nothing: out there the ratios no longer change.
        """
        vectors = tuple(tuple(map(plainly, vector)) for vector in vectors)
        thresholds = np.broadcast_to(self._thresholds, (len(vectors[0]),)).tolist()
        top = max(max(map(max, vectors)), max(thresholds) + max(self.margins)) + 1
        return FiniteMechanism.from_rows({v: self._outputs(v, thresholds, top) for v in vectors})

    def _outputs(self, truth: tuple[int, ...], thresholds: list[int], top: int) -> dict[tuple[Answer, ...], Weight]:
        done: dict[tuple[Answer, ...], tuple[Weight, Real]] = {(): (weight(1), ZERO)}
        for c, t in zip(truth, thresholds, strict=True):
            extended: dict[tuple[Answer, ...], tuple[Weight, Real]] = {}
            for prefix, (p, spent) in done.items():
                if self.budget - spent < self.rates[-1]:
                    extended[(*prefix, None)] = p, spent
                    continue
                for j, (law, margin, rate) in enumerate(zip(self.laws, self.margins, self.rates, strict=True)):
                    for z in range(t + margin + 1, top):
                        extended[(*prefix, (j, z))] = p * law.pmf(z - c), spent + rate
                    extended[(*prefix, (j, top))] = p * law.tail(top - c), spent + rate
                    p = p * law.cdf(t + margin - c)
                extended[(*prefix, "safe")] = p, spent
            done = extended
        return {z: p for z, (p, _) in done.items()}


def _times(whole: Real, part: Real) -> int:
    """Return how often a part goes into a whole, exactly."""
    return least(lambda times: part * times > whole) - 1


def _up(number: Real) -> int:
    """Round up: to a whole number that is at least as large."""
    return math.ceil(number.rational) if number.rational is not None else math.ceil(number.bounds()[1])
