# SPDX-License-Identifier: Apache-2.0
"""Count exactly, in one table of visits, the distinct people at each place of a public list.

Every row that takes no part does so for one reason, the first of `OF_VISITS` that holds. The counts, their number and
their order follow the list; nothing else about the answer's shape depends on the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._buffers import numbers
from leeward._private import Private
from leeward.engine._bound import Bound
from leeward.engine._coarse import Coarse, decimals_of, of_few_decimals, of_positions
from leeward.engine._columns import columns_by_role, hexagon, kept, key, point, square
from leeward.engine._matches import Matches, matches
from leeward.engine._places import PlaceList
from leeward.engine._timed import Opened, Reasons, VisitCounts, cut, integers
from leeward.query import CountVisitors, Visits, Window
from leeward.query._reasons import OF_VISITS
from leeward.query._statistic import DrawnFrom


def columns_of_visits(visits: Visits, places: PlaceList) -> dict[str, str]:
    """Return what each column of the table that is read is for, and its name."""
    wanted = {"person": visits.person, "time": visits.time}
    if places.grid is None:
        wanted["place"] = visits.place
    else:
        wanted |= {"latitude": visits.latitude, "longitude": visits.longitude}
    return columns_by_role(wanted, visits.keep)


class VisitTable(Opened):
    """An open table of visits."""

    __slots__ = ("_counted", "_listed", "_places", "_visits")

    _REASONS = tuple(OF_VISITS)

    def __init__(self, visits: Visits, places: PlaceList, bound: Bound) -> None:
        super().__init__(visits, bound, bound.rows, timed=True)
        self._visits, self._places, rows = visits, places, self._raw
        plain = self._of_each(rows)
        # what no place decides is asked of rows that are joined with no list, and counts of rows that name a listed place
        self._of_all = bound.staged("leeward_all_visits", rows.select(**plain))
        every, listed = self._ranked(rows, plain)
        self._rows, self._listed = bound.staged("leeward_visits", every), bound.staged("leeward_listed_visits", listed)
        self._counted: dict[tuple[Window, tuple[object, ...]], _ByPlace] = {}

    def _inside(self, rows: Any) -> Reasons:
        return (
            (rows.misplaced, "unreadable_place"),
            (~rows.placed, "null_place"),
            (rows["rank"].isnull(), "unknown_place"),
        )

    def matches(self, query: CountVisitors, windows: Sequence[Window] = ()) -> Matches | None:
        if self._places.grid is not None:
            return None
        assert self._visits.place is not None
        rows = self._raw_of(windows)
        rows = rows.filter(kept(rows, self._visits))
        keys = key(rows, self._visits.place, self._places, self._bound)
        found = matches(self._bound, rows.select(key=keys), self._places.keys)
        self._bound.check_unchanged()
        return found

    def coarse(self, windows: Sequence[Window]) -> list[Coarse]:
        """See also how many positions in some windows have fewer decimals than the cells of the grid are wide.

        Raises:
            DataError: a data file changed meanwhile.
        """
        found, grid = super().coarse(windows), self._places.grid
        if grid is None or not windows or not (few := decimals_of(grid)):
            return found
        rows = self._raw_of(windows)
        rows = rows.filter(kept(rows, self._visits))
        latitude, longitude, _ = point(rows, self._visits, grid)
        degrees = {"latitude": latitude, "longitude": longitude}
        counts = {axis: of_few_decimals(degrees[axis], digits).ifelse(1, 0).sum() for axis, digits in few}
        (sums,) = self._bound.fetch(rows.aggregate(of=latitude.count(), **counts)).to_pylist()
        self._bound.check_unchanged()
        return [*found, *(of_positions(axis, digits, int(sums[axis] or 0), int(sums["of"])) for axis, digits in few)]

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
        return self._counts_of(query, self._count(query, left_out=False))

    def count_with_left_out(self, query: CountVisitors) -> VisitCounts:
        """Return the counts of `count`, and behind them the most people whom the bound leaves out at any one place.

        Raises:
            DataError: see `count`.
            SpecError: see `count`.
        """
        found = self._count(query, left_out=True)
        counts = self._counts_of(query, found)
        most = found.left_out.max(initial=0)
        return replace(counts, _counts=np.append(counts._counts, most))

    def _counts_of(self, query: CountVisitors, found: _ByPlace) -> VisitCounts:
        dropped, taken = self._dropped(query.window), self._taken(query.window)
        self._bound.check_unchanged()
        counts = np.zeros(len(self._places), dtype=np.int64)
        counts[found.rank] = found.people
        return VisitCounts(
            people_over_bound=found.over,
            dropped=dropped,
            rows_kept=taken,
            refused=query.if_more == "refuse" and found.over > 0,
            _counts=counts,
        )

    def _ranked(self, rows: Any, plain: Mapping[str, Any]) -> tuple[Any, Any]:
        """The rows with their place's rank in the list (null where not listed) and whether they name a place.

        Returns:
            All of them; and those that name a listed place.
        """
        visits, places, bound = self._visits, self._places, self._bound
        if places.grid is not None:
            latitude, longitude, misplaced = point(rows, visits, places.grid)
            plain = {**plain, "misplaced": misplaced}
            if places.grid.h3 is None:
                cell = square(places.grid, latitude, longitude)
                found = rows.select(**plain, rank=cell, placed=latitude.notnull())
                return found, found.filter(found["rank"].notnull())
            found, placed = hexagon(places.grid, latitude, longitude, bound), latitude.notnull()
            keys = numbers(np.array([int(cell, 16) for cell in places.keys.to_pylist()], np.int64))
        else:
            assert visits.place is not None
            found, keys = key(rows, visits.place, places, bound), places.keys
            placed, plain = found.notnull(), {**plain, "misplaced": ibis.literal(False)}
        ranks = np.arange(len(keys), dtype=np.int32)
        return bound.ranked(rows.select(**plain, key=found, placed=placed), keys, ranks)

    def _count(self, query: CountVisitors, *, left_out: bool) -> _ByPlace:
        asked = (query.places_per_person, query.if_more, left_out)  # what questions differ in beside their windows
        if (query.window, asked) not in self._counted:
            windows = self._one_pass(query.window)
            inside = self._in(windows, self._listed)
            taken = inside.filter(inside.person.notnull())
            taken = taken.select("person", "stamp", "rank", "window", "first")
            widest = max(end - first for first, end in map(self._bounds, windows))
            by_place = _by_place(taken, query, len(self._places), widest, left_out)
            answer = self._bound.fetch(by_place.order_by("window"))
            found = zip(windows, _each(answer, len(windows)), strict=True)
            self._counted |= {(window, asked): each for window, each in found}
        return self._counted[query.window, asked]


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
    rank, people, left_out, over = (integers(answer, name) for name in ("rank", "people", "left_out", "over"))
    return [_ByPlace(rank[each], people[each], left_out[each], int(over[each].sum())) for each in cut(answer, windows)]


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
