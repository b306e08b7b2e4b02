"""Nothing of rows that do not go out goes out with those that do: not in what is written, nor in the object that comes back.

Every type of column, of a frame or a file, holds a canary in a row that is left out (by the period of a series, or by the
caller, who gave a part of a table) or under a cell that is missing. It is searched for in all bytes that come out.
"""

from __future__ import annotations

import decimal
import pickle
import struct
import warnings
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import leeward as lw
import leeward.local.series as local
from leeward.cli import main
from leeward.errors import DataError
from leeward.tables._bare import bare, bare_frame

SERIES = lw.Series(
    local.Closeness("maximum", "1", "100 W", window=4),
    local.ReadingGrid("kW", lower="0 kW", upper="8 kW", step="1 W"),
    local.Schedule("2026-03-28", "2026-03-29", "6 h"),
)
GEO = lw.PlanarLaplace(box=(139.5, 35.5, 140.0, 35.9), within="200 m", factor=2)
TIMES = [*pd.date_range("2026-03-28", periods=4, freq="6h"), pd.Timestamp("2026-05-01")]
ROWS, LEFT = len(TIMES), 4

RAW = b"CANARY35"
"""Eight bytes, so that it is a text and a number of every kind."""

TEXT = RAW.decode() * 3
NUMBER = int.from_bytes(RAW, "little")
(FLOAT,) = struct.unpack("<d", RAW)


def texts(hidden: bool) -> list[Any]:
    return ["fine-fine-fine-fine", "ok", None, "ok", TEXT if hidden else "ok"]


def numbers(kind: pa.DataType, canary: Any = NUMBER, plain: Any = 1) -> pa.Array:
    return pa.array([plain, plain, plain, plain, canary], kind)


def offsets(kind: pa.DataType) -> pa.Array:
    return pa.array(range(ROWS + 1), kind)


CODED = pa.array(texts(True)).dictionary_encode()
TEXTS = pa.array(texts(True))
KEYS = pa.array([text or "" for text in texts(True)])
ARROW: dict[str, pa.Array] = {
    **{str(kind): pa.array(texts(True), kind) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    **{str(kind): TEXTS.cast(pa.binary()).cast(kind) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())},
    "bytes of one width": pa.array([b"12345678"] * LEFT + [RAW], pa.binary(8)),
    **{str(kind): numbers(kind) for kind in (pa.int64(), pa.uint64(), pa.timestamp("ns"), pa.duration("ns"))},
    "zoned": numbers(pa.timestamp("ns", "Asia/Tokyo")),
    "float64": numbers(pa.float64(), FLOAT, 1.0),
    "decimal128": numbers(pa.decimal128(38, 0), decimal.Decimal(NUMBER), decimal.Decimal(1)),
    "uuid": pa.array([b"0" * 16] * LEFT + [RAW * 2], pa.uuid()),
    "runs": pc.run_end_encode(KEYS),
    "dictionary": CODED,
    "dictionary of large texts": pa.array(texts(True), pa.large_string()).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(CODED.indices, CODED.dictionary.cast(pa.string_view())),
    "dictionary of numbers": numbers(pa.int64()).dictionary_encode(),
    "small ordered dictionary": pa.DictionaryArray.from_arrays(
        CODED.indices.cast(pa.int8()), CODED.dictionary, ordered=True
    ),
    "struct": pa.StructArray.from_arrays([TEXTS], ["a"]),
    "struct of a dictionary": pa.StructArray.from_arrays([CODED], ["a"]),
    "list of a dictionary": pa.ListArray.from_arrays(offsets(pa.int32()), CODED),
    "large list of a dictionary": pa.LargeListArray.from_arrays(offsets(pa.int64()), CODED),
    "list of views": pa.ListArray.from_arrays(offsets(pa.int32()), pa.array(texts(True), pa.string_view())),
    "fixed-size list of a dictionary": pa.FixedSizeListArray.from_arrays(CODED, 1),
    "map to a dictionary": pa.MapArray.from_arrays(offsets(pa.int32()), KEYS, CODED),
    "map from a dictionary": pa.MapArray.from_arrays(offsets(pa.int32()), KEYS.dictionary_encode(), KEYS),
    "deep": pa.StructArray.from_arrays(
        [pa.ListArray.from_arrays(offsets(pa.int32()), pa.StructArray.from_arrays([CODED], ["x"]))], ["a"]
    ),
}
REFUSED = {
    "list view": pa.ListViewArray.from_arrays(
        pa.array(range(ROWS), pa.int32()), pa.array([1] * ROWS, pa.int32()), TEXTS
    ),
    "runs in a struct": pa.StructArray.from_arrays([pc.run_end_encode(KEYS)], ["a"]),
}

