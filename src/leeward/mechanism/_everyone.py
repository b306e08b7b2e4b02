# SPDX-License-Identifier: Apache-2.0
"""Bounds on all who were at a place, where a person counts at no more than k places: never too low, under addition-only.

Notation. c(p) is the number of people who were at the listed place p. A person at more than k places counts at k of them:
c_k(p) is the number counted at p, d(p) = c(p) − c_k(p) the number left out there, and D = max_p d(p). All of them are of one
window. Published are c̃_k(p) = c_k(p) + G_p and D̃ = D + H with independent upward geometric noise, G_p of rate b₁ and H of
rate b₂; a place is called *safe* iff c̃_k(p) + D̃ ≤ t.

Theorem. Let no step of the notion change anything but withdraw one person, with everything about them, at a cost of at least
ε. If k·b₁ + b₂ ≤ ε, then (c̃_k, D̃) is ε-private under it; c̃_k(p) + D̃ ≥ c(p) always, so *safe* is never wrong about all who
were there; and Pr[safe] = Pr[G + H ≤ t − c(p) + d(p) − D], which is least where nobody was left out at p.

Proof. Which places are kept of a person depends on that person's rows alone. So withdrawing one who was at the places V, and
was counted at K ⊆ V with |K| ≤ k, lowers c_k by 1 on K and nowhere else, and d by 1 on V∖K and nowhere else. A maximum of
numbers of which each stays or falls by 1 stays or falls by 1: D falls by 0 or 1 and never rises. Upward noise of rate b is
private for falls at b each (`leeward.mechanism._geometric`), independent noises add up, and k·b₁ + 1·b₂ ≤ ε. Noise is never
negative, so c̃_k(p) + D̃ ≥ c_k(p) + D ≥ c_k(p) + d(p) = c(p). The last claim puts c_k(p) + D = c(p) + (D − d(p)) into the
rule, and D ≥ d(p). ∎

The price is reached: whoever is counted at k places and alone attains D costs ε. Nothing is won by noise that knows whether
a person is over the bound, because those who are move both. D is far smaller than the number of people over the bound, which
would do as well, and than the number of visits left out. It is not D alone that is needed: the same proof holds for any
number that is at least every d(p), never rises and falls by at most 1.

Where it fails. When persons come (removal-only) noise is downward, and D̃ would be too low. Under notions about single visits
(presence, graded) c_k is not monotone: whoever loses a visit may count elsewhere (`leeward.query.CountVisitors.effect`).
Where noise must go both ways (dp and its relatives) no bound is certain. There `leeward.plan` refuses it. *Dangerous* needs
none of this: c(p) ≥ c_k(p), so where at least T people were counted, at least T were there, and what is wrong of all who
were there is wrong of those counted: the same words at the same errors, for no more ε.

The split. For one k the odds hang on the shares of ε alone; `leeward.mechanism._split` takes the best of twenty for a place
with nobody, given a public guess of D. It costs nothing in certainty if the guess is wrong.

Machine-checked (docs/proved.md): `everyone_private`, `everyone_private_on_tables`, `everyone_never_too_low`,
`everyone_odds`, `everyone_tight`, `everyone_needs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import Exact, plainly, positive, whole
from leeward.exact._weight import Weight, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.mechanism._overshoot import Overshoot
from leeward.mechanism._threshold_rule import ThresholdRule, sanitizer
from leeward.noise import Bits, DirectedGeometric, SystemBits, add_saturating


@taught
class Everyone:
    """Noisy counts of the people counted at each place, and a noisy bound on how many were left out at any of them.

    Its input and what it stores are n + 1 whole numbers: n counts in the public order, then D, the most people left out at
    any one place. `at_most` adds the last to the others: bounds on all who were there.

    Args:
        line: what one count's rise and fall by 1 cost: rise must be ∞.
        left_out: what a fall of D by 1 costs: b₂.
        guess: a public guess of D, for the odds alone; it changes nothing that is published.

    Raises:
        NotPrivateError: if a count can rise along a step of the notion.
        InputError: if the line protects nothing, or the guess is not a whole number of at least 0.
        NoiseError: if a rate is too small for 64-bit answers.
    """

    name: ClassVar[Literal["everyone"]] = "everyone"
    each_alone: ClassVar = False  # its rates are for all counts that a step of the notion moves together
    stop_after: ClassVar[None] = None  # it answers every count

    def __init__(self, line: Line, left_out: Exact, *, guess: int = 0) -> None:
        if not line.rise.is_infinite:
            raise NotPrivateError(
                "A bound on all who were there under a notion whose steps can raise a count",
                "noise would have to go both ways, and then no bound is certain",
                "Use addition-only",
            )
        if line.fall.is_infinite:
            raise InputError(f"{line}", "it protects neither direction", "Publish the answers themselves")
        self.line, self.left_out, self.guess = line, positive(left_out, "left_out"), whole(guess, "guess", 0)
        self.law = Overshoot(line.fall, self.left_out, self.guess)
        self.count_law, self.left_out_law = (DirectedGeometric.one_sided(rate) for rate in (line.fall, self.left_out))

    def payments(self, counts: int | None) -> int:
        """Return how often ε is paid at most for so many counts (None: not known): once for all."""
        return 1

    def expected_answered_if_empty(self, counts: int) -> None:
        """Return None: all counts are always answered."""

    def stored(self, truth: ArrayLike, bits: Bits) -> NDArray[np.int64]:
        """Return what decides and is kept of a release: the `noisy` numbers."""
        return self.noisy(truth, bits)

    def noisy(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return n noisy counts and the noisy D, for n exact counts and the exact D: int64, shape (n + 1,).

        Raises:
            InputError: if they are not whole numbers in a row, of which the last is D.
        """
        exactly, bits = integers(truth), bits or SystemBits()
        if exactly.ndim != 1 or not exactly.size:
            raise InputError(
                f"Counts of shape {exactly.shape}", "they are a row of counts, then D", "Give n + 1 whole numbers"
            )
        noise = [self.count_law.sample(exactly.size - 1, bits), self.left_out_law.sample(1, bits)]
        return add_saturating(exactly, np.concatenate(noise))

    def release(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return a bound on all who were at each place, shape (n,), for n exact counts and the exact D."""
        return self.at_most(self.noisy(truth, bits))

    def at_most(self, noisy: ArrayLike) -> NDArray[np.int64]:
        """Return for each place a number that no fewer than all who were there are below: shape (n,), of `noisy`."""
        drawn = integers(noisy)
        return add_saturating(drawn[:-1], np.full(drawn.size - 1, drawn[-1]))

    def sanitizer(self, at_most: int) -> ThresholdRule:
        """Return the rule that reads "at most t of all who were there" off the bounds; its odds are those at the guess."""
        return sanitizer(self.law, at_most)

    def on(self, vectors: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given vectors, each of n counts and D.

        An output is a tuple of n noisy counts and the noisy D. Values from the greatest truth on are merged, in each place,
        which loses nothing: out there the ratios no longer change.
        """
        vectors = tuple(tuple(map(plainly, vector)) for vector in vectors)
        tops = [max(column) for column in zip(*vectors, strict=True)]
        return FiniteMechanism.from_rows({vector: self._outputs(vector, tops) for vector in vectors})

    def _outputs(self, truth: tuple[int, ...], tops: list[int]) -> dict[tuple[int, ...], Weight]:
        done: dict[tuple[int, ...], Weight] = {(): weight(1)}
        laws = [self.count_law] * (len(truth) - 1) + [self.left_out_law]
        for exactly, top, law in zip(truth, tops, laws, strict=True):
            chances = {z: law.pmf(z - exactly) for z in range(top)} | {top: law.tail(top - exactly)}
            done = {(*before, z): p * q for before, p in done.items() for z, q in chances.items()}
        return done

    def __repr__(self) -> str:
        return f"Everyone({self.line}, left_out={self.left_out}, guess={self.guess})"
