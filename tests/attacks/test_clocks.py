"""Windows where clocks jump: which rows are inside, told by an oracle that goes through the hours of a zone one by one.

The rule is that of the documentation: a reading stands for the first moment at which the clock showed it or later.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from tests.visited import open_visits

import leeward as lw
from leeward.engine import read_places
from leeward.errors import SpecError
from leeward.query import Window, count_visitors, places, visits

STEP = timedelta(minutes=15)
ZONES = {
    "Europe/Berlin": [datetime(2026, 3, 29, 1), datetime(2026, 10, 25, 0)],
    "Australia/Lord_Howe": [datetime(2026, 4, 4, 14), datetime(2026, 10, 3, 14)],  # by half an hour
    "Antarctica/Troll": [datetime(2026, 3, 29, 0), datetime(2026, 10, 25, 0)],  # by two hours
    "Pacific/Apia": [datetime(2011, 12, 30, 8)],  # a whole day that never was
    "Africa/Casablanca": [datetime(2026, 2, 15, 1), datetime(2026, 3, 22, 1)],
}


def first_moment(reading: datetime, zone: ZoneInfo) -> datetime:
    """The first quarter of an hour, in UTC, at which the clock shows this reading or a later one."""
    moment = reading.replace(tzinfo=UTC) - timedelta(hours=30)
    while moment.astimezone(zone).replace(tzinfo=None, fold=0) < reading:
        moment += STEP
    return moment


DAYS = timedelta(hours=30)


def latest(start: datetime, end: datetime, zone: ZoneInfo) -> datetime:
    """The latest reading that the clock shows at a quarter of an hour from start to end, in UTC."""
    quarters = (start + STEP * n for n in range((end - start) // STEP))
    return max(each.astimezone(zone).replace(tzinfo=None, fold=0) for each in quarters)


def check(opened: Any, asked: Any, inside: int, *, refused: bool) -> None:
    """A window counts the rows inside, or is refused where none can lie in it: no clock shows a time of it, or none anew."""
    if refused:
        with pytest.raises(SpecError, match="can lie in it"):
            opened.count(asked)
        return
    assert opened.count(asked).counts.tolist() == [inside], asked.window


@pytest.mark.parametrize("name", ZONES)
def test_rows_are_inside_by_the_rule(name: str) -> None:
    rng, zone = random.Random(name), ZoneInfo(name)
    listed = places(pa.table({"place": ["a"]}), place="place")
    public = read_places(listed)
    for jump in ZONES[name]:
        quarters = [jump + STEP * rng.randrange(-8, 24) for _ in range(40)]
        shown = [each.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None, fold=0) for each in quarters]
        readings = shown + [shown[0] + STEP * rng.randrange(-12, 24) for _ in range(20)]  # some are never shown
        for kind, held, moments in (
            (pa.timestamp("us"), readings, [first_moment(each, zone) for each in readings]),
            (pa.timestamp("ns", "UTC"), quarters, [each.replace(tzinfo=UTC) for each in quarters]),
        ):
            stamps = pa.array(held, pa.timestamp("us")).cast(pa.timestamp(kind.unit)).cast(kind)
            seen = visits(
                pa.table({"p": range(len(held)), "v": ["a"] * len(held), "t": stamps}),
                person="p",
                place="v",
                time="t",
                timezone=name,
            )
            with open_visits(seen, public) as opened:
                for _ in range(4):
                    start = jump.replace(tzinfo=UTC) + STEP * rng.randrange(-8, 20)
                    end = start + STEP * rng.randrange(1, 9)
                    inside = sum(start <= moment < end for moment in moments)
                    asked = count_visitors(seen, listed, start=start, end=end)
                    shows_more = held is not readings or latest(start, end, zone) > latest(start - DAYS, start, zone)
                    check(opened, asked, inside, refused=not shows_more)
                    wall = start.astimezone(zone).replace(tzinfo=None, fold=0)
                    until = wall + STEP * rng.randrange(1, 9)
                    first, end = first_moment(wall, zone), first_moment(until, zone)
                    inside = sum(first <= moment < end for moment in moments)
                    if held is readings:  # which need no zone to be compared
                        inside = sum(wall <= reading < until for reading in readings)
                    asked = count_visitors(seen, listed, start=wall, end=until)
                    check(opened, asked, inside, refused=first == end)


@pytest.mark.parametrize(
    ("name", "hour", "back"),
    [
        ("America/New_York", datetime(2026, 11, 1, 5), timedelta(hours=1)),
        ("Australia/Lord_Howe", datetime(2026, 4, 4, 14, 30), timedelta(minutes=30)),
        ("Antarctica/Troll", datetime(2026, 10, 24, 23), timedelta(hours=2)),
    ],
)
def test_the_second_pass_of_an_hour_is_a_window_of_its_own(
    name: str, hour: datetime, back: timedelta, tmp_path: Path
) -> None:
    """Its windows were equal to those of the first pass, and had their counts: safe, where 40 people were."""
    hour = hour.replace(tzinfo=UTC)
    times = [hour + STEP / 2] * 2 + [hour + back + STEP / 2] * 40
    seen = visits(
        pa.table({"p": range(42), "v": ["a"] * 42, "t": pa.array(times, pa.timestamp("us", "UTC"))}),
        person="p",
        place="v",
        time="t",
    )
    listed, zone = places(pa.table({"place": ["a"]}), place="place"), ZoneInfo(name)
    ends = [(at.astimezone(zone), (at + STEP).astimezone(zone)) for at in (hour, hour + back)]
    assert ends[0][0].replace(tzinfo=None) == ends[1][0].replace(tzinfo=None), "they are not shown twice"
    first, second = (Window(*both) for both in ends)
    assert first != second
    assert first == Window(*(end.astimezone(UTC) for end in ends[0]))
    assert hash(first) == hash(Window(*(end.astimezone(UTC) for end in ends[0])))
    asked = [count_visitors(seen, listed, start=start, end=end) for start, end in ends]
    plans = [lw.plan(each, lw.AdditionOnly("40"), lw.Decide(safe_at_most=5), mechanism="sanitized") for each in asked]
    budget = lw.Budget(str(tmp_path / "b.db"), dataset="d", cap="200")
    watch = lw.monitor(plans, budget, if_doubtful="publish")
    assert [one.to_arrow()["state"].to_pylist() for one in watch.releases] == [["safe"], ["obscure"]]
    checked = lw.release_all({"one": plans[0], "two": plans[1]}, budget, if_doubtful="publish")
    assert [one.to_arrow()["state"].to_pylist() for one in checked.values()] == [["safe"], ["obscure"]]
