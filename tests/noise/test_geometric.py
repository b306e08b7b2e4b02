"""The directed geometric law: closed forms against brute summation, and exactly against their own definitions."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.geometric import DirectedGeometricBySummation

from leeward.errors import InexactError, InputError, NoiseError
from leeward.exact import Real, Weight, exact, exp, exp_minus, inf, log, sqrt
from leeward.noise import DirectedGeometric

LEAST = Fraction(1, 2**50)

LAWS: list[tuple[str, DirectedGeometric, Any, Any]] = [
    ("one-sided 1", DirectedGeometric.one_sided(1), 1, None),
    ("downward 2", DirectedGeometric(inf, 2), None, 2),
    ("two-sided 1", DirectedGeometric("1", "1"), 1, 1),
    ("graded 1/2, 2", DirectedGeometric("1/2", "2"), mpmath.mpf(1) / 2, 2),
    ("graded 2, 1/10", DirectedGeometric("2", "0.1"), 2, "1/10"),
    ("ln 3, ln 3", DirectedGeometric(log(3), log(3)), "log 3", "log 3"),
    ("ln(1+e^1/2), sqrt2/3", DirectedGeometric(log(1 + exp("1/2")), sqrt(2) / 3), "log(1+e^1/2)", "sqrt2/3"),
    ("no noise", DirectedGeometric(inf, inf), None, None),
]


def value(rate: Any) -> Any:
    with mpmath.workprec(400):
        named = {
            "1/10": mpmath.mpf(1) / 10,
            "log 3": mpmath.log(3),
            "log(1+e^1/2)": mpmath.log(1 + mpmath.exp(mpmath.mpf(1) / 2)),
            "sqrt2/3": mpmath.sqrt(2) / 3,
        }
        return named.get(rate, rate) if isinstance(rate, str) else rate


def decimal(weight: Weight) -> Any:
    with mpmath.workprec(400):
        return mpmath.mpf(weight.arb(300).mid().str(60, radius=False))


@pytest.mark.parametrize(("name", "law", "up", "down"), LAWS, ids=[name for name, *_ in LAWS])
def test_closed_forms_agree_with_summation_to_forty_digits(
    name: str, law: DirectedGeometric, up: Any, down: Any
) -> None:
    oracle = DirectedGeometricBySummation(value(up), value(down))
    with mpmath.workprec(400):
        for k in [-40, -3, -2, -1, 0, 1, 2, 3, 7, 40]:
            assert abs(decimal(law.pmf(k)) - oracle.pmf(k)) < 1e-40, k
            assert abs(decimal(law.cdf(k)) - oracle.cdf(k)) < 1e-40, k
            assert abs(decimal(law.tail(k)) - (1 - oracle.cdf(k - 1))) < 1e-40, k
        mean = oracle.expect(lambda k: k)
        assert abs(decimal(law.mean()) - mean) < 1e-38
        assert abs(decimal(law.variance()) - oracle.expect(lambda k: (k - mean) ** 2)) < 1e-36
        assert abs(decimal(law.mean_absolute()) - oracle.expect(abs)) < 1e-38


RATES: list[Real] = [
    exact("1/7"),
    exact(1),
    log(3),
    log(2) / 200,
    sqrt(2) / 3,
    log(1 + exp("1/2")) / 2,
    exact(Fraction(1, 2**30)),
    exact(LEAST),
    inf,
]


@pytest.mark.parametrize("up", RATES, ids=str)
@pytest.mark.parametrize("down", [exact(1), log(3), exact(LEAST), inf], ids=str)
def test_the_definition_holds_exactly(up: Real, down: Real) -> None:
    law = DirectedGeometric(up, down)
    for k in (0, 1, 5):
        assert law.pmf(k + 1) == law.pmf(k) * exp_minus(up)
        assert law.pmf(-k - 1) == law.pmf(-k) * exp_minus(down)
    for k in (-3, -1, 0, 1, 4):
        assert law.cdf(k) - law.cdf(k - 1) == law.pmf(k)
        assert law.cdf(k) + law.tail(k + 1) == 1
    assert law.tail(-2) == law.pmf(-2) + law.pmf(-1) + law.pmf(0) + law.tail(1)
    assert law.pmf(0) > 0


def test_one_sided_noise_never_falls() -> None:
    law = DirectedGeometric.one_sided("1/3")
    assert law == DirectedGeometric("1/3", inf)
    assert law.pmf(-1) == law.cdf(-1) == 0
    assert law.tail(0) == law.tail(-4) == 1
    assert law.pmf(0) == 1 - exp_minus("1/3")
    assert law.mean_absolute() == law.mean()
    assert law.reverse().mean() == -law.mean()
    assert law.reverse().pmf(-2) == law.pmf(2)


def test_upward_noise_has_the_upward_rate() -> None:
    law = DirectedGeometric(up="1", down="3")
    assert law.mean() > 0
    assert law.pmf(1) > law.pmf(-1)
    assert law.reverse() == DirectedGeometric(up="3", down="1")


LAW = st.builds(DirectedGeometric, st.sampled_from(RATES), st.sampled_from(RATES))


@settings(derandomize=True, max_examples=120)
@given(LAW, st.fractions(Fraction(1, 10**9), 1 - Fraction(1, 10**9), max_denominator=10**10))
def test_a_quantile_is_the_least_integer_that_reaches_p(law: DirectedGeometric, p: Fraction) -> None:
    k = law.quantile(p)
    assert law.cdf(k) >= p
    assert law.cdf(k - 1) < p


@pytest.mark.parametrize("law", [law for _, law, _, _ in LAWS[:7]], ids=[name for name, *_ in LAWS[:7]])
def test_quantiles_at_the_knife_edge(law: DirectedGeometric) -> None:
    tiny = Fraction(1, 10**100)
    for k in (-6, -1, 0, 1, 9):
        if 0 < law.cdf(k) < 1:
            assert law.quantile(law.cdf(k)) == k
            if law.pmf(k + 1) > 0:
                assert law.quantile(law.cdf(k) + tiny) == k + 1
            if law.pmf(k) > 0:
                assert law.quantile(law.cdf(k) - tiny) == k
    assert DirectedGeometric.one_sided(log(3)).quantile("2/3") == 0
    assert DirectedGeometric.one_sided(log(3)).quantile("8/9") == 1


def test_quantiles_beyond_double_precision() -> None:
    law = DirectedGeometric.one_sided(LEAST)
    p = law.cdf(2**55 + 1)
    assert law.quantile(p) == 2**55 + 1
    assert DirectedGeometric.one_sided(1).quantile(1 - Fraction(1, 10**400)) == 921  # 400·ln 10 = 921.03


@pytest.mark.parametrize("p", [0, 1, "-1/2", "3/2"])
def test_quantiles_need_a_probability_inside(p: object) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        DirectedGeometric(1, 1).quantile(p)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("up", "down", "error"),
    [
        (0.5, 1, InexactError),
        (1, 0.5, InexactError),
        (0, 1, InputError),
        (1, "-1", InputError),
        (LEAST * Fraction(999, 1000), 1, NoiseError),
        (1, LEAST - Fraction(1, 10**40), NoiseError),
        (inf, log(2) / 2**50, NoiseError),
    ],
)
def test_rates_out_of_range_are_refused(up: Any, down: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        DirectedGeometric(up, down)


def test_a_law_is_a_value() -> None:
    law = DirectedGeometric("0.5", log(3))
    law.mean()
    same = DirectedGeometric(Fraction(1, 2), log(9) / 2)
    assert law == same
    assert hash(law) == hash(same)
    assert law != law.reverse()
    assert pickle.loads(pickle.dumps(law)) == law
    with pytest.raises(AttributeError):
        law.up = inf  # type: ignore[misc]
    with pytest.raises(InputError):
        law.pmf(0.5)  # type: ignore[arg-type]
    assert law.pmf(np.int64(3)) == law.pmf(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", [law for _, law, _, _ in LAWS], ids=[name for name, *_ in LAWS])
def test_floats_for_plots_are_near_the_exact_pmf(law: DirectedGeometric) -> None:
    k = np.arange(-20, 21)
    assert law.pmf_array(k) == pytest.approx([float(law.pmf(int(j))) for j in k], rel=1e-12)


def test_floats_for_plots_at_the_least_rate() -> None:
    law = DirectedGeometric(LEAST, LEAST)
    assert law.pmf_array(np.array([0, 2**50])) == pytest.approx([2.0**-51, 2.0**-51 / np.e], rel=1e-12)
    small = DirectedGeometric("0.3e-12", "0.7e-13")
    assert small.pmf_array(np.array([0])) == pytest.approx([float(small.pmf(0))], rel=1e-12)
