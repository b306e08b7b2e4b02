# SPDX-License-Identifier: Apache-2.0
"""Attack: what is taken for something that it is not, so that a place or a group where people are would be called safe."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.attacks.test_spellings import plan_of, visits
from tests.deciding import decide_by

import leeward as lw
from leeward.errors import DataError, DoubtfulDataError, InputError
from leeward.local.location import OwnReports
from leeward.noise import SystemBits
from leeward.session._check import check_planned
from leeward.session._release import release_planned

DAY = dt.datetime(2020, 1, 1)
ASKED = {"safe_at_most": 5}
AGES = {"lower": "0", "upper": "80", "step": "20"}
NO_NUMBERS = ["61,5", "6I", "61 years", "1,061", "0x3D"]
READ_AS_NUMBERS: dict[str, dict[str, Any]] = {
    "the column": {"column": "age", **AGES},
    "intervals": {"by": {"age": AGES}},
    "one of two columns": {"by": {"sex": ["f"], "age": AGES}},
    "intervals and all others": {"by": {"age": AGES}, "others": "all others"},
    "intervals of two columns": {"by": {"old": AGES, "age": AGES}},
}


def people(text: str, odd: int) -> lw.Records:
    ages = [text if i < odd else "34" for i in range(200)]
    return lw.records(pa.table({"who": range(200), "age": ages, "sex": ["f"] * 200, "old": [1] * 200}), person="who")


@pytest.mark.parametrize("how", READ_AS_NUMBERS)
def test_a_text_that_is_no_number_is_never_in_none_of_the_groups(how: str, tmp_path: Path) -> None:
    """Half of all people are older than 60, and written otherwise: they were lost in silence where ages make groups."""
    for i, text in enumerate(NO_NUMBERS):
        made = decide_by(
            lw.plan, statistic_by(people(text, 100), "histogram", **READ_AS_NUMBERS[how]), lw.AdditionOnly("9"), **ASKED
        )
        with pytest.raises(DoubtfulDataError, match="100 rows with a number that cannot be read"):
            lw.release(made, lw.Budget(tmp_path / f"{i}.db", "people", "99"))
    few = decide_by(
        lw.plan, statistic_by(people("x", 2), "histogram", **READ_AS_NUMBERS[how]), lw.AdditionOnly("9"), **ASKED
    )
    dropped = lw.release(few, lw.Budget(tmp_path / "few.db", "people", "99")).curator.dropped
    assert (dropped["unreadable_number"], dropped["unknown_group"]) == (2, 0)


@pytest.mark.parametrize("stray", [dt.datetime(2099, 1, 1), dt.datetime(2020, 1, 1, 23), dt.datetime(9999, 12, 30)])
def test_a_row_of_a_later_day_does_not_say_that_an_hour_was_quiet(stray: dt.datetime, tmp_path: Path) -> None:
    """What is there of ten o'clock was not loaded yet: every place was safe, where one clock was wrong."""
    loaded = visits({8: "park", 9: "zoo"})
    odd = pa.table({"who": ["odd"], "where": ["zoo"], "when": pa.array([stray], pa.timestamp("us")), "state": ["STAY"]})
    table = pa.concat_tables([loaded, odd])
    budget, hours = lw.Budget(tmp_path / "budget.db", "walks", "99"), [plan_of(table, hour) for hour in (8, 9, 10)]
    assert len(lw.monitor(hours[:2], budget).releases) == 2
    with pytest.raises(DoubtfulDataError, match="None of the 11 rows would count"):
        lw.monitor(hours, budget)
    table = visits({8: "park", 9: "zoo", 11: "park"})
    assert len(lw.monitor([plan_of(table, hour) for hour in (8, 9, 10)], budget).releases) == 3


VIEWS = {
    "a reading": ("p, place, ts::TIMESTAMP AS time", False),
    "a date": ("p, place, ts::DATE AS time", False),
    "a text": ("p, place, strftime(ts, '%Y-%m-%dT%H:%M') AS time", False),
    "a zone that is said": ("p, place, ts AT TIME ZONE 'Asia/Tokyo' AS time", True),
    "an instant": ("p, place, ts AS time", True),
    "a place": ("p, place || hour(ts) AS place, timestamp '2020-01-01' AS time", False),
    "a column that is not read": ("p, place, timestamp '2020-01-01' AS time, ts::DATE AS day", True),
}


