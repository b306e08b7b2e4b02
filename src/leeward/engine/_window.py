# SPDX-License-Identifier: Apache-2.0
"""From a window to two integers: which stamps of a time column lie in the window.

A column holds either *readings* of a clock on a wall (times without an offset) or *instants*. A time zone turns one
into the other, except where its clocks jump. One rule covers both kinds of jump: **a reading stands for the first
moment at which the clock showed it or later.** So a reading that occurs twice, when clocks are put back, means its
first occurrence; a reading that never occurs, when clocks are put forward, means the moment of the jump. Under this
rule a later reading never means an earlier instant, and the order of readings is the order of visits.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from datetime import timezone as fixed
from enum import Enum
from zoneinfo import ZoneInfo

from leeward.errors import SpecError
from leeward.query import Window
from leeward.query._window import is_shown
from leeward.tables._zones import jump

_EPOCH = datetime(1970, 1, 1)
_TICK = timedelta(microseconds=1)
_LAST_CLOCK = fixed(timedelta(hours=-12))
"""The clock on Earth that shows a reading last: what is over there is over everywhere."""


class Clock(Enum):
    """What a time column holds."""

    READINGS = "times without an offset from UTC"
    INSTANTS = "times with an offset from UTC"
    EPOCHS = "integers since 1970 in UTC"


_STAMPS = {
    Clock.READINGS: "time without an offset from UTC",
    Clock.INSTANTS: "time with an offset from UTC",
    Clock.EPOCHS: "integer since 1970",
}


def bounds(window: Window, clock: Clock, timezone: str | None, per_second: int) -> tuple[int, int]:
    """Return integers (first, end) such that a stamp is in the window iff first ≤ stamp < end.

    Args:
        window: the window.
        clock: what the column holds.
        timezone: the zone that readings are read in, if any.
        per_second: stamps are whole numbers since 1970 in units of 1/per_second second, rounded down.

    Raises:
        SpecError: the window and the column do not go together and no time zone settles it; or the column can hold no
            stamp of the window, or no clock of the zone shows its times: an answer would say nothing, and be paid for.
    """
    zone = ZoneInfo(timezone) if timezone is not None else None
    try:
        start, end = (_tick(moment, clock, zone) for moment in (window.start, window.end))
    except OverflowError:
        raise SpecError(
            "The window touches the first or last day of the calendar",
            "a time zone cannot be applied there",
            "Move that end by a few days",
        ) from None
    # Rounding up is exact: stamps are whole units, so stamp ≥ x iff stamp ≥ ⌈x⌉.
    first, last = -(-start * per_second // 10**6), -(-end * per_second // 10**6)
    if first == last or (timezone is not None and not is_shown(window, timezone)):
        where = f" in {timezone}" if timezone is not None else ""
        raise SpecError(
            f"The window from {window.start.isoformat()} to {window.end.isoformat()}",
            f"no {_STAMPS[clock]}{where} can lie in it: its clocks jump over that time, or it is shorter than their unit",
            "Leave that window out, or move its ends",
        )
    return first, last


def is_over(end: datetime, now: datetime, timezone: str | None, *, epochs: bool) -> bool:
    """Return whether no visit of now or later can lie in a window that ends there, whatever the time column holds.

    The clock of this machine says which moment it is, and nothing else: in which zone a window without an offset is meant is
    said by the spec. Where it says nothing, the window is over once it is over in every zone of the Earth. Readings that are
    shown twice, when clocks are put back, are waited for both times.

    Args:
        end: the end of the window.
        now: the moment, with an offset from UTC.
        timezone: the zone that readings are read in, if any.
        epochs: whether the column holds integers since 1970 in UTC.
    """
    zone = ZoneInfo(timezone) if timezone is not None else None
    try:
        if end.utcoffset() is not None:
            if end > now or zone is None or epochs:
                return end <= now
            end = _first_reading(end, zone)
        where = zone or (UTC if epochs else _LAST_CLOCK)
        return max(end.replace(tzinfo=where, fold=fold).astimezone(UTC) for fold in (0, 1)) <= now
    except OverflowError:  # on the first or last day of the calendar
        return end.year < now.year


def _tick(moment: datetime, clock: Clock, zone: ZoneInfo | None) -> int:
    aware = moment.utcoffset() is not None
    if clock is Clock.READINGS:
        if aware and zone is None:
            raise _mismatch("The window has an offset from UTC, and the time column holds times without one")
        return _microseconds(_first_reading(moment, zone) if aware and zone is not None else moment)
    if aware:
        return _microseconds(moment.astimezone(UTC).replace(tzinfo=None))
    if zone is not None:
        return _microseconds(_instant(moment, zone))
    if clock is Clock.INSTANTS:
        raise _mismatch("The window has no offset from UTC, and the time column holds times with one")
    return _microseconds(moment)


def _mismatch(given: str) -> SpecError:
    return SpecError(
        given, "they cannot be compared", "Name the `timezone`, or write the window the way the column is written"
    )


def _microseconds(naive: datetime) -> int:
    return (naive - _EPOCH) // _TICK


def _utc(reading: datetime, zone: ZoneInfo, fold: int) -> datetime:
    return reading.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _instant(reading: datetime, zone: ZoneInfo) -> datetime:
    """The first moment, as a naive UTC time, at which the zone's clocks show this reading or later."""
    moment = _utc(reading, zone, fold=0)
    if moment.astimezone(zone).replace(tzinfo=None) != reading.replace(fold=0):
        moment = jump(zone, _utc(reading, zone, fold=1), moment)
    return moment.replace(tzinfo=None)


def _first_reading(moment: datetime, zone: ZoneInfo) -> datetime:
    """The least reading that stands for this moment or a later one.

    It is the tick after the latest reading that was shown before the moment.
    """
    before = moment.astimezone(UTC) - _TICK
    shown = before.astimezone(zone)
    if shown.fold:
        # Clocks were put back a while ago: the latest reading was shown right before that.
        put_back = jump(zone, _utc(shown.replace(tzinfo=None), zone, fold=0), before)
        shown = (put_back - _TICK).astimezone(zone)
    return shown.replace(tzinfo=None, fold=0) + _TICK
