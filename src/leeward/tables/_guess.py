# SPDX-License-Identifier: Apache-2.0
"""What columns of a table are likely to mean, by what they are called and hold: offered, never taken unseen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from leeward.tables._detected import Detected

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
    "key",
    "id",
)
WHEN: Final = ("time", "when", "timestamp", "datetime", "date", "arrival", "checkin", "start")
NORTH: Final = ("latitude", "lat", "latitud", "latitudine", "breitengrad", "breite", "y")
EAST: Final = ("longitude", "lon", "lng", "longitud", "longitudine", "längengrad", "länge", "x")
NAMED: Final = ("name", "label", "title")
"""Names that columns usually have: who, where, when, the two coordinates, and what a place is called."""


def likely(names: Sequence[str], usual: Sequence[str]) -> str | None:
    """Return the column whose name is a usual one, or else holds one; None where none does."""
    folded = {name: name.casefold() for name in names}
    for word in usual:
        for name, alike in folded.items():
            if alike == word.casefold():
                return name
    long = [word.casefold() for word in usual if len(word) > 2]
    return next((name for word in long for name, alike in folded.items() if word in alike), None)


def writing_of(table: Detected) -> dict[str, str]:
    """Return the keys of a spec that say how a text is written, where its name does not."""
    said = {"delimiter": table.delimiter, "encoding": table.encoding}
    return {key: "tab" if value == "\t" else value for key, value in said.items() if value is not None}


def decimal_of(table: Detected, *names: str) -> dict[str, str]:
    """Return the key of a spec for the decimal mark of these columns, where it is a comma."""
    return {"decimal": ","} if any(one.comma for one in table.columns if one.name in names) else {}
