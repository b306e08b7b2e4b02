# SPDX-License-Identifier: Apache-2.0
"""What is known of a question before it is released: its plans, its price, its statement and where the budget stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leeward._statement import NOT_YET, BudgetStated, Statement
from leeward.accounting._budget_notion import in_words
from leeward.planner._selection_plan import AnyPlan
from leeward.session._budget import Budget
from leeward.session._question import question
from leeward.session._standing import Standing, amount_of, standing
from leeward.session._statement import privacy_statement

if TYPE_CHECKING:
    from leeward.ledger._records import Amount


@dataclass(frozen=True)
class DryRun:
    """What is known of a question before it is released.

    Attributes:
        plans: one a window, about the public list.
        keys: how many public keys each answer has.
        stands: where the budget stands.
        paid: the price of each plan in the budget.
        keyed: the key of each plan in the ledger.
        statements: of each plan.
    """

    plans: Sequence[AnyPlan]
    keys: int
    stands: Standing
    paid: Sequence[Amount]
    keyed: Sequence[str]
    statements: Sequence[Statement]

    @property
    def new(self) -> list[tuple[AnyPlan, Amount]]:
        """The plans without a stored answer, and the price of each."""
        each = zip(self.plans, self.paid, self.stands.answered, strict=True)
        return [(made, price) for made, price, known in each if not known]

    @property
    def prices(self) -> dict[str, Amount]:
        """What is charged now, by the key in the ledger: two questions with one key are charged once."""
        each = zip(self.keyed, self.paid, self.stands.charged, strict=True)
        return {key: price for key, price, charged in each if not charged}


def dry_run(plans: Sequence[AnyPlan], budget: Budget, opens_in: str | None = None) -> DryRun:
    """Return what is known of a question before it is released; reads the public list and the ledger, never the data.

    ``opens_in`` is what the budget is counted in by the question before it in one spec, where none is open yet.
    """
    from leeward.engine import read_keys
    from leeward.ledger._balance import fixed

    keys = read_keys(plans[0].counted)
    count, digest = len(keys), keys.digest()
    plans, rows = [made.listing(count) for made in plans], plans[0].counted.of_rows
    stands = standing(budget, plans[0].notion, plans, digest, rows=rows, opens_in=opens_in)
    # what has no price in the budget is refused
    paid = [amount_of(made, stands.counted_in) for made in plans]
    if not all(stands.answered):
        fixed(
            None if stands.cap is None else stands.cap.epsilon, budget.dataset
        )  # a spec without a cap is not finished: nothing is printed of it
    taken = [BudgetStated(notion=in_words(stands.counted_in), price=str(price.epsilon)) for price in paid]
    statements = [
        privacy_statement(
            made,
            places=count,
            dataset=budget.dataset,
            version=budget.version,
            published=NOT_YET.model_copy(update={"budget": each}),
        )
        for made, each in zip(plans, taken, strict=True)
    ]
    return DryRun(plans, count, stands, paid, [question(made, digest).canonical() for made in plans], statements)
