"""Attack: one exact number in several forms is one number: equal, of one hash, of one sign, and as it was after JSON.

The oracle is the same expression in mpmath at 120 digits; no number of the stream is nearer to another one than 10^−90
without being equal, so no false alarm is possible.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from leeward.errors import UndecidedError
from leeward.exact import exact, exp, log, sqrt
from leeward.exact._text import read, write
from leeward.exact._weight import weight

LARGEST = mpmath.mpf(10) ** 40


def fraction(draw: random.Random, least: int = -12) -> Fraction:
    return Fraction(draw.randint(least, 12), draw.choice([1, 1, 2, 3, 5, 7, 10]))


def near(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def positive(draw: random.Random, depth: int = 0) -> tuple[Any, Any]:
    """A weight, and its value."""
    kind = draw.randrange(6 if depth < 2 else 2)
    if kind == 0:
        value = fraction(draw, 1)
        return weight(value), near(value)
    if kind == 1:
        made, value = real(draw, depth + 1)
        return exp(made), mpmath.exp(value)
    (a, x), (b, y) = positive(draw, depth + 1), positive(draw, depth + 1)
    return [(a + b, x + y), (a * b, x * y), (a / b, x / y), (a**2, x**2)][kind - 2]


def real(draw: random.Random, depth: int = 0) -> tuple[Any, Any]:
    kind = draw.randrange(7 if depth < 2 else 2)
    factor = fraction(draw)
    if kind == 0:
        return exact(factor), near(factor)
    if kind < 3:
        n = draw.randint(2, 30)
        made, value = (log(n), mpmath.log(n)) if kind == 1 else (sqrt(n), mpmath.sqrt(n))
        return made * factor, value * near(factor)
    if kind == 3:
        held, value = positive(draw, depth + 1)
        return log(held), mpmath.log(value)
    (a, x), (b, y) = real(draw, depth + 1), real(draw, depth + 1)
    return [(a + b, x + y), (a - b, x - y), (a * b, x * y)][kind - 4]


def sign(value: Any, size: Any) -> int:
    return 0 if abs(value) < mpmath.mpf(10) ** -90 * size else 1 if value > 0 else -1


def looked_at(seed: int, number: int) -> int:
    draw, done = random.Random(seed), 0
    with mpmath.workdps(120):
        for _ in range(number):
            (r, x), (other, y) = real(draw), real(draw, 2)
            (w, u), (v, t) = positive(draw), positive(draw)
            if max(map(abs, (x, y, u, t, 1 / u, 1 / t))) > LARGEST:
                continue
            try:
                assert r.sign() == sign(x, 1)
                assert r.bounds()[0] <= x <= r.bounds()[1]
                assert read(write(r)) == r
                for form in ((r + other) - other, (r * 3 - r) / 2, log(exp(r)), (r - other) * 2 + other * 2 - r):
                    assert (form == r, hash(form)) == (True, hash(r)), (r, form)
                assert w.bounds()[0] <= u <= w.bounds()[1]
                assert (w - v).sign() == sign(u - t, max(u, t))
                assert (w + v) / v == w / v + 1
                assert exp(log(w)) == w
                assert w.rational is None or sign(near(w.rational) - u, u) == 0
            except UndecidedError:
                continue  # said, and no guess
            done += 1
    return done


@pytest.mark.parametrize("seed", range(2))
def test_a_number_is_one_in_all_its_forms(seed: int) -> None:
    assert looked_at(seed, 250) > 150


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_a_number_is_one_in_all_its_forms_at_length(seed: int) -> None:
    assert looked_at(seed, 2500) > 1500


@pytest.mark.parametrize("prime", [2, 3, 7])
def test_powers_of_one_prime_are_one_number_however_long(prime: int) -> None:
    """Sums of powers whose exponents are up to 10^12 apart, split and put together again in every order."""
    unit, draw = log(prime), random.Random(prime)
    for _ in range(60):
        powers = [draw.choice([0, 1, 5, 3000, 20_000, 10**6, 10**12]) * draw.choice([-1, 1]) for _ in range(4)]
        terms = [(exp(unit * p), draw.choice([1, 2, prime, prime**2, Fraction(1, prime)])) for p in powers]
        whole = sum((term * factor for term, factor in terms), weight(0))
        for order in itertools.islice(itertools.permutations(zip(powers, terms, strict=True)), 0, 24, 7):
            again = sum((exp(unit * (p + 1)) * Fraction(c) / prime for p, (_, c) in order), weight(0))
            assert again == whole
            least = exp(unit * (min(powers) - 9))
            assert again + least > whole
            assert again + least != whole
