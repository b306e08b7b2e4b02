"""Prices between notions and units hold by enumeration; what cannot be priced is refused in words."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from leeward.accounting import price
from leeward.distance import FiniteDistance
from leeward.errors import BudgetConflictError, InputError
from leeward.exact import exact, log
from leeward.notion import (
    ABSENT,
    AdditionOnly,
    BoundedDP,
    Graded,
    Notion,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    all_tables,
)

# without the empty record: to notions about facts it is nobody, to the others it is not
TABLES = all_tables((ABSENT, frozenset("a"), frozenset("b"), frozenset("ab")), 1)


@pytest.mark.parametrize(
    ("release", "budget", "right"),
    [
        (Presence("1/2"), Presence("1"), Fraction(1, 2)),
        (BoundedDP("1"), BoundedDP("1/3"), Fraction(3)),
        (UnboundedDP("1"), BoundedDP("1"), Fraction(2)),
        (UnboundedDP("1"), AdditionOnly("1"), Fraction(1)),
        (ReplaceDP("1"), Presence("1"), Fraction(1)),
        (UnboundedDP("1/5"), Presence("1"), Fraction(2, 5)),
        (Presence("1"), AdditionOnly("1"), Fraction(1)),
    ],
    ids=str,
)
def test_a_price_is_the_least_multiple_that_covers(release: Notion, budget: Notion, right: Fraction) -> None:
    assert price(release, budget) == right
    assert type(price(release, budget)) is Fraction
    mine, theirs = release.on(TABLES), budget.on(TABLES)
    assert covered(mine, theirs, right)
    assert not covered(mine, theirs, right * Fraction(999, 1000))


def covered(release: FiniteDistance[Any], budget: FiniteDistance[Any], factor: Fraction) -> bool:
    pairs = itertools.product(release.points, repeat=2)
    return all(release(x, y) <= budget(x, y) * factor for x, y in pairs)


def test_an_irrational_price_is_rounded_up() -> None:
    found = price(AdditionOnly(log(2)), AdditionOnly("1"))
    assert found > log(2)
    assert found - Fraction(1, 10**11) < log(2)


@pytest.mark.parametrize(
    ("release", "budget", "word"),
    [
        (AdditionOnly("1"), UnboundedDP("1"), "not in the data is put in"),
        (RemovalOnly("1"), AdditionOnly("1"), "in the data is taken out"),
        (Presence("1"), BoundedDP("1"), "becomes any other"),
        (AdditionOnly("1"), Presence("1"), "facts about a person are taken away"),
        (BoundedDP("1"), UnboundedDP("1"), "in the data is taken out"),
    ],
    ids=str,
)
def test_incomparable_notions_are_refused_with_the_step_that_is_not_promised(
    release: Notion, budget: Notion, word: str
) -> None:
    assert not covered(release.on(TABLES), budget.on(TABLES), Fraction(10**9))
    with pytest.raises(BudgetConflictError, match=word) as caught:
        price(release, budget)
    message = str(caught.value)
    assert "whatever its ε" in message
    assert str(budget) in message
    if release.words.reveals:
        assert release.words.reveals in message


# ---- units


DAYS = ("mon", "tue")
VISITS = [frozenset(s) for n in range(3) for s in itertools.combinations([(d, "x") for d in DAYS], n)]


def by_day(person: frozenset[Any]) -> tuple[Any, ...]:
    """The same data told by person-days: one record for each day, ABSENT where there is none."""
    return tuple(frozenset(v for v in person if v[0] == day) or ABSENT for day in DAYS)


@pytest.mark.parametrize(
    ("release", "budget"),
    [(Presence("1"), Presence("1")), (UnboundedDP("1"), UnboundedDP("1")), (ReplaceDP("1"), UnboundedDP("1"))],
    ids=str,
)
def test_a_release_about_persons_in_a_budget_about_their_days(release: Notion, budget: Notion) -> None:
    factor = price(release, budget, budget_unit="person-day")
    for x, y in itertools.product(VISITS, repeat=2):
        assert release((x or ABSENT,), (y or ABSENT,)) <= budget(by_day(x), by_day(y)) * factor


def test_part_of_a_person_is_no_withdrawal() -> None:
    """Addition-only protects that a person is there at all, not that they were there on Monday too."""
    with pytest.raises(BudgetConflictError, match="part of what belongs to one person"):
        price(AdditionOnly("1"), AdditionOnly("1"), budget_unit="person-day")


FOUR_DAYS = [frozenset((d, "x") for d in chosen) for n in range(3) for chosen in itertools.combinations("1234", n)]
"""Up to two days out of four: a replacement may take two away and bring two others."""


def by_each_day(person: frozenset[Any]) -> tuple[Any, ...]:
    return tuple(frozenset(v for v in person if v[0] == day) or ABSENT for day in "1234")


@pytest.mark.parametrize(
    ("notion", "right"), [(Presence, 2), (AdditionOnly, 2), (UnboundedDP, 2), (ReplaceDP, 4), (RemovalOnly, 2)]
)
def test_a_release_about_days_in_a_budget_about_persons_costs_for_every_day(notion: Any, right: int) -> None:
    release, budget = notion("1"), notion("1")
    with pytest.raises(BudgetConflictError, match="Bound how many"):
        price(release, budget, release_unit="person-day")
    assert price(release, budget, release_unit="person-day", at_most=2) == right
    pairs = [
        (release(by_each_day(x), by_each_day(y)), budget((x or ABSENT,), (y or ABSENT,)))
        for x, y in itertools.product(FOUR_DAYS, repeat=2)
    ]
    assert all(cost <= unit * right for cost, unit in pairs)
    assert any(cost == unit * right for cost, unit in pairs if unit > 0)


def test_replacing_a_person_takes_their_days_out_and_puts_others_in() -> None:
    days = {"release_unit": "person-day", "budget_unit": "person"}
    assert price(ReplaceDP("1"), BoundedDP("1"), at_most=1, **days) == 2  # type: ignore[arg-type]
    assert price(ReplaceDP("1"), BoundedDP("1"), at_most=2, **days) == 4  # type: ignore[arg-type]
    assert price(Graded("1", "1"), Graded("1", "1"), at_most=3, release_unit="event") == 6
    with pytest.raises(
        BudgetConflictError
    ):  # records that are always there: none is an alternative to one that is added
        price(BoundedDP("1"), BoundedDP("1"), release_unit="person-day", at_most=2)


def test_units_that_do_not_nest_need_a_bound_and_a_promise_for_parts() -> None:
    kwargs = {"release_unit": "person-day", "budget_unit": "person-place"}
    with pytest.raises(BudgetConflictError, match="person-place can have data in any number of person-days"):
        price(Presence("1"), Presence("1"), **kwargs)  # type: ignore[arg-type]
    assert price(Presence("1"), Presence("1"), at_most=7, **kwargs) == 7  # type: ignore[arg-type]
    with pytest.raises(BudgetConflictError):
        price(AdditionOnly("1"), AdditionOnly("1"), at_most=7, **kwargs)  # type: ignore[arg-type]


def test_a_unit_or_a_bound_that_is_none_is_refused() -> None:
    with pytest.raises(InputError):
        price(Presence("1"), Presence("1"), release_unit="household")
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(InputError, match="at_most"):
            price(Presence("1"), Presence("1"), release_unit="person-day", at_most=wrong)  # type: ignore[arg-type]


def test_exact_prices_do_not_drift() -> None:
    assert sum(price(Presence("0.1"), Presence("1")) for _ in range(10)) == 1
    assert price(Presence(exact("1/3")), Presence("1/3")) == 1
