"""What budgets are counted in: names that say which promise, and prices in them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.own_notions import After

from leeward.accounting._budget_notion import NAMED, budget_notion, charge, named_budget_notion, read_budget_notion
from leeward.distance import Line
from leeward.errors import BudgetConflictError, InputError, SpecError
from leeward.exact import exact, sqrt
from leeward.notion import (
    ADP,
    OSDP,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    Graded,
    GradedFacts,
    InputDiscriminativeLDP,
    Notion,
    Presence,
    RecordDistance,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    has,
)

GRADED = Graded(presence="1", absence="4")


@pytest.mark.parametrize("notion", [*(kind("3/7") for kind in NAMED.values()), GRADED, Graded("2", "inf")], ids=str)
def test_a_named_currency_is_read_back_as_its_notion_at_one(notion: Notion) -> None:
    read = read_budget_notion(budget_notion(notion))
    assert read is not None
    assert read == notion.with_epsilon(1)
    assert budget_notion(read) == budget_notion(notion.scale(5)) == budget_notion(notion)


def test_promises_that_differ_are_kept_apart() -> None:
    at_a, at_b = ~has("a"), ~has("b")
    notions = [
        *(GRADED, Graded(presence="1", absence="2"), Graded(presence="4", absence="1"), Presence("1")),
        *(ADP("1", [at_a]), ADP("1", [at_b]), ADP("1", [at_a, at_b]), ADP("1", [at_a], absent_too=True)),
        GradedFacts(presence="1", absence="4"),
    ]
    assert len({budget_notion(notion) for notion in notions}) == len(notions)
    many = ADP("1", [~has(f"place {i}") for i in range(99)])
    assert len(budget_notion(many)) < 60
    assert budget_notion(many) != budget_notion(ADP("1", [~has(f"place {i}") for i in range(98)]))


def test_promises_that_differ_only_in_a_distance_or_a_function_are_kept_apart() -> None:
    near, far = (Line(c, 1).on(range(3)) for c in (1, 5))
    of = [0, 1, 2]
    notions = [
        *(RecordDistance("1", near), RecordDistance("1", far), RecordDistance("1", far.reverse())),
        *(InputDiscriminativeLDP({"flu": "2", "hiv": "3"}), InputDiscriminativeLDP({"flu": "3", "hiv": "5"})),
        *(OSDP("1", lambda r: r == 0, records=of), OSDP("1", lambda r: r == 1, records=of)),
        *(ADP("1", [lambda r: r > 0], records=of), ADP("1", [lambda r: r > 1], records=of)),
        *(Blowfish("1", of, [(0, 1)]), Blowfish("1", of, [(0, 2)])),
    ]
    assert len({budget_notion(notion) for notion in notions}) == len(notions)
    again = [RecordDistance("3", Line(1, 1).on(range(3))), OSDP("2", lambda r: not r, records=of)]
    assert [budget_notion(notion) for notion in again] == [budget_notion(notions[0]), budget_notion(notions[5])]
    with pytest.raises(BudgetConflictError):
        charge(notions[1], exact(1), budget_notion(notions[0]))


def test_a_notion_of_ones_own_does_not_pass_as_ours_by_its_name() -> None:
    class Weaker(After, notion=AdditionOnly):
        """Everything may be told of the people in the data."""

        name, words = UnboundedDP.name, UnboundedDP.words

    assert Weaker.name == UnboundedDP.name
    assert "Weaker" in budget_notion(Weaker("1"))
    with pytest.raises(BudgetConflictError):
        charge(Weaker("1"), exact(1), budget_notion(UnboundedDP("1")))


@pytest.mark.parametrize(
    ("release", "counted_in", "price"),
    [
        (Presence("1"), "presence/person", 1),
        (Presence("3/7"), "addition-only/person", Fraction(3, 7)),
        (AdditionOnly("1"), "presence/person", None),
        (RemovalOnly("1"), "addition-only/person", None),
        (UnboundedDP("1"), "addition-only/person", 1),
        (UnboundedDP("1"), "presence/person", 2),
        (UnboundedDP("1"), "bounded-dp/person", 2),
        (BoundedDP("1"), "presence/person", None),  # it may tell how many people there are
        (BoundedDP("1"), "dp/person", None),
        (ReplaceDP("1"), "dp/person", 1),
        (GRADED, "presence/person", 1),
        (GRADED, "bounded-dp/person", 4),
        (Presence("1"), "graded(absence=1, presence=1/4)/person", None),
        (BoundedDP("1"), "graded(absence=1, presence=1/4)/person", None),
        (ReplaceDP("1"), "graded(absence=1, presence=1/4)/person", 4),
        (GradedFacts(presence="1", absence="1"), "presence/person", None),
        (Presence("1"), "adp(policies=not (has a))/person", None),
    ],
    ids=str,
)
def test_what_a_release_costs_in_another_budget(release: Notion, counted_in: str, price: Fraction | None) -> None:
    if price is None:
        with pytest.raises(BudgetConflictError):
            charge(release, release.epsilon, counted_in)
    else:
        assert charge(release, release.epsilon, counted_in) == price
        assert charge(release, release.epsilon * 3, counted_in) == 3 * price  # a mechanism that stops thrice


def test_a_refusal_says_why() -> None:
    with pytest.raises(BudgetConflictError, match="budget protects also when some of the facts"):
        charge(AdditionOnly("1"), exact(1), "presence/person")
    with pytest.raises(BudgetConflictError, match="does not follow from its name"):
        charge(Presence("1"), exact(1), "my-notion/person")
    with pytest.raises(SpecError, match="presence"):
        named_budget_notion("presense")
    with pytest.raises(InputError, match="fractions"):
        charge(Presence("1"), sqrt(2), "presence/person")
