# SPDX-License-Identifier: Apache-2.0
"""A DuckDB connection that can read one source and nothing else.

The user's own files become readable, then access to anything outside and every setting are locked, and only then is
a first byte of a table looked at. So nothing inside a file (such as a view in a database that reads other files) can
reach further. No SQL text is taken from anyone; names are quoted.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import duckdb
import ibis
import numpy as np
import pyarrow as pa
from ibis.common.exceptions import IbisError
from numpy.typing import NDArray

from leeward._private import Private
from leeward._scratch import SPILLED, scratch
from leeward.engine._builtin import decode, encode
from leeward.engine._csv_rows import NO_CSV, ROWS, csv_rows
from leeward.errors import DataError, EngineError, nearest
from leeward.tables._columns import check_columns
from leeward.tables._files import File, files_of
from leeward.tables._memory import arrow_table
from leeward.tables._parquet import check_bound, check_pages
from leeward.tables._schema import check_one_schema
from leeward.tables._types import check_arrow, check_engine_types

_CATALOG = "leeward_source"
_CHOSEN = "leeward_chosen"
_MAIN = "main"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bound(Private):
    """One source, readable through a locked connection.

    Attributes:
        connection: the locked Ibis backend.
        rows: the source as an Ibis table with exactly the columns asked for.
        files: the files it reads.
    """

    connection: Any
    rows: Any
    files: Sequence[File]

    def fetch(self, expression: Any) -> pa.Table:
        """Run an Ibis expression. Ibis's own way to Arrow is avoided: it imports pandas, a third of a second."""
        with translated():
            return self.connection.con.sql(self.connection.compile(expression.as_table())).to_arrow_table()

    def ranked(self, rows: Any, keys: pa.Array, ranks: NDArray[np.int32]) -> Any:
        """Return rows with the ``rank`` of their ``key`` in a public list, in place of it; null where it is not listed."""
        # From a buffer, because pa.array imports pandas, a quarter of a second.
        held = pa.Array.from_buffers(pa.int32(), len(keys), [None, pa.py_buffer(ranks)])
        listed = self.register("leeward_keys", pa.table({"listed": keys, "rank": held}))
        joined = rows.left_join(listed, rows.key == listed.listed)
        return joined.select(*(name for name in rows.columns if name != "key"), "rank")

    def register(self, name: str, data: pa.Table) -> Any:
        """Make a table in memory readable under a name, as an Ibis table."""
        return _register(self.connection, name, data)

    def check_unchanged(self) -> None:
        """Refuse to go on if a file was written since it was bound: two answers would be about two tables.

        Raises:
            DataError: a file changed.
        """
        for file in self.files:
            file.check_unchanged()


@contextmanager
def bind(source: Any, columns: Mapping[str, str], table: str | None = None) -> Iterator[Bound]:
    """Open a source for reading.

    Args:
        source: a path, a glob or a list of these; or a DataFrame, an Arrow table or an Ibis table.
        columns: what each column is for (a spec key, for messages) and its name.
        table: the table's name inside a DuckDB file, perhaps with its schema (``schema.table``).

    Raises:
        DataError: there is no such file, table or column, it cannot be read, or the files of the table differ in the type of
            a column.
        EngineError: the engine cannot be set up; nothing was read.
    """
    files: list[File] = []
    kind: Any = "memory"
    if isinstance(source, str | os.PathLike | list | tuple):
        kind, files = files_of(source, table)
        check_one_schema(kind, files, columns)
    names = list(dict.fromkeys(columns.values()))
    with _folder() as folder, translated():
        # DuckDB takes a path with [, * or ? for a pattern once more, so it is given names of ours that lead to the files.
        links = [] if kind == "duckdb" else [os.path.join(folder, f"{index}.{kind}") for index in range(len(files))]
        for file, link in zip(files, links, strict=False):
            os.symlink(file.path, link)
        connection = _connection(folder)
        try:
            if kind == "duckdb":
                _attach(connection, files[0])  # by its own path, beside which it may have a log of its latest changes
            _lock(connection, links)
            with _without_deprecation():
                if kind == "memory":
                    rows = _in_memory(connection, arrow_table(source, columns))
                elif kind == "parquet":
                    for file, link in zip(files, links, strict=True):
                        check_bound(columns, file, _named_by_engine(connection, link))
                        check_pages(file, tuple(names))
                    found = f"read_parquet([{', '.join(map(_quoted, links))}], hive_partitioning = false)"
                    rows = _chosen(connection, found, columns)
                elif kind == "csv":
                    rows = csv_rows(connection, files, links, names)
                else:
                    found = _inside(connection, table)
                    check_columns(columns, connection.con.sql(f"SELECT * FROM {found}").columns)
                    rows = _letter_by_letter(_chosen(connection, found, columns), names)
                if kind in {"memory", "csv"}:
                    check_engine_types(columns, _types(connection, connection.compile(rows.select(*names)), names))
                if kind == "duckdb":
                    # A view, or a computed column, may draw at random: what is recognised and what is counted is one table.
                    rows = connection.create_table(ROWS, rows.select(*names), temp=True)
            yield Bound(connection, _selected(rows, names), files)
        finally:
            connection.disconnect()


