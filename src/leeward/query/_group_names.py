# SPDX-License-Identifier: Apache-2.0
"""Public groups by one column, or by several at once: what they are made of, and how sentences name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from leeward._plain import listed
from leeward.query._source import Allowed

By: TypeAlias = str | tuple[str, ...] | None
"""The column of groups; several, of which a group has a value each; None where there are no groups."""

Group: TypeAlias = Allowed | tuple[Allowed, ...]
"""A group: a value of its column, or of several columns a value each."""


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
