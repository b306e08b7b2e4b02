# SPDX-License-Identifier: Apache-2.0
"""Cities made to fit what the ADP paper prints, for want of its data (Peopleflow is not public).

The paper prints, for one hour: 5,835 places, 10,338 users, 5,343 safe places, of which ALap finds 5,031 and the best
(1, 1e-4)-DP mechanism 4; about 0.4 for the chance of a right answer at t = 1, averaged over random hours; and for one day:
ten right answers or more with probability about 0.5. What "safe" means it prints in four ways: fewer than 3, at most 3,
fewer than 5, at most 5; and for "at most" the noisy answer is tested as printed (continuous, z ≤ t) or so that the corollary
holds (z < t + 1, or geometric noise and z ≤ t).

`readings` shows, by linear programs over *all* histograms, how many (ε, δ) answers each of these can give, and what each
says of t = 1. On request only over histograms that do not rise (no more places with c + 1 people than with c), which is
plausible and nowhere printed. There are two cities for the hour:

* `caption_city`, "fewer than 3", as the caption of Figure 2 has it: 5,343, 5,031, 10,338 and, as closely as any histogram,
  4 (5.6 in expectation); the chance at t = 1 is then 0.63 in every city;
* `text_city`, "at most 5" with continuous noise and z ≤ t, as Section VI-B has it: 5,343, 5,031, 10,338 and 0.4 (in this one
  hour); 4 is then out of reach.

and one for the day, `day_city`: counts follow one geometric law, whose parameter is set by the printed 0.5.

Nothing is random but where places lie and which count is whose: both come from the seed. Places are cells of a lattice of
200 m, as in the authors' scripts, denser around 40 centres. Whatever is computed for these cities says nothing about the
paper's data: such numbers are "not reproducible", or "added".
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq, linprog
from scipy.stats import poisson

PLACES, PEOPLE, SAFE, FOUND, FOUND_DELTA = 5_835, 10_338, 5_343, 5_031, 4
"""What the paper prints about Dec/22th/2013 6 p.m."""
GIVE_OR_TAKE = 35.0
"""Two standard deviations of a number of answers like 5,031 of 5,343."""
AT_ONE, TEN_ANSWERS = 0.4, 0.5
"""E[β] at t = 1, and the probability of ten right answers or more; both "about"."""
SIDE = 120
"""Cells on each side of the lattice."""


@dataclass(frozen=True)
class Reading:
    """What "safe" means, and when ALap says it.

    Attributes:
        name: in words.
        at_most: the largest safe count.
        edge: ALap says *safe* of the count c with probability 1 − e^{−ε(edge − c)}, 0 from the edge on.
    """

    name: str
    at_most: int
    edge: int

    def at(self, t: int) -> Reading:
        """Return the same reading of another t."""
        at_most = t - 1 if "fewer" in self.name else t
        return Reading(f"t = {t}", at_most, at_most + self.edge - self.at_most)

    def alap(self, count: int, epsilon: float = 1.0) -> float:
        """Return Pr[safe | count] of ALap."""
        return max(0.0, -math.expm1(-epsilon * (self.edge - count)))


READINGS = (
    Reading("fewer than 3", 2, 3),
    Reading("at most 3, continuous noise and z ≤ 3", 3, 3),
    Reading("at most 3, corrected", 3, 4),
    Reading("fewer than 5", 4, 5),
    Reading("at most 5, continuous noise and z ≤ 5", 5, 5),
    Reading("at most 5, corrected", 5, 6),
)
CAPTION, TEXT = READINGS[0], READINGS[4]


def readings() -> pd.DataFrame:
    """Return, for each reading, what histograms allow: the least and most (ε, δ) answers, and E[β] at t = 1.

    Every histogram is meant with 5,343 safe places of 5,835, 10,338 people or fewer, and 5,031 expected ALap answers, give
    or take two standard deviations (35). For each of them the (ε, δ) competitor has Σ_c n_c·δ·Σ_{i<k} e^i expected answers
    (Section III-B, ε = 1, δ = 1e-4, α = 0, k = t + 1 − c). The columns that end in ``falling`` are about histograms with no
    more places with c + 1 people than with c: an assumption. E[β] at t = 1 is a mean of Pr[safe | c] over the safe counts,
    so it lies between the least and the greatest of them, whatever the data.
    """
    rows = []
    for reading in READINGS:
        ranges = [extremes(reading, falling=falling) for falling in (False, True)]
        likely = [None if few is None else float(poisson.cdf(FOUND_DELTA, few)) for few, _ in ranges]
        rows.append((reading.name, *ranges[0], likely[0], *ranges[1], likely[1], *at_one(reading)))
    names = ["fewest_delta_answers", "most_delta_answers", "chance_of_4_or_fewer"]
    return pd.DataFrame(
        rows, columns=["safe", *names, *(f"{n}_falling" for n in names), "least_beta_at_t_1", "most_beta_at_t_1"]
    )


def delta_answer(k: int) -> float:
    """Return the most that (1, 1/10000)-DP allows at distance k and α = 0 by Section III-B."""
    return min(1.0, 1e-4 * math.fsum(math.exp(i) for i in range(k)))


def at_one(reading: Reading) -> tuple[float, float]:
    """Return the least and the greatest E[β] at t = 1 that any data can give, safe and tested as the reading has it."""
    same = reading.at(1)
    beta = [same.alap(c) for c in range(same.at_most + 1)]
    return min(beta), max(beta)


def extremes(reading: Reading, *, falling: bool) -> tuple[float | None, float | None]:
    """Return the least and the most expected (ε, δ) answers over the histograms that fit; None if none fits.

    Args:
        reading: what is safe.
        falling: whether only histograms count with no more places with c + 1 people than with c.
    """
    counts = range(reading.at_most + 1)
    found_alap = [reading.alap(c) for c in counts]
    falls = [[0.0] * c + [-1.0, 1.0] + [0.0] * (len(counts) - c - 2) for c in range(len(counts) - 1)] if falling else []
    people = [float(c) for c in counts]
    ends = []
    for sign in (1, -1):
        found = linprog(
            [sign * delta_answer(reading.at_most + 1 - c) for c in counts],
            A_ub=[*falls, people, found_alap, [-b for b in found_alap]],
            b_ub=[0.0] * len(falls)
            + [float(PEOPLE - (PLACES - SAFE) * (reading.at_most + 1)), FOUND + GIVE_OR_TAKE, GIVE_OR_TAKE - FOUND],
            A_eq=[[1.0] * len(counts)],
            b_eq=[float(SAFE)],
            method="highs",
        )
        ends.append(sign * float(found.fun or 0) if found.success else None)
    return ends[0], ends[1]


@dataclass(frozen=True)
class City:
    """Places on a lattice and how many people are at each.

    Attributes:
        name: which one.
        counts: people at each place.
        cells: the place's cell in the lattice, row · SIDE + column.
    """

    name: str
    counts: NDArray[np.int64]
    cells: NDArray[np.int64]

    @property
    def histogram(self) -> dict[int, int]:
        """How many places have each count."""
        values, places = np.unique(self.counts, return_counts=True)
        return dict(zip(values.tolist(), places.tolist(), strict=True))


def caption_city(seed: int = 1) -> City:
    """Return the hour in which *safe* is "fewer than 3".

    For each n_2 there is one whole n_1 that comes nearest to 5,031 answers. Of those within a tenth of an answer, that
    with n_2 nearest to n_1/4 is taken.
    """
    beta = [CAPTION.alap(c) for c in range(3)]
    fits = []
    for two in range(200):
        one = round((SAFE * beta[0] - FOUND - two * (beta[0] - beta[2])) / (beta[0] - beta[1]))
        off = abs((SAFE - one - two) * beta[0] + one * beta[1] + two * beta[2] - FOUND)
        if one >= two and off < 0.1:
            fits.append((abs(two - one / 4), one, two))
    _, one, two = min(fits)
    return _placed("the hour, safe = fewer than 3", [SAFE - one - two, one, two], seed)


def text_city(seed: int = 1) -> City:
    """Return the hour in which *safe* is "at most 5" and ALap is continuous.

    n_1 follows from n_0 by the printed 0.4; n_2, …, n_5 fall by one ratio; n_0 and the ratio follow from 5,343 and 5,031.
    """
    beta = [TEXT.alap(c) for c in range(6)]
    one_each = -math.expm1(-1) / AT_ONE - 1  # n_1/n_0

    def histogram(ratio: float) -> NDArray[np.float64]:
        shape = np.array([1.0, one_each, *(one_each * ratio**i for i in range(1, 5))], np.float64)
        scaled: NDArray[np.float64] = shape * (SAFE / shape.sum())
        return scaled

    ratio = brentq(lambda r: float(histogram(r) @ beta) - FOUND, 0.05, 0.99)
    places = [round(float(n)) for n in histogram(float(ratio))]
    places[2] += SAFE - sum(places)
    return _placed("the hour, safe = at most 5", places, seed)


def day_city(seed: int = 1) -> City:
    """Return the day: n_c ∝ r^c, with r such that ten places in random order all get a right answer with probability 0.5."""
    beta = np.array([TEXT.alap(c) for c in range(6)])

    def right(r: float) -> float:
        return float((1 - r) * r ** np.arange(6) @ beta)

    r = float(brentq(lambda x: right(x) - TEN_ANSWERS ** (1 / 10), 0.05, 0.95))
    quantiles = (np.arange(PLACES) + 0.5) / PLACES
    counts = np.floor(np.log1p(-quantiles) / math.log(r)).astype(np.int64)
    return _scattered("the day", counts, seed)


def _placed(name: str, safe: list[int], seed: int) -> City:
    """Fill up with unsafe places whose counts fall like a power law and bring all 10,338 people to a place."""
    unsafe, least = PLACES - sum(safe), len(safe)
    left = PEOPLE - sum(c * n for c, n in enumerate(safe))
    ranks = (np.arange(unsafe) + 0.5) / unsafe

    def counts(power: float) -> NDArray[np.int64]:
        return np.floor(least * ranks**-power).astype(np.int64)

    power = brentq(lambda a: float(counts(a).sum()) - left, 0.01, 3, xtol=1e-6)
    many = counts(float(power))
    many[0] += left - int(many.sum())  # the rest of the rounding goes to the fullest place
    return _scattered(name, np.concatenate([np.repeat(np.arange(least), safe), many]), seed)


def _scattered(name: str, counts: NDArray[np.int64], seed: int) -> City:
    """Put the counts on the lattice: many people near the centres, by rank and chance."""
    cells, nearness = _lattice(seed)
    rng = np.random.default_rng([seed, 3])
    order = np.argsort(-(nearness + rng.normal(0, 1.5, PLACES)))
    placed = np.empty(PLACES, np.int64)
    placed[order] = np.sort(counts)[::-1]
    return City(name, placed, cells)


@functools.cache
def _lattice(seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return 5,835 cells and how near each is to the centres."""
    rng = np.random.default_rng([seed, 2])
    centres = rng.normal(SIDE / 2, SIDE / 5, (40, 2))
    row, column = np.divmod(np.arange(SIDE * SIDE), SIDE)
    squared = ((np.stack([row, column], axis=1)[:, None] - centres) ** 2).sum(axis=2)
    nearness = np.log((np.exp(-np.sqrt(squared) / 6) / (1 + np.arange(40))).sum(axis=1))
    chosen = np.sort(np.argsort(-(nearness + rng.gumbel(0, 0.6, SIDE * SIDE)))[:PLACES])
    return chosen, nearness[chosen]
