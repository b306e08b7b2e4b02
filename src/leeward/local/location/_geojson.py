# SPDX-License-Identifier: Apache-2.0
"""GeoJSON: a feature collection, or a feature a line, of points.

Of a feature its ``id`` and its properties go out, which are named; of a collection nothing but its features. All other
members (bounding boxes, centres, names of places, what was searched for) are left out: they say where the points were.
"""

from __future__ import annotations

import abc
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leeward._encodings import UTF8
from leeward._private import reading
from leeward._progress import Progress
from leeward.errors import DataError
from leeward.local.location._files import Floats, Move, PositionFile, single
from leeward.tables._geojson import features, point, properties, read
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
                names |= dict.fromkeys(properties(feature))
                if isinstance(feature, dict) and "id" in feature:
                    self._has_id = True
                    _check_id(feature["id"])
        return list(names)

    def _columns_beside(self) -> list[str]:
        """The properties, and the features' own id: one name where a property is called so too."""
        return [*self.columns, *(["id"] if self._has_id and "id" not in self.columns else [])]

    @abc.abstractmethod
    def _batches(self) -> Iterator[Features]:
        """Read the features, some at a time."""

    def positions(self, extra: Sequence[str]) -> Iterator[tuple[Floats, Floats, list[list[Any]]]]:
        """Read positions and some other columns a batch at a time."""
        with reading(f"The file '{self.path}'"):
            for batch in self._batches():
                yield _positions(batch, extra)

    def _moved(self, batch: Features, move: Move, extra: Sequence[str], cell_column: str | None) -> Features:
        """Return features with their points moved: of their ids and properties what goes out, as it is, and nothing else."""
        moved = move(*_positions(batch, extra))
        made = []
        for k, feature in enumerate(batch):
            north, east = float(moved.latitude[k]), float(moved.longitude[k])
            geometry = None if np.isnan(north) else {"type": "Point", "coordinates": [east, north]}
            kept: dict[str, Any] = {"type": "Feature"}
            if "id" in feature and "id" not in self._left_out:
                kept["id"] = feature["id"]
            held = {name: value for name, value in properties(feature).items() if name not in self._left_out}
            cell = {} if cell_column is None or moved.cells is None else {cell_column: moved.cells[k]}
            kept |= {"geometry": geometry, "properties": held | cell}
            made.append(kept)
        return made


class GeoJson(_GeoJson):
    """A GeoJSON feature collection of points; it is one value, so it is read whole."""

    __slots__ = ("_features",)
    kind = "geojson"
    a_row = b'"Point"'

    def _columns(self) -> list[str]:
        self._features: Features = features(self.file)
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
            features += self._moved(batch, move, extra, cell_column)
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
                    batch.append(read(text))
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
                lines = [
                    json.dumps(feature, ensure_ascii=False) for feature in self._moved(batch, move, extra, cell_column)
                ]
                written += out.write("\n".join(lines) + "\n")
                done += len(batch)
                progress("at work on the rows", min(written / size, 1.0))
        return done


def _check_id(held: Any) -> None:
    """Refuse an id that the standard (RFC 7946, 3.2) has not: a position, say, would go out with it."""
    if isinstance(held, bool | list | dict):
        raise DataError(
            "An id of a feature that is neither a text nor a number (this is for the curator only)",
            "an id is published as it is, whatever lies in it",
            "Write it as a text or a number",
        )


def _positions(features: Features, extra: Sequence[str]) -> tuple[Floats, Floats, list[list[Any]]]:
    at = np.array([point(feature) for feature in features], np.float64).reshape(-1, 2)
    return (
        at[:, 1],
        at[:, 0],
        [single([properties(feature).get(name) for feature in features], name) for name in extra],
    )
