"""Every notion about one unit in every notion about another: no price is below what sets of events show.

The secret is a set of events. Each unit regroups the same events, and a notion about a unit is the shortest paths of its
steps when one unit's record changes. Where a price is claimed to be the least, one universe attains it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pytest
from tests.grid.notions import BASES, BY_NAME, OTHER_UNITS, PERSONALISED, Row, both, personalised
from tests.oracle import universe
from tests.oracle.universe import UNITS, Matrix

from leeward.accounting._price_between_units import priced
from leeward.accounting._units import contains
from leeward.errors import BudgetConflictError, InputError
from leeward.notion import Notion, Price

UNIVERSES = {
    "four days": universe.all_events("p", "1234", "a"),
    "four places": universe.all_events("p", "1", "abcd"),
    "two days, two places": universe.all_events("p", "12", "ab"),
    "two days, twice a day": universe.all_events("p", "12", "a", "mn"),
    "two places, twice a day": universe.all_events("p", "1", "ab", "mn"),
    "four times": universe.all_events("p", "1", "a", "mnop"),
    "two people": universe.all_events("pq", "12", "a"),
}
CROSSED = {
    "four days, and other places": [
        *(
            universe.all_events("p", "1234", "a")
            + universe.all_events("p", "12", "b")
            + universe.all_events("p", "34", "c")
        )
    ],
    "four places, and other days": [
        *(
            universe.all_events("p", "1", "abcd")
            + universe.all_events("p", "2", "ab")
            + universe.all_events("p", "3", "cd")
        )
    ],
}
"""For units neither of which contains the other."""

PLAIN = [BY_NAME[name] for name in (
    *("unbounded", "bounded", "replace", "addition", "removal", "local"),
    *("presence", "graded", "graded, absence only", "graded, alike", "graded facts", "graded facts, one way"),
)]  # fmt: skip
TWO = [
    made
    for one, two in itertools.combinations(("addition", "removal", "presence", "graded", "bounded", "graded facts"), 2)
    if (made := both(BY_NAME[one], BY_NAME[two])) is not None and isinstance(made.notion, Notion)
]
FOR_TWO = [personalised(BY_NAME[name], 1, Fraction(1, 10)) for name in ("addition", "presence", "unbounded", "replace")]


@functools.lru_cache(maxsize=4096)
def secrets_of(name: str, theirs: str, mine: str, at_most: int) -> tuple[Any, ...]:
    """Sets of events in which no unit of the budget is in more than so many units of the release."""
    events = (UNIVERSES | CROSSED)[name]
    return tuple(s for s in universe.subsets(events) if universe.spread(s, theirs, mine) <= at_most)


@functools.lru_cache(maxsize=1 << 14)
def distance(row: Row, unit: str, secrets: tuple[Any, ...]) -> Matrix:
    return row.between(universe.by_unit(secrets, unit))


def shown(mine: Row, other: Row, theirs: str, budget_unit: str, at_most: int) -> dict[str, Fraction | float]:
    crossed = not contains(theirs, budget_unit) and not contains(budget_unit, theirs)  # type: ignore[arg-type]
    found = {}
    for name in CROSSED if crossed else UNIVERSES:
        if (mine.persons or other.persons) and name != "two people":
            continue
        secrets = secrets_of(name, theirs, budget_unit, at_most)
        found[name] = universe.price(distance(mine, theirs, secrets), distance(other, budget_unit, secrets))
    return found


def claimed(mine: Row, other: Row, theirs: str, unit: str, at_most: int) -> Price:
    return priced(mine.notion, other.notion, release_unit=theirs, budget_unit=unit, at_most=at_most)


def wrong(
    mine: Row, others: Iterable[Row], claim: Callable[..., Price] = claimed, *, per_person: str = ""
) -> list[str]:
    found = []
    for other, theirs, unit, at_most in itertools.product(others, UNITS, UNITS, (1, 2)):
        if (theirs != "person" and per_person == "release") or (unit != "person" and per_person == "budget"):
            continue
        price = claim(mine, other, theirs, unit, at_most)
        cost = math.inf if price.cost.is_infinite else price.cost.rational
        assert cost is not None
        worst = max(shown(mine, other, theirs, unit, at_most).values())
        said = f"{mine.name}/{theirs} in {other.name}/{unit} at {at_most}: {cost} is claimed"
        if cost < worst:
            found.append(f"{said}, and it is at least {worst}")
        elif price.least and cost != worst and theirs != unit and not per_person:  # of two people there are few events
            found.append(f"{said} to be the least, and {worst} is seen")
        if (cost == math.inf) != bool(price.because):
            found.append(f"{said}, because of {price.because!r}")
    return found


@pytest.mark.parametrize("mine", PLAIN, ids=lambda row: row.name)
def test_a_price_between_units_is_what_sets_of_events_show(mine: Row) -> None:
    assert wrong(mine, PLAIN) == []


@pytest.mark.parametrize("mine", TWO, ids=lambda row: row.name)
def test_two_promises_kept_by_one_output(mine: Row) -> None:
    assert wrong(mine, PLAIN[::2]) == []
    assert [said for other in PLAIN[::2] for said in wrong(other, [mine])] == []


@pytest.mark.parametrize("mine", FOR_TWO, ids=lambda row: row.name)
def test_where_each_person_has_an_epsilon_of_their_own(mine: Row) -> None:
    assert wrong(mine, PLAIN[::2], per_person="release") == []
    assert [said for other in PLAIN[::2] for said in wrong(other, [mine], per_person="budget")] == []
    plain = BY_NAME["unbounded"].notion
    for unit in ("person-day", "person-place", "event"):
        assert "ε for each person" in priced(mine.notion, plain, release_unit=unit, at_most=1).because
        assert "ε for each person" in priced(plain, mine.notion, budget_unit=unit, at_most=1).because


ONE_EACH = tuple(
    tuple(held for held in universe.subsets(events) if universe.spread(held, "event", "person") <= 1)
    for events in map(universe.all_events, ("pq", "p", "pqr"), ("12", "12", "1"), ("a", "ab", "ab"))
)
"""Sets in which each person has one event or none: so are tables of events that can change, each in a person's place."""


