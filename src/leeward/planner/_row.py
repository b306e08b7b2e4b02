# SPDX-License-Identifier: Apache-2.0
"""A row of any comparison: a notion and a mechanism, with prices in the notion of a budget and in the one asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar

from leeward.accounting._budget_notion import charge
from leeward.accounting._price_between_units import priced
from leeward.errors import BudgetConflictError, InputError, UndecidedError
from leeward.exact._real import Real, exact, inf
from leeward.notion import Graded, Notion
from leeward.notion._named import NAMED

RATIOS = ("2", "4", "8")
"""How many times its price of presence a graded notion pays for absence, in the rows that are compared."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A notion and a mechanism that serves it, or the reason why it does not.

    Attributes:
        notion: the notion, with its ε.
        price: what one release costs, in ε of its own notion.
        refused: why it cannot be had; empty if it can.
        in_budget: the price in the notion of the budget; None where that cannot cover it.
        incomparable: then the reason.
        in_asked: the least multiple of the notion asked for that covers one release; ∞ where something it protects is
            given up.
        mechanism: what makes the answer.
    """

    notion: Notion
    price: Real
    refused: str = ""
    in_budget: Fraction | None = None
    incomparable: str = ""
    in_asked: Real = inf
    mechanism: str


AnyRow = TypeVar("AnyRow", bound=Row)


class Rows(Generic[AnyRow]):
    """The rows of a comparison.

    Attributes:
        options: all of them; refused ones too, with their reasons.
        usual: the mechanism whose rows are found where none is named; None for that of the first row.
    """

    options: tuple[AnyRow, ...]
    usual: ClassVar[str | None] = None

    @property
    def possible(self) -> tuple[AnyRow, ...]:
        """The rows that are not refused."""
        return tuple(option for option in self.options if not option.refused)

    def find(self, notion: str, mechanism: str | None = None) -> AnyRow:
        """Return the first row of a notion (by name) and a mechanism.

        Raises:
            InputError: there is none.
        """
        wanted = mechanism or self.usual
        for option in self.options:
            if option.notion.name == notion and wanted in (None, option.mechanism):
                return option
        by = "" if wanted is None else f" with {wanted}"
        raise InputError(f"{notion}{by}", "it was not compared", "Look at .options")


def with_prices(row: AnyRow, asked: Notion, counted_in: str, *, rows: bool) -> AnyRow:
    """Return a row with its prices in the notion of the budget and in the notion asked for."""
    try:
        paid, why = charge(row.notion, row.price, counted_in, rows=rows), ""
    except BudgetConflictError as refused:
        paid, why = None, refused.because
    return replace(row, in_budget=paid, incomparable=why, in_asked=in_asked(row.notion, row.price, asked))


def in_asked(notion: Notion, price: Real, asked: Notion) -> Real:
    """Return a price in the notion asked for; ∞ where something that one protects is given up."""
    try:
        return priced(notion.with_epsilon(1), asked).cost * price
    except (BudgetConflictError, UndecidedError):
        # about another unit, of which one of theirs can have any number; or irrational prices that have no closed quotient
        return inf


def at_epsilon(notion: Notion) -> Real:
    """Return the ε at which notions are compared: that of the notion asked for; of a graded one, its price of presence."""
    rates = (getattr(notion, "presence", inf), getattr(notion, "absence", inf), notion.epsilon)
    return next(rate for rate in rates if not exact(rate).is_infinite)


def notions_beside(asked: Notion, *, visitors: bool, more: Iterable[Notion] = ()) -> list[Notion]:
    """Return the notions that are compared: the one asked for, then all others at its ε.

    Of visitors a record is a set of facts; elsewhere it is a group or a number, and notions of facts say nothing.
    """
    e = at_epsilon(asked)
    usual: list[Notion] = [kind(e) for kind in NAMED.values()]
    if visitors:
        usual += [Graded(presence=e, absence=e * exact(ratio)) for ratio in RATIOS]
    else:
        usual = [notion for notion in usual if not any(change.of_facts for change in notion.changes)]
    return [asked, *(notion for notion in (*usual, *more) if notion != asked)]
