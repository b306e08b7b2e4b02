"""Every key of a spec for `leeward perturb` has an effect: on the statement, on the table that is written, or a refusal."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.private_files import write_private
from tests.spec.outcome import choices_of, keys_of, merged, words_in

from leeward.cli import LeewardError
from leeward.local import check_job
from leeward.local.location._spec import Location
from leeward.local.series._spec import Spec as Series

Given = Mapping[str, Any]
Seen = Callable[[Given, Path], Any]

SERIES: dict[str, Any] = {
    "perturb": {"kind": "series"},
    "data": {"table": "r.parquet", "time": "time", "value": "kw", "unit": "kW", "meter": "meter"},
    "time": {"start": "2026-03-28", "end": "2026-03-30", "every": "1 h", "zone": "Europe/Paris"},
    "values": {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
    "protect": {"between": "maximum", "within": "100 W", "factor": "2", "window": 6},
}
METERS = merged(SERIES, {"protect": {"level": "tier", "levels": {"m0": {}, "m1": {"within": "1 kW"}, "m2": {}}}})
READ = ["meter", "time", "kw"]
PAID = merged(SERIES, {"budget": {"store": "b.db", "secret": "a.key", "reports_a_day": 2}})
TOTALS = merged(SERIES, {"publish": {"what": "totals"}})
KETTLE = merged(SERIES, {"attacker": {"adds": ["1 kW", "2 kW"], "first": "2026-03-28T03:00"}})
TREE = merged(SERIES, {"publish": {"what": "tree", "levels": ["day", "month"]}})
PLACED: dict[str, Any] = {
    "perturb": {"kind": "location"},
    "data": {"table": "p.parquet", "latitude": "lat", "longitude": "lon"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {"within": "200 m", "factor": "2"},
}
SPENT = merged(
    PLACED,
    {
        "data": {"person": "who", "time": "when"},
        "budget": {"store": "b.db", "secret": "a.key", "reports_a_day": 2},
    },
)
LEVELS = merged(
    PLACED, {"protect": {"level": "who", "levels": {"a": {}, "b": {"within": "1 km"}, "c": {"epsilon": "0.001"}}}}
)
SHARED = merged(
    SPENT,
    {
        "data": {"person": "all"},
        "protect": {
            "level": "who",
            "level_of": "row",
            "levels": {"a": {}, "b": {"within": "1 km"}, "c": {"factor": "1.2"}},
        },
        "budget": {"reports_a_day": None, "a_day": {"within": "200 m", "factor": "2"}},
    },
)
LIMIT = {"within": "200 m", "factor": "64"}
TRACK = merged(PLACED, {"data": {"person": "who", "time": "when"}, "track": {"near": "1 km", "in_all": LIMIT}})
DAILY = merged(TRACK, {"track": {"in_all": None, "in_window": LIMIT, "window": "1 d"}})
LIST = {"table": "places.csv", "latitude": "lat", "longitude": "lon"}
POLICY = {"within": "1 km", "counts_as": "500 m"}
FELT = merged(
    PLACED,
    {
        "protect": {"within": "4 km"},
        "places": {
            "table": "cells.csv",
            "latitude": "lat",
            "longitude": "lon",
            "weight": "weight",
            "use": "exponential",
        },
    },
)
ELASTIC = merged(FELT, {"elastic": {"within": "4 km", "least": "4"}})
ZONES = merged(FELT, {"regions": {"column": "kind", "of": {"clinic": POLICY}}})
HIM = {"attacker": LIST | {"reports": [1]}}
ATTACKED = merged(PLACED, HIM)
CELLS = merged(PLACED, {"output": {"h3": 9}})
COARSE = merged(PLACED, {"protect": {"within": "3 km", "step": "100 m"}, "places": LIST})


def said(*path: str | int) -> Seen:
    """What the statement says at a path; it reads no data."""
    return lambda given, folder: functools.reduce(
        lambda part, name: part[name], path, check_job(given, folder=folder).statement().to_dict()
    )


def written(look: Callable[[pd.DataFrame], Any]) -> Seen:
    """What the table that is written looks like; a refusal is seen as its words."""

    def seen(given: Given, folder: Path) -> Any:
        try:
            check_job(given, folder=folder).run(folder / "o.parquet", lambda *_: None, new=True)
        except LeewardError as refused:
            return str(refused)
        return look(pd.read_parquet(folder / "o.parquet"))

    return seen


def moved(frame: pd.DataFrame) -> list[str]:
    """Which columns are not those that were read; of readings, of the first table."""
    before = pd.read_parquet(FOLDER[0] / ("r.parquet" if "kw" in frame else "p.parquet"))
    return [name for name in before if name in frame and not before[name].head(len(frame)).equals(frame[name])]


FOLDER: list[Path] = []
off = said("attacker", "sees", 0, "distance")
most = said("attacker", "sees", 0, "most")


def guessed(given: Given) -> bool:
    """Whether an attacker who sees readings with the appliance's on top guesses right of any."""
    before = pd.read_parquet(FOLDER[0] / "r.parquet")
    run = before["time"].isin(pd.to_datetime(["2026-03-28T02:00Z", "2026-03-28T03:00Z"]))
    before.assign(kw=before["kw"] + 2.0 * run).to_parquet(FOLDER[0] / "o.parquet")
    (note,) = check_job(given, folder=FOLDER[0]).attack(FOLDER[0] / "o.parquet")
    return "guess it for 0" not in note


