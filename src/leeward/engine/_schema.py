"""One schema over all files of a table, by the types that the files themselves declare.

An engine that reads several files takes the columns and types of the first for those of all, and converts the rest in
silence: a date before a timestamp cuts times to days, a whole number before a float cuts fractions. So every column that is
read must have *one* declared type in all files, exactly; how a type is laid out in a file (the width of a decimal's bytes,
whether nulls are allowed, a dictionary) is not part of it. Columns that are not read may differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from leeward.engine._csv_text import csv_header
from leeward.engine._files import File, Kind
from leeward.errors import DataError, nearest_column

Schema = Sequence[tuple[str, str]]
"""The columns of a file, in its order: names and types; a name may occur twice."""

_TEXT = "text"

_PLAIN = {
    "BOOLEAN": "bool",
    "INT32": "int32",
    "INT64": "int64",
    "INT96": "timestamp[int96]",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "BYTE_ARRAY": "bytes",
}
"""What Parquet's physical types are without a logical one."""

_INEXACT = {f"decimal({digits}, {scale})" for digits in range(39, 77) for scale in range(digits + 1)}
"""Types that the engine reads as something else."""

_SHORT = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


def check_one_schema(kind: Kind, files: Sequence[File], columns: Mapping[str, str]) -> None:
    """Refuse files that do not all have the columns asked for, each with one type.

    Args:
        kind: of the files; a DuckDB file holds one table, whose types are one already.
        files: at least one.
        columns: what each column is for (a spec key, for messages) and its name.

    Raises:
        DataError: a file cannot be read, a column is missing, or a column has two types; the message names the files, the
            column and the types.
    """
    if kind == "duckdb":
        return
    known: dict[str, tuple[str, File]] = {}
    for file in files:
        schema = parquet_schema(file) if kind == "parquet" else [(name, _TEXT) for name in csv_header(file)]
        check_columns(
            columns, [name for name, _ in schema], file.name if len(files) > 1 else "", named=kind == "parquet"
        )
        types = dict(schema)
        for name in dict.fromkeys(columns.values()):
            if types[name] in _INEXACT:
                raise DataError(
                    f"The column '{name}' is of type {types[name]} in '{file.name}'",
                    "the engine would round its numbers to floats",
                    "Write it with at most 38 digits, or as text",
                )
            of_first, first = known.setdefault(name, (types[name], file))
            if types[name] != of_first:
                raise DataError(
                    f"The column '{name}' is of type {of_first} in '{first.name}' and {types[name]} in '{file.name}'",
                    "one table has one type for each column, and a conversion would change values in silence",
                    "Write all files of the table with the same type",
                )
    for name, (of_all, first) in known.items():
        if of_all == "float16":
            raise DataError(
                f"The column '{name}' of '{first.name}' holds floats of 16 bits",
                "from 2,048 on they are not every whole number, so that several people or places may be one",
                "Write it from the start as whole numbers, as text, or as floats of 32 or 64 bits",
            )


def check_columns(columns: Mapping[str, str], known: Iterable[Any], where: str = "", *, named: bool = True) -> None:
    """Refuse a named column that a table does not have, or that two of its columns might be.

    The engine does not tell names apart by case, so two columns that differ only in it cannot be told apart either.

    Args:
        columns: what each column is for and its name.
        known: the names of the table's columns.
        where: the file that it is in, if there are several.
        named: the format names its columns; of a CSV file the first line may as well be data, and is not repeated.

    Raises:
        DataError: naming the first such column, and the nearest that the table has.
    """
    names = [name for name in known if isinstance(name, str)]
    lower = [name.lower() for name in names]
    for key, name in columns.items():
        if name not in names:
            problem = "there is no column of that name"
        elif names.count(name) > 1:
            problem = "two columns have that name"
        elif lower.count(name.lower()) > 1:
            problem = "another column's name differs from it only in upper and lower case"
        else:
            continue
        raise DataError(
            f"{key} = '{name}'",
            f"{problem} in the file '{where}'" if where else problem,
            nearest_column(name, names, in_first_line=not named) if name not in names else "Rename one of them",
        )


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
    names = [name for name, _ in parquet_schema(file)]
    for key, name in columns.items():
        alike = [at for at, own in enumerate(engine) if own.lower() == name.lower()]
        if len(engine) != len(names) or alike != [names.index(name)]:
            raise DataError(
                f"{key} = '{name}'",
                f"other columns of the file '{file.name}' have names that are empty, or equal but for upper and lower case;"
                f" the engine that reads it (DuckDB) gives them names of its own, of which '{name}' is one",
                "Rename those columns, so that all names of the file differ",
            )


def parquet_schema(file: File) -> Schema:
    """Read the columns and declared types of a Parquet file from its footer.

    Raises:
        DataError: it is no Parquet file.
    """
    import pyarrow.parquet as pq

    try:
        found = pq.read_metadata(file.path).schema
        top = found.to_arrow_schema()
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # the last for names of columns
        raise DataError(
            f"The file '{file.name}' cannot be read", "it is damaged, or is no Parquet file", "Check the file"
        ) from None
    at, schema = 0, []
    for field in top:
        schema.append((field.name, str(field.type) if pa.types.is_nested(field.type) else _declared(found.column(at))))
        at += _leaves(field.type)
    return schema


def _declared(column: Any) -> str:
    """Write the type of a Parquet column that is no nest of columns."""
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
        return f"{kind.lower()}[{unit}{', UTC' if logical['isAdjustedToUTC'] else ''}]"
    return _TEXT if kind == "String" else str(kind).lower()


def _leaves(kind: pa.DataType) -> int:
    """Return how many columns of Parquet a column of Arrow is made of."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields)) if pa.types.is_nested(kind) else 1


def check_parquet(file: File, names: Sequence[str]) -> None:
    """Refuse a Parquet file whose pages, of the columns that are read, are not what they or their checksums say.

    The engine reads on where the head of a page is damaged, and looks at no checksum. So another reader reads them too.

    Raises:
        DataError: it is damaged.
    """
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file.path, buffer_size=1 << 20, page_checksum_verification=True) as held:
            for _ in held.iter_batches(columns=list(names)):
                pass
    except pa.ArrowNotImplementedError:
        pass  # a type that this reader does not know: nothing is said of it
    except (pa.ArrowException, OSError):
        raise DataError(
            f"The file '{file.name}'", "it is damaged: its pages are not what they say", "Get or write it again"
        ) from None
