"""Each person's own ε for positions: every report is drawn at its own level, on one grid, and the statement says which."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.spec.outcome import merged

from leeward._progress import silent
from leeward.errors import DataError, LeewardError
from leeward.exact import exact, log
from leeward.local import check_job
from leeward.local._levels import LevelsOfPeople
from leeward.local.location._levels import Levels

LAT, LON = 39.9, 116.4
SPEC: dict[str, Any] = {
    "perturb": {"kind": "location"},
    "data": {"table": "p.parquet", "latitude": "lat", "longitude": "lon", "person": "who"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {
        "within": "200 m",
        "factor": "2",
        "level": "tier",
        "levels": {"usual": {}, "careful": {"within": "1 km"}},
    },
}


def job(folder: Path = Path(), /, **change: Any) -> Any:
    return check_job(merged(SPEC, change), folder=folder)


def levels(**change: Any) -> Levels:
    made = job(**change).levels
    assert isinstance(made, Levels)
    return made


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """4,000 people at one place, every other one careful."""
    n = 4_000
    tier = np.where(np.arange(n) % 2, "careful", "usual")
    table = pd.DataFrame({"who": np.arange(n), "lat": LAT, "lon": LON, "tier": tier})
    table.to_parquet(tmp_path / "p.parquet")
    return tmp_path


def far(table: pd.DataFrame) -> pd.Series[float]:
    """How far reports lie from the place, in metres, by a sphere."""
    north = np.radians(table["lat"] - LAT) * 6_371_000
    east = np.radians(table["lon"] - LON) * 6_371_000 * np.cos(np.radians(LAT))
    return pd.Series(np.hypot(north, east))


def fits(table: pd.DataFrame, within: dict[str, float]) -> bool:
    """Whether the share of reports beyond a level's mean is right for ε = ln 2/within, 5 standard deviations either side.

    Under density ∝ e^(−ε·r) in the plane, P(r > 2/ε) = 3·e^(−2) = 0.406. A false alarm in 6e-7 for each level (normal). The
    sphere and the box's edge move the share by less than 0.005, which is allowed for.
    """
    share = 3 * np.exp(-2)
    for level, metres in within.items():
        rows = table[table["tier"] == level]
        beyond = float((far(rows) > 2 * metres / np.log(2)).mean())
        if abs(beyond - share) > 5 * np.sqrt(share * (1 - share) / len(rows)) + 0.005:
            return False
    return True


def test_a_report_costs_what_its_own_level_does(town: Path) -> None:
    """For within 200 m and 1 km the ε are as 5 to 1; and 200 m are a factor of 2."""
    usual, careful, again = job(town).levels.costs(["usual", "careful", "usual"], 3)  # type: ignore[attr-defined]
    assert usual == again == pytest.approx(5 * careful, rel=0.03)
    assert usual == pytest.approx(np.log(2) / 200, rel=0.03)


@pytest.mark.statistical
def test_reports_are_drawn_at_their_own_level(town: Path) -> None:
    """And a table of which the levels were exchanged, or all drawn at one, is told apart."""
    job(town).run(town / "o.parquet", silent)
    table = pd.read_parquet(town / "o.parquet")
    assert fits(table, {"usual": 200, "careful": 1000})
    assert not fits(table, {"usual": 1000, "careful": 200})
    assert not fits(table, {"usual": 200, "careful": 200})
    assert not fits(table, {"usual": 1000, "careful": 1000})


def test_rows_go_to_their_mechanism_and_come_back_in_order() -> None:
    made = levels()
    for offset, geo in enumerate(made.mechanisms.values(), start=1):
        geo._steps = replace(geo._steps, draw=lambda points, offset=offset: points * 10 + offset)
    points = np.arange(10).reshape(5, 2)
    at = ["careful", "usual", "usual", "careful", "usual"]
    assert (made.draw(points, at) - points * 10).tolist() == [[{"usual": 1, "careful": 2}[each]] * 2 for each in at]


def test_all_levels_share_the_grid_of_the_largest_epsilon() -> None:
    made = levels(protect={"levels": {"usual": {}, "careful": {"within": "1 km"}, "open": {"within": "50 m"}}})
    assert made.weakest.epsilon == log(2) / exact("50.4"), "50 metres, and what a grid of 20 cm takes them apart"
    assert {str(geo.step) for geo in made.mechanisms.values()} == {str(made.weakest.step)}
    assert [geo.epsilon for geo in made.mechanisms.values()] == [*(log(2) / 201, log(2) / 1005, log(2) / exact("50.4"))]
    north, east = np.array([39.9, 39.95]), np.array([116.4, 116.5])
    grids = [geo.to_grid(north, east).tolist() for geo in made.mechanisms.values()]
    assert grids[0] == grids[1] == grids[2]
    coarse = levels(protect={"step": "5 m"})
    assert {str(geo.step) for geo in coarse.mechanisms.values()} == {"5"}


def test_what_a_level_leaves_out_is_the_sections_own() -> None:
    asked = {"a": {"factor": "4"}, "b": {"epsilon": "0.01"}, "c": {"epsilon": "1", "unit": "1 km"}, "d": {}}
    made = levels(protect={"levels": asked}).mechanisms
    assert [str(made[each].epsilon) for each in "abcd"] == [str(log(4) / 201), "1/100", "1/1000", str(log(2) / 201)]
    alone = {"within": None, "factor": None, "levels": {"a": {"within": "1 km", "factor": "3"}}}
    assert levels(protect=alone).weakest.epsilon == log(3) / 1005
    own = {
        "within": None,
        "factor": None,
        "epsilon": "1",
        "unit": "100 m",
        "levels": {"a": {"within": "1 km", "factor": 3}},
    }
    assert levels(protect=own | {"levels": own["levels"] | {"b": {}}}).mechanisms["b"].epsilon == exact("1/100")
    assert levels(protect=own).weakest.epsilon == log(3) / 1005, "the unit of another level's ε has no part in it"
    other = {"within": None, "factor": None, "epsilon": "0.01", "levels": {"a": {"within": "1 km", "factor": "3"}}}
    assert levels(protect=other).weakest.epsilon == log(3) / 1005


def test_the_statement_tells_each_level_and_promises_all_what_the_weakest_has() -> None:
    made = job().statement()
    assert made.promise.epsilon_per_metre == "log(2)/202"
    assert "usual: ε = log(2)/202 a metre" in made.promise.text
    assert "careful: ε = log(2)/1005 a metre" in made.promise.text
    assert made.displacement is None, "there is not one"
    assert "each at the ε of that person's level" in made.unit
    assert any("'tier'" in each and "does not follow from where they are" in each for each in made.assumptions)
    assert "who has which is not protected" in made.not_guaranteed[-1]


def test_cells_of_reports(town: Path) -> None:
    pytest.importorskip("h3")
    job(town, output={"h3": 7}).run(town / "o.parquet", silent)
    assert pd.read_parquet(town / "o.parquet")["h3"].notna().all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protect": {"level": None}}, "Give both: level"),
        ({"protect": {"levels": None}}, "Give both: level"),
        ({"protect": {"levels": {}}}, "there is none"),
        ({"protect": {"levels": {"usual": {}, "": {}}}}, "one without a name"),
        ({"protect": {"level": "lat"}}, "one column cannot be two things"),
        ({"protect": {"levels": {"usual": {"within": "1"}}}}, "it is not a length"),
        ({"protect": {"levels": {"usual": {"near": "1 m"}}}}, "this key is not known"),
        ({"protect": {"unit": "1 km"}}, "it is the length that an epsilon is for"),
        ({"protect": {"levels": {"usual": {"unit": "1 km"}}}}, "it is the length that an epsilon is for"),
    ],
)
def test_what_does_not_go_with_levels_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LeewardError) as refused:
        job(**change)
    assert said in str(refused.value)


@pytest.mark.parametrize("odd", ["secretive", None, float("nan"), 7])
def test_a_level_that_is_not_listed_is_refused_and_not_told(town: Path, odd: Any) -> None:
    table = pd.read_parquet(town / "p.parquet").astype({"tier": object})
    table.loc[[5, 9], "tier"] = [odd, odd]
    table["tier"] = table["tier"].map(lambda each: None if each is None or each != each else str(each))
    table.to_parquet(town / "p.parquet")
    with pytest.raises(DataError, match="2 rows with a level in 'tier' that is not listed") as refused:
        job(town).run(town / "o.parquet", silent)
    assert "secretive" not in str(refused.value)
    assert not (town / "o.parquet").exists()


@pytest.mark.parametrize("kind", ["int8", "int64", "float32", "float64", "decimal"])
def test_levels_may_be_numbers(town: Path, kind: str) -> None:
    table = pd.read_parquet(town / "p.parquet")
    careful = (table["tier"] == "careful").astype("int64" if kind == "decimal" else kind)
    table["tier"] = [Decimal(f"{each}.0") for each in careful] if kind == "decimal" else careful
    table.to_parquet(town / "p.parquet")
    made = job(town, protect={"levels": {"0": {}, "1": {"within": "1 km"}}})
    assert made.run(town / "o.parquet", silent).rows == 4_000


def test_a_person_has_one_level() -> None:
    """However far apart in the table their rows are; where nobody is named, each row has its own."""
    with pytest.raises(DataError, match="1 row with a level in 'tier' that is not listed, or none"):
        LevelsOfPeople("tier", ["", "usual"], "where they are").check([None, "usual"], None)
    alike = LevelsOfPeople("tier", ["usual", "careful"], "where they are")
    alike.check(["usual", "careful", "usual"], ["a", "b", "a"])
    alike.check(["careful", "usual"], None)
    with pytest.raises(DataError, match="Somebody has several levels in 'tier'"):
        alike.check(["careful"], ["a"])


@pytest.mark.statistical
def test_a_row_without_a_position_takes_nobodys_level(town: Path) -> None:
    """Only the careful have one. False alarms as above."""
    table = pd.read_parquet(town / "p.parquet")
    table.assign(lat=table["lat"].where(table["tier"] == "careful")).to_parquet(town / "p.parquet")
    job(town, protect={"missing": "keep"}).run(town / "o.parquet", silent)
    made = pd.read_parquet(town / "o.parquet")
    assert made["lat"].isna().sum() == 2_000
    assert fits(made, {"careful": 1000})
