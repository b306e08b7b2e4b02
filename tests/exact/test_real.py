"""Exact reals: against mpmath at 300 digits, the laws of algebra, knife edges, and what is refused."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leeward import _integers as integers
from leeward.errors import InexactError, InputError, UndecidedError
from leeward.exact import ZERO, Real, exact, exp, inf, log, sqrt
from leeward.exact._real import ONE, outward, positive, sign_of

PRECISION = 1000

ATOMS: list[tuple[Real, Any]] = []
with mpmath.workprec(PRECISION):
    ATOMS += [
        (ONE, mpmath.mpf(1)),
        (sqrt(2), mpmath.sqrt(2)),
        (sqrt("3/2"), mpmath.sqrt(mpmath.mpf(3) / 2)),
        (log(2), mpmath.log(2)),
        (log("7/5"), mpmath.log(mpmath.mpf(7) / 5)),
        (sqrt(6) * log(3), mpmath.sqrt(6) * mpmath.log(3)),
        (log(1 + exp("1/2")), mpmath.log(1 + mpmath.exp(mpmath.mpf(1) / 2))),
    ]

coefficients = st.fractions(-20, 20, max_denominator=60)


@st.composite
def reals(draw: st.DrawFn) -> tuple[Real, Any]:
    """A Real and the mpf it must be, built side by side."""
    number, value = ZERO, mpmath.mpf(0)
    for index in draw(st.lists(st.integers(0, len(ATOMS) - 1), max_size=3)):
        c = draw(coefficients)
        number = number + ATOMS[index][0] * c
        with mpmath.workprec(PRECISION):
            value += ATOMS[index][1] * c.numerator / c.denominator
    return number, value


relaxed = settings(derandomize=True, max_examples=60)


def agrees(number: Real, value: Any) -> bool:
    """Whether an enclosure at 600 bits holds the value and is tight."""
    ball = number.arb(600)
    with mpmath.workprec(PRECISION):
        middle, radius = (mpmath.mpf(part.str(250, radius=False)) for part in (ball.mid(), ball.rad()))
        return bool(abs(middle - value) <= radius + mpmath.ldexp(1, -500)) and radius < mpmath.ldexp(1, -400)


@relaxed
@given(reals(), reals())
def test_arithmetic_agrees_with_mpmath(x: tuple[Real, Any], y: tuple[Real, Any]) -> None:
    with mpmath.workprec(PRECISION):
        assert agrees(x[0] + y[0], x[1] + y[1])
        assert agrees(x[0] - y[0], x[1] - y[1])
        assert agrees(x[0] * y[0], x[1] * y[1])
        assert agrees(-x[0], -x[1])
        assert float(x[0]) == pytest.approx(float(x[1]), rel=1e-14, abs=1e-300)
        lower, upper = x[0].bounds()
        assert lower <= x[1] <= upper
        assert upper - lower <= 1e-14 * max(1, abs(x[1]))


@relaxed
@given(reals(), reals())
def test_order_agrees_with_mpmath(x: tuple[Real, Any], y: tuple[Real, Any]) -> None:
    """Values of this form differ by far more than 10^-250 or not at all."""
    with mpmath.workprec(PRECISION):
        difference = x[1] - y[1]
        expected = 0 if abs(difference) < mpmath.mpf(10) ** -250 else int(mpmath.sign(difference))
    assert (x[0] - y[0]).sign() == expected
    assert (x[0] == y[0]) == (expected == 0)
    assert (x[0] < y[0]) == (expected < 0)
    assert (x[0] >= y[0]) == (expected >= 0)
    assert bool(x[0] - y[0]) == (expected != 0)


@relaxed
@given(reals(), reals(), reals())
def test_the_laws_of_algebra_hold_exactly(a: tuple[Real, Any], b: tuple[Real, Any], c: tuple[Real, Any]) -> None:
    x, y, z = a[0], b[0], c[0]
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - x == 0
    assert x + ZERO == x * ONE == x
    assert x * 0 == 0
    assert x / 7 * 7 == x
    assert x / sqrt(6) * sqrt(6) == x
    assert hash((x + y) - y) == hash(x)


@relaxed
@given(reals(), coefficients)
def test_a_quotient_of_proportional_reals_is_rational(x: tuple[Real, Any], c: Fraction) -> None:
    if x[0]:
        assert (x[0] * c) / x[0] == c


@relaxed
@given(reals())
def test_copies_are_equal(x: tuple[Real, Any]) -> None:
    for twin in (pickle.loads(pickle.dumps(x[0])), copy.copy(x[0]), copy.deepcopy(x[0])):
        assert twin == x[0]
        assert hash(twin) == hash(x[0])


@given(st.fractions(max_denominator=10**9))
def test_rationals_are_themselves(q: Fraction) -> None:
    number = exact(q)
    assert number.rational == q
    assert number == q
    assert hash(number) == hash(q)
    assert str(number) == str(q)
    assert exact(str(number)) == number
    assert exact(f" {q.numerator} / {q.denominator} ") == number
    assert number.sign() == (q > 0) - (q < 0)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("-2.50", Fraction(-5, 2)),
        ("1_000", Fraction(1000)),
        (Decimal("0.3"), Fraction(3, 10)),
        (7, Fraction(7)),
    ],
)
def test_exact_numbers_are_read_exactly(given: Any, value: Fraction) -> None:
    assert exact(given).rational == value


@pytest.mark.parametrize("text", ["inf", " Infinity ", "∞", math.inf, Decimal("inf"), inf])
def test_infinity_is_read(text: Any) -> None:
    assert exact(text).is_infinite


@pytest.mark.parametrize("given", [0.1, 1.0, -math.inf, math.nan])
def test_floats_are_refused_with_the_way_to_write_them(given: float) -> None:
    with pytest.raises(InexactError) as refused:
        exact(given)
    assert f'"{given!r}"' in str(refused.value)


MADE_OF_TWO = ("1 1/2", "1 000", "1\u00a01/2", "0. 5", "1e 3", "1__5", "1/2 3", "- 1", "i nf")
"""Pushed together each would be a number, and another one than somebody meant."""


@pytest.mark.parametrize(
    "given", ["", "one", "1/0", "nan", "-inf", "1/2/3", "0x1", None, True, [], Decimal("nan"), *MADE_OF_TWO]
)
def test_what_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        exact(given)


def test_positive_says_what_it_calls_the_number() -> None:
    assert positive("1/3", "ε") == Fraction(1, 3)
    assert positive("inf", "ε").is_infinite
    assert positive(sqrt(2) - 1, "ε") > 0
    for number in ("0", "-1", log("1/2")):
        with pytest.raises(InputError, match="step"):
            positive(number, "step")


def test_infinity_absorbs() -> None:
    assert (inf + 1).is_infinite
    assert (1 + inf).is_infinite
    assert (inf - 10**100).is_infinite
    assert (inf * "1/7").is_infinite
    assert (inf / 3).is_infinite
    assert inf * 0 == 0
    assert 5 / inf == 0
    assert sqrt(2) / inf == 0
    assert inf == inf
    assert inf > 10**400
    assert not inf < inf
    assert inf <= inf
    assert exact(3) < inf
    assert inf != 3
    assert inf.sign() == 1
    assert inf.rational is None
    assert float(inf) == math.inf
    assert inf.bounds() == (math.inf, math.inf)
    assert hash(inf) == hash(pickle.loads(pickle.dumps(inf)))
    assert str(inf) == "inf"


@pytest.mark.parametrize(
    "impossible",
    [lambda: inf - inf, lambda: -inf, lambda: 1 - inf, lambda: inf * -1, lambda: ONE / 0, lambda: inf / 0],
)
def test_what_has_no_value_is_refused(impossible: Any) -> None:
    with pytest.raises(InputError):
        impossible()


def test_roots_are_reduced() -> None:
    assert sqrt(8) == 2 * sqrt(2)
    assert sqrt("8/9") == 2 * sqrt(2) / 3
    assert sqrt(12) * sqrt(3) == 6
    assert sqrt("1/4") == Fraction(1, 2)
    assert sqrt(0) == 0
    assert 1 / sqrt(2) == sqrt(2) / 2
    assert sqrt(6) / sqrt(2) == sqrt(3)
    assert (sqrt(2) + sqrt(3)) * (sqrt(3) - sqrt(2)) == 1
    assert (sqrt(2) * sqrt(3) - sqrt(6)).rational == 0
    assert str(1 / sqrt(2)) == "sqrt(2)/2"
    for number in ("-1", sqrt(2), inf):
        with pytest.raises(InputError, match="square root"):
            sqrt(number)


def test_logarithms_of_rationals_are_decided() -> None:
    assert log(6) == log(2) + log(3)
    assert log("1/2") == -log(2)
    assert log(8) / log(2) == 3
    assert log(4) / log(8) == Fraction(2, 3)
    assert log(1) == 0
    assert log(2) != Fraction(6931471805599453, 10**16)
    assert sqrt(2) * log(9) == 2 * log(3) * sqrt(2)


@pytest.mark.parametrize("bits", [20, 60, 200, 1000, 3000])
def test_nearness_is_not_equality(bits: int) -> None:
    """Rationals within 2^-bits of an irrational lie on their own side of it."""
    scale = 2**bits
    below = Fraction(math.isqrt(2 * scale**2), scale)
    assert below < sqrt(2) < below + Fraction(1, scale)
    assert sqrt(2) != below
    assert hash(sqrt(2)) != hash(below)


def test_four_thousand_bits_are_not_enough_for_this_one() -> None:
    scale = 2**4400
    near = sqrt(2) - Fraction(math.isqrt(2 * scale**2), scale)
    for question in (near.sign, lambda: near > 0, lambda: near == 0, lambda: bool(near)):
        with pytest.raises(UndecidedError, match="4096 bits"):
            question()


def test_two_forms_of_one_opaque_value_are_undecided_not_different() -> None:
    one, other = 2 * log(1 + exp(1)), log((1 + exp(1)) ** 2)
    for compare in (operator.eq, operator.ne, operator.lt, operator.ge):
        with pytest.raises(UndecidedError):
            compare(one, other)
    assert one == log(1 + exp(1)) * 2
    assert one != other + Fraction(1, 10**300)


def test_quotients_without_a_form_are_refused() -> None:
    with pytest.raises(UndecidedError, match="quotient"):
        log(3) / log(2)
    with pytest.raises(UndecidedError, match="quotient"):
        1 / (1 + sqrt(2))


def test_comparisons_with_floats_are_refused_or_false() -> None:
    assert (exact(1) == 1.0) is False
    with pytest.raises(InexactError):
        assert exact(1) < 2.0  # type: ignore[operator]
    with pytest.raises(InexactError):
        assert exact(1) + 0.5  # type: ignore[operator]


def test_the_terms_of_infinity_are_refused() -> None:
    with pytest.raises(InputError, match="normal form"):
        _ = inf.terms


def test_the_sign_of_an_enclosure() -> None:
    assert sign_of(lambda p: sqrt(2).arb(p) - 1, lambda: "it") == 1
    assert sign_of(lambda p: 1 - sqrt(2).arb(p), lambda: "it") == -1
    with pytest.raises(UndecidedError, match="of it"):
        sign_of(lambda p: sqrt(2).arb(p) * sqrt(2).arb(p) - 2, lambda: "it")


def test_outward_encloses() -> None:
    lower, upper = outward(exact("1/10").arb(80))
    assert Fraction(lower) < Fraction(1, 10) < Fraction(upper)
    assert upper - lower < 1e-16


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (exact("1/3") + sqrt(2) - log(2) / 200, "1/3 + sqrt(2) - log(2)/200"),
        (-log(3), "-log(3)"),
        (ZERO, "0"),
        (sqrt(6) * log(3) * Fraction(2, 5), "2*log(3)*sqrt(6)/5"),
    ],
)
def test_reals_read_like_formulas(number: Real, text: str) -> None:
    assert sorted(str(number).replace("- ", "+ -").split(" + ")) == sorted(text.replace("- ", "+ -").split(" + "))
    assert repr(number) == f"Real('{number}')"


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "0." + "3" * 2000, "1" * 1001])
def test_numbers_too_long_to_write_out_are_refused_at_once(text: str) -> None:
    with pytest.raises(InputError, match="more than 1000 digits"):
        exact(text)
    assert exact("1e-300") * exact("1e300") == 1


def test_integers_of_numpy_are_read_and_its_floats_refused_as_floats() -> None:
    for kind in (np.int8, np.uint16, np.int64, np.uint64):
        assert exact(kind(7)) == 7
    for inexact in (np.float64(0.1), np.float32(0.1), np.float16(0.5), 0.1):
        with pytest.raises(InexactError, match="binary float"):
            exact(inexact)
    for no_number in (np.bool_(True), True, np.array([1]), None, 1j):
        with pytest.raises(InputError):
            exact(no_number)  # type: ignore[arg-type]


def test_large_integers_are_not_factored_and_still_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two primes of 250 bits: their product takes years to factor; no integer above 128 bits is given to the factoriser."""
    asked = []
    whole = flint.fmpz
    monkeypatch.setattr(integers.flint, "fmpz", lambda n: asked.append(n) or whole(n))
    p, q, r = 2**255 - 19, 2**521 - 1, 2**127 - 1
    assert log(exact(p * q)) + log(exact(r)) == log(exact(p * q * r)) == log(exact(p)) + log(exact(q)) + log(exact(r))
    assert log(exact(p * q)) * log(exact(q * r)) == log(exact(p)) * log(exact(q * r)) + log(exact(q)) * log(
        exact(q * r)
    )
    assert log(exact(p * q)) + log(exact(r)) != log(exact(p * q * r + 2))
    assert log(exact(p**3 * q)) - log(exact(p)) * 3 == log(exact(q))
    assert sqrt(4 * p * p) == 2 * p
    assert all(int(n).bit_length() <= 128 for n in asked)