def _chosen(connection: Any, found: str, columns: Mapping[str, str]) -> Any:
    """The named columns of what the engine finds, as an Ibis table: of others, whatever they are, Ibis learns nothing.

    It has no name for some types, and would load an extension for others.
    """
    names = list(dict.fromkeys(columns.values()))
    chosen = f"SELECT {', '.join(map(_named, names))} FROM {found}"
    check_engine_types(columns, _types(connection, chosen, names))
    connection.con.execute(f"CREATE VIEW {_CHOSEN} AS {chosen}")
    return connection.table(_CHOSEN)


def _types(connection: Any, chosen: str, names: Sequence[str]) -> dict[str, Any]:
    """The engine's own type of each named column: Ibis has no name for some, and one name for several."""
    return dict(zip(names, connection.con.sql(chosen).types, strict=True))


def _selected(rows: Any, names: Sequence[str]) -> Any:
    """The named columns; one that has no type because nothing is in it becomes one of nulls, which every role can read."""
    chosen = rows.select(*names)
    empty = [name for name in names if chosen[name].type().is_unknown() and '"NULL"' in str(chosen[name].type())]
    return chosen.mutate(**{name: ibis.null() for name in empty}) if empty else chosen


@contextmanager
def _folder() -> Iterator[str]:
    """A directory of our own, which is removed: for what does not fit in memory, and for names of the files."""
    with ExitStack() as stack:
        with _setting_up():
            made = stack.enter_context(scratch(names=(SPILLED, "*.parquet", "*.csv")))
        yield str(made.path)


def _connection(folder: str) -> Any:
    with _setting_up():
        connection = ibis.duckdb.connect(
            ":memory:", autoload_known_extensions=False, autoinstall_known_extensions=False, temp_directory=folder
        )
        # DuckDB draws on stdout where it takes the program for an interactive one; stdout is the caller's. In a notebook
        # without ipywidgets this cannot be set, and nothing is drawn anyway.
        with suppress(duckdb.Error):
            connection.con.execute("SET enable_progress_bar = false")
        return connection


def _attach(connection: Any, file: File) -> None:
    if "\\" in file.path:
        raise DataError(
            f"The file '{file.name}'", "DuckDB takes the backslash in its path for one between folders", "Rename it"
        )
    try:
        # Ibis's own way does not quote the path.
        connection.con.execute(f"ATTACH {_quoted(file.path)} AS {_CATALOG} (READ_ONLY)")
    except (duckdb.Error, IbisError) as error:
        refused = _refused(error)
    else:
        return
    raise DataError(f"The file '{file.name}' cannot be opened", *refused)


def _refused(error: Exception) -> tuple[str, str]:
    """Why DuckDB does not open a file, and what to do; told by its words before the first name, which may hold any word."""
    told = str(error).partition('"')[0].lower()
    if "unique file handle conflict" in told:
        return (
            "this program has it open for writing itself",
            'Close that connection (connection.close()) first, or give connection.table("…") in place of the path',
        )
    if "could not set lock" in told:
        return "another program has it open for writing", "Close it there"
    return (
        "it is damaged, not a DuckDB file, or one of a later version",
        "Check the file by opening it with DuckDB",
    )


def _lock(connection: Any, readable: Sequence[str]) -> None:
    with _setting_up():
        # What a file says of its rows beside them (that none of a group is so large, or missing) may be wrong; rows count.
        connection.con.execute("SET disabled_optimizers = 'statistics_propagation,filter_pushdown'")
        connection.con.execute(f"SET allowed_paths = [{', '.join(map(_quoted, readable))}]")
        connection.con.execute("SET enable_external_access = false")
        connection.con.execute("SET lock_configuration = true")


