"""A DuckDB connection that can read one source and nothing else.

The user's own files become readable, then access to anything outside and every setting are locked, and only then is
a first byte of a table looked at. So nothing inside a file (such as a view in a database that reads other files) can
reach further. No SQL text is taken from anyone; names are quoted by Ibis.
"""

from __future__ import annotations

import csv
import difflib
import glob
import gzip
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import ibis
import pyarrow as pa
from ibis.common.exceptions import IbisError
from sqlglot import exp

from leeward.errors import DataError, nearest
from leeward.private import Private

_KINDS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".csv.gz"),
    "duckdb": (".duckdb", ".ddb", ".db"),
}
_CATALOG = "leeward_source"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bound(Private):
    """One source, readable through a locked connection.

    Attributes:
        connection: the locked Ibis backend.
        rows: the source as an Ibis table with exactly the columns asked for.
        files: the files it reads, each with a stamp that changes when the file is written.
    """

    connection: Any
    rows: Any
    files: Mapping[str, tuple[int, int, int]]

    def fetch(self, expression: Any) -> pa.Table:
        """Run an Ibis expression. Ibis's own way to Arrow is avoided: it imports pandas, a third of a second."""
        with translated():
            return self.connection.con.sql(self.connection.compile(expression.as_table())).to_arrow_table()

    def register(self, name: str, data: pa.Table) -> Any:
        """Make a table in memory readable under a name, as an Ibis table."""
        return _register(self.connection, name, data)

    def check_unchanged(self) -> None:
        """Refuse to go on if a file was written since it was bound: two answers would be about two tables.

        Raises:
            DataError: a file changed.
        """
        if self.files != _stamps(self.files):
            raise DataError(
                "A data file was changed while it was being read", "the counts would mix two tables", "Run it again"
            )


@contextmanager
def bind(source: Any, columns: Mapping[str, str], table: str | None = None) -> Iterator[Bound]:
    """Open a source for reading.

    Args:
        source: a path, a glob or a list of these; or a DataFrame, an Arrow table or an Ibis table.
        columns: what each column is for (a spec key, for messages) and its name.
        table: the table's name inside a DuckDB file, perhaps with its schema (``schema.table``).

    Raises:
        DataError: there is no such file, table or column, or it cannot be read.
    """
    if isinstance(source, str | os.PathLike | list | tuple):
        kind, files = _files(source, table)
    else:
        kind, files = "memory", []
    with TemporaryDirectory(prefix="leeward-") as spill, translated():
        # What does not fit in memory is spilled to a directory of our own, which is removed.
        connection = ibis.duckdb.connect(
            ":memory:", autoload_known_extensions=False, autoinstall_known_extensions=False, temp_directory=spill
        )
        try:
            if kind == "duckdb":
                connection.attach(files[0], name=_CATALOG, read_only=True)
            # DuckDB draws on stdout where it takes the program for an interactive one; stdout is the caller's.
            connection.raw_sql("SET enable_progress_bar = false")
            connection.raw_sql(f"SET allowed_paths = {exp.convert(files).sql('duckdb') if files else '[]'}")
            connection.raw_sql("SET enable_external_access = false")
            connection.raw_sql("SET lock_configuration = true")
            stamps = _stamps(files)
            with _without_deprecation():
                if kind == "memory":
                    rows = _register(connection, "leeward_memory", _arrow(source, columns))
                elif kind == "parquet":
                    rows = connection.read_parquet(files, hive_partitioning=False)
                elif kind == "csv":
                    rows = _csv(connection, files)
                else:
                    rows = _inside(connection, table)
                check_columns(columns, rows.columns)
                rows = rows.select(*dict.fromkeys(columns.values()))
                if kind == "csv":
                    # Splitting text into fields is most of the work, so it is done once.
                    rows = connection.create_table("leeward_rows", rows, temp=True)
            bound = Bound(connection, rows, stamps)
            yield bound
        finally:
            connection.disconnect()


def check_columns(columns: Mapping[str, str], known: Any) -> None:
    """Raise `DataError` for the first named column that a table does not have, naming the nearest it has."""
    known = list(known)
    for key, name in columns.items():
        if known.count(name) != 1:
            raise DataError(
                f"{key} = '{name}'",
                "there is no column of that name" if name not in known else "two columns have that name",
                nearest(name, known),
            )


@contextmanager
def translated() -> Iterator[None]:
    """Turn the engine's exceptions, whose texts hold data values, into a `DataError` without them."""
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError):
        problem = ("The table does not fit", "memory and temporary disk space are used up", "Free some, or use more")
    except duckdb.PermissionException:
        problem = (
            "The data file refers to other files",
            "only the files that the spec names are read",
            "Store the data in the file itself",
        )
    except (duckdb.Error, pa.ArrowException, IbisError):
        problem = (
            "The data cannot be read",
            "a file is damaged, is no table, or its rows do not have the columns and types it began with",
            "Check the file by reading it with the tool that wrote it",
        )
    except RuntimeError as error:
        if "Query interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None  # Ctrl-C, which DuckDB tells so while a query runs
    else:
        return
    raise DataError(*problem)


