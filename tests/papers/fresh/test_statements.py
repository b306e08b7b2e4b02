"""Sentences of ``docs/corrections.md`` and of the guides, each against a derivation of its own.

Those that are numbers are in ``test_fresh``; here are the arguments: what a printed step allows, and what it does not.
Nothing of the package is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.papers.fresh import d_privacy, one_sided, optima, written
from tests.papers.fresh.adp import best, path, risk, scale, steps_from, two_sided, upward

# ---- d-privacy: what was taken back, and what was added


def tables(people: int, top: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(top + 1), repeat=people)


def test_theorem_13_is_proved_as_printed_with_x_of_h_prime() -> None:
    """Both cases of "x[h] ≤ x[h′] (the other is symmetric)", with every h and h′ that sorting may choose, at every rank."""
    cases = set()
    for x, y in itertools.product(tables(3, 3), repeat=2):
        d = max(abs(a - b) for a, b in zip(x, y, strict=True))
        for rank in range(3):
            here = [h for h in range(3) if x[h] == sorted(x)[rank]]
            there = [h for h in range(3) if y[h] == sorted(y)[rank]]
            for h, other in itertools.product(here, there):
                if x[h] <= x[other]:
                    assert x[h] - d <= x[other] - d <= y[other]  # by (4)
                    assert any(x[j] <= x[h] and y[j] >= y[other] for j in range(3))  # "there exists at least one j"
                else:
                    assert y[other] <= x[other] + d <= x[h] + d  # by (4)
                    assert any(x[j] >= x[h] and y[j] <= y[other] for j in range(3))
                cases.add(x[h] <= x[other])
                assert abs(x[h] - y[other]) <= d
    assert cases == {True, False}


def test_theorem_3_looks_for_e_to_minus_d() -> None:
    """The ratio f crosses e^{−d} between the two Dirac priors, and there the hypothesis gives privacy; at e^d not."""
    d, ratio = log(2), 3.0  # K(xᵢ)/K(xᵢ₊₁) = 3 > e^d
    here, there = ratio, 1.0  # K(xᵢ)(Z), K(xᵢ₊₁)(Z); φ swaps them

    def f(t: float) -> float:
        return (here * t + there * (1 - t)) / (there * t + here * (1 - t))

    assert f(1) > exp(d) > exp(-d)  # what is printed, and what holds besides
    assert f(0) < exp(-d)
    low, high = 0.0, 1.0
    for _ in range(60):
        low, high = ((low + high) / 2, high) if f((low + high) / 2) < exp(-d) else (low, (low + high) / 2)
    assert 0 < low < 1
    assert here > exp(2 * d) * f(low) * there  # the hypothesis fails there, as it must
    assert here <= exp(2 * d) * exp(d) * there  # at a prior where f is e^d it would not


@pytest.mark.parametrize("d", [0.1, 1.0, 2.0])
def test_the_chain_of_theorem_4_needs_the_secret_it_is_about(d: float) -> None:
    """Σ π(x′)e^{−d}K(x)(Z) bounds the posterior by e^d·π(x), for every private K; with K(x′)(Z) it may be e^{2d}·π(x)."""
    worst = 0.0
    for t, ratio in itertools.product((0.001, 0.1, 0.5, 0.9), (exp(-d), 1.0, exp(d))):
        prior, k = (t, 1 - t), (ratio, 1.0)
        right = prior[0] * k[0] / (prior[0] * k[0] + prior[1] * exp(-d) * k[0])
        printed = prior[0] * k[0] / (prior[0] * k[0] + prior[1] * exp(-d) * k[1])
        assert right <= exp(d) * prior[0] + 1e-15
        worst = max(worst, printed / (exp(d) * prior[0]))
    assert worst > 1.01


def test_proposition_9_has_steps_of_length_0_where_two_tables_agree() -> None:
    x, y = (0, 1), (2, 1)
    chain = [x, (y[0], x[1]), (y[0], y[1])]
    assert [d_privacy.d_h(a, b) for a, b in itertools.pairwise(chain)] == [1, 0]


def test_chains_avoid_the_empty_database_if_what_is_filled_goes_first() -> None:
    """From the first entry to the last some chains pass through it; filled ones first, none does, and all stay tight."""

    def chain(x: d_privacy.Table, y: d_privacy.Table, order: list[int]) -> list[d_privacy.Table]:
        found = [x]
        for i in order:
            found.append(d_privacy.replaced(found[-1], i, y[i]))
        return found

    empty, through = (None, None), 0
    for x, y in itertools.product(d_privacy.TABLES, repeat=2):
        printed, ours = chain(x, y, [0, 1]), chain(x, y, sorted((0, 1), key=lambda i: y[i] is None))
        through += empty in printed
        assert empty not in ours
        for d in (d_privacy.d_h, d_privacy.d_1, d_privacy.d_n):
            assert sum(d(a, b) for a, b in itertools.pairwise(ours)) == d(x, y)
    assert through == 9  # (v, ∅) to (∅, w)


def test_max_min_and_median_are_percentiles() -> None:
    for x in d_privacy.TABLES:
        values = d_privacy.present(x)
        assert d_privacy.QUERIES["minimum"](x) == min(values)
        assert d_privacy.QUERIES["maximum"](x) == max(values)


def test_n_h_is_not_maximally_tight_for_manhattan() -> None:
    of = d_privacy.families()
    for d in (d_privacy.d_1, d_privacy.d_n):
        assert not d_privacy.joined(d_privacy.inside(of["N_h"], d, True), d)


def test_the_sum_of_n_readings_is_n_sensitive_for_the_maximum() -> None:
    for n in (2, 3):
        pairs = itertools.permutations(tables(n, 2), 2)
        ratios = (Fraction(abs(sum(x) - sum(y)), max(abs(a - b) for a, b in zip(x, y, strict=True))) for x, y in pairs)
        assert max(ratios) == n


def test_d_infinity_is_the_only_distance_that_means_all_readings_at_once() -> None:
    """Section 6.1: d(x, x′) ≤ δ iff every reading is within δ, for every δ: then d is the greatest difference."""
    for x, y in itertools.product(tables(3, 2), repeat=2):
        least = min(delta for delta in range(3) if all(abs(a - b) <= delta for a, b in zip(x, y, strict=True)))
        assert least == max(abs(a - b) for a, b in zip(x, y, strict=True))


def test_the_optimum_on_a_square_of_sixteen_places() -> None:
    """The guide's 1.08885; 172 of the ordered pairs of places have none between."""
    shown = written.code("d-privacy.md").splitlines()
    assert f"certified: expected loss {optima.square(4):.5f}" in shown
    pairs = list(itertools.permutations(itertools.product(range(4), repeat=2), 2))
    needed = sum(math.gcd(x[0] - y[0], x[1] - y[1]) == 1 for x, y in pairs)
    assert f"{needed} of {len(pairs)} ordered pairs of secrets are needed" in shown


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "sentence"), [(9, "the 9 × 9 grid takes 2 s (loss {})"), (12, "12 × 12 takes 11 s ({})")]
)
def test_the_optimum_on_larger_squares(size: int, sentence: str) -> None:
    assert sentence.format(f"{optima.square(size):.3f}") in written.code("d-privacy.md")


