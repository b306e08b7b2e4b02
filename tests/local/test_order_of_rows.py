"""The order of rows goes out: every statement says so, and the curator learns where values can be told by it.

Tables in random order are told of about once in a thousand at worst (few rows, of which hardly any differ), sorted ones of
30 rows or more always.
"""

from __future__ import annotations

import datetime as dt
import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leeward as lw
import leeward.local.series as local
from leeward._progress import silent
from leeward.local import check_job
from leeward.local._order import Order
from leeward.local.location._order import PositionOrder

N = 400
GEO = lw.PlanarLaplace(box=(139.5, 35.5, 140.0, 35.9), within="200 m", factor=2)
RNG = np.random.default_rng(9)
LAT, LON = RNG.uniform(35.52, 35.88, N), RNG.uniform(139.52, 139.98, N)
ALIKE = "rows that follow one another have a like"
Rows = dict[str, Any]


def curve(lat: float, lon: float) -> int:
    """The place on a Z-order curve of 256 × 256 cells, as spatial files are sorted."""
    north, east = int((lat - 35.5) / 0.4 * 256), int((lon - 139.5) / 0.5 * 256)
    return sum((north >> bit & 1) << 2 * bit + 1 | (east >> bit & 1) << 2 * bit for bit in range(8))


ORDERS: dict[str, tuple[Callable[[], np.ndarray[Any, Any]], bool]] = {
    "random": (lambda: np.arange(N), False),
    "by latitude": (lambda: np.argsort(LAT), True),
    "down by longitude": (lambda: np.argsort(-LON), True),
    "by rounded latitude": (lambda: np.argsort(LAT.round(2), kind="stable"), True),
    "roughly by longitude": (lambda: np.argsort(LON + RNG.normal(0, 0.03, N)), True),
    "along a curve": (lambda: np.argsort(list(itertools.starmap(curve, zip(LAT, LON, strict=True)))), True),
    "by what says nothing": (lambda: np.argsort(RNG.random(N)), False),
}


@pytest.mark.parametrize("kind", ["frame", "arrow", "geo", "parquet", "csv", "geojsonl"])
@pytest.mark.parametrize("name", ORDERS)
def test_of_positions(name: str, kind: str, tmp_path: Path) -> None:
    order, told = ORDERS[name][0](), ORDERS[name][1]
    frame = pd.DataFrame({"lat": LAT[order], "lon": LON[order]})
    geo = gpd.GeoDataFrame(geometry=gpd.points_from_xy(frame.lon, frame.lat), crs=4326)
    if kind in {"frame", "arrow", "geo"}:
        given: dict[str, Any] = {"frame": frame, "arrow": pa.table(dict(frame)), "geo": geo}
        names = {} if kind == "geo" else {"latitude": "lat", "longitude": "lon"}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            GEO.perturb(given[kind], **names)
        notes = [str(each.message) for each in said]
    else:
        if kind == "parquet":
            frame.to_parquet(tmp_path / f"a.{kind}", row_group_size=90)
        elif kind == "csv":
            frame.to_csv(tmp_path / f"a.{kind}", index=False)
        else:
            geo.to_file(tmp_path / "a.geojsonl", driver="GeoJSONSeq")
        notes = job_notes(tmp_path, f"a.{kind}", latlon=kind != "geojsonl")
        assert "the order of rows" in notes[0]
        notes = notes[1:]
    assert [ALIKE in note and "for the curator only" in note.lower() for note in notes] == [True] * told


def job_notes(folder: Path, table: str, *, latlon: bool = True, **data: str) -> list[str]:
    columns = {"latitude": "lat", "longitude": "lon"} if latlon else {}
    box = {"west": 139.5, "south": 35.5, "east": 140.0, "north": 35.9}
    spec = {"data": {"table": table} | columns | data, "box": box, "protect": {"within": "200 m", "factor": "2"}}
    job = check_job({"perturb": {"kind": "location"}} | spec, folder=folder)
    return list(job.run(folder / f"out.{table.partition('.')[2]}", silent).notes)


def people(by: str) -> Rows:
    """Twenty people who stay near home, at twenty times, in some order of the rows."""
    home = RNG.permutation(20)
    who, when = (each.ravel() for each in np.meshgrid(range(20), range(20), indexing="ij"))
    lat, lon = LAT[home[who]] + RNG.normal(0, 0.001, N), LON[home[who]] + RNG.normal(0, 0.001, N)
    keys = {
        "person, time": (when, who), "time, person": (who, when), "newest first": (-who, -when), "position": (lat,),
        "time, position": (lat, when), "person, position": (lat, who), "random": (RNG.random(N),),
    }  # fmt: skip
    order = np.lexsort(keys[by])
    start = dt.datetime(2026, 3, 28)
    times = [start + dt.timedelta(hours=int(hour)) for hour in when[order]]
    return {"who": who[order], "when": times, "lat": lat[order], "lon": lon[order]}


@pytest.mark.parametrize(
    ("by", "told"),
    [("person, time", False), ("time, person", False), ("newest first", False), ("random", False), ("position", True),
     ("time, position", True), ("person, position", False)],
)  # fmt: skip
def test_what_persons_and_times_tell_anyway(by: str, told: bool, tmp_path: Path) -> None:
    """Rows of one person lie together because they are one person's, which the column says that goes out."""
    pq.write_table(pa.table(people(by)), tmp_path / "a.parquet", row_group_size=70)
    notes = job_notes(tmp_path, "a.parquet", person="who", time="when")
    assert any(ALIKE in note for note in notes) == told


