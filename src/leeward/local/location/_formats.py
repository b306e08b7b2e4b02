# SPDX-License-Identifier: Apache-2.0
"""The formats in which files of positions come: a new one is a class of its own and a name here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leeward._private import reading
from leeward.errors import DataError
from leeward.local.location._csv import CsvPositions
from leeward.local.location._files import PositionFile
from leeward.local.location._geojson import GeoJson, GeoJsonLines
from leeward.local.location._parquet import ParquetPositions
from leeward.tables._files import File

FORMATS: Final[tuple[type[PositionFile], ...]] = (ParquetPositions, CsvPositions, GeoJson, GeoJsonLines)


def open_positions(path: Path, latitude: str | None, longitude: str | None) -> PositionFile:
    """Return the reader of a file by the end of its name.

    Raises:
        DataError: it is missing, cannot be read, is of no known kind, or lacks a column.
    """
    kinds = {suffix: kind for kind in FORMATS for suffix in kind.suffixes}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise DataError(
            f"The file '{path}'",
            "its kind, which follows from the end of its name, is not known",
            f"Known: {', '.join(kinds)}",
        )
    file = File.of(path)
    with reading(f"The file '{path}'"):
        return kind(file, latitude, longitude)
