"""Composition as theorems: each holds for worst mechanisms in exact fractions, and fails without its condition."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from tests.notion.test_convert import LN2, doublings
from tests.oracle.witness import is_private, log2_loss, post_process, product, witnesses

from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import ZERO, Real, inf
from leeward.notion import (
    ABSENT,
    ADP,
    DROP_FACT,
    REPLACE,
    WITHDRAW,
    AdditionOnly,
    BoundedDP,
    Graded,
    GradedFacts,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    all_tables,
    has,
)
from leeward.notion.compose import group_price, parallel, sequential

POINTS = "abc"
ONE_WAY = FiniteDistance.closed(POINTS, [[0, LN2, LN2 * 3], [inf, 0, LN2], [LN2 * 2, inf, 0]])
OTHER_WAY = FiniteDistance.closed(POINTS, [[0, LN2 * 2, inf], [LN2, 0, inf], [LN2, LN2, 0]])


def test_two_answers_cost_the_sum_and_no_less() -> None:
    total = sequential(ONE_WAY, OTHER_WAY)
    assert isinstance(total, FiniteDistance)
    together = doublings(total)
    attained = set()
    for x, y, first in witnesses(POINTS, doublings(ONE_WAY)):
        for u, v, second in witnesses(POINTS, doublings(OTHER_WAY)):
            both = product(first, lambda _, second=second: second)
            assert is_private(both, together)
            if (x, y) == (u, v):
                assert log2_loss(both, x, y) == together(x, y)
                attained.add((x, y))
    assert attained == set(itertools.permutations(POINTS, 2))
    assert total("a", "c") == inf  # one ∞ is enough


def test_the_second_mechanism_may_be_chosen_by_the_first_answer() -> None:
    total = doublings(sequential(ONE_WAY, OTHER_WAY))
    seconds = [made for _, _, made in witnesses(POINTS, doublings(OTHER_WAY))]
    rng = random.Random("adaptive")
    for _, _, first in witnesses(POINTS, doublings(ONE_WAY)):
        for _ in range(10):
            chosen = {0: rng.choice(seconds), 1: rng.choice(seconds)}
            assert is_private(product(first, chosen.__getitem__), total)


def test_an_addition_only_and_a_removal_only_answer_cost_infinity() -> None:
    total = sequential(AdditionOnly(1), RemovalOnly(1))
    assert total(("s",), (ABSENT,)) == total((ABSENT,), ("s",)) == inf
    assert sequential(AdditionOnly(1), AdditionOnly(1), AdditionOnly(1)) == AdditionOnly(3)
    assert sequential(Line(1, inf), Line(2, 1)) == Line(3, inf)
    with pytest.raises(InputError, match="nothing"):
        sequential()


def test_what_is_computed_from_an_answer_keeps_its_promise() -> None:
    rng = random.Random("post")
    private = doublings(ONE_WAY)
    for _, _, made in witnesses(POINTS, private):
        for _ in range(20):
            p, q = Fraction(rng.randint(0, 5), 5), Fraction(rng.randint(0, 5), 5)
            assert is_private(post_process(made, {0: {"u": p, "v": 1 - p}, 1: {"u": q, "v": 1 - q}}), private)
    # the check can fail: reading the secret again is not post-processing
    assert not is_private({x: {x: Fraction(1)} for x in POINTS}, private)


def test_a_group_costs_its_size() -> None:
    tables = all_tables([ABSENT, "s", "t"], 3)
    for notion, change in ((UnboundedDP(1), WITHDRAW), (UnboundedDP(1), REPLACE), (AdditionOnly(1), WITHDRAW)):
        made = notion.on(tables)
        for people in (1, 2, 3):
            worst = max(
                made(x, y)
                for x, y in itertools.permutations(tables, 2)
                if sum(b != a for b, a in zip(x, y, strict=True)) == people
                and all(b == a or (change.allows(b, a) and b is not None) for b, a in zip(x, y, strict=True))
            )
            assert group_price(notion, change, people) == worst
    assert group_price(AdditionOnly(1), REPLACE, 2) == inf
    with pytest.raises(InputError, match="at least 1"):
        group_price(AdditionOnly(1), WITHDRAW, 0)


# ---- disjoint parts


def of_parts(notion: Any, factors: list[Fraction], part: Any, tables: Any) -> FiniteDistance[Any]:
    """The exact price of one answer a part: each mechanism sees the others' records as absent."""

    def restricted(table: Any, index: int) -> Any:
        return tuple(record if record is not None and part(person, record) == index else None
                     for person, record in enumerate(table))  # fmt: skip

    def price(x: Any, y: Any) -> Real:
        return sum((notion(restricted(x, i), restricted(y, i)) * f for i, f in enumerate(factors)), start=ZERO)

    return FiniteDistance(tables, [[price(x, y) for y in tables] for x in tables])


def by_record(person: int, record: Any) -> int:
    return "st".index(record)


def by_person(person: int, record: Any) -> int:
    return person % 2


FACTORS = [Fraction(1), Fraction(3, 2)]


@pytest.mark.parametrize("notion", [AdditionOnly(1), RemovalOnly(2), UnboundedDP(1)])
def test_parts_cost_the_largest_where_steps_stay_in_them(notion: Any) -> None:
    tables = all_tables([ABSENT, "s", "t"], 2)
    for cut, part in (("record", by_record), ("person", by_person)):
        exactly = of_parts(notion, FACTORS, part, tables)
        promised = parallel(notion, FACTORS, cut=cut)
        assert promised == notion.scale("3/2")
        assert exactly.price_in(notion.on(tables)) == Fraction(3, 2)


@pytest.mark.parametrize("notion", [BoundedDP(1), ReplaceDP(1), ADP(1, [has("a")]), Presence(1), Graded(1, 2)])
def test_a_step_that_moves_a_person_between_parts_is_refused(notion: Any) -> None:
    with pytest.raises(NotPrivateError, match="two parts at once"):
        parallel(notion, FACTORS, cut="record")
    assert parallel(notion, FACTORS, cut="person") == notion.scale("3/2")


def test_a_replacement_between_parts_really_costs_the_sum() -> None:
    tables = all_tables([ABSENT, "s", "t"], 2)
    exactly = of_parts(ReplaceDP(1), FACTORS, by_record, tables)
    assert exactly.price_in(ReplaceDP(1).on(tables)) == sum(FACTORS)
    assert exactly(("s", ABSENT), ("t", ABSENT)) == Fraction(5, 2)
    # under bounded DP each part may even tell how many people are in it
    assert of_parts(BoundedDP(1), FACTORS, by_record, tables).price_in(BoundedDP(1).on(tables)) == inf
    assert of_parts(BoundedDP(1), FACTORS, by_person, all_tables("st", 2)).price_in(
        BoundedDP(1).on(all_tables("st", 2))
    ) == Fraction(3, 2)


def test_facts_of_one_person_in_several_parts() -> None:
    assert parallel(GradedFacts(1, 2), FACTORS, cut="fact") == GradedFacts("3/2", 3)
    assert DROP_FACT in GradedFacts(1, 2).changes
    for notion in (Presence(1), AdditionOnly(1), BoundedDP(1)):
        with pytest.raises(NotPrivateError):
            parallel(notion, FACTORS, cut="fact")
    with pytest.raises(InputError, match="person"):
        parallel(AdditionOnly(1), FACTORS, cut="persons")  # type: ignore[arg-type]
