"""A notion from outside the package, by the documented interface: a debt may pass as a smaller one, never as a larger."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from tests.asking import statistic_by
from tests.oracle import tables as oracle

import leeward as lw
from leeward.accounting._budget_notion import budget_notion
from leeward.accounting._price_between_units import priced
from leeward.distance import FiniteDistance, Line, both_hold, graph_distance
from leeward.errors import InputError, NotPrivateError
from leeward.exact import Real, exact, inf
from leeward.notion import (
    ABSENT,
    ADD_FACT,
    DROP_FACT,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    Change,
    ContextAwareLDP,
    Graded,
    GradedFacts,
    InputDiscriminativeLDP,
    Notion,
    Personalised,
    PrivacyDescription,
    RecordDistance,
    ReplaceDP,
    UnboundedDP,
    all_tables,
    has,
)
from leeward.notion._sees import Sees
from leeward.notion.compose import sequential
from leeward.query import CountWhere, SumOf, sensitivity

DEBTS = tuple({"owes": amount} for amount in range(4))


def owed(record: Any) -> int:
    return record["owes"] if isinstance(record, dict) else record


def lower(before: Any, after: Any) -> bool:
    return before is not None and after is not None and owed(before) - owed(after) in {0, 1}


class Forgiveness(Notion):
    """ε for each unit of debt that the cover leaves out."""

    name = "forgiveness"
    words = PrivacyDescription(
        definition="Pr[answer | debts] ≤ e^(ε·c) · Pr[answer | debts with c forgiven]",
        protects="how much a person owes",
        reveals="that a person owes little may be concluded with certainty",
        alternative="a smaller debt",
    )

    def record(self, before: Any, after: Any) -> Real:
        if (before is None) != (after is None):
            return inf
        forgiven = 0 if before is None else owed(before) - owed(after)
        return self.epsilon * forgiven if forgiven >= 0 else inf

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change("forgive one", "a person owes one less", lower, records=DEBTS),)

    def cost(self, change: Change) -> Real:
        return self.epsilon if change in self.changes else inf


def test_it_is_a_directed_distance_on_tables() -> None:
    tables = all_tables([ABSENT, 0, 1, 2], 2)
    made = Forgiveness("1/2").on(tables)
    assert FiniteDistance(tables, [[made(x, y) for y in tables] for x in tables]) == made
    assert made((2, 1), (0, 1)) == 1
    assert made((0, 1), (2, 1)) == inf
    assert made.reverse()((0, 1), (2, 1)) == 1


def test_sensitivities_follow_from_its_steps() -> None:
    notion = Forgiveness(1)
    total, many = SumOf("owes", 0, 3), CountWhere((lambda r: owed(r) >= 2,))
    assert sensitivity(notion, total).line == Line(inf, 1)
    assert sensitivity(notion, many).line == Line(inf, 1)
    assert sensitivity(notion, many).sign == -1

    def step(r: Any, s: Any) -> Any:
        return 1 if owed(r) - owed(s) == 1 else math.inf

    for query in (total, many):
        records = range(4)
        moves = oracle.moves(step, records, lambda t, q=query: q.answer([{"owes": v} for v in t]), 2)
        assert all(oracle.spent(math.inf, 1, change) <= d for d, change in moves)
        assert any(oracle.spent(math.inf, Fraction(1001, 1000), change) > d for d, change in moves)
    with pytest.raises(NotPrivateError, match="no step"):
        sensitivity(notion, CountWhere((lambda r: True,)))


def test_the_whole_algebra_is_open_to_it() -> None:
    notion = Forgiveness(1)
    tables = all_tables(range(3), 2)
    assert sequential(notion, notion) == Forgiveness(2) == notion.scale(2)
    assert notion != Forgiveness(2)
    mirrored = both_hold(notion.on(tables), notion.reverse().on(tables))
    for x, y in itertools.product(tables, repeat=2):
        assert mirrored(x, y) == sum(abs(a - b) for a, b in zip(x, y, strict=True))
    assert BoundedDP(1).price_in(notion) == 1
    assert notion.price_in(BoundedDP(1)) == inf
    assert ReplaceDP(1).price_in(Forgiveness(2)) == Fraction(1, 2)
    assert Personalised(notion, [1, 3]).on(tables)((2, 2), (1, 1)) == 4


class Visit(NamedTuple):
    place: str
    hour: int


class Loud(NamedTuple):
    place: str
    hour: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loud) and other.place == self.place

    __hash__ = tuple.__hash__


class Longer(Visit):
    """One that may hold more."""


def test_a_named_tuple_is_its_tuple_in_every_notion_of_records() -> None:
    tuples = [("a", 1), ("b", 2)]
    made: list[Callable[[Any, Any], Notion]] = [
        lambda one, other: Blowfish("1", [one, other], [(one, other)]),
        lambda one, other: RecordDistance("1", graph_distance([one, other], {(one, other): 1}, directed=False)),
        lambda one, other: ContextAwareLDP("1", [one, other], {(one, other): 1}),
        lambda one, other: InputDiscriminativeLDP({one: 1, other: 2}),
        lambda one, other: lw.ADP("1", [lw.where("x", one_of=[one, other])]),
        lambda one, other: lw.ADP("1", [~lw.has(one)]),
    ]
    for make in made:
        assert budget_notion(make(*(Visit(*each) for each in tuples))) == budget_notion(make(*tuples))
        for kind in (Loud, Longer):
            with pytest.raises(InputError, match="no lasting form"):
                budget_notion(make(*(kind(*each) for each in tuples)))


@pytest.mark.parametrize("notion", [UnboundedDP("1"), AdditionOnly("1"), BoundedDP("1")], ids=str)
def test_a_notion_that_was_altered_is_checked_like_one_of_your_own(notion: Notion) -> None:
    """Found: a cost put on an object of Leeward's was believed, and two-sided noise was planned as one-sided."""
    query = CountWhere((has("a"),))
    before = sensitivity(notion, query)
    notion.cost = lambda change: exact(8)  # type: ignore[method-assign]
    with pytest.raises(NotPrivateError, match="no chain of its changes costs so little"):
        sensitivity(notion, query)
    del notion.cost
    assert sensitivity(notion, query) == before


