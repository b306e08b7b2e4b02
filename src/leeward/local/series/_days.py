# SPDX-License-Identifier: Apache-2.0
"""Which day a report is made on, by one public rule, so that a moment has one day however it is written.

A time with an offset from UTC is a moment, and belongs to its day in UTC, or in a zone that is named. A time without one is
what a clock on a wall showed, and belongs to the date that is written. The two cannot be compared, so they are never mixed:
not in one table, and, without a named zone, not in one store of budgets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from leeward._plain import is_finer_than_microseconds
from leeward.errors import DataError

_WRITTEN: Final = re.compile(r"\d{4}-\d\d-\d\d([T ]\S+)?")
_IN_UTC: Final = "UTC"
AS_WRITTEN: Final = "as written, without a zone"
_FIRST: Final = date(1970, 1, 1).toordinal()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def in_words(timezone: str | None, *, dated: bool) -> str:
    """Say which day a report belongs to; ``dated`` is whether the table has a column of times."""
    if not dated:
        return f"all reports of a run are of the day on which it charges them, in {timezone or _IN_UTC}"
    if timezone is not None:
        return f"a day is one in {timezone}, where times without an offset are read"
    return "a time with an offset belongs to its day in UTC, a time without one to the date that is written"


class Days:
    """The days of one table's reports.

    Args:
        timezone: the zone in which days are counted; None for UTC, and for dates as they are written.

    Attributes:
        rule: what the days that were asked for are counted by; before the first, what those of today are.
    """

    def __init__(self, timezone: str | None) -> None:
        self._timezone = timezone
        self._zone: tzinfo = UTC if timezone is None else ZoneInfo(timezone)
        self._zoned: bool | None = None

    @property
    def rule(self) -> str:
        """The rule in words that must not change: a store of budgets keeps it."""
        return self._timezone or (AS_WRITTEN if self._zoned is False else _IN_UTC)

    def today(self) -> int:
        """Return the number of the day that it is now, since 1970."""
        return _number(datetime.now(self._zone))

    def of(self, times: Sequence[Any]) -> list[int]:
        """Return the numbers of the days of some times, since 1970.

        Raises:
            DataError: one is not a time, or some have an offset from UTC and some have none.
        """
        return [_number(self._read(value)) for value in times]

    def moments(self, times: Sequence[Any]) -> list[int]:
        """Return some times as microseconds since 1970, in UTC or as they are written: they are only compared.

        Raises:
            DataError: as for `of`; or one is finer than microseconds, which would make two times one.
        """
        if any(isinstance(value, str | datetime) and is_finer_than_microseconds(value) for value in times):
            raise DataError(
                "Some times are finer than microseconds (this is for the curator only)",
                "how far apart two reports are decides what they may cost together",
                "Round them to whole microseconds",
            )
        return [_microseconds(self._read(value)) for value in times]

    def _read(self, value: Any) -> date:
        """Return a time, in the zone that days are counted in where it has an offset."""
        try:
            if isinstance(value, str):
                if not _WRITTEN.fullmatch(value):
                    raise no_time()
                value = datetime.fromisoformat(value)
            if not isinstance(value, date):
                raise no_time()
            zoned = isinstance(value, datetime) and value.utcoffset() is not None
            found = value.astimezone(self._zone) if isinstance(value, datetime) and zoned else value
        except (ValueError, OverflowError):  # an error of ours is a ValueError too: its words are the same
            raise no_time() from None
        if self._zoned is None:
            self._zoned = zoned
        if zoned != self._zoned:
            raise DataError(
                "Some times have an offset from UTC and some have none (this is for the curator only)",
                "budgets are per person and day, and which day a clock on a wall showed cannot be compared with a moment",
                "Write all of them the same way",
            )
        return found


def _microseconds(time: date) -> int:
    clock = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
    since = clock - (_EPOCH.replace(tzinfo=None) if clock.tzinfo is None else _EPOCH)
    return since // timedelta(microseconds=1)


def _number(day: date) -> int:
    return day.toordinal() - _FIRST


def no_time() -> DataError:
    """Return the refusal of a time that is none."""
    return DataError(
        "A time that is not a date (this is for the curator only)",
        "budgets are per person and day",
        "Give dates, times, or text in ISO 8601 such as 2026-03-01 08:00 or 2026-03-01T08:00+09:00",
    )
