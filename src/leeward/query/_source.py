# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the tables a query reads: the private visits, and the public list of places.

Nothing here opens a file or holds a number that was counted: that is the engine's work.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args
from zoneinfo import ZoneInfo, available_timezones

from leeward._plain import echo
from leeward._postgres import is_address
from leeward._spark import Spark, is_frame
from leeward._taught import describing, public_list
from leeward.errors import SpecError, check_choice
from leeward.exact._real import plainly
from leeward.query._table import Source
from leeward.tables._given import Given

#: The most cells a grid may have.
MOST_CELLS = 10**6

#: Metres in one degree of latitude, on the sphere of the Earth's mean radius, 6,371,008.8 m.
METRES_PER_DEGREE = math.pi * 6_371_008.8 / 180

Allowed = str | int | bool

Engine = Literal["duckdb", "postgres", "spark"]
"""What counts a private table: DuckDB on this machine, PostgreSQL where the table lies, or Spark where that reads it."""

EACH_ROW = "each row"
"""What ``person`` says where every row is a person of its own; so no column of this name can be named."""


def no_person(where: str) -> SpecError:
    """Return the refusal of a private table of which nobody said whose its rows are; the unit is never assumed."""
    return SpecError(
        f"{where}person is missing",
        "the promise is about persons, and it must be said whose each row is",
        f'Give person = "the column that says who", or person = "{EACH_ROW}" if every row is a person of its own: the'
        " promise is then about a single row, and whoever has several rows is protected for each of them alone, not for all"
        " of them together",
    )


@dataclass(frozen=True, eq=False)
class Visits:
    """A private table with one row per visit. Build it with `visits`.

    Attributes:
        source: where the table is: a path, a glob, a list of paths, a DataFrame, an Arrow table or an Ibis table; or a
            `Source`, which says besides which table of a file it is and how its texts are written.
        person: the column that says who.
        place: the column that says where, as a key of the public list; None where a grid is used.
        time: the column that says when.
        latitude: the column of degrees north, for grids.
        longitude: the column of degrees east, for grids.
        keep: only rows whose column holds one of the allowed values take part.
        timezone: the zone in which times without an offset are read (a name such as ``Asia/Tokyo``).
        engine: what counts: ``duckdb``, on this machine; ``postgres``, inside the database of PostgreSQL that holds it; or
            ``spark``, which reads Parquet files and DataFrames of its own. A `Spark` says how it is started, where none runs
            in this program yet, or where it is reached.
    """

    source: Source
    person: str
    place: str | None
    time: str | None
    latitude: str | None
    longitude: str | None
    keep: Mapping[str, tuple[Allowed, ...]] = field(default_factory=dict)
    timezone: str | None = None
    engine: Engine | Spark = "duckdb"

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", Source.of(self.source))


def checked_engine(engine: object, source: Source) -> Engine | Spark:
    """Refuse an engine that does not count what is in this source; return it, Spark with its settings."""
    started = engine if isinstance(engine, Spark) else None
    if started is None:
        check_choice("engine", engine, get_args(Engine), "there is no such engine", error=SpecError)
        started = Spark() if engine == "spark" else None
    if is_frame(source.held()) and started is None:
        raise SpecError(
            f'engine = "{engine}"', "the table is a DataFrame of Spark, and only Spark counts it", 'Give engine="spark"'
        )
    if started is not None and (is_address(source.held()) or (source.in_memory and not is_frame(source.held()))):
        raise SpecError(
            'engine = "spark"',
            "Spark counts Parquet files and DataFrames of its own, and the table is neither",
            "Leave engine out. Of a database, a DataFrame of Spark may be made: spark.read.jdbc(…)",
        )
    if engine == "postgres" and not is_address(source.held()):
        raise SpecError(
            'engine = "postgres"',
            "the table is in no PostgreSQL database, and is counted inside one",
            "Name the database: postgresql://user@host/database. Or leave engine out",
        )
    return cast(Engine, engine) if started is None else started


