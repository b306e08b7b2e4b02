"""A distance between two records is the same whichever others are given beside them: also of two promises kept at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.grid.notions import BASES, BOTH, Row
from tests.oracle import universe

from leeward import both_hold, verify
from leeward.errors import InputError
from leeward.exact import inf
from leeward.mechanism import FiniteMechanism
from leeward.notion import ADP, Presence, has, where

EVERY: dict[str, Sequence[Any]] = {
    "visits": [None, *universe.subsets("abcde")[1:]],
    "members": [None, *universe.subsets("abcde")],
    "rows": [*universe.ROWS, universe.Row(3), universe.Row(3, 1)],
    "words": [None, "s", "t", "n"],
    "numbers": universe.NUMBERS,
}
"""All records there are, as far as the notions can tell them apart."""

FEW: dict[str, Sequence[Any]] = {
    "visits": [*universe.subsets("abcd")[1:]],
    "members": [*universe.subsets("abcd")],
    "rows": [universe.Row(0), universe.Row(1), universe.Row(1, 1), universe.Row(2), universe.Row(3)],
    "words": ["s", "t", "n"],
    "numbers": [0, 1, 2],
}


def cases() -> list[tuple[Row, str]]:
    return [
        (row, kind)
        for row in (*BASES, *BOTH)
        for kind in EVERY
        if kind in row.kinds and not row.notion.sees.unknown and row.persons is None and row.tables is None
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(0, len(cases()), 12))
def test_two_records_are_as_far_apart_as_among_all(number: int) -> None:
    for row, kind in cases()[number : number + 12]:
        every = [r for r in EVERY[kind] if r is None or row.listed is None or r in row.listed]
        few = [r for r in FEW[kind] if r in every]
        far = row.between([(r,) for r in every])
        for x, y in itertools.permutations(few[:: max(1, len(few) // 6)], 2):
            found = row.notion.on([(x,), (y,)])((x,), (y,))
            truth = far[every.index(x), every.index(y)]
            assert found == (inf if truth >= universe.NEVER else Fraction(int(truth), universe.PARTS)), (row.name, x, y)


def test_two_policies_that_meet_at_a_row_that_is_not_given() -> None:
    """Found: from 0 over 5 to 1 nobody went, so a mechanism that tells 0 and 1 apart was proved private."""
    both = both_hold(ADP(1, [where("x", one_of=[0, 5])]), ADP(1, [where("x", equals=0)]))
    zero, one = (universe.Row(0),), (universe.Row(1),)
    told = FiniteMechanism.from_rows({zero: {"0": 1}, one: {"1": 1}})
    assert (both.on([zero, one])(zero, one), both.on([zero, one])(one, zero)) == (2, 1)
    assert not verify(told, both)


def test_more_facts_than_are_gone_through_are_refused() -> None:
    both = both_hold(ADP(1, [has("a")]), Presence(1))
    few, many = frozenset("abcdefghi"), frozenset("abcdefghij")
    assert both.on([(few,), (few - {"a"},)])((few,), (few - {"a"},)) == 1
    with pytest.raises(InputError, match="all sets of 11 facts"):
        both.on([(many,), (few,)])
