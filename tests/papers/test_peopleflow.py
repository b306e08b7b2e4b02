"""A file of Peopleflow's shape: which rows are visits, what is counted and set beside the paper, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from leeward.errors import InputError
from leeward.papers import Peopleflow, Recomputed, VisitsFile, recompute
from leeward.papers._peopleflow import beside, chapter, said
from leeward.papers._visits import histograms

ROWS = pd.DataFrame(
    [
        ("ann", 35.1, 139.1, 3, "STAY", "2013-12-22 18:05"),
        ("ann", 35.1, 139.2, 4, "STAY", "2013-12-22 18:55"),  # the last of the hour counts
        ("bob", 35.1, 139.2, 7, "STAY", "2013-12-22 18:10"),
        ("bob", 35.1, 139.1, 7, "MOVE", "2013-12-22 18:40"),  # passes by
        ("cat", 35.1, 139.1, 2, "STAY", "2013-12-22 18:20"),  # at home, or at work
        ("cat", 35.1, 139.1, None, "STAY", "2013-12-22 18:30"),  # at no place with a category
        ("dan", 35.2, 139.2, 5, "STAY", "2013-12-22 19:00"),  # another hour
        *((f"p{i}", 35.2, 139.1, 6, "STAY", "2013-12-23 18:00") for i in range(9)),  # a fuller one
    ],
    columns=["userID", "latitude", "longitude", "placeID", "state", "timestamp"],
)
NAMES = ("userID", "latitude+longitude", "timestamp", "state", "placeID")


def file(folder: Path, rows: pd.DataFrame = ROWS, kind: str = "csv", **more: Any) -> Peopleflow:
    path = folder / f"flow.{kind}"
    rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    return Peopleflow(path, *NAMES, **more)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_visit_is_a_stay_at_a_place_of_some_categories(tmp_path: Path, kind: str) -> None:
    visits = file(tmp_path, kind=kind).read()
    assert visits["person"].tolist() == ["ann", "ann", "bob", "dan", *(f"p{i}" for i in range(9))]
    assert visits["place"].nunique() == 4
    assert visits["place"].tolist()[0] == (35.1, 139.1)
    hours = {str(hour): counts for hour, counts in histograms(visits, "h").items()}
    assert hours == {
        "2013-12-22 18:00:00": {0: 3, 2: 1},
        "2013-12-22 19:00:00": {0: 3, 1: 1},
        "2013-12-23 18:00:00": {0: 3, 9: 1},
    }


def test_other_categories_and_a_column_of_places(tmp_path: Path) -> None:
    """Categories are numbers however they are written."""
    rows = ROWS.assign(where="here", placeID=ROWS["placeID"].astype(object).where(ROWS["placeID"].notna(), "home"))
    rows.to_csv(tmp_path / "flow.csv", index=False)
    source = Peopleflow(tmp_path / "flow.csv", "userID", "where", "timestamp", "state", "placeID", categories=(2, 3))
    visits = source.read()
    assert visits["person"].tolist() == ["ann", "cat"]
    assert visits["place"].unique().tolist() == ["here"]


def test_the_printed_numbers_stand_beside_those_of_the_file(tmp_path: Path) -> None:
    """In the paper's hour three places are empty and one has two people."""
    visits = file(tmp_path).read()
    hours, days = histograms(visits, "h"), histograms(visits, "D")
    table = beside(hours, pd.Timestamp("2013-12-22 18:00"), days[pd.Timestamp("2013-12-22")]).set_index("what")
    assert table["printed"].tolist() == [5835, 10338, 5343, 5031, 4, 0.4, 0.5]
    e = math.exp
    strict = table["fewer than 3"]
    assert strict.iloc[:3].tolist() == [4, 2, 4]
    assert strict.iloc[3] == pytest.approx(3 * (1 - e(-3)) + 1 - e(-1))
    assert strict.iloc[4] == pytest.approx(1e-4 * (3 * (1 + e(1) + e(2)) + 1))
    assert strict.iloc[5] == pytest.approx(1 - e(-1)), "at t = 1 only empty places are safe"
    assert strict.iloc[6] == 0, "there are not ten places"
    printed = table["at most 5, continuous noise and z ≤ 5"]
    assert printed.iloc[3] == pytest.approx(3 * (1 - e(-5)) + 1 - e(-3))
    assert printed.iloc[4] == pytest.approx(1e-4 * (3 * sum(map(e, range(6))) + sum(map(e, range(4)))))
    hour = 1 - e(-1)  # continuous noise and z ≤ 1: an empty place; a place with one person is never found
    assert printed.iloc[5] == pytest.approx((hour + hour * 3 / 4 + hour) / 3)
    corrected = table["at most 5, corrected"].iloc[5]
    assert corrected == pytest.approx((2 * (1 - e(-2)) + (3 * (1 - e(-2)) + 1 - e(-1)) / 4) / 3)


