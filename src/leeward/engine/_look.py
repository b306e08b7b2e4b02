# SPDX-License-Identifier: Apache-2.0
"""A look at how much of a table a question counts, before anything is charged for it.

A window in the wrong year, a key written another way, or a public list of another city leave nothing to count, and nothing
at a place is *safe*. So the curator learns of it beforehand, and the release stops unless asked to go on. That it stopped is
a fact about the data, as a refusal of people over the bound is: it is for the curator only.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from leeward._plain import counted
from leeward._private import Private
from leeward.engine._window import Clock
from leeward.errors import DoubtfulDataError
from leeward.query._reasons import NOT_ASKED, NOT_ASKED_INSIDE, said

_OF_ROWS_INSIDE = (
    *("unreadable_place", "null_place", "unknown_place", "unknown_group", "unreadable_number", "no_number"),
    *("long_group", "no_group"),
)
"""Reasons that are asked of rows inside the window."""

FEW = 0.01
"""A smaller share of the rows than this is few."""

HALF = 0.5
"""A window of which a larger share of the rows cannot be read in full is doubtful, whatever the others are."""

_SOME = 10
"""Of fewer rows than this in a window no share says anything."""

_SHEETS = (2**20 - 1, 2**16 - 1)
"""The rows that a sheet of a spreadsheet holds below its header, today and before 2007."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TimeRange(Private):
    """The first and the last stamp of a table: for the curator only.

    Attributes:
        first: the first stamp.
        last: the last.
        clock: what the stamps are of. Those of a reading and of an instant cannot be compared.
        per_second: how many stamps there are to a second.
    """

    first: int
    last: int
    clock: Clock
    per_second: int

    def said(self) -> tuple[str, str]:
        """Return both in words: as readings of the data's clock, or in UTC."""
        return in_words(self.first, self.clock, self.per_second), in_words(self.last, self.clock, self.per_second)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Look(Private):
    """How much of a table one question counts: for the curator only.

    Attributes:
        rows: how many rows the table has.
        taken: how many of them take part.
        dropped: how many do not, by reason.
        share: the part, from 0 to 1, of the data's own range of times that the window covers; 1 where there is no window.
        range: the range of times of the rows that can be compared with the window; None where there is none.
        inside: how many of the rows pass the filter and lie inside the window, if there is one.
        ends: the stamps between which the window lies; None where there is none.
        nameless: how many of the rows inside do not say who.
        stand_ins: how many of them name a person who stands in for those who are not known, such as 'unknown'.
    """

    rows: int
    taken: int
    dropped: Mapping[str, int]
    share: float = 1.0
    range: TimeRange | None = None
    inside: int = 0
    ends: tuple[int, int] | None = None
    nameless: int = 0
    stand_ins: int = 0

    @property
    def times(self) -> tuple[str, str] | None:
        """The first and the last time of the data, in words, of rows that can be compared with the window."""
        return None if self.range is None else self.range.said()

    @property
    def elsewhere(self) -> int:
        """How many rows name a place or a group that is not listed."""
        return self.dropped.get("unknown_place", 0) + self.dropped.get("unknown_group", 0)


def refuse_doubtful(looks: Sequence[Look], *, going_on: bool = False) -> None:
    """Refuse questions that count nothing, or under 1 % of the rows that they should, or many rows that cannot be read.

    What they should count is as many rows as fall into their windows if the data's range of times is filled evenly: a short
    window of a long table counts few rows, and that is as it should be. And it is the rows that do lie in their windows:
    a single time far away would make the windows so short that nothing need count. Rows that cannot be read, or do not say
    who or when, may not be over 1 % of those that pass the filter; of those inside the windows, also what is asked of them
    there, and stand-ins for people who are not known: these are one person to a count. Nor may they be over half of ten or
    more in one window: of many windows a bad hour is under 1 %.

    Args:
        looks: one for each question, all about one table; windows of one run are doubtful only together, because a quiet
            hour of a day is not.
        going_on: whether earlier windows were answered before, and rows go on soon after these. Windows in which no row lies
            at all are then quiet, and not doubtful.

    Raises:
        DoubtfulDataError: saying how many rows are left out for which reason; with the data's range of times.
    """
    rows, taken = looks[0].rows, sum(look.taken for look in looks)
    share = min(1.0, sum(look.share for look in looks))
    asked, inside = rows - looks[0].dropped.get("filtered", 0), sum(look.inside for look in looks)
    within = " inside the window" if "outside_window" in looks[0].dropped else ""
    unread = {reason: max(look.dropped.get(reason, 0) for look in looks) for reason in NOT_ASKED}
    doubtful = [_doubtful_inside(look) for look in looks]
    inside_unread = {reason: sum(each[reason] for each in doubtful) for reason in doubtful[0]}
    hours = [pair for pair in zip(doubtful, looks, strict=True) if pair[1].inside >= _SOME]
    bad, of_bad = max(hours, key=lambda pair: sum(pair[0].values()) / pair[1].inside, default=({}, looks[0]))
    left_out = together(looks, taken)
    quiet = going_on and share > 0 and not any(left_out.get(reason) for reason in _OF_ROWS_INSIDE)
    if not quiet and (not taken or taken < FEW * share * rows):
        given = f"{f'Only {taken:,}' if taken else 'None'} of the {counted(rows, 'row')} would count"
    elif taken < FEW * inside:
        given = f"Only {taken:,} of the {counted(inside, 'row')} inside the window would count"
    elif sum(unread.values()) > FEW * asked:
        given, left_out = f"{sum(unread.values()):,} of the {counted(asked, 'row')} cannot be read in full", unread
    elif _many(inside_unread, inside, going_on=going_on):
        number, left_out = sum(inside_unread.values()), inside_unread
        given = f"{number:,} of the {counted(inside, 'row')}{within} cannot be read in full"
    elif sum(bad.values()) > HALF * of_bad.inside:
        number, left_out = sum(bad.values()), bad
        given = f"{number:,} of the {counted(of_bad.inside, 'row')} inside one window cannot be read in full"
    else:
        return
    why = [said(reason, number) for reason, number in sorted(left_out.items(), key=lambda pair: -pair[1]) if number]
    refused = DoubtfulDataError.stopping(
        given if rows else "The table has no rows",
        "; ".join(why) or "there is nothing to count",
        "Check the window, the time zone, how times are written (time_format), the columns and the public list",
        "all is as it should be",
    )
    if (times := times_of(looks)) is not None:
        refused.times = f"the times of the data run from {times[0]} to {times[1]}"
    raise refused


