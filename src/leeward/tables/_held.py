# SPDX-License-Identifier: Apache-2.0
"""The columns of a file as they were read, each by itself: one that cannot be read keeps nobody from the others."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from leeward._private import Private, reading
from leeward.errors import DataError
from leeward.tables._cells import Cells, column
from leeward.tables._files import File, Queried
from leeward.tables._geojson import FEATURE, points_cells
from leeward.tables._parquet import in_pieces
from leeward.tables._workbook import ROW, sheet_cells

RECORDS: Final = 100_000
"""So many records of a file are looked at."""

UNSHOWN: Final = "…"
"""Stands for a value that Python has none for, such as a day after the year 9999."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Held(Private):
    """A column of a file.

    Attributes:
        array: it, or None where it cannot be read.
        cells: its values as the file has them, where it cannot be read.
        refused: why it cannot be read.
    """

    array: Any
    cells: Sequence[Any] = ()
    refused: tuple[str, str, str] = ("", "", "")

    def texts(self, most: int | None = None) -> list[str]:
        """Return its values as text, or the first of them; a missing one is an empty text."""
        values = self.cells[:most] if self.array is None else _values(self.array.slice(0, most))
        return ["" if value is None else str(value) for value in values]


def _values(array: Any) -> list[Any]:
    """The values of an array; one by one where not all of them are values of Python."""
    with suppress(DataError), reading("Values"):
        held: list[Any] = array.to_pylist()
        return held
    return [_value(one) for one in array]


def _value(one: Any) -> Any:
    with suppress(DataError), reading("A value"):
        return one.as_py()
    return UNSHOWN


def held_columns(kind: Queried, file: File, table: str | None, names: Sequence[str]) -> dict[str, Held]:
    """Return the columns of a file; of a Parquet file their first records.

    Raises:
        DataError: the file cannot be read.
    """
    with reading(f"The file '{file.name}'"):
        return _READERS[kind](file, table, names)


def _of_parquet(file: File, _: str | None, names: Sequence[str]) -> dict[str, Held]:
    with in_pieces(file.path) as held:
        batches = list(itertools.islice(held.iter_batches(RECORDS, columns=list(names)), 1))
        schema = held.schema_arrow
    read = pa.Table.from_batches(batches, batches[0].schema if batches else schema).select(list(names))
    return {name: Held(array) for name, array in zip(names, read.columns, strict=True)}


def _of_cells(cells: Cells, unit: str) -> dict[str, Held]:
    found = dict[str, Held]()
    for name, held in cells.items():
        try:
            found[name] = Held(column(name, held, unit))
        except DataError as error:
            refused = (error.given, error.because, error.instead)
            found[name] = Held(None, [value for value, _ in held], refused)
    return found


_READERS: Final[Mapping[Queried, Callable[[File, str | None, Sequence[str]], dict[str, Held]]]] = {
    "parquet": _of_parquet,
    "xlsx": lambda file, table, names: _of_cells(sheet_cells([file], table, {name: name for name in names}), ROW),
    "geojson": lambda file, _, names: _of_cells(points_cells([file], {name: name for name in names}), FEATURE),
}