def test_hiding_with_a_direction_costs_both_ways() -> None:
    """The guide's bound where distances have a direction, on a two-point space with every private K of a grid."""
    to, back = 0.5, 1.5  # d(0 → 1), d(1 → 0)
    grid = [i / 20 for i in range(1, 21)]
    worst = 0.0
    for p, q in itertools.product(grid, repeat=2):  # K(0)(Z), K(1)(Z)
        if not (p <= exp(to) * q and q <= exp(back) * p):
            continue
        for prior in (0.01, 0.5, 0.99):
            plain = [prior * p, (1 - prior) * q]
            swapped = [prior * q, (1 - prior) * p]
            known, hidden = [v / sum(plain) for v in plain], [v / sum(swapped) for v in swapped]
            worst = max(worst, *(abs(log(a / b)) for a, b in zip(known, hidden, strict=True)))
    most = max(to, back)  # φ swaps: the most that hiding costs one way, and the other way
    assert worst <= 2 * most + 1e-12
    assert worst > 2 * min(to, back), "with the smaller direction the bound would be false"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_upward_noise_serves_every_loss_and_two_sided_noise_does_not(n: int) -> None:
    """M is G followed by G⁻¹M: the least entry that G⁻¹M can have, over all private M, by a linear program for each row."""
    for rise in (inf, 0.5):
        rows: list[np.ndarray] = []
        for i in range(n):  # of one column of M: to pass i + 1 off as i costs 1/2; i as i + 1 costs ``rise``
            rows.append(np.eye(n + 1)[i + 1] - exp(0.5) * np.eye(n + 1)[i])
            if rise < inf:
                rows.append(np.eye(n + 1)[i] - exp(rise) * np.eye(n + 1)[i + 1])
        law = upward if rise == inf else lambda i, rate, top: two_sided(i, rate, 0, top)
        g = np.array([[law(i, 0.5, n).get(z, 0.0) for z in range(n + 1)] for i in range(n + 1)])
        least = min(
            linprog(row, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=(0, 1)).fun for row in np.linalg.inv(g)
        )
        assert (least >= -1e-12) is (rise == inf or n == 1)


