# SPDX-License-Identifier: Apache-2.0
"""The ledger: reserve, look at the data, store the answer, and only then show it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import RowMapping, select

from leeward._paths import resolve_ledger
from leeward._plain import echo, is_text
from leeward._postgres import EXAMPLE, Address, is_address
from leeward._progress import Progress, silent
from leeward.errors import BudgetConflictError, InputError, LedgerError
from leeward.ledger import _chain as chain
from leeward.ledger._account import append, balance, open_budgets
from leeward.ledger._analysts import Analyst, Share, refuse_beyond_share, shares
from leeward.ledger._balance import NOT_OPEN, Balance
from leeward.ledger._charges import Asked, standing_of
from leeward.ledger._content import (
    Fingerprint,
    charged_as,
    refuse_alike,
    refuse_changed,
    refuse_known,
    refuse_twin_version,
    versions_of,
)
from leeward.ledger._move import move
from leeward.ledger._postgresql import PostgresStore
from leeward.ledger._records import (
    NOTHING,
    Account,
    Amount,
    Answer,
    Entry,
    exact_amount,
    exact_delta,
    from_text,
    refuse_long,
)
from leeward.ledger._request import Request
from leeward.ledger._reservation import Reservation
from leeward.ledger._schema import entries
from leeward.ledger._secret import VARIABLE, fingerprint, key_of, key_path, read_key, read_or_make_key
from leeward.ledger._sqlite import SqliteStore
from leeward.ledger._store import NoLedgerError, Store

if TYPE_CHECKING:
    from leeward.engine._content import Content


class Ledger:
    """The budgets of datasets, kept in one SQLite file or in one PostgreSQL database.

    Args:
        url: ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or a path, relative to the working directory of now; or
            ``postgresql://user@host:5432/database``, whose password the environment holds.
        create: make the ledger where there is none; a database itself is never made.
        lock_wait: how many seconds to wait for another process's transaction.

    Raises:
        LedgerError: it cannot be used, is not a ledger, was written by a later version, is older than its mark, was moved,
            or does not fit its hash chain.
        InputError: an address holds a password or cannot be read; or a library for it is missing.
    """

    def __init__(self, url: str | Path, *, create: bool = True, lock_wait: float = 30.0) -> None:
        self._store = _store(url, create=create, lock_wait=lock_wait)
        with self._store.reading() as connection:  # refuses a ledger behind its mark
            chain.check_all(connection, answers=False)

    @classmethod
    def find(cls, url: str | Path) -> Ledger | None:
        """Open a ledger that is there; None where one would be made: there is no file, or an empty one without a mark.

        Raises:
            LedgerError: what is there cannot be used, or there was one.
        """
        try:
            return cls(url, create=False)
        except NoLedgerError:
            return None

    @classmethod
    def accept_restored(cls, url: str | Path, *, lock_wait: float = 30.0) -> None:
        """Accept a ledger that does not fit its mark, on purpose; recorded in its history.

        What the lost entries had spent is still spent: lower the caps by that much.

        Raises:
            LedgerError: the file cannot be used, does not fit its own hash chain, or fits its mark, so that there is nothing
                to accept; or what stands in the place of its mark is something else.
        """
        store = _store(url, create=False, lock_wait=lock_wait)
        with store.writing(check_high_water_mark=False) as connection:
            fits = store.fits_mark(connection)  # raises at what is no mark: it may be somebody's file
            chain.check_all(connection)
            if fits:
                raise LedgerError(
                    f"The ledger {store.name}", "it fits its high-water mark: nothing was restored or lost", "Go on"
                )
            append(connection, NOT_OPEN, kind="accepted-restored", dataset="")
        store.advance_high_water_mark()

    @classmethod
    def move(cls, url: str | Path, to: str, *, lock_wait: float = 30.0) -> Ledger:
        """Move a ledger from its SQLite file into a PostgreSQL database, with its history, its answers and its chain.

        The file stays and is closed: its last entry names the database, and whoever asks it is sent there. Interrupted at
        any moment, either the file is as it was, or it is closed and the same call completes the move.

        Args:
            url: of the SQLite file.
            to: the address of a database that has no ledger yet.
            lock_wait: how many seconds to wait for another process's transaction.

        Returns:
            The ledger in its new place.

        Raises:
            LedgerError: one of them cannot be used, a release is being made, or the database has a ledger already.
            InputError: ``to`` is not the address of a database.
        """
        if not is_address(to):
            raise InputError("The place to move to", "it is not the address of a PostgreSQL database", EXAMPLE)
        if is_address(url):
            raise InputError(
                "A ledger that is on PostgreSQL already",
                "a ledger moves from a SQLite file into a database",
                "Between databases, use pg_dump, and then `leeward budget accept-restored`",
            )
        move(resolve_ledger(url), Address.read(to), lock_wait=lock_wait)
        return cls(to, create=False, lock_wait=lock_wait)

    @property
    def url(self) -> str:
        """The path or address, as a spec may name it; without a password."""
        return self._store.url

    def content_key(self) -> bytes:
        """Return the key of this ledger's content digests, 32 bytes, derived from one that is kept elsewhere.

        Raises:
            LedgerError: that key is lost, is another one than before, or others can read it.
        """
        with self._store.reading() as connection:
            identity, expected = self._store.identity(connection), chain.key_fingerprint(connection)
        key = key_of(identity, read_key())
        if fingerprint(key) != expected:
            raise LedgerError(
                f"The key of content digests, {key_path()}, is not the one this ledger was kept with",
                "with another one nobody can tell whether the content of a table changed, or was charged under another name",
                f"Bring back the right one, or set {VARIABLE} to where it is; if it is lost, accept that earlier content"
                " cannot be recognised any more: `leeward budget new-key`",
            )
        return key

    def new_key(self) -> None:
        """Go on with the key that this user has now, made if there is none, on purpose; recorded in the history.

        Content that was charged before cannot be recognised any more: each dataset needs a new version label.

        Raises:
            LedgerError: it is the right key already, or cannot be used.
        """
        key = read_or_make_key()
        with self._store.writing() as connection:
            now = fingerprint(key_of(self._store.identity(connection), key))
            if now == chain.key_fingerprint(connection):
                raise LedgerError(
                    f"The key of content digests, {key_path()}",
                    "it is the one that this ledger is kept with: nothing is lost",
                    "Go on",
                )
            append(connection, NOT_OPEN, kind="new-key", dataset="", seal=now)
        self._store.advance_high_water_mark()

    def account(self, dataset: str, *, new: bool = False) -> Account | None:
        """Return the open budget of a dataset; None where its first release will open one.

        Args:
            dataset: its public name.
            new: a budget of this name is to be opened, although another has nearly the same.

        Raises:
            BudgetConflictError: there is none, its name is nearly that of an open budget, and ``new`` is not said.
        """
        with self._store.reading() as connection:
            standing = balance(connection, dataset)
            if standing.cap is None:
                if not new:
                    refuse_alike(dataset, open_budgets(connection))
                return None
        return _account(dataset, standing, standing.cap)

    def check_content(self, dataset: str, version: str, content: Content, *, new: bool = False) -> None:
        """Refuse content that `reserve` would refuse for a question without an answer. Charges and writes nothing.

        Args:
            dataset: the name of its budget.
            version: the label of the content.
            content: digests, under `content_key`.
            new: see `Request`.

        Raises:
            ContentChangedError: it changed under its label.
            BudgetConflictError: it is charged under another name.
        """
        with self._store.reading() as connection:
            asked = Fingerprint.of(content, chain.key_fingerprint(connection))
            refuse_twin_version(versions_of(connection, dataset), dataset, version)
            bound = charged_as(connection, dataset, version, self._store.is_locked)
            refuse_changed(bound, dataset, version, asked)
            if not new:
                refuse_known(connection, dataset, asked, opens=balance(connection, dataset).cap is None)

    def charged(self, dataset: str, asked: Collection[Asked]) -> dict[Asked, Answer | None]:
        """Return what is charged already: asked again, it goes on under its charge, or gets its answer. Charges nothing.

        Args:
            dataset: the name of its budget.
            asked: version labels with the public keys of questions.

        Returns:
            The stored answer of each that has one, and None for each that is only reserved; those that are not charged are
            left out.

        Raises:
            LedgerError: a charge or an answer is not what was written.
        """
        with self._store.reading() as connection:
            return standing_of(connection, dataset, asked)

    @contextmanager
    def reserve(
        self,
        requests: Sequence[Request],
        *,
        further: Sequence[Request] = (),
        wait: float = 600.0,
        progress: Progress = silent,
    ) -> Iterator[Reservation]:
        """Reserve releases of one data set, durably, before its data are looked at: all of them in one transaction, or none.

        The same dataset, version and key have one answer and one charge, however many ask at once: one computes, the
        others wait for it; if it dies, one of them takes over the same charge. Whoever waits holds nothing meanwhile.
        Where the content is another by then, that charge is withdrawn, and made anew for what is there now.

        **An exception withdraws the charges.** Whatever was drawn inside the block was then shown to nobody, so
        nothing was spent, and the next attempt draws anew. This is sound as long as *whether* the block fails does not
        depend on the draws (or trying again would choose among draws): so a payload's size must not depend on them, and
        what may fail because of the data comes before the first draw, or what was drawn before it is stored. That
        it failed may be a fact about the data; it is for the curator only, as every error is. A killed process cannot
        withdraw: its charges stay until the same keys are asked again.

        **Further requests** are of answers that follow one another, where each says what the next may cost, and all of
        them cost what is reserved for the first at most: the rounds of a monitor. They are charged when they are stored, in
        the same transaction, from what the first were reserved for and did not cost. Until then the first, which others
        wait for, stand for all of them.

        Args:
            requests: what is asked, and what it costs at most.
            further: what may be stored behind it.
            wait: how many seconds to wait for another holder of one of the keys.
            progress: called with each of ``STAGES``.

        Yields:
            A reservation. Where some of its releases are ``unanswered``, compute these and call ``store``.

        Raises:
            CapExceededError: the prices are more than what is left.
            BudgetConflictError: another cap or notion than the budget was opened with; or ``new`` is not said, and the
                name is nearly that of another budget or the content is charged under another name.
            ContentChangedError: the content changed under the same version.
            LedgerError: the ledger cannot be used, or another holder was not done in time.
            InputError: there are no requests, or they are of several data sets.
        """
        reservation = Reservation(self._store, progress)
        try:
            reservation.acquire(requests, further, wait)
            yield reservation
        except BaseException as error:
            try:
                reservation.end()
            except LedgerError as also:
                error.add_note(f"The charge could not be withdrawn; running the same release again uses it. ({also})")
            raise
        reservation.end()

    def show(self, dataset: str | None = None) -> list[Account]:
        """Return the open budgets, by name, or that of one dataset; of a dataset without any, none.

        Raises:
            InputError: the name is none.
        """
        _check_name(dataset)
        with self._store.reading() as connection:
            names = select(entries.c.dataset).distinct().order_by(entries.c.dataset)
            if dataset is not None:
                names = names.where(entries.c.dataset == dataset)
            found = [(name, balance(connection, name)) for name in connection.execute(names).scalars()]
        return [_account(name, standing, standing.cap) for name, standing in found if standing.cap is not None]

    def shares(self, dataset: str | None = None, analyst: str | None = None) -> list[Share]:
        """Return what analysts have spent of budgets, by data set and name; those who have asked for nothing have no line.

        Args:
            dataset: only of this one.
            analyst: only this one.

        Raises:
            LedgerError: something in the ledger is not what was written.
            InputError: the name is none.
        """
        _check_name(dataset)
        with self._store.reading() as connection:
            return shares(connection, dataset, analyst)

    def check_share(self, dataset: str, analyst: Analyst, cost: Amount) -> None:
        """Refuse a price that `reserve` would refuse because of an analyst's cap. Charges and writes nothing.

        Raises:
            CapExceededError: it is more than what is left of it.
        """
        with self._store.reading() as connection:
            refuse_beyond_share(connection, dataset, analyst, cost)

    def history(self, dataset: str | None = None) -> list[Entry]:
        """Return what happened, oldest first, to every dataset or to one.

        Raises:
            LedgerError: something in the ledger is not what was written.
            InputError: the name is none.
        """
        _check_name(dataset)
        rows = select(entries).order_by(entries.c.number)
        if dataset is not None:
            rows = rows.where(entries.c.dataset == dataset)
        with self._store.reading() as connection:
            chain.check_all(connection, answers=False)  # in the same moment: what was edited is never shown as true
            return [_entry(row) for row in connection.execute(rows).mappings()]

    def set_cap(self, dataset: str, cap: Fraction | int | None = None, *, delta: Fraction | int | None = None) -> None:
        """Change a cap on purpose; recorded in the history.

        Args:
            dataset: its public name.
            cap: the new cap; None to leave it.
            delta: the new cap on δ; None to leave it.

        Raises:
            LedgerError: the dataset has no budget here yet.
            BudgetConflictError: more was spent already.
            InputError: neither is given, or the name is none.
        """
        _check_name(dataset)
        if cap is None and delta is None:
            raise InputError("A new cap of nothing", "neither of the two caps is given", "Give cap, delta or both")
        asked = None if cap is None else exact_amount(cap, "cap")
        of_delta = None if delta is None else exact_delta(delta, "delta")
        refuse_long(Amount(asked or Fraction(0), of_delta or Fraction(0)), f"the new cap of '{dataset}'")
        with self._store.writing() as connection:
            standing = balance(connection, dataset)
            if standing.cap is None:
                raise LedgerError(
                    f"There is no budget for '{dataset}' in this ledger",
                    "a budget is opened by its dataset's first release",
                    "Check the name with `leeward budget show`",
                )
            now, spent = standing.cap, standing.spent
            after = Amount(now.epsilon if asked is None else asked, now.delta if of_delta is None else of_delta)
            for new, paid, what in (
                (after.epsilon, spent.epsilon, "cap"),
                (after.delta, spent.delta, "cap on δ"),
            ):
                if new < paid:
                    raise BudgetConflictError(
                        f"The {what} {new} was asked for '{dataset}', and {paid} is spent",
                        "what was released cannot be taken back",
                        f"Give at least {paid}: then nothing more is released",
                    )
            append(connection, Balance(standing.notion, after, spent), kind="set-cap", dataset=dataset)
        self._store.advance_high_water_mark()

    def check(self) -> None:
        """Replay the whole history against its hash chain, and every answer and reservation against the history.

        Raises:
            LedgerError: something is not what was written; it names the entry or release.
        """
        with self._store.reading() as connection:
            chain.check_all(connection)


def _check_name(dataset: str | None) -> None:
    """Refuse what no budget is kept under, and no database finds: it would complain of it in words of its own."""
    if dataset is not None and not is_text(dataset):
        raise InputError(f"The dataset {echo(dataset)}", "it is empty or not plain text", "Give its public name")


def _account(dataset: str, standing: Balance, cap: Amount) -> Account:
    spent = standing.spent
    return Account(dataset, str(standing.notion), cap.epsilon, spent.epsilon, cap.delta, spent.delta)


def _entry(row: RowMapping) -> Entry:
    cost, cap = from_text(row["cost"]), None if row["cap"] is None else from_text(row["cap"])
    return Entry(
        number=row["number"],
        id=row["id"],
        time=datetime.fromisoformat(row["time"]),
        dataset=row["dataset"],
        version=row["version"],
        kind=row["kind"],
        cost=cost.epsilon,
        cap=None if cap is None else cap.epsilon,
        key=row["key"],
        cost_delta=cost.delta,
        cap_delta=(cap or NOTHING).delta,
    )


def _store(url: str | Path, *, create: bool, lock_wait: float) -> Store:
    if isinstance(url, str) and is_address(url):
        return PostgresStore(Address.read(url), create=create, lock_wait=lock_wait)
    return SqliteStore(resolve_ledger(url), create=create, lock_wait=lock_wait)
