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
from collections.abc import Iterable, Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from numbers import Integral, Real
from typing import Any, Final
from uuid import UUID

import numpy as np

from leeward.errors import InputError

_NUMERAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


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
        value = person if isinstance(person, Decimal) else Decimal(float(person))
        largest = Decimal(10) ** 100 if isinstance(person, Decimal) else Decimal(2 ** _bits(person) - 1)
        if value.is_finite() and abs(value) <= largest and value == int(value):
            return str(int(value))
        raise _doubtful("a number that is not whole, or a float too large to be exact", "Use whole numbers, or text")
    raise _doubtful(f"of type {type(person).__name__}", "Use whole numbers, or text")


def _bits(number: object) -> int:
    """Return in how many bits a float has each whole number exactly."""
    return min(int(np.finfo(type(number)).nmant) + 1, 53) if isinstance(number, np.floating) else 53


def payer(person: Any) -> str:
    """Return who pays for a person's reports: text that writes a number, with spaces around it or not, pays as that number.

    Raises:
        InputError: as for `named`.
    """
    text = named(person)
    number = text.strip()
    if number.isdecimal() and number.isascii() and number[0] != "0":  # as it is written below, in less time
        digits = number.rstrip("0")
        if digits == number:
            return number
        return f"{digits[0]}.{digits[1:]}E+{len(number) - 1}" if digits[1:] else f"{digits}E+{len(number) - 1}"
    if not _NUMERAL.fullmatch(number):
        return text
    try:
        exact = Context(prec=len(number), Emax=MAX_EMAX, Emin=MIN_EMIN)
        value = exact.create_decimal(number).normalize(exact)
    except ArithmeticError:  # an exponent that no number has
        return text
    return str(abs(value) if value == 0 else value)


def payers(people: Iterable[Any]) -> Iterator[str]:
    """Return `payer` of each of many people.

    Raises:
        InputError: as for `named`.
    """
    return (
        str(one)
        if type(one) is int and one % 10  # as `payer` writes a number that does not end in zeros
        else one
        if type(one) is str
        and (
            one[:1].isalpha()
            or one[-1:].isalpha()  # no number is written so
            or (one.isdecimal() and one.isascii() and one[0] != "0" and one[-1] != "0")  # and this one so
        )
        else payer(one)
        for one in people
    )


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
