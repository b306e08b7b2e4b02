# SPDX-License-Identifier: Apache-2.0
"""Parquet: what a file declares in its footer, and whether its pages are what they say."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from leeward.errors import DataError
from leeward.tables._files import File, once

Schema = tuple[tuple[str, str], ...]
"""The columns of a file, in its order: names and types; a name may occur twice."""

_INT96 = "timestamp[int96]"
_UNSAID = ", perhaps UTC]"
"""How the type of times ends that have none but Parquet's old "converted" type: by the standard they are instants, and
DuckDB takes them for readings of a clock, as some that write them do."""

_PLAIN = {
    "BOOLEAN": "bool",
    "INT32": "int32",
    "INT64": "int64",
    "INT96": _INT96,
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "BYTE_ARRAY": "bytes",
}
"""What Parquet's physical types are without a logical one."""

NOTED = "Arrow's "
"""What a type begins with that Parquet does not have, and only Arrow's own note in the file says."""

_AS_STORED = {b"arrow.uuid"}
"""Types of Arrow's extensions that Parquet has too, and the engine reads as what they are."""

_WRITTEN_BY, _FIRST, _LEGACY = b"org.apache.spark.version", b"3.0.0", b"org.apache.spark.legacyDateTime"
"""Spark's notes: its version, of which the first to count days as Parquet does, and that it was told not to."""

_SHORT = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


def check_bound(columns: Mapping[str, str], file: File, engine: Sequence[str]) -> None:
    """Refuse a named column of a Parquet file in whose place the engine would read another.

    The engine makes names unique, by itself and without regard to case: of ``User, user, user_1`` it calls the second
    ``user_1``. So a name is read only where it is the engine's own name of just the column that has it in the file.

    Args:
        columns: what each column is for and its name; each is once in the file.
        file: the Parquet file.
        engine: what the engine calls its columns, in their order.

    Raises:
        DataError: naming the first such column.
    """
    names = [name for name, _ in declared(file)]
    for key, name in columns.items():
        alike = [at for at, own in enumerate(engine) if own.lower() == name.lower()]
        if len(engine) != len(names) or alike != [names.index(name)]:
            raise DataError(
                f"{key} = '{name}'",
                f"other columns of the file '{file.name}' have names that are empty, or equal but for upper and lower case;"
                f" the engine that reads it (DuckDB) gives them names of its own, of which '{name}' is one",
                "Rename those columns, so that all names of the file differ",
            )


@once
def declared(file: File) -> Schema:
    """Read the columns and declared types of a Parquet file from its footer.

    Arrow notes there what Parquet has no type for, such as lengths of time, which are stored as whole numbers in a unit
    that only this note says. The engine knows nothing of it; here it is part of the type.

    Raises:
        DataError: it is not a Parquet file.
    """
    try:
        footer = pq.read_metadata(file.path)
        found = footer.schema
        top = found.to_arrow_schema()
        noted = _note(footer.metadata) or top
        if noted.names != top.names:
            raise ValueError
    except (pa.ArrowException, OSError, ValueError):  # the last for names of columns, and the note of Arrow's
        raise DataError(
            f"The file '{file.name}' cannot be read", "it is damaged, or is not a Parquet file", "Check the file"
        ) from None
    at, schema = 0, list[tuple[str, str]]()
    for field, of_arrow in zip(top, noted, strict=True):
        stored = str(field.type) if pa.types.is_nested(field.type) else _type(found.column(at))
        schema.append((field.name, _noted(of_arrow) or stored))
        at += _leaves(field.type)
    return tuple(schema)


def open_times(file: File) -> frozenset[str]:
    """Return the columns of times of which the file does not say whether they are instants or readings of a clock.

    They have the type INT96, in which Spark stores instants and others readings, or one from before there were two.
    """
    return frozenset(name for name, kind in declared(file) if kind == _INT96 or kind.endswith(_UNSAID))


