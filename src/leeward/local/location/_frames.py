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


def named_index(table: Any) -> list[str]:
    """Return what to call the index of a DataFrame among the columns that go out as they are; [] where it only counts.

    Whole numbers without a name count rows, also where rows were left out, sorted or put together.
    """
    names = [str(name) for name in table.index.names if name is not None]
    if not len(table) or (table.index.dtype.kind in "iu" and not names):
        return []
    return [f"the index ({', '.join(names)})" if names else "the index"]


def without_attrs(table: Any) -> Any:
    """Return a DataFrame without its ``attrs`` and metadata of its types, which may hold anything, such as true bounds."""
    table.attrs = {}
    import pyarrow as pa

    for at, (name, dtype) in enumerate(zip(table.columns, table.dtypes, strict=True)):
        kind = getattr(dtype, "pyarrow_dtype", None)
        if kind is not None and not (stripped := _bare(kind, str(name))).equals(kind, check_metadata=True):
            plain = pa.chunked_array(pa.array(table.iloc[:, at].array)).cast(stripped)
            table.isetitem(at, type(table.iloc[:, at].array)(plain))
    return table


def bare(table: Any) -> Any:
    """Return a pyarrow Table with its columns and without metadata of the table and its fields, which may hold anything."""
    import pyarrow as pa

    fields = [pa.field(field.name, _bare(field.type, field.name), field.nullable) for field in table.schema]
    arrays = [column.cast(field.type) for column, field in zip(table.columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def check_bare(schema: Any) -> None:
    """Refuse a schema of Arrow with a type of which it is not known where it holds metadata.

    Raises:
        DataError: naming the first such column.
    """
    for field in schema:
        _bare(field.type, field.name)


def _bare(kind: Any, name: str) -> Any:
    """Return a type whose inner fields have no metadata.

    Args:
        kind: a type of Arrow.
        name: the column's.

    Raises:
        DataError: it is not known where the type holds metadata.
    """
    import pyarrow as pa

    def inner(one: Any) -> Any:
        return pa.field(one.name, _bare(one.type, name), one.nullable)

    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name in {"arrow.uuid", "arrow.bool8"}:
        return kind
    if is_a.is_dictionary(kind) or is_a.is_run_end_encoded(kind):
        if _bare(kind.value_type, name) is kind.value_type:
            return kind
    elif not isinstance(kind, pa.BaseExtensionType):
        if not is_a.is_nested(kind):
            return kind
        if is_a.is_struct(kind):
            return pa.struct([inner(kind.field(k)) for k in range(kind.num_fields)])
        if is_a.is_fixed_size_list(kind):
            return pa.list_(inner(kind.value_field), kind.list_size)
        if is_a.is_map(kind):
            return pa.map_(inner(kind.key_field), inner(kind.item_field), keys_sorted=kind.keys_sorted)
        for is_it, made in (
            (is_a.is_list, pa.list_),
            (is_a.is_large_list, pa.large_list),
            (is_a.is_list_view, pa.list_view),
            (is_a.is_large_list_view, pa.large_list_view),
        ):
            if is_it(kind):
                return made(inner(kind.value_field))
    raise DataError(
        f"The column '{name}'",
        "types of its kind may hold metadata, such as bounds of the true values, that would be published unseen",
        "Leave the column out, or convert it to a plain type (its storage type)",
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
    found = perturb(*(table[name].to_numpy(np.float64, na_value=np.nan) for name in names))
    warn_untouched([column for column in table.columns if column not in names] + named_index(table))
    made = without_attrs(table.copy())
    for name, values in zip(names, found, strict=True):
        made[name] = values
    return made


def _not_numbers(name: str) -> NoReturn:
    raise DataError(f"The column '{name}'", "it holds something else than numbers", "Give degrees as numbers")


def _arrow(perturb: Perturb, table: Any, latitude: str | None, longitude: str | None) -> Any:
    check_bare(table.schema)
    names = [
        find_column(latitude, "latitude", table.column_names),
        find_column(longitude, "longitude", table.column_names),
    ]
    found = perturb(*(arrow_degrees(table[name], name) for name in names))
    warn_untouched(column for column in table.column_names if column not in names)
    return bare(arrow_with(table, names, found))


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
            "Geometries that are no points (this is for the curator only)", "only points are perturbed", "Give points"
        )
    ground = points.to_crs(4326)
    north, east = (np.where(absent, np.nan, axis.to_numpy(np.float64)) for axis in (ground.y, ground.x))
    found = perturb(north, east)
    moved = gpd.GeoSeries(gpd.points_from_xy(found[1], found[0]), index=table.index, crs=4326)
    moved[np.isnan(found[0])] = None
    warn_untouched([column for column in table.columns if column != points.name] + named_index(table))
    return without_attrs(table.copy()).set_geometry(moved.to_crs(points.crs).rename(points.name))
