"""Figures are kept with the machine they were measured on, and without the computer's own name."""

from __future__ import annotations

import importlib.util
import json
import platform
from pathlib import Path

import pytest
from rich.table import Table

PATH = Path(__file__).parent.parent.parent / "benchmarks" / "history.py"
SPEC = importlib.util.spec_from_file_location("history", PATH)
assert SPEC is not None
assert SPEC.loader is not None
history = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(history)


def test_a_table_is_kept_as_it_was_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("what", "seconds", title="Two rows")
    table.add_row("ours", "1.50")
    table.add_row("theirs", "3.00")
    kept = tmp_path / "history.jsonl"
    history.show("example", table, history=kept)
    history.show("example", table, history=kept)
    assert "theirs" in capsys.readouterr().out
    first, second = (json.loads(line) for line in kept.read_text().splitlines())
    assert first["columns"] == ["what", "seconds"]
    assert first["rows"] == [["ours", "1.50"], ["theirs", "3.00"]]
    assert (second["benchmark"], second["title"]) == ("example", "Two rows")
    assert set(first["machine"]) == {"name", "cores", "load", "system", "python"}


def test_the_machine_is_named_but_not_the_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEEWARD_MACHINE", raising=False)
    monkeypatch.setattr(platform, "node", lambda: "a-private-name")
    assert history.machine()["name"]
    assert "a-private-name" not in json.dumps(history.machine())
    monkeypatch.setenv("LEEWARD_MACHINE", "the fast one")
    assert history.machine()["name"] == "the fast one"
