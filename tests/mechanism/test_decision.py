"""Safe and dangerous: the best thresholds, exactly on the promised side of their error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import Geometric, alarm, randomized_sanitizer, sanitizer
from leeward.mechanism._threshold_rule import CountNoise
from leeward.noise import DirectedGeometric, NormNoise, SeededBitsForTests

UP, DOWN, BOTH, GRADED = (DirectedGeometric(*rates) for rates in ((1, inf), (inf, "1/2"), ("1/3", "1/3"), ("1", "1/4")))
LAWS: list[CountNoise] = [DOWN, BOTH, GRADED, NormNoise("1/2", 2, one_sided=False).marginal()]


def test_safe_is_never_wrong_under_upward_noise() -> None:
    decision = sanitizer(UP, 2)
    assert decision.never_wrong
    assert decision.error == 0
    for c in range(6):
        assert decision.probability(c) == (1 - exp_minus(3 - c) if c <= 2 else 0)
    assert decision.says(np.array([1, 2, 3])).tolist() == [True, True, False]


def test_dangerous_is_never_wrong_under_downward_noise() -> None:
    decision = alarm(DOWN, 4)
    assert decision.never_wrong
    assert decision.error == 0
    for c in range(8):
        assert decision.probability(c) == (1 - exp_minus(Fraction(c - 3, 2)) if c >= 4 else 0)
    assert decision.says(np.array([3, 4, 5])).tolist() == [False, True, True]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", ["0.5", "0.01", "1e-6"])
def test_the_safe_threshold_is_the_greatest_that_keeps_its_error(law: CountNoise, alpha: str) -> None:
    decision = sanitizer(law, 3, alpha)
    assert decision.error <= Fraction(alpha)
    assert law.cdf(decision.threshold + 1 - 4) > Fraction(alpha)


@pytest.mark.parametrize("law", [UP, *LAWS[1:]])
@pytest.mark.parametrize("alpha", ["0.5", "0.01", "1e-6"])
def test_the_dangerous_threshold_is_the_least_that_keeps_its_error(law: CountNoise, alpha: str) -> None:
    decision = alarm(law, 4, alpha)
    assert decision.error <= Fraction(alpha)
    assert law.tail(decision.threshold - 1 - 3) > Fraction(alpha)
    chances = [decision.probability(c) for c in range(10)]
    assert chances == sorted(chances)


def test_the_closed_form_of_removal_only() -> None:
    """T' = t + 1 − ⌈k·ln(1/α)/ε⌉ with k = 1: it is negative here."""
    assert sanitizer(DOWN, 2, "1e-4").threshold == 3 - 19  # ln(10⁴)/(1/2) = 18.42
    assert sanitizer(DirectedGeometric(inf, 1), 2, "1e-4").threshold == 3 - 10


@pytest.mark.parametrize("law", [UP, BOTH, GRADED])
def test_dangerous_is_safe_in_the_mirror(law: DirectedGeometric) -> None:
    """Count 20 − c for c and noise turned round: "at least 10" reads "at most 10"."""
    danger, safe = alarm(law, 10, "0.01"), sanitizer(law.reverse(), 10, "0.01")
    for c in range(21):
        assert danger.probability(c) == safe.probability(20 - c)


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(InputError, match="never below 0"):
        sanitizer(UP, -1)
    with pytest.raises(InputError, match="at least 0"):
        alarm(DOWN, 0)
    with pytest.raises(InputError, match="never wrong"):
        sanitizer(UP, 2, "0.1")
    with pytest.raises(InputError, match="never wrong"):
        alarm(DOWN, 2, "0.1")
    with pytest.raises(NotPrivateError, match="under-reported"):
        sanitizer(BOTH, 2)
    with pytest.raises(NotPrivateError, match="over-reported"):
        alarm(UP, 2)
    for wrong in ("0", "1", "-1"):
        with pytest.raises(InputError, match="not a probability"):
            alarm(BOTH, 2, wrong)
        with pytest.raises(InputError, match="not a probability"):
            sanitizer(BOTH, 2, wrong)


@pytest.mark.parametrize("law", LAWS)
def test_a_coin_at_the_boundary_uses_alpha_up(law: CountNoise) -> None:
    decision = randomized_sanitizer(law, 3, "0.01")
    assert decision.probability(4) == weight("0.01")
    assert 0 <= decision.boundary < 1
    assert all(decision.probability(c) >= decision.plain.probability(c) for c in range(8))


@pytest.mark.statistical
def test_the_coin_is_flipped_at_the_boundary_only() -> None:
    """False alarm below 1e-6."""
    decision = randomized_sanitizer(BOTH, 3, "0.25")
    edge = decision.plain.threshold + 1
    n, chance = 5000, float(decision.boundary)
    assert 0.1 < chance < 0.9
    said = decision.says(np.array([edge - 1, edge, edge + 1] * n), SeededBitsForTests(2)).reshape(n, 3).sum(axis=0)
    assert (said[0], said[2]) == (n, 0)
    assert rejects([int(said[1])], [chance], n) is None
    assert rejects([n], [chance], n)


@pytest.mark.parametrize("decide", [lambda of: sanitizer(of, 2), lambda of: alarm(of, 2)])
def test_a_mechanism_in_place_of_its_noise_is_told_how(decide: Any) -> None:
    with pytest.raises(InputError, match=r"mechanism\.law.*mechanism\.sanitizer"):
        decide(Geometric(Line(inf, 1)))


def test_an_error_that_is_met_exactly_is_used() -> None:
    """At rate ln 2 both ways Pr[noise ≤ −1] is 1/3: with α = 1/3 *safe* is said up to t, with less only up to t − 1."""
    law = DirectedGeometric(log(2), log(2))
    assert sanitizer(law, 2, "1/3").threshold == 2
    assert sanitizer(law, 2, "1/3").probability(3) == Fraction(1, 3)
    assert sanitizer(law, 2, "333/1000").threshold == 1
