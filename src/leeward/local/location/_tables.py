# SPDX-License-Identifier: Apache-2.0
"""Files of rows, CSV and Parquet, with one position each."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leeward._progress import Progress
from leeward.errors import DataError
from leeward.local.location._files import Floats, Move, Moved, PositionFile, single
from leeward.tables._rows import ROWS


class TablePositions(PositionFile):
    """A file of rows with one position each.

    Attributes:
        rows: the file as rows.
        at: the columns that hold positions: those of degrees, or the one of geometries.
    """

    __slots__ = ("at", "rows")

    def _columns(self) -> list[str]:
        self.rows = ROWS[self.kind](self.file)
        self.at = self._found()
        return self.rows.columns

    @abc.abstractmethod
    def _found(self) -> list[str]:
        """The columns that hold positions."""

    @abc.abstractmethod
    def _degrees(self, table: Any) -> tuple[Floats, Floats]:
        """Latitudes and longitudes of rows, NaN where missing."""

    @abc.abstractmethod
    def _with(self, table: Any, moved: Moved) -> Any:
        """Rows with their positions moved, and nothing that was not named."""

    def _columns_beside(self) -> list[str]:
        return [name for name in self.columns if name not in self.at]

    def _refuse_twice(self, extra: Sequence[str]) -> None:
        """Refuse a column of positions that is also who, when or how careful: each place would be another person."""
        for name in extra:
            if name in self.at:
                raise DataError(
                    f"The column '{name}' of '{self.path}'",
                    "it holds the positions, and cannot also say who, when or at which level",
                    "Name another column",
                )

    def positions(self, extra: Sequence[str]) -> Iterator[tuple[Floats, Floats, list[list[Any]]]]:
        """Read positions and some other columns a batch at a time."""
        self._refuse_twice(extra)
        with self.rows.reading():
            # all of it, so that what cannot be read, and would be passed on, is known before anything is charged
            for table in self.rows.batches():
                yield *self._degrees(table), _values(table, extra)

    def rewrite(
        self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, progress: Progress
    ) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        import pyarrow as pa

        self._refuse_twice(extra)

        def changed(table: Any) -> Any:
            moved = move(*self._degrees(table), _values(table, extra))
            made = self._with(table.drop_columns([*self._left_out]), moved)
            return made if cell_column is None else made.append_column(cell_column, pa.array(moved.cells, pa.string()))

        with self.rows.reading(writes=True):
            return self.rows.write(target, map(changed, self.rows.batches(progress=progress)))


def _values(table: Any, names: Sequence[str]) -> list[list[Any]]:
    return [single(_of_their_width(table[name]), name) for name in names]


def _of_their_width(column: Any) -> list[Any]:
    """Return the values of a column; floats of few bits as such, because from some number on they may stand for two ids."""
    import pyarrow as pa

    kind = {pa.float16(): np.float16, pa.float32(): np.float32}.get(column.type)
    values: list[Any] = column.to_pylist()
    return values if kind is None else [None if value is None else kind(value) for value in values]
