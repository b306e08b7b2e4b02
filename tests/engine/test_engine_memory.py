"""Tables in memory: a column of Python objects has values of one kind, or is refused; no value is converted in silence.

The grid is complete: every ordered pair of kinds of value, as two rows of one column of objects. The oracle is Python
itself: what is read back equals what was given.
"""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.tables._frames import PandasFrame, told_in_full
from leeward.tables._memory import arrow_table

JST = dt.timezone(dt.timedelta(hours=9))
NOON = dt.datetime(2024, 3, 1, 12)
MISSING = {"None": None, "NaN": float("nan"), "NaT": pd.NaT, "NA": pd.NA}
FAMILIES: dict[str, list[Any]] = {
    "texts": ["a", np.str_("b")],
    "truth values": [True, np.bool_(False)],
    "whole numbers": [3, np.int8(4), np.uint64(5)],
    "floats": [2.5, 3.0, np.float32(0.5)],
    "decimals": [Decimal("1.5"), Decimal(2)],
    "bytes": [b"a"],
    "dates": [dt.date(2024, 3, 1)],
    "times without an offset": [NOON, pd.Timestamp("2024-03-01T12:30")],
    "times with an offset": [
        NOON.replace(tzinfo=dt.UTC),
        NOON.replace(tzinfo=JST),
        pd.Timestamp(NOON, tz="Asia/Tokyo"),
    ],
    "times of day": [dt.time(12)],
    "lengths of time": [dt.timedelta(hours=1)],
}
REFUSED: list[Any] = [np.datetime64("2024-03-01T12"), [1], {"a": 1}, (1, 2), object(), 1j]


def frame(*values: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.Series(values, dtype=object), "y": 0})


def read(source: Any) -> list[Any]:
    return list(arrow_table(source, {"person": "x"})["x"].to_pylist())


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")  # asked for by Ibis
@pytest.mark.parametrize("shape", ["frame", "memtable", "derived", "categories"])
def test_every_pair_of_kinds_is_read_as_it_is_or_refused(shape: str) -> None:
    def ask(first: Any, second: Any) -> list[Any]:
        made = frame(first, second)
        if shape == "categories":
            made["x"] = pd.Categorical(made["x"])
        return read(
            {"memtable": ibis.memtable, "derived": lambda f: ibis.memtable(f).filter(True)}.get(shape, lambda f: f)(
                made
            )
        )

    answered = 0
    families = FAMILIES if shape == "frame" else {name: values[:1] for name, values in FAMILIES.items()}
    for (a, firsts), (b, seconds) in itertools.product(families.items(), repeat=2):
        for first, second in itertools.product(firsts, seconds):
            if (
                a == b
            ):  # a library may refuse what it cannot hold, such as a difference of widths, but nothing is changed
                try:
                    assert ask(first, second) == [first, second]
                    answered += 1
                except DataError as refused:
                    by_type = {"times of day": "type TIME_NS", "lengths of time": "type INTERVAL"}
                    told = by_type.get(a, "") if shape in ("memtable", "derived") else "cannot be exported"
                    assert told in str(refused)  # noqa: PT017
                    assert told
            elif shape == "categories" and pd.Categorical([first, second]).categories.dtype != object:
                continue  # pandas found a common type of its own before we are asked
            else:
                with pytest.raises(DataError) as refused:
                    ask(first, second)
                assert "The column 'x' holds" in str(refused.value)
                assert a in str(refused.value)
                assert b in str(refused.value)
    assert answered >= (25 if shape == "frame" else 7)


@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_a_missing_value_has_no_kind(missing: Any) -> None:
    for values in FAMILIES.values():
        assert read(frame(missing, values[0], missing)) == [None, values[0], None] or values[0] == 2.5
        if not isinstance(values[0], dt.timedelta):  # which the engine does not tell apart from months
            with bind(frame(missing, values[0]), {"person": "x"}) as bound:
                assert bound.fetch(bound.rows).num_rows == 2
    with bind(frame(missing, missing), {"person": "x"}) as bound:
        assert bound.rows.x.type().is_null()


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_what_is_no_value_of_a_table_is_refused(value: Any) -> None:
    for made in (frame(value, None), frame("a", value)):
        with pytest.raises(DataError, match=r"The column 'x' (holds|cannot)"):
            read(made)


