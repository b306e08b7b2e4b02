"""The lines that the guides of the papers print, derived afresh, digit for digit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import exp, inf, log

from scipy.optimize import brentq
from tests.papers.fresh import d_privacy, one_sided, optima
from tests.papers.fresh.adp import best, mean, remapped, salap, scale, two_sided, upward
from tests.papers.fresh.cities import bound, possible

ADP, D_PRIVACY, ONE_SIDED = "adp.md", "d-privacy.md", "one-sided.md"


def over(law: dict[int, float], cover: dict[int, float], rate: float) -> float:
    """The least δ with law ≤ e^rate·cover + δ on every set: what is above, summed."""
    return sum(max(0.0, p - exp(rate) * cover.get(z, 0.0)) for z, p in law.items())


def group(epsilon: float, delta: float, people: int) -> tuple[float, float]:
    return people * epsilon, delta * sum(exp(i * epsilon) for i in range(people))


def below(count: int, rate: float, level: int) -> float:
    """Pr[count + two-sided geometric noise ≤ level]."""
    law = two_sided(count, rate, -300, 300)
    return sum(p for z, p in law.items() if z <= level)


def sparse_vector(count: int, at_most: int) -> float:
    """Pr[⊥] with half of ε = 1 for the threshold's noise and, for counts that move together, half for the count's."""
    noise = two_sided(0, 0.5, -120, 120)
    return sum(p * below(count, 0.5, at_most + z) for z, p in noise.items())


def lines() -> list[tuple[str, str]]:
    guides = ((ADP, adp()), (D_PRIVACY, metrics()), (ONE_SIDED, article()))
    return [(guide, line) for guide, found in guides for line in found]


def adp() -> Iterable[str]:
    pair = two_sided(1, 1, -200, 200), two_sided(2, 1, -200, 200), two_sided(3, 1, -200, 200)
    yield f"True {over(pair[0], pair[1], 0.9):.4f}"
    yield "{:.4f} {:.4f}".format(*group(0.9, 0.07, 2))
    yield f"{max(over(pair[0], pair[1], 0.9), over(pair[0], pair[2], 1.8)):.4f}"
    safe = [1 - exp(-(3 - c)) for c in range(3)]
    yield f"True {[round(p, 3) for p in safe]}"
    yield f"[0, 1, 2] {safe[2] >= 0.632} {safe[2] >= 0.633}"
    yield "{0:.6f} {0:.6f}".format(best(1, 1, 1, alpha=0.01))
    yield f"{log(0.5 / 1e-4):.3f} inf"
    yield f"{round(0.5 / (1 + math.e + math.e**2), 4)}"
    yield f"{min(1.0, exp(5) * 0.01)} {1 - exp(-5) * 0.99:.3f}"
    yield f"{best(5, 1, 1, alpha=0.01):.3f} True"
    yield f"{[abs(best(k, 1, 1)) for k in range(4)]}"
    dangerous = 2 + next(
        z for z in itertools.count() if exp(-z) <= 0.01
    )  # the least test with Pr[dangerous | 2] ≤ 0.01
    for count in (0, 3, 9):
        chances = max(0.0, 1 - exp(-(3 - count))), min(1.0, exp(-(dangerous - count)))
        yield f"{count} {chances[0]:.3f} {1 - sum(chances):.3f} {chances[1]:.3f}"
    yield f"{mean(abs):.3f} {mean(abs):.3f}"  # of |Laplace| and of ALap: the same law
    yield f"{mean(lambda x: (x - 1) ** 2) / mean(lambda x: x * x):.2f}"
    law = salap((0, 1), 1, 0)
    yield f"('safe', 'safe') {law[2, None]:.3f}"
    for safe_before, shown in ((1, "('safe', {})"), (0, "({}, None)")):  # counts of 2 or more are shown as 2
        yield f"{shown.format(1)} {law[safe_before, 1]:.3f}"
        yield f"{shown.format(2)} {sum(law[safe_before, z] for z in range(2, 41)):.3f}"
    once = 1 - exp(-3)
    yield f"{sum(once**i for i in range(1000)):.1f}"  # an answer is given if all before it were safe
    for count in (0, 3):
        yield f"{count} {sparse_vector(count, 2):.3f} {max(0.0, 1 - exp(-(3 - count))):.3f}"
    places = {0: 5000, 1: 200, 2: 80, 3: 40, 4: 15, 5: 8}
    curves: list[Callable[[int], float]] = [
        lambda k: 1 - exp(-k), lambda k: possible(k, 1, 1e-2, 1e-4), lambda k: bound(k, 1, 1e-2, 1e-4)
    ]  # fmt: skip
    yield f"{[round(sum(n * f(6 - c) for c, n in places.items()) / sum(places.values()), 3) for f in curves]}"
    yield f"{[round(upward(1, 1, 2).get(z, 0.0), 3) for z in range(3)]}"
    rows = [upward(i, 0.1, 12) for i in range(13)]
    plain = sum(p / 13 * abs(z - i) for i, row in enumerate(rows) for z, p in row.items())
    yield f"{plain:.3f} {remapped(rows, [1 / 13] * 13, range(13)):.3f}"


def metrics() -> Iterable[str]:
    joint = [Fraction(1, 2) * Fraction(3, 4), Fraction(1, 4) * Fraction(1, 2), Fraction(1, 4) * Fraction(1, 4)]
    yield " ".join(str(p / sum(joint)) for p in joint)
    x, y = (0, 2), (1, None)
    yield str([str(d(x, y)) for d in (d_privacy.d_h, d_privacy.d_r, d_privacy.d_1, d_privacy.d_n, d_privacy.d_max)])
    r = brentq(lambda s: s + log((1 + 5 * exp(-s)) / (1 + exp(-s) + 4 * exp(-2 * s))) - 1, 0.1, 1)
    yield f"{r:.3f} True"
    worst = scale({i: normalised(i) for i in range(5)}, lambda i, j: i - j if i > j else inf)
    yield f"one-sided on 0..4: ['{worst:.3f}', '{worst:.3f}']"
    rows = [upward(i, 0.1, 12) for i in range(13)]
    plain = sum(p / 13 * abs(z - i) for i, row in enumerate(rows) for z, p in row.items())
    yield f"{plain:.3f} as it is, {remapped(rows, [1 / 13] * 13, range(13)):.3f} remapped"
    three = [[0.5 * (i != j) for j in range(3)] for i in range(3)]
    lost = optima.together(range(3), three)
    yield f"no one mechanism serves them all: together they lose at least {lost:.7f} more than each alone"
    queries = {"sum": "sum", "avg": "average", "median": "median", "max": "maximum"}
    notions = {"add-remove-replace-dp": "d_h", "normalised-manhattan": "d̃_1", "manhattan": "d_1"}
    for (name, query), (notion, metric) in itertools.product(queries.items(), notions.items()):
        delta, uniform = d_privacy.sensitive(d_privacy.QUERIES[query], d_privacy.TABLES, d_privacy.METRICS[metric])
        yield f"{name:7} {notion:22} {delta}-sensitive, {'uniformly' if uniform else 'not uniformly'}"
    for notion, rate in (("add-remove-replace-dp", 1 / 5000), ("manhattan", 1 / 5)):
        beyond = [2 * exp(-rate * (a + 1)) / (1 + exp(-rate)) for a in (0, 5, 10, 20, 30)]
        yield f"{notion} {[f'{p:.3f}' for p in beyond]}"
    (real,) = [row for row in optima.optima() if row[:4] == ("Theorem 13", "average", "d_∞", "absolute")]
    yield f"{real[4]:.4f} {real[5]:.4f}"


def normalised(truth: int) -> dict[int, float]:
    """The exponential mechanism of upward noise on 0..4, each row divided by its own sum."""
    total = sum(exp(-(z - truth)) for z in range(truth, 5))
    return {z: exp(-(z - truth)) / total for z in range(truth, 5)}


def many(epsilon: float, times: int, asked: float) -> float:
    """The least δ for ``asked`` of so many releases with two-sided noise: a release's loss is +ε or −ε."""
    up = 1 / (1 + exp(-epsilon))  # the chance of an output that favours the truth
    chances = [
        (math.comb(times, k) * up**k * (1 - up) ** (times - k), epsilon * (2 * k - times)) for k in range(times + 1)
    ]
    return sum(p * max(0.0, 1 - exp(asked - loss)) for p, loss in chances)


