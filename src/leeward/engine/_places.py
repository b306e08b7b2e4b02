# SPDX-License-Identifier: Apache-2.0
"""The public list of places, read: its order is the order of every answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leeward._buffers import as_numpy, numbers, texts
from leeward._optional import optional
from leeward._plain import counted
from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.query import Grid, Places
from leeward.query._source import MOST_CELLS, too_many_cells


@dataclass(frozen=True, eq=False)
class PlaceList:
    """The public list of n places, in its public order.

    Attributes:
        keys: the n distinct keys: integers, texts or floats.
        latitude: n degrees north (null where unknown), or None.
        longitude: n degrees east, or None.
        name: n names for people to read, or None.
        grid: the grid these places are the cells of, or None.
    """

    keys: pa.Array
    latitude: pa.Array | None = None
    longitude: pa.Array | None = None
    name: pa.Array | None = None
    grid: Grid | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def to_arrow(self) -> pa.Table:
        """The list as a table with columns ``place`` and, where known, ``latitude``, ``longitude`` and ``name``."""
        columns = {"place": self.keys, "latitude": self.latitude, "longitude": self.longitude, "name": self.name}
        return pa.table({column: values for column, values in columns.items() if values is not None})

    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the type of the keys and of every key in order."""
        kind = "integers beyond 63 bits" if _is_beyond(self.keys) else key_type(self.keys.type)
        seen = hashlib.sha256(f"leeward places 1: {kind}:{len(self)}".encode())
        if pa.types.is_large_string(self.keys.type):
            lengths = as_numpy(pc.binary_length(self.keys))
            seen.update(lengths.astype("<i8").tobytes())
            seen.update("".join(self.keys.to_pylist()).encode())
        else:
            plain = "<f8" if pa.types.is_floating(self.keys.type) else "<u8" if _is_beyond(self.keys) else "<i8"
            seen.update(as_numpy(self.keys).astype(plain).tobytes())
        return seen.hexdigest()


def read_places(source: Places | Grid) -> PlaceList:
    """Read the public list, or make the cells of a grid.

    Raises:
        DataError: the table cannot be read, is empty, or has a null or repeated place or impossible coordinates.
        SpecError: an H3 grid has more than a million cells.
    """
    if isinstance(source, Grid):
        return _squares(source) if source.h3 is None else _hexagons(source)
    roles = {"place": source.place, "latitude": source.latitude, "longitude": source.longitude, "name": source.name}
    columns = {key: column for key, column in roles.items() if column is not None}
    with bind(source.source.held(), columns, source.source.table, source.source.writing) as bound:
        table = bound.all_rows().combine_chunks()
    keys = _keys(_one(table, source.place), source.place)
    degrees = [
        None if column is None else _degrees(_one(table, column), column, limit)
        for column, limit in ((source.latitude, 90), (source.longitude, 180))
    ]
    name = None if source.name is None else _names(_one(table, source.name), source.name)
    return PlaceList(keys, degrees[0], degrees[1], name)


def key_type(arrow_type: pa.DataType) -> str | None:
    """The family of a type of keys: ``integers``, ``texts`` or ``floats``; None for any other."""
    if pa.types.is_integer(arrow_type):
        return "integers"
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        return "texts"
    return "floats" if pa.types.is_floating(arrow_type) else None


def _is_beyond(keys: pa.Array) -> bool:
    """Whether keys are integers of which one has the bytes of a negative one: 2⁶⁴ − 1 is written as −1 is."""
    return bool(pa.types.is_uint64(keys.type) and len(keys) and pc.max(keys).as_py() >= 2**63)


def _one(table: pa.Table, column: str) -> pa.Array:
    values = table.column(column)
    values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    try:
        values.validate(full=True)  # a table in memory may hold what is no text
    except pa.ArrowInvalid:
        raise DataError(
            f"The column '{column}' of the public list is damaged", "it holds texts that are not UTF-8", "Correct them"
        ) from None
    return values