class Cheap(UnboundedDP):
    """Its records cost half of what its steps do: noise fitted to the steps would keep half of the promise."""

    def record(self, before: Any, after: Any) -> Any:
        return exact(0) if before == after else self.epsilon / 2


class Dear(UnboundedDP):
    """Its steps are said to cost more than they do."""

    def cost(self, change: Change) -> Any:
        return self.epsilon * 100


PEOPLE = lw.records("nowhere.parquet", person="p")
SEEN = lw.count_visitors(
    lw.visits("nowhere.parquet", person="p", place="at", time="t"),
    lw.places("list.parquet", place="at"),
    start="2026-01-01",
    end="2026-01-02",
    places_per_person=1,
)
BOUNDS = {"column": "v", "lower": 0, "upper": 2}
GROUPED = {"by": "g", "groups": ["a", "b"]}
PLANNED: dict[str, Callable[[Notion], object]] = {
    **{
        f"{kind}{' by groups' if by else ''}": lambda notion, kind=kind, by=by: lw.plan(  # type: ignore[misc]
            statistic_by(PEOPLE, kind, **BOUNDS, **by, **{"p": 90} if kind == "percentile" else {}), notion
        )
        for kind in ("sum", "mean", "variance", "standard deviation", "percentile", "median", "min", "max", "histogram")
        for by in ({}, GROUPED)
    },
    "a median with noise on it": lambda notion: lw.plan(
        statistic_by(PEOPLE, "median", **BOUNDS), notion, mechanism="geometric"
    ),
    "levels": lambda notion: lw.plan(
        statistic_by(PEOPLE, "above", **BOUNDS), notion, lw.Decide(safe_at_most=1, error_at_most="1/20")
    ),
    "places": lambda notion: lw.plan(SEEN, notion, lw.Decide(safe_at_most=1, error_at_most="1/20")),
    "a name": lambda notion: lw.plan(lw.select(SEEN, "busiest"), notion),
    "a group's name": lambda notion: lw.plan(
        lw.select(statistic_by(PEOPLE, "histogram", **GROUPED), "busiest"), notion
    ),
}


@pytest.mark.parametrize("asked", PLANNED)
def test_every_plan_asks_whether_a_notion_of_ones_own_is_what_its_steps_are(asked: str) -> None:
    """Found: means and variances over a private number of people, which fit their noise themselves, did not ask."""
    PLANNED[asked](UnboundedDP("1"))
    for notion in (Cheap("1"), Dear("1"), Personalised(Cheap("1"), ["1", "2"])):
        with pytest.raises(NotPrivateError, match="no chain of its changes costs so little"):
            PLANNED[asked](notion)


