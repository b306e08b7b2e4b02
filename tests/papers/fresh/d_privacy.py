"""d-privacy, derived from its definitions: metrics, chains and induced distances, on all tables of two people."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import numpy as np
from tests.papers.fresh.adp import scale, two_sided

Table = tuple[int | None, ...]
Metric = Callable[[Any, Any], Fraction]
WIDTH = 2
"""V = {0, 1, 2}, and nobody: None, as far from every value as two values can be (Section 5)."""
EVERYONE: list[Table] = list(itertools.product(range(WIDTH + 1), repeat=2))
TABLES: list[Table] = [x for x in itertools.product((0, 1, 2, None), repeat=2) if any(v is not None for v in x)]


def d_v(v: int | None, w: int | None) -> Fraction:
    return Fraction(0 if v == w else WIDTH if v is None or w is None else abs(v - w))


def d_h(x: Table, y: Table) -> Fraction:
    return Fraction(sum(v != w for v, w in zip(x, y, strict=True)))


def d_1(x: Table, y: Table) -> Fraction:
    return sum((d_v(v, w) for v, w in zip(x, y, strict=True)), Fraction(0))


def d_n(x: Table, y: Table) -> Fraction:
    return d_1(x, y) / WIDTH


def d_max(x: Table, y: Table) -> Fraction:
    return max(d_v(v, w) for v, w in zip(x, y, strict=True))


def d_r(x: Table, y: Table) -> Fraction:
    """One removed, or one added: a change of value is both."""
    return Fraction(sum(0 if v == w else 1 if None in (v, w) else 2 for v, w in zip(x, y, strict=True)))


METRICS: dict[str, Metric] = {"d_h": d_h, "d_1": d_1, "d̃_1": d_n, "d_∞": d_max}


def present(x: Table) -> list[int]:
    return sorted(v for v in x if v is not None)


def percentile(p: int) -> Callable[[Table], Fraction]:
    """Theorem 13's proof: sort(x)[l], l = ⌊p·m/100 + 1⌋ counted from 1."""
    return lambda x: Fraction(present(x)[math.floor(Fraction(p * len(present(x)), 100) + 1) - 1])


def average(x: Table) -> Fraction:
    return Fraction(sum(present(x)), len(present(x)))


def half_up(x: Table) -> Fraction:
    return Fraction(math.floor(average(x) + Fraction(1, 2)))


def half_to_even(x: Table) -> Fraction:
    low = math.floor(average(x))
    rest = average(x) - low
    return Fraction(low if rest < Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 0) else low + 1)


QUERIES: dict[str, Callable[[Table], Fraction]] = {
    "sum": lambda x: Fraction(sum(present(x))),
    "average": average,
    "minimum": percentile(0),
    "25-percentile": percentile(25),
    "median": percentile(50),
    "maximum": percentile(99),  # the last of two, and of one
}


def shortest(points: Sequence[Any], edge: Callable[[Any, Any], Fraction | float]) -> dict[tuple[Any, Any], Any]:
    """Shortest ways, along every chain."""
    way = {(x, y): Fraction(0) if x == y else edge(x, y) for x in points for y in points}
    for middle, x, y in itertools.product(points, repeat=3):
        if way[x, middle] + way[middle, y] < way[x, y]:
            way[x, y] = way[x, middle] + way[middle, y]
    return way


def gap(y: Any, z: Any) -> Fraction:
    return abs(y - z)


def sensitive(f: Callable[[Any], Any], space: Sequence[Any], d: Metric, on: Metric = gap) -> tuple[Fraction, bool]:
    """Definitions 4 and 5: the sensitivity, and whether all answers are joined by tight expansive chains."""
    delta = max(on(f(x), f(y)) / d(x, y) for x, y in itertools.permutations(space, 2))
    expansive = {(f(x), f(y)) for x, y in itertools.product(space, repeat=2) if on(f(x), f(y)) == delta * d(x, y)}
    answers = sorted({f(x) for x in space})
    way = shortest(answers, lambda y, z: on(y, z) if (y, z) in expansive else inf)
    return delta, all(way[y, z] == on(y, z) for y in answers for z in answers)


