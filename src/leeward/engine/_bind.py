# SPDX-License-Identifier: Apache-2.0
"""A DuckDB connection that can read one source and nothing else.

The user's own files become readable, then access to anything outside and every setting are locked, and only then is
a first byte of a table looked at. So nothing inside a file (such as a view in a database that reads other files) can
reach further. No SQL text is taken from anyone; names are quoted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from leeward._postgres import Address, is_address
from leeward._scratch import SPILLED, scratch
from leeward.engine._bound import Bound
from leeward.engine._csv_rows import NO_CSV, ROWS, csv_rows
from leeward.engine._sql import DECIMAL, named, quoted, table_meant
from leeward.engine._written import check_rewritten, rewritten
from leeward.engine._zones import check_everywhere, elsewhere
from leeward.errors import DENIED, DataError, EngineError
from leeward.tables._columns import check_columns
from leeward.tables._files import File, files_of
from leeward.tables._geojson import points_table
from leeward.tables._memory import arrow_table, end_if_ended
from leeward.tables._objects import of_objects
from leeward.tables._parquet import check_bound, check_pages, open_times
from leeward.tables._schema import check_one_schema
from leeward.tables._texts import in_utf8
from leeward.tables._types import check_arrow, check_engine_types
from leeward.tables._workbook import sheet_table
from leeward.tables._writing import PLAIN, Writing

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from leeward.engine._row_sums import Asked, Sums

_CATALOG = "leeward_source"
_SOURCE = "leeward_rows_asked_for"
_REWRITTEN = "leeward_rows_rewritten"
_BY_THE_QUESTION_ALONE = (
    *("expression_rewriter", "unused_columns", "column_lifetime", "common_subexpressions", "common_aggregate"),
    *("join_order", "build_side_probe_side", "deliminator", "unnest_rewriter", "in_clause", "duplicate_groups"),
    *("materialized_cte", "cte_inlining", "common_subplan", "aggregate_function_rewriter", "aggregate_reuse"),
)
"""The optimizers of the engine that go by the question alone, or by guesses that change no more than the time it takes.

Others take a file's word for which rows need not be read: for a filter, the keys of a list, a LIMIT. So may later ones.
"""

_AT_ONCE = 1 << 15
"""How many rows are hashed at once: of texts of 10 kB each, a third of a gigabyte."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class InDuckDB(Bound):
    """One source, readable through a locked connection of DuckDB.

    Attributes:
        connection: the locked connection.
        types: the engine's own type of each column that was asked for, by its name.
        files: the files it reads.
        guessed: the columns whose type is that of their values.
        open_times: the columns of times that are instants or readings, according to which program wrote them.
    """

    connection: duckdb.DuckDBPyConnection
    types: Mapping[str, str]
    files: Sequence[File]
    guessed: frozenset[str]
    open_times: frozenset[str]

    @property
    def rows(self) -> ir.Table:
        # Lazily: Ibis takes half a second to import, and public lists are read without it.
        from leeward.engine._described import described

        return described(_SOURCE, self.types)

    def declares(self, column: str) -> bool:
        return column not in self.guessed

    def leaves_open(self, column: str) -> bool:
        return column in self.open_times

    def all_rows(self) -> pa.Table:
        """The columns asked for, in the order of the source."""
        with translated():
            return self.connection.sql(f"SELECT * FROM {_SOURCE}").to_arrow_table()

    def fetch(self, expression: ir.Expr) -> pa.Table:
        # Ibis's own way to Arrow is avoided: it imports pandas, a third of a second.
        from leeward.engine._described import compiled

        with translated():
            return self.connection.sql(compiled(expression)).to_arrow_table()

    def staged(self, name: str, rows: ir.Table) -> ir.Table:
        from leeward.engine._described import compiled

        with translated():
            self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {compiled(rows)}")
            return self._described(name)

    def register(self, name: str, data: pa.Table) -> ir.Table:
        self.connection.register(name, data)
        return self._described(name)

    def summed(self, rows: ir.Table, asked: Asked) -> Sequence[Sums]:
        from leeward.engine._described import compiled
        from leeward.engine._row_sums import sums_of

        with translated(), _streamed():  # the engine reads on while these are added up
            return [sums_of(self.connection.sql(compiled(rows)).to_arrow_reader(_AT_ONCE), asked)]

    def _described(self, name: str) -> Any:
        from leeward.engine._described import described

        return described(name, _types(self.connection, f"SELECT * FROM {name}"))

    def read_files(self) -> Sequence[File]:
        return self.files


