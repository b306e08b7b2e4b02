# SPDX-License-Identifier: Apache-2.0
"""Tables: a distance between records, summed over persons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from leeward.distance._directed import DirectedDistance, FiniteDistance, both_hold
from leeward.distance._paths import Coded, combine
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real


class SumOverPersons(DirectedDistance[tuple[Any, ...]]):
    """The distance between two tables: the sum over persons of the distance between their records.

    A table is a tuple with one record a person (`leeward.notion.ABSENT` for nobody); persons are distinguished by position.

    Args:
        per_person: the distance between two records of one person, or one such distance for each person (personalised).
    """

    def __init__(self, per_person: DirectedDistance[Any] | Sequence[DirectedDistance[Any]]) -> None:
        self.per_person = per_person

    def __call__(self, x: tuple[Any, ...], y: tuple[Any, ...]) -> Real:
        """Return the sum over persons."""
        _check_tables((x, y))
        if len(x) != len(y):
            raise InputError("Tables of different length", "a table has one record a person", "Fill with ABSENT")
        total = ZERO
        for distance, before, after in zip(self._each(len(x)), x, y, strict=True):
            total = total + distance(before, after)
        return total

    def _each(self, persons: int) -> Sequence[DirectedDistance[Any]]:
        if isinstance(self.per_person, DirectedDistance):
            return (self.per_person,) * persons
        if len(self.per_person) != persons:
            raise InputError(
                f"A table of {persons} persons, with a distance for each of {len(self.per_person)}",
                "each person needs their own",
                "Fill the table with ABSENT, or give as many distances",
            )
        return self.per_person

    def on(self, points: Iterable[tuple[Any, ...]]) -> FiniteDistance[tuple[Any, ...]]:
        """Return the exact matrix on the given tables: one small matrix of records a person, then whole-array sums."""
        points = tuple(points)
        if not self.sums_over_persons:
            return super().on(points)
        _check_tables(points)
        if len({len(table) for table in points}) > 1:
            raise InputError("Tables of different length", "a table has one record a person", "Fill with ABSENT")
        total: Coded = (ZERO,), np.zeros((len(points), len(points)), dtype=np.intp)
        known: dict[Any, FiniteDistance[Any]] = {}
        for person, distance in enumerate(self._each(len(points[0]) if points else 0)):
            column = [table[person] for table in points]
            records = tuple(dict.fromkeys(column))
            if (key := (id(distance), records)) not in known:
                known[key] = distance.on(records)
            rows = [records.index(record) for record in column]
            matrix = known[key]
            total = combine(total, (matrix.values, matrix.codes[np.ix_(rows, rows)]), Real.__add__)
        return FiniteDistance.coded(points, *total)

    @property
    def sums_over_persons(self) -> bool:
        """Whether tables cost the sum over persons of their records: not where the unit is a group, a graph or all."""
        return type(self).__call__ is SumOverPersons.__call__

    def scale(self, factor: Exact) -> SumOverPersons:
        """Return factor · d, still a sum over persons."""
        return self._map(lambda d: d.scale(factor))

    def reverse(self) -> SumOverPersons:
        """Return the distance read the other way round, still a sum over persons."""
        return self._map(lambda d: d.reverse())

    def _map(self, change: Callable[[DirectedDistance[Any]], DirectedDistance[Any]]) -> SumOverPersons:
        each = self.per_person
        return SumOverPersons(change(each) if isinstance(each, DirectedDistance) else [change(d) for d in each])

    def _both(self, other: DirectedDistance[tuple[Any, ...]]) -> DirectedDistance[tuple[Any, ...]]:
        if isinstance(other, SumOverPersons) and self.sums_over_persons and other.sums_over_persons:
            one, two = self.per_person, other.per_person  # a path may change one person at a time
            if isinstance(one, DirectedDistance) and isinstance(two, DirectedDistance):
                return SumOverPersons(both_hold(one, two))
        return super()._both(other)

    def __str__(self) -> str:
        return f"the sum over persons of {self.per_person}"


def _check_tables(points: Iterable[Any]) -> None:
    if not all(isinstance(point, Sequence) for point in points):
        raise InputError(
            "A secret that is not a table",
            "this distance is between tables: tuples of one record a person",
            "Carry a mechanism on answers back to tables, mechanism.on(answers).pull_back(tables, query), or verify it for"
            " the line of its answers, leeward.sensitivity(notion, query).line",
        )
