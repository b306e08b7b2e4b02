# SPDX-License-Identifier: Apache-2.0
"""ADP's curves for a table of visits that the user names: any hour, any day, the places that occur in it.

A study, not a release: true counts are read and nothing is protected, so what comes out must not be published.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from leeward.errors import InputError
from leeward.papers._adp_day import number_figure
from leeward.papers._adp_hour import beta_figure
from leeward.papers._claim import Chapter, Figure
from leeward.papers._competitors import ALL, Setting, expected_beta

Histogram = Mapping[int, int]


@dataclass(frozen=True)
class VisitsFile:
    """Where to find who was where, and when.

    Attributes:
        path: a parquet or CSV file, one row a visit.
        person: the column with the person.
        place: the column with the place.
        time: the column with the time.
    """

    path: Path
    person: str = "person"
    place: str = "place"
    time: str = "time"

    def check(self) -> None:
        """Raise an InputError if there is no such file."""
        if not os.path.isfile(self.path):
            raise InputError(f"--visits {self.path}", "there is no such file", "Name a parquet or CSV file")

    def read(self) -> pd.DataFrame:
        """Return the visits: who was where, and when.

        Raises:
            InputError: there is no such file, it cannot be read, it lacks a column, or nothing in it is a visit.
        """
        self.check()
        csv = self.path.suffix.lower() == ".csv"
        try:
            table = pd.read_csv(self.path) if csv else pd.read_parquet(self.path)
        except (ValueError, OSError):
            raise InputError(
                f"The file {self.path.name}",
                "it cannot be read as a table",
                "Name a CSV file with a line of names, or parquet",
            ) from None
        for column in self.columns:
            if column not in table.columns:
                raise InputError(
                    f"The column {column!r} of {self.path.name}",
                    f"it has only {', '.join(map(str, table.columns))}",
                    self.example,
                )
        rows = self.kept(table)
        found = pd.DataFrame({"person": rows[self.person], "place": self.where(rows), "time": self._times(rows)})
        if (visits := found.dropna()).empty:
            raise InputError(
                f"The file {self.path.name}", "no row of it has a person, a place and a time", "Look at its columns"
            )
        return visits

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.person, self.place, self.time

    @property
    def example(self) -> str:
        """What to write on the command line."""
        return "Name person, place and time: --columns user,venue,jst"

    def kept(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are visits: all of them."""
        return table

    def where(self, rows: pd.DataFrame) -> pd.Series[Any]:
        """Return the place of each row."""
        return rows[self.place]

    def _times(self, rows: pd.DataFrame) -> pd.Series[Any]:
        written = rows[self.time]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # pandas guesses, row by row, where it only warns
            try:
                times = written if pd.api.types.is_numeric_dtype(written) else pd.to_datetime(written)
            except (ValueError, TypeError, Warning):
                times = written
        if not pd.api.types.is_datetime64_any_dtype(times):
            raise InputError(
                f"The column {self.time!r} of {self.path.name}",
                "not all of it can be read as dates and times",
                "Write them like 2013-12-22 18:00",
            )
        return times


def histograms(visits: pd.DataFrame, period: str) -> dict[pd.Timestamp, Histogram]:
    """Return, for each hour ("h") or day ("D") with a visit, how many of all places have each count of people.

    In an hour a person counts once, where they were last, as the low-sensitive query has it; in a day at every place.
    """
    ordered = visits.assign(period=visits["time"].dt.floor(period)).sort_values("time", kind="stable")
    by = ["period", "person"] if period == "h" else ["period", "person", "place"]
    counted = ordered.groupby(by, sort=False).last().reset_index()
    places = visits["place"].nunique()
    found: dict[pd.Timestamp, Histogram] = {}
    for start, part in counted.groupby("period"):
        counts, at = np.unique(part["place"].value_counts().to_numpy(), return_counts=True)
        found[pd.Timestamp(str(start))] = {
            0: places - int(at.sum()),
            **dict(zip(counts.tolist(), at.tolist(), strict=True)),
        }
    return found


def chapter(source: VisitsFile) -> Chapter:
    """Return Figures 4 and 6 and a table of numbers for one file; without pins: the data are not ours."""
    visits, name = source.read(), source.path.stem
    hours, days = histograms(visits, "h"), histograms(visits, "D")
    busy, day = map(busiest, (hours, days))
    about = f"{source.path.name}, mean of {len(hours)} hours"
    table = _table(hours[busy], f"the hour from {busy:%Y-%m-%d %H:%M}")
    return Chapter(
        figures=[
            Figure(f"visits-{name}-hour", table, like="visits-hour", about=source.path.name),
            beta_figure(f"visits-{name}-4", list(hours.values()), True, like="visits-4", about=about),
            number_figure(f"visits-{name}-6", days[day], like="visits-6", about=f"{source.path.name}, {day:%Y-%m-%d}"),
        ]
    )


def busiest(found: Mapping[pd.Timestamp, Histogram]) -> pd.Timestamp:
    """Return when there were the most people."""
    return max(found, key=lambda start: _people(found[start]))


def _people(histogram: Histogram) -> int:
    return sum(c * n for c, n in histogram.items())


def _table(histogram: Histogram, when: str) -> pd.DataFrame:
    never = Setting().alpha * 0
    columns: dict[str, list[object]] = {
        "in " + when: ["places", "people", "safe places", *(f"right answers, {name}" for name in ALL)]
    }
    for setting in (Setting(t=3, alpha=never, strict=True), Setting(alpha=never), Setting()):
        safe = sum(n for c, n in histogram.items() if c <= setting.at_most)
        meaning = f"{'fewer than' if setting.strict else 'at most'} {setting.t}, α = {float(setting.alpha):g}"
        right = [safe * expected_beta(histogram, setting, n) for n in ALL]
        columns[f"safe = {meaning}"] = [sum(histogram.values()), _people(histogram), safe, *right]
    return pd.DataFrame(columns)