@pytest.mark.parametrize("what", VIEWS)
def test_a_view_whose_times_hang_on_the_zone_of_the_session_is_refused(what: str, tmp_path: Path) -> None:
    """Whoever wrote it saw 18:30; here it would be 9:30, and the place of 50 people at 18:30 safe."""
    chosen, good = VIEWS[what]
    with duckdb.connect(str(tmp_path / "visits.duckdb")) as held:
        held.execute("SET TimeZone = 'Asia/Tokyo'")
        held.execute(
            "CREATE TABLE t AS SELECT i AS p, 'a' AS place, TIMESTAMPTZ '2020-01-01 18:30:00+09' AS ts FROM range(50) r(i)"
        )
        held.execute(f"CREATE VIEW v AS SELECT {chosen} FROM t")
        held.execute(f"CREATE TABLE made AS SELECT {chosen} FROM t")
        held.execute("CREATE TABLE day (p INT, place TEXT, ts TIMESTAMPTZ, time DATE GENERATED ALWAYS AS (ts::DATE))")
        held.execute("INSERT INTO day (p, place, ts) SELECT p, place, ts FROM t")
    zone = "+09:00" if what == "an instant" else ""
    for table, read in (("v", good), ("made", True), ("day", False)):
        seen = lw.visits(
            lw.query.Source(tmp_path / "visits.duckdb", table=table), person="p", place="place", time="time"
        )
        asked = {"start": f"2020-01-01T00:00{zone}", "end": f"2020-01-02T00:00{zone}", "places_per_person": 1}
        found = lw.count_visitors(seen, lw.places(pa.table({"place": ["a", "a18"]}), place="place"), **asked)
        made = lw.plan(found, lw.AdditionOnly("99"), lw.Decide(safe_at_most=5), what="counts")
        budget = lw.Budget(tmp_path / f"{table}.db", "walks", "999")
        if read:
            assert sum(lw.release(made, budget).answers["count"].to_pylist()) >= 50
        elif table == "v" or what == "a date":
            with pytest.raises(DataError, match="hang on the time zone"):
                lw.release(made, budget)


@pytest.mark.parametrize("column", ["who", "where"])
@pytest.mark.parametrize("text", ["1.23457E+11", "1,23457E+11", "1e+16"])
def test_an_id_whose_last_digits_a_spreadsheet_took_away_is_refused(text: str, column: str, tmp_path: Path) -> None:
    """Five people with long ids are one, and a place where they are is safe."""
    table = visits({8: "park"})
    held = table.column(column).to_pylist()
    table = table.set_column(table.column_names.index(column), column, pa.array([*held[:-1], text]))
    with pytest.raises(DoubtfulDataError, match="its last digits are lost"):
        lw.release(plan_of(table, 8), lw.Budget(tmp_path / "budget.db", "walks", "99"))


def test_ids_that_only_resemble_such_a_number_are_ids(tmp_path: Path) -> None:
    table = visits({8: "park"})
    ids = ["1E5", "5e12", "E+1", "12E+", "+49 30 1", "a1E+5"][: len(table)]
    table = table.set_column(0, "who", pa.array(ids))
    assert lw.release(plan_of(table, 8), lw.Budget(tmp_path / "budget.db", "walks", "99")).answers.num_rows == 2


def by_spreadsheet(ids: list[int]) -> list[int]:
    """What is left of numbers of which 15 digits are kept."""
    return [int(f"{i:.14e}".replace(".", "").split("e")[0]) * 10 ** (len(str(i)) - 15) for i in ids]


def of_long_ids(ids: list[int], kind: str) -> pa.Table:
    """A row an id, all at one place."""
    when = [DAY + dt.timedelta(hours=8, seconds=i) for i in range(len(ids))]
    kinds = {"texts": pa.string(), "decimals": pa.decimal128(21)}  # of 21 digits, as databases have them
    who = pa.array(ids).cast(kinds.get(kind) or getattr(pa, kind)())
    rows = {"who": who, "where": ["park"] * len(ids), "when": pa.array(when, pa.timestamp("us"))}
    return pa.table({**rows, "state": ["STAY"] * len(ids)})


