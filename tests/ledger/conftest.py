"""A fresh ledger for each test, in either of its places, and processes that work on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ledger.places import Place, PostgresPlace, SqlitePlace
from tests.postgres import Server

Worker = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def database(
    postgres: Server, postgres_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> PostgresPlace:
    monkeypatch.setenv("LEEWARD_MARKS", str(tmp_path / "marks"))
    place = PostgresPlace(postgres.address(postgres_database))
    place.clear()
    return place


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, path: Path) -> Place:
    """A place for a ledger: each test that asks for it holds for both."""
    if request.param == "sqlite":
        return SqlitePlace(path)
    found: PostgresPlace = request.getfixturevalue("database")
    return found


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start a process that does a job of ``worker.py`` on a ledger."""

    def start(url: str, job: str, argument: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.ledger.worker", job, url, argument]
        root = Path(__file__).parents[2]
        return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def worker(place: Place, start: Callable[..., subprocess.Popen[str]]) -> Worker:
    """Start a process that does a job of ``worker.py`` on the ledger of this test."""
    return lambda job, argument="": start(place.url, job, argument)
