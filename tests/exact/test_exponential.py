"""Exact weights: against mpmath, the laws of algebra, ratios of exactly e^ε, and forms that hide a rational."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leeward.errors import InexactError, InputError, UndecidedError
from leeward.exact import Real, Weight, exact, exp, exp_minus, inf, log, sqrt
from leeward.exact._weight import weight

PRECISION = 1000

EXPONENTS: list[tuple[Real, Any]] = []
with mpmath.workprec(PRECISION):
    EXPONENTS += [
        (exact("1/3"), mpmath.mpf(1) / 3),
        (exact(-2), mpmath.mpf(-2)),
        (sqrt(2) / 2, 1 / mpmath.sqrt(2)),
        (log(3), mpmath.log(3)),
        (log(3) / 2 - log(2), mpmath.log(3) / 2 - mpmath.log(2)),
        (-log(1 + exp(1)), -mpmath.log(1 + mpmath.e)),
        (log(1 + exp(1)) / 2 + "1/2", mpmath.log(1 + mpmath.e) / 2 + mpmath.mpf(1) / 2),
    ]

coefficients = st.fractions(-5, 5, max_denominator=12)
relaxed = settings(derandomize=True, max_examples=60)


@st.composite
def weights(draw: st.DrawFn) -> tuple[Weight, Any]:
    """A sum of exponentials, sometimes over another, and the mpf it must be, built side by side."""

    def total(terms: list[tuple[int, Fraction]]) -> tuple[Weight, Any]:
        number, value = weight(0), mpmath.mpf(0)
        for index, c in terms:
            number = number + exp(EXPONENTS[index][0]) * c
            value += mpmath.exp(EXPONENTS[index][1]) * c.numerator / c.denominator
        return number, value

    term = st.tuples(st.integers(0, len(EXPONENTS) - 1), coefficients)
    with mpmath.workprec(PRECISION):
        top, value = total(draw(st.lists(term, max_size=3)))
        bottom, over = total(draw(st.lists(term.map(lambda t: (t[0], abs(t[1]) + 1)), min_size=1, max_size=2)))
        return top / bottom, value / over


def agrees(number: Weight, value: Any) -> bool:
    ball = number.arb(600)
    with mpmath.workprec(PRECISION):
        middle, radius = (mpmath.mpf(part.str(250, radius=False)) for part in (ball.mid(), ball.rad()))
        return bool(abs(middle - value) <= radius + mpmath.ldexp(1, -500)) and radius < mpmath.ldexp(1, -400)


@relaxed
@given(weights(), weights())
def test_arithmetic_and_order_agree_with_mpmath(x: tuple[Weight, Any], y: tuple[Weight, Any]) -> None:
    with mpmath.workprec(PRECISION):
        assert agrees(x[0] + y[0], x[1] + y[1])
        assert agrees(x[0] - y[0], x[1] - y[1])
        assert agrees(x[0] * y[0], x[1] * y[1])
        difference = x[1] - y[1]
        expected = 0 if abs(difference) < mpmath.mpf(10) ** -250 else int(mpmath.sign(difference))
        if abs(y[1]) > mpmath.mpf(10) ** -250:
            assert agrees(x[0] / y[0], x[1] / y[1])
        lower, upper = x[0].bounds()
        assert lower <= x[1] <= upper
        assert upper - lower <= 1e-14 * abs(x[1]) + 1e-300
    assert (x[0] == y[0]) == (expected == 0)
    assert (x[0] < y[0], x[0] > y[0]) == (expected < 0, expected > 0)
    assert (x[0] <= y[0], x[0] >= y[0]) == (expected <= 0, expected >= 0)
    assert (x[0] - y[0]).sign() == expected


@relaxed
@given(weights(), weights(), weights())
def test_the_laws_of_algebra_hold_exactly(a: tuple[Weight, Any], b: tuple[Weight, Any], c: tuple[Weight, Any]) -> None:
    x, y, z = a[0], b[0], c[0]
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert x * (y + z) == x * y + x * z
    assert x - x == 0
    if y:
        assert x / y * y == x
        assert (1 / y) * y == 1
    assert x**3 == x * x * x
    assert x**0 == 1


exponents = st.sampled_from([e for e, _ in EXPONENTS])


@relaxed
@given(exponents, exponents, st.integers(-6, 6))
def test_exponentials_turn_sums_into_products(r: Real, s: Real, n: int) -> None:
    assert exp(r + s) == exp(r) * exp(s)
    assert exp(r - s) == exp(r) / exp(s)
    assert exp(r * n) == exp(r) ** n
    assert exp_minus(r) == 1 / exp(r)
    assert log(exp(r)) == r
    assert exp(log(exp(r) + exp(s))) == exp(r) + exp(s)


@relaxed
@given(weights())
def test_copies_are_equal(x: tuple[Weight, Any]) -> None:
    for twin in (pickle.loads(pickle.dumps(x[0])), copy.copy(x[0]), copy.deepcopy(x[0])):
        assert twin == x[0]


EPSILONS: list[Real] = [exact("0.1"), exact(1), log(3), log(2) / 200, sqrt(2) / 5, log(1 + exp("1/2"))]


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_knife_edge_of_a_privacy_ratio(epsilon: Real) -> None:
    """The two-sided geometric law at neighbouring truths: the ratio is exactly e^ε, neither more nor less."""
    a = exp_minus(epsilon)

    def pmf(k: int) -> Weight:
        return (1 - a) / (1 + a) * exp_minus(epsilon * abs(k))

    ratio = pmf(4) / pmf(5)
    assert ratio == exp(epsilon)
    assert ratio <= exp(epsilon)
    assert not ratio < exp(epsilon)
    tiny = Fraction(1, 10**300)
    assert ratio > exp(epsilon - tiny)
    assert ratio < exp(epsilon + tiny)
    assert log(ratio) == epsilon
    assert sum((pmf(k) for k in range(-3, 4)), weight(0)) == 1 - 2 * exp_minus(4 * epsilon) / (1 + a)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_a_randomized_answer_sums_to_one(epsilon: Real) -> None:
    """Warner's coin: e^ε/(1 + e^ε) and 1/(1 + e^ε)."""
    keep, flip = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    assert keep + flip == 1
    assert keep / flip == exp(epsilon)


