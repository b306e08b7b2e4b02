"""``keep_columns`` and ``drop_columns``: which of the columns beside positions or readings go out as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from leeward.errors import DataError, LeewardError, SpecError
from leeward.local._job import check_job

SECRET = "the secret of all"
ROWS = [{"who": f"p{k}", "note": SECRET, "kind": "bus", "tier": "low"} for k in range(6)]
ENDINGS = [".csv", ".parquet", ".geojson", ".geojsonl"]


def write_positions(path: Path) -> None:
    degrees = [{"lat": 35.6 + k / 1000, "lon": 139.7 + k / 1000} for k in range(len(ROWS))]
    if path.suffix in (".csv", ".parquet"):
        table = pa.Table.from_pylist([row | at for row, at in zip(ROWS, degrees, strict=True)])
        (pa_csv.write_csv if path.suffix == ".csv" else pq.write_table)(table, path)
        return
    features = [
        {
            "type": "Feature",
            "id": f"id of {row['who']}",
            "geometry": {"type": "Point", "coordinates": [at["lon"], at["lat"]]},
            "properties": row,
        }
        for row, at in zip(ROWS, degrees, strict=True)
    ]
    lines = path.suffix == ".geojsonl"
    path.write_text(
        "\n".join(map(json.dumps, features))
        if lines
        else json.dumps({"type": "FeatureCollection", "features": features})
    )


def read_back(path: Path) -> list[set[str]]:
    """The names that each row goes out with."""
    if path.suffix == ".parquet":
        return [set(row) for row in pq.read_table(path).to_pylist()]
    if path.suffix == ".csv":
        return [set(row) for row in pa_csv.read_csv(path).to_pylist()]
    text = path.read_text()
    features = json.loads(text)["features"] if path.suffix == ".geojson" else map(json.loads, text.splitlines())
    return [{*feature["properties"], *({"id"} & {*feature})} for feature in features]


def positions(folder: Path, ending: str, output: dict[str, Any], **protect: Any) -> tuple[Path, Any]:
    source, out = folder / f"in{ending}", folder / f"out{ending}"
    write_positions(source)
    degrees = {"latitude": "lat", "longitude": "lon"} if ending in (".csv", ".parquet") else {}
    spec = {
        "perturb": {"kind": "location"},
        "data": {"table": source.name, **degrees},
        "box": {"west": 139.0, "south": 35.0, "east": 140.5, "north": 36.5},
        "protect": {"within": "200 m", "factor": "2", **protect},
        "output": output,
    }
    return out, check_job(spec, folder=folder).run(out, lambda *_: None)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("output", "others"),
    [
        ({}, {"who", "note", "kind", "tier", "id"}),
        ({"drop_columns": ["note", "who"]}, {"kind", "tier", "id"}),
        ({"keep_columns": ["kind"]}, {"kind"}),
        ({"keep_columns": []}, set()),
        ({"drop_columns": []}, {"who", "note", "kind", "tier", "id"}),
        ({"keep_columns": ["kind"], "h3": 8}, {"kind"}),
    ],
)
def test_of_positions_what_is_left_out_does_not_go_out(
    ending: str, output: dict[str, Any], others: set[str], tmp_path: Path
) -> None:
    out, done = positions(tmp_path, ending, output)
    is_table = ending in (".csv", ".parquet")
    own = ({"lat", "lon"} if is_table else set()) | ({"h3"} if "h3" in output else set())
    expected = own | (others - {"id"} if is_table else others)
    assert read_back(out) == [expected] * len(ROWS)
    assert (SECRET.encode() in out.read_bytes()) == ("note" in others)
    stated = json.loads(Path(f"{out}.release.json").read_text())["columns_as_they_are"]
    assert {*stated} == expected - own
    assert ("note" in done.notes[0]) == ("note" in others)


@pytest.mark.parametrize("ending", [".geojson", ".geojsonl"])
def test_the_id_of_a_feature_is_dropped_by_its_name(ending: str, tmp_path: Path) -> None:
    out, _ = positions(tmp_path, ending, {"drop_columns": ["id"]})
    assert "id of p0" not in out.read_text()
    assert read_back(out) == [{"who", "note", "kind", "tier"}] * len(ROWS)


@pytest.mark.parametrize(
    ("output", "kind", "said"),
    [
        ({"keep_columns": ["who"], "drop_columns": ["note"]}, SpecError, "Leave one of the two out"),
        ({"drop_columns": ["lat"]}, SpecError, "drop_columns with the column 'lat': it goes out in any case"),
        ({"keep_columns": ["lon"]}, SpecError, "keep_columns with the column 'lon': it goes out in any case"),
        ({"drop_columns": ["tier"]}, SpecError, "it goes out in any case"),
        ({"drop_columns": ["nobody"]}, DataError, "The column 'nobody': the table has none of that name"),
        ({"keep_columns": ["who", "who"]}, SpecError, "once says it"),
        ({"drop_columns": "note"}, SpecError, "drop_columns"),
    ],
)
def test_what_is_no_such_list_is_refused_before_anything_is_written(
    output: dict[str, Any], kind: type[LeewardError], said: str, tmp_path: Path
) -> None:
    levels = {"level": "tier", "level_of": "row", "levels": {"low": {"within": "200 m", "factor": "2"}}}
    with pytest.raises(kind, match=said):
        positions(tmp_path, ".csv", output, **levels)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("publish", "others"),
    [
        ({}, {"note", "tier"}),
        ({"drop_columns": ["note"]}, {"tier"}),
        ({"keep_columns": ["note"]}, {"note"}),
        ({"keep_columns": []}, set()),
    ],
)
def test_of_readings_what_is_left_out_does_not_go_out(
    ending: str, publish: dict[str, Any], others: set[str], tmp_path: Path
) -> None:
    out = readings(tmp_path, ending, publish)
    assert read_back(out) == [{"meter", "time", "kw"} | others] * 4
    assert (SECRET.encode() in out.read_bytes()) == ("note" in others)
    stated = json.loads(Path(f"{out}.release.json").read_text())["columns_as_they_are"]
    assert {*stated} == others


@pytest.mark.parametrize(
    ("publish", "said"),
    [
        ({"drop_columns": ["meter"]}, "drop_columns with the column 'meter': it goes out in any case"),
        ({"what": "totals", "drop_columns": ["note"]}, "totals have columns of their own"),
        ({"what": "totals", "keep_columns": []}, "totals have columns of their own"),
    ],
)
def test_what_goes_out_with_readings_in_any_case(publish: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=said):
        readings(tmp_path, ".csv", publish)


def readings(folder: Path, ending: str, publish: dict[str, Any]) -> Path:
    rows = [
        {"meter": meter, "time": f"2026-03-01T{hour:02}:00:00Z", "kw": 1.5, "note": SECRET, "tier": "a"}
        for meter in ("m1", "m2")
        for hour in range(2)
    ]
    table, source, out = pa.Table.from_pylist(rows), folder / f"in{ending}", folder / f"out{ending}"
    (pa_csv.write_csv if ending == ".csv" else pq.write_table)(table, source)
    spec = {
        "perturb": {"kind": "series"},
        "data": {"table": source.name, "time": "time", "value": "kw", "unit": "kW", "meter": "meter"},
        "time": {"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T02:00:00Z", "every": "1 h", "zone": "UTC"},
        "values": {"lower": "0 kW", "upper": "9 kW", "step": "1 W"},
        "protect": {"within": "100 W", "factor": "2"},
        "publish": publish,
    }
    check_job(spec, folder=folder).run(out, lambda *_: None)
    return out
