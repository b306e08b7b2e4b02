# SPDX-License-Identifier: Apache-2.0
"""Exact statistics of one number a person: a table becomes integers on a public grid, and their tally leaves the engine.

Every number is clamped to the public bounds and rounded half up to the public grid; what is counted is how many people have
each grid value in each public group. Sums, means and percentiles follow from that tally in exact integers, so they do not
depend on the order of rows as floating sums do.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, cast

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward.engine._beyond import Beyond
from leeward.engine._bound import Bound
from leeward.engine._builtin import leeward_decimal, whole_quotient
from leeward.engine._columns import columns_by_role, kept, like_whole, number_written, without_nan
from leeward.engine._matches import Matches, matches
from leeward.engine._roles import INTERVALS
from leeward.engine._timed import Opened, Reasons, VisitCounts, cut, integers
from leeward.errors import BoundExceededError, DataError
from leeward.noise._saturating import MOST
from leeward.notion._value_grid import ValueGrid
from leeward.query import Window
from leeward.query._group_names import columns_of, lists_of
from leeward.query._numeric import Mean, Percentile, Sum
from leeward.query._public_values import MOST_FINE, fine
from leeward.query._reasons import OF_NUMBERS
from leeward.query._source import Allowed
from leeward.query._spread import Variance
from leeward.query._statistic import DrawnFrom, Statistic

Tally = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Place of a group, steps above the lower bound, and how many people: each of shape (rows,)."""


def columns_of_numbers(query: Statistic) -> dict[str, str]:
    """Return what each column of the table that is read is for, and its name."""
    source = query.records
    named = {"person": source.person, "column": query.column}
    named["time"] = None if query.window is None else source.time
    by = columns_of(query.by)
    for index, column in enumerate(by, 1):
        role = "by" if len(by) == 1 else f"column {index} of by"
        named[role + INTERVALS if column in dict(query.intervals) else role] = column
    return columns_by_role(named, source.keep)


