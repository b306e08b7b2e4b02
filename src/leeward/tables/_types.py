# SPDX-License-Identifier: Apache-2.0
"""The types of columns that are read: one list for all kinds of sources; what is not in it is refused by name.

Two values that are written in two ways must be two, and one value one, whatever a source is stored as. So a type is listed
only if values differ for the engine exactly where they differ for their users. Not listed are, for example, intervals (a
month, 30 days and 720 hours are one to the engine), times of day with an offset, JSON, and whatever later versions of a
library add.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from leeward.errors import DataError

_READ = re.compile(
    r"""BOOLEAN|U?(TINY|SMALL|BIG)INT|HUGEINT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|ENUM\(.*\)|UUID|BLOB|DATE|TIME
    |TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP\ WITH\ TIME\ ZONE|TIMESTAMPTZ_NS|"?NULL"?""",
    re.VERBOSE | re.DOTALL,
)
"""Names of DuckDB's types."""

_AS_THEY_ARE = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_decimal32,
    pa.types.is_decimal64,
    pa.types.is_decimal128,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_date32,
    pa.types.is_time,
    pa.types.is_timestamp,
)
"""Types of Arrow that the engine reads as what they are."""

_REASONS: tuple[tuple[Any, str, str], ...] = (
    (pa.types.is_date64, "its times of day would be cut to midnight", "Cast it to timestamp('ms'), or to date32"),
    (
        pa.types.is_fixed_size_binary,
        "bytes of the width of an address are how Polars hands on Python objects: one value is then several",
        "Convert the column to text before it leaves Polars, or to bytes of any length",
    ),
)


def check_arrow(data: pa.Table) -> pa.Table:
    """Refuse a table in memory with a column whose type the engine does not read, or reads as something else.

    Returns:
        the table.

    Raises:
        DataError: naming the column and its type; or a time lies beyond what the engine reckons with.
    """
    for name, kind in zip(data.column_names, data.schema.types, strict=True):
        if not _is_read(kind):
            because, instead = next(
                ((because, instead) for is_it, because, instead in _REASONS if is_it(_plain(kind))),
                ("the engine does not read it as what it is", "Convert the column, to text say"),
            )
            raise DataError(f"The column '{name}' is of the Arrow type {kind}", because, instead)
        if pa.types.is_timestamp(kind) and kind.unit in {"s", "ms"} and not _within(data.column(name), kind):
            raise DataError(
                f"The column '{name}' holds a time beyond the year 292,000",
                f"as {kind} it can be written, but not reckoned with (that it is refused is a fact about the data: do not"
                " publish it)",
                "Make such times missing before, or leave their rows out",
            )
    return data


def check_engine_types(columns: Mapping[str, str], types: Mapping[str, Any]) -> None:
    """Refuse a column that is read, of any kind of source, whose type in the engine is not listed.

    Raises:
        DataError: naming the column and its type.
    """
    for role, name in columns.items():
        if not _READ.fullmatch(kind := str(types[name])):
            shown = f"values of the type {kind.partition('(')[0]}"  # what a nested type holds may be names of columns
            raise DataError(
                f"{role} = '{name}'",
                f"it holds {shown}, which are not single values whose equality is certain",
                "Name another column, or write this one as text",
            )


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values, however they are laid out."""
    return kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) else kind


def _is_read(kind: pa.DataType) -> bool:
    kind = _plain(kind)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.extension_name in {"arrow.uuid", "arrow.bool8"}
    if pa.types.is_nested(kind):
        return True  # the engine knows their types, and `check_engine_types` refuses these for any source
    if pa.types.is_fixed_size_binary(kind):
        return bool(kind.byte_width != 8)
    return any(is_it(kind) for is_it in _AS_THEY_ARE)


def _within(times: pa.ChunkedArray, kind: pa.TimestampType) -> bool:
    try:
        times.cast(pa.timestamp("us", kind.tz))
    except pa.ArrowException:
        return False
    return True
