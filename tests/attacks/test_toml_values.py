"""Attack: every key of every kind of spec with every hostile value that TOML can write, through the command.

Whatever it is, the exit code is 0 or 2, and a refusal is one line without a traceback. 90 values × some 80 keys are too many
for every run of the sweeps, so that each key takes some values of the list, by a seed: change it to try others.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.private_files import write_private
from tests.session.conftest import Town, town  # noqa: F401 - a fixture

VALUES = r"""
""  " "  "\u0000"  "\n"  "a\u202eb"  "é"  "NaN"  "inf"  "-1"  "0"  "1e400"  "1/0"  "1e-400"  "9"
nan  inf  -inf  -0.0  0  -1  1  9223372036854775807  9223372036854775808  -9223372036854775809
1e308  1e-320  true  false  []  {}  [[]]  [""]  ["a", 1]  [{}]  1979-05-27  07:32:00
0001-01-01T00:00:00  9999-12-31T23:59:59.999999  1979-05-27T07:32:00Z
1979-05-27T00:32:00.999999999-07:00  "/dev/null"  "/dev/zero"  "."  "*"  "{}"  "%s%n"  "\\"  "'"
"1 m"  "1e999 m"  "0 m"  "-1 km"  "1 W"  "1e-30 W"  "1e30 kW"  "sqlite://"  "sqlite:///"
"sqlite:///:memory:"  "file:x"  "Local"  "UTC"  "log(2)"  "sqrt(2)"  "1_000"  "０"  "²"  "0x10"  "𝟙"
"1 / 2"  "--1"  "1e"  "1d"  "0d"  "99999999d"  "1min"  { a = 1 }  { west = 1 }  { sex = [] }
{ sex = ["m", "m"] }  "lat"  "lon"  "user"  "each row"  "../../../etc/passwd"  "visits.parquet"
"budget.db"  "people.key"  ["visits.parquet", "visits.parquet"]
"""
HOSTILE = [value for line in VALUES.strip().splitlines() for value in line.split("  ")]
HOSTILE += [f'"{"9" * 400}"', f'"{"x" * 5000}"', ""]  # the last one: the key is not there
EACH = 3

BUDGET = {"ledger": "budget.db", "dataset": "town", "cap": "50", "version": "1"}
SPECS: dict[str, dict[str, dict[str, Any]]] = {
    "visitors": {
        "data": {"visits": "visits.parquet", "person": "user", "place": "venue", "time": "at", "timezone": "UTC"},
        "places": {"table": "places.parquet", "place": "venue", "latitude": "lat", "longitude": "lon", "name": "name"},
        "window": {"start": "2026-01-01T18:00:00", "end": "2026-01-01T19:00:00", "every": "30min"},
        "protect": {"notion": "dp", "epsilon": "1", "places_per_person": 1, "if_more": "latest"},
        "decide": {"safe_at_most": 2, "error_at_most": "0.01", "useful_from": "0.01"},
        "publish": {"what": "decisions", "mechanism": "auto"},
        "budget": BUDGET,
    },
    "numbers": {
        "data": {"table": "visits.parquet", "person": "user"},
        "query": {"kind": "mean", "column": "n", "lower": "0", "upper": "4", "step": "1/2", "combine": "sum"},
        "protect": {"notion": "dp", "epsilon": "4"},
        "budget": BUDGET,
    },
    "positions": {
        "perturb": {"kind": "location"},
        "data": {"table": "people.parquet", "latitude": "lat", "longitude": "lon", "person": "who", "time": "when"},
        "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
        "protect": {"within": "200 m", "factor": "2", "norm": "euclidean", "step": "1 m", "outside": "clamp"},
        "output": {"h3": 9, "map": False},
        "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 100, "over": "withhold"},
        "repeat": {"store": "memo.db", "secret": "people.key"},
    },
    "series": {
        "perturb": {"kind": "series"},
        "data": {"table": "readings.parquet", "time": "time", "value": "kw", "unit": "kW", "meter": "meter"},
        "time": {"start": "2026-01-01T00:00:00", "end": "2026-01-02T00:00:00", "every": "1 h", "zone": "UTC"},
        "values": {"lower": "0 kW", "upper": "12 kW", "step": "1 W", "missing": "keep"},
        "protect": {"between": "maximum", "epsilon": "1", "unit": "100 W", "window": 2},
        "publish": {"what": "readings", "smooth": 3, "clamp": True},
    },
}


@pytest.fixture
def place(town: Town, monkeypatch: pytest.MonkeyPatch) -> Town:  # noqa: F811
    """The town, with numbers, positions and readings beside its visits."""
    monkeypatch.chdir(town.folder)
    pd.read_parquet("visits.parquet").assign(n=1.5).to_parquet("visits.parquet")
    people = {
        "lat": [39.9, 39.91],
        "lon": [116.4, 116.41],
        "who": ["a", "b"],
        "when": pd.Timestamp("2026-03-01T12:00Z"),
    }
    pd.DataFrame(people).to_parquet("people.parquet")
    hours = pd.date_range("2026-01-01", periods=24, freq="1h")
    pd.DataFrame({"meter": "a", "time": hours, "kw": range(24)}).to_parquet("readings.parquet")
    write_private(Path("people.key"), bytes(range(32)))
    return town


def toml(spec: dict[str, dict[str, Any]], section: str = "", key: str = "", value: str = "") -> str:
    lines = []
    for name, keys in spec.items():
        written = {k: json.dumps(v, ensure_ascii=False) for k, v in keys.items()}
        if name == section:
            written = {k: v for k, v in (written | {key: value}).items() if v}
        lines += [f"[{name}]", *(f"{k} = {v}" for k, v in written.items())]
    return "\n".join(lines)


def attempts(kind: str) -> list[list[str]]:
    if kind in {"positions", "series"}:
        return [["perturb", "spec.toml", "--dry-run"], ["perturb", "spec.toml", "--out", "made.parquet", "--yes"]]
    going_on = ["--new-budget", "--accept-useless", "--if-doubtful", "publish"]
    return [
        ["release", "spec.toml", "--dry-run"],
        ["plan", "spec.toml"],
        ["release", "spec.toml", "--out", "out", *going_on],
    ]


@pytest.mark.parametrize("kind", SPECS)
def test_the_specs_are_good_ones(kind: str, place: Town) -> None:
    Path("spec.toml").write_text(toml(SPECS[kind]))
    for words in attempts(kind)[:1]:
        assert place.run(*words)[0] == 0, place.run(*words)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", SPECS)
def test_no_value_of_any_key_is_a_defect(kind: str, place: Town) -> None:
    draw, codes = random.Random(11), set()
    for section, keys in SPECS[kind].items():
        for key in keys:
            for value in draw.sample(HOSTILE, EACH):
                Path("spec.toml").write_text(toml(SPECS[kind], section, key, value), encoding="utf-8")
                for words in attempts(kind):
                    code, _, err = place.run(*words)
                    assert code in {0, 2}, (section, key, value, words, err)
                    assert "Traceback" not in err, (section, key, value)
                    if code == 2:
                        refusal = [line for line in err.splitlines() if line.startswith("leeward: ")]
                        assert len(refusal) == 1, (section, key, value, words, err)
                    codes.add(code)
    assert codes == {0, 2}
