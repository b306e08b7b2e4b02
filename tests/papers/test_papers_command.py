"""``leeward papers``: what it writes, what it says, and its exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leeward.cli import main
from leeward.papers import Recomputed


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["leeward", "papers", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, found: Recomputed) -> Recomputed:
    """Spares the command the computation, which other tests do."""
    monkeypatch.setattr("leeward.papers.recompute", lambda *_: found)
    return found


@pytest.mark.usefixtures("quick")
def test_it_writes_the_page_and_says_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--out", str(tmp_path / "out")) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "papers.html",
        "papers.json",
        "data",
        "leeward-files.json",
    }
    assert "corrected" in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_json_is_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--json", "--out", str(tmp_path)) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "papers.json").read_text("utf-8"))


def test_a_number_that_moved_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: Recomputed
) -> None:
    first = found.claims[0]
    wrong = Recomputed(False, [replace(first, ours=first.ours + 1e-6), *found.claims[1:]], found.figures)
    monkeypatch.setattr("leeward.papers.recompute", lambda *_: wrong)
    assert run(monkeypatch, "--quiet", "--out", str(tmp_path)) == 1
    assert first.key in capsys.readouterr().err


def test_refusals_come_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--columns", "user,venue", "--out", str(tmp_path / "out")) == 2
    assert "three columns" in capsys.readouterr().err
    for wrong in ("user,venue,at,state", "user,,at", "a,b,c,d,e,f"):
        assert run(monkeypatch, "--columns", wrong, "--out", str(tmp_path / "out")) == 2
        assert "or five of a file of Peopleflow's shape" in capsys.readouterr().err
    for wrong in ("three", "3,", "-1", "3.5", "1" * 5000):
        assert run(monkeypatch, "--categories", wrong, "--out", str(tmp_path / "out")) == 2
        assert "they are not whole numbers" in capsys.readouterr().err
    assert run(monkeypatch, "--visits", str(tmp_path / "none.csv"), "--out", str(tmp_path / "out")) == 2
    assert "no such file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
