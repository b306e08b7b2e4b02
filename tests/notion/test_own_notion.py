"""A notion from outside the package, by the documented interface: a debt may pass as a smaller one, never as a larger."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.oracle import tables as oracle
from tests.own_notions import After

import leeward as lw
from leeward.accounting._budget_notion import budget_notion
from leeward.distance import FiniteDistance, Line, both_hold, graph_distance
from leeward.errors import InputError, LedgerError, NotPrivateError
from leeward.exact import ZERO, Real, exact, inf
from leeward.ledger import Ledger
from leeward.notion import (
    ABSENT,
    INSERT,
    WITHDRAW,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    Change,
    ContextAwareLDP,
    Graded,
    GroupDP,
    InputDiscriminativeLDP,
    Manhattan,
    Maximum,
    Notion,
    Personalised,
    PrivacyDescription,
    RecordDistance,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    all_tables,
    has,
)
from leeward.notion._named import NAMED
from leeward.notion._notion import Both
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


class Cheap(After, notion=UnboundedDP):
    """Its records cost half of what its steps do: noise fitted to the steps would keep half of the promise."""

    of_records, of_steps = exact("1/2"), exact(1)

    def record(self, before: Any, after: Any) -> Any:
        return super().record(before, after) * self.of_records

    def cost(self, change: Change) -> Any:
        return super().cost(change) * self.of_steps


class Dear(Cheap):
    """Its steps are said to cost more than they do."""

    of_records, of_steps = exact(1), exact(100)


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


class TwoRates(Notion):
    """Coming costs ε and leaving twice that; nothing else is protected, and no record is listed."""

    name, words = "two rates", UnboundedDP.words

    def record(self, before: Any, after: Any) -> Real:
        return sum((self.cost(change) for change in self.changes if change.allows(before, after)), start=ZERO) or (
            ZERO if before == after else self.cost(WITHDRAW) + self.cost(INSERT)
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        return WITHDRAW, INSERT

    def cost(self, change: Change) -> Real:
        return self.epsilon * {WITHDRAW: 2, INSERT: 1}[change] if change in self.changes else inf


class OfTwo(TwoRates):
    """The same, with the records that there can be."""

    @property
    def changes(self) -> tuple[Change, ...]:
        def lists(change: Change) -> Change:
            return dataclasses.replace(change, records=(frozenset(), frozenset("a")))

        return lists(WITHDRAW), lists(INSERT)

    def cost(self, change: Change) -> Real:
        return self.epsilon * (2 if change.name == WITHDRAW.name else 1)


class SaysMore(TwoRates):
    """Says of itself what classes of Leeward's do."""

    sees = UnboundedDP.sees


class FromElsewhere:
    sees = UnboundedDP.sees


class SaysMoreByInheritance(FromElsewhere, TwoRates):
    """Likewise."""


@pytest.mark.parametrize("kind", [TwoRates, SaysMore, SaysMoreByInheritance], ids=lambda kind: kind.__name__)
def test_a_class_that_lists_no_records_has_a_price_in_itself_alone(kind: type[Notion]) -> None:
    """Found, in three attacks: what such classes said of themselves gave prices that were too low."""
    assert kind("3").price_in(kind("2")) == Fraction(3, 2)
    assert sensitivity(kind("1"), CountWhere((has("a"),))).line == Line(1, 2)
    for other in (UnboundedDP("1"), BoundedDP("1"), Graded(1, 1), both_hold(kind("1"), AdditionOnly("1")), OfTwo("1")):
        for price in (kind("1").priced_in(other), other.priced_in(kind("1"))):
            assert (price.cost, price.least, price.unpromised) == (inf, False, False)
            assert "does not list the same records" in price.because


