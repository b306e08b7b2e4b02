"""Binary digits of probabilities against mpmath, far beyond double precision, and at the edges refinement never reaches."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest
from tests.oracle.geometric import digits

from leeward.errors import UndecidedError
from leeward.exact import Real, Weight, exact, exp, exp_minus, log, sqrt
from leeward.exact._weight import weight
from leeward.noise import floor_digits
from leeward.noise._digits import floor_and_rest

RATES: list[tuple[Real, Callable[[], Any]]] = [
    (exact(1), lambda: mpmath.mpf(1)),
    (exact("1/3"), lambda: mpmath.mpf(1) / 3),
    (exact("0.1"), lambda: mpmath.mpf(1) / 10),
    (exact(Fraction(1, 2**30)), lambda: mpmath.ldexp(1, -30)),
    (exact(Fraction(1, 2**50)), lambda: mpmath.ldexp(1, -50)),
    (exact(200), lambda: mpmath.mpf(200)),
    (log(3), lambda: mpmath.log(3)),
    (log(3) / 2, lambda: mpmath.log(3) / 2),
    (log(2) / 200, lambda: mpmath.log(2) / 200),
    (log("7/5") / 1000, lambda: mpmath.log(mpmath.mpf(7) / 5) / 1000),
    (exact("1/10") / sqrt(2), lambda: mpmath.mpf(1) / 10 / mpmath.sqrt(2)),
    (log(1 + exp("1/2")), lambda: mpmath.log(1 + mpmath.exp(mpmath.mpf(1) / 2))),
    (log(1 + exp(1)) / 3, lambda: mpmath.log(1 + mpmath.e) / 3),
]


@pytest.mark.parametrize(("rate", "value"), RATES, ids=[str(r) for r, _ in RATES])
def test_digits_of_every_binary_place_agree_with_mpmath(rate: Real, value: Callable[[], Any]) -> None:
    for place in range(0, 60, 3):
        with mpmath.workprec(1200):
            x = value() * 2**place
            one, decay = 1 / (1 + mpmath.exp(x)), mpmath.exp(-x)
        if x > 200:
            break
        w = exp_minus(rate * 2**place)
        for width in (8, 32, 96, 160, 672):
            assert floor_digits(w / (1 + w), width) == digits(one, width), (place, width)
            assert floor_digits(w, width) == digits(decay, width), (place, width)


def test_mpmath_floor_would_have_been_wrong_here() -> None:
    """The trap the oracle avoids: at the default precision a floor of 160 digits keeps only the first 53."""
    w = exp_minus(1)
    with mpmath.workprec(53):
        rounded = int(mpmath.floor(mpmath.ldexp(1 / (1 + mpmath.e), 160)))
    assert floor_digits(w / (1 + w), 160) != rounded
    assert floor_digits(w / (1 + w), 160) >> 120 == rounded >> 120


@pytest.mark.parametrize(
    ("number", "width", "floor", "more"),
    [
        (1 / (1 + exp(log(3))), 32, 2**30, False),  # 1/4: refinement alone would never end
        (1 - exp_minus(log(2)), 1, 1, False),
        (1 - exp_minus(log(2)), 0, 0, True),
        (exp_minus(0), 32, 2**32, False),
        (exp_minus("inf"), 32, 0, False),
        (weight("1/3"), 4, 5, True),
        (weight("5/8"), 2, 2, True),
        (weight("5/8"), 3, 5, False),
        (exp_minus(log(3) / 2) * exp_minus(log(3) / 2), 8, 85, True),
        (exact("7/2"), 0, 3, True),
        (-exact("1/3"), 1, -1, True),
    ],
)
def test_rational_values_are_recognised_however_they_are_written(
    number: Weight | Real, width: int, floor: int, more: bool
) -> None:
    assert floor_and_rest(number, width) == (floor, more)


def test_a_number_just_below_or_above_a_dyadic_is_told_apart() -> None:
    tiny = exp_minus(1500)  # about 2^-2164: no first precision reaches it
    assert floor_digits(weight("1/4") - tiny, 32) == 2**30 - 1
    assert floor_digits(weight("1/4") + tiny, 32) == 2**30
    assert floor_digits(exp_minus(10**30), 96) == 0
    assert floor_digits(1 - exp_minus(2000), 32) == 2**32 - 1


class _Quarter:
    """A quarter that does not know it."""

    rational = None

    def arb(self, precision: int) -> Any:
        with flint.ctx.workprec(precision):
            return flint.arb(1) / 3 * flint.arb("0.75")


def test_what_no_precision_settles_is_said_not_guessed() -> None:
    assert floor_digits(_Quarter(), 1) == 0
    with pytest.raises(UndecidedError, match="4096 bits"):
        floor_digits(_Quarter(), 2)