@pytest.mark.parametrize(
    ("kind", "first"),
    [("texts", 10**15), ("texts", 10**18), ("int64", 10**15), ("float64", 10**15), ("decimals", 10**18)],
)
def test_ids_of_which_a_spreadsheet_kept_15_digits_are_refused(kind: str, first: int, tmp_path: Path) -> None:
    """Found: of sixty people with numbers of cards six were left, and of sixty with ids of 19 digits one."""
    ids = [first + 1234567 * i * i for i in range(60)]
    with pytest.raises(DoubtfulDataError, match="keep 15 digits of a number"):
        lw.release(plan_of(of_long_ids(by_spreadsheet(ids), kind), 8), lw.Budget(tmp_path / "a.db", "walks", "99"))
    lw.release(plan_of(of_long_ids(ids, kind), 8), lw.Budget(tmp_path / "b.db", "walks", "99"))
    few = [first * 2 + 10 * i for i in range(5)] if first == 10**15 else [first + 1000]
    lw.release(plan_of(of_long_ids(few, kind), 8), lw.Budget(tmp_path / "c.db", "walks", "99"))
    some = [*by_spreadsheet(ids[:10]), *(first * 3 + 7 * i for i in range(1, 4))]
    lw.release(plan_of(of_long_ids(some, kind), 8), lw.Budget(tmp_path / "d.db", "walks", "99"))


DAYS = {"start": dt.timedelta(hours=18), "end": dt.timedelta(hours=19)}
CUT: dict[str, tuple[dt.timedelta, dict[str, Any]]] = {
    "days": (dt.timedelta(), DAYS),
    "days of a zone": (
        -dt.timedelta(hours=9),
        {"start": -dt.timedelta(hours=3), "end": dt.timedelta(), "timezone": "Asia/Tokyo"},
    ),
    "hours": (dt.timedelta(hours=17), {"start": dt.timedelta(hours=17, minutes=10), "end": dt.timedelta(hours=18)}),
    **{
        f"stretches of {unit} hours": (
            dt.timedelta(hours=cut),
            {"start": dt.timedelta(hours=cut + 1), "end": dt.timedelta(hours=cut + 2)},
        )
        for unit, cut in (("twelve", 12), ("eight", 16), ("six", 6), ("four", 4), ("three", 15), ("two", 14))
    },
    **{
        unit: (
            dt.timedelta(hours=18, minutes=cut),
            {"start": dt.timedelta(hours=18, minutes=start), "end": dt.timedelta(hours=18, minutes=start + 8)},
        )
        for unit, cut, start in (
            ("half hours", 30, 40),
            ("stretches of twenty minutes", 40, 45),
            ("quarters of an hour", 15, 20),
            ("stretches of twelve minutes", 48, 50),
            ("stretches of ten minutes", 50, 55),
            ("stretches of five minutes", 25, 27),
        )
    },
    "minutes": (
        dt.timedelta(hours=18, minutes=7),
        {"start": dt.timedelta(hours=18, minutes=7, seconds=9), "end": dt.timedelta(hours=18, minutes=7, seconds=40)},
    ),
}


@pytest.mark.parametrize("what", CUT)
def test_times_that_are_cut_to_more_than_is_asked_stop_a_release(what: str, tmp_path: Path) -> None:
    """All who were there on a day seem to have come at midnight, and every later hour is safe."""
    cut, how = CUT[what]
    zone = {key: value for key, value in how.items() if key == "timezone"}
    inside = [how["start"] + dt.timedelta(seconds=7 + i % 9) for i in range(5)]
    times = [DAY + each for each in [*[cut] * 95, *inside]]
    when = pa.array(times, pa.timestamp("us", "UTC" if zone else None))
    rows = pa.table({"who": range(100), "where": ["park"] * 100, "when": when})

    def asked(start: dt.timedelta, end: dt.timedelta) -> tuple[Any, Any]:
        seen = lw.visits(rows, person="who", place="where", time="when", **zone)
        public = lw.places(pa.table({"place": ["park"]}), place="place")
        ahead = dt.timedelta(hours=9) if zone else dt.timedelta()
        ends = {"start": DAY + start + ahead, "end": DAY + end + ahead}
        plan = lw.plan(
            lw.count_visitors(seen, public, **ends, places_per_person=1),
            lw.AdditionOnly("9"),
            lw.Decide(safe_at_most=9),
        )
        return plan, lw.Budget(tmp_path / f"{start.total_seconds():.0f}.db", "a", "9")

    named = f"at the start of {'a day' if what.startswith('days') else f'one of the {what}'}:"
    with pytest.raises(DoubtfulDataError, match=named):
        lw.release(*asked(how["start"], how["end"]))
    assert any(named in each for each in lw.check(*asked(how["start"], how["end"])).refusals)
    lw.release(*asked(cut, how["end"]))


