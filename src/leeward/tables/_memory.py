# SPDX-License-Identifier: Apache-2.0
"""Tables in memory as Arrow: DataFrames, Arrow and Ibis tables, DuckDB relations.

What they hold is read by its native type: `_objects` looks at columns of Python objects, `_types` at all the others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa

from leeward._optional import optional
from leeward.errors import DataError
from leeward.tables._columns import check_columns
from leeward.tables._frames import kinds_of, told_in_full
from leeward.tables._geojson import LATITUDE, LONGITUDE
from leeward.tables._objects import check_objects, native
from leeward.tables._types import check_engine_types


def arrow_table(source: Any, columns: Mapping[str, str]) -> pa.Table:
    """Return the named columns of anything that exports Arrow's C stream (pandas, Polars, Arrow, Ibis, DuckDB).

    Raises:
        DataError: it is not a table, lacks a column, or a column holds values of several kinds.
    """
    if isinstance(source, pa.RecordBatchReader):
        raise DataError(
            "The source is a stream of record batches",
            "it can be read once, and every later question would find it empty",
            "Give the whole table: stream.read_all()",
        )
    with _whose_fault(source, columns):
        source = native(source)
        _check_backend(source)
        is_table = hasattr(source, "__arrow_c_stream__")
        known = _names(source) if is_table else None
    if known is None:
        raise DataError(
            f"The source is of type {type(source).__name__}",
            "it is not a table",
            "Give a path, a DataFrame, an Arrow table or an Ibis table; of a LazyFrame what its collect() returns",
        )
    source, known = _with_points(source, known, columns)
    check_columns(columns, known)
    names = list(dict.fromkeys(columns.values()))
    with _whose_fault(source, columns):
        check_objects(source, names)
        chosen = _selected(source, names)
        _check_valid(chosen)
        if _is_relation(chosen):  # what it hands on as Arrow has lost some types: times of day their offsets
            check_engine_types(columns, dict(zip(chosen.columns, chosen.types, strict=True)))
        return _whole(pa.table(chosen).select(names), source)


def _is_of_ibis(source: Any) -> bool:
    ibis = sys.modules.get("ibis")
    return ibis is not None and isinstance(source, ibis.Table)


def _is_relation(source: Any) -> bool:
    return type(source).__name__ == "DuckDBPyRelation"


def _check_backend(source: Any) -> None:
    """Refuse an Ibis table of a backend whose values come here by other rules than those that are held to one oracle."""
    if not _is_of_ibis(source):
        return
    name = source.get_backend().name
    if name not in _BACKENDS:
        raise DataError(
            f"An Ibis table of the backend {name}",
            "Ibis hands its values on by rules of its own: zones of times, missing numbers or digits may be lost",
            _INSTEAD.get(name, "Have the database itself write the table as Parquet, and name the file"),
        )


_BACKENDS: Final = ("duckdb", "polars")
"""Those that the suite of random tables holds to its oracle (``tests/engines``)."""

_INSTEAD: Final = {
    "postgres": "Give the address, postgresql://user@host/database, and the table's name: table",
    "pyspark": 'Give the DataFrame of Spark itself, with engine="spark"',
}


def end_if_ended(error: BaseException) -> None:
    """Raise what ended the program while DuckDB asked Python for something: all that it leaves of that is a text."""
    if ended := _ENDED.match(str(error).rstrip("\n")):
        kind, said = ended[1], ended[2] or ""
        if kind == "KeyboardInterrupt":
            raise KeyboardInterrupt(*filter(None, [said])) from None
        raise SystemExit(int(said) if said.isdecimal() else said or None) from None


_OF_TABLES = r"[a-z ]+ the [A-Za-z ]+(?: '[^']*')?(?: as Arrow data)? failed: "
"""Such as "reading the schema of the object registered as 'leeward_keys' failed: "."""
_ENDED = re.compile(
    rf"Invalid Input Error: (?:{_OF_TABLES}|Python exception occurred while executing the UDF: )"
    r"(?:Unknown error: .*Detail: Python exception: .*\n)?"  # a stream of Arrow's tells a traceback
    r"(KeyboardInterrupt|SystemExit)(?:: ?(.*))?\Z",
    re.DOTALL,
)
"""How DuckDB says what ended the program while it asked Python for a table, its schema or rows, or results of a function."""


@contextmanager
def _whose_fault(source: Any, columns: Mapping[str, str]) -> Iterator[None]:
    """Say whose mistake it is that a table in memory cannot be had: any library may stand behind it.

    No message of a library is repeated: it may hold data values. A query is the caller's own, and is run only now.
    """
    try:
        yield
        return
    except DataError:
        raise
    except (Exception, MemoryError) as error:
        end_if_ended(error)
        if isinstance(error, RuntimeError) and "Query interrupted" in str(error):
            raise KeyboardInterrupt from None  # Ctrl-C, which DuckDB reports so while a query runs
        because = _meaning(error)
        of_query = any(one.__module__.lstrip("_") == "duckdb" for one in type(error).__mro__)
        kind, raised = type(source), type(error).__name__
    library = kind.__module__.partition(".")[0].lstrip("_")
    query = _QUERIES.get(library)
    if library in {"pandas", "pyarrow"} or (query is not None and because is None and not of_query):
        listed = ", ".join(f"'{name}'" for name in dict.fromkeys(columns.values()))
        raise DataError(
            f"The {kind.__name__} given as a table",
            f"its columns {listed} cannot be exported to Arrow",
            "Give each column one type that Arrow knows; an Arrow table is read as it is",
        )
    raise DataError(
        f"The {query or kind.__name__} given as a table failed when its rows were asked for",
        because or f"it raised {'an' if raised[0] in 'AEIOU' else 'a'} {raised}",
        "Run it by itself: its own message says more, and may hold data values. That it fails may be a fact about the data:"
        " do not publish it",
    )


_QUERIES = {"duckdb": "query of the DuckDB relation", "ibis": "query of the Ibis table"}

_MEANINGS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("IO", "HTTP", "Permission"), "a file that it reads is missing, or cannot be read"),
    (
        ("Catalog", "Binder", "Parser", "Syntax"),
        "it names a table, column or function that is not there, or not any more",
    ),
    (("Connection",), "its connection is closed"),
    (("INTERRUPT", "Interrupt"), "it was interrupted"),
    (("Out of Memory", "OutOfMemory"), "it needs more memory than there is"),
    (
        ("Conversion", "Out of Range", "OutOfRange", "Invalid Input", "InvalidInput", "Mismatch Type", "TypeMismatch"),
        "a value does not fit what the query does with it, such as a cast or a division",
    ),
)
"""What DuckDB calls its errors, in the names of its exceptions and before the colon of its messages, and what they mean."""


def _meaning(error: BaseException) -> str | None:
    """Say what an error means: by its class, or by how DuckDB's messages begin, wherever they are; None if unknown."""
    message, kind = str(error), type(error).__name__
    for names, meaning in _MEANINGS:
        if kind in {f"{name}Exception" for name in names} or any(f"{name} Error: " in message for name in names):
            return meaning
    return "it needs more memory than there is" if isinstance(error, MemoryError) else None