@contextmanager
def bind(
    source: Any, columns: Mapping[str, str], table: str | None = None, writing: Writing = PLAIN
) -> Iterator[InDuckDB]:
    """Open a source for reading.

    Args:
        source: a path, a glob or a list of these; the address of a PostgreSQL database; or a DataFrame, an Arrow table or
            an Ibis table.
        columns: what each column is for (a spec key, for messages) and its name.
        table: the table's name inside a DuckDB file or a database, perhaps with its schema (``schema.table``); the sheet
            of a workbook.
        writing: how it is written, where it does not say so itself.

    Raises:
        DataError: there is no such file, table or column, it cannot be read, or the files of the table differ in the type of
            a column.
        EngineError: the engine cannot be set up; nothing was read.
    """
    files: list[File] = []
    kind: Any = "memory"
    if is_address(source):
        kind = "postgresql"
    elif isinstance(source, str | os.PathLike | list | tuple):
        kind, files = files_of(source, table)
    _refuse_unsaid(kind, writing)
    names = list(dict.fromkeys(columns.values()))
    with _folder() as folder, translated():
        # DuckDB takes a path with [, * or ? for a pattern once more, so it is given names of ours that lead to the files.
        read = in_utf8(files, writing.encoding, folder) if kind == "csv" else files
        check_one_schema(kind, read, columns, writing)
        linked = kind in ("csv", "parquet")
        links = [os.path.join(folder, f"{index}.{kind}") for index in range(len(files))] if linked else []
        with setting_up():
            for file, link in zip(read, links, strict=False):
                os.symlink(file.path, link)
        if kind == "postgresql":
            from leeward.engine._postgres_rows import written  # lazily: files need none of it

            links = [os.path.join(folder, "read.parquet")]
            written(Address.read(source), table, columns, names, links[0])
        with ExitStack() as opened:
            connection = opened.enter_context(_connection(folder))
            others = list[duckdb.DuckDBPyConnection]()
            if kind == "duckdb":
                if not _is_stored(files[0], table, folder):
                    _one_by_one(connection)
                others = opened.enter_context(elsewhere(connection))
                _attach(connection, files[0])  # by its own path, beside which it may have a log of its latest changes
            _lock(connection, links)
            chosen = ", ".join(map(named, names))
            if kind in _IN_MEMORY:
                connection.register("leeward_memory", check_arrow(_IN_MEMORY[kind](source, files, table, columns)))
                found = "leeward_memory"
            elif kind == "parquet":
                for file, link in zip(files, links, strict=True):
                    by_engine = connection.sql(f"SELECT * FROM read_parquet({quoted(link)}, hive_partitioning = false)")
                    check_bound(columns, file, by_engine.columns)
                    check_pages(file, tuple(names))
                found = f"read_parquet([{', '.join(map(quoted, links))}], hive_partitioning = false)"
            elif kind == "postgresql":
                found = f"read_parquet({quoted(links[0])})"
            elif kind == "csv":
                found = csv_rows(connection, read, links, names, writing)
            else:
                called, found, is_stored = _inside(connection, table)
                check_columns(columns, connection.sql(f"SELECT * FROM {found}").columns)
            types = _types(connection, f"SELECT {chosen} FROM {found}")
            check_engine_types(columns, types)
            check_rewritten(columns, types, writing)
            if kind == "duckdb":
                # A view, or a computed column, may draw at random: what is recognised and what is counted is one table.
                chosen = ", ".join(_letter_by_letter(name, types[name]) for name in names)
                if not is_stored:
                    check_everywhere(called, f"SELECT {chosen} FROM {found}", connection, others)
                connection.execute(f"CREATE TEMP TABLE {ROWS} AS SELECT {chosen} FROM {found}")
                found = ROWS
                chosen = "*"
            if (query := rewritten(columns, types, writing, found)) is not None:
                connection.execute(f"CREATE TEMP TABLE {_REWRITTEN} AS {query}")
                found = _REWRITTEN
            connection.execute(f"CREATE TEMP VIEW {_SOURCE} AS SELECT {chosen} FROM {found}")
            guessed = frozenset(names) if kind in ("xlsx", "geojson") else frozenset[str]()
            if kind == "memory":
                guessed = of_objects(source, names)
            unsaid = open_times(files[0]) if kind == "parquet" else frozenset[str]()
            yield InDuckDB(connection, types, files, guessed, unsaid)