def _doubtful_inside(look: Look) -> dict[str, int]:
    """Of the rows inside a window, how many cannot be read, say no person, or name a stand-in for one."""
    unread = {reason: look.dropped.get(reason, 0) for reason in NOT_ASKED_INSIDE}
    return unread | {"null_person": look.nameless, "stand_in": look.stand_ins}


def _many(unread: Mapping[str, int], inside: int, *, going_on: bool) -> bool:
    """Whether more than few rows inside cannot be read in full.

    A monitor has small windows, and in every table some rows name nobody: fewer than ten of them do not stop it.
    """
    number, nobody = sum(unread.values()), sum(unread[reason] for reason in ("null_person", "stand_in"))
    tolerated = going_on and nobody < _SOME
    return number - (nobody if tolerated else 0) > FEW * inside


def refuse_full_sheet(rows: int) -> None:
    """Refuse a table of exactly as many rows as a spreadsheet holds: the others were left out without a word.

    Raises:
        DoubtfulDataError: it has so many. For the curator only.
    """
    if rows in _SHEETS:
        raise DoubtfulDataError.stopping(
            f"The table has {rows:,} rows, exactly as many as a spreadsheet holds",
            "rows beyond its last are left out without a word, and where their people were may be called safe",
            "Export the table anew from where it came, without a spreadsheet between",
            "it has no other rows",
        )


def refuse_late(windows: int) -> None:
    """Refuse the last of several windows, in which, and soon after which, no row lies, while there are rows before.

    Raises:
        DoubtfulDataError: always. For the curator only.
    """
    raise DoubtfulDataError.stopping(
        f"No row lies in the last {counted(windows, 'window')}, nor soon after",
        "those rows may not have been loaded yet, and a window is asked once",
        "Ask the windows before (in the command: --until), and these when their rows are there",
        "nobody was there",
    )


def together(looks: Sequence[Look], taken: int) -> dict[str, int]:
    """Add up what several windows leave out: a row is outside the window if it is in none of them.

    Where windows overlap, how many rows are in none does not follow from the looks, and is not told. A date that an hour
    leaves out may count in a whole day, and a time without an offset in a window without one: what not all windows leave out
    alike is outside them, or counts.
    """
    if len(looks) == 1:
        return dict(looks[0].dropped)
    found = dict[str, int]()
    for reason, number in looks[0].dropped.items():
        each = [look.dropped[reason] for look in looks]
        found[reason] = sum(each) if reason in _OF_ROWS_INSIDE else number if len(set(each)) == 1 else 0
    spans = sorted(look.ends for look in looks if look.ends is not None)
    if any(later[0] < earlier[1] for earlier, later in itertools.pairwise(spans)):
        return {reason: number for reason, number in found.items() if reason != "outside_window"}
    inside = taken + sum(number for reason, number in found.items() if reason != "outside_window")
    return found | {"outside_window": max(0, looks[0].rows - inside)}


def times_of(looks: Sequence[Look]) -> tuple[str, str] | None:
    """Return the first and the last time that windows can be compared with, in words; all by the first window's clock."""
    told = [look.range for look in looks if look.range is not None]
    if not told:
        return None
    alike = [each for each in told if each.clock is told[0].clock]
    return replace(told[0], first=min(each.first for each in alike), last=max(each.last for each in alike)).said()


def covered(first: int, end: int, low: int, high: int) -> float:
    """Return the share of the range from ``low`` up to and with ``high`` that lies in [first, end)."""
    return max(0, min(end, high + 1) - max(first, low)) / (high + 1 - low)


def in_words(stamp: int, clock: Clock, per_second: int) -> str:
    """Say a stamp as a date and time: as a reading of the data's clock, or in UTC."""
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=stamp * 10**6 // per_second)
    except OverflowError:
        return "before the year 1" if stamp < 0 else "after the year 9999 (is the unit of the times right?)"
    return moment.isoformat(sep=" ", timespec="seconds") + ("" if clock is Clock.READINGS else " UTC")