def sensitivities() -> list[tuple[str, str, float, bool]]:
    return [
        (metric, name, float(delta), uniform)
        for metric, d in METRICS.items()
        for name, f in QUERIES.items()
        for delta, uniform in [sensitive(f, TABLES, d)]
    ]


# ---- Definitions 2, 3 and 10


def joined(pairs: Iterable[tuple[Table, Table]], d: Metric) -> bool:
    """Whether chains of these pairs join all tables tightly."""
    allowed = set(pairs)
    way = shortest(EVERYONE, lambda x, y: d(x, y) if (x, y) in allowed else inf)
    return all(way[x, y] == d(x, y) for x in EVERYONE for y in EVERYONE)


def swapped(hiding: Iterable[Mapping[Table, Table]], d: Metric) -> list[tuple[Table, Table]]:
    found = []
    for phi in hiding:
        most = max(d(x, phi[x]) for x in EVERYONE)
        found += [(x, y) for x, y in phi.items() if phi[y] == x and d(x, y) == most]
    return found


def inside(neighbourhoods: Iterable[Sequence[Table]], d: Metric, maximal: bool) -> list[tuple[Table, Table]]:
    found = []
    for hood in neighbourhoods:
        most = max(d(x, y) for x in hood for y in hood)
        found += [(x, y) for x in hood for y in hood if not maximal or d(x, y) == most]
    return found


def replaced(x: Table, i: int, v: int | None) -> Table:
    return (*x[:i], v, *x[i + 1 :])


def families() -> dict[str, Any]:
    maps = list(itertools.product(range(3), repeat=3))  # w: V → V
    subsets = [s for n in range(1, 4) for s in itertools.combinations(range(3), n)]
    return {
        "Φ_h": [{x: replaced(x, i, v) for x in EVERYONE} for i in (0, 1) for v in range(3)],
        "Φ_1": [{x: replaced(x, i, w[x[i] or 0]) for x in EVERYONE} for i in (0, 1) for w in maps],
        "Φ_∞": [{x: (u[x[0] or 0], w[x[1] or 0]) for x in EVERYONE} for u in maps for w in maps],
        "N_h": [[replaced(x, i, v) for v in range(3)] for i in (0, 1) for x in EVERYONE],
        "N_1": [[replaced(x, i, v) for v in chosen] for i in (0, 1) for x in EVERYONE for chosen in subsets],
        "N_∞": [list(itertools.product(a, b)) for a in subsets for b in subsets],
    }


def tightness() -> dict[str, float]:
    of = families()
    return {
        "d-privacy-proposition-2": sum(joined(swapped(of["Φ_1"], d), d) for d in (d_1, d_n))
        + sum(joined(inside(of["N_1"], d, True), d) for d in (d_1, d_n)),
        "d-privacy-proposition-9": joined(inside(of["N_h"], d_h, True), d_h)
        + sum(joined(inside(of["N_h"], d, False), d) for d in (d_1, d_n)),
        "d-privacy-proposition-10": joined(swapped(of["Φ_∞"], d_max), d_max)
        + joined(inside(of["N_∞"], d_max, True), d_max),
        "d-privacy-phi-h": joined(swapped(of["Φ_h"], d_h), d_h),
    }


# ---- distances on answers


def on_answers(f: Callable[[Any], Any], space: Sequence[Any], d: Metric) -> tuple[list[Any], list[list[float]]]:
    """The distance for which H is private iff H ∘ f is: the shortest ways over the nearest tables of two answers."""
    answers = sorted({f(x) for x in space})
    near: dict[tuple[Any, Any], Fraction] = {}
    for x, y in itertools.permutations(space, 2):
        pair = f(x), f(y)
        near[pair] = min(near.get(pair, d(x, y)), d(x, y))
    way = shortest(answers, lambda y, z: near[y, z])
    return answers, [[float(way[y, z]) for z in answers] for y in answers]


# ---- the rest


