"""GeoJSON of odd shape: nothing is lost in silence, and nothing is read as a number that is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leeward.errors import DataError
from leeward.local import check_job

BOX = {"west": -180, "south": -60, "east": -170, "north": -50}
POINT = '{"type": "Point", "coordinates": [-175, -55]}'
FEATURE = '{"type": "Feature", "geometry": %s, "properties": %s}'
WHOLE = '{"type": "FeatureCollection", "features": [%s]%s}'


def perturbed(text: str, folder: Path, ending: str = "geojson", missing: str = "refuse") -> Any:
    (folder / f"a.{ending}").write_text(text)
    given: dict[str, Any] = {"perturb": {"kind": "location"}, "data": {"table": f"a.{ending}"}, "box": BOX}
    given["protect"] = {"within": "200 m", "factor": "2", "missing": missing}
    check_job(given, folder=folder).run(folder / f"b.{ending}", lambda *_: None)
    return json.loads((folder / f"b.{ending}").read_text())


@pytest.mark.parametrize("ending", ["geojson", "geojsonl"])
@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (FEATURE % ('{"type": "Point", "coordinates": "12"}', "{}"), "not points"),
        (FEATURE % ('{"type": "Point", "coordinates": ["-175", "-55"]}', "{}"), "not points"),
        (FEATURE % ('{"type": "Point", "coordinates": [true, -55]}', "{}"), "not points"),
        (FEATURE % ('{"type": "Point", "coordinates": {"a": 1, "b": 2}}', "{}"), "not points"),
        (FEATURE % (POINT, '["kept"]'), "Properties of a feature that are not an object"),
        (FEATURE % (POINT, '"kept"'), "Properties of a feature that are not an object"),
        (FEATURE % (POINT, '{"a": 1, "a": 2}'), "stands twice"),
        (FEATURE.replace("{", '{"id": {"at": [-175, -55]}, ', 1) % (POINT, "{}"), "An id of a feature"),
        (FEATURE.replace("{", '{"id": [-175, -55], ', 1) % (POINT, "{}"), "An id of a feature"),
        (FEATURE.replace("}", ', "geometry": null}') % (POINT, "{}"), "stands twice"),
    ],
)
def test_what_is_no_point_or_would_be_lost_is_refused(ending: str, feature: str, words: str, tmp_path: Path) -> None:
    text = feature if ending == "geojsonl" else WHOLE % (feature, "")
    with pytest.raises(DataError, match=words):
        perturbed(text, tmp_path, ending, missing="keep")
    assert not (tmp_path / f"b.{ending}").exists()


def test_features_that_stand_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="stands twice"):
        perturbed(WHOLE % (FEATURE % (POINT, "{}"), ', "features": []'), tmp_path)


@pytest.mark.parametrize(
    ("name", "is_degrees"),
    [
        ("urn:ogc:def:crs:OGC:1.3:CRS84", True),
        ("urn:ogc:def:crs:EPSG::4326", True),
        ("EPSG:4326", True),
        ("http://www.opengis.net/def/crs/OGC/1.3/CRS84", True),
        ("https://www.opengis.net/def/crs/EPSG/0/4326", True),
        ("urn:ogc:def:crs:EPSG::104326", False),
        ("EPSG:14326", False),
        ("EPSG:3857", False),
        ("NAD_CRS84", False),
        ("", False),
    ],
)
def test_only_wgs_84_is_degrees(name: str, is_degrees: bool, tmp_path: Path) -> None:
    crs = f', "crs": {{"type": "name", "properties": {{"name": "{name}"}}}}'
    if is_degrees:
        assert len(perturbed(WHOLE % (FEATURE % (POINT, "{}"), crs), tmp_path)["features"]) == 1
        return
    with pytest.raises(DataError, match="another CRS"):
        perturbed(WHOLE % (FEATURE % (POINT, "{}"), crs), tmp_path)


OTHER = '"crs": {"type": "name", "properties": {"name": "%s"}}, '


@pytest.mark.parametrize("ending", ["geojson", "geojsonl"])
@pytest.mark.parametrize("where", ["geometry", "feature"])
@pytest.mark.parametrize("name", ["EPSG:4301", "EPSG:4326"])
def test_a_crs_of_one_feature_is_looked_at(name: str, where: str, ending: str, tmp_path: Path) -> None:
    """The standard has dropped it, and databases write it."""
    feature = FEATURE % (POINT, "{}")
    start = feature.index("{", 1) if where == "geometry" else 0
    feature = feature[: start + 1] + OTHER % name + feature[start + 1 :]
    text = feature if ending == "geojsonl" else WHOLE % (feature, "")
    if name == "EPSG:4326":
        assert "crs" not in json.dumps(perturbed(text, tmp_path, ending))
        return
    with pytest.raises(DataError, match="another CRS"):
        perturbed(text, tmp_path, ending)
    assert not (tmp_path / f"b.{ending}").exists()


def test_another_type_of_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a GeoJSON feature collection"):
        perturbed((WHOLE % (FEATURE % (POINT, "{}"), "")).replace("FeatureCollection", "Topology"), tmp_path)
