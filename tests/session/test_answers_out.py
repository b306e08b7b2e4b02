"""The answers in every form that they are handed on in are the same answers."""

from __future__ import annotations

import codecs
import csv
from pathlib import Path

import pandas as pd
import pytest
from tests.session.conftest import Town

import leeward as lw
from leeward.errors import InputError


def released(town: Town, *columns: str) -> lw.session.Release:
    visits = lw.visits(town.folder / "visits.parquet", person="user", place="venue", time="at")
    named = {column: {"latitude": "lat", "longitude": "lon", "name": "name"}[column] for column in columns}
    listed = lw.places(town.folder / "places.parquet", place="venue", **named)
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    query = lw.count_visitors(visits, listed, places_per_person=1, if_more="latest", **window)
    plan = lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), what="counts")
    return lw.release(plan, lw.Budget(str(town.folder / "b.db"), dataset="town", cap="5"))


def test_every_frame_holds_the_answers(town: Town) -> None:
    places = pd.read_parquet(town.folder / "places.parquet")
    places.loc[3, "lat"] = float("nan")
    places.to_parquet(town.folder / "places.parquet")
    made = released(town, "latitude", "longitude", "name")
    rows = made.answers.to_pylist()
    assert made.to_arrow().to_pylist() == rows
    assert made.to_polars().to_dicts() == rows
    on_map = made.to_geopandas()
    assert on_map.crs.to_epsg() == 4326
    assert on_map.drop(columns="geometry").to_dict("records") == rows
    assert [(p.x, p.y) for p in on_map.geometry if p is not None] == [
        (lon, lat) for lon, lat in zip(places.lon, places.lat, strict=True) if lat == lat
    ]
    assert on_map.geometry[3] is None


def test_without_coordinates_there_is_no_map(town: Town) -> None:
    with pytest.raises(InputError, match="no coordinates"):
        released(town).to_geopandas()


def test_the_csv_beside_the_answers_holds_them_and_no_formula(town: Town, tmp_path: Path) -> None:
    places = pd.read_parquet(town.folder / "places.parquet")
    places.loc[1, "name"] = '=HYPERLINK("http://example.org")'
    places.to_parquet(town.folder / "places.parquet")
    made = released(town, "name")
    made.save(tmp_path / "o")
    assert (tmp_path / "o" / "answers.csv").read_bytes().startswith(codecs.BOM_UTF8)  # by which spreadsheets know UTF-8
    with (tmp_path / "o" / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
        read = list(csv.DictReader(file))
    expected = [{key: str(value) for key, value in row.items()} for row in made.answers.to_pylist()]
    expected[1]["name"] = "'" + expected[1]["name"]
    assert read == expected