class NumberTable(Opened):
    """An open table of numbers."""

    __slots__ = ("_tallies",)

    _REASONS = tuple(OF_NUMBERS)

    def __init__(self, query: Statistic, bound: Bound) -> None:
        rows = bound.rows
        number, unreadable = ibis.literal(0, "int64"), ibis.literal(False)
        interval, misread = dict[str, str](), list[str]()
        for i, (by, ends) in enumerate(query.intervals):
            rows, place, no_number = _index(rows, f"by = '{by}'", by, ends, "down", bound, f"_{i}")
            interval[by] = _unused(rows, f"interval_{i}")
            misread.append(_unused(rows, f"misread_{i}"))
            rows = bound.staged(f"leeward_interval_{i}", rows.mutate(**{interval[by]: place, misread[-1]: no_number}))
        if query.column is not None and query.values is not None:
            rounded: Rounding = "up" if query.levels else "down" if query.kind == "histogram" else "nearest"
            name = f"column = '{query.column}'"
            rows, number, unreadable = _index(rows, name, query.column, query.values, rounded, bound)
        super().__init__(query.records, bound, rows, timed=query.window is not None)
        uncut = functools.reduce(operator.or_, (rows[name] for name in misread), ibis.literal(False))
        plain = self._of_each(rows) | {"number": number, "unreadable": unreadable, "uncut": uncut}
        plain |= _beyond(rows, query)
        self._of_all = bound.staged("leeward_all_numbers", rows.select(**plain))
        self._rows = bound.staged("leeward_numbers", _grouped(rows, plain, query, interval, bound))
        self._tallies: dict[Window | None, tuple[int, Tally]] = {}

    def _inside(self, rows: Any) -> Reasons:
        return (
            (rows.uncut, "unreadable_number"),
            (rows.group.isnull(), "unknown_group"),
            (rows.unreadable, "unreadable_number"),
            (rows.number.isnull(), "no_number"),
        )

    def matches(self, query: Statistic, windows: Sequence[Window] = ()) -> Matches | None:
        rows, found = self._raw_of(windows), cast(Matches | None, None)
        rows, intervals = rows.filter(kept(rows, self._source)), dict(query.intervals)
        for by, keys in lists_of(query.by, query.listed).items():
            if by in intervals:
                continue
            values = _compared(rows, by, keys, self._bound)
            listed, _ = _listed(values.type(), by, keys)
            if len(listed):
                one = matches(self._bound, rows.select(key=values), listed)
                found = one if found is None else found.beside(one)
        self._bound.check_unchanged()
        return found

    def beyond(self, query: Statistic) -> Beyond | None:
        if "above" not in self._rows.columns:
            return None
        taken, summed = self._that_count(self._one_pass(query.window)), query.records.combine == "sum"
        below, above = taken.below, taken.above
        if summed := summed and query.values is not None and not query.levels:
            first = int(query.values.lower / query.values.step)
            number, width = taken.number, query.values.steps
            taken = taken.group_by("window", "person").aggregate(
                number=(number + first).sum() - first, below=below.any(), above=above.any()
            )
            below, above = (taken.number < 0) | taken.below, (taken.number > width) | taken.above
            above &= ~below  # of somebody with numbers beyond both, the sum counts once
        found = taken.aggregate(of=taken.count(), below=below.ifelse(1, 0).sum(), above=above.ifelse(1, 0).sum())
        (one,) = self._bound.fetch(found).to_pylist()
        self._bound.check_unchanged()
        return Beyond(int(one["below"] or 0), int(one["above"] or 0), int(one["of"]), summed)

    def exactly(self, query: Statistic, drawn_from: DrawnFrom = "answer") -> VisitCounts:
        """Return what a mechanism draws from: `count`, or `tally`."""
        return self.tally(query) if drawn_from == "tally" else self.count(query)

    def count(self, query: Statistic) -> VisitCounts:
        """Return the exact answer in whole steps, and what was dropped.

        Raises:
            BoundExceededError: people have several rows and the query refuses that, or the number of people is not the
                public one.
            DataError: a data file changed meanwhile.
        """
        several, tally = self._people(query)
        return self._counted(query, several, answer_of(query, *tally))

    def tally(self, query: Statistic) -> VisitCounts:
        """Return how many people have each number, instead of the answer: what a percentile by rank is drawn from.

        Its counts are one row for each group and grid point where somebody is, in this order: the place of the group, steps
        above the lower bound, and how many people; shape (rows, 3).

        Raises:
            BoundExceededError: see `count`.
            DataError: see `count`.
        """
        several, tally = self._people(query)
        answer_of(query, *tally)  # refuses what it refuses
        group, number, people = tally
        order = np.lexsort((number, group))
        return self._counted(query, several, np.stack([group[order], number[order], people[order]], axis=1))

    def _counted(self, query: Statistic, several: int, counts: NDArray[np.int64]) -> VisitCounts:
        return VisitCounts(several, self._dropped(query.window), self._taken(query.window), False, counts)

    def _people(self, query: Statistic) -> tuple[int, Tally]:
        """Return how many people have several rows, and how many people there are by group and number."""
        if query.window not in self._tallies:
            windows = self._one_pass(query.window)
            self._see(query.window)  # before the data are looked at again
            self._tallies |= zip(windows, self._tally_all(query, windows), strict=True)
        several, tally = self._tallies[query.window]
        self._bound.check_unchanged()
        if query.records.combine == "refuse" and several > 0:
            raise BoundExceededError(
                f"{several:,} {'person has' if several == 1 else 'people have'} more than one row"
                + ("" if query.window is None else " in the window"),
                "combine = 'refuse' (that it is refused is a fact about the data: do not publish it)",
                "Say that each counts once: combine = 'max'"
                if query.column is None
                else "Say how a person's numbers are combined: combine = 'sum', 'min' or 'max'",
            )
        return several, tally

    def _that_count(self, windows: Sequence[Any]) -> Any:
        """The rows that count in each window."""
        inside = self._in(windows, self._rows)
        return inside.filter(inside.person.notnull(), inside.group.notnull(), inside.number.notnull())

    def _tally_all(self, query: Statistic, windows: Sequence[Any]) -> list[tuple[int, Tally]]:
        """Return the same of each window, in one pass over the rows for each of the two."""
        values, combine = query.values, query.records.combine
        taken = self._that_count(windows).select("window", "person", "group", "number")
        several = np.zeros(len(windows), np.int64)
        if query.records.person is not None:
            # steps above the lower bound, of which the sum of n numbers holds n, not 1
            first = int(values.lower / values.step) if combine == "sum" and values is not None else 0
            how = {"sum": (taken.number + first).sum() - first, "max": taken.number.max()}
            people = taken.group_by("window", "person").aggregate(
                group=taken.group.min(), number=how.get(combine, taken.number.min()), rows=taken.count()
            )
            more = people.filter(people.rows > 1)
            found = self._bound.fetch(more.group_by("window").aggregate(n=more.count()))
            several[integers(found, "window")] = integers(found, "n")
            taken = people
            if combine == "sum" and values is not None:
                taken = people.mutate(number=people.number.clip(0, values.steps))
        tally = taken.group_by("window", "group", "number").aggregate(people=taken.count())
        answer = self._bound.fetch(tally.order_by("window"))
        group, number, people = (integers(answer, name) for name in ("group", "number", "people"))
        parts = [(group[each], number[each], people[each]) for each in cut(answer, len(windows))]
        return list(zip(several.tolist(), parts, strict=True))


