# SPDX-License-Identifier: Apache-2.0
"""How many people are in each group of a column, where nobody has listed them: which there are is part of the answer.

What one change of one person does. A person is counted once in each of at most m groups: those their own rows name, or m of
these by a rule that looks at nobody else's rows. So withdrawing or inserting a person moves at most m counts by 1 each, all
one way, and replacing one moves at most 2m. There is no effect on a vector of counts to say, because there is no public list
of its coordinates: `leeward.mechanism.UnknownKeys` is the one mechanism for this question, and has its own theorem.

A group is the value of a column: a text of 1 to 64 bytes in UTF-8, or a whole number of 64 bits with its sign. A row with
any other value, or none, names no group. That too is a rule about the row alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from leeward._taught import describing
from leeward.errors import InputError, SpecError, check_choice
from leeward.exact._real import plainly, whole
from leeward.query._records import AsksRecords, Records, in_window
from leeward.query._selection import Counted
from leeward.query._statistic import Noun
from leeward.query._window import Window

IfMoreGroups = Literal["refuse", "first", "latest", "earliest"]
"""What becomes of a person in more groups than count: refuse, or keep the first by name, or those of the latest rows."""

LONGEST: Final = 64
"""So many bytes of UTF-8 a group's name has at most: what is stored of an answer has one size, whatever the names are."""

MOST_GROUPS: Final = 100_000
"""So many groups an answer may be asked to have at most."""

_WORDS: Final = LONGEST // 8
_A_NUMBER: Final = -1
"""Stands in place of a text's length where the group is a whole number."""

WIDTH: Final = 1 + _WORDS
"""So many 64-bit integers hold a group: how long its name is, and the name."""


@dataclass(frozen=True)
class UnlistedGroups(AsksRecords):
    """A question for the groups of a column and how many people are in each. Build it with `unlisted_groups`.

    Attributes:
        records: the private table.
        by: the column of the groups.
        groups_per_person: m: in how many of them a person counts at most.
        if_more: what becomes of a person in more.
        most_groups: so many groups are published at most: those with the greatest noisy counts.
        window: only rows whose time lies in it take part; None where rows of all times do.
    """

    records: Records
    by: str
    groups_per_person: int = 1
    if_more: IfMoreGroups = "refuse"
    most_groups: int = 1_000
    window: Window | None = None

    noun: ClassVar[Noun] = "group"
    """What each answer is about."""

    @property
    def truncates(self) -> bool:
        """Whether groups of a person beyond the bound are left out, so that counts are about what was kept."""
        return not self.of_rows and self.if_more != "refuse"

    @property
    def kept(self) -> str:
        """Say which groups of a person count, where there are more: ``the first 2 by name``."""
        m = self.groups_per_person
        those = "" if m == 1 else f" {m}"
        if self.if_more == "first":
            return f"the first{those} by name"
        return f"the {those[1:]} of their {self.if_more} rows" if m > 1 else f"that of their {self.if_more} row"

    def over_bound(self, people: int) -> str:
        """Say what becomes of so many people who are in more groups than count."""
        m = self.groups_per_person
        are = "person is" if people == 1 else "people are"
        return f"{people:,} {are} in more than {m} group{'' if m == 1 else 's'}: only {self.kept} count{'s' * (m == 1)}"


AnyQuestion: TypeAlias = Counted | UnlistedGroups
"""A question that an engine counts: over a public list of keys, or without one."""


@describing
def unlisted_groups(
    records: Records,
    by: str,
    *,
    groups_per_person: int = 1,
    if_more: IfMoreGroups = "refuse",
    most_groups: int = 1_000,
    start: datetime | date | str | None = None,
    end: datetime | date | str | None = None,
) -> UnlistedGroups:
    """Ask which groups a column has, and how many people are in each, where the groups are not a public list.

    Few people are not enough for a group to be shown, and of what is not shown nothing is said. Where the groups are known
    beforehand, `leeward.statistic` with ``by`` and ``groups`` answers all of them, with less noise.

    Args:
        records: the private table, from `records`.
        by: the column of the groups: texts of 1 to 64 bytes, or whole numbers.
        groups_per_person: in how many groups one person counts at most; noise grows with it.
        if_more: what becomes of a person in more: ``"refuse"`` the release, or keep the ``"first"`` of their groups by name
            (by code point; of numbers the least), or those of their ``"latest"`` or ``"earliest"`` rows, which needs a
            window (where times are equal, the first by name).
        most_groups: a public bound on the length of the answer, up to 100,000; if more reach the threshold, those with the
            greatest noisy counts are published.
        start: only rows from then on take part; it needs ``time`` of `records`.
        end: only rows before it do.

    Raises:
        SpecError: an argument is malformed.
        InputError: the table is not one of `records`.
    """
    if not isinstance(records, Records):
        raise InputError(
            f"A question of a {type(records).__name__}",
            "it does not say what a table's columns mean",
            'Give leeward.records(table, person="…")',
        )
    if not isinstance(by, str) or not by:
        raise SpecError("by", "it is not the name of a column", 'Give one column, by = "town"')
    check_choice("if_more", if_more, get_args(IfMoreGroups), error=SpecError)
    if records.combine != "refuse":
        raise SpecError(
            f'combine = "{records.combine}" where groups are counted',
            "a person is counted once in each of their groups, however many rows name it",
            "Leave combine out; groups_per_person and if_more say what becomes of several groups",
        )
    m, most = (
        whole(plainly(value), name)
        for value, name in ((groups_per_person, "groups_per_person"), (most_groups, "most_groups"))
    )
    if most > MOST_GROUPS:
        raise SpecError(f"most_groups = {most:,}", f"{MOST_GROUPS:,} are the most", "Give fewer")
    if records.person is None and (m != 1 or if_more != "refuse"):
        raise SpecError(
            f"{'groups_per_person' if m != 1 else 'if_more'} where every row is a person of its own",
            "a row names one group",
            "Leave it out, or name the column that says who",
        )
    made = in_window(UnlistedGroups(records, by, m, if_more, most), start, end)
    if made.window is None and if_more in ("latest", "earliest"):
        raise SpecError(
            f'if_more = "{if_more}" without a window',
            "times are read only where rows of a window count",
            'Give start and end, or if_more = "first"',
        )
    return made


def as_words(groups: Sequence[str] | Sequence[int]) -> NDArray[np.int64]:
    """Return groups as 64-bit integers, all of one width: shape (groups, `WIDTH`)."""
    found = np.zeros((len(groups), WIDTH), np.int64)
    if groups and not isinstance(groups[0], str):
        found[:, 0], found[:, 1] = _A_NUMBER, groups
    elif groups:
        encoded = [str(group).encode() for group in groups]
        found[:, 0] = [len(each) for each in encoded]
        padded = b"".join(each.ljust(LONGEST, b"\0") for each in encoded)
        found[:, 1:] = np.frombuffer(padded, "<i8").reshape(-1, _WORDS)
    return found


def from_words(words: NDArray[np.int64]) -> list[str | int]:
    """Return the groups that `as_words` wrote."""
    return [_group(row) for row in words]


def _group(row: NDArray[np.int64]) -> str | int:
    length = int(row[0])
    return int(row[1]) if length == _A_NUMBER else row[1:].astype("<i8").tobytes()[:length].decode()


def in_order(counts: Iterable[int], groups: Sequence[str | int]) -> list[int]:
    """Return the places of groups in the order in which they are published: the greatest count first, then by name."""
    counted = list(counts)
    return sorted(range(len(counted)), key=lambda i: (-counted[i], groups[i]))
