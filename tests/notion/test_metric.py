"""Metric notions against the definitions of d-privacy's Sections 2, 3 and 5, on finite universes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from leeward.distance import FiniteDistance
from leeward.errors import InputError, NotPrivateError
from leeward.exact import exact, inf
from leeward.notion import (
    ABSENT,
    INSERT,
    WITHDRAW,
    BoundedChange,
    BoundedDP,
    Manhattan,
    Maximum,
    NormalisedManhattan,
    Notion,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    all_tables,
    bounded_change,
    where,
    with_nobody,
)
from leeward.notion.compose import parallel
from leeward.query import CountWhere, sensitivity

V = ValueGrid(0, 6, 2)  # q[0..k] with q = 2, k = 3
RECORDS = (*V.points, ABSENT)
TABLES = all_tables(RECORDS, 2)


def value_distance(v: Any, w: Any) -> Fraction:
    """d_V with nobody as far from every value as two values can be: written from the paper, not from the code."""
    if v == w:
        return Fraction(0)
    return Fraction(6) if v is None or w is None else abs(v - w)


DEFINED = {
    Manhattan("1/3", V): lambda x, y: sum(map(value_distance, x, y)) / 3,
    Manhattan("1", V, unit="10"): lambda x, y: sum(map(value_distance, x, y)) / 10,
    NormalisedManhattan("1/3", V): lambda x, y: sum(map(value_distance, x, y)) / 6 / 3,
    Maximum("1/3", V): lambda x, y: max(map(value_distance, x, y)) / 3,
    ReplaceDP("1/3"): lambda x, y: Fraction(sum(v != w for v, w in zip(x, y, strict=True))) / 3,
    UnboundedDP("1/3"): lambda x, y: (
        Fraction(sum(0 if v == w else 1 if v is None or w is None else 2 for v, w in zip(x, y, strict=True))) / 3
    ),
}


@pytest.mark.parametrize("notion", DEFINED, ids=str)
def test_the_distance_is_the_papers_and_a_metric(notion: Notion) -> None:
    finite = notion.on(TABLES)
    for x, y in itertools.product(TABLES, repeat=2):
        assert finite(x, y) == notion(x, y) == DEFINED[notion](x, y)
        assert finite(x, y) == finite(y, x)
    points = TABLES[::3]
    FiniteDistance(points, [[notion(x, y) for y in points] for x in points])  # checks the triangle inequality


@pytest.mark.parametrize(
    "notion", [Manhattan("1", V), Manhattan("1", V, nobody=False), NormalisedManhattan("1", V)], ids=str
)
def test_the_steps_generate_the_distance(notion: Notion) -> None:
    """Shortest paths along single steps of one person give the whole distance back; without the first kind they do not."""

    def along(changes: tuple[Any, ...]) -> FiniteDistance[Any]:
        costs = [[inf] * len(TABLES) for _ in TABLES]
        for (i, x), (j, y) in itertools.permutations(enumerate(TABLES), 2):
            moved = [(v, w) for v, w in zip(x, y, strict=True) if v != w]
            for change in changes:
                if len(moved) == 1 and change.allows(*moved[0]):
                    costs[i][j] = min(costs[i][j], notion.record(*moved[0]), notion.cost(change))
        return FiniteDistance.closed(TABLES, costs)

    assert along(notion.changes) == notion.on(TABLES)
    assert along(notion.changes[1:]) != notion.on(TABLES)


def test_proposition_3_and_the_doubling_that_is_needed_one_way_only() -> None:
    normal, hamming, remove = (n.on(TABLES) for n in (NormalisedManhattan("1", V), ReplaceDP("1"), UnboundedDP("1")))
    assert normal.price_in(hamming) == 1  # d̃_1 ≤ d_h
    assert hamming.price_in(remove) == 1  # d_h ≤ d_r: no doubling, although the paper doubles "vice versa" too
    assert remove.price_in(hamming) == 2  # d_r ≤ 2·d_h: the one doubling
    assert NormalisedManhattan("1", V).price_in(ReplaceDP("1")) == 1
    assert UnboundedDP("1").price_in(NormalisedManhattan("1", V)) == 6  # a bounded change by 2 of 6 costs 1/3, there 2


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations([*DEFINED, BoundedDP("1")], 2)), ids=str)
def test_prices_cover_what_the_finite_universe_shows(first: Notion, second: Notion) -> None:
    whole = first.on(TABLES).price_in(second.on(TABLES))
    assert whole <= first.price_in(second)


def test_without_nobody_presence_is_public() -> None:
    notion = Manhattan("1", V, nobody=False)
    assert notion((0, 2), (0, None)) == inf
    assert notion.cost(WITHDRAW) == notion.cost(INSERT) == inf
    assert [type(change) for change in notion.changes] == [BoundedChange]


def test_a_step_of_everyone_is_not_a_step_of_one_person() -> None:
    all_records = Maximum("1", V)
    count = CountWhere(where("a", equals=1))
    assert BoundedDP("1").price_in(all_records) == inf  # n·, and n is not known
    assert all_records.price_in(Manhattan("1", V)) == 1  # d_∞ ≤ d_1
    assert Manhattan("1", V).price_in(all_records) == inf
    with pytest.raises(NotPrivateError, match="all persons may change at once"):
        sensitivity(all_records, count)
    assert parallel(all_records, [1, 1], cut="person") == Maximum("2", V)  # each part may change at once
    with pytest.raises(NotPrivateError, match="two parts"):
        parallel(all_records, [1, 1], cut="record")
    assert parallel(Manhattan("1", V), [1, 2], cut="person") == Manhattan("2", V)


def test_scaling_and_adding_keep_the_universe() -> None:
    notion = Maximum("1", V, unit=10)
    assert notion.scale(2) == Maximum("2", V, unit=10)
    assert notion + notion == Maximum("2", V, unit=10)
    assert notion != Maximum("1", V, unit=20)
    assert notion.reverse() == notion


def test_nobody_is_as_far_as_can_be_in_any_space() -> None:
    triangle = FiniteDistance("abc", [[0, 1, 5], [1, 0, 4], [3, 2, 0]])
    extended = with_nobody(triangle)
    assert extended("a", ABSENT) == extended(ABSENT, "b") == 5
    assert extended("c", "b") == 2
    assert max(extended.values) == max(triangle.values)  # the diameter is preserved
    FiniteDistance(extended.points, [[extended(x, y) for y in extended.points] for x in extended.points])


def test_what_is_no_universe_is_refused() -> None:
    for wrong in ((3, 1, 1), (0, 5, 2), (0, 1, 0)):
        with pytest.raises(InputError, match="not a grid"):
            ValueGrid(*wrong)
    for kind in (Manhattan, Maximum):
        with pytest.raises(InputError, match="with a str as its values"):
            kind("1", "10")
    with pytest.raises(InputError, match="moves by a positive rational"):
        bounded_change(0)
    assert Fraction(4) in V
    assert Fraction(3) not in V
    assert exact(8).rational not in V
