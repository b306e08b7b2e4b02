# SPDX-License-Identifier: Apache-2.0
"""A δ is paid for by a budget each of whose steps is one step of the release's, and by no other."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest

import leeward as lw
from leeward.accounting._budget_notion import budget_notion
from leeward.accounting._price_of_delta import charge_delta
from leeward.errors import BudgetConflictError
from leeward.notion import Graded, Notion
from leeward.notion._named import NAMED

PAID_BY = {
    "presence": {"presence"},
    "addition-only": {"addition-only"},
    "removal-only": {"removal-only"},
    "dp": {"addition-only", "removal-only", "dp"},
    "bounded-dp": {"bounded-dp"},
    "add-remove-replace-dp": {"addition-only", "removal-only", "dp", "bounded-dp", "add-remove-replace-dp"},
}
"""By their definitions: whoever may be withdrawn, put in, or replaced there, may be so here."""

OTHERS: list[Notion] = [Graded("1", "1"), lw.Personalised(lw.UnboundedDP("1"), ["1", "2"]), lw.ADP("1", [lw.has("a")])]
DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize("name", NAMED)
def test_by_which_budgets_a_delta_is_paid(name: str) -> None:
    release, paid = NAMED[name]("1/3"), set()
    for each in [*(kind("2") for kind in NAMED.values()), *OTHERS]:
        counted_in = budget_notion(each)
        assert charge_delta(release, Fraction(0), counted_in) == 0  # all can pay for none
        with contextlib.suppress(BudgetConflictError):
            assert charge_delta(release, DELTA, counted_in) == DELTA
            paid.add(each.name)
    assert paid == PAID_BY[name]


def test_every_named_notion_has_a_row() -> None:
    assert set(PAID_BY) == set(NAMED)