@describing
def visits(
    source: Given | Source,
    *,
    person: str | None = None,
    place: str | None = None,
    time: str | None = None,
    latitude: str | None = None,
    longitude: str | None = None,
    keep: Mapping[str, Iterable[Allowed]] | None = None,
    timezone: str | None = None,
    engine: Engine | Spark = "duckdb",
) -> Visits:
    """Describe a private table of visits. See `Visits` for what each argument means.

    ``person`` is required. A relative path is relative to the working directory of now, not of when the table is read.

    Raises:
        SpecError: an argument is missing or malformed; nothing has been opened yet.
    """
    if person is None:
        raise no_person("")
    if person == EACH_ROW:
        raise SpecError(
            f'person = "{EACH_ROW}" where visitors are counted',
            "distinct people are counted: every visit of somebody would count anew, and the promise would be about a single"
            " visit",
            'Name the column that says who was there: person = "user"',
        )
    _check_column("person", person)
    for key, column in (("place", place), ("time", time), ("latitude", latitude), ("longitude", longitude)):
        if column is not None:
            _check_column(key, column)
    _check_pair(latitude, longitude)
    if place is None and latitude is None:
        raise SpecError(
            "The visits name no place",
            "a row must say where it happened",
            "Name the `place` column, or `latitude` and `longitude` for a grid; points of a GeoDataFrame or of GeoJSON are"
            " columns of these two names",
        )
    if timezone is not None:
        check_zone(timezone)
    found = Source.of(source)
    if found.writing.time_format is not None and time is None:
        raise SpecError("time_format", "no column of times is named", "Name it: time")
    kept = _kept(keep or {})
    return Visits(found, person, place, time, latitude, longitude, kept, timezone, checked_engine(engine, found))


@dataclass(frozen=True, eq=False)
class Places:
    """A public table with one row per place. Its order is the order of the answers. Build it with `places`."""

    source: Source
    place: str
    latitude: str | None = None
    longitude: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", Source.of(self.source))


@describing
def places(
    source: Given | Source,
    *,
    place: str,
    latitude: str | None = None,
    longitude: str | None = None,
    name: str | None = None,
) -> Places:
    """Describe the public list of places: one row a place, in the order of the answers.

    Args:
        source: a file, a pattern of files, a table in memory or a `Source`, as for `visits`. It must be public.
        place: the column of keys; each occurs once, and is compared with the visits' keys letter by letter.
        latitude: the column of latitudes in degrees, for the map; with ``longitude``.
        longitude: that of longitudes.
        name: the column of names to show; by default keys are shown.

    Raises:
        SpecError: an argument is malformed.
    """
    _check_column("place", place)
    for key, column in (("latitude", latitude), ("longitude", longitude), ("name", name)):
        if column is not None:
            _check_column(key, column)
    _check_pair(latitude, longitude)
    found = Source.of(source)
    if found.time_unit is not None or found.writing.time_format is not None:
        raise SpecError("Times of a public list", "places have none", "Leave time_format and time_unit out")
    if is_address(found.held()):
        raise SpecError(
            "The public list in a database",
            "its order is the order of the answers, and a table of a database has no order",
            "Write it into a file, in the order that you want",
        )
    return Places(found, place, latitude, longitude, name)


