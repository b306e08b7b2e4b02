"""Every notion in every other: no claimed price is below what going through all pairs of secrets shows.

Two kinds of universe: whole tables of two or three persons with few records each, and one person with many. Where a price is
claimed to be the least, one of them must attain it. The rows are every public notion; one that is missing fails.
"""

from __future__ import annotations

import functools
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from tests.grid.notions import BASES, BOTH, OTHER_UNITS, PERSONALISED, RECORDS, ROWS, SCALED, Row
from tests.oracle import universe
from tests.oracle.universe import Matrix, subsets
from tests.own_notions import After

import leeward.notion
from leeward.accounting._budget_notion import charge
from leeward.distance import both_hold
from leeward.errors import BudgetConflictError, InputError
from leeward.exact import ZERO, Real, exact, inf
from leeward.notion import (
    ADP,
    OSDP,
    Blowfish,
    BoundedDP,
    EdgeDP,
    Graded,
    GroupDP,
    Manhattan,
    NodeDP,
    Notion,
    Presence,
    Price,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    has,
)

ALONE = RECORDS | {"rows": [*universe.ROWS, universe.Row(3)]}
"""A number that no policy names is needed too: what is between 1 and 3 may lead over 2."""

FEW: dict[int, dict[str, list[Any]]] = {
    2: RECORDS
    | {"visits": [None, *subsets("acd")[1:]], "members": [None, *subsets("ac"), frozenset("cd"), frozenset("d")]},
    3: {
        "words": [None, *"stn"],
        "visits": [None, *map(frozenset, ("a", "c", "ac", "ab"))],
        "members": [None, *map(frozenset, ("", "a", "c", "ab"))],
        "numbers": universe.NUMBERS,
        "rows": [None, *(universe.Row(*row) for row in [(0,), (1,), (1, 1), (2,)])],
    },
}  # type: ignore[assignment]
GRAPHS = universe.all_graphs("wxyz")


def records(kind: str, mine: Row, other: Row, persons: int) -> tuple[Any, ...]:
    """The records of a kind that there can be: those the budget lists, else those the release lists."""
    listed = other.universe if other.universe is not None else mine.universe
    found = ALONE[kind] if persons == 1 else FEW[persons][kind]
    return tuple(r for r in found if r is None or listed is None or r in listed)


@functools.lru_cache(maxsize=4096)
def distance(name: str, kind: str, of: tuple[Any, ...], persons: int, person: int | None = None) -> Matrix:
    row = NAMED[name]
    if kind == "graphs":
        return row.between(GRAPHS)
    secrets = universe.all_of(of, persons)
    if person is not None:  # one person of several, alone
        assert not callable(row.steps)
        assert row.steps is not None
        return universe.closed(universe.one_person(row.steps[person], secrets))
    return row.between(secrets)


NAMED = {row.name: row for row in ROWS}


def shown(mine: Row, other: Row) -> Iterator[Fraction | float]:
    """What each universe that both are about shows of the price."""
    if mine.persons and other.persons and mine.persons != other.persons:
        return
    kinds = mine.kinds & other.kinds
    if not kinds and {mine.kinds, other.kinds} == {frozenset({"graphs"})}:
        kinds = frozenset({"graphs"})
    for kind in sorted(kinds):
        if kind == "graphs":
            yield universe.price(distance(mine.name, kind, (), 0), distance(other.name, kind, (), 0))
            continue
        persons = mine.persons or other.persons or 2
        few = records(kind, mine, other, persons)
        yield universe.price(*(distance(row.name, kind, few, persons) for row in (mine, other)))
        if mine.tables is None and other.tables is None:
            many = records(kind, mine, other, 1)
            for person in range(persons) if mine.persons or other.persons else (None,):
                yield universe.price(
                    *(distance(r.name, kind, many, 1, person if r.persons else None) for r in (mine, other))
                )


def as_number(price: Price) -> Fraction | float:
    if price.cost.is_infinite:
        return math.inf
    assert price.cost.rational is not None
    return price.cost.rational


def claimed(mine: Row, other: Row) -> Price:
    return mine.notion.priced_in(other.notion)  # type: ignore[no-any-return]


