# SPDX-License-Identifier: Apache-2.0
"""Decisions from noisy counts: which outputs may be called *safe*, and how often the truth is.

The proposition is "the count is at most t" (Takagi et al., ADP, Definition II.5). A sanitizer calls an output z *safe* iff
``z ≤ t'``. Where noise is never negative, t' = t and *safe* is never wrong: the error is one-sided (Definition II.6 with
α = 0), and ``Pr[safe | c] = 1 − e^{−b(t+1−c)}`` for c ≤ t, which no mechanism for one count betters. Where noise can be
negative, t' is lowered until ``Pr[safe | t+1] ≤ α``; it may be negative, so decisions are taken on unclamped integers.

The dual (IV-C2) is "the count is at least T", called *dangerous* iff ``z ≥ T'``: never wrong where noise is never positive,
else with T' raised until ``Pr[dangerous | T−1] ≤ α``. No notion that makes one of them never wrong does so for the other.

Machine-checked (docs/proved.md): `upward_never_errs`, `upward_odds`, `upward_best`, `downward_error`,
`threshold_private`, `threshold_falls`, `best_attained`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from leeward._plain import echo
from leeward._taught import taught
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import Exact, Real, exact, integer
from leeward.exact._weight import Weight, weight
from leeward.noise import Bits, Coin, SystemBits


class CountNoise(Protocol):
    """The noise on one count: `leeward.noise.DirectedGeometric`, or one coordinate of norm noise."""

    @property
    def up(self) -> Real:
        """The rate of upward noise; ∞ where there is none."""

    @property
    def down(self) -> Real:
        """The rate of downward noise; ∞ where there is none."""

    def pmf(self, k: int) -> Weight:
        """Return P(noise = k)."""

    def cdf(self, k: int) -> Weight:
        """Return P(noise ≤ k)."""

    def tail(self, k: int) -> Weight:
        """Return P(noise ≥ k)."""

    def quantile(self, p: Weight | Exact) -> int:
        """Return the least k with P(noise ≤ k) ≥ p."""


Word = Literal["safe", "dangerous"]
"""What is said of a place."""


@dataclass(frozen=True)
class ThresholdRule:
    """Says a word of an unclamped noisy count z: *safe* iff ``z ≤ threshold``, or *dangerous* iff ``z ≥ threshold``.

    Build it with `sanitizer` or `alarm`. The word is true of at most ``bound`` people, or of at least so many.

    Attributes:
        word: ``"safe"`` or ``"dangerous"``: the side that it speaks of.
        bound: what the word means: t, at most so many people; or T, at least so many.
        threshold: t' or T': the last noisy count of which the word is said.
        law: the noise on one count.
        error_at_most: the α asked for; None where the promise is "never wrong".
    """

    word: Word
    bound: int
    threshold: int
    law: CountNoise
    error_at_most: Fraction | None

    def says(self, noisy: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return of which noisy counts the word is said; the same shape."""
        return noisy <= self.threshold if self.word == "safe" else noisy >= self.threshold

    def probability(self, count: int) -> Weight:
        """Return Pr[the word | true count], exactly."""
        noise = self.threshold - integer(count, "count")
        return self.law.cdf(noise) if self.word == "safe" else self.law.tail(noise)

    @property
    def never_wrong(self) -> bool:
        """Whether the word is never said where it is not true."""
        return self.error_at_most is None

    @property
    def error(self) -> Weight:
        """The largest Pr[the word | it is not true]: attained at t + 1, or T − 1; 0 where never wrong."""
        return self.probability(self.bound + 1 if self.word == "safe" else self.bound - 1)

    def curve(self, counts: Iterable[int] | None = None) -> dict[int, Weight]:
        """Return Pr[the word | c] for each true count c (by default 0 to ``bound`` + 5)."""
        return {c: self.probability(c) for c in (range(self.bound + 6) if counts is None else counts)}


def check_noise(law: object) -> None:
    """Refuse what is not noise on one count."""
    if not hasattr(law, "cdf"):
        raise InputError(
            f"A decision about {echo(law)}",
            "decisions are read off the noise on one count",
            "Give mechanism.law, or ask the mechanism itself: mechanism.sanitizer(at_most=…)",
        )


@taught
def sanitizer(law: CountNoise, at_most: int, error_at_most: Exact | None = None) -> ThresholdRule:
    """Return the best threshold sanitizer for "the count is at most t" under this noise.

    Args:
        law: the noise on one count.
        at_most: t ≥ 0.
        error_at_most: α, the largest Pr[safe | unsafe] for one count; needed iff noise can be negative.

    Raises:
        InputError: if it is not noise, t is negative, α is not in (0, 1), or if α is given where *safe* is never wrong.
        NotPrivateError: if α is missing where noise can be negative.
    """
    check_noise(law)
    at_most = integer(at_most, "safe_at_most")
    if at_most < 0:
        raise InputError(f"safe_at_most = {at_most}", "a count is never below 0", "Give at least 0")
    alpha = _granted("safe", f"safe_at_most = {at_most}", error_at_most, surely=law.down.is_infinite)
    if alpha is None:
        return ThresholdRule("safe", at_most, at_most, law, None)
    below = law.quantile(alpha)  # the smallest k with P(noise ≤ k) ≥ α
    if law.cdf(below) > weight(alpha):
        below -= 1
    return ThresholdRule("safe", at_most, at_most + 1 + below, law, alpha)


