# SPDX-License-Identifier: Apache-2.0
"""The half-open span of time that a question is about, and how its ends are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from leeward._plain import echo, is_finer_than_microseconds
from leeward.errors import SpecError


@dataclass(frozen=True, eq=False)
class Window:
    """The half-open span of time [start, end): both with an offset from UTC, or both without.

    Windows are equal if they are one span: of instants, whatever zone these are written in.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for key, each in (("start", self.start), ("end", self.end)):
            try:
                each.replace(tzinfo=each.tzinfo or UTC).astimezone(UTC)
            except OverflowError:
                raise SpecError(
                    f"The window's {key} is {each.isoformat()}", "UTC has no such day", "Name a year from 2 to 9998"
                ) from None
        if (self.start.utcoffset() is None) != (self.end.utcoffset() is None):
            raise SpecError(
                "One end of the window has an offset from UTC and the other has none",
                "they cannot be compared",
                "Give both an offset, or neither",
            )
        # Python compares two times of one zone by their readings, of which an hour comes twice where clocks are put back
        back = (self.end.utcoffset() or timedelta()) - (self.start.utcoffset() or timedelta())
        if self.end.replace(tzinfo=None) - self.start.replace(tzinfo=None) <= back:
            raise SpecError(
                f"The window from {self.start.isoformat()} to {self.end.isoformat()} is empty or reversed",
                "the end itself does not belong to the window",
                "Give an end later than the start",
            )

    # Python compares two times of one zone by their readings, by which an hour and the same hour shown again are one
    def __eq__(self, other: object) -> bool:
        return self.public() == other.public() if isinstance(other, Window) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.public().values()))

    @property
    def aware(self) -> bool:
        """Whether the ends are instants (with an offset from UTC) rather than readings of a clock on a wall."""
        return self.start.utcoffset() is not None

    def public(self) -> dict[str, str]:
        """The canonical text of both ends; instants are written in UTC, so equal windows read the same."""
        start, end = ((t.astimezone(UTC) if self.aware else t).isoformat() for t in (self.start, self.end))
        return {"start": start, "end": end}


def is_shown(window: Window, timezone: str) -> bool:
    """Return whether clocks in this zone ever show a time of the window: where they are put forward they leave some out.

    A window of instants holds moments, whatever clocks show. A reading is left out where the offset from UTC after a jump
    (``fold=1``) is greater than before it; the difference is as much as is left out.
    """
    if window.aware:
        return True
    zone = ZoneInfo(timezone)

    def gap(reading: datetime) -> timedelta:
        after, before = (reading.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (1, 0))
        return after - before

    last = window.end - timedelta(microseconds=1)
    return not (gap(last) > timedelta() and window.end - window.start <= gap(window.start))


def is_between_passes(window: Window, timezone: str) -> bool:
    """Return whether an end lies among times that clocks of this zone show twice, because they are put back.

    Then moments of the window and times that clocks show in it are not the same: some that are shown before the end come
    after it. At the first of the times that are shown twice they are the same still.
    """
    zone = ZoneInfo(timezone)

    def twice(reading: datetime) -> bool:
        first, second = (reading.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
        return first > second

    for end in (window.start, window.end):
        shown = end.astimezone(zone) if window.aware else end.replace(fold=0)
        reading = shown.replace(tzinfo=None)
        if shown.fold or (twice(reading) and twice(reading - timedelta(microseconds=1))):
            return True
    return False


def moment(key: str, value: object) -> datetime:
    """Read one end of a window: a datetime, a date, or a text such as ``2012-04-04T19:00``.

    Raises:
        SpecError: it is not one of these.
    """
    if isinstance(value, str | datetime) and value == value and is_finer_than_microseconds(value):
        how = "" if isinstance(value, str) else ": .floor('us')"
        raise SpecError(f"The window's {key} is {echo(value)}", "it has nanoseconds", f"Give whole microseconds{how}")
    if isinstance(value, datetime) and value == value:  # pandas has a missing moment, which differs from itself
        at = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
        return datetime(*at, tzinfo=value.tzinfo, fold=value.fold)
    if isinstance(value, datetime):
        raise SpecError(f"The window's {key} is NaT", "it is a missing moment", "Write it like 2012-04-04T19:00:00")
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    try:
        return datetime.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise SpecError(
            f"The window's {key} is {echo(value)}", "it is not a date and time", "Write it like 2012-04-04T19:00:00"
        ) from None
