# SPDX-License-Identifier: Apache-2.0
"""Parquet, by row groups: with columns of degrees, or with a geometry of points (GeoParquet)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

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
        if held is None:
            return None
        try:
            known = json.loads(held)
            name, columns = known["primary_column"], known["columns"]
            about = dict(columns[name])
            self.rows.schema.field(name)
            crs_is_degrees = "crs" not in about or _is_degrees(about["crs"])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise DataError(
                f"The geometry of '{self.path}'", "what the file says of it is not GeoParquet", "Write the file anew"
            ) from None
        if self.latitude is not None or self.longitude is not None:
            raise DataError(
                f"Columns of degrees for '{self.path}'",
                "it also has a geometry, which would be published as it is",
                "Leave latitude and longitude out, so that the geometry is perturbed; and drop these columns",
            )
        if len(columns) > 1 or about.get("encoding") != "WKB" or "covering" in about or not crs_is_degrees:
            raise DataError(
                f"The geometry of '{self.path}'",
                "only one column of points in WKB and WGS 84, without a column of bounding boxes, is read",
                "Write it so, or read it with geopandas and use PlanarLaplace(...).perturb",
            )
        optional("shapely", _GEOMETRY)  # now, before anything is charged
        # nothing of it is passed on but the name of the column: it may hold bounds of the true positions in any place
        made = {"encoding": "WKB", "geometry_types": ["Point"]} | ({"crs": _wgs84()} if "crs" in about else {})
        return name, {"version": "1.0.0", "primary_column": name, "columns": {name: made}}

    def _degrees(self, table: Any) -> tuple[Floats, Floats]:
        if self._geo is None:
            north, east = (arrow_degrees(table[name], name) for name in self.at)
            return north, east
        shapely = optional("shapely", _GEOMETRY)
        points = shapely.from_wkb(table[self._geo[0]].to_numpy(zero_copy_only=False))
        points = np.where(shapely.is_empty(points), None, points)  # missing, as in a GeoDataFrame
        if not np.isin(shapely.get_type_id(points), (0, -1)).all():
            raise DataError(
                "Geometries that are not points (this is for the curator only)",
                "only points are perturbed",
                "Give points",
            )
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


def _wgs84() -> Any:
    """The CRS in degrees as GeoParquet writes it: the same for every file."""
    import pyproj

    return pyproj.CRS(4326).to_json_dict()


def _is_degrees(crs: Any) -> bool:
    code = (crs or {}).get("id", {}).get("code")
    return code in (4326, "4326", "CRS84")
