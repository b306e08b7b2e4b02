"""Nothing that hides within a type goes out with a table: metadata of inner fields is left out, or the table refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from leeward.errors import DataError
from leeward.local.location._files import Moved
from leeward.local.location._formats import open_positions
from leeward.local.location._frames import perturb_table
from leeward.tables._bare import bare_schema

HIDDEN = {"bounds": "CANARY 35.6812"}


def field(name: str = "item", kind: pa.DataType = pa.float64(), null: bool = True) -> pa.Field:  # noqa: B008
    return pa.field(name, kind, null, metadata=HIDDEN)


LIST = [[1.0, 2.0], None]
NESTED = {
    "list": (pa.list_(field()), LIST),
    "large list": (pa.large_list(field()), LIST),
    "fixed-size list": (pa.list_(field(), 2), LIST),
    "struct": (pa.struct([field("x")]), [{"x": 1.0}, None]),
    "map": (pa.map_(field("key", null=False), field("value")), [[(1.0, 2.0)], None]),
    "deep": (pa.list_(field(kind=pa.struct([field("x", pa.list_(field(), 1))])), 1), [[{"x": [1.0]}], None]),
}
NO_NEST = {
    "categories": pa.array(["a", "b"]).dictionary_encode(),
    "runs": pc.run_end_encode(pa.array([1, 1])),
    "text": pa.array(["a", None]),
}
REFUSED = {
    "dense union": pa.dense_union([field("x")]),
    "extension": pa.opaque(pa.int64(), "kind", "CANARY"),
    "dictionary of lists": pa.dictionary(pa.int8(), pa.list_(field())),
    "list view": pa.list_view(field()),
    "large list view": pa.large_list_view(field()),
}


def table(kind: pa.DataType, values: Any) -> pa.Table:
    return pa.table({"lat": [35.6, 35.7], "lon": [139.7, 139.8], "held": pa.array(values, kind)})


def moved(latitude: Any, longitude: Any, *_: Any) -> Any:
    return latitude + 1, longitude + 1


@pytest.mark.parametrize("name", NESTED)
def test_metadata_of_inner_fields_is_left_out(name: str, tmp_path: Path) -> None:
    given = table(*NESTED[name])
    warnings.simplefilter("ignore")
    made = perturb_table(moved, given, "lat", "lon")
    assert "CANARY" not in made.schema.to_string(show_schema_metadata=True, show_field_metadata=True)
    assert b"CANARY" not in bytes(made.schema.serialize())
    assert made["held"].to_pylist() == given["held"].to_pylist()
    frame = pd.DataFrame(
        {
            "lat": [35.6, 35.7],
            "lon": [139.7, 139.8],
            "held": pd.Series(pd.arrays.ArrowExtensionArray(given["held"])),
        }
    )
    before = frame["held"].dtype.pyarrow_dtype
    came = perturb_table(moved, frame, "lat", "lon")
    kind = came["held"].dtype.pyarrow_dtype
    assert b"CANARY" not in bytes(pa.schema([pa.field("held", kind)]).serialize())
    assert frame["held"].dtype.pyarrow_dtype is before, "the caller's is as it was"


@pytest.mark.parametrize("name", NO_NEST)
def test_a_type_without_inner_fields_is_passed_on(name: str, tmp_path: Path) -> None:
    given = pa.table({"lat": [35.6, 35.7], "lon": [139.7, 139.8], "held": NO_NEST[name]})
    warnings.simplefilter("ignore")
    made = perturb_table(moved, given, "lat", "lon")["held"]
    assert made.equals(given["held"]) if name != "runs" else made.to_pylist() == given["held"].to_pylist()
    if name != "runs":  # of which Parquet knows nothing
        pq.write_table(given, tmp_path / "a.parquet")
        open_positions(tmp_path / "a.parquet", "lat", "lon").rewrite(
            tmp_path / "b.parquet", lambda a, b, _: Moved(a, b), [], None, lambda *_: None
        )
        assert pq.read_table(tmp_path / "b.parquet")["held"].equals(given["held"])


@pytest.mark.parametrize("name", NESTED)
def test_no_metadata_of_inner_fields_is_written(name: str, tmp_path: Path) -> None:
    pq.write_table(table(*NESTED[name]), tmp_path / "a.parquet")
    file = open_positions(tmp_path / "a.parquet", "lat", "lon")
    file.rewrite(tmp_path / "b.parquet", lambda a, b, _: Moved(a, b), [], None, lambda *_: None)
    assert b"CANARY" not in (tmp_path / "b.parquet").read_bytes()
    schema = pq.read_schema(tmp_path / "b.parquet")
    assert b"CANARY" not in bytes(schema.serialize())


@pytest.mark.parametrize("name", REFUSED)
def test_a_type_that_may_hold_metadata_is_refused(name: str) -> None:
    with pytest.raises(DataError, match=r"column 'held': types of its kind may hold what no row shows"):
        bare_schema(pa.schema([("lat", pa.float64()), ("held", REFUSED[name])]))


def test_a_long_text_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("lat,lon,note\n35.6,139.7," + "x" * 200_000 + "\n")
    file = open_positions(tmp_path / "a.csv", "lat", "lon")
    assert file.rewrite(tmp_path / "b.csv", lambda a, b, _: Moved(a, b), [], None, lambda *_: None) == 1
    assert "x" * 200_000 in (tmp_path / "b.csv").read_text()
