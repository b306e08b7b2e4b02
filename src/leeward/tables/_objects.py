# SPDX-License-Identifier: Apache-2.0
"""Columns of Python objects, in which every value is of one kind, or which are refused.

Such a column has no type of its own, and what a library makes of it is a conversion in silence: of a mixture (a date first,
and times are cut to days), or of anything at all (addresses in memory, so that one id is as many people as it has rows). So
the frames behind a source are found, whatever they are wrapped in, and their values are looked at.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import sys
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from leeward.errors import DataError


def native(source: Any) -> Any:
    """The table itself, taken out of a wrapper that hands on what other libraries hold (Narwhals)."""
    while callable(getattr(type(source), "to_native", None)):  # of the type: an Ibis table takes any name for a column
        source = source.to_native()
    return source


def check_objects(source: Any, names: Sequence[str]) -> None:
    """Refuse a source of which a named column holds Python objects of several kinds, or of kinds that nobody looked at.

    Raises:
        DataError: naming the column and what it holds.
    """
    pandas = sys.modules.get("pandas")  # nobody has a frame of a library that was never imported
    for frame in _held(source):
        if pandas is not None and isinstance(frame, pandas.DataFrame):
            _check_values(frame, [name for name in names if name in frame.columns])
        elif isinstance(frame, pa.Table | pa.RecordBatch):
            _check_origin(frame, names)
        elif hasattr(frame, "__getitem__"):
            _check_dtypes(frame, [name for name in names if name in getattr(frame, "columns", ())])


def of_objects(source: Any, names: Sequence[str]) -> frozenset[str]:
    """Return the named columns of Python objects: of what type one is, its values decide, and without any it has none."""
    pandas = sys.modules.get("pandas")
    frames = [frame for frame in _held(native(source)) if pandas is not None and isinstance(frame, pandas.DataFrame)]
    kinds = [(name, frame[name].dtype) for frame in frames for name in names if name in frame.columns]
    inner = [(name, kind.categories.dtype if hasattr(kind, "categories") else kind) for name, kind in kinds]
    return frozenset(name for name, kind in inner if str(kind) == "object")


def _held(source: Any) -> Iterator[Any]:
    """The tables in memory that a source is, or is made of."""
    ops, op = sys.modules.get("ibis.expr.operations"), getattr(source, "op", None)
    if ops is None or not callable(op) or not isinstance(node := op(), ops.Node):
        if type(source).__name__ != "DuckDBPyRelation":  # a query, of which no column is asked for alone
            yield source
        return
    for table in node.find(ops.InMemoryTable):
        if (held := getattr(table.data, "obj", None)) is not None:
            yield native(held)


def _check_values(frame: Any, names: Sequence[str]) -> None:
    for name in names:
        values = frame[name]
        if hasattr(values.dtype, "categories"):
            values = values.dtype.categories
        if values.dtype != object:
            continue
        kinds = {_kind_of(value) for value in values} - {""}
        if unknown := sorted(kind for kind in kinds if kind.startswith("objects of")):
            raise DataError(
                f"The column '{name}' holds {unknown[0]}", "that is not a type of a table", "Convert it before"
            )
        if len(kinds) > 1:
            raise DataError(
                f"The column '{name}' holds {' and '.join(sorted(kinds))}",
                "one table has one type for each column, and a conversion would change values in silence",
                "Convert the column to one type",
            )


def _check_origin(table: pa.Table | pa.RecordBatch, names: Sequence[str]) -> None:
    """Refuse a column that Arrow itself made of Python objects in a pandas frame; it keeps note of where it is from."""
    try:
        columns = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}")).get("columns", [])
        objects = {each["name"] for each in columns if each["numpy_type"] == "object"}
    except (ValueError, AttributeError, KeyError, TypeError):  # a note of somebody else's, which says nothing
        return
    for name in names:
        if name not in objects or name not in table.schema.names:
            continue
        kind = table.schema.field(name).type
        if not (pa.types.is_null(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise DataError(
                f"The column '{name}' is of the Arrow type {kind}, which was made of Python objects in a pandas frame",
                "of values of several kinds one type is made in silence: after a date, times are cut to days",
                "Give the DataFrame itself: then its values are looked at; or give its column one type before",
            )


def _check_dtypes(frame: Any, names: Sequence[str]) -> None:
    for name in names:
        if str(getattr(frame[name], "dtype", "")).lower() == "object":
            raise DataError(
                f"The column '{name}' holds Python objects",
                f"how {type(frame).__module__.partition('.')[0]} hands them on is not a value: perhaps an address in memory",
                "Give the column a type, such as text: of UUIDs, str(each)",
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
