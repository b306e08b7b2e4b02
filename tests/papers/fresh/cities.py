"""ADP, Section VI: what the printed numbers allow, and what holds in the synthetic cities, from their descriptions alone.

The paper prints 5,835 places, 10,338 people, 5,343 safe places, 5,031 of them found by ALap and 4 by (1, 10⁻⁴)-DP, about 0.4
at t = 1, and for a day ten right answers with probability about 0.5. The cities are described in ``leeward.papers``.
"""

from __future__ import annotations

import itertools
import math
from math import exp, expm1

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.stats import poisson

PLACES, PEOPLE, SAFE, FOUND = 5_835, 10_338, 5_343, 5_031
READINGS = ((2, 3), (3, 3), (3, 4), (4, 5), (5, 5), (5, 6))
"""Of what is safe: the most people at a safe place, and where the chance of "safe" ends."""
EPSILONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
SMALL = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)


def alap(count: int, edge: int, epsilon: float = 1.0) -> float:
    return -expm1(-epsilon * (edge - count)) if count < edge else 0.0


def bound(k: int, epsilon: float, alpha: float, delta: float) -> float:
    """Inequalities (6) and (7): the greatest β that they leave at distance k."""
    return min(1.0, alpha * exp(k * epsilon) + delta * sum(exp(i * epsilon) for i in range(k)))


def possible(k: int, epsilon: float, alpha: float, delta: float) -> float:
    """The greatest chance k steps from unsafe: what either word's inequality leaves, one step after the other."""
    chance = alpha
    for _ in range(k):
        chance = min(exp(epsilon) * chance + delta, 1 - exp(-epsilon) * (1 - delta - chance), 1.0)
    return chance


def extremes(at_most: int, edge: int, falling: bool) -> tuple[float, float]:
    """The fewest and the most expected (1, 10⁻⁴)-DP answers of all histograms that fit what is printed."""
    counts = range(at_most + 1)
    rows = [[float(c) for c in counts], [alap(c, edge) for c in counts], [-alap(c, edge) for c in counts]]
    limits = [float(PEOPLE - (PLACES - SAFE) * (at_most + 1)), FOUND + 35.0, 35.0 - FOUND]
    for low, high in itertools.pairwise(counts) if falling else ():
        rows.append([float((c == high) - (c == low)) for c in counts])
        limits.append(0.0)
    goal = [bound(at_most + 1 - c, 1, 0, 1e-4) for c in counts]
    ends = [
        linprog([sign * g for g in goal], A_ub=rows, b_ub=limits, A_eq=[[1.0] * len(goal)], b_eq=[float(SAFE)])
        for sign in (1, -1)
    ]
    assert all(end.status == 0 for end in ends)
    return float(ends[0].fun), float(-ends[1].fun)


def at_one(at_most: int, edge: int, strict: bool) -> list[float]:
    """Pr[safe] of the safe counts when t = 1: fewer than 1, or at most 1 with the same test."""
    most = 0 if strict else 1
    return [alap(c, most + edge - at_most) for c in range(most + 1)]


def table() -> list[list[float]]:
    """The numbers of the table of readings, row by row."""
    rows = []
    for i, (at_most, edge) in enumerate(READINGS):
        ranges = [extremes(at_most, edge, falling) for falling in (False, True)]
        numbers = [n for few, most in ranges for n in (few, most, float(poisson.cdf(4, few)))]
        beta = at_one(at_most, edge, strict=i in (0, 3))
        rows.append([*numbers, min(beta), max(beta)])
    return rows


# ---- the three cities, as they are described: how many safe places have 0, 1, 2, … people


