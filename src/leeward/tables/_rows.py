# SPDX-License-Identifier: Apache-2.0
"""Files of rows, read and written anew a batch at a time, as tables of Arrow: CSV, and Parquet.

In CSV every column is text, which stays as it is to the letter, and an empty field is missing. Memory does not grow with the
file. What is written of Parquet has the metadata that its tables have, and no other.
"""

from __future__ import annotations

import abc
import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa

from leeward._encodings import UTF8, any_length
from leeward._private import Private, reading
from leeward._progress import Progress, silent
from leeward.errors import DataError
from leeward.tables._bare import bare
from leeward.tables._csv import agreed_header
from leeward.tables._files import File
from leeward.tables._kinds import Kind, reader_of
from leeward.tables._sheets import Writer

BATCH: Final = 1 << 17
"""Rows read at a time."""

_AT_ONCE: Final = 1 << 9
"""Rows of text that are held as lists; Python looks again and again through all that there are, for those to be freed."""


_BREAK: Final = re.compile(r"\r\n|\r|\n")


class RowsFile(Private, abc.ABC):
    """A file of rows.

    Args:
        file: the file.

    Attributes:
        columns: the names of its columns, which all differ.

    Raises:
        DataError: it cannot be read, or two columns have one name.
    """

    __slots__ = ("columns", "file")
    kind: ClassVar[Kind]

    def __init__(self, file: File) -> None:
        self.file = file
        with self.reading():
            self.columns = self._columns()
        if len(set(self.columns)) < len(self.columns):
            raise DataError(f"The file '{file.name}'", "two columns have one name", "Rename one")

    def reading(self, *instead: str, writes: bool = False) -> AbstractContextManager[None]:
        """Say what is wrong with the file without repeating what it holds; see `leeward._private.reading`."""
        return reading(f"The file '{self.file.name}'", *instead, writes=writes)

    @abc.abstractmethod
    def _columns(self) -> list[str]:
        """Names of all columns."""

    @abc.abstractmethod
    def batches(self, names: Sequence[str] | None = None, progress: Progress = silent) -> Iterator[pa.Table]:
        """Read some columns, or all, a batch of rows at a time: at least one, which may be empty.

        Raises:
            DataError: it cannot be read.
        """

    @staticmethod
    @abc.abstractmethod
    def write(target: Path, tables: Iterable[pa.Table]) -> int:
        """Write tables of one schema, at least one, one after another; return the number of their rows.

        Args:
            target: what to write: a path where nothing is.
            tables: asked for one at a time.
        """