def test_only_the_columns_that_are_read_are_looked_at() -> None:
    made = frame("a", "b")
    made["z"] = [1, "SECRET"]
    assert read(made) == ["a", "b"]


LIBRARIES = ["Arrow", "record batch", "pandas", "Polars", "Ibis", "DuckDB relation", "DuckDB table"]


def other_libraries() -> dict[str, Any]:
    data = pa.table({"x": ["a", "b"], 'o"dd': [1, 2]})
    theirs = duckdb.connect()
    theirs.register("data", data)
    return {
        "Arrow": data,
        "record batch": data.to_batches()[0],
        "pandas": data.to_pandas(),
        "Polars": pl.from_arrow(data),
        "Ibis": ibis.memtable(data),
        "DuckDB relation": theirs.sql("SELECT * FROM data"),
        "DuckDB table": theirs.table("data"),
    }


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_s_table_is_read(library: str) -> None:
    made = arrow_table(other_libraries()[library], {"person": 'o"dd', "place": "x"})
    assert made.to_pydict() == {'o"dd': [1, 2], "x": ["a", "b"]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_s_lack_of_a_column_is_told_as_that(library: str) -> None:
    with pytest.raises(DataError, match=r"there is no column of that name. Did you mean 'x'"):
        arrow_table(other_libraries()[library], {"person": "xx"})


def test_a_failure_of_another_library_is_told_without_its_words() -> None:
    class Strange:
        columns = ("x",)

        def __arrow_c_stream__(self, _: object = None) -> object:
            raise ValueError("SECRET")

        def __getitem__(self, _: object) -> Strange:
            return self

    with pytest.raises(DataError) as refused:
        read(Strange())
    assert "SECRET" not in str(refused.value)
    assert "several types" not in str(refused.value)
    assert "The Strange given as a table" in str(refused.value)
    assert refused.value.__cause__ is refused.value.__context__ is None


@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal256(50, 2)])
def test_a_type_of_arrow_that_the_engine_does_not_read_is_named(kind: pa.DataType) -> None:
    made = pa.table({"y": ["a"], "x": pa.nulls(1, kind)})
    with pytest.raises(DataError, match="column 'x' is of the Arrow type"), bind(made, {"person": "x", "place": "y"}):
        pass


NATIVE = {
    "TIME WITH TIME ZONE": "'12:00:00+01'",
    "JSON": """'{"a": 1}'""",
    "BIT": "'0101'",
    "UHUGEINT": "1",
    "INTERVAL": "'1 month'",
    "TIME_NS": "'12:00:00'",
}


ASKS_FOR_SCHEMAS = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis does


@ASKS_FOR_SCHEMAS
@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("library", ["DuckDB relation", "Ibis"])
def test_a_type_of_duckdb_that_is_not_listed_is_told_by_its_own_name(library: str, kind: str) -> None:
    """As Arrow, some of these are of a type that is listed: a time of day without its offset, JSON as text."""
    theirs = ibis.duckdb.connect()
    theirs.con.execute(f"CREATE TABLE t AS SELECT CAST({NATIVE[kind]} AS {kind}) AS x, 7 AS y")
    source = theirs.table("t") if library == "Ibis" else theirs.con.table("t")
    with pytest.raises(DataError, match=f"holds values of the type {kind}"):
        read(source)
    assert arrow_table(source, {"person": "y"})["y"].to_pylist() == [7]


@ASKS_FOR_SCHEMAS
def test_a_zone_that_ibis_does_not_reckon_with_is_not_lost() -> None:
    """Ibis takes a time that is cut to hours for one without a zone, and would have it as a reading in UTC."""
    nine = dt.datetime(2024, 3, 1, 9, 40, tzinfo=JST)
    of_duckdb, of_polars = ibis.duckdb.connect(), ibis.polars.connect()
    of_duckdb.con.execute(f"CREATE TABLE t AS SELECT TIMESTAMPTZ '{nine.isoformat()}' AS at")
    of_polars.create_table(
        "t", pl.DataFrame({"at": [nine]}).with_columns(pl.col("at").dt.convert_time_zone("Asia/Tokyo"))
    )
    for backend in (of_duckdb, of_polars):
        table = backend.table("t")
        assert read(table.select(x=table.at)) == [nine]
        assert read(table.select(x=table.at.truncate("h"))) == [nine.replace(minute=0)]
    table = of_duckdb.table("t")
    assert read(table.select(x=ibis.coalesce(table.at, ibis.now()))) == [nine]


