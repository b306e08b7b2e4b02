# SPDX-License-Identifier: Apache-2.0
"""What statements say of visits: which were asked about, what every answer about them rests on, and which do not count."""

from __future__ import annotations

from leeward._statement import UNPROTECTED, VisitorQuery
from leeward.planner._words import each_place
from leeward.query import CountVisitors, Grid, Places
from leeward.session._statement._windows import during, shown_twice, window_stated


def visitors_asked(query: CountVisitors, places: int) -> VisitorQuery:
    """Return which visits are counted, and how."""
    window = window_stated(query)
    assert window is not None
    return VisitorQuery(
        text=f"How many distinct people were at {each_place(places)}{cells(query.places)} {during(query)}",
        places=places,
        window=window,
        keep={column: tuple(values) for column, values in query.visits.keep.items()},
        places_per_person=query.places_per_person,
        if_more=query.if_more if query.places_per_person is not None else None,
    )


def visitors_assumed(query: CountVisitors) -> list[str]:
    """Return what every answer about these visits rests on."""
    found = ["One person's records all carry the same id, and different people carry different ids"]
    if query.places_per_person is not None and not query.truncates:
        found.append(
            f"Nobody was at more than {_places(query.places_per_person)} in the window: a fact about the world that was"
            f" checked on the data, {UNPROTECTED}"
        )
    found.append("The list of places, the window and the filter were chosen without looking at the data")
    return found


def visitors_left_out(query: CountVisitors, *, of_everyone: bool = False) -> list[str]:
    """Say which visits do not count; and whether decisions are about everyone who was there all the same."""
    found = []
    if query.truncates:
        found.append(
            f"Someone at more than {_places(query.places_per_person)} counts only at the {query.if_more} of them,"
            " and is not counted at the others: "
            + (
                "the answers bound everyone all the same, but do not say how many were left out at which place"
                if of_everyone
                else "the answers are about these truncated counts"
            )
        )
    found.append(
        "Not counted are visits without a person, a listed place or a time that can be compared with the window, visits"
        " outside the window, and visits that the filter removes; and nothing is said about people who are not in the data"
    )
    return [*found, *shown_twice(query)]


def cells(places: Places | Grid) -> str:
    """How far the cells of a grid reach where the box ends."""
    if isinstance(places, Places):
        return ""
    if places.h3 is None:
        return f" (squares of {places.metres:g} m, of which only what lies in the box counts)"
    return f" (H3 cells of resolution {places.h3}, each of them whole, also where it reaches beyond the box)"


def _places(number: int | None) -> str:
    return "1 listed place" if number == 1 else f"{number} listed places"
