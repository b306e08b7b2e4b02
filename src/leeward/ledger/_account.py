# SPDX-License-Identifier: Apache-2.0
"""The account of a dataset is its last entry: read it, add the next."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from leeward.ledger._balance import NOT_OPEN, Balance
from leeward.ledger._chain import check_entry, hash_of, link
from leeward.ledger._records import NOTHING, Amount, EntryKind, from_text, to_text
from leeward.ledger._schema import entries


def balance(connection: Connection, dataset: str) -> Balance:
    """Read where an account stands.

    Raises:
        LedgerError: its last entry is not what was written.
    """
    last = (
        connection.execute(
            select(entries).where(entries.c.dataset == dataset).order_by(entries.c.number.desc()).limit(1)
        )
        .mappings()
        .one_or_none()
    )
    if last is None:
        return NOT_OPEN
    check_entry(connection, last)
    return Balance(last["notion"], None if last["cap"] is None else from_text(last["cap"]), from_text(last["spent"]))


def open_budgets(connection: Connection) -> list[str]:
    """Return the names of the datasets whose budgets are open."""
    names = connection.execute(select(entries.c.dataset).distinct().order_by(entries.c.dataset)).scalars().all()
    return [name for name in names if balance(connection, name).cap is not None]


class Pen:
    """Adds entries to the end of the chain, within one transaction: its end is read once, and all are written at once.

    Args:
        connection: alone in writing.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        last = select(entries.c.number).order_by(entries.c.number.desc()).limit(1)
        self._number: int = connection.execute(last).scalar_one_or_none() or 0
        self._hash = str(hash_of(connection, self._number))
        self._unwritten: list[dict[str, Any]] = []

    def add(
        self,
        after: Balance,
        *,
        kind: EntryKind,
        dataset: str,
        id: str = "",  # noqa: A002 - the name of the column
        version: str = "",
        key: str = "",
        cost: Amount = NOTHING,
        seal: str = "",
    ) -> Balance:
        """Add an entry; ``after`` is where the account stands then."""
        self._number += 1
        entry = {
            "number": self._number,
            "id": id or str(uuid.uuid4()),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "dataset": dataset,
            "version": version,
            "kind": kind,
            "key": key,
            "cost": to_text(cost),
            "seal": seal,
            "notion": after.notion,
            "cap": None if after.cap is None else to_text(after.cap),
            "spent": to_text(after.spent),
        }
        self._hash = link(self._hash, entry)
        self._unwritten.append({**entry, "hash": self._hash})
        return after

    def write(self) -> None:
        """Write what was added."""
        if self._unwritten:
            self._connection.execute(insert(entries), self._unwritten)
            self._unwritten = []


def append(
    connection: Connection, after: Balance, *, kind: EntryKind, dataset: str, key: str = "", seal: str = ""
) -> None:
    """Add one entry that is about no release, and write it."""
    pen = Pen(connection)
    pen.add(after, kind=kind, dataset=dataset, key=key, seal=seal)
    pen.write()