Rounding = Literal["nearest", "down", "up"]
"""How a number becomes steps above the lower bound: half up; into the interval that it is in; above a level at least one."""


def _index(
    rows: Any, given: str, name: str, values: ValueGrid, rounding: Rounding, bound: Bound, which: str = ""
) -> tuple[Any, Any, Any]:
    """The rows, the number of each as steps above the lower bound, and whether it holds something that is not a number.

    It is clamped, then rounded half up; null where there is none. For a histogram, the interval that it is in: rounded down.
    Above levels rounded up: whoever is above a level is at least one step above it then, and nobody else is.
    From the reading of a number on, all arithmetic is exact.

    What the caller gave that names the column is in messages; which of several it is, in the names of what is staged.
    """
    column = rows[name]
    kind = column.type()
    if kind.is_null():
        return rows, ibis.null("int64"), ibis.literal(False)
    if not (kind.is_string() or kind.is_numeric()) or kind.is_boolean():
        raise DataError(given, "it does not hold numbers", "Name a column of numbers")
    most = max(abs(values.lower), abs(values.upper))
    scale, unreadable = fine(values), ibis.literal(False)
    if kind.is_integer():
        lower, upper = math.floor(values.lower), math.ceil(values.upper)
        if kind.is_uint64():
            column = (column > MOST).ifelse(MOST, column)
        column = column.cast("int64")
        inside = (column < lower).ifelse(lower, (column > upper).ifelse(upper, column))
        units = inside * scale
    else:
        if most * scale > _FLOAT_INTEGERS:
            raise DataError(
                f"{given} of type {kind}, with {values}",
                "so many steps are more than floating point resolves, and all but whole-number columns are read by it",
                "Store the numbers as 64-bit integers in units of the step, or take a larger step or narrower bounds",
            )
        # float32 goes through its text, so that it too is the decimal that it prints as
        number = leeward_decimal(column) if kind.is_floating() and kind.nbytes < 8 else column
        read, inside, near = (_unused(rows, word) for word in ("read", "inside", "near"))
        rows = bound.staged(
            f"leeward_read{which}",
            rows.mutate(**{read: number_written(number) if kind.is_string() else number.try_cast("float64")}),
        )
        number = rows[read].isnan().ifelse(ibis.null(), rows[read])
        # finer than the step, so that a number with more digits is rounded rightly
        finer = (scale * 10**places for places in range(9, 0, -1))
        scale = next((each for each in finer if each <= MOST_FINE and most * each <= _FLOAT_INTEGERS), scale)
        clamped = number.clip(_float_below(values.lower), -_float_below(-values.upper))
        rows = bound.staged(f"leeward_clamped{which}", rows.mutate(**{inside: clamped}))
        rows = bound.staged(f"leeward_near{which}", rows.mutate(**{near: (rows[inside] * scale + 0.5).floor()}))
        nearest, unreadable = rows[near], rows[name].notnull() & rows[read].isnull()
        # Exactly: the quotient is the float that a number of so many units is read as, so a larger number is beyond it.
        if rounding == "up":
            nearest += (rows[inside] > nearest / scale).ifelse(1, 0)
        elif rounding == "down":
            nearest -= (rows[inside] < nearest / scale).ifelse(1, 0)
        units = nearest.cast("int64")
    step = int(values.step * scale)
    above = units - int(values.lower * scale)
    last = values.steps
    if rounding == "down":
        return rows, whole_quotient(above.clip(0, None), step).clip(0, last - 1), unreadable
    if rounding == "up":
        return rows, whole_quotient((above + step - 1).clip(0, None), step).clip(0, last), unreadable
    return rows, whole_quotient((2 * above + step).clip(0, None), 2 * step).clip(0, last), unreadable


