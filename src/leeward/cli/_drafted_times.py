# SPDX-License-Identifier: Apache-2.0
"""When, in a first spec: the column of times, how they are written, and the window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from leeward.cli._asked import answer, at_terminal, choice, column, tell
from leeward.query._window import Window, moment
from leeward.tables._guess import WHEN, likely, timely, times_of
from leeward.tables._writing import TimeFormat

if TYPE_CHECKING:
    from leeward.tables._detected import Detected, Seen

_PUBLIC = "   The window is public: choose it without looking at the data."
_START, _END = "start, such as 2026-03-02T19:00", "end, which does not belong to it"


def drafted_times(
    table: Detected,
    time: str | None,
    form: str | None,
    timezone: str | None,
    start: str | None,
    end: str | None,
    *,
    needed: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of ``[data]`` that say when, and those of ``[window]``; none where rows count whenever they are."""
    if not needed and all(each is None for each in (time, form, timezone, start, end)):
        if not at_terminal() or not timely(table):
            tell("   Rows of all times count.")
            return {}, {}
        tell(f"   Rows of all times count, unless you name a window.{_PUBLIC[2:]}")
        forms = [seen.formats[0] for seen in table.columns if len(seen.formats) == 1]

        def check(text: str) -> None:
            if text:
                _moment(text, forms[0] if len(forms) == 1 else None)

        start = answer(f"{_START}; or nothing", "--start", None, "", check)
        if not start:
            return {}, {}
    keys = _times(table, time, form, timezone)
    tell(f"   Count from when to when? {_PUBLIC.strip()}")
    written = keys.get("time_format")
    as_there = "" if written is None else ", or written as in the file"
    begin = _in_iso(answer(f"{_START}{as_there}", "--start", start, check=lambda text: _moment(text, written)), written)
    stop = answer(_END, "--end", end, check=lambda text: _window(begin, _in_iso(text, written, begin)))
    return keys, {"start": begin, "end": _in_iso(stop, written, begin)}


def _times(table: Detected, time: str | None, form: str | None, timezone: str | None) -> dict[str, str]:
    """Return the keys that say when, and what times are."""
    may_be = timely(table)
    usual = (
        *filter(None, [likely(may_be, WHEN)]),
        *may_be,
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


def _moment(text: str, form: str | None) -> None:
    moment("start", _in_iso(text, form))


def _window(start: str, end: str) -> None:
    Window(moment("start", start), moment("end", end))


def _in_iso(text: str, form: str | None, start: str = "") -> str:
    """Return a moment that may be written as those of the file, or as a date of them, in ISO 8601; others as they are.

    Args:
        text: what was given.
        form: how times of the file are written.
        start: of an end, the start: an hour and a minute are then of that day.
    """
    text = text.strip()
    if start and _CLOCK.fullmatch(text):
        return f"{moment('start', start).date().isoformat()}T{text.zfill(5)}"
    for each in [] if form is None else [form, re.split("[ ,T]", form)[0]]:
        times = TimeFormat.of(each)
        if (found := re.fullmatch(times.pattern, text)) is None:
            continue
        part = dict(zip(times.fields, found.groups(), strict=True))
        hour = int(part.get("hour", 0))
        if times.twelve:
            hour = hour % 12 + (12 if part["half"][0] in "pP" else 0)
        day = f"{'20' if times.short_year else ''}{part['year']}-{int(part['month']):02}-{int(part['day']):02}"
        seconds = f":{part['second']}" if float(part.get("second", 0)) else ""
        return f"{day}T{hour:02}:{int(part.get('minute', 0)):02}{seconds}"
    return text


_CLOCK = re.compile(r"\d{1,2}:\d\d")
