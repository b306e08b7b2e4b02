# SPDX-License-Identifier: Apache-2.0
"""One SQLite file about people, who are kept under a keyed hash: their budgets, or the reports that they had.

Whoever gets the file without the secret learns how many people there are and how busy they were, and no one's name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, Table, Text

from leeward._paths import resolve_ledger
from leeward.errors import BudgetConflictError, LedgerError
from leeward.ledger._file import plain_file
from leeward.ledger._hashed_ids import hashed_ids
from leeward.ledger._parts import joined
from leeward.ledger._secret import read_private
from leeward.ledger._sqlite import alone, engine_of, in_plain_words, is_blank, keep_private, made_private

HASHED: Final = "3"
"""Who is one person, and what the keyed hashes cover. Another number would name other people."""

APPLICATION_ID: Final = int.from_bytes(b"LeeP")
SHORTEST_SECRET: Final = 16

_metadata = MetaData()
facts_kept: Final = Table(
    "about", _metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False)
)
_spent = Table(
    "spent",
    _metadata,
    Column("day", Integer, primary_key=True),
    Column("block", Integer, primary_key=True),
    Column("accounts", LargeBinary, nullable=False),
    Column("reports", LargeBinary, nullable=False),
)
_memo: Final = Table(
    "memo",
    _metadata,
    Column("asked", LargeBinary, primary_key=True),
    Column("answer", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)


def read_secret(path: str | os.PathLike[str], *, stores: Iterable[Path] = ()) -> bytes:
    """Read a secret from a file.

    Args:
        path: the file.
        stores: those that are kept with it.

    Raises:
        LedgerError: there is none, it is shorter than 16 bytes, or others can read it.
    """
    try:
        secret, is_open_to_others = read_private(path)
    except OSError as error:
        # what is there may be the secret of a store with years of budgets: no message may suggest writing over it
        made_with = [store for store in stores if is_store(store)]
        is_none = isinstance(error, FileNotFoundError) and not made_with
        make = "Make one that only you can read: openssl rand -out people.key 32"
        raise LedgerError(
            f"The secret '{path}' cannot be read: {error.strerror}",
            "people are kept under a hash keyed by it",
            make
            if is_none
            else f"{f'{made_with[0]} was made with one: bring it back, or check' if made_with else 'Check'} the path and who"
            " may read it; under another secret everybody would be somebody new",
        ) from None
    if is_open_to_others:
        raise LedgerError(
            f"The secret '{path}' may be read by others",
            "anyone who has it and a store can find out by trial which people are in it",
            f"Take that right away: chmod 600 '{path}'",
        )
    return check_secret(secret)


def check_secret(secret: bytes) -> bytes:
    """Refuse a secret that can be guessed."""
    if len(secret) < SHORTEST_SECRET:
        raise LedgerError(
            f"A secret of {len(secret)} bytes",
            "a short secret is found by trial, and then who is in the store",
            "Make one: openssl rand -out people.key 32",
        )
    return secret


def is_store(path: Path) -> bool:
    """Whether something is in the file of a store; an empty file holds nothing of what was spent or reported.

    Raises:
        LedgerError: it cannot be a store: it is no regular file, or has two names.
    """
    path = plain_file(path)
    return os.path.isfile(path) and path.stat().st_size > 0


class PeopleStore:
    """One SQLite file about people, with what it was opened for.

    Args:
        path: the file.
        kind: what it is: ``"budgets"`` or ``"memo"``.
        about: public facts that must be the same whenever it is opened, by name.
        secret: at least 16 bytes.
        new: whether it may be made where there is none, or an empty file.

    Raises:
        LedgerError: the file cannot be used, is something else, or is not there and may not be made.
        BudgetConflictError: it was made for other facts, or with another secret.
    """

    form: ClassVar[str] = HASHED
    """The form of what is kept: a store of another form is refused."""

    def __init__(
        self, path: str | os.PathLike[str], kind: str, about: dict[str, str], secret: bytes, *, new: bool
    ) -> None:
        self.path = resolve_ledger(path)
        check_secret(secret)
        if not (is_store(self.path) or new):
            raise self._forgotten("empty" if os.path.exists(self.path) else "not there")
        self._engine = engine_of(
            self.path, 30.0, "temp_store = MEMORY", "cache_size = -65536"
        )  # 64 MiB: batches are large
        self._keyed = hashlib.blake2b(key=hashlib.sha256(secret).digest(), digest_size=16)
        facts = {"kind": kind, "form": self.form, **about, "secret": self.digest("check")[:8].hex()}
        with made_private(self.path), self.writing() as connection:
            self._check(connection, facts, new=new)

    def _forgotten(self, how: str) -> LedgerError:
        return LedgerError(
            f"The store {self.path} is {how}",
            "a new one would know nothing of what was spent or reported before",
            "Bring it back, or correct its name; if a new one is meant, say so: --new-budget, or new=True in Python",
        )

    def _check(self, connection: Connection, facts: dict[str, str], *, new: bool) -> None:
        application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        if is_blank(connection):
            if not new:
                raise self._forgotten("empty")
            keep_private(self.path, self.path)  # an empty file may have been there
            _metadata.create_all(connection, checkfirst=False)
            connection.execute(facts_kept.insert(), [{"key": key, "value": value} for key, value in facts.items()])
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            return
        if application != APPLICATION_ID:
            raise LedgerError(
                f"{self.path} is a database, but not one of people's budgets",
                "its header names another",
                "Check the path",
            )
        known: dict[str, str] = {row.key: row.value for row in connection.execute(facts_kept.select())}
        if known.get("kind") == facts["kind"] and known.get("form") != self.form:
            raise BudgetConflictError(
                f"{self.path} was written by another version of Leeward, in another form",
                "this version cannot find in it who spent what, or received what",
                "Use that version, or name another file. There nobody has spent or received anything yet, so begin it with"
                " a day on which nothing was charged here",
            )
        for key, value in facts.items():
            self._compare(key, known.get(key), value)

    def _compare(self, key: str, known: str | None, value: str) -> None:
        """Refuse another fact than the store was made with."""
        if known != value:
            raise BudgetConflictError(
                f"{self.path} was made with another {key.replace('_', ' ')}",
                "it is secret which" if key == "secret" else f"it says {known or 'nothing of it'}",
                "Open it as it was made, or name another file",
            )

    def digest(self, purpose: str, *parts: str | int) -> bytes:
        """Return the keyed hash of some values, 16 bytes; for two purposes it is never the same."""
        return next(self.digests(purpose, [parts]))

    def digests(self, purpose: str, listed: Iterable[tuple[str | int, ...]]) -> Iterator[bytes]:
        """Return `digest` of each of many values."""
        begun = self._begun(purpose)
        for parts in listed:
            hashed = begun.copy()
            hashed.update(joined(*parts))
            yield hashed.digest()

    def hashed_ids(self, ids: Sequence[str], *purpose: str) -> NDArray[np.bytes_]:
        """Return the keyed hash of each of many ids, dtype ``S16``; for two purposes it is never the same."""
        return hashed_ids(self.digest("ids", 1, *purpose) + self.digest("ids", 2, *purpose), ids)

    def _begun(self, purpose: str) -> hashlib.blake2b:
        begun = self._keyed.copy()
        begun.update(joined(f"leeward people {HASHED}", purpose))
        return begun

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is alone in writing; durable when it ends, undone if it fails."""
        with in_plain_words(self.path, "store"), alone(self._engine) as connection:
            yield connection
