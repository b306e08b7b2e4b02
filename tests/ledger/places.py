"""The two places where a ledger may be kept, and what the tests do there behind its back."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import psycopg

from leeward._postgres import Address
from leeward.ledger._postgresql import _mark_of


class Place(Protocol):
    """A place for one ledger.

    Attributes:
        url: its address.
        mark: its mark.
    """

    url: str

    @property
    def mark(self) -> Path: ...

    def change(self, *statements: str) -> None:
        """Write into it as somebody else."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Read from it as somebody else."""

    def holds(self) -> int:
        """How many holds there are."""

    def lose_holds(self) -> None:
        """Take the holds of the living away."""

    def backup(self) -> None:
        """Copy the ledger."""

    def restore(self) -> None:
        """Put the copy in its place."""

    def locked(self) -> Any:
        """Hold the lock of writers, in a context."""

    def durable(self, connection: Any) -> bool:
        """Whether a transaction of the ledger waits for the disk."""


class SqlitePlace:
    """A file in a folder of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"
        self.mark = path.with_name(path.name + ".mark")

    def change(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(query).fetchall()

    def _holds(self) -> list[Path]:
        return [file for file in self.path.parent.iterdir() if file.suffix == ".lock"]

    def holds(self) -> int:
        return len(self._holds())

    def lose_holds(self) -> None:
        for hold in self._holds():
            hold.unlink()

    def backup(self) -> None:
        shutil.copy(self.path, self.path.with_name("backup"))

    def restore(self) -> None:
        shutil.copy(self.path.with_name("backup"), self.path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")

    def durable(self, connection: Any) -> bool:
        settings = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "journal_mode")]
        return settings == [2, "wal"]


class PostgresPlace:
    """A database of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def mark(self) -> Path:
        named = _mark_of(Address.read(self.url))
        return named.with_name(named.name + ".mark")

    @contextmanager
    def _other(self, **how: Any) -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(self.url, options="-c search_path=leeward,pg_catalog", **how) as connection:
            yield connection

    def clear(self) -> None:
        """Make the database as if it were new."""
        with psycopg.connect(self.url) as connection:
            connection.execute("DROP SCHEMA IF EXISTS leeward, backup CASCADE")
        self.mark.unlink(missing_ok=True)

    def change(self, *statements: str) -> None:
        with self._other() as connection:
            for statement in statements:
                connection.execute(statement.replace("x'00'", "'\\x00'::bytea").encode())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._other() as connection:
            return connection.execute(query.encode()).fetchall()

    def holds(self) -> int:
        return len(self._holders())

    def _holders(self) -> list[int]:
        asked = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = "
        return [pid for (pid,) in self.rows(asked + "(SELECT oid FROM pg_database WHERE datname = current_database())")]

    def lose_holds(self) -> None:
        for pid in self._holders():
            self.rows(f"SELECT pg_terminate_backend({pid}, 10000)")

    def backup(self) -> None:
        copies = [f"CREATE TABLE backup.{name} AS TABLE leeward.{name}" for name in ("ledger", "entries", "charges")]
        self.change("DROP SCHEMA IF EXISTS backup CASCADE", "CREATE SCHEMA backup", *copies)

    def restore(self) -> None:
        for name in ("ledger", "entries", "charges"):
            self.change(f"TRUNCATE leeward.{name}", f"INSERT INTO leeward.{name} TABLE backup.{name}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        with self._other() as other:
            other.execute("SELECT id FROM ledger FOR UPDATE")
            yield
            other.rollback()

    def durable(self, connection: Any) -> bool:
        settings = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in ("synchronous_commit", "fsync")]
        return settings == ["on", "on"]
