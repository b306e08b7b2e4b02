# SPDX-License-Identifier: Apache-2.0
"""The public clock of a series: when a reading is due, which window it falls in, and which day.

Times are whole microseconds. With a time zone they are instants, so a day has 23 or 25 hours where the clocks change;
without one they are those of a clock that never changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from leeward._plain import echo, is_finer_than_microseconds
from leeward._taught import taught
from leeward.errors import DataError, InputError
from leeward.local.series._quantities import microseconds
from leeward.query._source import check_zone

Per = Literal["hour", "day", "month", "period"]
"""The public spans of the calendar, from the narrowest; the period is all of it."""

_EPOCH = datetime(1970, 1, 1)
_MOST_SLOTS = 2**31
_HOUR = 3_600_000_000


@dataclass(frozen=True)
class Day:
    """A day of the schedule, or another span of the calendar, whole or in part.

    Attributes:
        date: its date, in local time; of a longer span, that of its first day.
        first: the first slot in it.
        stop: the first slot after it.
    """

    date: date
    first: int
    stop: int

    @property
    def readings(self) -> int:
        """How many readings are due in it."""
        return self.stop - self.first


@taught
@dataclass(frozen=True)
class Schedule:
    """Readings due at ``start``, ``start + every``, … before ``end``; slot i is the one at start + i·every.

    Attributes:
        start: when the first reading is due: ISO 8601, such as ``"2026-01-01"`` or ``"2026-01-01T00:00+01:00"``.
        end: the end of the period, a whole number of readings later: a reading then is not part of it.
        every: the time between two readings: ``"10 s"``, ``"15 min"``, ``"1 h"``.
        zone: that of times without an offset, such as ``"Europe/Paris"``; by default, their clock never changes.
        slots: how many readings are due.
        step: microseconds between two.
        first: when the first is due, in microseconds since 1970.

    Raises:
        InputError: if they do not fit together.
    """

    start: str | datetime
    end: str | datetime
    every: str
    zone: str | None = None
    slots: int = field(init=False, repr=False, compare=False)
    step: int = field(init=False, repr=False, compare=False)
    first: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        step = microseconds(self.every, "every")
        if self.zone is not None:
            check_zone(self.zone, "zone")
        first, stop = self._instant(self.start, "start"), self._instant(self.end, "end")
        if stop <= first or (stop - first) % step:
            raise InputError(
                f"A period from {self.start} to {self.end}",
                f"it is not a whole number of readings, one every {self.every}",
                "Move an end",
            )
        slots = (stop - first) // step
        if slots >= _MOST_SLOTS:
            raise InputError(f"{slots:,} readings of each meter", "that is too many", "Take a shorter period")
        self.__dict__.update(slots=slots, step=step, first=first)

    @property
    def _zone(self) -> ZoneInfo | None:
        return None if self.zone is None else ZoneInfo(self.zone)

    def _instant(self, given: str | datetime, name: str) -> int:
        if is_finer_than_microseconds(given):
            raise InputError(f"{name} = {echo(given)}", "it has nanoseconds", "Give whole microseconds")
        try:
            moment = given if isinstance(given, datetime) else datetime.fromisoformat(given)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} = {echo(given)}", "it is not a time", f'Write {name} = "2026-01-31T00:00"'
            ) from None
        if not date.min.year < moment.year < date.max.year:  # so that no zone leads out of the calendar
            raise InputError(
                f"{name} = {given}", "it has no day before it, or none after it", "Name a year from 2 to 9998"
            )
        if moment.tzinfo is None and self._zone is not None:
            moment = moment.replace(tzinfo=self._zone)
        if moment.tzinfo is not None and self._zone is None:
            raise InputError(
                f"{name} = {given}", "it has an offset, but no zone is named", 'Add zone = "UTC", or the local zone'
            )
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        return (moment - _EPOCH) // timedelta(microseconds=1)

    def slots_of(self, times: object, column: str) -> NDArray[np.int64]:
        """Return the slot of each time of a pyarrow column; −1 outside the period.

        Raises:
            DataError: a time is missing, is not a time, or is not one at which a reading is due.
        """
        early, late = (instants - self.first for instants in self._microseconds(times, column))
        slot, rest = np.divmod(early, self.step)
        inside = (slot >= 0) & (slot < self.slots)
        doubtful = early != late
        if (doubtful & (inside | ((late >= 0) & (late < self.slots * self.step)))).any():
            raise DataError(
                f"Times in '{column}' that the clock of {self.zone} shows twice, or never (for the curator only)",
                "at a change of the clocks a local time does not say which instant it is",
                "Write times with their offset from UTC",
            )
        if (rest[inside] != 0).any():
            raise self._off(column)
        return np.where(inside, slot, -1)

    def slot_at(self, time: str | datetime) -> int:
        """Return the slot of one time.

        Raises:
            InputError: no reading of the period is due then.
        """
        slot, rest = divmod(self._instant(time, "first") - self.first, self.step)
        if rest or not 0 <= slot < self.slots:
            raise InputError(f"first = {time}", "no reading of the period is due then", "Name a time when one is")
        return slot

    def _microseconds(self, times: Any, column: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the instants that times may be, the earliest and the latest: one, but at a change of the clocks."""
        import pyarrow as pa

        from leeward.tables._zones import instants

        times = _parsed(times, column)
        if not pa.types.is_timestamp(times.type):
            raise DataError(f"The column '{column}'", "it holds no times", "Give timestamps, or text in ISO 8601")
        if times.null_count:
            raise DataError(
                f"The column '{column}'", "times are missing (this is for the curator only)", "Leave those out"
            )
        if times.type.tz is not None and self.zone is None:
            raise DataError(
                f"The column '{column}'",
                "its times have a zone, and the schedule has none",
                'Add zone = "Europe/Paris"',
            )
        try:
            ticks = times.cast(pa.timestamp("us", times.type.tz)).cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            raise self._off(column) from None
        if times.type.tz is not None or self._zone is None:
            return ticks, ticks
        return instants(ticks, self._zone, self.first, self.first + self.slots * self.step)

    def _off(self, column: str) -> DataError:
        return DataError(
            f"Times in '{column}' that are not on the schedule (this is for the curator only)",
            f"a reading is due every {self.every} from the start, and a time in between may itself reveal something",
            "Round the times first, or give the start and the interval that they have",
        )

    @property
    def days(self) -> list[Day]:
        """The days of the period in order; the first and the last may be in part."""
        zone = self._zone or UTC
        at = (_EPOCH + timedelta(microseconds=self.first)).replace(tzinfo=UTC)
        day, found, slot = at.astimezone(zone).date(), list[Day](), 0
        while slot < self.slots:
            day += timedelta(days=1)
            stop = self._slot(self._midnight(day))
            if stop > slot:
                found.append(Day(day - timedelta(days=1), slot, stop))
            slot = max(slot, stop)
        return found

    def spans(self, per: Per) -> list[Day]:
        """Return the spans of the calendar that the period is cut into; the first and the last may be in part.

        Hours are counted from the midnight before them, so each lies in one day, days in one month, and a day on which the
        clocks change has 23 or 25. A span without a reading is left out.

        Raises:
            InputError: for hours of readings that are due less often than hourly.
        """
        days = self.days
        if per == "day":
            return days
        if per == "hour":
            if self.step > _HOUR:
                raise InputError(
                    f"Totals per hour of readings every {self.every}",
                    "a reading is of more than one hour",
                    "Name a longer span",
                )
            return [hour for day in days for hour in self._hours(day)]
        months = [list(same) for _, same in itertools.groupby(days, lambda day: (day.date.year, day.date.month))]
        return [Day(some[0].date, some[0].first, some[-1].stop) for some in ([days] if per == "period" else months)]

    def _hours(self, day: Day) -> Iterator[Day]:
        slot, edge = day.first, self._midnight(day.date)
        while slot < day.stop:
            edge += _HOUR
            stop = min(self._slot(edge), day.stop)
            if stop > slot:
                yield Day(day.date, slot, stop)
                slot = stop

    def _midnight(self, day: date) -> int:
        """Return when a day begins, in microseconds since 1970."""
        midnight = datetime(day.year, day.month, day.day, tzinfo=self._zone or UTC).astimezone(UTC).replace(tzinfo=None)
        return (midnight - _EPOCH) // timedelta(microseconds=1)

    def _slot(self, instant: int) -> int:
        """Return the first slot that is not before an instant."""
        return min(-((self.first - instant) // self.step), self.slots)

    def starts(self, spans: Sequence[Day]) -> Any:
        """Return when the first reading of each span is due, as a pyarrow array of times on the public clock."""
        import pyarrow as pa

        instants = [self.first + span.first * self.step for span in spans]
        return pa.array(instants, pa.int64()).cast(pa.timestamp("us", self.zone))

    def windows(self, readings: int) -> int:
        """Return how many windows of so many readings the period has, the last perhaps in part."""
        return -(-self.slots // readings)


def _parsed(times: Any, column: str) -> Any:
    """Return a column of ISO 8601 text as timestamps, with a zone where the text has one."""
    import pyarrow as pa

    if pa.types.is_dictionary(times.type):
        times = times.cast(times.type.value_type)
    if not (pa.types.is_string(times.type) or pa.types.is_large_string(times.type)):
        return times
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return times.cast(kind)
        except pa.ArrowInvalid:
            continue
    raise DataError(
        f"The column '{column}'",
        "not all of it is time in ISO 8601, all with an offset or all without",
        "Write times like 2026-01-31T18:00:00, or 2026-01-31T18:00:00+01:00",
    )