def test_factors_multiply_to_their_number() -> None:
    for number in [*range(1, 2000), 2**61 - 1, 10**60, (2**89 - 1) ** 4, 6**100 * (2**127 - 1) * (2**107 - 1)]:
        assert math.prod(base**power for base, power in integers.factors(number)) == number


@pytest.mark.parametrize("word", ["word", "", "1/0", "nan", Decimal("nan"), None, [], True, np.True_, b"3"], ids=repr)
def test_what_is_no_number_equals_no_number(word: object) -> None:
    for number in (exact(3), exp(1), exp(0)):
        assert (number == word) is False
        assert (word == number) is False
        assert (number != word) is True


@pytest.mark.parametrize("three", [Decimal(3), Fraction(3), np.int8(3), np.uint64(3), 3], ids=repr)
def test_what_is_the_same_number_is_equal(three: object) -> None:
    for number in (exact(3), exp(0) * 3):
        assert (number == three) is True
        assert (three == number) is True


def test_floats_of_values_that_nearly_cancel_are_close() -> None:
    tiny = log(1 + exp("1e-30") - 1)  # 1e-30, through an opaque logarithm
    assert float(log(1 + (exp("1e-30") - 1) * "1e-9")) == pytest.approx(1e-39, rel=1e-12)
    assert float(tiny) == pytest.approx(1e-30, rel=1e-12)
    lower, upper = log(1 + (exp("1e-30") - 1) * "1e-9").bounds()
    assert 0 < lower <= upper < 1.0001e-39


