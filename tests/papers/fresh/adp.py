"""ADP, Sections II to V, VI-A and VIII, derived from the paper's own definitions: nothing of the package is used.

Laws are written out, tables are enumerated, decisions are linear programs over every private decision, risk is Bayes' rule.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import exp, inf, log
from typing import Any

import numpy as np
from scipy.optimize import linprog

Rows = Mapping[Any, Mapping[Any, float]]


def scale(rows: Rows, cost: Callable[[Any, Any], float]) -> float:
    """The least c with M(x)[z] ≤ e^{c·cost(x, x′)}·M(x′)[z] for all ordered pairs and outputs."""
    found = 0.0
    for x, y in itertools.permutations(rows, 2):
        asked = float(cost(x, y))
        for z, p in rows[x].items() if asked < inf else ():
            q = rows[y].get(z, 0.0)
            if p > 0:
                found = max(found, inf if q == 0 else log(p / q) / asked)
    return found


def upward(count: int, rate: float, top: int) -> dict[int, float]:
    """Geometric noise ≥ 0 on a count; what is above the top is put there, as in Definition VIII.1."""
    inside = {z: (1 - exp(-rate)) * exp(-rate * (z - count)) for z in range(count, top)}
    return {**inside, top: exp(-rate * (top - count))}


def two_sided(count: int, rate: float, low: int, high: int) -> dict[int, float]:
    """Two-sided geometric noise, clamped to low..high."""
    r = exp(-rate)

    def tail(k: int) -> float:  # Pr[noise ≥ k], k ≥ 0
        return r**k / (1 + r)

    inside = {z: (1 - r) / (1 + r) * r ** abs(z - count) for z in range(low + 1, high)}
    return {low: tail(count - low), **inside, high: tail(high - count)}


def best(k: int, fall: float = inf, rise: float = inf, alpha: float = 0.0, delta: float = 0.0) -> float:
    """The greatest Pr[safe] k steps from unsafe, by a linear program over all decisions; ``inf`` is no promise.

    p_0 is the chance at the nearest unsafe count. To pass the truth i off as i + 1 costs ``rise`` (more people), i + 1 as i
    costs ``fall``; both words, each neighbouring pair, with δ between neighbours.
    """
    rows: list[list[float]] = []
    limits: list[float] = []

    def within(truth: int, cover: int, rate: float) -> None:
        for sign, free in ((1.0, 0.0), (-1.0, exp(rate) - 1)):  # safe, and not safe: 1 − p ≤ e^rate·(1 − q) + δ
            row = [0.0] * (k + 1)
            row[truth] += sign
            row[cover] -= sign * exp(rate)
            rows.append(row)
            limits.append(free + delta)

    for i in range(k):  # i is how far from unsafe: nearer means more people
        if rise < inf:
            within(i + 1, i, rise)
        if fall < inf:
            within(i, i + 1, fall)
    goal = [0.0] * k + [-1.0]
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(goal, A_ub=rows or None, b_ub=limits or None, bounds=[(0, alpha)] + [(0, 1)] * k, options=options)
    assert found.status == 0
    return float(-found.fun)


def risk(rows: Rows, holds: Callable[[Any], bool], prior: Mapping[Any, float]) -> float:
    """Section III-C: the greatest posterior odds over prior odds."""
    sure = {side: sum(p for x, p in prior.items() if holds(x) is side) for side in (True, False)}
    if sure[False] == 0:
        return 0.0
    worst = 0.0
    for z in {z for row in rows.values() for z in row}:
        after = {s: sum(p * rows[x].get(z, 0) for x, p in prior.items() if holds(x) is s) for s in (True, False)}
        if after[True] > 0:
            worst = max(worst, inf if after[False] == 0 else after[True] / after[False] * sure[False] / sure[True])
    return worst


def steps_from(table: tuple[bool, ...]) -> Iterable[tuple[bool, ...]]:
    """One p-step, p = ¬c, on a table of who was at the place: p(x) → p(x′) for the one record that is replaced."""
    for i, (was, then) in itertools.product(range(len(table)), itertools.product((False, True), repeat=2)):
        if table[i] is was and (was or not then):
            yield (*table[:i], then, *table[i + 1 :])


def path(start: tuple[bool, ...], good: Callable[[tuple[bool, ...]], bool]) -> float:
    """Definition IV.6: the fewest p-steps to a table of a kind; ∞ if none leads there."""
    seen, now, length = {start}, {start}, 0
    while now:
        if any(good(table) for table in now):
            return length
        now, length = {t for s in now for t in steps_from(s)} - seen, length + 1
        seen |= now
    return inf


def salap(counts: Sequence[int], rate: float, t: int, top: int = 40) -> dict[Hashable, float]:
    """Algorithm 1 with geometric noise: how many ⊥ came, and the count that ended it."""
    law: dict[Hashable, float] = {}
    so_far, said = 1.0, 0
    for count in counts:
        for z, p in upward(count, rate, top).items():
            if z > t:
                law[said, z] = so_far * p
        so_far *= sum(p for z, p in upward(count, rate, top).items() if z <= t)
        said += 1
    return {**law, (said, None): so_far}


def mean(error: Callable[[float], float]) -> float:
    """Of the exponential law of rate 1, by the midpoint rule."""
    return sum(error((i + 0.5) / 1000) * exp(-(i + 0.5) / 1000) for i in range(40_000)) / 1000


def least_loss(n: int, fall: float, prior: Sequence[float]) -> float:
    """The least expected absolute loss of all mechanisms with M[i][z] ≤ e^fall·M[i−1][z], by a linear program."""
    size = n + 1
    cost = [prior[i] * abs(i - z) for i in range(size) for z in range(size)]
    rows = np.zeros((n * size, size * size))
    for i, z in itertools.product(range(1, size), range(size)):
        rows[(i - 1) * size + z, i * size + z] = 1
        rows[(i - 1) * size + z, (i - 1) * size + z] = -exp(fall)
    sums = np.kron(np.eye(size), np.ones(size))
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(size))
    assert found.status == 0
    return float(found.fun)


def remapped(rows: Sequence[Mapping[int, float]], prior: Sequence[float], guesses: Sequence[int]) -> float:
    """The expected absolute loss when each output is answered by the best guess."""
    outputs = {z for row in rows for z in row}
    return sum(
        min(
            sum(p * row.get(z, 0) * abs(i - g) for i, (p, row) in enumerate(zip(prior, rows, strict=True)))
            for g in guesses
        )
        for z in outputs
    )


# ---- the numbers


def definitions() -> dict[str, float]:
    people = list(itertools.product((False, True), repeat=6))
    unsafe = [t for t in people if sum(t) > 2]
    clash = {
        was
        for table in people
        for i, was in enumerate(table)
        if sum(table) <= 2 < sum(table) - was + (not was)
        for was in [table[i]]
    }
    of = {"safe": {1: 0.5, 2: 0.5}, "u1": {1: 1.0}, "u2": {2: 1.0}}
    sanitizers = [set(s) for n in range(3) for s in itertools.combinations((1, 2), n)]
    never = [s for s in sanitizers if all(sum(of[u].get(z, 0) for z in s) == 0 for u in ("u1", "u2"))]
    proof = {False: {"F": 1.0}, True: {"T": 1 - exp(-1), "F": exp(-1)}}
    return {
        "adp-iv-1": sum((not p) or q for p, q in itertools.product((False, True), repeat=2)),
        "adp-iv-1-proof": scale(proof, lambda p, q: 1 if p and not q else inf),
        "adp-iv-c1": best(10, 1, 1),
        "adp-iv-7": min(path(t, lambda s: sum(s) == 0) for t in unsafe),
        "adp-iii-3": float(max(clash)),
        "adp-ii-6": max(sum(of["safe"].get(z, 0) for z in s) for s in never),
        "adp-iv-3": risk(proof, bool, {True: 0.5, False: 0.5}),
        "adp-iv-4": risk(proof, lambda p: not p, {True: 0.5, False: 0.5}),
        "adp-iv-3-constant": risk(proof, lambda _: True, {True: 0.5, False: 0.5}),
        "adp-ii-5": sum(c <= 3 <= c for c in range(7)),
    }


def bounds() -> dict[str, float]:
    needed = 0.5 / (1 + math.e + math.e**2)
    assert math.isclose(best(3, 1, 1, delta=needed), 0.5, rel_tol=1e-7), "the inequality is attained"
    curve = [best(1, 1, 1, alpha=0.01) * 0.01, 0.01 * 0.99]
    return {
        "adp-iii-a": log(0.5 / 1e-4),
        "adp-iii-a-zero": inf if best(1, 8.517, 8.517) == best(1, 12, 12) == 0 else 0,
        "adp-iii-b": needed,
        "adp-i-a": needed,
        "adp-iii-c": log(0.5 / 1e-4),
        "adp-iii-a-loose": min(1.0, exp(5) * 0.01),
        "adp-iv-7-loose": 1 - exp(-5) * (1 - 0.01),
        "adp-tight": best(5, 1, 1, alpha=0.01),
        "adp-ii-b3": curve[1] / sum(curve),
        "adp-iii-1": 0.0 * (1 - exp(-3)) - (1 - exp(-3)) * 0.0,
    }


def mechanisms() -> dict[str, float]:
    falls = {count: upward(count, 1, 60) for count in range(6)}
    lowered = {count: {-z: p for z, p in upward(-count, 1, 60).items()} for count in range(4)}
    pairs = list(itertools.product(range(2), repeat=2))
    answers = {x: salap(x, 0.5, 0) for x in pairs}

    def withdrawn(x: Any, y: Any) -> float:
        return 1 if x != y and all(a >= b for a, b in zip(x, y, strict=True)) else inf

    def one_down(x: Any, y: Any) -> float:
        return x - y if x > y else inf

    return {
        "adp-v-3": exp(10) - 1,
        "adp-v-3-sign": scale(lowered, one_down),
        "adp-v-4": scale(falls, one_down),
        "adp-v-a3": mean(abs),
        "adp-v-a3-deviation": math.sqrt(mean(lambda x: x * x)),
        "adp-v-5": mean(abs),
        "adp-v-a3-variance": mean(lambda x: (x - 1) ** 2) / mean(lambda x: x * x),
        "adp-v-a3-median": mean(lambda x: abs(x - log(2))),
        "adp-v-6": 1 - exp(-0.0),
        "adp-v-6-corrected": 1 - exp(-(2 + 1 - 2)),
        "adp-v-a3-optimal": max(
            abs(sum(p for z, p in falls[c].items() if z <= 5) - best(6 - c, fall=1)) for c in range(6)
        ),
        "adp-v-7": exp(scale(answers, withdrawn)),
        "adp-v-7-verified": scale(answers, withdrawn) / 0.5,
        "adp-v-2": max(
            abs((1 in x) - (1 in y)) for x, y in itertools.product([{1}, {2}], repeat=2) if (1 in x) == (1 in y)
        ),
        "adp-iv-c2": min(1.0, exp(4) * exp(-4)),
        "adp-iii-2": scale(
            {"a": {"": 1.0}, "m": {"m": 1 - exp(-1), "": exp(-1)}, "n": {"": 1.0}},
            lambda x, y: 1 if x + y in ("an", "na", "nm") else inf,
        ),
    }


def policies() -> dict[str, float]:
    records = [frozenset(s) for s in ((), (1,), (2,), (1, 2))]
    one_each = records[:3]
    noisy = {
        r: {
            (y, z): p * q
            for y, p in upward(1 in r, 0.5, 30).items()  # Δ = 2: a person may be at both
            for z, q in upward(2 in r, 0.5, 30).items()
        }
        for r in records
    }

    def printed(x: frozenset[int], y: frozenset[int]) -> bool:
        return not (1 not in x or 2 not in x) or (1 not in y or 2 not in y)

    def all_at_once(x: frozenset[int], y: frozenset[int]) -> bool:
        return all(place in x or place not in y for place in (1, 2))

    known = {frozenset([1]): 0.5, frozenset([2]): 0.5}
    return {
        "adp-vi-a3": scale(noisy, lambda x, y: 1 if printed(x, y) else inf),
        "adp-vi-a3-all": scale(noisy, lambda x, y: 1 if all_at_once(x, y) else inf),
        "adp-vi-a3-one-place": sum(printed(x, y) and not y <= x for x in one_each for y in one_each),
        "adp-vi-a2": max(len(x ^ y) for x in one_each for y in one_each),
        "adp-vi-a2-steps": max(len(x ^ y) for x in one_each for y in one_each if all_at_once(x, y)),
        "adp-viii-6-sum": sum(all_at_once(x, y) for x in records for y in records),
        "adp-iv-4-several": risk({r: noisy[r] for r in known}, lambda r: 1 in r, known),
        **{
            f"adp-figure-2-3-{t}{name}": 1 - exp(-(t + 1 - strict))
            for t in (3, 5)
            for name, strict in (("-strict", 1), ("", 0))
        },
    }


def appendix() -> dict[str, float]:
    r, uniform, skewed = exp(-0.5), [1 / 13] * 13, [0.9, 0.1]
    many, two = [upward(i, 0.1, 12) for i in range(13)], [upward(i, 0.1, 1) for i in range(2)]
    joint = list(itertools.product(range(2), repeat=2))
    sets = [frozenset(s) for n in range(5) for s in itertools.combinations(joint, n)]
    products = {frozenset(itertools.product(a, b)) for a in ((), (0,), (1,), (0, 1)) for b in ((), (0,), (1,), (0, 1))}
    pairs = {
        i: {(y, z): p * q for y, p in upward(i, 1, 2).items() for z, q in upward(i, 1, 2).items()} for i in range(3)
    }

    def one_down(x: int, y: int) -> float:
        return x - y if x > y else inf

    return {
        "adp-viii-1": sum(upward(3, 1, 5).values()),
        "adp-viii-1-otherwise": sum(two_sided(3, 1, -40, 50).values()),
        "adp-viii-a": (1 - exp(-1)) / (1 + exp(-1)) * (1 + 2 * r / (1 - r)),
        "adp-viii-2": scale({i: upward(i, 1, 12) for i in range(13)}, one_down),
        "adp-viii-3": sum(p / 13 * abs(z - i) for i, row in enumerate(many) for z, p in row.items()),
        "adp-viii-3-remap": remapped(many, uniform, range(13)),
        "adp-viii-3-optimum": least_loss(12, 0.1, uniform),
        "adp-viii-4": sum(skewed[i] * p * abs(z - i) for i, row in enumerate(two) for z, p in row.items()),
        "adp-viii-4-optimum": least_loss(1, 0.1, skewed),
        "adp-viii-6": sum(s not in products for s in sets),
        "adp-viii-6-scale": scale(pairs, one_down),
        "adp-viii-a-private": scale({i: two_sided(i, 0.5, -30, 30) for i in range(5)}, lambda x, y: abs(x - y) / 2),
    }


def derived() -> dict[str, float]:
    return {**definitions(), **bounds(), **mechanisms(), **policies(), **appendix()}
