# SPDX-License-Identifier: Apache-2.0
"""What one transaction charges: each request is held against the account, the content and those before it, then written."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, delete, insert

from leeward.errors import InputError
from leeward.ledger import _chain as chain
from leeward.ledger._account import Pen, balance, open_budgets
from leeward.ledger._analysts import refuse_beyond_share
from leeward.ledger._balance import Balance, agree, charged
from leeward.ledger._content import (
    Fingerprint,
    charged_as,
    refuse_alike,
    refuse_changed,
    refuse_known,
    refuse_twin_version,
    versions_of,
)
from leeward.ledger._records import Amount, to_text
from leeward.ledger._request import Request, Reserved
from leeward.ledger._schema import charges

if TYPE_CHECKING:
    from leeward.engine._content import Content


class Admission:
    """The account of one data set within one writing transaction. Nothing is written before `write`.

    Args:
        connection: alone in writing.
        dataset: the public name of the data set.
        holder: who reserves.
        lives: whether another holder does.
    """

    def __init__(self, connection: Connection, dataset: str, holder: str, lives: Callable[[object], bool]) -> None:
        self.standing = balance(connection, dataset)
        self.pen = Pen(connection)
        self._connection, self._dataset, self._holder, self._lives = connection, dataset, holder, lives
        self._key = chain.key_fingerprint(connection)
        self._versions = versions_of(connection, dataset)
        self._charged: dict[str, list[Fingerprint]] = {}
        self._read: dict[int, tuple[Content, Fingerprint]] = {}
        self._beside: dict[Fingerprint, None] = {}
        self._passed: set[Fingerprint] = set()
        self._rows: list[dict[str, Any]] = []

    def check(self, request: Request) -> None:
        """Refuse what conflicts with the account, or with the content of its label, whether or not it has its answer.

        Raises:
            BudgetConflictError: see `Ledger.reserve`.
            ContentChangedError: see `Ledger.reserve`.
            LedgerError: no cap is given and none was fixed.
        """
        version, content = request.version, self._content(request.content)
        if request.dataset != self._dataset:
            raise InputError(
                f"One reservation of '{self._dataset}' and of '{request.dataset}'",
                "what is reserved together is charged to one budget",
                "Reserve for each data set by itself",
            )
        self._agree(request)
        refuse_twin_version(self._versions, self._dataset, version)
        if version not in self._charged:
            self._charged[version] = charged_as(self._connection, self._dataset, version, self._lives)
        refuse_changed(self._charged[version], self._dataset, version, content)
        if content not in self._charged[version]:  # what comes after it in this transaction is held against it too
            self._charged[version].append(content)
        self._versions.add(version)

    def refuse_known(self, request: Request) -> None:
        """Refuse to charge content that is charged under another name, and to open a budget of nearly another's name.

        Raises:
            BudgetConflictError: see `Ledger.reserve`.
        """
        content = self._content(request.content)
        if request.new or content in self._passed:
            return
        if self.standing.cap is None:
            refuse_alike(self._dataset, open_budgets(self._connection))
        opens, beside = self.standing.cap is None, [*self._beside]
        refuse_known(self._connection, self._dataset, content, opens=opens, beside=beside)
        self._passed.add(content)

    def reserve(self, request: Request, cost: Fraction, payload: bytes | None = None) -> Reserved:
        """Charge a request that has no charge yet.

        Raises:
            CapExceededError: it is more than what is left.
            BudgetConflictError: see `refuse_known`.
            InputError: a price or cap has too many digits.
        """
        self._agree(request)
        self.refuse_known(request)
        cap, amount, opens = self.standing.cap, Amount(cost, request.delta), self.standing.cap is None
        if cap is None:
            assert request.cap is not None  # agree() saw to it
            cap = Amount(request.cap, request.cap_delta or Fraction(0))
        after = charged(self.standing, self._dataset, request.notion, cap, amount)
        if request.analyst is not None:
            self.pen.write()  # what was reserved just now counts too
            refuse_beyond_share(self._connection, self._dataset, request.analyst, amount)
        if opens:
            self.pen.add(Balance(request.notion, cap, self.standing.spent), kind="opened", dataset=self._dataset)
        content = self._content(request.content)
        self._beside[content] = None
        kept: dict[str, Any] = {"digest_form": content.form, "digest_columns": content.columns}
        kept |= {"digest": content.digest, "marks": content.marks}
        made = Reserved(str(uuid.uuid4()), cost, request.delta, opened=opens)
        about: dict[str, Any] = {"dataset": self._dataset, "id": made.id, "version": request.version}
        self.pen.add(after, kind="reserved", **about, key=request.key, cost=amount, seal=chain.content_seal(kept))
        if request.analyst is not None:
            self.pen.add(after, kind="asked-by", **about, key=request.analyst.name)
        self.standing = after
        hashed, holds = chain.sha256(request.key), {"holder": self._holder, "payload": payload}
        self._rows.append({**about, "key_hash": hashed, "key": request.key, "cost": to_text(amount), **holds, **kept})
        return made

    def is_about(self, charge: RowMapping, request: Request) -> bool:
        """Whether a charge was reserved for the content that a request is about."""
        return Fingerprint.kept(charge) == self._content(request.content)

    def withdraw(self, charge: RowMapping, paid: Amount) -> None:
        """Give back what a process that has ended reserved and did not answer; its budget stays open."""
        self._connection.execute(delete(charges).where(charges.c.id == charge["id"]))
        self.standing = replace(self.standing, spent=self.standing.spent - paid)
        about = {name: charge[name] for name in ("dataset", "id", "version", "key")}
        self.pen.add(self.standing, kind="withdrawn", **about, cost=-paid)

    def write(self) -> None:
        """Write what was reserved."""
        self.pen.write()
        if self._rows:
            self._connection.execute(insert(charges), self._rows)
            self._rows = []

    def _agree(self, request: Request) -> None:
        """Refuse a notion or cap that is not the account's, which the request before may have opened."""
        agree(self.standing, self._dataset, request.notion, request.cap, request.cap_delta)

    def _content(self, content: Content) -> Fingerprint:
        """What is kept of a content: made once of each."""
        if id(content) not in self._read:
            self._read[id(content)] = content, Fingerprint.of(content, self._key)
        return self._read[id(content)][1]
