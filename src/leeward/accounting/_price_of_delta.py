# SPDX-License-Identifier: Apache-2.0
"""What a δ costs in a budget that is counted in another notion than the release.

(ε, δ) is a promise between neighbours, which are one step of the release's notion apart. Between tables that are i steps
apart it is δ·(1 + e^ε + … + e^{(i−1)ε}), which no fraction is. So a budget pays for a δ, and then for the same δ, only where
each step of the budget's notion is one step of the release's: neighbours of the budget are then neighbours of the release.

The δ of several releases add up, as their ε do: of each release leave out what has probability δ, and what is left keeps ε.
"""

from __future__ import annotations

from fractions import Fraction

from leeward.accounting._budget_notion import in_words, read_budget_notion
from leeward.errors import BudgetConflictError
from leeward.notion import Notion
from leeward.notion._named import NAMED


def charge_delta(notion: Notion, delta: Fraction, counted_in: str) -> Fraction:
    """Return what a δ is in a budget counted in another notion: the same.

    Args:
        notion: that of the release.
        delta: its δ; 0 costs nothing in any budget.
        counted_in: the notion that the budget is counted in, as `budget_notion` writes it; it pays for the ε of the release.

    Raises:
        BudgetConflictError: a step of the budget's notion is not known to be one step of the release's.
    """
    if not delta:
        return delta
    budget = read_budget_notion(counted_in)
    if budget is None or type(budget) not in NAMED.values() or not {*budget.changes} <= {*notion.changes}:
        raise BudgetConflictError(
            f"A release under {notion.name} with δ = {delta} in a budget counted in {in_words(counted_in)}",
            "a δ holds for one step of the release's notion, and a step of the budget's notion may be several, over which it"
            " grows",
            "Release under the notion of the budget, or keep this dataset's budget in that of the release",
        )
    return delta
