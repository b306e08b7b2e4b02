# SPDX-License-Identifier: Apache-2.0
"""Times that stand for none: what a clock that was never set says, and what programs write where they knew no time.

Such a row is in no window that is asked about, as one without a time is, and where its person was may be called safe. All of
this is for the curator only.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from leeward._plain import counted
from leeward.errors import DoubtfulDataError

_MOMENTS: Final = tuple(
    datetime(*day) for day in ((1970, 1, 1), (1, 1, 1), (1899, 12, 30), (1900, 1, 1), (9999, 12, 31))
)
"""The first of Unix and of .NET, of spreadsheets and of databases, and the last that most programs know."""

_FEW: Final = 0.01


def no_times(timezone: str | None, per_second: int) -> list[int]:
    """Return these moments as stamps: as clocks of UTC read them, and as those of the zone do where one is named."""
    found = set[int]()
    for moment in _MOMENTS:
        ahead = {timedelta()}
        if timezone is not None:
            with suppress(OverflowError):  # of an end of the calendar
                ahead.add(ZoneInfo(timezone).utcoffset(moment) or timedelta())
        found |= {(moment - datetime(1970, 1, 1) - each) // timedelta(seconds=1) * per_second for each in ahead}
    return sorted(stamp for stamp in found if abs(stamp) < 2**63)


def refuse_no_time(number: int, of: int) -> None:
    """Refuse a table of which over one in a hundred rows have a time that stands for none.

    Args:
        number: how many have one that no window asks about.
        of: of how many that pass the filter.

    Raises:
        DoubtfulDataError: they are too many. For the curator only.
    """
    if number > _FEW * of:
        raise DoubtfulDataError.stopping(
            f"{number:,} of {counted(of, 'row')} have the time 1970-01-01 00:00, or another that stands for none",
            "clocks that were never set say it, and programs that know no time write it: these rows are in no window, and"
            " where their people were may be called safe",
            "Find out when they were there, or leave the time empty: such rows are told",
            "they are of that day",
        )
