# SPDX-License-Identifier: Apache-2.0
"""Exact non-negative and signed reals: the type of every ε, distance, rate and cost.

A `Real` is a rational combination of monomials ``√n · a_1 · a_2 · …``, where n is a squarefree integer and each a_i is an
atom (the logarithm of a prime, or of a sum of exponentials: `leeward.exact._weight`). That covers what privacy parameters
are made of: ``1/3``, ``ln 2/200`` ("a factor of 2 within 200 m"), ``ε·step/√2``, ``ln(1 + e^ε)``. Two Reals with the same
normal form are equal; logarithms of distinct primes and 1 are linearly independent over the algebraic numbers (Baker),
so rationals, roots and logarithms of rationals are decided exactly. Everything else is decided by interval arithmetic
(python-flint's Arb) at growing precision; what is still open at 4,096 bits raises `UndecidedError` instead of guessing.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias, TypeGuard

import flint
import numpy as np

from leeward._integers import factors
from leeward._plain import echo
from leeward.errors import InexactError, InputError, UndecidedError
from leeward.exact._monomials import Monomial, image, split

PRECISIONS = (64, 128, 256, 512, 1024, 2048, 4096)
"""Bits at which a comparison is tried before it is called undecided."""
_FLOAT_BITS: Final = 53
"""Of a float's numerator."""


_UNIT: Monomial = (1, ())


