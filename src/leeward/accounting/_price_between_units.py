# SPDX-License-Identifier: Apache-2.0
"""Budgets are counted in a notion: what a release under one costs in a budget counted in another.

A budget is "cap × notion per unit", such as 5 × Presence("1") per person. A release under another notion is allowed if some
multiple of the budget's notion covers it: ``d_release ≤ price · d_budget`` between all data that the budget protects.

One output can keep promises about different units, single facts and whole persons: then there is no unit of the whole, and
each promise is priced in its own. A budget counted in both is the closure of the smaller of two distances, and a release
is a metric: what covers it in each of them covers it in both, so the price is the dearest. A release that keeps both
costs at most what the cheapest of them would, for its distance is below each of theirs.

Otherwise the two are incomparable and the release is refused: no number of units spent would keep what the budget promises.
What is not derived (`leeward.notion._price_rules`, `leeward.accounting._across`) is refused too.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from leeward._taught import taught
from leeward.accounting._across import across
from leeward.accounting._units import UNITS, Unit, contains, unit
from leeward.distance import both_hold
from leeward.errors import BudgetConflictError
from leeward.exact._real import Real, whole
from leeward.notion import Both, Notion
from leeward.notion._priced import Price, dearest, refused

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
        budget: the notion the budget is counted in, with its ε.
        release_unit: whose data the release's ε is about; by default what the notion says. Promises about several units that
            one output keeps have no unit of their own: each is then about the unit that it says itself. A unit that is given
            holds for all of them.
        budget_unit: likewise for the budget.
        at_most: how many of the release's units one unit of the budget has data in at most (such as days per person), in
            each pair of their units where there are several. It must be public and enforced. Needed where the release's unit
            does not contain the budget's.

    Raises:
        BudgetConflictError: if the two are incomparable; the message says why.
        InputError: if a unit or ``at_most`` is not a valid one.
    """
    found = priced(release, budget, release_unit=release_unit, budget_unit=budget_unit, at_most=at_most)
    if found.cost.is_infinite:
        reveals = release.words.reveals
        of_facts = any(getattr(change, "of_facts", False) for change in budget.changes)
        named = f"{budget.name}{' (for sets of facts, such as visits)' if of_facts else ''}"
        raise BudgetConflictError(
            f"A release under {release} in a budget counted in {budget}",
            found.because + (f": {reveals}" if reveals and found.unpromised else ""),
            f"Release under {named}, or keep this dataset's budget in a notion that {release.name} covers",
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
    if budget_unit is None and len(parts := by_unit(budget)) > 1:
        return dearest([priced(release, part, release_unit=release_unit, at_most=at_most) for part in parts])
    if release_unit is None and len(parts := by_unit(release)) > 1:
        return _cheapest(release, parts, budget, budget_unit, at_most)
    theirs, mine = (unit_of(notion, given) for notion, given in ((release, release_unit), (budget, budget_unit)))
    if theirs == mine:
        found = release.priced_in(budget)
        if mine != "event":
            return found
        # an event is one fact or none, and the rules between notions know of records of any number of facts only
        return min(found, across(release, budget, "event", "event", 1), key=lambda price: price.cost)
    if release_unit is None and budget_unit is None and not {theirs, mine} <= UNITS:
        for notion, its in ((release, theirs), (budget, mine)):
            if its not in UNITS and notion.sums_over_persons and not notion.all_records:
                other = mine if its == theirs else theirs
                return refused(f"{notion} is about one {its}, and what that is to one {other} is not derived")
        return release.priced_in(budget)  # one of the two is about groups, graphs or everybody at once
    theirs, mine = unit(theirs), unit(mine)
    if not contains(theirs, mine) and at_most is None:
        raise BudgetConflictError(
            f"A release about one {theirs} in a budget about one {mine}",
            f"one {mine} can have data in any number of {theirs}s, and each of them costs",
            f"Bound how many in public and enforce it, release about one {mine}, or keep a budget about one {theirs}",
        )
    return across(release, budget, theirs, mine, 1 if at_most is None else at_most)


def _cheapest(
    release: Notion, parts: list[Notion], budget: Notion, budget_unit: str | None, at_most: int | None
) -> Price:
    """Return an upper bound of what promises about several units, kept by one output, cost: the least of their prices.

    Facts belong to persons: a promise that counts single facts is also one about tables of persons, and together with one
    about persons it has a price in a third one about persons.
    """
    found, without = [], []
    for part in parts:
        try:
            found.append(priced(part, budget, budget_unit=budget_unit, at_most=at_most))
        except BudgetConflictError as error:  # no bound: then this promise alone covers nothing
            without.append(error)
    of_persons = all(unit_of(part, None) == "person" or part.sees.counted for part in parts)
    if of_persons and unit_of(budget, budget_unit) == "person":
        found.append(release.priced_in(budget))
    if not found:
        raise without[0]
    least = min(found, key=lambda price: price.cost)
    return Price(least.cost, least.because, least=False)


def by_unit(notion: Notion) -> list[Notion]:
    """Return what a notion promises about each unit that it is about: itself, unless it keeps promises about several."""
    of: dict[str, Any] = {}
    for part in notion.parts if isinstance(notion, Both) else (notion,):
        unit = unit_of(part, None)
        of[unit] = both_hold(of[unit], part) if unit in of else part
    return list(of.values())


def unit_of(notion: Notion, given: str | None) -> Unit | str:
    """Return the unit given, else the one in the notion's words."""
    if given is not None:
        return unit(given)
    return "event" if notion.words.unit == "fact" else notion.words.unit


def _ceil(value: Real) -> int:
    return math.ceil(Fraction(value.bounds()[1]))