def laplace() -> dict[str, float]:
    """Figures 1 and 2, Theorem 10 and Definition 7."""
    h = {"y1": {1: 0.75, 2: 0.25}, "y2": {1: 0.5, 2: 0.5}, "y3": {1: 0.25, 2: 0.75}}

    def along(y: str, z: str) -> float:  # d_X on the path x1, x2, x3
        return abs(int(y[1]) - int(z[1])) * log(2)

    e, q, k = 0.7, 0.5, 6
    step = exp(e * q)
    inner, edge = (step - 1) / (step + 1), step / (step + 1)
    rows = {
        y: {z: (edge if z in (0, k) else inner) * exp(-e * q * abs(z - y)) for z in range(k + 1)} for y in range(k + 1)
    }
    grid = (np.arange(200_000) + 0.5) / 2_000
    radial = exp_sum(grid, lambda r: e * e / (2 * math.pi) * 2 * math.pi * r * np.exp(-e * r), 2_000)
    half = exp_sum(grid, lambda z: e / 2 * np.exp(-e * z), 2_000)
    clamped = {y: two_sided(y, e * q, 0, k) for y in rows}
    double, single = {y: two_sided(y, 2, 0, 4) for y in range(5)}, {y: two_sided(y, 1, 0, 1) for y in range(2)}
    return {
        "d-privacy-1-composed": scale(h, along),
        "d-privacy-1-alone": scale(h, lambda y, z: log(2)),
        "d-privacy-1-bound": 2 * 0.25,
        "d-privacy-2-i": 2 * half,
        "d-privacy-2-ii": radial,
        "d-privacy-2-iii": (2 * half) ** 2,
        "d-privacy-2-iv": sum(math.isclose(sum(row.values()), 1, rel_tol=1e-12) for row in rows.values()),
        "d-privacy-2-iv-law": max(abs(rows[y][z] - clamped[y][z]) for y in rows for z in rows),
        "d-privacy-2-iv-private": scale(rows, lambda y, z: e * q * abs(y - z)),
        "d-privacy-theorem-10-epsilon": scale(double, lambda y, z: abs(y - z)),
        "d-privacy-definition-7": sum(single[y][1 - y] for y in (0, 1)) / 2,
        "d-privacy-definition-7-constant": 0.5,
    }


def exp_sum(grid: Any, density: Callable[[Any], Any], per_unit: int) -> float:
    return float(np.sum(density(grid)) / per_unit)


def mean_size(rate: float) -> float:
    """E|noise| of the two-sided geometric law."""
    return 2 * exp(-rate) / (1 - exp(-2 * rate))


def norm_mean(rate: float, n: int) -> float:
    """E|zᵢ| of P(z) ∝ e^{−rate·max|zᵢ|}: a mixture of uniform cubes −R..R, with weights ∝ e^{−rate·R}·(2R + 1)ⁿ."""
    sizes = np.arange(0, 60_000)
    weights = -rate * sizes + n * np.log(2 * sizes + 1)
    chance = np.exp(weights - weights.max())
    return float((chance * sizes * (sizes + 1) / (2 * sizes + 1)).sum() / chance.sum())