def _beyond(rows: Any, query: Statistic) -> dict[str, Any]:
    """Return whether a number of each row is beyond its bounds, below and above: those of the column, or of intervals."""
    asked = list(query.intervals)
    if query.column is not None and query.values is not None and not query.levels:
        asked.append((query.column, query.values))
    found = dict[str, Any]()
    for name, values in asked:
        column = rows[name]
        if column.type().is_null():
            continue
        number = without_nan(column) if column.type().is_numeric() else number_written(column)
        here = {"below": number < float(values.lower), "above": number > float(values.upper)}
        found = {side: found.get(side, ibis.literal(False)) | is_so.fill_null(False) for side, is_so in here.items()}
    return found


def _unused(rows: Any, word: str) -> str:
    """A name for a column of ours that no column of theirs has."""
    while word in rows.columns:
        word += "_"
    return word


_FLOAT_INTEGERS = 2**50
"""Up to here a float times a whole number is nearer than a quarter to the exact product."""


def _float_below(bound: Fraction) -> float:
    nearest = float(bound)
    return nearest if Fraction(nearest) <= bound else math.nextafter(nearest, -math.inf)


def _grouped(rows: Any, plain: Mapping[str, Any], query: Statistic, cut: Mapping[str, str], bound: Bound) -> Any:
    """Return what is kept of each row, with the place of its group in the public order; null where it is in none.

    A text that is no number is in no interval; among all others it counts, and is told as what cannot be read all the same.
    ``cut`` has the columns of groups that are intervals, and those that hold the interval of each row.
    """
    lists = lists_of(query.by, query.listed)
    asked = {c: rows[cut[c]] if c in cut else _compared(rows, c, listed, bound) for c, listed in lists.items()}
    keys = {f"rank_{i}" if c in cut else f"key_{i}": values for i, (c, values) in enumerate(asked.items())}
    found, place = rows.select(**plain, **keys), ibis.literal(0, "int64")
    for i, (column, listed) in enumerate(lists.items()):
        if column in cut:
            continue
        held, ranks = _listed(asked[column].type(), column, listed)
        every, _ = bound.ranked(found.rename(key=f"key_{i}"), held, ranks, f"leeward_keys_{i}")
        found = every.rename(**{f"rank_{i}": "rank"})
    for i, listed in enumerate(lists.values()):
        place = place * len(listed) + found[f"rank_{i}"]
    if query.others:
        place = place.fill_null(len(query.listed))
    return found.select(*plain, group=place)


def _compared(rows: Any, column: str, groups: Sequence[Allowed], bound: Bound) -> Any:
    return rows[column] if isinstance(groups[0], str) else like_whole(rows[column], bound.declares(column))


def _listed(kind: Any, column: str, groups: Sequence[Allowed]) -> tuple[pa.Array, NDArray[np.int32]]:
    """Return the listed groups that a column of this type can hold, and the place of each in the public list."""
    text = isinstance(groups[0], str)
    if kind.is_null():
        return pa.nulls(0), np.zeros(0, np.int32)
    if text != kind.is_string() or not (text or kind.is_integer()):
        raise DataError(
            f"by = '{column}'",
            "its values and the listed groups are of different types",
            "Write the groups as the column does: texts, or whole numbers. Values of other types, such as truth values, are"
            " stored as texts first",
        )
    # a number below 0 is in no unsigned column, and the engine does not compare it with one
    unsigned = kind.is_unsigned_integer()
    listed = {rank: group for rank, group in enumerate(groups) if not unsigned or int(group) >= 0}
    held = pa.string() if text else pa.uint64() if unsigned else pa.int64()
    return pa.array(list(listed.values()), held), np.fromiter(listed, np.int32, len(listed))


