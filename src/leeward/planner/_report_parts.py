# SPDX-License-Identifier: Apache-2.0
"""What every report says before anything is spent, whatever is asked: notions, windows, budgets, and rows with prices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from leeward._document import Part
from leeward.accounting._budget_notion import affordable, in_words
from leeward.notion import Notion, words_of
from leeward.planner._row import Row
from leeward.query import Window


class NotionPart(Part):
    """A notion.

    Attributes:
        name: as a spec names it.
        epsilon: its ε.
        presence: of a graded notion, the price of presence.
        absence: of a graded notion, the price of absence.
        unit: who, or what, is protected.
    """

    name: str
    epsilon: str
    presence: str | None
    absence: str | None
    unit: str


class WindowPart(Part):
    """From when, and until when (excluded), in ISO 8601."""

    start: str
    end: str


class BudgetPart(Part):
    """The notion that a budget is counted in, in words, and what is left of it; None if that is not known."""

    notion: str
    left: str | None


class RowPart(Part):
    """A notion and a mechanism, with prices.

    Attributes:
        notion: the notion, with its ε.
        refused: why it cannot be had; None if it can.
        protects: what is protected.
        does_not_protect: what is not; None where nothing is revealed beyond doubt.
        alternative: what else may have been the truth.
        price: what one release costs, in ε of the notion.
        price_in_budget: the same in the notion of the budget; None where that cannot cover it.
        incomparable: then the reason.
        price_in_asked: the least multiple of the notion asked for that covers one release; "inf" where something it
            protects is given up.
        releases_left: how many such releases the rest of the budget pays for, in ε and, where it needs one, in δ; None if
            that is not known.
    """

    notion: NotionPart
    refused: str | None
    protects: str
    does_not_protect: str | None
    alternative: str
    price: str
    price_in_budget: str | None
    incomparable: str | None
    price_in_asked: str
    releases_left: int | None


def window_part(window: Window | None) -> WindowPart | None:
    """Return the ends of a window; None for rows of all times."""
    return None if window is None else WindowPart(start=window.start.isoformat(), end=window.end.isoformat())


def budget_part(counted_in: str, left: Fraction | None) -> BudgetPart:
    """Return what a budget is counted in, and what is left of it."""
    return BudgetPart(notion=in_words(counted_in), left=None if left is None else str(left))


def notion_part(notion: Notion, *, rows: bool) -> NotionPart:
    """Return a notion with its prices, as texts; of rows it protects each row, and not a person."""
    presence, absence = (
        None if (e := getattr(notion, name, None)) is None else str(e) for name in ("presence", "absence")
    )
    unit = words_of(notion, rows=rows).unit
    return NotionPart(name=notion.name, epsilon=str(notion.epsilon), presence=presence, absence=absence, unit=unit)


def row_keys(row: Row, left: Fraction | None, *, rows: bool) -> dict[str, Any]:
    """Return what every report says of a row: the keys of `RowPart`."""
    words = words_of(row.notion, rows=rows)
    paid = None if row.refused else row.in_budget
    return {
        "notion": notion_part(row.notion, rows=rows),
        "refused": row.refused or None,
        "protects": words.protects,
        "does_not_protect": words.reveals or None,
        "alternative": words.alternative,
        "price": str(row.price),
        "price_in_budget": None if row.in_budget is None else str(row.in_budget),
        "incomparable": row.incomparable or None,
        "price_in_asked": str(row.in_asked),
        "releases_left": None if left is None or paid is None else affordable(left, paid),
    }
