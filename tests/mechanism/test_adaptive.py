"""Adaptive composition of finite mechanisms (ADP, Theorem VIII.6): the second is chosen by what the first said."""

from __future__ import annotations

import pytest

from leeward.errors import InputError
from leeward.exact._weight import weight, weighted_sum
from leeward.mechanism import FiniteMechanism, alap, two_sided
from leeward.notion import ADP, all_tables, has
from leeward.verification import verify

A, B = has("a"), has("b")
RECORDS = [frozenset(s) for s in ("", "a", "b", "ab")]
TABLES = all_tables(RECORDS, 1)


def at(place: str, epsilon: str = "1") -> FiniteMechanism:
    return alap(epsilon).on(range(2)).pull_back(TABLES, lambda t: int(place in t[0]))


NOTHING = FiniteMechanism(TABLES, ["asked nothing"], [[1]] * len(TABLES))


def test_the_law_is_the_product_of_what_was_drawn() -> None:
    first, seconds = at("a"), {0: at("b"), 1: at("b", "1/2")}
    both = first.then(lambda z: seconds.get(z, NOTHING))
    for x in TABLES:
        for (z, w), p in both.row(x).items():
            assert p == first.probability(x, z) * seconds.get(z, NOTHING).probability(x, w)
        assert weighted_sum((p, 1) for p in both.row(x).values()) == 1


def test_theorem_viii_6_prices_add_up_and_policies_hold_at_once() -> None:
    """First ADP for a, then, only if a looks empty, ADP for b: private for the sum, and for no less."""
    both = at("a").then(lambda z: at("b") if z == 0 else NOTHING)
    together = (ADP("1", [~A]) + ADP("1", [~B])).on(TABLES)
    assert verify(both, together)
    assert verify(both, ADP("2", [~A, ~B]))
    assert not verify(both, ADP("1", [~A])), "the second one's steps are others"
    again = at("a").then({z: at("a") for z in at("a").outputs})
    assert verify(again, ADP("2", [~A])).tight
    assert not verify(again, ADP("1.999", [~A]))


def test_one_branch_that_is_not_private_breaks_it() -> None:
    clear = FiniteMechanism.from_rows({x: {x: 1} for x in TABLES})
    for told in at("a").outputs[:2]:
        broken = at("a").then(lambda z, told=told: clear if z == told else NOTHING)
        assert verify(broken, ADP("5", [~A, ~B])).outcome == "not private"


def test_a_constant_second_question_is_composition_side_by_side() -> None:
    one, two = two_sided("1").on(range(3)), two_sided("1/2").on(range(3))
    assert all(one.then(lambda z: two).row(x) == one.beside(two).row(x) for x in range(3))


def test_post_processing_is_what_it_was() -> None:
    one = two_sided("1", lower=0, upper=2).on(range(3))
    assert one.then(lambda z: z > 0).probability(0, True) == one.probability(0, 1) + one.probability(0, 2)
    assert one.then(two_sided("1", lower=0, upper=2).on(range(3))).outputs == (0, 1, 2)


def test_gaps_are_refused() -> None:
    with pytest.raises(InputError, match="No second mechanism after the output 1"):
        at("a").then({z: at("b") if z != 1 else "nothing" for z in at("a").outputs})
    stranger = FiniteMechanism(["x"], ["y"], [[weight(1)]])
    with pytest.raises(InputError):
        at("a").then(lambda z: stranger)
