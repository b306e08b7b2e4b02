"""What a budget is kept in, as a ledger writes it, and what a release under another notion costs there.

A budget of 5 in ``presence/person`` means: all releases together are 5·Presence("1")-private, for each person. So one unit
of the budget is its notion at ε = 1, and the name alone must say which notion that is.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

from leeward.accounting._prices import price
from leeward.distance import FiniteDistance
from leeward.errors import BudgetConflictError, InputError, SpecError, nearest
from leeward.exact._real import Real
from leeward.notion import (
    AdditionOnly,
    BoundedDP,
    Graded,
    Notion,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    in_rows,
    of_rows,
)
from leeward.notion._notion import is_ours

NAMED: Mapping[str, type[Notion]] = {
    kind.name: kind for kind in (Presence, AdditionOnly, RemovalOnly, UnboundedDP, BoundedDP, ReplaceDP)
}
"""The notions that a name alone determines."""

_LONGEST = 160

_NO_TEXT = " at 0x"
"""What Python writes for an object that has no text of its own."""


def budget_notion(notion: Notion, *, rows: bool = False) -> str:
    """Return the text under which a ledger keeps a budget in this notion: ``presence/person``.

    Where every row of the table is a person of its own (``rows``), the unit is a row: ``dp/row``.

    Notions with parameters name them, at ε = 1 (``graded(absence=1, presence=1/4)/person``), so that promises that differ
    are not added up: texts are equal only if the notions are. A distance is written as its matrix, a notion within another
    with all its own parameters, a function as what it says of each of the notion's records. A class of the user's own is
    named in full, whatever it calls itself.

    Raises:
        InputError: if a parameter has no text that lasts, such as a function where no records are listed.
    """
    name, unit = notion.name, (of_rows(notion.words) if rows else notion.words).unit
    if type(notion) is NAMED.get(name):
        return f"{name}/{unit}"
    listed = _parameters(notion.with_epsilon(1), {"epsilon"})
    if len(listed) > _LONGEST:
        listed = hashlib.sha256(listed.encode()).hexdigest()[:32]
    return f"{_name(notion)}({listed})/{unit}" if listed else f"{_name(notion)}/{unit}"


def _name(notion: Notion) -> str:
    kind = type(notion)
    return notion.name if is_ours(kind) else f"{notion.name}[{kind.__module__}.{kind.__qualname__}]"


def _parameters(notion: Notion, left_out: set[str]) -> str:
    """Return all that a notion was made of, by name."""
    records = getattr(notion, "records", None)
    _told_apart(records or ())
    kept = {name: value for name, value in vars(notion).items() if name not in {"words", "per_person", *left_out}}
    return ", ".join(f"{name}={_text(value, records)}" for name, value in sorted(kept.items()))


def promised(notion: Notion) -> dict[str, str]:
    """Return which promise a question is asked under, as the key of its answer holds it."""
    return {"notion": budget_notion(notion).rpartition("/")[0], "epsilon": str(notion.epsilon)}


def _text(value: object, records: tuple[Any, ...] | None) -> str:
    """Write a parameter so that different ones never read the same: every part delimited, every word quoted."""
    if isinstance(value, Notion):
        return f"{_name(value)}({_parameters(value, set())})"
    if isinstance(value, FiniteDistance):
        rows = zip(_told_apart(value.points), value.codes.tolist(), strict=True)
        return f"[{'; '.join(f'{x}: {[str(value.values[code]) for code in row]}' for x, row in rows)}]"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_text(each, records) for each in value)}]"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(_text(each, records) for each in value))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_text(k, None)}: {_text(v, records)}' for k, v in value.items()))}}}"
    if is_dataclass(value) and not isinstance(value, type):
        parts = ", ".join(f"{each.name}={_text(getattr(value, each.name), records)}" for each in fields(value))
        return f"{type(value).__name__}({parts})"
    if isinstance(value, Real):
        return str(value)
    if isinstance(value, Integral | float | Fraction | Decimal) and math.isfinite(value):
        return str(Fraction(value))  # 1, 1.0, True and Fraction(1) are one value
    text = repr(value)
    if callable(value) and records is not None:  # what it says of them is all there is to it, whatever it calls itself
        return "".join(str(int(bool(value(record)))) for record in records)
    if _NO_TEXT not in text:
        return text
    raise InputError(
        f"A budget kept in a notion with {text.split(_NO_TEXT)[0].lstrip('<')}",
        "it has no text that lasts, so another notion could pass for this one",
        "Give conditions, list all records, or give its class a __repr__ that says what it is",
    )


def _told_apart(points: Iterable[object]) -> list[str]:
    """Write records or other points, each by a text of its own.

    Raises:
        InputError: if two of them read the same, because then another notion could pass for this one.
    """
    texts: list[str] = []
    known: dict[str, object] = {}
    for point in points:
        text = _text(point, None)
        if known.setdefault(text, point) != point:
            raise InputError(
                f"A budget kept in a notion about several records that all read {text}",
                "their text does not tell them apart, so another notion could pass for this one",
                "Give their class a __repr__ that says which one it is",
            )
        texts.append(text)
    return texts


def read_budget_notion(text: str) -> Notion | None:
    """Return the notion, at ε = 1, that `currency` wrote; None where the text alone does not determine it."""
    name, _, unit = text.rpartition("/")
    if unit not in {"person", "row"}:  # a row that is a person of its own is a person: the promises are the same
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


def named_budget_notion(name: str, *, rows: bool = False) -> str:
    """Return the text for a notion that a spec names.

    Raises:
        SpecError: there is none of that name.
    """
    if name not in NAMED:
        raise SpecError(f'[budget] notion = "{name}"', "budgets are kept in no such notion", nearest(name, NAMED))
    return budget_notion(NAMED[name](1), rows=rows)


def charge(notion: Notion, cost: Real, counted_in: str, *, rows: bool = False) -> Fraction:
    """Return what a cost, in ε of a release's notion, is in a budget kept in this currency.

    It is the least multiple of the budget's notion that covers the release: ``d ≤ c·d'``. Exact; rounded up at the twelfth
    decimal only where the price between the two notions is irrational.

    Args:
        notion: that of the release.
        cost: what it costs in it.
        counted_in: the currency of the budget.
        rows: whether the release takes every row for a person of its own. A budget about people does not pay for it, nor the
            other way round: one person may have any number of rows.

    Raises:
        BudgetConflictError: no multiple covers it, or the currency does not say what it promises.
        InputError: the cost is irrational.
    """
    amount = cost.rational
    if amount is None:
        raise InputError(
            f"The price {cost}", "budgets are kept in exact fractions", "Give epsilon as a decimal or fraction"
        )
    asked = budget_notion(notion, rows=rows)
    if asked == counted_in:
        return amount
    if _about_rows(counted_in) != rows:
        raise BudgetConflictError(
            f"A release in {in_words(asked)} in a budget kept in {in_words(counted_in)}",
            "one person may have any number of rows, so a promise about a row has no price for a person, nor the reverse",
            "Say the same of `person` in every release about this data set",
        )
    budget = read_budget_notion(counted_in)
    if budget is None:
        raise BudgetConflictError(
            f"A release under {asked} in a budget kept in {counted_in}",
            "what that promises does not follow from its name alone, so nothing else can be priced in it",
            "Release under the notion of the budget",
        )
    try:
        return amount * price(notion.with_epsilon(1), budget)
    except BudgetConflictError as refused:
        if rows:
            raise BudgetConflictError(*map(in_rows, (refused.given, refused.because, refused.instead))) from None
        raise


def _about_rows(counted_in: str) -> bool:
    unit = counted_in.rpartition("/")[2]
    return unit == "row" or unit.endswith(" of rows")


def in_words(counted_in: str) -> str:
    """Return a currency as it is said: ``presence per person``."""
    name, _, unit = counted_in.rpartition("/")
    return f"{name} per {unit}"


def affordable(left: Fraction, amount: Fraction) -> int:
    """Return how many releases of this price fit what is left."""
    return math.floor(left / amount)
