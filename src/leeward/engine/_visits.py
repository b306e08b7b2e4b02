# SPDX-License-Identifier: Apache-2.0
"""Count exactly, in one table of visits, the distinct people at each place of a public list.

Every row that takes no part does so for one reason, the first of `REASONS` that holds. The counts, their number and
their order follow the list; nothing else about the answer's shape depends on the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._private import Private
from leeward.engine._bind import Bound, bind
from leeward.engine._columns import hexagon, kept, key, point, square, who
from leeward.engine._look import Look, covered, in_words
from leeward.engine._places import PlaceList
from leeward.engine._rows import Rows, integers
from leeward.engine._times import when
from leeward.engine._window import bounds
from leeward.errors import BoundExceededError
from leeward.query import CountVisitors, Visits, Window
from leeward.query._reasons import OF_VISITS
from leeward.query._statistic import DrawnFrom

REASONS = tuple(OF_VISITS)
"""Why a row takes no part, in the order in which it is asked."""

_TAKEN = "taken"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VisitCounts(Private):
    """What was counted: exact and private, for the curator's machine only.

    Attributes:
        people_over_bound: how many people were at more distinct listed places than the bound allows.
        dropped: the number of rows dropped for each of `REASONS`.
        rows_kept: the number of rows that take part, before the bound.
        refused: whether people exceed the bound and the query says ``if_more = "refuse"``.
    """

    people_over_bound: int
    dropped: Mapping[str, int]
    rows_kept: int
    refused: bool
    _counts: NDArray[np.int64] = field(repr=False)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of distinct people at each place, in the public order (int64).

        Raises:
            BoundExceededError: `refused`; there is no count that keeps the bound.
        """
        if self.refused:
            raise BoundExceededError(
                f"{self.people_over_bound} {'person was' if self.people_over_bound == 1 else 'people were'} at more places"
                " than places_per_person allows",
                "if_more = 'refuse' (that it is refused is a fact about the data: do not publish it)",
                "Raise places_per_person, or choose which places to keep by if_more",
            )
        return self._counts


@contextmanager
def open_visits(visits: Visits, places: PlaceList) -> Iterator[VisitTable]:
    """Open the table of visits, to be counted over this public list.

    Raises:
        DataError: a file or column is missing or of the wrong type, or its places have another type than those of the
            list.
    """
    wanted = {"person": visits.person, "time": visits.time}
    if places.grid is None:
        wanted["place"] = visits.place
    else:
        wanted |= {"latitude": visits.latitude, "longitude": visits.longitude}
    columns = {role: column for role, column in wanted.items() if column is not None}
    columns |= {f"column {index} of keep": column for index, column in enumerate(visits.keep, 1)}
    with bind(visits.source.held(), columns, visits.table) as bound:
        yield VisitTable(visits, places, bound)


