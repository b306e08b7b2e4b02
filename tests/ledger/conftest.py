"""A fresh ledger file for each test, and processes that work on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Worker = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def worker(path: Path) -> Worker:
    """Start a process that does a job of ``worker.py`` on the ledger of this test."""

    def start(job: str, argument: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, str(Path(__file__).with_name("worker.py")), job, f"sqlite:///{path}", argument]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start
