"""Nothing that depends on the spec alone fails after the charge: huge and tiny values of every key work, or cost nothing."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.session.conftest import Town
from tests.spec.test_senseless_values import BASES, KEYS, charged, toml

from leeward.mechanism import Sanitized

HUGE: list[Any] = [10**6, 10**12, 10**30, "1e12", "1e300", "1e-300"]


def town(folder: Path, capsys: pytest.CaptureFixture[str]) -> Town:
    """Three places with a person each."""
    names = ["v0", "v1", "v2"]
    table = {"user": list("abc"), "venue": names, "at": pd.Timestamp("2026-01-01T18:30"), "n": [0, 1, 3]}
    folder.mkdir()
    pd.DataFrame(table).to_parquet(folder / "visits.parquet")
    pd.DataFrame({"venue": names, "name": names, "lat": 35.6, "lon": 139.7}).to_parquet(folder / "places.parquet")
    return Town(folder, capsys)


def released(base: str, section: str, key: str, value: Any, made: Town) -> int:
    given = copy.deepcopy(BASES[base])
    given["budget"]["cap"] = "1000000"
    given[section][key] = value
    lines = [f"[{name}]\n" + "\n".join(f"{k} = {toml(v)}" for k, v in keys.items()) for name, keys in given.items()]
    path = made.folder / "spec.toml"
    path.write_text("\n".join(lines))
    return made.run("release", path, "--out", made.folder / "out", "--accept-useless", "--quiet")[0]


@pytest.mark.sweep
@pytest.mark.parametrize(("base", "section", "key"), KEYS)
def test_a_huge_value_works_or_costs_nothing(
    base: str,
    section: str,
    key: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for turn, value in enumerate(HUGE):
        made = town(tmp_path / str(turn), capsys)
        monkeypatch.chdir(made.folder)
        code = released(base, section, key, value, made)
        assert code in (0, 2), value
        assert code == 0 or not charged(made), value


def test_what_fails_after_the_charge_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the sanitized mechanism once did, which listed a chance for each stop."""

    def expected(*_: object) -> float:
        raise MemoryError

    monkeypatch.setattr(Sanitized, "expected_answered_if_empty", expected)
    made = town(tmp_path / "town", capsys)
    monkeypatch.chdir(made.folder)
    code = released("stopping", "publish", "stop_after", 1, made)
    assert code != 0
    assert charged(made)