def _keys(keys: pa.Array, column: str) -> pa.Array:
    where = f"The column '{column}' of the public list"
    if key_type(keys.type) is None:
        raise DataError(f"{where} holds {keys.type}", "keys are whole numbers or texts", "Convert it to text")
    if not len(keys):
        raise DataError("The public list of places is empty", "the answer has one row per place", "List the places")
    empty = keys.null_count + (pc.sum(pc.is_nan(keys)).as_py() or 0 if pa.types.is_floating(keys.type) else 0)
    if empty:
        raise DataError(
            f"{where} has {counted(empty, 'row')} without a place", "a place needs a key", "Remove these rows"
        )
    if pa.types.is_floating(keys.type):  # half floats too: Arrow has few kernels for these
        keys = numbers(as_numpy(keys) + 0)  # −0 equals 0 where tables are joined, so it must here
    repeated = len(keys) - pc.count_distinct(keys).as_py()
    if repeated:
        raise DataError(
            f"{where} repeats places, in {counted(repeated, 'row')}",
            "the answer has one row per place",
            "List each place once",
        )
    return pc.cast(keys, pa.large_string()) if key_type(keys.type) == "texts" else keys


def _degrees(values: pa.Array, column: str, limit: int) -> pa.Array:
    try:
        degrees = pc.cast(values, pa.float64())
    except pa.ArrowException:
        degrees = None
    # what is not a number is not within the limit either
    if degrees is None or not (np.abs(as_numpy(degrees.drop_null())) <= limit).all():
        raise DataError(
            f"The column '{column}' of the public list",
            f"it must hold degrees from -{limit} to {limit}",
            "Correct it, or leave unknown coordinates empty",
        )
    return degrees


def _names(values: pa.Array, column: str) -> pa.Array:
    try:
        return pc.cast(values, pa.large_string())
    except pa.ArrowException:
        raise DataError(
            f"The column '{column}' of the public list holds {values.type}",
            "a name is shown beside the answer",
            "Convert it to text",
        ) from None


def _squares(grid: Grid) -> PlaceList:
    """The cells of a ``metres`` grid, row by row from the south-west, each with its middle (of the part in the box)."""
    rows, columns = grid.shape
    height, width = grid.step
    row, column = (index.ravel() for index in np.divmod(np.arange(rows * columns), columns))

    def middle(origin: float, step: float, index: Any, edge: float) -> pa.Array:
        return numbers((origin + index * step + np.minimum(origin + (index + 1) * step, edge)) / 2)

    keys = texts([f"r{r}c{c}" for r, c in zip(row.tolist(), column.tolist(), strict=True)], pa.large_string())
    north = middle(grid.south, height, row, grid.north)
    return PlaceList(keys, north, middle(grid.west, width, column, grid.east), grid=grid)


_ALONG_EDGES: Final = 512
"""Points on each edge of a box whose cells are listed in any case: nearer together than the cells are wide that H3 may leave
out."""


def _hexagons(grid: Grid) -> PlaceList:
    """The H3 cells that overlap the box, by id, each with its centre."""
    h3 = optional("h3", "A grid of H3 cells")
    box = h3.LatLngPoly(
        [(grid.south, grid.west), (grid.south, grid.east), (grid.north, grid.east), (grid.north, grid.west)]
    )
    assert grid.h3 is not None
    # Cells differ in area by less than a factor of two, so this refuses a hopeless list before it is made.
    lat = np.radians([grid.south, grid.north])
    area = 6371.0088**2 * np.radians(grid.east - grid.west) * (np.sin(lat[1]) - np.sin(lat[0]))
    if area / h3.average_hexagon_area(grid.h3, unit="km^2") > 2 * MOST_CELLS:
        raise too_many_cells()
    found = set(h3.h3shape_to_cells_experimental(box, grid.h3, contain="overlap"))
    # of large cells that lie across an edge of the box H3 leaves some out
    along = np.linspace(0, 1, _ALONG_EDGES)
    norths, easts = grid.south + (grid.north - grid.south) * along, grid.west + (grid.east - grid.west) * along
    found |= {h3.latlng_to_cell(north, east, grid.h3) for north in norths for east in (grid.west, grid.east)}
    found |= {h3.latlng_to_cell(north, east, grid.h3) for north in (grid.south, grid.north) for east in easts}
    cells = sorted(found)
    if len(cells) > MOST_CELLS:
        raise too_many_cells()
    centres = [h3.cell_to_latlng(cell) for cell in cells]
    latitude, longitude = (numbers(np.array([centre[axis] for centre in centres])) for axis in (0, 1))
    return PlaceList(texts(cells, pa.large_string()), latitude, longitude, grid=grid)
