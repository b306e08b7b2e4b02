# SPDX-License-Identifier: Apache-2.0
"""ADP's experiments on a file of the shape of its data, Peopleflow, for whoever holds that data.

The paper describes a record as a sequence of (userID, latitude, longitude, placeID, state, timestamp): ``state`` is STAY
or MOVE, ``placeID`` is the *category* of the location where it has one. A row is a visit if it says STAY and its category is
one of 3 to 7 (Section VI-A1). Which locations the 5,835 are is not said; here they are those that occur in some visit.

Hour and day are the paper's where the file has them (22 December 2013, 6 p.m.), else those with the most people. A study, as
for any table of visits: true counts are read and nothing is protected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from leeward.errors import InputError
from leeward.papers import _cities as cities
from leeward.papers._adp_day import DAY, at_least, cumulative, number_figure, right_figure, simulated
from leeward.papers._adp_hour import answers, beta_figure, how_many
from leeward.papers._cities import READINGS, City, Reading, delta_answer
from leeward.papers._claim import Chapter, Figure
from leeward.papers._competitors import Setting, mean_at_safe
from leeward.papers._visits import Histogram, VisitsFile, busiest, histograms

STAY = "STAY"
CATEGORIES = (3, 4, 5, 6, 7)
"""Shops, restaurants, entertainment, groceries, schools or other buildings."""
HOUR = pd.Timestamp("2013-12-22 18:00")
RUNS = 1_000


@dataclass(frozen=True)
class Peopleflow(VisitsFile):
    """A file of Peopleflow's shape: one row a person and moment, of which some are visits.

    Attributes:
        path: a parquet or CSV file.
        person: the column with the person.
        place: the column with the place, or two with its position: ``latitude+longitude``.
        time: the column with the time.
        state: the column that holds STAY where the person stays.
        category: the column with the category of the place, a number.
        categories: those that count.
    """

    state: str = "state"
    category: str = "category"
    categories: tuple[int, ...] = field(default=CATEGORIES, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.person, *self._position, self.time, self.state, self.category

    @property
    def example(self) -> str:
        """What to write on the command line."""
        return (
            "Name person, place, time, state and category: --columns userID,latitude+longitude,timestamp,state,placeID"
        )

    @property
    def _position(self) -> list[str]:
        return self.place.split("+")

    def kept(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are visits.

        Raises:
            InputError: there is none.
        """
        stays = table[table[self.state] == STAY]
        visits = stays[pd.to_numeric(stays[self.category], errors="coerce").isin(self.categories)]
        if stays.empty:
            raise InputError(
                f"The column {self.state!r} of {self.path.name}",
                f"no row of it says {STAY}",
                "Write it so: STAY or MOVE",
            )
        if visits.empty:
            raise InputError(
                f"The column {self.category!r} of {self.path.name}",
                f"where it says {STAY}, no category is one of {', '.join(map(str, self.categories))}",
                "Name those that count as visits: --categories 3,4,5,6,7",
            )
        return visits

    def where(self, rows: pd.DataFrame) -> pd.Series[Any]:
        """Return the place of each row: where it is a position, equal ones are one place."""
        if len(self._position) == 1:
            return rows[self.place]
        whole = rows[self._position].dropna()
        return pd.Series(list(whole.itertuples(index=False, name=None)), index=whole.index, dtype=object)


def chapter(source: Peopleflow) -> Chapter:
    """Return ADP's numbers and Figures 2 to 6 for one file; without pins and verdicts: the data are not ours."""
    visits, name = source.read(), source.path.stem
    hours, days = histograms(visits, "h"), histograms(visits, "D")
    hour, day = (at if at in found else busiest(found) for found, at in ((hours, HOUR), (days, HOUR.normalize())))
    file, mean = source.path.name, f"{source.path.name}, mean of {len(hours)} hours"
    on_day = f"{file}, {day:%Y-%m-%d}"
    counts = np.repeat(list(days[day]), list(days[day].values()))
    shares, _ = simulated(counts, DAY, RUNS)
    return Chapter(
        figures=[
            Figure(
                f"visits-{name}-printed",
                beside(hours, hour, days[day]),
                like="visits-printed",
                about=f"{file}, {hour:%Y-%m-%d %H:%M}",
            ),
            Figure(
                f"visits-{name}-2", said(hours[hour]), like="visits-2", about=f"{file}, {hour:%Y-%m-%d %H:%M}"
            ),
            beta_figure(f"visits-{name}-4-strict", list(hours.values()), True, like="visits-4", about=mean),
            beta_figure(f"visits-{name}-4-at-most", list(hours.values()), False, like="visits-4-at-most", about=mean),
            right_figure(
                f"visits-{name}-5", cumulative(days[day], DAY), shares, RUNS, like="visits-5", about=on_day
            ),
            number_figure(f"visits-{name}-6", days[day], like="visits-6", about=on_day),
        ]
    )  # fmt: skip


def beside(hours: Mapping[pd.Timestamp, Histogram], hour: pd.Timestamp, day: Histogram) -> pd.DataFrame:
    """Return what the paper prints about its data beside what a file gives, for each reading of *safe*."""
    printed = [cities.PLACES, cities.PEOPLE, cities.SAFE, cities.FOUND, cities.FOUND_DELTA, cities.AT_ONE]
    columns: dict[str, list[object]] = {
        "what": [
            "places",
            "people in the hour",
            "safe places",
            "right answers, ALap",
            "right answers, (ε, δ)-DP",
            "E[β] at t = 1, mean of all hours",
            "ten right answers or more on the day",
        ],
        "printed": [*printed, cities.TEN_ANSWERS],
    }
    for reading in READINGS:
        columns[reading.name] = list(_under(reading, hours, hours[hour], day))
    return pd.DataFrame(columns)


def _under(
    reading: Reading, hours: Mapping[pd.Timestamp, Histogram], hour: Histogram, day: Histogram
) -> tuple[float, ...]:
    safe = {c: hour.get(c, 0) for c in range(reading.at_most + 1)}
    alap = sum(n * reading.alap(c) for c, n in safe.items())
    delta = sum(n * delta_answer(reading.at_most + 1 - c) for c, n in safe.items())
    right = tuple(reading.alap(c) for c in range(reading.at_most + 1))
    ten = at_least(day, right, 10)[10]
    return (
        sum(hour.values()),
        sum(c * n for c, n in hour.items()),
        sum(safe.values()),
        alap,
        delta,
        float(np.mean([_at_one(reading, each) for each in hours.values()])),
        ten,
    )


def _at_one(reading: Reading, histogram: Histogram) -> float:
    """Return E[β] at t = 1 of one hour."""
    same = reading.at(1)
    return mean_at_safe(histogram, [same.alap(c) for c in range(same.at_most + 1)])


def said(hour: Histogram) -> pd.DataFrame:
    """Return how many places are called safe, obscure and dangerous in one draw, as Figures 2 and 3 show on their maps."""
    counts = np.repeat(list(hour), list(hour.values()))
    places = City("of the file", counts, np.arange(len(counts)))
    rows: list[tuple[object, ...]] = []
    for figure, setting in (
        ("2", Setting(t=3, alpha=Fraction(0), strict=True)),
        ("3", Setting()),
    ):
        rows += [(f"Figure {figure}", *row) for row in how_many(answers(places, setting))]
    return pd.DataFrame(rows, columns=["as in", "answers", "safe", "obscure", "dangerous"])
