"""Windows and clocks: instants, readings, epochs, and the hours that occur twice or never."""

import time
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import read_places, refuse_doubtful
from leeward.engine._window import Clock, bounds, is_over
from leeward.errors import DataError, DoubtfulDataError, SpecError
from leeward.query import Window, count_visitors, places, visits
from leeward.query._window import is_shown

EPOCH = datetime(1970, 1, 1)
MINUTE = timedelta(minutes=1)
# In Berlin, 2024-03-31 02:00 becomes 03:00, and 2024-10-27 03:00 becomes 02:00. In Lord Howe the step is half an hour.
ZONES = {
    "Europe/Berlin": [datetime(2024, 3, 31, 1), datetime(2024, 10, 27, 1)],
    "Australia/Lord_Howe": [datetime(2024, 10, 5, 15, 30), datetime(2024, 4, 6, 15)],
    "Pacific/Apia": [datetime(2011, 12, 30, 10)],
}


def minutes(moment):
    return (moment - EPOCH) // MINUTE


def shown_before(moment, zone):
    """Every reading, in minutes, that the zone's clocks showed in the three days before a UTC moment."""
    for back in range(1, 3 * 1440):
        yield minutes((moment - back * MINUTE).replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None))


@cache
def shown_around(name, jump):
    """Every reading that the zone's clocks show in the minutes of three days before a UTC moment and after it."""
    moments = ((jump + back * MINUTE).replace(tzinfo=UTC) for back in range(-4400, 4400))
    return [moment.astimezone(ZoneInfo(name)).replace(tzinfo=None) for moment in moments]


AROUND_JUMPS = st.sampled_from([(name, jump) for name, jumps in ZONES.items() for jump in jumps])


@pytest.mark.sweep
@given(AROUND_JUMPS, st.integers(-130, 130))
def test_a_reading_is_in_a_window_of_instants_iff_first_shown_there(which, offset):
    """By brute force: a reading t stands for an instant ≥ s iff the clock showed nothing ≥ t before s."""
    name, jump = which
    start = jump + offset * MINUTE
    window = Window(start.replace(tzinfo=UTC), (start + timedelta(days=30)).replace(tzinfo=UTC))
    first, _ = bounds(window, Clock.READINGS, name, 10**6)
    # The latest reading shown for a whole minute before s ends that minute later.
    assert first == 60 * 10**6 * (max(shown_before(start, ZoneInfo(name))) + 1)


@given(AROUND_JUMPS, st.integers(-130, 130))
def test_a_naive_end_means_the_first_moment_its_reading_or_a_later_one_is_shown(which, offset):
    name, jump = which
    zone = ZoneInfo(name)
    start = (jump + offset * MINUTE).replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None, fold=0)
    for reading in (start, start + timedelta(minutes=35)):
        window = Window(reading, reading + timedelta(days=30))
        first, _ = bounds(window, Clock.INSTANTS, name, 1)
        span = [jump + back * MINUTE for back in range(-2000, 2000)]
        found = next(m for m in span if m.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) >= reading)
        assert first == 60 * minutes(found)


def test_the_repeated_hour_means_its_first_pass():
    window = Window(datetime(2024, 10, 27, 0, 30, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, tzinfo=UTC))
    first, end = bounds(window, Clock.READINGS, "Europe/Berlin", 1)
    # From 02:30 (first pass) up to 02:30 (second pass): readings of the second pass count as of the first.
    assert first == 60 * minutes(datetime(2024, 10, 27, 2, 30))
    assert end == 60 * minutes(datetime(2024, 10, 27, 3))


@given(AROUND_JUMPS, st.integers(-1700, 1700), st.sampled_from([1, 15, 30, 60, 61, 90, 1440, 1441, 300_000]))
def test_a_window_that_no_clock_shows_is_refused_before_it_is_paid_for(which, offset, length):
    """By brute force: whether any minute of three days is one at which the clock shows a reading of the window."""
    name, jump = which
    zone = ZoneInfo(name)
    start = jump.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None, fold=0) + offset * MINUTE
    window = Window(start, start + length * MINUTE)
    shown = any(window.start <= each < window.end for each in shown_around(name, jump))
    assert is_shown(window, name) == shown
    if shown:
        first, end = bounds(window, Clock.INSTANTS, name, 10**6)
        assert first < end
        bounds(window, Clock.READINGS, name, 10**6)
    else:
        for clock in Clock:
            with pytest.raises(SpecError, match=f"in {name} can lie in it"):
                bounds(window, clock, name, 10**6)


