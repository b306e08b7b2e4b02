"""What is senseless in a spec of `leeward perturb` is refused by its dry run exactly as by the run itself.

Every key that names no file and no column is given values of every kind. A run may refuse what a dry run takes only for what
the table holds, which its message says.
"""

from __future__ import annotations

import copy
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.private_files import write_private

from leeward.cli import LeewardError
from leeward.local import check_job

Given = dict[str, Any]

POSITIONS: Given = {
    "perturb": {"kind": "location"},
    "data": {"table": "p.parquet", "latitude": "lat", "longitude": "lon", "person": "who", "time": "when"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {"within": "200 m", "factor": "2"},
    "output": {},
    "budget": {"store": "b.db", "secret": "a.key", "reports_a_day": 40},
}
READINGS: Given = {
    "perturb": {"kind": "series"},
    "data": {"table": "r.parquet", "meter": "meter", "time": "time", "value": "kw", "unit": "kW"},
    "time": {"start": "2026-03-28", "end": "2026-03-30", "every": "1 h", "zone": "Europe/Paris"},
    "values": {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
    "protect": {"within": "100 W", "factor": "2", "window": 6},
    "publish": {},
}
TOTALS: Given = {**READINGS, "publish": {"what": "totals"}}
KEYS: dict[str, tuple[Given, list[tuple[str, str]]]] = {
    "positions": (
        POSITIONS,
        [
            ("data", "timezone"),
            *(("box", key) for key in ("west", "south", "east", "north")),
            *(
                ("protect", key)
                for key in ("within", "factor", "epsilon", "unit", "norm", "step", "outside", "missing")
            ),
            *(("output", key) for key in ("h3", "map")),
            *(("budget", key) for key in ("reports_a_day", "over")),
        ],
    ),
    "readings": (
        READINGS,
        [
            ("data", "unit"),
            *(("time", key) for key in ("start", "end", "every", "zone")),
            *(("values", key) for key in ("lower", "upper", "step", "missing")),
            *(("protect", key) for key in ("between", "within", "factor", "epsilon", "unit", "window", "noise")),
            *(("publish", key) for key in ("what", "per", "smooth", "clamp")),
        ],
    ),
    "totals": (TOTALS, [("protect", "within"), ("protect", "window"), ("publish", "per"), ("publish", "smooth")]),
}
SENSELESS: list[Any] = [
    *["", "0", "-1", "1e400", "nan", "1e-400", "0 m", "1e9 m", "1e400 m", "200 km", "5 W", "1e-9 W", "1e30 kW", "0 h"],
    *["1 s", "1e9 h", "2026-03-28", "9999-12-31", "0001-01-01", "2026-03-29T02:30", "Mars/X", "UTC", "\0", "a\nb"],
    *[0, -1, 7, 10**30, 1.5, float("nan"), True, [], {}],
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hours = pd.date_range("2026-03-27T23:00Z", periods=47, freq="1h").astype("datetime64[us, UTC]")
    pd.DataFrame({"meter": "a", "time": hours, "kw": np.arange(47) / 100}).to_parquet(tmp_path / "r.parquet")
    people = {
        "lat": [39.9, 39.91],
        "lon": [116.4, 116.41],
        "who": ["a", "b"],
        "when": pd.Timestamp("2026-03-01T12:00Z"),
    }
    pd.DataFrame(people).to_parquet(tmp_path / "p.parquet")
    write_private(tmp_path / "a.key", bytes(range(32)))
    return tmp_path


def outcome(given: Given, folder: Path, *, dry: bool) -> str:
    try:
        job = check_job(copy.deepcopy(given), folder=folder)
        if dry:
            job.statement(), job.facts()
        else:
            (folder / "b.db").unlink(missing_ok=True)
            job.run(folder / "o.parquet", lambda *_: None, new=True)
    except LeewardError as refused:
        return str(refused)
    return ""


@pytest.mark.sweep
@pytest.mark.parametrize("base", KEYS)
def test_a_dry_run_refuses_what_the_run_refuses(base: str, folder: Path) -> None:
    given, keys = KEYS[base]
    assert outcome(given, folder, dry=False) == ""
    refused = 0
    for (section, key), value in itertools.product(keys, SENSELESS):
        changed = {**given, section: {**given[section], key: value}}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            first, then = (outcome(changed, folder, dry=dry) for dry in (True, False))
        of_the_table = not first and "for the curator only" in then
        assert first == then or of_the_table, f"[{section}] {key} = {value!r}: dry run {first!r}, run {then!r}"
        refused += bool(first)
    assert refused > len(keys) * 15


def test_a_run_that_refuses_later_would_be_seen(folder: Path) -> None:
    late = {**POSITIONS, "data": {**POSITIONS["data"], "latitude": "height"}}
    assert outcome(late, folder, dry=True) == ""
    assert "none of that name" in outcome(late, folder, dry=False)
