# SPDX-License-Identifier: Apache-2.0
"""Exact probabilities and weights: quotients of sums of exponentials with rational coefficients.

Every pmf in Leeward is such a number: ``(1 − e^{−s})·e^{−sk}``, ``1/(1 + e^{x})``, ``1 − p(1 − e^{−a})``. Keeping it exact
lets `leeward.verify` prove the usual knife edge, a ratio of *exactly* e^ε, which no interval arithmetic can. Products
and sums are expanded; zero is recognised because exponentials of distinct exponents are linearly independent over the
rationals (Lindemann and Weierstrass, for algebraic exponents), with the logarithms inside exponents expanded away first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

import flint

from leeward._integers import factors
from leeward.errors import InputError
from leeward.exact._monomials import Monomial
from leeward.exact._real import ZERO, Exact, Real, exact, integer, number_or_none, outward, sign_of

_Sum: TypeAlias = Mapping[Real, Fraction]  # exponent -> coefficient

_WRITTEN = 2**14
"""Bits: a longer power of a prime stays in the exponent, so that 2^-(10^12) is as short as e^-(10^12)."""

_NONE, _ONE = Fraction(0), Fraction(1)

_WHOLE: _Sum = {ZERO: _ONE}
"""The sum 1. Most denominators are it, and it is known by its identity: multiplying by it is the commonest operation."""

_EXPANDED = 2**8
"""Greater powers of a sum are not multiplied out: what they are compared with is told apart by its value, or undecided."""


class LogPrime:
    """The atom ln p of a prime p, or of a large integer that was not factored (see `leeward._integers`)."""

    __slots__ = ("prime",)

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def arb(self) -> flint.arb:
        """Enclose ln p at the precision in force."""
        return flint.arb(self.prime).log()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogPrime) and other.prime == self.prime

    def __hash__(self) -> int:
        return hash(("log", self.prime))

    def __str__(self) -> str:
        return f"log({self.prime})"


class LogSum:
    """The atom ln(Σ c_i e^{r_i}) of a positive sum of at least two exponentials, scaled so that its first term is 1."""

    __slots__ = ("sum",)

    def __init__(self, terms: _Sum) -> None:
        self.sum = tuple(sorted(terms.items(), key=lambda item: str(item[0])))

    def arb(self) -> flint.arb:
        """Enclose the logarithm at the precision in force."""
        return _sum_arb(dict(self.sum)).log()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogSum) and dict(other.sum) == dict(self.sum)

    def __hash__(self) -> int:
        return hash(frozenset(self.sum))  # equal exponents may be written, and so sorted, in different ways

    def __str__(self) -> str:
        return f"log({_sum_str(dict(self.sum))})"


class Weight:
    """An exact real ``(Σ c_i e^{r_i}) / (Σ d_j e^{s_j})`` with a positive denominator: a probability, or a ratio of two.

    Built from numbers, `exp` and ``+ - * /``; compared exactly; `arb`, `bounds` and ``float`` evaluate it.
    """

    __slots__ = ("denominator", "numerator")
    __hash__ = None  # type: ignore[assignment]  # equal weights may have different forms

    def __init__(self, numerator: _Sum, denominator: _Sum | None = None) -> None:
        self.numerator = {r: c for r, c in numerator.items() if c}
        self.denominator = _WHOLE if denominator is None or denominator is _WHOLE else dict(denominator)

    def __add__(self, other: Weight | Exact) -> Weight:
        other = weight(other)
        if self.denominator is other.denominator or self.denominator == other.denominator:
            return Weight(_sum_add(self.numerator, other.numerator), self.denominator)
        left, right = _sum_mul(self.numerator, other.denominator), _sum_mul(other.numerator, self.denominator)
        return Weight(_sum_add(left, right), _sum_mul(self.denominator, other.denominator))

    __radd__ = __add__

    def __neg__(self) -> Weight:
        return Weight({r: -c for r, c in self.numerator.items()}, self.denominator)

    def __sub__(self, other: Weight | Exact) -> Weight:
        return self + (-weight(other))

    def __rsub__(self, other: Weight | Exact) -> Weight:
        return weight(other) + (-self)

    def __mul__(self, other: Weight | Exact) -> Weight:
        other = weight(other)
        return Weight(_sum_mul(self.numerator, other.numerator), _sum_mul(self.denominator, other.denominator))

    __rmul__ = __mul__

    def __truediv__(self, other: Weight | Exact) -> Weight:
        other = weight(other)
        sign = other.sign()
        if sign == 0:
            raise InputError("A weight was divided by zero", "it has no value", "Test for zero first")
        top, bottom = _sum_mul(self.numerator, other.denominator), _sum_mul(self.denominator, other.numerator)
        return Weight(top, bottom) if sign > 0 else -Weight(top, {r: -c for r, c in bottom.items()})

    def __rtruediv__(self, other: Weight | Exact) -> Weight:
        return weight(other) / self

    def __pow__(self, power: int) -> Weight:
        power = integer(power, "power")
        if power < 0:
            return 1 / self**-power
        return Weight(_sum_power(self.numerator, power), _sum_power(self.denominator, power))

    def sign(self) -> int:
        """Return −1, 0 or 1, exactly.

        Raises:
            UndecidedError: if neither the form nor 4,096 bits settle it.
        """
        terms, _ = _without_logs(self.numerator)
        if not terms:
            return 0
        signs = {c > 0 for c in terms.values()}
        if len(signs) == 1:
            return 1 if signs.pop() else -1
        return sign_of(Weight(terms).arb, lambda: _sum_str(terms))

    def __eq__(self, other: object) -> bool:
        known = other if isinstance(other, Weight) else number_or_none(other)
        if known is None or (isinstance(known, Real) and known.rational is None):
            return NotImplemented
        return (self - weight(known)).sign() == 0

    def __lt__(self, other: Weight | Exact) -> bool:
        return (self - weight(other)).sign() < 0

    def __gt__(self, other: Weight | Exact) -> bool:
        return (self - weight(other)).sign() > 0

    def __le__(self, other: Weight | Exact) -> bool:
        return (self - weight(other)).sign() <= 0

    def __ge__(self, other: Weight | Exact) -> bool:
        return (self - weight(other)).sign() >= 0

    def __bool__(self) -> bool:
        return self.sign() != 0

    @property
    def rational(self) -> Fraction | None:
        """The value as a Fraction where the form shows it rational, else None."""
        (top, removed), (bottom, divided) = _without_logs(self.numerator), _without_logs(self.denominator)
        if not top:
            return Fraction(0)
        lead = next(iter(bottom))
        ratio = top.get(lead, Fraction(0)) / bottom[lead]
        return ratio if removed == divided and top == {r: c * ratio for r, c in bottom.items()} else None

    def arb(self, precision: int) -> flint.arb:
        """Enclose the value as an Arb ball computed with ``precision`` bits."""
        with flint.ctx.workprec(precision):
            return _sum_arb(self.numerator) / _sum_arb(self.denominator)

    def bounds(self) -> tuple[float, float]:
        """Return floats (lower, upper) that enclose the value; 2^-60 apart relatively, however much cancels."""
        if not self.numerator:
            return 0.0, 0.0
        for precision in (96, 192, 384, 768, 1536, 3072, 6144):
            ball = self.arb(precision)
            if ball.is_finite() and ball.rel_accuracy_bits() >= 60:
                break
        return outward(ball)

    def __float__(self) -> float:
        """Round to a nearby float: for display and plots only."""
        lower, upper = self.bounds()
        return (lower + upper) / 2

    def __repr__(self) -> str:
        top, bottom = _sum_str(self.numerator), _sum_str(self.denominator)
        ratio = top if bottom == "1" else f"({top}) / ({bottom})"
        return f"Weight({ratio})" if "exp" not in ratio and "/" not in ratio else f"Weight({ratio} ≈ {float(self):.6g})"


def weight(value: Weight | Exact) -> Weight:
    """Read an exact number as a weight. Logarithms and roots are refused: only their exponentials are weights."""
    if isinstance(value, Weight):
        return value
    number = exact(value).rational
    if number is None:
        raise InputError(
            f"{value} was given as a weight", "only rationals and exponentials are weights", "Use exp(...)"
        )
    return Weight({ZERO: number})


def weighted_sum(terms: Iterable[tuple[Weight, Fraction | int]]) -> Weight:
    """Return Σ factor · weight; much faster than adding one by one, because equal denominators are added up first."""
    groups: dict[frozenset[tuple[Real, Fraction]], tuple[_Sum, dict[Real, Fraction]]] = {}
    for value, factor in terms:
        _, total = groups.setdefault(frozenset(value.denominator.items()), (value.denominator, {}))
        for r, c in value.numerator.items():
            total[r] = total.get(r, _NONE) + c * factor
    return functools.reduce(Weight.__add__, (Weight(top, bottom) for bottom, top in groups.values()), weight(0))


def exp(exponent: Exact) -> Weight:
    """Return e^x exactly; integer multiples of ln 2, ln 3, … become rational factors.

    Raises:
        InputError: if the exponent is infinite.
    """
    number = exact(exponent)
    if number.is_infinite:
        raise InputError("exp(inf) was asked for", "it is not a number", "Treat an infinite exponent as its own case")
    return Weight(dict([_split(number)]))


def exp_minus(exponent: Exact) -> Weight:
    """Return e^{−x} exactly, 0 at x = ∞: the weight of a distance."""
    number = exact(exponent)
    return Weight({}) if number.is_infinite else exp(-number)


def log(value: Weight | Exact) -> Real:
    """Return the exact natural logarithm of a positive weight, in the simplest form found: ``log(exp(x))`` is x.

    Raises:
        InputError: if the value is not above 0.
    """
    if not isinstance(value, Weight) and exact(value).is_infinite:
        return exact(value)
    argument = weight(value)
    if argument.sign() <= 0:
        raise InputError(f"log({value}) was asked for", "the logarithm needs a number above 0", "Check the sign")
    return _log_sum(argument.numerator) - _log_sum(argument.denominator)


def _log_sum(terms: _Sum) -> Real:
    terms, removed = _without_logs(terms)
    lead = min((r for r, c in terms.items() if c > 0), key=lambda r: (float(r), str(r)))
    scaled = {r - lead: c / terms[lead] for r, c in terms.items()}
    known = removed + lead + _log_rational(terms[lead])
    return known if len(scaled) == 1 else known + Real({(1, (LogSum(scaled),)): Fraction(1)})


@functools.lru_cache(maxsize=4096)
def _log_rational(value: Fraction) -> Real:
    terms: dict[Monomial, Fraction] = {}
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        for base, power in factors(number):
            terms[1, (LogPrime(base),)] = Fraction(sign * power)
    return Real(terms)


def _split(exponent: Real) -> tuple[Real, Fraction]:
    """Write e^r as c·e^{r'} with the integer multiples of logarithms of primes moved into the rational c."""
    if not any(atoms for _, atoms in exponent.terms):
        return exponent, _ONE
    kept: dict[Monomial, Fraction] = {}
    factor = _ONE
    for (radicand, atoms), coefficient in exponent.terms.items():
        if radicand == 1 and len(atoms) == 1 and isinstance(atoms[0], LogPrime):
            whole = math.floor(coefficient)
            if abs(whole) <= 1 or abs(whole) * atoms[0].prime.bit_length() <= _WRITTEN:
                factor *= Fraction(atoms[0].prime) ** whole
                coefficient -= whole
        kept[radicand, atoms] = coefficient
    return Real(kept), factor


def _without_logs(terms: _Sum) -> tuple[dict[Real, Fraction], Real]:
    """Write a sum as e^r · (a sum with the integer powers of every `LogSum` expanded); return that sum and r."""
    terms, removed, done = _gathered(terms), ZERO, set[Monomial]()
    while atoms := {m for r in terms for m in r.terms if _is_log(m, LogSum)} - done:
        atom = max(
            atoms, key=lambda m: (len(str(m[1][0])), str(m[1][0]))
        )  # the outermost first: it may hold the others
        done.add(atom)
        inner = dict(atom[1][0].sum)  # type: ignore[attr-defined]
        powers = {r: r.terms.get(atom, Fraction(0)) for r in terms}
        low = min(powers.values())
        if max(powers.values()) - low > _EXPANDED:
            continue
        removed = removed + Real({atom: low})
        expanded: dict[Real, Fraction] = {}
        for r, c in terms.items():
            whole = math.floor(powers[r] - low)
            rest = {r - Real({atom: low + whole}): c}
            expanded = _sum_add(expanded, _sum_mul(rest, _sum_power(inner, whole)))
        terms = _gathered(expanded)
    return terms, removed


def _gathered(terms: _Sum) -> dict[Real, Fraction]:
    """Write terms that differ by a power of a prime as one, also where the power is too long for `_split` to write out.

    Powers that are further apart than that stay apart.
    """
    for atom in {m for r in terms for m, c in r.terms.items() if _is_log(m, LogPrime) and abs(c) >= 1}:
        prime = atom[1][0].prime  # type: ignore[attr-defined]
        series: dict[Real, list[tuple[int, Fraction]]] = {}
        for r, c in terms.items():
            whole = math.floor(r.terms.get(atom, 0))
            series.setdefault(r - Real({atom: Fraction(whole)}), []).append(_stripped(whole, c, prime))
        terms = {}
        for rest, powers in series.items():
            kept = list[tuple[int, Fraction]]()
            for power, c in sorted(powers):
                if kept and (power - kept[-1][0]) * prime.bit_length() <= 2 * _WRITTEN:
                    low, d = kept.pop()
                    power, c = _stripped(low, d + c * Fraction(prime) ** (power - low), prime)
                if c:
                    kept.append((power, c))
            for power, c in kept:
                key, factor = _split(rest + Real({atom: Fraction(power)}))
                terms[key] = terms.get(key, _NONE) + c * factor
    return dict(terms)


def _stripped(power: int, coefficient: Fraction, prime: int) -> tuple[int, Fraction]:
    """Move the powers of a prime from a coefficient to its exponent."""
    while coefficient and coefficient.numerator % prime == 0:
        power, coefficient = power + 1, coefficient / prime
    while coefficient.denominator % prime == 0:
        power, coefficient = power - 1, coefficient * prime
    return power, coefficient


def _is_log(monomial: Monomial, kind: type[LogPrime | LogSum]) -> bool:
    return monomial[0] == 1 and len(monomial[1]) == 1 and isinstance(monomial[1][0], kind)


def _sum_add(left: _Sum, right: _Sum) -> dict[Real, Fraction]:
    total = dict(left)
    for r, c in right.items():
        total[r] = total[r] + c if r in total else c
    return {r: c for r, c in total.items() if c}


def _sum_mul(left: _Sum, right: _Sum) -> _Sum:
    if left is _WHOLE or right is _WHOLE:
        return right if left is _WHOLE else left
    product: dict[Real, Fraction] = {}
    for r, c in left.items():
        for s, d in right.items():
            key, factor = _split(r + s)
            term = c * d if factor is _ONE else c * d * factor
            product[key] = product[key] + term if key in product else term
    return {r: c for r, c in product.items() if c}


def _sum_power(base: _Sum, power: int) -> _Sum:
    result, square = _WHOLE, base
    while power:
        if power & 1:
            result = _sum_mul(result, square)
        power >>= 1
        if power:
            square = _sum_mul(square, square)
    return result


def _sum_arb(terms: _Sum) -> flint.arb:
    total = flint.arb(0)
    for exponent, coefficient in terms.items():
        term = flint.arb(flint.fmpq(coefficient.numerator, coefficient.denominator))
        total += term * exponent._arb().exp() if exponent else term
    return total


def _sum_str(terms: _Sum) -> str:
    parts = []
    for r, c in sorted(terms.items(), key=lambda item: str(item[0])):
        factor = "" if not r.terms else f"exp({r})"
        number = str(c) if c != 1 or not factor else ""
        parts.append("*".join(p for p in (number, factor) if p))
    return " + ".join(parts).replace("+ -", "- ") or "0"
