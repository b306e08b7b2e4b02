"""A moment has one day, whatever offset, type or kind of file it is written in; and one store counts days by one rule."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.ledger.spent import spent_in
from tests.private_files import write_private

from leeward.cli import LeewardError
from leeward.errors import BudgetConflictError
from leeward.ledger import PersonBudgets
from leeward.local import check_job
from leeward.local.series._days import Days

HOUR = 3600
NOON, LATE = 1_772_366_400, 1_772_366_400 + 11 * HOUR + 59 * 60
"""2026-03-01 at 12:00 and at 23:59 in UTC, in seconds since 1970."""

OFFSETS = (0, 9 * HOUR, -8 * HOUR, 14 * HOUR, -12 * HOUR, 5 * HOUR + 45 * 60)
TOKYO, UTC_RULE, WRITTEN = "Asia/Tokyo", "UTC", "as written, without a zone"


def clock(moment: int, offset: int = 0) -> str:
    """What a clock with an offset shows, by NumPy's calendar, which shares no code with Python's."""
    return str(np.datetime64(moment + offset, "s"))


def written(moment: int, offset: int) -> str:
    sign, (hours, minutes) = "-" if offset < 0 else "+", divmod(abs(offset) // 60, 60)
    return f"{clock(moment, offset)}{sign}{hours:02}:{minutes:02}"


def days_since_1970(moment: int, offset: int) -> int:
    return (moment + offset) // 86_400


@pytest.mark.parametrize("zone", [None, TOKYO, "America/Los_Angeles"])
@pytest.mark.parametrize("moment", [NOON, LATE, 0, -1, 86_399, 86_400])
def test_a_moment_has_one_day_however_it_is_written(moment: int, zone: str | None) -> None:
    offset = {None: 0, TOKYO: 9 * HOUR, "America/Los_Angeles": -8 * HOUR}[zone]  # in winter
    ways: list[Any] = [written(moment, other) for other in OFFSETS]
    ways += [written(moment, other).replace("T", " ") for other in OFFSETS] + [f"{clock(moment)}Z"]
    ways += [f"{clock(moment)}.999999Z", written(moment, 9 * HOUR).replace("+09:00", "+0900")]
    ways += [datetime.fromtimestamp(moment, timezone(timedelta(seconds=other))) for other in OFFSETS]
    ways += [pd.Timestamp(moment, unit="s", tz=name) for name in ("UTC", TOKYO, "Europe/Paris")]
    days = Days(zone)
    assert days.of(ways) == [days_since_1970(moment, offset)] * len(ways)
    assert days.rule == (zone or UTC_RULE)


@pytest.mark.parametrize("zone", [None, TOKYO])
def test_a_time_without_an_offset_is_the_date_that_is_written(zone: str | None) -> None:
    read = datetime.fromtimestamp(LATE, UTC).replace(tzinfo=None)
    ways: list[Any] = [clock(LATE), clock(LATE).replace("T", " "), clock(LATE)[:16], clock(LATE)[:10]]
    ways += [read, read.date(), pd.Timestamp(read)]
    days = Days(zone)
    assert days.of(ways) == [days_since_1970(LATE, 0)] * len(ways)
    assert days.rule == (zone or WRITTEN)


@pytest.mark.parametrize("zone", [None, TOKYO])
@pytest.mark.parametrize(
    "pair", [(clock(NOON), f"{clock(NOON)}Z"), (date(2026, 3, 1), datetime(2026, 3, 1, tzinfo=UTC))]
)
@pytest.mark.parametrize("turn", [1, -1])
def test_the_two_kinds_are_never_mixed(zone: str | None, pair: tuple[Any, Any], turn: int) -> None:
    for batches in ([list(pair)[::turn]], [[one] for one in pair[::turn]]):
        days = Days(zone)
        with pytest.raises(LeewardError, match="some have none"):
            [days.of(batch) for batch in batches]


NO_DAYS: list[Any] = [
    *("", " ", "2026-03-01 08:00 UTC", "2026-03-01T08:00 JST", "2026-03-01x", "2026-02-30", "01.03.2026", "20260301"),
    *("2026-03-01T25:00", "2026-03-01T08:00+25:00", "0001-01-01T00:00+09:00", "9999-12-31T23:59-09:00", "1772366400"),
    *(None, 1_772_366_400, 1.5, True, b"2026-03-01", "\ud800"),
]  # fmt: skip


@pytest.mark.parametrize("given", NO_DAYS)
def test_what_is_no_time_is_refused_without_being_shown(given: Any) -> None:
    with pytest.raises(LeewardError, match="A time that is not a date") as caught:
        Days(None).of([given])
    assert not str(given).strip() or str(given) not in str(caught.value)


# ---- through the command's job


SPEC: dict[str, dict[str, Any]] = {
    "perturb": {"kind": "location"},
    "data": {"latitude": "lat", "longitude": "lon", "person": "who", "time": "when"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {"within": "200 m", "factor": "2"},
    "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 1},
}


def run(folder: Path, name: str, timezone: str | None = None, **budget: Any) -> tuple[int, dict[str, Any]]:
    """Perturb a table; return the number of budgets that anything is spent of, and the statement."""
    write_private(folder / "people.key", bytes(range(32)))
    data = {**SPEC["data"], "table": name} | ({} if timezone is None else {"timezone": timezone})
    if "geojson" in name:
        data = {key: value for key, value in data.items() if key not in {"latitude", "longitude"}}
    given = {**SPEC, "data": data, "budget": {**SPEC["budget"], **budget}}
    job = check_job(given, folder=folder)
    job.run(folder / f"o{Path(name).suffix}", lambda *_: None, new=True)
    return len(spent_in(folder / "people.db")), job.statement()


def tables(folder: Path, moments: list[int], offsets: list[int]) -> list[str]:
    """One table in every kind of file, with times as texts with an offset."""
    texts = [written(moment, offset) for moment, offset in zip(moments, offsets, strict=True)]
    frame = pd.DataFrame({"who": "ann", "lat": 39.9, "lon": 116.4, "when": texts})
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    point = {"type": "Point", "coordinates": [116.4, 39.9]}
    features = [{"type": "Feature", "properties": {"who": "ann", "when": text}, "geometry": point} for text in texts]
    (folder / "t.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    (folder / "t.geojsonl").write_text("".join(json.dumps(feature) + "\n" for feature in features))
    for zone in ("UTC", TOKYO):
        table = pa.Table.from_pandas(frame).set_column(
            3, "when", pa.array(moments, pa.int64()).cast(pa.timestamp("s", zone))
        )
        pq.write_table(table, folder / f"t-{zone.replace('/', '-')}.parquet")
    return ["t.csv", "t.parquet", "t.geojson", "t.geojsonl", "t-UTC.parquet", "t-Asia-Tokyo.parquet"]


@pytest.mark.parametrize(("zone", "expected"), [(None, 1), (TOKYO, 2)])
def test_one_budget_for_a_day_in_every_kind_of_file(zone: str | None, expected: int, tmp_path: Path) -> None:
    """Three hours apart: one day in UTC, two in Tokyo. And every file spends from the same budgets."""
    names = tables(tmp_path, [LATE - 10 * HOUR, LATE - 7 * HOUR], [0, 14 * HOUR])
    for number, name in enumerate(names, 1):
        spent, statement = run(tmp_path, name, zone, reports_a_day=2 * len(names))
        assert spent == expected, name
        assert statement.budget.days.startswith("a day is one in Asia/Tokyo" if zone else "a time with an offset")
        assert statement.budget.days in " ".join(statement.not_guaranteed)
        assert sum(spent_in(tmp_path / "people.db").values()) == 2 * number


def test_a_moment_written_twice_pays_twice_from_one_budget(tmp_path: Path) -> None:
    names = tables(tmp_path, [NOON, NOON], [0, 14 * HOUR])
    for name in names:
        with pytest.raises(LeewardError, match="more than 1 report in a day"):
            run(tmp_path, name)


def test_a_store_counts_by_one_rule_for_ever(tmp_path: Path) -> None:
    name = tables(tmp_path, [NOON], [0])[0]
    frame = pd.read_csv(tmp_path / name)
    frame.assign(when="2026-03-01 23:00").to_csv(tmp_path / "plain.csv", index=False)
    assert run(tmp_path, name)[0] == 1
    before = (tmp_path / "people.db").read_bytes()
    for other, zone in (("plain.csv", None), ("plain.csv", TOKYO), (name, TOKYO), (name, "Etc/UTC")):
        with pytest.raises(LeewardError, match="made with another days: it says UTC"):
            run(tmp_path, other, zone)
        assert (tmp_path / "people.db").read_bytes() == before
    for other, zone in ((name, TOKYO), ("plain.csv", TOKYO)):  # both are days of Tokyo: 21:00 and 23:00 of one
        assert run(tmp_path, other, zone, store="tokyo.db", reports_a_day=2)[0] == 1
    held = spent_in(tmp_path / "tokyo.db")
    assert [(day, n) for (_, day), n in held.items()] == [(days_since_1970(NOON, 9 * HOUR), 2)]


def test_a_time_zone_is_checked_and_needs_a_budget(tmp_path: Path) -> None:
    given = {**SPEC, "data": {**SPEC["data"], "table": "t.csv", "timezone": "Asia/Tokio"}}
    with pytest.raises(LeewardError, match="not the name of a time zone"):
        check_job(given, folder=tmp_path)
    given["data"]["timezone"] = TOKYO
    with pytest.raises(LeewardError, match=r"there is no \[budget\]"):
        check_job({name: keys for name, keys in given.items() if name != "budget"}, folder=tmp_path)


@pytest.mark.sweep
def test_a_repeated_report_is_paid_for_by_the_first_day_that_can(tmp_path: Path) -> None:
    """Six days at home, at work and in a shop, one new report a day: day 1 pays for home, day 2 for work, day 3 for shops.

    The oracle gives the same rows one file at a time, where each day is asked on its own.
    """
    place = {"home": (39.9, 116.4), "work": (39.95, 116.45), "shop": (39.85, 116.35)}
    rows = [(where, f"2026-01-{day:02d}T{hour}:00Z") for day in range(1, 7) for where, hour in
            (("home", "08"), ("work", "18"), ("shop", "20"))]  # fmt: skip
    shown = {}
    for name, size in (("whole", len(rows)), ("apart", 1), ("days", 3)):
        folder = tmp_path / name
        folder.mkdir()
        write_private(folder / "people.key", bytes(range(32)))
        shown[name] = []
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            frame = pd.DataFrame([place[where] for where, _ in part], columns=["lat", "lon"])
            frame["who"], frame["when"] = "ann", pd.to_datetime([at for _, at in part]).as_unit("us")
            frame.to_parquet(folder / "positions.parquet")
            given = {
                "perturb": {"kind": "location"},
                "data": {
                    "table": "positions.parquet", "latitude": "lat", "longitude": "lon", "person": "who", "time": "when",
                },
                "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
                "protect": {"within": "200 m", "factor": "2", "step": "50 m"},
                "budget": {"store": "b.db", "secret": "people.key", "reports_a_day": 1, "over": "withhold"},
                "repeat": {"store": "m.db", "secret": "people.key"},
            }  # fmt: skip
            check_job(given, folder=folder).run(folder / "out.parquet", lambda *_: None, new=True)
            shown[name] += pd.read_parquet(folder / "out.parquet").lat.notna().tolist()
    assert shown["whole"] == shown["apart"] == shown["days"]
    assert [sum(shown["whole"][k::3]) for k in range(3)] == [6, 5, 4]


def test_a_table_without_rows_says_nothing_of_the_rule_of_days(tmp_path: Path) -> None:
    """Else a store would count by days in UTC for ever, and refuse times without an offset from then on."""
    frame = pd.DataFrame({"who": ["ann"], "lat": 39.9, "lon": 116.4, "when": ["2026-03-01 08:00"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.iloc[:0].to_csv(tmp_path / "none.csv", index=False)
    assert run(tmp_path, "none.csv")[0] == 0
    assert run(tmp_path, "t.csv")[0] == 1
    store = PersonBudgets(tmp_path / "own.db", secret=bytes(16), price="1", reports_a_day=1, new=True)
    with store.charging() as charge:
        charge([], [])
        charge([], [], "UTC")
        charge(["ann"], [1], "as written")
    with pytest.raises(BudgetConflictError), store.charging() as charge:
        charge(["bob"], [1], "UTC")


@pytest.mark.parametrize(
    ("zone", "dated", "said"),
    [
        (None, True, "a time with an offset belongs to its day in UTC, a time without one to the date that is written"),
        (TOKYO, True, "a day is one in Asia/Tokyo, where times without an offset are read"),
        (None, False, "all reports of a run are of the day on which it charges them, in UTC"),
        (TOKYO, False, "all reports of a run are of the day on which it charges them, in Asia/Tokyo"),
    ],
)
def test_a_statement_says_which_day_reports_are_charged_to(
    zone: str | None, dated: bool, said: str, tmp_path: Path
) -> None:
    """Of a table without a column of times it is the day of the run: what is charged is asked of the store itself."""
    write_private(tmp_path / "people.key", bytes(32))
    frame = pd.DataFrame({"who": ["a"], "lat": [35.5], "lon": [139.5], "when": [clock(NOON)]})
    frame.to_parquet(tmp_path / "t.parquet")
    data = {"table": "t.parquet", "latitude": "lat", "longitude": "lon", "person": "who"}
    data |= ({"time": "when"} if dated else {}) | ({} if zone is None else {"timezone": zone})
    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": data,
        "box": {"west": 139, "south": 35, "east": 140, "north": 36},
        "protect": {"within": "200 m", "factor": "2"},
        "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 1},
    }
    offset = 0 if zone is None else 9 * HOUR
    job, start = check_job(given, folder=tmp_path), datetime.now(UTC).timestamp()
    job.run(tmp_path / "o.parquet", lambda *_: None, new=True)
    today = {int(now + offset) // 86_400 for now in (start, datetime.now(UTC).timestamp())}
    assert job.statement().model_dump()["budget"]["days"] == said
    ((_, day),) = spent_in(tmp_path / "people.db")
    assert day in ({NOON // 86_400} if dated else today)