@dataclass(frozen=True)
class Grid:
    """The cells of a public box, as the public list of places. Build it with `grid`.

    With ``metres``, the cells are squares of that side, named ``r{row}c{col}`` from the south-west corner and listed
    row by row. Degrees become metres by the equirectangular map at the box's middle latitude φ: one degree north is
    111,195.08 m, one degree east that times cos φ. The box is half-open: its southern and western edges belong to it,
    the northern and eastern do not. Where the box is not a whole number of cells, the last row and column are cut short.

    With ``h3``, the cells are those H3 cells of that resolution which overlap the box, listed by their id. The box only
    says which are listed: a cell is a place as a whole, and whoever is in it beyond the edge of the box counts too.
    """

    west: float
    south: float
    east: float
    north: float
    metres: float | None = None
    h3: int | None = None

    @property
    def step(self) -> tuple[float, float]:
        """The height and the width of a cell, in degrees (``metres`` grids only)."""
        assert self.metres is not None
        height = self.metres / METRES_PER_DEGREE
        return height, height / math.cos(math.radians((self.south + self.north) / 2))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns (``metres`` grids only)."""
        height, width = self.step
        # Slightly less than the exact quotient, so that rounding cannot add a row of no height.
        rows = math.ceil((self.north - self.south) / height - 1e-9)
        return max(1, rows), max(1, math.ceil((self.east - self.west) / width - 1e-9))


@describing
def grid(
    *, west: float, south: float, east: float, north: float, metres: float | None = None, h3: int | None = None
) -> Grid:
    """Describe a grid over a public box as the list of places. See `Grid` for how cells lie and what they are called.

    Args:
        west: the box's edges in degrees, as all four.
        south: at most 90 either way, as ``north``.
        east: more than ``west``: a box across the date line is two.
        north: more than ``south``.
        metres: the side of square cells; or
        h3: the resolution of H3 cells, 0 to 15; it needs ``leeward[geo]``.

    Raises:
        SpecError: the box or the cell size is malformed, or there would be more than a million cells.
    """
    edges = {"west": west, "south": south, "east": east, "north": north}
    for key, degrees in edges.items():
        limit = 180 if key in ("west", "east") else 90
        if not _is_number(degrees) or not -limit <= degrees <= limit:
            raise SpecError(
                f"The grid's {key} is {echo(degrees)}",
                "it is not a number of degrees on the Earth",
                f"Give a number from -{limit} to {limit}",
            )
    if not (west < east and south < north):
        raise SpecError(
            "The grid's box is empty",
            "west must be less than east, and south less than north",
            "Exchange them; a box across the date line must be given as two",
        )
    if (metres is None) == (h3 is None):
        raise SpecError(
            "The grid does not say how large its cells are, or says it twice",
            "the list of places must be known before the data are read",
            "Give either `metres` or `h3`",
        )
    if metres is not None and not (_is_number(metres) and metres > 0):
        raise SpecError(f"The grid's metres is {echo(metres)}", "it is not a length", "Give a number above 0")
    h3 = plainly(h3)
    if h3 is not None and not (isinstance(h3, int) and not isinstance(h3, bool) and 0 <= h3 <= 15):
        raise SpecError(f"The grid's h3 is {h3!r}", "it is not an H3 resolution", "Give an integer from 0 to 15")
    if h3 is not None and east - west >= 180:
        raise SpecError(
            "The grid's box spans half the Earth or more", "H3 would read it the other way round", "Take a smaller box"
        )
    made = Grid(float(west), float(south), float(east), float(north), None if metres is None else float(metres), h3)
    if metres is not None and math.prod(made.shape) > MOST_CELLS:
        raise too_many_cells()
    return made


def too_many_cells() -> SpecError:
    """The refusal of a grid above `MOST_CELLS`."""
    return SpecError(
        "The grid has more than a million cells",
        "every cell has a row in the answer",
        "Take larger cells or a smaller box",
    )


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _check_column(key: str, column: object) -> None:
    if not isinstance(column, str) or not column:
        raise SpecError(f"{key} = {echo(column)}", "it is not the name of a column", "Give the name as text")


def _check_pair(latitude: object, longitude: object) -> None:
    if (latitude is None) != (longitude is None):
        raise SpecError(
            "Only one of `latitude` and `longitude` is named", "a point needs both", "Name both columns, or neither"
        )


_NO_ZONES = {"localtime", "posixrules", "Factory"}
"""Files beside the zones: the machine's own zone, and one that says that none was chosen."""


@functools.cache  # it walks the file system, and neither the list nor the search path changes while a program runs
def _zones() -> set[str]:
    return available_timezones()


def check_zone(timezone: object, key: str = "timezone") -> None:
    """Refuse what is not the name of a time zone in the IANA list: others mean another zone on another machine."""
    try:
        found = ZoneInfo(timezone).key  # type: ignore[arg-type]
        if found in _NO_ZONES or found not in _zones():
            raise ValueError
    except Exception:
        raise SpecError(
            f"{key} = {echo(timezone)}",
            "it is not the name of a time zone",
            "Give a name of the IANA list, such as 'Asia/Tokyo' or 'UTC'",
        ) from None


def check_whole(where: str, values: Iterable[Allowed]) -> None:
    """Refuse whole numbers that do not fit in 64 bits: the engine compares them with no column."""
    if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values):
        raise SpecError(
            f"{where} holds a whole number beyond 64 bits",
            "whole numbers are compared from -2^63 up to 2^63 - 1",
            "Store the column as text, and give texts",
        )


def _kept(keep: Mapping[str, Iterable[Allowed]]) -> dict[str, tuple[Allowed, ...]]:
    kept: dict[str, tuple[Allowed, ...]] = {}
    for column, values in sorted(keep.items()):
        _check_column("keep", column)
        named = f"keep for the column '{column}'"
        allowed = [values] if isinstance(values, str | int) else list(public_list(named, values, SpecError))
        if not allowed or not all(isinstance(value, str | int) for value in allowed):
            raise SpecError(
                f"{named} is not a list of texts, whole numbers or truth values",
                "a filter says which values a column may hold",
                'Give for each column the list of what it may hold, such as ["value", "other value"]',
            )
        check_whole(named, allowed)
        if len({type(value) for value in allowed}) > 1:
            raise SpecError(
                f"{named} mixes texts, numbers and truth values",
                "a column has one type",
                "Give values of the column's own type",
            )
        kept[column] = tuple(sorted(set(allowed)))
    return kept
