# SPDX-License-Identifier: Apache-2.0
"""What columns mean to the engine: Ibis expressions for who, where and whether to keep a row (`times` says when).

A missing value is NULL, or NaN in a column of floats; in a CSV file, an empty field. A column without a type, because every
value in it is missing, has every meaning.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb
import duckdb.func as udf
import ibis
import numpy as np
import pyarrow as pa

from leeward._optional import optional
from leeward.engine._bind import InDuckDB
from leeward.engine._bound import Bound
from leeward.engine._builtin import leeward_h3
from leeward.engine._engines import Described
from leeward.engine._places import PlaceList, key_type
from leeward.errors import DataError
from leeward.query import Grid, Visits

if TYPE_CHECKING:
    import ibis.expr.types as ir


def columns_by_role(named: Mapping[str, str | None], keep: Iterable[str]) -> dict[str, str]:
    """Return what each column that a question reads is for, and its name."""
    columns = {role: column for role, column in named.items() if column is not None}
    return columns | {f"column {index} of keep": column for index, column in enumerate(keep, 1)}


_NUMBER = r"(?i)^\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)\s*$"


def number_written(texts: ir.Value) -> ir.Value:
    """Each text as a float: a decimal number, with or without an exponent, or an infinity; null where it is none.

    The cast of DuckDB alone would read ``+-5`` as −5 and ``1_0`` as ten.
    """
    return texts.re_search(_NUMBER).ifelse(texts, ibis.null()).try_cast("float64")


def who(rows: ir.Table, column: str, bound: Bound) -> ir.Value:
    """The person of each row; null where missing.

    Raises:
        DataError: ids are floats, and one is so large that several whole numbers are one float.
    """
    values = rows[column]
    if values.type().is_nested() or values.type().is_unknown():
        raise DataError(
            f"person = '{column}'",
            "the column does not hold single values of a type that ids have",
            "Name a column of ids, or write this one as text",
        )
    values = without_nan(values)
    if values.type().is_floating():
        exact = 2**53 if values.type().nbytes == 8 else 2**24
        (found,) = bound.fetch(rows.aggregate(beyond=(values.abs() >= exact).any())).to_pylist()
        if found["beyond"]:
            raise DataError(
                f"person = '{column}'",
                f"ids are floats, one of {exact:,} or more, where several whole numbers are one float, and several people"
                " one (that it is refused is a fact about the data: do not publish it)",
                "Give ids as whole numbers or as text, from the start: a float no longer shows which it was",
            )
    return values


def like_whole(values: ir.Value, declared: bool) -> ir.Value:
    """A column that is compared with whole numbers; where its values alone say its type, others are null.

    Such a column holds floats as soon as one number in it is not whole. That one is in no list of whole numbers, and must
    not decide over all the others.
    """
    if declared or not values.type().is_floating():
        return values
    return ((values.abs() < 2**53) & (values == values.floor())).ifelse(values, ibis.null()).cast("int64")


def key(rows: ir.Table, column: str, places: PlaceList, bound: Bound) -> ir.Value:
    """The place of each row, comparable with the keys of the list; null where missing."""
    values = rows[column]
    if key_type(places.keys.type) == "integers":
        values = like_whole(values, bound.declares(column))
    kind = values.type()
    if kind.is_null():
        return values.cast(ibis.Schema.from_pyarrow(pa.schema([("key", places.keys.type)]))["key"])
    family = (
        "integers" if kind.is_integer() else "texts" if kind.is_string() else "floats" if kind.is_floating() else ""
    )
    wanted = key_type(places.keys.type)
    if family != wanted:
        raise DataError(
            f"The places are {family or 'of another type'} in the visits' column '{column}' and {wanted} in the list",
            "a match would depend on how one is written as the other (columns of CSV files are always text)",
            "Store both with one type",
        )
    if kind.is_floating() and kind.nbytes * 8 != places.keys.type.bit_width:
        raise DataError(
            f"The places are floats of {kind.nbytes * 8} bits in the visits' column '{column}' and of"
            f" {places.keys.type.bit_width} in the list",
            "0.1 is another number in each, so a place would match or not by how it is written in binary",
            "Store both with one type; texts and whole numbers are better keys",
        )
    return without_nan(values)


def kept(rows: ir.Table, source: Described) -> ir.Value:
    """Whether each row passes the filter of its source; a missing value does not."""
    passes = ibis.literal(True)
    for column, allowed in source.keep.items():
        kind = rows[column].type()
        wanted = type(allowed[0])
        if kind.is_null():
            passes = ibis.literal(False)
            continue
        fits = kind.is_string() if wanted is str else kind.is_boolean() if wanted is bool else kind.is_numeric()
        if not fits or (wanted is int and kind.is_boolean()):
            raise DataError(
                f"The filter on '{column}' allows {_named[wanted]}",
                "the column holds values of another type (columns of CSV files are always text)",
                "Give allowed values of the column's type",
            )
        if kind.is_floating() and not all(float(np.float32(n) if kind.nbytes == 4 else n) == n for n in allowed):
            raise DataError(
                f"The filter on '{column}' allows a whole number that floats of {8 * kind.nbytes} bits do not hold",
                "the nearest that they hold would be taken for it",
                "Allow numbers below 2^53 (2^24 where floats have 32 bits), or store the column as whole numbers",
            )
        beyond = 10 ** (kind.precision - kind.scale) if kind.is_decimal() else None
        # what is beyond the column's type is in no row, and the engine has no number of that type to compare with
        held = [each for each in allowed if beyond is None or abs(int(each)) < beyond]
        passes &= rows[column].isin(held).fill_null(False)
    return passes


_STAND_INS = (
    *(
        "",
        "-",
        "--",
        "---",
        ".",
        "?",
        "??",
        "???",
        "#n/a",
        "(null)",
        "<null>",
        "<na>",
        "(none)",
        "(blank)",
        "(not set)",
        "not set",
        "\\n",
        "n/a",
        "n.a.",
        "na",
        "nan",
        "nil",
    ),
    *("none", "null", "unknown", "undefined", "missing", "not available", "not known", "anonymous", "anon", "guest"),
    *(
        "unidentified",
        "unbekannt",
        "anonym",
        "inconnu",
        "anonyme",
        "desconocido",
        "desconhecido",
        "sconosciuto",
        "onbekend",
    ),
)
"""How tables write that they do not know who it was, in small letters."""

_NO_UUID = "00000000-0000-0000-0000-000000000000"
_NO_DEVICE = ("00:00:00:00:00:00", "00-00-00-00-00-00", "02:00:00:00:00:00", "ff:ff:ff:ff:ff:ff")
"""What telephones give for the ids of themselves and of their radios where their owners, or the system, keep them back."""

_HASHED = tuple(
    hashlib.new(how, each.encode(), usedforsecurity=False).hexdigest()
    for each in ("", _NO_UUID, "null", "NULL", "None", "nan", "NaN", "unknown", "Unknown", "N/A", "anonymous")
    for how in ("md5", "sha1", "sha256")
)
"""The same where somebody put hashes, without a secret, in the place of all ids."""

_SHORT = 2 * max(map(len, _STAND_INS))
_LONG = sorted((_NO_UUID, _NO_UUID.replace("-", ""), f"{{{_NO_UUID}}}", *_HASHED), key=len)


def stands_in(values: ir.Value) -> ir.BooleanValue:
    """Whether ids are texts, or a UUID, that stand in for people who are not known; never of other types."""
    if values.type().is_uuid():
        return (values == ibis.uuid(_NO_UUID)).fill_null(False)
    if not values.type().is_string():
        return ibis.literal(False)
    length = values.length()  # first, by cases: engines then look closer at few ids, and lower no long ones
    return ibis.cases(
        (length <= _SHORT, values.strip().lower().isin(_STAND_INS + _NO_DEVICE)),
        *((length == each, values.isin(tuple(alike))) for each, alike in itertools.groupby(_LONG, len)),
        else_=False,
    ).fill_null(False)


def point(rows: ir.Table, visits: Visits, grid: Grid) -> tuple[ir.Value, ir.Value, ir.Value]:
    """The latitude and the longitude of each row as floats, null where one is missing, and whether they say no place.

    They say none where one is not a number, or is so large that it is not on the Earth: longitudes of 0° to 360°, or degrees
    in another unit, would otherwise lie outside the box, and what is there be safe. Both are exactly 0 where a device did
    not know: so that says no place either, unless it lies in the box.
    """
    degrees, unreadable = [], ibis.literal(False)
    for column, most in ((visits.latitude, 90), (visits.longitude, 180)):
        assert column is not None
        values = rows[column]
        kind = values.type()
        if kind.is_string():
            number = number_written(values)
            unreadable |= values.notnull() & number.isnull()
        elif kind.is_null() or (kind.is_numeric() and not kind.is_boolean()):
            number = values.cast("float64")
        else:
            raise DataError(f"The column '{column}'", "it does not hold numbers of degrees", "Name another column")
        degrees.append(without_nan(number))
        unreadable |= (degrees[-1].abs() > most).fill_null(False)
    if not (grid.south <= 0 < grid.north and grid.west <= 0 < grid.east):
        unreadable |= ((degrees[0] == 0) & (degrees[1] == 0)).fill_null(False)
    both = degrees[0].notnull() & degrees[1].notnull()
    latitude, longitude = (both.ifelse(value, ibis.null()) for value in degrees)
    return latitude, longitude, unreadable


def square(grid: Grid, latitude: ir.Value, longitude: ir.Value) -> ir.Value:
    """The index, in the list of a ``metres`` grid, of the cell that holds a point; null outside the half-open box."""
    rows, columns = grid.shape
    height, width = grid.step
    # Clipped first: no arithmetic meets an infinity. The last row or column is never left by rounding.
    row = ((latitude.clip(grid.south, grid.north) - grid.south) / height).floor().cast("int64").clip(0, rows - 1)
    column = ((longitude.clip(grid.west, grid.east) - grid.west) / width).floor().cast("int64").clip(0, columns - 1)
    inside = (latitude >= grid.south) & (latitude < grid.north) & (longitude >= grid.west) & (longitude < grid.east)
    return inside.ifelse(row * columns + column, ibis.null())


def hexagon(grid: Grid, latitude: ir.Value, longitude: ir.Value, bound: Bound) -> ir.Value:
    """The H3 cell, as an integer, that holds a point; null for no point on the Earth.

    Whether the point is in the box does not matter: a listed cell is a place wherever it lies, and one that the box cuts
    would otherwise lose whoever is in it beyond the edge.
    """
    source = bound.whole
    if not isinstance(source, InDuckDB):
        raise DataError(
            "A grid of H3 cells, counted by another engine than DuckDB",
            "it has no function that knows them",
            "Use a grid of metres or a list of places; or leave engine out: DuckDB then counts the table here",
        )
    h3 = optional("h3.api.basic_int", "A grid of H3 cells")

    def cell(latitudes: pa.Array, longitudes: pa.Array, resolutions: pa.Array) -> pa.Array:
        points = zip(latitudes.to_pylist(), longitudes.to_pylist(), resolutions.to_pylist(), strict=True)
        return pa.array([None if each[0] is None else h3.latlng_to_cell(*each) for each in points], pa.int64())

    with suppress(duckdb.NotImplementedException):  # another question about this source has made it
        source.connection.create_function(
            "leeward_h3", cell, ["DOUBLE", "DOUBLE", "TINYINT"], "BIGINT", type=udf.ARROW, null_handling=udf.SPECIAL
        )
    on_earth = (latitude.abs() <= 90) & (longitude.abs() <= 180)
    degrees = (on_earth.ifelse(value, ibis.null()) for value in (latitude, longitude))
    return leeward_h3(*degrees, ibis.literal(grid.h3, "int8"))


def without_nan(values: ir.Value) -> ir.Value:
    return values.isnan().ifelse(ibis.null(), values) if values.type().is_floating() else values


_named = {str: "texts", int: "whole numbers", bool: "truth values"}
