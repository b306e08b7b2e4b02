"""GeoJSON: a feature collection, or a feature a line, of points."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.errors import DataError
from leeward.geo.files import BATCH, Move, OnRows, PositionFile, in_plain_words

Floats = NDArray[np.float64]


class GeoJson(PositionFile):
    """A GeoJSON feature collection of points; it is one value, so it is read whole."""

    suffixes = (".geojson",)

    def _columns(self) -> list[str]:
        if self.latitude is not None or self.longitude is not None:
            raise DataError(
                f"Columns of degrees for '{self.path}'", "GeoJSON has a geometry", "Leave latitude and longitude out"
            )
        self._around, self._features = self._load()
        return list(dict.fromkeys(key for feature in self._features for key in feature.get("properties") or {}))

    def _load(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        held = json.loads(self.path.read_text("utf-8"))
        if not isinstance(held, dict) or not isinstance(held.get("features"), list):
            raise DataError(f"The file '{self.path}'", "it is no GeoJSON feature collection", "Write it as one")
        named = ((held.get("crs") or {}).get("properties") or {}).get("name", "CRS84")
        if not str(named).endswith(("CRS84", "4326")):
            raise DataError(
                f"The file '{self.path}'", "its coordinates are of another CRS", "GeoJSON is WGS 84: convert it"
            )
        return {key: value for key, value in held.items() if key not in {"features", "bbox"}}, held["features"]

    def read(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """Read some columns a batch at a time."""
        for start in range(0, len(self._features), BATCH):
            yield _properties(self._features[start : start + BATCH], names)

    def rewrite(self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, on_rows: OnRows) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        features = []
        for start in range(0, len(self._features), BATCH):
            features += moved_features(self._features[start : start + BATCH], move, extra, cell_column)
            on_rows(len(features) / len(self._features))
        target.write_text(json.dumps({**self._around, "features": features}, ensure_ascii=False) + "\n", "utf-8")
        return len(features)


class GeoJsonLines(PositionFile):
    """GeoJSON by lines, a feature each: the form for files larger than memory."""

    suffixes = (".geojsonl", ".geojsons", ".ndjson")

    def _columns(self) -> list[str]:
        if self.latitude is not None or self.longitude is not None:
            raise DataError(
                f"Columns of degrees for '{self.path}'", "GeoJSON has a geometry", "Leave latitude and longitude out"
            )
        found: dict[str, None] = {}
        for batch in self._batches():
            found |= dict.fromkeys(key for feature in batch for key in feature.get("properties") or {})
        return list(found)

    def _batches(self) -> Iterator[list[dict[str, Any]]]:
        batch: list[dict[str, Any]] = []
        with self.path.open(encoding="utf-8") as lines:
            for line in lines:
                if text := line.strip(" \t\r\n\x1e"):
                    batch.append(json.loads(text))
                if len(batch) == BATCH:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def read(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """Read some columns a batch at a time."""
        with in_plain_words(self.path):
            for batch in self._batches():
                yield _properties(batch, names)

    def rewrite(self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, on_rows: OnRows) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        done = 0
        with in_plain_words(self.path), target.open("w", encoding="utf-8") as out:
            for batch in self._batches():
                for feature in moved_features(batch, move, extra, cell_column):
                    out.write(json.dumps(feature, ensure_ascii=False) + "\n")
                done += len(batch)
                on_rows(0.5)
        return done


def _properties(features: list[dict[str, Any]], names: Sequence[str]) -> list[list[Any]]:
    return [[(feature.get("properties") or {}).get(name) for feature in features] for name in names]


def moved_features(
    features: list[dict[str, Any]], move: Move, extra: Sequence[str], cell_column: str | None
) -> list[dict[str, Any]]:
    """Return features with their points moved, and without bounding boxes and altitudes."""
    at = [_point(feature) for feature in features]
    moved = move(np.array([p[1] for p in at]), np.array([p[0] for p in at]), _properties(features, extra))
    made = []
    for k, feature in enumerate(features):
        north, east = moved.latitude[k], moved.longitude[k]
        geometry = None if np.isnan(north) else {"type": "Point", "coordinates": [float(east), float(north)]}
        kept = {key: value for key, value in feature.items() if key != "bbox"} | {"geometry": geometry}
        if cell_column is not None and moved.cells is not None:
            kept["properties"] = {**(feature.get("properties") or {}), cell_column: moved.cells[k]}
        made.append(kept)
    return made


def _point(feature: Any) -> tuple[float, float]:
    try:
        geometry = feature["geometry"]
        if geometry is None:
            return np.nan, np.nan
        if geometry["type"] == "Point":
            east, north = geometry["coordinates"][:2]
            return float(east), float(north)
    except (TypeError, KeyError, ValueError):
        pass
    raise DataError(
        "Features that are no points (this is for the curator only)", "only points are perturbed", "Give points"
    )