def examples() -> dict[str, float]:
    def within(rate: float) -> float:  # least α with Pr[|noise| > α] ≤ 0.05
        return next(a for a in itertools.count() if 2 * exp(-rate * (a + 1)) / (1 + exp(-rate)) <= 0.05)

    def beyond(rate: float, days: int) -> float:
        return 2 * exp(-rate * (days + 1)) / (1 + exp(-rate))

    noise = {x: {(y, z): p * q for y, p in one.items() for z, q in two.items()} for x in EVERYONE
             for one, two in [(two_sided(x[0] or 0, 0.1, -40, 42), two_sided(x[1] or 0, 0.1, -40, 42))]}  # fmt: skip
    per_watt = 0.5 / 10 / 30  # ε·d_∞ by independent noise: a thirtieth of ε, per 10 W
    return {
        "d-privacy-example-1-hamming": 5_000 - 0,  # one person's date, from one end to the other
        "d-privacy-example-1-alpha-h": within(1 / 5_000),
        "d-privacy-example-1-alpha-1": within(1 / 5),
        "d-privacy-example-1-delta-h": beyond(1 / 5_000, 30),
        "d-privacy-example-1-delta-1": beyond(1 / 5, 30),
        "d-privacy-example-1-level": Fraction(5, 5),
        "d-privacy-example-1-presence": Fraction(5_000, 5),
        "d-privacy-example-2-d1": scale(noise, lambda x, y: 0.1 * float(d_1(x, y))),
        "d-privacy-example-2-dinf": scale(noise, lambda x, y: 0.1 * float(d_max(x, y))),
        "d-privacy-example-2-hides": mean_size(0.1 / 10) / mean_size(0.5 / 10),
        "d-privacy-example-2-error-1": mean_size(0.1 / 10),
        "d-privacy-example-2-error-5": mean_size(0.5 / 10),
        "d-privacy-example-2-norm": norm_mean(0.5 / 10, 30) / mean_size(per_watt),
    }


def metrics() -> dict[str, float]:
    found = {(m, q): (delta, uniform) for m, q, delta, uniform in sensitivities()}
    printed = {m: (1.0 if m in ("d_1", "d_∞") else 2.0) for m in METRICS}
    stated = [(m, q) for m, q in found if (m, q) != ("d_∞", "sum")]
    uniform = [(m, q) for m, q in stated if m != "d_h"]
    spaces = [d_n, d_1, d_max]
    with_empty = list(itertools.product((0, 1, 2, None), repeat=2))
    pairs = list(itertools.permutations(with_empty, 2))
    bits = list(itertools.product(range(2), repeat=3))
    answers, induced = on_answers(QUERIES["sum"], TABLES, d_h)
    place = {y: i for i, y in enumerate(answers)}

    def d_f(y: Any, z: Any) -> Fraction:
        return Fraction(induced[place[y]][place[z]])

    def in_c(f: Callable[[Table], Fraction]) -> bool:
        near = [(x, y, d_1(x, y)) for x, y in itertools.permutations(TABLES, 2) if d_h(x, y) == 1]
        return all(gap(f(x), f(y)) <= d for x, y, d in near) and any(gap(f(x), f(y)) == WIDTH for x, y, _ in near)

    edges = {(f, g) for f, g in itertools.combinations(answers, 2) if d_f(f, g) == 1}
    return {
        "d-privacy-sensitivities": sum(found[key][0] == printed[key[0]] for key in stated),
        "d-privacy-uniform": sum(found[key][1] for key in uniform if key[1] != "average"),
        "d-privacy-uniform-average": sum(found[key][1] for key in uniform if key[1] == "average"),
        "d-privacy-sum-maximum": found["d_∞", "sum"][0],
        "d-privacy-uniform-average-rounded": sum(sensitive(half_up, TABLES, d)[1] for d in spaces),
        "d-privacy-uniform-average-even": sensitive(half_to_even, TABLES, d_max)[0],
        "d-privacy-d-r": max(d_r(x, y) / d_h(x, y) for x, y in pairs),
        "d-privacy-d-h": max(d_h(x, y) / d_r(x, y) for x, y in pairs),
        "d-privacy-proposition-3": max(d_n(x, y) / d_h(x, y) for x, y in pairs),
        "d-privacy-proposition-5": sum(in_c(f) for f in QUERIES.values()),
        "d-privacy-proposition-7-count": sensitive(sum, bits, d_h) == (1, True),
        "d-privacy-proposition-7": sensitive(QUERIES["sum"], TABLES, d_h, d_f) == (1, True),
        "d-privacy-theorem-9-graph": len(edges),
        "d-privacy-sum-sensitivity": found["d_h", "sum"][0],
        "d-privacy-sum-range": max(sum(x) for x in itertools.product(range(4), repeat=3)),
        "d-privacy-theorem-13-proof": average((0, None, 2)),
    }


def derived() -> dict[str, float]:
    found = {**tightness(), **laplace(), **examples(), **metrics()}
    return {key: float(value) for key, value in found.items()}
