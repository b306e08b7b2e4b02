# SPDX-License-Identifier: Apache-2.0
"""CSV files as a table of texts, read by the engine: as many rows as the files have records, or none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final

import duckdb

from leeward.engine._sql import named, quoted
from leeward.errors import DataError
from leeward.tables._csv import Length, agreed_header, fault, length, length_by_fields
from leeward.tables._files import File
from leeward.tables._texts import delimiter_of
from leeward.tables._writing import PLAIN, Writing

ROWS: Final = "leeward_rows"
"""The name of the table that rows are copied to, where they are."""

_USUAL: Final = 2_000_000
"""Bytes of the longest record that the engine reads unasked."""

_LONGEST: Final = 1 << 28
"""Bytes of the longest record that it is asked to read: it holds at least one in memory."""


NO_CSV: Final = (
    "The data cannot be read",
    "a row of a CSV file has not the fields that its first line names, a quote that is not closed, or another end of line"
    " than the rows before it",
    "Save it again with the tool that wrote it. That it fails may be a fact about the data: do not publish it",
)
"""What is wrong with most files that the engine does not read as CSV."""


def csv_rows(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[File],
    links: Sequence[str],
    names: Sequence[str],
    writing: Writing = PLAIN,
) -> str:
    """Read the named columns of CSV files into a table of texts, in the order of the files, and return its name.

    An empty field is missing. Splitting text into fields is most of the work, so it is done once.

    Raises:
        DataError: a file is damaged, or the engine finds more or fewer rows in the files than they have.
    """
    described = list[tuple[tuple[tuple[str, ...], bool, str], File, str]]()
    for file, link in zip(files, links, strict=True):
        delimiter = delimiter_of(file, writing)
        described.append(((agreed_header(file, delimiter), file.is_gzip, delimiter), file, link))
    connection.execute(f"CREATE TEMP TABLE {ROWS} ({', '.join(f'{named(name)} VARCHAR' for name in names)})")
    rows = 0
    for (header, is_gzip, delimiter), group in itertools.groupby(described, key=lambda each: each[0]):
        _, alike, paths = zip(*group, strict=True)
        lengths = [length(file, delimiter) for file in alike]
        longest = max(each.longest for each in lengths)
        # Reading at several places at once, the engine takes lines within quotes for rows, and then finds them broken.
        careful = {"parallel": False, "max_line_size": max(_USUAL, min(longest, _LONGEST))}
        if not _inserted(connection, partial(_read, paths, header, is_gzip, delimiter, names), careful):
            raise _faulty(alike, delimiter)
        before, rows = rows, connection.execute(f"SELECT count(*) FROM {ROWS}").fetchall()[0][0]
        found = rows - before
        there = sum(each.rows(len(header)) for each in lengths)
        if found != there or not all(each.regular for each in lengths):
            lengths = _check_by_fields(alike, len(header), found, delimiter)
        # Of a row with a field too many, as where a comma in a name is not quoted, the engine leaves out the last if it is
        # empty; all behind that comma are then in a wrong column. Rows with too few it does not read.
        if not all(each.fits(len(header)) for each in lengths):
            raise _faulty(alike, delimiter)
    _refuse_other_header(connection, names, {name for (header, _, _), _, _ in described for name in header}, files)
    return ROWS


def _refuse_other_header(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str], known: Collection[str], files: Sequence[File]
) -> None:
    """Refuse a line, among the rows, that names the columns in another order, as where two files were put into one.

    The rows behind it are in wrong columns. Of a single column it would not be told from a row.
    """
    one_of = f"IN ({', '.join(map(quoted, sorted(known)))})"
    every = " AND ".join(f"{named(name)} {one_of}" for name in names)
    other = " OR ".join(f"{named(name)} <> {quoted(name)}" for name in names)
    if len(names) > 1 and connection.execute(f"SELECT 1 FROM {ROWS} WHERE {every} AND ({other}) LIMIT 1").fetchall():
        raise DataError(
            _called(files),
            "one of its lines names the columns as the first line does, but in another order: tables were put together, and"
            " the rows behind it are in wrong columns",
            "Give the files one by one, as a list. That it fails is a fact about the data: do not publish it",
        )


def _called(files: Sequence[File]) -> str:
    return f"The file '{files[0].name}'" if len(files) == 1 else f"The files '{files[0].name}' to '{files[-1].name}'"


def _inserted(
    connection: duckdb.DuckDBPyConnection, read: Callable[[Mapping[str, object]], str], careful: Mapping[str, object]
) -> bool:
    """Copy rows of files to the table, group by group: a union would lose the files' order. False where they are no CSV."""
    for how in ({}, careful):
        try:
            connection.execute(f"INSERT INTO {ROWS} {read(how)}")
        except duckdb.Error as error:
            message = str(error).lower()
            if "csv" not in message and "utf-8" not in message:
                raise
            if "csv" not in message:
                return False
        else:
            return True
    return False


def _faulty(files: Sequence[File], delimiter: str) -> DataError:
    """Why files are not read as CSV: the first line that is wrong, and what is wrong there, but nothing that it holds."""
    for file in files:
        if found := fault(file, delimiter):
            line, because = found
            return DataError(f"Line {line:,} of the file '{file.name}'", because, NO_CSV[2])
    return DataError(*NO_CSV)


def _read(
    paths: Sequence[str],
    header: Sequence[str],
    is_gzip: bool,
    delimiter: str,
    names: Sequence[str],
    how: Mapping[str, object],
) -> str:
    # The engine gives columns by where they are: of names it would make others, where two differ only in case.
    at = {name: f"c{index}" for index, name in enumerate(header)}
    how = {
        "columns": dict.fromkeys(at.values(), "VARCHAR"),
        "auto_detect": False,
        "header": True,
        "delim": delimiter,
        "quote": '"',
        "escape": '"',
        "compression": "gzip" if is_gzip else "none",
        "hive_partitioning": False,
        **how,
    }
    options = ", ".join(f"{key} = {_literal(value)}" for key, value in how.items())
    return f"SELECT {', '.join(at[name] for name in names)} FROM read_csv([{', '.join(map(quoted, paths))}], {options})"


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_literal(each)}" for key, each in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else str(value)


def _check_by_fields(files: Sequence[File], columns: int, found: int, delimiter: str) -> list[Length]:
    """Count again with care: a quote within an unquoted field misleads the quick count, and the engine too."""
    lengths = [each for file in files if (each := length_by_fields(file, delimiter)) is not None]
    if len(lengths) < len(files):
        raise _faulty(files, delimiter)
    if found == sum(each.rows(columns) for each in lengths):
        return lengths
    raise DataError(
        _called(files),
        f"the engine that reads it (DuckDB {duckdb.__version__}) does not find the rows that are in it",
        "Save it again with the tool that wrote it, or as Parquet. That it fails may be a fact about the data: do not"
        " publish it",
    )
