"""Of a share of the people nothing is certain where their number is private; of a number of people it is.

What is said under addition-only without ever being wrong must be true of every table to which people can be withdrawn; under
removal-only, of every one to which people can be invented. Here over all tables of up to four people on four points.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest

POINTS = range(4)
TABLES = [table for n in range(5) for table in itertools.combinations_with_replacement(POINTS, n)]
Table = tuple[int, ...]


def below(one: Table, other: Table) -> bool:
    """Whether the people of one are among those of the other."""
    return all(one.count(point) <= other.count(point) for point in POINTS)


def above(table: Table, z: int) -> int:
    return sum(number > z for number in table)


def certain(said: Callable[[Table, int], bool], table: Table, z: int, *, withdrawn: bool) -> bool:
    """Whether it may be said of a table: it is then said, with some chance, of all that are to cover it."""
    return all(said(other, z) for other in TABLES if (below(other, table) if withdrawn else below(table, other)))


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_no_percentile_of_an_unknown_number_of_people_is_certainly_not_exceeded(share: Fraction) -> None:
    def said(table: Table, z: int) -> bool:
        return above(table, z) <= share * len(table)

    for table, z in itertools.product(TABLES, POINTS):
        assert certain(said, table, z, withdrawn=True) == (above(table, z) == 0)
        # four people more may come above z, unless that is the end of the range; tables end at four here
        if len(table) < 4 or above(table, z):
            room = above((*table, *[3] * (4 - len(table))), z) > share * 4
            assert not (room and z < 3 and certain(said, table, z, withdrawn=False))


def test_that_at_most_so_many_are_above_is_certain_wherever_it_is_so() -> None:
    for t, table, z in itertools.product(range(4), TABLES, POINTS):
        assert certain(lambda other, z, t=t: above(other, z) <= t, table, z, withdrawn=True) == (above(table, z) <= t)
