# SPDX-License-Identifier: Apache-2.0
"""Who an id is: one person has one id, whatever the type of the column that it comes from.

Numbers of all types are unified, text is compared letter by letter. So 7, 7.0 and the decimal 7.00 are one id, and so is the
text "7"; "Alice", "alice" and "Alice " are three. Two uses err on two sides where text writes a number in another way
("7.0", "007", " 7"), which may be what a column of numbers became on its way through a file, or another person's id:

* Who pays (`payer`) goes by the value: two such texts share one budget, so that nobody has two.
* Who is remembered (`named`) goes by the text: nobody is shown a report that was drawn for somebody else.

Types that name nobody for sure are refused: fractions, infinities, floats from 2⁵³ on (2²⁴ in 32 bits, 2¹¹ in 16), truth
values, dates, bytes that are no text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from numbers import Integral, Real
from typing import Any, Final
from uuid import UUID

import numpy as np

from leeward._plain import own_decimals
from leeward.errors import InputError
from leeward.ledger._hashed_ids import encoded

_AT_ONCE: Final = 1 << 15
_NUMERAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DIGITS: Final = 64
"""Numbers below 10 to this power are written with all their digits, others by an exponent."""

_OF_DIGITS: Final = np.isin(np.arange(256), list(b"0123456789"))
_OF_NUMBERS: Final = ~np.isin(np.arange(256), list(string.ascii_letters.encode()))
"""The bytes that numerals begin and end with, with white space around them, and some more."""


def named(person: Any) -> str:
    """Return the id of a person as text.

    Raises:
        InputError: the value names nobody, or may name several people.
    """
    if isinstance(person, str):
        return str(person)
    if type(person) is int:  # before the questions that take longer: there may be millions
        return str(person)
    if isinstance(person, bytes):
        try:
            return person.decode()
        except UnicodeDecodeError:
            raise _doubtful("bytes that are not text", "Write them as text, in hexadecimal say") from None
    if isinstance(person, UUID):
        return str(person)
    if isinstance(person, bool):
        raise _doubtful("a truth value", "Use whole numbers, or text")
    if isinstance(person, Integral):
        return str(int(person))
    if isinstance(person, Decimal | Real):
        return _whole(person)
    raise _doubtful(f"of type {type(person).__name__}", "Use whole numbers, or text")


@own_decimals()
def _whole(person: Decimal | Real) -> str:
    """Write an id that is a number with a point."""
    value = person if isinstance(person, Decimal) else Decimal(float(person))
    largest = Decimal(10) ** 100 if isinstance(person, Decimal) else Decimal(2 ** _bits(person) - 1)
    if value.is_finite() and value.copy_abs() <= largest and value == int(value):
        return str(int(value))
    raise _doubtful("a number that is not whole, or a float too large to be exact", "Use whole numbers, or text")


def _bits(number: object) -> int:
    """Return in how many bits a float has each whole number exactly."""
    return min(int(np.finfo(type(number)).nmant) + 1, 53) if isinstance(number, np.floating) else 53


def payer(person: Any) -> str:
    """Return who pays for a person's reports: text that writes a number, with spaces around it or not, pays as that number.

    Raises:
        InputError: as for `named`.
    """
    text = person if type(person) is str else named(person)
    number = text.strip()
    digits = number.removeprefix("+").removesuffix(".0")
    if digits.isdecimal() and digits.isascii() and len(digits) <= _DIGITS:
        return digits.lstrip("0") or "0"  # as it is written below, in less time: there may be millions
    if not _NUMERAL.fullmatch(number):
        return text
    return _as_a_number(number, text)


@own_decimals()
def _as_a_number(number: str, text: str) -> str:
    """Write a numeral in the one form of its number; the text, where its exponent is one that no number has."""
    try:
        exact = Context(prec=len(number), Emax=MAX_EMAX, Emin=MIN_EMIN)
        value = exact.create_decimal(number).normalize(exact)
    except ArithmeticError:
        return text
    if value == 0:
        return "0"
    return format(value, "f") if 0 <= value.adjusted() < _DIGITS else str(value)


def payers(people: Iterable[Any]) -> list[str]:
    """Return `payer` of each of many people.

    Raises:
        InputError: as for `named`.
    """
    texts = [*people]
    types = {*map(type, texts)}
    if types == {int} and max(-min(texts), max(texts)) < 10**_DIGITS:
        return [*map(str, texts)]
    if types != {str}:
        texts = [*map(named, texts)]
    for i in range(0, len(texts), _AT_ONCE):
        for row in _in_doubt(texts[i : i + _AT_ONCE]):
            texts[i + row] = payer(texts[i + row])
    return texts


def _in_doubt(texts: Sequence[str]) -> list[int]:
    """Return which texts `payer` may write otherwise: those that may be numbers, but are not whole ones as it has them."""
    raw, sizes = encoded(texts)
    signs = np.frombuffer(raw + b" ", np.uint8)
    ends = np.cumsum(sizes)
    begins = ends - sizes
    first = signs[begins]
    is_number = _OF_NUMBERS[first] & _OF_NUMBERS[signs[ends - 1]]
    if is_number.any():
        others = np.concatenate([[0], np.cumsum(~_OF_DIGITS[signs], dtype=np.int32)])
        is_number &= (others[ends] > others[begins]) | (first == ord("0")) | (sizes > _DIGITS)
    found: list[int] = np.flatnonzero(is_number).tolist()
    return found


def in_whole_numbers(people: Sequence[Any]) -> Sequence[Any]:
    """Return floats that each name one person as whole numbers; anything else as it is."""
    if {*map(type, people)} == {float}:
        numbers = np.array(people)
        if (np.abs(numbers) < 2.0**53).all() and (np.trunc(numbers) == numbers).all():
            found: list[int] = numbers.astype(np.int64).tolist()
            return found
    return people


def _doubtful(what: str, instead: str) -> InputError:
    return InputError(
        f"An id that is {what} (this is for the curator only)", "it does not say for sure who pays", instead
    )