def test_a_track_without_names_is_told_of(tmp_path: Path) -> None:
    held = people("person, time")
    pq.write_table(pa.table({name: held[name] for name in ("lat", "lon")}), tmp_path / "a.parquet")
    assert any(ALIKE in note for note in job_notes(tmp_path, "a.parquet"))


def readings(by: str) -> Rows:
    """Twenty meters over 48 half hours: much by day, little by night, some meters more than others."""
    meter, slot = (each.ravel() for each in np.meshgrid(range(20), range(48), indexing="ij"))
    used = (1.5 - np.cos(slot / 48 * 2 * np.pi)) * RNG.uniform(0.5, 2, 20)[RNG.permutation(20)][meter]
    used = used + RNG.uniform(0, 0.3, len(used))
    keys = {
        "meter, time": (slot, meter), "time, meter": (meter, slot), "newest first": (meter, -slot), "reading": (used,),
        "down by reading": (-used,), "time, reading": (used, slot), "meter, reading": (used, meter),
        "random": (RNG.random(len(used)),),
    }  # fmt: skip
    order = np.lexsort(keys[by])
    times = pd.Timestamp("2026-03-28") + pd.to_timedelta(30 * slot[order], unit="min")
    return {"t": times, "kw": used[order], "m": meter[order]}


READINGS = [
    ("meter, time", False), ("time, meter", False), ("newest first", False), ("random", False), ("reading", True),
    ("down by reading", True), ("time, reading", True), ("meter, reading", True),
]  # fmt: skip


@pytest.mark.parametrize(("by", "told"), READINGS)
def test_of_readings(by: str, told: bool, tmp_path: Path) -> None:
    held = readings(by)
    made = lw.Series(
        local.Closeness(within="100 W", factor=2, window=4),
        local.ReadingGrid("kW", "0 kW", "8 kW", "1 W"),
        local.Schedule("2026-03-28", "2026-03-29", "30 min"),
    )
    for table in (pd.DataFrame(held), pa.table(held)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made.perturb(table, time="t", value="kw", meter="m")
        assert [ALIKE in str(each.message) for each in said] == [True] * told
    pq.write_table(pa.table(held), tmp_path / "a.parquet")
    spec = {
        "data": {"table": "a.parquet", "time": "t", "value": "kw", "meter": "m", "unit": "kW"},
        "time": {"start": "2026-03-28", "end": "2026-03-29", "every": "30 min"},
        "values": {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
        "protect": {"within": "100 W", "factor": "2"},
    }
    for what in ("readings", "totals"):
        job = check_job({"perturb": {"kind": "series"}, "publish": {"what": what}} | spec, folder=tmp_path)
        notes = list(job.run(tmp_path / f"{what}.parquet", silent).notes)
        assert any(ALIKE in note for note in notes) == (told and what == "readings")
        order = [
            text for text in job.statement().model_dump()["not_guaranteed"] if text.startswith("The order of rows")
        ]
        assert bool(order) == (what == "readings"), "totals are in the order of their names and times"


@pytest.mark.parametrize("meters", [1, 3])
def test_what_only_rises_with_time_is_not_told_of(meters: int) -> None:
    """A counter is sorted by reading because it is by time, which goes out."""
    slots = np.arange(48)
    frame = pd.concat(
        pd.DataFrame({"t": pd.date_range("2026-03-28", periods=48, freq="30min"), "m": m, "kw": 0.1 * slots + m / 9})
        for m in range(meters)
    ).reset_index(drop=True)
    made = lw.Series(
        local.Closeness(within="100 W", factor=2),
        local.ReadingGrid("kW", "0 kW", "8 kW", "1 W"),
        local.Schedule("2026-03-28", "2026-03-29", "30 min"),
    )
    for given in (frame, frame[::-1].reset_index(drop=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made.perturb(given, time="t", value="kw", meter="m")


@pytest.mark.parametrize("rows", [5, 26, 30, 60, 1_000])
def test_how_often_random_orders_are_told_of(rows: int) -> None:
    """Of 2,000 tables none of even values; of those with far outliers or hardly any difference up to one in a hundred."""
    rng = np.random.default_rng(rows)
    for most, draw in (
        (0, lambda: rng.random((rows, 2))), (0, lambda: rng.normal(size=(rows, 2))),
        (20, lambda: rng.standard_cauchy((rows, 2))), (20, lambda: 1.0 * (rng.random((rows, 2)) < 0.02)),
    ):  # fmt: skip
        assert sum(tells(draw()) for _ in range(2_000)) <= most
    assert tells(np.sort(rng.random((rows, 2)), axis=0)) == (rows >= 30)


def tells(values: np.ndarray[Any, Any], at_once: int = 10**9) -> bool:
    order = Order()
    for start in range(0, len(values), at_once):
        part = values[start : start + at_once]
        order.add(part, np.ones(len(part), bool))
    return order.tells


def test_it_does_not_matter_where_batches_are_cut_or_what_is_missing() -> None:
    values = np.sort(RNG.random((97, 1)), axis=0) + 1e6
    holes = np.insert(values, [0, 0, 50, 97], np.nan, axis=0)
    for each, size in itertools.product((values, values[::-1], holes), (1, 7, 50, 200)):
        assert tells(each, size)
    assert not tells(np.full((97, 1), np.nan))
    assert not tells(np.ones((97, 1)))
    assert not tells(np.zeros((0, 1)))


def test_times_that_cannot_be_compared() -> None:
    order = PositionOrder()
    times = [None, 3, "a", dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)] * 80
    order.add(np.sort(LAT), LON, None, times)
    assert order.note is not None
