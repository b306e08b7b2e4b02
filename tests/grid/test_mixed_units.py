"""One output that keeps promises about different units: no price is below what sets of events show, in either order.

The oracle knows of no unit of the whole: each promise has its steps in tables of its own unit, and the distance is the
shortest paths of all of them between whole sets of events (`tests.oracle.universe.of_units`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle import tables, universe
from tests.oracle.universe import UNITS, Matrix

from leeward.accounting import price
from leeward.accounting._budget_notion import budget_notion
from leeward.accounting._price_between_units import priced
from leeward.distance import both_hold
from leeward.errors import BudgetConflictError
from leeward.exact import exact, inf
from leeward.notion import (
    AdditionOnly,
    BoundedDP,
    GradedFacts,
    GroupDP,
    Notion,
    Personalised,
    Presence,
    Price,
    ReplaceDP,
    UnboundedDP,
    words_of,
)
from leeward.planner._recommend import implies
from leeward.planner._row import in_asked


class OfDays(UnboundedDP):
    """A class of a user's own whose unit is a person-day."""

    words = replace(UnboundedDP.words, unit="person-day")


class OfPlaces(AdditionOnly):
    """Likewise, a person at one place."""

    words = replace(AdditionOnly.words, unit="person-place")


class OfHouseholds(UnboundedDP):
    """Likewise, of a unit that nothing is known about."""

    words = replace(UnboundedDP.words, unit="household")


@dataclass(frozen=True)
class Said:
    """A promise, and its steps in tables of the unit that it is about."""

    notion: Any
    promises: tuple[tuple[tables.Steps, str], ...]

    def distance(self, secrets: tuple[Any, ...], unit: str | None = None) -> Matrix:
        return _distance(self.promises, secrets, unit)


@functools.lru_cache(maxsize=1 << 12)
def _distance(promises: Any, secrets: tuple[Any, ...], unit: str | None) -> Matrix:
    return universe.of_units([(steps, unit or own) for steps, own in promises], secrets)


def said(notion: Notion, steps: tables.Steps, unit: str = "person") -> Said:
    return Said(notion, ((steps, unit),))


def together(one: Said, two: Said) -> Said:
    return Said(both_hold(one.notion, two.notion), one.promises + two.promises)


FACTS = said(GradedFacts(1, 1), tables.graded_facts(1, 1), "event")
DEAR_FACTS = said(GradedFacts(4, 4), tables.graded_facts(4, 4), "event")
FACTS_ONE_WAY = said(GradedFacts(2, inf), tables.graded_facts(2, math.inf), "event")
DAYS = said(OfDays(1), tables.unbounded(1), "person-day")
AT_PLACES = said(OfPlaces(2), tables.addition_only(2), "person-place")
PERSONS = [
    said(UnboundedDP(1), tables.unbounded(1)),
    said(ReplaceDP(1), tables.replace(1)),
    said(AdditionOnly(3), tables.addition_only(3)),
    said(Presence(1), tables.presence(1)),
    said(BoundedDP(1), tables.bounded(1)),
]
PLAIN = [*PERSONS, FACTS, FACTS_ONE_WAY, DAYS, AT_PLACES]
OTHERS = [FACTS, DEAR_FACTS, FACTS_ONE_WAY, DAYS, AT_PLACES]

PAIRS = [together(*order) for pair in itertools.product(OTHERS, PERSONS) for order in itertools.permutations(pair)]
THREE = [
    made
    for a, b, c in [(PERSONS[0], FACTS, DAYS), (PERSONS[2], PERSONS[1], FACTS_ONE_WAY), (PERSONS[3], AT_PLACES, DAYS)]
    for x, y, z in itertools.permutations((a, b, c))
    for made in (together(together(x, y), z), together(x, together(y, z)))
]

SECRETS = {
    "two days, two places": universe.all_events("p", "12", "ab"),
    "two people": universe.all_events("pq", "12", "a"),
    "three places": universe.all_events("p", "1", "abc"),
}


@functools.lru_cache(maxsize=256)
def secrets(name: str, pairs: frozenset[tuple[str, str]], at_most: int | None) -> tuple[Any, ...]:
    """Sets of events in which no unit of the budget is in more than so many units of the release."""
    every = universe.subsets(SECRETS[name])
    if at_most is None:
        return tuple(every)
    return tuple(s for s in every if all(universe.spread(s, theirs, mine) <= at_most for theirs, mine in pairs))


def cost(release: Any, budget: Any, **given: Any) -> Price:
    try:
        return priced(release, budget, **given)
    except BudgetConflictError as error:
        return Price(inf, error.because, least=False)


def wrong(
    release: Said, budget: Said, claim: Callable[..., Price] = cost, units: Iterable[str | None] = (None,)
) -> list[str]:
    """What is claimed too cheap, with each of the units given for the side that keeps one promise."""
    found = []
    for unit, at_most in itertools.product(units, (None, 2)):
        one = {"release_unit": unit} if len(release.promises) == 1 else {"budget_unit": unit}
        says = claim(release.notion, budget.notion, at_most=at_most, **one)
        theirs, mine = (
            [own for _, own in s.promises] if unit is None or len(s.promises) > 1 else [unit] for s in (release, budget)
        )
        pairs = frozenset(itertools.product(theirs, mine))
        claimed = math.inf if says.cost.is_infinite else says.cost.rational
        assert claimed is not None
        for name in SECRETS:
            some = secrets(name, pairs, at_most)
            shown = universe.price(
                release.distance(some, unit if len(release.promises) == 1 else None),
                budget.distance(some, unit if len(budget.promises) == 1 else None),
            )
            if claimed < shown:
                found.append(f"{release.notion} in {budget.notion} by {unit} at {at_most}: {claimed} and not {shown}")
    return found


