# SPDX-License-Identifier: Apache-2.0
"""Public groups by one column, or by several at once: what they are made of, and how sentences name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from leeward._plain import listed
from leeward.query._source import Allowed

By: TypeAlias = str | tuple[str, ...] | None
"""The column of groups; several, of which a group has a value each; None where there are no groups."""

Group: TypeAlias = Allowed | tuple[Allowed, ...]
"""A group: a value of its column, or of several columns a value each."""


OF_ANSWERS: Final = frozenset(
    {
        *("from", "to", "above", "percentile"),
        *("value", "count", "people", "rows", "within_95_percent", "state", "answered", "look", "left_out"),
        *("latitude", "longitude", "geometry"),
    }
)
"""Names of columns of answers, which tell of what kind an answer is, and of what is drawn as a place."""


def answer_column(column: str) -> str:
    """Return what a column of groups, one of several, is called in answers: ``group_count`` where it is ``count``.

    So a name of `OF_ANSWERS` always means what is published under it, whatever the columns of a table are called.
    """
    return f"group_{column}" if column in OF_ANSWERS else column


def end_columns(column: str) -> tuple[str, str]:
    """Return what the columns of answers are called that hold the ends of intervals of a column."""
    named = answer_column(column)
    return f"{named}_from", f"{named}_to"


def columns_of(by: By) -> tuple[str, ...]:
    """Return the columns that say in which group somebody is."""
    return () if by is None else (by,) if isinstance(by, str) else by


def columns_named(by: By, quotes: str = "''") -> str:
    """Name the columns in a sentence: ``'sex' and 'income'``."""
    return listed([f"{quotes[0]}{column}{quotes[-1]}" for column in columns_of(by)])


def group_named(group: Group) -> str:
    """Name a group: by its value, or by those of its columns."""
    return ", ".join(map(_apart, group)) if isinstance(group, tuple) else str(group)


def _apart(value: Allowed) -> str:
    """A value beside others: within quotes where it could be read as two, or as one that has quotes of its own."""
    text = str(value)
    return f"‘{text}’" if ", " in text or text[:1] == "‘" else text


def lists_of(by: By, groups: Sequence[Group]) -> dict[str, tuple[Allowed, ...]]:
    """Return the public list of each column, in its order, of groups that are all there are of these."""
    if isinstance(by, tuple):
        parts = [group if isinstance(group, tuple) else (group,) for group in groups]
        return {column: tuple(dict.fromkeys(part[i] for part in parts)) for i, column in enumerate(by)}
    return {} if by is None else {by: tuple(group for group in groups if not isinstance(group, tuple))}
