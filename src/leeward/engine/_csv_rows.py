# SPDX-License-Identifier: Apache-2.0
"""CSV files as a table of texts, read by the engine: as many rows as the files have records, or none."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

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


def csv_rows(connection: Any, files: Sequence[File], links: Sequence[str], names: Sequence[str]) -> Any:
    """The named columns of CSV files as a table of texts, in the order of the files; an empty field is missing.

    Splitting text into fields is most of the work, so it is done once.

    Raises:
        DataError: a file is damaged, or the engine finds more or fewer rows in the files than they have.
    """
    described = [((agreed_header(file), file.is_gzip), file, link) for file, link in zip(files, links, strict=True)]
    table = connection.create_table(ROWS, schema=dict.fromkeys(names, "string"), temp=True)
    rows = 0
    for (header, is_gzip), group in itertools.groupby(described, key=lambda each: each[0]):
        _, alike, paths = zip(*group, strict=True)
        lengths = [length(file) for file in alike]
        longest = max(each.longest for each in lengths)
        # Reading at several places at once, the engine takes lines within quotes for rows, and then finds them broken.
        careful = {"parallel": False, "max_line_size": max(_USUAL, min(longest, _LONGEST))}
        for how in ({}, careful):
            read = _read(connection, paths, header, is_gzip, how, names)
            try:
                connection.insert(ROWS, read)  # group by group: a union would not keep the order of the files
                break
            except duckdb.Error as error:
                if how or "csv" not in str(error).lower():
                    raise
        found, before = _count(connection), rows
        rows = found
        there = sum(each.rows(len(header)) for each in lengths)
        if found - before != there or not all(each.closed for each in lengths):
            _check_by_fields(alike, len(header), found - before)
    return table


def _read(
    connection: Any,
    paths: Sequence[str],
    header: Sequence[str],
    is_gzip: bool,
    how: Mapping[str, Any],
    names: Sequence[str],
) -> Any:
    # The engine gives columns by where they are: of names it would make others, where two differ only in case.
    at = {name: f"c{index}" for index, name in enumerate(header)}
    read = connection.read_csv(
        list(paths),
        columns=dict.fromkeys(at.values(), "VARCHAR"),
        auto_detect=False,
        header=True,
        delim=",",
        quote='"',
        escape='"',
        compression="gzip" if is_gzip else "none",
        hive_partitioning=False,
        **how,
    )
    return read.select(*(read[at[name]].name(name) for name in names))


def _count(connection: Any) -> int:
    return int(connection.con.execute(f"SELECT count(*) FROM {ROWS}").fetchall()[0][0])


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