GIVEN = (None, *UNITS)


@pytest.mark.parametrize("plain", PLAIN, ids=lambda s: str(s.notion))
def test_two_promises_of_different_units_in_both_orders(plain: Said) -> None:
    for both in PAIRS:
        assert wrong(plain, both, units=GIVEN) == []
        assert wrong(both, plain, units=GIVEN) == []


@pytest.mark.parametrize("both", THREE, ids=lambda s: str(s.notion))
def test_three_promises_in_every_order_and_nesting(both: Said) -> None:
    for other in (*PLAIN, PAIRS[0], PAIRS[3], THREE[0]):
        assert wrong(other, both) == []
        assert wrong(both, other) == []


def prices_beside_plain(both: Said) -> list[Any]:
    """What it costs in each plain notion and each of these in it."""
    return [
        cost(a.notion, b.notion, at_most=at_most).cost
        for plain in PLAIN
        for a, b in ((both, plain), (plain, both))
        for at_most in (None, 2)
    ]


@pytest.mark.sweep
def test_the_order_and_the_nesting_of_promises_change_no_price() -> None:
    # the first twelve of three promises are those of one triple: six orders, each nested both ways
    for alike in [*zip(PAIRS[::2], PAIRS[1::2], strict=True), THREE[:12]]:
        first, *others = map(prices_beside_plain, alike)
        for both, found in zip(alike[1:], others, strict=True):
            assert found == first, (str(alike[0].notion), str(both.notion))


def test_what_was_promised_too_cheap() -> None:
    """Found by hand: the first of two notions said whose data the second is about."""
    release, (facts, persons) = UnboundedDP("1"), (GradedFacts("1", "1"), ReplaceDP("1"))
    for budget in (both_hold(facts, persons), both_hold(persons, facts)):
        assert isinstance(budget, Notion)
        with pytest.raises(BudgetConflictError, match="any number"):
            price(release, budget, release_unit="person-day")
        assert [price(release, budget, release_unit="person-day", at_most=m) for m in (1, 2, 5)] == [2, 4, 10]
    for order in itertools.permutations((GradedFacts("4", "4"), UnboundedDP("1"))):
        both: Any = both_hold(*order)
        assert price(both, UnboundedDP("1"), budget_unit="event") == 2
        assert price(both, both) == 1
        assert price(both.scale(3), both) == 3


def first_says_it(release: Any, budget: Any, **given: Any) -> Price:
    """The rule that there was before: the unit is that of the first promise."""
    own = {"fact": "event"}
    for side, notion in (("release_unit", release), ("budget_unit", budget)):
        first = notion
        while hasattr(first, "first"):
            first = first.first
        if given.get(side) is None:
            given[side] = own.get(first.words.unit, first.words.unit)
    return cost(release, budget, **given)


@pytest.mark.parametrize("units", [("person-day",), ("event",)], ids=str)
def test_the_rule_that_there_was_is_rejected(units: Sequence[str | None]) -> None:
    made = [together(*order) for order in itertools.permutations((DEAR_FACTS, PERSONS[0]))]
    cases = [pair for both in made for plain in PERSONS[:2] for pair in ((plain, both), (both, plain))]
    assert [w for pair in cases for w in wrong(*pair, units=units)] == []
    assert [w for pair in cases for w in wrong(*pair, first_says_it, units)]


def test_a_unit_that_nothing_is_known_about_is_no_person() -> None:
    household, plain = OfHouseholds(1), UnboundedDP(1)
    for release, budget in (
        (household, plain),
        (plain, household),
        (both_hold(household, GradedFacts(1, 1)), plain),
        (plain, both_hold(plain, household)),
        (Personalised(both_hold(plain, GradedFacts(1, 1)), [1, 2]), plain),  # type: ignore[arg-type]
    ):
        found = priced(release, budget)  # type: ignore[arg-type]
        assert found.cost.is_infinite
        assert "is not derived" in found.because or "any number" in found.because
    assert priced(household, household).cost == 1
    assert priced(GroupDP(1, [(0, 1)]), plain).cost.is_infinite


def test_statements_and_budgets_name_every_unit_whatever_the_order() -> None:
    for both in PAIRS:
        units = {"fact" if own == "event" else own for _, own in both.promises}
        for rows in (False, True):
            told = words_of(both.notion, rows=rows).unit
            each = ["row" if rows else "person", *sorted(f"{u} of rows" if rows else u for u in units - {"person"})]
            assert told == " and each ".join(each)
            assert budget_notion(both.notion, rows=rows).rpartition("/")[2] == told
    for three in THREE[:12]:
        assert three.notion.words.unit == "person and each fact and each person-day"
    same = both_hold(both_hold(UnboundedDP(1), AdditionOnly(2)), ReplaceDP(1))
    assert isinstance(same, Notion)
    assert same.words.unit == "person"


def test_what_is_implied_and_what_is_kept_of_the_promise_asked_for() -> None:
    """Comparisons look at both units too: closeness of words is not a closeness of promises."""
    facts, people = GradedFacts(1, 1), UnboundedDP(1)
    for order in itertools.permutations((facts, people)):
        both: Any = both_hold(*order)
        assert not implies(facts, both)  # a person may have any number of facts
        assert implies(UnboundedDP(Fraction(1, 2)), both)
        assert not implies(people, both)  # changing one fact is to take a person out and to put them in: 2
        assert implies(both, facts)
        assert implies(both, people)
        asked = [in_asked(n, n.epsilon, both) for n in (facts, people, both)]
        assert asked == [inf, 2, 1]
        assert in_asked(both, exact(1), people) == 1
        assert in_asked(both, exact(1), facts) == 1
