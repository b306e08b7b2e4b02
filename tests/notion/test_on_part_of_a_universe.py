"""What a distance between two records depends on: not on others, of one promise; of two kept at once, on which there are."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.grid.notions import BASES, BOTH, Row
from tests.oracle import universe
from tests.oracle.universe import Matrix
from tests.own_notions import After

from leeward import both_hold, verify
from leeward.exact import Real, inf
from leeward.mechanism import FiniteMechanism
from leeward.notion import ADP, BoundedDP, GroupDP, Maximum, Notion, UnboundedDP, ValueGrid, where

EVERY: dict[str, Sequence[Any]] = {
    "visits": [None, *universe.subsets("abcde")[1:]],
    "members": [None, *universe.subsets("abcde")],
    "rows": [*universe.ROWS, universe.Row(3), universe.Row(3, 1)],
    "words": [None, "s", "t", "n"],
    "numbers": universe.NUMBERS,
}
"""All records there are, as far as the notions can tell them apart."""

FEW: dict[str, Sequence[Any]] = {
    "visits": [frozenset("a"), frozenset("bc"), frozenset("bd")],
    "members": [frozenset(), frozenset("a"), frozenset("bc"), frozenset("bd")],
    "rows": [universe.Row(0), universe.Row(1), universe.Row(1, 1), universe.Row(3)],
    "words": ["s", "n"],
    "numbers": [0, 2],
}


def cases(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    return [
        (row, kind)
        for row in rows
        for kind in EVERY
        if kind in row.kinds and row.persons is None and row.tables is None
    ]


@functools.cache
def among(row: Row, kind: str) -> tuple[list[Any], Matrix]:
    """All records that a promise knows, and how far apart it says they are."""
    every = [r for r in EVERY[kind] if row.universe is None or r is None or r in row.universe]
    return every, row.between([(r,) for r in every])


def exactly(found: Any) -> int:
    return universe.NEVER if found.is_infinite else universe.whole(found.rational)


@pytest.mark.parametrize(("row", "kind"), cases(BASES), ids=lambda case: case.name if isinstance(case, Row) else case)
def test_of_one_promise_two_records_are_as_far_apart_as_among_all(row: Row, kind: str) -> None:
    every, far = among(row, kind)
    for x, y in itertools.permutations([r for r in FEW[kind] if r in every], 2):
        assert exactly(row.notion.on([(x,), (y,)])((x,), (y,))) == far[every.index(x), every.index(y)], (x, y)


@pytest.mark.sweep
@pytest.mark.parametrize(("row", "kind"), cases(BOTH), ids=lambda case: case.name if isinstance(case, Row) else case)
def test_of_two_promises_the_records_given_and_nobody_are_all_there_are(row: Row, kind: str) -> None:
    """Each promise says what it says of any two; where one goes on at a record at which the other ended, it is given."""
    parts = [among(part, kind) for part in row.parts]
    given = [r for r in FEW[kind] if all(r in every for every, _ in parts)]
    there = list(dict.fromkeys([*given, *listed(row), None]))
    apart = [np.full((len(there), len(there)), universe.NEVER) for _ in parts]
    for (every, far), made in zip(parts, apart, strict=True):
        known = [r for r in there if r in every]
        at, of = [there.index(r) for r in known], [every.index(r) for r in known]
        made[np.ix_(at, at)] = far[np.ix_(of, of)]
    truth = universe.closed(np.minimum(*apart))
    found = row.notion.on([(r,) for r in given])
    for (i, x), (j, y) in itertools.permutations(enumerate(given), 2):
        assert exactly(found((x,), (y,))) == truth[i, j], (x, y)


def listed(row: Row) -> list[Any]:
    """The records that the promises list: both the same, or one, where the other lists none."""
    lists = {part.listed for part in row.parts if part.listed is not None}
    return sorted(lists.pop() - {None}) if len(lists) == 1 else []


def test_two_policies_that_meet_at_a_row_meet_where_it_is_given() -> None:
    both = both_hold(ADP(1, [where("x", one_of=[0, 5])]), ADP(1, [where("x", equals=0)]))
    zero, one, five = ((universe.Row(x),) for x in (0, 1, 5))
    told = FiniteMechanism.from_rows({zero: {"0": 1}, one: {"1": 1}})
    assert not verify(told, both)
    assert (both.on([zero, one])(zero, one), both.on([zero, one])(one, zero)) == (inf, 1)
    assert (both.on([zero, one, five])(zero, one), both.on([zero, one, five])(one, zero)) == (2, 1)


class Twice(After, notion=BoundedDP):
    """Between tables it is another distance than the sum over persons."""

    def __call__(self, x: Any, y: Any) -> Real:
        return super().__call__(x, y) * 2


def test_a_class_that_says_what_tables_are_apart_is_taken_at_its_word() -> None:
    """Found: taken on tables it was the sum over persons all the same."""
    assert Twice(1).on([(0,), (1,)])((0,), (1,)) == Twice(1)((0,), (1,)) == 2


TABLES = [(x, y) for x in range(3) for y in range(3)]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("other", "steps"),
    [
        (Maximum("1/4", ValueGrid(0, 2), nobody=False), lambda x, y: Fraction(max(map(abs, np.subtract(x, y)))) / 4),
        (GroupDP("1/4", [(0, 1)]), lambda x, y: Fraction(1, 4)),
    ],
    ids=["maximum", "groups"],
)
def test_beside_a_promise_about_all_persons_together(order: int, other: Notion, steps: Any) -> None:
    """Found: beside one read the other way round, it was taken for a sum over persons: too far apart."""
    for one, costs in ((UnboundedDP(1).reverse(), 2), (BoundedDP(1).reverse(), 1)):
        single = universe.matrix(
            lambda x, y: min(steps(x, y), costs * sum(a != b for a, b in zip(x, y, strict=True))),  # noqa: B023
            TABLES,
        )
        found, truth = both_hold(*(one, other)[::order]).on(TABLES), universe.closed(single)
        for i, j in itertools.product(range(len(TABLES)), repeat=2):
            assert exactly(found(TABLES[i], TABLES[j])) == truth[i, j]


@pytest.mark.parametrize("one", [UnboundedDP(1), BoundedDP("1/2"), ADP("1/3", [where("x", equals=0)])], ids=str)
def test_beside_one_read_the_other_way_round_the_order_does_not_matter(one: Notion) -> None:
    """Found: in one order it was taken on whole tables, and in the other on records."""
    tables = [(universe.Row(0), universe.Row(1)), (universe.Row(1), universe.Row(0)), (universe.Row(2), None)]
    other = ADP("1/4", [where("x", equals=1)]).reverse()
    assert both_hold(one, other).on(tables) == both_hold(other, one).on(tables)
