"""SQLite knows what belongs to a file by names alone, and removes it: nothing that is somebody's may lie there."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leeward.errors import LedgerError
from leeward.ledger import Ledger, PersonBudgets

OPENED: dict[str, Callable[[Path], Any]] = {
    "ledger": Ledger,
    "store": lambda path: PersonBudgets(path, secret=b"s" * 16, price="1", reports_a_day=1, new=True),
}
ENDINGS = ("-journal", "-wal", "-shm")
THEIRS = (b"notes of somebody", b"SQLite format 3\x00" + bytes(84))


@pytest.mark.parametrize("kind", OPENED)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("theirs", THEIRS, ids=["notes", "database"])
def test_what_lies_beside_a_new_ledger_is_not_removed(tmp_path: Path, kind: str, ending: str, theirs: bytes) -> None:
    file = tmp_path / f"budget.db{ending}"
    file.write_bytes(theirs)
    with pytest.raises(LedgerError, match=r"not one of SQLite's.*Move it away"):
        OPENED[kind](tmp_path / "budget.db")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {file.name: theirs}


@pytest.mark.parametrize("ending", ENDINGS)
def test_nor_what_was_put_beside_one_that_is_there(tmp_path: Path, ending: str) -> None:
    Ledger(tmp_path / "budget.db")
    file = tmp_path / f"budget.db{ending}"
    file.write_bytes(THEIRS[0])
    with pytest.raises(LedgerError, match="not one of SQLite's"):
        Ledger(tmp_path / "budget.db")
    assert file.read_bytes() == THEIRS[0]
    file.unlink()
    assert Ledger.find(tmp_path / "budget.db")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_pipe_beside_a_ledger_is_not_waited_for(tmp_path: Path, ending: str) -> None:
    os.mkfifo(tmp_path / f"budget.db{ending}")
    with pytest.raises(LedgerError, match="not one of SQLite's"):
        Ledger(tmp_path / "budget.db")
    assert [path.name for path in tmp_path.iterdir()] == [f"budget.db{ending}"]


@pytest.mark.parametrize("kind", OPENED)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_ledger_has_no_name_by_which_another_would_remove_it(tmp_path: Path, kind: str, ending: str) -> None:
    with pytest.raises(LedgerError, match="Give it a name with another end"):
        OPENED[kind](tmp_path / f"budget.db{ending}")
    assert not list(tmp_path.iterdir())


def test_what_sqlite_itself_left_there_is_no_hindrance(tmp_path: Path) -> None:
    """A process that was killed leaves all it had beside its file: the next one needs it."""
    Ledger(tmp_path / "budget.db")
    copied = tmp_path / "copied"
    copied.mkdir()
    with closing(sqlite3.connect(tmp_path / "budget.db", isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("UPDATE ledger SET key = key")
        raw.execute("COMMIT")
        for path in tmp_path.glob("budget.db*"):
            (copied / path.name).write_bytes(path.read_bytes())
    assert {path.name for path in copied.iterdir()} > {"budget.db-wal", "budget.db-shm"}
    assert Ledger.find(copied / "budget.db")

    started = copied / "started.db"
    with closing(sqlite3.connect(started, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("CREATE TABLE one (a)")
        (copied / "new.db-journal").write_bytes(Path(f"{started}-journal").read_bytes())
        raw.execute("ROLLBACK")
    assert (copied / "new.db-journal").stat().st_size
    assert Ledger(copied / "new.db")


@pytest.mark.parametrize("room", [3, 4096, 28672])
def test_shared_memory_that_a_full_disk_did_not_hold_is_no_hindrance_once_there_is_room(
    tmp_path: Path, room: int
) -> None:
    """SQLite makes it for whoever looks at a ledger, page by page, and leaves it where there is no room for the next."""
    Ledger(tmp_path / "budget.db")
    if (child := os.fork()) == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))  # of each file, as if the disk were full there
        try:
            Ledger.find(tmp_path / "budget.db")
        except LedgerError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert (tmp_path / "budget.db-shm").stat().st_size == room
    assert Ledger.find(tmp_path / "budget.db")
