# SPDX-License-Identifier: Apache-2.0
"""A reservation of one release or many, from its first durable moment to its answers, its withdrawal or its takeover."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlalchemy import Connection, RowMapping, bindparam, delete, select, update

from leeward._progress import Progress
from leeward.errors import InputError, LedgerError, LeewardError
from leeward.ledger import _chain as chain
from leeward.ledger._account import Pen, balance
from leeward.ledger._admission import Admission
from leeward.ledger._balance import NOT_OPEN, Balance
from leeward.ledger._charges import Asked, find_charges, read_answer
from leeward.ledger._records import NOTHING, Amount, OfRelease, exact_amount, to_text
from leeward.ledger._request import DrawnAnswer, Request, Reserved
from leeward.ledger._schema import charges, entries
from leeward.ledger._store import Lock, Store

STAGES = ("reserving", "charging", "charged", "reserved", "storing", "saving", "saved", "stored")
"""What ``progress`` is called with, in order. ``charging`` and ``saving`` come just before a commit, ``charged`` and
``saved`` just after it and before the mark. For a stored answer it is ``reserving`` only; a
withdrawal begins with ``withdrawing``, before its transaction, and ends in ``withdrawn``."""


class Reservation:
    """Releases of one data set that are reserved together, or were found answered. Made by ``Ledger.reserve`` only.

    All of them are reserved in one transaction, or none; and all that had no answer are stored in one, or none.

    Attributes:
        releases: one for each request, in order; requests of one key share one.
        further: how many of the further requests, from the first, may be stored behind them.
    """

    def __init__(self, store: Store, progress: Progress) -> None:
        self.releases: tuple[Reserved, ...] = ()
        self.further = 0
        self._further: Sequence[Request] = ()
        self._store = store
        self._progress = progress
        self._process = os.getpid()
        self._holder = uuid.uuid4().hex
        self._lock: Lock | None = None

    @property
    def unanswered(self) -> list[Reserved]:
        """The releases without an answer, each once, in the order of the requests."""
        return [each for each in dict.fromkeys(self.releases) if each.answer is None]

    def store(self, drawn: Sequence[DrawnAnswer]) -> None:
        """Store the answers. When this returns they are durable and may be shown.

        Args:
            drawn: one for each of `unanswered`, in order; and behind them, if there are any, those of the first further
                requests, which what was reserved pays for and was not used. They are added to `releases`.

        Raises:
            InputError: a cost is more than was reserved, or negative; or there are too many answers, or too few.
            LedgerError: they cannot be stored, or what would follow was asked meanwhile; then nothing may be shown.
        """
        due = self.unanswered
        if not due:
            raise LedgerError("This release has its answer already", "it is answered once", "Use the stored answer")
        if not self._is_mine():
            raise LedgerError("A child process stores for its parent", "the reservation is the parent's", "Store there")
        if not len(due) <= len(drawn) <= len(due) + self.further:
            raise InputError(
                f"{len(drawn)} answers", f"{len(due)} were reserved, and {self.further} may follow", "Give one for each"
            )
        costs = _costs(due, drawn)
        self._progress("storing")
        with self._store.writing() as connection:
            held = self._ours(connection)
            if {*held} != {each.id for each in due}:
                raise LedgerError(
                    "This reservation was taken over by another process",
                    "its lock (a file beside the ledger, or a session of the database) was lost while it was at work",
                    "Run again to get the answer the other stored",
                )
            account = Admission(connection, held[due[0].id]["dataset"], self._holder, self._store.is_locked)
            behind = self._further[: len(drawn) - len(due)]
            if behind and find_charges(connection, behind[0].dataset, [(each.version, each.key) for each in behind]):
                raise LedgerError(
                    "What may be stored behind this release",
                    "another process asked the same meanwhile",
                    "Run again: the answers that are stored by then are used, and this release charged nothing",
                )
            answered = []
            for each, answer, cost in zip(due, drawn, costs, strict=False):
                spare, paid = Amount(each.cost - cost), to_text(Amount(cost, each.delta))
                account.standing = replace(account.standing, spent=account.standing.spent - spare)
                _add_for(
                    account.pen, held[each.id], "released", account.standing, -spare, chain.answer_seal(answer.payload)
                )
                answered.append({"of": each.id, "stored": answer.payload, "paid": paid})
            connection.execute(_ANSWERED, answered)
            also = [
                self._also(account, request, answer, cost)
                for request, answer, cost in zip(behind, drawn[len(due) :], costs[len(due) :], strict=True)
            ]
            account.write()
            self._progress("saving")
        self._progress("saved")
        self._store.advance_high_water_mark()
        for each, answer, cost in zip(due, drawn, costs, strict=False):
            each.answer, each.cost = answer.payload, cost
        self.releases += tuple(also)
        self._progress("stored")

    def acquire(self, requests: Sequence[Request], further: Sequence[Request], wait: float) -> None:
        """Find the answers, or hold the reservation: a new one, or that of a holder who died."""
        if not requests or any(each.delta for each in further):
            raise InputError(
                "A reservation of nothing, or a further answer that needs a δ",
                "it begins with what is reserved, and only ε is left over for more",
                "Give at least one request, and none with a delta among the further ones",
            )
        self._progress("reserving")
        deadline, pause = time.monotonic() + wait, 0.01
        while (other := self._try(requests, further)) is not None:
            while self._store.is_locked(other):
                if time.monotonic() >= deadline:
                    raise LedgerError(
                        "The same release is being made by another process or thread",
                        f"it was not done within {wait:g} seconds",
                        "Wait for it, or end that process: then its reservation is taken over",
                    )
                time.sleep(pause)
                pause = min(2 * pause, 0.25)

    def _try(self, requests: Sequence[Request], further: Sequence[Request]) -> str | None:
        """Settle the requests in one transaction; or return a living holder to wait for: then nothing is reserved."""
        asked = {_of(request): request for request in requests}
        with self._store.writing() as connection:
            account = Admission(connection, requests[0].dataset, self._holder, self._store.is_locked)
            for request in requests:
                account.check(request)
            found = find_charges(connection, requests[0].dataset, asked)
            chain.check_absent(connection, requests[0].dataset, asked.keys() - found.keys())
            history = chain.check_charges(connection, found.values())
            left = {of: charge for of, charge in found.items() if history[charge["id"]].answer is None}
            for holder in dict.fromkeys(charge["holder"] for charge in left.values()):
                if self._store.is_locked(holder):
                    return str(holder)
            is_held = len(left) > 0 or len(found) < len(asked)
            if is_held:
                self._lock = self._store.new_lock(self._holder)
            made = {of: self._settled(account, found.get(of), history, request) for of, request in asked.items()}
            if left:
                connection.execute(_TAKEN_OVER, [{"of": c["id"], "by": self._holder} for c in left.values()])
            account.write()
            self.releases, self._further = tuple(made[_of(request)] for request in requests), further
            if is_held:
                self.further = self._may_follow(connection, account, further)
                self._progress("charging")
        if is_held:
            self._progress("charged")
            self._store.advance_high_water_mark()
            self._progress("reserved")
        return None

    def _settled(
        self, account: Admission, charge: RowMapping | None, history: Mapping[str, chain.ReleaseState], request: Request
    ) -> Reserved:
        """Reserve a release, find its answer, or take over what the dead had reserved for it, if it is of this content."""
        if charge is None:
            return account.reserve(request, request.cost)
        known = history[charge["id"]]
        if known.answer is None and not account.is_about(charge, request):
            account.withdraw(charge, known.cost)
            return account.reserve(request, request.cost)
        made = Reserved(charge["id"], known.cost.epsilon, known.cost.delta, paid=True)
        found = read_answer(charge, known)
        if found is None:
            _add_for(account.pen, charge, "taken-over", account.standing)
        else:
            made.answer = found.payload
        return made

    def _may_follow(self, connection: Connection, account: Admission, further: Sequence[Request]) -> int:
        """How many further requests, from the first, are charged to nobody and refused by nothing."""
        if not further:
            return 0
        asked = {*map(_of, further)}
        found = find_charges(connection, further[0].dataset, asked)
        chain.check_absent(connection, further[0].dataset, asked - found.keys())
        for number, request in enumerate(further):
            try:
                account.check(request)
                account.refuse_known(request)
            except LeewardError:
                return number
            if _of(request) in found:
                return number
        return len(further)

    def _also(self, account: Admission, request: Request, drawn: DrawnAnswer, cost: Fraction) -> Reserved:
        """Reserve and store a further release at once, within what was given back."""
        account.check(request)
        made = account.reserve(request, cost, drawn.payload)
        about = {"dataset": request.dataset, "id": made.id, "version": request.version, "key": request.key}
        _add_for(account.pen, about, "released", account.standing, seal=chain.answer_seal(drawn.payload))
        made.answer = drawn.payload
        return made

    def end(self) -> None:
        """Withdraw what was reserved and not answered, and let go."""
        if self._lock is None or not self._is_mine():
            return
        try:
            if self.unanswered:
                self._withdraw()
        finally:
            self._lock.release()
            self._lock = None

    def _withdraw(self) -> None:
        self._progress("withdrawing")
        with self._store.writing() as connection:
            held = self._ours(connection)
            if not held:
                return  # nothing was committed, or the answers were and only their mark was not
            history = chain.check_charges(connection, held.values())
            dataset = next(iter(held.values()))["dataset"]
            connection.execute(delete(charges).where(charges.c.id == bindparam("of")), [{"of": each} for each in held])
            standing, pen, is_used = balance(connection, dataset), Pen(connection), _is_in_use(connection, dataset)
            for number, (name, charge) in enumerate(held.items(), start=1):
                paid = history[name].cost
                standing = Balance(standing.notion, standing.cap, standing.spent - paid)
                if number == len(held) and not is_used:
                    standing = replace(NOT_OPEN, spent=standing.spent)
                _add_for(pen, charge, "withdrawn", standing, -paid)
            pen.write()
        self._store.advance_high_water_mark()
        self._progress("withdrawn")

    def _ours(self, connection: Connection) -> dict[str, RowMapping]:
        """Return the charges that this reservation still holds, without an answer: by id, in the order of the requests."""
        held, names = dict[str, RowMapping](), [each.id for each in self.unanswered]
        for some in chain.at_once(names):
            ours = select(charges).where(charges.c.id.in_(some) & (charges.c.holder == self._holder))
            held |= {charge["id"]: charge for charge in connection.execute(ours).mappings()}
        history = chain.check_charges(connection, held.values())
        return {name: held[name] for name in names if name in held and history[name].answer is None}

    def _is_mine(self) -> bool:
        """A child forked inside the block has a copy of the reservation, which is not its own to store or withdraw."""
        return os.getpid() == self._process


def _of(request: Request) -> Asked:
    return request.version, request.key


def _costs(due: Sequence[Reserved], drawn: Sequence[DrawnAnswer]) -> list[Fraction]:
    """What each answer cost; those behind ``due`` are paid for by what these were reserved for and did not cost.

    Raises:
        InputError: it is more than was reserved, or negative.
    """
    costs, spare = list[Fraction](), Fraction(0)
    for number, answer in enumerate(drawn):
        most = due[number].cost if number < len(due) else spare
        cost = most if answer.cost is None else exact_amount(answer.cost, "cost")
        if cost > most:
            raise InputError(f"A cost of {cost}", f"only {most} was reserved", "Reserve the most it can cost")
        costs.append(cost)
        spare = spare + most - cost if number < len(due) else spare - cost
    return costs


def _add_for(
    pen: Pen,
    charge: Mapping[str, str] | RowMapping,
    kind: OfRelease,
    after: Balance,
    cost: Amount = NOTHING,
    seal: str = "",
) -> None:
    about = {name: charge[name] for name in ("dataset", "id", "version", "key")}
    pen.add(after, kind=kind, **about, cost=cost, seal=seal)


_ANSWERED = (
    update(charges).where(charges.c.id == bindparam("of")).values(payload=bindparam("stored"), cost=bindparam("paid"))
)

_TAKEN_OVER = update(charges).where(charges.c.id == bindparam("of")).values(holder=bindparam("by"))


def _is_in_use(connection: Connection, dataset: str) -> bool:
    """Whether anything but withdrawn reservations holds a budget open: a charge, or a cap set on purpose."""
    charge = select(charges.c.id).where(charges.c.dataset == dataset).limit(1)
    set_cap = select(entries.c.id).where((entries.c.dataset == dataset) & (entries.c.kind == "set-cap")).limit(1)
    return any(connection.execute(query).first() is not None for query in (charge, set_cap))
