# SPDX-License-Identifier: Apache-2.0
"""What a ledger reports to its curator, and how exact numbers are kept in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import lcm
from typing import Literal

from leeward.errors import InexactError, InputError, LedgerError
from leeward.ledger._parts import altered

OfRelease = Literal["reserved", "taken-over", "released", "withdrawn"]
"""What happens to one release."""

EntryKind = Literal[OfRelease, "asked-by", "opened", "set-cap", "accepted-restored", "new-key", "moved"]
"""What an entry says: every kind that there is stands in a golden ledger."""

_MOST_BITS = 4096
"""Python refuses to print integers of more than 4300 digits; prices stop long before that."""


@dataclass(frozen=True, slots=True)
class Amount:
    """What something costs, or may: (ε, δ), exactly. Between neighbours both add up over releases.

    Attributes:
        epsilon: in units of the budget's notion.
        delta: the probability with which ε may not hold; 0 of nearly everything.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        return self + -other

    def __neg__(self) -> Amount:
        return Amount(-self.epsilon, -self.delta)

    def __str__(self) -> str:
        return with_delta(self.epsilon, self.delta)


NOTHING = Amount(Fraction(0))


def with_delta(epsilon: Fraction | str, delta: Fraction) -> str:
    """Say a price, or a cap: ε alone where there is no δ."""
    return f"{epsilon} with δ = {delta}" if delta else str(epsilon)


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of one dataset.

    Attributes:
        dataset: the public name.
        notion: the notion and unit its costs are counted in, such as ``addition-only/person``.
        cap: the most that may ever be spent.
        spent: what was spent or is reserved, exactly.
        cap_delta: the most that the δ of all releases may add up to.
        spent_delta: what they add up to.
    """

    dataset: str
    notion: str
    cap: Fraction
    spent: Fraction
    cap_delta: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What may still be spent: cap − spent."""
        return self.cap - self.spent

    @property
    def left_delta(self) -> Fraction:
        """What may still be spent of δ."""
        return self.cap_delta - self.spent_delta


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
        key: the canonical public key of the release; of ``asked-by``, the name of the analyst; of ``moved``, where the
            ledger went; else empty.
        cost_delta: the change of what is spent of δ.
        cap_delta: the dataset's cap on δ after this entry.
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
    cost_delta: Fraction = Fraction(0)
    cap_delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Answer:
    """A stored answer: what may be shown, again and again, at no further cost.

    Attributes:
        id: the random id of its release.
        cost: what it cost, once.
        payload: the bytes that were stored.
        delta: what it cost of δ.
    """

    id: str
    cost: Fraction
    payload: bytes
    delta: Fraction = Fraction(0)


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


def refuse_long(amount: Amount, name: str) -> None:
    """Refuse what a budget would add up, and show, for good: its exact sum has the digits of all that it is made of.

    Raises:
        InputError: ε or δ has more than 40 digits.
    """
    for number, what in ((amount.epsilon, "ε"), (amount.delta, "δ")):
        if max(abs(number.numerator), number.denominator) >= 10**MOST_DIGITS:
            raise InputError(
                f"The {what} of {name} has more than {MOST_DIGITS} digits",
                "a budget keeps the exact sum, and nobody could read that any more",
                f'Give {what} as a short decimal or fraction, such as "{"1/2" if what == "ε" else "1e-9"}"',
            )


def refuse_odd(after: Amount, cost: Amount) -> None:
    """Refuse fractions that nobody else uses once the exact sum has half of its digits: the rest is for ordinary ones.

    Who may charge little could otherwise fill the sum with digits, for next to no ε, and nobody could charge any more.

    Raises:
        InputError: the cost is an odd fraction, and the sum has too many digits for more of them.
    """
    for total, number in ((after.epsilon, cost.epsilon), (after.delta, cost.delta)):
        if total.denominator.bit_length() > _MOST_BITS // 2 and _ORDINARY % number.denominator:
            raise InputError(
                f"A price of {number}",
                "a budget keeps the exact sum, which has too many digits already for another fraction of this kind",
                "Give a short decimal or fraction, such as 1/2",
            )


_ORDINARY = lcm(*range(1, 101)) * 10**40 * 2**128
"""What the denominators of ordinary prices divide: decimals, and fractions of up to a hundredth."""

MOST_DIGITS = 40
"""Digits of an amount that is added to a budget, enough for 2⁻¹²⁸; of the sum, see `to_text`."""


def exact_delta(value: Fraction | int, name: str) -> Fraction:
    """Return a δ, or a cap on it, as a Fraction.

    Raises:
        InexactError: it is a float.
        InputError: it is not a number, is negative or at least 1, or has thousands of digits.
    """
    amount = exact_amount(value, name)
    if amount >= 1:
        raise InputError(f"The {name} is {amount}", "with probability 1 nothing is promised", "Give one far below 1")
    return amount


def to_text(amount: Amount) -> str:
    """Write an exact amount: ``p/q``; and ``p/q r/s`` where there is a δ, so that whoever knows of none reads no other text.

    Raises:
        LedgerError: many odd denominators have grown into a common one of thousands of digits.
    """
    numbers = [amount.epsilon, amount.delta] if amount.delta else [amount.epsilon]
    if not all(map(_is_writable, numbers)):
        raise LedgerError(
            "The exact sum of what is spent has thousands of digits",
            "the prices asked have no short common denominator",
            "Ask for an epsilon with a short decimal or fraction",
        )
    return " ".join(f"{number.numerator}/{number.denominator}" for number in numbers)


def from_text(text: str) -> Amount:
    """Read an exact amount back.

    Raises:
        LedgerError: the text was not written by ``to_text``.
    """
    try:
        numbers = [Fraction(*map(int, number.split("/", 1))) for number in text.split(" ", 1)]
        found = Amount(*numbers)
    except (ValueError, TypeError, ZeroDivisionError, AttributeError):
        raise altered("An amount in the ledger is not a fraction") from None
    if to_text(found) != text:  # 2/4, or a δ of nothing
        raise altered("An amount in the ledger is not written as Leeward writes it")
    return found


def _is_writable(amount: Fraction) -> bool:
    return max(amount.numerator.bit_length(), amount.denominator.bit_length()) <= _MOST_BITS