class CsvRows(RowsFile):
    """CSV in UTF-8 with a line of names."""

    __slots__ = ()
    kind = "csv"

    def _columns(self) -> list[str]:
        return list(agreed_header(self.file, ","))

    def batches(self, names: Sequence[str] | None = None, progress: Progress = silent) -> Iterator[pa.Table]:
        """Read some columns, or all, as text; see `RowsFile.batches`."""
        import pyarrow.compute as pc

        asked = self.columns if names is None else list(names)
        at = [self.columns.index(name) for name in asked]
        size, done = max(self.file.stamp[2], 1), False
        with (
            self.reading(),
            any_length(),
            open(self.file.path, "rb") as raw,
            io.TextIOWrapper(raw, UTF8, newline="") as text,
        ):
            rows = csv.reader(text, strict=True)
            next(rows, None)
            while not done:
                fields, read = [list[str]() for _ in at], 0
                while not done and read < BATCH:
                    some = list(itertools.islice(rows, min(_AT_ONCE, BATCH - read)))
                    columns = self._columns_of([row for row in some if row])  # empty lines are skipped
                    for values, index in zip(fields, at, strict=True):
                        values += columns[index]
                    read, done = read + len(some), not some
                held = [pa.array(values, pa.large_string()) for values in fields]
                for column in held:
                    self._refuse_swallowed(column)
                yield pa.Table.from_arrays([pc.if_else(pc.equal(each, ""), None, each) for each in held], asked)
                progress("at work on the rows", min(raw.tell() / size, 1.0))

    def _columns_of(self, rows: list[list[str]]) -> list[Sequence[str]]:
        """The fields of rows, column by column.

        Raises:
            DataError: a row has not as many fields as there are names.
        """
        if set(map(len, rows)) - {len(self.columns)}:
            raise DataError(
                f"The file '{self.file.name}'", "a row has not as many fields as the header", "Check the file"
            )
        return list(zip(*rows, strict=True)) or [[] for _ in self.columns]

    def _refuse_swallowed(self, column: pa.Array) -> None:
        """Refuse a field that holds what may be rows: a quote that is not closed takes all up to the next one for its text.

        That would be passed on as it is. A field over b line breaks that holds whole rows has b times the commas of a row.
        """
        import pyarrow.compute as pc

        between = len(self.columns) - 1
        over_lines = column.filter(pc.match_substring_regex(column, _BREAK.pattern)).to_pylist()
        if any(text.count(",") >= len(_BREAK.findall(text)) * between for text in over_lines):
            raise DataError(
                f"The file '{self.file.name}'",
                "a field goes over several lines and may hold whole rows, as where a quote is not closed",
                "Close the quote; or, if the field is meant to have several lines, write it on one line or without commas",
            )

    @staticmethod
    def write(target: Path, tables: Iterable[pa.Table]) -> int:
        """Write tables as CSV; see `RowsFile.write`."""
        count = 0
        with target.open("w", encoding="utf-8", newline="") as out:
            writer = Writer(out)
            for table in tables:
                if not out.tell():
                    writer.row(table.column_names)
                writer.table(table)
                count += len(table)
        return count


class ParquetRows(RowsFile):
    """Parquet; its pages are held against their checksums.

    Attributes:
        schema: what the file declares.
    """

    __slots__ = ("schema",)
    kind = "parquet"

    def _columns(self) -> list[str]:
        import pyarrow.parquet as pq

        self.schema = pq.read_schema(self.file.path)
        # what cannot be written, or not without its metadata, is refused before anything is charged for it
        pq.ParquetWriter(io.BytesIO(), bare(self.schema.empty_table()).schema).close()
        return list(self.schema.names)

    def native_geometries(self) -> list[str]:
        """Return the columns that hold, or hold in a part of them, geometries of Parquet's own types."""
        import pyarrow.parquet as pq

        with self.reading():
            held = pq.ParquetFile(self.file.path).schema
        parts = [held.column(i) for i in range(len(held.names))]
        return list(
            dict.fromkeys(
                part.path.partition(".")[0] for part in parts if part.logical_type.type in ("GEOMETRY", "GEOGRAPHY")
            )
        )

    def batches(self, names: Sequence[str] | None = None, progress: Progress = silent) -> Iterator[pa.Table]:
        """Read some columns, or all, with the types that they have; see `RowsFile.batches`."""
        from leeward.tables._parquet import in_pieces

        asked, done = None if names is None else list(names), 0
        with self.reading(), in_pieces(self.file.path) as held:
            for batch in held.iter_batches(BATCH, columns=asked):
                yield pa.Table.from_batches([batch])
                done += len(batch)
                progress("at work on the rows", done / max(held.metadata.num_rows, 1))
            if not done:
                yield held.read(asked)

    @staticmethod
    def write(target: Path, tables: Iterable[pa.Table]) -> int:
        """Write tables as Parquet; see `RowsFile.write`."""
        import pyarrow.parquet as pq

        count, writer = 0, None
        try:
            for table in tables:
                writer = writer or pq.ParquetWriter(target, table.schema)
                writer.write_table(table)
                count += len(table)
        finally:
            if writer is not None:
                writer.close()
        return count


ROWS: Final[dict[Kind, type[RowsFile]]] = {one.kind: one for one in (ParquetRows, CsvRows)}


def open_rows(path: Path) -> RowsFile:
    """Return a file's rows, by the end of its name.

    Raises:
        DataError: it is of no known kind, is missing, cannot be read, or two columns have one name.
    """
    return reader_of(path, ROWS)(File.of(path))
