"""What rounding does to a promise about closeness is said wherever a step of the promise is a bounded change."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import leeward as lw
from leeward.notion import Manhattan, ValueGrid
from leeward.planner._number_plan import plan_number
from leeward.session._statement import privacy_statement

GRID = ValueGrid(0, 100, 10)
CLOSE = Manhattan("1", GRID, nobody=False)
PROMISES: dict[str, tuple[Any, bool]] = {
    "closeness": (CLOSE, True),
    "of several ε": (lw.Personalised(CLOSE, ["1", "2"]), True),
    "beside another": (lw.both_hold(CLOSE, lw.BoundedDP("30")), True),
    "another beside it": (lw.both_hold(lw.BoundedDP("30"), CLOSE), True),
    "none": (lw.BoundedDP("1"), False),
}


@pytest.mark.parametrize("promise", PROMISES)
def test_closeness_is_that_of_rounded_numbers(promise: str) -> None:
    """Found: two promises of one output, and one of several ε, did not say that rounding takes 14 and 16 a step apart."""
    notion, close = PROMISES[promise]
    table = lw.records(pd.DataFrame({"p": ["x"], "v": [1.0], "g": ["A"]}), person="p")
    whole = lw.statistic(table, lw.query.Kind("sum", people=2), column="v", lower=0, upper=100, step=10)
    told = privacy_statement(plan_number(whole, notion), places=whole.cells, dataset="d", version="1")
    assert any("Closeness is measured between rounded numbers" in sentence for sentence in told.not_guaranteed) == close
