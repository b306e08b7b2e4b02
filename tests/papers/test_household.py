"""The bundled readings are whole, credited, and small."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

from leeward.papers import household_power


def test_the_readings_are_a_minute_apart_but_for_two_gaps() -> None:
    power = household_power()
    assert list(power.columns) == ["datetime", "watts"]
    assert len(power) == 37_283
    steps = power["datetime"].diff().dropna().value_counts()
    assert steps.to_dict() == {pd.Timedelta(minutes=1): 37_280, pd.Timedelta(minutes=3): 2}
    assert power["watts"].min() == 194
    assert power["watts"].max() == 9132
    assert str(power["datetime"].iloc[0]) == "2006-12-16 17:24:00"
    assert power["watts"].iloc[0] == 4216  # 4.216 kW in the original


def test_the_readings_are_credited() -> None:
    data = files("leeward.papers").joinpath("data")
    licences = data.joinpath("LICENSES.md").read_text("utf-8")
    assert all(word in licences for word in ("10.24432/C58K54", "Hebrail", "Berard", "CC BY 4.0", "What we changed"))
    listed = {line.split("|")[1].strip() for line in licences.splitlines() if line.startswith("| household")}
    assert {entry.name for entry in data.iterdir() if entry.name.endswith(".parquet")} == listed
