# SPDX-License-Identifier: Apache-2.0
"""The hash chain over entries, and the replay that checks a whole ledger against it.

hash_n = SHA-256(hash_{n−1}, content of entry n), and hash_0 is made from the ledger's random id and the fingerprint of its
key. Whoever can write the file can also forge a whole new chain; what he cannot do is make it agree with a mark kept
elsewhere (see ``mark``).

The chain is replayed whenever a ledger is opened. Between openings, what a transaction uses is checked by itself: the last
entry of the account, and every entry of the release that is looked for.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, get_args

from sqlalchemy import Connection, RowMapping, Select, select

from leeward.errors import LedgerError
from leeward.ledger._parts import Kept, altered, joined
from leeward.ledger._records import NOTHING, Amount, OfRelease, from_text, to_text
from leeward.ledger._schema import charges, entries, identity

_COVERED = [column.name for column in entries.columns if column.name != "hash"]


def sha256(*parts: Kept) -> str:
    """Hash parts together, each after its length: no two lists of parts of one kind collide.

    Raises:
        LedgerError: a part is of a type that no ledger of ours keeps.
    """
    return hashlib.sha256(joined(*parts)).hexdigest()


def link(previous: str, entry: Mapping[str, Any] | RowMapping) -> str:
    """Return the hash of an entry that follows the one whose hash is ``previous``.

    Raises:
        LedgerError: the entry holds a value of a type that no entry has.
    """
    covered = [entry[name] for name in _COVERED]
    if not {*map(type, covered)} <= {int, str, NoneType}:  # SQLite keeps any type in any column, and JSON has fewer
        raise broken(entry["number"])
    return sha256(previous, json.dumps(covered))


_CONTENT = {"digest_form": str, "digest_columns": str, "digest": bytes, "marks": str}


def content_seal(charge: Mapping[str, Any] | RowMapping) -> str:
    """What a reservation binds: the content its charge was made for.

    Raises:
        LedgerError: one of its parts has another type: SQLite keeps any in any column, and hashes as the text what does
            not compare as the text.
    """
    parts = [charge[name] for name in _CONTENT]
    for part, kind in zip(parts, _CONTENT.values(), strict=True):
        if type(part) is not kind:
            raise altered(f"A {type(part).__name__} in a place of a ledger that keeps {kind.__name__}")
    return sha256(*parts)


def answer_seal(payload: bytes) -> str:
    """What a release binds: the answer that may be shown."""
    return sha256(payload)


def hash_of(connection: Connection, number: int) -> str | None:
    """Return the hash of an entry, of the ledger's birth for number 0, or None where there is no such entry."""
    if number == 0:
        return sha256(*connection.execute(select(identity.c.id, identity.c.key)).one())
    return connection.execute(select(entries.c.hash).where(entries.c.number == number)).scalar_one_or_none()


def key_fingerprint(connection: Connection) -> str:
    """Return the fingerprint of the key that a ledger's content digests are made with now.

    Raises:
        LedgerError: the entry that changed it is not what was written.
    """
    changed = select(entries).where(entries.c.kind == "new-key").order_by(entries.c.number.desc()).limit(1)
    last = connection.execute(changed).mappings().one_or_none()
    if last is None:
        return str(connection.execute(select(identity.c.key)).scalar_one())
    check_entry(connection, last)
    return str(last["seal"])


@dataclass(frozen=True, slots=True)
class ReleaseState:
    """What the history says of one release.

    Attributes:
        dataset: the dataset it is charged to.
        version: the label of the content.
        key: its public key.
        cost: what it costs now.
        content: the seal of the content it was reserved for.
        answer: the seal of its answer; None while it is only reserved.
    """

    dataset: str
    version: str
    key: str
    cost: Amount
    content: str
    answer: str | None = None


def check_entry(connection: Connection, entry: RowMapping) -> None:
    """Check one entry against the one before it.

    Raises:
        LedgerError: it is not what was written.
    """
    previous = hash_of(connection, entry["number"] - 1)
    if previous is None or link(previous, entry) != entry["hash"]:
        raise broken(entry["number"])


def linked(connection: Connection, asked: Select[Any]) -> Iterator[RowMapping]:
    """Yield the entries that a query asks for, each checked against the one before it.

    Raises:
        LedgerError: one is not what was written.
    """
    born, before = hash_of(connection, 0), entries.alias()
    asked = asked.add_columns(before.c.hash.label("before"))
    for row in connection.execute(asked.join(before, before.c.number == entries.c.number - 1, isouter=True)).mappings():
        previous = born if row["number"] == 1 else row["before"]
        if previous is None or link(str(previous), row) != row["hash"]:
            raise broken(row["number"])
        yield row


def check_charges(connection: Connection, held: Iterable[RowMapping]) -> dict[str, ReleaseState]:
    """Check releases, but for the bytes of their answers, against every entry about them; return what these say, by id.

    Raises:
        LedgerError: one, or one of these entries, is not what was written.
    """
    known = {str(charge["id"]): charge for charge in held}
    standing: dict[str, ReleaseState | None] = dict.fromkeys(known)
    for some in at_once([*known]):
        for row in linked(connection, select(entries).where(entries.c.id.in_(some)).order_by(entries.c.number)):
            standing[row["id"]] = _after(standing[row["id"]], row)
    checked = {}
    for name, charge in known.items():
        found = standing[name]
        if found is None or not _agrees(charge, found):
            raise _changed(name)
        checked[name] = found
    return checked