def test_a_sum_of_whole_numbers_in_ibis_is_whole() -> None:
    table = ibis.memtable(pa.table({"n": [2**62, 2**62 - 1]}))
    summed = arrow_table(table.aggregate(x=table.n.sum()), {"person": "x"})["x"]
    assert (summed.type, summed.to_pylist()) == (pa.int64(), [2**63 - 1])
    more = table.aggregate(x=table.n.sum() + 1)
    with pytest.raises(DataError, match=r"failed|cannot be exported"):
        read(more)


def _laid(kind: pa.DataType, values: list[int], width: int) -> pa.Array:
    """Values as they lie in memory, whether the type has them or not."""
    return pa.Array.from_buffers(
        kind, len(values), [None, pa.py_buffer(b"".join(v.to_bytes(width, "little", signed=True) for v in values))]
    )


_LATIN = pa.Array.from_buffers(pa.string(), 1, [*pa.array(["ab"]).buffers()[:2], pa.py_buffer(b"\xff\xff")])


@pytest.mark.parametrize(
    "column",
    [
        _laid(pa.decimal128(4, 0), [5, 5 + 2**16, 7], 16),
        _laid(pa.decimal128(38, 2), [5, 10**38, 7], 16),
        _laid(pa.decimal64(9, 0), [5, 5 + 2**32, 7], 8),
        _laid(pa.time32("s"), [0, 86_400, 7], 4),
        _laid(pa.time64("us"), [0, -1, 7], 8),
        pa.DictionaryArray.from_arrays(pa.array([0, 7, 1], pa.int8()), pa.array(["a", "b"]), safe=False),
        pa.DictionaryArray.from_arrays(pa.array([0, -1, 1], pa.int8()), pa.array(["a", "b"]), safe=False),
        pa.chunked_array([["a"], _LATIN]),
    ],
    ids=lambda column: str(column.type)[:20],
)  # fmt: skip
def test_what_a_type_of_arrow_does_not_have_is_refused_and_not_read(column: Any) -> None:
    """DuckDB reads whatever lies beside it in memory, another value for it, or ends the process."""
    for table in (
        made := pa.table({"x": column, "y": [1, 2, 3][: len(column)]}),
        made.combine_chunks().to_batches()[0],
    ):
        with pytest.raises(DataError, match="The column 'x' is damaged"):
            read(table)
        assert arrow_table(table, {"person": "y"}).num_rows == len(column)


def test_categories_that_are_times_keep_their_zone() -> None:
    """Arrow is told of them as times: by pandas before 3, nothing of the zone of categories. Any version fails without."""
    zoned = [dt.datetime(2024, 3, 1, hour, tzinfo=JST) for hour in (9, 9, 12)]
    times = pd.Series(pd.Categorical(pd.to_datetime(zoned)))
    assert isinstance(told_in_full(times.to_frame("x")).dtypes["x"], pd.DatetimeTZDtype)
    table = arrow_table(pd.DataFrame({"x": times, "y": pd.Categorical(["a", "b", "a"])}), {"time": "x", "group": "y"})
    assert table["x"].to_pylist() == zoned
    assert pa.types.is_timestamp(table["x"].type)
    assert pa.types.is_dictionary(table["y"].type)
    assert PandasFrame(pd.DataFrame({"x": times})).arrow(["x"])["x"].to_pylist() == zoned


def test_who_gives_a_lazy_frame_is_told_how_it_becomes_a_table() -> None:
    lazy = pl.DataFrame({"who": ["a"]}).lazy()
    with pytest.raises(DataError, match=r"of a LazyFrame what its collect\(\) returns"), bind(lazy, {"person": "who"}):
        pass
