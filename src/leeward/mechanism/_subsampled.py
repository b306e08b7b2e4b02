# SPDX-License-Identifier: Apache-2.0
"""Subsampling as a combinator on mechanisms, and equation (3) of *One-Sided Differential Privacy*: the subsampled count.

`sample_tables` is S_p itself, on whole tables; `subsampled` runs any mechanism on what it leaves. `thinning` is what S_p
does to a count. `SubsampledCount` is the article's recipe: thin with p = 1 − e^{−ε}, then add upward noise of rate
ln(1 + e^ε). Subsampling buys the removal half of the promise (Theorem 5), the noise buys the addition half, and both
together are unbounded ε-DP, exactly (Theorem 6).

It is never the best way to publish one count: it is the two-sided geometric mechanism, post-processed (`as_postprocessing`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._plain import echo
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact._real import Exact, exact, inf, positive, whole
from leeward.exact._weight import Weight, exp, log, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import Geometric, integers
from leeward.noise import Bits, Coin, SystemBits
from leeward.noise._saturating import MOST
from leeward.notion import ABSENT
from leeward.query._sampling import PoissonSampling

_COINS_AT_ONCE = 1 << 20
_MOST_PEOPLE = 10**10


def sample_tables(tables: Iterable[tuple[Any, ...]], sampling: PoissonSampling) -> FiniteMechanism:
    """Return S_p on whole tables, exactly: each person who is present is kept with probability p, else becomes ABSENT.

    It publishes the sample in the clear. It is removal-only private at −ln(1 − p) (Theorem 5) and private in no other sense.
    """
    p = sampling.probability
    rows: dict[Any, dict[Any, Weight]] = {}
    for table in tables:
        if not isinstance(table, tuple):
            raise InputError(
                f"A sample of {echo(table)}",
                "it is not a table",
                "Give tables as tuples, ABSENT for a person who is missing: (1, ABSENT)",
            )
        here = [i for i, record in enumerate(table) if record is not ABSENT]
        kept = [p**k * (1 - p) ** (len(here) - k) for k in range(len(here) + 1)]
        rows[table] = {
            tuple(r if i in chosen else ABSENT for i, r in enumerate(table)): kept[k]
            for k in range(len(here) + 1)
            for chosen in itertools.combinations(here, k)
        }
    return FiniteMechanism.from_rows(rows)


@taught
def subsampled(base: FiniteMechanism, sampling: PoissonSampling) -> FiniteMechanism:
    """Return ``base`` run on a Poisson sample of people: M(S_p(x)), exactly.

    Args:
        base: a mechanism on tables; with every table it must know those with some people missing.
        sampling: the sampling.

    Raises:
        InputError: if the base does not know a table that sampling can leave, or its inputs are not tables.
    """
    return sample_tables(base.inputs, sampling).then(base)


def thinning(counts: Iterable[int], sampling: PoissonSampling) -> FiniteMechanism:
    """Return what S_p does to a count of people, exactly: binomial weights, from each count to 0 … the largest count."""
    p = sampling.probability
    counts = tuple(int(c) for c in counts)
    outputs = range(max(counts, default=0) + 1)
    powers, rests = ([w**k for k in outputs] for w in (p, 1 - p))
    rows = [[powers[k] * rests[c - k] * math.comb(c, k) if k <= c else weight(0) for k in outputs] for c in counts]
    return FiniteMechanism(counts, outputs, rows)


def thin(counts: ArrayLike, sampling: PoissonSampling, bits: Bits) -> NDArray[np.int64]:
    """Thin counts of *disjoint* groups of people by one exact coin for each person; the same shape.

    For people who are counted at several places use `sampled_rows`: one coin decides about all visits of a person. The time
    taken grows with the number of people.
    """
    truth = integers(counts)
    if truth.size and truth.min() < 0:
        raise InputError("A count below 0", "a number of people is at least 0", "Give counts of people")
    if sum(truth.ravel().tolist()) > _MOST_PEOPLE:
        raise InputError(
            f"More than {_MOST_PEOPLE:,} people to flip a coin for",
            "each takes some nanoseconds",
            "Use another mechanism: subsampling has nothing to offer for so many",
        )
    coin, flat = Coin(sampling.probability), truth.ravel()
    kept = np.zeros(flat.size, np.int64)
    ends = np.cumsum(flat)
    for start in range(0, int(ends[-1]) if flat.size else 0, _COINS_AT_ONCE):
        coins = coin.flip(min(_COINS_AT_ONCE, int(ends[-1]) - start), bits)
        owners = np.searchsorted(ends, start + np.flatnonzero(coins), side="right")
        kept += np.bincount(owners, minlength=flat.size)
    return kept.reshape(truth.shape)


def sampled_rows(person: ArrayLike, sampling: PoissonSampling, bits: Bits) -> NDArray[np.bool_]:
    """Return which rows of a table are kept: one exact coin for each *person*, whose rows all share it.

    Args:
        person: whose each row is, shape (n,): numbers or strings, such as ``visits["user"]``.
        sampling: the sampling.
        bits: where the coins come from.
    """
    people, owner = np.unique(given_array(person), return_inverse=True)
    return Coin(sampling.probability).flip(people.size, bits)[owner]


@taught
class SubsampledCount:
    """Equation (3): subsample people with p = 1 − e^{−ε}, count, and add upward noise of rate ln(1 + e^ε).

    Unbounded ε-DP exactly: both directions cost ε and not less (Theorem 6). Over counts at several places to which one
    person may contribute k times, the rate is divided by k, and one coin decides about all visits of a person. Under
    bounded DP (replacement of a record) it costs 2ε.

    Args:
        epsilon: ε of unbounded DP.
        places_per_person: k, to how many counts one person contributes at most, by at most 1 each.
        step: the public grid step of the noise in people, 1 or a unit fraction such as ``"1/100"``: a finer grid comes
            closer to the article's exponential noise. Outputs are integers in steps.

    Raises:
        InputError: if ε is not above 0, k is below 1, or 1/step is not a whole number.
    """

    def __init__(self, epsilon: Exact, *, places_per_person: int = 1, step: Exact = 1) -> None:
        self.epsilon, self.places_per_person = (
            positive(epsilon, "epsilon"),
            whole(places_per_person, "places_per_person"),
        )
        size = exact(step).rational
        if size is None or size <= 0 or size.numerator != 1:
            raise InputError(f"step = {step}", "a person must be a whole number of steps", 'Give 1, or say "1/100"')
        self.steps_per_person = size.denominator
        self.sampling = PoissonSampling.at_price(self.epsilon)
        self.rate = log(1 + exp(self.epsilon)) / self.places_per_person
        self.noise = Geometric(Line(rise=inf, fall=self.rate), step=size)

    @property
    def line(self) -> Line:
        """The directed line of a single count; over all places one person costs ε each way in total."""
        return self.sampling.line(Line(rise=inf, fall=self.rate))

    def release(self, counts: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return subsampled noisy counts, in steps, where every person is counted at most once in all.

        Args:
            counts: integers of people, of any shape, of disjoint groups.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.

        Raises:
            InputError: if a person may be counted more than once: use `release_visits`.
        """
        if self.places_per_person != 1:
            raise InputError(
                f"Counts alone, with places_per_person = {self.places_per_person}",
                "one coin a person must decide about all visits of that person, and counts do not say whose they are",
                "Use release_visits(person, place, places=...)",
            )
        bits = bits or SystemBits()
        return self.noise.noisy(self._in_steps(thin(counts, self.sampling, bits)), bits)

    def _in_steps(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts in steps; what 64 bits cannot hold is held at their end, and never wraps."""
        return np.minimum(people, MOST // self.steps_per_person) * self.steps_per_person

    def release_visits(
        self, person: ArrayLike, place: ArrayLike, *, places: int, bits: Bits | None = None
    ) -> NDArray[np.int64]:
        """Return a subsampled noisy count, in steps, for each place.

        Args:
            person: for each (person, place) pair, who it is: numbers or strings.
            place: for each pair, the number of the place, 0 … places − 1.
            places: how many places there are (public).
            bits: the entropy source.

        Raises:
            InputError: if a place is not on the list, or, for the curator only, if a pair repeats or a person has more than
                ``places_per_person``.
        """
        bits = bits or SystemBits()
        at = integers(place)
        if at.size and not 0 <= at.min() <= at.max() < places:
            raise InputError(
                f"A visit to a place that is not one of the numbers 0 … {places - 1}",
                "the list of places is public: nothing in the data may add to it",
                "Drop such visits, or list the place",
            )
        _, owner, visits = np.unique(given_array(person), return_inverse=True, return_counts=True)
        pairs = np.unique(np.stack([owner, at]), axis=1).shape[1]
        if visits.max(initial=0) > self.places_per_person or pairs < at.size:
            raise InputError(
                "Visits beyond the declared bound, or the same one twice (for the curator only)",
                "the noise covers places_per_person different places for each person",
                "Bound the visits first: engine and query do it for a release",
            )
        kept = sampled_rows(owner, self.sampling, bits)
        return self.noise.noisy(self._in_steps(np.bincount(at[kept], minlength=places)), bits)

    def unbiased(self, released: ArrayLike) -> NDArray[np.float64]:
        """Return (z − E noise)/p in people: unbiased, free, and no longer one-sided."""
        centred = given_array(released, np.float64) - float(self.noise.law.mean())
        return centred / (float(self.sampling.probability) * self.steps_per_person)

    def variance(self, count: int) -> Weight:
        """Return the variance of the `unbiased` estimate at this true count, exactly: (c·p(1 − p) + Var noise)/p²."""
        p = self.sampling.probability
        return (count * p * (1 - p) + self.noise.law.variance() / self.steps_per_person**2) / p**2

    def on(self, counts: Iterable[int]) -> FiniteMechanism:
        """Return the exact matrix on counts of people at one place; outputs above their range are merged into its end."""
        counts = tuple(int(c) for c in counts)
        top = range(max(counts, default=0) + 1)
        noisy = self.noise.on([c * self.steps_per_person for c in top])
        return thinning(counts, self.sampling).then(noisy.pull_back(top, lambda c: c * self.steps_per_person))

    def on_tables(self, tables: Iterable[tuple[Any, ...]], places: Iterable[Hashable]) -> FiniteMechanism:
        """Return the exact matrix on tables whose records are sets of places: all places' counts, one coin a person.

        Args:
            tables: with every table those with some people missing.
            places: the public list; outputs are tuples of counts in this order, in steps.
        """
        tables, places = tuple(tables), tuple(places)
        top = max((len(table) for table in tables), default=0)
        one = self.noise.on([c * self.steps_per_person for c in range(top + 1)])
        every = FiniteMechanism.product([one] * len(places))

        def counts(table: tuple[Any, ...]) -> tuple[int, ...]:
            held = [record for record in table if record is not ABSENT]
            return tuple(self.steps_per_person * sum(place in record for record in held) for place in places)

        return subsampled(every.pull_back(tables, counts), self.sampling)

    def __repr__(self) -> str:
        size = f', step="1/{self.steps_per_person}"' if self.steps_per_person != 1 else ""
        return f'SubsampledCount("{self.epsilon}", places_per_person={self.places_per_person}{size})'


def as_postprocessing(epsilon: Exact, top: int) -> FiniteMechanism:
    """Return the channel that turns the two-sided geometric mechanism at ε into `SubsampledCount` (ours).

    At most 0 becomes 0; z ≥ 1 becomes 1 + Binomial(z − 1, 1 − e^{−ε}). So equation (3) with geometric noise is the usual
    mechanism, clamped at 0 and thinned: whatever is learnt from it could be learnt from the usual one.

    Proof, by generating functions: with α = e^{−ε}, s(x) = α + (1 − α)x for one thinned person and g(x) for the noise,
    the channel found by inverting the geometric matrix has rows ∝ g·s^{z−1}(s − α)(1 − αs), and
    (s − α)(1 − αs)·g = const·x, because the noise has rate ln(1 + e^ε).

    Args:
        epsilon: ε.
        top: inputs and outputs are 0 … top, where 0 and top stand for all below and above, as in `Geometric.on`.
    """
    count = SubsampledCount(epsilon)
    if top < 1:
        raise InputError(f"top = {top}", "the channel needs more than one answer", "Give at least 1")
    outputs = range(top + 1)
    thinned = thinning(range(top), count.sampling)
    rows: list[list[Weight]] = [[weight(int(z == 0)) for z in outputs]]
    rows += [[weight(0)] + [thinned.probability(z - 1, k - 1) for k in range(1, top + 1)] for z in range(1, top)]
    last = [weight(0) for _ in outputs]  # at the end the noise beyond the range is thinned too: 1 + Binomial + noise
    for k in range(top):
        for z in range(1 + k, top + 1):
            tail = count.noise.law.tail(z - 1 - k) if z == top else count.noise.law.pmf(z - 1 - k)
            last[z] += thinned.probability(top - 1, k) * tail
    return FiniteMechanism(outputs, outputs, [*rows, last])
