# SPDX-License-Identifier: Apache-2.0
"""Count exactly, in one table of visits, the distinct people at each place of a public list.

Every row that takes no part does so for one reason, the first of `REASONS` that holds. The counts, their number and
their order follow the list; nothing else about the answer's shape depends on the data.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._buffers import numbers
from leeward._private import Private
from leeward.engine._bind import Bound, bind
from leeward.engine._columns import hexagon, kept, key, point, square, who
from leeward.engine._look import Look, covered, in_words
from leeward.engine._matches import Survey, matches
from leeward.engine._places import PlaceList
from leeward.engine._rows import Rows, integers
from leeward.engine._slots import windowed
from leeward.engine._times import when
from leeward.engine._window import bounds
from leeward.errors import BoundExceededError
from leeward.query import CountVisitors, Visits, Window
from leeward.query._reasons import OF_VISITS
from leeward.query._statistic import DrawnFrom

REASONS = tuple(OF_VISITS)
"""Why a row takes no part, in the order in which it is asked."""

_TAKEN, _TIMED = "taken", "timed"


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
    with bind(visits.source.held(), columns, visits.table, visits.writing) as bound:
        yield VisitTable(visits, places, bound)


class VisitTable(Rows):
    """An open table of visits. `open_visits` makes it."""

    __slots__ = ("_clock", "_counted", "_expected", "_places", "_ranges", "_rows", "_seen", "_visits")

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
        self._rows = bound.staged("leeward_visits", self._ranked(rows, plain | {"kept": kept(rows, visits)}))
        self._expected: tuple[CountVisitors, ...] = ()
        self._seen: dict[Window, _Seen] = {}
        self._counted: dict[tuple[Window, tuple[object, ...]], _ByPlace] = {}
        self._ranges: dict[bool, tuple[int, int, int]] = {}

    def expect(self, queries: Sequence[CountVisitors]) -> None:
        """Say which questions will be asked: they are then looked at, and counted, in one pass over the rows."""
        self._expected = tuple(queries)

    def look(self, query: CountVisitors) -> Look:
        """See how many rows the question would count, and why not more. For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
            SpecError: the window does not go with the time column.
        """
        seen, (first, end) = self._see(query.window), self._bounds(query.window)
        n, low, high = self._range(query.window)
        clock, per_second = self._clock.clock_for(query.window), self._clock.per_second
        return Look(
            rows=sum(seen.tally.values()),
            taken=seen.tally[_TAKEN],
            dropped={reason: seen.tally[reason] for reason in REASONS},
            inside=seen.inside,
            share=covered(first, end, low, high) if n else 1.0,
            times=(in_words(low, clock, per_second), in_words(high, clock, per_second)) if n else None,
        )

    def survey(self, query: CountVisitors) -> Survey:
        """See which places of the list match those that rows name, in whatever window. For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
        """
        visits, found = query.visits, None
        if self._places.grid is None:
            assert visits.place is not None
            rows = self._raw.filter(kept(self._raw, visits))
            found = matches(self._bound, rows.select(key=key(rows, visits.place, self._places)), self._places.keys)
        self._bound.check_unchanged()
        return Survey(found)

    def exactly(self, query: CountVisitors, drawn_from: DrawnFrom = "answer") -> VisitCounts:
        """Return what a mechanism draws from: the counts, or `count_with_left_out`."""
        assert drawn_from != "tally"
        return self.count(query) if drawn_from == "answer" else self.count_with_left_out(query)

    def count(self, query: CountVisitors) -> VisitCounts:
        """Count the visitors of every place. Filter, window, public list and bound apply in this order.

        Raises:
            DataError: a data file changed meanwhile.
            SpecError: the window does not go with the time column.
        """
        return self._told(query, self._count(query, left_out=False))

    def count_with_left_out(self, query: CountVisitors) -> VisitCounts:
        """Return the counts of `count`, and behind them the most people whom the bound leaves out at any one place.

        Raises:
            DataError: see `count`.
            SpecError: see `count`.
        """
        found = self._count(query, left_out=True)
        told = self._told(query, found)
        most = found.left_out.max(initial=0)
        return replace(told, _counts=np.append(told._counts, most))

    def _told(self, query: CountVisitors, found: _ByPlace) -> VisitCounts:
        tally = self._see(query.window).tally
        self._bound.check_unchanged()
        counts = np.zeros(len(self._places), dtype=np.int64)
        counts[found.rank] = found.people
        return VisitCounts(
            people_over_bound=found.over,
            dropped={reason: tally[reason] for reason in REASONS},
            rows_kept=tally[_TAKEN],
            refused=query.if_more == "refuse" and found.over > 0,
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
            keys = numbers(np.array([int(cell, 16) for cell in places.keys.to_pylist()], np.int64))
        else:
            assert visits.place is not None
            found, keys = key(rows, visits.place, places), places.keys
            placed, plain = found.notnull(), {**plain, "misplaced": ibis.literal(False)}
        ranks = np.arange(len(keys), dtype=np.int32)
        return bound.ranked(rows.select(**plain, key=found, placed=placed), keys, ranks)

    def _one_pass(self, window: Window) -> list[Window]:
        """The windows to be counted now: all that are expected, if this is one; each once, and of one kind of time."""
        expected = dict.fromkeys(each.window for each in self._expected if each.window.aware == window.aware)
        return list(expected) if window in expected else [window]

    def _see(self, window: Window) -> _Seen:
        """How many rows take part in a window, and how many are dropped for each reason."""
        if window not in self._seen:
            windows = self._one_pass(window)
            self._seen |= zip(windows, self._see_all(windows), strict=True)
        return self._seen[window]

    def _see_all(self, windows: Sequence[Window]) -> list[_Seen]:
        rows, comparable = self._rows, self._comparable(windows[0])
        # reasons that are asked before the window are those of every window
        before = ibis.cases(
            (~rows.kept, "filtered"),
            (rows.person.isnull(), "null_person"),
            (rows.unreadable, "unreadable_time"),
            (rows.stamp.isnull(), "null_time"),
            (~comparable, "incomparable_time"),
            else_=_TIMED,
        )
        always = self._count_by(before, rows)
        inside = self._in(windows)
        reason = ibis.cases(
            (inside.person.isnull(), "null_person"),
            (inside.misplaced, "unreadable_place"),
            (~inside.placed, "null_place"),
            (inside["rank"].isnull(), "unknown_place"),
            else_=_TAKEN,
        )
        counted = inside.select("window", reason=reason).group_by("window", "reason").aggregate(rows=ibis._.count())
        found = [Counter[str]() for _ in windows]
        for row in self._bound.fetch(counted).to_pylist():
            found[row["window"]][row["reason"]] = int(row["rows"])
        return [_seen(always, each) for each in found]

    def _in(self, windows: Sequence[Window]) -> Any:
        """The rows of each window that pass the filter, whether or not they say who and where."""
        rows = self._rows
        timed = rows.filter(rows.kept, self._comparable(windows[0]), rows.stamp.notnull())
        return windowed(timed, [self._bounds(window) for window in windows], self._bound)

    def _count(self, query: CountVisitors, *, left_out: bool) -> _ByPlace:
        asked = (query.places_per_person, query.if_more, left_out)  # what questions differ in beside their windows
        if (query.window, asked) not in self._counted:
            windows = self._one_pass(query.window)
            inside = self._in(windows)
            taken = inside.filter(inside.person.notnull(), inside["rank"].notnull())
            taken = taken.select("person", "stamp", "rank", "window", "first")
            widest = max(end - first for first, end in map(self._bounds, windows))
            by_place = _by_place(taken, query, len(self._places), widest, left_out)
            answer = self._bound.fetch(by_place.order_by("window"))
            found = zip(windows, _each(answer, len(windows)), strict=True)
            self._counted |= {(window, asked): each for window, each in found}
        return self._counted[query.window, asked]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Seen(Private):
    """Of one window: how many rows take part or do not, by reason; and how many lie inside."""

    tally: Mapping[str, int]
    inside: int


def _seen(always: Mapping[str, int], inside: Mapping[str, int]) -> _Seen:
    """Put the reasons that are asked before the window together with those that are asked of the rows in it."""
    placed = {reason: number for reason, number in inside.items() if reason != "null_person"}
    tally = {reason: number for reason, number in always.items() if reason != _TIMED} | placed
    outside = always[_TIMED] - sum(placed.values())
    return _Seen(Counter(tally | {"outside_window": outside}), sum(inside.values()))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _ByPlace(Private):
    """Of one window: the places where somebody is, how many count there and are left out, and how many are over the bound.

    How many are left out is given only where it was asked for; it is 0 otherwise.
    """

    rank: NDArray[np.int64]
    people: NDArray[np.int64]
    left_out: NDArray[np.int64]
    over: int


def _each(answer: pa.Table, windows: int) -> list[_ByPlace]:
    """Cut what was counted, in the order of the windows, into the windows."""
    names = ("window", "rank", "people", "left_out", "over")
    of, rank, people, left_out, over = (integers(answer, name) for name in names)
    ends = np.searchsorted(of, np.arange(windows + 1)).tolist()
    return [
        _ByPlace(rank[first:end], people[first:end], left_out[first:end], int(over[first:end].sum()))
        for first, end in itertools.pairwise(ends)
    ]


def _by_place(taken: Any, query: CountVisitors, n: int, widest: int, left_out: bool) -> Any:
    """Per window and rank: people counted there, people left out there, and a share of the number over the bound."""
    k, latest, none = query.places_per_person, query.if_more == "latest", ibis.literal(0)
    if k == 1 and not left_out:
        # A visit is one integer: its stamp, then its rank, so that ties go to the place earlier in the list.
        wide = (widest + 1) * n >= 2**63
        stamp = (taken.stamp.cast("decimal(38, 0)") if wide else taken.stamp) - taken.first
        packed = stamp * n + (n - 1 - taken["rank"] if latest else taken["rank"])
        person = taken.group_by(taken.person, taken.window).aggregate(
            chosen=packed.max() if latest else packed.min(), low=taken["rank"].min(), high=taken["rank"].max()
        )
        rank = person.chosen % n
        people = person.select("window", rank=n - 1 - rank if latest else rank, over=person.low != person.high)
        counted = people.group_by("window", "rank")
        return counted.aggregate(people=people.count(), left_out=none, over=people.over.sum())
    stamp = taken.stamp.max() if latest else taken.stamp.min()
    pairs = taken.group_by(taken.person, taken.window, taken["rank"]).aggregate(stamp=stamp)
    if k is None:
        return pairs.group_by(pairs.window, pairs["rank"]).aggregate(people=pairs.count(), left_out=none, over=none)
    preference = (pairs.stamp.desc() if latest else pairs.stamp.asc(), pairs["rank"].asc())
    place = ibis.row_number().over(group_by=(pairs.person, pairs.window), order_by=preference)
    placed = pairs.select("window", "rank", place=place)
    return placed.group_by(placed.window, placed["rank"]).aggregate(
        people=(placed.place < k).sum(), left_out=(placed.place >= k).sum(), over=(placed.place == k).sum()
    )
