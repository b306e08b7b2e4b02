# SPDX-License-Identifier: Apache-2.0
"""A ledger in the schema ``leeward`` of a PostgreSQL database, which several machines may spend at once.

* **Alone in writing**: each writing transaction is READ COMMITTED and begins by locking the ledger's own row (``SELECT …
  FOR UPDATE``); whatever it reads afterwards is what the one before it committed. The primary key on an entry's number is
  the backstop. SERIALIZABLE would do too, but the chain has one end, so that nearly every second attempt would be refused.
* **Durable**: what is acknowledged is on disk. ``synchronous_commit`` is switched on if it is not, and a server that runs
  without ``fsync`` is refused.
* **Somebody is at work**: a session of its own holds an advisory lock named after the holder. The server frees it when
  that session ends, within milliseconds after a ``kill -9``, within minutes after a machine or its network is gone. If it
  is lost (the server was started anew), another may take the reservation over; then only one of them can store.
* **The mark** is a file outside the database, on each machine: a database restored from a backup, and a replica that took
  over without having all, are behind it.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sqlalchemy import Column, Connection, Integer, MetaData, Table, create_engine, insert
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateSchema

from leeward._optional import optional
from leeward._postgres import Address, UnfitError, connect, explained
from leeward.errors import LedgerError
from leeward.ledger._beside import token_of
from leeward.ledger._schema import VERSION, identity, metadata
from leeward.ledger._secret import fingerprint, key_of, key_path, make_folder, named_by, read_or_make_key
from leeward.ledger._store import NoLedgerError, Store

if TYPE_CHECKING:
    from leeward._postgres import Session

SCHEMA: Final = "leeward"
"""One database has one ledger."""

MARKS: Final = "LEEWARD_MARKS"
"""The variable of the environment that names another folder for marks."""

_WHAT: Final = "A budget on PostgreSQL"
_MAKING: Final = int.from_bytes(b"leeward", "big")
"""The advisory lock under which a ledger is made."""

_FIRST: Final = (
    f"SELECT current_setting('synchronous_commit'), current_setting('fsync') FROM {SCHEMA}.ledger FOR UPDATE"
)
"""The first statement of each writing transaction: it waits for the one before, and says whether commits are durable."""

_LONGEST: Final = 200
"""Bytes of a database's name that leave room in that of a file; longer ones are hashed."""

_form = Table("form", MetaData(), Column("schema", Integer, nullable=False))
"""Which schema it is; SQLite keeps this in a file's header."""