WORDS = ["fine", "ok", "ok", "ok", TEXT]
PANDAS: dict[str, Any] = {
    **{
        f"arrow {name}": pd.arrays.ArrowExtensionArray(pa.chunked_array([held]))
        for name, held in ARROW.items()
        if "view" not in name and name != "runs"  # of which pandas itself takes no rows
    },
    "objects": np.array(WORDS, object),
    "categories": pd.Categorical(WORDS),
    "ordered categories": pd.Categorical(WORDS, categories=[TEXT, "ok", "fine", "never-" + TEXT], ordered=True),
    "categories of numbers": pd.Categorical([1, 2, 2, 2, NUMBER]),
    "categories of intervals": pd.Categorical(pd.arrays.IntervalArray.from_tuples([(0, 1)] * 4 + [(1, NUMBER)])),
    "categories with a name": pd.Categorical.from_codes([0] * ROWS, pd.Index(["ok"], name=TEXT)),
    **{kind: pd.array([1, 2, 2, 2, NUMBER], kind) for kind in ("int64", "Int64", "UInt64")},
    **{kind: pd.array([1.0, 2.0, 2.0, 2.0, FLOAT], kind) for kind in ("float64", "Float64")},
    **{kind: pd.array(WORDS, kind) for kind in ("string[python]", "string[pyarrow]", "str")},
    "times": pd.array([1, 2, 2, 2, NUMBER], "datetime64[ns]"),
    "zoned times": pd.array([1, 2, 2, 2, NUMBER], "datetime64[ns, Asia/Tokyo]"),
    "lengths": pd.array([1, 2, 2, 2, NUMBER], "timedelta64[ns]"),
    "periods": pd.PeriodIndex.from_ordinals([1, 2, 2, 2, 35_000], freq="D").array,
    "intervals": pd.arrays.IntervalArray.from_tuples([(0, 1)] * 4 + [(1, NUMBER)]),
    "sparse": pd.arrays.SparseArray([1, 2, 2, 2, NUMBER], fill_value=NUMBER),
}


def found(made: Any) -> bytes:
    """All that an object brings along: its pickle, what is written of it, and the memory that it lies in."""
    table = made if isinstance(made, pa.Table) else None
    if table is None:
        held = [made.iloc[:, at].array for at in range(made.shape[1])]
        arrays = [pa.chunked_array(pa.array(each)) for each in held if hasattr(each, "_pa_array")]
        return pickle.dumps(made) + repr(made.dtypes.tolist()).encode() + b"".join(map(memory, arrays))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return bytes(sink.getvalue().to_pybytes()) + pickle.dumps(table) + b"".join(map(memory, table.columns))


def memory(column: pa.ChunkedArray) -> bytes:
    raw = b""
    for chunk in column.chunks:
        raw += b"".join(each.to_pybytes() for each in chunk.buffers() if each is not None)
        if pa.types.is_dictionary(chunk.type):
            raw += memory(pa.chunked_array([chunk.dictionary]))
    return raw


def readings(held: Any) -> dict[str, Any]:
    return {"t": TIMES, "x": [1.0, 2.0, 3.0, 4.0, 5.0], "held": held}


def positions(held: Any) -> dict[str, Any]:
    return {"lat": [35.6] * ROWS, "lon": [139.7] * ROWS, "held": held}


@pytest.fixture(autouse=True)
def _no_warnings() -> None:
    warnings.simplefilter("ignore", UserWarning)


@pytest.mark.parametrize("name", ARROW)
def test_of_an_arrow_table(name: str) -> None:
    held = ARROW[name]
    assert RAW in found(pa.table({"held": held}))
    shown = held.slice(0, LEFT).to_pylist()
    made = SERIES.perturb(pa.table(readings(held)), time="t", value="x")
    assert made["held"].to_pylist() == shown
    assert RAW not in found(made)
    for part in (pa.table(positions(held)).slice(0, LEFT), pa.table(positions(held)).slice(1, LEFT - 1)):
        made = GEO.perturb(part, latitude="lat", longitude="lon")
        assert made["held"].to_pylist() == shown[-len(part) :]
        assert RAW not in found(made)
    reversed_ = bare(pa.table({"held": held}), np.array([2, 0]))
    assert reversed_["held"].to_pylist() == [shown[2], shown[0]]
    assert RAW not in found(reversed_)


def has_cells(kind: pa.DataType) -> bool:
    """Runs have no cells of their own that could be missing; what lies under a missing list is that of no list."""
    return not pa.types.is_run_end_encoded(kind) and (pa.types.is_struct(kind) or not pa.types.is_nested(kind))


