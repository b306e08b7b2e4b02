# SPDX-License-Identifier: Apache-2.0
"""What a run tells the curator of its rows: their order, those beyond the box, and what people's reports cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from leeward._plain import counted
from leeward._private import Private
from leeward.errors import DataError
from leeward.ledger._identity import named
from leeward.local._levels import one_of
from leeward.local.location._clamped import Clamped
from leeward.local.location._order import PositionOrder
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._tracks import Tracks, TracksOfPeople, in_sum
from leeward.local.series._days import Days


class RowsSeen(Private):
    """What is looked at as rows go by.

    The reports of one person add up, in all and on each day: what those of the dearest person cost is always told where the
    table says who is who. A report that is shown again costs nothing more.

    Attributes:
        order: whether the order of rows tells positions.
        looked: how many positions are beyond the box.
        tracks: the tracks of people; None where each row has a report of its own.
        reports: how many reports were made.
        withheld: how many were not, because nobody paid for them.
    """

    __slots__ = (
        *("_calendar", "_days", "_ever", "_geo", "_shown"),
        *("looked", "order", "reports", "tracks", "withheld"),
    )

    def __init__(self, geo: PlanarLaplace, tracks: Tracks | None, timezone: str | None) -> None:
        self.order, self.looked, self._geo = PositionOrder(), Clamped(geo.box), geo
        self.tracks = None if tracks is None else TracksOfPeople(tracks)
        self._calendar: Days | None = Days(timezone)
        self._days: defaultdict[tuple[str, int], float] = defaultdict(float)
        self._ever: defaultdict[str, float] = defaultdict(float)
        self._shown: set[Any] = set()
        self.reports = self.withheld = 0

    def add(
        self, people: Sequence[Any], times: Sequence[Any] | None, costs: Sequence[float], which: Sequence[Any] | None
    ) -> None:
        """Add reports.

        Args:
            people: whose each is.
            times: when each is; None where nobody says.
            costs: ε a metre of each.
            which: what each is, where the same one is shown again; None where each is drawn anew.
        """
        days = self._numbers(times)
        for row, (person, cost) in enumerate(zip(people, costs, strict=True)):
            if person is None or person != person:
                continue  # nobody's: another person for all that the table says
            who = one_of(person)
            if which is not None:
                asked = named(person), which[row]  # two ids that pay as one are shown reports of their own
                if asked in self._shown:
                    continue
                self._shown.add(asked)
            self._ever[who] += cost
            if days is not None:
                self._days[who, days[row]] += cost

    def _numbers(self, times: Sequence[Any] | None) -> list[int] | None:
        """Return the days of some times; none from where a column holds what is no time."""
        if times is None or self._calendar is None:
            return None
        try:
            return self._calendar.of(times)
        except DataError:  # without a budget, no day need be known
            self._calendar = None
            return None

    @property
    def notes(self) -> list[str]:
        """What to tell the curator."""
        found = []
        if self.withheld:
            were = f"{counted(self.withheld, 'report')} {'was' if self.withheld == 1 else 'were'}"
            found.append(f"for the curator only: {were} withheld, because their budgets are spent")
        found += [] if self.looked.note is None else [self.looked.note]
        if self.tracks is not None:
            found += self.tracks.notes
        if self._ever:
            dated = self._days and self._calendar is not None
            found.append(cost_of_one(max(self._ever.values()), max(self._days.values()) if dated else None, self._geo))
        return found


def cost_of_one(most: float, a_day: float | None, geo: PlanarLaplace) -> str:
    """Return what to tell the curator of the reports of the person that has most: ε a metre, in all and on one day."""
    that_day = "" if a_day is None else f"; those of one day {in_sum(a_day, geo)}"
    return f"for the curator only: the reports of one person here cost together up to {in_sum(most, geo)}{that_day}"
