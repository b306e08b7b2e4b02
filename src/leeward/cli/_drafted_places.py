# SPDX-License-Identifier: Apache-2.0
"""Places, in a first spec about visits: a public list, or a grid over a public box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leeward._plain import plain
from leeward.cli._asked import answer, column, tell
from leeward.errors import SpecError
from leeward.tables._guess import NAMED, WHERE, likely, position, writing_of

if TYPE_CHECKING:
    from leeward.tables._detected import Detected


def on_a_grid(visits: Detected, grid: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of a grid, and those of the visits that say where."""
    where = position(visits)
    if not where:
        raise SpecError(
            "No LIST, and no columns called latitude and longitude",
            "a public list of places, or a grid over a public box, says what the answers are about",
            "Name the list: leeward init DATA LIST. (Where no places are meant: --kind)",
        )
    _tell_where(where)
    text = answer(
        "a public box, and the length of its squares: west,south,east,north,metres", "--grid", grid, check=_box
    )
    return {"grid": _box(text)}, where


def _box(text: str) -> dict[str, float]:
    try:
        west, south, east, north, metres = (float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(
            f"--grid {plain(text)}", "it is not five numbers with commas between", "Give west,south,east,north,metres"
        ) from None
    return {"west": west, "south": south, "east": east, "north": north, "metres": metres}


def in_a_list(
    visits: Detected, listing: Detected, place: str | None, listed: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of a list, and those of the visits that say where."""
    both = [one.name for one in visits.columns if one.name in {other.name for other in listing.columns}]
    usual = (*filter(None, [likely(both, WHERE)]), *both, *WHERE)  # what both tables have goes before what is called so
    where = column("the column of the visits that says where", "--place", place, visits, usual, assumed=True)
    what = "the column of the list that says the same"
    public: dict[str, Any] = writing_of(listing)
    public["place"] = column(what, "--listed", listed, listing, (where, *WHERE), assumed=True)
    texts = [one.name for one in listing.columns if one.looks == "texts" and one.name != public["place"]]
    name = likely(texts, NAMED)
    public |= (on_map := position(listing))
    if not on_map:
        tell(
            "   No coordinates were recognised: the report will have no map, unless [places] names latitude and longitude."
        )
    else:
        _tell_where(on_map)
    return public | ({} if name is None else {"name": name}), {"place": where}


def _tell_where(taken: Mapping[str, str]) -> None:
    tell(f"   Latitude is '{plain(taken['latitude'])}', and longitude '{plain(taken['longitude'])}'.")
