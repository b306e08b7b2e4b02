"""Files of positions: what goes out is what came in but for the positions, and nothing derived from the true ones."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leeward.errors import DataError
from leeward.local.location._files import Moved, PositionFile
from leeward.local.location._formats import open_positions
from leeward.tables._rows import BATCH

N = 1000
LAT, LON = np.linspace(39.8, 40.0, N).round(6), np.linspace(116.3, 116.5, N).round(6)
WHO = [f"p{k % 7}" for k in range(N)]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("leeward.tables._rows", "leeward.local.location._geojson"):
        monkeypatch.setattr(f"{module}.BATCH", 300)


def north(lat: Any, lon: Any, extra: list[list[Any]]) -> Moved:
    """One degree to the north: easily told from the truth."""
    return Moved(lat + 1, lon, [f"c{k}" for k in range(len(lat))])


def feature(lat: float, lon: float, who: str) -> dict[str, Any]:
    at = {"type": "Point", "coordinates": [lon, lat, 55.5], "bbox": [lon, lat, lon, lat]}
    return {
        "type": "Feature",
        "id": 3,
        "bbox": [lon, lat, lon, lat],
        "geometry": at,
        "properties": {"who": who, "n": 1.50},
    }


def write(path: Path) -> PositionFile:
    """The same positions in the format that the name asks for; the third is missing."""
    columns: tuple[str | None, str | None] = ("lat", "lon")
    lat, lon = [*LAT.tolist()], [*LON.tolist()]
    lat[2] = lon[2] = None
    if path.suffix == ".parquet" and path.stem == "geo":
        frame = gpd.GeoDataFrame({"who": WHO}, geometry=gpd.points_from_xy(LON, LAT), crs=4326)
        frame.loc[2, "geometry"] = None
        frame.to_parquet(path, row_group_size=400)
        columns = None, None
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"who": WHO, "lat": lat, "lon": lon}), path, row_group_size=400)
    elif path.suffix == ".csv":
        rows = ["who,lat,lon,text", *(f'{w},{a},{o},"a ""b"", 007"' for w, a, o in zip(WHO, lat, lon, strict=True))]
        path.write_text("\n".join(rows).replace("None", "") + "\n")
    else:
        features = [feature(a, o, w) for a, o, w in zip(LAT.tolist(), LON.tolist(), WHO, strict=True)]
        features[2]["geometry"] = None
        if path.suffix == ".geojson":
            path.write_text(
                json.dumps({"type": "FeatureCollection", "bbox": [1, 2, 3, 4], "name": "x", "features": features})
            )
        else:
            path.write_text("".join("\x1e" + json.dumps(f) + "\n" for f in features))
        columns = None, None
    return open_positions(path, *columns)


def read(path: Path, like: PositionFile) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    parts = [*open_positions(path, like.latitude, like.longitude).positions(["who"])]
    joined = [np.concatenate([part[axis] for part in parts]) for axis in (0, 1)]
    return joined[0], joined[1], [who for part in parts for who in part[2][0]]


FORMATS = ["a.parquet", "geo.parquet", "a.csv", "a.geojson", "a.geojsonl"]


@pytest.mark.parametrize("name", FORMATS)
def test_only_positions_change(name: str, tmp_path: Path) -> None:
    source, target = write(tmp_path / name), tmp_path / f"out-{name}"
    shares: list[float] = []
    seen: list[Any] = []

    def move(lat: Any, lon: Any, extra: list[list[Any]]) -> Moved:
        seen.extend(extra[0])
        return north(lat, lon, extra)

    assert source.rewrite(target, move, ["who"], "cell", lambda _, share: shares.append(share)) == N
    assert seen == WHO
    assert len(shares) >= 3, "a batch at a time"
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
    lat, lon, who = read(target, source)
    gone = np.isnan(lat)
    assert np.flatnonzero(gone).tolist() == [2]
    assert np.allclose(lat[~gone], LAT[~gone] + 1)
    assert np.allclose(lon[~gone], LON[~gone])
    assert who == WHO
    assert "cell" in open_positions(target, source.latitude, source.longitude).columns
    assert "who" in source.others
    assert not {"lat", "lon", "geometry"} & set(source.others)


@pytest.mark.parametrize("name", FORMATS)
def test_the_truth_is_nowhere_in_what_is_written(name: str, tmp_path: Path) -> None:
    """Bounding boxes, altitudes and column statistics would say where people are."""
    source, target = write(tmp_path / name), tmp_path / f"out-{name}"
    source.rewrite(target, north, [], None, lambda *_: None)
    if target.suffix == ".parquet":
        held = pq.ParquetFile(target)
        about = json.loads((held.schema_arrow.metadata or {}).get(b"geo", b"{}"))
        assert all("bbox" not in column for column in about.get("columns", {}).values())
        assert ("geo" in name) == bool(about)
        for group in range(held.metadata.num_row_groups):
            for column in range(held.metadata.num_columns):
                held_back = held.metadata.row_group(group).column(column)
                if held_back.path_in_schema == "lat" and held_back.statistics is not None:
                    assert held_back.statistics.min > 40.5
        if "geo" in name:
            assert gpd.read_parquet(target).geometry.y.min() > 40.5
    else:
        text = target.read_text()
        assert "bbox" not in text
        assert "55.5" not in text
        assert "39.8" not in text


def test_csv_text_stays_as_it_is(tmp_path: Path) -> None:
    source, target = write(tmp_path / "a.csv"), tmp_path / "out.csv"
    source.rewrite(target, north, [], None, lambda *_: None)
    with target.open(newline="") as text:
        rows = [*csv.reader(text)]
    assert rows[0] == ["who", "lat", "lon", "text"]
    assert rows[1] == ["p0", "40.8000000", "116.3000000", 'a "b", 007']
    assert rows[3][1:3] == ["", ""]


TRUE = "39.8765432"
"""A part of a true position, where nobody looks for one."""


@pytest.mark.parametrize("name", ["a.geojson", "a.geojsonl"])
def test_of_geojson_only_what_is_named_goes_out(name: str, tmp_path: Path) -> None:
    at = {"type": "Point", "coordinates": [116.3, 39.8], "near": TRUE}
    more = {"center": [float(TRUE)], "place_name": TRUE, "bbox": [float(TRUE)]}
    rows = [
        {**more, "type": "Feature", "id": 3, "geometry": at, "properties": {"who": "p0"}},
        {**more, "type": TRUE, "geometry": at, "properties": None},
        {"geometry": at, "properties": {"other": 1}},
    ]
    around = {"name": TRUE, "query": [float(TRUE)], "crs": {"near": TRUE, "properties": {"name": "EPSG:4326"}}}
    held = {"type": "FeatureCollection", **around, "features": rows}
    text = json.dumps(held) if name.endswith("n") else "\n".join(map(json.dumps, rows))
    (tmp_path / name).write_text(text)
    source, target = open_positions(tmp_path / name, None, None), tmp_path / f"out-{name}"
    source.rewrite(target, north, [], "cell", lambda *_: None)
    assert TRUE not in target.read_text()
    written = json.loads(target.read_text()) if name.endswith("n") else None
    features = written["features"] if written else [json.loads(line) for line in target.read_text().splitlines()]
    assert written is None or {*written} == {"type", "features"}
    assert source.others == ["who", "other", "id"]
    moved = {"type": "Point", "coordinates": [116.3, 40.8]}
    assert features == [
        {"type": "Feature", "id": 3, "geometry": moved, "properties": {"who": "p0", "cell": "c0"}},
        {"type": "Feature", "geometry": moved, "properties": {"cell": "c1"}},
        {"type": "Feature", "geometry": moved, "properties": {"other": 1, "cell": "c2"}},
    ]


@pytest.mark.parametrize("rows", [0, 2, 700])
@pytest.mark.parametrize("geometry", [False, True])
def test_of_parquet_no_metadata_goes_out_that_was_not_made_for_it(geometry: bool, rows: int, tmp_path: Path) -> None:
    inner = pa.struct([pa.field("n", pa.int64(), metadata={"x": TRUE})])
    fields = [("lat", pa.float64()), ("lon", pa.float64()), ("n", pa.int64()), ("s", inner), ("l", pa.list_(inner))]
    held = {
        "lat": [39.8] * rows,
        "lon": [116.3] * rows,
        "n": [1] * rows,
        "s": [{"n": 1}] * rows,
        "l": [[{"n": 2}]] * rows,
    }
    table = pa.table(held, pa.schema([pa.field(name, kind, metadata={"home": TRUE}) for name, kind in fields]))
    metadata = {"bounds": TRUE, "pandas": json.dumps({"attributes": {"x": TRUE}, "columns": [], "index_columns": []})}
    if geometry:
        frame = gpd.GeoDataFrame({"n": [1] * rows}, geometry=gpd.points_from_xy(held["lon"], held["lat"]), crs=4326)
        frame.to_parquet(tmp_path / "geo.parquet")
        table = pq.read_table(tmp_path / "geo.parquet")
        about = json.loads(table.schema.metadata[b"geo"])
        about["columns"]["geometry"] |= {"note": TRUE, "epoch": float(TRUE)}
        about["columns"]["geometry"]["crs"] |= {"bbox": TRUE, "scope": TRUE}
        metadata["geo"] = json.dumps({**about, "creator": TRUE})
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "a.parquet")
    assert TRUE.encode() in (tmp_path / "a.parquet").read_bytes()
    columns = (None, None) if geometry else ("lat", "lon")
    open_positions(tmp_path / "a.parquet", *columns).rewrite(tmp_path / "b.parquet", north, [], None, lambda *_: None)
    schema = pq.read_schema(tmp_path / "b.parquet")
    assert {*(schema.metadata or {})} == ({b"geo"} if geometry else set())
    assert all(not {*(field.metadata or {})} - {b"PARQUET:field_id"} for field in schema)
    assert TRUE not in schema.to_string(show_field_metadata=True, show_schema_metadata=True)
    after = pq.read_table(tmp_path / "b.parquet")
    assert after.num_rows == rows
    assert after["n"].to_pylist() == [1] * rows
    if geometry:
        assert gpd.read_parquet(tmp_path / "b.parquet").crs == 4326
    else:
        assert after["l"].to_pylist() == held["l"]


@pytest.mark.parametrize("name", ["p.geojson", "p.geojsonl"])
def test_half_a_surrogate_pair_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    """JSON can hold what UTF-8 cannot; a table that fails while it is written has been charged already."""
    point, path = feature(1.0, 2.0, "\ud800 é"), tmp_path / name
    path.write_text(json.dumps({"features": [point]} if name.endswith("n") else point) + "\n", "utf-8")
    open_positions(path, None, None).rewrite(tmp_path / f"o-{name}", north, [], None, lambda *_: None)
    held = json.loads((tmp_path / f"o-{name}").read_text("utf-8"))
    (held,) = held["features"] if name.endswith("n") else [held]
    assert held["properties"] == point["properties"]


def test_an_empty_parquet_file(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"lat": pa.array([], pa.float64()), "lon": pa.array([], pa.float64())}), tmp_path / "a.parquet"
    )
    assert (
        open_positions(tmp_path / "a.parquet", "lat", "lon").rewrite(tmp_path / "b.parquet", north, [], None, print)
        == 0
    )
    assert pq.read_table(tmp_path / "b.parquet").num_rows == 0


GOOD: Sequence[str | None] = ("lat", "lon")
NONE: Sequence[str | None] = (None, None)


@pytest.mark.parametrize(
    ("name", "text", "columns", "message"),
    [
        ("a.xlsx", "", GOOD, "its kind follows from the end of its name"),
        ("b.csv", None, GOOD, "no such file. Did you mean 'a.csv'"),
        ("a.csv", "lat,lon\n1,2\n", ("lat", "lng"), "Its first line must name the columns"),
        ("a.csv", "lat,lon\n1,2\n", ("lat", "LON"), "Did you mean 'lon'"),
        ("a.csv", "lat,lon\n1,x\n", GOOD, "something else than numbers"),
        ("a.csv", "lat,lon\n1\n", GOOD, "not as many fields"),
        ("a.csv", 'lat,lon\n1,"2\n', GOOD, "cannot be read"),
        ("a.csv", "lat,lat\n1,2\n", GOOD, "two columns have one name"),
        ("a.csv", b"lat,lon,\xff\n", GOOD, "not text in UTF-8"),
        ("a.parquet", "lat,lon\n1,2\n", GOOD, "cannot be read"),
        ("a.geojson", "{}", NONE, "not a GeoJSON feature collection"),
        ("a.geojson", "[", NONE, "cannot be read"),
        ("a.geojson", '{"features": []}', GOOD, "GeoJSON has a geometry"),
        ("a.geojson", '{"crs": {"properties": {"name": "EPSG::3857"}}, "features": []}', NONE, "another CRS"),
        ("a.geojson", '{"features": [{"geometry": {"type": "LineString", "coordinates": []}}]}', NONE, "not points"),
        ("a.geojson", '{"features": [3]}', NONE, "not points"),
        ("a.geojsonl", '{"geometry": {"type": "Point", "coordinates": ["a"]}}', NONE, "not points"),
    ],
)
def test_files_that_cannot_be_read_say_why_and_show_nothing(
    name: str, text: str | bytes | None, columns: Any, message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").touch()
    if text is not None:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DataError, match=message):
        open_positions(tmp_path / name, *columns).rewrite(tmp_path / "out", north, [], None, lambda *_: None)


def test_geoparquet_that_would_publish_the_truth_is_refused(tmp_path: Path) -> None:
    frame = gpd.GeoDataFrame({"lat": LAT, "lon": LON}, geometry=gpd.points_from_xy(LON, LAT), crs=4326)
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="it also has a geometry"):
        open_positions(tmp_path / "a.parquet", "lat", "lon")
    frame.to_parquet(tmp_path / "b.parquet", write_covering_bbox=True)
    with pytest.raises(DataError, match="bounding boxes"):
        open_positions(tmp_path / "b.parquet", None, None)
    frame.to_crs(3857).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(DataError, match="WGS 84"):
        open_positions(tmp_path / "c.parquet", None, None)


def test_a_batch_is_large_enough_for_the_noise_to_be_quick() -> None:
    assert BATCH >= 1 << 16


@pytest.mark.parametrize("suffix", [".geojson", ".geojsonl"])
@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_could_not_hold_again_is_refused(number: str, suffix: str, tmp_path: Path) -> None:
    """Python reads 1e400, which is JSON, as a float that it writes as Infinity, which is none."""
    feature = '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"a": [%s]}}'
    whole = '{"type": "FeatureCollection", "features": [%s]}' if suffix == ".geojson" else "%s\n"
    path = tmp_path / f"v{suffix}"
    path.write_text(whole % (feature % "1e300"))
    open_positions(path, None, None)
    path.write_text(whole % (feature % number))
    with pytest.raises(DataError, match="beyond all floats, or none"):
        open_positions(path, None, None)


WRITTEN = [
    "0.1",
    "1.5",
    "-2e-3",
    "123456789012345",
    "0.30000000000000004",
    "0.10000000000000001",
    "1E5",
    "0.0",
    "-0.0",
    "5e-324",
]
WRITTEN += [
    "0.1000000000000000055511151231257827",
    "2.5000000000000000000",
    "0.10000000000000000555",
    "1e22",
    "1e23",
    "0.12345678901234568",
    "4.9e-324",
]
OTHERS = [
    "0.12345678901234567890",
    "0.12345678901234567",
    "1e-400",
    "12345678901234567.5",
    "9007199254740993.0",
    "3e-324",
    "1.00000000000000001",
]


@pytest.mark.parametrize("suffix", [".geojson", ".geojsonl"])
@pytest.mark.parametrize("number", [*WRITTEN, *OTHERS])
def test_a_number_goes_out_as_it_is_or_is_refused(number: str, suffix: str, tmp_path: Path) -> None:
    """A number is the same if it is a float, written with however many digits; another one would be put in its place."""
    feature = '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"a": [%s]}}'
    whole = '{"type": "FeatureCollection", "features": [%s]}' if suffix == ".geojson" else "%s\n"
    path, out = tmp_path / f"v{suffix}", tmp_path / f"o{suffix}"
    path.write_text(whole % (feature % number))
    if number in OTHERS:
        with pytest.raises(DataError, match="more digits than floats have") as refused:
            open_positions(path, None, None)
        assert number not in str(refused.value)
        return
    open_positions(path, None, None).rewrite(out, north, [], None, print)
    held = re.search(r'"a": \[(.*?)\]', out.read_text())
    assert held is not None
    digits = len(Decimal(number).as_tuple().digits)
    exactly = Decimal(float(held[1]))  # the float that is written, to as many digits as were read
    assert round_to(exactly, digits) == Decimal(number)


def round_to(value: Decimal, digits: int) -> Decimal:
    """Round by hand: the digits that are kept, and one more if the rest is more than half of a last one."""
    sign, held, power = value.as_tuple()
    text = "".join(map(str, held))
    if len(text) <= digits:
        return value
    up = (text[digits:] > "5") or (text[digits:] == "5" and int(text[digits - 1]) % 2 == 1)
    kept = int(text[:digits]) + up
    return Decimal((sign, tuple(map(int, str(kept))), int(power) + len(text) - digits))