class PostgresStore(Store):
    """The ledger of one database.

    Args:
        address: of the database.
        create: make the ledger where there is none; None: whether one is there is asked later.
        lock_wait: how many seconds to wait for another process's transaction.
    """

    BRING_MARK = (
        "Each machine has its own: if it is lost, bring back a copy; if there is none, or this machine is new here"
    )

    def __init__(self, address: Address, *, create: bool | None, lock_wait: float) -> None:
        super().__init__(address.place, str(address), _mark_of(address))
        self.address = address
        self._driver = optional("psycopg", _WHAT)
        self._lock_wait = lock_wait
        self._engine = create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            poolclass=NullPool,
            hide_parameters=True,
            execution_options={"schema_translate_map": {None: SCHEMA}, "isolation_level": "READ COMMITTED"},
        )
        with self._in_plain_words():
            if create:
                self._made()
            elif create is not None and not self._is_made():
                raise NoLedgerError(
                    f"There is no ledger in {self.name}", f"the database has no schema '{SCHEMA}'", "Check the address"
                )

    def new_lock(self, holder: str) -> SessionLock:
        """Hold the advisory lock of a new holder."""
        return SessionLock(self._session(), holder)

    def is_locked(self, holder: object) -> bool:
        """Whether the session of a holder still lives."""
        high, low = divmod(_number(holder), 1 << 32)
        held = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND classid::bigint = %s AND objid::bigint = %s"
        )
        with self._in_plain_words(), closing(self._session()) as session:
            row = session.execute(held, (high, low)).fetchone()
        return row is not None and row[0] > 0

    @contextmanager
    def making(self, ledger: str = "") -> Iterator[tuple[Connection, bool]]:
        """A transaction that is alone in making the ledger: its tables are there, and whether they are new is said.

        Args:
            ledger: the id of one that moves here, whose mark may be here before it.
        """
        with self._in_plain_words(), self._engine.connect() as connection, connection.begin():
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
            is_new = not self._is_made(connection, ledger)
            if is_new:
                if not _has(connection, "pg_namespace", SCHEMA):
                    connection.execute(CreateSchema(SCHEMA))
                _form.create(connection)
                connection.execute(insert(_form).values(schema=VERSION))
                metadata.create_all(connection, checkfirst=False)
            yield connection, is_new

    def _made(self) -> None:
        """Make the ledger where there is none."""
        if self._is_made():
            return
        name = str(uuid.uuid4())
        key = fingerprint(key_of(name, read_or_make_key()))  # first: a ledger is never without a key
        with self.making() as (connection, is_new):
            if is_new:  # else another process was faster
                connection.execute(insert(identity).values(id=name, key=key))

    def _is_made(self, connection: Connection | None = None, moves: str = "") -> bool:
        """Whether a ledger is in the database; where none is, whether there was one is asked too."""
        if connection is None:
            with self._seeing() as connection:
                return self._is_made(connection)
        is_marked = os.path.lexists(self._mark)  # asked first: meanwhile another process may make both
        relations = (
            "SELECT relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)"
        )
        found = {*connection.exec_driver_sql(relations, (SCHEMA,)).scalars()}
        if not found:
            mark = self.read_high_water_mark() if is_marked else None  # none too where a link leads nowhere
            if is_marked and (mark is None or mark.ledger != moves):
                raise self._emptied("gone")
            return False
        if not {_form.name, *metadata.tables} <= found:
            raise LedgerError(
                f"The schema '{SCHEMA}' of {self.name} is not a ledger",
                "it has tables, and not those of a ledger",
                "Give the ledger a database of its own, or restore it from a copy you trust",
            )
        version = connection.execute(_form.select()).scalars().all()
        if version != [VERSION]:
            raise LedgerError(
                f"The ledger {self.name} has schema {', '.join(map(str, version)) or 'none'}",
                f"this Leeward knows schema {VERSION} only",
                "Use the version of Leeward that wrote it, or a later one",
            )
        return True

    @contextmanager
    def _seeing(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        with self._engine.connect() as connection, connection.begin():
            synchronous, synced = connection.exec_driver_sql(_FIRST).one()
            if synced != "on":
                raise UnfitError(
                    "its server runs with fsync = off, so that a power cut may forget what was spent", "Switch it on"
                )
            if synchronous not in ("on", "remote_apply"):
                connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
            yield connection

    def _connect(self) -> Session:
        milliseconds = max(1, round(1000 * self._lock_wait))
        return connect(self.address, _WHAT, settings={"lock_timeout": str(milliseconds)})

    def _session(self) -> Session:
        with self._in_plain_words():
            return connect(self.address, _WHAT, autocommit=True)

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, self._driver.Error, UnfitError) as error:
            raw = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
            raise LedgerError(f"The ledger {self.name} cannot be used", *explained(raw)) from None


class SessionLock:
    """An advisory lock that a session of its own holds. A forked child has a copy, and closes nothing by ending.

    Args:
        session: that session, in which each statement is a transaction.
        holder: the random name of the holder.
    """

    def __init__(self, session: Session, holder: str) -> None:
        self._session = session
        session.execute("SELECT pg_advisory_lock(%s)", (_signed(_number(holder)),))

    def release(self) -> None:
        """End the session, and the lock with it."""
        self._session.close()


def _number(holder: object) -> int:
    """Return the number of a holder's lock, of 64 bits."""
    return int(token_of(holder)[:16], 16)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _has(connection: Connection, catalog: str, name: str) -> bool:
    asked = f"SELECT count(*) FROM {catalog} WHERE nspname = %s"
    return bool(connection.exec_driver_sql(asked, (name,)).scalar_one())


def _mark_of(address: Address) -> Path:
    """Return what the mark of a database is named after, in a folder that is private to this user."""
    folder = named_by(MARKS) or key_path().parent / "marks"
    try:
        make_folder(folder)
    except OSError as error:
        raise LedgerError(
            f"The folder {folder} cannot be made: {error.strerror}",
            "the high-water mark that notices a restored database is kept there",
            f"Set {MARKS} to a folder that is kept and that only you can write",
        ) from None
    name = quote(address.place.removeprefix("postgresql://"), safe="@:?=")
    if len(name) > _LONGEST:
        name = hashlib.sha256(name.encode()).hexdigest()
    return folder / name
