# SPDX-License-Identifier: Apache-2.0
"""GeoJSON, read without loss: its numbers, its members, and the points of its features; and such points as columns."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from leeward._encodings import UTF8
from leeward._plain import own_decimals
from leeward._private import reading
from leeward.errors import DataError
from leeward.tables._cells import Cells, Where, table_of
from leeward.tables._columns import check_columns
from leeward.tables._files import File

LATITUDE, LONGITUDE = "latitude", "longitude"
"""What the coordinates of points are called where they are columns."""


def features(file: File) -> list[Any]:
    """Return the features of a collection.

    Raises:
        DataError: it is not a GeoJSON feature collection in WGS 84.
    """
    with reading(f"The file '{file.name}'"):
        held = read(Path(file.path).read_text(UTF8))
        if (
            not isinstance(held, dict)
            or not isinstance(held.get("features"), list)
            or held.get("type", "FeatureCollection") != "FeatureCollection"
        ):
            raise DataError(f"The file '{file.name}'", "it is not a GeoJSON feature collection", "Write it as one")
        if not is_degrees(held.get("crs")):
            raise DataError(f"The file '{file.name}'", "its coordinates are of another CRS", "Convert it to WGS 84")
        found: list[Any] = held["features"]
    return found


def points_table(files: Sequence[File], columns: Mapping[str, str]) -> pa.Table:
    """Return named properties of features, and their points as the columns ``latitude`` and ``longitude``, in degrees.

    Raises:
        DataError: see `points_cells`; or a property has values of several kinds.
    """
    return table_of(points_cells(files, columns), FEATURE)


FEATURE: Final = "feature"
"""What the lines of a file are called."""


def points_cells(files: Sequence[File], columns: Mapping[str, str]) -> Cells:
    """Return the cells of `points_table`.

    Raises:
        DataError: a file cannot be read, a property is missing everywhere, a feature is no point, or a property has the name
            of a coordinate.
    """
    names = list(dict.fromkeys(columns.values()))
    cells: Cells = {name: [] for name in names}
    for file in files:
        known = {LATITUDE: None, LONGITUDE: None}
        rows = list(_rows(file))
        for held, _ in rows:
            known |= dict.fromkeys(held)
        check_columns(columns, known, file.name if len(files) > 1 else "")
        for held, where in rows:
            for name in names:
                cells[name].append((held.get(name), where))
    return cells


def _rows(file: File) -> Iterator[tuple[dict[str, Any], Where]]:
    for number, feature in enumerate(features(file), 1):
        with reading(f"The file '{file.name}'"):
            held = properties(feature)
            if {LATITUDE, LONGITUDE} & held.keys():
                raise DataError(
                    f"A property called latitude or longitude in the file '{file.name}'",
                    "the coordinates of its points are columns of these names",
                    "Rename the property",
                )
            east, north = point(feature)
        missing = np.isnan(north)
        degrees = {LATITUDE: None if missing else north, LONGITUDE: None if missing else east}
        yield {**held, **degrees}, (file.name, number)


def read(text: str) -> Any:
    """Read JSON, without numbers that Python could not write as JSON again, and without members that stand twice."""
    return json.loads(text, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_members)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DataError(
            "A member of GeoJSON that stands twice in one object (this is for the curator only)",
            "one of the two would be lost",
            "Leave one out",
        )
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise DataError(
            "A number of GeoJSON that is beyond all floats, or none (this is for the curator only)",
            "it could not be written again as JSON",
            "Write it as a text, or null",
        )
    if (len(text) > _EXACT or abs(value) < sys.float_info.min) and not _is_written_float(text, value):
        raise DataError(
            "A number of GeoJSON with more digits than floats have (this is for the curator only)",
            "another one would be read, and written, in its place",
            "Write it as a text, or with 15 digits",
        )
    return value


_EXACT = 16
"""So long a text has at most 15 digits beside its point or power: no two such are one float, but for the tiniest floats."""


def _is_written_float(text: str, value: float) -> bool:
    """Whether a text is what a float is when it is written with some number of digits, however many."""
    if repr(value) == text:
        return True
    written = Decimal(text)
    digits = max(len(written.as_tuple().digits), 1)
    with own_decimals(), localcontext(prec=digits) as rounding:
        return written == Decimal(repr(value)) or written == rounding.create_decimal(value)


_WGS84: Final = re.compile(r"(^|[:/#])(CRS84|4326)$")


def is_degrees(crs: Any) -> bool:
    """Whether a ``crs`` member, which the standard has dropped, names WGS 84; without one it is meant."""
    try:
        return crs is None or _WGS84.search(str(crs["properties"]["name"])) is not None
    except (TypeError, LookupError):
        return False


def properties(feature: Any) -> dict[str, Any]:
    held = feature.get("properties") if isinstance(feature, dict) else None
    if held is not None and not isinstance(held, dict):
        raise DataError(
            "Properties of a feature that are not an object (this is for the curator only)",
            "they have no names, and would be left out",
            "Write an object, or null",
        )
    return held or {}


def point(feature: Any) -> tuple[float, float]:
    _refuse_other_crs(feature)
    try:
        geometry = feature["geometry"]
        if geometry is None or (geometry["type"] == "Point" and geometry["coordinates"] == []):  # RFC 7946, 3.1
            return np.nan, np.nan
        if geometry["type"] == "Point":
            east, north = geometry["coordinates"][:2]
            if {type(east), type(north)} <= {int, float}:  # not a text, whose letters may be numbers, nor a truth value
                return float(east), float(north)
    except (TypeError, KeyError, ValueError, OverflowError):
        pass
    raise DataError(
        "Features that are not points (this is for the curator only)",
        "only points are read as positions",
        "Give points",
    )


def _refuse_other_crs(feature: Any) -> None:
    """Refuse what a database writes into a single feature, or its geometry, and the standard has dropped."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    for held in (feature, geometry):
        if isinstance(held, dict) and not is_degrees(held.get("crs")):
            raise DataError(
                "A feature of another CRS than WGS 84 (this is for the curator only)",
                "it would be read as degrees of WGS 84",
                "Convert it to WGS 84, and leave out crs",
            )