class Real:
    """An exact real number, or +∞.

    Arithmetic is closed under ``+ - *`` and division by rationals, roots and proportional Reals; ∞ absorbs in sums, and
    ``0 · ∞ = 0`` (a rate that is never used costs nothing). Comparisons are exact. Order is asked of whatever `exact` reads;
    equal are numbers only, never a text: "1/2" and "0.5" are two texts, and equal things must have equal hashes.
    """

    __slots__ = ("_hash", "_terms")

    def __init__(self, terms: Mapping[Monomial, Fraction] | None) -> None:
        """Take the terms of the normal form; None is +∞. Users call `exact`."""
        try:
            self._terms = None if terms is None else {m: c for m, c in terms.items() if c}
        except (AttributeError, TypeError, ValueError):  # not asked first: every sum and product makes one
            raise InputError(
                f"Real({echo(terms)})", "it is made of the terms of a normal form", 'Write leeward.exact.exact("1/2")'
            ) from None
        self._hash: int | None = None

    # ---- what it is

    @property
    def is_infinite(self) -> bool:
        """Whether this is +∞."""
        return self._terms is None

    @property
    def terms(self) -> Mapping[Monomial, Fraction]:
        """The normal form of a finite Real: monomial → non-zero rational coefficient."""
        if self._terms is None:
            raise InputError(
                "The terms of infinity were asked for", "infinity has no normal form", "Test is_infinite first"
            )
        return self._terms

    @property
    def rational(self) -> Fraction | None:
        """The value as a Fraction, or None if it is irrational, opaque or infinite."""
        if self._terms is None:
            return None
        if not self._terms:
            return Fraction(0)
        if len(self._terms) == 1 and _UNIT in self._terms:
            return self._terms[_UNIT]
        return None

    def arb(self, precision: int) -> flint.arb:
        """Enclose the value as an Arb ball computed with ``precision`` bits."""
        with flint.ctx.workprec(precision):
            return self._arb()

    def _arb(self) -> flint.arb:
        total = flint.arb(0)
        for (radicand, atoms), coefficient in self.terms.items():
            term = flint.arb(flint.fmpq(coefficient.numerator, coefficient.denominator))
            if radicand != 1:
                term *= flint.arb(radicand).sqrt()
            for atom in atoms:
                term *= atom.arb()
            total += term
        return total

    def bounds(self) -> tuple[float, float]:
        """Return floats (lower, upper) that enclose the value, a few units in the last place apart."""
        if self._terms is None:
            return math.inf, math.inf
        return outward(self._near())

    def _near(self) -> flint.arb:
        """Enclose the value to 60 bits, however much cancels; a value that may be 0 at every precision less closely."""
        for precision in (80, *PRECISIONS[2:]):
            ball = self.arb(precision)
            if not self._terms or ball.rel_accuracy_bits() >= 60:
                break
        return ball

    def __float__(self) -> float:
        """Round to a nearby float, ±∞ where it is too large for one: for display and plots only."""
        if self._terms is None:
            return math.inf
        try:
            return float(self._near() if (value := self.rational) is None else value)
        except OverflowError:
            return math.inf * self.sign()

    # ---- arithmetic

    def __add__(self, other: Exact) -> Real:
        other = exact(other)
        if self._terms is None or other._terms is None:
            return inf
        if not other._terms or not self._terms:
            return self if self._terms else other
        terms = dict(self._terms)
        for monomial, coefficient in other._terms.items():
            terms[monomial] = terms[monomial] + coefficient if monomial in terms else coefficient
        return Real(terms)

    __radd__ = __add__

    def __neg__(self) -> Real:
        return Real({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Exact) -> Real:
        other = exact(other)
        if self._terms is None and not other.is_infinite:
            return inf
        return self + (-other)

    def __rsub__(self, other: Exact) -> Real:
        return exact(other) - self

    def __mul__(self, other: Exact) -> Real:
        other = exact(other)
        if self._terms is None or other._terms is None:
            sign = self.sign() * other.sign()
            if sign < 0:
                raise InputError(
                    "Minus infinity was asked for", "Leeward's reals have only +inf", "Negate after testing"
                )
            return inf if sign else ZERO
        for one, scale in ((self, other.rational), (other, self.rational)):
            if scale is not None:
                return Real({m: c * scale for m, c in one.terms.items()})
        terms: dict[Monomial, Fraction] = {}
        for (m, c), (n, d) in ((s, t) for s in self._terms.items() for t in other._terms.items()):
            common = math.gcd(m[0], n[0])
            atoms = tuple(sorted(m[1] + n[1], key=str))
            monomial = (m[0] * n[0] // common**2, atoms)
            terms[monomial] = terms.get(monomial, Fraction(0)) + c * d * common
        return Real(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Exact) -> Real:
        other = exact(other)
        if other.is_infinite:
            return ZERO if self._terms is not None else self / 0
        if not other._terms:
            raise InputError("A division by zero", "it has no value", "Test for zero first")
        if self._terms is None:
            return inf * other
        if (scale := other.rational) is not None:
            return Real({m: c / scale for m, c in self._terms.items()})
        if len(other._terms) == 1 and not (single := next(iter(other._terms.items())))[0][1]:
            (radicand, _), coefficient = single  # c·√n: multiply by √n / (c·n)
            return self * Real({(radicand, ()): 1 / (coefficient * radicand)})
        monomial, coefficient = next(iter(other._terms.items()))
        candidate = self._terms.get(monomial, Fraction(0)) / coefficient
        if self == other * candidate:
            return Real({_UNIT: candidate})
        raise UndecidedError(
            f"The quotient of {self} by {other}",
            "it is not a rational multiple, and has no closed form here",
            "Compare products instead, or use rational parameters",
        )

    def __rtruediv__(self, other: Exact) -> Real:
        return exact(other) / self

    # ---- order

    def sign(self) -> int:
        """Return −1, 0 or 1, exactly.

        Raises:
            UndecidedError: if 4,096 bits do not separate an opaque value from 0.
        """
        if self._terms is None:
            return 1
        if not self._terms:
            return 0
        if (value := self.rational) is not None:
            return 1 if value > 0 else -1
        try:
            return sign_of(self.arb, lambda: str(self))
        except UndecidedError:
            if not split(self._terms):
                return 0
            raise

    def __bool__(self) -> bool:
        return self.sign() != 0

    def __eq__(self, other: object) -> bool:
        other = other if isinstance(other, Real) else number_or_none(other)
        if other is None:
            return NotImplemented
        if self._terms is None or other._terms is None:
            return self._terms is other._terms
        if (ours := self.rational) is not None and (theirs := other.rational) is not None:
            return ours == theirs
        return self._terms == other._terms or (self - other).sign() == 0  # equal forms are enough, but not needed

    def __lt__(self, other: Exact) -> bool:
        other = exact(other)
        if self._terms is None or self is other:
            return False
        if other._terms is None:
            return True
        if (ours := self.rational) is not None and (theirs := other.rational) is not None:
            return ours < theirs
        return (self - other).sign() < 0

    def __gt__(self, other: Exact) -> bool:
        return exact(other) < self

    def __le__(self, other: Exact) -> bool:
        return not exact(other) < self

    def __ge__(self, other: Exact) -> bool:
        return not self < other

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(math.inf) if self._terms is None else image(self._terms)
        return self._hash

    # ---- text

    def __str__(self) -> str:
        if self._terms is None:
            return "inf"
        if not self._terms:
            return "0"
        parts = sorted((_term(m, c) for m, c in self._terms.items()), key=lambda t: (t.lstrip("-")[:1].isalpha(), t))
        return " + ".join(parts).replace("+ -", "- ")

    def __repr__(self) -> str:
        return f"Real('{self}')"

    def __reduce__(self) -> tuple[Any, ...]:
        return Real, (self._terms,)


Exact: TypeAlias = Real | Fraction | int | str | Decimal
"""What is accepted wherever an exact number is asked for: never a float (but ``math.inf`` means infinity)."""


def _term(monomial: Monomial, coefficient: Fraction) -> str:
    radicand, atoms = monomial
    factors = [str(a) for a in atoms] + ([f"sqrt({radicand})"] if radicand != 1 else [])
    if not factors:
        return str(coefficient)
    body = "*".join(factors)
    top, bottom = coefficient.numerator, coefficient.denominator
    head = body if top == 1 else f"-{body}" if top == -1 else f"{top}*{body}"
    return head if bottom == 1 else f"{head}/{bottom}"


def exact(value: Exact) -> Real:
    """Read an exact number: an integer, Fraction, Decimal, Real, or a string such as ``"0.1"``, ``"1/3"``, ``"inf"``.

    Integers of other libraries, such as NumPy's, are integers, in a fraction too.

    Raises:
        InexactError: for a float: 0.1 in binary is not one tenth, and a privacy claim is about one number.
        InputError: for a string that is not a number.
    """
    if isinstance(value, Real):
        return value
    if isinstance(value, bool):
        raise InputError(f"{value} was given as a number", "it is a truth value", "Give a number in a string")
    if isinstance(value, int | Fraction):
        return Real({_UNIT: Fraction(plainly(value))})
    return _parse(value)


def number_or_none(value: object) -> Real | None:
    """Return the exact number that a number is, or None for anything else, a text too: for comparisons, then false."""
    if isinstance(value, float) and value == math.inf:
        return inf
    if isinstance(value, bool) or not isinstance(value, Real | numbers.Integral | Fraction | Decimal):
        return None
    try:
        return exact(value)  # type: ignore[arg-type]  # integers of other libraries are read too
    except InputError:
        return None


_LONGEST = 1_000


def _parse(value: object) -> Real:
    if is_integral(value):
        return Real({_UNIT: Fraction(int(value))})
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational) and value != math.inf:
        raise InexactError(
            f"The float {echo(value)} was given",
            "a binary float is not the decimal it prints as, and a privacy claim is about one exact number",
            f'Write it as a string: "{value!s}", or a fraction such as "1/3"',
        )
    # spaces elsewhere are not taken away: "1 1/2" would become eleven halves
    text = re.sub(r"\s*/\s*", "/", str(value).strip())
    if isinstance(value, float | Decimal | str) and text.lower() in {"inf", "infinity", "∞"}:
        return inf
    if isinstance(value, Decimal | str):
        exponent = re.search(r"[eE]([+-]?\d+)", text)
        if len(text) > _LONGEST or (exponent and abs(int(exponent[1])) > _LONGEST):
            raise InputError(
                f"A number of more than {_LONGEST} digits",
                "it would be written out in full to be exact, and no privacy parameter is so large or so small",
                'Write, say, "1e-6"',
            )
        try:
            return Real({_UNIT: Fraction(text)})
        except (ValueError, ZeroDivisionError):
            pass  # said below, without the cause: it would only repeat the text
    raise InputError(
        f"{echo(value)} was given as a number",
        "it is not an exact number",
        'Write a decimal or a fraction in a string, such as "0.5" or "1/3"',
    )


def positive(value: Exact, name: str) -> Real:
    """Read an exact number that must be above 0 (∞ allowed); ``name`` is what the message calls it."""
    number = exact(value)
    if number.sign() <= 0:
        raise InputError(
            f"{name} = {number}", f"{name} must be above 0", f'Give a positive number, such as {name} = "1"'
        )
    return number


def finite(value: Exact, name: str) -> Real:
    """Read an exact number that must be above 0 and not ∞, as the ε of a promise is."""
    number = positive(value, name)
    if number.is_infinite:
        raise InputError(f"{name} = inf", "it promises nothing", f'Give a finite number, such as {name} = "1"')
    return number


def plainly(value: Any) -> Any:
    """Return a value of NumPy's, or a fraction of such, as Python's: the same value and text, whose sums do not wrap.

    A moment of NumPy's becomes a `datetime` where that can say it, and else stays: NumPy would make a bare number of it.
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _moment(value)
    if isinstance(value, Fraction) and not type(value.numerator) is type(value.denominator) is int:
        return Fraction(int(value.numerator), int(value.denominator))
    return value.item() if isinstance(value, np.generic) else value


def _moment(value: np.datetime64 | np.timedelta64) -> Any:
    said = value.item()
    if type(said) is not int:  # a date, a datetime or a timedelta, or None where it is missing
        return said
    unit, _ = np.datetime_data(value.dtype)
    if unit not in {"ns", "ps", "fs", "as"}:
        return value
    coarse = value.astype(f"{value.dtype.kind}8[us]")
    return coarse.item() if coarse == value else value


def integer(value: object, name: str) -> int:
    """Read a whole number, of any size and sign; ``name`` is what the message calls it.

    A machine integer (NumPy's) becomes a Python one, whose sums and differences do not wrap.
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or not is_integral(value):
        raise InputError(f"{name} = {echo(value)}", "it is not a whole number", "Give an integer")
    return int(value)


def is_integral(value: object) -> TypeGuard[numbers.Integral]:
    """Whether a value is a whole number: NumPy takes a span of time for one, whatever its unit."""
    return isinstance(value, numbers.Integral) and not isinstance(value, np.timedelta64)


def whole(value: object, name: str, least: int = 1, *, most: int | None = None, says: str = "it says how many") -> int:
    """Read a whole number from ``least`` to ``most``; ``name`` is what the message calls it, ``says`` what it stands for."""
    if isinstance(value, bool) or not is_integral(value) or value < least or (most is not None and not value <= most):
        ends = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{name} = {echo(value)}", says, f"Give a whole number {ends}")
    return int(value)


def sqrt(value: Exact) -> Real:
    """Return the exact square root of a non-negative rational.

    Raises:
        InputError: if the value is negative or not rational.
    """
    number = exact(value).rational
    if number is None or number < 0:
        raise InputError(
            f"The square root of {value}", "only roots of non-negative rationals are exact here", "Square it"
        )
    if number == 0:
        return ZERO
    outer, radicand = Fraction(1, number.denominator), 1
    for base, power in factors(number.numerator * number.denominator):
        outer *= base ** (power // 2)
        radicand *= base ** (power % 2)
    return Real({(radicand, ()): outer})


def sign_of(enclose: Callable[[int], flint.arb], named: Callable[[], str]) -> int:
    """Return the sign of a non-zero real given as ``enclose(precision) -> arb``; it is named only where that fails.

    Raises:
        UndecidedError: if the highest precision tried does not separate it from 0.
    """
    for precision in PRECISIONS:
        ball = enclose(precision)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
    try:
        name = named()
    except ValueError:  # Python writes no integer of over 4,300 digits
        name = "a sum of very long fractions"
    raise UndecidedError(
        f"The sign of {name if len(name) < 200 else name[:200] + '…'}",
        f"{PRECISIONS[-1]} bits do not separate it from 0, and its form does not prove it 0",
        "Use rational parameters, or ones a little further apart",
    )


def whole_of(ball: flint.arb) -> int:
    """Return the whole number that a ball is, as after a floor of its middle or its end."""
    found = ball.unique_fmpz()
    assert found is not None
    return int(found)


def outward(ball: flint.arb) -> tuple[float, float]:
    """Return floats (lower, upper) that enclose an Arb ball."""
    with flint.ctx.workprec(_FLOAT_BITS):  # its ends are rounded to the precision in force, which others may have set
        lower, upper = float(ball.lower()), float(ball.upper())
    return math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)


inf = Real(None)
"""+∞: no alternative promised."""

ZERO = Real({})
ONE = Real({_UNIT: Fraction(1)})
