# SPDX-License-Identifier: Apache-2.0
"""What a budget is counted in, as a ledger writes it, and what a release under another notion costs there.

A budget of 5 in ``presence/person`` means: all releases together are 5·Presence("1")-private, for each person. So one unit
of the budget is its notion at ε = 1, and the name alone must say which notion that is.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from leeward._taught import is_ours
from leeward.accounting._price_between_units import price
from leeward.errors import BudgetConflictError, InputError, SpecError, nearest
from leeward.exact._real import Real
from leeward.notion import (
    Graded,
    Notion,
    refused_in_rows,
    words_of,
)
from leeward.notion._named import NAMED
from leeward.notion._public_form import PublicForm, canonical, parameters, public_name

_LONGEST = 160
"""Parameters of more characters are written as their digest, in the text of a budget."""


@dataclass(frozen=True)
class Promise:
    """Which notion it is, as budgets and keys of answers name it; ε and the unit are named beside it.

    Attributes:
        name: how it is called.
        own: the full name of the class, where it is a user's own.
        parameters: all that it was made of, at ε = 1, as plain JSON.
    """

    name: str
    own: str | None
    parameters: Mapping[str, PublicForm]

    def digest(self, longest: int) -> str | None:
        """Return SHA-256 of the parameters, in 32 hexadecimal digits, where they have more characters; else None."""
        text = canonical(self.parameters)
        return hashlib.sha256(text.encode()).hexdigest()[:32] if len(text) > longest else None


def promise(notion: Notion) -> Promise:
    """Return which notion it is: equal for two only if they promise the same at equal ε.

    A distance is its matrix, a notion within another one is written with all its parameters, a function as what it says of
    each of the notion's records. A class of a user's own is named in full, whatever it calls itself.

    Raises:
        InputError: a parameter has no public form, such as a function where no records are listed.
    """
    kind = type(notion)
    if kind is NAMED.get(notion.name):
        return Promise(notion.name, None, {})
    own = None if is_ours(kind) else public_name(kind)
    return Promise(notion.name, own, parameters(notion.with_epsilon(1), frozenset({"epsilon"})))


def budget_notion(notion: Notion, *, rows: bool = False) -> str:
    """Return the text under which a ledger keeps a budget in this notion: ``presence/person``.

    Where every row of the table is a person of its own (``rows``), the unit is a row: ``dp/row``.

    Notions with parameters name them, at ε = 1 (``graded(absence=1, presence=1/4)/person``), so that promises that differ
    are not added up: texts are equal only if the notions are. See `promise`.
    """
    unit = words_of(notion, rows=rows).unit
    made = promise(notion)
    listed = made.digest(_LONGEST) or ", ".join(f"{name}={_said(form)}" for name, form in made.parameters.items())
    name = made.name if made.own is None else f"{made.name}[{made.own}]"
    return f"{name}({listed})/{unit}" if listed else f"{name}/{unit}"


def _said(form: PublicForm) -> str:
    """Write a form as JSON, but a number as it is: a text has quotes."""
    if isinstance(form, list):
        return f"[{', '.join(map(_said, form))}]"
    if not isinstance(form, dict):
        return canonical(form)
    number = form.get("number")
    return (
        number
        if isinstance(number, str)
        else f"{{{', '.join(f'{name}: {_said(form[name])}' for name in sorted(form))}}}"
    )


def read_budget_notion(text: str) -> Notion | None:
    """Return the notion, at ε = 1, that `budget_notion` wrote; None where the text alone does not determine it."""
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
    """Return the text for a notion that a spec names."""
    if name not in NAMED:
        raise SpecError(f"A budget counted in '{name}'", "there is no such notion", nearest(name, NAMED))
    return budget_notion(NAMED[name](1), rows=rows)


def charge(notion: Notion, cost: Real, counted_in: str, *, rows: bool = False) -> Fraction:
    """Return what a cost, in ε of a release's notion, is in a budget counted in another notion.

    It is the least multiple of the budget's notion that covers the release: ``d ≤ c·d'``. Exact; rounded up at the twelfth
    decimal only where the price between the two notions is irrational.

    Args:
        notion: that of the release.
        cost: what it costs in it.
        counted_in: the notion that the budget is counted in, as `budget_notion` writes it.
        rows: whether the release takes every row for a person of its own. A budget about people does not pay for it, nor the
            other way round: one person may have any number of rows.

    Raises:
        BudgetConflictError: no multiple covers it, or the name of that notion does not say what it promises.
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
            f"A release in {in_words(asked)} in a budget counted in {in_words(counted_in)}",
            "one person may have any number of rows, so a promise about a row has no price for a person, nor the reverse",
            "Say the same of `person` in every release about this data set",
        )
    budget = read_budget_notion(counted_in)
    if budget is None:
        raise BudgetConflictError(
            f"A release under {asked} in a budget counted in {counted_in}",
            "what that promises does not follow from its name alone, so nothing else can be priced in it",
            "Release under the notion of the budget",
        )
    with refused_in_rows(rows):
        return amount * price(notion.with_epsilon(1), budget)


def _about_rows(counted_in: str) -> bool:
    unit = counted_in.rpartition("/")[2]
    return unit == "row" or unit.endswith(" of rows")


def in_words(counted_in: str) -> str:
    """Return the notion of a budget as it is said: ``presence per person``."""
    name, _, unit = counted_in.rpartition("/")
    return f"{name} per {unit}"


def affordable(left: Fraction, amount: Fraction) -> int:
    """Return how many releases of this price fit what is left."""
    return math.floor(left / amount)
