"""Before anything is charged: where nothing, or too little, of the data would count, the curator is told and asked."""

from __future__ import annotations

import itertools
import json
import pickle
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.session.conftest import Town
from tests.session.test_monitor_command import SANITIZED
from tests.sources import describe_by

import leeward as lw
from leeward.cli import LeewardError
from leeward.engine import Look, refuse_doubtful
from leeward.engine._look import TimeRange, covered, times_of
from leeward.engine._window import Clock
from leeward.errors import BoundExceededError, ContentChangedError, DataError, DoubtfulDataError, SpecError
from leeward.ledger import Ledger
from leeward.spec import read_spec

VISITS = "visits.parquet"


def rewrite(town: Town, **columns: Any) -> None:
    frame = pd.read_parquet(town.folder / VISITS)
    frame.assign(**columns).to_parquet(town.folder / VISITS)


def spent(town: Town) -> str:
    path = town.folder / "budget.db"
    accounts = Ledger(path).show("town") if path.exists() else []
    return str(accounts[0].spent) if accounts else "0"


HOUR = ("start = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00", "start = {0}T18:00:00\nend = {0}T19:00:00")
BOX_OF_PARIS = [
    (
        'table = "places.parquet"\nplace = "venue"\nlatitude = "lat"\nlongitude = "lon"\nname = "name"',
        "grid = { west = 2.3, south = 48.8, east = 2.4, north = 48.9, metres = 2000 }",
    ),
    ('place = "venue"\ntime', 'latitude = "lat"\nlongitude = "lon"\ntime'),
]
DOUBTFUL: dict[str, tuple[Any, list[tuple[str, str]], str]] = {
    "another year": (None, [(HOUR[0], HOUR[1].format("2025-01-01"))], "116 rows outside the window"),
    "another hour": (
        None,
        [(HOUR[0], HOUR[0].replace("T18", "T08").replace("T19", "T09"))],
        "116 rows outside the window",
    ),
    "keys written another way": (
        {"venue": lambda f: f["venue"].str.upper()},
        [],
        "115 rows at no place of the public list; 1 row outside the window",
    ),
    "keys with spaces": ({"venue": lambda f: f["venue"] + " "}, [], "115 rows at no place of the public list"),
    "a filter that nothing passes": (
        {"state": "stay"},
        [('time = "at"', 'time = "at"\nkeep = { state = ["STAY"] }')],
        "116 rows left out by the filter",
    ),
    "milliseconds taken for seconds": (
        {"at": lambda f: f["at"].astype("datetime64[ms]").astype("int64")},
        [('time = "at"', 'time = "at"\ntime_unit = "s"')],
        "after the year 9999 (is the unit of the times right?)",
    ),
    "seconds taken for milliseconds": (
        {"at": lambda f: f["at"].astype("datetime64[s]").astype("int64")},
        [('time = "at"', 'time = "at"\ntime_unit = "ms"')],
        "run from 1970-01-21",
    ),
    "no person": ({"user": None}, [], "116 rows without a person"),
    "no place": ({"venue": None}, [], "115 rows without a place"),
    "no time": ({"at": pd.NaT}, [], "116 rows without a time"),
    "times of another country": (
        {"at": lambda f: f["at"].dt.strftime("%d/%m/%Y %H:%M")},
        [],
        "116 rows with a time that cannot be read",
    ),
    "texts with an offset": (
        {"at": lambda f: f["at"].dt.strftime("%Y-%m-%dT%H:%M+09:00")},
        [],
        "116 rows with an offset from UTC where the window has none",
    ),
    "another city": (
        {"lat": 35.6, "lon": 139.7},
        BOX_OF_PARIS,
        "115 rows at no place of the public list",
    ),
    "no rows": ("empty", [], "The table has no rows"),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_where_nothing_counts_the_curator_is_told_why_before_a_charge(town: Town, case: str) -> None:
    change, changes, why = DOUBTFUL[case]
    if change == "empty":
        pd.read_parquet(town.folder / VISITS).iloc[:0].to_parquet(town.folder / VISITS)
    elif change:
        rewrite(town, **change)
    spec = town.spec(*changes)
    code, out, err = town.run("release", spec, "--out", town.out)
    assert (code, out) == (2, "")
    assert why in err
    assert len(err.strip().splitlines()) == 1
    assert ("None of the 116 rows would count" in err) == (case != "no rows")
    for told in ("do not publish it", "Nothing was charged", "--if-doubtful publish", 'if_doubtful = "publish"'):
        assert told in err
    assert not any(value in err for value in ("p3-", "v3", "Place v"))
    assert (spent(town), town.out.exists()) == ("0", False)
    assert not Ledger(town.folder / "budget.db").show("town")  # no budget was opened by what was stopped

    code, out, err = town.run("release", spec, "--out", town.out, "--if-doubtful", "publish")
    assert (code, spent(town)) == (0, "1"), err
    entry = json.loads((town.out / "release.json").read_text())["entry"]
    code, out, _ = town.run("release", spec, "--out", town.out)  # a stored answer is returned, whatever the data are
    assert code == 0
    assert "charged nothing" in out
    assert json.loads((town.out / "release.json").read_text())["entry"] == entry


def test_the_range_of_the_data_s_times_is_told(town: Town) -> None:
    err = town.run("release", town.spec((HOUR[0], HOUR[1].format("2025-01-01"))), "--out", town.out)[2]
    assert "the times of the data run from 2026-01-01 18:30:00 to 2026-01-01 19:00:00" in err


def test_what_python_raises_holds_no_time_of_a_row(town: Town) -> None:
    read = read_spec(town.spec((HOUR[0], HOUR[1].format("2025-01-01"))))
    with pytest.raises(DoubtfulDataError) as raised:
        lw.release(read.plans()[0], read.ledger())
    error = raised.value
    kept = [
        str(error),
        repr(error),
        *map(str, error.args),
        error.because,
        str(pickle.loads(pickle.dumps(error)).in_full),
    ]
    assert not any("18:30" in text for text in kept)
    assert "18:30:00 to 2026-01-01 19:00:00. Check the window" in error.in_full


@pytest.mark.parametrize("aware", [False, True])
def test_times_of_the_other_kind_are_not_in_that_range(town: Town, aware: bool) -> None:
    """A text without an offset is no moment in UTC, and one with an offset no reading of a clock."""
    texts = ["2026-01-01T18:30:00", "2026-01-01T07:30:00+09:00"] * 58
    rewrite(town, at=texts)
    where = "" if not aware else "+00:00"
    spec = town.spec(("T18:00:00", f"T18:00:00{where}"), ("T19:00:00", f"T19:00:00{where}"))
    err = town.run("release", spec, "--out", town.out)[2]
    moment = "2025-12-31 22:30:00 UTC" if aware else "2026-01-01 18:30:00"
    assert f"the times of the data run from {moment} to {moment}." in err


SPELT: dict[str, tuple[Any, str]] = {
    "upper and lower case": (lambda key: key.upper(), "v2"),
    "spaces": (lambda key: f" {key}", "v2"),
    "spaces, and upper and lower case": (lambda key: f"{key.upper()} ", "v2"),
    "another place": (lambda key: f"x{key}", ""),
}


@pytest.mark.parametrize("command", ["release", "monitor"])
@pytest.mark.parametrize("way", SPELT)
def test_a_listed_place_that_rows_spell_otherwise_is_not_called_safe(town: Town, way: str, command: str) -> None:
    """All other rows count, so nothing else is doubtful; and the place of 30 people would have been safe."""
    written, named = SPELT[way]
    frame = pd.read_parquet(town.folder / VISITS)
    there = frame["venue"] == "v2"
    assert there.any()
    frame.loc[there, "venue"] = frame.loc[there, "venue"].map(written)
    frame.to_parquet(town.folder / VISITS)
    # a monitor pays for each place that it does not call safe
    changes, price = (SANITIZED[1:], ("40", "80")) if command == "monitor" else ([], ("1",))
    words = (
        command,
        town.spec(*changes),
        "--out",
        town.out,
        *(["--until", "2027-01-01"] if command == "monitor" else []),
    )
    code, _, err = town.run(*words)
    if not named:
        assert code == 0, err
        assert spent(town) in price
        return
    assert code == 2
    assert f"1 listed key would be named by rows if this made no difference: {way} ('{named}')" in err
    assert "Nothing was charged" in err
    assert (spent(town), town.out.exists()) == ("0", False)
    assert f"if this made no difference: {way} ('{named}')" in town.run("check", words[1])[2]
    code, _, err = town.run(*words, "--if-doubtful", "publish")
    assert code == 0, err
    assert spent(town) in price


@pytest.mark.parametrize("others", [None, "elsewhere"])
@pytest.mark.parametrize("listed", ["flu", "gout"])
def test_a_listed_group_that_rows_spell_otherwise_is_not_published_as_empty(
    tmp_path: Path, others: str | None, listed: str
) -> None:
    """Where all others have a group of their own, such rows would even count there."""
    rows = pa.table({"who": range(200), "ill": ["cold"] * 150 + ["Flu"] * 50})
    asked = lw.statistic(
        lw.records(rows, person="who"), "histogram", by=lw.query.Groups({"ill": ["cold", listed]}, others=others)
    )
    budget = lw.Budget(f"sqlite:///{tmp_path}/budget.db", "town", cap="1", new=True)
    made = lw.plan(asked, lw.AdditionOnly("1"))
    if listed == "gout":
        assert len(lw.release(made, budget).to_pandas()) == 2 + (others is not None)
        return
    with pytest.raises(
        DoubtfulDataError, match=r"1 listed key would be named by rows .*upper and lower case \('flu'\)"
    ):
        lw.release(made, budget)
    assert str(Ledger(tmp_path / "budget.db").show("town")) == "[]"


@pytest.mark.parametrize("matching", [1, 0, 2, 3])
def test_under_one_in_a_hundred_is_too_little(town: Town, matching: int) -> None:
    frame = pd.DataFrame({"user": range(200), "venue": ["x"] * 200, "at": pd.Timestamp("2026-01-01T18:30")})
    frame.loc[: matching - 1, "venue"] = "v1"
    frame.to_parquet(town.folder / VISITS)
    code, _, err = town.run("release", town.spec(), "--out", town.out)
    assert code == (2 if matching < 2 else 0), err
    if matching == 1:
        assert "Only 1 of the 200 rows would count: 199 rows at no place of the public list" in err


@pytest.mark.parametrize(("bad", "code"), [(2, 0), (3, 2)])
@pytest.mark.parametrize("kind", ["time", "place"])
def test_one_value_that_cannot_be_read_does_not_stop_a_release_and_many_do(
    town: Town, bad: int, code: int, kind: str
) -> None:
    frame = pd.DataFrame(
        {"user": range(200), "venue": "v1", "at": "2026-01-01T18:30", "lat": "35.61234", "lon": "139.71234"}
    )
    frame.loc[: bad - 1, "at" if kind == "time" else "lat"] = "SECRET"
    frame.to_parquet(town.folder / VISITS)
    changes = []
    if kind == "place":
        listed = 'table = "places.parquet"\nplace = "venue"\nlatitude = "lat"\nlongitude = "lon"\nname = "name"'
        changes = [
            (listed, "grid = { west = 139.6, south = 35.5, east = 139.8, north = 35.7, metres = 5000 }"),
            ('place = "venue"\ntime', 'latitude = "lat"\nlongitude = "lon"\ntime'),
        ]
    found, _, err = town.run("release", town.spec(*changes), "--out", town.out)
    assert found == code, err
    word = "a time that cannot be read" if kind == "time" else "coordinates that cannot be read"
    assert f"{bad} rows with {word}" in err
    assert "SECRET" not in err


def test_a_short_window_of_a_long_table_is_not_doubtful(town: Town) -> None:
    """One row in 2,000 is in the window, as many as an even spread over the year would put there."""
    moments = [pd.Timestamp("2026-01-01T18:30") + pd.Timedelta(hours=4.4 * i) for i in range(2000)]
    pd.DataFrame({"user": range(2000), "venue": "v1", "at": moments}).to_parquet(town.folder / VISITS)
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    spec = town.spec((HOUR[0], HOUR[0].replace("18:", "13:").replace("19:", "14:")))
    assert town.run("release", spec, "--out", town.out)[0] == 2  # none at all


def test_windows_are_looked_at_together(town: Town) -> None:
    """A quiet hour of a day is not a mistake; a day without anybody may be one."""
    cut = ("end = 2026-01-01T19:00:00", 'end = 2026-01-01T19:00:00\nevery = "30min"')
    code, _, err = town.run("release", town.spec(cut, ('cap = "5"', 'cap = "20"')), "--out", town.out)
    assert (code, spent(town)) == (0, "2"), err
    other = [(HOUR[0], HOUR[1].format("2025-01-01") + '\nevery = "30min"'), ('cap = "5"', 'cap = "20"')]
    code, _, err = town.run("release", town.spec(*other), "--out", town.folder / "other")
    assert (code, spent(town)) == (2, "2")
    assert "None of the 116 rows would count: 116 rows outside the window" in err


MONITOR = [
    ('places_per_person = 1\nif_more = "latest"\n', ""),
    ('what = "counts"', "stop_after = 3"),
    ("safe_at_most = 2", "safe_at_most = 9"),
    ("end = 2026-01-01T19:00:00", 'end = 2026-01-01T23:00:00\nevery = "1h"'),
]


@pytest.mark.sweep
def test_a_monitor_stops_before_it_charges_and_shows_what_it_knows(town: Town) -> None:
    early = [*MONITOR[:3], (HOUR[0], HOUR[1].format("2025-01-01").replace("T19:00:00", 'T22:00:00\nevery = "1h"'))]
    code, out, err = town.run("monitor", town.spec(*early), "--out", town.out)
    assert (code, out, spent(town)) == (2, "", "0")
    assert "None of the 116 rows would count" in err
    # at so much ε every empty place is called safe: three stops by chance would end the monitor
    spec = town.spec(*MONITOR, ('epsilon = "1"', 'epsilon = "40"'), ('cap = "5"', 'cap = "200"'))
    assert town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T20:00")[0] == 0
    # the rounds that are known are shown without a look at the data; those to come have nobody
    assert town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T20:00")[0] == 0
    code, _, err = town.run("monitor", spec, "--out", town.out)
    assert code == 2
    assert "None of the 116 rows would count" in err
    code, out, err = town.run("monitor", spec, "--out", town.out, "--if-doubtful", "publish")
    assert code == 0, err
    assert out.count("charged 0") == 5
    assert town.run("monitor", spec, "--out", town.out)[0] == 0


@pytest.mark.parametrize(("last", "code"), [("20:30", 0), ("18:59", 2)])
def test_a_quiet_hour_of_a_monitor_that_goes_on_is_not_doubtful_and_data_that_end_before_it_are(
    town: Town, last: str, code: int
) -> None:
    """The table grew up to ``last`` since the first round; nobody was there in the second window."""
    spec = town.spec(*MONITOR)
    assert town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T19:00")[0] == 0
    frame = pd.read_parquet(town.folder / VISITS).iloc[:-1]
    late = frame.iloc[:1].assign(at=pd.Timestamp(f"2026-01-01T{last}"))
    pd.concat([frame, late]).to_parquet(town.folder / VISITS)
    found, _, err = town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T20:00")
    assert found == code, err


def test_a_monitor_whose_new_rows_are_written_another_way_is_stopped(town: Town) -> None:
    spec = town.spec(*MONITOR)
    assert town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T19:00")[0] == 0
    frame = pd.read_parquet(town.folder / VISITS)
    new = frame.assign(at=pd.Timestamp("2026-01-01T19:30"), venue=frame["venue"].str.upper())
    pd.concat([frame.iloc[:-1], new]).to_parquet(town.folder / VISITS)
    code, _, err = town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T20:00")
    assert code == 2
    assert "116 rows at no place of the public list" in err


def test_a_monitor_with_people_in_a_later_window_goes_on(town: Town) -> None:
    spec = town.spec(*MONITOR[:3], (HOUR[0], HOUR[1].format("2026-01-01").replace("T18:", "T15:") + '\nevery = "1h"'))
    assert town.run("monitor", spec, "--out", town.out)[0] == 0


STATISTICS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no numbers": ({"age": "many"}, {}, "200 rows with a number that cannot be read"),
    "missing numbers": ({"age": [None] * 200}, {}, "200 rows without a number"),
    "no person": ({"who": None}, {}, "200 rows without a person"),
    "other groups": ({"sex": "f"}, {"by": "sex", "groups": ["F", "M"]}, "200 rows in none of the listed groups"),
    "a filter": ({"sex": "f"}, {"keep": {"sex": ["F"]}}, "200 rows left out by the filter"),
    "one row": ({"age": [1, *[None] * 199]}, {}, "Only 1 of the 200 rows would count: 199 rows without a number"),
}


