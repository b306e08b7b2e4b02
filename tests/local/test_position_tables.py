"""Tables in memory: the same kind comes back, only positions have moved, and what is left as it is is named."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from leeward.errors import DataError, InputError
from leeward.local.location import PlanarLaplace

GEO = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2)
KEEP = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2, missing="keep")

FRAME = pd.DataFrame(
    {"id": [7, 8, 9], "lat": [39.9, 39.91, 39.92], "lon": [116.4, 116.41, 116.42], "note": ["a", "b", "c"]}
)
FRAME.index = pd.Index([30, 10, 20])
NAMES = {"latitude": "lat", "longitude": "lon"}
LEFT = "published as they are.*: id, note$"


def moved(before: Any, after: Any) -> None:
    away = np.hypot((np.asarray(after.lat) - before.lat) * 111_195, (np.asarray(after.lon) - before.lon) * 85_000)
    assert (away > 0).all()
    assert (away < 10_000).all()


def test_a_dataframe() -> None:
    with pytest.warns(UserWarning, match=LEFT):
        found = GEO.perturb(FRAME, **NAMES)
    assert list(found.columns) == list(FRAME.columns)
    assert found.index.tolist() == [30, 10, 20]
    assert found[["id", "note"]].equals(FRAME[["id", "note"]])
    moved(FRAME, found)
    assert FRAME.lat.tolist() == [39.9, 39.91, 39.92], "what was given is not changed"


def test_a_dataframe_of_positions_alone_gives_no_warning() -> None:
    frame = FRAME[["lat", "lon"]].reset_index(drop=True)
    moved(frame, GEO.perturb(frame, **NAMES))


def test_columns_that_may_hold_positions_are_named() -> None:
    frame = FRAME.rename(columns={"note": "home_address"}).assign(geohash="wx4g0")
    with pytest.warns(UserWarning, match="of these home_address, geohash may say where people are"):
        GEO.perturb(frame, **NAMES)


@pytest.mark.parametrize("geo", [False, True])
def test_an_index_is_named_and_attributes_are_left_out(geo: bool) -> None:
    """Both may hold true positions: the one is a column without the name of one, the other is seen by nobody."""
    for index, called in (
        (pd.Index([39.9, 39.91, 39.92]), "the index"),
        (FRAME.set_index("lat").index, r"the index \(lat\)"),
        (FRAME.set_index(["lat", "lon"]).index, r"the index \(lat, lon\)"),
        (pd.RangeIndex(3), None),
    ):
        frame = FRAME[["lat", "lon"]].set_axis(index)
        if geo:
            frame = gpd.GeoDataFrame({}, geometry=gpd.points_from_xy(frame.lon, frame.lat), crs=4326, index=index)
        frame.attrs["centre"] = (39.91, 116.41)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = GEO.perturb(frame) if geo else GEO.perturb(frame, **NAMES)
        assert found.attrs == {}
        assert frame.attrs, "what was given is not changed"
        assert found.index.equals(index)
        assert len(said) == (called is not None)
        assert called is None or re.search(f": {called}$", str(said[0].message).partition(";")[0])


def test_metadata_of_a_pyarrow_table_is_left_out() -> None:
    fields = [pa.field(name, pa.float64(), metadata={"max": "39.9"}) for name in ("lat", "lon", "n")]
    table = pa.table({"lat": [39.9], "lon": [116.4], "n": [1.0]}, pa.schema(fields, metadata={"bounds": "39.9"}))
    with pytest.warns(UserWarning, match=": n$"):
        found = GEO.perturb(table, **NAMES)
    assert found.schema.metadata is None
    assert all(field.metadata is None for field in found.schema)


def test_a_pyarrow_table() -> None:
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    with pytest.warns(UserWarning, match=LEFT):
        found = GEO.perturb(table, **NAMES)
    assert isinstance(found, pa.Table)
    assert found.drop_columns(["lat", "lon"]).equals(table.drop_columns(["lat", "lon"]))
    moved(FRAME, found.to_pandas())


@pytest.mark.parametrize("crs", [4326, 32650, 3857])
def test_a_geodataframe_in_any_crs(crs: int) -> None:
    points = gpd.points_from_xy(FRAME.lon, FRAME.lat)
    frame = gpd.GeoDataFrame(FRAME[["id", "note"]], geometry=points, crs=4326).to_crs(crs).rename_geometry("where")
    with pytest.warns(UserWarning, match=LEFT):
        found = GEO.perturb(frame)
    assert isinstance(found, gpd.GeoDataFrame)
    assert found.crs == frame.crs
    assert found.geometry.name == "where"
    assert found.index.tolist() == [30, 10, 20]
    degrees = found.to_crs(4326)
    moved(FRAME, pd.DataFrame({"lat": degrees.geometry.y, "lon": degrees.geometry.x}))


def test_missing_positions() -> None:
    frame = FRAME[["lat", "lon"]].reset_index(drop=True).astype("Float64")
    frame.loc[1] = pd.NA
    assert KEEP.perturb(frame, **NAMES).isna().sum().tolist() == [1, 1]
    table = KEEP.perturb(pa.table({"lat": [39.9, None], "lon": [116.4, 116.4]}), **NAMES)
    assert [column.null_count for column in table.columns] == [1, 1]
    points = gpd.GeoDataFrame(geometry=[*gpd.points_from_xy([116.4], [39.9]), None], crs=4326)
    assert KEEP.perturb(points).geometry.isna().tolist() == [False, True]
    with pytest.raises(DataError, match="missing"):
        GEO.perturb(frame, **NAMES)


@pytest.mark.parametrize(
    ("table", "names", "error", "message"),
    [
        (FRAME, {"latitude": "lat", "longitude": "lng"}, DataError, "none of that name. Did you mean 'lon'"),
        (FRAME, {"latitude": "lat"}, InputError, "No column of longitudes"),
        (FRAME, {"latitude": "note", "longitude": "lon"}, DataError, "something else than numbers"),
        (FRAME, {"latitude": "lon", "longitude": "lat"}, DataError, "look swapped"),
        (pa.table({"lat": ["39.9"], "lon": [116.4]}), NAMES, DataError, "something else than numbers"),
        ([1, 2], NAMES, InputError, "type list"),
        (gpd.GeoDataFrame(geometry=gpd.points_from_xy([116.4], [39.9])), {}, DataError, "without a CRS"),
        (gpd.GeoDataFrame({"lat": [1.0]}, geometry=gpd.points_from_xy([116.4], [39.9]), crs=4326),
         {"latitude": "lat"}, InputError, "its geometry holds the positions"),
        (gpd.GeoDataFrame(geometry=gpd.points_from_xy([116.4], [39.9]).buffer(1), crs=4326), {}, DataError, "not points"),
        (gpd.GeoDataFrame(geometry=gpd.points_from_xy([500_000.0], [4_400_000.0]), crs=4326), {}, DataError, "not degrees"),
    ],
)  # fmt: skip
def test_what_is_refused(table: Any, names: dict[str, str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        GEO.perturb(table, **names)


def test_nothing_is_not_an_error() -> None:
    assert len(GEO.perturb(FRAME[["lat", "lon"]].head(0), **NAMES)) == 0
    assert math.isnan(KEEP.perturb_one(math.nan, 116.4)[0])


class Stops(gpd.GeoDataFrame):  # type: ignore[misc]
    """A frame with a geometry, of a user's own class."""


def test_a_class_made_of_a_geodataframe_is_one() -> None:
    """It is a DataFrame too: read as one, its geometry would go out as it is, beside the columns that were perturbed."""
    points = gpd.points_from_xy(FRAME.lon, FRAME.lat)
    frame = Stops({"lat": FRAME.lat, "lon": FRAME.lon}, geometry=points, crs=4326)
    with pytest.raises(InputError, match="Columns of degrees for a GeoDataFrame"):
        GEO.perturb(frame, latitude="lat", longitude="lon")
    with pytest.warns(UserWarning, match="lat, lon"):
        made = GEO.perturb(frame)
    assert not (made.geometry.x == points.x).any()


def test_another_table_is_told_what_is_read() -> None:
    with pytest.raises(InputError, match=r"only GeoDataFrame, DataFrame and pyarrow Table are read.*perturb_points"):
        GEO.perturb([[60.0, 10.0]])