@pytest.mark.parametrize("name", [name for name, held in ARROW.items() if has_cells(held.type)])
def test_under_a_missing_cell_of_arrow(name: str) -> None:
    held = ARROW[name]
    storage = held.storage if isinstance(held, pa.ExtensionArray) else held
    bits = pa.array([True] * LEFT + [False]).buffers()[1]
    children = [storage.field(k) for k in range(storage.type.num_fields)] if pa.types.is_struct(storage.type) else None
    if pa.types.is_dictionary(storage.type):
        indices = pc.if_else(pa.array(np.arange(ROWS) == LEFT), pa.scalar(None, storage.indices.type), storage.indices)
        masked = pa.DictionaryArray.from_arrays(indices, storage.dictionary)
    elif children is not None:
        masked = pa.StructArray.from_arrays(children, ["a"], mask=pa.array(np.arange(ROWS) == LEFT))
    else:
        masked = pa.Array.from_buffers(storage.type, ROWS, [bits, *storage.buffers()[1:]])
    made = GEO.perturb(pa.table(positions(masked)), latitude="lat", longitude="lon")
    assert made["held"].null_count >= 1
    assert RAW not in found(made)


@pytest.mark.parametrize("name", PANDAS)
def test_of_a_frame(name: str) -> None:
    whole = pd.DataFrame(readings(PANDAS[name]))
    if not name.endswith("periods"):
        assert RAW in found(whole)
    made = SERIES.perturb(whole, time="t", value="x")
    assert made["held"].tolist() == whole["held"].tolist()[:LEFT] or whole["held"][:LEFT].isna().any()
    assert RAW not in found(made)
    whole = pd.DataFrame(positions(PANDAS[name]))
    points = gpd.points_from_xy(whole["lon"], whole["lat"])
    for given, names in (
        (whole, {"latitude": "lat", "longitude": "lon"}),
        (gpd.GeoDataFrame(whole[["held"]], geometry=points, crs=4326), {}),
    ):
        made = GEO.perturb(given.iloc[:LEFT], **names)
        assert made["held"].isna().tolist() == given["held"][:LEFT].isna().tolist()
        assert RAW not in found(made)


@pytest.mark.parametrize("name", ["Int64", "UInt64", "Float64", "arrow int64", "string[pyarrow]", "categories", "str"])
def test_under_a_missing_cell_of_a_frame(name: str) -> None:
    frame = pd.DataFrame(positions(PANDAS[name].copy()))
    frame.loc[LEFT, "held"] = None
    made = GEO.perturb(frame, latitude="lat", longitude="lon")
    assert made["held"].isna().tolist() == [*frame["held"][:LEFT].isna(), True]
    assert RAW not in found(made)


@pytest.mark.parametrize("name", [name for name in PANDAS if name != "sparse"])
def test_of_an_index(name: str) -> None:
    """A level of several keeps what only other rows had; so does an index of categories."""
    label = pd.Index(PANDAS[name], name="who") if "arrow map" not in name else pd.Index(range(ROWS))
    try:
        several = pd.MultiIndex.from_arrays([label, range(ROWS)])
    except (TypeError, ValueError, NotImplementedError, pa.ArrowException):
        several = label  # of such values pandas makes no levels
    for index in (label, several):
        made = SERIES.perturb(pd.DataFrame(readings(1.0)).set_axis(index), time="t", value="x")
        assert made.index.names == index.names
        assert RAW not in found(made)


@pytest.mark.parametrize("labels", [["t", "x", TEXT], pd.CategoricalIndex(["t", "x", TEXT])])
def test_of_columns_that_were_left_out(labels: Any) -> None:
    frame = pd.DataFrame({"t": TIMES, "x": 1.0, "held": 2.0}).set_axis(labels, axis=1)
    assert RAW not in found(SERIES.perturb(frame.iloc[:, :2], time="t", value="x"))
    several = frame.set_axis(pd.MultiIndex.from_arrays([labels, ["a"] * 3]), axis=1).iloc[:, :2]
    several.columns.names = [TEXT, None]
    assert RAW not in found(SERIES.perturb(several, time="('t', 'a')", value="('x', 'a')"))


class Held(pd.DataFrame):
    """A frame of a caller's own class, with more than columns."""

    _metadata = ["region"]  # noqa: RUF012

    @property
    def _constructor(self) -> type[Held]:
        return Held


class HeldPoints(gpd.GeoDataFrame):  # type: ignore[misc]
    _metadata = [*gpd.GeoDataFrame._metadata, "region"]  # noqa: RUF012