def test_a_release_under_a_class_that_lists_no_records_needs_a_budget_of_its_own(tmp_path: Path) -> None:
    table = pd.DataFrame({"who": range(100)})
    asked = lw.plan(lw.statistic(lw.records(table, person="who"), "count"), TwoRates("1"))
    ledger = str(tmp_path / "budget.db")
    with pytest.raises(LedgerError, match="does not list the same records"):
        lw.release(asked, lw.Budget(ledger, dataset="people", cap="5", notion="dp"))
    made = lw.release(asked, lw.Budget(ledger, dataset="people", cap="5"))
    assert made.statement.price == "1"
    assert [(each.notion.startswith("two rates"), each.spent) for each in Ledger(ledger).show()] == [(True, 1)]


def test_one_that_lists_them_has_exact_prices() -> None:
    assert OfTwo("1").price_in(UnboundedDP("1")) == 2
    assert UnboundedDP("1").price_in(OfTwo("1")) == 1
    assert AdditionOnly("1").price_in(OfTwo("1")) == AdditionOnly("1").price_in(UnboundedDP("1"))
    assert OfTwo("1").price_in(BoundedDP("1")) == 3


ELSEWHERE: dict[str, Any] = {
    "record": lambda notion, before, after: ZERO,
    "cost": lambda notion, change: inf,
    "changes": (),
    "all_records": True,
    "__call__": lambda notion, x, y: ZERO,
    "__init__": lambda notion: None,
    "__eq__": lambda notion, other: True,
    "sees": UnboundedDP.sees,
    "with_epsilon": lambda notion, epsilon: notion,
    "per_person": None,
}


@pytest.mark.parametrize("kind", [*NAMED.values(), Manhattan, Maximum, GroupDP, Personalised, RecordDistance, Both])
def test_what_is_known_of_a_notion_is_not_said_of_what_somebody_makes_of_it(kind: type[Notion]) -> None:
    """Found: a class that took its distance from one of ours, or its groups, had the prices of ours."""
    for name, value in ELSEWHERE.items():
        with pytest.raises(InputError, match=rf"The class Mine, a {kind.__name__} with another `{name}`"):
            type("Mine", (kind,), {name: value})
        with pytest.raises(InputError, match="Derive it from Notion itself"):
            type("Mine", (type("Mixed", (), {name: value}), kind), {})
    made = type("Mine", (kind,), {"name": "mine", "words": BoundedDP.words, "__doc__": "The same promise."})
    with pytest.raises(InputError, match="The class Other"):
        type("Other", (made,), {"record": lambda notion, before, after: ZERO})


@pytest.mark.parametrize(("one", "other"), [(UnboundedDP, AdditionOnly), (AdditionOnly, UnboundedDP)])
def test_a_class_is_made_of_one_notion_of_ours(one: type[Notion], other: type[Notion]) -> None:
    """Found in rereading: of the other it had what the one leaves as it is, such as how it is read the other way round."""
    with pytest.raises(InputError, match=f"a {one.__name__} with another `{other.__name__}`"):
        type("Mine", (one, other), {})


def test_another_name_for_a_notion_has_its_prices() -> None:
    class Ours(UnboundedDP):
        """What we say to people here."""

        words = dataclasses.replace(UnboundedDP.words, protects="that you came")

    class Shorter(Ours):
        """The same, by another name."""

        name = "ours"

    assert Ours("2").price_in(UnboundedDP("1")) == Shorter("2").price_in(UnboundedDP("1")) == 2
    assert BoundedDP("1").price_in(Ours("1")) == BoundedDP("1").price_in(UnboundedDP("1"))
    assert budget_notion(Ours("1")) != budget_notion(UnboundedDP("1"))


def test_people_of_a_class_of_ones_own_are_no_persons_of_ours() -> None:
    """What its attributes are called says nothing of the promise."""

    class Named(OfTwo):
        persons, parts, measure = (UnboundedDP("1"),), (AdditionOnly("1"),), "W"

    assert Named("1").price_in(UnboundedDP("1")) == 2
    assert UnboundedDP("1").price_in(Named("1")) == 1
    assert "values of the one" not in Named("1").priced_in(Manhattan("1", ValueGrid(0, 2), unit="1 kg")).because
