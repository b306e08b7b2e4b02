"""Tables in memory: the same kind comes back, only positions have moved, and what is left as it is is named."""

from __future__ import annotations

import math
import re
import warnings
from fractions import Fraction
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from leeward.errors import DataError, InputError
from leeward.local.location import PlanarLaplace
from leeward.local.series import Closeness, ReadingGrid, Schedule, Series

GEO = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2)
KEEP = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2, missing="keep")
READINGS = Series(
    Closeness("maximum", "1", "100 W", window=4),
    ReadingGrid("kW", lower="0 kW", upper="8 kW", step="1 W"),
    Schedule("2026-03-28", "2026-03-29", "6 h"),
)

FRAME = pd.DataFrame(
    {"id": [7, 8, 9], "lat": [39.9, 39.91, 39.92], "lon": [116.4, 116.41, 116.42], "note": ["a", "b", "c"]}
)
FRAME.index = pd.Index([2, 0, 1])
NAMES = {"latitude": "lat", "longitude": "lon"}
LEFT = "published as they are.*: id, note(, the index)?$"


def moved(before: Any, after: Any) -> None:
    away = np.hypot((np.asarray(after.lat) - before.lat) * 111_195, (np.asarray(after.lon) - before.lon) * 85_000)
    assert (away > 0).all()
    assert (away < 10_000).all()


def test_a_dataframe() -> None:
    with pytest.warns(UserWarning, match=LEFT):
        found = GEO.perturb(FRAME, **NAMES)
    assert list(found.columns) == list(FRAME.columns)
    assert found.index.tolist() == [2, 0, 1]
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
        (pd.Index([0x8A2F5A363017FFF, 0x8A2F5A3630AFFFF, 0x8A2F5A36301FFFF]), "the index"),
        (pd.Index([0, 1, 3]), "the index"),
        (pd.Index([-1, 0, 1]), "the index"),
        (pd.RangeIndex(35_681_236, 35_681_239), "the index"),
        (pd.RangeIndex(3), None),
        (pd.Index([1, 0, 0]), "the index"),
        (pd.Index([2, 0, 1]), "the index"),  # of rows that were shuffled it tells how they lay before
        (pd.Index([2, 1, 0]), "the index"),
        (pd.MultiIndex.from_arrays([[0, 1, 2]]), "the index"),
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