class VisitTable(Rows):
    """An open table of visits. `open_visits` makes it."""

    __slots__ = ("_clock", "_places", "_ranges", "_rows", "_tallies", "_visits")

    def __init__(self, visits: Visits, places: PlaceList, bound: Bound) -> None:
        super().__init__(bound, () if visits.time is None else (visits.time,))
        self._visits, self._places, rows = visits, places, self._raw
        self._clock = when(rows, visits, bound)
        plain = {
            "person": who(rows, visits.person, bound),
            "stamp": self._clock.stamp,
            "unreadable": self._clock.unreadable,
            "zoned": ibis.literal(False) if self._clock.zoned is None else self._clock.zoned,
        }
        self._rows = self._ranked(rows, plain | {"kept": kept(rows, visits)})
        self._tallies: dict[Window, Mapping[str, int]] = {}
        self._ranges: dict[bool, tuple[int, int, int]] = {}

    def look(self, query: CountVisitors) -> Look:
        """See how many rows the question would count, and why not more. For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
            SpecError: the window does not go with the time column.
        """
        tally, (first, end) = self._tally(query.window), self._bounds(query.window)
        n, low, high = self._range(query.window)
        clock, per_second = self._clock.clock_for(query.window), self._clock.per_second
        return Look(
            rows=sum(tally.values()),
            taken=tally[_TAKEN],
            dropped={reason: tally[reason] for reason in REASONS},
            inside=self._inside(query.window),
            share=covered(first, end, low, high) if n else 1.0,
            times=(in_words(low, clock, per_second), in_words(high, clock, per_second)) if n else None,
        )

    def exactly(self, query: CountVisitors, drawn_from: DrawnFrom = "answer") -> VisitCounts:
        """Return what a mechanism draws from: of visitors always `count`."""
        assert drawn_from == "answer"
        return self.count(query)

    def count(self, query: CountVisitors) -> VisitCounts:
        """Count the visitors of every place. Filter, window, public list and bound apply in this order.

        Raises:
            DataError: a data file changed meanwhile.
            SpecError: the window does not go with the time column.
        """
        tally, (first, end) = self._tally(query.window), self._bounds(query.window)
        rows = self._rows_in(query.window)
        taken = rows.filter(rows.kept, rows.person.notnull(), rows.inside, rows["rank"].notnull())
        n = len(self._places)
        answer = self._bound.fetch(_by_place(taken.select("person", "stamp", "rank"), query, n, first, end))
        self._bound.check_unchanged()
        counts = np.zeros(n, dtype=np.int64)
        counts[integers(answer, "rank")] = integers(answer, "people")
        over = int(integers(answer, "over").sum())
        return VisitCounts(
            people_over_bound=over,
            dropped={reason: tally[reason] for reason in REASONS},
            rows_kept=tally[_TAKEN],
            refused=query.if_more == "refuse" and over > 0,
            _counts=counts,
        )

    def _bounds(self, window: Window) -> tuple[int, int]:
        """The integers between which the stamps of a window lie."""
        most = 2**63 - 1
        ends = bounds(window, self._clock.clock_for(window), self._visits.timezone, self._clock.per_second)
        first, end = (min(max(bound, -most), most) for bound in ends)
        return first, end

    def _range(self, window: Window) -> tuple[int, int, int]:
        """How many rows have a time that can be compared with the window, the first of these times and the last."""
        if window.aware not in self._ranges:
            rows = self._rows.filter(self._comparable(window))
            found = self._bound.fetch(rows.aggregate(n=rows.stamp.count(), low=rows.stamp.min(), high=rows.stamp.max()))
            self._ranges[window.aware] = tuple(found.to_pylist()[0].values())
        return self._ranges[window.aware]

    def _comparable(self, window: Window) -> Any:
        if self._clock.clock is not None:
            return ibis.literal(True)
        return self._rows.zoned if window.aware else ~self._rows.zoned

    def _rows_in(self, window: Window) -> Any:
        """The rows with whether they can be compared with the window and whether they are inside."""
        first, end = self._bounds(window)
        comparable = self._comparable(window)
        inside = comparable & (self._rows.stamp >= first) & (self._rows.stamp < end)
        return self._rows.mutate(comparable=comparable, inside=inside)

    def _ranked(self, rows: Any, plain: Mapping[str, Any]) -> Any:
        """The rows with their place's rank in the list (null where not listed) and whether they name a place."""
        visits, places, bound = self._visits, self._places, self._bound
        if places.grid is not None:
            latitude, longitude, misplaced = point(rows, visits)
            plain = {**plain, "misplaced": misplaced}
            if places.grid.h3 is None:
                cell = square(places.grid, latitude, longitude)
                return rows.select(**plain, rank=cell, placed=latitude.notnull())
            found, placed = hexagon(places.grid, latitude, longitude, bound), latitude.notnull()
            keys = pa.array([int(cell, 16) for cell in places.keys.to_pylist()], pa.int64())
        else:
            assert visits.place is not None
            found, keys = key(rows, visits.place, places), places.keys
            placed, plain = found.notnull(), {**plain, "misplaced": ibis.literal(False)}
        ranks = np.arange(len(keys), dtype=np.int32)
        return bound.ranked(rows.select(**plain, key=found, placed=placed), keys, ranks)

    def _inside(self, window: Window) -> int:
        """How many rows that pass the filter lie inside the window, whether or not they say who and where."""
        rows = self._rows_in(window)
        found = self._bound.fetch(rows.filter(rows.kept, rows.inside.fill_null(False)).aggregate(n=ibis._.count()))
        return int(integers(found, "n")[0])

    def _tally(self, window: Window) -> Mapping[str, int]:
        """How many rows take part, and how many are dropped for each reason."""
        if window not in self._tallies:
            rows = self._rows_in(window)
            reason = ibis.cases(
                (~rows.kept, "filtered"),
                (rows.person.isnull(), "null_person"),
                (rows.unreadable, "unreadable_time"),
                (rows.stamp.isnull(), "null_time"),
                (~rows.comparable, "incomparable_time"),
                (~rows.inside, "outside_window"),
                (rows.misplaced, "unreadable_place"),
                (~rows.placed, "null_place"),
                (rows["rank"].isnull(), "unknown_place"),
                else_=_TAKEN,
            )
            self._tallies[window] = self._count_by(reason, rows)
        return self._tallies[window]


def _by_place(taken: Any, query: CountVisitors, n: int, first: int, end: int) -> Any:
    """Per rank: the people counted there, and a share of the number of people over the bound."""
    k, latest = query.places_per_person, query.if_more == "latest"
    if k == 1:
        # A visit is one integer: its stamp, then its rank, so that ties go to the place earlier in the list.
        wide = (end - first + 1) * n >= 2**63
        stamp = (taken.stamp.cast("decimal(38, 0)") if wide else taken.stamp) - first
        packed = stamp * n + (n - 1 - taken["rank"] if latest else taken["rank"])
        person = taken.group_by(taken.person).aggregate(
            chosen=packed.max() if latest else packed.min(), low=taken["rank"].min(), high=taken["rank"].max()
        )
        rank = person.chosen % n
        people = person.select(rank=n - 1 - rank if latest else rank, place=0, over=person.low != person.high)
        return people.group_by("rank").aggregate(people=people.count(), over=people.over.sum())
    stamp = taken.stamp.max() if latest else taken.stamp.min()
    pairs = taken.group_by(taken.person, taken["rank"]).aggregate(stamp=stamp)
    if k is None:
        return pairs.group_by(pairs["rank"]).aggregate(people=pairs.count(), over=ibis.literal(0))
    preference = (pairs.stamp.desc() if latest else pairs.stamp.asc(), pairs["rank"].asc())
    place = ibis.row_number().over(group_by=pairs.person, order_by=preference)
    placed = pairs.select("rank", place=place)
    return placed.group_by(placed["rank"]).aggregate(people=(placed.place < k).sum(), over=(placed.place == k).sum())
