# SPDX-License-Identifier: Apache-2.0
"""A comparison of ways to answer a question of which nothing is decided: its rows, and what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from leeward._displayed import Displayed
from leeward.accounting._budget_notion import budget_notion
from leeward.notion import Notion
from leeward.planner._compare import Scenario
from leeward.planner._plan_of import Asked
from leeward.planner._row import AnyRow


@dataclass(frozen=True)
class Ways(Displayed, Generic[Asked, AnyRow]):
    """Every row, and what was asked.

    Attributes:
        query: the question.
        notion: the notion asked for.
        scenario: what is known or assumed beside them.
        options: the rows, that which `leeward.release` carries out first.
        refusal: why it refuses what was asked; empty if it does not.
    """

    query: Asked
    notion: Notion
    scenario: Scenario
    options: tuple[AnyRow, ...]
    refusal: str

    @property
    def counted_in(self) -> str:
        """What the budget is counted in, as a ledger writes it."""
        return self.scenario.counted_in or budget_notion(self.notion, rows=self.query.of_rows)

    @property
    def possible(self) -> tuple[AnyRow, ...]:
        """The rows that are not refused."""
        return tuple(option for option in self.options if not option.refused)
