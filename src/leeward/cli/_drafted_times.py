# SPDX-License-Identifier: Apache-2.0
"""When, in a first spec: the column of times, how they are written, and the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leeward.cli._asked import answer, at_terminal, choice, column, tell
from leeward.tables._guess import WHEN, likely, times_of

if TYPE_CHECKING:
    from leeward.tables._detected import Detected, Seen

_PUBLIC = "   The window is public: choose it without looking at the data."
_START, _END = "start, such as 2026-03-02T19:00", "end, which does not belong to it"


def of_visits(
    table: Detected, time: str | None, form: str | None, timezone: str | None, start: str | None, end: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of ``[data]`` that say when, and those of ``[window]``."""
    keys = _times(table, time, form, timezone)
    tell(f"   Count from when to when? {_PUBLIC.strip()}")
    return keys, {
        "start": answer(_START, "--start", start, check=_moment),
        "end": answer(_END, "--end", end, check=_moment),
    }


def of_rows(
    table: Detected, time: str | None, form: str | None, timezone: str | None, start: str | None, end: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the same of a table whose rows may count whenever they are: both are then empty."""
    named = [time, form, timezone, start, end]
    if any(each is not None for each in named):
        return of_visits(table, time, form, timezone, start, end)
    if not at_terminal() or not _timely(table):
        tell("   Rows of all times count.")
        return {}, {}
    tell(f"   Rows of all times count, unless you name a window.{_PUBLIC[2:]}")
    begin = answer(f"{_START}; or nothing", "--start", None, "", lambda text: _moment(text) if text else None)
    return of_visits(table, time, form, timezone, begin, end) if begin else ({}, {})


def _timely(table: Detected) -> list[str]:
    return [one.name for one in table.columns if one.looks.startswith("times") or one.formats or one.unit]


def _times(table: Detected, time: str | None, form: str | None, timezone: str | None) -> dict[str, str]:
    """Return the keys that say when, and what times are."""
    timely = _timely(table)
    usual = (
        *filter(None, [likely(timely, WHEN)]),
        *timely,
        *WHEN,
    )  # what looks like times goes before names like theirs
    name = column("the column that says when", "--time", time, table, usual, assumed=True)
    seen = next(one for one in table.columns if one.name == name)
    if form is None and seen.formats:
        form = _format(seen)
    elif form is None and seen.unit is not None:
        tell(f"   Times are whole numbers since 1970, in {seen.unit}.")
    elif form is None and seen.looks == "times with an offset" and timezone is None:
        timezone = answer("the time zone of the window, such as Europe/Paris", "--timezone", None)
    return times_of(seen, form, timezone)


def _format(seen: Seen) -> str:
    if len(seen.formats) == 1:
        tell(f"   Times are written as {seen.formats[0]}.")
        return seen.formats[0]
    tell("   Every time of the file fits several formats:")
    return choice("--time-format", None, {form: _EXAMPLES.get(form[:2], "") for form in seen.formats})


_EXAMPLES = {"dd": "the third of February is 03/02", "mm": "the third of February is 02/03"}


def _moment(text: str) -> None:
    from leeward.query import moment

    moment("start", text)
