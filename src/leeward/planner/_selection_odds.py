# SPDX-License-Identifier: Apache-2.0
"""Which one would be named, if so many places held so many people: by naming alone, and by the largest of noisy counts.

Here places are told apart by their gap alone: how many fewer people they have than the busiest, or how many more than the
quietest. Chances are floats, for display: nothing private is drawn from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._document import Part
from leeward._integers import least_between
from leeward.noise import DirectedGeometric
from leeward.query._selection import Which

Gaps = Mapping[int, int]
"""How many places lie how far from the one that is asked for."""

Floats = NDArray[np.float64]


class ExpectedName(Part):
    """What is to be expected of a name, if counts were those that are given.

    Attributes:
        right: the chance that the one that is named is the one asked for, or one of several.
        mean_gap: how many fewer people it has than the busiest on average, or how many more than the quietest.
        within_95_percent: so many at most, with probability at least 95 %.
    """

    right: float
    mean_gap: float
    within_95_percent: int


def gaps_of(counts: Mapping[int, int], which: Which) -> Gaps:
    """Return how many places lie how far from the one asked for, of so many places with so many people."""
    held = [count for count, number in counts.items() if number]
    ends = max(held), min(held)
    return {ends[0] - c if which == "busiest" else c - ends[1]: n for c, n in counts.items() if n}


def expected_name(chances: Mapping[int, float]) -> ExpectedName:
    """Return what is to be expected where a place at each gap is named with these chances."""
    return ExpectedName(
        right=min(chances[0], 1.0),
        mean_gap=sum(gap * p for gap, p in chances.items()),
        within_95_percent=_kept(chances),
    )


@vanishing
def by_name(rate: float, gaps: Gaps) -> dict[int, float]:
    """Return how often a place at each gap is named by `leeward.mechanism.NoisyMax`: the integral of its docstring."""
    u, width = _nodes()
    accepted = {gap: math.exp(-rate * gap) for gap in gaps}
    logs = {gap: np.log1p(-p * u) for gap, p in accepted.items()}
    whole = np.sum([number * logs[gap] for gap, number in gaps.items()], axis=0)
    return {gap: float(n * accepted[gap] * (width @ np.exp(whole - logs[gap]))) for gap, n in gaps.items()}


@vanishing
def by_counts(law: DirectedGeometric, gaps: Gaps) -> dict[int, float] | None:
    """Return how often a place at each gap has the largest noisy count, ties broken alike; None if that takes too long.

    A place at gap g has the largest value v with the probability that its noise is v + g, times the chance that no other is
    larger; among several at v each is as likely, as if each had a further uniform number and the largest won.
    """
    number = sum(gaps.values())
    low = 0 if law.down.is_infinite else law.quantile("1e-12")
    high = 0 if law.up.is_infinite else law.quantile(1 - Fraction(1, 10**12 * number))
    size = high - low + 1
    if size * len(gaps) > _MOST:
        return None
    mass = law.pmf_array(np.arange(low, high + size + 1))  # whoever lies further below is never the largest
    below = np.concatenate([[0.0], np.cumsum(mass)])  # P(noise < low + i)
    u, width = _nodes()
    at = {gap: np.minimum(np.arange(size) + gap, 2 * size - 1) for gap in gaps}
    logs = {gap: np.log(below[i, None] + mass[i, None] * (1 - u)) for gap, i in at.items()}
    whole = np.sum([n * logs[gap] for gap, n in gaps.items()], axis=0)
    return {gap: float(n * mass[at[gap]] @ np.exp(whole - logs[gap]) @ width) for gap, n in gaps.items()}


def within_by_counts(law: DirectedGeometric, options: int) -> int | None:
    """Return the least k such that the largest of noisy counts is that of a place at most k below, with probability 95 %.

    Whatever the counts are: one largest, and all others k + 1 below it, is the worst. Raising a place that is more than k
    below to k + 1 below only raises its noisy count; and lowering one that is at most k below to there makes it a bad one
    and leaves it named less often in place of others that are bad. None if that takes too long.
    """
    if options == 1:
        return 0

    def keeps(k: int) -> bool | None:
        chances = by_counts(law, {0: 1, k + 1: options - 1})
        return None if chances is None else chances[0] >= _MOSTLY

    return _least(keeps)


_MOSTLY = 0.95
_MOST = 3_000
"""Values of noise times gaps: some tenths of a second."""


def _least(keeps: Callable[[int], bool | None]) -> int | None:
    most = 0
    while not (kept := keeps(most)):
        if kept is None:
            return None
        most = 2 * most + 1
    return least_between(keeps, most // 2 if most else -1, most)


def _kept(chances: Mapping[int, float]) -> int:
    total = 0.0
    for gap in sorted(chances):
        total += chances[gap]
        if total >= _MOSTLY - 1e-9:
            return gap
    return max(chances)


def _nodes() -> tuple[Floats, Floats]:
    """Return nodes and weights on 0 to 1, as fine at each power of ten near 0: there many places decide."""
    x, w = np.polynomial.legendre.leggauss(24)
    edges = [0.0, *(10.0**-k for k in range(9, -1, -1))]
    pairs = list(pairwise(edges))
    return (
        np.concatenate([(a + b) / 2 + (b - a) / 2 * x for a, b in pairs]),
        np.concatenate([(b - a) / 2 * w for a, b in pairs]),
    )