@pytest.mark.parametrize(("listed", "checked"), [(199, True), (200, True), (201, False)])
def test_up_to_200_records_are_compared(listed: int, checked: bool) -> None:
    """Found: nobody was counted as one of them, so a list of just 200 was not checked."""
    debts = tuple(range(listed))

    class OneKind(Forgiveness):
        @property
        def changes(self) -> tuple[Change, ...]:
            return (
                Change(
                    "less", "owes less", lambda one, other: None not in (one, other) and other <= one, records=debts
                ),
            )

        def cost(self, change: Change) -> Real:
            return self.epsilon * listed

    query = CountWhere((lambda owes: owes >= 1,))
    if checked:
        with pytest.raises(NotPrivateError, match="no chain of its changes costs so little"):
            sensitivity(OneKind("1"), query)
    else:
        assert sensitivity(OneKind("1"), query).line == Line(rise=inf, fall=listed)


class OfFacts(Notion):
    """A price for the facts in which two records differ."""

    name, words, sees = "of facts", GradedFacts(1, 1).words, Sees(facts=True, absent_is_empty=True)
    changes = (DROP_FACT, ADD_FACT)

    def far(self, facts: frozenset[str]) -> int:
        return len(facts)

    def record(self, before: Any, after: Any) -> Real:
        return self.epsilon * self.far((before or frozenset()) ^ (after or frozenset()))

    def cost(self, change: Change) -> Real:
        return self.epsilon * 3 if change in self.changes else inf


class Counted(OfFacts):
    sees = Sees(facts=True, absent_is_empty=True, counted=True)


class Weighed(Counted):
    sees = Sees((has("home"),), facts=True, absent_is_empty=True, counted=True)

    def far(self, facts: frozenset[str]) -> int:
        return len(facts) + 2 * ("home" in facts)


class Capped(Counted):
    changes = Notion.changes

    def far(self, facts: frozenset[str]) -> int:
        return min(len(facts), 2)

    def cost(self, change: Change) -> Real:
        return self.epsilon * 2


@pytest.mark.parametrize("notion", [GradedFacts(1, 1), UnboundedDP(1), BoundedDP(1), Graded(1, 1)], ids=str)
def test_what_counts_facts_and_does_not_say_so_has_no_price(notion: Notion) -> None:
    """Found: a class that said what the guide told it to say cost as much for any number of facts as for one."""
    told = OfFacts("1").priced_in(notion)
    assert (told.cost, "their distances differ" in str(told.because)) == (inf, True)
    assert notion.price_in(OfFacts("1")) == inf
    assert Counted("1").price_in(notion) == (1 if isinstance(notion, GradedFacts) else inf)


def test_one_fact_may_weigh_more_where_it_is_named() -> None:
    assert Weighed("1").price_in(GradedFacts(1, 1)) == 3
    assert GradedFacts(1, 1).price_in(Weighed("1")) == 1


def test_a_budget_that_counts_facts_up_to_a_number_has_other_steps_than_single_facts() -> None:
    """Found: three facts cost 3 and the budget's price of them is 2, but single facts alone were compared."""
    told = GradedFacts(1, 1).priced_in(Capped("1"))
    assert (told.cost, "its steps are not single facts" in str(told.because)) == (inf, True)
    assert Capped("1").price_in(GradedFacts(1, 1)) == 1


class CappedForEach(Capped):
    words = dataclasses.replace(Capped.words, unit="person")


class OfFactsForEach(OfFacts):
    words = CappedForEach.words


def test_nor_are_its_prices_between_units_those_of_single_facts() -> None:
    """Found: five facts of a person cost 5 and the budget's price of them is 2, and the price was said to be 1."""
    for release in (GradedFacts(1, 1), Graded(1, 1)):
        assert priced(release, CappedForEach("1"), release_unit="event", at_most=5).cost == inf
        assert priced(release, Counted("1"), release_unit="event", at_most=5).cost == 1
    told = priced(OfFactsForEach("1"), UnboundedDP("1"), budget_unit="person-day", at_most=2)
    assert (told.cost, "their distances differ" in str(told.because)) == (inf, True)