@pytest.mark.parametrize(
    ("hour", "of", "cut", "stops"),
    [
        *((0, of, cut, stops) for of, cut, stops in ((9, 9, False), (10, 10, True), (100, 10, False), (100, 11, True))),
        *(
            (18, of, cut, stops)
            for of, cut, stops in ((9, 9, False), (10, 10, True), (100, 90, False), (100, 91, True))
        ),
    ],
)
def test_so_many_times_that_are_cut_stop_a_release(hour: int, of: int, cut: int, stops: bool, tmp_path: Path) -> None:
    """One of ten may have been there at midnight, nine of ten at a full hour; less than ten say nothing."""
    times = [DAY + dt.timedelta(hours=hour)] * cut + [DAY + dt.timedelta(hours=18, seconds=67)] * (of - cut)
    rows = pa.table({"who": range(of), "where": ["park"] * of, "when": pa.array(times, pa.timestamp("us"))})
    query = lw.count_visitors(
        lw.visits(rows, person="who", place="where", time="when"),
        lw.places(pa.table({"place": ["park"]}), place="place"),
        start=DAY + dt.timedelta(hours=18, minutes=1),
        end=DAY + dt.timedelta(hours=18, minutes=59),
        places_per_person=1,
    )
    found = lw.check(
        lw.plan(query, lw.AdditionOnly("9"), lw.Decide(safe_at_most=9)), lw.Budget(tmp_path / "b", "a", "9")
    )
    assert any("at the start of" in refusal for refusal in found.refusals) == stops


GRIDS = [({"metres": 200}, 2, 5), ({"metres": 600}, 2, 4), ({"h3": 8}, 2, 5), ({"metres": 100}, 3, 4)]


@pytest.mark.sweep
@pytest.mark.parametrize(("cells", "few", "enough"), GRIDS)
def test_positions_that_are_rounded_to_more_than_a_cell_stop_a_release(
    cells: Any, few: int, enough: int, tmp_path: Path
) -> None:
    """Of 506 cells of 200 metres, two decimals of a degree leave 482 empty, wherever people are."""

    def asked(digits: int) -> tuple[Any, Any]:
        north = [round(48.84 + i * 37 % 400 / 10007, digits) for i in range(200)]
        east = [round(2.3 + i * 91 % 600 / 10007, digits) for i in range(200)]
        rows = pa.table({"who": range(200), "north": north, "east": east, "when": [DAY] * 200})
        seen = lw.visits(rows, person="who", time="when", latitude="north", longitude="east")
        box = lw.grid(west=2.3, south=48.84, east=2.36, north=48.88, **cells)
        found = lw.count_visitors(seen, box, start="2020-01-01", end="2020-01-02", places_per_person=1)
        return lw.plan(found, lw.AdditionOnly("9"), lw.Decide(safe_at_most=2)), lw.Budget(
            tmp_path / f"{digits}.db", "a", "9"
        )

    with pytest.raises(DoubtfulDataError, match=f"at most {few} decimals"):
        lw.release(*asked(few))
    lw.release(*asked(enough))


@pytest.mark.parametrize("odd", [float("inf"), -1e300, float("nan")])
def test_a_position_beyond_all_others_is_one_that_cannot_be_read_and_stops_nothing(odd: float, tmp_path: Path) -> None:
    rows = pa.table({"who": range(200), "north": [odd, *[1 / 7] * 199], "east": [1 / 7] * 200, "when": [DAY] * 200})
    seen = lw.visits(rows, person="who", time="when", latitude="north", longitude="east")
    box = lw.grid(west=0.1, south=0.1, east=0.2, north=0.2, metres=600)
    found = lw.count_visitors(seen, box, start="2020-01-01", end="2020-01-02", places_per_person=1)
    made = lw.plan(found, lw.AdditionOnly("99"), lw.Decide(safe_at_most=2), what="counts")
    assert sum(lw.release(made, lw.Budget(tmp_path / "b.db", "a", "99")).answers["count"].to_pylist()) >= 199


