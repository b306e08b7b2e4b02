"""What a budget is kept in, as a ledger writes it, and what a release under another notion costs there.

A budget of 5 in ``presence/person`` means: all releases together are 5·Presence("1")-private, for each person. So one unit
of the budget is its notion at ε = 1, and the name alone must say which notion that is.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from leeward.accounting.prices import price
from leeward.distance import FiniteDistance
from leeward.errors import BudgetConflictError, InputError, SpecError, nearest
from leeward.notion import (
    AdditionOnly,
    BoundedDP,
    Condition,
    Graded,
    Notion,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
)
from leeward.real import Real

NAMED: Mapping[str, type[Notion]] = {
    kind.name: kind for kind in (Presence, AdditionOnly, RemovalOnly, UnboundedDP, BoundedDP, ReplaceDP)
}
"""The notions that a name alone determines."""

_LONGEST = 160

_NO_TEXT = " at 0x"
"""What Python writes for an object that has no text of its own."""


def currency(notion: Notion) -> str:
    """Return the text under which a ledger keeps a budget in this notion: ``presence/person``.

    Notions with parameters name them, at ε = 1 (``graded(absence=1, presence=1/4)/person``), so that promises that differ
    are not added up. A distance is written as its matrix. A function has no text that lasts: it is written as what it says
    of each of the notion's records, and left out where those are not listed, as no release can be made then.
    """
    name, unit = notion.name, notion.words.unit
    if type(notion) is NAMED.get(name):
        return f"{name}/{unit}"
    if name in NAMED:  # a class of the user's own under a name of ours
        name = f"{type(notion).__module__}.{type(notion).__qualname__}"
    fields = vars(notion.with_epsilon(1)).items()
    records = getattr(notion, "records", None)
    written = {
        field: _written(value, records) for field, value in fields if field not in {"epsilon", "words", "per_person"}
    }
    listed = ", ".join(f"{field}={text}" for field, text in sorted(written.items()) if _NO_TEXT not in text)
    if len(listed) > _LONGEST:
        listed = hashlib.sha256(listed.encode()).hexdigest()[:16]
    return f"{name}({listed})/{unit}" if listed else f"{name}/{unit}"


def promised(notion: Notion) -> dict[str, str]:
    """Return which promise a question is asked under, as the key of its answer holds it."""
    return {"notion": currency(notion).rpartition("/")[0], "epsilon": str(notion.epsilon)}


def _written(value: object, records: tuple[Any, ...] | None) -> str:
    if isinstance(value, tuple):
        return " and ".join(_text(each, records) for each in value)
    return _text(value, records)


def _text(value: object, records: tuple[Any, ...] | None) -> str:
    if isinstance(value, FiniteDistance):
        rows = zip(value.points, value.codes.tolist(), strict=True)
        return "; ".join(f"{x}: {' '.join(str(value.values[code]) for code in row)}" for x, row in rows)
    if isinstance(value, Condition):
        return _said(value)
    text = str(value)
    if callable(value) and records is not None and _NO_TEXT in text:
        return "".join(str(int(bool(value(record)))) for record in records)
    return text


def _said(value: object) -> str:
    """Write a condition so that different ones never read the same: every part named, every value quoted with its type."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = ", ".join(f"{field.name}={_said(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({parts})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_said, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_said, value))})"
    if isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool) and math.isfinite(value):
        return str(Fraction(value))  # 1, 1.0 and Fraction(1) are one value
    return repr(value)


def read_currency(text: str) -> Notion | None:
    """Return the notion, at ε = 1, that `currency` wrote; None where the text alone does not determine it."""
    name, _, unit = text.rpartition("/")
    if unit != "person":
        return None
    if name in NAMED:
        return NAMED[name](1)
    graded = re.fullmatch(r"graded\(absence=(\S+), presence=(\S+)\)", name)
    if graded is None:
        return None
    try:
        return Graded(presence=graded[2], absence=graded[1])
    except InputError:  # an irrational rate
        return None


def named_currency(name: str) -> str:
    """Return the text for a notion that a spec names.

    Raises:
        SpecError: there is none of that name.
    """
    if name not in NAMED:
        raise SpecError(f'[budget] notion = "{name}"', "budgets are kept in no such notion", nearest(name, NAMED))
    return currency(NAMED[name](1))


def charge(notion: Notion, cost: Real, kept_in: str) -> Fraction:
    """Return what a cost, in ε of a release's notion, is in a budget kept in this currency.

    It is the least multiple of the budget's notion that covers the release: ``d ≤ c·d'``. Exact; rounded up at the twelfth
    decimal only where the price between the two notions is irrational.

    Raises:
        BudgetConflictError: no multiple covers it, or the currency does not say what it promises.
        InputError: the cost is irrational.
    """
    amount = cost.rational
    if amount is None:
        raise InputError(
            f"The price {cost}", "budgets are kept in exact fractions", "Give epsilon as a decimal or fraction"
        )
    if currency(notion) == kept_in:
        return amount
    budget = read_currency(kept_in)
    if budget is None:
        raise BudgetConflictError(
            f"A release under {currency(notion)} in a budget kept in {kept_in}",
            "what that promises does not follow from its name alone, so nothing else can be priced in it",
            "Release under the notion of the budget",
        )
    return amount * price(notion.with_epsilon(1), budget)


def in_words(kept_in: str) -> str:
    """Return a currency as it is said: ``presence per person``."""
    name, _, unit = kept_in.rpartition("/")
    return f"{name} per {unit}"


def affordable(left: Fraction, amount: Fraction) -> int:
    """Return how many releases of this price fit what is left."""
    return math.floor(left / amount)