_IN_MEMORY: Mapping[str, Callable[[Any, Sequence[File], str | None, Mapping[str, str]], pa.Table]] = {
    "memory": lambda source, _files, _table, columns: arrow_table(source, columns),
    "xlsx": lambda _source, files, table, columns: sheet_table(files, table, columns),
    "geojson": lambda _source, files, _table, columns: points_table(files, columns),
}
"""Kinds of sources that are read as tables of Arrow, and how."""


def _refuse_unsaid(kind: str, writing: Writing) -> None:
    """Refuse what is said of files of text where there is none."""
    for key in ("delimiter", "encoding"):
        if kind != "csv" and getattr(writing, key) is not None:
            raise DataError(key, "it is about files of text (.csv, .tsv, .txt), and the table is none", "Leave it out")


def _types(connection: duckdb.DuckDBPyConnection, chosen: str) -> dict[str, str]:
    """The engine's own type of each column of a query."""
    found = connection.sql(chosen)
    return dict(zip(found.columns, map(str, found.types), strict=True))


@contextmanager
def _folder() -> Iterator[str]:
    """A directory of our own, which is removed: for what does not fit in memory, and for names of the files."""
    with ExitStack() as stack:
        with setting_up():
            made = stack.enter_context(scratch(names=(SPILLED, "*.parquet", "*.csv")))
        yield str(made.path)


@contextmanager
def _connection(folder: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with setting_up():
        connection = duckdb.connect(
            ":memory:",
            config={
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
                "temp_directory": folder,
                "python_enable_replacements": False,  # a name of SQL is never taken for a variable of Python
            },
        )
    try:
        with setting_up():
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute(DECIMAL)
        # DuckDB draws on stdout where it takes the program for an interactive one; stdout is the caller's. In a notebook
        # without ipywidgets this cannot be set, and nothing is drawn anyway.
        with suppress(duckdb.Error):
            connection.execute("SET enable_progress_bar = false")
        yield connection
    finally:
        connection.close()


def _is_stored(file: File, table: str | None, folder: str) -> bool:
    """Whether all that a table of a DuckDB file holds is stored there: asked by a connection of its own, locked as well."""
    with _connection(folder) as connection:
        _attach(connection, file)
        _lock(connection, ())
        return _inside(connection, table)[2]


def _one_by_one(connection: duckdb.DuckDBPyConnection) -> None:
    """Have a view be the same table each time: threads hand on what is distinct as they end, and sum up floats as they come.

    A public list would come in another order, and another sum of a person's numbers be content that changed.
    """
    with setting_up():
        connection.execute("SET threads = 1")


def _attach(connection: duckdb.DuckDBPyConnection, file: File) -> None:
    if "\\" in file.path:
        raise DataError(
            f"The file '{file.name}'", "DuckDB takes the backslash in its path for one between folders", "Rename it"
        )
    try:
        connection.execute(f"ATTACH {quoted(file.path)} AS {_CATALOG} (READ_ONLY)")
    except duckdb.Error as error:
        refused = _refused(error)
    else:
        return
    raise DataError(f"The file '{file.name}' cannot be opened", *refused)


def _refused(error: Exception) -> tuple[str, str]:
    """Why DuckDB does not open a file, and what to do; told by its words before the first name, which may hold any word."""
    message = str(error).partition('"')[0].lower()
    if "unique file handle conflict" in message:
        return (
            "this program has it open for writing itself",
            'Close that connection (connection.close()) first, or give connection.table("…") in place of the path',
        )
    if "could not set lock" in message:
        return "another program has it open for writing", "Close it there"
    return (
        "it is damaged, not a DuckDB file, or one of a later version",
        "Check the file by opening it with DuckDB",
    )


def _lock(connection: duckdb.DuckDBPyConnection, readable: Sequence[str]) -> None:
    with setting_up():
        # What a file says of its rows beside them (that none of a group is so large, or missing) may be wrong; rows count.
        optimizers = (name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall())
        disabled = ",".join(name for name in optimizers if name not in _BY_THE_QUESTION_ALONE)
        connection.execute(f"SET disabled_optimizers = '{disabled}'")
        connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, readable))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")


