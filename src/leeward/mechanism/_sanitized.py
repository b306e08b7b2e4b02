# SPDX-License-Identifier: Apache-2.0
"""The sanitized mechanism (SALap: Takagi et al., ADP, Algorithm 1) with exact geometric noise.

Counts are looked at in a public order. Each gets fresh upward noise of rate ε; while the noisy count stays at most the
threshold, only *safe* is said, which costs nothing because its probability never falls along a step of the notion (counts
only fall). The first noisy count above its threshold is published and spends ε. After c of them everything stops.

Theorem (ADP, Theorem V.7 with the ratio corrected to e^ε; c stops by sequential composition): if every single count only
falls along the steps of the notion, by at most 1 a step, the whole output is c·ε-private. No bound on how many counts one
person touches is needed. The stop does not depend on the data except through answers already published. Among n < c counts
there are at most n stops: the run is then that of c = n, and costs n·ε.

Machine-checked (docs/proved.md): `sanitized_private`, `sanitized_never_wrong`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._plain import echo
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import Real, plainly, whole
from leeward.exact._weight import Weight, weight
from leeward.mechanism._binomial import at_least
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.mechanism._threshold_rule import ThresholdRule, sanitizer
from leeward.noise import Bits, DirectedGeometric, SystemBits, add_saturating

_NEGLIGIBLE = 1e-24

SAFE, NOT_ANSWERED = -1, -2
"""How an answer without a count is written where one integer stands for each answer."""


@dataclass(frozen=True)
class SanitizedAnswers:
    """What the sanitized mechanism says, count by count in the public order.

    Attributes:
        answered: whether this count was reached before the stop.
        safe: whether it was called safe; False where not answered.
        count: the noisy count where it exceeded its threshold, else 0.
    """

    answered: NDArray[np.bool_]
    safe: NDArray[np.bool_]
    count: NDArray[np.int64]

    def coded(self) -> NDArray[np.int64]:
        """Return one integer an answer: `SAFE`, the noisy count above its threshold, or `NOT_ANSWERED`."""
        return np.where(self.safe, SAFE, np.where(self.answered, self.count, NOT_ANSWERED))


@taught
class Sanitized:
    """Says *safe* for free and pays ε for each of the first ``stop_after`` counts it cannot call safe.

    Args:
        line: what one count's rise and fall by 1 cost (`leeward.query._sensitivity.sensitivity_each`): rise must be ∞.
        at_most: the threshold t, one for all counts or one for each.
        stop_after: c, how many exceeding counts are published before it stops.

    Raises:
        NotPrivateError: if a count can rise along a step of the notion.
        InputError: if a threshold is negative, ``stop_after`` is below 1, or the line protects nothing.
    """

    name: ClassVar[Literal["sanitized"]] = "sanitized"
    each_alone: ClassVar = True  # its rates are for one count's move by a step of the notion

    def __init__(self, line: Line, *, at_most: int | Sequence[int], stop_after: int = 1) -> None:
        if not line.rise.is_infinite:
            raise NotPrivateError(
                "The sanitized mechanism under a notion whose steps can raise a count",
                "saying 'safe' is free only where its probability grows along every step, that is, where counts only fall",
                'Use presence or addition-only, or mechanism = "geometric"',
            )
        if line.fall.is_infinite:
            raise InputError(f"{line}", "it protects neither direction", "Publish the answers themselves")
        stop_after = whole(stop_after, "stop_after")
        self._thresholds = whole_thresholds(at_most)
        self.line, self.at_most, self.stop_after = line, as_given(at_most, self._thresholds), stop_after
        self.law = DirectedGeometric(up=line.fall, down=line.rise)
        if self._thresholds.size and self._thresholds.min() < 0:
            raise InputError(f"safe_at_most = {at_most}", "a count is never below 0", "Give at least 0")

    def __repr__(self) -> str:
        return f"Sanitized({self.line}, at_most={self.at_most!r}, stop_after={self.stop_after})"

    @property
    def price(self) -> Real:
        """c·ε, or n·ε where thresholds were given for n < c counts: what a step costs that lowers each count by 1 at most.

        ε is the line's. Of a notion whose steps lower a count by more, or in which persons have each their own ε, the line
        holds the least rate, and a step may cost a multiple of this: `leeward.plan` gives the price in the notion.
        """
        return self.line.fall * self.payments(self._thresholds.size if self._thresholds.ndim else None)

    def payments(self, counts: int | None) -> int:
        """Return how often ε is paid at most for so many counts (None: not known): for each stop, min(c, n)."""
        return self.stop_after if counts is None else min(self.stop_after, counts)

    @property
    def costs(self) -> tuple[tuple[int, ...], int]:
        """What a published count spends, in ε, and how many ε may be spent where a count is still looked at."""
        return (1,), self.stop_after - 1

    def release(self, counts: ArrayLike, bits: Bits | None = None) -> SanitizedAnswers:
        """Answer the counts (int64, shape (n,), in the public order).

        Noise is drawn for all of them at once; what lies behind the stop is never looked at by anyone.

        Raises:
            InputError: if they are not a row of integers, or thresholds were given for another number of counts.
        """
        truth = row_of_counts(counts, self._thresholds)
        return self.decide(add_saturating(truth, self.law.sample(truth.size, bits or SystemBits())))

    def stored(self, counts: ArrayLike, bits: Bits) -> NDArray[np.int64]:
        """Return one integer for each answer of a release, as `SanitizedAnswers.coded`."""
        return self.release(counts, bits).coded()

    def decide(self, noisy: NDArray[np.int64]) -> SanitizedAnswers:
        """Return what is said when these are the noisy counts: the rule without its noise."""
        exceeds = noisy > self._thresholds
        before: NDArray[np.int64] = np.cumsum(exceeds) - exceeds  # how many exceeded earlier in the order
        answered = np.less(before, self.stop_after)
        return SanitizedAnswers(answered, answered & ~exceeds, np.where(answered & exceeds, noisy, 0))

    def thresholds(self, counts: int) -> tuple[int, ...]:
        """Return the threshold of each of so many counts.

        Raises:
            InputError: if thresholds were given for another number of counts.
        """
        row_of_counts(np.zeros(counts, np.int64), self._thresholds)
        return tuple(np.broadcast_to(self._thresholds, (counts,)).tolist())

    def sanitizer(self, at: int = 0) -> ThresholdRule:
        """Return the decision for the count at this position, given that it is reached."""
        thresholds = np.broadcast_to(self._thresholds, (max(at + 1, self._thresholds.size),))
        return sanitizer(self.law, int(thresholds[at]))

    def expected_answered(self, counts: ArrayLike) -> float:
        """Return the expected number of counts answered, the stopping ones included, if these were the true counts."""
        truth = given_array(counts, np.int64)
        gaps, which = np.unique(np.maximum(self._thresholds - truth, -1), return_inverse=True)
        exceed = [float(self.law.tail(int(gap) + 1)) for gap in gaps]  # Pr[noise > t − c]; 1 where c > t
        if self.stop_after >= truth.size:
            return float(truth.size)  # no stop comes before the end
        alive = np.zeros(self.stop_after)  # Pr[still going after j exceeding counts], j < c
        alive[0] = 1.0
        low, high, total = 0, 1, 0.0  # the j at which it is not negligible: a band, so that a long list is not a square
        for code in which.tolist():
            reached = float(alive[low:high].sum())
            if reached < 1e-12:
                break
            total += reached
            high = min(high + 1, self.stop_after)
            band = alive[low:high]
            one_more = band * exceed[code]
            band -= one_more
            band[1:] += one_more[:-1]
            if band[-1] < _NEGLIGIBLE:
                band[-1], high = 0.0, high - 1
            low += int(band[0] < _NEGLIGIBLE)
        return total

    def expected_answered_if_empty(self, counts: int) -> float:
        """Return `expected_answered` of so many counts that are all 0, in closed form where they have one threshold.

        Answered counts exceed with one chance p each, so p·E[answered] = E[min(c, B)], B the number of exceeding ones among
        all n (Wald's identity): ``E = n·Pr[Bin(n − 1, p) ≤ c − 1] + c·Pr[Bin(n, p) > c]/p``.
        """
        if self._thresholds.ndim:
            return self.expected_answered(np.zeros(counts, np.int64))
        exceed, stops = float(self.law.tail(int(self._thresholds) + 1)), self.stop_after
        if not exceed or stops >= counts:
            return float(counts)
        goes_on = float(self.law.cdf(int(self._thresholds)))
        more = at_least(stops + 1, counts, exceed, goes_on)  # Pr[Bin(n, p) > c]
        fewer = at_least(counts - stops, counts - 1, goes_on, exceed)  # Pr[Bin(n − 1, p) ≤ c − 1]
        return min(counts * fewer + stops * more / exceed, float(counts))

    def on(self, vectors: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given vectors of counts (all of one length).

        An output is a tuple: ``"safe"``, an exceeding noisy count, or None after the stop. Exceeding counts above all
        truths are merged, which loses nothing: out there the ratios no longer change.
        """
        vectors = tuple(tuple(map(plainly, vector)) for vector in vectors)
        top = max(max(v) for v in vectors)
        thresholds = self.thresholds(len(vectors[0]))
        return FiniteMechanism.from_rows({v: self._outputs(v, thresholds, max(top, *thresholds) + 1) for v in vectors})

    def _outputs(
        self, truth: tuple[int, ...], thresholds: tuple[int, ...], top: int
    ) -> dict[tuple[object, ...], Weight]:
        done: dict[tuple[object, ...], tuple[Weight, int]] = {(): (weight(1), 0)}
        for c, t in zip(truth, thresholds, strict=True):
            extended: dict[tuple[object, ...], tuple[Weight, int]] = {}
            for prefix, (p, stops) in done.items():
                if stops == self.stop_after:
                    extended[(*prefix, None)] = p, stops
                    continue
                extended[(*prefix, "safe")] = p * self.law.cdf(t - c), stops
                for z in range(t + 1, top):
                    extended[(*prefix, z)] = p * self.law.pmf(z - c), stops + 1
                extended[(*prefix, top)] = p * self.law.tail(top - c), stops + 1
            done = extended
        return {z: p for z, (p, _) in done.items()}


def row_of_counts(counts: ArrayLike, thresholds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return counts in an order as int64 of shape (n,): each has noise and a threshold of its own, none is spread.

    Raises:
        InputError: if they are not integers in a row, or there is another number of thresholds.
    """
    truth = integers(counts)
    if truth.ndim != 1:
        raise InputError(
            f"Counts of shape {truth.shape}", "they are answered in one public order, until the stop", "Give one row"
        )
    if thresholds.shape not in ((), truth.shape):
        raise InputError(
            f"{thresholds.size} thresholds for {truth.size} counts", "each count has one", "Give one for each"
        )
    return truth


def as_given(at_most: int | Sequence[int], thresholds: NDArray[np.int64]) -> int | Sequence[int]:
    """Return thresholds as Python's integers: one, or a list or tuple, as they were given."""
    plain: int | list[int] = thresholds.tolist()
    return tuple(plain) if isinstance(plain, list) and isinstance(at_most, tuple) else plain


def whole_thresholds(at_most: int | Sequence[int]) -> NDArray[np.int64]:
    """Return thresholds as int64: one, or a row.

    Raises:
        InputError: if they are not whole numbers that fit; 2.5 is not taken for 2.
    """
    given = given_array(at_most)
    if given.size == 0:
        return np.zeros(0, np.int64)
    if given.ndim > 1 or given.dtype.kind not in "iu" or given.dtype == np.uint64:
        raise InputError(
            f"at_most = {echo(at_most)}",
            "a threshold is compared with whole counts of people that fit in 64 bits",
            "Give a whole number, or one for each count in their order",
        )
    return given.astype(np.int64)
