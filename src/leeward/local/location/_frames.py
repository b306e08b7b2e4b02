"""Tables in memory: GeoDataFrames, DataFrames and pyarrow Tables go in, the same kind comes out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._private import reading
from leeward.errors import DataError, InputError, no_column
from leeward.tables._bare import bare, named_index, without_attrs

Table = TypeVar("Table")
"""A GeoDataFrame, a DataFrame or a pyarrow Table: what goes in comes out."""

Floats = NDArray[np.float64]
Perturb = Callable[[Floats, Floats], tuple[Floats, Floats]]

_PLACE_WORDS: Final = ("lat", "lon", "lng", "geom", "geohash", "wkt", "wkb", "address", "postcode", "zip", "h3")


def untouched(columns: Iterable[str]) -> str | None:
    """Return a warning that names the columns that are published as they are, or None where there are none."""
    left = [str(column) for column in columns]
    if not left:
        return None
    placed = [column for column in left if any(word in column.lower() for word in _PLACE_WORDS)]
    also = f"; of these {', '.join(placed)} may say where people are" if placed else ""
    return (
        f"these columns are published as they are, and noise on the position protects nothing that they say: "
        f"{', '.join(left)}{also}"
    )


def warn_untouched(columns: Iterable[str]) -> None:
    """Warn of columns that are published as they are."""
    if (text := untouched(columns)) is not None:
        warnings.warn(text[0].upper() + text[1:], UserWarning, stacklevel=5)


def find_column(name: str | None, what: str, known: Iterable[str], *, in_first_line: bool = False) -> str:
    """Return the name of a column that must be there; in the first line of a file of text, which may be a row of data.

    Raises:
        InputError: it was not named.
        DataError: there is no such column.
    """
    if name is None:
        raise InputError(f"No column of {what}s was named", "a table has no geometry", f'Give {what}="…"')
    known = [str(column) for column in known]
    if name not in known:
        raise no_column(name, known, in_first_line=in_first_line)
    return name


def perturb_table(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    """Return a copy of a table with its positions perturbed. See `leeward.local.location.PlanarLaplace.perturb`."""
    kind = {cls.__module__.split(".")[0] + "." + cls.__name__ for cls in type(table).__mro__}
    readers = {"geopandas.GeoDataFrame": _geo, "pandas.DataFrame": _pandas, "pyarrow.Table": _arrow}
    for name, read in readers.items():
        if name in kind:
            with reading("The table of positions", "Give degrees as numbers, or a geometry of points"):
                return read(perturb, table, latitude, longitude)
    raise InputError(
        f"A table of type {type(table).__name__}",
        "only GeoDataFrame, DataFrame and pyarrow Table are read",
        "Convert it, or give arrays to perturb_points",
    )


def _pandas(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    names = [find_column(latitude, "latitude", table.columns), find_column(longitude, "longitude", table.columns)]
    for name in names:
        if getattr(table[name].dtype, "kind", "O") not in "iuf":
            _not_numbers(name)
    made = without_attrs(table.copy())  # before anything is drawn: a column that cannot be passed on is refused
    found = perturb(*(table[name].to_numpy(np.float64, na_value=np.nan) for name in names))
    warn_untouched([column for column in table.columns if column not in names] + named_index(table))
    for name, values in zip(names, found, strict=True):
        made[name] = values
    return made


def _not_numbers(name: str) -> NoReturn:
    raise DataError(f"The column '{name}'", "it holds something else than numbers", "Give degrees as numbers")


def _arrow(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    names = [
        find_column(latitude, "latitude", table.column_names),
        find_column(longitude, "longitude", table.column_names),
    ]
    kept = bare(table)
    found = perturb(*(arrow_degrees(table[name], name) for name in names))
    warn_untouched(column for column in table.column_names if column not in names)
    return arrow_with(kept, names, found)


def arrow_degrees(column: Any, name: str) -> Floats:
    """Return a pyarrow column as floats, missing as NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        _not_numbers(name)
    filled: Floats = pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy()
    return filled


def arrow_with(table: Any, names: list[str], found: tuple[Floats, Floats]) -> Any:
    """Return the pyarrow table with these columns replaced; NaN becomes missing."""
    import pyarrow as pa

    for name, values in zip(names, found, strict=True):
        at = table.column_names.index(name)
        table = table.set_column(at, pa.field(name, pa.float64()), pa.array(values, mask=np.isnan(values)))
    return table


def _geo(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    gpd = optional("geopandas", "A GeoDataFrame")
    if latitude is not None or longitude is not None:
        raise InputError(
            "Columns of degrees for a GeoDataFrame",
            "its geometry holds the positions, and would be published as it is",
            "Leave latitude and longitude out, or give a plain DataFrame without the geometry",
        )
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
    made = without_attrs(table.copy())
    found = perturb(north, east)
    moved = gpd.GeoSeries(gpd.points_from_xy(found[1], found[0]), index=table.index, crs=4326)
    moved[np.isnan(found[0])] = None
    warn_untouched([column for column in table.columns if column != points.name] + named_index(table))
    return made.set_geometry(moved.to_crs(points.crs).rename(points.name))
