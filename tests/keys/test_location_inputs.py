"""Every key of a spec of locations: when a report is the one shown before, when it is paid for anew, when neither can be."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel
from tests.ledger.spent import spent_in
from tests.private_files import write_private

from leeward.cli import LeewardError
from leeward.local import check_job
from leeward.local.location import PlanarLaplace
from leeward.local.location._spec import Location

HELD: dict[str, dict[str, Any]] = {
    "perturb": {"kind": "location"},
    "data": {"table": "positions.parquet", "latitude": "lat", "longitude": "lon", "person": "who", "time": "when"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {"within": "200 m", "factor": "2", "step": "1 m"},
    "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 2},
    "repeat": {"store": "memo.db", "secret": "people.key"},
}
"""Reports that are remembered: nothing is paid for twice."""

PAID = {name: keys for name, keys in HELD.items() if name != "repeat"}
"""Reports that are drawn anew each time, and paid for, twice a day."""

SAME = "the same reports"
SHOWN = "the same draws, shown otherwise"
NEW = "new draws, paid for"
LESS = "new draws from the same budget"

LIST = {"table": "places.csv", "latitude": "lat", "longitude": "lon"}
BEST = {**LIST, "use": "best"}
COARSE = {"within": "3 km", "factor": "2", "step": "100 m"}

NO_PLACES = "refused: how far public places are felt"
"""What a list that is drawn over alone can say; its law is another one: see the test of best mechanisms."""

QUIET = {"within": "1 km", "counts_as": "1 m"}
REGIONS = ("column", "geojson", "of")

Change = dict[str, dict[str, Any] | None]

REMEMBERED: list[tuple[str, Change, str]] = [
    ("data.table", {"data": {"table": "copy.parquet"}}, SAME),
    ("data.table", {"data": {"table": "same.csv"}}, SAME),
    ("data.table", {"data": {"table": "elsewhere.parquet"}}, LESS),
    ("data.latitude", {"data": {"latitude": "lat2"}}, SAME),
    ("data.longitude", {"data": {"longitude": "lon2"}}, SAME),
    ("data.person", {"data": {"person": "who2"}}, SAME),
    ("data.person", {"data": {"person": "others"}}, NEW),
    ("data.time", {"data": {"time": "later"}}, SAME),
    ("data.timezone", {"data": {"timezone": "Asia/Tokyo"}}, "refused: made with another days"),
    ("data.engine", {"data": {"engine": "spark"}}, "refused: its workers draw each row by itself"),
    ("data.spark", {"data": {"spark": {"master": "local[1]"}}}, "refused: says how Spark is started"),
    ("box.west", {"box": {"west": 116.2000001}}, "refused: made with another"),
    ("box.south", {"box": {"south": 39.7500001}}, "refused: made with another"),
    ("box.east", {"box": {"east": 116.6000001}}, "refused: made with another"),
    ("box.north", {"box": {"north": 40.1000001}}, "refused: made with another"),
    ("protect.within", {"protect": {"within": "0.2 km"}}, SAME),
    ("protect.within", {"protect": {"within": "200.000001 m"}}, SAME),  # rounded up with what snapping costs, one ε
    ("protect.within", {"protect": {"within": "200.7 m"}}, "refused: made with another"),
    ("protect.factor", {"protect": {"factor": "2.0"}}, SAME),
    ("protect.factor", {"protect": {"factor": "2.000000001"}}, "refused: made with another"),
    ("protect.epsilon", {"protect": {"within": None, "factor": None, "epsilon": "0.01"}}, "refused: made with another"),
    ("protect.unit", {"protect": {"unit": "1 km"}}, "refused: beside within and factor"),
    ("protect.norm", {"protect": {"norm": "manhattan"}}, "refused: made with another"),
    ("protect.step", {"protect": {"step": "2 m"}}, "refused: made with another"),
    ("protect.outside", {"protect": {"outside": "clamp"}}, SAME),
    ("protect.missing", {"protect": {"missing": "keep"}}, SAME),
    ("protect.level", {"protect": {"level": "others"}}, "refused: Give both: level"),
    ("protect.levels", {"protect": {"level": "others", "levels": {"a": {}}}}, "refused: several prices"),
    ("protect.level_of", {"protect": {"level_of": "row"}}, "refused: there are no levels"),
    ("places.table", {"places": LIST}, SHOWN),
    ("places.latitude", {"places": {**LIST, "latitude": "lat2"}}, SHOWN),
    ("places.longitude", {"places": {**LIST, "longitude": "lon2"}}, SHOWN),
    ("places.weight", {"places": {**LIST, "weight": "weight"}}, SHOWN),
    ("places.use", {"places": BEST}, "refused: made with another"),
    ("output.h3", {"output": {"h3": 9}}, SHOWN),
    ("output.map", {"output": {"map": True}}, SAME),
    ("output.keep_columns", {"output": {"keep_columns": ["who"]}}, SAME),
    ("output.drop_columns", {"output": {"drop_columns": ["when"]}}, SAME),
    ("budget.store", {"budget": {"store": "other.db"}}, SAME),
    ("budget.secret", {"budget": {"secret": "other.key"}}, "refused: another secret"),
    ("budget.reports_a_day", {"budget": {"reports_a_day": 3}}, "refused: made with another"),
    ("budget.a_day", {"budget": {"a_day": {"within": "1 km", "factor": "9"}}}, "refused: a budget is a number of them"),
    ("budget.over", {"budget": {"over": "withhold"}}, SAME),
    ("repeat.store", {"repeat": {"store": "other.db"}}, LESS),
    ("repeat.secret", {"repeat": {"secret": "other.key"}}, "refused: another secret"),
    *(
        (
            f"track.{key}",
            {"track": {"near": "1 km", "in_all": {"factor": "8"}, key: value}},
            "refused: limits of its own",
        )
        for key, value in (
            *(("near", "2 km"), ("test", "1/2"), ("every", "1 h"), ("in_all", {"factor": "4"})),
            *(("in_window", {"factor": "4"}), ("window", "1 d"), ("otherwise", "repeat")),
        )
    ),
    *((f"elastic.{key}", {"elastic": {"within": "1 km", "least": "9"}}, NO_PLACES) for key in ("within", "least")),
    *((f"regions.{key}", {"regions": {"column": "kind", "of": {"a": QUIET}}}, NO_PLACES) for key in REGIONS),
    *(
        (f"attacker.{key}", {"attacker": {**LIST, "reports": [1], key: value}}, SAME)
        for key, value in (("table", "places.csv"), ("latitude", "lat2"), ("longitude", "lon2"), ("weight", "weight"))
    ),
    ("attacker.reports", {"attacker": {**LIST, "reports": [2]}}, SAME),
    ("attacker.between", {"attacker": {**LIST, "between": "5 min"}}, "refused: between"),  # it is of tracks
]
"""Each with the base `HELD`; None takes a key away."""

CHARGED: list[tuple[str, Change, str]] = [
    ("data.person", {"data": {"person": "who2"}}, LESS),
    ("data.person", {"data": {"person": "others"}}, NEW),
    ("data.time", {"data": {"time": "later"}}, NEW),
    ("data.time", {"data": {"time": None}}, "refused: made with another days"),  # today is one in UTC
    ("data.timezone", {"data": {"timezone": "Asia/Tokyo"}}, "refused: made with another days"),
    ("data.table", {"data": {"table": "elsewhere.parquet"}}, LESS),
    ("box.east", {"box": {"east": 116.7}}, LESS),  # a metre costs the same in every box
    ("protect.within", {"protect": {"within": "0.2 km"}}, LESS),
    ("protect.within", {"protect": {"within": "201 m"}}, "refused: made with another"),
    ("protect.factor", {"protect": {"factor": "3"}}, "refused: made with another"),
    ("protect.epsilon", {"protect": {"within": None, "factor": None, "epsilon": "0.01"}}, "refused: made with another"),
    ("protect.norm", {"protect": {"norm": "manhattan"}}, "refused: made with another"),
    ("protect.step", {"protect": {"step": "2 m"}}, "refused: made with another"),  # snapping is a part of the price
    ("places.table", {"places": LIST}, LESS),
    (
        "places.use",
        {"places": BEST},
        "refused: made with another",
    ),  # the metres between places are not those between people
    ("output.h3", {"output": {"h3": 9}}, LESS),
    ("budget.over", {"budget": {"over": "withhold"}}, LESS),
]
"""Each with the base `PAID`."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three people at a place each, on one day."""
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"who": ["a", "b", "c"], "lat": [39.9, 39.91, 39.92], "lon": [116.4, 116.41, 116.42]})
    rows = rows.assign(who2=rows.who, others=["d", "e", "f"], lat2=rows.lat, lon2=rows.lon)
    rows = rows.assign(when=pd.Timestamp("2026-03-01 08:00"), later=pd.Timestamp("2026-03-02 08:00"))
    for name in ("positions", "copy"):
        rows.to_parquet(tmp_path / f"{name}.parquet")
    rows.to_csv(tmp_path / "same.csv", index=False)
    rows.assign(lat=rows.lat + 0.01).to_parquet(tmp_path / "elsewhere.parquet")
    places = pd.DataFrame({"lat": [39.9, 39.95, 39.8], "lon": [116.4, 116.5, 116.3], "weight": [1, 2, 3]})
    places.assign(lat2=places.lat + 0.01, lon2=places.lon + 0.01).to_csv(tmp_path / "places.csv", index=False)
    for name in ("people", "other"):
        write_private(tmp_path / f"{name}.key", name.encode() * 4)
    return tmp_path


