"""Tables in memory as Arrow: DataFrames, Arrow and Ibis tables, DuckDB relations.

A column of Python objects has no type of its own, and what Arrow makes of a mixture is a conversion in silence (a date
first, and times are cut to days), so such columns must hold values of one kind.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import sys
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import ibis.expr.operations as ops
import numpy as np
import pyarrow as pa

from leeward.engine.schema import check_columns
from leeward.errors import DataError


def arrow_table(source: Any, columns: Mapping[str, str]) -> pa.Table:
    """Return the named columns of anything that exports Arrow's C stream (pandas, Polars, Arrow, Ibis, DuckDB).

    Raises:
        DataError: it is no table, lacks a column, or a column holds values of several kinds.
    """
    if isinstance(source, pa.RecordBatchReader):
        raise DataError(
            "The source is a stream of record batches",
            "it can be read once, and every later question would find it empty",
            "Give the whole table: stream.read_all()",
        )
    known = _names(source)
    if known is None or not hasattr(source, "__arrow_c_stream__"):
        raise DataError(
            f"The source is of type {type(source).__name__}",
            "it is no table",
            "Give a path, a DataFrame, an Arrow table or an Ibis table",
        )
    check_columns(columns, known)
    names = list(dict.fromkeys(columns.values()))
    for frame in _frames(source):
        _check_objects(frame, [name for name in names if name in frame.columns])
    try:
        return pa.table(_selected(source, names)).select(names)
    except Exception:  # any library may stand behind the source, and its message may hold a data value
        listed = ", ".join(f"'{name}'" for name in names)
    raise DataError(
        f"The {type(source).__name__} given as a table",
        f"its columns {listed} cannot be exported to Arrow",
        "Give each column one type that Arrow knows; an Arrow table is read as it is",
    )


def _names(source: Any) -> list[Any] | None:
    if isinstance(source, pa.Table | pa.RecordBatch):
        return list(source.schema.names)
    known = getattr(source, "columns", None)
    return None if known is None else list(known)


def _selected(source: Any, names: list[str]) -> Any:
    """The columns alone where the library can take them out cheaply, else the whole table."""
    if isinstance(source, pa.Table | pa.RecordBatch):
        return source.select(names)
    if type(source).__name__ == "DuckDBPyRelation":
        return source
    return source[names]


def _frames(source: Any) -> Iterable[Any]:
    """The pandas frames whose values the source holds, if it is one or is made of them."""
    pandas = sys.modules.get("pandas")  # nobody has a frame of a library that was never imported
    if pandas is None:
        return []
    if isinstance(source, pandas.DataFrame):
        return [source]
    op = getattr(source, "op", None)
    if not callable(op) or not isinstance(node := op(), ops.Node):
        return []
    held = (getattr(table.data, "obj", None) for table in node.find(ops.InMemoryTable))
    return [frame for frame in held if isinstance(frame, pandas.DataFrame)]


def _check_objects(frame: Any, names: Iterable[str]) -> None:
    for name in names:
        values = frame[name]
        if hasattr(values.dtype, "categories"):
            values = values.dtype.categories
        if values.dtype != object:
            continue
        kinds = {_kind_of(value) for value in values} - {""}
        if unknown := sorted(kind for kind in kinds if kind.startswith("objects of")):
            raise DataError(
                f"The column '{name}' holds {unknown[0]}", "that is no type of a table", "Convert it before"
            )
        if len(kinds) > 1:
            raise DataError(
                f"The column '{name}' holds {' and '.join(sorted(kinds))}",
                "one table has one type for each column, and a conversion would change values in silence",
                "Convert the column to one type",
            )


_KINDS: tuple[tuple[Any, str], ...] = (
    (str, "texts"),
    (bool | np.bool_, "truth values"),
    (int | np.integer, "whole numbers"),
    (float | np.floating, "floats"),
    (decimal.Decimal, "decimals"),
    (bytes, "bytes"),
    (dt.date, "dates"),
    (dt.time, "times of day"),
    (dt.timedelta, "lengths of time"),
    (uuid.UUID, "UUIDs"),
)


def _kind_of(value: Any) -> str:
    """The kind of a Python value, in the plural; empty where it is missing."""
    if value is None or type(value).__name__ in {"NaTType", "NAType"}:
        return ""
    if isinstance(value, float | np.floating) and math.isnan(value):
        return ""
    if isinstance(value, dt.datetime):  # a date too, so it is asked first
        return "times without an offset" if value.utcoffset() is None else "times with an offset"
    return next((name for kind, name in _KINDS if isinstance(value, kind)), f"objects of {type(value).__name__}")
