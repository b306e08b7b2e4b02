"""Corrections to the ADP paper about mechanisms and bounds: the printed statement fails, the corrected one holds.

One test for each row; ``docs/corrections.md`` tells the same in words. The rows about notions (Definition IV.1, Sections
IV-C1 and VI-A3, Proposition III.3) are tested with the notions.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp, expm1, log, sqrt

import numpy as np
import pytest
from tests.oracle.decision import best_by_program

import leeward.exact._weight as exact
from leeward.analysis import (
    alap_beta,
    best_decision,
    delta_bound,
    delta_needed,
    epsilon_bound,
    epsilon_needed,
    epsilon_needed_complement,
    one_sided,
)
from leeward.distance import FiniteDistance, Line
from leeward.exact import inf as infinity
from leeward.mechanism import FiniteMechanism, Geometric, Sanitized, ageo, alap, sanitizer, two_sided
from leeward.verification import verify

ONE = Line(infinity, 1)


# ---- Sections II and III


def test_definition_ii_6_asks_for_one_sanitizer_and_at_most_alpha() -> None:
    """With a sanitizer for each unsafe table, a mechanism passes that gives no decision at all; with "<", α = 0 is empty."""
    matrix = FiniteMechanism.from_rows({"safe": {1: "1/2", 2: "1/2"}, "u1": {1: 1}, "u2": {2: 1}})
    sanitizers = [set(s) for n in range(3) for s in itertools.combinations((1, 2), n)]

    def safe(x: str) -> bool:
        return x == "safe"

    found = [one_sided(matrix, safe, lambda z, s=s: z in s) for s in sanitizers]  # type: ignore[misc]
    each = [one_sided(FiniteMechanism.from_rows({x: matrix.row(x) for x in ("safe", u)}), safe, lambda z, s=s: z in s)
            for u in ("u1", "u2") for s in sanitizers]  # type: ignore[misc]  # fmt: skip
    assert max(f.beta["safe"] for f in each if f.alpha == 0) == Fraction(1, 2)  # printed
    assert max(f.beta["safe"] for f in found if f.alpha == 0) == 0  # right
    never = one_sided(ageo("1", 5).on(range(6)), lambda c: c <= 2, lambda z: z <= 2)
    assert not never.alpha < 0  # printed: Pr < α at α = 0, for the paper's own mechanism
    assert never.alpha <= 0


def test_sections_iii_c_and_iv_mean_beta_over_alpha() -> None:
    """Printed: ε < log(α/β)/k, which no ε meets; log(β/α)/k is where inequality (5) begins to forbid."""
    alpha, beta, k = Fraction(1, 10_000), Fraction(1, 2), 2
    assert log(alpha / beta) / k < 0
    edge = epsilon_needed(k, alpha, beta)
    assert float(edge) == pytest.approx(log(beta / alpha) / k)
    assert epsilon_bound(edge * "0.99", k, alpha) < beta <= epsilon_bound(edge, k, alpha)


def test_section_iii_a_needs_8_517() -> None:
    needed = epsilon_needed(1, "1e-4", "1/2")
    assert needed == exact.log(5000)
    assert needed > "8.51"
    assert needed > "8.4", "what is printed is true"
    assert epsilon_bound("8.45", 1, "1e-4") < Fraction(1, 2)  # above the printed 8.4, and still not enough


def test_section_iii_b_needs_0_0450() -> None:
    needed = delta_needed(1, 3, 0, "1/2")
    assert round(float(needed), 4) == 0.0450
    assert delta_bound(1, "0.0451", 3, 0) > Fraction(1, 2)  # below the printed 0.12, and enough for inequality (7)
    assert best_by_program(1.0, 1.0, 3, 0.0, 0.12) > 0.5


def test_section_iii_a_and_b_are_valid_but_loose() -> None:
    """The virtual competitor is drawn too strong: III-A allows 1 at ε = 1, k = 5, α = 1e-2, where .833 is possible."""
    assert epsilon_bound(1, 5, "0.01") == 1
    best = best_by_program(1.0, 1.0, 5, 0.01)
    assert best == pytest.approx(0.833, abs=5e-4)
    assert float(best_decision(1, 1, 5, "0.01")[5]) == pytest.approx(best, abs=1e-7)


# ---- Section IV


def test_proposition_iv_7_walks_from_unsafe_to_safe() -> None:
    """Along p-steps counts fall, so printed k = d_min(X → X') = ∞; with d_min(X' → X) it holds and is attained."""
    t, n = 2, 6
    steps = FiniteDistance.closed(range(n), [[1 if y == x - 1 else infinity for y in range(n)] for x in range(n)])
    for safe in range(t + 1):
        printed = min(steps(safe, unsafe) for unsafe in range(t + 1, n))
        right = min(steps(unsafe, safe) for unsafe in range(t + 1, n))
        assert printed.is_infinite
        assert right == t + 1 - safe
        attained = float(sanitizer(alap("1").law, t).probability(safe))  # at ε = 1
        below, above = (Fraction(int(attained * 10**6) + more, 10**6) for more in (0, 1))
        assert (
            epsilon_needed_complement(t + 1 - safe, 0, below) <= 1 < epsilon_needed_complement(t + 1 - safe, 0, above)
        )


# ---- Section V


def test_definition_v_3_needs_a_minus() -> None:
    """Printed: (ε/2Δ)·exp(|λ|ε/Δ) grows; the geometric law of the corrected density sums to 1 and is private."""
    assert expm1(10) > 1  # the printed density, ε = Δ = 1, over −10..10 alone
    law = two_sided("1").law
    assert float(sum((law.pmf(k) for k in range(-40, 41)), exact.weight(0))) == pytest.approx(1)
    assert verify(two_sided("1").on(range(4)), Line(1, 1))


def test_section_v_a3_mean_error_is_delta_over_epsilon_for_both() -> None:
    """On a fine grid: Laplace's E|error| is Δ/ε, not √2Δ/ε, which is its standard deviation; ALap's variance is half."""
    step = 1000
    laplace, one = two_sided("1", step=f"1/{step}"), alap("1", step=f"1/{step}")
    for mechanism in (laplace, one):
        assert float(mechanism.expected_error()) / step == pytest.approx(1, abs=1e-3)
    assert sqrt(float(laplace.accuracy().variance())) / step == pytest.approx(sqrt(2), abs=1e-3)
    assert float(laplace.accuracy().variance() / one.accuracy().variance()) == pytest.approx(2, abs=1e-3)
    centred = alap("1", step=f"1/{step}", centre="median")
    assert float(centred.expected_error()) / step == pytest.approx(log(2), abs=1e-3)


def test_corollary_v_6_needs_the_sanitizer_below_t_plus_1() -> None:
    """At c = t, ε = 1 it promises .632. Continuous noise with z ≤ t gives 0; z < t + 1, and integers with z ≤ t, give it."""
    t = c = 2

    def continuous(level: float) -> float:
        return max(0.0, 1 - exp(-(level - c)))

    promised = 1 - exp(-1)
    assert round(promised, 3) == 0.632
    assert continuous(t) == 0
    assert continuous(t + 1) == promised
    assert float(sanitizer(alap("1").law, t).probability(c)) == pytest.approx(promised)
    assert alap_beta(1, c, t) == 1 - exact.exp(-1)
    step = 1000  # on a fine grid, the count c is c·step and "at most t" read as z ≤ t·step
    fine = alap("1", step=f"1/{step}").law
    assert float(fine.cdf(t * step - c * step)) < 0.0011
    assert float(fine.cdf((t + 1) * step - 1 - c * step)) == pytest.approx(promised, abs=1e-9)


def test_v_a3_and_v_b_are_optimal_only_so() -> None:
    """With z ≤ t the continuous mechanism is not optimal at any count; the geometric one is, at all of them."""
    t = 4
    for c in range(t + 1):
        optimum = best_by_program(1.0, None, t + 1 - c, 0.0)
        assert 1 - exp(-(t - c)) < optimum - 0.005
        assert float(alap_beta(1, c, t)) == pytest.approx(optimum, abs=1e-7)


def test_theorem_v_7_bounds_by_e_to_epsilon() -> None:
    """The ratio printed as ≤ ε is e^ε at the worst output, and at least 1 everywhere it matters."""
    points = list(itertools.product(range(2), repeat=2))
    matrix = Sanitized(Line(infinity, "1/2"), at_most=0).on(points)
    worst = max(
        float(matrix.row((1, 1))[z]) / float(matrix.row((0, 0))[z]) for z in matrix.outputs if matrix.row((0, 0))[z]
    )
    assert worst == pytest.approx(exp(0.5))
    assert worst > 0.5
    falls = [
        ["1/2" if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else infinity for y in points] for x in points
    ]
    assert verify(matrix, FiniteDistance.closed(points, falls))


# ---- Section VI


def test_section_vi_a2_two_in_l1_and_one_along_p_steps() -> None:
    """Replacing where one person is: L1 up to 2. Along steps with visits(x') ⊆ visits(x): at most 1."""
    records = [frozenset(s) for s in ([], [1], [2], [3])]

    def moved(x: frozenset[int], y: frozenset[int]) -> int:
        return len(x ^ y)

    assert max(moved(x, y) for x, y in itertools.product(records, repeat=2)) == 2
    assert max(moved(x, y) for x, y in itertools.product(records, repeat=2) if y <= x) == 1
    # so noise of rate ε is private for the steps, and not for replacements
    counts = {r: tuple(int(place in r) for place in (1, 2, 3)) for r in records}
    noisy = FiniteMechanism.product([Geometric(ONE, lower=0, upper=1).on(range(2))] * 3).pull_back(records, counts.get)  # type: ignore[arg-type]
    withdrawn = FiniteDistance(records, [[0 if x == y else 1 if y < x else infinity for y in records] for x in records])
    replaced = FiniteDistance(records, [[int(x != y) for y in records] for x in records])
    assert verify(noisy, withdrawn)
    assert not verify(noisy, replaced)
    two = FiniteMechanism.product([two_sided("1", lower=0, upper=1).on(range(2))] * 3).pull_back(records, counts.get)  # type: ignore[arg-type]
    assert verify(two, replaced).exact_scale == 2


@pytest.mark.parametrize(("t", "strict"), [(3, True), (5, False)])
def test_figures_2_and_3_disagree_and_both_can_be_computed(t: int, strict: bool) -> None:
    """Caption: "less than 3"; text: t = 5 with ≤. They are the thresholds 2 and 5: .950 and .998 at an empty place."""
    at_most = t - 1 if strict else t
    safe_if_empty = float(sanitizer(alap("1").law, at_most).probability(0))
    assert round(safe_if_empty, 3) == {2: 0.950, 5: 0.998}[at_most]
    # α = 1e-4 in the caption, 1e-3 in the text: under ε-DP these are other thresholds
    assert [sanitizer(two_sided("1").law, at_most, a).threshold - at_most for a in ("1e-4", "1e-3")] == [-8, -6]


# ---- Section VIII


def test_definition_viii_1_read_from_above_sums_to_1() -> None:
    """Its branches overlap at λ = n; the first that fits is meant, and then every row is AGeo's. We once said otherwise."""
    n, x = 5, exp(-1)
    for f in range(n + 1):
        row = [x ** (n - f) if z == n else (1 - x) * x ** (z - f) if z >= f else 0.0 for z in range(n + 1)]
        assert sum(row) == pytest.approx(1)
        assert row == pytest.approx([float(p) for p in ageo("1", n).pmf(f, range(n + 1)).values()])
        rising = [x**f if z == 0 else (1 - x) * x ** (f - z) if z <= f else 0.0 for z in range(n + 1)]
        assert sum(rising) == pytest.approx(1)
    otherwise = sum((1 - x) / (1 + x) * x ** abs(z) for z in range(-60, 61))
    assert otherwise == pytest.approx(1), "on all integers; nothing says that this branch stays in 0..n"


def test_section_viii_a_needs_delta_in_the_normaliser_too() -> None:
    """Printed: (1 − e^{−ε})/(1 + e^{−ε})·e^{−ε|λ|/Δ}; at Δ = 2 its sum is 1.89."""
    x, delta = exp(-1), 2
    printed = (1 - x) / (1 + x) * (1 + 2 * sum(exp(-k / delta) for k in range(1, 200)))
    assert round(printed, 2) == 1.89
    law = two_sided("1", sensitivity=delta).law
    y = exact.exp(Fraction(-1, delta))
    assert law.pmf(3) == (1 - y) / (1 + y) * y**3


def losses(matrix: np.ndarray, prior: list[float]) -> tuple[float, float]:
    """Expected absolute loss of a matrix as it is, and with the best guess for each output."""
    n = len(prior)
    cost = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    joint = np.array(prior)[:, None] * matrix
    return float((joint * cost).sum()), float((joint.T @ cost).min(axis=1).sum())


def optimum(n: int, epsilon: float, prior: list[float]) -> float:
    """The least expected absolute loss of any one-sided private mechanism on 0..n, by a linear program."""
    from scipy.optimize import linprog

    size = n + 1
    rows = []
    for i, z in itertools.product(range(1, size), range(size)):  # M[i, z] ≤ e^ε·M[i − 1, z]
        row = np.zeros((size, size))
        row[i, z], row[i - 1, z] = 1, -exp(epsilon)
        rows.append(row.ravel())
    sums = np.kron(np.eye(size), np.ones(size))
    cost = np.array(prior)[:, None] * np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    found = linprog(cost.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(size))
    return float(found.fun)


def test_theorem_viii_3_holds_only_with_the_remap() -> None:
    """N = 12, ε = .1, uniform: AGeo loses 3.917, with the Bayes remap 2.551, which is the optimum."""
    plain, remapped = losses(ageo("0.1", 12).on(range(13)).to_numpy(), [1 / 13] * 13)
    assert (round(plain, 3), round(remapped, 3)) == (3.917, 2.551)
    assert remapped == pytest.approx(optimum(12, 0.1, [1 / 13] * 13), abs=1e-7)


def test_lemmas_viii_4_and_5_an_optimum_need_not_be_triangular() -> None:
    """N = 1, ε = .1, prior (.9, .1): AGeo loses .814; always saying 0 loses .1, and is not upper triangular."""
    prior = [0.9, 0.1]
    plain, remapped = losses(ageo("0.1", 1).on(range(2)).to_numpy(), prior)
    assert (round(plain, 3), round(remapped, 3)) == (0.814, 0.1)
    assert optimum(1, 0.1, prior) == pytest.approx(0.1)
    always_0 = FiniteMechanism(range(2), range(2), [[1, 0], [1, 0]])
    assert verify(always_0, Line(infinity, "0.1"))
    assert losses(always_0.to_numpy(), prior)[0] == pytest.approx(0.1)
    assert always_0.probability(1, 0) == 1


def test_theorem_viii_6_goes_through_points() -> None:
    """A set of joint outputs that is not a product of sets: the bound holds for it; the printed proof does not reach it."""
    one = ageo("1", 1).on(range(2))
    both = one.beside(one)
    joint = {(0, 0), (1, 1)}
    assert set(itertools.product({a for a, _ in joint}, {b for _, b in joint})) != joint
    p, q = (float(sum((both.row(x)[z] for z in joint), exact.weight(0))) for x in (1, 0))
    assert p <= exp(2) * q
    verdict = verify(both, Line(infinity, 1).on(range(2)).scale(2))
    assert verdict
    assert verdict.tight