def merged(base: Mapping[str, Mapping[str, Any]], change: Change) -> dict[str, dict[str, Any]]:
    made = {name: dict(keys) for name, keys in base.items()}
    for name, keys in change.items():
        made[name] = {**made.get(name, {}), **(keys or {})}
    return {name: {key: value for key, value in keys.items() if value is not None} for name, keys in made.items()}


def run(folder: Path, spec: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    suffix = Path(spec["data"]["table"]).suffix
    check_job(spec, folder=folder).run(folder / f"reports{suffix}", lambda *_: None, new=True)
    found = folder / f"reports{suffix}"
    return pd.read_csv(found) if suffix == ".csv" else pd.read_parquet(found)


def reports(found: pd.DataFrame, spec: Mapping[str, Mapping[str, Any]]) -> list[tuple[float, float]]:
    pair = spec["data"].get("latitude", "lat"), spec["data"].get("longitude", "lon")
    return list(zip(found[pair[0]], found[pair[1]], strict=True))


def paid(folder: Path) -> dict[tuple[bytes, int], int]:
    """What is spent by person and day, whatever the file of budgets is called."""
    found: dict[tuple[bytes, int], int] = {}
    for name in ("people.db", "other.db"):
        if (folder / name).exists():
            found |= spent_in(folder / name)
    return found


@pytest.mark.parametrize(
    ("base", "change", "expected"),
    [(HELD, change, expected) for _, change, expected in REMEMBERED]
    + [(PAID, change, expected) for _, change, expected in CHARGED],
    ids=[f"held-{key}" for key, *_ in REMEMBERED] + [f"paid-{key}" for key, *_ in CHARGED],
)
def test_one_key_changed_alone(base: dict[str, dict[str, Any]], change: Change, expected: str, folder: Path) -> None:
    first = reports(run(folder, base), base)
    before, spec = paid(folder), merged(base, change)
    assert set(before.values()) == {1}
    if expected.startswith("refused"):
        with pytest.raises(LeewardError, match=expected.removeprefix("refused: ")):
            run(folder, spec)
        assert paid(folder) == before
        return
    found, after = reports(run(folder, spec), spec), paid(folder)
    alike = [one == other for one, other in zip(first, found, strict=True)]
    assert all(alike) == (expected == SAME)
    if expected != SAME:
        assert not any(alike)  # two draws of a grid of a metre are equal with a chance below 1e-5
    if expected in {SAME, SHOWN}:
        assert after == before
    elif expected == NEW:
        assert len(after) == 6
        assert set(after.values()) == {1}
    else:
        assert after == dict.fromkeys(before, 2)


def test_a_best_mechanism_remembers_reports_of_its_own_list_only(folder: Path) -> None:
    spec = merged(
        HELD, {"protect": COARSE, "places": BEST, "budget": {"store": "best.db"}, "repeat": {"store": "m.db"}}
    )
    first = run(folder, spec)
    assert reports(run(folder, spec), spec) == reports(first, spec)
    for change in ({"weight": "weight"}, {"latitude": "lat2"}):
        with pytest.raises(LeewardError, match="made with another"):
            run(folder, merged(spec, {"places": change}))
    spec.pop("repeat")
    with pytest.raises(LeewardError, match="made with another"):
        run(folder, merged(spec, {"places": {"weight": "weight"}}))


@pytest.mark.parametrize(
    ("felt", "other"),
    [
        ({"elastic": {"within": "3 km", "least": "4"}}, {"elastic": {"least": "5"}}),
        ({"regions": {"column": "weight", "of": {"1": QUIET}}}, {"regions": {"of": {"1": {**QUIET, "back": "alike"}}}}),
    ],
)
def test_a_felt_distance_remembers_reports_of_its_own_only(felt: Change, other: Change, folder: Path) -> None:
    drawn = {**LIST, "weight": "weight", "use": "exponential"}
    stores = {"budget": {"store": "felt.db"}, "repeat": {"store": "m.db"}}
    spec = merged(HELD, {"protect": COARSE, "places": drawn} | stores | felt)
    first = run(folder, spec)
    assert reports(run(folder, spec), spec) == reports(first, spec)
    with pytest.raises(LeewardError, match="made with another"):
        run(folder, merged(spec, other))


def keys_of(model: type[BaseModel]) -> Iterable[str]:
    for name, field in model.model_fields.items():
        section = (get_args(field.annotation) or (field.annotation,))[0]
        yield from (f"{name}.{key}" for key in section.model_fields)


def test_every_key_has_a_row() -> None:
    assert {key for key, *_ in REMEMBERED} == set(keys_of(Location))


def test_every_parameter_of_the_mechanism_is_a_key_or_draws_only() -> None:
    known = {key.split(".")[1] for key in keys_of(Location)} | {"box"}
    assert set(inspect.signature(PlanarLaplace).parameters) - known == {"bits"}


def test_rows_in_another_order_are_the_same_people(folder: Path) -> None:
    first = run(folder, HELD)
    pd.read_parquet(folder / "positions.parquet").iloc[::-1].to_parquet(folder / "turned.parquet")
    found = run(folder, merged(HELD, {"data": {"table": "turned.parquet"}}))
    assert (
        found.sort_values("who")[["who", "lat", "lon"]].to_numpy().tolist()
        == first[["who", "lat", "lon"]].to_numpy().tolist()
    )


CITY = (116.2, 39.75, 116.6, 40.1)
PLAIN: dict[str, Any] = {"box": CITY, "epsilon": "1/100", "norm": "manhattan", "step": "1 m"}
ALONE: dict[str, dict[str, Any]] = {
    "plain": {},
    "ε": {"epsilon": "1000001/100000000"},
    "norm": {"norm": "euclidean"},
    "step": {"step": "2 m"},
    **{f"edge {i}": {"box": (*CITY[:i], CITY[i] + 1e-9, *CITY[i + 1 :])} for i in range(4)},
    "ε and step, with one snapping": {"epsilon": "2000004/400000400", "step": "2 m"},
}


def test_what_stores_keep_of_a_mechanism_tells_each_parameter_apart_by_itself() -> None:
    """A spec with both stores is refused by the first: here each text stands alone."""
    made = {name: PlanarLaplace(**{**PLAIN, **change}) for name, change in ALONE.items()}
    lists = {"one list": ([39.9, 39.95], [116.4, 116.5]), "another list": ([39.9, 39.96], [116.4, 116.5])}
    best = {name: made["plain"].best_over(*map(np.array, places))[0] for name, places in lists.items()}
    laws = {name: geo.law for name, geo in (made | best).items()}
    assert len(set(laws.values())) == len(laws), laws
    prices = {name: geo.price for name, geo in (made | best).items() if not name.startswith("edge")}
    assert len(set(prices.values())) == len(prices), prices
    assert {geo.price for name, geo in made.items() if name.startswith("edge")} == {prices["plain"]}
    assert made["plain"].snapping == made["ε and step, with one snapping"].snapping