# ---- One-sided


def test_the_density_after_proposition_3_is_of_noise_divided_by_the_rate() -> None:
    """∫ z·λe^{−λz}dz is 1/λ: the mean of ξ/λ, not of λξ, for every λ but 1."""
    for rate in (0.5, 2.0, 3.0):
        grid = [(i + 0.5) / 2000 for i in range(80_000)]
        centre = sum(z * rate * exp(-rate * z) for z in grid) / 2000
        assert math.isclose(centre, 1 / rate, rel_tol=1e-5)
        assert not math.isclose(centre, rate, rel_tol=0.1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_what_remains_of_equation_3_when_the_geometric_noise_is_undone(epsilon: float) -> None:
    """g·(s − α)(1 − αs)/(1 − α)² = x, for the generating function g of noise of rate ln(1 + e^ε)."""
    alpha, b = exp(-epsilon), 1 / (1 + exp(epsilon))
    for x in (0.0, 0.3, 0.7, 1.0):
        s, g = alpha + (1 - alpha) * x, (1 - b) / (1 - b * x)
        assert math.isclose(g * (s - alpha) * (1 - alpha * s) / (1 - alpha) ** 2, x, abs_tol=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.0, 0.01), (2.0, 0.2)])
def test_removal_is_addition_in_another_regime(epsilon: float, delta: float) -> None:
    """Pr[x′ ∉ T] ≤ e^ε·Pr[x ∉ T] + δ is Pr[x ∈ T] ≤ e^{−ε}·Pr[x′ ∈ T] + δ′, for every pair of chances, and back."""
    other = 1 - exp(-epsilon) + exp(-epsilon) * delta
    for p, q in itertools.product([i / 40 for i in range(41)], repeat=2):  # Pr[x ∈ T], Pr[x′ ∈ T]
        left, right = exp(epsilon) * (1 - p) + delta - (1 - q), exp(-epsilon) * q + other - p
        assert math.isclose(left, exp(epsilon) * right, abs_tol=1e-12)


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_the_removal_price_of_a_sample_with_a_base_that_has_one(p: float) -> None:
    """−ln(1 − p(1 − e^{−a})) for the two-sided base of rate a = 1, and −ln(1 − p) for one that promises addition only."""
    from tests.papers.fresh.one_sided import both, removed, then_up, thinned

    law = {}
    for x in range(5):
        row: dict[int, float] = {}
        for kept, chance in thinned(x, p).items():
            for z, q in both(kept).items():
                row[z] = row.get(z, 0.0) + chance * q
        law[x] = {z: q for z, q in row.items() if abs(z) < 30}
    assert math.isclose(scale(law, removed), -log(1 - p * (1 - exp(-1))), rel_tol=1e-9)
    assert math.isclose(scale({x: then_up(x, p, 1) for x in range(5)}, removed), -log(1 - p), rel_tol=1e-9)


def test_a_coin_for_each_visit_costs_twice() -> None:
    """Someone at both of two places, thinned visit by visit: removing them costs 2ε at p = 1 − e^{−ε}."""
    keep = 1 - exp(-1)
    here = {
        (a, b): (keep if a else 1 - keep) * (keep if b else 1 - keep) for a, b in itertools.product((0, 1), repeat=2)
    }
    assert math.isclose(scale({"away": {(0, 0): 1.0}, "both": here}, lambda x, y: 1 if x == "away" else inf), 2)
    assert one_sided.removed(0, 1) == 1