def _names(source: Any) -> list[Any] | None:
    if isinstance(source, pa.Table | pa.RecordBatch):
        return list(source.schema.names)
    known = getattr(source, "columns", None)
    return None if known is None else list(known)


def _selected(source: Any, names: list[str]) -> Any:
    """The columns alone where the library can take them out cheaply, else the whole table."""
    if isinstance(source, pa.Table | pa.RecordBatch):
        return source.select(names)
    if _is_relation(source):
        return source
    if "pandas.DataFrame" in kinds_of(source):
        return told_in_full(source[names])
    return _of_backend(source[names]) if _is_of_ibis(source) else source[names]


def _of_backend(table: Any) -> Any:
    """Return what an Ibis table is for its backend: a relation of DuckDB, or a DataFrame of Polars.

    Ibis itself would convert what comes back to the types that it reckons with, and these say of some expressions, such as
    ``truncate``, that they have no zone: 09:00 in Tokyo would become the reading 00:00.
    """
    backend = table.get_backend()
    return backend.compile(table).collect() if backend.name == "polars" else backend._to_duckdb_relation(table)


def _check_valid(chosen: Any) -> None:
    """Refuse columns of Arrow with values that their types do not have: the engine reads beside them, or others for them.

    Raises:
        DataError: naming the column.
    """
    if not isinstance(chosen, pa.Table | pa.RecordBatch):
        return  # what other libraries hand on, they have made themselves
    for name in chosen.schema.names:
        if not _is_valid(chosen.column(name)):
            raise DataError(
                f"The column '{name}' is damaged",
                "it holds what its Arrow type does not: a text that is not UTF-8, a decimal of more digits, a time beyond"
                " the day, a place beyond its dictionary (that it is refused is a fact about the data: do not publish it)",
                "Find it with table.validate(full=True), and correct it",
            )


def _is_valid(column: Any) -> bool:
    try:
        column.validate(full=True)
    except pa.ArrowException:
        return False
    return True


def _whole(rows: pa.Table, source: Any) -> pa.Table:
    """Return rows with sums of whole numbers, of which DuckDB makes decimals, as the integers that Ibis says they are."""
    if not _is_of_ibis(source):
        return rows
    declared = source.schema()
    for at, (name, found) in enumerate(zip(rows.column_names, rows.schema.types, strict=True)):
        if declared[name].is_integer() and pa.types.is_decimal(found):
            rows = rows.set_column(at, name, rows[name].cast(declared[name].to_pyarrow()))
    return rows


def _with_points(source: Any, known: list[Any], columns: Mapping[str, str]) -> tuple[Any, list[Any]]:
    """Return a GeoDataFrame with its points as the columns ``latitude`` and ``longitude``, where these are asked for.

    Raises:
        DataError: its geometry is not of points in WGS 84.
    """
    asked = {LATITUDE, LONGITUDE} & set(columns.values()) - set(known)
    if not asked or "geopandas.GeoDataFrame" not in kinds_of(source):
        return source, known
    pd = optional("pandas", "A GeoDataFrame")
    points = source.geometry
    if points.crs is None or points.crs.to_epsg() != 4326:
        raise DataError(
            "The geometry of the GeoDataFrame",
            "it is not known to be in degrees of WGS 84",
            "Convert it: .to_crs(4326)",
        )
    there = ~(points.isna() | points.is_empty)
    if not bool((points[there].geom_type == "Point").all()):
        raise DataError("The geometry of the GeoDataFrame", "it is not of points alone", "Give points")
    kept = [name for name in dict.fromkeys(columns.values()) if name in known]
    made = pd.DataFrame({name: source[name] for name in kept})
    degrees = {LATITUDE: points.y, LONGITUDE: points.x}
    made = made.assign(**{name: degrees[name].where(there) for name in sorted(asked)})
    return made, list(made.columns)