def wrong(mine: Row, others: Iterable[Row], claim: Callable[[Row, Row], Price] = claimed) -> list[str]:
    """The claims about one notion that do not hold, or that are not the least though they say so."""
    found = []
    for other in others:
        price = claim(mine, other)
        cost, seen = as_number(price), list(shown(mine, other))
        worst = max(seen, default=Fraction(0))
        said = f"{mine.name} in {other.name}: {cost} is claimed"
        if cost < worst:
            found.append(f"{said}, and it is at least {worst}")
        elif not seen and cost != math.inf:
            found.append(f"{said}, and they have no secrets in common")
        elif price.least and seen and cost != worst and not grows(price):
            found.append(f"{said} to be the least, and {worst} is seen")
        if (cost == math.inf) != bool(price.because):
            found.append(f"{said}, because of {price.because!r}")
    return found


def grows(price: Price) -> bool:
    """∞ for lack of a bound, which no finite universe can show; that it grows is tested below."""
    return price.cost.is_infinite and "any number of" in price.because


UNITS_OF_PEOPLE = [*BASES, *OTHER_UNITS]


@pytest.mark.parametrize("mine", UNITS_OF_PEOPLE, ids=lambda row: row.name)
def test_a_price_is_what_all_pairs_of_secrets_show(mine: Row) -> None:
    assert wrong(mine, UNITS_OF_PEOPLE) == []


@pytest.mark.parametrize("mine", PERSONALISED, ids=lambda row: row.name)
def test_where_each_person_has_an_epsilon_of_their_own(mine: Row) -> None:
    assert wrong(mine, [*UNITS_OF_PEOPLE, *PERSONALISED]) == []
    assert [said for other in UNITS_OF_PEOPLE for said in wrong(other, [mine])] == []


@pytest.mark.parametrize("mine", SCALED, ids=lambda row: row.name)
def test_multiples_of_a_promise(mine: Row) -> None:
    assert wrong(mine, UNITS_OF_PEOPLE) == []
    assert [said for other in UNITS_OF_PEOPLE for said in wrong(other, [mine])] == []


@pytest.mark.parametrize("mine", BOTH, ids=lambda row: row.name)
def test_two_promises_kept_by_one_output(mine: Row) -> None:
    assert wrong(mine, UNITS_OF_PEOPLE) == []
    assert [said for other in UNITS_OF_PEOPLE for said in wrong(other, [mine])] == []


@pytest.mark.parametrize("two", BOTH[::7], ids=lambda row: row.name)
def test_two_promises_in_two_others(two: Row) -> None:
    assert wrong(two, BOTH[::5]) == []
    assert wrong(two, PERSONALISED[::3]) == []


NUMBERED = [row for row in BOTH if row.kinds == {"numbers"}]


@pytest.mark.parametrize("two", NUMBERED[::3], ids=lambda row: row.name)
def test_two_promises_about_numbers_in_two_others(two: Row) -> None:
    """Which numbers there are, one part of a budget may list, and both parts are about them."""
    assert wrong(two, NUMBERED) == []


def test_a_budget_that_keeps_two_lists_of_numbers_is_refused() -> None:
    """It was compared on one of the two, and a budget that promises more cost less."""
    halves, whole = ValueGrid(0, 2, "1/2"), ValueGrid(0, 2)
    beside = [Fraction(0), Fraction(1), Fraction(2)]
    listed = Blowfish(1, beside, [(beside[0], beside[1]), (beside[1], beside[2])])
    for one, two in ((listed, Manhattan(1, halves)), (Manhattan(1, halves), listed)):
        kept: Any = both_hold(one, two)
        assert BoundedDP(1).priced_in(kept).cost.is_infinite
        assert "about other numbers" in BoundedDP(1).priced_in(kept).because
    assert BoundedDP(1).price_in(both_hold(Manhattan(1, whole, nobody=False), listed)) == 1
    assert BoundedDP(1).price_in(Manhattan(1, halves, nobody=False)) == 2
    long = ValueGrid(0, 10**6)
    assert Blowfish(1, [0, 1, 10**6], [(0, 1), (1, 10**6)]).price_in(Manhattan(1, long, nobody=False)) == inf


def test_what_has_no_bound_grows_with_the_universe() -> None:
    counted, bounded = NAMED["graded facts"], NAMED["bounded"]
    assert grows(claimed(counted, bounded))
    prices = []
    for facts in ("ab", "abc", "abcd"):
        secrets = universe.all_of([None, *subsets(facts)[1:]], 1)
        prices.append(universe.price(counted.between(secrets), bounded.between(secrets)))
    assert prices == sorted(set(prices))
    edges, nodes = EdgeDP(1), NodeDP(1)
    assert grows(edges.priced_in(nodes))
    for size in (3, 4):
        graphs = universe.all_graphs("wxyz"[:size])
        made = (universe.closed(step(1, graphs)) for step in (universe.one_edge, universe.one_node))
        assert universe.price(*made) == size - 1 == EdgeDP(1, nodes=size).price_in(nodes)


