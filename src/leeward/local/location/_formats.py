# SPDX-License-Identifier: Apache-2.0
"""The kinds of files in which positions come: a new one is a class of its own and a name here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leeward._private import reading
from leeward.local.location._csv import CsvPositions
from leeward.local.location._files import PositionFile
from leeward.local.location._geojson import GeoJson, GeoJsonLines
from leeward.local.location._parquet import ParquetPositions
from leeward.tables._files import File
from leeward.tables._kinds import Kind, reader_of

FORMATS: Final[dict[Kind, type[PositionFile]]] = {
    one.kind: one for one in (ParquetPositions, CsvPositions, GeoJson, GeoJsonLines)
}


def open_positions(path: Path, latitude: str | None, longitude: str | None) -> PositionFile:
    """Return the reader of a file by the end of its name.

    Raises:
        DataError: it is missing, cannot be read, is of no known kind, or lacks a column.
    """
    opened, file = reader_of(path, FORMATS), File.of(path)
    with reading(f"The file '{path}'"):
        return opened(file, latitude, longitude)
