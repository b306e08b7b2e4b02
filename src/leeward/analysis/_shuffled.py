# SPDX-License-Identifier: Apache-2.0
"""The shuffle model for reports with a direction: what it gains, exactly, for few people.

Each of n people reports through the same local mechanism R, and the reports are published without who sent which: the
histogram of the reports (Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, *Distributed differential privacy via shuffling*).
What a person with record x gives away who wants to pass as one with x', in one direction, is the least δ of

    Pr[Z | x, others] ≤ e^ε · Pr[Z | x', others] + δ        for all sets Z of histograms,

the sum over histograms h of what is positive of ``Pr[h | x, others] − e^ε·Pr[h | x', others]``, at its largest over the
records that the n − 1 others may have: δ_n(ε), found here by enumeration. What is true of it, in each direction by itself:

* It never costs: δ_{n+1}(ε) ≤ δ_n(ε), and δ_1 is that of R alone. One more report, drawn and mixed in, is post-processing.
* ε alone is never amplified: the least ε with δ_n(ε) = 0 is that of R for every n. If R has its largest ratio at the report
  z, and all others have the record x, the histogram of n times z has that ratio.
* Where a report rules x' out, nothing is gained in the limit: for every n and ε, δ_n(ε) ≥ the chance of such reports under
  x. If all others have the record x', none of theirs is such a report. At ε = 0 that holds the other way round as well:
  δ_n(0) is the distance in total variation, which has no direction.
* Where some record gives one report with certainty, nothing is gained anywhere, δ_n = δ_1: all others may have that
  record, and taking their reports away leaves the person's. So it is with Mangat's randomized response, where a *yes*
  always says yes, and with that of OSDP, where a sensitive record is always withheld. What is amplified has noise on every
  record, as utility-optimized randomized response of several sensitive records has, between 0 and ε where it protects.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, whole
from leeward.exact._weight import Weight, exp, weight, weighted_sum
from leeward.mechanism import FiniteMechanism

_MOST = 20_000
"""Histograms, times sets of others, times reports: a minute at most."""

_Law = Mapping[tuple[int, ...], Weight]
"""The law of a histogram: how often each report was given."""


@dataclass(frozen=True)
class Shuffled:
    """What shuffled reports say of one person who has the record ``before`` and wants to pass as one with ``after``.

    Attributes:
        before: the truth.
        after: what it is to pass as.
        people: n, this person included.
        pairs: for each choice of the others' records, in the order of the mechanism's, the two chances of each histogram.
    """

    before: Any
    after: Any
    people: int
    pairs: Mapping[tuple[Any, ...], Sequence[tuple[Weight, Weight]]] = field(repr=False)

    def delta(self, epsilon: Exact, others: Iterable[Any] | None = None) -> Weight:
        """Return δ_n(ε), exact: the least δ for which (ε, δ) holds in this direction.

        Args:
            epsilon: any finite number, also a negative one.
            others: the records of the n − 1 others, in any order, if they are known; by default the worst there can be.

        Raises:
            InputError: if ε is infinite, or these are not n − 1 records of the mechanism.
        """
        number = exact(epsilon)
        if number.is_infinite:
            raise InputError(f"epsilon = {number}", "e^ε must be a finite number", "Give a finite number")
        if others is None:
            return max(_delta(pairs, number) for pairs in self.pairs.values())
        asked = Counter(others)
        for chosen, pairs in self.pairs.items():
            if Counter(chosen) == asked:
                return _delta(pairs, number)
        raise InputError(
            f"The records of {asked.total()} others",
            f"there are {self.people - 1}, and each has one of the mechanism's records",
            "Give so many of these",
        )

    def curve(self, epsilons: Iterable[Exact]) -> dict[Real, Weight]:
        """Return δ_n for each ε, exact."""
        return {exact(epsilon): self.delta(epsilon) for epsilon in epsilons}


@taught
def shuffled(mechanism: FiniteMechanism, people: int, before: Hashable, after: Hashable) -> Shuffled:
    """Return what the shuffled reports of a few people say in one direction, by going through all histograms.

    Args:
        mechanism: of one report, on the records there are; ``warner("1").on()``, ``urr("1", records, sensitive)``.
        people: n, at least 1.
        before: the record that the person has.
        after: the record that the person wants to pass as.

    Raises:
        InputError: if a record is no row, or there are too many histograms and others' records to go through (n reports of k
            kinds make C(n + k − 1, k − 1) histograms, n − 1 others of m records C(n + m − 2, m − 1) choices; 20,000 is the
            most of k times their product).
    """
    size = whole(people, "people", 1, says="it is how many report, this person included")
    rows = {x: list(mechanism.row(x).values()) for x in (*mechanism.inputs, before, after)}
    kinds, records = len(mechanism.outputs), len(mechanism.inputs)
    work = kinds * math.comb(size + kinds - 1, kinds - 1) * math.comb(size + records - 2, records - 1)
    if work > _MOST:
        raise InputError(
            f"{size} people, {kinds} reports and {records} records",
            f"to go through all histograms and all records of the others takes {work:,} steps; {_MOST:,} is the most",
            "Ask about fewer people: what holds for them holds for more",
        )
    laws: dict[tuple[Any, ...], _Law] = {(): {(0,) * kinds: weight(1)}}
    for number in range(1, size):
        for others in itertools.combinations_with_replacement(mechanism.inputs, number):
            laws[others] = _with(laws[others[:-1]], rows[others[-1]])
    pairs = {}
    for others in itertools.combinations_with_replacement(mechanism.inputs, size - 1):
        here, there = _with(laws[others], rows[before]), _with(laws[others], rows[after])
        pairs[others] = [(here.get(h, weight(0)), there.get(h, weight(0))) for h in {**here, **there}]
    return Shuffled(before, after, size, pairs)


def _with(law: _Law, row: Sequence[Weight]) -> _Law:
    """Add one report to a histogram."""
    terms: dict[tuple[int, ...], list[tuple[Weight, int]]] = {}
    for histogram, chance in law.items():
        for z, p in enumerate(row):
            if p:
                terms.setdefault((*histogram[:z], histogram[z] + 1, *histogram[z + 1 :]), []).append((chance * p, 1))
    return {histogram: weighted_sum(added) for histogram, added in terms.items()}


def _delta(pairs: Sequence[tuple[Weight, Weight]], epsilon: Real) -> Weight:
    gains = [p - q * exp(epsilon) for p, q in pairs]
    return weighted_sum((gain, 1) for gain in gains if gain > 0)
