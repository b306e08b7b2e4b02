# SPDX-License-Identifier: Apache-2.0
"""ADP, Sections II to V, VI-A and VIII: every worked number, and a number for every correction."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from scipy.integrate import quad

from leeward.analysis import optimal
from leeward.analysis._bounds import (
    alap_beta,
    best_decision,
    delta_needed,
    epsilon_bound,
    epsilon_bound_complement,
    epsilon_needed,
    one_sided,
)
from leeward.analysis._remap import expected_loss, remap
from leeward.analysis._risk import posterior, risk
from leeward.distance import FiniteDistance, Line
from leeward.exact._real import inf
from leeward.exact._weight import Weight, exp
from leeward.mechanism import FiniteMechanism, Geometric, Sanitized, ageo, alap, alarm, sanitizer, two_sided
from leeward.papers._claim import Chapter, Numbers
from leeward.verification import verify

ONE = Line(inf, 1)


def chapter() -> Chapter:
    """Return the claims about definitions, bounds and mechanisms."""
    return Chapter([*_definitions(), *_bounds(), *_mechanisms(), *_risks(), *_steps(), *_appendix(), *_slips()])


def _definitions() -> Numbers:
    bits = (False, True)
    steps = [(p, q) for p, q in itertools.product(bits, repeat=2) if not p or (p and q)]
    matrix = FiniteMechanism.from_rows({"safe": {1: "1/2", 2: "1/2"}, "u1": {1: 1}, "u2": {2: 1}})
    chosen = [frozenset(s) for n in range(3) for s in itertools.combinations((1, 2), n)]
    found = [one_sided(matrix, lambda x: bool(x == "safe"), s.__contains__) for s in chosen]
    proof = FiniteMechanism.from_rows({False: {False: 1}, True: {True: 1 - exp(-1), False: exp(-1)}})
    clash = [was for was, then in itertools.product((0, 1), repeat=2) if then > was]
    return [
        ("adp-iv-1", len(steps)),
        ("adp-iv-1-proof", verify(proof, FiniteDistance(bits, [[0, inf], [1, 0]])).scale[1]),
        ("adp-iv-c1", best_decision(1, 1, 10)[10]),
        ("adp-iv-7", min(ONE(unsafe, 0) for unsafe in range(3, 9))),
        ("adp-iii-3", clash[0]),
        ("adp-ii-6", max(f.beta["safe"] for f in found if f.alpha == 0)),
    ]


def _bounds() -> Numbers:
    optimum = best_decision(1, 1, 5, "0.01")[5]
    return [
        ("adp-iii-a", epsilon_needed(1, "1e-4", "1/2")),
        ("adp-iii-a-zero", epsilon_needed(1, 0, "1/2")),
        ("adp-iii-b", delta_needed(1, 3, 0, "1/2")),
        ("adp-iii-c", epsilon_needed(1, "1e-4", "1/2")),
        ("adp-iii-a-loose", epsilon_bound(1, 5, "0.01")),
        ("adp-iv-7-loose", epsilon_bound_complement(1, 5, "0.01")),
        ("adp-tight", optimum),
    ]


def _mechanisms() -> Numbers:
    laplace = quad(lambda z: abs(z) * math.exp(-abs(z)) / 2, 0, math.inf)[0] * 2
    spread = math.sqrt(2 * quad(lambda z: z * z * math.exp(-z) / 2, 0, math.inf)[0])
    one = quad(lambda z: z * math.exp(-z), 0, math.inf)[0]
    median = quad(lambda z: abs(z - math.log(2)) * math.exp(-z), 0, math.inf)[0]
    variance = quad(lambda z: (z - 1) ** 2 * math.exp(-z), 0, math.inf)[0]
    printed = max(0.0, -math.expm1(-(2 - 2)))
    falls = list(itertools.product(range(2), repeat=2))
    down = [["1/2" if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in falls] for x in falls]
    salap = Sanitized(Line(inf, "1/2"), at_most=0).on(falls)
    worst = max(
        float(salap.row((1, 1))[z]) / float(salap.row((0, 0))[z]) for z in salap.outputs if salap.row((0, 0))[z]
    )
    return [
        ("adp-v-3", quad(lambda z: math.exp(abs(z)) / 2, -10, 0)[0] * 2),
        ("adp-v-4", verify(alap("1").on(range(6)), ONE).exact_scale or math.nan),
        ("adp-v-a3", laplace),
        ("adp-v-a3-deviation", spread),
        ("adp-v-5", one),
        ("adp-v-a3-variance", variance / spread**2),
        ("adp-v-a3-median", median),
        ("adp-v-6", printed),
        ("adp-v-6-corrected", alap_beta(1, 2, 2)),
        (
            "adp-v-a3-optimal",
            max(abs(float(alap_beta(1, c, 5) - best_decision(1, inf, 6 - c)[6 - c])) for c in range(6)),
        ),
        ("adp-v-7", worst),
        ("adp-v-7-verified", verify(salap, FiniteDistance.closed(falls, down)).exact_scale or math.nan),
    ]


def _steps() -> Numbers:
    records = [frozenset(s) for s in ((), (1,), (2,), (1, 2))]
    counts = {r: tuple(int(place in r) for place in (1, 2)) for r in records}
    half = Geometric(Line(inf, "1/2"), lower=0, upper=1).on(range(2))  # Δ = 2: a person can be at both
    mechanism = FiniteMechanism.product([half] * 2).pull_back(records, counts.__getitem__)

    def scale(allowed: Any) -> float:
        cost = [[0 if x == y else 1 if allowed(x, y) else inf for y in records] for x in records]
        return float(verify(mechanism, FiniteDistance.closed(records, cost)).scale[1])

    def absent(record: frozenset[int], place: int) -> bool:
        return place not in record

    one_each = [x for x in records if len(x) <= 1]

    def printed(x: frozenset[int], y: frozenset[int]) -> bool:
        return (absent(x, 1) or absent(x, 2)) <= (absent(y, 1) or absent(y, 2))

    return [
        ("adp-vi-a3", scale(printed)),
        ("adp-vi-a3-all", scale(lambda x, y: all(absent(x, p) <= absent(y, p) for p in (1, 2)))),
        ("adp-vi-a3-one-place", sum(printed(x, y) and not y <= x for x in one_each for y in one_each)),
        ("adp-vi-a2", max(len(x ^ y) for x in one_each for y in one_each)),
        ("adp-vi-a2-steps", max(len(x ^ y) for x in one_each for y in one_each if y <= x)),
        *(
            (
                f"adp-figure-2-3-{t}{'-strict' if strict else ''}",
                sanitizer(alap("1").law, t - 1 if strict else t).probability(0),
            )
            for t in (3, 5)
            for strict in (True, False)
        ),
    ]


def _appendix() -> Numbers:
    n, f, x = 5, 3, math.exp(-1)
    printed = sum(x ** (n - f) if z == n else (1 - x) * x ** (z - f) for z in range(f, n + 1))
    otherwise = sum((1 - x) / (1 + x) * x ** abs(z - f) for z in range(-60, 61))
    delta = (1 - x) / (1 + x) * (1 + 2 * sum(math.exp(-k / 2) for k in range(1, 400)))
    uniform = ageo("0.1", 12).on(range(13))
    skewed = ageo("0.1", 1).on(range(2))
    priors = [Fraction(9, 10), Fraction(1, 10)]
    line = Line(inf, "0.1")
    products = {frozenset(itertools.product(a, b)) for a in _subsets(2) for b in _subsets(2)}
    return [
        ("adp-viii-1", printed),
        ("adp-viii-1-otherwise", otherwise),
        ("adp-viii-a", delta),
        ("adp-viii-2", verify(ageo("1", 12).on(range(13)), ONE).exact_scale or math.nan),
        ("adp-viii-3", float(expected_loss(uniform))),
        ("adp-viii-3-remap", float(remap(uniform).loss)),
        ("adp-viii-3-optimum", optimal(range(13), line).loss),
        ("adp-viii-4", float(expected_loss(skewed, priors))),
        ("adp-viii-4-optimum", float(remap(skewed, priors).loss)),
        ("adp-viii-6", 2**4 - len(products)),
        (
            "adp-viii-6-scale",
            verify(ageo("1", 2).on(range(3)).beside(ageo("1", 2).on(range(3))), ONE).exact_scale or math.nan,
        ),
        (
            "adp-viii-a-private",
            verify(two_sided("1", sensitivity=2).on(range(5)), Line("1/2", "1/2")).exact_scale or math.nan,
        ),
    ]


def _risks() -> Numbers:
    """Risk of the mechanism in the proof of Proposition IV.3, on one record: an adversary with an even prior."""
    proof = FiniteMechanism.from_rows({False: {"False": 1}, True: {"True": 1 - exp(-1), "False": exp(-1)}})
    return [
        ("adp-iv-3", risk(proof, None, bool)),
        ("adp-iv-4", risk(proof, None, lambda x: not x)),
    ]


def _subsets(size: int) -> list[tuple[int, ...]]:
    return [chosen for n in range(size + 1) for chosen in itertools.combinations(range(size), n)]


def _slips() -> Numbers:
    """Where a statement needs a condition, a sign or another word."""
    records = [frozenset(s) for s in ((), (1,), (2,), (1, 2))]
    known = [frozenset([1]), frozenset([2])]  # the adversary knows that it was one of the two places
    one = Geometric(ONE, lower=0, upper=1).on(range(2))
    counts = FiniteMechanism.product([one, one]).pull_back(known, lambda r: tuple(int(place in r) for place in (1, 2)))
    always = two_sided("1", lower=0, upper=1).on(range(2))  # records that all meet p
    law = alap("1").law
    example = FiniteMechanism.from_rows({"a": {"": 1}, "m": {"m": 1 - exp(-1), "": exp(-1)}, "n": {"": 1}})
    edges = {("a", "n"), ("n", "a"), ("n", "m")}
    policy = [[0 if x == y else 1 if (x, y) in edges else inf for y in "amn"] for x in "amn"]
    sure = FiniteMechanism(range(6), (True, False), [[p, 1 - p] for p in _decide()])
    moves = [abs((1 in x) - (1 in y)) for x, y in itertools.product(known, repeat=2) if (1 in x) == (1 in y)]
    steps = [
        (x, y) for x, y in itertools.product(records, repeat=2) if all((place in y) <= (place in x) for place in (1, 2))
    ]
    lowered = Geometric(Line(1, inf)).on(range(4))
    return [
        ("adp-iv-4-several", risk(counts, None, lambda r: 1 in r)),
        ("adp-iv-3-constant", risk(always, None, lambda _: True)),
        ("adp-iii-1", float(law.cdf(2 - 3)) * float(law.cdf(2)) - float(law.cdf(2)) * float(law.cdf(2 - 3))),
        ("adp-iii-2", verify(example, FiniteDistance.closed("amn", policy)).exact_scale or math.nan),
        ("adp-iv-c2", alarm(law, 6, "0.0184").probability(9)),
        ("adp-ii-b3", posterior(sure, {2: "1/100", 3: "99/100"}, True)[3]),
        ("adp-v-2", max(moves)),
        ("adp-viii-6-sum", len(steps)),
        ("adp-ii-5", sum(count <= 3 and count >= 3 for count in range(7))),
        ("adp-i-a", delta_needed(1, 3, 0, "1/2")),
        ("adp-v-3-sign", verify(lowered, ONE).scale[1]),
    ]


def _decide() -> list[Weight]:
    decide = sanitizer(two_sided("1").law, 2, error_at_most="1/100")
    return [decide.probability(c) for c in range(6)]
