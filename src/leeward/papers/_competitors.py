# SPDX-License-Identifier: Apache-2.0
"""The competitors of ADP's experiments: how often each calls a safe count safe, from closed forms and exact recursions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from leeward.analysis._bounds import best_decision, delta_bound
from leeward.exact._real import inf
from leeward.papers._cities import Reading

CORRECTED, PRINTED = "ALap, corrected", "ALap as printed"
DELTA_BOUND, DELTA_BEST = "(ε, δ)-DP, bound of III-B", "(ε, δ)-DP, true optimum"
EPSILON_BOUND, EPSILON_BEST = "ε-DP, bound of III-A", "ε-DP, true optimum"
ALL = (CORRECTED, PRINTED, DELTA_BOUND, DELTA_BEST, EPSILON_BOUND, EPSILON_BEST)


@dataclass(frozen=True)
class Setting:
    """ε, t, α and δ of an experiment, exact, and whether *safe* is "fewer than t" instead of "at most t"."""

    epsilon: Fraction = Fraction(1)
    t: int = 5
    alpha: Fraction = Fraction(1, 1000)
    delta: Fraction = Fraction(1, 10_000)
    strict: bool = False

    @property
    def at_most(self) -> int:
        """The largest safe count."""
        return self.t - 1 if self.strict else self.t


@functools.cache
def chances(setting: Setting, name: str) -> tuple[float, ...]:
    """Return Pr[safe | c] for c = 0, …, the largest safe count.

    * ALap, corrected: geometric noise and z ≤ at_most, 1 − e^{−εk} at distance k = at_most + 1 − c: the optimum of ADP.
    * ALap as printed: continuous noise and z ≤ t, 1 − e^{−ε(t−c)}; for "fewer than t" the two are the same.
    * the others: Sections III-A and III-B, and the tight recursion (`best_decision`).
    """
    e, top = setting.epsilon, setting.at_most + 1
    distances = range(top, 0, -1)
    if name == CORRECTED:
        return _curve(e, None, Fraction(0), Fraction(0), top)[:0:-1]
    if name == PRINTED:
        reading = Reading("", setting.at_most, setting.t)
        return tuple(reading.alap(c, float(e)) for c in range(top))
    delta = setting.delta if name in (DELTA_BOUND, DELTA_BEST) else Fraction(0)
    if name in (DELTA_BOUND, EPSILON_BOUND):
        return tuple(float(delta_bound(e, delta, k, setting.alpha)) for k in distances)
    return _curve(e, e, setting.alpha, delta, top)[:0:-1]


@functools.cache
def _curve(fall: Fraction, rise: Fraction | None, alpha: Fraction, delta: Fraction, k: int) -> tuple[float, ...]:
    return tuple(float(p) for p in best_decision(fall, inf if rise is None else rise, k, alpha, delta=delta))


def expected_beta(histogram: Mapping[int, int], setting: Setting, name: str) -> float:
    """Return E[β] of Section VI-A4: the chance of a right answer at a safe place drawn at random."""
    return mean_at_safe(histogram, chances(setting, name))


def mean_at_safe(histogram: Mapping[int, int], beta: Sequence[float]) -> float:
    """Return the mean over the places with counts that are safe, of which each has its chance of a right answer."""
    safe = [histogram.get(c, 0) for c in range(len(beta))]
    return sum(n * b for n, b in zip(safe, beta, strict=True)) / max(sum(safe), 1)


def right_at_random(histogram: Mapping[int, int], setting: Setting, name: str) -> float:
    """Return the chance that a place drawn at random is safe and is called so."""
    beta = chances(setting, name)
    return sum(histogram.get(c, 0) * b for c, b in enumerate(beta)) / sum(histogram.values())
