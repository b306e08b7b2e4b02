# SPDX-License-Identifier: Apache-2.0
"""What is charged is written: what a run would stumble on later is found before, and what it says it did, it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.ledger.spent import spent_in

from leeward._progress import silent
from leeward.errors import DataError
from leeward.local import check_job
from leeward.local._job import Written
from leeward.local._levels import LevelsOfPeople
from leeward.local.location._job import _each
from leeward.local.location._paid_rows import PaidRows

BOX = {"west": 139.3, "south": 35.3, "east": 140.2, "north": 36.1}


def perturbed(folder: Path, out: str, **protect: Any) -> Written:
    given: dict[str, Any] = {"perturb": {"kind": "location"}, "box": BOX}
    given["data"] = {"table": "a.parquet", "person": "who", "latitude": "lat", "longitude": "lon"}
    given["protect"] = {"within": "200 m", "factor": "2", **protect}
    given["budget"] = {"store": "b.db", "secret": "people.key", "reports_a_day": 1, "over": "withhold"}
    return check_job(given, folder=folder).run(folder / out, silent, new=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.key").write_bytes(bytes(range(32)))
    (tmp_path / "people.key").chmod(0o600)
    return tmp_path


def charged(folder: Path) -> int:
    return sum(spent_in(folder / "b.db").values())


def test_a_wrong_box_is_told_before_the_charge_and_of_all_rows(folder: Path) -> None:
    """A third lies in the box: those people have spent their budgets, and only the others are reported."""
    inside = pd.DataFrame({"who": [f"i{k}" for k in range(50)], "lat": 35.5, "lon": 139.7})
    inside.to_parquet(folder / "a.parquet")
    assert perturbed(folder, "first.parquet", outside="clamp").rows == 50
    beyond = pd.DataFrame({"who": [f"o{k}" for k in range(100)], "lat": 34.0, "lon": 139.7})
    pd.concat([inside, beyond]).to_parquet(folder / "a.parquet")
    written = perturbed(folder, "second.parquet", outside="clamp")
    assert written.rows == 100
    assert charged(folder) == 150
    beyond.assign(who=[f"p{k}" for k in range(100)]).to_parquet(folder / "a.parquet")
    with pytest.raises(DataError, match="Under 1 %"):
        perturbed(folder, "third.parquet", outside="clamp")
    assert charged(folder) == 150, "refused, and nothing is charged"


ROWS_OF = {"latitude": 0, "longitude": 1, "person": 2, "time": 3}


@pytest.mark.parametrize("what", ROWS_OF)
def test_a_row_that_is_drawn_otherwise_than_it_was_charged_is_found_whatever_of_it_changed(what: str) -> None:
    rows: list[list[Any]] = [[35.5, 35.6, 35.7], [139.7, 139.8, 139.9], ["a", "b", "c"], ["8:00", "9:00", "9:30"]]

    def paid(drawn: list[list[Any]]) -> PaidRows:
        found, are = PaidRows(), [True, False, True]
        for part in (slice(0, 2), slice(2, 3)):
            north, east, *extra = (each[part] for each in rows)
            found.append(np.array(are[part]), np.array(north), np.array(east), extra)
        for part in (slice(0, 1), slice(1, 3)):  # in batches that are cut elsewhere
            north, east, *extra = (each[part] for each in drawn)
            assert found.take(np.array(north), np.array(east), extra).tolist() == are[part]
        return found

    paid(rows).check()
    changed = [list(each) for each in rows]
    changed[ROWS_OF[what]][1], changed[ROWS_OF[what]][2] = rows[ROWS_OF[what]][2], rows[ROWS_OF[what]][1]
    with pytest.raises(DataError, match="changed between charging and drawing"):
        paid(changed).check()


def test_what_is_shown_again_is_told_apart_by_the_level_it_was_drawn_at() -> None:
    """One grid point at two levels is two reports, and both cost; a whole number is one level however it is stored."""
    points = np.array([[3, 4], [3, 4], [3, 5]])
    assert len({*_each(points, ["a", "b", "a"])}) == 3
    assert len({*_each(points, [1, 1.0, "1"])}) == len({*_each(points, [])}) == 2


def test_damage_in_a_column_that_is_passed_on_is_found_before_the_charge(folder: Path) -> None:
    n = 500
    table = pa.table(
        {"who": list(range(n)), "lat": [35.5] * n, "lon": [139.7] * n, "note": [f"note {k}" for k in range(n)]}
    )
    path = folder / "a.parquet"
    pq.write_table(table, path, use_dictionary=False, compression="NONE", write_page_checksum=True)
    assert perturbed(folder, "whole.parquet").rows == n
    raw = path.read_bytes().replace(b"note 250", b"note 052")
    path.write_bytes(raw)
    with pytest.raises(DataError):
        perturbed(folder, "damaged.parquet")
    assert charged(folder) == n
    assert not (folder / "damaged.parquet").exists()


def test_a_field_that_swallows_rows_is_found_before_the_charge(folder: Path) -> None:
    (folder / "a.csv").write_text('who,lat,lon,note\nx,35.5,139.5,a\ny,35.6,139.6,"b\nz,35.7,139.7,a pipe of 10"\n')
    given: dict[str, Any] = {"perturb": {"kind": "location"}, "box": BOX, "protect": {"within": "200 m", "factor": "2"}}
    given["data"] = {"table": "a.csv", "person": "who", "latitude": "lat", "longitude": "lon"}
    given["budget"] = {"store": "b.db", "secret": "people.key", "reports_a_day": 1}
    with pytest.raises(DataError, match="a quote is not closed"):
        check_job(given, folder=folder).run(folder / "b.csv", silent, new=True)
    assert charged(folder) == 0


def test_rows_are_those_with_a_report(folder: Path) -> None:
    """Eight of one person, seven of them not paid for, and two without a position."""
    where = {"lat": [35.5] * 8 + [None, None], "lon": 139.7}
    pd.DataFrame({"who": ["a"] * 8 + ["b", "b"], **where}).to_parquet(folder / "a.parquet")
    for out, reports in (("first.parquet", 1), ("second.parquet", 0)):
        written = perturbed(folder, out, missing="keep")
        assert written.rows == written.public().rows == reports
        assert int(pd.read_parquet(folder / out)["lat"].notna().sum()) == reports


# ---- levels


@pytest.mark.parametrize(
    ("people", "levels", "several"),
    [
        (["x", None, None], ["a", "a", "b"], False),
        ([float("nan"), float("nan")], ["a", "b"], False),
        (["None", None], ["a", "b"], False),
        ([7, 7.0], ["a", "b"], True),
        (["7", 7], ["a", "b"], True),
        (["x", "x"], ["a", "b"], True),
        (["x", "X"], ["a", "b"], False),
        ([True, "True"], ["a", "b"], False),
        ([1.5, 1.5], ["a", "b"], True),
    ],
)
def test_who_is_one_person_is_the_same_for_levels_as_for_budgets(
    people: list[Any], levels: list[str], several: bool
) -> None:
    looked = LevelsOfPeople("tier", ["a", "b"], "where they are")
    if not several:
        looked.check(levels, people)
        return
    with pytest.raises(DataError, match="Somebody has several levels"):
        looked.check(levels, people)
