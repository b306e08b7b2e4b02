# SPDX-License-Identifier: Apache-2.0
"""What ``leeward budget … --json`` prints, as typed documents: balances, the history, and that a ledger is as written."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator

from leeward._document import Document, Exactly, Part
from leeward.ledger._records import EntryKind

Second = Annotated[str, BeforeValidator(lambda at: f"{at:%Y-%m-%d %H:%M:%S}" if isinstance(at, datetime) else at)]
"""A moment, to the second."""


class Balance(Part):
    """The budget of one dataset, in exact fractions of its notion's ε; and what the δ of all releases may add up to."""

    dataset: str
    notion: str
    cap: Exactly
    spent: Exactly
    left: Exactly
    cap_delta: Exactly
    spent_delta: Exactly
    left_delta: Exactly


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
    time: Second
    dataset: str
    version: str
    kind: EntryKind
    cost: Exactly
    cap: Exactly | None
    id: str
    key: str
    cost_delta: Exactly
    cap_delta: Exactly


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
