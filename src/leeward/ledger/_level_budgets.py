# SPDX-License-Identifier: Apache-2.0
"""Budgets per person and day where reports have several prices: each level of ε has its own, and what adds up is ε.

A report of level l costs ε_l of one notion, so n_1, n_2, … reports of a person and day cost Σ n_l·ε_l: by sequential
composition distances add up. A store keeps the numbers n_l, under one account a person and price, and the prices, so that
the sum is exact whatever they are, and compares it with the cap of a day. A person who changes level pays each report at its
own price: those of yesterday's level count with those of today's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection

from leeward.errors import CapExceededError, InputError, LedgerError
from leeward.exact._real import Real, exact
from leeward.exact._text import read, write
from leeward.ledger._identity import payers
from leeward.ledger._people_store import PeopleStore, facts_kept
from leeward.ledger._person_budgets import PersonBudgets
from leeward.ledger._spent import Accounts

_PRICE: Final = "price "
"""What the rows of ``about`` that hold a price begin with; a number follows."""


class LevelBudgets(PersonBudgets):
    """Budgets per person and day, as an amount of ε that reports of several prices share.

    Args:
        path: the SQLite file.
        secret: for the keyed hash of people's names; at least 16 bytes.
        notion: what ε is counted in, in words that must not change.
        prices: ε of one report of each level.
        a_day: ε that the reports of one person in one day may cost together.
        new: whether the file may be made where there is none, or an empty one: then everybody has a whole budget.

    Raises:
        LedgerError: the file cannot be used, or is not there and may not be made.
        BudgetConflictError: it was made for another notion, bound or secret, or for reports of one price.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        secret: bytes,
        notion: str,
        prices: Sequence[Real],
        a_day: Real,
        new: bool = False,
    ) -> None:
        self.a_day, self._asked, self._held = a_day, tuple(prices), list[Real]()
        self._enough = dict[tuple[int, ...], bool]()
        facts = {"price": notion, "a_day": str(a_day)}
        PeopleStore.__init__(self, path, "budgets of levels", facts, secret, new=new)

    def cost(self, person: Any, day: int) -> Real:
        """Return what the reports of a person that are paid for on a day cost together, exactly."""
        with self.writing() as connection:
            self._open_accounts(connection)
            return self._sum(self._counts(connection, person, day))

    def _open_accounts(self, connection: Connection) -> None:
        """Read the prices that reports ever had here, and add those that are asked for: within the charge's transaction."""
        rows = {row.key: row.value for row in connection.execute(facts_kept.select()) if row.key.startswith(_PRICE)}
        try:
            held = [read(json.loads(rows[f"{_PRICE}{number}"])) for number in range(len(rows))]
        except (KeyError, ValueError):  # an InputError is one
            raise LedgerError(
                f"A price of reports in {self.path} cannot be read", "it was changed or damaged", "Restore the file"
            ) from None
        new = [price for price in dict.fromkeys(self._asked) if price not in held]
        for number, price in enumerate(new, start=len(held)):
            connection.execute(facts_kept.insert(), [{"key": f"{_PRICE}{number}", "value": json.dumps(write(price))}])
        self._held = held + new
        self._places = [self._held.index(price) for price in self._asked]
        self._written = [json.dumps(write(price)) for price in self._held]
        self._enough.clear()

    def _accounts(self, people: Sequence[Any]) -> Accounts:
        ids = payers(people)
        return np.column_stack([self.hashed_ids(ids, price) for price in self._written])

    def _priced(self, prices: Sequence[int] | None, _reports: int) -> Sequence[int]:
        if prices is None:
            raise InputError("Reports without prices", "each costs what its level does", "Give one each")
        return [self._places[number] for number in prices]

    def _pays(self, counts: Sequence[int], price: int) -> bool:
        then = tuple(n + (number == price) for number, n in enumerate(counts))
        if then not in self._enough:
            self._enough[then] = self._sum(then) <= self.a_day
        return self._enough[then]

    def _sum(self, counts: Sequence[int]) -> Real:
        return sum((price * n for price, n in zip(self._held, counts, strict=True)), start=exact(0))

    def _too_many(self) -> CapExceededError:
        return CapExceededError(
            f"Somebody's reports of a day cost more than ε = {self.a_day} together (this is for the curator only)",
            "their budget does not pay for it; nothing was charged",
            'Thin the table, choose over = "withhold", or have a larger budget from the start',
        )