def sees(given: Given, folder: Path) -> str:
    """What an attacker sees of tracks, in words; a refusal is seen as its own."""
    try:
        return str(said("attacker", "text")(given, folder))
    except LeewardError as refused:
        return str(refused)


def felt(given: Given, folder: Path) -> str:
    """What is promised of felt distances, in words."""
    return " ".join(said("felt", "text")(given, folder))


rows = written(len)
files = written(lambda frame: sorted(path.name for path in FOLDER[0].glob("o.*") if path.name != "o.parquet"))


def spread(frame: pd.DataFrame) -> bool:
    """Whether the readings of a meter differ from one another."""
    return bool(frame.groupby("meter")["kw"].nunique().max() > 1)


ROWS: list[tuple[str, Mapping[str, Any], Given, Seen, Any]] = [
    # the key, what is changed, to what, what is looked at, what is seen then (and not before)
    ("series.data.table", SERIES, {"data": {"table": "more.parquet"}}, rows, 188),
    ("series.data.time", SERIES, {"data": {"time": "later"}}, rows, "Some readings are missing"),
    ("series.data.value", SERIES, {"data": {"value": "kw2"}}, written(moved), ["kw2"]),
    ("series.data.unit", SERIES, {"data": {"unit": "W"}}, said("grid", "unit"), "W"),
    ("series.data.meter", SERIES, {"data": {"meter": None}}, rows, "Two readings of one meter at one time"),
    ("series.data.meter", TOTALS, {"data": {"meter": "pair"}}, rows, "Two readings of one meter at one time"),
    ("series.time.start", SERIES, {"time": {"start": "2026-03-29"}}, rows, 69),
    ("series.time.end", SERIES, {"time": {"end": "2026-03-29"}}, rows, 72),
    ("series.time.every", SERIES, {"time": {"every": "30 min"}}, said("schedule", "readings"), 94),
    ("series.time.zone", SERIES, {"time": {"zone": "Asia/Tokyo"}}, said("schedule", "readings"), 48),
    ("series.values.lower", SERIES, {"values": {"lower": "-1 kW"}}, said("grid", "lower"), "-1"),
    ("series.values.upper", SERIES, {"values": {"upper": "9 kW"}}, said("price", "hamming"), "90*log(2)"),
    (
        "series.values.step",
        SERIES,
        {"values": {"step": "50 W"}},
        written(lambda f: bool(((f.kw * 1000).round() % 50).any())),
        False,
    ),
    (
        "series.values.missing",
        merged(SERIES, {"data": {"table": "holes.parquet"}}),
        {"values": {"missing": "keep"}},
        written(lambda f: int(f.kw.isna().sum())),
        1,
    ),
    (
        "series.protect.between",
        SERIES,
        {"protect": {"between": "manhattan", "window": 1}},
        said("price", "maximum_total"),
        "47*log(2)",
    ),
    (
        "series.protect.between",
        SERIES,
        {"protect": {"between": "hamming", "window": 1, "epsilon": "2", "within": None, "factor": None}},
        said("price", "hamming"),
        "2",
    ),
    (
        "series.protect.epsilon",
        SERIES,
        {"protect": {"epsilon": "2", "unit": "1 kW", "within": None, "factor": None}},
        said("price", "maximum_window"),
        "2",
    ),
    (
        "series.protect.unit",
        merged(SERIES, {"protect": {"epsilon": "2", "unit": "1 kW", "within": None, "factor": None}}),
        {"protect": {"unit": "2 kW"}},
        said("price", "hamming"),
        "8",
    ),
    ("series.protect.within", SERIES, {"protect": {"within": "200 W"}}, said("price", "hamming"), "40*log(2)"),
    ("series.protect.factor", SERIES, {"protect": {"factor": "3"}}, said("price", "hamming"), "80*log(3)"),
    ("series.protect.window", SERIES, {"protect": {"window": 8}}, said("schedule", "windows"), 6),
    ("series.protect.noise", SERIES, {"protect": {"noise": "independent"}}, said("mechanism", "name"), "independent"),
    (
        "series.protect.noise",
        merged(SERIES, {"protect": {"noise": "independent"}}),
        {"protect": {"noise": "norm"}},
        said("mechanism", "name"),
        "norm",
    ),
    (
        "series.protect.level",
        METERS,
        {"protect": {"level": "pair"}},
        rows,
        "141 rows with a level in 'pair' that is not listed",
    ),
    (
        "series.protect.levels",
        METERS,
        {"protect": {"levels": {"m0": {}, "m1": {"within": "50 W"}, "m2": {"factor": "3"}}}},
        said("promise", "asked"),
        'within="50 W", factor="2"',
    ),
    (
        "series.publish.what",
        SERIES,
        {"publish": {"what": "totals"}},
        written(lambda f: list(f.columns)),
        ["meter", "day", "readings_per_meter", "total_kWh"],
    ),
    (
        "series.publish.per",
        TOTALS,
        {"publish": {"per": "period"}},
        written(lambda f: f["readings_per_meter"].tolist()),
        [47] * 3,
    ),
    ("series.publish.per", SERIES, {"publish": {"per": "hour"}}, rows, "it is the span of a total"),
    *(
        (
            "series.publish.per",
            TOTALS,
            {"publish": {"per": per}},
            written(lambda f: [f.columns[1], len(f)]),
            [per, 3 * spans],
        )
        for per, spans in (("hour", 47), ("month", 1))
    ),
    (
        "series.publish.by",
        TOTALS,
        {"publish": {"by": "pair"}},
        written(lambda f: f[f.columns[0]].unique().tolist()),
        ["a", "b"],
    ),
    (
        "series.publish.levels",
        TREE,
        {"publish": {"levels": ["hour", "period"]}},
        written(lambda f: sorted(set(f["level"]))),
        ["hour", "period"],
    ),
    (
        "series.publish.shares",
        TREE,
        {"publish": {"shares": {"day": "1/4", "month": "3/4"}}},
        lambda given, folder: [each["share"] for each in said("mean_error", "levels")(given, folder)],
        ["1/4", "3/4"],
    ),
    ("series.publish.smooth", SERIES, {"publish": {"smooth": 95}}, written(spread), False),
    ("series.publish.clamp", SERIES, {"publish": {"clamp": True}}, written(lambda f: bool((f.kw < 0).any())), False),
    (
        "series.publish.prior",
        SERIES,
        {"publish": {"prior": "prior.csv"}},
        written(lambda f: f.kw.unique().tolist()),
        [3],
    ),
    ("series.publish.keep_columns", SERIES, {"publish": {"keep_columns": ["kw2"]}}, written(list), [*READ, "kw2"]),
    (
        "series.publish.drop_columns",
        SERIES,
        {"publish": {"drop_columns": ["kw2"]}},
        written(list),
        [*READ, "later", "pair"],
    ),
    (
        "location.output.keep_columns",
        PLACED,
        {"output": {"keep_columns": ["who"]}},
        written(list),
        ["lat", "lon", "who"],
    ),
    (
        "location.output.drop_columns",
        PLACED,
        {"output": {"drop_columns": ["who", "lat2", "days", "when", "all"]}},
        written(list),
        ["lat", "lon", "lon2"],
    ),
    (
        "series.budget.store",
        PAID,
        {"budget": {"store": "c.db"}},
        lambda given, folder: [rows(given, folder), (folder / "c.db").exists()],
        [141, True],
    ),
    ("series.budget.secret", PAID, {"budget": {"secret": "short.key"}}, rows, "A secret of"),
    ("series.budget.reports_a_day", PAID, {"budget": {"reports_a_day": 3}}, said("budget", "reports_a_day"), 3),
    (
        "series.budget.over",
        PAID,
        {"budget": {"over": "withhold"}},
        lambda given, folder: [written(lambda f: int(f.kw.isna().sum()))(given, folder) for _ in range(3)],
        [0, 0, 141],
    ),
    (
        "series.repeat.store",
        PAID,
        {"repeat": {"store": "m.db", "secret": "a.key"}},
        lambda given, folder: [rows(given, folder) for _ in range(3)],
        [141, 141, 141],
    ),
    ("series.repeat.secret", PAID, {"repeat": {"store": "m.db", "secret": "short.key"}}, rows, "A secret of"),
    ("series.attacker.adds", KETTLE, {"attacker": {"adds": ["3 kW"]}}, most, "30*log(2)"),
    ("series.attacker.first", KETTLE, {"attacker": {"first": "2026-03-28T05:00"}}, most, "30*log(2)"),
    ("series.attacker.days", KETTLE, {"attacker": {"days": [2]}}, most, "40*log(2)"),
    ("series.attacker.ran", KETTLE, {"attacker": {"ran": False}}, lambda given, _: guessed(given), False),
    ("location.data.table", PLACED, {"data": {"table": "q.parquet"}}, rows, 2),
    ("location.data.latitude", PLACED, {"data": {"latitude": "lat2"}}, written(moved), ["lon", "lat2"]),
    ("location.data.longitude", PLACED, {"data": {"longitude": "lon2"}}, written(moved), ["lat", "lon2"]),
    ("location.data.person", SPENT, {"data": {"person": "all"}}, rows, "Somebody has more than 2 reports in a day"),
    ("location.data.time", SPENT, {"data": {"time": "never"}}, rows, "The column 'never'"),
    ("location.data.time", merged(SPENT, {"data": {"person": "all"}}), {"data": {"time": "days"}}, rows, 3),
    (
        "location.data.timezone",
        merged(SPENT, {"data": {"table": "zoned.parquet", "person": "all"}}),  # one day in UTC, two in Tokyo
        {"data": {"timezone": "Asia/Tokyo"}},
        rows,
        3,
    ),
    (
        "location.data.engine",
        merged(PLACED, {"output": {"h3": 9}}),
        {"data": {"engine": "spark"}},
        rows,
        "[output] h3 beside",
    ),
    ("location.data.spark", PLACED, {"data": {"spark": {"master": "local[1]"}}}, rows, "Spark is started, and nothing"),
    ("location.box.west", PLACED, {"box": {"west": 116.3}}, said("box", "west"), 116.3),
    ("location.box.south", PLACED, {"box": {"south": 39.91}}, rows, "outside the public box"),
    ("location.box.east", PLACED, {"box": {"east": 116.41}}, rows, "outside the public box"),
    ("location.box.north", PLACED, {"box": {"north": 40.2}}, said("box", "north"), 40.2),
    (
        "location.protect.within",
        PLACED,
        {"protect": {"within": "400 m"}},
        said("promise", "epsilon_per_metre"),
        "log(2)/404",
    ),
    (
        "location.protect.factor",
        PLACED,
        {"protect": {"factor": "4"}},
        said("promise", "epsilon_per_metre"),
        "2*log(2)/201",
    ),
    (
        "location.protect.epsilon",
        PLACED,
        {"protect": {"within": None, "factor": None, "epsilon": "0.01"}},
        said("promise", "epsilon_per_metre"),
        "1/100",
    ),
    (
        "location.protect.unit",
        merged(PLACED, {"protect": {"within": None, "factor": None, "epsilon": "0.01"}}),
        {"protect": {"unit": "2 m"}},
        said("promise", "epsilon_per_metre"),
        "1/200",
    ),
    ("location.protect.norm", PLACED, {"protect": {"norm": "manhattan"}}, said("promise", "norm"), "manhattan"),
    ("location.protect.step", PLACED, {"protect": {"step": "5 m"}}, said("mechanism", "step"), "5"),
    (
        "location.protect.outside",
        merged(PLACED, {"data": {"table": "q.parquet"}, "box": {"south": 39.91}}),
        {"protect": {"outside": "clamp"}},
        rows,
        2,
    ),
    (
        "location.protect.missing",
        merged(PLACED, {"data": {"table": "holes2.parquet"}}),
        {"protect": {"missing": "keep"}},
        written(lambda f: int(f.lat.isna().sum())),
        1,
    ),
    (
        "location.protect.level",
        LEVELS,
        {"protect": {"level": "all"}},
        rows,
        "3 rows with a level in 'all' that is not listed",
    ),
    (
        "location.protect.levels",
        LEVELS,
        {"protect": {"levels": {"a": {}, "b": {"within": "100 m"}, "c": {}}}},
        said("promise", "epsilon_per_metre"),
        "log(2)/101",
    ),
    (
        "location.protect.level_of",
        merged(LEVELS, {"data": {"person": "all"}}),
        {"protect": {"level_of": "row"}},
        rows,
        3,
    ),
    (
        "location.protect.level_of",
        merged(LEVELS, {"protect": {"level_of": "row"}, "data": {"person": "all"}}),
        {"protect": {"level_of": "person"}},
        rows,
        "Somebody has several levels in 'who'",
    ),
    (
        "location.places.table",
        merged(COARSE, {"places": {"table": "one.csv"}}),
        {"places": {"table": "two.csv"}},
        written(lambda f: f.lat.unique().tolist()),
        [39.8],
    ),
    (
        "location.places.latitude",
        merged(COARSE, {"places": {"table": "one.csv"}}),
        {"places": {"latitude": "lat2"}},
        written(lambda f: f.lat.unique().tolist()),
        [39.95],
    ),
    (
        "location.places.longitude",
        merged(COARSE, {"places": {"table": "one.csv"}}),
        {"places": {"longitude": "lon2"}},
        written(lambda f: f.lon.unique().tolist()),
        [116.5],
    ),
    (
        "location.places.weight",
        merged(COARSE, {"data": {"table": "many.parquet"}}),
        {"places": {"weight": "weight"}},
        written(lambda f: f.lat.unique().tolist()),
        [39.8],
    ),
    ("location.places.use", COARSE, {"places": {"use": "best"}}, said("mechanism", "name"), "best over places"),
    (
        "location.places.use",
        COARSE,
        {"places": {"use": "exponential"}},
        said("mechanism", "name"),
        "exponential over places",
    ),
    ("location.elastic.within", ELASTIC, {"elastic": {"within": "1 km"}}, felt, "weight 4·(m/1000)²"),
    ("location.elastic.least", ELASTIC, {"elastic": {"least": "9"}}, felt, "weight 9·(m/4000)²"),
    ("location.regions.column", ZONES, {"regions": {"column": "kind2"}}, felt, "clinic (2 places)"),
    ("location.regions.geojson", ZONES, {"regions": {"geojson": "all.geojson"}}, felt, "clinic (3 places)"),
    ("location.regions.of", ZONES, {"regions": {"of": {"clinic": {"back": "alike"}}}}, felt, "and so the other way"),
    ("location.regions.of", ZONES, {"regions": {"of": {"clinic": {"back": "never"}}}}, felt, "nothing is promised"),
    ("location.attacker.table", ATTACKED, {"attacker": {"table": "one.csv"}}, said("attacker", "places"), 1),
    ("location.attacker.latitude", ATTACKED, {"attacker": {"latitude": "lat2"}}, off, 4273.0),
    ("location.attacker.longitude", ATTACKED, {"attacker": {"longitude": "lon2"}}, off, 5552.0),
    ("location.attacker.weight", ATTACKED, {"attacker": {"weight": "weight"}}, off, 0),
    (
        "location.attacker.reports",
        ATTACKED,
        {"attacker": {"reports": [2, 3]}},
        said("attacker", "sees", -1, "reports"),
        3,
    ),
    ("location.attacker.between", merged(TRACK, HIM), {"attacker": {"between": "5 min"}}, sees, "5 min apart"),
    ("location.output.h3", PLACED, {"output": {"h3": 8}}, written(lambda f: "h3" in f), True),
    ("location.output.map", PLACED, {"output": {"map": True}}, files, ["o.parquet.map.html", "o.parquet.release.json"]),
    (
        "location.budget.store",
        SPENT,
        {"budget": {"store": "c.db"}},
        lambda given, folder: [rows(given, folder), (folder / "c.db").exists()],
        [3, True],
    ),
    ("location.budget.secret", SPENT, {"budget": {"secret": "short.key"}}, rows, "A secret of"),
    (
        "location.budget.reports_a_day",
        merged(SPENT, {"data": {"person": "all"}}),
        {"budget": {"reports_a_day": 3}},
        rows,
        3,
    ),
    # the three reports cost 2, 2^(1/5) and 1.2 at 200 m: 2.76 together, which 2 and e are too little for
    ("location.budget.a_day.within", SHARED, {"budget": {"a_day": {"within": "100 m", "factor": "2"}}}, rows, 3),
    ("location.budget.a_day.factor", SHARED, {"budget": {"a_day": {"within": "200 m", "factor": "3"}}}, rows, 3),
    ("location.budget.a_day.epsilon", SHARED, {"budget": {"a_day": {"epsilon": "1/100"}}}, rows, 3),
    (
        "location.budget.a_day.unit",
        merged(SHARED, {"budget": {"a_day": {"epsilon": "1/100", "unit": "2 m"}}}),
        {"budget": {"a_day": {"epsilon": "1/100", "unit": "1 m"}}},
        rows,
        3,
    ),
    (
        "location.budget.over",
        merged(SPENT, {"data": {"person": "all"}}),
        {"budget": {"over": "withhold"}},
        written(lambda f: int(f.lat.isna().sum())),
        1,
    ),
    (
        "location.repeat.store",
        SPENT,
        {"repeat": {"store": "m.db", "secret": "a.key"}},
        lambda given, folder: [rows(given, folder) for _ in range(3)],
        [3, 3, 3],
    ),  # the third run would be too much
    ("location.track.near", TRACK, {"track": {"near": "2 km"}}, said("track", "near"), "2 km"),
    ("location.track.test", TRACK, {"track": {"test": "1/2"}}, said("track", "test_epsilon_per_metre"), "log(2)/404"),
    ("location.track.every", TRACK, {"track": {"every": "1 min"}}, said("track", "every"), "1 min"),
    ("location.track.otherwise", TRACK, {"track": {"otherwise": "repeat"}}, said("track", "otherwise"), "repeat"),
    ("location.track.window", DAILY, {"track": {"window": "12 h"}}, said("track", "limits", 0, "window"), "12 h"),
    *(
        (
            f"location.track.{limit}.{key}",
            base,
            {"track": {limit: asked}},
            said("track", "limits", 0, "epsilon_per_metre"),
            most,
        )
        for limit, base in (("in_all", TRACK), ("in_window", DAILY))
        for key, asked, most in (
            ("within", {"within": "400 m", "factor": "64"}, "log(2)/67"),
            ("factor", {"within": "200 m", "factor": "4"}, "log(2)/101"),
            ("epsilon", {"epsilon": "1/10", "within": None, "factor": None}, "1/10"),
            ("unit", {"epsilon": "1", "unit": "5 m", "within": None, "factor": None}, "1/5"),
        )
    ),
    ("location.repeat.secret", SPENT, {"repeat": {"store": "m.db", "secret": "short.key"}}, rows, "A secret of"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three meters over two days, of 47 hours in Paris, and three people at a place each."""
    FOLDER[:] = [tmp_path]
    hours = pd.date_range("2026-03-27T23:00Z", periods=47, freq="1h").astype("datetime64[us, UTC]")
    meters = [pd.DataFrame({"meter": f"m{m}", "time": hours, "kw": m + np.arange(47) / 100}) for m in range(3)]
    readings = pd.concat(meters, ignore_index=True)
    readings = readings.assign(kw2=readings.kw, later=readings.time + pd.Timedelta("1h"))
    readings["pair"] = readings["meter"].replace({"m0": "a", "m1": "a", "m2": "b"})
    readings.to_parquet(tmp_path / "r.parquet")
    readings["tier"] = readings["meter"]
    fourth = readings[readings.meter == "m2"].assign(meter="m3")
    pd.concat([readings, fourth], ignore_index=True).to_parquet(tmp_path / "more.parquet")
    readings.assign(kw=readings.kw.where(readings.index != 7)).to_parquet(tmp_path / "holes.parquet")
    (tmp_path / "prior.csv").write_text("value,weight\n3,1\n")
    people = pd.DataFrame(
        {"lat": [39.9, 39.91, 39.92], "lon": [116.4, 116.41, 116.42], "who": ["a", "b", "c"], "all": "x"}
    )
    people = people.assign(lat2=people.lat, lon2=people.lon, when=pd.Timestamp("2026-03-01"))
    people["days"] = pd.date_range("2026-03-01", periods=3)
    people.to_parquet(tmp_path / "p.parquet")
    people.iloc[:2].to_parquet(tmp_path / "q.parquet")
    moments = pd.date_range("2026-03-01T12:00Z", periods=3, freq="2h").as_unit("us")
    people.assign(when=moments).to_parquet(tmp_path / "zoned.parquet")
    pd.concat([people] * 60).to_parquet(tmp_path / "many.parquet")  # not all of them by chance at one of two places
    people.assign(lat=people.lat.where(people.index != 1)).to_parquet(tmp_path / "holes2.parquet")
    places = pd.DataFrame({"lat": [39.9, 39.8], "lon": [116.4, 116.3], "lat2": 39.95, "lon2": 116.5, "weight": [0, 1]})
    places.to_csv(tmp_path / "places.csv", index=False)
    places.iloc[:1].to_csv(tmp_path / "one.csv", index=False)
    places.iloc[1:].to_csv(tmp_path / "two.csv", index=False)
    cells = places.assign(kind=["clinic", "street"], kind2="clinic")
    pd.concat([cells, cells.iloc[1:].assign(lat=39.95, kind2="street")]).to_csv(tmp_path / "cells.csv", index=False)
    ring = [[116, 39], [117, 39], [117, 41], [116, 41], [116, 39]]
    whole = {
        "type": "Feature",
        "properties": {"kind": "clinic"},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
    (tmp_path / "all.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [whole]}))
    write_private(tmp_path / "a.key", bytes(range(32)))
    write_private(tmp_path / "short.key", b"short")
    return tmp_path


def is_seen(found: Any, expected: Any) -> bool:
    refused = isinstance(expected, str) and isinstance(found, str) and " " in expected
    return expected in found if refused else bool(found == expected)


@pytest.mark.sweep
@pytest.mark.parametrize(("key", "base", "change", "look", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_a_key_has_its_effect(key: str, base: Given, change: Given, look: Seen, expected: Any, folder: Path) -> None:
    assert not is_seen(look(base, folder), expected), "it is so without the key"
    for left in ("o.parquet", "b.db"):
        (folder / left).unlink(missing_ok=True)
    found = look(merged(base, change), folder)
    assert is_seen(found, expected), found


@pytest.mark.parametrize(("kind", "model"), [("series", Series), ("location", Location)])
def test_every_key_has_a_row(kind: str, model: Any) -> None:
    assert {key for key, *_ in ROWS if key.startswith(kind)} == {f"{kind}.{key}" for key in keys_of(model)}


@pytest.mark.parametrize(("kind", "model"), [("series", Series), ("location", Location)])
def test_every_choice_has_a_row(kind: str, model: Any) -> None:
    """Each word that a key may be stands in some spec here, or is what the key is where it is left out."""
    carried = [merged(base, change) for key, base, change, *_ in ROWS if key.startswith(kind)]
    there = {word for given in carried for word in words_in(given)}
    assert sorted(set(choices_of(model)) - there - LEFT_OUT) == []


LEFT_OUT = {
    *{("values.missing", "refuse"), ("publish.what", "readings"), ("publish.per", "day")},
    *{("protect.outside", "refuse"), ("protect.missing", "refuse"), ("protect.norm", "euclidean")},
    *{("places.use", "remap"), ("budget.over", "refuse"), ("track.otherwise", "withhold")},
    ("regions.of.back", "usual"),
}
"""What these keys are in the bases, which do not have them."""