def test_floats_too_large_are_infinite() -> None:
    assert float(exact(10**400)) == math.inf
    assert float(-exact(10**400)) == -math.inf


P, Q, R = 2**201 - 55, 2**203 - 159, 2**205 - 9
"""Large integers that nobody factors here; whether they are primes does not matter to what is equal."""


def written() -> list[tuple[Any, ...]]:
    """Numbers in all the ways in which they can be written; those of a row are equal, those of two rows are not."""
    rows: list[tuple[Any, ...]] = [
        (q, exact(q), exact(str(q)), *([Decimal(q.numerator) / q.denominator] if q.denominator in {1, 2, 5} else []))
        for q in (Fraction(n, d) for n in range(-4, 5) for d in (1, 2, 3, 5, 2**61 - 1) if math.gcd(n, d) == 1)
    ]
    rows[[row[0] for row in rows].index(1)] += (1, np.int8(1), np.uint64(1), log(P * Q) - log(P) - log(Q) + 1)
    rows[[row[0] for row in rows].index(-1)] += (-1, np.int64(-1), log(P) + log(Q) - log(P * Q) - 1)
    rows[[row[0] for row in rows].index(0)] += (
        *(0, ZERO, log(1), sqrt(2) - sqrt(2), log(P * Q) - log(P) - log(Q)),
        (log(P * Q) - log(Q * R) + log(R * 7) - log(7 * P)) / (2**61 - 1),
    )
    rows += [
        (inf, math.inf, np.float64("inf"), Decimal("Infinity"), exact("inf"), inf + 1),
        (sqrt(2), sqrt(8) / 2, sqrt("1/2") * 2, 2 / sqrt(2)),
        (log(6), log(2) + log(3), log(36) / 2, -log("1/6")),
        (log(1 + exp(1)), 1 + log(1 + exp(-1)), -log(1 / (1 + exp(1)))),
        (log(1 + exp(log(2))), log(3)),
    ]
    for factor in (exact(1), exact("-2/3"), sqrt(3), sqrt(3) * log(5) / 4, log(P), log(1 + exp("1/2"))):
        rows += [
            tuple(
                factor * made for made in (log(P * Q), log(P) + log(Q), log(P * Q * R) - log(R), log(P**2 * Q**2) / 2)
            ),
            tuple(
                factor * made + 3 for made in (log(P**3 * R), 3 * log(P) + log(R), log(P * P * Q) + log(P * R) - log(Q))
            ),
            tuple(factor * made for made in (log(Fraction(P, Q)), log(P) - log(Q), log(P * R) - log(Q * R))),
            tuple(factor * made for made in (log(P * Q) * log(Q), log(P) * log(Q) + log(Q) * log(Q))),
        ]
    inner = log(P * Q) / 3, (log(P) + log(Q)) / 3, (log(P * Q * R) - log(R)) / 3
    return [*rows, *([tuple(log(1 + exp(made * sqrt(2))) for made in inner)])]


