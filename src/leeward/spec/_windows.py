# SPDX-License-Identifier: Apache-2.0
"""Cutting a span of time into windows of one length."""

from __future__ import annotations

import re
from datetime import timedelta

from leeward.errors import SpecError
from leeward.query import Window, moment
from leeward.query._source import check_zone
from leeward.query._window import is_shown
from leeward.spec._sections import Moment, Span

_UNITS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_MOST_WINDOWS = 10_000


def cut(start: Moment, end: Moment, every: str, timezone: str | None) -> list[Span]:
    """Cut a span into windows of one length; the last may be shorter. Lengths are those of the clock that is written.

    What clocks of the time zone never show, as between 02:00 and 03:00 where they are put forward, is no window: nobody can
    have been anywhere then, and an answer would be paid for.
    """
    if timezone is not None:
        check_zone(timezone)
    written = re.fullmatch(r"(\d{1,9}) *(min|h|d)", every.strip())
    if written is None or int(written[1]) == 0:
        raise SpecError(
            f'[window] every = "{every}"', "it is not a length of time", 'Write it like "30min", "1h" or "1d"'
        )
    whole = Window(moment("start", start), moment("end", end))
    length = int(written[1]) * _UNITS[written[2]]
    if (whole.end - whole.start) / length > _MOST_WINDOWS:
        raise SpecError(
            f'[window] every = "{every}"', f"it makes more than {_MOST_WINDOWS:,} windows", "Use longer ones"
        )
    spans, at = [], whole.start
    while at < whole.end:
        stop = whole.end if whole.end - at <= length else at + length
        if timezone is None or is_shown(Window(at, stop), timezone):
            spans.append(Span(start=at, end=stop))
        at = stop
    if not spans:
        raise SpecError(
            f"[window] from {whole.start.isoformat()} to {whole.end.isoformat()}",
            f"clocks of {timezone} never show that time: they are put forward over it",
            "Name a time that they show",
        )
    return spans