def test_of_a_class_of_the_callers_own() -> None:
    for kind, names in ((Held, {"latitude": "lat", "longitude": "lon"}), (HeldPoints, {})):
        frame = kind(positions(1.0))
        if not names:
            frame = frame.drop(columns=["lat", "lon"]).set_geometry(
                gpd.points_from_xy([139.7] * 5, [35.6] * 5), crs=4326
            )
        frame.attrs["bounds"], frame.columns.name = TEXT, TEXT
        object.__setattr__(frame, "region", TEXT)
        made = GEO.perturb(frame, **names)
        assert type(made) in {pd.DataFrame, gpd.GeoDataFrame}
        assert RAW not in found(made)


def test_an_array_of_somebody_elses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pd.PeriodDtype, "__module__", "somebody.arrays")
    with pytest.raises(DataError, match="The column 'held': types of its kind may hold what no row shows"):
        bare_frame(pd.DataFrame({"held": PANDAS["periods"]}))


@pytest.mark.parametrize("name", REFUSED)
def test_where_it_is_not_known_what_is_left(name: str) -> None:
    with pytest.raises(DataError, match="The column 'held': types of its kind may hold what no row shows"):
        SERIES.perturb(pa.table(readings(REFUSED[name])), time="t", value="x")


# ---- files

SERIES_SPEC = """
[perturb]
kind = "series"
[data]
table = "a.parquet"
time = "t"
value = "x"
meter = "m"
unit = "kW"
[time]
start = 2026-03-28T00:00:00
end = 2026-03-29T00:00:00
every = "6 h"
[values]
lower = "0 kW"
upper = "8 kW"
step = "1 W"
[protect]
between = "maximum"
within = "100 W"
factor = "2"
window = 4
"""
LOCATION_SPEC = """
[perturb]
kind = "location"
[data]
table = "a.parquet"
latitude = "lat"
longitude = "lon"
[box]
west = 139.5
south = 35.5
east = 140.0
north = 35.9
[protect]
within = "200 m"
factor = "2"
"""


def run(spec: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    Path("s.toml").write_text(spec)
    monkeypatch.setattr("sys.argv", ["leeward", "perturb", "s.toml", "--out", "b.parquet"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    return Path("b.parquet").read_bytes()


@pytest.mark.parametrize("by", ["pandas", "arrow"])
@pytest.mark.parametrize(("spec", "geo"), [("series", False), ("location", False), ("location", True)])
def test_of_a_file(spec: str, by: str, geo: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if by == "pandas":
        kept = {name: held for name, held in PANDAS.items() if not name.startswith("arrow") and "intervals" not in name}
        columns: dict[str, Any] = {name: held for name, held in kept.items() if name not in {"sparse", "periods"}}
    else:
        columns = {name: held for name, held in ARROW.items() if name not in {"runs", "dictionary of views"}}
    meters = ["mia"] * LEFT + [TEXT]
    coded = pd.Categorical(meters) if by == "pandas" else pa.array(meters).dictionary_encode()
    first: dict[str, Any] = {"m": coded, "t": TIMES, "x": 1.5}
    if spec == "location":
        first = {"m": coded} if geo else {"m": coded, "lat": 35.6, "lon": 139.7}
    if by == "arrow":
        first = {name: pa.array([held] * ROWS) if isinstance(held, float) else held for name, held in first.items()}
        table = pa.table(first | columns)
    else:
        frame = pd.DataFrame(first | columns)
        table = pa.Table.from_pandas(frame, preserve_index=False)
    if spec == "location":
        table = table.slice(0, LEFT)
    if geo:
        points = gpd.GeoSeries.from_xy([139.7] * LEFT, [35.6] * LEFT, crs=4326).to_wkb()
        meta = b'{"primary_column": "g", "columns": {"g": {"encoding": "WKB", "geometry_types": ["Point"]}}}'
        table = table.append_column("g", pa.array(points, pa.binary())).replace_schema_metadata({b"geo": meta})
    pq.write_table(table, "a.parquet")
    assert RAW in Path("a.parquet").read_bytes()
    text = SERIES_SPEC if spec == "series" else LOCATION_SPEC
    text = text.replace('latitude = "lat"\nlongitude = "lon"\n', "") if geo else text
    assert RAW not in run(text, monkeypatch)
    written, read = pq.read_table("b.parquet"), pq.read_table("a.parquet").slice(0, LEFT)
    for name in columns:
        assert written[name].to_pylist() == read[name].to_pylist()
    assert pa.types.is_dictionary(written.schema.field("m").type)
