# SPDX-License-Identifier: Apache-2.0
"""An open private table, and questions about windows of it: all windows of one run in one pass over the rows.

Of what a row is left out for, some is asked of it whatever the window (the filter, who, when), and is the same for every
window; the rest (where, in which group, with which number) is asked of the rows inside. A question without a window takes
rows of all times.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._buffers import as_numpy
from leeward._private import Private
from leeward.engine._beyond import Beyond
from leeward.engine._bound import Bound
from leeward.engine._coarse import UNITS, Coarse, at_start, of_times
from leeward.engine._columns import kept, stands_in, who
from leeward.engine._content import Content, recognised
from leeward.engine._cut_ids import refuse_cut
from leeward.engine._engines import Described
from leeward.engine._look import Look, TimeRange, covered
from leeward.engine._matches import Matches, Survey, matches_of_filter
from leeward.engine._no_time import no_times
from leeward.engine._people import people
from leeward.engine._slots import windowed
from leeward.engine._times import Times, when
from leeward.engine._window import Clock, bounds
from leeward.errors import BoundExceededError
from leeward.query import Visits, Window
from leeward.query._reasons import OF_TIMES
from leeward.query._statistic import DrawnFrom
from leeward.tables._files import File

if TYPE_CHECKING:
    import ibis.expr.types as ir

_TAKEN, _TIMED = "taken", "timed"

_Kind = tuple[bool, bool]

Reasons = Sequence[tuple[Any, str]]
"""Conditions on rows, and what a row is left out for where it is the first that holds."""


class Opened(Private):
    """An open private table: each kind of question has its own, a subclass.

    Args:
        source: its description.
        bound: the table, with the columns that the question reads.
        rows: its rows, perhaps with columns of ours.
        timed: whether a question is about a window, so that its column of times is read.
    """

    # No dict of its own: an Ibis table in it would print its rows wherever that is shown.
    __slots__ = ("_bound", "_clock", "_expected", "_of_all", "_raw", "_rows", "_seen", "_source", "_whenever")

    _rows: ir.Table
    """With columns ``kept`` and ``person``; with a clock also ``stamp``, ``unreadable_time`` and ``zoned``."""

    _of_all: ir.Table
    """The same rows with these columns alone: what is asked of them need not find their places."""

    _REASONS: ClassVar[Sequence[str]]
    """Why a row takes no part, in the order in which it is asked; where there is a window, also those of `OF_TIMES`."""

    def __init__(self, source: Described, bound: Bound, rows: ir.Table, *, timed: bool) -> None:
        self._source, self._bound, self._raw = source, bound, bound.rows
        self._clock = when(rows, source, bound) if timed else None
        self._expected: tuple[Any, ...] = ()
        self._seen: dict[Window | None, _Seen] = {}
        self._whenever: dict[_Kind, _Whenever] = {}

    def _of_each(self, rows: ir.Table) -> dict[str, Any]:
        """What is asked of each row whatever the window: who, whether it passes the filter, and when."""
        person = ibis.literal(0) if self._source.person is None else who(rows, self._source.person, self._bound)
        timed = {} if self._clock is None else self._clock.columns()
        return {"person": person, "kept": kept(rows, self._source), **timed}

    def _reasons(self, window: Window | None) -> tuple[str, ...]:
        of_times = () if window is None else OF_TIMES
        return tuple(dict.fromkeys([*self._REASONS[:2], *of_times, *self._REASONS[2:]]))

    @abstractmethod
    def _inside(self, rows: Any) -> Reasons:
        """What rows in a window that say who are left out for, in order."""

    @abstractmethod
    def exactly(self, query: Any, drawn_from: DrawnFrom) -> VisitCounts:
        """Return what noise is drawn from: the exact answer, one integer a key; or the tally of a statistic."""

    def content(self, key: bytes) -> Content:
        """Return what is kept to recognise the columns that can matter, under a secret key."""
        time = None if self._clock is None else self._source.time
        return recognised(self._bound, key, [] if time is None else [time])

    def files(self) -> Sequence[File]:
        """Return the files that are read; none where there are none."""
        return self._bound.read_files()

    def expect(self, queries: Sequence[Any]) -> None:
        """Say which questions will be asked: they are then looked at, and counted, in one pass over the rows."""
        self._expected = tuple(queries)

    def refuse_cut(self) -> None:
        """Refuse ids of people or places whose last digits are lost.

        Raises:
            DoubtfulDataError: there are such. For the curator only.
        """
        place = self._source.place if isinstance(self._source, Visits) else None
        asked = {"person": self._source.person, "place": place}
        refuse_cut(
            self._bound, {role: name for role, name in asked.items() if name is not None and name in self._raw.columns}
        )

    def matches(self, query: Any, windows: Sequence[Window] = ()) -> Matches | None:
        """See how the keys that rows name, in these windows, match the public list; None where there is nothing to compare.

        For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
        """
        return None

    def filtered(self, windows: Sequence[Window] = ()) -> Matches | None:
        """See how the texts of rows, in these windows, match those that the filter allows; None where it allows none.

        For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
        """
        found = matches_of_filter(self._bound, self._raw_of(windows), self._source.keep)
        self._bound.check_unchanged()
        return found

    def beyond(self, query: Any) -> Beyond | None:
        """See how many numbers that count are beyond the bounds; None where there are none, as of levels.

        Raises:
            DataError: a data file changed meanwhile.
        """
        return None

    def survey(self, query: Any) -> Survey:
        """See what else the curator wants to know of the table before a release.

        Raises:
            DataError: a data file changed meanwhile.
        """
        named = None if self._source.person is None else people(self._bound, self._of_all)
        return Survey(self.matches(query), self.beyond(query), self.filtered(), named)

    def look(self, query: Any) -> Look:
        """See how many rows the question would count, and why not more. For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
            SpecError: the window does not go with the time column.
        """
        window, ends, share, found = query.window, None, 1.0, None
        if window is not None:
            first, end = ends = self._bounds(window)
            always = self._see_whenever(window)
            low, high = always.first, always.last
            if always.timed:
                clock, per_second = self._when.clock_for(window), self._when.per_second
                share = covered(first, end, low, high)
                found = TimeRange(low, high, clock, per_second)
        seen = self._see(window)
        rows, dropped = sum(seen.tally.values()), self._dropped(window)
        return Look(rows, seen.tally[_TAKEN], dropped, share, found, seen.inside, ends, seen.nameless, seen.stand_ins)

    def goes_on_after(self, windows: Sequence[Window], *, within: bool = False) -> bool:
        """See whether rows go on soon after the last of some windows: within as much time as these take.

        A single row of a later day says nothing: a wrong clock, or a day that stands for none. For the curator only.

        Args:
            windows: one or more.
            within: whether rows from the start of the first of them on will do, whether or not they pass the filter.
        """
        ends = [self._bounds(window) for window in windows]
        last, soon = max(end for _, end in ends), sum(end - first for first, end in ends)
        rows = self._of_all.filter(self._comparable(windows[0], self._of_all))
        begins = min(first for first, _ in ends) if within else last
        there = (rows.stamp >= begins) & (rows.stamp < min(last + soon, 2**63 - 1))
        return bool(self._bound.fetch(rows.aggregate(there=there.any()))["there"][0].as_py())

    def coarse(self, windows: Sequence[Window]) -> list[Coarse]:
        """See how many of the times in and around some windows are cut to days, hours or minutes in which these begin.

        A window that begins where such a unit does loses nobody: who was there in the unit is taken to have been there at
        its start. (And a table may hold where people were at each full hour.)

        Raises:
            DataError: a data file changed meanwhile.
        """
        if not windows:
            return []
        ends = [self._bounds(window) for window in windows]
        per_second, shifts = self._when.per_second, self._shifts(windows[0])
        units = [
            (unit * per_second, name, share)
            for unit, name, share in UNITS
            if not all(at_start(first, unit * per_second, shifts) for first, _ in ends)
        ]
        if not units:
            return []
        day, most = 86_400 * per_second, 2**63 - 1
        first, last = max(min(one for one, _ in ends) - day, -most), min(max(end for _, end in ends) + day, most)
        rows = self._of_all.filter(self._of_all.kept, self._comparable(windows[0], self._of_all))
        rows = rows.filter(rows.stamp >= first, rows.stamp < last)
        counts = {name: at_start(rows.stamp, unit, shifts).ifelse(1, 0).sum() for unit, name, _ in units}
        (found,) = self._bound.fetch(rows.aggregate(of=rows.count(), **counts)).to_pylist()
        self._bound.check_unchanged()
        return [of_times(name, share, int(found[name] or 0), int(found["of"])) for _, name, share in units]

    def without_time(self, windows: Sequence[Window]) -> tuple[int, int]:
        """See how many rows have a time that stands for none and lies in none of these windows, and how many there are.

        Raises:
            DataError: a data file changed meanwhile.
        """
        if not windows:
            return 0, 0
        ends = [self._bounds(window) for window in windows]
        stamps = no_times(self._source.timezone, self._when.per_second)
        asked = [stamp for stamp in stamps if not any(first <= stamp < end for first, end in ends)]
        rows = self._of_all.filter(self._of_all.kept)
        number = rows.stamp.isin(asked).fill_null(False).ifelse(1, 0).sum()
        (found,) = self._bound.fetch(rows.aggregate(of=rows.count(), number=number)).to_pylist()
        self._bound.check_unchanged()
        return int(found["number"] or 0), int(found["of"])

    def _shifts(self, window: Window) -> list[int]:
        """By how much clocks are ahead of what the stamps are of, in stamps: those of the window, and of the zone."""
        if self._when.clock_for(window) is Clock.READINGS:
            return []
        zones = [window.start.tzinfo] if window.aware else []
        zones += [] if self._source.timezone is None else [ZoneInfo(self._source.timezone)]
        moments = [window.start.replace(tzinfo=None, month=month, day=1) for month in (1, 7)]
        ahead = {moment.replace(tzinfo=zone).utcoffset() or timedelta() for zone in zones for moment in moments}
        return sorted(int(each.total_seconds()) * self._when.per_second for each in ahead)

    def _dropped(self, window: Window | None) -> dict[str, int]:
        """How many rows a question about this window leaves out, by reason."""
        tally = self._see(window).tally
        return {reason: tally[reason] for reason in self._reasons(window)}

    def _taken(self, window: Window | None) -> int:
        return self._see(window).tally[_TAKEN]

    @property
    def _when(self) -> Times:
        assert self._clock is not None
        return self._clock

    def _bounds(self, window: Window) -> tuple[int, int]:
        """The integers between which the stamps of a window lie."""
        most = 2**63 - 1
        ends = bounds(window, self._when.clock_for(window), self._source.timezone, self._when.per_second)
        first, end = (min(max(bound, -most), most) for bound in ends)
        return first, end

    def _see_whenever(self, window: Window) -> _Whenever:
        """What holds for every window that is compared with times as this one is: it is seen in one pass."""
        if (kind := self._kind(window)) not in self._whenever:
            rows = self._of_all
            comparable = self._comparable(window, rows)
            before = ibis.cases(
                (~rows.kept, "filtered"),
                (rows.person.isnull(), "null_person"),
                (rows.unreadable_time, "unreadable_time"),
                (rows.stamp.isnull(), "null_time"),
                (~self._of_its_clock(window, rows), "incomparable_time"),
                (~comparable, "date_alone"),
                else_=_TIMED,
            )
            some = rows.select(reason=before, stamp=comparable.ifelse(rows.stamp, ibis.null()))
            each = some.group_by("reason").aggregate(
                rows=ibis._.count(), timed=some.stamp.count(), first=some.stamp.min(), last=some.stamp.max()
            )
            self._whenever[kind] = _whenever(self._bound.fetch(each).to_pylist())
        return self._whenever[kind]

    def _raw_of(self, windows: Sequence[Window]) -> Any:
        """The rows as they stand, from the start of the first of these windows to the end of the last; all for none."""
        if not windows:
            return self._raw
        clock, ends = when(self._raw, self._source, self._bound), [self._bounds(window) for window in windows]
        inside = (clock.stamp >= min(first for first, _ in ends)) & (clock.stamp < max(end for _, end in ends))
        if clock.zoned is not None and clock.clock is None:
            inside &= clock.zoned if windows[0].aware else ~clock.zoned
        return self._raw.filter(inside.fill_null(False))

    def _comparable(self, window: Window, rows: Any) -> Any:
        of_its_clock = self._of_its_clock(window, rows)
        return of_its_clock if self._of_whole_days(window) else of_its_clock & ~rows.dated

    def _of_its_clock(self, window: Window, rows: Any) -> Any:
        if self._when.clock is not None:
            return ibis.literal(True)
        return rows.zoned if window.aware else ~rows.zoned

    def _of_whole_days(self, window: Window) -> bool:
        day = 86_400 * self._when.per_second
        return not any(end % day for end in self._bounds(window))

    def _kind(self, window: Window) -> _Kind:
        """What decides with which rows a window can be compared."""
        return window.aware, self._of_whole_days(window)

    def _one_pass(self, window: Window | None) -> list[Any]:
        """The windows to be counted now: all that are expected, if this is one; each once, and of one kind of time."""
        if window is None:
            return [window]
        asked = (each.window for each in self._expected)
        same = (each for each in asked if each is not None and each.aware == window.aware)
        expected = dict.fromkeys(each for each in same if self._kind(each) == self._kind(window))
        return list(expected) if window in expected else [window]

    def _see(self, window: Window | None) -> _Seen:
        """How many rows take part in a window, and how many are dropped for each reason."""
        if window not in self._seen:
            windows = self._one_pass(window)
            seen = [self._see_always()] if window is None else self._see_all(windows)
            self._seen |= zip(windows, seen, strict=True)
        return self._seen[window]

    def _see_always(self) -> _Seen:
        rows = self._rows
        before: Reasons = ((~rows.kept, "filtered"), (rows.person.isnull(), "null_person"))
        reason = ibis.cases(*before, *self._inside(rows), else_=_TAKEN)
        marked = rows.select(
            window=ibis.literal(0, "int32"), reason=reason, stand_in=rows.kept & stands_in(rows.person)
        )
        ((tally, stand_ins),) = self._tallied(marked, 1)
        return _Seen(tally, sum(tally.values()) - tally["filtered"], tally["null_person"], stand_ins)

    def _see_all(self, windows: Sequence[Window]) -> list[_Seen]:
        always = self._see_whenever(windows[0]).reasons
        inside = self._in(windows, self._rows)
        reason = ibis.cases((inside.person.isnull(), "null_person"), *self._inside(inside), else_=_TAKEN)
        marked = inside.select("window", reason=reason, stand_in=stands_in(inside.person))
        return [_seen(always, *each) for each in self._tallied(marked, len(windows))]

    def _tallied(self, marked: Any, windows: int) -> list[tuple[Counter[str], int]]:
        """Of each window, how many rows there are of each reason, and how many name a stand-in for a person."""
        stand_ins = marked.stand_in.ifelse(1, 0).sum()
        counted = marked.group_by("window", "reason").aggregate(rows=ibis._.count(), stand_ins=stand_ins)
        found, named = [Counter[str]() for _ in range(windows)], [0] * windows
        for row in self._bound.fetch(counted).to_pylist():
            found[row["window"]][row["reason"]] = int(row["rows"])
            named[row["window"]] += int(row["stand_ins"])
        return list(zip(found, named, strict=True))

    def _in(self, windows: Sequence[Any], rows: Any) -> Any:
        """Of some rows those of each window that pass the filter, whether or not they say who; without a window all such."""
        if windows == [None]:
            return rows.filter(rows.kept).mutate(window=ibis.literal(0, "int32"))
        timed = rows.filter(rows.kept, self._comparable(windows[0], rows), rows.stamp.notnull())
        return windowed(timed, [self._bounds(window) for window in windows], self._bound)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VisitCounts(Private):
    """What was counted: exact and private, for the curator's machine only.

    Attributes:
        people_over_bound: how many people were at more distinct listed places than the bound allows.
        dropped: the number of rows dropped for each reason.
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


