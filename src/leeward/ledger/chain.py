"""The hash chain over entries, and the replay that checks a whole ledger against it.

hash_n = SHA-256(hash_{n−1}, content of entry n), and hash_0 is made from the ledger's random id. Whoever can write the
file can also forge a whole new chain; what he cannot do is make it agree with a mark kept elsewhere (see ``mark``).
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from leeward.errors import LedgerError
from leeward.ledger.records import from_text
from leeward.ledger.schema import charges, entries, identity

_COVERED = [column.name for column in entries.columns if column.name != "hash"]


def sha256(*parts: bytes | str) -> str:
    """Hash parts together; each is preceded by its length, so that no two lists of parts collide."""
    whole = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        whole.update(len(raw).to_bytes(8))
        whole.update(raw)
    return whole.hexdigest()


def link(previous: str, entry: Mapping[str, Any] | RowMapping) -> str:
    """Return the hash of an entry that follows the one whose hash is ``previous``."""
    return sha256(previous, json.dumps([entry[name] for name in _COVERED]))


def content_seal(digest_columns: str, digest: bytes) -> str:
    """What a reservation binds: the content its charge was made for."""
    return sha256(digest_columns, digest)


def answer_seal(payload: bytes) -> str:
    """What a release binds: the answer that may be shown."""
    return sha256(payload)


def columns_text(digest_columns: Sequence[str]) -> str:
    """Write what a content digest covers as one text."""
    return json.dumps(list(digest_columns))


def hash_of(connection: Connection, number: int) -> str | None:
    """Return the hash of an entry, of the ledger's birth for number 0, or None where there is no such entry."""
    if number == 0:
        return sha256(connection.execute(select(identity.c.id)).scalar_one())
    return connection.execute(select(entries.c.hash).where(entries.c.number == number)).scalar_one_or_none()


def check_entry(connection: Connection, entry: RowMapping) -> None:
    """Check one entry against the one before it.

    Raises:
        LedgerError: it is not what was written.
    """
    previous = hash_of(connection, entry["number"] - 1)
    if previous is None or link(previous, entry) != entry["hash"]:
        raise broken(entry["number"])


def check_all(connection: Connection) -> None:
    """Replay every entry and compare what follows from them with what the ledger holds.

    Raises:
        LedgerError: an entry, a balance, a reservation or an answer is not what was written.
    """
    previous = str(hash_of(connection, 0))
    spent: dict[str, Fraction] = defaultdict(Fraction)
    standing: dict[str, tuple[str, str, str]] = {}
    for row in connection.execute(select(entries).order_by(entries.c.number)).mappings():
        if row["hash"] != link(previous, row):
            raise broken(row["number"])
        previous = row["hash"]
        spent[row["dataset"]] += from_text(row["cost"])
        if from_text(row["spent"]) != spent[row["dataset"]]:
            raise broken(row["number"])
        match row["kind"]:
            case "reserved":
                standing[row["id"]] = (row["key"], row["seal"], "")
            case "released":
                key, content, _ = standing.get(row["id"], ("", "", ""))
                standing[row["id"]] = (key, content, row["seal"])
            case "withdrawn":
                standing.pop(row["id"], None)
    for charge in connection.execute(select(charges)).mappings():
        payload = charge["payload"]
        found = (
            charge["key"],
            content_seal(charge["digest_columns"], charge["digest"]),
            "" if payload is None else answer_seal(payload),
        )
        if standing.pop(charge["id"], None) != found or charge["key_hash"] != sha256(charge["key"]):
            raise LedgerError(
                f"The release {charge['id']} in the ledger is not what its history says",
                "the file was changed by something else",
                "Restore the ledger from a copy you trust",
            )
    if standing:
        raise LedgerError(
            f"The release {next(iter(standing))} is in the history of the ledger but its answer is gone",
            "the file was changed by something else",
            "Restore the ledger from a copy you trust",
        )


def broken(number: int) -> LedgerError:
    """The error for an entry that does not fit the chain."""
    return LedgerError(
        f"Entry {number} of the ledger does not fit its hash chain",
        "an entry was changed or removed by something else",
        "Restore the ledger from a copy you trust",
    )