def test_hours_that_are_not_loaded_yet_are_not_asked_beside_one_that_is(tmp_path: Path) -> None:
    """A monitor that catches up asks several hours together: those without a row were safe, as one of them had rows."""
    budget, table = lw.Budget(tmp_path / "budget.db", "walks", "99"), visits({8: "park", 9: "zoo"})
    lw.monitor([plan_of(table, 8)], budget)
    with pytest.raises(DoubtfulDataError, match="No row lies in the last 2 windows"):
        lw.monitor([plan_of(table, hour) for hour in (8, 9, 10, 11)], budget)
    assert len(lw.monitor([plan_of(table, hour) for hour in (8, 9)], budget).releases) == 2
    table = visits({8: "park", 9: "zoo", 12: "park"})
    assert len(lw.monitor([plan_of(table, hour) for hour in (8, 9, 10, 11)], budget).releases) == 4


@pytest.mark.sweep
@pytest.mark.parametrize("ask", [release_planned, lw.monitor])
def test_nor_are_they_by_a_release_or_by_the_first_run_of_a_monitor(ask: Any, tmp_path: Path) -> None:
    """What lies beyond the last row was safe there, while a monitor that went on stopped at it."""
    budget, table = lw.Budget(tmp_path / "budget.db", "walks", "99"), visits({8: "park", 9: "zoo"})
    hours = [plan_of(table, hour) for hour in (8, 9, 10, 11)]
    with pytest.raises(DoubtfulDataError, match="No row lies in the last 2 windows"):
        ask(hours, budget)
    (refused,) = check_planned(hours, budget).refusals
    assert "No row lies in the last 2 windows" in refused
    assert not check_planned(hours[:2], budget).refusals
    quiet = visits({8: "park", 9: "zoo", 12: "park"})
    ask([plan_of(quiet, hour) for hour in (8, 9, 10, 11)], budget)
    went = visits({8: "park", 9: "zoo", 11: "zoo"})  # they are loaded, and the filter leaves them out
    states = ["GO" if when.hour == 11 else "STAY" for when in went["when"].to_pylist()]
    went = went.set_column(went.column_names.index("state"), "state", [states])
    ask([plan_of(went, hour) for hour in (8, 9, 10, 11)], lw.Budget(tmp_path / "other.db", "walks", "99"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_copy_beside_its_file_stops_a_release(kind: str, tmp_path: Path) -> None:
    """Each person's number counted twice, and the promise to each row was about half of it."""
    frame = pd.DataFrame({"who": ["a", "b", "c"], "hours": [1, 2, 3]})
    for name, rows in (("one", frame), ("one (1)", frame), ("empty", frame[:0]), ("none", frame[:0])):
        getattr(rows, f"to_{kind}")(tmp_path / f"{name}.{kind}", index=False)

    def asked(*names: str) -> tuple[Any, Any]:
        rows = lw.records([tmp_path / f"{name}.{kind}" for name in names], person="who", combine="sum")
        plan = lw.plan(lw.statistic(rows, "sum", column="hours", lower=0, upper=24), lw.AdditionOnly("9"))
        return plan, lw.Budget(tmp_path / f"{len(names)}.db", "a", "99")

    with pytest.raises(DoubtfulDataError, match="it is a copy of"):
        lw.release(*asked("one", "one (1)"))
    assert any("it is a copy of" in each for each in lw.check(*asked("one", "one (1)")).refusals)
    lw.release(*asked("one", "empty", "none"))


@pytest.mark.parametrize("column", [None, "hours"])
def test_a_decimal_comma_is_one_in_numbers_that_make_groups_too(column: str | None, tmp_path: Path) -> None:
    """A point parts thousands there: 1.500 was taken for one and a half, and the group from 1,000 on was safe in silence."""
    intervals = {"income": {"lower": "0", "upper": "2000", "step": "1000"}}
    for name, high in (("point", "1.500"), ("comma", "1500,0")):
        rows = "".join(f"{i};{high if i % 2 else '900,5'};{i % 7},5\n" for i in range(200))
        (tmp_path / f"{name}.csv").write_text(f"who;income;hours\n{rows}", "utf-8")
        seen = lw.records(lw.query.Source(tmp_path / f"{name}.csv", delimiter=";", decimal=","), person="who")
        more: dict[str, Any] = {} if column is None else {"column": column, "lower": "0", "upper": "8", "step": "8"}
        made = lw.plan(
            statistic_by(seen, "histogram", by=intervals, **more), lw.AdditionOnly("99"), lw.Decide(safe_at_most=5)
        )
        budget = lw.Budget(tmp_path / f"{name}.db", "people", "99")
        if name == "point":
            with pytest.raises(DoubtfulDataError, match="100 rows with a number that cannot be read"):
                lw.release(made, budget)
        else:
            assert "safe" not in lw.release(made, budget).answers["state"].to_pylist()


BY_INTERVALS: dict[str, dict[str, Any]] = {
    "intervals": {"by": {"age": AGES}},
    "beside a list": {"by": {"sex": ["f"], "age": AGES}},
    "and all others": {"by": {"age": AGES}, "others": "all others"},
    "and a number": {"kind": "sum", "by": {"age": AGES}, "column": "hours", "lower": "0", "upper": "9"},
}


@pytest.mark.parametrize("unit", [int, float, str])
@pytest.mark.parametrize("how", BY_INTERVALS)
def test_a_slip_in_the_unit_of_intervals_stops_a_release_as_one_in_bounds_does(
    how: str, unit: Any, tmp_path: Path
) -> None:
    """Ages in months, and intervals of years: all were in the last, and the others safe."""
    asked, budget = dict(BY_INTERVALS[how]), lw.Budget(tmp_path / "budget.db", "people", "99")
    kind, decided = asked.pop("kind", "histogram"), {} if how == "and a number" else ASKED

    def plan(months: int) -> Any:
        ages = [unit(400 if i < months else 34) for i in range(100)]
        table = pa.table({"who": range(100), "age": ages, "sex": ["f"] * 100, "hours": [1] * 100})
        return decide_by(
            lw.plan, statistic_by(lw.records(table, person="who"), kind, **asked), lw.AdditionOnly("9"), **decided
        )

    with pytest.raises(DoubtfulDataError, match="The bounds lower and upper: 0 below and 91 above, of 100 numbers"):
        lw.release(plan(91), budget)
    assert lw.check(plan(90), budget).refusals == []


class PassesOn:
    """Does all that another object does, and is of no class of ours: who counts the bits of a draw may write one."""

    def __init__(self, other: object) -> None:
        self.other = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self.other, name)


@pytest.mark.parametrize("key", ["budget", "bits"])
@pytest.mark.parametrize("how", ["release", "release_all", "monitor"])
def test_what_is_refused_for_its_class_is_refused_before_anything_is_charged(
    how: str, key: str, tmp_path: Path
) -> None:
    """Found: a budget of another class was charged and the answer stored; then the release was refused for it."""
    ledger = tmp_path / "b.db"
    made = plan_of(visits({8: "park", 9: "zoo"}), 9)
    given: dict[str, Any] = {"budget": lw.Budget(ledger, "d", "99"), "bits": SystemBits()}
    given[key] = PassesOn(given[key])
    asked: Any = {"release": made, "release_all": {"a": made}, "monitor": [made]}[how]
    with pytest.raises(InputError, match=f"PassesOn as its {key}"):
        getattr(lw, how)(asked, **given)
    assert not ledger.exists()


@pytest.mark.parametrize("how", ["release", "release_all", "monitor"])
def test_a_question_in_the_place_of_its_plan_is_told_as_one(how: str, tmp_path: Path) -> None:
    """Found: a monitor called it a plan that was altered by hand, and several releases a mapping that is none."""
    query = plan_of(visits({8: "park"}), 8).query
    asked: Any = {"release": query, "release_all": {"a": query}, "monitor": [query]}[how]
    with pytest.raises(InputError, match=r"CountVisitors.*plan.*Give leeward.plan"):
        getattr(lw, how)(asked, lw.Budget(tmp_path / "b.db", "d", "9"))
    assert not any(tmp_path.iterdir())


def test_so_is_what_would_make_a_file(tmp_path: Path) -> None:
    geo: Any = PassesOn(lw.PlanarLaplace(box=(116.3, 39.9, 116.4, 40.0), epsilon="1/10", unit="1 m"))
    with pytest.raises(InputError, match="PassesOn as its geo"):
        OwnReports(geo, tmp_path / "own.state", every="10 min", reports_a_day=6, new=True)
    assert not any(tmp_path.iterdir())