def one_fact_each(mine: Row, other: Row) -> Fraction | float:
    return max(universe.price(*(distance(row, "person", held) for row in (mine, other))) for held in ONE_EACH)


def loose(mine: Row, others: Iterable[Row], claim: Callable[..., Price] = priced) -> list[str]:
    found = []
    for other in others:
        price = claim(mine.notion, other.notion, release_unit="event", budget_unit="event")
        cost = math.inf if price.cost.is_infinite else price.cost.rational
        if cost < one_fact_each(mine, other) or (price.least and cost != one_fact_each(mine, other)):  # type: ignore[operator]
            found.append(f"{mine.name} in {other.name}: {cost}, and it is {one_fact_each(mine, other)}")
    return found


@pytest.mark.parametrize("mine", [*PLAIN, *TWO], ids=lambda row: row.name)
def test_where_both_are_about_events_each_is_one_fact_or_none(mine: Row) -> None:
    """Found by an attack: facts in events were refused, because a person can have any number of them."""
    assert loose(mine, [*PLAIN, *TWO]) == []


def test_records_of_any_number_of_facts_are_another_price() -> None:
    facts, plain = BY_NAME["graded facts"], BY_NAME["unbounded"]
    assert loose(facts, [plain], lambda release, budget, **_: release.priced_in(budget))


NOT_BY_KIND = [row for row in [*BASES, *OTHER_UNITS, *PERSONALISED] if row not in PLAIN and not row.persons]


@pytest.mark.parametrize("row", NOT_BY_KIND, ids=lambda row: row.name)
def test_what_is_not_derived_is_refused_with_the_reason(row: Row) -> None:
    """Policies, numbers, lists of records, groups, graphs: between units nothing is known of them."""
    plain = BY_NAME["unbounded"]
    for one, two in ((row, plain), (plain, row), (row, row)):
        for theirs, unit in itertools.permutations(UNITS, 2):
            price = priced(one.notion, two.notion, release_unit=theirs, budget_unit=unit, at_most=1)
            assert price.cost.is_infinite
            assert price.because


def test_a_bound_is_needed_and_must_be_one() -> None:
    presence = BY_NAME["presence"].notion
    for theirs, unit in itertools.permutations(UNITS, 2):
        if contains(theirs, unit):  # type: ignore[arg-type]
            assert priced(presence, presence, release_unit=theirs, budget_unit=unit).cost == 1
        else:
            with pytest.raises(BudgetConflictError, match="any number"):
                priced(presence, presence, release_unit=theirs, budget_unit=unit)
    for at_most in (0, -1, True, 1.5):
        with pytest.raises(InputError, match="at_most"):
            priced(presence, presence, release_unit="event", at_most=at_most)  # type: ignore[arg-type]
    for unit in ("group", "edge", "table", "household"):
        with pytest.raises(InputError, match="not a unit"):
            priced(presence, presence, release_unit=unit)


# ---- the rules that there were before are rejected


def a_replacement_touches_m(mine: Row, other: Row, theirs: str, unit: str, at_most: int) -> Price:
    """What goes out and what comes in are counted once."""
    right = claimed(mine, other, theirs, unit, at_most)
    halved = not contains(theirs, unit) and other.name in {"bounded", "replace"}  # type: ignore[arg-type]
    return Price(right.cost / 2) if halved and not right.cost.is_infinite else right


def nothing_else_is_there(mine: Row, other: Row, theirs: str, unit: str, at_most: int) -> Price:
    """As if a unit had no other events than those that change."""
    if contains(theirs, unit) and theirs != unit:  # type: ignore[arg-type]
        return priced(mine.notion, other.notion, release_unit=theirs, budget_unit=theirs)
    return claimed(mine, other, theirs, unit, at_most)


def one_fine_unit(mine: Row, other: Row, theirs: str, unit: str, at_most: int) -> Price:
    return claimed(mine, other, theirs, unit, 1)


@pytest.mark.parametrize(
    ("rule", "mine", "other"),
    [
        (a_replacement_touches_m, "replace", "bounded"),
        (a_replacement_touches_m, "graded", "replace"),
        (nothing_else_is_there, "addition", "addition"),
        (nothing_else_is_there, "unbounded", "unbounded"),
        (one_fine_unit, "presence", "presence"),
    ],
)
def test_wrong_rules_are_rejected(rule: Callable[..., Price], mine: str, other: str) -> None:
    assert wrong(BY_NAME[mine], [BY_NAME[other]]) == []
    assert wrong(BY_NAME[mine], [BY_NAME[other]], rule)
