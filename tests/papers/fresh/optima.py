"""d-privacy, Theorems 8 to 13: the least loss of all private mechanisms, by plain linear programs, and that of TG."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from tests.papers.fresh.adp import two_sided
from tests.papers.fresh.d_privacy import METRICS, QUERIES, TABLES, Metric, d_1, d_h, d_max, d_n, half_up, on_answers


def program(distance: Sequence[Sequence[float]], cost: Sequence[Sequence[float]]) -> float:
    """The least Σ cost[i][z]·M[i][z] over all private M."""
    n, m = len(cost), len(cost[0])
    rows = []
    for i, j, z in itertools.product(range(n), range(n), range(m)):
        if i != j:
            row = np.zeros(n * m)
            row[i * m + z], row[j * m + z] = exp(-distance[i][j]), -1
            rows.append(row)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        [c for row in cost for c in row],
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.kron(np.eye(n), np.ones(m)),
        b_eq=np.ones(n),
        options=options,
    )
    assert found.status == 0
    return float(found.fun)


def loss(name: str, truth: Any, guess: Any) -> float:
    return float(abs(truth - guess)) if name == "absolute" else float(truth != guess)


def least(answers: Sequence[Any], distance: Sequence[Sequence[float]], name: str) -> float:
    return program(distance, [[loss(name, y, g) / len(answers) for g in answers] for y in answers])


def tg(answers: Sequence[Any], rate: float, name: str) -> float:
    """The loss of the truncated geometric mechanism on the finest grid of the answers, remapped, uniform prior."""
    step = Fraction(1, math.lcm(*(Fraction(y).denominator for y in answers)))
    top = int(max(answers) / step)
    rows = [two_sided(int(y / step), rate * float(step), 0, top) for y in answers]
    return sum(
        min(sum(row[z] * loss(name, y, g) for row, y in zip(rows, answers, strict=True)) for g in answers)
        for z in range(top + 1)
    ) / len(answers)


@functools.cache
def optima() -> tuple[tuple[str, str, str, str, float, float], ...]:
    """Theorem, query, metric, loss; the least of all private mechanisms; that of TG."""
    bits = list(itertools.product(range(2), repeat=2))
    cases: list[tuple[str, str, str, Any, Any, Metric, float, float]] = [
        ("Theorem 8", "count", "d_h", sum, bits, d_h, 0.5, 0.5)
    ]
    for theorem, metric, epsilon, rate in (
        ("Theorem 9", "d_h", 0.5, 0.25),
        ("Theorem 11", "d̃_1", 1.0, 0.5),
        ("Theorem 12", "d_1", 1.0, 1.0),
        ("Theorem 13", "d_∞", 1.0, 1.0),
    ):
        for name, f in QUERIES.items():
            if name != "25-percentile" and (name != "sum" or theorem != "Theorem 13"):
                cases.append((theorem, name, metric, f, TABLES, METRICS[metric], epsilon, rate))
    rows = []
    for theorem, name, metric, f, space, d, epsilon, rate in cases:
        answers, unit = on_answers(f, space, d)
        distance = [[epsilon * way for way in row] for row in unit]
        rows += [
            (theorem, name, metric, measure, least(answers, distance, measure), tg(answers, rate, measure))
            for measure in ("absolute", "zero-one")
        ]
    return tuple(rows)


def together(answers: Sequence[Any], distance: Sequence[Sequence[float]]) -> float:
    """What two consumers lose by sharing a mechanism: its outputs are pairs of their guesses. Zero-one loss."""
    n = len(answers)
    priors = [[1 / n] * n, [0.5, 0.5] + [0.0] * (n - 2)]
    alone = [program(distance, [[p * (i != g) for g in range(n)] for i, p in enumerate(prior)]) for prior in priors]
    pairs = list(itertools.product(range(n), repeat=2))
    one = [
        [sum(prior[i] * (i != g) for prior, g in zip(priors, pair, strict=True)) for pair in pairs] for i in range(n)
    ]
    return program(distance, one) - sum(alone)


def optimality() -> dict[str, float]:
    gaps: dict[tuple[str, str, str], float] = {(t, q, m): ours - best for t, q, _, m, best, ours in optima()}
    rounded = {}
    for theorem, d, rate in (("11", d_n, 0.5), ("12", d_1, 1.0), ("13", d_max, 1.0)):
        answers, distance = on_answers(half_up, TABLES, d)
        both = [tg(answers, rate, m) - least(answers, distance, m) for m in ("absolute", "zero-one")]
        rounded[f"d-privacy-theorem-{theorem}-average-rounded"] = max(both)

    def worst(theorem: str, averages: bool) -> float:
        return max(g for (t, q, _), g in gaps.items() if t == theorem and (q == "average") is averages)

    queries = [q for q in QUERIES if q != "25-percentile"]
    (real,) = [row for row in optima() if row[:4] == ("Theorem 13", "average", "d_∞", "absolute")]
    answers, distance = on_answers(half_up, TABLES, d_max)
    shared = []
    for q in queries:
        points, unit = on_answers(QUERIES[q], TABLES, d_h)
        shared.append(together(points, [[way / 2 for way in row] for row in unit]))
    counts = []
    for n in (2, 3):
        points, unit = on_answers(sum, list(itertools.product(range(2), repeat=n)), d_h)
        counts.append(together(points, [[way / 2 for way in row] for row in unit]))
    return {
        "d-privacy-theorem-8": worst("Theorem 8", False),
        "d-privacy-theorem-9": min(max(gaps["Theorem 9", q, m] for m in ("absolute", "zero-one")) for q in queries),
        **{f"d-privacy-theorem-{t}": worst(f"Theorem {t}", False) for t in (11, 12, 13)},
        **{f"d-privacy-theorem-{t}-average": worst(f"Theorem {t}", True) for t in (11, 12, 13)},
        "d-privacy-average-optimum": real[4],
        "d-privacy-average-tg": real[5],
        **rounded,
        "d-privacy-average-rounded": least(answers, distance, "absolute"),
        "d-privacy-theorem-9-consumers": min(shared),
        "d-privacy-theorem-8-consumers": max(counts),
    }


def square(size: int) -> float:
    """The least Euclidean loss on a square of places, uniform prior, ε = 1 a cell; one variable for what is alike.

    Of two places with others between them the steps from one to the next say more, so only the rest are asked for.
    """
    places = list(itertools.product(range(size), repeat=2))
    at, last = {place: i for i, place in enumerate(places)}, size - 1
    turned = [[at[p] for p in places], [at[last - a, b] for a, b in places], [at[a, last - b] for a, b in places]]
    turned.append([at[last - a, last - b] for a, b in places])
    turned += [[at[places[i][1], places[i][0]] for i in turn] for turn in turned]
    n, kind = len(places), np.full((len(places), len(places)), -1)
    for x, z in itertools.product(range(n), repeat=2):
        if kind[x, z] < 0:
            fresh = kind.max() + 1
            for turn in turned:
                kind[turn[x], turn[z]] = fresh
    far = np.array([[math.dist(x, y) for y in places] for x in places])
    rows: list[tuple[int, int, float]] = []
    for x, y in itertools.permutations(range(n), 2):
        apart = math.gcd(places[x][0] - places[y][0], places[x][1] - places[y][1])
        if apart == 1 and all((x, y) <= (turn[x], turn[y]) for turn in turned):
            rows += [(kind[x, z], kind[y, z], exp(-far[x, y])) for z in range(n) if kind[x, z] != kind[y, z]]
    which = np.arange(len(rows))
    first, second, factor = (np.array(column) for column in zip(*rows, strict=True))
    shape = (len(rows), kind.max() + 1)
    private = coo_array((np.r_[factor, -np.ones(len(rows))], (np.r_[which, which], np.r_[first, second])), shape)
    sums = coo_array((np.ones(n * n), (np.repeat(np.arange(n), n), kind.ravel())), (n, shape[1]))
    cost = np.bincount(kind.ravel(), weights=far.ravel() / n)
    found = linprog(
        cost, A_ub=private.tocsr(), b_ub=np.zeros(len(rows)), A_eq=sums.tocsr(), b_eq=np.ones(n), method="highs-ipm"
    )
    assert found.status == 0
    return float(found.fun)


def derived() -> dict[str, float]:
    return optimality()