@dataclass(frozen=True)
class RandomizedSanitizer:
    """A sanitizer that says *safe* one value above its threshold too, by an exact coin, so that α is used up exactly.

    With geometric noise no private mechanism for one count does better at any count: it attains the tight recursion of
    `leeward.analysis._bounds.best_decision`. A coin for each decision is drawn anew whenever it is asked: keep the answers.

    Attributes:
        plain: the sanitizer without the coin.
        boundary: the probability of *safe* at ``plain.threshold + 1``.
    """

    plain: ThresholdRule
    boundary: Weight

    def says(self, noisy: NDArray[np.int64], bits: Bits | None = None) -> NDArray[np.bool_]:
        """Return which noisy counts are called safe; the same shape."""
        coins = Coin(self.boundary).flip(noisy.size, bits or SystemBits()).reshape(noisy.shape)
        said: NDArray[np.bool_] = self.plain.says(noisy) | ((noisy == self.plain.threshold + 1) & coins)
        return said

    def probability(self, count: int) -> Weight:
        """Return Pr[safe | true count], exactly."""
        law, threshold, count = self.plain.law, self.plain.threshold, integer(count, "count")
        return law.cdf(threshold - count) + self.boundary * law.pmf(threshold + 1 - count)


def randomized_sanitizer(law: CountNoise, at_most: int, error_at_most: Exact) -> RandomizedSanitizer:
    """Return the threshold sanitizer with Pr[safe | t + 1] = α exactly; arguments and errors as `sanitizer`."""
    plain = sanitizer(law, at_most, error_at_most)
    rest = weight(plain.error_at_most or 0) - plain.error
    return RandomizedSanitizer(plain, rest / law.pmf(plain.threshold - plain.bound))


@taught
def alarm(law: CountNoise, at_least: int, error_at_most: Exact | None = None) -> ThresholdRule:
    """Return the best threshold alarm for "the count is at least T" under this noise.

    Args:
        law: the noise on one count.
        at_least: T ≥ 1.
        error_at_most: α, the largest Pr[dangerous | not dangerous] for one count; needed iff noise can be positive.

    Raises:
        InputError: if it is not noise, T is below 1, α is not in (0, 1), or if α is given where *dangerous* is never wrong.
        NotPrivateError: if α is missing where noise can be positive.
    """
    check_noise(law)
    at_least = integer(at_least, "dangerous_at_least")
    if at_least < 1:
        raise InputError(f"dangerous_at_least = {at_least}", "every count is at least 0", "Give at least 1")
    alpha = _granted("dangerous", f"dangerous_at_least = {at_least}", error_at_most, surely=law.up.is_infinite)
    if alpha is None:
        return ThresholdRule("dangerous", at_least, at_least, law, None)
    above = law.quantile(1 - weight(alpha)) + 1  # the smallest k with P(noise < k) ≥ 1 − α, that is P(noise ≥ k) ≤ α
    return ThresholdRule("dangerous", at_least, at_least - 1 + above, law, alpha)


_SIDES: Mapping[Word, tuple[str, str, str]] = {
    "safe": ("lower", "under-reported", '"presence" or "addition-only"'),
    "dangerous": ("raise", "over-reported", '"removal-only"'),
}
"""What noise does to a count that makes a word wrong, what the count then is, and under which notions it never does."""


def _granted(word: Word, asked: str, error_at_most: Exact | None, *, surely: bool) -> Fraction | None:
    """Return the error that a word is granted; None where it surely is never wrong."""
    moves, reported, instead = _SIDES[word]
    if surely and error_at_most is not None:
        raise InputError(
            f"error_at_most = {error_at_most}",
            f"under this notion noise never {moves}s a count, so '{word}' is never wrong and no error is granted",
            "Leave error_at_most out",
        )
    if not surely and error_at_most is None:
        raise NotPrivateError(
            f"{asked} without error_at_most",
            f"under this notion a count can be {reported}, so '{word}' cannot be promised never to be wrong",
            f"Give error_at_most = \"1e-4\" (the largest probability of a wrong '{word}' for one place), or choose a notion"
            f" whose steps only {moves} counts: {instead}",
        )
    return None if error_at_most is None else chance_given(error_at_most, "error_at_most")


def chance_given(value: Exact, name: str, *, or_zero: bool = False) -> Fraction:
    """Read a probability that is given as an argument of this name: a rational strictly between 0 and 1."""
    number = exact(value).rational
    if number is None or not 0 <= number < 1 or (number == 0 and not or_zero):
        raise InputError(f"{name} = {echo(value)}", "it is not a probability between 0 and 1", 'Give, say, "1e-4"')
    return number
