"""What is senseless is refused by a dry run and by a plan exactly as by the run itself, and nothing is charged.

Only what depends on data, or on what a ledger holds, may come later: files and columns, and prices above what is left.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.deciding import decide_by
from tests.session.conftest import SPEC, Town

import leeward as lw
from leeward.errors import InputError, LeewardError
from leeward.ledger import Ledger
from leeward.spec import Spec

VISITORS = tomllib.loads(SPEC)
STOPPING = VISITORS | {
    "protect": {"notion": "presence", "epsilon": "1"}, "publish": {"mechanism": "sanitized", "stop_after": 1},
}  # fmt: skip
BOTH = VISITORS | {
    "protect": VISITORS["protect"] | {"notion": "dp"},
    "decide": {"safe_at_most": 3, "dangerous_at_least": 6, "error_at_most": "0.1", "useful_from": "0.01"},
}
MEAN = {
    "data": {"table": "visits.parquet", "person": "user"},
    "query": {"kind": "mean", "column": "n", "lower": "0", "upper": "3", "step": "1", "grid": "1"},
    "protect": {"notion": "dp", "epsilon": "4"},
    "budget": {**VISITORS["budget"], "version": "1", "notion": "dp"},
}
NEAR = {**MEAN, "protect": {"notion": "manhattan", "epsilon": "4", "unit": "1"}, "budget": VISITORS["budget"]}
PERCENTILE = {**MEAN, "query": {"kind": "percentile", "column": "n", "lower": "0", "upper": "3", "p": "25"}}
GRADED = BOTH | {"protect": {"notion": "graded", "presence": "1", "absence": "4", "places_per_person": 1}}
BASES = {
    "visitors": VISITORS,
    "stopping": STOPPING,
    "both": BOTH,
    "mean": MEAN,
    "near": NEAR,
    "percentile": PERCENTILE,
    "graded": GRADED,
}

OF_DATA = {"data", "places"}
"""Sections that name files and columns."""

SENSELESS: list[Any] = ["", "maybe", "-1", "0", "inf", "nan", "1/0", -1, 0, True, 1.5, [], {}]
KEYS = [
    (base, section, key)
    for base, spec in BASES.items()
    for section, keys in spec.items()
    if section not in OF_DATA
    for key in keys
    if key not in {"ledger", "column"} and (base == "visitors" or keys[key] != VISITORS.get(section, {}).get(key))
]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str | bool | int | float):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return f"{value}".replace(" ", "T")


@pytest.fixture
def town(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Town:
    """Three places with a person each."""
    names = ["v0", "v1", "v2"]
    table = {"user": list("abc"), "venue": names, "at": pd.Timestamp("2026-01-01T18:30"), "n": [0, 1, 3]}
    pd.DataFrame(table).to_parquet(tmp_path / "visits.parquet")
    pd.DataFrame({"venue": names, "name": names, "lat": 35.6, "lon": 139.7}).to_parquet(tmp_path / "places.parquet")
    return Town(tmp_path, capsys)


def charged(town: Town) -> bool:
    ledger = town.folder / "budget.db"
    return ledger.exists() and any(each.spent for each in Ledger(f"sqlite:///{ledger}").show())


@pytest.mark.sweep
@pytest.mark.parametrize(("base", "section", "key"), KEYS, ids=".".join)
def test_a_dry_run_refuses_a_key_as_the_run_does(base: str, section: str, key: str, town: Town) -> None:
    spec, told = town.folder / "spec.toml", set[str]()
    for value in SENSELESS:
        given = copy.deepcopy(BASES[base])
        given[section][key] = value
        spec.write_text("".join(f"{name} = {toml(part)}\n" for name, part in given.items()))
        code, _, err = town.run("release", spec, "--dry-run")
        if code == 0:
            told.add(f"{value!r} is taken")
            continue
        assert (code, err.count("\n"), err[:9]) == (2, 1, "leeward: "), (value, err)
        assert town.run("release", spec, "--out", town.out) == (2, "", err), value
        assert not charged(town)
        assert not town.out.exists()
    expected = TAKEN.get((section, key), set()) | TAKEN.get((base, section, key), set())
    assert told <= {f"{value!r} is taken" for value in expected}, "a dry run takes what makes no sense"


TEXT = {"maybe", "-1", "0", "inf", "nan", "1/0"}
TAKEN: dict[tuple[str, ...], set[Any]] = {
    ("budget", "dataset"): TEXT,
    ("budget", "version"): TEXT,
    ("decide", "safe_at_most"): {0},
    ("decide", "useful_from"): {"0", 0},
    ("query", "lower"): {"-1", "0", -1, 0},
    ("query", "p"): {"0", 0},
    ("graded", "protect", "presence"): {"inf"},
    ("graded", "protect", "absence"): {"inf"},
}
"""What makes sense after all."""


def test_every_section_of_a_spec_is_gone_through() -> None:
    assert {section for _, section, _ in KEYS} == set(Spec.model_fields) - OF_DATA - {"folder", "windows"}


def test_a_dry_run_knows_what_is_left_of_a_budget(town: Town) -> None:
    """A value that a dry run takes is taken by the run, and a price above the cap by neither."""
    spec = town.folder / "spec.toml"
    for section, key, value, refused in (
        ("decide", "safe_at_most", 0, ""),
        ("budget", "version", "nan", ""),
        ("budget", "cap", "1/2", "is left of the budget"),
    ):  # fmt: skip
        given = copy.deepcopy(VISITORS)
        given[section][key] = value
        given["budget"]["dataset"] = f"the data set about {key}"
        spec.write_text("".join(f"{name} = {toml(part)}\n" for name, part in given.items()))
        dry = town.run("release", spec, "--dry-run")
        code, _, err = town.run("release", spec, "--out", town.out, "--new-budget")
        assert (code, refused in err) == (2 if refused else 0, True), err
        assert (dry[0], dry[2] if refused else err) == (code, err)


def test_a_release_without_a_price_in_its_budget_is_refused_by_a_dry_run(town: Town) -> None:
    spec = town.folder / "spec.toml"
    given = copy.deepcopy(VISITORS)
    given["budget"]["notion"] = "presence"
    spec.write_text("".join(f"{name} = {toml(part)}\n" for name, part in given.items()))
    code, _, err = town.run("release", spec, "--dry-run")
    assert (code, town.run("release", spec, "--out", town.out)) == (2, (2, "", err))


OPTIONS = [
    *(("release", "--if-doubtful", word) for word in ("maybe", "", "Refuse")),
    *(("monitor", "--if-doubtful", word) for word in ("maybe", "")),
    *(("plan", "--delta", word) for word in ("-1", "1", "nan", "inf", "maybe", "", "2", "1e9")),
    *(("plan", "--assumed-error", word) for word in ("-1", "0", "1", "nan", "inf", "maybe", "")),
    *(
        ("plan", "--safe-at", word)
        for word in ("0:-1", "0:0", "0:1.01", "0:nan", "0:maybe", "0:", "maybe", "-1:0.5", "")
    ),
    *(("plan", "--releases", word) for word in ("0", "-1", "maybe", "1.5")),
    *(("plan", "--counts", word) for word in ("maybe", "0:-1", "-1:1", "0:0", "", "0:1,0:2")),
]


@pytest.mark.parametrize(("command", "option", "word"), OPTIONS)
def test_an_option_is_looked_at_before_anything_else(command: str, option: str, word: str, town: Town) -> None:
    spec = town.folder / "spec.toml"
    given = STOPPING if command == "monitor" else VISITORS
    spec.write_text("".join(f"{name} = {toml(part)}\n" for name, part in given.items()))
    modes = {
        "release": [["--dry-run"], ["--out", town.out]],
        "monitor": [["--out", town.out]],
        "plan": [[], ["--json"]],
    }
    found = {in_text(*town.run(command, spec, option, word, *mode)) for mode in modes[command]}
    assert len(found) == 1, found
    code, out, err = found.pop()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert not (town.folder / "budget.db").exists()
    assert not town.out.exists()


def in_text(code: int, out: str, err: str) -> tuple[int, str, str]:
    """A refusal as a person is told it, also where a program was."""
    if err.startswith("{"):
        err = f"leeward: {json.loads(err)['error']['message']}\n"
    return code, out, err


def asked(town: Town) -> Any:
    seen = lw.visits(town.folder / "visits.parquet", person="user", place="venue", time="at")
    listed = lw.places(town.folder / "places.parquet", place="venue")
    return lw.count_visitors(seen, listed, start="2026-01-01T18:00", end="2026-01-01T19:00", places_per_person=1)


@pytest.mark.parametrize(
    "given",
    [
        *(
            {"delta": wrong}
            for wrong in ("-1", "1", "nan", "inf", "maybe", "", -1, 1, 2, 0.5, float("nan"), None, True)
        ),
        *({"assumed_error": wrong} for wrong in ("0", "1", "-1", "nan", "maybe", 0, 1, 0.5, True)),
        *({"releases": wrong} for wrong in (0, -1, 1.5, "3", True, None)),
        *({"places": wrong} for wrong in (0, -1, 1.5, "3", True)),
        *({"counts": wrong} for wrong in ({}, {-1: 2}, {0: -2}, {0: 0}, {"0": 1}, {0.5: 1}, [1, 2], "0:1")),
        *({"left": wrong} for wrong in (Fraction(-1), "1", 0.5, float("nan"))),
        *({"useful_from": wrong} for wrong in ("-1", "1", "nan", "maybe", 0.5, True)),
        *({"error_at_most": wrong} for wrong in ("0", "1", "-1", "nan", "maybe", 0.5, True)),
        *({"mechanism": wrong} for wrong in ("", "maybe", None, 1)),
        *({"what": wrong} for wrong in ("", "maybe", None, 1)),
        *({"stop_after": wrong} for wrong in (0, -1, 1.5, "3", True)),
    ],
    ids=str,
)
def test_a_plan_in_python_takes_no_senseless_argument(given: dict[str, Any], town: Town) -> None:
    asks: dict[str, Any] = {"safe_at_most": 2, **({"mechanism": "sanitized"} if "stop_after" in given else {}), **given}
    notion = lw.Presence("1") if "stop_after" in given else lw.UnboundedDP("8")
    beside = {field.name for field in dataclasses.fields(lw.planner.Scenario)}
    try:
        scenario = lw.planner.Scenario(**{key: asks.pop(key) for key in beside & asks.keys()})
        compared = decide_by(lw.compare, asked(town), notion, **asks, scenario=scenario)
    except LeewardError:
        return
    assert compared.as_written is None, "it is planned with what makes no sense"
    assert set(given) & {"error_at_most", "mechanism", "what", "stop_after"}, (
        "a plan's own argument only is told as refused"
    )


@pytest.mark.parametrize("probability", ["0", "-1", "2", "nan", "maybe", 0.5, None])
def test_a_wish_is_a_probability(probability: Any, town: Town) -> None:
    compared = lw.compare(asked(town), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    with pytest.raises(LeewardError):
        lw.recommend(compared, probability=probability)
    with pytest.raises(InputError):
        lw.recommend(compared, count=-1)


@pytest.mark.parametrize(
    "given",
    [
        *({"cap": wrong} for wrong in ("inf", "0", "-1", "nan", "maybe", "", 0, -1, 0.5, True)),
        *({name: wrong} for name in ("dataset", "version", "notion") for wrong in ("", "\0", "a\ud800", 1, b"a")),
    ],
    ids=repr,
)
def test_a_budget_is_checked_when_it_is_described(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        lw.Budget(**{"ledger": tmp_path / "b.db", "dataset": "town", "cap": "1", **given})


@pytest.mark.parametrize("base", BASES)
def test_what_is_changed_is_taken_as_it_stands(base: str, town: Town) -> None:
    spec = town.folder / "spec.toml"
    spec.write_text("".join(f"{name} = {toml(part)}\n" for name, part in BASES[base].items()))
    for mode in (["--dry-run"], ["--out", town.out]):
        code, _, err = town.run("release", spec, *mode, "--accept-useless")
        assert code == 0, err
