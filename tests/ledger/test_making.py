"""A ledger that cannot be made leaves nothing behind that a later run stumbles over; an emptied one is not a new one."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.single import reserve
from tests.ledger.worker import asked

from leeward._postgres import Address
from leeward.errors import LedgerError
from leeward.ledger import Ledger, PersonBudgets
from leeward.ledger._postgresql import MARKS, _mark_of
from leeward.ledger._secret import VARIABLE, key_path, read_or_make_key
from leeward.ledger._sqlite import _explained

STOPPED = """
import os, resource, signal, sys
from leeward.ledger import Ledger, _schema as schema, _sqlite as sqlite
how, path = sys.argv[1:]
make = schema.metadata.create_all
def stopped(connection, **words):
    make(connection, **words)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise KeyboardInterrupt if how == "interrupted" else MemoryError
if how == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sqlite.read_or_make_key()
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
else:
    sqlite.metadata = type("_", (), {"create_all": staticmethod(stopped)})
Ledger(path)
"""
"""Makes a ledger and is stopped when its tables are being written."""


@pytest.fixture
def stopped(path: Path) -> Callable[[str], str]:
    def run(how: str) -> str:
        done = subprocess.run([sys.executable, "-c", STOPPED, how, path], capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL if how == "killed" else done.returncode, done.stderr
        return done.stderr

    return run


def beside(path: Path) -> list[str]:
    """The names of the ledger and of all that is beside it."""
    return sorted(each.name for each in path.parent.iterdir() if each.name.startswith(path.name))


def spend(path: Path) -> None:
    with reserve(Ledger(path), asked("k")) as claim:
        claim.store(b"answer")


@pytest.mark.parametrize(("how", "says"), [("full", "cannot be used"), ("interrupted", ""), ("memory", "MemoryError")])
def test_a_ledger_that_cannot_be_made_is_not_left_behind(
    how: str, says: str, path: Path, stopped: Callable[[str], str]
) -> None:
    assert says in stopped(how)
    assert beside(path) == []
    spend(path)


def test_what_a_killed_process_had_not_made_is_no_ledger_and_is_made(path: Path, stopped: Callable[[str], str]) -> None:
    stopped("killed")
    assert path.exists()
    assert Ledger.find(path) is None
    spend(path)
    assert [account.spent for account in Ledger(path).show()] == [asked("k").cost]


@pytest.mark.parametrize("reason", ["no folder can be made for it", "it is not a key"])
def test_without_a_key_nothing_is_made(
    reason: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = Path("/proc/nowhere/content.key") if reason.startswith("no") else tmp_path / "short.key"
    if not reason.startswith("no"):
        key.write_bytes(b"short")
    with monkeypatch.context() as patch:
        patch.setenv(VARIABLE, str(key))
        with pytest.raises(LedgerError, match="cannot be used"):
            Ledger(path)
    assert beside(path) == []
    spend(path)


@pytest.mark.parametrize("variable", [VARIABLE, MARKS])
def test_a_place_that_follows_the_working_directory_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started from another folder there were no marks, and an older database was taken for the newest."""
    monkeypatch.setenv(variable, "kept/here")
    with pytest.raises(LedgerError, match=f"{variable} = 'kept/here': it is relative"):
        _mark_of(Address.read("postgresql://keeper@example.org/town")) if variable == MARKS else key_path()


def of_no_bytes(path: Path) -> None:
    path.touch()


def of_a_header_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")


BLANK = [of_no_bytes, of_a_header_alone]


