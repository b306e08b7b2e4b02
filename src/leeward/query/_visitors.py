# SPDX-License-Identifier: Apache-2.0
"""The question of the main job: how many distinct people were at each place of a public list in a time window.

Machine-checked (docs/proved.md): `others_do_not_matter`, `truncation_not_monotone`, `truncated_presence_breaks`,
`truncated_presence_has_no_price`, `truncation_addition_only`, `truncation_witness`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, Literal, get_args

from leeward._plain import echo
from leeward._taught import describing
from leeward.errors import NotPrivateError, SpecError, check_choice
from leeward.exact._real import plainly
from leeward.notion import ADD_FACT, DROP_FACT, GROW, INSERT, REPLACE, SHRINK, WITHDRAW, Change
from leeward.query._effect import Effect, Move
from leeward.query._records import Many
from leeward.query._source import Grid, Places, Visits
from leeward.query._statistic import Noun
from leeward.query._window import Window, moment

IfMore = Literal["refuse", "latest", "earliest"]


@dataclass(frozen=True)
class CountVisitors:
    """Count the distinct people at each place. Build it with `count_visitors`.

    The steps, in this order: the filter ``keep``, the window, the public list, then the bound. A person counts once at
    a place, however often they went there.

    Attributes:
        visits: the private table.
        places: the public list; the answer has one integer per place, in its order.
        window: when.
        places_per_person: at most so many distinct places per person (k); None where no bound is needed.
        if_more: what becomes of a person at more than k places: ``refuse`` the release, or keep the k distinct places
            visited ``latest`` or ``earliest``. Of places visited at the same time, the one earlier in the list is kept.
    """

    visits: Visits
    places: Places | Grid
    window: Window
    places_per_person: int | None = None
    if_more: IfMore = "refuse"

    of_rows: ClassVar[bool] = False
    """Whether every row is a person of its own: never, because it is people who are counted."""

    many: ClassVar[Many] = "people"
    """What those are called whom the answer is about."""

    noun: ClassVar[Noun] = "place"
    """What a public key of its answers is called."""

    scans: ClassVar[int] = 1
    """How many times a mechanism that stops starts anew: never, because a person may be at any of the places."""

    @property
    def most_counts(self) -> int | None:
        """In how many counts one person is at most: at k places; None where nothing bounds it."""
        return self.places_per_person

    @property
    def truncates(self) -> bool:
        """Whether visits beyond the bound are dropped, so that counts are about what was kept."""
        return self.places_per_person is not None and self.if_more != "refuse"

    @property
    def counted_how(self) -> str:
        """Say of people how they are counted; nothing where all of them are, as they are."""
        return "counted after the bound on places per person" if self.truncates else ""

    def over_bound(self, people: int) -> str:
        """Say what becomes of so many people who were at more places than the bound allows."""
        k = self.places_per_person
        if k is None:
            return ""
        were = "person was" if people == 1 else "people were"
        places = "listed place" if k == 1 else "listed places"
        kept = f"the {self.if_more} of them counts" if k == 1 else f"the {k} {self.if_more} of them count"
        return f"{people:,} {were} at more than {k} {places}: only {kept}"

    def effect(self, change: Change) -> Effect:
        """Return how far one change of one person can move the counts.

        One place counts one person at most once, so any one count moves by at most 1; all counts together by at most k.

        Raises:
            NotPrivateError: for changes of single facts when visits are truncated. Keeping at most k places maps
                {a, b, c} to {a, b} but {b, c} to {b, c}: taking the visit to a away lets c *rise*. No way of keeping
                sets of at most k places is monotone.
        """
        if self.truncates and change in {SHRINK, GROW, DROP_FACT, ADD_FACT}:
            raise NotPrivateError(
                f'if_more = "{self.if_more}" under a notion about single visits',
                "keeping only some places of a person is not monotone: taking one visit away can let another place's count"
                " rise, and then 'safe' would not be protected",
                'Use addition-only, under which it is allowed; or if_more = "refuse" where the bound is a fact of the world;'
                " or leave places_per_person and if_more out and use the sanitized mechanism, which needs no bound",
            )
        rise, fall = _direction(change)
        k = 1 if change in {DROP_FACT, ADD_FACT} else self.places_per_person
        return Effect(total=None if k is None else ((rise * k, fall * k),), each=((rise, fall),))


_DIRECTION: dict[Change, Move] = {
    WITHDRAW: (0, 1),
    SHRINK: (0, 1),
    DROP_FACT: (0, 1),
    INSERT: (1, 0),
    GROW: (1, 0),
    ADD_FACT: (1, 0),
    REPLACE: (1, 1),
}


def _direction(change: Change) -> Move:
    if change in _DIRECTION:
        return _DIRECTION[change]
    if change.conditions or change.records is not None:
        return 1, 1  # policies about one person's record: who is counted at which place may change either way
    raise NotPrivateError(
        f"Counts of people under a notion whose steps are '{change.name}'",
        "it is not known how such a step moves them",
        "Use a notion about people or about their visits",
    )


@describing
def count_visitors(
    visits: Visits,
    places: Places | Grid,
    *,
    start: datetime | date | str,
    end: datetime | date | str,
    places_per_person: int | None = None,
    if_more: IfMore = "refuse",
) -> CountVisitors:
    """Ask how many distinct people were at each place from ``start`` up to, but not at, ``end``.

    Args:
        visits: the private table, from `leeward.visits`.
        places: the public list, from `leeward.places` or `leeward.grid`.
        start: a datetime, or a text such as ``2012-04-04T19:00``.
        end: likewise.
        places_per_person: see `CountVisitors`.
        if_more: see `CountVisitors`.

    Raises:
        SpecError: an argument is malformed, or the visits lack a column that this list of places needs.
    """
    if visits.time is None:
        raise SpecError("The visits name no time column", "a window needs one", "Name the `time` column")
    if isinstance(places, Grid) and visits.latitude is None:
        raise SpecError(
            "The places are a grid, and the visits name no coordinates",
            "a visit is put into a cell by its coordinates",
            "Name the `latitude` and `longitude` columns",
        )
    if isinstance(places, Places) and visits.place is None:
        raise SpecError(
            "The places are a list, and the visits name no place column",
            "a visit is matched to the list by its place",
            "Name the `place` column",
        )
    check_choice("if_more", if_more, get_args(IfMore), error=SpecError)
    if places_per_person is None and if_more != "refuse":
        raise SpecError(
            f"if_more = {echo(if_more)} without places_per_person",
            "there is no bound to keep",
            "Give places_per_person, or leave if_more out",
        )
    places_per_person = plainly(places_per_person)
    if places_per_person is not None and (
        not isinstance(places_per_person, int) or isinstance(places_per_person, bool) or places_per_person < 1
    ):
        raise SpecError(
            f"places_per_person = {echo(places_per_person)}",
            "it is not a number of places",
            "Give an integer of at least 1",
        )
    window = Window(moment("start", start), moment("end", end))
    return CountVisitors(visits, places, window, places_per_person, if_more)
