# SPDX-License-Identifier: Apache-2.0
"""One reservation, from its first durable moment to its answer, its withdrawal or its takeover."""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from leeward._plain import is_text
from leeward._progress import Progress
from leeward._taught import taught
from leeward.errors import InputError, LedgerError
from leeward.ledger import _chain as chain
from leeward.ledger._account import append, balance, open_budgets
from leeward.ledger._analysts import Analyst, refuse_beyond_share
from leeward.ledger._balance import NOT_OPEN, Balance, agree, charged
from leeward.ledger._content import (
    Content,
    Fingerprint,
    refuse_alike,
    refuse_changed,
    refuse_known,
    refuse_twin_version,
)
from leeward.ledger._parts import altered
from leeward.ledger._records import NOTHING, Amount, Answer, OfRelease, exact_amount, exact_delta, to_text
from leeward.ledger._schema import charges, entries
from leeward.ledger._store import Lock, Store

STAGES = ("reserving", "charging", "charged", "reserved", "storing", "saving", "saved", "stored")
"""What ``progress`` is called with, in order. ``charging`` and ``saving`` come just before a commit, ``charged`` and
``saved`` just after it and before the mark. For a stored answer it is ``reserving`` only; a
withdrawal begins with ``withdrawing``, before its transaction, and ends in ``withdrawn``."""


