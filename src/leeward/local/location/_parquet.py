# SPDX-License-Identifier: Apache-2.0
"""Parquet, by row groups: with columns of degrees, or with a geometry of points (GeoParquet)."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward.errors import DataError
from leeward.local.location._files import Floats, Moved
from leeward.local.location._frames import arrow_degrees, find_column
from leeward.local.location._tables import TablePositions
from leeward.tables._bare import bare
from leeward.tables._frames import ArrowFrame
from leeward.tables._rows import ParquetRows

_GEOMETRY = "A geometry in Parquet"


class ParquetPositions(TablePositions):
    """Parquet, by row groups; with a geometry of points if it is GeoParquet."""

    __slots__ = ("_geo",)
    rows: ParquetRows
    kind = "parquet"

    def rows_at_most(self) -> int:
        """Return the number of rows that the file tells."""
        import pyarrow.parquet as pq

        with self.rows.reading():
            return int(pq.read_metadata(self.file.path).num_rows)

    def _found(self) -> list[str]:
        self._geo = self._geometry()
        if self._geo is not None:
            return [self._geo[0]]
        names = self.rows.columns
        return [find_column(self.latitude, "latitude", names), find_column(self.longitude, "longitude", names)]

    def _geometry(self) -> tuple[str, dict[str, Any]] | None:
        held = (self.rows.schema.metadata or {}).get(b"geo")
        native = self.rows.native_geometries()
        if held is None and native and (self.latitude is not None or self.longitude is not None):
            raise self._beside(f"it also has a geometry, '{native[0]}'")
        if held is None and native:
            raise DataError(
                f"The geometry of '{self.path}'",
                "it is of Parquet's own type, and of geometries only GeoParquet is read",
                "Write it as GeoParquet (with geopandas: to_parquet), or as columns of degrees",
            )
        if held is None:
            return None
        try:
            known = json.loads(held)
            name, columns = known["primary_column"], known["columns"]
            about = dict(columns[name])
            kind = str(self.rows.schema.field(name).type)
            crs_is_degrees = "crs" not in about or _is_degrees(about["crs"])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise DataError(
                f"The geometry of '{self.path}'", "what the file says of it is not GeoParquet", "Write the file anew"
            ) from None
        if self.latitude is not None or self.longitude is not None:
            raise self._beside("it also has a geometry")
        if (
            kind not in _BINARY
            or {*native} - {name}
            or len(columns) > 1
            or about.get("encoding") != "WKB"
            or "covering" in about
            or not crs_is_degrees
        ):
            raise DataError(
                f"The geometry of '{self.path}'",
                "only one column of points in WKB and WGS 84, without a column of bounding boxes, is read",
                "Write it so, or read it with geopandas and use PlanarLaplace(...).perturb",
            )
        optional("shapely", _GEOMETRY)  # now, before anything is charged
        # nothing of it is passed on but the name of the column: it may hold bounds of the true positions in any place
        made = {"encoding": "WKB", "geometry_types": ["Point"]} | ({"crs": _wgs84()} if "crs" in about else {})
        return name, {"version": "1.0.0", "primary_column": name, "columns": {name: made}}

    def _beside(self, what: str) -> DataError:
        return DataError(
            f"Columns of degrees for '{self.path}'",
            f"{what}, which would be published as it is",
            "Drop it, or leave latitude and longitude out, so that the geometry is perturbed; and drop these columns",
        )

    def _degrees(self, table: Any) -> tuple[Floats, Floats]:
        if self._geo is None:
            north, east = (arrow_degrees(table[name], name) for name in self.at)
            return north, east
        shapely = optional("shapely", _GEOMETRY)
        points = shapely.from_wkb(_points_alone(table[self._geo[0]]))
        if not np.isin(shapely.get_srid(points[points != None]), (0, 4326)).all():  # noqa: E711  # of each element
            raise DataError(
                "Points of another CRS than WGS 84 (this is for the curator only)",
                "each says which, and the file does not",
                "Convert them to WGS 84",
            )
        points = np.where(shapely.is_empty(points), None, points)  # missing, as in a GeoDataFrame
        return shapely.get_y(points), shapely.get_x(points)

    def _with(self, table: Any, moved: Moved) -> Any:
        if self._geo is None:
            made = ArrowFrame(table).copied(None, self.at)
            for name, values in zip(self.at, (moved.latitude, moved.longitude), strict=True):
                made.put(name, values, ~np.isnan(values))
            return made.held
        import pyarrow as pa

        shapely = optional("shapely", _GEOMETRY)
        absent = np.isnan(moved.latitude)
        binary = np.full(len(absent), None, object)
        binary[~absent] = shapely.to_wkb(shapely.points(moved.longitude[~absent], moved.latitude[~absent]))
        (name,) = self.at
        column = pa.array(binary, pa.binary())
        made = table.set_column(table.column_names.index(name), pa.field(name, pa.binary()), column)
        return bare(made).replace_schema_metadata({b"geo": json.dumps(self._geo[1]).encode()})


def _points_alone(column: Any) -> NDArray[np.object_]:
    """Return well-known binary of points, missing as None.

    What is no point is refused before it is parsed: of deep nests and of curves the parser makes an end of the process, or
    an error that tells nobody what is wrong.
    """
    held: NDArray[np.object_] = column.to_numpy(zero_copy_only=False)
    if not all(value is None or _is_point(value) for value in held):
        raise DataError(
            "Geometries that are not points (this is for the curator only)", "only points are perturbed", "Give points"
        )
    return held


def _is_point(wkb: bytes) -> bool:
    """Whether a geometry says that it is a point: by its second to fifth bytes, in the order that its first byte says."""
    if wkb[:1] not in (b"\0", b"\1") or not 5 <= len(wkb) <= _LONGEST_POINT:
        return False
    kind = int.from_bytes(wkb[1:5], "big" if wkb[:1] == b"\0" else "little")
    return kind & _KIND in _POINTS


_BINARY: Final = ("binary", "large_binary", "binary_view")

_LONGEST_POINT: Final = 41
"""Bytes of a point: order, kind, four coordinates, and in the extended form (EWKB) the code of a CRS."""

_KIND: Final = 0x1FFFFFFF
"""The kind without the three bits that say in the extended form which coordinates and whether a code follow."""

_POINTS: Final = (1, 1001, 2001, 3001)
"""A point; with height, with measure, with both."""


def _wgs84() -> Any:
    """The CRS in degrees as GeoParquet writes it: the same for every file."""
    import pyproj

    return pyproj.CRS(4326).to_json_dict()


def _is_degrees(crs: Any) -> bool:
    code = (crs or {}).get("id", {}).get("code")
    return code in (4326, "4326", "CRS84")