@contextmanager
def setting_up() -> Iterator[None]:
    """Tell failures of the engine itself from failures of the data, which nobody has looked at yet."""
    try:
        yield
    except (duckdb.Error, OSError) as error:
        end_if_ended(error)
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
    """Turn the engine's exceptions, whose texts hold data values, into a `DataError` without them.

    Raises:
        DataError: of what it found in the data.
        EngineError: the system denied it what it needs, whatever the data are.
    """
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
        end_if_ended(error)
        if denied := next((said for said in _DENIED if str(error).rstrip().endswith(f": {said}")), None):
            raise EngineError("The engine that reads tables (DuckDB) stopped", denied, _DENIED[denied]) from None
        problem = _unreadable(error)
    except pa.ArrowException:
        problem = _UNREADABLE
    except RuntimeError as error:
        if "Query interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None  # Ctrl-C, which DuckDB reports so while a query runs
    else:
        return
    raise DataError(*problem)


@contextmanager
def _streamed() -> Iterator[None]:
    """Have what DuckDB says while Arrow reads on, which is an OSError then, be the exception that it is otherwise."""
    try:
        yield
    except OSError as error:
        message = str(error)
    else:
        return
    kind = message.partition(" Error: ")[0].title().replace(" ", "")  # such as "Out of Memory"
    if kind == "Interrupt":
        raise KeyboardInterrupt
    raise getattr(duckdb, f"{kind}Exception", duckdb.Error)(message)


def _unreadable(error: duckdb.Error) -> tuple[str, str, str]:
    message = str(error).lower()
    # seconds beyond microseconds are an internal error of DuckDB's, even where it is asked to try
    beyond = isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException)
    if beyond or "could not convert timestamp" in message:
        return _BEYOND
    if "utf-8" in message:
        return _NO_UTF8
    return NO_CSV if "csv" in message else _UNREADABLE


_DENIED = {os.strerror(code): helps for code, helps in DENIED.items()}
"""What the system says when it denies the engine what it needs, and what helps."""
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
    "it holds what is not text in UTF-8 (text in Latin-1 or Windows-1252, perhaps)",
    "Save it as UTF-8. That it fails may be a fact about the data: do not publish it",
)


def _inside(connection: duckdb.DuckDBPyConnection, table: str | None) -> tuple[str, str, bool]:
    """The table or view of an attached DuckDB file: its name, as SQL names it, and whether all that it holds is stored."""
    found: list[Any] = connection.execute(
        "SELECT schema_name, table_name, NOT contains(upper(sql), 'GENERATED') FROM duckdb_tables()"
        " WHERE database_name = 'leeward_source' UNION ALL SELECT schema_name, view_name, false FROM duckdb_views()"
        " WHERE database_name = 'leeward_source' AND NOT internal"
    ).fetchall()
    only = table is None and len(found) == 1
    schema, name, is_stored = found[0] if only else table_meant(table, found, "main", "in a DuckDB file")
    return table or name, ".".join(map(named, (_CATALOG, schema, name))), is_stored


def _letter_by_letter(name: str, kind: str) -> str:
    """A column in SQL, of texts that are compared letter by letter, as those of every other kind of source are.

    A column of a DuckDB file may have a collation, by which "Ann" and "ann" are one person, and both are counted once.
    """
    column = named(name)
    text = kind == "VARCHAR" or kind.startswith("ENUM(")
    return f"decode(encode({column})) AS {column}" if text else column
