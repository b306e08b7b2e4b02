"""The public clock: slots, days where the clocks change, and times that do not fit."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from leeward.errors import DataError, InputError
from leeward.local.series import Schedule

PARIS = "Europe/Paris"


def schedule(start: str = "2026-03-28", end: str = "2026-03-31", **more: Any) -> Schedule:
    return Schedule(start=start, end=end, **{"every": "15 min", **more})


def test_days_have_23_and_25_hours_where_the_clocks_change() -> None:
    spring = schedule(zone=PARIS)
    assert [(day.date.day, day.readings) for day in spring.days] == [(28, 96), (29, 92), (30, 96)]
    autumn = schedule("2026-10-24", "2026-10-27", zone=PARIS)
    assert [(day.date.day, day.readings) for day in autumn.days] == [(24, 96), (25, 100), (26, 96)]
    assert [day.readings for day in schedule().days] == [96, 96, 96]  # a clock without zone never changes


def test_days_in_part_and_windows_in_part() -> None:
    found = schedule("2026-01-01T22:00", "2026-01-02T03:30", every="30 min")
    assert [(d.date, d.first, d.stop) for d in found.days] == [(date(2026, 1, 1), 0, 4), (date(2026, 1, 2), 4, 11)]
    assert (found.slots, found.windows(4), found.windows(11), found.windows(1)) == (11, 3, 1, 11)


def test_a_midnight_between_readings_belongs_to_the_day_of_the_reading() -> None:
    found = schedule("2026-01-01T23:50", "2026-01-02T00:20", every="15 min")
    assert [(d.date.day, d.first, d.stop) for d in found.days] == [(1, 0, 1), (2, 1, 2)]


@pytest.mark.parametrize("start", ["2026-10-04", "2026-04-05", "2026-07-01"])
def test_hours_lie_in_one_day_also_where_clocks_change_by_half_an_hour(start: str) -> None:
    """Lord Howe Island has days of 23.5 and 24.5 hours: the last hour of such a day is a half one."""
    first = date.fromisoformat(start)
    found = schedule(start, str(first + timedelta(days=2)), every="30 min", zone="Australia/Lord_Howe")
    hours, days = found.spans("hour"), {day.date: day for day in found.days}
    assert [hour.first for hour in hours] == [0, *(hour.stop for hour in hours[:-1])], "each reading is in one"
    assert hours[-1].stop == found.slots
    for hour in hours:
        assert days[hour.date].first <= hour.first < hour.stop <= days[hour.date].stop
    halves = [(hour.date, hour.stop) for hour in hours if hour.readings != 2]
    assert halves == ([] if start == "2026-07-01" else [(first, days[first].stop)])


def slots(clock: Schedule, times: list[Any], kind: Any = None) -> list[int]:
    return clock.slots_of(pa.array(times, kind), "time").tolist()


def test_slots_of_every_kind_of_time() -> None:
    clock = schedule()
    naive = [datetime(2026, 3, 28), datetime(2026, 3, 28, 0, 45), datetime(2026, 3, 27, 23, 45), datetime(2026, 3, 31)]
    assert slots(clock, naive) == [0, 3, -1, -1]
    assert slots(clock, naive, pa.timestamp("s")) == [0, 3, -1, -1]
    assert slots(clock, [t.isoformat() for t in naive]) == [0, 3, -1, -1]
    assert slots(schedule(zone=PARIS), naive) == [0, 3, -1, -1]
    text = ["2026-03-28T00:15:00+01:00", "2026-03-27T23:15:00Z"]
    assert slots(schedule(zone=PARIS), text) == [1, 1]


@pytest.mark.parametrize("year", [2026, 2037, 2038, 2090])
def test_local_times_are_read_by_the_rules_that_days_are_cut_by(year: int) -> None:
    """From 2038 on summer readings were an hour off, in silence, and one of each period was left out."""
    clock = schedule(f"{year}-07-01", f"{year}-07-03", every="1 h", zone=PARIS)
    assert slots(clock, [datetime(year, 7, 1 + hour // 24, hour % 24) for hour in range(48)]) == list(range(48))


def test_an_hour_that_comes_twice_is_told_apart_by_its_offset() -> None:
    clock = schedule("2026-10-24", "2026-10-27", zone=PARIS)
    first, second = slots(clock, ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"])
    assert second - first == 4


def test_one_that_may_lie_in_the_period_or_before_it_is_refused_and_not_left_out() -> None:
    times = ["2026-10-25T02:30:00"]
    with pytest.raises(DataError, match="offset"):
        slots(schedule("2026-10-25T01:30Z", "2026-10-27", zone=PARIS), times)
    with pytest.raises(DataError, match="offset"):
        slots(schedule("2026-10-24", "2026-10-25T01:00Z", zone=PARIS), times)
    assert slots(schedule("2026-10-26", "2026-10-27", zone=PARIS), times) == [-1]


def test_the_clock_says_nothing_of_times_outside_the_period() -> None:
    assert slots(schedule(), ["2026-03-27T12:07:00", "2026-03-31T00:07:00", "2026-03-28T00:15:00"]) == [-1, -1, 1]


@pytest.mark.parametrize(
    ("clock", "times", "words"),
    [
        ({"start": "2026-10-24", "end": "2026-10-27", "zone": PARIS}, ["2026-10-25T02:30:00"], "offset"),  # twice
        ({"zone": PARIS}, ["2026-03-29T02:30:00"], "offset"),  # never
        ({}, ["2026-03-28T00:00:00Z"], "schedule has none"),
        ({}, ["2026-03-28T00:07:00"], "not on the schedule"),
        ({}, ["2026-03-28T00:00:00", None], "missing"),
        ({}, ["2026-03-28T00:00:00", "2026-03-28T00:00:00Z"], "ISO 8601"),
        ({}, ["yesterday"], "ISO 8601"),
        ({}, [7], "no times"),
    ],
)
def test_times_that_do_not_fit_are_refused_without_being_told(clock: Any, times: list[Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as error:
        slots(schedule(**clock), times)
    assert all(str(time) not in str(error.value) for time in times if isinstance(time, str))


def test_a_nanosecond_beside_the_schedule_shows() -> None:
    with pytest.raises(DataError, match="not on the schedule"):
        slots(schedule(), [1_774_656_000_000_000_001], pa.timestamp("ns"))


@pytest.mark.parametrize(
    "given",
    [
        {"every": "0 min"},
        {"every": "15"},
        {"every": "1/3000000 s"},
        {"every": "7 h"},  # the period is not a whole number of them
        {"start": "2026-04-01"},
        {"start": "soon"},
        {"start": "2026-03-28T00:00Z"},  # an instant, without a zone for the rest
        {"zone": "Europe/Atlantis"},
        {"every": "1/1000000 s", "end": "2027-03-28"},
    ],
)
def test_clocks_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        schedule(**given)
