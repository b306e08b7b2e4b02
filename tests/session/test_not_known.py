"""Rows that stand for people or positions that are not known: their people would be one person, their places elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.session.conftest import Town
from tests.session.test_doubtful import BOX_OF_PARIS, MONITOR, VISITS

import leeward as lw
from leeward.engine import Look, refuse_doubtful
from leeward.engine._columns import stands_in
from leeward.engine._people import People
from leeward.errors import DoubtfulDataError

STAND_INS = ["unknown", " Unknown ", "N/A", "", "None", "?", "-", "\\N", "(null)", "UNBEKANNT", "(not set)"]
NIL = "00000000-0000-0000-0000-000000000000"
NO_DEVICES = [NIL, NIL.replace("-", ""), "00:00:00:00:00:00", "02:00:00:00:00:00", "FF:FF:FF:FF:FF:FF"]
HASHED = [
    "d41d8cd98f00b204e9800998ecf8427e",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    hashlib.sha256(b"None").hexdigest(),
]
"""Two of nothing at all, as everybody knows them."""


def visits(town: Town, users: list[Any], **columns: Any) -> None:
    frame = pd.DataFrame({"user": users, "venue": "v1", "at": pd.Timestamp("2026-01-01T18:30")}).assign(**columns)
    frame.to_parquet(town.folder / VISITS)


@pytest.mark.parametrize("stand_in", [*STAND_INS, *NO_DEVICES, *HASHED])
def test_each_stand_in_is_known_and_no_name_like_it(stand_in: str) -> None:
    held = pa.table({"id": [stand_in, stand_in + "x1", "Nan Goldin", "0", None]})
    rows = ibis.memtable(held)
    found = ibis.duckdb.connect().to_pyarrow(rows.select(found=stands_in(rows.id)))
    assert found["found"].to_pylist() == [True, False, False, False, False]


@pytest.mark.parametrize("kind", ["UUID", "VARCHAR"])
def test_the_id_of_telephones_that_keep_theirs_back_is_nobodys(kind: str, tmp_path: Path) -> None:
    """Found: all who keep their advertising id back have one and the same, and a square full of them was called safe."""
    table = tmp_path / "visits.duckdb"
    with duckdb.connect(str(table)) as made:
        made.execute(
            f"CREATE TABLE v AS SELECT if(i < 60, '{NIL}'::UUID, gen_random_uuid())::{kind} AS who, TIMESTAMP"
            " '2026-01-01 10:00:00' AS at, if(i < 60, 'square', 'park') AS place FROM range(100) r(i)"
        )
    visits = lw.visits(lw.query.Source(table, table="v"), person="who", place="place", time="at")
    listed = lw.places(pa.table({"place": ["square", "park"]}), place="place")
    query = lw.count_visitors(
        visits, listed, start="2026-01-01", end="2026-01-02", places_per_person=1, if_more="latest"
    )
    plan = lw.plan(query, lw.AdditionOnly("9"), lw.Decide(safe_at_most=2))
    with pytest.raises(DoubtfulDataError, match="60 rows whose person is a stand-in for one who is not known"):
        lw.release(plan, lw.Budget(tmp_path / "b.db", "town", cap="9", new=True))


@pytest.mark.parametrize(("of", "code"), [(2, 0), (3, 2)])
def test_many_rows_of_people_who_are_not_known_stop_a_release(town: Town, of: int, code: int) -> None:
    visits(town, [*STAND_INS[:of], *(f"u{i}" for i in range(200 - of))])
    found, _, err = town.run("release", town.spec(), "--out", town.out)
    assert found == code, err
    assert ("3 rows whose person is a stand-in for one who is not known" in err) == (code == 2)
    assert "3 of the 200 rows inside the window cannot be read in full" in err or not code


@pytest.mark.parametrize(("of", "stops"), [(2, False), (3, True)])
@pytest.mark.parametrize("by", [None, "sex"])
def test_many_such_rows_stop_a_statistic(of: int, stops: bool, by: str | None, tmp_path: Any) -> None:
    frame = pd.DataFrame({"who": [*["unknown"] * of, *(f"u{i}" for i in range(200 - of))], "age": 3, "sex": "F"})
    asked = {"by": by, "groups": ["F", "M"]} if by else {}
    table = lw.records(frame, person="who", combine="max")
    query = statistic_by(table, kind="sum", column="age", lower=0, upper=9, **asked)
    budget = lw.Budget(tmp_path / "b.db", "town", cap="9", new=True)
    if stops:
        with pytest.raises(DoubtfulDataError, match="3 of the 200 rows cannot be read in full"):
            lw.release(lw.plan(query, lw.UnboundedDP("1")), budget)
    else:
        lw.release(lw.plan(query, lw.UnboundedDP("1")), budget)


@pytest.mark.parametrize(
    ("box", "code"),
    [("west = 2.3, south = 48.8, east = 2.4, north = 48.9", 2), ("west = -1, south = -1, east = 1, north = 1", 0)],
)
def test_positions_of_0_and_0_say_no_place_unless_they_lie_in_the_box(town: Town, box: str, code: int) -> None:
    users = [f"u{i}" for i in range(200)]
    inside = 0.5 if code == 0 else 48.85, 0.5 if code == 0 else 2.35
    visits(town, users, lat=[0.0] * 3 + [inside[0]] * 197, lon=[0.0] * 3 + [inside[1]] * 197)
    listed, placed = BOX_OF_PARIS
    metres = 2000 if code else 50000
    spec = town.spec((listed[0], f"grid = {{ {box}, metres = {metres} }}"), placed)
    found, _, err = town.run("release", spec, "--out", town.out)
    assert found == code, err
    assert ("3 rows with coordinates that cannot be read, are not on the Earth, or are 0 and 0 outside" in err) == bool(
        code
    )


@pytest.mark.parametrize(("bad", "code"), [(9, 0), (10, 2)])
@pytest.mark.parametrize("user", [None, "unknown"])
def test_a_bad_hour_of_a_table_with_a_long_history_stops_a_monitor(
    town: Town, bad: int, code: int, user: str | None
) -> None:
    spec = town.spec(*MONITOR)
    assert town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T19:00")[0] == 0
    before = pd.read_parquet(town.folder / VISITS)
    history = pd.DataFrame(
        {"user": [f"h{i}" for i in range(5000)], "venue": "v1", "at": pd.Timestamp("2026-01-01T18:10")}
    )
    hour = pd.DataFrame(
        {"user": [user] * bad + [f"n{i}" for i in range(50)], "venue": "v1", "at": pd.Timestamp("2026-01-01T19:30")}
    )
    pd.concat([before, history, hour]).to_parquet(town.folder / VISITS)
    found, _, err = town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T20:00")
    assert found == code, err


NO_TIMES = ["1970-01-01", "0001-01-01", "1899-12-30", "1900-01-01", "9999-12-31"]
HOUR = "2026-01-01T18:00", "2026-01-01T19:00"


def of_times(times: list[str], window: tuple[str, str], **how: Any) -> Any:
    """A plan for a table of one person a time, all at one place."""
    table = pa.table({"who": range(len(times)), "at": times, "place": ["square"] * len(times)})
    seen = lw.visits(table, person="who", place="place", time="at", **how)
    listed = lw.places(pa.table({"place": ["square"]}), place="place")
    query = lw.count_visitors(seen, listed, start=window[0], end=window[1], places_per_person=1, if_more="latest")
    return lw.plan(query, lw.AdditionOnly("9"), lw.Decide(safe_at_most=2))


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("day", NO_TIMES)
def test_a_time_that_stands_for_none_is_none(day: str, zone: str | None, tmp_path: Path) -> None:
    """Found: clocks that were never set say 1970, and the place of eighty of two hundred people was called safe."""
    how = {} if zone is None else {"timezone": zone}
    good = ["2026-01-01T18:30:17"] * 200
    for of, stops in ((2, False), (3, True)):
        budget = lw.Budget(tmp_path / f"{of}.db", "town", cap="9", new=True)
        made = of_times([*[f"{day}T00:00:00"] * of, *good[: 200 - of]], HOUR, **how)
        if stops:
            with pytest.raises(DoubtfulDataError, match="3 of 200 rows have the time 1970"):
                lw.release(made, budget)
        else:
            lw.release(made, budget)


def test_a_window_that_such_a_time_lies_in_asks_about_it(tmp_path: Path) -> None:
    made = of_times(
        ["1970-01-01T00:00:00"] * 9 + ["1970-01-01T00:30:17"] * 191, ("1970-01-01T00:00", "1970-01-01T01:00")
    )
    lw.release(made, lw.Budget(tmp_path / "b.db", "town", cap="9", new=True))


def test_an_instant_of_nought_is_no_time_in_any_zone(tmp_path: Path) -> None:
    """As whole numbers since 1970, nought is that moment in UTC, whatever the zone of the table is."""
    table = pa.table({"who": range(200), "at": [0] * 9 + [1767258017] * 191, "place": ["square"] * 200})
    source = lw.query.Source(table, time_unit="s")
    seen = lw.visits(source, person="who", place="place", time="at", timezone="Asia/Tokyo")
    listed = lw.places(pa.table({"place": ["square"]}), place="place")
    start, end = "2026-01-01T18:00", "2026-01-01T19:00"
    query = lw.count_visitors(seen, listed, start=start, end=end, places_per_person=1, if_more="latest")
    with pytest.raises(DoubtfulDataError, match="9 of 200 rows"):
        lw.release(
            lw.plan(query, lw.AdditionOnly("9"), lw.Decide(safe_at_most=2)),
            lw.Budget(tmp_path / "b.db", "town", cap="9", new=True),
        )


def look(inside: int, nameless: int, unreadable: int = 0, rows: int = 10**6) -> Look:
    dropped = {"filtered": 0, "null_person": nameless, "outside_window": rows - inside, "unreadable_place": unreadable}
    return Look(rows, inside - nameless - unreadable, dropped, inside / rows, None, inside, None, nameless)


@pytest.mark.parametrize(
    ("bad", "stops"), [(look(100, 51), True), (look(100, 50), False), (look(9, 9), False), (look(100, 0, 51), True)]
)
def test_one_bad_hour_of_many_stops_a_run(bad: Look, stops: bool) -> None:
    looks = [*[look(1000, 0)] * 20, bad, look(2, 2)]
    if stops:
        with pytest.raises(DoubtfulDataError, match="51 of the 100 rows inside one window"):
            refuse_doubtful(looks)
    else:
        refuse_doubtful(looks)


def test_an_id_with_very_many_rows_is_told_by_a_look_before_a_release(town: Town) -> None:
    visits(town, [0] * 60 + list(range(1, 41)))
    code, out, err = town.run("check", town.spec())
    assert code == 0, err
    assert "41 ids; the one with the most rows has 60 of 100, the next 1." in out
    assert "If it stands for people who are not known (0, -1, unknown), they count as one person" in " ".join(
        out.split()
    )
    code, out, _ = town.run("check", town.spec(), "--json")
    assert '"people": {"ids": 41, "rows": 100, "most": 60, "next": 1}' in " ".join(out.split()).replace(
        "{ ", "{"
    ).replace(" }", "}")
    assert "If it" not in People(2, 100, 60, 40).said()
    assert "If it" not in People(1, 100, 100, 0).said()
    visits(town, [0] * 60 + list(range(1, 41)), state=["moving"] * 55 + ["STAY"] * 45)
    _, out, _ = town.run("check", town.spec(('time = "at"', 'time = "at"\nkeep = { state = ["STAY"] }')))
    assert "41 ids; the one with the most rows has 5 of 45, the next 1" in out, "the filter leaves the others out"


@pytest.mark.parametrize(
    ("rows", "stops"), [pytest.param(2**20 - 1, True, marks=pytest.mark.sweep), (2**16 - 1, True), (2**16 - 2, False)]
)
def test_a_table_that_ends_where_a_spreadsheet_does_is_not_whole(rows: int, stops: bool, tmp_path: Path) -> None:
    """Found: of 1.2 million visits a spreadsheet kept the first 1,048,575, and the squares of the others were safe."""
    table = tmp_path / "visits.parquet"
    duckdb.sql(
        f"SELECT 'p' || i AS who, TIMESTAMP '2026-01-01 10:00:00' AS at, 'park' AS place FROM range({rows}) r(i)"
    ).write_parquet(str(table))
    visits = lw.visits(table, person="who", place="place", time="at")
    listed = lw.places(pa.table({"place": ["square", "park"]}), place="place")
    query = lw.count_visitors(
        visits, listed, start="2026-01-01", end="2026-01-02", places_per_person=1, if_more="latest"
    )
    budget = lw.Budget(tmp_path / "b.db", "town", cap="9", new=True)
    checked = lw.check(lw.plan(query, lw.AdditionOnly("9"), lw.Decide(safe_at_most=2)), budget)
    assert any("exactly as many as a spreadsheet holds" in said for said in checked.refusals) is stops
