"""The service near its caps, loaded by many at once: the short form of ``benchmarks/service.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "service.py"


@pytest.mark.sweep
def test_nothing_is_overspent_and_each_answer_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes on one ledger, one of them killed halfway; the load itself holds the ledger against what was seen."""
    spec = importlib.util.spec_from_file_location("service_load", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "service_load", module)
    spec.loader.exec_module(module)
    found = module.load(tmp_path, clients=12, seconds=8.0)
    assert found.took["new"]
    assert found.at(0.5, "new") <= found.at(0.99, "new")