def test_thinning_gives_the_rate_of_the_design() -> None:
    """Subsampling at p = 1 − e^-ε before noise of rate ln(1 + e^ε): adding costs ln(1 + p(e^b − 1)) = ε exactly."""
    for epsilon in EPSILONS[:5]:
        p = 1 - exp_minus(epsilon)
        b = log(1 + exp(epsilon))
        assert 1 + p * (exp(b) - 1) == exp(epsilon)
        # removing costs less: e^cost = (1 + e^ε)/2
        assert 1 / (1 - p * (1 - exp_minus(b))) == (1 + exp(epsilon)) / 2 < exp(epsilon)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (exp(log(3)), Fraction(3)),
        (exp(-log(4)), Fraction(1, 4)),
        (1 / (1 + exp(log(3))), Fraction(1, 4)),
        (exp(log(3) / 2) ** 2, Fraction(3)),
        (exp(log(3) / 2) * exp(log(12) / 2), Fraction(6)),
        ((1 + exp(1)) / (2 + 2 * exp(1)), Fraction(1, 2)),
        (exp(1) / exp(1), Fraction(1)),
        (exp(0), Fraction(1)),
        (exp_minus(inf), Fraction(0)),
        (exp(sqrt(2)) * 0, Fraction(0)),
        (weight("7/3"), Fraction(7, 3)),
    ],
)
def test_rationals_are_recognised(number: Weight, value: Fraction) -> None:
    assert number.rational == value
    assert number == value
    assert number.bounds()[0] <= value <= number.bounds()[1]


@pytest.mark.parametrize("number", [exp(1), exp(log(3) / 2), 1 / (1 + exp("1/7")), exp(log(2) * sqrt(2))])
def test_irrationals_are_not(number: Weight) -> None:
    assert number.rational is None
    assert number != Fraction(float(number))


def test_powers_too_long_to_be_written_out_take_up_what_a_coefficient_holds_of_their_prime() -> None:
    far = 10**7
    number = exp(log(2) * far) * "1/6"
    assert number == exp(log(2) * (far - 1)) * "1/3"
    assert number != exp(log(2) * (far - 2)) * "1/3"
    assert number == exp(log(2) * (far - 3)) * "4/3"


def test_a_rational_hidden_by_a_logarithm_is_equal_to_it() -> None:
    one = exp(log(exp(1) + 1)) / (exp(1) + 1)
    assert one == 1
    assert exp_minus(log(1 + exp(1))) * (1 + exp(1)) / 4 == Fraction(1, 4)