def caption_city() -> list[int]:
    """For each n_2 the n_1 ≥ n_2 that comes nearest to 5,031 answers, within a tenth; of these n_2 nearest to n_1/4."""
    beta = [alap(c, 3) for c in range(3)]
    fits = []
    for two in range(200):
        cities = [[SAFE - one - two, one, two] for one in range(two, SAFE // 2)]
        off, nearest = min((abs(sum(n * b for n, b in zip(city, beta, strict=True)) - FOUND), city) for city in cities)
        if off < 0.1:
            fits.append((abs(two - nearest[1] / 4), nearest))
    return min(fits)[1]


def text_city() -> list[int]:
    """n_1/n_0 by the printed 0.4, n_2 … n_5 by one ratio, 5,343 places and 5,031 answers; rounded, the rest to n_2."""
    ones = -expm1(-1) / 0.4 - 1

    def shape(ratio: float) -> list[float]:
        raw = [1.0, ones, *(ones * ratio**i for i in range(1, 5))]
        return [SAFE * x / sum(raw) for x in raw]

    ratio = brentq(lambda r: sum(n * alap(c, 5) for c, n in enumerate(shape(r))) - FOUND, 0.05, 0.99)
    places = [round(n) for n in shape(ratio)]
    places[2] += SAFE - sum(places)
    return places


def day_city() -> list[int]:
    """n_c ∝ r^c, rounded by quantiles, with ten right answers at 0.5."""
    r = brentq(lambda x: sum((1 - x) * x**c * alap(c, 5) for c in range(6)) - 0.5**0.1, 0.05, 0.95)
    above = [
        sum(1 - (i + 0.5) / PLACES <= r**c for i in range(PLACES)) for c in range(200)
    ]  # places with c people or more
    return [n - more for n, more in itertools.pairwise(above)]


def mean(city: list[int], chances: list[float]) -> float:
    safe = city[: len(chances)]
    return sum(n * p for n, p in zip(safe, chances, strict=True)) / sum(safe)


def right_in_row(city: list[int], chances: list[float], row: int) -> float:
    """That the first places of a random order are all safe and said to be: Σ over how many of each count, by products."""
    generating = np.polynomial.Polynomial([1.0])
    for n, p in zip(city, chances, strict=False):
        factor = [math.comb(n, m) * p**m for m in range(row + 1)]
        generating = np.polynomial.Polynomial((generating * np.polynomial.Polynomial(factor)).coef[: row + 1])
    return float(generating.coef[row] / math.comb(PLACES, row))


def attained(strict: bool) -> int:
    """In how many of the 45 settings inequality (7) is attained at every safe count."""
    settings = [(e, 5, 1e-3, 1e-4) for e in EPSILONS] + [(1.0, t, 1e-3, 1e-4) for t in range(1, 11)]
    settings += [(1.0, 5, a, 1e-4) for a in SMALL] + [(1.0, 5, 1e-3, d) for d in SMALL]
    assert len(settings) == 45
    return sum(
        all(math.isclose(bound(k, e, a, d), possible(k, e, a, d), abs_tol=1e-12) for k in range(1, t + 2 - strict))
        for e, t, a, d in settings
    )


def hour() -> dict[str, float]:
    caption, text = caption_city(), text_city()
    strict = [alap(c, 3) for c in range(3)]
    printed, corrected = [alap(c, 5) for c in range(6)], [alap(c, 6) for c in range(6)]
    few, most = table()[0][0], {name: [f(6 - c, 1, *s) for c in range(6)] for name, f, s in (
        ("alpha-bound", bound, (1e-2, 1e-4)), ("alpha-best", possible, (1e-2, 1e-4)),
        ("delta-bound", bound, (1e-3, 1e-1)), ("delta-best", possible, (1e-3, 1e-1)))}  # fmt: skip
    return {
        "adp-places": PLACES,
        "adp-people": PEOPLE,
        "adp-safe": sum(caption),
        "adp-found-caption": SAFE * mean(caption, strict),
        "adp-found-text": SAFE * mean(text, printed),
        "adp-found-text-corrected": SAFE * mean(text, corrected),
        "adp-delta-caption": SAFE * mean(caption, [bound(3 - c, 1, 0, 1e-4) for c in range(3)]),
        "adp-delta-caption-best": SAFE * mean(caption, [possible(3 - c, 1, 0, 1e-4) for c in range(3)]),
        "adp-delta-text": SAFE * mean(text, [bound(6 - c, 1, 0, 1e-4) for c in range(6)]),
        "adp-readings-fewest": few,
        "adp-readings-fewest-5": extremes(5, 5, False)[0],
        "adp-readings-fewest-4": extremes(4, 5, False)[0],
        "adp-epsilon-zero": SAFE * mean(caption, [possible(3 - c, 1, 0, 0) for c in range(3)]),
        "adp-t-1": mean(text, [alap(0, 1), alap(1, 1)]),
        "adp-t-1-corrected": mean(text, [alap(0, 2), alap(1, 2)]),
        "adp-t-1-strict": alap(0, 1),
        "adp-7-attained": attained(False),
        "adp-7-attained-strict": attained(True),
        "adp-alpha-errors": 0.01 * (PLACES - SAFE),
        **{f"adp-{name}": mean(text, chances) for name, chances in most.items()},
    }


def day() -> dict[str, float]:
    city = day_city()
    printed, corrected = [alap(c, 5) for c in range(6)], [alap(c, 6) for c in range(6)]

    def once(chances: list[float]) -> float:  # a place drawn at random is safe, and said to be
        return sum(n * p for n, p in zip(city, chances, strict=False)) / PLACES

    def answers(epsilon: float, t: int) -> float:  # until the first place that is not said to be safe
        q = once([alap(c, t, epsilon) for c in range(t + 1)])
        return q / (1 - q)

    return {
        "adp-ten": right_in_row(city, printed, 10),
        "adp-ten-corrected": right_in_row(city, corrected, 10),
        "adp-ten-scripts": once(printed) ** 9,
        "adp-alap-one": once(printed),
        "adp-alap-all": sum(n * alap(c, 5, 1 / PLACES) for c, n in enumerate(city[:6])),
        "adp-t-1-day": mean(city, [alap(0, 1), alap(1, 1)]),
        "adp-salap-expected": answers(1, 5),
        "adp-collapse-epsilon": answers(0.5, 5) / answers(1, 5),
        "adp-collapse-epsilon-10": answers(0.1, 5) / answers(1, 5),
        "adp-collapse-t": answers(1, 2) / answers(1, 5),
    }


def derived() -> dict[str, float]:
    return {**hour(), **day()}
