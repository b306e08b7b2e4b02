"""Safe, obscure, dangerous: one noisy count, two promises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.errors import InputError, NotPrivateError
from leeward.exact import inf
from leeward.mechanism import alarm, sanitizer
from leeward.noise import DirectedGeometric, NormNoise, SeededBitsForTests
from leeward.planner import decisions
from leeward.planner._decisions import STATES

UP, DOWN, BOTH = (DirectedGeometric(*rates) for rates in ((1, inf), (inf, 1), ("1/3", "1/3")))


def test_where_counts_only_fall_safe_is_never_wrong_and_the_error_is_about_dangerous() -> None:
    made = decisions(UP, safe_at_most=2, dangerous_at_least=5, error_at_most="0.01")
    assert made.safe is not None
    assert made.dangerous is not None
    assert made.safe.never_wrong
    assert made.probabilities(3).safe == 0
    assert made.probabilities(4).dangerous <= Fraction(1, 100)
    assert UP.tail(made.dangerous.threshold - 1 - 4) > Fraction(1, 100)


def test_where_counts_only_rise_it_is_the_other_way_round() -> None:
    made = decisions(DOWN, safe_at_most=2, dangerous_at_least=5, error_at_most="0.01")
    assert made.dangerous is not None
    assert made.dangerous.never_wrong
    assert made.probabilities(4).dangerous == 0
    assert 0 < made.probabilities(3).safe <= Fraction(1, 100)


def test_where_both_are_protected_both_keep_the_error() -> None:
    made = decisions(BOTH, safe_at_most=2, dangerous_at_least=3, error_at_most="0.01")
    assert 0 < made.probabilities(3).safe <= Fraction(1, 100)
    assert 0 < made.probabilities(2).dangerous <= Fraction(1, 100)


@pytest.mark.parametrize("law", [UP, DOWN, BOTH, NormNoise("1/2", 2, one_sided=True).marginal()])
@pytest.mark.parametrize("alpha", ["0.9", "0.1", "1e-4"])
def test_chances_sum_to_1_and_are_those_of_the_states(law: DirectedGeometric, alpha: str) -> None:
    made = decisions(law, safe_at_most=2, dangerous_at_least=3, error_at_most=alpha)
    values = np.arange(-60, 60)
    states = made.states(values)
    assert set(states.tolist()) <= set(STATES)
    order = [STATES.index(s) for s in states.tolist()]
    assert order == sorted(order)
    for count, chances in made.curve(range(0, 6, 2)).items():
        assert sum(chances) == 1
        for state, chance in zip(STATES, chances, strict=True):
            within = [int(z) - count for z in values[states == state]]
            ends = {"safe": lambda w: law.cdf(max(w)), "dangerous": lambda w: law.tail(min(w))}
            if state != "obscure":
                assert chance == (ends[state](within) if within else 0)


def test_a_value_that_both_thresholds_claim_is_obscure() -> None:
    made = decisions(BOTH, safe_at_most=2, dangerous_at_least=3, error_at_most="0.9")
    assert made.safe is not None
    assert made.dangerous is not None
    assert made.safe.threshold >= made.dangerous.threshold
    both = np.arange(made.dangerous.threshold, made.safe.threshold + 1)
    assert made.states(both).tolist() == ["obscure"] * both.size
    assert made.states(np.array([both[0] - 1, both[-1] + 1])).tolist() == ["safe", "dangerous"]


def test_one_decision_alone() -> None:
    safe = decisions(UP, safe_at_most=2)
    assert safe.states(np.array([[2, 3]])).tolist() == [["safe", "obscure"]]
    assert safe.probabilities(0) == (sanitizer(UP, 2).probability(0), 1 - UP.cdf(2), 0)
    danger = decisions(DOWN, dangerous_at_least=4)
    assert danger.states(np.array([3, 4])).tolist() == ["obscure", "dangerous"]
    assert danger.probabilities(6).dangerous == alarm(DOWN, 4).probability(6)
    assert list(safe.curve()) == list(range(8))


@pytest.mark.statistical
def test_states_of_noisy_counts_come_as_often_as_said() -> None:
    """False alarm below 1e-6; states taken on clamped counts are rejected."""
    made = decisions(BOTH, safe_at_most=2, dangerous_at_least=8, error_at_most="0.05")
    assert made.safe is not None
    assert made.safe.threshold < 0
    noisy = 1 + BOTH.sample(5000, SeededBitsForTests(7))
    chances = [float(p) for p in made.probabilities(1)]

    def counted(values: np.ndarray) -> list[int]:
        return [int((made.states(values) == s).sum()) for s in STATES]

    assert rejects(counted(noisy), chances, 5000) is None
    assert rejects(counted(np.clip(noisy, 0, None)), chances, 5000)


@pytest.mark.parametrize(
    ("law", "asked", "error"),
    [
        (UP, {}, InputError),
        (UP, {"safe_at_most": 2, "dangerous_at_least": 2}, InputError),
        (UP, {"safe_at_most": 2, "error_at_most": "0.1"}, InputError),
        (DOWN, {"dangerous_at_least": 2, "error_at_most": "0.1"}, InputError),
        (UP, {"safe_at_most": 2, "dangerous_at_least": 4}, NotPrivateError),
        (UP, {"dangerous_at_least": 4}, NotPrivateError),
        (DOWN, {"safe_at_most": 2, "dangerous_at_least": 4}, NotPrivateError),
        (BOTH, {"safe_at_most": 2, "dangerous_at_least": 4}, NotPrivateError),
    ],
    ids=str,
)
def test_what_cannot_be_promised_is_refused(
    law: DirectedGeometric, asked: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        decisions(law, **asked)  # type: ignore[arg-type]
