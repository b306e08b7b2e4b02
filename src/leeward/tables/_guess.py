# SPDX-License-Identifier: Apache-2.0
"""What columns of a table are likely to mean, by what they are called and hold: offered, never taken unseen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from leeward._plain import plain
from leeward.errors import SpecError

if TYPE_CHECKING:
    from leeward.tables._detected import Detected, Seen

WHO: Final = (
    "person",
    "user",
    "who",
    "patient",
    "customer",
    "visitor",
    "member",
    "household",
    "card",
    "device",
    "subscriber",
    "meter",
    "account",
    "pupil",
    "student",
    "zähler",
    "kunde",
    "karte",
    "besucher",
)
WHERE: Final = (
    "place",
    "venue",
    "where",
    "location",
    "site",
    "station",
    "stop",
    "shop",
    "room",
    "building",
    "zone",
    "ort",
    "lieu",
    "lugar",
    "key",
    "id",
)
WHEN: Final = ("time", "when", "timestamp", "datetime", "date", "arrival", "checkin", "start", "zeit", "datum", "fecha")
GROUP: Final = ("group", "ward", "department", "class", "district", "region", "category", "type", "school", "branch")
NORTH: Final = ("latitude", "lat", "latitud", "latitudine", "breitengrad", "breite", "y")
EAST: Final = ("longitude", "lon", "lng", "longitud", "longitudine", "längengrad", "länge", "x")
NAMED: Final = ("name", "label", "title")
"""Names that columns usually have: who, where, when, a group, the two coordinates, and what a place is called."""


def likely(names: Sequence[str], usual: Sequence[str]) -> str | None:
    """Return the column whose name is a usual one, or else holds one; None where none does.

    A usual name of three letters must stand there as a word: a flat rate, or a platform, has no latitude.
    """
    folded = {name: name.casefold() for name in names}
    for word in usual:
        for name, alike in folded.items():
            if alike == word.casefold():
                return name
    words = {name: {*map(str.casefold, _WORDS.findall(name))} for name in names}
    for word in map(str.casefold, usual):
        for name, alike in folded.items():
            if (len(word) > 3 and word in alike) or (len(word) == 3 and word in words[name]):
                return name
    return None


_WORDS: Final = re.compile(r"[^\W\d_A-Z]+|[A-Z]+[^\W\d_A-Z]*")
"""The words of a name: ``start_lat``, ``startLat``, ``Start LAT 1``."""


def numeric(table: Detected) -> list[str]:
    """Return the columns that look like numbers."""
    return [one.name for one in table.columns if one.looks in ("numbers", "whole numbers")]


def free_numbers(table: Detected, *taken: str | None) -> list[str]:
    """Return the columns that look like numbers to ask about: none that may hold times, or that says something else."""
    times = {one.name for one in table.columns if one.unit}
    return [name for name in numeric(table) if name not in times and name not in taken]


def timely(table: Detected) -> list[str]:
    """Return the columns that may hold times, as texts, slips among them, or as whole numbers."""
    return [one.name for one in table.columns if one.looks.startswith("times") or one.formats or one.unit or one.mostly]


def position(table: Detected) -> dict[str, str]:
    """Return the keys of a spec that say where, and how it is written; none where one coordinate is not recognised."""
    numbers = numeric(table)
    north, east = likely(numbers, NORTH), likely(numbers, EAST)
    if north is None or east is None:
        return {}
    return {"latitude": north, "longitude": east} | decimal_of(table, north, east)


def writing_of(table: Detected) -> dict[str, str]:
    """Return the keys of a spec that say how a text is written, where its name does not."""
    said = {"delimiter": table.delimiter, "encoding": table.encoding}
    return {key: "tab" if value == "\t" else value for key, value in said.items() if value is not None}


def decimal_of(table: Detected, *names: str) -> dict[str, str]:
    """Return the key of a spec for the decimal mark of these columns, where it is a comma."""
    return {"decimal": ","} if any(one.comma for one in table.columns if one.name in names) else {}


MARKS: Final = {"comma": ",", "point": "."}
"""What a decimal mark may be, in words."""


def number_of(table: Detected, name: str, said: str | None = None) -> dict[str, str]:
    """Return the key of a spec for the decimal mark of a column of numbers, where it is a comma.

    Args:
        table: the table.
        name: the column.
        said: the mark, in words of `MARKS`, where it was said.

    Raises:
        SpecError: its marks may as well stand between thousands, and nobody said; or that is what they do.
    """
    seen = table.column(name)
    if seen is None or seen.looks != "numbers":
        return {"decimal": ","} if said == "comma" else {}
    has = "comma" if seen.comma else "point"
    subject = f"The numbers of the column '{plain(name)}'"
    if said is None and seen.thousands:
        because = f"the {has} before three digits may be a decimal mark, or stand between thousands"
        raise SpecError(subject, because, "Say which mark is the decimal one: comma or point")
    if said not in (None, has):
        because = f"each {has} in them stands between thousands then, and such numbers are not read"
        raise SpecError(subject, because, "Save the table without marks between thousands")
    return decimal_of(table, name)


def times_of(seen: Seen, form: str | None, timezone: str | None) -> dict[str, str]:
    """Return the keys of a spec that say when: the column, and what its times are.

    Raises:
        SpecError: it seems to hold no times; or they could be read in several ways, and nobody said which.
    """
    said, name = {"time": seen.name} | ({} if timezone is None else {"timezone": timezone}), plain(seen.name)
    if form is not None:
        return said | {"time_format": form}
    if len(seen.formats) > 1:
        raise SpecError(
            f"The times of the column '{name}'", f"they fit {' and '.join(seen.formats)}", "Say which of them is meant"
        )
    if seen.formats:
        return said | {"time_format": seen.formats[0]}
    if seen.unit is not None:
        return said | {"time_unit": seen.unit}
    if seen.looks == "times with an offset" and timezone is None:
        raise SpecError(
            f"The times of the column '{name}'",
            "they carry an offset from UTC",
            "Name the zone of the window, such as Europe/Paris",
        )
    if seen.mostly:
        raise SpecError(
            f"The times of the column '{name}'",
            f"most of them fit {' or '.join(seen.mostly)}, and some do not",
            "Say that they are written so, and the others are mistakes, whose rows do not count; or correct them",
        )
    if not seen.looks.startswith("times"):
        raise SpecError(
            f"The column '{name}'",
            f"it seems to hold {seen.looks}, and no times in a format that is known",
            "Name another, or say how its times are written",
        )
    return said