@once
def is_of_old_calendar(file: File) -> bool:
    """Whether a Spark wrote a file whose days before 1582, and times before 1900, are in a calendar that Parquet has not.

    Spark 2 did, and later ones do if they are told to. They note it, and each Spark moves such days when it reads them,
    whatever its settings say; all others take the numbers that are stored, as Parquet means them.
    """
    noted = pq.read_metadata(file.path).metadata or {}
    return noted.get(_WRITTEN_BY, _FIRST) < _FIRST or _LEGACY in noted


def _note(metadata: Mapping[bytes, bytes] | None) -> pa.Schema | None:
    """Read what Arrow notes of all columns. It is not what pyarrow makes of a file, where some of it is lost."""
    note = (metadata or {}).get(b"ARROW:schema")
    return None if note is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(note)))


def _noted(field: pa.Field) -> str | None:
    """Write the type that Arrow notes of a column, where the values are not what Parquet stores; else None."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_duration(kind):
        return f"{NOTED}{kind}"
    # where no type of that name is known to Arrow, it hands on its name beside the column
    noted = (field.metadata or {}).get(b"ARROW:extension:name")
    if isinstance(kind, pa.BaseExtensionType):
        noted = kind.extension_name.encode()
    return None if noted is None or noted in _AS_STORED else f"{NOTED}{noted.decode('utf-8', 'replace')}"


def _type(column: Any) -> str:
    """Write the type of a Parquet column that is not a nest of columns."""
    logical = json.loads(column.logical_type.to_json())
    kind = logical["Type"]
    if kind == "None":
        return _PLAIN.get(column.physical_type, f"bytes[{column.length}]")
    if kind == "Int":
        return f"{'int' if logical['isSigned'] else 'uint'}{logical['bitWidth']}"
    if kind == "Decimal":
        return f"decimal({logical['precision']}, {logical['scale']})"
    if kind in {"Timestamp", "Time"}:
        unit = _SHORT.get(logical["timeUnit"], logical["timeUnit"])
        if kind == "Timestamp" and logical.get("is_from_converted_type"):
            return f"timestamp[{unit}{_UNSAID}"
        return f"{kind.lower()}[{unit}{', UTC' if logical['isAdjustedToUTC'] else ''}]"
    return "text" if kind == "String" else str(kind).lower()


def _leaves(kind: pa.DataType) -> int:
    """Return how many columns of Parquet a column of Arrow is made of."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields)) if pa.types.is_nested(kind) else 1


def in_pieces(path: str) -> pq.ParquetFile:
    """Open a Parquet file to be read piece by piece, its checksums with it.

    Unless told otherwise, pyarrow reads ahead: the whole file, whatever is asked for, and holds it until the file is closed.
    """
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True)


def _said_empty(footer: pq.FileMetaData, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """The groups of rows in which, as the footer says, a column has no value at all."""
    for group in range(footer.num_row_groups):
        for at in range(footer.num_columns):
            column = footer.row_group(group).column(at)
            said = column.statistics if column.path_in_schema in names and column.is_stats_set else None
            if said is not None and said.has_null_count and said.null_count >= column.num_values:
                yield group, column.path_in_schema


@once
def check_pages(file: File, names: tuple[str, ...]) -> None:
    """Refuse a Parquet file whose pages, of the columns that are read, are not what they or their checksums say.

    The engine reads on where the head of a page is damaged, and looks at no checksum. So another reader reads them too. And
    where the footer says that all values of a column are missing, in a group of rows, the engine looks at none of them.
    """
    try:
        with in_pieces(file.path) as held:
            for _ in held.iter_batches(columns=list(names)):
                pass
            for group, name in _said_empty(held.metadata, names):
                found = held.read_row_group(group, [name]).column(0)
                if found.null_count < len(found):
                    raise pa.ArrowInvalid
    except pa.ArrowNotImplementedError:
        pass  # a type that this reader does not know: nothing is said of it
    except (pa.ArrowException, OSError):
        raise DataError(
            f"The file '{file.name}'", "it is damaged: its pages are not what they say", "Get or write it again"
        ) from None