def test_ten_right_answers_on_a_day() -> None:
    """Twelve empty places: ten in a row are answered right."""
    at = pd.Timestamp("2013-12-22 18:00")
    table = beside({at: {0: 12}}, at, {0: 12}).set_index("what")
    assert table["fewer than 5"].iloc[6] == pytest.approx((1 - math.exp(-5)) ** 10)


def test_states_are_counted_as_on_the_maps() -> None:
    """At α = 0 nobody is told that a place is dangerous, and all places are in one of the three states."""
    table = said({0: 300, 2: 50, 9: 50}).set_index(["as in", "answers"])
    assert (table.sum(axis=1) == 400).all()
    assert table.loc[("Figure 2", "the truth")].tolist() == [350, 0, 50]
    assert table.loc[("Figure 3", "the truth")].tolist() == [350, 0, 50]
    assert table.loc[("Figure 2", "ADP"), "dangerous"] == 0
    found = 300 * (1 - math.exp(-3)) + 50 * (1 - math.exp(-1))
    assert abs(table.loc[("Figure 2", "ADP"), "safe"] - found) < 5 * math.sqrt(found)  # seeded


def test_the_chapter_has_no_verdicts_and_names_the_file_and_the_time(tmp_path: Path) -> None:
    made = chapter(file(tmp_path))
    assert made.claims == []
    assert [figure.key for figure in made.figures] == [
        f"visits-flow-{each}" for each in ("printed", "2", "4-strict", "4-at-most", "5", "6")
    ]
    assert {figure.source for figure in made.figures} == {"visits"}
    assert "flow.csv, 2013-12-22 18:00" in made.figures[0].title, "the paper's hour, though another one is fuller"
    assert "flow.csv, 2013-12-22" in made.figures[4].title
    assert "nothing follows about the paper" in made.figures[0].ours


def test_without_the_papers_day_the_fullest_is_taken(tmp_path: Path) -> None:
    made = chapter(file(tmp_path, ROWS.assign(timestamp=ROWS["timestamp"].str.replace("2013", "2012"))))
    assert "2012-12-23 18:00" in made.figures[0].title
    assert "2012-12-23" in made.figures[5].title


def test_it_is_recomputed_where_the_shape_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Recomputed
) -> None:
    """The claims are those without a file: nothing in a file changes a verdict."""
    import leeward.papers._recompute as module
    from leeward.papers._claim import Chapter

    for part in (
        "adp_numbers",
        "adp_hour",
        "adp_day",
        "one_sided",
        "d_privacy_figures",
        "d_privacy_tables",
        "universal",
    ):
        monkeypatch.setattr(getattr(module, part), "chapter", lambda *_: Chapter())
    source = file(tmp_path)
    made = recompute(visits=[source, VisitsFile(source.path, "userID", "placeID", "timestamp")])
    assert made.claims == []
    assert [figure.key for figure in made.figures][5:7] == ["visits-flow-6", "visits-flow-hour"]
    assert found.claims


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"state": "MOVE"}, "no row of it says STAY"),
        ({"placeID": 1}, "no category is one of 3, 4, 5, 6, 7.*--categories"),
        ({"placeID": "shop"}, "no category is one of"),
        ({"state": None}, "no row of it says STAY"),
        ({"timestamp": "yesterday"}, "not all of it can be read as dates and times"),
        ({"timestamp": 20131222}, "not all of it can be read as dates and times"),
        ({"userID": None}, "no row of it has a person, a place and a time"),
        ({"latitude": None}, "no row of it has a person, a place and a time"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_what_to_write(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        file(tmp_path, ROWS.assign(**change)).read()
    assert not any(value in str(refused.value) for value in ("yesterday", "20131222", "shop", "MOVE ", "ann"))


def test_a_missing_column_is_named_with_all_that_are_needed(tmp_path: Path) -> None:
    for column in ROWS.columns:
        with pytest.raises(InputError, match=r"--columns userID,latitude\+longitude,timestamp"):
            file(tmp_path, ROWS.drop(columns=column)).read()


@pytest.mark.parametrize("text", ["", "\x00\x01", 'a,b\n"', "PAR1"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_no_table_is_refused(tmp_path: Path, kind: str, text: str) -> None:
    (tmp_path / f"flow.{kind}").write_text(text)
    with pytest.raises(InputError):
        Peopleflow(tmp_path / f"flow.{kind}", *NAMES).read()
