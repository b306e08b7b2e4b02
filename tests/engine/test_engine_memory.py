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
                    assert "cannot be exported" in str(refused)  # noqa: PT017
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
