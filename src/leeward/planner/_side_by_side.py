# SPDX-License-Identifier: Apache-2.0
"""One comparison for every question that has several answers: ways to decide about places, or to name one."""

from __future__ import annotations

from typing import overload

from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Exact
from leeward.notion import Notion
from leeward.planner._compare import Comparison, Scenario, compare_decisions
from leeward.planner._everyone import About, LeftOut
from leeward.planner._plan import MechanismName, What
from leeward.planner._selection_compare import NameComparison, compare_names
from leeward.query import Selection
from leeward.query._selection import Counted


@overload
def compare(
    query: Counted,
    notion: Notion,
    *,
    safe_at_most: int | None = None,
    dangerous_at_least: int | None = None,
    error_at_most: Exact | None = None,
    useful_from: Exact | None = None,
    what: What = "decisions",
    mechanism: MechanismName = "auto",
    stop_after: int | None = None,
    about: About = "counted",
    left_out: LeftOut = 0,
    scenario: Scenario | None = None,
) -> Comparison: ...


@overload
def compare(query: Selection, notion: Notion, *, scenario: Scenario | None = None) -> NameComparison: ...


@taught
def compare(
    query: Counted | Selection,
    notion: Notion,
    *,
    safe_at_most: int | None = None,
    dangerous_at_least: int | None = None,
    error_at_most: Exact | None = None,
    useful_from: Exact | None = None,
    what: What = "decisions",
    mechanism: MechanismName = "auto",
    stop_after: int | None = None,
    about: About = "counted",
    left_out: LeftOut = 0,
    scenario: Scenario | None = None,
) -> Comparison | NameComparison:
    """Compare all notions and mechanisms for a question: free, and private of nothing because it reads no data.

    Args:
        query: as for `leeward.plan`: from `leeward.count_visitors`; a histogram from `leeward.statistic`, with what is to be
            decided; or from `leeward.select`, with a scenario alone.
        notion: as for `leeward.plan`; all notions are compared at its ε.
        safe_at_most: as for `leeward.plan`.
        dangerous_at_least: as for `leeward.plan`.
        error_at_most: as for `leeward.plan`.
        useful_from: as for `leeward.plan`.
        what: as for `leeward.plan`.
        mechanism: as for `leeward.plan`.
        stop_after: as for `leeward.plan`; also for the rows that stop where another mechanism is asked for.
        about: as for `leeward.plan`. Where a bound leaves people out, both promises are among the rows.
        left_out: as for `leeward.plan`; also for the rows about everyone where those counted are asked about.
        scenario: what is known or assumed beside the question: the length of the list, the budget, …; by default nothing.

    Raises:
        InputError: an argument is malformed, or something is to be decided about a name.
    """
    if not isinstance(query, Selection):
        return compare_decisions(
            query,
            notion,
            safe_at_most=safe_at_most,
            dangerous_at_least=dangerous_at_least,
            error_at_most=error_at_most,
            useful_from=useful_from,
            what=what,
            mechanism=mechanism,
            stop_after=stop_after,
            about=about,
            left_out=left_out,
            scenario=scenario,
        )
    decided = (safe_at_most, dangerous_at_least, error_at_most, useful_from, stop_after)
    usual = (what, mechanism, about, left_out) == ("decisions", "auto", "counted", 0)
    if any(choice is not None for choice in decided) or not usual:
        raise InputError(
            "A decision about a name",
            "decisions are about counts of visitors",
            "Give the question, the notion and a scenario",
        )
    return compare_names(query, notion, Scenario() if scenario is None else scenario)
