"""Geometries in files: empty points are missing, damaged ones told in a line; nothing that a file says of them goes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from leeward._progress import silent
from leeward.errors import DataError
from leeward.local import check_job

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
    with pytest.raises(DataError, match=r"The file '.*' cannot be read"):
        perturbed(tmp_path)
    assert not (tmp_path / "b.parquet").exists()


def leaves(held: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return [path, *(leaf for key, inner in items for leaf in leaves(inner, (*path, key)))]


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