def _files(source: Any, table: str | None) -> tuple[str, list[str]]:
    """The kind of a file source, and its files in a fixed order."""
    found: list[str] = []
    for given in [source] if isinstance(source, str | os.PathLike) else source:
        text = os.fspath(given)
        if "://" in text:
            raise DataError(f"The source '{text}'", "only files on this machine are read", "Copy the file here first")
        if Path(text).is_file():
            found.append(text)
        elif matches := sorted(path for path in glob.glob(text, recursive=True) if Path(path).is_file()):
            found += matches
        elif Path(text).is_dir():
            raise DataError(
                f"The source '{text}'",
                "it is a folder",
                f"Name its files, for example '{os.path.join(text, '*.parquet')}'",
            )
        else:
            neighbours = os.listdir(Path(text).parent) if Path(text).parent.is_dir() else []
            raise DataError(f"The source '{text}'", "there is no such file", nearest_file(text, neighbours))
    kinds = {_kind(path, table) for path in found}
    if not found or len(kinds) > 1 or (kinds == {"duckdb"} and len(found) > 1):
        raise DataError(
            "The list of files", "it must name files of one kind, and only one DuckDB file", "Give one kind of file"
        )
    return kinds.pop(), list(dict.fromkeys(os.path.abspath(path) for path in found))


def nearest_file(text: str, neighbours: list[str]) -> str:
    """Say which file of the same folder has nearly the missing file's name."""
    # By their stems, or all files of one kind would be near each other.
    stems = {name.partition(".")[0]: name for name in neighbours}
    close = difflib.get_close_matches(Path(text).name.partition(".")[0], stems, n=1, cutoff=0.6)
    return f"Did you mean '{stems[close[0]]}'?" if close else "Check the path; it is relative to the spec file"


def _kind(path: str, table: str | None) -> str:
    kind = next((kind for kind, suffixes in _KINDS.items() if path.lower().endswith(suffixes)), None)
    if table is not None and kind in {"parquet", "csv"}:
        raise DataError(
            f"The file '{path}' with a table named", "only a DuckDB file has tables in it", "Leave the table's name out"
        )
    if table is not None or kind is not None:
        return kind or "duckdb"
    raise DataError(
        f"The file '{path}'",
        "its name does not say what it holds",
        "Use .parquet, .csv or .csv.gz, or a DuckDB file together with `visits_table`",
    )


def _stamps(files: Any) -> dict[str, tuple[int, int, int]]:
    try:
        stats = {path: os.stat(path) for path in files}
    except OSError:
        return {}
    return {path: (stat.st_ino, stat.st_size, stat.st_mtime_ns) for path, stat in stats.items()}


def _csv(connection: Any, files: list[str]) -> Any:
    """All columns of the CSV files as text; an empty field is missing.

    The first line is read here, not guessed by DuckDB, whose guess skips lines that do not fit.
    """
    by_header: dict[tuple[str, ...], list[str]] = {}
    for path in files:
        by_header.setdefault(_header(path), []).append(path)
    first = next(iter(by_header))
    tables = []
    for header, paths in by_header.items():
        if set(header) != set(first):
            raise DataError("The CSV files", "their first lines name different columns", "Give files with one header")
        tables.append(
            connection.read_csv(
                paths,
                columns=dict.fromkeys(header, "VARCHAR"),
                auto_detect=False,
                header=True,
                delim=",",
                quote='"',
                escape='"',
                hive_partitioning=False,
            ).select(*first)
        )
    return ibis.union(*tables) if len(tables) > 1 else tables[0]


def _header(path: str) -> tuple[str, ...]:
    try:
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            header = tuple(next(csv.reader(lines), ()))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error):
        raise DataError(f"The file '{path}'", "it cannot be read as CSV in UTF-8", "Save it again as such") from None
    if not header:
        raise DataError(f"The file '{path}'", "it is empty", "Its first line must name the columns")
    if len(set(header)) != len(header) or not all(header):
        raise DataError(
            f"The file '{path}'", "its first line must name every column, each name once", "Correct the first line"
        )
    return header


def _inside(connection: Any, table: str | None) -> Any:
    """The table or view of an attached DuckDB file."""
    found = connection.raw_sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'leeward_source' UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'leeward_source' AND NOT internal"
    ).fetchall()
    names = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
    if table is None and len(names) == 1:
        table = next(iter(names))
    if table not in names:
        raise DataError(
            "No `visits_table` is named" if table is None else f"visits_table = '{table}'",
            "the DuckDB file has several tables" if table is None else "the DuckDB file has no such table",
            nearest(table or "", sorted(names)),
        )
    schema, name = names[table]
    return connection.table(name, database=(_CATALOG, schema))


def _arrow(source: Any, columns: Mapping[str, str]) -> pa.Table:
    """The named columns of anything that exports Arrow's C stream (pandas, Polars, Arrow, Ibis)."""
    known = getattr(source, "column_names", None) or getattr(source, "columns", None)
    if known is None or not hasattr(source, "__arrow_c_stream__"):
        raise DataError(
            f"The source is of type {type(source).__name__}",
            "it is no table",
            "Give a path, a DataFrame, an Arrow table or an Ibis table",
        )
    check_columns(columns, known)
    names = list(dict.fromkeys(columns.values()))
    try:
        return pa.table(source.select(names) if isinstance(source, pa.Table) else source[names]).select(names)
    except Exception:
        # Any library may stand behind the source, and its message may hold a data value.
        problem = ("The table in memory cannot be read", "a column holds values of several types")
    raise DataError(*problem, "Give each column one type")


def _register(connection: Any, name: str, data: pa.Table) -> Any:
    connection.con.register(name, data)
    with _without_deprecation():
        return connection.table(name)


@contextmanager
def _without_deprecation() -> Iterator[None]:
    """Keep quiet about Ibis 12 asking for a table's schema by a name that DuckDB 2 calls deprecated."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        yield