def test_a_window_of_the_second_pass_holds_no_reading_but_instants():
    """Readings stand for their first showing, so a window of instants within the second pass can hold none of them."""
    window = Window(datetime(2024, 10, 27, 1, 0, tzinfo=UTC), datetime(2024, 10, 27, 2, 0, tzinfo=UTC))
    with pytest.raises(SpecError, match="time without an offset from UTC in Europe/Berlin can lie in it"):
        bounds(window, Clock.READINGS, "Europe/Berlin", 10**6)
    first, end = bounds(window, Clock.INSTANTS, "Europe/Berlin", 10**6)
    assert end - first == 3600 * 10**6


def test_a_window_shorter_than_the_unit_of_the_times_holds_none():
    within = Window(datetime(1970, 1, 1, 0, 0, 1, 1), datetime(1970, 1, 1, 0, 0, 1, 2))
    with pytest.raises(SpecError, match="integer since 1970 can lie in it"):
        bounds(within, Clock.EPOCHS, None, 1)
    assert bounds(within, Clock.EPOCHS, None, 10**6) == (1_000_001, 1_000_002)


def test_units_round_up_so_that_whole_units_compare_exactly():
    window = Window(datetime(1970, 1, 1, 0, 0, 1, 1), datetime(1970, 1, 1, 0, 0, 3))
    assert bounds(window, Clock.EPOCHS, None, 1) == (2, 3)
    assert bounds(window, Clock.EPOCHS, None, 1000) == (1001, 3000)
    assert bounds(window, Clock.EPOCHS, None, 10**9) == (1_000_001_000, 3_000_000_000)
    early = Window(datetime(1969, 12, 31, 23, 59, 58, 500_000), datetime(1970, 1, 1))
    assert bounds(early, Clock.EPOCHS, None, 1) == (-1, 0)


def test_the_edge_of_the_calendar_is_refused_plainly():
    window = Window(datetime(1, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC))
    with pytest.raises(SpecError, match="calendar"):
        bounds(window, Clock.READINGS, "Asia/Tokyo", 1)


NAIVE = pa.array([datetime(2012, 4, 4, 19)], pa.timestamp("us"))
INSTANT = pa.array([datetime(2012, 4, 4, 10)], pa.timestamp("us", tz="UTC"))
FINE = pa.array([datetime(2012, 4, 4, 10)], pa.timestamp("ns", tz="Asia/Tokyo"))
SECONDS = pa.array([1333533600])
TEXT = pa.array(["2012-04-04T19:00"])
ZONED_TEXT = pa.array(["2012-04-04 19:00:00.000+09:00"])
HOURS = {"start": "2012-04-04T19:00", "end": "2012-04-04T20:00"}
AWARE = {"start": "2012-04-04T10:00Z", "end": "2012-04-04T20:00+09:00"}
UTC_HOURS = {"start": "2012-04-04T10:00", "end": "2012-04-04T11:00"}
TOKYO = {"timezone": "Asia/Tokyo"}


def kept(times, window, strictly=False, **described):
    data = pa.table({"u": [1] * len(times), "p": ["a"] * len(times), "t": times})
    seen = describe_by(visits, data, person="u", place="p", time="t", **described)
    listed = places(pa.table({"p": ["a"]}), place="p")
    query = count_visitors(seen, listed, **window)
    with open_visits(seen, read_places(listed)) as table:
        assert table.look(query).taken == table.count(query).rows_kept
        if strictly:
            refuse_doubtful([table.look(query)])
        return table.count(query).rows_kept


