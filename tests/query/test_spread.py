"""Variances and standard deviations: what one change moves them by, by enumeration, and what is published of them."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.notion import ABSENT, BoundedDP, Maximum, UnboundedDP, ValueGrid
from leeward.query import Variance, sensitivity

F = Fraction
GRIDS = [ValueGrid(0, 4, 2), ValueGrid(-1, 2, 1), ValueGrid("1/2", "5/2", "1/2")]


def tables(values: ValueGrid, people: int) -> list[tuple[Fraction, ...]]:
    return list(itertools.product(values.points, repeat=people))


def exactly(table: Any) -> Fraction:
    return statistics.pvariance(table) if table else F(0)


@pytest.mark.sweep
@pytest.mark.parametrize("values", GRIDS, ids=str)
@pytest.mark.parametrize("people", [1, 2, 3, 4])
def test_one_number_moves_a_variance_just_so_far(values: ValueGrid, people: int) -> None:
    """Theorem, 1: never further, and for every length of the move as far where the rest stand at a bound."""
    query = Variance(values, people=people)
    for size in [values.step * i for i in range(1, int(values.width / values.step) + 1)]:
        found = F(0)
        for table, place, new in itertools.product(tables(values, people), range(people), values.points):
            if abs(table[place] - new) <= size:
                other = (*table[:place], new, *table[place + 1 :])
                found = max(found, abs(query(table) - query(other)))
                assert query(table) == exactly(table)
        assert query.single(size) == found


@pytest.mark.sweep
@pytest.mark.parametrize("values", GRIDS, ids=str)
def test_all_numbers_at_once(values: ValueGrid) -> None:
    """Theorem, 2: with an even number of people as far."""
    for people, size in itertools.product((2, 3, 4), [values.step * i for i in (1, 2, 3)]):
        query = Variance(values, people=people)
        answers = {table: query(table) for table in tables(values, people)}
        near_to = {x: [y for y in values.points if abs(x - y) <= size] for x in values.points}
        found = max(
            abs(answer - answers[other])
            for table, answer in answers.items()
            for other in itertools.product(*(near_to[x] for x in table))
        )
        least = min(size, values.width / 2)
        most = least * (values.width - least)
        assert query.together(size) >= found
        even = people % 2 == 0 and (size <= values.width / 2) and (values.width / 2) % values.step == 0
        assert not even or most == found == query.together(size)


@pytest.mark.parametrize("values", GRIDS, ids=str)
def test_who_comes(values: ValueGrid) -> None:
    """Theorem, 3."""
    query = Variance(values)
    rises, falls = [], []
    for people in range(4):
        for table, new in itertools.product(tables(values, people), values.points):
            move = exactly((*table, new)) - exactly(table)
            rises.append(move)
            falls.append(-move)
            assert query((*table, ABSENT, new)) == exactly((*table, new))
    rise, fall = query.presence()
    assert rise == max(rises)
    assert fall >= max(falls)
    if (values.width / 2) % values.step == 0:
        assert fall == max(falls)


def test_with_a_private_number_of_people_one_may_be_of_two() -> None:
    values = ValueGrid(0, 3)
    for size in (1, 2, 3):
        assert Variance(values).single(F(size)) == max(Variance(values, people=m).single(F(size)) for m in range(1, 9))


def test_noise_is_fitted_to_it() -> None:
    values = ValueGrid(0, 10)
    line = sensitivity(BoundedDP("1"), Variance(values, people=100)).line
    assert line.rise == line.fall == F(100**2, 99 * 10**2)
    together = sensitivity(Maximum("1", values, nobody=False), Variance(values, people=100)).line
    assert together.rise == F(1, 9)
    with pytest.raises(NotPrivateError, match="number of people is then not public"):
        sensitivity(UnboundedDP("1"), Variance(values, people=100))
    with pytest.raises(NotPrivateError, match="no step of the notion changes it"):
        sensitivity(BoundedDP("1"), Variance(values, people=1))


def test_where_its_smallest_unit_does_not_fit_it_is_rounded_and_so_are_moves() -> None:
    values, people = ValueGrid(0, 2**17), 10**6
    query = Variance(values, people=people)
    assert (values.width**2 / 4) / query.unit < 2**60 <= (values.width**2 / 4) / (query.unit / 2)
    assert (query.unit / F(1, people**2)).denominator == 1
    assert query.single(F(1)) % query.unit == 0
    assert 0 <= query.single(F(1)) - F(2 * 2**17 - 1) * F(people - 1, people**2) < query.unit
    assert query.in_units(query.unit * F(5, 2)) == 3 * query.unit


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("grid", ["1/10", "1", "3/2", "7/3"])
def test_what_is_published_is_the_nearest_point_of_the_grid_within_what_is_possible(root: bool, grid: str) -> None:
    query = Variance(ValueGrid(0, 7), grid=F(grid), root=root)
    most = F(7, 2) if root else F(49, 4)
    points = [F(grid) * i for i in range(math.floor(most / F(grid)) + 1)]
    for variance in [F(i, 40) for i in range(-80, 800)]:
        exact = min(max(variance, F(0)), F(49, 4))

        def apart(point: Fraction, exact: Fraction = exact) -> tuple[float, Fraction]:
            return abs(float(point) - (math.sqrt(exact) if root else float(exact))), -point

        published = query.published(variance)
        assert published in points
        nearest = min(map(apart, points))
        assert apart(published)[0] == pytest.approx(nearest[0], abs=1e-12)
        assert nearest[0] <= float(query.rounding) + 1e-12
    assert query.published(F(100)) == points[-1]


def test_an_error_of_a_root() -> None:
    values = ValueGrid(0, 100)
    root, square = Variance(values, grid=F(1, 10), root=True), Variance(values, grid=F(1, 10))
    for a, b in itertools.product([0.0, 0.3, 7.0, 400.0, 2500.0], repeat=2):
        assert abs(math.sqrt(a) - math.sqrt(b)) + 0.05 <= root.of_error(abs(a - b)) + 1e-9
        assert square.of_error(abs(a - b)) == pytest.approx(abs(a - b) + 0.05)
    assert (root.most_apart, square.most_apart) == (50, 2500)
    assert root.apart(F(3), F(1), F(16)) == pytest.approx(2)
    assert root.apart(F(3), F(-5), F(9)) == pytest.approx(3)
    assert square.apart(F(3), F(1), F(16)) == pytest.approx(13)


@pytest.mark.parametrize(
    ("described", "error", "said"),
    [
        ({"upper": 2**18}, SpecError, "fit in 64 bits"),
        ({"grid": "0"}, InputError, "positive step"),
        ({"grid": "6"}, InputError, "only 0 lies on it"),
        ({"p": "50"}, SpecError, "no meaning"),
    ],
)
def test_what_is_refused(described: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        statistic_by(
            lw.records("t.parquet", person="who"),
            "standard deviation",
            **{"column": "n", "lower": 0, "upper": 10, **described},
        )
