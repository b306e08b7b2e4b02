"""Where an end of a window lies among times that clocks show twice, every statement says what becomes of them.

Forty people at a market at 02:45 of the second pass, written without an offset, were in no window from 02:30 to 03:30 of
that pass: the market was called safe, never wrongly, and nothing said why.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

import leeward as lw
from leeward.query._window import is_between_passes

MINUTE = dt.timedelta(minutes=1)
JUMPS = {
    "Europe/Paris": dt.datetime(2026, 10, 25, 1),
    "Australia/Lord_Howe": dt.datetime(2026, 4, 4, 15),  # by half an hour
    "America/New_York": dt.datetime(2026, 3, 8, 7),  # put forward
    "Asia/Tokyo": dt.datetime(2026, 10, 25, 1),  # nothing
}
SAID = "An end of the window lies where clocks of {} are put back"


def minutes_around(zone: str) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    """The minutes of ten hours around a jump: each as a moment, and as clocks show it."""
    for offset in range(-300, 300):
        moment = (JUMPS[zone] + offset * MINUTE).replace(tzinfo=dt.UTC)
        yield moment, moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


@pytest.mark.parametrize("zone", JUMPS)
def test_an_end_is_told_where_no_time_that_is_shown_parts_the_moments_before_it_from_those_after(zone: str) -> None:
    """By brute force over the minutes: a cut in moments is one in times shown, unless one shown later comes before it."""
    around = list(minutes_around(zone))
    far = dt.timedelta(days=3)
    for at in range(60, 540, 5):
        moment, shown = around[at]
        parted = max(each for _, each in around[:at]) < min(each for _, each in around[at:])
        assert is_between_passes(lw.query.Window(moment, moment + far), zone) is not parted
        assert is_between_passes(lw.query.Window(moment - far, moment), zone) is not parted
        before = [each < shown for _, each in around]  # of times without an offset, the cut is at the first that is not
        parted = before == sorted(before, reverse=True)
        assert is_between_passes(lw.query.Window(shown, shown + far), zone) is not parted
        assert is_between_passes(lw.query.Window(shown - far, shown), zone) is not parted


PASSES = {"at": pd.to_datetime(["2026-10-25 02:45"] * 40 + ["2026-10-25 03:05"]), "user": [f"u{i}" for i in range(41)]}
ENDS = ("2026-10-25T02:30+01:00", "2026-10-25T03:30+01:00")


def questions(start: str, end: str, timezone: str | None) -> Iterator[lw.planner.Plan]:
    table = pd.DataFrame(PASSES).assign(place="market", age=30)
    listed = lw.places(pd.DataFrame({"place": ["market", "park"]}), place="place")
    visits = lw.visits(table, person="user", place="place", time="at", timezone=timezone)
    records = lw.records(table, person="user", time="at", timezone=timezone, combine="max")
    when = {"start": start, "end": end}
    counts = lw.count_visitors(visits, listed, **when, places_per_person=1, if_more="latest")
    ages = {"column": "age", "lower": 0, "upper": 60, **when}
    rows = lw.records(table, person="user", time="at", timezone=timezone)
    groups = lw.unlisted_groups(rows, "place", **when)
    yield lw.plan(counts, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    yield lw.plan(lw.select(counts), lw.UnboundedDP("1"))
    yield lw.plan(lw.statistic(records, "sum", **ages), lw.UnboundedDP("1"))
    yield lw.plan(lw.statistic(records, "median", **ages), lw.UnboundedDP("1"))
    yield lw.plan(lw.statistic(records, "histogram", step=20, **ages), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    yield lw.plan(groups, lw.UnboundedDP("1"), delta="1/1000")


@pytest.mark.parametrize("at", range(6))
def test_every_statement_says_it_and_no_other_does(at: int, tmp_path: Path) -> None:
    names = ("Europe/Paris", "Europe/Paris", None)
    ends = (ENDS, ("2026-10-25T00:30+02:00", "2026-10-25T03:30+01:00"), ("2026-10-25T02:30", "2026-10-25T03:30"))
    for number, (zone, (start, end)) in enumerate(zip(names, ends, strict=True)):
        plan = list(questions(start, end, zone))[at]
        budget = lw.Budget(f"sqlite:///{tmp_path}/{number}.db", dataset="night", cap="1", cap_delta="1/100")
        made = lw.release(plan, budget, if_doubtful="publish", accept_useless=True)
        said = [each for each in made.statement.not_guaranteed if each.startswith(SAID.format("Europe/Paris"))]
        assert len(said) == (number == 0)


def test_what_is_said_is_so(tmp_path: Path) -> None:
    """At a noise that is nothing, the forty count in the window before, and the one after it in its own."""
    counted = {}
    for start, end in (("2026-10-25T01:30+02:00", ENDS[0]), ENDS):
        plan = next(questions(start, end, "Europe/Paris"))
        plan = lw.plan(plan.query, lw.AdditionOnly("40"), lw.Decide(safe_at_most=2), what="counts")
        budget = lw.Budget(f"sqlite:///{tmp_path}/b.db", dataset="night", cap="80")
        made = lw.release(plan, budget, if_doubtful="publish")
        counted[start] = made.answers.to_pylist()[0]
    assert [row["count"] for row in counted.values()] == [40, 1]
    assert counted[ENDS[0]]["state"] == "safe"
