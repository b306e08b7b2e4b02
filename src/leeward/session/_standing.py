# SPDX-License-Identifier: Apache-2.0
"""Where a budget stands before a release, for those who only ask: nothing is opened, reserved or charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from leeward.errors import CapExceededError
from leeward.notion import Notion
from leeward.planner._selection_plan import AnyPlan
from leeward.session._budget import Budget
from leeward.session._question import question


@dataclass(frozen=True)
class Standing:
    """Where a budget stands.

    Attributes:
        counted_in: what it is kept in, or would be.
        cap: its cap; None where none is fixed or given.
        spent: what is spent of it.
        answered: of each plan, whether its answer is stored, so that it costs nothing.
    """

    counted_in: str
    cap: Fraction | None
    spent: Fraction
    answered: tuple[bool, ...]

    @property
    def left(self) -> Fraction | None:
        """What is left; None where there is no cap."""
        return None if self.cap is None else self.cap - self.spent


def standing(budget: Budget, notion: Notion, plans: Sequence[AnyPlan], keys: str, *, rows: bool = False) -> Standing:
    """Return where a budget stands, and which of these plans have their answer.

    Args:
        budget: the budget.
        notion: that of the plans.
        plans: the plans, which share their public list; none, where they are refused.
        keys: the digest of the public list.
        rows: whether they take every row for a person of its own.

    Raises:
        BudgetConflictError: the budget is kept in another notion than it says, or has another cap.
        LedgerError: the ledger cannot be used.
    """
    from leeward.ledger import Ledger
    from leeward.ledger._balance import Balance, agree

    ledger, cap = Ledger.find(budget.ledger), budget.exact_cap()
    account = None if ledger is None else ledger.account(budget.dataset, new=True)  # if any: nothing is opened
    if ledger is None or account is None:
        return Standing(budget.counted_in(notion, None, rows=rows), cap, Fraction(0), (False,) * len(plans))
    counted_in = budget.counted_in(notion, account.notion, rows=rows)
    agree(Balance(account.notion, account.cap, account.spent), budget.dataset, counted_in, cap)
    asked = [question(made, keys).canonical() for made in plans]
    known = tuple(ledger.peek(budget.dataset, budget.version, key) is not None for key in asked)
    return Standing(counted_in, account.cap, account.spent, known)


def refuse_total(prices: Sequence[Fraction], left: Fraction | None, dataset: str) -> None:
    """Refuse several releases that cost more together than what is left, before the first is begun.

    Raises:
        CapExceededError: they do.
    """
    total = sum(prices, Fraction(0))
    if len(prices) > 1 and left is not None and total > left:
        raise CapExceededError(
            f"{len(prices)} windows at a total price of {total}",
            f"only {left} is left of the budget of '{dataset}'",
            "Ask for fewer windows or a smaller epsilon, or raise the cap with `leeward budget set-cap`",
        )