def article() -> Iterable[str]:
    up, less = one_sided.up(2), one_sided.up(1)
    yield f"True {over(up, less, 0.9):.13f}..."
    yield "{} {}".format(*(round(w, 3) for w in group(0.9, 0.1, 2)))
    yield f"(Real('-1'), Weight(... ≈ {1 - exp(-1):.6f}))"
    centre = exp(-1) / (1 - exp(-1))
    yield f"[ {7 - centre:.3f}  {8 - centre:.3f} {12 - centre:.3f}]"
    bins = {0: 9_900, 1: 60, 2: 40}
    for law in (one_sided.up, one_sided.down, one_sided.both):
        yield f"{sum(n * sum(p for z, p in law(c).items() if z > 0) for c, n in bins.items()):.1f}"
    for epsilon in (0.05, 0.1, 1.0, 3.0):
        found = (
            one_sided.crossover(epsilon, 2),
            one_sided.crossover(epsilon, 4),
            one_sided.squared_error_crossover(epsilon),
        )
        yield f"    {epsilon:.2f}{found[0]:>12.2f}{found[1]:>10.2f}{found[2]:>15.2f}"
    for count in range(4):
        row = one_sided.variances(1.0, count)
        yield f"{count:6d}{row[0]:>9.1f}{row[1]:>11.3f}{row[2]:>12.3f}{row[3]:>7.3f}{row[4]:>10.3f}{row[5]:>15.3f}"
    yield f"{5 + log(1 - 1e-6):.1f} inf"
    yield "{0:.2f} {0:.2f}".format(brentq(lambda e: many(0.1, 50, e) - 1e-6, 0, 5))