def test_logarithms_take_the_simplest_form() -> None:
    assert log(exp("1/3")).rational == Fraction(1, 3)
    assert log(exp(sqrt(2)) * 9) == sqrt(2) + 2 * log(3)
    assert log(2 * exp(1) + 2) == log(2) + log(1 + exp(1))
    assert log(exp(1) + exp(2)) == 1 + log(1 + exp(1))
    assert log(1 + exp(log(2))) == log(3)
    assert log((1 + exp(1)) / (2 + 2 * exp(1))) == -log(2)
    assert log(1 / (1 + exp(1))) == -log(1 + exp(1))
    assert log("inf").is_infinite
    assert str(log(1 + exp(1))) == "log(1 + exp(1))"


def test_nested_logarithms_unfold() -> None:
    inner = log(1 + exp(1))
    outer = log(1 + exp(inner))  # ln(2 + e)
    assert exp(outer) == 2 + exp(1)
    assert exp(2 * outer) == 4 + 4 * exp(1) + exp(2)
    assert exp(outer / 2) ** 2 == 2 + exp(1)
    assert exp(inner / 3 + outer) * exp(inner * "2/3") == (1 + exp(1)) * (2 + exp(1))


@pytest.mark.parametrize("impossible", [lambda: log(0), lambda: log(-1), lambda: log(exp(1) - 3), lambda: exp(inf)])
def test_what_has_no_value_is_refused(impossible: Any) -> None:
    with pytest.raises(InputError):
        impossible()


def test_division_by_a_hidden_zero_is_refused() -> None:
    zero = exp(log(1 + exp(1))) - exp(1) - 1
    assert not zero
    with pytest.raises(InputError, match="divided by zero"):
        1 / zero


def test_dividing_by_a_negative_weight_keeps_the_denominator_positive() -> None:
    negative = 1 - exp(1)
    assert (1 / negative).sign() == -1
    assert 1 / negative < 0
    assert negative / negative == 1
    assert (exp(1) - 3) / negative > 0
    assert negative**-3 < 0


def test_only_exponentials_of_irrationals_are_weights() -> None:
    for number in (log(2), sqrt(2), inf):
        with pytest.raises(InputError, match="weight"):
            weight(number)
    with pytest.raises(InexactError):
        weight(0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable"):
        hash(exp(1))


@pytest.mark.parametrize("bits", [60, 200, 1000, 3000])
def test_nearness_is_not_equality(bits: int) -> None:
    """A rational within 2^-bits of e lies on its own side of it."""
    with mpmath.workprec(bits + 100):
        below = Fraction(int(mpmath.ldexp(mpmath.e, bits)), 2**bits)
    assert below < exp(1)
    assert exp(1) < below + Fraction(1, 2**bits)
    assert exp(1) != below


def test_what_no_precision_settles_is_said_not_guessed() -> None:
    with mpmath.workprec(4600):
        near = Fraction(int(mpmath.ldexp(mpmath.e, 4500)), 2**4500)
    difference = exp(1) - near
    for question in (difference.sign, lambda: operator.lt(exp(1), near), lambda: exp(1) == near):
        with pytest.raises(UndecidedError, match="4096 bits"):
            question()


def test_bounds_hold_under_cancellation() -> None:
    tiny = exp(exact(Fraction(1, 2**200))) - 1
    lower, upper = tiny.bounds()
    assert 0 < lower <= 2.0**-200 <= upper
    assert upper - lower < 1e-14 * upper
    assert float(tiny) == pytest.approx(2.0**-200, rel=1e-14)


def test_what_is_left_of_a_thousand_bits_is_a_number() -> None:
    """A power multiplied out: its terms are of 1,800 bits, and it was "not a number"."""
    power = ((1 - exp("-1/30")) / (1 - exp("-1/15"))) ** 365
    assert float(power) == pytest.approx((math.expm1(-1 / 30) / math.expm1(-1 / 15)) ** 365, rel=1e-11)
    lower, upper = power.bounds()
    assert 0 < lower <= upper < lower * (1 + 1e-14)


def test_a_weight_shows_its_form_and_its_size() -> None:
    shown = repr(1 - exp(-1))
    assert "exp(-1)" in shown
    assert "0.632121" in shown
    assert repr((exp(-1) - 1) / (1 + exp(-2))) == "Weight((exp(-1) - 1) / (exp(-2) + 1) ≈ -0.55677)"
    assert (repr(weight(3)), repr(weight("1/3"))) == ("Weight(3)", "Weight(1/3 ≈ 0.333333)")
