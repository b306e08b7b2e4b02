# SPDX-License-Identifier: Apache-2.0
"""Files of readings: three columns are read at once, the rest passes through a batch at a time.

What is held in memory is the columns of meter, time and value; other columns may be as wide as they like. In CSV their text
stays as it is. Parquet keeps its schema but for the type of the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from leeward._progress import Progress
from leeward.local._as_they_are import AsTheyAre
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._readings import Readings
from leeward.tables._frames import ArrowFrame
from leeward.tables._rows import open_rows


class ReadingsFile:
    """A file of readings: Parquet or CSV, told by how its name ends.

    Raises:
        DataError: it is missing, of no known kind, or two columns have one name.
    """

    def __init__(self, path: Path) -> None:
        self._rows = open_rows(path)
        self.file, self.columns, self.is_csv = self._rows.file, self._rows.columns, self._rows.kind == "csv"
        self._left_out = frozenset[str]()

    @property
    def others(self) -> list[str]:
        """The columns that are written."""
        return [name for name in self.columns if name not in self._left_out]

    def leave_out(self, asked: AsTheyAre, always: Sequence[str]) -> None:
        """Write no longer what a spec leaves out; ``always`` goes out in any case."""
        self._left_out = asked.left_out(self.columns, always, in_first_line=self.is_csv)

    def reading(self, *, writes: bool = False) -> AbstractContextManager[None]:
        """Say what is wrong with the file without repeating what it holds."""
        return self._rows.reading("Check the file, and that readings are numbers", writes=writes)

    def read(self, names: Sequence[str], number: str) -> Any:
        """Return some columns as a pyarrow table; in CSV ``number`` is read as a number and the others as text."""
        import pyarrow as pa

        with self.reading():
            table = pa.concat_tables(self._rows.batches(names))
            if not self.is_csv:
                return table
            return table.set_column(table.column_names.index(number), number, _as_numbers(table[number]))

    def rewrite(
        self, target: Path, value: str, readings: Readings, steps: Integers, grid: ReadingGrid, progress: Progress
    ) -> None:
        """Write the rows of these readings of the file with one column replaced by grid points."""

        def changed() -> Iterator[Any]:
            start = 0
            for table in self._rows.batches(progress=progress):
                part = slice(*np.searchsorted(readings.rows, [start, start + len(table)]))
                frame, there = ArrowFrame(table.drop_columns([*self._left_out])), readings.there[part]
                kept = frame.copied(readings.rows[part] - start, [value])
                kept.put(value, grid.values(steps[part], whole=frame.may_be_whole(value, there)), there)
                yield kept.held
                start += len(table)

        with self.reading(writes=True):
            self._rows.write(target, changed())


def _as_numbers(texts: Any) -> Any:
    """Read a column of text as floats, where the words that programs write for a missing number are missing ones."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as pa_csv

    trimmed = pc.utf8_trim_whitespace(texts)
    is_missing = pc.is_in(trimmed, value_set=pa.array(pa_csv.ConvertOptions().null_values, trimmed.type))
    return pc.if_else(is_missing, None, trimmed).cast(pa.float64())
