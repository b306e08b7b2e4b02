"""Budgets are kept in a notion: what a release under one costs in a budget kept in another.

A budget is "cap × notion per unit", such as 5 × Presence("1") per person. A release under another notion is allowed if some
multiple of the budget's notion covers it: ``d_release ≤ price · d_budget`` between all data that the budget shelters.
Otherwise the two are incomparable and the release is refused: no number of units spent would keep what the budget promises.
What is not derived (`leeward.notion.price`, `leeward.accounting.across`) is refused too.
"""

from __future__ import annotations

import math
from fractions import Fraction

from leeward.accounting.across import across
from leeward.accounting.units import UNITS, Unit, contains, unit
from leeward.errors import BudgetConflictError
from leeward.notion import Notion
from leeward.notion.priced import Price
from leeward.real import Real, whole
from leeward.taught import taught

_ROUND = 10**12


@taught
def price(
    release: Notion,
    budget: Notion,
    *,
    release_unit: str | None = None,
    budget_unit: str | None = None,
    at_most: int | None = None,
) -> Fraction:
    """Return how many times the budget's notion a release costs: exactly, or rounded up at the twelfth decimal.

    Args:
        release: the notion of the release, with its ε.
        budget: the notion the budget is kept in, with its ε.
        release_unit: whose data the release's ε is about; by default what the notion says.
        budget_unit: likewise for the budget.
        at_most: how many of the release's units one unit of the budget has data in at most (such as days per person). It
            must be public and enforced. Needed where the release's unit does not contain the budget's.

    Raises:
        BudgetConflictError: if the two are incomparable; the message says why.
        InputError: if a unit or ``at_most`` is none.
    """
    found = priced(release, budget, release_unit=release_unit, budget_unit=budget_unit, at_most=at_most)
    if found.cost.is_infinite:
        exposes = release.words.exposes
        raise BudgetConflictError(
            f"A release under {release} in a budget kept in {budget}",
            found.because + (f": {exposes}" if exposes and "promises none there" in found.because else ""),
            f"Release under {budget.name}, or keep this dataset's budget in a notion that {release.name} covers",
        )
    exactly = found.cost.rational
    return exactly if exactly is not None else Fraction(_ceil(found.cost * _ROUND), _ROUND)


def priced(
    release: Notion,
    budget: Notion,
    *,
    release_unit: str | None = None,
    budget_unit: str | None = None,
    at_most: int | None = None,
) -> Price:
    """Return `price` unrounded, ∞ with its reason where there is none; arguments and other errors are the same."""
    at_most = None if at_most is None else whole(at_most, "at_most")
    theirs, mine = (unit_of(notion, given) for notion, given in ((release, release_unit), (budget, budget_unit)))
    if theirs == mine or (release_unit is None and budget_unit is None and not {theirs, mine} <= UNITS):
        return release.priced_in(budget)  # one of the two is about groups, graphs or everybody at once
    theirs, mine = unit(theirs), unit(mine)
    if not contains(theirs, mine) and at_most is None:
        raise BudgetConflictError(
            f"A release about one {theirs} in a budget about one {mine}",
            f"one {mine} can have data in any number of {theirs}s, and each of them costs",
            f"Bound how many in public and enforce it, release about one {mine}, or keep a budget about one {theirs}",
        )
    return across(release, budget, theirs, mine, 1 if at_most is None else at_most)


def unit_of(notion: Notion, given: str | None) -> Unit | str:
    """Return the unit given, else the one in the notion's words.

    Raises:
        InputError: if the unit given is none.
    """
    if given is not None:
        return unit(given)
    return "event" if notion.words.unit == "fact" else notion.words.unit


def _ceil(value: Real) -> int:
    return math.ceil(Fraction(value.bounds()[1]))
