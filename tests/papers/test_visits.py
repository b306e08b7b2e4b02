"""A user's visits are counted as the paper counts, and refused in plain words."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from leeward.errors import InputError
from leeward.papers import VisitsFile
from leeward.papers._visits import chapter, histograms

ROWS = pd.DataFrame(
    [
        ("ann", "café", "2024-03-01 18:05"),
        ("ann", "gym", "2024-03-01 18:55"),  # the last of the hour counts
        ("bob", "gym", "2024-03-01 18:10"),
        ("bob", "gym", "2024-03-01 18:20"),  # once
        ("bob", "café", "2024-03-01 19:00"),  # another hour
        ("cat", "park", "2024-03-02 18:30"),
    ],
    columns=["who", "where", "when"],
)


def file(folder: Path, kind: str) -> VisitsFile:
    path = folder / f"visits.{kind}"
    if kind == "csv":
        ROWS.to_csv(path, index=False)
    else:
        ROWS.assign(when=pd.to_datetime(ROWS["when"])).to_parquet(path)
    return VisitsFile(path, "who", "where", "when")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_hours_and_days_are_counted(tmp_path: Path, kind: str) -> None:
    visits = file(tmp_path, kind).read()
    hours = histograms(visits, "h")
    assert {str(hour): counts for hour, counts in hours.items()} == {
        "2024-03-01 18:00:00": {0: 2, 2: 1},
        "2024-03-01 19:00:00": {0: 2, 1: 1},
        "2024-03-02 18:00:00": {0: 2, 1: 1},
    }
    days = histograms(visits, "D")
    assert {str(day.date()): counts for day, counts in days.items()} == {
        "2024-03-01": {0: 1, 2: 2},  # café: ann, bob; gym: ann, bob
        "2024-03-02": {0: 2, 1: 1},
    }


def test_the_chapter_has_no_pins_and_names_the_file(tmp_path: Path) -> None:
    made = chapter(file(tmp_path, "csv"))
    assert made.claims == []
    assert [figure.source for figure in made.figures] == ["visits"] * 3
    table = made.figures[0].data
    assert table.columns[0] == "in the hour from 2024-03-01 18:00"
    strict = dict(zip(table.iloc[:, 0], table.iloc[:, 1], strict=True))
    assert strict["people"] == 2
    assert strict["safe places"] == 3
    assert strict["right answers, ALap, corrected"] == pytest.approx(2 * (1 - math.exp(-3)) + 1 - math.exp(-1))
    assert "visits.csv" in made.figures[1].title


def test_a_missing_file_and_a_missing_column_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        VisitsFile(tmp_path / "none.parquet").read()
    with pytest.raises(InputError, match="'person'"):
        VisitsFile(file(tmp_path, "csv").path).read()