@pytest.mark.parametrize(
    ("times", "window", "described"),
    [
        (NAIVE, HOURS, {}),
        (NAIVE, HOURS, TOKYO),
        (NAIVE, AWARE, TOKYO),
        (INSTANT, AWARE, {}),
        (INSTANT, AWARE, TOKYO),
        (INSTANT, HOURS, TOKYO),
        (FINE, AWARE, {}),
        (FINE, HOURS, TOKYO),
        (SECONDS, AWARE, {"time_unit": "s"}),
        (SECONDS, UTC_HOURS, {"time_unit": "s"}),
        (SECONDS, HOURS, {"time_unit": "s"} | TOKYO),
        (TEXT, HOURS, {}),
        (TEXT, AWARE, TOKYO),
        (ZONED_TEXT, AWARE, {}),
        (ZONED_TEXT, HOURS, TOKYO),
        (pa.array(["1333533600000"]), AWARE, {"time_unit": "ms"}),
        (pa.array([1333533600000000], pa.uint64()), AWARE, {"time_unit": "us"}),
        (pa.array([datetime(2012, 4, 4)], pa.date32()), {"start": "2012-04-04", "end": "2012-04-05"}, {}),
        (pa.array(["2012-04-04"]), {"start": "2012-04-04", "end": "2012-04-05"}, {}),
        (pa.array(["4.4.2012"]), {"start": "2012-04-04", "end": "2012-04-05"}, {"time_format": "dd.mm.yyyy"}),
    ],
)
def test_each_kind_of_time_meets_each_kind_of_window_it_goes_with(times, window, described):
    assert kept(times, window, **described) == 1
    later = {end: (datetime.fromisoformat(text) + timedelta(days=1)).isoformat() for end, text in window.items()}
    assert kept(times, later, **described) == 0


@pytest.mark.parametrize(
    ("times", "window", "described", "error"),
    [
        (NAIVE, AWARE, {}, SpecError),
        (INSTANT, HOURS, {}, SpecError),
        (FINE, HOURS, {}, SpecError),
        (TEXT, AWARE, {}, DoubtfulDataError),
        (ZONED_TEXT, HOURS, {}, DoubtfulDataError),
        (SECONDS, AWARE, {}, DataError),
        (NAIVE, HOURS, {"time_unit": "s"}, DataError),
        (pa.array([1.5]), AWARE, {"time_unit": "s"}, DataError),
        (pa.array(["1.5"]), AWARE, {"time_unit": "s"}, DoubtfulDataError),
        (pa.array([True]), HOURS, {}, DataError),
        (pa.array(["2012-04-04T19:00", "2012-04-04T19:00Z"]), HOURS, TOKYO, DataError),
        (pa.array(["2012-04-04T19:00", "tomorrow"]), HOURS, {}, DoubtfulDataError),
        (pa.array([datetime(2012, 4, 4)], pa.date32()), HOURS, {}, DoubtfulDataError),
        (pa.array(["2012-04-04T19:00", "2012-04-04"]), HOURS, {}, DoubtfulDataError),
        (pa.array(["4.4.2012"]), HOURS, {"time_format": "dd.mm.yyyy"}, DoubtfulDataError),
        (pa.array(["2012-02-30T19:00"]), HOURS, {}, DoubtfulDataError),
        (pa.array(["infinity"]), HOURS, {}, DoubtfulDataError),
    ],
)
def test_what_does_not_go_together_is_refused(times, window, described, error):
    with pytest.raises(error):
        kept(times, window, strictly=True, **described)


@pytest.mark.parametrize(
    "text",
    ["2012-04-04T19:00", "2012-04-04 19:59:59.9999999", "2012-04-04T19:30:00.5"],
)
def test_iso_texts_are_read_to_the_microsecond(text):
    assert kept(pa.array([text, None]), HOURS) == 1
    assert kept(pa.array([text + "+09:00"]), AWARE) == 1
    mixed = [text + offset for offset in ("+0830", "+08:01", "+10", "-09:30", "Z")]
    start, end = (datetime.fromisoformat(AWARE[name]) for name in ("start", "end"))
    inside = sum(start <= datetime.fromisoformat(written) < end for written in mixed)
    assert kept(pa.array(mixed), AWARE) == inside


