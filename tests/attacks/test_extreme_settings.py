# SPDX-License-Identifier: Apache-2.0
"""Attack: settings of a perturbed table that no float and no 64 bits hold are refused before anything is charged or made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.local.test_location import Run, run, spec  # noqa: F401 - a fixture

from leeward.errors import InputError, NoiseError
from leeward.local.location import PlanarLaplace, Tracks
from leeward.local.series._post_processing import _smoothed
from leeward.local.series._readings import Readings
from leeward.mechanism._predictive import PredictiveMechanism

BOX = (139.5, 35.5, 140.0, 35.9)
NINES = "9" * 400
ASKED: dict[str, Any] = {"within": "200 m", "factor": "2", "step": "1 m"}


@pytest.mark.parametrize("step", ["1e-30 m", "1e-400 m", f"1/{NINES} m"])
def test_a_grid_that_is_too_fine_is_refused_by_its_noise(step: str) -> None:
    """Its points were numbered by a float that is 0."""
    with pytest.raises(NoiseError, match="from 2\\^-49 upwards"):
        PlanarLaplace(box=BOX, **{**ASKED, "step": step})


@pytest.mark.parametrize(
    "keys",
    [
        {"near": "1e309"},
        {"near": "1e30"},
        {"near": NINES},
        {"near": "300", "test": "1e-30"},  # took longer than anybody waits
        {"near": "300", "test": "1e-400"},
    ],
)
def test_a_test_that_floats_cannot_tell_is_refused(keys: dict[str, str]) -> None:
    geo = PlanarLaplace(box=BOX, **ASKED)
    with pytest.raises(InputError, match=r"up to 2\^49 steps"):
        PredictiveMechanism(geo.mechanism, **keys)
    with pytest.raises(InputError, match=r"up to 2\^49 steps|on the Earth"):
        Tracks(geo, in_all={"within": "200 m", "factor": "64"}, **{**keys, "near": f"{keys['near']} m"})


def test_a_share_of_many_digits_is_counted_at_once() -> None:
    """What an allowance holds in its units was found one unit after another, from a float that was billions off."""
    share = f"{'3' * 33}/1{'0' * 33}"
    allowed = Tracks(
        PlanarLaplace(box=BOX, **ASKED), near="300 m", test=share, in_all={"within": "200 m", "factor": "64"}
    )
    held = allowed.mechanism.allowances[0].most / allowed.mechanism.unit
    ((units, _),) = allowed.mechanism._bounds
    assert units <= held < units + 1


@pytest.mark.parametrize("most", [0, 10**100 + 1, 10**400])
def test_more_reports_a_day_than_are_counted_are_refused_before_they_are_charged(
    most: int,
    run: Run,  # noqa: F811
    tmp_path: Path,
) -> None:
    job = str(
        spec(
            tmp_path,
            data={"person": "who", "time": "when"},
            budget={"store": "people.db", "secret": "people.key", "reports_a_day": most},
        )
    )
    for words in (["--dry-run"], ["--out", "r.parquet"]):
        code, out, err = run(job, *words)
        assert (code, out) == (2, ""), err
        assert "reports_a_day" in err
    assert not (tmp_path / "people.db").exists()


@pytest.mark.parametrize("width", [2**61 + 1, 2**62 + 1, 2**63 - 1, 2**64 + 1])
def test_a_moving_average_over_more_than_there_is_is_the_mean_of_all_of_a_meter(width: int) -> None:
    """Keys of meters overflowed: other meters were in the mean, or the run failed after it was charged."""
    meter, slot = np.repeat(np.arange(9), 4), np.tile(np.arange(4), 9)
    noisy = 100 * meter + slot
    readings = Readings(np.arange(36), list("abcdefghi"), meter, slot, noisy, np.full(36, True), 0)
    assert (_smoothed(noisy, readings, width) == np.repeat(100 * np.arange(9) + 2, 4)).all()
