# SPDX-License-Identifier: Apache-2.0
"""Tables in memory: GeoDataFrames, DataFrames and pyarrow Tables go in, the same kind comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._private import reading
from leeward.errors import DataError, InputError
from leeward.local._untouched import untouched, warn
from leeward.local.location._order import order_of_positions
from leeward.tables._columns import check_named
from leeward.tables._frames import frame_of, is_number, kinds_of

Table = TypeVar("Table")
"""A GeoDataFrame, a DataFrame or a pyarrow Table: what goes in comes out."""

Floats = NDArray[np.float64]
Perturb = Callable[[Floats, Floats], tuple[Floats, Floats]]


def find_column(name: str | None, what: str, known: Sequence[str], *, in_first_line: bool = False) -> str:
    """Return the name of a column that must be there; in the first line of a file of text, which may be a row of data."""
    if name is None:
        raise InputError(f"No column of {what}s was named", "a table has no geometry", f'Give {what}="…"')
    check_named([name], known, in_first_line=in_first_line)
    return name


def perturb_table(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    """Return a copy of a table with its positions perturbed. See `leeward.local.location.PlanarLaplace.perturb`."""
    with reading("The table of positions", "Give degrees as numbers, or a geometry of points"):
        if "geopandas.GeoDataFrame" in kinds_of(table):  # first: it is a DataFrame too, whose geometry would go out
            return _geo(perturb, table, latitude, longitude)
        frame = frame_of(
            table,
            known="GeoDataFrame, DataFrame and pyarrow Table are",
            instead="Convert it, or give arrays to perturb_points",
        )
        names = [find_column(latitude, "latitude", frame.names), find_column(longitude, "longitude", frame.names)]
        if names[0] == names[1]:
            raise InputError(
                f"The column '{names[0]}' for both latitudes and longitudes", "a position has one of each", "Name two"
            )
        for name in names:
            if not frame.has_numbers(name):
                _not_numbers(name)
        made = frame.copied(None, names)  # before anything is drawn: a column that cannot be passed on is refused
        north, east = (arrow_degrees(frame.arrow([name])[name], name) for name in names)
        found = perturb(north, east)
        warn(untouched(frame.others(names), "the position"), order_of_positions(north, east))
        for name, values in zip(names, found, strict=True):
            made.put(name, values, ~np.isnan(values))
        return made.held


def _not_numbers(name: str) -> NoReturn:
    raise DataError(f"The column '{name}'", "it holds something else than numbers", "Give degrees as numbers")


def arrow_degrees(column: Any, name: str) -> Floats:
    """Return a pyarrow column as floats, missing as NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_number(column.type):
        _not_numbers(name)
    filled: Floats = pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy()
    return filled


def _geo(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    gpd = optional("geopandas", "A GeoDataFrame")
    if latitude is not None or longitude is not None:
        raise InputError(
            "Columns of degrees for a GeoDataFrame",
            "its geometry holds the positions, and would be published as it is",
            "Leave latitude and longitude out, or give a plain DataFrame without the geometry",
        )
    if (at := table.active_geometry_name) is None:
        raise DataError("A GeoDataFrame without a geometry", "it holds no positions", 'Name one: .set_geometry("…")')
    frame = frame_of(table)
    check_named([str(at)], frame.names)
    points = table.geometry
    if points.crs is None:
        raise DataError("A geometry without a CRS", "its numbers may be anything", 'Say which: .set_crs("EPSG:4326")')
    absent = points.isna() | points.is_empty
    if not (points.geom_type[~absent] == "Point").all():
        raise DataError(
            "Geometries that are not points (this is for the curator only)", "only points are perturbed", "Give points"
        )
    ground = points.to_crs(4326)
    north, east = (np.where(absent, np.nan, axis.to_numpy(np.float64)) for axis in (ground.y, ground.x))
    made = frame.copied(None, [str(at)]).held
    found = perturb(north, east)
    moved = gpd.GeoSeries(gpd.points_from_xy(found[1], found[0]), crs=4326)
    moved[np.isnan(found[0])] = None
    warn(untouched(frame.others([str(at)]), "the position"), order_of_positions(north, east))
    made.isetitem(frame.names.index(str(at)), moved.to_crs(points.crs).array)  # whatever the index is
    return gpd.GeoDataFrame(made).set_geometry(at)
