# SPDX-License-Identifier: Apache-2.0
"""What analysts may spend of one data set's budget: each has a cap of their own, inside that of the data set.

Who asked is an entry of its own beside the reservation, written in the same transaction and covered by the same chain. What
an analyst has spent is the sum over the entries of the releases that they asked for first: there is no second account that
could drift. The caps need not add up to that of the data set, and they never raise it: analysts may collude, and what they
learn together is bounded by the cap of the data set alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from sqlalchemy import Connection, and_, select

from leeward._plain import is_text
from leeward.errors import CapExceededError, InputError
from leeward.ledger._chain import linked
from leeward.ledger._records import NOTHING, Amount, exact_amount, from_text
from leeward.ledger._schema import entries


@dataclass(frozen=True, slots=True)
class Analyst:
    """On whose behalf something is asked.

    Attributes:
        name: a public name.
        cap: the most that everything this analyst asks first of one data set may cost, in units of its budget's notion.

    Raises:
        InputError: the name is not plain text, or the cap is negative.
        InexactError: the cap is a float.
    """

    name: str
    cap: Fraction

    def __post_init__(self) -> None:
        if not is_text(self.name):
            raise InputError(
                "The name of an analyst is empty or not plain text", "what they spend is kept under it", "Give a name"
            )
        object.__setattr__(self, "cap", exact_amount(self.cap, "cap of an analyst"))


@dataclass(frozen=True, slots=True)
class Share:
    """What an analyst has spent of one data set's budget.

    Attributes:
        dataset: the public name of the data set.
        analyst: the name.
        spent: what was spent or is reserved, exactly.
    """

    dataset: str
    analyst: str
    spent: Fraction


def shares(connection: Connection, dataset: str | None = None, analyst: str | None = None) -> list[Share]:
    """Return what analysts have spent, by data set and name.

    Args:
        connection: within a transaction.
        dataset: only of this one.
        analyst: only this one.

    Raises:
        LedgerError: an entry that it follows from is not what was written.
    """
    asked = select(entries).where(entries.c.kind == "asked-by")
    if dataset is not None:
        asked = asked.where(entries.c.dataset == dataset)
    if analyst is not None:
        asked = asked.where(entries.c.key == analyst)
    who = asked.subquery()
    theirs = select(entries, who.c.key.label("analyst"))
    theirs = theirs.join(who, and_(entries.c.id == who.c.id, entries.c.dataset == who.c.dataset))
    spent: dict[tuple[str, str], Amount] = defaultdict(lambda: NOTHING)
    for row in linked(connection, theirs):
        spent[row["dataset"], row["analyst"]] += from_text(row["cost"])
    return [Share(*of, amount.epsilon) for of, amount in sorted(spent.items())]


def refuse_beyond_share(connection: Connection, dataset: str, analyst: Analyst, cost: Amount) -> None:
    """Refuse what costs more than is left of an analyst's cap.

    Raises:
        CapExceededError: it does, or it has a δ, of which analysts have none.
    """
    spent = sum((each.spent for each in shares(connection, dataset, analyst.name)), Fraction(0))
    left = analyst.cap - spent
    if cost.epsilon > left:
        raise CapExceededError(
            f"This release costs {cost.epsilon}, and {max(left, Fraction(0))} is left of what '{analyst.name}' may spend"
            f" on '{dataset}' (cap {analyst.cap})",
            "each analyst has a cap inside that of the data set",
            "Ask for less, or ask the curator for a higher cap",
        )
    if cost.delta:
        raise CapExceededError(
            f"This release needs δ = {cost.delta}",
            "what analysts may spend has no δ",
            "Ask the curator, whose releases may have one",
        )
