# SPDX-License-Identifier: Apache-2.0
"""The charges of public keys, found and checked: many in few statements."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, RowMapping, select

from leeward.ledger import _chain as chain
from leeward.ledger._parts import altered
from leeward.ledger._records import Answer
from leeward.ledger._schema import charges

Asked = tuple[str, str]
"""The label of a content, and a public key."""


def find_charges(connection: Connection, dataset: str, asked: Collection[Asked]) -> dict[Asked, RowMapping]:
    """Return the charges of public keys, reserved or answered; those that have none are left out."""
    hashed = {(version, chain.sha256(key)): (version, key) for version, key in asked}
    versions, found = {version for version, _ in asked}, dict[Asked, RowMapping]()
    for some in chain.at_once(sorted({key for _, key in hashed})):
        same = (charges.c.dataset == dataset) & charges.c.key_hash.in_(some)
        if len(versions) == 1:
            same &= charges.c.version == next(iter(versions))
        for row in connection.execute(select(charges).where(same)).mappings():
            of = hashed.get((row["version"], row["key_hash"]))
            if of is not None:
                found[of] = row
    return found


def standing_of(connection: Connection, dataset: str, asked: Collection[Asked]) -> dict[Asked, Answer | None]:
    """Return what is charged of these keys, each with its answer, or None while it is only reserved.

    Raises:
        LedgerError: a charge or an answer is not what was written.
    """
    found = find_charges(connection, dataset, asked)
    history = chain.check_charges(connection, found.values())
    return {of: read_answer(charge, history[charge["id"]]) for of, charge in found.items()}


def read_answer(charge: RowMapping, history: chain.ReleaseState) -> Answer | None:
    """Read the stored answer of a charge, if it has one; one that is not what the history says is never shown."""
    if history.answer is None:
        return None
    payload = charge["payload"]
    if not chain.is_answer(payload, history):
        raise altered(f"The stored answer {charge['id']} is not the one that was stored")
    return Answer(charge["id"], history.cost.epsilon, payload, history.cost.delta)
