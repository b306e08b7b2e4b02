# SPDX-License-Identifier: Apache-2.0
"""A ledger moves from its file into a database: the same identity, history, answers and chain, and never two that spend.

Both are locked. The rows are copied, the file gets a last entry that says where its history goes on, and the copy the same
entry. The file is committed *first*: a process that is killed between the two leaves no ledger that spends, but a mark that
keeps this machine from opening a new one there, and moving again completes it. What remains of the file says where its
budgets went, and can neither be charged nor asked.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, insert, select

from leeward._postgres import Address
from leeward.errors import LedgerError
from leeward.ledger import _chain as chain
from leeward.ledger._account import append
from leeward.ledger._balance import NOT_OPEN
from leeward.ledger._postgresql import PostgresStore
from leeward.ledger._schema import charges, metadata
from leeward.ledger._sqlite import SqliteStore, moved_to

_AT_ONCE = 64
"""Rows that are copied at once: an answer may be large."""


def move(path: Path, to: Address, *, lock_wait: float) -> None:
    """Move the ledger of a file into a database; complete a move that was interrupted.

    Raises:
        LedgerError: one of them cannot be used, somebody is at work, or the database has another ledger.
    """
    source = SqliteStore(path, create=False, lock_wait=lock_wait)
    target = PostgresStore(to, create=None, lock_wait=lock_wait)
    with source.closing() as old:
        ledger = source.identity(old)
    with target.making(ledger) as (new, is_new), source.closing() as old:
        closed = moved_to(old)
        if closed is not None and closed != to.place:
            raise LedgerError(
                f"The ledger {source.name} was moved to {closed}", "it cannot be in two places", f"Use {closed}"
            )
        if not is_new:
            if closed is None or ledger != target.identity(new):
                raise LedgerError(
                    f"There is a ledger in {target.name} already", "one database has one ledger", "Name a new database"
                )
        else:
            at_work = old.execute(select(charges.c.holder).where(charges.c.payload.is_(None))).scalars().all()
            if any(map(source.is_locked, at_work)):
                raise LedgerError(
                    f"A release is being made from the ledger {source.name}",
                    "its answer would be stored where nobody looks for it",
                    "Wait for it, or end that process",
                )
            if closed is None:
                append(old, NOT_OPEN, kind="moved", dataset="", key=to.place)
            _copy(old, new)
            chain.check_all(new)  # what was edited in the file is as wrong here
            target.write_high_water_mark(new)  # from now on nobody here takes the database for a new one
    source.advance_high_water_mark()
    target.advance_high_water_mark()


def _copy(old: Connection, new: Connection) -> None:
    for table in metadata.sorted_tables:
        rows = old.execute(select(table)).mappings()
        for some in rows.partitions(_AT_ONCE):
            new.execute(insert(table), [dict(row) for row in some])