def _quoted(text: str) -> str:
    """A text of SQL, in which only quotes have a meaning of their own."""
    return "'" + text.replace("'", "''") + "'"


def _named(name: str) -> str:
    """A name of SQL, in which only quotes have a meaning of their own."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _setting_up() -> Iterator[None]:
    """Tell failures of the engine itself from failures of the data, which nobody has looked at yet."""
    try:
        yield
    except (duckdb.Error, IbisError, OSError) as error:
        because = str(error).partition("\n")[0]
    else:
        return
    raise EngineError(
        "The engine that reads tables (DuckDB) cannot be set up",
        because,
        "Nothing is wrong with the data: none was read",
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
            "The data file refers to other files, or needs more of the engine than is built in",
            "only the files that the spec names are read, and no extension is loaded",
            "Store the data in the file itself",
        )
    except duckdb.Error as error:
        problem = _unreadable(error)
    except (pa.ArrowException, IbisError):
        problem = _UNREADABLE
    except RuntimeError as error:
        if "Query interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None  # Ctrl-C, which DuckDB reports so while a query runs
    else:
        return
    raise DataError(*problem)


def _unreadable(error: duckdb.Error) -> tuple[str, str, str]:
    told = str(error).lower()
    # seconds beyond microseconds are an internal error of DuckDB's, even where it is asked to try
    beyond = isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException)
    if beyond or "could not convert timestamp" in told:
        return _BEYOND
    if "utf-8" in told:
        return _NO_UTF8
    return NO_CSV if "csv" in told else _UNREADABLE


_UNREADABLE = (
    "The data cannot be read",
    "it is damaged, is not a table, holds a type that is not read, or its rows do not have the columns and types it began"
    " with",
    "Check the file with the tool that wrote it. That it fails may be a fact about the data: do not publish it",
)
_BEYOND = (
    "The data cannot be read",
    "a value is beyond what can be counted with, such as a moment after the year 294,246 or a number of over 38 digits",
    "Correct it, or leave that row out. That it fails may be a fact about the data: do not publish it",
)
_NO_UTF8 = (
    "The data cannot be read",
    "a file is not text in UTF-8 (text in Latin-1 or Windows-1252, perhaps)",
    "Save it as UTF-8. That it fails may be a fact about the data: do not publish it",
)


def _named_by_engine(connection: Any, link: str) -> list[str]:
    """What the engine calls the columns of a Parquet file, in their order."""
    return list(connection.con.sql(f"SELECT * FROM read_parquet({_quoted(link)}, hive_partitioning = false)").columns)


def _inside(connection: Any, table: str | None) -> str:
    """The table or view of an attached DuckDB file, as SQL names it."""
    found = connection.con.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'leeward_source' UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'leeward_source' AND NOT internal"
    ).fetchall()
    names = {name if schema == _MAIN else f"{schema}.{name}": (schema, name) for schema, name in found}
    if table is None and len(names) == 1:
        table = next(iter(names))
    if table not in names:
        raise DataError(
            "No `visits_table` is named" if table is None else f"visits_table = '{table}'",
            "the DuckDB file has several tables" if table is None else "the DuckDB file has no such table",
            nearest(table or "", sorted(names)),
        )
    if sum(table in (f"{schema}.{name}", name if schema == _MAIN else None) for schema, name in found) > 1:
        raise DataError(
            f"visits_table = '{table}'", "two tables of the DuckDB file are called that", "Rename one of them"
        )
    schema, name = names[table]
    return ".".join(map(_named, (_CATALOG, schema, name)))


def _letter_by_letter(rows: Any, names: Sequence[str]) -> Any:
    """The table with texts that are compared letter by letter, as those of every other kind of source are.

    A column of a DuckDB file may have a collation, by which "Ann" and "ann" are one person, and both are counted once.
    """
    texts = [name for name in names if rows[name].type().is_string()]
    return rows.mutate(**{name: decode(encode(rows[name])) for name in texts}) if texts else rows


def _in_memory(connection: Any, data: pa.Table) -> Any:
    return _register(connection, "leeward_memory", check_arrow(data))


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