@pytest.mark.sweep
@pytest.mark.parametrize("case", STATISTICS)
@pytest.mark.parametrize("kind", ["sum", "mean", "median", "histogram"])
def test_statistics_of_nothing_are_stopped_too(tmp_path: Path, case: str, kind: Any) -> None:
    columns, asked, why = STATISTICS[case]
    frame = pd.DataFrame({"who": range(200), "age": 3, "sex": "F"}).assign(**columns)
    grouped = {key: value for key, value in asked.items() if key != "keep"}
    table = lw.records(frame, person="who", keep=asked.get("keep"))
    query = statistic_by(table, kind, column="age", lower=0, upper=10, **grouped)
    budget = lw.Budget(f"sqlite:///{tmp_path / 'b.db'}", dataset="d", cap="50")
    notion = lw.UnboundedDP("20")  # the median of 0 to 10 is of use
    with pytest.raises(DoubtfulDataError, match=why):
        lw.release(lw.plan(query, notion), budget)
    assert not Ledger(tmp_path / "b.db").show("d")
    made = lw.release(lw.plan(query, notion), budget, if_doubtful="publish")
    assert lw.release(lw.plan(query, notion), budget).statement.entry == made.statement.entry


def test_the_choice_is_one_of_two_and_no_part_of_the_question(town: Town) -> None:
    code, _, err = town.run("release", town.spec(), "--out", town.out, "--if-doubtful", "publsh")
    assert code == 2
    assert "Did you mean 'publish'?" in err
    town.run("release", town.spec(), "--out", town.out, "--if-doubtful", "publish")
    assert "charged nothing" in town.run("release", town.spec(), "--out", town.out)[1]
    with pytest.raises(SpecError, match="not a known choice"):
        lw.monitor([], lw.Budget("sqlite:///x.db", "x"), if_doubtful="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [0, 1, 99, 100, 101, 1000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.25, 1.0])
def test_the_rule_is_what_it_says(rows: int, share: float) -> None:
    """100 · counted ≥ share · rows, and at least one; by integers, over every number that counts."""
    for taken in range(rows + 1):
        enough = taken > 0 and 100 * 1000 * taken >= round(1000 * share) * rows
        try:
            refuse_doubtful([Look(rows, taken, {"filtered": rows - taken}, share)])
        except DoubtfulDataError:
            assert not enough
        else:
            assert enough


def test_the_share_of_a_window_is_counted_moment_by_moment() -> None:
    for first, end, low, high in itertools.product(range(6), range(6), range(5), range(5)):
        if first < end and low <= high:
            inside = sum(first <= at < end for at in range(low, high + 1))
            assert covered(first, end, low, high) == inside / (high + 1 - low)


def test_ranges_are_compared_as_times_and_not_as_words() -> None:
    """Windows of hours and of days see other rows of one table: "before the year 1" is before them, and 10:00 after 9:59."""
    old, new = -(10**11), 1_767_261_600  # seconds: in the year -1199, and on 1 January 2026 at 10:00
    of_readings = [TimeRange(first, new, Clock.READINGS, 1) for first in (new - 60, old)]
    of_instants = TimeRange(old - 1, new + 3600, Clock.INSTANTS, 1)
    looks = [Look(9, 9, {}, range=each) for each in (*of_readings, of_instants)]
    assert times_of(looks) == ("before the year 1", "2026-01-01 10:00:00")
    assert times_of(looks[::-1]) == ("before the year 1", "2026-01-01 11:00:00 UTC")
    assert times_of([Look(9, 9, {})]) is None


NOON = datetime(2026, 1, 1, 12)
CELLS: dict[str, list[Any]] = {
    "user": ["a", None],
    "venue": ["v1", "elsewhere", None],
    "at": ["2026-01-01T12:30", "2026-01-01T12:30+00:00", "2026-01-02", "SECRET", "", None],
}


@pytest.mark.sweep
@pytest.mark.parametrize("window", ["", "+00:00"])
def test_no_table_is_refused_for_what_a_row_holds(window: str) -> None:
    """All tables of up to two rows over these cells: with ``publish`` the same shape is answered for every one of them."""
    from tests.visited import open_visits

    from leeward.engine import read_places

    rows = list(itertools.product(*CELLS.values()))
    listed = lw.places(pa.table({"p": ["v1", "v2"]}), place="p")
    public = read_places(listed)
    tables = [(), *((row,) for row in rows), *itertools.combinations(rows[::7], 2)]
    refused = 0
    for held in tables:
        data = pa.table({name: pa.array([row[i] for row in held], pa.string()) for i, name in enumerate(CELLS)})
        seen = lw.visits(data, person="user", place="venue", time="at")
        end = (NOON + timedelta(hours=1)).isoformat() + window
        query = lw.count_visitors(seen, listed, start=NOON.isoformat() + window, end=end, places_per_person=2)
        with open_visits(seen, public) as table:
            good = {r[0] for r in held if r[0] and r[1] == "v1" and r[2] == f"2026-01-01T12:30{window}"}
            assert table.count(query).counts.tolist() == [len(good), 0]
            try:
                refuse_doubtful([table.look(query)])
            except DoubtfulDataError:
                refused += 1
    assert refused > len(tables) / 2


def facts_about_the_data(folder: Path) -> dict[str, Any]:
    """Every refusal that depends on what the rows hold: a function that provokes it, and its kind."""
    frame = pd.DataFrame({"who": ["a", "a", "b"], "p": ["x", "y", "x"], "at": ["2026-01-01T12:30"] * 3, "n": [1, 2, 3]})
    listed = lw.places(pd.DataFrame({"p": ["x", "y"]}), place="p")
    budget = lw.Budget(f"sqlite:///{folder / 'b.db'}", dataset="d", cap="50")

    def counts(data: Any, if_more: Any = "latest", **described: Any) -> Any:
        seen = describe_by(lw.visits, data, person="who", place="p", time="at", **described)
        day = {"start": "2026-01-01", "end": "2026-01-02"}
        query = lw.count_visitors(seen, listed, **day, places_per_person=1, if_more=if_more)
        return lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), budget)

    def number(data: Any = frame, **asked: Any) -> Any:
        query = statistic_by(lw.records(data, person="who"), "median", column="n", lower=0, upper=9, **asked)
        return lw.release(lw.plan(query, lw.BoundedDP("9")), budget)

    def changed() -> None:
        counts(frame)
        counts(frame.assign(p="x"))

    def damaged() -> None:
        path = folder / "v.csv"
        path.write_text('who,p,at\na,x,2026-01-01T12:30\n"b,x\n')
        counts(path)

    mixed = frame.assign(at=["2026-01-01T12:30", "2026-01-01T12:30Z", "2026-01-01T12:30"])
    return {
        "people over the bound": (lambda: counts(frame, "refuse"), BoundExceededError),
        "several rows": (number, BoundExceededError),
        "another number of people": (lambda: number(frame.iloc[1:], people=7), BoundExceededError),
        "nothing counts": (lambda: counts(frame.assign(p="z")), DoubtfulDataError),
        "offsets are mixed": (lambda: counts(mixed, timezone="UTC"), DataError),
        "the content changed": (changed, ContentChangedError),
        "a damaged file": (damaged, DataError),
    }


@pytest.mark.parametrize("fact", facts_about_the_data(Path()))
def test_every_refusal_that_depends_on_the_rows_says_that_it_is_a_fact_about_the_data(
    tmp_path: Path, fact: str
) -> None:
    provoke, kind = facts_about_the_data(tmp_path)[fact]
    with pytest.raises(LeewardError) as refused:
        provoke()
    assert type(refused.value) is kind
    assert "do not publish" in str(refused.value) or "not to be published" in str(refused.value)
