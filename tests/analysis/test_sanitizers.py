"""ADP's Definition II.6 for a given mechanism: the best sanitizer against every sanitizer, and E[β] by hand."""

from __future__ import annotations

import dataclasses
import itertools
import random
from fractions import Fraction

import pytest

from leeward.analysis import best_decision, best_sanitizer, expected_beta
from leeward.errors import InputError, UndecidedError
from leeward.exact import exact, exp, inf
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, alap, two_sided


def random_mechanism(rng: random.Random) -> FiniteMechanism:
    rows = {}
    for x in range(4):
        parts = [rng.choice([0, 1, 2, 5]) for _ in range(4)]
        parts[rng.randrange(4)] += 1
        rows[x] = {z: Fraction(p, sum(parts)) for z, p in enumerate(parts)}
    return FiniteMechanism.from_rows(rows)


@pytest.mark.parametrize("case", range(25))
def test_no_deterministic_sanitizer_does_better(case: int) -> None:
    """All 16 sets of outputs, exactly; what is reached keeps α exactly, and is within 1e-9 of the proved bound."""
    rng = random.Random(case)
    mechanism, alpha = random_mechanism(rng), rng.choice([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1)])
    rows = [{z: p.rational or Fraction(0) for z, p in mechanism.row(x).items()} for x in range(4)]
    for secret in (None, 0, 1):
        found = best_sanitizer(mechanism, lambda x: x < 2, alpha, **({} if secret is None else {"secret": secret}))
        assert found.reached.alpha <= alpha
        assert found.beta <= found.bound
        assert float(found.bound) - float(found.beta) < 1e-9
        good = [0, 1] if secret is None else [secret]
        for size in range(5):
            for said in itertools.combinations(range(4), size):
                if all(sum(rows[x].get(z, Fraction(0)) for z in said) <= alpha for x in (2, 3)):
                    assert min(sum(rows[x].get(z, Fraction(0)) for z in said) for x in good) <= found.bound
        if not alpha:
            assert found.beta == found.bound


@pytest.mark.parametrize("count", [0, 1, 2])
def test_alap_at_alpha_0_is_the_optimum_of_proposition_iv_7(count: int) -> None:
    noisy = alap("1").on(range(7))
    found = best_sanitizer(noisy, lambda c: c <= 2, secret=count)
    assert found.beta == 1 - exp(count - 3)
    assert {z for z, s in found.says.items() if s} == {0, 1, 2}
    assert found.is_one_sided("1/2")
    assert not found.is_one_sided(found.beta + Fraction(1, 10**12))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_two_sided_noise_reaches_the_best_decision_curve(count: int) -> None:
    """Clamped at 0..2k it loses nothing for this threshold: the curve of `best_decision`, randomised at one output."""
    noisy = two_sided("1").on(range(7))
    found = best_sanitizer(noisy, lambda c: c <= 2, "1/20", secret=count)
    curve = best_decision("1", "1", 3, "1/20")
    assert float(found.beta) == pytest.approx(float(curve[3 - count]), abs=1e-9)
    assert found.reached.alpha <= Fraction(1, 20)


def test_one_sanitizer_for_all_unsafe_secrets() -> None:
    """The example of the corrections: each unsafe table alone leaves a perfect sanitizer, both together none."""
    matrix = FiniteMechanism.from_rows({"safe": {1: "1/2", 2: "1/2"}, "u1": {1: 1}, "u2": {2: 1}})
    assert best_sanitizer(matrix, lambda x: x == "safe").beta == 0
    alone = FiniteMechanism.from_rows({"safe": {1: "1/2", 2: "1/2"}, "u1": {1: 1}})
    assert best_sanitizer(alone, lambda x: x == "safe").beta == Fraction(1, 2)


def test_what_is_no_question_is_refused() -> None:
    noisy = alap("1").on(range(4))
    for ask in (
        lambda: best_sanitizer(noisy, lambda c: False),
        lambda: best_sanitizer(noisy, lambda c: c <= 1, secret=3),
        lambda: best_sanitizer(noisy, lambda c: c <= 1, 2),
        lambda: expected_beta({7: 3}, lambda c: 1, 2),
    ):
        with pytest.raises(InputError):
            ask()


def test_expected_beta_is_a_mean_over_safe_places() -> None:
    places = {0: 5, 1: 3, 2: 2, 3: 100}
    curve = best_decision("1", inf, 3)
    expected = (5 * (1 - exp(-3)) + 3 * (1 - exp(-2)) + 2 * (1 - exp(-1))) / 10
    assert expected_beta(places, lambda c: curve[3 - c], 2) == expected


def test_what_lies_between_is_left_open() -> None:
    noisy = two_sided("1").on(range(4))
    found = best_sanitizer(noisy, lambda c: c <= 1, "1/20")
    between = dataclasses.replace(found, beta=weight("1/4"), bound=weight("1/2"))
    assert between.is_one_sided("1/4")
    assert not between.is_one_sided("0.51")
    with pytest.raises(UndecidedError):
        between.is_one_sided("1/2")


@pytest.mark.parametrize("tiny", ["1e-12", "1e-15", "1e-300"])
def test_a_tiny_alpha_leaves_probabilities(tiny: str) -> None:
    coin = FiniteMechanism.from_rows({0: {0: "2/3", 1: "1/3"}, 1: {0: "1/3", 1: "2/3"}})
    found = best_sanitizer(coin, lambda x: x == 0, tiny)
    assert all(0 <= chance <= 1 for chance in found.says.values())
    assert found.reached.alpha <= exact(tiny)
    assert 0 <= found.beta <= found.bound <= 2 * exact(tiny) + Fraction(1, 10**9)


def test_what_floats_take_for_allowed_is_made_less() -> None:
    """α is less than 1/2 by 10⁻²⁰: the solver cannot see that, and would say True of a whole output."""
    even = FiniteMechanism.from_rows({0: {0: 1}, 1: {0: "1/2", 1: "1/2"}})
    alpha = Fraction(1, 2) - Fraction(1, 10**20)
    found = best_sanitizer(even, lambda x: x == 0, alpha)
    assert found.reached.alpha <= alpha < found.reached.alpha + Fraction(1, 10**9)
