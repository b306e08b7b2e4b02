# SPDX-License-Identifier: Apache-2.0
"""Parquet files as Spark reads them: by which types, and what is refused because Spark would read something else there.

The files lie on a file system that every machine of a cluster sees by the same paths. Types are Spark's own, from a list,
and what a file declares must be read as what it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlparse

import pyarrow as pa

from leeward._spark import in_plain_words
from leeward._spark_remote import is_remote
from leeward.errors import DataError
from leeward.tables._files import File, files_of
from leeward.tables._parquet import is_of_old_calendar

_KINDS: Final[dict[str, pa.DataType]] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamp": pa.timestamp("us", "UTC"),
}
"""Spark's types, and what their values are from then on."""

_UNSIGNED: Final = {
    "uint8": ("smallint", pa.uint8()),
    "uint16": ("int", pa.uint16()),
    "uint32": ("bigint", pa.uint32()),
    "uint64": ("decimal(20,0)", pa.uint64()),
}
"""What a file declares and Spark has no type for: how it reads it, and what the values are."""

_DECLARED: Final = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float32": "float",
    "float64": "double",
    "text": "string",
    "date": "date",
    "timestamp[ms]": "timestamp_ntz",
    "timestamp[us]": "timestamp_ntz",
    "timestamp[ms, UTC]": "timestamp",
    "timestamp[us, UTC]": "timestamp",
}
"""What a file declares, and the only type that Spark may have read it as."""

_MOVED: Final = {
    "date": "{} < DATE '1582-10-15'",
    "timestamp": "{} < TIMESTAMP '1900-01-03 00:00:00Z'",  # what is before 1900 may be moved by a day and an hour
}
"""Which values Spark may have moved from the old calendar, by type; the others have been the same in both."""

_PATTERN: Final = "*?[]{}\\"


def files_for_spark(source: Any) -> list[File]:
    """Return the Parquet files that a source names.

    Raises:
        DataError: there are none, they are of another kind, or Spark would take the name of one for something else.
    """
    kind, files = files_of(source, None)
    if kind != "parquet":
        raise DataError(
            f"The file '{files[0].name}' with engine = \"spark\"",
            "Spark reads such files by rules of its own, or not at all",
            "Store the table as Parquet. Or leave engine out: it is then read on this machine",
        )
    _refuse_patterns(files)
    return files


def read_in_spark(session: Any, files: Sequence[File]) -> Any:
    """Return files as one DataFrame of a session.

    Raises:
        DataError: Spark sees others, or cannot read them.
    """
    with in_plain_words():
        reader = session.read.option("recursiveFileLookup", "true")
        reader = reader.option("parquet.page.verify-checksum.enabled", "true")
        frame = reader.parquet(*(file.path for file in files))
        _check_files(files, frame.inputFiles())
        if is_remote(session):
            _check_same(session, files)
    return frame


def refuse_moved(frame: Any, files: Sequence[File], names: Iterable[str]) -> None:
    """Refuse days and times that Spark moves from another calendar, where what reads the files here takes them as they are.

    Args:
        frame: the files, as `read_in_spark` returns them.
        files: the files.
        names: the columns that are read.

    Raises:
        DataError: a file notes that its days are in the old calendar, and some are so early that this matters.
    """
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    moved = [_MOVED[kinds[name]].format(quoted(name)) for name in names if kinds[name] in _MOVED]
    if not moved or not any(map(is_of_old_calendar, files)):
        return
    with in_plain_words():
        found = frame.selectExpr(f"coalesce(bool_or({' OR '.join(moved)}), false)").collect()[0][0]
    if found:
        raise DataError(
            "The data cannot be read",
            "Spark wrote a day before 15 October 1582, or a time before 3 January 1900, in a calendar that Parquet has not,"
            " and reads it as another one than other programs do (that it is refused is a fact about the data: do not"
            " publish it)",
            "Make such values missing, and write the table again with Spark 3 or later. Or leave engine out: days are then"
            " taken as they are stored",
        )


def may_be_read(declared: str) -> bool:
    """Whether Spark has a type for what a file declares."""
    return declared in _DECLARED or declared in _UNSIGNED or declared.startswith("decimal(")


def kind_in_spark(field: Any, declared: str | None) -> pa.DataType | None:
    """Return what the values of a column are from then on; None where that is not certain."""
    native = field.dataType.simpleString()
    if declared in _UNSIGNED:
        expected, kind = _UNSIGNED[declared]
        return kind if native == expected else None
    if declared is not None and _DECLARED.get(declared, declared.replace(", ", ",")) != native:
        return None
    if any(str(value).startswith("char") for value in (field.metadata or {}).values()):
        return None  # padded to its length
    if field.dataType.typeName() == "decimal":
        return pa.decimal128(field.dataType.precision, field.dataType.scale)
    return _KINDS.get(native)  # another collation is part of the name: "string collate UTF8_LCASE"


def no_type(role: str, name: str, shown: str) -> DataError:
    """Return the refusal of a column of a type that is not listed."""
    return DataError(
        f"{role} = '{name}'",
        f"the column is of the type {shown.partition('<')[0]}, of which Spark may take several values for one, or read them"
        " as another type",
        "Cast it: to string, bigint, double, date, timestamp (of microseconds) or decimal, say",
    )


def quoted(name: str) -> str:
    """Return a name of a column as Spark's SQL has it."""
    return "`" + name.replace("`", "``") + "`"


def _refuse_patterns(files: Sequence[File]) -> None:
    for file in files:
        name = os.path.basename(file.path)
        if set(file.path) & set(_PATTERN) or name[0] in "._" or ":" in name:
            raise DataError(
                f"The file '{file.name}'",
                "Spark takes some signs in its path for a pattern, and files whose names begin with . or _ for hidden ones,"
                " and reads none whose name has a colon",
                "Rename the file or folder",
            )


def _check_files(files: Sequence[File], seen: Sequence[str]) -> None:
    if sorted(unquote(urlparse(each).path) for each in seen) != sorted(file.path for file in files):
        raise DataError(
            f"The file '{files[0].name}'", "Spark does not see it, or sees others", "Rename it, in letters and digits"
        )


def _check_same(session: Any, files: Sequence[File]) -> None:
    """Refuse files of another machine: a server of Spark Connect may find other ones by the same paths."""
    found = session.read.format("binaryFile").load([file.path for file in files])  # whose content is not asked for
    rows = found.selectExpr("path", "length", "unix_millis(modificationTime)").collect()
    seen = {unquote(urlparse(path).path): (size, at) for path, size, at in rows}
    for file in files:
        _, _, size, written, _ = file.stamp
        if seen.get(file.path) != (size, written // 1_000_000):
            raise DataError(
                f"The file '{file.name}'",
                "the Spark that is reached by Spark Connect sees another file there than this machine does",
                "Put it onto a file system that both see by the same path",
            )