def check_absent(connection: Connection, dataset: str, asked: Collection[tuple[str, str]]) -> None:
    """Refuse a ledger whose history knows releases that were not found among its charges.

    Raises:
        LedgerError: one was reserved and never withdrawn.
    """
    known: dict[str, int] = defaultdict(int)
    columns = (entries.c.id, entries.c.kind, entries.c.version, entries.c.key)
    absent, versions = {*asked}, sorted({version for version, _ in asked})
    for some in at_once(sorted({key for _, key in asked})):
        about = (entries.c.dataset == dataset) & entries.c.kind.in_(("reserved", "withdrawn"))
        about &= entries.c.key == some[0] if len(some) == 1 else entries.c.key.in_(some)
        if len(versions) == 1:
            about &= entries.c.version == versions[0]
        for row in connection.execute(select(*columns).where(about)):
            if (row.version, row.key) in absent:
                known[row.id] += 1 if row.kind == "reserved" else -1
    for id, count in known.items():  # noqa: A001 - the name of the column
        if count > 0:
            raise _gone(id)


def at_once(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut values into as many as one statement may name."""
    return (values[i : i + _AT_ONCE] for i in range(0, len(values), _AT_ONCE))


_AT_ONCE = 500


def check_all(connection: Connection, *, answers: bool = True) -> None:
    """Replay every entry and compare what follows from them with what the ledger holds.

    Args:
        connection: within a transaction.
        answers: also hash the bytes of every stored answer, which takes long in a large ledger. An answer is always
            checked when it is read.

    Raises:
        LedgerError: an entry, a balance, a reservation or an answer is not what was written.
    """
    previous = str(hash_of(connection, 0))
    spent: dict[str, Amount] = defaultdict(lambda: NOTHING)
    standing: dict[str, ReleaseState] = {}
    rows = connection.execute(select(entries).order_by(entries.c.number)).mappings()
    for number, row in enumerate(rows, start=1):
        if row["number"] != number or row["hash"] != link(previous, row):
            raise broken(number)
        previous = row["hash"]
        spent[row["dataset"]] += from_text(row["cost"])
        if from_text(row["spent"]) != spent[row["dataset"]]:
            raise broken(number)
        after = _after(standing.pop(row["id"], None), row)
        if after is not None:
            standing[row["id"]] = after
    columns = [column for column in charges.columns if column is not charges.c.payload]
    known = [*columns, charges.c.payload if answers else charges.c.payload.is_not(None).label("payload")]
    for charge in connection.execute(select(*known)).mappings():
        found = standing.pop(charge["id"], None)
        if found is None or not _agrees(charge, found):
            raise _changed(charge["id"])
        if answers and found.answer is not None and not is_answer(charge["payload"], found):
            raise _changed(charge["id"])
    if standing:
        raise _gone(next(iter(standing)))
    if connection.dialect.name == "sqlite":
        _check_lookups(connection, whole=answers)


def _check_lookups(connection: Connection, *, whole: bool) -> None:
    """See that SQLite finds by its indices what is in the tables, and that nothing else writes when an entry is written.

    A balance is found by an index: one without the last entries gives an earlier balance, all of whose hashes fit.

    Args:
        connection: within a transaction.
        whole: also the indices of answers, for which all of the file is read.
    """
    found = connection.exec_driver_sql("PRAGMA integrity_check" if whole else "PRAGMA integrity_check(entries)")
    if found.scalars().first() != "ok":
        raise altered("An index of the ledger does not list what is in it")
    if connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").first() is not None:
        raise altered("There is a trigger or a view in the ledger")


def is_answer(payload: object, standing: ReleaseState) -> bool:
    """Whether these are the bytes that were stored as the answer of a release."""
    return isinstance(payload, bytes) and standing.answer == answer_seal(payload)


def broken(number: int) -> LedgerError:
    """The error for an entry that does not fit the chain."""
    return LedgerError(
        f"Entry {number} of the ledger does not fit its hash chain",
        "an entry was changed or removed by something else",
        "Restore the ledger from a copy you trust",
    )


def _after(standing: ReleaseState | None, row: RowMapping) -> ReleaseState | None:
    """Return what is to be said of a release after one more entry about it; None after its withdrawal."""
    kind = row["kind"]
    if kind not in get_args(OfRelease):
        return standing
    if (standing is None) != (kind == "reserved") or (standing is not None and standing.answer is not None):
        raise broken(row["number"])  # an answer is the end of a release: nothing is taken over or withdrawn after it
    if standing is None:
        return ReleaseState(row["dataset"], row["version"], row["key"], from_text(row["cost"]), row["seal"])
    if kind == "released":
        return replace(standing, answer=row["seal"], cost=standing.cost + from_text(row["cost"]))
    return None if kind == "withdrawn" else standing


def _agrees(charge: RowMapping, standing: ReleaseState) -> bool:
    """Whether a charge, but for the bytes of its answer, is what the history says."""
    said = (standing.dataset, standing.version, standing.key, to_text(standing.cost), sha256(standing.key))
    held = tuple(charge[name] for name in ("dataset", "version", "key", "cost", "key_hash"))
    is_answered = charge["payload"] not in (None, False)
    return held == said and content_seal(charge) == standing.content and is_answered == (standing.answer is not None)


def _changed(id: object) -> LedgerError:  # noqa: A002 - the name of the column
    return altered(f"The release {id} in the ledger is not what its history says")


def _gone(id: object) -> LedgerError:  # noqa: A002 - the name of the column
    return altered(f"The release {id} is in the history of the ledger but its answer is gone")
