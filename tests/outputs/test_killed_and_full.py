"""``leeward perturb`` that is killed, or may not write on: nothing is half there, what was charged stays charged."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from tests.local.test_location import spec, table
from tests.private_files import write_private

from leeward.errors import LedgerError
from leeward.ledger import read_secret

KILLED = """
import os, signal, sys
from leeward.local.location._parquet import ParquetPositions
from leeward.cli import main

def before(kind, name):
    def killed(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(kind, name, killed)

def within(name, turn):
    real, left = getattr(os, name), [turn]
    def killed(*given, **more):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **more)
    setattr(os, name, killed)

os.umask(0)
exec(sys.argv.pop())
main()
"""
WHERE = {
    "between charging and drawing": "before(ParquetPositions, 'rewrite')",
    "between the statement and the table": "within('replace', 2)",
}


def run(folder: Path, where: str, limit: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    words = ["perturb", "spec.toml", "--out", "o.parquet", "--quiet", where]
    return subprocess.run(
        [sys.executable, "-c", KILLED, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )


def spent(folder: Path) -> tuple[int, int]:
    """How many reports are paid for, and how many are remembered."""
    with closing(sqlite3.connect(folder / "people.db")) as paid, closing(sqlite3.connect(folder / "memo.db")) as told:
        reports = paid.execute("SELECT coalesce(sum(reports), 0) FROM spent").fetchone()[0]
        return reports, told.execute("SELECT count(*) FROM memo").fetchone()[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table().to_parquet(tmp_path / "positions.parquet")
    write_private(tmp_path / "people.key", bytes(range(32)))
    store = {"secret": "people.key"}
    spec(
        tmp_path,
        data={"person": "who", "time": "when"},
        budget={**store, "store": "people.db", "reports_a_day": 2},
        repeat={**store, "store": "memo.db"},
        protect={"step": "50 m"},
    )
    return tmp_path


@pytest.mark.parametrize("where", WHERE)
def test_a_killed_run_leaves_nothing_half_written(where: str, folder: Path) -> None:
    killed = run(folder, WHERE[where])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (folder / "o.parquet").exists()
    paid, told = spent(folder)
    assert (paid, told) == (7, 0 if "charging" in where else 7)
    private = [*folder.glob("*.db*"), *folder.glob(".leeward-*")]
    assert [stat.S_IMODE(path.stat().st_mode) & 0o077 for path in private] == [0] * len(private)
    again = run(folder, "pass")
    assert again.returncode == 0, again.stderr
    assert len(pd.read_parquet(folder / "o.parquet")) == 500
    assert spent(folder) == (14 if told == 0 else 7, 7), "reports that are remembered are not paid for again"
    assert not [*folder.glob(".leeward-*")], "the next run sweeps what the dead one left"


def test_a_limit_on_files_is_found_before_anything_is_charged(folder: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    before = sorted(os.listdir(folder))
    found = run(folder, "pass", limit)
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert "cannot be written: File too large" in found.stderr
    assert sorted(os.listdir(folder)) == before, "not even a budget was made"


def test_a_secret_that_is_there_is_never_to_be_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(LedgerError, match="openssl rand"):
        read_secret(tmp_path / "none.key")
    for path, patched in ((tmp_path, os.open), (tmp_path / "people.key", refused)):
        monkeypatch.setattr(os, "open", patched)
        with pytest.raises(LedgerError, match="who may read it") as caught:
            read_secret(path)
        assert "openssl" not in str(caught.value)
