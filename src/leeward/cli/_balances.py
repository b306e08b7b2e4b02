# SPDX-License-Identifier: Apache-2.0
"""What ``leeward budget … --json`` prints, as typed documents: balances, the history, and that a ledger is as written."""

from __future__ import annotations

from typing import Literal

from leeward._document import Document, Part
from leeward.ledger import Account, Entry
from leeward.ledger._records import EntryKind


class Balance(Part):
    """The budget of one dataset, in exact fractions of its notion's ε; and what the δ of all releases may add up to."""

    dataset: str
    notion: str
    cap: str
    spent: str
    left: str
    cap_delta: str
    spent_delta: str
    left_delta: str


class Balances(Document):
    """The budgets of a ledger.

    Attributes:
        format: 1.
        budgets: one a dataset.
    """

    format: Literal[1]
    budgets: tuple[Balance, ...]


class Happened(Part):
    """One line of the history; the costs of a dataset's lines add up to what it has spent.

    Attributes:
        number: its place in the ledger, from 1.
        time: when it was written, in UTC.
        dataset: the public name; empty for what concerns the ledger as a whole.
        version: the label of the content; empty where no release is concerned.
        kind: what happened.
        cost: the change of what is spent, an exact fraction.
        cap: the dataset's cap from then on; None while no budget is open.
        id: which the lines of one release share.
        key: the canonical public key of the release; of ``asked-by``, the name of the analyst; empty where none is
            concerned.
        cost_delta: the change of what is spent of δ, an exact fraction.
        cap_delta: the dataset's cap on δ from then on.
    """

    number: int
    time: str
    dataset: str
    version: str
    kind: EntryKind
    cost: str
    cap: str | None
    id: str
    key: str
    cost_delta: str
    cap_delta: str


class History(Document):
    """What happened to the budgets of a ledger.

    Attributes:
        format: 1.
        entries: the oldest first.
    """

    format: Literal[1]
    entries: tuple[Happened, ...]


class Checked(Document):
    """A ledger in which everything is as it was written.

    Attributes:
        format: 1.
        entries: how many lines its history has.
        as_written: always true: a ledger that was altered is refused instead.
    """

    format: Literal[1]
    entries: int
    as_written: Literal[True]


def balance(account: Account) -> Balance:
    """Return the budget of a dataset as it is printed."""
    return Balance(
        dataset=account.dataset,
        notion=account.notion,
        cap=str(account.cap),
        spent=str(account.spent),
        left=str(account.left),
        cap_delta=str(account.cap_delta),
        spent_delta=str(account.spent_delta),
        left_delta=str(account.left_delta),
    )


def happened(entry: Entry) -> Happened:
    """Return a line of the history as it is printed."""
    return Happened(
        number=entry.number,
        time=f"{entry.time:%Y-%m-%d %H:%M:%S}",
        dataset=entry.dataset,
        version=entry.version,
        kind=entry.kind,
        cost=str(entry.cost),
        cap=None if entry.cap is None else str(entry.cap),
        id=entry.id,
        key=entry.key,
        cost_delta=str(entry.cost_delta),
        cap_delta=str(entry.cap_delta),
    )
