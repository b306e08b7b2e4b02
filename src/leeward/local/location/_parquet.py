"""Parquet, by row groups: with columns of degrees, or with a geometry of points (GeoParquet)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._private import reading
from leeward.errors import DataError
from leeward.local.location._files import BATCH, Move, Moved, OnRows, PositionFile, single
from leeward.local.location._frames import arrow_degrees, arrow_with, bare, check_bare, find_column

Floats = NDArray[np.float64]

_OF_A_COLUMN = ("encoding", "geometry_types")
_OF_A_CRS = ("$schema", "type", "name", "datum", "datum_ensemble", "coordinate_system", "id")
"""What is passed on of GeoParquet's metadata; of all other metadata, nothing: it may hold bounds of the true positions."""

_GEOMETRY = "A geometry in Parquet"


class ParquetPositions(PositionFile):
    """Parquet, by row groups; with a geometry of points if it is GeoParquet."""

    __slots__ = ("_geo", "_schema")
    suffixes = (".parquet", ".pq")

    def _columns(self) -> list[str]:
        import pyarrow.parquet as pq

        self._schema = pq.read_schema(self.path)
        check_bare(self._schema)
        names = list(self._schema.names)
        if len(set(names)) < len(names):
            raise DataError(f"The file '{self.path}'", "two columns have one name", "Rename one")
        self._geo = self._geometry()
        if self._geo is None:
            find_column(self.latitude, "latitude", names)
            find_column(self.longitude, "longitude", names)
        return names

    def _geometry(self) -> tuple[str, dict[str, Any]] | None:
        held = (self._schema.metadata or {}).get(b"geo")
        if held is None:
            return None
        try:
            known = json.loads(held)
            name, columns = known["primary_column"], known["columns"]
            about = dict(columns[name])
            crs_is_degrees = _is_degrees(about.get("crs", {"id": {"code": 4326}}))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise DataError(
                f"The geometry of '{self.path}'", "what the file says of it is no GeoParquet", "Write the file anew"
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
        crs = about.get("crs")
        about = {key: about[key] for key in _OF_A_COLUMN if key in about} | (
            {"crs": {key: crs[key] for key in _OF_A_CRS if key in crs}} if crs else {}
        )
        return name, {"version": known.get("version", "1.0.0"), "primary_column": name, "columns": {name: about}}

    @property
    def others(self) -> list[str]:
        """The columns that are written as they are."""
        return [name for name in super().others if self._geo is None or name != self._geo[0]]

    def positions(self, extra: Sequence[str]) -> Iterator[tuple[Floats, Floats, list[list[Any]]]]:
        """Read positions and some other columns a batch at a time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        at = [self.latitude, self.longitude] if self._geo is None else [self._geo[0]]
        with reading(f"The file '{self.path}'"), pq.ParquetFile(self.path, page_checksum_verification=True) as held:
            for batch in held.iter_batches(BATCH, columns=list(dict.fromkeys([*at, *extra]))):
                table = pa.Table.from_batches([batch])
                yield *self._degrees(table), [single(table[name].to_pylist(), name) for name in extra]

    def rewrite(self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, on_rows: OnRows) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        done, writer = 0, None
        with reading(f"The file '{self.path}'"), pq.ParquetFile(self.path, page_checksum_verification=True) as held:
            try:
                for batch in held.iter_batches(BATCH):
                    table = pa.Table.from_batches([batch])
                    north, east = self._degrees(table)
                    moved = move(north, east, [single(table[name].to_pylist(), name) for name in extra])
                    table = self._with(table, moved)
                    if cell_column is not None:
                        table = table.append_column(cell_column, pa.array(moved.cells, pa.string()))
                    table = bare(table).replace_schema_metadata(self._metadata())
                    writer = writer or pq.ParquetWriter(target, table.schema)
                    writer.write_table(table)
                    done += len(batch)
                    on_rows(done / max(held.metadata.num_rows, 1))
                if writer is None:  # no rows at all
                    pq.write_table(bare(held.read()).replace_schema_metadata(self._metadata()), target)
            finally:
                if writer is not None:
                    writer.close()
        return done

    def _metadata(self) -> Mapping[bytes, bytes]:
        return {} if self._geo is None else {b"geo": json.dumps(self._geo[1]).encode()}

    def _degrees(self, table: Any) -> tuple[Floats, Floats]:
        if self._geo is None:
            assert self.latitude is not None
            assert self.longitude is not None
            return arrow_degrees(table[self.latitude], self.latitude), arrow_degrees(
                table[self.longitude], self.longitude
            )
        shapely = optional("shapely", _GEOMETRY)
        points = shapely.from_wkb(table[self._geo[0]].to_numpy(zero_copy_only=False))
        if not np.isin(shapely.get_type_id(points), (0, -1)).all():
            raise DataError(
                "Geometries that are no points (this is for the curator only)",
                "only points are perturbed",
                "Give points",
            )
        return shapely.get_y(points), shapely.get_x(points)

    def _with(self, table: Any, moved: Moved) -> Any:
        if self._geo is None:
            assert self.latitude is not None
            assert self.longitude is not None
            return arrow_with(table, [self.latitude, self.longitude], (moved.latitude, moved.longitude))
        import pyarrow as pa

        shapely = optional("shapely", _GEOMETRY)
        absent = np.isnan(moved.latitude)
        binary = shapely.to_wkb(shapely.points(moved.longitude, moved.latitude))
        at = table.column_names.index(self._geo[0])
        return table.set_column(at, pa.field(self._geo[0], pa.binary()), pa.array(binary, pa.binary(), mask=absent))


def _is_degrees(crs: Any) -> bool:
    code = (crs or {}).get("id", {}).get("code")
    return code in (4326, "4326", "CRS84")
