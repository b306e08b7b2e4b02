"""Bounds on decisions: the paper's, which are valid but loose, and the tight one, which is a linear program's optimum."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle.decision import best_by_program

from leeward.analysis import (
    alap_beta,
    alap_epsilon,
    best_decision,
    delta_bound,
    delta_bound_complement,
    delta_needed,
    epsilon_bound,
    epsilon_bound_complement,
    epsilon_needed,
    epsilon_needed_complement,
    one_sided,
)
from leeward.analysis._bounds import BestDecision
from leeward.distance import Line
from leeward.errors import InexactError, InputError
from leeward.exact import Weight, exact, exp, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric, randomized_sanitizer, sanitizer, two_sided
from leeward.noise import DirectedGeometric

RATES = [("1", "1"), ("1", inf), ("1/2", "4"), ("4", "1/3"), ("0.1", "0.1")]
ALPHAS = ["0", "1e-4", "0.01", "1/2"]


# ---- the tight bound


@pytest.mark.parametrize(("presence", "absence"), RATES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_recursion_is_the_optimum_of_a_program(presence: str, absence: str, alpha: str) -> None:
    rise = None if absence is inf else float(Fraction(absence))
    curve = best_decision(presence, absence, 6, alpha)
    for k in range(1, 7):
        best = best_by_program(float(Fraction(presence)), rise, k, float(Fraction(alpha)))
        assert float(curve[k]) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize(("presence", "absence"), [("1", "1"), ("1", inf), ("1/2", "2")])
@pytest.mark.parametrize(("alpha", "delta"), [("0", "0.01"), ("0.01", "0.05"), ("0", "0.5")])
def test_the_recursion_with_delta_is_the_optimum_of_a_program(
    presence: str, absence: str, alpha: str, delta: str
) -> None:
    rise = None if absence is inf else float(Fraction(absence))
    curve = best_decision(presence, absence, 5, alpha, delta=delta)
    for k in range(1, 6):
        best = best_by_program(float(Fraction(presence)), rise, k, float(Fraction(alpha)), float(Fraction(delta)))
        assert float(curve[k]) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("rate", ["1", "1/3", "0.1", "20"])
def test_upward_geometric_noise_attains_it_at_alpha_0(rate: str) -> None:
    """For every count at once, and exactly: 1 − e^{−rate·k}."""
    curve, decision = best_decision(rate, inf, 7), sanitizer(DirectedGeometric.one_sided(rate), 6)
    for k in range(8):
        assert curve[k] == decision.probability(7 - k) == alap_beta(rate, 7 - k, 6) == 1 - exp_minus(Fraction(rate) * k)


@pytest.mark.parametrize(("presence", "absence"), [("1", "1"), ("1/2", "4"), ("4", "1/3"), ("0.1", "0.1")])
@pytest.mark.parametrize("alpha", ["1e-4", "0.01", "1/2"])
def test_the_randomized_threshold_attains_it_where_absence_is_protected(
    presence: str, absence: str, alpha: str
) -> None:
    """Two-sided and graded: with a coin at the boundary value, at every count at once, exactly."""
    curve = best_decision(presence, absence, 8, alpha)
    decision = randomized_sanitizer(DirectedGeometric(up=presence, down=absence), 8, alpha)
    assert [decision.probability(9 - k) == curve[k] for k in range(9)] == [True] * 9


def test_without_the_coin_it_is_not_attained() -> None:
    curve = best_decision(1, 1, 5, "0.01")
    plain = sanitizer(DirectedGeometric(1, 1), 5, "0.01")
    assert plain.probability(1) < curve[5]


def test_removal_only_decisions_follow_the_recursion() -> None:
    """Falls not protected: presence = ∞ leaves e^{kε}·α."""
    curve = best_decision(inf, "1", 4, "0.01")
    assert [p == exp(k) / 100 for k, p in enumerate(curve)] == [True] * 5
    assert best_decision(inf, "1", 5, "0.01")[5] == 1
    assert float(curve[3]) == pytest.approx(best_by_program(None, 1.0, 3, 0.01), abs=1e-7)


def test_under_dp_nothing_is_safe_at_alpha_0() -> None:
    assert best_decision(1, 1, 9) == (0,) * 10


# ---- the paper's


def test_the_numbers_at_five_steps() -> None:
    """ε = 1, k = 5, α = 1e-2: III-A allows 1, its complement .993, the optimum is .833."""
    assert epsilon_bound(1, 5, "0.01") == 1
    assert round(float(epsilon_bound_complement(1, 5, "0.01")), 3) == 0.993
    assert round(float(best_decision(1, 1, 5, "0.01")[5]), 3) == 0.833


@pytest.mark.parametrize(("alpha", "delta"), list(itertools.product(ALPHAS, ["0", "0.01", "0.2"])))
def test_they_hold_for_the_best_decision_and_are_tight_at_one_step(alpha: str, delta: str) -> None:
    curve = best_decision("1/2", "1/2", 5, alpha, delta=delta)
    for k in range(1, 6):
        assert curve[k] <= delta_bound("1/2", delta, k, alpha)
        assert curve[k] <= delta_bound_complement("1/2", delta, k, alpha)
    assert curve[1] == min(delta_bound("1/2", delta, 1, alpha), delta_bound_complement("1/2", delta, 1, alpha))


def test_the_delta_bound_without_delta_is_the_epsilon_bound() -> None:
    for k in (1, 4):
        assert delta_bound("1/3", 0, k, "0.01") == epsilon_bound("1/3", k, "0.01") == exp(Fraction(k, 3)) / 100
        assert delta_bound_complement("1/3", 0, k, "0.01") == epsilon_bound_complement("1/3", k, "0.01")


def test_what_is_needed_is_where_the_bound_is_met() -> None:
    assert epsilon_needed(2, "0.01", "1/2") == log(50) / 2
    assert epsilon_bound(epsilon_needed(2, "0.01", "1/2"), 2, "0.01") == Fraction(1, 2)
    assert epsilon_needed(2, 0, "1/2").is_infinite
    assert epsilon_needed_complement(2, 0, "1/2") == log(2) / 2
    assert epsilon_bound_complement(epsilon_needed_complement(3, "0.1", "0.9"), 3, "0.1") == weight("0.9")
    assert epsilon_needed_complement(3, "0.1", 1).is_infinite
    needed = delta_needed(1, 3, 0, "1/2")
    assert needed == Fraction(1, 2) / (1 + exp(1) + exp(2))
    assert delta_needed(1, 3, "1/2", "1/2") == 0


def test_corollary_v_6() -> None:
    """ALap is (q, 0, β)-one-sided from ε = Δ·ln(1/(1 − β))/k on, with k = t + 1 − c, and not before."""
    for count, at_most, delta in [(0, 2, 1), (2, 2, 1), (1, 4, 3)]:
        epsilon = alap_epsilon("1/2", count, at_most, sensitivity=delta)
        assert epsilon == log(2) * delta / (at_most + 1 - count)
        assert alap_beta(epsilon / delta, count, at_most) == Fraction(1, 2)
        assert alap_beta(epsilon / delta * "0.99", count, at_most) < Fraction(1, 2)
    assert alap_beta(1, 3, 2) == 0
    with pytest.raises(InputError, match="not safe"):
        alap_epsilon("1/2", 3, 2)


# ---- any integer mechanism and sanitizer


def test_alpha_and_beta_of_a_mechanism_and_a_sanitizer() -> None:
    matrix = Geometric(Line(inf, "1/2"), lower=0, upper=9).on(range(10))
    found = one_sided(matrix, lambda c: c <= 2, lambda z: z <= 2)
    assert found.alpha == 0
    assert found.beta == {c: 1 - exp_minus(Fraction(3 - c, 2)) for c in range(3)}
    loose = one_sided(matrix, lambda c: c <= 2, lambda z: z <= 3)
    assert loose.alpha == 1 - exp_minus("1/2")


def test_a_sanitizer_may_flip_coins() -> None:
    matrix = two_sided("1", lower=-20, upper=9).on(range(10))
    decision = randomized_sanitizer(DirectedGeometric(1, 1), 2, "0.01")
    edge = decision.plain.threshold
    found = one_sided(matrix, lambda c: c <= 2, lambda z: z <= edge or (z == edge + 1 and decision.boundary))
    assert found.alpha == weight("0.01")
    curve = best_decision(1, 1, 3, "0.01")
    assert found.beta == {c: curve[3 - c] for c in range(3)}


def test_a_proposition_that_always_holds_has_no_alpha() -> None:
    matrix = FiniteMechanism("ab", "z", [[1], [1]])
    found = one_sided(matrix, lambda _: True, lambda _: True)
    assert found.alpha == 0
    assert found.beta == {"a": weight(1), "b": weight(1)}


@pytest.mark.parametrize(
    "ask",
    [
        lambda: best_decision(1, 1, -1),
        lambda: best_decision(0, 1, 1),
        lambda: best_decision(1, 1, 1, 2),
        lambda: best_decision(1, 1, 1, 0, delta=-1),
        lambda: epsilon_bound(inf, 1, 0),
        lambda: delta_bound(1, 0, 0, 0),
    ],
)
def test_what_has_no_meaning_is_refused(ask: object) -> None:
    assert callable(ask)
    with pytest.raises(InputError):
        ask()


def test_floats_are_refused() -> None:
    with pytest.raises(InexactError):
        best_decision(1.0, 1, 1)  # type: ignore[arg-type]


# ---- the recursion, solved


def stepped(fall: Any, rise: Any, k: int, alpha: Any, delta: Any) -> list[Weight]:
    """The recursion as it is written, a step at a time."""
    curve = [weight(alpha)]
    for _ in range(k):
        last = curve[-1]
        choices = [weight(1), 1 - exp_minus(fall) * (1 - weight(delta) - last)]
        if rise != inf:
            choices.append(exp(rise) * last + weight(delta))
        curve.append(min(choices))
    return curve


@pytest.mark.parametrize("fall", ["1", "1/2", "0.1", "4", inf])
@pytest.mark.parametrize("rise", ["1", "1/3", "0.1", inf])
def test_the_solution_is_the_recursion_a_step_at_a_time(fall: Any, rise: Any) -> None:
    """Exactly, and at every distance: also where α or δ is 0 or 1, and where the two bounds meet."""
    met = []
    if inf not in {fall, rise}:  # α at which both bounds are equal after two steps
        met = [exp_minus(2 * exact(rise)) * (1 - exp_minus(fall)) / (exp(rise) - exp_minus(fall))]
    for alpha, delta in itertools.product(("0", "1e-4", "0.01", "1/2", "1"), ("0", "0.01", "1/2", "1")):
        solved = BestDecision(fall, rise, alpha, delta=delta)
        assert all(solved.at(k) == right for k, right in enumerate(stepped(fall, rise, 12, alpha, delta))), (
            alpha,
            delta,
        )
    for alpha in met:
        solved = BestDecision(fall, rise, 0)
        object.__setattr__(solved, "alpha", alpha)
        assert all(solved.at(k) == right for k, right in enumerate(stepped(fall, rise, 6, alpha, 0)))


@pytest.mark.parametrize("k", [10, 10**4, 10**12])
def test_far_from_the_threshold_it_costs_no_more_work(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By comparisons counted: a step at a time takes two of them for each step."""
    decided: list[Weight] = []
    sign = Weight.sign
    monkeypatch.setattr(Weight, "sign", lambda self: (decided.append(self), sign(self))[1])
    best = BestDecision("1", "1", "1e-9")
    assert best.at(k) <= 1
    assert len(decided) <= 60
    decided.clear()
    stepped("1", "1", 60, "1e-9", 0)
    assert len(decided) >= 120