@pytest.mark.parametrize("make", BLANK)
def test_an_empty_file_is_made_a_ledger_and_is_private_then(make: Callable[[Path], None], path: Path) -> None:
    make(path)
    path.chmod(0o644)
    assert Ledger.find(path) is None
    with pytest.raises(LedgerError, match="is empty"):
        Ledger(path, create=False)
    spend(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = Ledger.find(path)
    assert found is not None
    assert len(found.show()) == 1


@pytest.mark.parametrize(
    "store", [Ledger, lambda path: PersonBudgets(path, secret=b"s" * 16, price="1", reports_a_day=1, new=True)]
)
@pytest.mark.parametrize("make", [None, *BLANK])
def test_a_file_that_cannot_be_kept_from_others_is_refused_in_words(
    make: Callable[[Path], None] | None, store: Callable[[Path], object], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty one may be somebody else's, and a file system may keep no rights."""
    if make is not None:
        make(path)
    read_or_make_key()
    before = path.read_bytes() if path.exists() else None

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    for change in ("chmod", "fchmod"):
        monkeypatch.setattr(os, change, refuse)
    with pytest.raises(LedgerError, match=r"cannot be kept from others: Operation not permitted"):
        store(path)
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("make", [*BLANK, Path.unlink])
def test_a_ledger_that_was_emptied_is_refused_as_long_as_its_mark_is_there(
    make: Callable[[Path], None], path: Path
) -> None:
    spend(path)
    path.unlink()
    path.touch()
    make(path)
    before = path.read_bytes() if path.exists() else None
    for look in (Ledger, Ledger.find, lambda path: Ledger(path, create=False)):
        with pytest.raises(LedgerError, match=r"is (gone|empty), but its high-water mark is there"):
            look(path)
    assert (path.read_bytes() if path.exists() else None) == before


def test_what_is_taken_away_is_blank_and_of_this_run_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process fills the file that this one made; then this one fails, and must not take it away."""
    import leeward.ledger._sqlite as store

    make = store.make_private

    def overtaken(where: Path) -> bool:
        made = make(where)
        with monkeypatch.context() as patch:
            patch.setattr(store, "make_private", make)
            patch.setattr(store, "is_blank", blank)
            spend(where)
        return made

    blank = store.is_blank
    calls = iter([False])  # the first look fails, later ones are true

    def failing(connection: Any) -> bool:
        if next(calls, True) is False:
            raise KeyboardInterrupt
        return blank(connection)

    monkeypatch.setattr(store, "make_private", overtaken)
    monkeypatch.setattr(store, "is_blank", failing)
    with pytest.raises(KeyboardInterrupt):
        Ledger(path)
    monkeypatch.undo()
    assert len(Ledger(path).show()) == 1


@contextmanager
def odd(path: Path, kind: str) -> Iterator[None]:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind in ("loop", "nowhere"):
        path.symlink_to(path if kind == "loop" else path.with_name(kind))
    yield
    assert os.path.lexists(path), "what was there is there"


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "loop", "nowhere"])
def test_what_is_no_regular_file_is_no_ledger_and_no_store(kind: str, path: Path) -> None:
    """Nothing is waited for: an end of a pipe that never comes, or zeros without an end."""
    with odd(path, kind):
        for look in (
            Ledger,
            Ledger.find,
            lambda path: PersonBudgets(path, secret=b"s" * 16, price="1", reports_a_day=1, new=True),
        ):
            with pytest.raises(LedgerError, match=r"is a folder|is not a regular file|leads nowhere"):
                look(path)
        assert not path.with_name("nowhere").exists()


@pytest.mark.parametrize("url", ["/", "sqlite:////", "//", "/.."])
def test_the_root_is_a_folder_too(url: str) -> None:
    for look in (Ledger, Ledger.find, Ledger.accept_restored):
        with pytest.raises(LedgerError, match="is a folder"):
            look(url)


@pytest.mark.parametrize("length", [250, 255, 300, 5000])
def test_a_name_that_is_too_long_is_refused_in_words(length: int, tmp_path: Path) -> None:
    with pytest.raises(LedgerError):
        spend(tmp_path / ("b" * length))
    assert [each.stat().st_size for each in tmp_path.iterdir()] in ([], [0]), "what is left is not a ledger"


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "huge", "nested"])
def test_what_stands_in_the_place_of_the_mark_is_refused_and_not_waited_for(kind: str, path: Path) -> None:
    spend(path)
    mark = path.with_name("budget.db.mark")
    mark.unlink()
    if kind in {"huge", "nested"}:
        mark.write_bytes(b"[" * (1 << 12) if kind == "nested" else b" " * (1 << 24) + b"{}")
    with odd(mark, kind):
        for look in (Ledger, Ledger.find, Ledger.accept_restored):
            with pytest.raises(LedgerError, match="cannot be read"):
                look(path)


@pytest.mark.parametrize("mask", [0, 0o022, 0o277, 0o777])
def test_whatever_the_umask_is_all_is_for_its_owner_alone(
    mask: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(path.with_name("a.key")))
    held = dict[str, int]()
    before = os.umask(mask)
    try:
        with reserve(Ledger(path), asked("k")) as claim:
            held = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
            claim.store(b"answer")
        PersonBudgets(path.with_name("people.db"), secret=b"s" * 16, price="1", reports_a_day=1, new=True)
    finally:
        os.umask(before)
    assert any(name.endswith(".lock") for name in held)
    held |= {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert {"budget.db", "budget.db.mark", "a.key", "people.db"} <= set(held)
    assert held == dict.fromkeys(held, 0o600)
    assert key_path().read_bytes()


@pytest.mark.parametrize("mask", [0, 0o022, 0o177, 0o277, 0o777])
def test_folders_of_the_key_are_their_owners_whatever_the_umask_takes(
    mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "config" / "leeward" / "a.key"))
    before = os.umask(mask)
    try:
        made = read_or_make_key()
    finally:
        os.umask(before)
    assert read_or_make_key() == made
    for folder in (tmp_path / "config", tmp_path / "config" / "leeward"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


class Reported(sqlite3.OperationalError):
    """An error of SQLite's with a name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.sqlite_errorname = name


@pytest.mark.parametrize(
    "reported", ["SQLITE_BUSY", "SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_SHMLOCK"]
)
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_called_that(
    reported: str, code: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reports such a file system as a lock that is held, or as a failure of the disk."""
    assert "no locks" not in str(_explained(path, "ledger", Reported(reported)))

    def refused(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "lockf", refused)
    said = str(_explained(path, "ledger", Reported(reported)))
    assert f"gives no locks ({os.strerror(code)})" in said
    assert "another process" not in said
    assert "full" not in said
    with pytest.raises(LedgerError, match="gives no locks"):
        Ledger(path)
    assert [*path.parent.iterdir()] == []


@pytest.mark.parametrize("code", [errno.EAGAIN, errno.EACCES, errno.ENOSPC])
def test_a_lock_that_is_held_is_called_that(code: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "lockf", refused)
    assert "another process kept it locked" in str(_explained(path, "ledger", Reported("SQLITE_BUSY")))
