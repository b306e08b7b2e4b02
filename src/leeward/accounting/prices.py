"""Budgets are kept in a notion: what a release under one costs in a budget kept in another.

A budget is "cap × notion per unit", such as 5 × Presence("1") per person. A release under another notion is allowed if some
multiple of the budget's notion covers it: ``d_release ≤ price · d_budget`` at every step of the budget's notion. Otherwise
the two are incomparable and the release is refused, because no number of units spent would keep what the budget promises.
"""

from __future__ import annotations

import math
from fractions import Fraction

from leeward.accounting.units import Unit, contains, unit
from leeward.errors import BudgetConflictError
from leeward.notion import ADD_FACT, DROP_FACT, GROW, INSERT, REPLACE, SHRINK, WITHDRAW, Change, Notion
from leeward.real import ZERO, Real, inf

_ROUND = 10**12

# What a change of the budget's unit can be in the release's unit: part of one larger unit, or made of whole smaller ones.
_AS_PART: dict[Change, tuple[Change, ...]] = {
    WITHDRAW: (SHRINK, WITHDRAW),
    INSERT: (GROW, INSERT),
    REPLACE: (REPLACE,),
    SHRINK: (SHRINK, WITHDRAW),
    GROW: (GROW, INSERT),
    DROP_FACT: (DROP_FACT, WITHDRAW),
    ADD_FACT: (ADD_FACT, INSERT),
}
_AS_WHOLES: dict[Change, tuple[Change, ...]] = _AS_PART | {
    WITHDRAW: (WITHDRAW,),
    INSERT: (INSERT,),
    REPLACE: (WITHDRAW, INSERT, REPLACE),
}
_ONE = {DROP_FACT, ADD_FACT}


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
        InputError: if a unit is unknown.
    """
    theirs, mine = (unit_of(notion, given) for notion, given in ((release, release_unit), (budget, budget_unit)))
    if theirs == mine:
        cost, worst = release.price_in(budget), None
    else:
        cost, worst = _across(release, budget, theirs, mine, at_most)
    if cost.is_infinite:
        raise _refusal(release, budget, worst, None if theirs == mine else theirs)
    exactly = cost.rational
    return exactly if exactly is not None else Fraction(_ceil(cost * _ROUND), _ROUND)


def unit_of(notion: Notion, given: str | None) -> str:
    """Return the unit given, else the one in the notion's words."""
    return unit(given) if given is not None else "event" if notion.words.unit == "fact" else notion.words.unit


def _across(
    release: Notion, budget: Notion, release_unit: str, budget_unit: str, at_most: int | None
) -> tuple[Real, Change | None]:
    theirs, mine = unit(release_unit), unit(budget_unit)
    if not contains(theirs, mine) and at_most is None:
        raise BudgetConflictError(
            f"A release about one {theirs} in a budget about one {mine}",
            f"one {mine} can have data in any number of {theirs}s, and each of them costs",
            f"Bound how many in public and enforce it, release about one {mine}, or keep a budget about one {theirs}",
        )
    if release.everyone or budget.everyone:
        return inf, None
    worst: tuple[Real, Change | None] = ZERO, None
    for step in budget.steps:
        parts = _parts(step.change, theirs, mine)
        cost = max((release.cost(change) for change in parts), default=inf)
        times = 1 if contains(theirs, mine) or step.change in _ONE else (at_most or 1)
        share = cost if cost.is_infinite else cost * times / step.cost
        if share > worst[0]:
            worst = share, step.change
    return worst


def _parts(change: Change, theirs: Unit, mine: Unit) -> tuple[Change, ...]:
    if change not in _AS_PART:
        return ()  # a change of someone's own kind: what it is to another unit is not known
    return _AS_WHOLES[change] if contains(mine, theirs) else _AS_PART[change]


def _refusal(release: Notion, budget: Notion, worst: Change | None, part_of: str | None) -> BudgetConflictError:
    if worst is None:
        uncovered = (s.change for s in budget.steps if release.cost(s.change).is_infinite)
        worst = next(uncovered, None)
    if budget.everyone or worst is None:
        because = (
            "one step of the budget's notion changes the data of everybody at once, which this release does not shelter"
        )
    elif part_of is not None:
        because = (
            f"a step of the budget can change a part of what belongs to one {part_of} only, or several of them, and this"
            f" release promises no cover for that, whatever its ε; its cover is {release.words.cover}"
        )
    else:
        because = (
            f"the budget promises cover also when {worst.text}, and this release promises none there, whatever its ε"
            + (f": {release.words.exposes}" if release.words.exposes else "")
        )
    return BudgetConflictError(
        f"A release under {release} in a budget kept in {budget}",
        because,
        f"Release under {budget.name}, or keep this dataset's budget in a notion that {release.name} covers",
    )


def _ceil(value: Real) -> int:
    return math.ceil(Fraction(value.bounds()[1]))