def answer_of(
    query: Statistic, group: NDArray[np.int64], number: NDArray[np.int64], people: NDArray[np.int64]
) -> NDArray[np.int64]:
    n = max(1, len(query.groups))
    if query.kind == "histogram":
        counts = np.zeros(n * query.bins, dtype=np.int64)
        np.add.at(counts, group * query.bins + number, people)
        return counts
    if query.levels:
        return _above(query, n, group, number, people)
    order = np.lexsort((number, group))
    group, number, people = group[order], number[order], people[order]
    ends = np.searchsorted(group, np.arange(n + 1))
    parts = [(number[first:end], people[first:end]) for first, end in itertools.pairwise(ends.tolist())]
    exactly = [value for part in parts for value in _statistic(query, *part)]
    return np.array([min(max(value, -MOST), MOST) for value in exactly], dtype=np.int64)


def _above(
    query: Statistic, groups: int, group: NDArray[np.int64], number: NDArray[np.int64], people: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many are above each level of each group, the highest level first."""
    assert query.values is not None
    steps = np.array([int((level - query.levels[0]) / query.values.step) for level in query.levels], np.int64)
    passed = np.searchsorted(steps, number)  # how many levels lie below a number
    held = np.zeros((groups, len(steps) + 1), dtype=np.int64)
    np.add.at(held, (group, passed), people)
    return np.cumsum(held[:, :0:-1], axis=1).ravel()


def _statistic(query: Statistic, number: NDArray[np.int64], people: NDArray[np.int64]) -> tuple[int, ...]:
    """Return one group's answer: numbers ascending with how many people have each."""
    assert query.values is not None
    assert query.numeric is not None
    total = int(people.sum())
    steps = sum(value * count for value, count in zip(number.tolist(), people.tolist(), strict=True))
    if query.people is not None and total != query.people:
        raise BoundExceededError(
            f"{total} {query.many} have a number, and {query.people} were declared",
            "the declared number is public and must be true (that it is not is a fact about the data: do not publish it)",
            "Leave people out, or declare the number that is publicly known",
        )
    values, numeric = query.values, query.numeric
    if isinstance(numeric, Percentile):
        if total == 0:
            return (int((numeric.answer([]) - values.lower) / values.step),) * (len(query.ps) or 1)
        places = [min(math.floor(p * total / 100), total - 1) for p in query.ps or (numeric.p,)]
        return tuple(number[np.searchsorted(np.cumsum(people), places, side="right")].tolist())
    if isinstance(numeric, Mean):
        if query.people is None:  # the sum of twice the distances from the middle, and the number of people
            return 2 * steps - total * values.steps, total
        assert numeric.grid is not None
        mean = values.lower + values.step * Fraction(steps, total)
        return (int(numeric.rounded(mean) / numeric.grid),)
    if isinstance(numeric, Variance):
        return _spread(query, numeric, number, people)
    assert isinstance(numeric, Sum)  # the plan refused any other
    exactly = (values.lower * total + values.step * steps) / values.grid_with_zero
    return (int(exactly),)


def _spread(
    query: Statistic, numeric: Variance, number: NDArray[np.int64], people: NDArray[np.int64]
) -> tuple[int, ...]:
    """Return the variance in its units; over a private number of people what it is made from (`planner._spread`)."""
    k = numeric.values.steps
    from_middle = [(2 * steps - k, many) for steps, many in zip(number.tolist(), people.tolist(), strict=True)]
    total = sum(many for _, many in from_middle)
    sums = sum(u * many for u, many in from_middle)
    squares = sum(u * u * many for u, many in from_middle)
    if query.people is None:
        return sums, 2 * squares - k * k * total, total
    variance = (numeric.values.step / 2) ** 2 * (Fraction(squares, total) - Fraction(sums, total) ** 2)
    return (int(numeric.in_units(variance) / numeric.unit),)
