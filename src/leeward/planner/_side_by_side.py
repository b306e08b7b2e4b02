# SPDX-License-Identifier: Apache-2.0
"""One comparison for every question: ways to decide about places, to name one, or to answer with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, overload

from leeward._taught import taught
from leeward.exact._real import Exact
from leeward.notion import Notion
from leeward.planner._ask import asked_to_decide
from leeward.planner._compare import Comparison, Scenario, compare_decisions
from leeward.planner._plan import Decide, MechanismName, What
from leeward.planner._statistic_plan import PercentileMechanism
from leeward.query import Selection
from leeward.query._selection import Counted
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import AnyQuestion, UnlistedGroups

if TYPE_CHECKING:  # what other questions need is loaded when one is compared
    from leeward.planner._answer_compare import AnswerComparison
    from leeward.planner._answer_report import AnswerReport, NameReport
    from leeward.planner._report import PlanReport
    from leeward.planner._selection_compare import NameComparison

AnyReport: TypeAlias = "PlanReport | NameReport | AnswerReport"
"""What is known of a question before it is paid for: of decisions, of a name, or of numbers."""


@overload
def compare(
    query: Counted,
    notion: Notion,
    decide: Decide,
    *,
    what: What = "decisions",
    mechanism: MechanismName = "auto",
    stop_after: int | None = None,
    scenario: Scenario | None = None,
) -> Comparison: ...


@overload
def compare(
    query: Statistic, notion: Notion, *, mechanism: PercentileMechanism = "auto", scenario: Scenario | None = None
) -> AnswerComparison: ...


@overload
def compare(
    query: UnlistedGroups, notion: Notion, *, delta: Exact | None = None, scenario: Scenario | None = None
) -> AnswerComparison: ...


@overload
def compare(query: Selection, notion: Notion, *, scenario: Scenario | None = None) -> NameComparison: ...


@taught
def compare(
    query: AnyQuestion | Selection,
    notion: Notion,
    decide: Decide | None = None,
    *,
    what: What = "decisions",
    mechanism: MechanismName | PercentileMechanism = "auto",
    stop_after: int | None = None,
    delta: Exact | None = None,
    scenario: Scenario | None = None,
) -> Comparison | NameComparison | AnswerComparison:
    """Compare all notions and mechanisms for a question: free, and private of nothing because it reads no data.

    Args:
        query: as for `leeward.plan`: from `leeward.count_visitors`; from `leeward.statistic`, of histograms and levels with
            what is to be decided, and else with ``mechanism`` for a percentile; from `leeward.unlisted_groups`, with
            ``delta``; or from `leeward.select`, with a scenario alone.
        notion: as for `leeward.plan`; all notions are compared at its ε.
        decide: as for `leeward.plan`. Where a bound leaves people out and those counted are asked about, the promise about
            everyone is among the rows too.
        what: as for `leeward.plan`.
        mechanism: as for `leeward.plan`.
        stop_after: as for `leeward.plan`; also for the rows that stop where another mechanism is asked for.
        delta: as for `leeward.plan`; the rows that need a δ have that of the scenario where none is given.
        scenario: what is known or assumed beside the question: the length of the list, the budget, …; by default nothing.

    Raises:
        InputError: an argument is malformed, or something is to be decided about a name.
    """
    more = Scenario() if scenario is None else scenario
    how, counts = asked_to_decide(query, decide, what, mechanism, stop_after, delta)
    if counts is not None:
        return compare_decisions(counts, notion, how, more)
    if isinstance(query, Selection):
        from leeward.planner._selection_compare import compare_names

        return compare_names(query, notion, more)
    from leeward.planner._answer_compare import compare_answers

    assert isinstance(query, Statistic | UnlistedGroups)
    return compare_answers(query, notion, more, mechanism=mechanism, delta=delta)  # type: ignore[arg-type]  # as above


def report_of(
    compared: Comparison | NameComparison | AnswerComparison, count: int = 0, probability: Exact = "0.9"
) -> AnyReport:
    """Return everything that is known before anything is spent; the wish, as of `plan_report`, is about decisions."""
    if isinstance(compared, Comparison):
        from leeward.planner._plan_report import plan_report

        return plan_report(compared, count=count, probability=probability)
    from leeward.planner._answer_report import answer_report, name_report
    from leeward.planner._selection_compare import NameComparison

    return name_report(compared) if isinstance(compared, NameComparison) else answer_report(compared)
