"""Files of readings: three columns are read at once, the rest passes through a batch at a time.

What is held in memory is the columns of meter, time and value; other columns may be as wide as they like. In CSV their text
stays as it is. Parquet keeps its schema but for the type of the value.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import numpy as np

from leeward._encodings import UTF8, any_length
from leeward._private import reading
from leeward.errors import DataError
from leeward.local.location._frames import check_bare
from leeward.local.series._readings import Grid, Integers
from leeward.local.series._series import replaced
from leeward.tables._files import File
from leeward.tables._sheets import Writer

BATCH: Final = 1 << 17
"""Rows that pass through at a time."""

OnShare = Callable[[float], None]


class ReadingsFile:
    """A file of readings: Parquet or CSV, told by how its name ends.

    Raises:
        DataError: it is missing, or of no known kind.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() not in (".parquet", ".pq", ".csv"):
            raise DataError(f"The file '{path}'", "its kind is told by how its name ends", "Known: .parquet, .pq, .csv")
        self.file = File.of(path)
        self.path, self.is_csv = path, path.suffix.lower() == ".csv"
        with self.reading():
            self.columns = self._columns()
        if len(set(self.columns)) < len(self.columns):
            raise DataError(f"The file '{path}'", "two columns have one name", "Rename one")

    def reading(self) -> AbstractContextManager[None]:
        """Say what is wrong with the file without repeating what it holds."""
        return reading(f"The file '{self.path}'", "Check the file, and that readings are numbers")

    def _columns(self) -> list[str]:
        if self.is_csv:
            with any_length(), self.path.open(encoding=UTF8, newline="") as text:
                return next(csv.reader(text), [])
        import pyarrow.parquet as pq

        schema = pq.read_schema(self.path)
        check_bare(schema)
        return list(schema.names)

    def read(self, names: Sequence[str], number: str) -> Any:
        """Return some columns as a pyarrow table; in CSV ``number`` is read as a number and the others as text.

        Raises:
            DataError: it cannot be read so.
        """
        with self.reading():
            if not self.is_csv:
                import pyarrow.parquet as pq

                return pq.read_table(self.path, columns=list(names), page_checksum_verification=True)
            import pyarrow as pa
            from pyarrow import csv as pa_csv

            table = pa_csv.read_csv(
                self.path,
                parse_options=pa_csv.ParseOptions(newlines_in_values=True),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=list(names),
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=True,
                    null_values=[""],  # a meter may be called NA
                ),
            )
            at = names.index(number)
            return table.set_column(at, number, _as_numbers(table[number]))

    def rewrite(
        self, target: Path, value: str, rows: Integers, there: Any, steps: Integers, grid: Grid, on_share: OnShare
    ) -> None:
        """Write these rows of the file with one column replaced by grid points.

        Raises:
            DataError: the file has changed since it was read.
        """
        with self.reading():
            write = self._rewrite_csv if self.is_csv else self._rewrite_parquet
            write(target, value, rows, there, steps, grid, on_share)

    def _rewrite_parquet(
        self, target: Path, value: str, rows: Integers, there: Any, steps: Integers, grid: Grid, on_share: OnShare
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        start, writer = 0, None
        with pq.ParquetFile(self.path, page_checksum_verification=True) as held:
            for batch in held.iter_batches(BATCH):
                first, last = np.searchsorted(rows, [start, start + len(batch)])
                part = slice(first, last)
                table = pa.Table.from_batches([batch])
                made = replaced(table, value, rows[part] - start, there[part], steps[part], grid)
                writer = writer or pq.ParquetWriter(target, made.schema)
                writer.write_table(made)
                start += len(batch)
                on_share(start / max(held.metadata.num_rows, 1))
            if writer is None:
                none = np.zeros(0, np.int64)
                pq.write_table(replaced(held.read(), value, none, none.astype(bool), none, grid), target)
        if writer is not None:
            writer.close()

    def _rewrite_csv(
        self, target: Path, value: str, rows: Integers, there: Any, steps: Integers, grid: Grid, on_share: OnShare
    ) -> None:
        at = self.columns.index(value)
        whole = grid.step.denominator == 1
        shown = grid.values(steps, whole=whole)
        wanted = 0
        with (
            any_length(),
            self.path.open(encoding=UTF8, newline="") as text,
            target.open("w", encoding="utf-8", newline="") as out,
        ):
            reader = csv.reader(text, strict=True)
            writer = Writer(out)
            writer.row(next(reader, []))
            for number, row in enumerate(row for row in reader if row):
                if wanted < len(rows) and rows[wanted] == number:
                    row[at] = repr(shown[wanted].item()) if there[wanted] else ""
                    writer.row(row)
                    wanted += 1
                    if wanted % BATCH == 0:
                        on_share(wanted / len(rows))
        if wanted < len(rows):
            raise DataError(f"The file '{self.path}'", "it has fewer rows than a moment ago", "Run again")


def _as_numbers(texts: Any) -> Any:
    """Read a column of text as floats, where the words that programs write for a missing number are missing ones."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as pa_csv

    trimmed = pc.utf8_trim_whitespace(texts)
    is_missing = pc.is_in(trimmed, value_set=pa.array(pa_csv.ConvertOptions().null_values))
    return pc.if_else(is_missing, None, trimmed).cast(pa.float64())
