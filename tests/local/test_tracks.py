"""Tracks: test and report for the positions of people, as a spec and Python ask for it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.private_files import write_private

from leeward.errors import DataError, InputError, SpecError
from leeward.exact import log
from leeward.local import check_job
from leeward.local.location import PlanarLaplace, TrackPlace, Tracks
from leeward.local.location._tracks import TracksOfPeople
from leeward.noise import SeededBitsForTests

CITY = (116.2, 39.75, 116.6, 40.1)
MINUTE = 60_000_000
BASE: dict[str, Any] = {
    "perturb": {"kind": "location"},
    "data": {"table": "t.parquet", "latitude": "lat", "longitude": "lon", "person": "who", "time": "when"},
    "box": dict(zip(("west", "south", "east", "north"), CITY, strict=True)),
    "protect": {"within": "200 m", "factor": "2"},
    "track": {
        "near": "20 km",
        "test": "1/5",
        "every": "5 min",
        "in_window": {"within": "200 m", "factor": "64"},
        "window": "1 d",
    },
}


def walk(rows: int = 600) -> pd.DataFrame:
    """Two people, a row a minute: one at home, one who drives 50 km and back."""
    minute = np.arange(rows // 2)
    away = 0.2 * np.abs(np.sin(minute / 60))
    one = pd.DataFrame(
        {"who": "home", "lat": 39.9, "lon": 116.4, "when": pd.Timestamp("2026-03-01") + pd.to_timedelta(minute, "min")}
    )
    return pd.concat([one, one.assign(who="car", lat=39.8 + away, lon=116.25 + away)]).sort_values(
        "when", kind="stable"
    )


def run(
    folder: Path, table: pd.DataFrame | None = None, **track: Any
) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    (walk() if table is None else table).to_parquet(folder / "t.parquet", index=False)
    job = check_job(BASE | {"track": {**BASE["track"], **track}}, folder=folder)
    done = job.run(folder / "out.parquet", lambda *_: None)
    return (
        pd.read_parquet(folder / "out.parquet"),
        json.loads((folder / "out.parquet.release.json").read_text()),
        list(done.notes),
    )


def noise(**options: Any) -> PlanarLaplace:
    return PlanarLaplace(box=CITY, within="200 m", factor=2, bits=SeededBitsForTests(1), **options)


def tracks(geo: PlanarLaplace | None = None, **options: Any) -> Tracks:
    keys = {"near": "1 km", "in_all": {"within": "200 m", "factor": "64"}, "bits": SeededBitsForTests(2)}
    return Tracks(geo or noise(), **(keys | options))  # type: ignore[arg-type]


# ---- the limits


def test_a_limit_pays_for_as_many_reports_as_its_factor_says() -> None:
    """64 within 200 m is six reports; a first report costs 1, each failed test with its report 4/3."""
    made = tracks()
    assert made.mechanism.allowances[0].most == log(64) / 202 == log(2) / 202 * 6
    place, new, lat = TrackPlace(), 0, 39.8
    for k in range(30):  # somebody who is elsewhere each time
        found, place = made.report(place, lat + 0.2 * (k % 2), 116.4, k * MINUTE)
        new += found is not None
    assert place.state.paid <= 6 * made.mechanism.costs[1]
    assert new == 4, "1 + 3·4/3 = 5, and another 4/3 is beyond 6"
    assert made.mechanism.cost(place.state) == log(2) / 202 * 5


def test_somebody_who_stays_pays_for_tests_alone() -> None:
    made = tracks(test="1/10", near="30 km")
    place, shown = TrackPlace(), []
    for k in range(40):
        found, place = made.report(place, 39.9, 116.4, k * MINUTE)
        shown.append(found)
    assert place.state.reports == 1
    assert len({*shown}) == 1, "the last report is shown again"
    assert place.state.tests == 40 - 1
    control = 6
    assert sum(each is not None for each in shown) > 5 * control


def test_within_a_day_and_in_all(tmp_path: Path) -> None:
    made = tracks(
        in_all={"within": "200 m", "factor": "16"}, in_window={"within": "200 m", "factor": "4"}, window="1 d"
    )
    place, per_day = TrackPlace(), []
    for day in range(6):
        before = place.state.paid
        for hour in range(24):
            _, place = made.report(place, 39.8 + 0.2 * (hour % 2), 116.4, (day * 24 + hour) * 60 * MINUTE)
        per_day.append(place.state.paid - before)
    unit = made.mechanism.costs[1]
    assert max(per_day) <= 2 * unit
    assert 3 * unit <= sum(per_day) <= 4 * unit
    assert per_day[-1] == 0


def test_the_schedule_is_public_and_comes_first() -> None:
    made = tracks(every="5 min", otherwise="repeat")
    place = TrackPlace()
    _, place = made.report(place, 39.9, 116.4, 0)
    paid = place.state.paid
    for minute in (1, 2, 4):
        again, place = made.report(place, 40.0, 116.5, minute * MINUTE)
        assert again is not None
        assert place.state.paid == paid, "nothing is asked, wherever they are"
    _, place = made.report(place, 40.0, 116.5, 5 * MINUTE)
    assert place.state.paid > paid
    assert tracks(every="5 min").report(place, 40.0, 116.5, 6 * MINUTE)[0] is None


# ---- through a spec


def test_a_table_of_tracks_is_perturbed_and_what_it_costs_is_told(tmp_path: Path) -> None:
    found, said, notes = run(tmp_path)
    truth = walk()
    assert len(found) == len(truth)
    asked = found[(found.when.dt.hour * 60 + found.when.dt.minute) % 5 == 0]
    assert found.lat.notna().sum() == asked.lat.notna().sum(), "one row in five is asked for"
    home = asked[asked.who == "home"]
    # six reports of their own would have cost as much; a test is made where a report could be paid for too, and fails
    # once in 300,000
    assert home.lat.notna().sum() == 21
    assert home.lat.dropna().nunique() == 1
    assert said["track"]["limits"] == [
        {"asked": 'within="200 m", factor="64"', "window": "1 d", "epsilon_per_metre": "3*log(2)/101"}
    ]
    assert (
        "any two tracks of the same times that are at most 200 metres apart at each time, and differ within 1 d only,"
        in said["track"]["text"]
    )
    assert said["unit"].startswith("the track of one person")
    assert said["promise"]["text"].startswith("For one new report of a track,"), (
        "a row with a test before it costs more"
    )
    (note,) = [each for each in notes if "dearest track" in each]
    assert "for the curator only" in note
    counts = [int(each.replace(",", "")) for each in re.findall(r"([\d,]+) (?:with|not)", note)]
    assert sum(counts) == 600
    assert counts[2] == 480


def test_a_dry_run_says_what_tracks_promise(tmp_path: Path) -> None:
    said = dict(check_job(BASE, folder=tmp_path).facts())
    assert "shown again with a chance of 1 in 20 or less" in said["track"]
    assert said["unit"].startswith("the track of one person")
    assert said["promise"].startswith("For one new report of a track,"), "a row with a test before it costs more"


def test_from_how_far_a_report_is_hardly_shown_again_is_true_on_a_coarse_grid_and_a_large_box() -> None:
    """Found: the truth is compared from its grid point and in a plane, both of which may be nearer to the report."""
    for box, step in ((CITY, "70 m"), ((5.0, 45.0, 20.0, 57.0), "1 m")):
        geo = PlanarLaplace(box=box, within="200 m", factor=2, step=step)
        made = Tracks(geo, near="300 m", in_all={"within": "200 m", "factor": 64})
        nearest = made.surely_near * (1 - geo.plane.shrinkage) - float(geo.apart) / 2
        steps = nearest / float(geo.step)
        assert float(made.mechanism.chance((math.ceil(steps), 0), (0, 0))) <= 0.05
        assert float(made.mechanism.chance((math.ceil(0.9 * steps), 0), (0, 0))) > 0.05


def test_what_reports_of_one_person_cost_is_told_without_tracks_too(tmp_path: Path) -> None:
    """300 rows a person: e^(300·ε'·(100 + a)) for 100 metres, in all and on that day."""
    walk().to_parquet(tmp_path / "t.parquet", index=False)
    spec = {key: held for key, held in BASE.items() if key != "track"}
    notes = check_job(spec, folder=tmp_path).run(tmp_path / "o.parquet", lambda *_: None).notes
    (note,) = [each for each in notes if "cost together" in each]
    assert f"ε = {math.ceil(300 * math.log(2) / 202 * 1000) / 1000:g} " in note
    assert "(a factor of e^104." in note
    assert "those of one day" in note
    nobody = walk().assign(who=None, when="sometime")
    nobody.to_parquet(tmp_path / "t.parquet", index=False)
    notes = check_job(spec, folder=tmp_path).run(tmp_path / "p.parquet", lambda *_: None).notes
    assert not [each for each in notes if "cost together" in each]


def test_who_is_shown_the_same_report_pays_once_and_no_one_else(tmp_path: Path) -> None:
    """``7`` and ``7.0`` pay as one, and are shown two reports (alike once in two million runs): they cost two."""
    write_private(tmp_path / "k", bytes(range(32)))
    rows = pd.DataFrame({"who": ["7", "7.0", "7"], "lat": 39.9, "lon": 116.4, "when": pd.Timestamp("2026-03-01")})
    rows.to_parquet(tmp_path / "t.parquet", index=False)
    spec = {key: held for key, held in BASE.items() if key != "track"} | {"repeat": {"store": "r", "secret": "k"}}
    notes = check_job(spec, folder=tmp_path).run(tmp_path / "o.parquet", lambda *_: None, new=True).notes
    assert pd.read_parquet(tmp_path / "o.parquet").lat.nunique() == 2
    (note,) = [each for each in notes if "cost together" in each]
    assert note.count(f"ε = {math.ceil(2 * math.log(2) / 202 * 10**6) / 10**6:g} ") == 2, "in all and on that day"


def test_along_the_axes_it_is_told_too(tmp_path: Path) -> None:
    """Found: the ratio of the two norms' ε is no rational number, and was asked for exactly."""
    walk().to_parquet(tmp_path / "t.parquet", index=False)
    spec = {key: held for key, held in BASE.items() if key != "track"}
    spec["protect"] = {**BASE["protect"], "norm": "manhattan"}
    (note,) = [
        each
        for each in check_job(spec, folder=tmp_path).run(tmp_path / "o.parquet", lambda *_: None).notes
        if "cost together" in each
    ]
    told = 300 * math.log(2) / 203 * (100 * math.sqrt(2) + 2)
    assert f"(a factor of e^{math.ceil(told * 10) / 10:g} for 100 metres)" in note


def test_ids_of_one_person_have_one_track(tmp_path: Path) -> None:
    rows = pd.DataFrame({"who": ["7", "7.0", " 7"] * 40, "lat": 39.9, "lon": 116.4})
    rows["when"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(120), "min")
    notes = run(tmp_path, rows, every=None, near="100 km")[2]  # so far that a test fails once in 10³⁰
    assert any("of the rows 1 with a new report" in note for note in notes)


# ---- what is refused


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"in_all": None}, "Tracks without a limit"),
        ({"window": "1 d"}, "one says how much"),
        ({"in_window": {"within": "200 m", "factor": "4"}}, "one says how much"),
        ({"in_all": {"within": "200 m", "factor": "4", "step": "1 m"}}, "not a part of a promise"),
        ({"in_all": {"within": "1 km", "factor": "2"}}, "what one report costs"),
        ({"otherwise": "guess"}, "not an option"),
        ({"near": "1"}, "not a length"),
        ({"every": "soon"}, "not a length of time"),
    ],
)
def test_what_is_refused_in_python(keys: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        tracks(**keys)


def test_no_best_mechanism_and_no_step_back_in_time() -> None:
    with pytest.raises(InputError, match="over a mechanism for places"):
        tracks(noise().best_over([39.9, 39.95], [116.4, 116.45])[0])
    made = tracks()
    _, place = made.report(TrackPlace(), 39.9, 116.4, 10)
    with pytest.raises(InputError, match="before the last one"):
        made.report(place, 39.9, 116.4, 9)


def test_a_table_out_of_order_is_refused_whole(tmp_path: Path) -> None:
    table = walk().iloc[::-1]
    with pytest.raises(DataError, match="not in the order of time"):
        run(tmp_path, table)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    "sections",
    [
        {"data": {key: held for key, held in BASE["data"].items() if key != "time"}},
        {"repeat": {"store": "a.db", "secret": "k"}},
        {"protect": {**BASE["protect"], "level": "tier", "levels": {"a": {}}}},
        {"budget": {"store": "a.db", "secret": "k", "reports_a_day": 3}},
        {"track": {"near": "1 km"}},
    ],
)
def test_what_a_spec_cannot_combine_is_refused(sections: Any, tmp_path: Path) -> None:
    with pytest.raises((SpecError, InputError)):
        check_job(BASE | sections, folder=tmp_path)


def test_times_finer_than_microseconds_are_refused_where_they_decide_what_is_paid(tmp_path: Path) -> None:
    """Cut to microseconds, two rows less than a window apart counted as a window apart."""
    table = walk(20)
    table["when"] = table["when"].astype("datetime64[ns]") + pd.Timedelta(1, "ns")
    with pytest.raises(DataError, match="finer than microseconds"):
        run(tmp_path, table)
    assert not (tmp_path / "out.parquet").exists()


def test_two_rows_of_one_moment_are_in_order_and_the_dearest_track_is_told() -> None:
    """One report of somebody; of somebody else a report, and a test at the same time, which is told."""
    made = tracks(near="30 km")
    rows = TracksOfPeople(made)
    points = made.geo.to_grid(np.array([39.9] * 3), np.array([116.4] * 3))
    _, there = rows.take(["once", "twice", "twice"], [5, 5, 5], points)
    assert there.all()
    (note,) = rows.notes
    (cost,) = re.findall(r"the dearest track cost ε = (\S+) a metre", note)
    once, test = (float(each) for each in (made.geo.epsilon, made.mechanism.test))
    assert float(cost) >= once + test
    with pytest.raises(DataError, match="not in the order of time"):
        rows.take(["twice"], [4], points[:1])
