"""Geometries in files: empty points are missing, damaged ones told in a line; nothing that a file says of them goes out."""

from __future__ import annotations

import json
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from leeward._progress import silent
from leeward.errors import DataError
from leeward.local import check_job
from leeward.local.location import PlanarLaplace

TRUE = "35.6123456"
BOX = {"west": 139.3, "south": 35.3, "east": 140.2, "north": 36.1}


def perturbed(folder: Path, missing: str = "keep") -> Path:
    protect = {"within": "200 m", "factor": "2", "missing": missing}
    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": {"table": "a.parquet"},
        "box": BOX,
        "protect": protect,
    }
    check_job(given, folder=folder).run(folder / "b.parquet", silent)
    return folder / "b.parquet"


@pytest.mark.parametrize("points", [[shapely.Point(), None, shapely.Point(139.7, 35.6)], [shapely.Point()], [None]])
def test_an_empty_point_is_missing(points: list[Any], tmp_path: Path) -> None:
    gpd.GeoDataFrame({"a": range(len(points))}, geometry=points, crs=4326).to_parquet(tmp_path / "a.parquet")
    made = gpd.read_parquet(perturbed(tmp_path))
    assert made.geometry.isna().tolist() == [point is None or point.is_empty for point in points]
    assert made.crs == 4326
    with pytest.raises(DataError, match="Some positions are missing"):
        perturbed(tmp_path, "refuse")