# ---- the rows are every public notion, and each is the distance that its definition says


def public_notions() -> set[type[Notion]]:
    """Every class of notion that a module of the package defines, whatever it is called."""
    modules = [import_module(found.name) for found in pkgutil.walk_packages(leeward.notion.__path__, "leeward.notion.")]
    classes = {thing for module in modules for thing in vars(module).values() if inspect.isclass(thing)}
    return {
        c for c in classes if issubclass(c, Notion) and not inspect.isabstract(c) and not c.__name__.startswith("_")
    }


def test_every_notion_has_a_row() -> None:
    assert {type(row.notion) for row in ROWS} == public_notions()
    assert {name for name in leeward.notion.__all__ if inspect.isclass(getattr(leeward.notion, name))} >= {
        notion.__name__ for notion in public_notions()
    }
    assert len(NAMED) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_notion_is_the_shortest_paths_of_its_steps(row: Row) -> None:
    """Between whole tables, and reversed; where records are listed, between those."""
    for kind in sorted(row.kinds):
        secrets = GRAPHS if kind == "graphs" else universe.all_of(FEW[3][kind], row.persons or 2)
        expected = row.between(secrets)
        if row.listed is not None:  # a way may lead over nobody, of whom the notion itself says nothing
            known = [i for i, secret in enumerate(secrets) if row.listed.issuperset(secret)]
            secrets, expected = [secrets[i] for i in known], expected[np.ix_(known, known)]
        for made, right in ((row.notion, expected), (row.notion.reverse(), expected.T)):
            found = made.on(secrets)
            costs = np.array([whole(value) for value in found.values])
            assert (costs[found.codes] == right).all(), kind


def whole(value: Any) -> int:
    return universe.NEVER if value.is_infinite else universe.whole(value.rational)


# ---- what has no derivation is refused


def test_distances_that_are_no_notions_are_refused_in_words() -> None:
    notion = UnboundedDP(1)
    for distance in (notion.reverse(), notion + ReplaceDP(1), both_hold(GroupDP(1, [(0, 1)]), notion)):
        with pytest.raises(InputError, match="finite space"):
            distance.price_in(notion)
        with pytest.raises(InputError, match="finite space"):
            notion.price_in(distance)  # type: ignore[arg-type]


def test_personalised_promises_cannot_be_kept_with_another_one() -> None:
    for row in PERSONALISED:
        with pytest.raises(InputError, match="each person has their own distance"):
            both_hold(row.notion, UnboundedDP(1))


class Own(After, notion=UnboundedDP):
    """A class of a user's own, with the steps and the distance of one of ours; it lists no records."""


class Louder(Own):
    """A step may change everybody's record."""

    all_records = True


class Summed(Own):
    """Between tables it is something else."""

    def __call__(self, x: Any, y: Any) -> Real:
        return super().__call__(x, y) * 2


@pytest.mark.parametrize("own", [Own(1), Louder(1), Summed(1), ADP(1, [bool]), OSDP(1, bool)], ids=str)
def test_a_notion_that_does_not_say_what_it_sees_has_no_price(own: Notion) -> None:
    assert own.priced_in(own).cost == 1
    assert own.scale(3).price_in(own) == 3
    for other in UNITS_OF_PEOPLE:
        for price in (own.priced_in(other.notion), other.notion.priced_in(own)):
            assert price.cost.is_infinite
            assert price.because
            assert not price.least


# ---- policies that are too many to go through


MANY = [f"place {i}" for i in range(40)]


@pytest.mark.parametrize("absent_too", [False, True])
def test_many_policies_have_an_upper_bound(absent_too: bool) -> None:
    many, other = (ADP(2, [~has(p) for p in MANY[i:]], absent_too=absent_too) for i in (0, 1))
    for release, cost in ((UnboundedDP(1), 1), (ReplaceDP(1), Fraction(1, 2)), (Graded(1, 4), 2)):
        price = release.priced_in(many)
        assert price == Price(exact(cost), least=False)
    assert BoundedDP(1).price_in(many) == (inf if absent_too else Fraction(1, 2))
    assert Presence(1).priced_in(many).because
    assert other.price_in(many) == 1  # fewer policies have more steps
    assert many.price_in(other) == inf


