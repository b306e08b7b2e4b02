# SPDX-License-Identifier: Apache-2.0
"""Files of positions, read and written a batch at a time.

The formats are one file each: `_parquet` (with GeoParquet), `_csv` and `_geojson`. Memory does not grow with the file;
only a GeoJSON document, which is one value, is read whole. What is written appears whole or not at all. What is derived from
true positions and would go out unseen is left out: bounding boxes, altitudes.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private
from leeward._progress import Progress
from leeward.errors import DataError, no_column
from leeward.local._as_they_are import AsTheyAre
from leeward.tables._files import File
from leeward.tables._kinds import Kind

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Moved:
    """What becomes of a batch.

    Attributes:
        latitude: degrees; NaN is written as missing.
        longitude: degrees.
        cells: names of cells for a further column, or None for none.
    """

    latitude: Floats
    longitude: Floats
    cells: Sequence[str | None] | None = None


Move = Callable[[Floats, Floats, list[list[Any]]], Moved]
"""From latitudes, longitudes and the asked-for other columns of a batch to what is written."""


class PositionFile(Private, abc.ABC):
    """A file with one position a row.

    Args:
        file: the file.
        latitude: the column of latitudes in degrees; None where the format has a geometry.
        longitude: the column of longitudes.
    """

    __slots__ = ("_left_out", "columns", "file", "latitude", "longitude", "path")
    kind: ClassVar[Kind]
    named_in_first_line: ClassVar[bool] = False
    a_row: ClassVar[bytes] = b"\n"

    def __init__(self, file: File, latitude: str | None, longitude: str | None) -> None:
        self.file, self.path, self.latitude, self.longitude = file, Path(file.name), latitude, longitude
        self.columns = self._columns()
        self._left_out = frozenset[str]()

    @property
    def others(self) -> list[str]:
        """The columns that are written as they are."""
        return [name for name in self._columns_beside() if name not in self._left_out]

    def leave_out(self, asked: AsTheyAre, always: Sequence[str]) -> None:
        """Write no longer what a spec leaves out; ``always``, beside the positions, goes out in any case."""
        every = list(dict.fromkeys([*self.columns, *(beside := self._columns_beside())]))
        held = [name for name in every if name not in beside]
        self._left_out = asked.left_out(every, [*held, *always], in_first_line=self.named_in_first_line)

    @abc.abstractmethod
    def _columns_beside(self) -> list[str]:
        """The columns beside the positions."""

    def rows_at_most(self) -> int:
        """Return a number of rows that there are about, or fewer of."""
        with open(self.file.path, "rb") as raw:
            return 1 + sum(part.count(self.a_row) for part in iter(lambda: raw.read(1 << 20), b""))

    def require(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there."""
        for name in names:
            if name not in self.columns:
                raise no_column(name, self.columns, in_first_line=self.named_in_first_line)

    @abc.abstractmethod
    def _columns(self) -> list[str]:
        """Names of all columns (of properties, for GeoJSON), the positions' own included."""

    @abc.abstractmethod
    def positions(self, extra: Sequence[str]) -> Iterator[tuple[Floats, Floats, list[list[Any]]]]:
        """Read latitudes, longitudes (NaN where missing) and some other columns (None where missing), a batch at a time."""

    @abc.abstractmethod
    def rewrite(
        self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, progress: Progress
    ) -> int:
        """Write the file anew with its positions moved; return the number of rows.

        Args:
            target: what to write: a path where nothing is.
            move: given each batch's positions and extra columns.
            extra: names of the other columns that ``move`` wants to see.
            cell_column: the further column that holds ``Moved.cells``, or None.
            progress: called with how much is done.
        """


def single(values: list[Any], name: str) -> list[Any]:
    """Return the values of a column that says who or when."""
    if any(isinstance(value, list | dict) for value in values):
        raise DataError(f"The column '{name}'", "it does not hold single values", "Name a column of ids or times")
    return values