def test_an_empty_point_of_geojson_is_missing(tmp_path: Path) -> None:
    """RFC 7946, 3.1: empty coordinates may be read as null; those of another geometry are no point all the same."""
    places: list[dict[str, Any]] = [
        {"type": "Point", "coordinates": []},
        {"type": "Point", "coordinates": [139.7, 35.6]},
    ]
    spec: dict[str, Any] = {"perturb": {"kind": "location"}, "data": {"table": "a.geojson"}, "box": BOX}
    spec["protect"] = {"within": "200 m", "factor": "2", "missing": "keep"}

    def run(geometries: list[dict[str, Any]]) -> list[Any]:
        features = [{"type": "Feature", "geometry": each, "properties": {}} for each in geometries]
        (tmp_path / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        check_job(spec, folder=tmp_path).run(tmp_path / "b.geojson", silent)
        return [each["geometry"] for each in json.loads((tmp_path / "b.geojson").read_text())["features"]]

    empty, moved = run(places)
    assert empty is None
    assert len(moved["coordinates"]) == 2
    for odd in ({"type": "MultiPoint", "coordinates": []}, {"type": "Point", "coordinates": None}, {"type": "Point"}):
        with pytest.raises(DataError, match="not points"):
            run([odd])


@pytest.mark.parametrize("held", [b"\x01\xff\x00", b"", b"POINT (1 2)", b"\x01\x01\x00\x00\x00" + b"\xff" * 3])
def test_damaged_geometries_are_told_in_a_line(held: bytes, tmp_path: Path) -> None:
    gpd.GeoDataFrame({"a": [1]}, geometry=[shapely.Point(1, 2)], crs=4326).to_parquet(tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    pq.write_table(table.set_column(1, "geometry", pa.array([held])), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"The file '.*' cannot be read|Geometries that are not points"):
        perturbed(tmp_path)
    assert not (tmp_path / "b.parquet").exists()


def leaves(held: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return [path, *(leaf for key, inner in items for leaf in leaves(inner, (*path, key)))]


@pytest.mark.sweep
def test_nothing_that_a_file_says_of_its_geometry_goes_out(tmp_path: Path) -> None:
    """A true latitude in the place of each part of the metadata, and beside it: refused, or not in what is written."""
    gpd.GeoDataFrame(geometry=gpd.points_from_xy([139.7], [35.6], [5.0]), crs=4326).to_parquet(tmp_path / "p.parquet")
    table = pq.read_table(tmp_path / "p.parquet")
    said, written = table.schema.metadata[b"geo"], 0
    outputs = set()
    for path in leaves(json.loads(said))[1:]:
        for put in (TRUE, {"made from": TRUE}, [TRUE], float(TRUE)):
            for beside in (False, True):
                meta = json.loads(said)
                inner = meta
                for key in path[:-1]:
                    inner = inner[key]
                if beside and not isinstance(inner, dict):
                    continue
                inner["more" if beside else path[-1]] = put
                pq.write_table(table.replace_schema_metadata({b"geo": json.dumps(meta)}), tmp_path / "a.parquet")
                try:
                    made = perturbed(tmp_path)
                except DataError:
                    continue
                written += 1
                assert TRUE.encode() not in made.read_bytes()
                outputs.add(pq.read_schema(made).metadata[b"geo"])
                made.unlink()
                (tmp_path / "b.parquet.release.json").unlink()
        if written > 60:
            break
    assert written > 20
    assert len(outputs) <= 2, "with a CRS and without one"
    assert {tuple(json.loads(each)["columns"]["geometry"]["geometry_types"]) for each in outputs} == {("Point",)}
    assert np.isfinite(gpd.read_parquet(perturbed(tmp_path)).geometry.x).all()


# ---- well-known binary that is no point


def wkb(kind: int, *numbers: float, order: str = "<", srid: int | None = None) -> bytes:
    code = b"" if srid is None else struct.pack(f"{order}I", srid)
    start = struct.pack(f"{order}BI", int(order == "<"), kind | (0x20000000 if srid is not None else 0))
    return start + code + struct.pack(f"{order}{len(numbers)}d", *numbers)


def written(folder: Path, held: list[Any], kind: Any = None, **columns: Any) -> None:
    geometry = {"encoding": "WKB", "geometry_types": []}
    about = {"version": "1.0.0", "primary_column": "geometry", "columns": {"geometry": geometry}}
    table = pa.table({"geometry": pa.array(held, kind or pa.binary()), **columns})
    pq.write_table(table.replace_schema_metadata({b"geo": json.dumps(about).encode()}), folder / "a.parquet")


POINTS = {
    "little": wkb(1, 139.7, 35.6),
    "big": wkb(1, 139.7, 35.6, order=">"),
    "with height": wkb(1001, 139.7, 35.6, 4.0),
    "with measure": wkb(2001, 139.7, 35.6, 4.0),
    "with both": wkb(3001, 139.7, 35.6, 4.0, 5.0),
    "extended, with both": wkb(0xC0000001, 139.7, 35.6, 4.0, 5.0),
    "extended, of WGS 84": wkb(1, 139.7, 35.6, srid=4326),
    "extended, of WGS 84, big": wkb(0x80000001, 139.7, 35.6, 4.0, order=">", srid=4326),
}


@pytest.mark.parametrize("name", sorted(POINTS))
def test_a_point_is_read_in_each_form_of_it(name: str, tmp_path: Path) -> None:
    written(tmp_path, [POINTS[name], None])
    made = gpd.read_parquet(perturbed(tmp_path))
    assert made.geometry.isna().tolist() == [False, True]
    assert abs(made.geometry.x[0] - 139.7) < 0.1


@pytest.mark.parametrize("depth", [3, 100_000])
@pytest.mark.parametrize("order", ["<", ">"])
def test_nests_and_curves_are_refused_before_they_are_parsed(order: str, depth: int, tmp_path: Path) -> None:
    """The parser ends the process on deep nests, and knows no curves."""
    nest = wkb(7, order=order) + struct.pack(f"{order}I", 1)
    lines = [wkb(kind, order=order) + bytes(4) for kind in (*range(2, 18), 1002, 3017, 0x80000002, 0, 5001)]
    for odd in (nest * depth + POINTS["little"], *lines, POINTS["little"] + bytes(40), b"\x02" + POINTS["little"][1:]):
        written(tmp_path, [POINTS["big"], odd])
        with pytest.raises(DataError, match="not points"):
            perturbed(tmp_path)


def test_a_point_that_says_another_crs_is_refused(tmp_path: Path) -> None:
    for srid in (4301, 3857):
        written(tmp_path, [POINTS["big"], wkb(1, 139.7, 35.6, srid=srid), None])
        with pytest.raises(DataError, match="another CRS than WGS 84"):
            perturbed(tmp_path)


def test_the_binary_is_no_text(tmp_path: Path) -> None:
    written(tmp_path, [POINTS["little"].hex()], pa.string())
    with pytest.raises(DataError, match="WKB"):
        perturbed(tmp_path)


@pytest.mark.parametrize("role", ["person", "level"])
def test_the_geometry_says_neither_who_nor_how_careful(role: str, tmp_path: Path) -> None:
    """Each place would be another person, with a budget of its own."""
    written(tmp_path, [wkb(1, 139.7 + k / 1000, 35.6) for k in range(9)])
    (tmp_path / "people.key").write_bytes(bytes(range(32)))
    (tmp_path / "people.key").chmod(0o600)
    given: dict[str, Any] = {"perturb": {"kind": "location"}, "data": {"table": "a.parquet"}, "box": BOX}
    given["protect"] = {"within": "200 m", "factor": "2"}
    if role == "person":
        given["data"]["person"] = "geometry"
        given["repeat"] = {"store": "m.db", "secret": "people.key"}
    else:
        given["protect"] |= {"level": "geometry", "levels": {"a": {}, "b": {"factor": "3"}}}
    with pytest.raises(DataError, match="cannot also say"):
        check_job(given, folder=tmp_path).run(tmp_path / "b.parquet", silent, new=True)
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize("name", ["geom", "spot"])
def test_a_geometry_of_parquets_own_type_does_not_go_out_beside_degrees(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = f"35.6::double lat, 139.7::double lon, 'POINT(139.7123456 {TRUE})'::GEOMETRY as {name}"
    duckdb.sql(f"copy (select {columns}) to '{path}' (format parquet, geoparquet_version 'NONE')")
    given: dict[str, Any] = {"perturb": {"kind": "location"}, "box": BOX, "protect": {"within": "200 m", "factor": "2"}}
    for data, because in (({"latitude": "lat", "longitude": "lon"}, f"geometry, '{name}'"), ({}, "only GeoParquet")):
        with pytest.raises(DataError, match=because):
            check_job(given | {"data": {"table": "a.parquet", **data}}, folder=tmp_path).run(tmp_path / "b", silent)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.parquet"]


@pytest.mark.parametrize("kind", [pa.decimal128(9, 6), pa.decimal64(9, 6), pa.decimal256(40, 6)])
def test_degrees_may_be_decimals(kind: Any, tmp_path: Path) -> None:
    degrees = {"lat": [Decimal("35.6"), None], "lon": [Decimal("139.7"), None]}
    table = pa.table({name: pa.array(values, kind) for name, values in degrees.items()})
    pq.write_table(table, tmp_path / "a.parquet")
    given: dict[str, Any] = {"perturb": {"kind": "location"}, "box": BOX}
    given["protect"] = {"within": "200 m", "factor": "2", "missing": "keep"}
    given["data"] = {"table": "a.parquet", "latitude": "lat", "longitude": "lon"}
    check_job(given, folder=tmp_path).run(tmp_path / "b.parquet", silent)
    geo = PlanarLaplace(box=tuple(BOX.values()), within="200 m", factor=2, missing="keep")
    for made in (pq.read_table(tmp_path / "b.parquet"), geo.perturb(table, latitude="lat", longitude="lon")):
        first, second = made.to_pylist()
        assert abs(first["lat"] - 35.6) < 0.1
        assert abs(first["lon"] - 139.7) < 0.1
        assert second == {"lat": None, "lon": None}
