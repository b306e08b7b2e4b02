"""The benchmark of visits runs: its part that needs no peer does its whole job on few visits."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.mark.parametrize("text", [False, True])
def test_the_engine_alone_opens_digests_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: bool
) -> None:
    monkeypatch.syspath_prepend(FOLDER)  # as where the script is run: it imports its neighbour
    spec = importlib.util.spec_from_file_location("visits_benchmark", FOLDER / "visits.py")
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    benchmark.make(tmp_path, 2_000, 500, 30, text)
    benchmark.engine_job(tmp_path)
    benchmark.duckdb_job(tmp_path)
    assert re.fullmatch(r"engine alone: open [\d.]+ s, digest [\d.]+ s, count [\d.]+ s\n", capsys.readouterr().out)
    assert (tmp_path / "spec.toml").exists()
    sys.modules.pop("history", None)