def test_a_long_range_of_numbers_is_priced_at_its_ends() -> None:
    long, short = ValueGrid(0, 10**6), ValueGrid(0, 3)
    for release, cost in ((ReplaceDP(1), 1), (UnboundedDP(1), 2), (Manhattan(3, long), 3)):
        assert release.priced_in(Manhattan(1, long)) == Price(exact(cost))
    assert Manhattan(1, long).price_in(ReplaceDP(1)) == 10**6
    assert Manhattan(1, short).price_in(Manhattan(1, long)) == inf  # knows nothing of 4
    assert Manhattan(1, ValueGrid(0, 10**6, 2)).price_in(Manhattan(1, long)) == inf
    kept = both_hold(Manhattan(1, long), ReplaceDP(7))
    assert kept.price_in(ReplaceDP(1)) == 7  # type: ignore[attr-defined]
    assert kept.priced_in(Manhattan(1, long)) == Price(exact(1))  # type: ignore[attr-defined]


# ---- the rules that there were before are rejected


def by_kinds_of_change(mine: Row, other: Row) -> Price:
    """The largest cost of each kind of change over the cost of a step, whoever's record it is."""
    if other.notion.all_records and not mine.notion.all_records:
        return Price(inf, "everybody")
    costs = [(mine.notion.cost(step.change), step.cost) for step in other.notion.steps]
    ratios = [cost / unit if unit else inf if cost else ZERO for cost, unit in costs]
    return priced(max(ratios, default=ZERO))


def by_the_larger(mine: Row, other: Row) -> Price:
    """Of two promises kept at once the dearer is taken for the price."""
    if len(mine.parts) == 2:
        return priced(max(part.notion.price_in(other.notion) for part in mine.parts))
    if len(other.parts) == 2:
        return priced(min(mine.notion.price_in(part.notion) for part in other.parts))
    return claimed(mine, other)


def by_the_largest_epsilon(mine: Row, other: Row) -> Price:
    """Who has the largest ε stands for all."""
    return priced(of_all(mine).price_in(of_all(other)))


def of_all(row: Row) -> Notion:
    persons = getattr(row.notion, "persons", None)
    return row.notion if persons is None else max(persons, key=lambda p: p.epsilon)  # type: ignore[no-any-return]


def priced(cost: Real) -> Price:
    return Price(cost, "so" if cost.is_infinite else "")


@pytest.mark.parametrize(
    ("rule", "pairs"),
    [
        (by_kinds_of_change, [("bounded", "presence"), ("bounded", "graded, alike"), ("bounded", "graded facts")]),
        (by_kinds_of_change, [("local", "graded"), ("adp, not at a", "presence")]),
        (by_the_larger, [("addition; and removal", "unbounded"), ("replace", "addition; and removal")]),
        (by_the_largest_epsilon, [("unbounded", "addition, at 1 and 1/10"), ("replace", "bounded, at 1 and 1/10")]),
    ],
)
def test_wrong_rules_are_rejected(rule: Callable[[Row, Row], Price], pairs: list[tuple[str, str]]) -> None:
    for mine, other in pairs:
        assert wrong(NAMED[mine], [NAMED[other]]) == []
        assert wrong(NAMED[mine], [NAMED[other]], rule), (mine, other)


def test_the_rule_by_kinds_of_change_is_too_low_for_many_pairs() -> None:
    """What the grid is for: it found these."""
    rows = [row for row in UNITS_OF_PEOPLE if row.name in {"bounded", "local", "presence", *KEEPS_ALL}]
    low = [said for mine in rows for said in wrong(mine, rows, by_kinds_of_change) if "at least" in said]
    assert len(low) >= 10


KEEPS_ALL = {"graded", "graded, absence only", "graded, alike", "adp, not at a", "adp, not at a nor at b", "osdp, any"}


def test_a_mean_over_a_public_number_of_people_has_no_price_in_a_presence_budget() -> None:
    """Bounded DP may tell how many people there are; presence, addition-only and the rest protect that."""
    names = ("presence", "addition-only", "removal-only", "dp", "graded(absence=1, presence=1)")
    for counted_in in (f"{name}/person" for name in names):
        for notion in (BoundedDP(1), Manhattan(1, ValueGrid(0, 2), nobody=False)):
            with pytest.raises(BudgetConflictError):
                charge(notion, exact(1), counted_in)
    assert charge(BoundedDP(1), exact(1), "bounded-dp/person") == 1