@taught
@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a ledger: one answer, and its price.

    Attributes:
        dataset: the public name under which the budget is kept.
        version: the public label of the content.
        key: canonical text of everything public the answer depends on.
        cost: the price, in units of the notion; a whole number may be an int.
        cap: the most that may ever be spent; None for whatever was fixed.
        notion: the notion and unit costs are counted in, such as ``addition-only/person``.
        content: digests of the content, under `Ledger.content_key`; kept to notice that it changed under its label, or is
            charged under another name.
        new: this is a budget of its own, although the ledger has one of nearly the same name, or for the same content.
        delta: what it costs of δ.
        cap_delta: the most that the δ of all releases may add up to; None for whatever was fixed, or 0 if nothing was.
        analyst: on whose behalf it is asked, with a cap of their own; None for the curator's own.

    Raises:
        InputError: a name is not plain text, or an amount is negative.
        InexactError: an amount is a float.
    """

    dataset: str
    version: str = "1"
    key: str
    cost: Fraction
    cap: Fraction | None
    notion: str
    content: Content
    new: bool = False
    delta: Fraction = Fraction(0)
    cap_delta: Fraction | None = None
    analyst: Analyst | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "version", "key", "notion"):
            if not is_text(getattr(self, name)):
                raise InputError(f"The {name} is empty or not plain text", "the ledger is kept by it", f"Give a {name}")
        object.__setattr__(self, "cost", exact_amount(self.cost, "cost"))
        if self.cap is not None:
            object.__setattr__(self, "cap", exact_amount(self.cap, "cap"))
        object.__setattr__(self, "delta", exact_delta(self.delta, "delta"))
        if self.cap_delta is not None:
            object.__setattr__(self, "cap_delta", exact_delta(self.cap_delta, "cap_delta"))


class Reservation:
    """A reservation held, or an answer found. Made by ``Ledger.reserve`` only.

    Attributes:
        id: random; the id the release may publish. The same for a found answer as when it was stored.
        cost: what the release cost, once.
        delta: what it cost of δ.
        answer: what may be shown; None until it is stored.
        opened: whether it opened the budget that it is charged to.
    """

    def __init__(self, store: Store, progress: Progress) -> None:
        self.id = ""
        self.cost = self.delta = Fraction(0)
        self.answer: bytes | None = None
        self.opened = False
        self._store = store
        self._progress = progress
        self._process = os.getpid()
        self._holder = uuid.uuid4().hex
        self._lock: Lock | None = None

    def store(self, payload: bytes, cost: Fraction | None = None) -> None:
        """Store the answer. When this returns it is durable and may be shown.

        Args:
            payload: the answer.
            cost: what the answer turned out to cost, at most what was reserved; None for all of it. It must be a function
                of the answer alone, as for mechanisms that pay only for some of what they say.

        Raises:
            InputError: the cost is more than was reserved, or negative.
            LedgerError: it cannot be stored; then nothing may be shown.
        """
        if self.answer is not None:
            raise LedgerError("This release has its answer already", "it is answered once", "Use the stored answer")
        if not self._is_mine():
            raise LedgerError("A child process stores for its parent", "the reservation is the parent's", "Store there")
        settled = self.cost if cost is None else exact_amount(cost, "cost")
        if settled > self.cost:
            raise InputError(f"A cost of {settled}", f"only {self.cost} was reserved", "Reserve the most it can cost")
        self._progress("storing")
        with self._store.writing() as connection:
            charge = self._reservation(connection)
            if charge is None:
                raise LedgerError(
                    "This reservation was taken over by another process",
                    "its lock (a file beside the ledger, or a session of the database) was lost while it was at work",
                    "Run again to get the answer the other stored",
                )
            answered = {"payload": bytes(payload), "cost": to_text(Amount(settled, self.delta))}
            connection.execute(update(charges).where(charges.c.id == self.id).values(**answered))
            standing, spare = balance(connection, charge["dataset"]), Amount(self.cost - settled)
            after = Balance(standing.notion, standing.cap, standing.spent - spare)
            _append_for(
                connection, charge, "released", after=after, cost=-spare, seal=chain.answer_seal(bytes(payload))
            )
            self._progress("saving")
        self._progress("saved")
        self._store.advance_high_water_mark()
        self.answer, self.cost = bytes(payload), settled
        self._progress("stored")

    def acquire(self, request: Request, wait: float) -> None:
        """Find the answer, or hold the reservation: a new one, or that of a holder who died."""
        self._progress("reserving")
        deadline, pause = time.monotonic() + wait, 0.01
        while (other := self._try(request)) is not None:
            while self._store.is_locked(other):
                if time.monotonic() >= deadline:
                    raise LedgerError(
                        "The same release is being made by another process or thread",
                        f"it was not done within {wait:g} seconds",
                        "Wait for it, or end that process: then its reservation is taken over",
                    )
                time.sleep(pause)
                pause = min(2 * pause, 0.25)

    def _try(self, request: Request) -> str | None:
        """Settle the request in one transaction; or return the living holder to wait for."""
        with self._store.writing() as connection:
            standing = balance(connection, request.dataset)
            agree(standing, request.dataset, request.notion, request.cap, request.cap_delta)
            content = Fingerprint.of(request.content, chain.key_fingerprint(connection))
            refuse_twin_version(connection, request.dataset, request.version)
            refuse_changed(connection, request.dataset, request.version, content)
            charge = find_charge(connection, request.dataset, request.version, request.key)
            if charge is None:
                chain.check_absent(connection, request.dataset, request.version, request.key)
                self._reserve(connection, request, content, standing)
            elif (history := chain.check_charge(connection, charge)).answer is not None:
                found = read_answer(charge, history)
                self.id, self.cost, self.delta, self.answer = found.id, found.cost, found.delta, found.payload
            elif self._store.is_locked(charge["holder"]):
                return str(charge["holder"])
            else:
                self._take_over(connection, charge, history)
            if self.answer is None:
                self._progress("charging")
        if self.answer is None:
            self._progress("charged")
            self._store.advance_high_water_mark()
            self._progress("reserved")
        return None

    def _reserve(self, connection: Connection, request: Request, content: Fingerprint, standing: Balance) -> None:
        cap, cost = standing.cap, Amount(request.cost, request.delta)
        if cap is None:
            assert request.cap is not None  # agree() saw to it
            cap = Amount(request.cap, request.cap_delta or Fraction(0))
        if not request.new:
            if standing.cap is None:
                refuse_alike(request.dataset, open_budgets(connection))
            refuse_known(connection, request.dataset, content, opens=standing.cap is None)
        after = charged(standing, request.dataset, request.notion, cap, cost)
        if request.analyst is not None:
            refuse_beyond_share(connection, request.dataset, request.analyst, cost)
        kept: dict[str, Any] = {"digest_form": content.form, "digest_columns": content.columns}
        kept |= {"digest": content.digest, "marks": content.marks}
        self._lock = self._store.new_lock(self._holder)
        self.id, self.cost, self.delta = str(uuid.uuid4()), request.cost, request.delta
        if standing.cap is None:
            opened = Balance(request.notion, cap, standing.spent)
            append(connection, opened, kind="opened", dataset=request.dataset)
            self.opened = True
        append(
            connection,
            after,
            kind="reserved",
            dataset=request.dataset,
            id=self.id,
            version=request.version,
            key=request.key,
            cost=cost,
            seal=chain.content_seal(kept),
        )
        if request.analyst is not None:
            append(
                connection,
                after,
                kind="asked-by",
                dataset=request.dataset,
                id=self.id,
                version=request.version,
                key=request.analyst.name,
            )
        connection.execute(
            insert(charges).values(
                id=self.id,
                dataset=request.dataset,
                version=request.version,
                key_hash=chain.sha256(request.key),
                key=request.key,
                cost=to_text(cost),
                holder=self._holder,
                **kept,
            )
        )

    def _take_over(self, connection: Connection, charge: RowMapping, history: chain.Standing) -> None:
        self._lock = self._store.new_lock(self._holder)
        self.id, self.cost, self.delta = charge["id"], history.cost.epsilon, history.cost.delta
        connection.execute(update(charges).where(charges.c.id == self.id).values(holder=self._holder))
        _append_for(connection, charge, "taken-over")

    def end(self) -> None:
        """Withdraw what was reserved and not answered, and let go."""
        if self._lock is None or not self._is_mine():
            return
        try:
            if self.answer is None:
                self._withdraw()
        finally:
            self._lock.release()
            self._lock = None

    def _withdraw(self) -> None:
        self._progress("withdrawing")
        with self._store.writing() as connection:
            charge = self._reservation(connection)
            if charge is None:
                return  # nothing was committed, or the answer was and only its mark was not
            connection.execute(delete(charges).where(charges.c.id == self.id))
            standing = balance(connection, charge["dataset"])
            paid = Amount(self.cost, self.delta)
            after = Balance(standing.notion, standing.cap, standing.spent - paid)
            if not _is_in_use(connection, charge["dataset"]):
                after = replace(NOT_OPEN, spent=after.spent)
            _append_for(connection, charge, "withdrawn", after=after, cost=-paid)
        self._store.advance_high_water_mark()
        self._progress("withdrawn")

    def _reservation(self, connection: Connection) -> RowMapping | None:
        ours = (charges.c.id == self.id) & (charges.c.holder == self._holder)
        charge = connection.execute(select(charges).where(ours)).mappings().one_or_none()
        if charge is None or chain.check_charge(connection, charge).answer is not None:
            return None
        return charge

    def _is_mine(self) -> bool:
        """A child forked inside the block has a copy of the reservation, which is not its own to store or withdraw."""
        return os.getpid() == self._process


def _append_for(
    connection: Connection,
    charge: RowMapping,
    kind: OfRelease,
    *,
    after: Balance | None = None,
    cost: Amount = NOTHING,
    seal: str = "",
) -> None:
    append(
        connection,
        after or balance(connection, charge["dataset"]),
        kind=kind,
        dataset=charge["dataset"],
        id=charge["id"],
        version=charge["version"],
        key=charge["key"],
        cost=cost,
        seal=seal,
    )


def find_charge(connection: Connection, dataset: str, version: str, key: str) -> RowMapping | None:
    """Return the charge of a public key, reserved or answered, or None."""
    same = (charges.c.dataset == dataset) & (charges.c.version == version) & (charges.c.key_hash == chain.sha256(key))
    return connection.execute(select(charges).where(same)).mappings().one_or_none()


def read_answer(charge: RowMapping, history: chain.Standing) -> Answer:
    """Read a stored answer; one that is not what the history says is never shown."""
    payload = charge["payload"]
    if not chain.is_answer(payload, history):
        raise altered(f"The stored answer {charge['id']} is not the one that was stored")
    return Answer(charge["id"], history.cost.epsilon, payload, history.cost.delta)


def _is_in_use(connection: Connection, dataset: str) -> bool:
    """Whether anything but withdrawn reservations holds a budget open: a charge, or a cap set on purpose."""
    charge = select(charges.c.id).where(charges.c.dataset == dataset).limit(1)
    set_cap = select(entries.c.id).where((entries.c.dataset == dataset) & (entries.c.kind == "set-cap")).limit(1)
    return any(connection.execute(query).first() is not None for query in (charge, set_cap))
