"""Meters on real readings: a month of a house near Paris, a reading a minute (UCI Machine Learning Repository).

The original file is looked for where ``LEEWARD_SHARED_DATA`` says, or beside the project; the tests skip with a reason where
it is not. Its kilowatts are binary floats of 32 bits.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.flat_series import flat_series

import leeward as lw
from leeward.errors import DataError
from leeward.local import check_job
from leeward.noise import SeededBitsForTests
from leeward.papers import household_power

_FOLDER = Path(os.environ.get("LEEWARD_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
_HOUSE = _FOLDER / "household_power_1min.parquet"

pytestmark = pytest.mark.skipif(not _HOUSE.is_file(), reason="the household's readings are not here")

PERIOD = {"start": "2006-12-16T17:24", "end": "2007-01-11T14:51", "every": "1 min"}
VALUES = {"lower": "0 kW", "upper": "12 kW", "step": "1 W", "missing": "keep"}
COLUMN = "Global_active_power"


def series(**more: Any) -> lw.Series:
    given: dict[str, Any] = {"epsilon": "0.5", "unit": "10 W", "window": 60, "values": "kW"}
    return flat_series(**{**given, **PERIOD, **VALUES, "bits": SeededBitsForTests(4), **more})


def test_the_command_on_the_original_file(tmp_path: Path) -> None:
    job = check_job(
        {
            "perturb": {"kind": "series"},
            "data": {"table": str(_HOUSE), "time": "datetime", "value": COLUMN, "unit": "kW"},
            "time": PERIOD,
            "values": VALUES,
            "protect": {"epsilon": "0.5", "unit": "10 W", "window": 60},
        }
    )
    done = job.run(tmp_path / "o.parquet", lambda *_: None)
    before, after = pd.read_parquet(_HOUSE), pd.read_parquet(tmp_path / "o.parquet")
    assert len(after) == 37_283
    assert after.drop(columns=COLUMN).equals(before.drop(columns=COLUMN))
    assert "Voltage" in done.notes[0]
    # E|error| 610 W; the mean of 622 windows, whose errors go together within one, has a standard error of about 5 W
    off = np.abs(after[COLUMN] - before[COLUMN]).mean() * 1000
    assert off == pytest.approx(610, abs=40)


def test_floats_of_32_bits_mean_the_watts_that_they_print_as() -> None:
    original = pd.read_parquet(_HOUSE)
    steps, beyond = series().grid.steps(original[COLUMN].astype(np.float64).to_numpy())
    assert beyond == 0
    assert steps.tolist() == household_power()["watts"].tolist()


def test_the_two_gaps_are_found() -> None:
    with pytest.raises(DataError, match="missing"):
        series(missing="refuse").perturb(pd.read_parquet(_HOUSE)[["datetime", COLUMN]], time="datetime", value=COLUMN)


def test_noise_on_each_reading_leaves_the_signature_and_noise_on_the_hour_does_not() -> None:
    house = pd.read_parquet(_HOUSE)[["datetime", COLUMN]]
    hour = house["datetime"].between("2006-12-17T18:00", "2006-12-17T18:59")

    def alike(made: lw.Series) -> float:
        noisy = made.perturb(house, time="datetime", value=COLUMN)
        return float(np.corrcoef(noisy.loc[hour, COLUMN], house.loc[hour, COLUMN])[0, 1])

    # the same ε, 0.1 for each 10 W: ε·d_1, as the paper draws it, and ε·d_∞ of an hour
    assert alike(series(epsilon="0.1", between="manhattan", window=1)) > 0.9
    assert abs(alike(series(epsilon="0.1"))) < 0.5
    # and a larger ε shows more, not less
    assert alike(series(epsilon="0.5", between="manhattan", window=1)) > 0.99
