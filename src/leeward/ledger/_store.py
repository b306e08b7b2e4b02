# SPDX-License-Identifier: Apache-2.0
"""Where a ledger is kept: transactions, the mark outside of them, and locks that end with their holder.

A kind of database brings its own file (``_sqlite``, ``_postgresql``): how one transaction is alone in writing, how another
sees one moment, how it is known that somebody is at work, and its complaints in plain words. What a ledger *is* is the same
in all of them: the tables of ``_schema``, the chain over them, the mark.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar, Protocol

from sqlalchemy import Connection, func, select

from leeward.errors import LedgerError
from leeward.ledger._chain import hash_of
from leeward.ledger._high_water_mark import HighWaterMark, mark_path, read_high_water_mark, write_high_water_mark
from leeward.ledger._schema import entries, identity


class NoLedgerError(LedgerError):
    """There is no ledger yet, and nothing that says that there was one."""


class Lock(Protocol):
    """What says that somebody is at work on a reservation, for as long as his process lives."""

    def release(self) -> None:
        """Let go."""


class Store(ABC):
    """One ledger: its transactions, its mark and its locks.

    Args:
        name: how messages call it.
        url: how a spec may name it.
        place: what its mark is beside and named after: the ledger's own file, or a name in a folder of marks.
    """

    BRING_MARK: ClassVar[str]
    """How a mark that is missing may be brought along."""

    def __init__(self, name: str, url: str, place: Path) -> None:
        self.name, self.url = name, url
        self._place = place
        self._mark = mark_path(place)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment of the ledger and blocks nobody."""
        mark = self.read_high_water_mark()  # before the moment that is seen: a later mark would lead it
        with self._in_plain_words(), self._seeing() as connection:
            self._refuse_moved(connection)
            self._check_high_water_mark(connection, mark)
            yield connection

    @contextmanager
    def writing(self, *, check_high_water_mark: bool = True) -> Iterator[Connection]:
        """A transaction that is alone in writing from its first moment. What it did is durable when it ends."""
        with self._in_plain_words(), self._alone() as connection:
            self._refuse_moved(connection)
            if check_high_water_mark:
                self.check_high_water_mark(connection)
            yield connection

    def identity(self, connection: Connection) -> str:
        """Return the random id of the ledger."""
        return str(connection.execute(select(identity.c.id)).scalar_one())

    def count(self, connection: Connection) -> int:
        """Return how many entries the ledger has."""
        return connection.execute(select(func.max(entries.c.number))).scalar_one() or 0

    def read_high_water_mark(self) -> HighWaterMark | None:
        """Return the mark; None where there is none."""
        return read_high_water_mark(self._mark)

    def check_high_water_mark(self, connection: Connection) -> None:
        """Refuse a ledger that does not fit its mark. Only within ``writing``: a ledger without entries gets its mark here.

        Raises:
            LedgerError: it does not, or the mark is missing.
        """
        mark = self.read_high_water_mark()
        if mark is None and self.count(connection) == 0:
            mark = self.write_high_water_mark(connection)  # before the first entry: an entry without a mark is wrong
        self._check_high_water_mark(connection, mark)

    def fits_mark(self, connection: Connection) -> bool:
        """Return whether the ledger and its mark agree.

        Raises:
            LedgerError: what stands in the place of the mark is something else.
        """
        mark = self.read_high_water_mark()
        try:
            self._check_high_water_mark(connection, mark)
        except LedgerError:
            return False
        return True

    def advance_high_water_mark(self) -> None:
        """Write the mark from what is committed. Under the write lock: two writers cannot put it back."""
        with self._in_plain_words(), self._alone() as connection:
            self.write_high_water_mark(connection)

    def write_high_water_mark(self, connection: Connection) -> HighWaterMark:
        """Write the mark from what this transaction sees."""
        count = self.count(connection)
        mark = HighWaterMark(self.identity(connection), count, str(hash_of(connection, count)))
        write_high_water_mark(self._place, mark)
        return mark

    @abstractmethod
    def new_lock(self, holder: str) -> Lock:
        """Make the lock of a new holder. Only within ``writing``."""

    @abstractmethod
    def is_locked(self, holder: object) -> bool:
        """Whether a holder still lives."""

    @abstractmethod
    def _seeing(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one moment."""

    @abstractmethod
    def _alone(self) -> AbstractContextManager[Connection]:
        """A transaction that is alone in writing."""

    @abstractmethod
    def _in_plain_words(self) -> AbstractContextManager[None]:
        """Raise the database's complaints as `LedgerError`."""

    def _refuse_moved(self, connection: Connection) -> None:  # noqa: B027 - only a file is ever left behind
        """Refuse a ledger whose history goes on elsewhere."""

    def _check_high_water_mark(self, connection: Connection, mark: HighWaterMark | None) -> None:
        if mark is None:
            # it may have been made between our reading it and this moment; a link that leads nowhere is no mark
            if self.count(connection) == 0 or os.path.exists(self._mark):
                return
            raise LedgerError(
                f"The high-water mark {self._mark} is missing",
                "without it nobody can tell whether the ledger was replaced by an older copy",
                f"{self.BRING_MARK}, accept the ledger as it is with `leeward budget accept-restored`",
            )
        if mark.ledger != self.identity(connection) or hash_of(connection, mark.entries) != mark.head:
            raise LedgerError(
                f"The ledger {self.name} ends at entry {self.count(connection)}, "
                f"but its high-water mark remembers another entry {mark.entries}",
                "it was restored from a backup or changed, so spending that happened may be forgotten",
                "Bring back the newest copy; if it is lost, accept this one with `leeward budget accept-restored` "
                "and lower the cap by what was forgotten",
            )

    def _emptied(self, how: str) -> LedgerError:
        return LedgerError(
            f"The ledger {self.name} is {how}, but its high-water mark is there",
            "starting anew would forget what was spent",
            f"Restore the ledger; only if it never guarded real data, delete that too: {self._mark}",
        )