def test_equal_numbers_have_equal_hashes_however_they_are_written() -> None:
    rows = written()
    for row in rows:
        for one in (made for made in row if isinstance(made, Real)):
            for other in row:
                assert one == other, (one, other)
                assert other == one, (one, other)
                assert hash(one) == hash(other), (one, other)
        assert len({made for made in row if isinstance(made, Real)}) == 1
    images = [hash(row[-1]) for row in rows if exact(row[0]).rational is None]
    assert len(set(images)) == len(images), "hashes that are all alike make every table slow"


def test_numbers_of_two_rows_differ() -> None:
    """So the rows above cannot be equal because everything is."""
    firsts = [exact(row[0]) for row in written()]
    for i, one in enumerate(firsts):
        for other in firsts[:i]:
            assert one != other, (one, other)


@pytest.mark.parametrize("row", written(), ids=lambda row: str(row[0])[:20])
def test_a_text_is_no_number_but_is_read_where_numbers_are_ordered(row: tuple[Any, ...]) -> None:
    """1/2 and 2/4 are two texts: what were equal to both could not have the hash of both."""
    for number in (made for made in row if isinstance(made, Real)):
        for text in (str(row[0]), str(number), str(exact("1/2"))):
            assert number != text
            assert not number == text  # noqa: SIM201 - == and != are two methods
        if number.is_infinite or number.rational is not None:
            own = str(number)
            assert number <= own <= number
            assert (number < own, number > own) == (False, False)
            for other in ("-1/7", "0", "1/7", "inf"):
                value, told = exact(other), (number < other, number <= other, number > other, number >= other)
                assert told == (number < value, number <= value, number > value, number >= value)
                assert sum((number < value, number == value, number > value)) == 1


def test_a_number_too_long_to_be_written_is_undecided_in_words() -> None:
    def named() -> str:
        return str(10**5000)

    with pytest.raises(UndecidedError, match="a sum of very long fractions"):
        sign_of(lambda p: sqrt(2).arb(p) * sqrt(2).arb(p) - 2, named)
