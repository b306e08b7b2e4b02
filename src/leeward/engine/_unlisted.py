# SPDX-License-Identifier: Apache-2.0
"""Count exactly how many people are in each group that the rows of a table name.

Nothing of what is counted here is public, not even which groups there are: it goes to the mechanism, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._private import Private
from leeward.engine._bound import Bound
from leeward.engine._builtin import strlen
from leeward.engine._columns import columns_by_role
from leeward.engine._timed import Opened, Reasons, VisitCounts, cut, integers
from leeward.errors import BoundExceededError, DataError
from leeward.query import Window
from leeward.query._reasons import OF_UNLISTED
from leeward.query._statistic import DrawnFrom
from leeward.query._unlisted_groups import LONGEST, UnlistedGroups, as_words

_GREATEST = 2**63 - 1


def columns_of_unlisted(query: UnlistedGroups) -> dict[str, str]:
    """Return what each column of the table that is read is for, and its name."""
    source = query.records
    named = {"person": source.person, "by": query.by, "time": None if query.window is None else source.time}
    return columns_by_role(named, source.keep)


class UnlistedTable(Opened):
    """An open table whose groups are not listed."""

    __slots__ = ("_counted", "_is_text")

    _REASONS = tuple(OF_UNLISTED)

    def __init__(self, query: UnlistedGroups, bound: Bound) -> None:
        rows = bound.rows
        super().__init__(query.records, bound, rows, timed=query.window is not None)
        plain = self._of_each(rows)
        key, beyond, self._is_text = _group(rows[query.by], query.by, bound.declares(query.by))
        self._rows = self._of_all = bound.staged("leeward_unlisted", rows.select(**plain, key=key, beyond=beyond))
        self._counted: dict[Window | None, _ByGroup] = {}

    def _inside(self, rows: Any) -> Reasons:
        return ((rows.beyond, "long_group"), (rows.key.isnull(), "no_group"))

    def exactly(self, query: UnlistedGroups, drawn_from: DrawnFrom = "groups") -> VisitCounts:
        """Return each group that a row names, as `leeward.query._unlisted_groups.as_words`, and how many are in it.

        The first row says of what type the groups are (1: texts, 0: whole numbers); then there is a row a group, in the
        order of their names; shape (1 + groups, `WIDTH` + 1).

        Raises:
            BoundExceededError: people are in more groups than the bound allows, and the query refuses that.
            DataError: a data file changed meanwhile.
        """
        if query.window not in self._counted:
            windows = self._one_pass(query.window)
            self._see(query.window)  # before the data are looked at again
            self._counted |= zip(windows, self._count_all(query, windows), strict=True)
        found = self._counted[query.window]
        self._bound.check_unchanged()
        if query.if_more == "refuse" and found.over:
            raise BoundExceededError(
                f"{found.over:,} {'person is' if found.over == 1 else 'people are'} in more groups than groups_per_person"
                " allows",
                "if_more = 'refuse' (that it is refused is a fact about the data: do not publish it)",
                "Raise groups_per_person, or choose which groups to keep by if_more",
            )
        dropped, taken = self._dropped(query.window), self._taken(query.window)
        head = np.zeros((1, found.rows.shape[1]), np.int64)
        head[0, 0] = self._is_text
        return VisitCounts(found.over, dropped, taken, False, np.concatenate([head, found.rows]))

    def _count_all(self, query: UnlistedGroups, windows: list[Any]) -> list[_ByGroup]:
        m, inside = query.groups_per_person, self._in(windows, self._rows)
        taken = inside.filter(inside.person.notnull(), inside.key.notnull())
        if query.of_rows:
            counted = taken.group_by("window", "key").aggregate(people=taken.count(), over=ibis.literal(0))
        else:
            latest = query.if_more == "latest"
            stamp = ibis.literal(0) if windows == [None] else taken.stamp.max() if latest else taken.stamp.min()
            pairs = taken.group_by("window", "person", "key").aggregate(stamp=stamp)
            by_time = (
                [] if query.if_more in ("first", "refuse") else [pairs.stamp.desc() if latest else pairs.stamp.asc()]
            )
            order = [*by_time, pairs.key.asc()]
            place = ibis.row_number().over(group_by=(pairs.window, pairs.person), order_by=order)
            placed = pairs.select("window", "key", place=place)
            counted = placed.group_by("window", "key").aggregate(
                people=(placed.place < m).sum(), over=(placed.place == m).sum()
            )
        return _each(self._bound.fetch(counted.order_by("window", "key")), len(windows))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _ByGroup(Private):
    """Of one window: the groups with somebody in them and their counts, and how many people are over the bound."""

    rows: NDArray[np.int64]
    over: int


def _each(answer: pa.Table, windows: int) -> list[_ByGroup]:
    """Cut what was counted, in the order of the windows, into the windows."""
    people, over = (integers(answer, name) for name in ("people", "over"))
    found = np.column_stack([as_words(answer["key"].to_pylist()), people])
    return [_ByGroup(found[each][people[each] > 0], int(over[each].sum())) for each in cut(answer, windows)]


def _group(values: Any, column: str, declared: bool) -> tuple[Any, Any, bool]:
    """Return the group that each row names, null for none; whether it is longer than is told; and whether it is a text.

    That is a part of the answer, and must not hang on one person. So where nothing but values says what a column holds, its
    groups are texts, whatever they are; and a column that is said to hold nothing at all is refused.
    """
    kind = values.type()
    if not declared and (kind.is_null() or kind.is_integer()):
        values = values.cast("string")
        kind = values.type()
    if kind.is_null():
        raise DataError(
            f"by = '{column}'",
            "its type is that of a column in which nothing is, and whether groups are texts or numbers is a part of the"
            " answer (that it is refused may be a fact about the data: do not publish it)",
            "Give the column the type that its groups have",
        )
    if kind.is_string():
        size = strlen(values)
        return (
            ((size > 0) & (size <= LONGEST)).ifelse(values, ibis.null("string")),
            (size > LONGEST).fill_null(False),
            True,
        )
    if kind.is_integer():
        beyond = (values > _GREATEST).fill_null(False) if kind.is_uint64() else ibis.literal(False)
        return beyond.ifelse(ibis.null("int64"), values).cast("int64"), beyond, False
    raise DataError(
        f"by = '{column}'",
        "groups that are not listed are texts or whole numbers, and it holds neither",
        "Name a column of texts or whole numbers, or store this one as text",
    )
