# SPDX-License-Identifier: Apache-2.0
"""GeoJSON: a feature collection, or a feature a line, of points.

Of a feature its ``id`` and its properties go out, which are named; of a collection nothing but its features. All other
members (bounding boxes, centres, names of places, what was searched for) are left out: they say where the points were.
"""

from __future__ import annotations

import abc
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np

from leeward._encodings import UTF8
from leeward._private import reading
from leeward._progress import Progress
from leeward.errors import DataError
from leeward.local.location._files import Floats, Move, PositionFile, single
from leeward.tables._rows import BATCH

Features = list[dict[str, Any]]

_HALVES = "backslashreplace"
"""How half of a surrogate pair, which JSON can hold and UTF-8 cannot, is written: as JSON writes it."""


class _GeoJson(PositionFile):
    """What both forms share."""

    __slots__ = ("_has_id",)

    def _columns(self) -> list[str]:
        if self.latitude is not None or self.longitude is not None:
            raise DataError(
                f"Columns of degrees for '{self.path}'", "GeoJSON has a geometry", "Leave latitude and longitude out"
            )
        names, self._has_id = dict[str, None](), False
        for batch in self._batches():
            for feature in batch:
                names |= dict.fromkeys(_properties(feature))
                self._has_id |= isinstance(feature, dict) and "id" in feature
        return list(names)

    @property
    def others(self) -> list[str]:
        """The properties, and the features' own id, which are written as they are."""
        return [*super().others, *(["id"] if self._has_id and "id" not in self.columns else [])]

    @abc.abstractmethod
    def _batches(self) -> Iterator[Features]:
        """Read the features, some at a time."""

    def positions(self, extra: Sequence[str]) -> Iterator[tuple[Floats, Floats, list[list[Any]]]]:
        """Read positions and some other columns a batch at a time."""
        with reading(f"The file '{self.path}'"):
            for batch in self._batches():
                yield _positions(batch, extra)


class GeoJson(_GeoJson):
    """A GeoJSON feature collection of points; it is one value, so it is read whole."""

    __slots__ = ("_features",)
    kind = "geojson"
    a_row = b'"Point"'

    def _columns(self) -> list[str]:
        held = _read(Path(self.file.path).read_text(UTF8))
        if (
            not isinstance(held, dict)
            or not isinstance(held.get("features"), list)
            or held.get("type", "FeatureCollection") != "FeatureCollection"
        ):
            raise DataError(f"The file '{self.path}'", "it is not a GeoJSON feature collection", "Write it as one")
        if not _is_degrees(held.get("crs")):
            raise DataError(f"The file '{self.path}'", "its coordinates are of another CRS", "Convert it to WGS 84")
        self._features: Features = held["features"]
        return super()._columns()

    def _batches(self) -> Iterator[Features]:
        for start in range(0, len(self._features), BATCH):
            yield self._features[start : start + BATCH]

    def rewrite(
        self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, progress: Progress
    ) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        features: Features = []
        for batch in self._batches():
            features += _moved(batch, move, extra, cell_column)
            progress("at work on the rows", len(features) / len(self._features))
        text = json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False) + "\n"
        target.write_text(text, "utf-8", _HALVES)
        return len(features)


class GeoJsonLines(_GeoJson):
    """GeoJSON by lines, a feature each: the form for files larger than memory."""

    __slots__ = ()
    kind = "geojsonl"

    def _batches(self) -> Iterator[Features]:
        batch: Features = []
        with reading(f"The file '{self.path}'"), open(self.file.path, encoding=UTF8) as lines:
            for line in lines:
                if text := line.strip(" \t\r\n\x1e"):
                    batch.append(_read(text))
                if len(batch) == BATCH:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def rewrite(
        self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, progress: Progress
    ) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        done = written = 0
        size = max(self.file.stamp[2], 1)
        with (
            reading(f"The file '{self.path}'", writes=True),
            target.open("w", encoding="utf-8", errors=_HALVES) as out,
        ):
            for batch in self._batches():
                lines = [json.dumps(feature, ensure_ascii=False) for feature in _moved(batch, move, extra, cell_column)]
                written += out.write("\n".join(lines) + "\n")
                done += len(batch)
                progress("at work on the rows", min(written / size, 1.0))
        return done


def _read(text: str) -> Any:
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
    return written == Decimal(repr(value)) or written == Context(prec=digits).create_decimal(value)


_WGS84: Final = re.compile(r"(^|[:/#])(CRS84|4326)$")


def _is_degrees(crs: Any) -> bool:
    """Whether a ``crs`` member, which the standard has dropped, names WGS 84; without one it is meant."""
    try:
        return crs is None or _WGS84.search(str(crs["properties"]["name"])) is not None
    except (TypeError, LookupError):
        return False


def _properties(feature: Any) -> dict[str, Any]:
    held = feature.get("properties") if isinstance(feature, dict) else None
    if held is not None and not isinstance(held, dict):
        raise DataError(
            "Properties of a feature that are no object (this is for the curator only)",
            "they have no names, and would be left out",
            "Write an object, or null",
        )
    return held or {}


def _positions(features: Features, extra: Sequence[str]) -> tuple[Floats, Floats, list[list[Any]]]:
    at = np.array([_point(feature) for feature in features], np.float64).reshape(-1, 2)
    return (
        at[:, 1],
        at[:, 0],
        [single([_properties(feature).get(name) for feature in features], name) for name in extra],
    )


def _moved(features: Features, move: Move, extra: Sequence[str], cell_column: str | None) -> Features:
    """Return features with their points moved: their ids and properties as they are, and nothing else of them."""
    moved = move(*_positions(features, extra))
    made = []
    for k, feature in enumerate(features):
        north, east = float(moved.latitude[k]), float(moved.longitude[k])
        geometry = None if np.isnan(north) else {"type": "Point", "coordinates": [east, north]}
        kept: dict[str, Any] = {"type": "Feature"}
        if "id" in feature:
            kept["id"] = feature["id"]
        cell = {} if cell_column is None or moved.cells is None else {cell_column: moved.cells[k]}
        kept |= {"geometry": geometry, "properties": _properties(feature) | cell}
        made.append(kept)
    return made


def _point(feature: Any) -> tuple[float, float]:
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
        "Features that are not points (this is for the curator only)", "only points are perturbed", "Give points"
    )


def _refuse_other_crs(feature: Any) -> None:
    """Refuse what a database writes into a single feature, or its geometry, and the standard has dropped."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    for held in (feature, geometry):
        if isinstance(held, dict) and not _is_degrees(held.get("crs")):
            raise DataError(
                "A feature of another CRS than WGS 84 (this is for the curator only)",
                "it would be read as degrees of WGS 84",
                "Convert it to WGS 84, and leave out crs",
            )
