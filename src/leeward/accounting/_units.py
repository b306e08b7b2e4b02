# SPDX-License-Identifier: Apache-2.0
"""Whose data one ε is about, and when releases about different parts of the data share one price.

Units nest: a person has person-days and person-places, and both have events (single facts).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from leeward._taught import public_list
from leeward.errors import InputError, check_choice
from leeward.exact._real import ZERO, Exact, Real, exact, whole
from leeward.notion import ADD_FACT, DROP_FACT, GROW, INSERT, SHRINK, WITHDRAW, EdgeDP, GroupDP, NodeDP, Notion
from leeward.notion._generated import check_generated
from leeward.notion.compose import people_touched

Unit = Literal["person", "person-day", "person-place", "event"]
"""What one step of a notion changes."""

Cut = Literal["people", "records"]
"""How parts are cut: by something public and fixed about people, or by what their records say (the place, the day)."""

_INSIDE: dict[str, frozenset[str]] = {
    "person": frozenset(get_args(Unit)),
    "person-day": frozenset({"person-day", "event"}),
    "person-place": frozenset({"person-place", "event"}),
    "event": frozenset({"event"}),
}

UNITS = frozenset(_INSIDE)
"""The units that prices are known for."""

_ONE_FACT = {DROP_FACT, ADD_FACT}
_ONE_WAY = {WITHDRAW, INSERT, SHRINK, GROW}


def unit(name: str) -> Unit:
    """Read the name of a unit; a "fact" is an event."""
    name = "event" if name == "fact" else name
    check_choice("unit", name, _INSIDE, "it is not a unit that prices are known for")
    return name  # type: ignore[return-value]


def contains(coarse: Unit, fine: Unit) -> bool:
    """Return whether all of one fine unit belongs to one coarse unit."""
    return fine in _INSIDE[coarse]


def parts_touched(notion: Notion, *, cut: Cut, parts_per_unit: int) -> int | None:
    """Return how many parts one step of the notion can change at most; None if no number bounds it.

    * Parts cut by **people** (each person's data lies in one part, whatever it says): as many as a step changes people, one
      for most notions, the largest group for one about groups (`leeward.notion.compose.people_touched`).
    * Parts cut by what **records** say: each row, such as one visit, lies in the part that it names. Where one unit of the
      notion has data in at most m parts: m if every step only takes data away or only puts data in; 2m if a step may replace
      data, because replacing moves it from parts to others; 1 if steps are single facts.

    Args:
        notion: the notion all parts are released under.
        cut: how the parts are cut.
        parts_per_unit: m: 1 where the unit includes what the parts are cut by (person-places cut by place).
    """
    check_choice("cut", cut, get_args(Cut), "it must say what the parts are cut by")
    parts_per_unit = whole(parts_per_unit, "parts_per_unit")
    if cut == "people":
        return people_touched(notion)
    if notion.all_records or not (notion.sums_over_persons or isinstance(notion, GroupDP | EdgeDP | NodeDP)):
        return None
    check_generated(notion)
    kinds = {step.change for step in notion.steps}
    if kinds <= _ONE_FACT:
        return 1
    return parts_per_unit if kinds <= _ONE_WAY | _ONE_FACT else 2 * parts_per_unit


def parallel(costs: Iterable[Exact], touched: int | None) -> Real:
    """Return the cost of releases about disjoint parts, each a multiple of one notion: the largest ``touched`` added up.

    Each release keeps its multiple of the notion between *whole* tables, and looks at its part only. Between two tables it
    costs nothing for the steps that leave its part alone, so a step pays only for the parts it changes: with ``touched`` = 1
    that is parallel composition, the maximum; without a bound (None) it is the sum. `parts_touched` says how many. One ∞
    makes it ∞. (What a release costs that keeps a notion only between tables of its own part: `leeward.notion.compose`.)

    Raises:
        InputError: if a cost is below 0, or ``touched`` counts nothing.
    """
    ordered = sorted((exact(c) for c in public_list("costs", costs, in_order=True)), reverse=True)
    if ordered and ordered[-1].sign() < 0:
        raise InputError(f"A cost of {ordered[-1]}", "privacy is never given back", "Give costs of at least 0")
    return sum(ordered if touched is None else ordered[: whole(touched, "touched")], start=ZERO)
