"""The words of promises that are made of others: each is told at its own ε, and in its own unit."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import pytest
from tests.grid.notions import BASES, BOTH, OTHER_UNITS, RECORDS, Row
from tests.oracle import universe

import leeward as lw
from leeward import notion


def exponents(definition: str, epsilon: Fraction) -> list[Fraction]:
    """What stands for ε in a definition, as multiples: e^ε is 1, e^(1/4·ε) is 1/4."""
    return [Fraction(found or 1) * epsilon for found in re.findall(r"(?:(\d+(?:/\d+)?)·)?ε(?!_)", definition)]


PLAIN = [
    lw.AdditionOnly("1"), lw.RemovalOnly("2"), lw.Presence("4"), lw.UnboundedDP("3"), lw.BoundedDP("1/2"),
    notion.Manhattan("6", notion.ValueGrid(0, 10, 1)), notion.Graded(presence="1", absence="inf"),
    notion.Graded(presence="1", absence="4"), notion.GradedFacts(presence="1", absence="4"),
]  # fmt: skip


@pytest.mark.parametrize("nested", [0, 1, 2])
def test_each_of_several_promises_is_told_at_its_own_epsilon(nested: int) -> None:
    """Found: of three promises one was told in the ε of two of them, and e^(ε·c) never in that of both."""
    for first, second, third in itertools.permutations(PLAIN, 3):
        both = lw.both_hold(first, second)
        both = (both, lw.both_hold(both, third), lw.both_hold(third, both))[nested]
        if not isinstance(both, lw.Notion):
            continue
        told = exponents(both.words.definition, both.epsilon.rational)
        right = [each for part in both.parts for each in exponents(part.words.definition, part.epsilon.rational)]
        assert told == right, (both, both.words.definition)


def test_prices_that_are_told_as_numbers_are_those_of_somebody() -> None:
    """Found: those of the notion that was given were told, whose ε is not used."""
    for kind in (notion.Graded, notion.GradedFacts):
        own = lw.Personalised(kind(presence="1", absence="4"), ["40", "80"])
        assert "ε_presence = 20" in own.words.definition
        assert "ε_absence = 80" in own.words.definition
        assert own.words.definition.endswith("each person at prices of their own, at most these")
    assert lw.Personalised(lw.AdditionOnly("1"), ["1", "2"]).words.definition.endswith("an ε of their own, at most ε")
    bounded = lw.Personalised(lw.BoundedDP("1"), ["1", "2"]).words.protects
    assert bounded.endswith("record, each person up to an ε of their own; the number of people is public")


def test_values_in_other_units_have_no_price_in_one_another() -> None:
    """Found: 1 W and 1 kW of the same numbers were one promise."""
    grid = notion.ValueGrid(0, 100, 1)
    watt, kilo, plain = (notion.Manhattan("1", grid, unit=unit) for unit in ("1 W", "1 kW", "1"))
    assert watt.price_in(kilo).is_infinite
    assert "in W, and of the other in kW" in watt.priced_in(kilo).because
    assert watt.price_in(notion.Manhattan("1", grid, unit="10 W")) == 10
    assert watt.price_in(plain) == plain.price_in(kilo) == 1
    assert lw.Personalised(watt, ["1", "2"]).price_in(kilo).is_infinite
    assert notion.Maximum("1", grid, unit="1 W").price_in(notion.Maximum("1", grid, unit="1 kW")).is_infinite


@pytest.mark.parametrize("row", [*BASES, *OTHER_UNITS, *BOTH[::4]], ids=lambda row: row.name)
def test_a_promise_with_exceptions_tells_of_them(row: Row) -> None:
    """Found: bounded DP and addition-only together were said to leave nothing unprotected; so were groups and local DP."""
    for kind in row.kinds - {"graphs"}:
        records = [r for r in RECORDS[kind] if r is None or row.universe is None or r in row.universe][:6]
        persons = row.persons or (2 if row.tables else 1)
        far = row.between(universe.all_of(records[:2] if persons > 1 else records, persons))
        told = row.notion.words.reveals or "is public" in row.notion.words.protects
        assert told or (far < universe.NEVER).all(), kind


def test_who_is_there_is_among_what_two_promises_reveal_where_both_say_so() -> None:
    grid = notion.ValueGrid(0, 2)
    asked = {
        (lw.BoundedDP("1"), lw.AdditionOnly("1")): "only what both of these say: whether a person is in the data may be"
        " concluded with certainty; that a person is not in the data may be concluded with certainty",
        (
            notion.Manhattan("1", grid, nobody=False),
            lw.RemovalOnly("1"),
        ): "only what both of these say: whether a person has a"
        " value may be concluded with certainty; that a person is in the data, and what their records say, may be concluded"
        " with certainty",
        (lw.BoundedDP("1"), lw.UnboundedDP("1")): "",
        (lw.BoundedDP("1"), lw.ADP("1", [notion.has("a")])): "",
    }
    assert {pair: lw.both_hold(*pair).words.reveals for pair in asked} == asked
    osdp = lw.both_hold(notion.OSDP("1", notion.has("a")), lw.AdditionOnly("1")).words.reveals
    assert "may be concluded with certainty, and so may whether a person is in the data; that" in osdp