def integers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of whole numbers, of whatever type the engine chose for a sum, none of them null."""
    return as_numpy(table.column(column).cast(pa.int64()))


def cut(answer: pa.Table, windows: int) -> list[slice]:
    """Where each of so many windows lies in what was counted of all, which is in their order."""
    ends = np.searchsorted(integers(answer, "window"), np.arange(windows + 1)).tolist()
    return [slice(*both) for both in pairwise(ends)]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Whenever(Private):
    """Of all windows: how many rows each reason leaves out that is asked before the window, and the range of times.

    The range is that of all rows whose time can be compared with a window, also of those that are left out; it is 0 to 0
    where there are none.
    """

    reasons: Mapping[str, int]
    timed: int
    first: int
    last: int


def _whenever(groups: Sequence[Mapping[str, Any]]) -> _Whenever:
    timed = [group for group in groups if group["timed"]]
    return _Whenever(
        Counter({group["reason"]: int(group["rows"]) for group in groups}),
        sum(int(group["timed"]) for group in timed),
        min((group["first"] for group in timed), default=0),
        max((group["last"] for group in timed), default=0),
    )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Seen(Private):
    """Of one window: how many rows take part or do not, by reason; how many lie inside, and how many of those say nobody.

    They say nobody where they are nameless, or where their person stands in for those who are not known.
    """

    tally: Mapping[str, int]
    inside: int
    nameless: int
    stand_ins: int


def _seen(always: Mapping[str, int], inside: Mapping[str, int], stand_ins: int) -> _Seen:
    """Put the reasons that are asked before the window together with those that are asked of the rows in it."""
    placed = {reason: number for reason, number in inside.items() if reason != "null_person"}
    tally = {reason: number for reason, number in always.items() if reason != _TIMED} | placed
    outside = always[_TIMED] - sum(placed.values())
    nameless = inside.get("null_person", 0)
    return _Seen(Counter(tally | {"outside_window": outside}), sum(inside.values()), nameless, stand_ins)
