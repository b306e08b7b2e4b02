"""Perturbing real tracks (Geolife, Beijing): the displacement that is said is the displacement that is seen.

The data is not ours to bundle. These tests look for it where ``LEEWARD_SHARED_DATA`` says, or beside the project, and skip
with a reason where it is not.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyproj
import pytest
from tests.private_files import write_private

from leeward.cli import main
from leeward.local.series._days import in_words

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


def _perturb(folder: Path, more: str = "") -> tuple[pd.DataFrame, dict[str, object]]:
    spec, out = folder / "spec.toml", folder / "reports.parquet"
    spec.write_text(_SPEC.format(points=_POINTS, more=more))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["leeward", "perturb", str(spec), "--out", str(out), "--quiet", "--yes"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
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
