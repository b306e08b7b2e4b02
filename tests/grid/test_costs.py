"""What events cost in every notion: no conversion of a directed cost is below what it is between all pairs of secrets.

The oracle takes a cost for what it says: steps of the four kinds at their prices, and nothing else. Its shortest paths are
the most that such releases can tell, and the claimed multiple of each notion must cover them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.grid.notions import BASES, BOTH, BY_NAME, OTHER_UNITS, PERSONALISED, RECORDS, Row
from tests.grid.test_prices import FEW
from tests.oracle import universe
from tests.oracle.tables import Cost as Number
from tests.oracle.tables import Steps, facts

from leeward.accounting import Cost, Event, Filter, GeometricEvent, PureEvent, SanitizedEvent, cost
from leeward.errors import CapExceededError
from leeward.exact import Real, exact, inf
from leeward.notion import ADP, AdditionOnly, Both, GroupDP, Notion, Presence, UnboundedDP, has

ROWS = [*BASES, *OTHER_UNITS, *PERSONALISED, *BOTH]


def priced(withdraw: Any, insert: Any, shrink: Any, grow: Any) -> Cost:
    return Cost(*(inf if part == math.inf else exact(part) for part in (withdraw, insert, shrink, grow)))


COSTS = {
    "one way": (1, math.inf, 1, math.inf),
    "both ways, not alike": (1, 3, 1, 3),
    "parts cost more": (1, 2, 3, 3),
    "nothing is put in": (math.inf, 2, math.inf, 2),
    "nothing at all": (0, 0, 0, 0),
    "withdrawing is free": (0, 1, 0, 1),
}


def steps(withdraw: Number, insert: Number, shrink: Number, grow: Number) -> Steps:
    """One change of one person, priced by its kind; any other change is not a step."""

    def step(r: Any, s: Any) -> Number:
        if s is None:
            return withdraw
        if r is None:
            return insert
        if isinstance(r, frozenset) and facts(s) < facts(r):
            return shrink
        if isinstance(r, frozenset) and facts(s) > facts(r):
            return grow
        return withdraw + insert

    return step


def number(cost: Real) -> Fraction | float:
    if cost.is_infinite:
        return math.inf
    assert cost.rational is not None
    return cost.rational


def too_low(row: Row, claim: Callable[[Cost, Notion], Real] = Cost.price_in) -> list[str]:
    """The claimed prices of costs in a notion that do not cover."""
    found = []
    for name, parts in COSTS.items():
        claimed = number(claim(priced(*parts), row.notion))
        spent = Row(name, row.notion, steps(*parts))
        for kind in sorted(row.kinds - {"graphs"}):
            persons = row.persons or 1
            few = RECORDS[kind] if persons == 1 else FEW[persons][kind]
            known = [r for r in few if r is None or row.listed is None or r in row.listed]
            secrets = universe.all_of(known, persons)
            truth = universe.price(spent.between(secrets), row.between(secrets))
            if claimed < truth:
                found.append(f"{name} in {row.name} ({kind}): {claimed} is claimed, and it is {truth}")
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_cost_is_never_priced_too_low(row: Row) -> None:
    assert too_low(row) == []
    for parts in COSTS.values():
        made = priced(*parts)
        price = made.price_in(row.notion)
        if not price.is_infinite:
            assert made.within(row.notion, price) or not price
            assert not price or not made.within(row.notion, price * "0.999")
        else:
            assert not made.within(row.notion, 10**9)


def test_prices_that_are_known() -> None:
    one_way, both_ways = priced(*COSTS["one way"]), priced(*COSTS["both ways, not alike"])
    assert one_way.price_in(AdditionOnly("1/2")) == 2 == one_way.price_in(Presence("1/2"))
    assert one_way.price_in(UnboundedDP(1)) == one_way.price_in(ADP(1, [~has("a")])) == inf
    assert both_ways.price_in(UnboundedDP(1)) == 3
    for name, right in (("bounded", 8), ("groups", 8), ("presence", 1), ("graded", 1), ("manhattan", 4)):
        assert both_ways.price_in(BY_NAME[name].notion) == right, name
    assert both_ways.price_in(BY_NAME["maximum"].notion) == inf
    assert both_ways.price_in(BY_NAME["edges"].notion) == inf
    assert both_ways.price_in(GroupDP(1, [range(5)])) == 20
    for name in ("adp of rows", "osdp of rows", "adp of words", "local"):
        assert not both_ways.price_in(BY_NAME[name].notion).is_infinite, name


def test_many_policies_have_an_upper_bound() -> None:
    many = ADP(1, [~has(f"place {i}") for i in range(40)])
    assert priced(*COSTS["both ways, not alike"]).price_in(many) == 4


def by_kinds_of_step(spent: Cost, notion: Notion) -> Real:
    """Each kind of step by the largest cost of the four that it might be, as if no step were of another kind."""
    known = {"withdraw": spent.withdraw, "insert": spent.insert, "shrink": spent.shrink, "grow": spent.grow}
    costs = [(known.get(step.change.name, spent.withdraw), step.cost) for step in notion.steps]
    return max((inf if c.is_infinite else c / unit for c, unit in costs if unit), default=exact(0))


@pytest.mark.parametrize("name", ["bounded", "groups", "manhattan", "graded facts", "maximum"])
def test_pricing_by_a_kind_of_step_is_rejected(name: str) -> None:
    assert too_low(BY_NAME[name], by_kinds_of_step)


# ---- filters


@pytest.mark.parametrize("row", [row for row in ROWS if not isinstance(row.notion, Both)], ids=lambda row: row.name)
def test_a_filter_admits_what_its_price_allows_and_nothing_else(row: Row) -> None:
    events: list[Event] = [GeometricEvent(1, 2), PureEvent("1/2", "1/3"), SanitizedEvent(1), GeometricEvent(1, inf)]
    for event in events:
        one = cost(event).price_in(row.notion)
        guard = Filter(row.notion, 1 if one.is_infinite or not one else one * 2)
        if one.is_infinite:
            assert not guard.admits(event)
            with pytest.raises(CapExceededError):
                guard.add(event)
            continue
        for _ in range(2):
            guard.add(event)
        assert guard.spent == one * 2
        assert not guard.admits(event)
