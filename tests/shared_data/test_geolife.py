"""Perturbing real tracks (Geolife, Beijing): the displacement that is said is the displacement that is seen.

The data is not ours to bundle. These tests look for it where ``LEEWARD_SHARED_DATA`` says, or beside the project, and skip
with a reason where it is not.
"""

from __future__ import annotations

import json
import math
import os
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyproj
import pytest
from tests.private_files import write_private
from tests.spark import spark

import leeward as lw
from leeward.cli import main
from leeward.local.location import PriorPlaces, TrackPlace, Tracks, perturb_in_spark
from leeward.local.location._attacked import Attack
from leeward.local.series._days import in_words
from leeward.noise import SeededBitsForTests

_MINUTE: Final = 60_000_000

_FOLDER = Path(os.environ.get("LEEWARD_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
_POINTS = _FOLDER / "geolife_sample.parquet"

pytestmark = pytest.mark.skipif(
    not _POINTS.is_file(), reason="the Geolife points are not here (they may not be bundled)"
)

_SPEC = """
[perturb]
kind = "location"
[data]
table = "{points}"
latitude = "lat"
longitude = "lon"
person = "uid"
time = "datetime"
[box]
west = 115.4
south = 39.4
east = 117.5
north = 41.1
[protect]
within = "200 m"
factor = "2"
outside = "clamp"
{more}
"""


def _run(*words: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["leeward", "perturb", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0


def _perturb(folder: Path, more: str = "", points: Path = _POINTS) -> tuple[pd.DataFrame, dict[str, object]]:
    spec, out = folder / "spec.toml", folder / "reports.parquet"
    spec.write_text(_SPEC.format(points=points, more=more))
    _run(str(spec), "--out", str(out), "--quiet", "--yes")
    return pd.read_parquet(out), json.loads(out.with_name(out.name + ".release.json").read_text())


@pytest.mark.fresh_entropy
def test_every_point_moves_as_far_as_is_said(tmp_path: Path) -> None:
    """Fails by chance less than once in a million runs."""
    truth = pd.read_parquet(_POINTS)
    found, said = _perturb(tmp_path)
    assert len(found) == len(truth) == 217_653
    assert found[["datetime", "uid"]].equals(truth[["datetime", "uid"]])
    inside = truth.lat.between(39.5, 41.0) & truth.lon.between(
        115.5, 117.4
    )  # 10 km from the edge: nothing is moved back
    assert inside.mean() > 0.95
    ground = pyproj.Geod(ellps="WGS84")
    away = ground.inv(*(column[inside].to_numpy() for column in (truth.lon, truth.lat, found.lon, found.lat)))[2]
    displacement = said["displacement"]
    assert isinstance(displacement, dict)
    # standard deviation of a share 0.0011; the printed quantiles and the plane's scale may be off by 0.001
    assert abs((away <= displacement["median"]).mean() - 0.5) < 0.008
    assert abs((away <= displacement["within_95"]).mean() - 0.95) < 0.004
    assert away.mean() == pytest.approx(displacement["mean"], rel=0.02)
    assert (away < 1).sum() < 60, "a known library returns the true position for a quarter of the points"
    unmoved = (truth.lat == found.lat) & (truth.lon == found.lon)
    assert unmoved.sum() <= 10


def test_a_day_has_as_many_reports_as_are_paid_for(tmp_path: Path) -> None:
    write_private(tmp_path / "people.key", os.urandom(32))
    more = '[budget]\nstore = "people.db"\nsecret = "people.key"\nreports_a_day = 24\nover = "withhold"\n'
    found, said = _perturb(tmp_path, more)
    assert len(found) == 217_653
    by_day = found.groupby([found.uid, pd.to_datetime(found.datetime).dt.date]).lat.count()
    assert by_day.max() == 24
    assert said["budget"] == {
        "reports_a_day": 24,
        "a_day": None,
        "over": "withhold",
        "days": in_words(None, dated=True),
        "repeats": False,
    }
    assert np.isfinite(found.lat).sum() == by_day.sum()


# ---- tracks, as the guide measures them


def _measured(mechanism: Tracks, rows: pd.DataFrame, points: np.ndarray) -> tuple[float, float]:
    """Reports a day and their mean error in metres, of what goes out of each row."""
    places: dict[str, TrackPlace] = {}
    away = []
    for who, when, at in zip(rows.uid, rows.datetime.astype("int64").tolist(), points.tolist(), strict=True):
        shown, places[who], _ = mechanism.step(places.get(who, TrackPlace()), (at[0], at[1]), when)
        if shown is not None:
            away.append(math.dist(shown, at))
    return len(away) / _days(rows), float(np.mean(away))


def _days(rows: pd.DataFrame) -> int:
    return int(rows.groupby([rows.uid, rows.datetime.dt.date]).ngroups)


def _independent(most: int, every: int, rows: pd.DataFrame) -> float:
    """Reports a day where each has noise of its own: the first of any 24 hours, as many as are paid for."""
    made: dict[str, list[int]] = {}
    asked: dict[str, int] = {}
    number = 0
    for who, when in zip(rows.uid, rows.datetime.astype("int64").tolist(), strict=True):
        if who in asked and asked[who] <= when < asked[who] + every:
            continue
        asked[who] = when
        kept = [each for each in made.get(who, []) if each > when - 24 * 60 * _MINUTE]
        if len(kept) < most:
            kept.append(when)
            number += 1
        made[who] = kept
    return number / _days(rows)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("every", "near", "reports", "error", "control"),
    [(1, "1 km", 22, 540, 16), (1, "2 km", 29, 650, 16), (5, "1 km", 15, 640, 13), (15, "1 km", 11, 660, 10)],
)
def test_tracks_have_more_reports_a_day_at_equal_cost(
    every: int, near: str, reports: int, error: int, control: int
) -> None:
    """The table of the guide: a day of any track costs a factor of at most 2^20 within 200 m, by either way.

    Seeded; the figures of other seeds differ by less than a tenth.
    """
    rows = pd.read_parquet(_POINTS)
    geo = lw.PlanarLaplace(
        box=(115.4, 39.4, 117.5, 41.1), within="200 m", factor=2, outside="clamp", bits=SeededBitsForTests(1)
    )
    points = geo.to_grid(rows.lat.to_numpy(), rows.lon.to_numpy())
    limit = {"within": "200 m", "factor": str(2**20)}
    made = Tracks(
        geo, near=near, every=f"{every} min", in_window=limit, window="1 d", bits=SeededBitsForTests(2 + every)
    )
    found, away = _measured(made, rows, points)
    alone = _independent(20, every * _MINUTE, rows)
    assert round(alone) == control
    assert abs(found / reports - 1) < 0.1
    assert abs(away / error - 1) < 0.1
    assert found > alone, "the control: independent noise at equal ε"
    text = (Path(__file__).parents[2] / "docs/guide/locations.md").read_text()
    assert f"| {every} min | {control} a day | {near} | {reports} a day | {error} m |" in text


# ---- a day, attacked, as the guide shows it


_CELLS = np.meshgrid(np.arange(39.90, 40.10, 0.012), np.arange(116.20, 116.48, 0.0156), indexing="ij")
_TRACK: dict[str, Any] = {
    "near": "1 km",
    "every": "5 min",
    "in_window": {"within": "200 m", "factor": str(2**20)},
    "window": "1 d",
}


def _day() -> pd.DataFrame:
    rows = pd.read_parquet(_POINTS)
    day = rows[(rows.uid == "005") & (rows.datetime.dt.date == date(2009, 1, 14))].sort_values("datetime")
    return day[~day.datetime.dt.floor("5min").duplicated()]


def _published(way: str, day: pd.DataFrame, run: int) -> tuple[lw.PlanarLaplace, Tracks | None, np.ndarray]:
    """The day's reports by one of three ways, and what the attacker knows of how they were made."""
    bits = SeededBitsForTests(run)
    geo = lw.PlanarLaplace(box=(115.4, 39.4, 117.5, 41.1), within="200 m", factor=2, outside="clamp", bits=bits)
    if "track" not in way:
        shown = np.array(geo.shown(geo.draw(geo.to_grid(day.lat.to_numpy(), day.lon.to_numpy()))))
        shown[:, 19 if "budget" in way else len(day) :] = np.nan
        return geo, None, shown
    tracks, place, found = Tracks(geo, bits=bits, **_TRACK), TrackPlace(), []
    for north, east, time in zip(day.lat, day.lon, day.datetime.astype("int64").tolist(), strict=True):
        report, place = tracks.report(place, north, east, time=time)
        found.append((np.nan, np.nan) if report is None else report)
    return geo, tracks, np.array(found).T


@pytest.mark.sweep
def test_the_guides_day_is_attacked_with_these_figures() -> None:
    """Seeded: those of other seeds differ by three standard errors of 20 runs, up to 0.1 and 250 m."""
    day, guide = _day(), (Path(__file__).parents[2] / "docs/guide/locations.md").read_text()
    table = guide.split("| the day | rows shown |")[1].split("\n\n")[0].splitlines()[2:]
    assert [len(day), len(_CELLS[0].ravel()), len(table)] == [195, 306, 3]
    for line in table:
        way, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows, price, held, off, held_all, off_all = (float(cell.split()[0]) for cell in cells)
        figures, shown = [], []
        for run in range(20):
            geo, tracks, reports = _published(way, day, run)
            places = PriorPlaces.of(geo.plane, *(axis.ravel() for axis in _CELLS), None)
            truth = places.nearest(day.lat.to_numpy(), day.lon.to_numpy())
            attack = Attack(places, tracks, repeats=False)
            attack.take(geo, truth, list(day.uid), day.datetime.astype("int64").tolist(), reports)
            _, one, every = attack.found()
            shown.append(one.many)
            figures.append([one.believed, one.off, every.believed, every.off])
        means = np.mean(figures, axis=0)
        assert len(np.unique(truth)) == 5
        assert np.mean(shown) == pytest.approx(rows, abs=1.5)
        cost = math.log(2**20) / 200 if tracks else np.mean(shown) * float(geo.epsilon)
        assert 100 * cost == pytest.approx(price, abs=0.3)
        assert means[[0, 2]] == pytest.approx(np.array([held, held_all]) / 100, abs=0.03)
        assert means[[1, 3]] == pytest.approx(np.array([off, off_all]), abs=30)


def test_a_day_is_published_and_attacked_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _day().to_parquet(tmp_path / "day.parquet")
    north, east = (axis.ravel() for axis in _CELLS)
    pd.DataFrame({"lat": north, "lon": east}).to_csv(tmp_path / "cells.csv", index=False)
    more = """[track]
near = "1 km"
every = "5 min"
in_window = { within = "200 m", factor = "1048576" }
window = "1 d"
[attacker]
table = "cells.csv"
latitude = "lat"
longitude = "lon"
between = "5 min"
reports = [1]
"""
    found, _ = _perturb(tmp_path, more, tmp_path / "day.parquet")
    assert 10 < np.isfinite(found.lat).sum() < 60
    capsys.readouterr()
    _run(str(tmp_path / "spec.toml"), "--attack", str(tmp_path / "reports.parquet"))
    notes = capsys.readouterr().err.splitlines()
    assert [note.split(": ")[2].split(" (")[0] for note in notes] == [
        "after no row",
        "after one row",
        "after all rows of a person at one place",
    ]


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")
def test_all_points_are_perturbed_by_spark(tmp_path: Path) -> None:
    """217,653 reports, each once; their mean distance from the truth is 2/ε but for five standard errors (once in 10^6)."""
    frame = spark().read.parquet(str(_POINTS)).repartition(4)
    geo = lw.PlanarLaplace(box=(115.4, 39.4, 117.5, 41.1), within="200 m", factor=2, outside="clamp")
    with (
        pytest.warns(UserWarning, match="uid"),
        pytest.warns(UserWarning, match="7,777 positions were outside the box"),
    ):
        perturb_in_spark(geo, frame, tmp_path / "out", latitude="lat", longitude="lon")
    found, true = pd.read_parquet(tmp_path / "out"), pd.read_parquet(_POINTS)
    keys = ["uid", "datetime"]
    assert sorted(found[keys].itertuples(index=False)) == sorted(true[keys].itertuples(index=False))
    inside = true[true["lat"].between(39.4, 41.1) & true["lon"].between(115.4, 117.5)]
    assert len(true) - len(inside) == 7777
    both = found.merge(inside[~inside.duplicated(keys, keep=False)], on=keys, suffixes=("", "_true"))
    _, _, metres = pyproj.Geod(ellps="WGS84").inv(both["lon_true"], both["lat_true"], both["lon"], both["lat"])
    mean = 2 / float(geo.epsilon)
    assert abs(metres.mean() - mean) < 0.005 * mean + 5 * metres.std() / math.sqrt(len(both))
