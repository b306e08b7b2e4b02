# SPDX-License-Identifier: Apache-2.0
"""A ledger in one SQLite file: transactions, files beside it, and SQLite's complaints in plain words."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from leeward._locks import why_no_locks
from leeward._scratch import check_open_files
from leeward.errors import LedgerError
from leeward.ledger._beside import PRIVATE
from leeward.ledger._file import plain_file, refuse_no_folder
from leeward.ledger._lock import FileLock, is_locked, lock_path, sweep
from leeward.ledger._schema import APPLICATION_ID, VERSION, entries, identity, metadata
from leeward.ledger._secret import fingerprint, key_of, read_or_make_key
from leeward.ledger._store import NoLedgerError, Store


class SqliteStore(Store):
    """One ledger file.

    Args:
        path: the file.
        create: make it where there is none.
        lock_wait: how many seconds to wait for another process's transaction.
    """

    BRING_MARK = "Bring it along (mount the folder that holds both, not the ledger alone); if it is lost"

    def __init__(self, path: Path, *, create: bool, lock_wait: float) -> None:
        self.path = plain_file(path)  # one file has one mark, whatever link it is reached by
        super().__init__(str(self.path), str(self.path), self.path)
        self._lock_wait = lock_wait
        self._engine = engine_of(self.path, lock_wait)
        self._check_place(create)
        with self._in_plain_words():
            if not self._is_made(create):
                self._make()
            with closing(self._engine.raw_connection()) as raw:
                if raw.cursor().execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    self._set_wal(raw.cursor())

    @contextmanager
    def closing(self) -> Iterator[Connection]:
        """A transaction that is alone in writing, also in a ledger that was moved: to close it, or to complete the move."""
        with self._in_plain_words(), self._alone() as connection:
            self.check_high_water_mark(connection)
            yield connection

    def new_lock(self, holder: str) -> FileLock:
        """Make the lock of a new holder, and remove those of the dead. Only within ``writing``."""
        try:
            sweep(self.path)
            return FileLock(self.path, holder)
        except OSError as error:
            raise LedgerError(
                f"No file can be made beside the ledger {self.path}: {error.strerror}",
                "a reservation needs one for as long as it lasts",
                "Make room, or make the folder writable, and run again",
            ) from None

    def is_locked(self, holder: object) -> bool:
        """Whether a holder still lives."""
        return is_locked(lock_path(self.path, holder))

    def _check_place(self, create: bool) -> None:
        is_marked = os.path.lexists(self._mark)  # asked first: meanwhile another process may make both
        if os.path.lexists(self.path):
            return
        if is_marked:
            raise self._emptied("gone")
        if not create:
            raise NoLedgerError(f"There is no ledger {self.path}", "the file does not exist", "Check the path")
        refuse_no_folder(self.path)

    def _make(self) -> None:
        """Make the ledger in a file that is not there, or is blank; what cannot be made is not left behind."""
        name = str(uuid.uuid4())
        key = fingerprint(key_of(name, read_or_make_key()))  # first: a ledger is never without a key
        if without := why_no_locks(self.path.parent):  # SQLite would wait for them
            raise _lockless(self.path, "ledger", without)
        with made_private(self.path), self._alone() as connection:
            if is_blank(connection):  # else another process was faster
                keep_private(self.path, self.path)  # a blank file may have been there
                metadata.create_all(connection, checkfirst=False)
                connection.execute(insert(identity).values(id=name, key=key))
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _seeing(self) -> Iterator[Connection]:
        self._refuse_gone()
        with self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        self._refuse_gone()
        with alone(self._engine) as connection:
            yield connection

    def _refuse_gone(self) -> None:
        """Refuse a file that was taken away since it was opened: SQLite would make an empty one in its place."""
        if not os.path.lexists(self.path):
            raise LedgerError(
                f"The ledger {self.path} is gone",
                "it was there when this process opened it",
                "Bring it back, with its mark; what it says was spent is forgotten otherwise",
            )

    def _is_made(self, create: bool) -> bool:
        """Whether a ledger is in the file; where there is none yet, whether one may be made was said."""
        if not os.path.lexists(self.path):
            return False
        is_marked = os.path.lexists(self._mark)  # asked first, as above
        with self._engine.connect() as connection, connection.begin():  # one moment: another may be making it
            if is_blank(connection):
                if is_marked:
                    raise self._emptied("empty")
                if create:
                    return False
                raise NoLedgerError(f"{self.path} is empty", "it is not a ledger", "Check the path")
            application, version = (
                connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("application_id", "user_version")
            )
        if application != APPLICATION_ID:
            raise LedgerError(
                f"{self.path} is a database, but not a Leeward ledger",
                "its header names no or another application",
                "Check the path; Leeward changes no file that is not its own",
            )
        if version != VERSION:
            raise LedgerError(
                f"The ledger {self.path} has schema {version}",
                f"this Leeward knows schema {VERSION} only",
                "Use the version of Leeward that wrote it"
                if version < VERSION
                else "Use the version of Leeward that wrote it, or a later one",
            )
        return True

    def _set_wal(self, cursor: Any) -> None:
        """Switch to write-ahead logging. SQLite does not wait here when others open the file too, so we do."""
        deadline = time.monotonic() + self._lock_wait
        while True:
            try:
                cursor.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not _name(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _refuse_moved(self, connection: Connection) -> None:
        if (to := moved_to(connection)) is not None:
            raise LedgerError(
                f"The ledger {self.path} was moved to {to}",
                "its history goes on there, and what is spent there is not seen here",
                f'Name that one: ledger = "{to}"',
            )

    def _in_plain_words(self) -> AbstractContextManager[None]:
        return in_plain_words(self.path)


def engine_of(path: Path, wait: float, *settings: str) -> Engine:
    """Return the engine of a file. A connection lives as long as its transaction: threads and forked children share none.

    Args:
        path: the file.
        wait: how many seconds to wait for another process's transaction.
        settings: of its connections, beside those of all.
    """
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=NullPool,
        connect_args={"timeout": wait},
        hide_parameters=True,
    )

    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where we say, not where Python's driver guesses
        for setting in ("synchronous = FULL", "fullfsync = ON", "trusted_schema = OFF", *settings):
            connection.execute(f"PRAGMA {setting}")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """A transaction that is alone in writing from its first moment; durable when it ends, undone if it fails."""
    with engine.connect() as connection:
        connection.execution_options(leeward_writes=True)
        with connection.begin():
            yield connection


@contextmanager
def in_plain_words(path: Path, called: str = "ledger") -> Iterator[None]:
    """Raise what SQLite complains of as `LedgerError`.

    Args:
        path: the file.
        called: what it is, for messages.
    """
    try:
        yield
    except _WHAT_SQLITE_RAISES as error:
        raw = error.orig if isinstance(error, DBAPIError) else error
        raise _explained(path, called, raw) from (raw if isinstance(raw, sqlite3.Error) else None)


def make_private(path: Path) -> bool:
    """Make a file for its owner alone where there is none, before SQLite makes it for all; its journals are as private.

    Returns:
        Whether there was none.

    Raises:
        LedgerError: it cannot be made.
    """
    try:
        check_open_files()  # an empty file that SQLite could not open would stay, and look like one that was emptied
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE)
    except FileExistsError:
        return False
    except OSError as error:
        raise LedgerError(
            f"The file {path} cannot be made: {error.strerror}",
            "a budget is one file in a folder that can be written",
            "Make the folder writable, or name another file",
        ) from None
    try:
        keep_private(path, file)  # whatever the umask takes
    except LedgerError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    return True


def keep_private(path: Path, file: Path | int) -> None:
    """Leave a file, given by its path or descriptor, to its owner alone.

    Raises:
        LedgerError: it is somebody else's, or its file system keeps no such rights.
    """
    try:
        os.chmod(file, PRIVATE)
    except OSError as error:
        raise LedgerError(
            f"The file {path} cannot be kept from others: {error.strerror}",
            "it is somebody else's, or its file system keeps no rights, and what it will hold is not for them",
            "Name another file, on a file system that keeps rights",
        ) from None


@contextmanager
def made_private(path: Path) -> Iterator[None]:
    """Make a file as `make_private` does; what is still empty when the block fails is taken away, if it was made here.

    Raises:
        LedgerError: it cannot be made.
    """
    is_new = make_private(path)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(path, timeout=0)) as raw:
                raw.execute("BEGIN IMMEDIATE")  # so that nobody is filling it
                if path.stat().st_size == 0:
                    path.unlink()
        raise


def is_blank(connection: Connection) -> bool:
    """Whether nothing was ever put into a database."""
    asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    return not any(connection.exec_driver_sql(query).scalar_one() for query in asked)


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("leeward_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def moved_to(connection: Connection) -> str | None:
    """Return where a ledger was moved to, if that is the last that happened to it; nothing is written after it."""
    last = connection.execute(select(entries.c.kind, entries.c.key).order_by(entries.c.number.desc()).limit(1)).first()
    return str(last.key) if last is not None and last.kind == "moved" else None


def _name(error: object) -> str:
    return getattr(error, "sqlite_errorname", "")


_WHAT_SQLITE_RAISES = (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)
"""The last where the file is damaged: SQLite names what it does not understand, in letters that are none."""


def _explained(path: Path, called: str, error: object) -> LedgerError:
    """SQLite's own texts name tables and reasons, never values; SQLAlchemy's may, so they are not used."""
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else _name(error)
    if (name.startswith("SQLITE_BUSY") or name.endswith("LOCK")) and (without := why_no_locks(path.parent)):
        return _lockless(path, called, without)
    for start, (because, instead) in _REASONS.items():
        if name.startswith(start):
            return LedgerError(f"The {called} {path} cannot be used", because, instead)
    return LedgerError(
        f"The {called} {path} cannot be used",
        f"the database reports {name or type(error).__name__}",
        f"Restore the {called} from a copy you trust",
    )


def _lockless(path: Path, called: str, because: str) -> LedgerError:
    return LedgerError(
        f"The {called} {path} cannot be used",
        f"its file system gives no locks ({because}), without which two processes that spend at once do not see each other",
        "Keep it on another file system",
    )


_REASONS = {
    "SQLITE_BUSY": (
        "another process kept it locked",
        "Wait for that process, or end it, and run again",
    ),
    "SQLITE_FULL": (
        "the disk is full",
        "Make room and run again; nothing was shown and nothing half-written",
    ),
    "SQLITE_IOERR": (
        "the disk does not take or give what is asked of it; it may be full",
        "Make room or mend the disk, and run again; nothing was shown and nothing half-written",
    ),
    "SQLITE_READONLY": (
        "the file, its folder, or one of SQLite's files beside it (-wal, -shm) is not writable",
        "Make them writable: it is locked while it is read, and written by every charge",
    ),
    "SQLITE_CANTOPEN": (
        "the file cannot be opened, or its folder is not writable",
        "Check the path and who may write there",
    ),
    "SQLITE_PERM": ("it may not be opened", "Check who may read and write it"),
    "SQLITE_NOTADB": (
        "it is not a SQLite file",
        "Check the path; Leeward changes no file that is not its own",
    ),
    "SQLITE_CORRUPT": (
        "the file is damaged",
        "Restore it from a copy you trust",
    ),
}
