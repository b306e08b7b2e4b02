# SPDX-License-Identifier: Apache-2.0
"""What ``leeward token list --json`` prints, as a typed document: who may ask, and what they have spent."""

from __future__ import annotations

from typing import Literal

from leeward._document import Document, Part
from leeward.ledger import Ledger
from leeward.service._offers import Offers


class MayAsk(Part):
    """What one analyst may spend of one data set, and has spent, in exact fractions of its budget's notion.

    Attributes:
        analyst: the name.
        data_set: the name under which it is asked.
        cap: the most that may be spent.
        spent: what was spent, also by earlier tokens of this name.
        created: when the token was created, in UTC.
        revoked: when it ended; None while it works.
    """

    analyst: str
    data_set: str
    cap: str
    spent: str
    created: str
    revoked: str | None


class MaySend(Part):
    """What one trusted broker may send true positions to.

    Attributes:
        name: of the broker.
        perturb: the name under which positions are perturbed.
        created: when the token was created, in UTC.
        revoked: when it ended; None while it works.
    """

    name: str
    perturb: str
    created: str
    revoked: str | None


class MayAskList(Document):
    """Who may ask a service, and who may send it positions.

    Attributes:
        format: 2.
        analysts: one line for each token and data set, the oldest token first.
        brokers: one line for each token and what it may send to, the oldest token first.
    """

    format: Literal[2]
    analysts: tuple[MayAsk, ...]
    brokers: tuple[MaySend, ...]


def listed(offers: Offers) -> MayAskList:
    """Return who may ask, and what they have spent.

    Raises:
        LedgerError: the tokens or a ledger cannot be read.
    """
    spent, tokens = dict[tuple[str, str], str](), offers.tokens.read()
    for name, data_set in offers.data_sets.items():
        budget = data_set.budget()
        ledger = Ledger.find(budget.ledger)
        for share in [] if ledger is None else ledger.shares(budget.dataset):
            spent[name, share.analyst] = str(share.spent)
    return MayAskList(
        format=2,
        analysts=tuple(
            MayAsk(
                analyst=one.name,
                data_set=data_set,
                cap=cap,
                spent=spent.get((data_set, one.name), "0"),
                created=one.created,
                revoked=one.revoked,
            )
            for one in tokens
            for data_set, cap in one.caps.items()
        ),
        brokers=tuple(
            MaySend.copied_from(one, perturb=offer.name) for one in tokens for offer in offers.of_broker(one.name)
        ),
    )
