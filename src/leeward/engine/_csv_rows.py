# SPDX-License-Identifier: Apache-2.0
"""CSV files as a table of texts, read by the engine: as many rows as the files have records, or none."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import duckdb

from leeward.engine._sql import named, quoted
from leeward.errors import DataError
from leeward.tables._csv import agreed_header, length, length_by_fields
from leeward.tables._files import File

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
    connection: duckdb.DuckDBPyConnection, files: Sequence[File], links: Sequence[str], names: Sequence[str]
) -> str:
    """Read the named columns of CSV files into a table of texts, in the order of the files, and return its name.

    An empty field is missing. Splitting text into fields is most of the work, so it is done once.

    Raises:
        DataError: a file is damaged, or the engine finds more or fewer rows in the files than they have.
    """
    described = [((agreed_header(file), file.is_gzip), file, link) for file, link in zip(files, links, strict=True)]
    connection.execute(f"CREATE TEMP TABLE {ROWS} ({', '.join(f'{named(name)} VARCHAR' for name in names)})")
    rows = 0
    for (header, is_gzip), group in itertools.groupby(described, key=lambda each: each[0]):
        _, alike, paths = zip(*group, strict=True)
        lengths = [length(file) for file in alike]
        longest = max(each.longest for each in lengths)
        # Reading at several places at once, the engine takes lines within quotes for rows, and then finds them broken.
        careful = {"parallel": False, "max_line_size": max(_USUAL, min(longest, _LONGEST))}
        for how in ({}, careful):
            read = _read(paths, header, is_gzip, how, names)
            try:
                connection.execute(f"INSERT INTO {ROWS} {read}")  # group by group: a union would lose the files' order
                break
            except duckdb.Error as error:
                if how or "csv" not in str(error).lower():
                    raise
        found, before = _count(connection), rows
        rows = found
        there = sum(each.rows(len(header)) for each in lengths)
        if found - before != there or not all(each.closed for each in lengths):
            _check_by_fields(alike, len(header), found - before)
    return ROWS


def _read(
    paths: Sequence[str], header: Sequence[str], is_gzip: bool, how: Mapping[str, object], names: Sequence[str]
) -> str:
    # The engine gives columns by where they are: of names it would make others, where two differ only in case.
    at = {name: f"c{index}" for index, name in enumerate(header)}
    how = {
        "columns": dict.fromkeys(at.values(), "VARCHAR"),
        "auto_detect": False,
        "header": True,
        "delim": ",",
        "quote": '"',
        "escape": '"',
        "compression": "gzip" if is_gzip else "none",
        "hive_partitioning": False,
        **how,
    }
    told = ", ".join(f"{key} = {_literal(value)}" for key, value in how.items())
    return f"SELECT {', '.join(at[name] for name in names)} FROM read_csv([{', '.join(map(quoted, paths))}], {told})"


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_literal(each)}" for key, each in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else str(value)


def _count(connection: duckdb.DuckDBPyConnection) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {ROWS}").fetchall()[0][0])


def _check_by_fields(files: Sequence[File], columns: int, found: int) -> None:
    """Count again with care: a quote within an unquoted field misleads the quick count."""
    lengths = [length_by_fields(file) for file in files]
    if None in lengths:
        raise DataError(*NO_CSV)
    if found == sum(each.rows(columns) for each in lengths if each):
        return
    where = f"The file '{files[0].name}'" if len(files) == 1 else f"The files '{files[0].name}' to '{files[-1].name}'"
    raise DataError(
        where,
        f"the engine that reads it (DuckDB {duckdb.__version__}) does not find the rows that are in it",
        "Save it again with the tool that wrote it, or as Parquet. That it fails may be a fact about the data: do not"
        " publish it",
    )