# ---- ADP


def test_the_remark_of_iv_b_holds_one_way_only() -> None:
    """That a record is sensitive is never more than e^ε likelier; that it is not may become certain (Proposition IV.3)."""
    rows = {"sensitive": {"F": 1.0}, "other": {"T": 1 - exp(-1), "F": exp(-1)}}
    assert scale(rows, lambda x, y: 1 if x == "sensitive" else inf) == pytest.approx(1)
    prior = {"sensitive": 0.5, "other": 0.5}
    assert risk(rows, lambda x: x == "sensitive", prior) == pytest.approx(math.e)
    assert risk(rows, lambda x: x == "other", prior) == inf


def test_proposition_iv_7_as_printed_is_false_of_a_policy_along_which_counts_rise() -> None:
    """With p = c the only steps add. One step, from safe to unsafe; β = 1 and α = e^{−ε}, and no finite ε would do."""
    rows = {"safe": {"T": 1.0}, "unsafe": {"T": exp(-1), "F": 1 - exp(-1)}}
    assert scale(rows, lambda x, y: 1 if x == "safe" else inf) == pytest.approx(1)
    assert path((False,), any) == inf, "with p = ¬c no step leads there"
    assert all(sum(then) <= 1 for then in steps_from((True, False)))


def test_the_bound_on_delta_does_not_follow_from_proposition_iii_1_alone() -> None:
    """An S that hardly ever happens meets III.1 and the group form at half of that δ; with Pr[M(X) ∈ S] ≥ β none does."""
    epsilon, k, beta = 1.0, 3, 0.5
    total = sum(exp(i * epsilon) for i in range(k))
    needed = beta / total
    chances = [i / 1000 for i in range(1001)]
    meets = [p for p in chances if 0 < p <= needed / 2 * total]  # α small, Pr[M(X′) ∈ S] = 0; half that δ
    assert meets
    assert not [p for p in meets if p >= beta]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("delta", [0.0, 1e-4, 1e-2])
def test_the_bounds_hold_and_are_attained_where_chances_are_small(k: int, alpha: float, delta: float) -> None:
    """Inequalities (5) and (7), read for β, against every decision (a linear program). ADP attains that of IV.7."""
    bound = min(1.0, alpha * exp(k) + delta * sum(exp(i) for i in range(k)))
    optimum = best(k, 1, 1, alpha=alpha, delta=delta)
    assert optimum <= bound + 1e-9
    if bound <= 1 / (1 + math.e):
        assert optimum == pytest.approx(bound, abs=1e-9)
    assert best(k, fall=1, alpha=alpha) == pytest.approx(1 - (1 - alpha) * exp(-k), abs=1e-8)


@pytest.mark.parametrize("alpha", [1e-4, exp(-4), 0.1])
def test_dangerous_is_answered_no_worse_and_far_away_better_than_under_dp(alpha: float) -> None:
    """Section IV-C2: upward noise attains min(e^k·α, 1); ε-DP bounds the other word as well."""
    curves = [(min(1.0, exp(k) * alpha), best(k, 1, 1, alpha=alpha)) for k in range(1, 12)]
    assert all(ours >= theirs - 1e-9 for ours, theirs in curves)
    assert curves[-1][0] > curves[-1][1] + 1e-6


def test_a_disjunction_and_a_conjunction_of_policies_both_let_a_count_rise() -> None:
    """Section VI-A3 over all records of one to three places; all policies at once let none."""
    for d in (1, 2, 3):
        records = [frozenset(s) for n in range(d + 1) for s in itertools.combinations(range(d), n)]

        def rises(rule: str, records: list[frozenset[int]] = records, d: int = d) -> bool:
            found = False
            for x, y in itertools.product(records, repeat=2):
                away = [(place not in x, place not in y) for place in range(d)]
                if rule == "all at once":
                    step = all(not p or q for p, q in away)
                else:
                    join = any if rule == "or" else all
                    step = not join(p for p, _ in away) or join(q for _, q in away)
                found |= step and not y <= x
            return found

        assert not rises("all at once")
        assert rises("or") is rises("and") is (d > 1)
