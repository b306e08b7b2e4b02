"""The article *One-Sided Differential Privacy*, derived from its definitions: laws written out, tables enumerated."""

from __future__ import annotations

import itertools
import math
from math import comb, exp, inf, log

from tests.papers.fresh.adp import scale

TOP = 80
BINS = {0: 9_900, 1: 60, 2: 30, 5: 10}


def up(count: int, rate: float = 1.0) -> dict[int, float]:
    return {z: (1 - exp(-rate)) * exp(-rate * (z - count)) for z in range(count, TOP)}


def down(count: int, rate: float = 1.0) -> dict[int, float]:
    return {-z: p for z, p in up(-count, rate).items()}


def both(count: int, rate: float = 1.0) -> dict[int, float]:
    r = exp(-rate)
    return {z: (1 - r) / (1 + r) * r ** abs(z - count) for z in range(-TOP, TOP)}


def added(x: int, y: int) -> float:
    """Definition 1: the truth has more people."""
    return x - y if x > y else inf


def removed(x: int, y: int) -> float:
    return added(y, x)


def thinned(count: int, p: float) -> dict[int, float]:
    return {k: comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)}


def sampled(table: frozenset[int], p: float) -> dict[frozenset[int], float]:
    """Theorem 5: the records that are kept, in the clear."""
    subsets = [frozenset(s) for n in range(len(table) + 1) for s in itertools.combinations(sorted(table), n)]
    return {s: p ** len(s) * (1 - p) ** (len(table) - len(s)) for s in subsets}


def then_up(count: int, p: float, rate: float) -> dict[int, float]:
    """Equation (3) on integers: a thinned count and upward noise."""
    law: dict[int, float] = {}
    for kept, chance in thinned(count, p).items():
        for z, q in up(kept, rate).items():
            law[z] = law.get(z, 0.0) + chance * q
    return law


def variances(epsilon: float, count: int) -> list[float]:
    """Laplace, geometric, equation (3), its bias, unbiased, unbiased on integers."""
    p, rate = 1 - exp(-epsilon), log(1 + exp(epsilon))
    a, b = exp(-epsilon), exp(-rate)
    spread = count * p * (1 - p)
    return [
        2 / epsilon**2,
        2 * a / (1 - a) ** 2,
        spread + 1 / rate**2,
        1 / rate - count * (1 - p),
        (spread + 1 / rate**2) / p**2,
        (spread + b / (1 - b) ** 2) / p**2,
    ]


def crossover(epsilon: float, column: int) -> float:
    """The count at which a variance, a straight line in the count, is Laplace's."""
    at_none, at_one = variances(epsilon, 0)[column], variances(epsilon, 1)[column]
    return (2 / epsilon**2 - at_none) / (at_one - at_none)


def squared_error_crossover(epsilon: float) -> float:
    """The larger root of (error of equation (3), bias included) = 2/ε²: a parabola in the count through three points."""

    def excess(count: int) -> float:
        row = variances(epsilon, count)
        return row[2] + row[3] ** 2 - row[0]

    c = excess(0)
    a = (excess(2) - 2 * excess(1) + c) / 2
    b = excess(1) - c - a
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


def postprocessed(count: int, epsilon: float) -> dict[int, float]:
    """A usual noisy count; if it is above 0, one and each of the others with probability p."""
    law: dict[int, float] = {}
    for z, chance in both(count, epsilon).items():
        for kept, q in thinned(z - 1, 1 - exp(-epsilon)).items() if z > 0 else [(-1, 1.0)]:
            law[kept + 1] = law.get(kept + 1, 0.0) + chance * q
    return law


def propositions() -> dict[str, float]:
    counts = range(6)
    pair = {x: up(x) for x in counts}, {x: down(x) for x in counts}
    halves = dict.fromkeys(range(4), 0.0)
    for (y, p), (x, q) in itertools.product(up(0).items(), up(0).items()):
        if y - x in halves:
            halves[y - x] += p * q
    fallen, centre = [down(1), down(0)], sum(z * p for z, p in up(0).items())
    moves = [(x, y) for x in ("s", "t") for y in ("s", "t", "n") if x != y]
    return {
        "one-sided-3": scale(pair[0], added),
        "one-sided-3-removal": scale(pair[0], removed),
        "one-sided-4": scale(pair[1], removed),
        "one-sided-two-sided": max(abs(p - both(0)[z]) for z, p in halves.items()),
        "one-sided-half": variance(both(0)) / variance(up(0)),
        "one-sided-half-gain": (2 * exp(-0.1) / (1 - exp(-0.1)) ** 2) / (exp(-0.1) / (1 - exp(-0.1)) ** 2),
        "one-sided-centred": sum((z - centre) * p for z, p in up(0).items()),
        "one-sided-centred-private": scale({x: {z - centre: p for z, p in up(x).items()} for x in counts}, added),
        "one-sided-sparse-up": sum(n * sum(p for z, p in up(c).items() if z > 0) for c, n in BINS.items()),
        "one-sided-sparse-down": sum(n * sum(p for z, p in down(c).items() if z > 0) for c, n in BINS.items()),
        "one-sided-negative": 1 - exp(-1),
        "one-sided-negative-exact": sum(max(0.0, p - exp(-1) * fallen[1].get(z, 0.0)) for z, p in fallen[0].items()),
        "one-sided-osdp": len(moves),
    }


def variance(law: dict[int, float]) -> float:
    centre = sum(z * p for z, p in law.items())
    return sum((z - centre) ** 2 * p for z, p in law.items())


def subsampling() -> dict[str, float]:
    tables = {frozenset(s): sampled(frozenset(s), 0.5) for n in range(4) for s in itertools.combinations(range(3), n)}

    def taken(x: frozenset[int], y: frozenset[int]) -> float:  # the truth has one person less
        return 1 if x < y and len(y - x) == 1 else inf

    halved = {x: then_up(x, 0.5, 1) for x in range(6)}
    rate = log(1 + math.e)
    third = {x: then_up(x, 1 - exp(-1), rate) for x in range(6)}
    alike = [abs(third[c].get(z, 0.0) - postprocessed(c, 1).get(z, 0.0)) for c in range(6) for z in range(20)]
    return {
        "one-sided-5": scale(tables, taken),
        "one-sided-5-addition": scale(tables, lambda x, y: taken(y, x)),
        "one-sided-5-small": (1 - exp(-0.01)) / 0.01,
        "one-sided-amplified": scale(halved, added),
        "one-sided-6-removal": scale(halved, removed),
        "one-sided-6-line": -log(1 - 0.5),
        "one-sided-equation-3-rate": 1 / rate,
        "one-sided-equation-3": max(scale(third, added), scale(third, removed)),
        "one-sided-postprocessing": max(alike),
        **{f"one-sided-crossover-printed-{n}": crossover(e, 2) for e, n in ((0.1, "0-1"), (1, "1"), (3, "3"))},
        **{f"one-sided-crossover-{n}": crossover(e, 4) for e, n in ((0.1, "0-1"), (1, "1"), (3, "3"))},
    }


def derived() -> dict[str, float]:
    return {**propositions(), **subsampling()}