@settings(max_examples=30)
@given(AROUND_JUMPS, st.integers(-130, 130), st.sampled_from(["zone", "aware", "aware in the zone"]))
def test_a_window_is_over_once_no_later_visit_can_lie_in_it(which, offset, written):
    """Against every minute of two days: visits are stamped as each kind of column would, and none may lie before the end."""
    name, jump = which
    zone = ZoneInfo(name)
    at = (jump + offset * MINUTE).replace(tzinfo=UTC)
    end = at if written == "aware" else at.astimezone(zone)
    end = end.replace(tzinfo=None, fold=0) if written == "zone" else end
    _, stop = bounds(Window(end - timedelta(days=30), end), Clock.READINGS, name, 10**6)
    _, stop_instant = bounds(Window(end - timedelta(days=30), end), Clock.INSTANTS, name, 10**6)
    later = [at + k * MINUTE for k in range(-1440, 2880)]
    readings = [minutes(moment.astimezone(zone).replace(tzinfo=None)) * 60 * 10**6 for moment in later]
    instants = [minutes(moment.replace(tzinfo=None)) * 60 * 10**6 for moment in later]
    least = [min(readings[k:]) for k in range(0, len(later), 13)]  # of now and later
    over = [is_over(end, later[k], name, epochs=False) for k in range(0, len(later), 13)]
    assert over == sorted(over)
    for k, said in enumerate(over):
        if said:
            assert least[k] >= stop
            assert instants[13 * k] >= stop_instant
    assert over[-1]


@pytest.mark.parametrize("machine", ["UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_the_zone_of_the_machine_ends_no_window(machine, monkeypatch):
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        now = datetime(2026, 3, 2, 12, tzinfo=UTC)
        for hours in range(-30, 31):
            end = datetime(2026, 3, 2, 12) + timedelta(hours=hours)
            assert is_over(end, now, None, epochs=True) == (hours <= 0)
            assert is_over(end, now, "Asia/Tokyo", epochs=False) == (hours <= 9)
            assert is_over(end, now, None, epochs=False) == (hours <= -12)
            assert is_over(end.replace(tzinfo=UTC), now, None, epochs=False) == (hours <= 0)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_last_day_of_the_calendar_is_not_over_and_the_first_is():
    now = datetime(2026, 3, 2, 12, tzinfo=UTC)
    for zone in (None, "Asia/Tokyo", "America/New_York"):
        assert not is_over(datetime.max, now, zone, epochs=False)
        assert is_over(datetime.min + MINUTE, now, zone, epochs=False)


def test_dates_count_in_the_whole_days_of_a_run_and_not_in_its_hours():
    """Said together, a day and its first hour are not counted in one pass: midnight is in both."""
    data = pa.table({"u": [1, 2], "p": ["a", "a"], "t": ["2012-04-04", "2012-04-04T00:30"]})
    seen, listed = visits(data, person="u", place="p", time="t"), places(pa.table({"p": ["a"]}), place="p")
    day, hour = (
        count_visitors(seen, listed, start="2012-04-04", end=end) for end in ("2012-04-05", "2012-04-04T01:00")
    )
    with open_visits(seen, read_places(listed)) as opened:
        opened.expect([day, hour])
        assert [opened.count(query).counts.tolist() for query in (day, hour)] == [[2], [1]]
        assert [opened.look(query).dropped["date_alone"] for query in (day, hour)] == [0, 1]


@pytest.mark.parametrize(
    ("times", "said", "dropped"),
    [
        (pa.array([1333497600, None]), {"time_unit": "s"}, {"null_time": 1}),
        (pa.array(["1333497600", None, "soon"]), {"time_unit": "s"}, {"null_time": 1, "unreadable_time": 1}),
        (
            pa.array(["1333497600.5", "1333497600.0", "1.3e9", "+1333497600"]),
            {"time_unit": "s"},
            {"unreadable_time": 3},
        ),
        (pa.array([date(2012, 4, 4), None]), {}, {"date_alone": 1, "null_time": 1}),
        (pa.array(["2012-04-04", None, "2012-04-99"]), {}, {"date_alone": 1, "null_time": 1, "unreadable_time": 1}),
        (pa.array([datetime(2012, 4, 4), None]), {}, {"null_time": 1}),
    ],
)
def test_a_time_that_is_missing_is_told_from_one_that_cannot_be_read_or_is_a_date(times, said, dropped):
    data = pa.table({"u": range(len(times)), "p": ["a"] * len(times), "t": times})
    seen = describe_by(visits, data, person="u", place="p", time="t", **said)
    listed = places(pa.table({"p": ["a"]}), place="p")
    query = count_visitors(seen, listed, start="2012-04-04", end="2012-04-04T01:00")
    with open_visits(seen, read_places(listed)) as opened:
        found = opened.look(query).dropped
    reasons = ("null_time", "unreadable_time", "date_alone", "incomparable_time")
    assert {reason: found[reason] for reason in reasons if found[reason]} == dropped
