# SPDX-License-Identifier: Apache-2.0
"""What a ledger reports to its curator, and how exact numbers are kept in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Literal

from leeward.errors import InexactError, InputError, LedgerError
from leeward.ledger._parts import altered

OfRelease = Literal["reserved", "taken-over", "released", "withdrawn"]
"""What happens to one release."""

EntryKind = Literal[OfRelease, "opened", "set-cap", "accepted-restored", "new-key", "moved"]
"""What an entry says: every kind that there is stands in a golden ledger."""

_MOST_BITS = 4096
"""Python refuses to print integers of more than 4300 digits; prices stop long before that."""


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of one dataset.

    Attributes:
        dataset: the public name.
        notion: the notion and unit its costs are counted in, such as ``addition-only/person``.
        cap: the most that may ever be spent.
        spent: what was spent or is reserved, exactly.
    """

    dataset: str
    notion: str
    cap: Fraction
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """What may still be spent: cap − spent."""
        return self.cap - self.spent


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the history. The sum of ``cost`` over a dataset's entries is what it has spent.

    Attributes:
        number: its place in the hash chain, from 1.
        id: random; the entries of one release share it, and it is the id a release may publish.
        time: when it was written (UTC).
        dataset: the public name; empty for an entry about the ledger as a whole.
        version: the label of the content; empty where no release is concerned.
        kind: what happened.
        cost: the change of what is spent: positive for ``reserved``, negative for ``withdrawn``
            and for a ``released`` answer that cost less than was reserved, else 0.
        cap: the dataset's cap after this entry; None while no budget is open.
        key: the canonical public key of the release; of ``moved``, where the ledger went; else empty.
    """

    number: int
    id: str
    time: datetime
    dataset: str
    version: str
    kind: EntryKind
    cost: Fraction
    cap: Fraction | None
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A stored answer: what may be shown, again and again, at no further cost.

    Attributes:
        id: the random id of its release.
        cost: what it cost, once.
        payload: the bytes that were stored.
    """

    id: str
    cost: Fraction
    payload: bytes


def exact_amount(value: Fraction | int, name: str) -> Fraction:
    """Return a cost or cap as a Fraction.

    Raises:
        InexactError: it is a float.
        InputError: it is not a number, is negative, or has thousands of digits.
    """
    if isinstance(value, float):
        raise InexactError(f"The {name} was given as a float", "budgets are kept exactly", "Give a Fraction")
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise InputError(f"The {name} is a {type(value).__name__}", "a budget is a number", "Give a Fraction")
    amount = Fraction(value)
    if amount < 0:
        raise InputError(f"The {name} is negative", "privacy spent is never won back", "Give zero or more")
    if not _is_writable(amount):
        raise InputError(f"The {name} has thousands of digits", "it has to be kept and read", "Give a shorter fraction")
    return amount


def to_text(amount: Fraction) -> str:
    """Write an exact number as ``p/q``.

    Raises:
        LedgerError: many odd denominators have grown into a common one of thousands of digits.
    """
    if not _is_writable(amount):
        raise LedgerError(
            "The exact sum of what is spent has thousands of digits",
            "the prices asked have no short common denominator",
            "Ask for an epsilon with a short decimal or fraction",
        )
    return f"{amount.numerator}/{amount.denominator}"


def from_text(text: str) -> Fraction:
    """Read an exact number back.

    Raises:
        LedgerError: the text was not written by ``to_text``.
    """
    try:
        numerator, denominator = text.split("/")
        return Fraction(int(numerator), int(denominator))
    except (ValueError, ZeroDivisionError, AttributeError):
        raise altered("An amount in the ledger is not a fraction") from None


def _is_writable(amount: Fraction) -> bool:
    return max(amount.numerator.bit_length(), amount.denominator.bit_length()) <= _MOST_BITS