AABB = pd.CategoricalIndex(list("aabb"), categories=list("abz"))
INDEXES = {
    "repeats": pd.Index([1, 1, 2, 2]),
    "categories, all used": pd.CategoricalIndex(list("aabb")),
    "categories, one unused": AABB,
    "ordered, one unused": pd.CategoricalIndex(list("bbaa"), categories=list("zba"), ordered=True),
    "a level of categories": pd.MultiIndex.from_arrays([AABB, [1] * 4]),
    "an unused level": pd.MultiIndex.from_arrays([list("zaabb"), [1] * 5])[1:],
    "nothing": pd.Index([None, None, "a", np.nan], dtype=object),
    "NaN": pd.Index([np.nan, np.nan, 1.0, 1.0]),
    "mixed": pd.Index(["a", 1, 1, None], dtype=object),
    "times": pd.DatetimeIndex(["2026-01-01"] * 4, tz="Asia/Tokyo"),
    "NaT": pd.DatetimeIndex(["2026-01-01", None, None, "2026-01-01"]),
    "periods": pd.PeriodIndex(["2026-01"] * 4, freq="M"),
    "intervals": pd.IntervalIndex.from_tuples([(0, 1)] * 4),
    "Int64": pd.Index([1, 1, None, None], dtype="Int64"),
    "text": pd.Index(["a", "a", "b", None], dtype="string"),
    "arrow": pd.Index([1, 1, 2, None], dtype="int64[pyarrow]"),
    "truth values": pd.Index([True, True, False, False]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_any_index_is_passed_on(name: str) -> None:
    """Positions are put in by their place, never by the labels of their rows."""
    index = INDEXES[name]
    lat, lon = [39.8, 39.9, 40.0, 40.05], [116.25, 116.35, 116.45, 116.55]
    frame = pd.DataFrame({"id": range(4), "lat": lat, "lon": lon}, index=index)
    geo = gpd.GeoDataFrame(frame[["id"]], geometry=gpd.points_from_xy(lon, lat), crs=4326)
    times = pd.date_range("2026-03-28", periods=4, freq="6h")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = GEO.perturb(frame, **NAMES)
        points = GEO.perturb(geo)
        series = READINGS.perturb(frame.assign(t=times), time="t", value="id")
    moved(frame, found)
    moved(frame, pd.DataFrame({"lat": points.geometry.y.to_numpy(), "lon": points.geometry.x.to_numpy()}, index=index))
    for made in (found, points, series):
        assert made.index.tolist() == index.tolist() or made.index.isna().any()
        assert made.index.names == index.names
    assert found["id"].tolist() == points["id"].tolist() == [0, 1, 2, 3]


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
    assert found.index.tolist() == [2, 0, 1]
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
        (FRAME, {"latitude": 0, "longitude": "lon"}, InputError, 'named by a int.*Write 0 as "0"'),
        (gpd.GeoDataFrame({"a": [1]}), {}, DataError, "without a geometry"),
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


@pytest.mark.parametrize("beyond", [math.inf, -math.inf])
def test_what_is_infinite_is_not_missing(beyond: float) -> None:
    for lat, lon in ((beyond, 116.4), (39.9, beyond)):
        for given in (pd.DataFrame({"lat": [lat], "lon": [lon]}), pa.table({"lat": [lat], "lon": [lon]})):
            with pytest.raises(DataError, match="missing or not finite"):
                KEEP.perturb(given, **NAMES)
    for crs, x in ((2451, 1e20), (3857, math.inf)):
        points = gpd.GeoDataFrame(geometry=gpd.points_from_xy([x], [1.0]), crs=crs)
        with pytest.raises(DataError, match=r"missing or not finite|not degrees"):
            KEEP.perturb(points)


def test_a_sparse_column_is_read() -> None:
    frame = pd.DataFrame({name: pd.arrays.SparseArray(FRAME[name]) for name in ("lat", "lon")})
    moved(FRAME, GEO.perturb(frame, **NAMES))
    readings = pd.DataFrame(
        {"t": pd.date_range("2026-03-28", periods=4, freq="6h"), "x": pd.arrays.SparseArray([1.0] * 4)}
    )
    assert len(READINGS.perturb(readings, time="t", value="x")) == 4


def test_a_crs_that_is_nowhere_on_the_earth() -> None:
    points = gpd.GeoDataFrame(geometry=gpd.points_from_xy([1], [1]), crs='LOCAL_CS["x",UNIT["m",1]]')
    with pytest.raises(DataError, match="cannot be read"):
        GEO.perturb(points)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_a_meter_that_is_no_number_is_nobody(kind: pa.DataType) -> None:
    table = pa.table({"t": ["2026-03-28T00:00"], "x": [1.0], "m": pa.array(np.array([np.nan], kind.to_pandas_dtype()))})
    for given in (table, table.to_pandas()):
        with pytest.raises(DataError, match=r"some rows say nothing|is of a type that is not read"):
            READINGS.perturb(given, time="t", value="x", meter="m")


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


@pytest.mark.parametrize("kind", ["view", "runs", "uuid", "list"])
def test_no_file_is_blamed_where_there_is_none(kind: str) -> None:
    meters = {
        "view": pa.array(["a"], pa.string_view()),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array(["a"])),
        "uuid": pa.array([b"0" * 16], pa.uuid()),
        "list": pa.array([[1]]),
    }
    table = pa.table({"t": pa.array(["2026-03-28T00:00"]), "x": [1.0], "m": meters[kind]})
    with pytest.raises(DataError, match=r"The column .m.: it holds .*, which names nobody") as raised:
        READINGS.perturb(table, time="t", value="x", meter="m")
    assert "damaged" not in str(raised.value)


class Reads:
    """A label that is no text and reads as one."""

    def __str__(self) -> str:
        return "lat"


LABELS: list[tuple[Any, str]] = [
    *(
        (label, str(label))
        for label in (0, 0.5, True, None, np.nan, pd.NaT, ("a", 1), b"a", np.int64(7), Fraction(1, 2))
    ),
    *((label, str(label)) for label in (pd.Timestamp("2026-01-01"), pd.Interval(0, 1), pd.Period("2026-01"), Reads())),
    ("lat", "lat"),
]
"""A label, and how it reads."""


@pytest.mark.parametrize(("label", "text"), LABELS, ids=str)
@pytest.mark.parametrize("kind", [pd.DataFrame, gpd.GeoDataFrame])
def test_two_labels_that_read_alike(label: Any, text: str, kind: Any) -> None:
    """The one would be perturbed, and the other, taken for it, go out true and unnamed."""
    for labels in ([label, text, "lon"], [text, label, "lon"]):
        held = pd.DataFrame([[39.9, 39.9, 116.4]])
        held.columns = pd.Index(labels, dtype=object, tupleize_cols=False)
        frame = kind(held)
        with pytest.raises((DataError, InputError), match=r"have a name that reads so|without a geometry"):
            GEO.perturb(frame, **({"latitude": text, "longitude": "lon"} if kind is pd.DataFrame else {}))
        for names in ({"time": "lon", "value": text}, {"time": "lon", "value": "lat", "meter": text}):
            with pytest.raises((DataError, InputError), match="have a name that reads so"):
                READINGS.perturb(frame, **names)


@pytest.mark.parametrize(("label", "text"), LABELS, ids=str)
def test_a_label_that_is_no_text(label: Any, text: str) -> None:
    """It is named by how it reads, and of the others each is named in the warning."""
    frame = pd.DataFrame([[39.9, 116.4, 39.9]])
    frame.columns = pd.Index([label, "lon", "true"], dtype=object, tupleize_cols=False)
    with pytest.warns(UserWarning, match=": true$"):
        found = GEO.perturb(frame, latitude=text, longitude="lon")
    assert found.iloc[0, 0] != 39.9
    assert found.iloc[0, 2] == 39.9
    with pytest.warns(UserWarning, match=f": {re.escape(text)}"):
        GEO.perturb(frame, latitude="true", longitude="lon")


def test_two_columns_of_one_name() -> None:
    for table in (
        pd.DataFrame([[39.9, 116.4, 1.0]], columns=["lat", "lon", "lat"]),
        pa.table([[39.9], [116.4], [1.0]], names=["lat", "lon", "lat"]),
    ):
        with pytest.raises(DataError, match="The column 'lat': two columns of the table have a name that reads so"):
            GEO.perturb(table, **NAMES)
        with pytest.raises(DataError, match="The column 'lat': two columns of the table have a name that reads so"):
            READINGS.perturb(table, time="lon", value="lat")
    points = gpd.GeoDataFrame({"a": [1]}, geometry=gpd.points_from_xy([116.4], [39.9]), crs=4326)
    points["b"] = points.geometry
    points.columns = pd.Index(["a", "geometry", "geometry"])
    with pytest.raises(DataError, match="The column 'geometry': two columns"):
        GEO.perturb(points)
