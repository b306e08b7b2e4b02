# SPDX-License-Identifier: Apache-2.0
"""The comparison of notions and mechanisms for one spec, of whatever kind its question is."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leeward._plain import counted
from leeward.errors import InputError, RefusedError
from leeward.planner._compare import Scenario
from leeward.planner._expected import read_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leeward.planner import AnswerReport, NameReport, PlanReport
    from leeward.planner._selection_plan import AnyPlan
    from leeward.query._unlisted_groups import AnyQuestion
    from leeward.spec._spec import Spec

AnyReport: TypeAlias = "PlanReport | NameReport | AnswerReport"
"""What is known of a question before it is paid for: of decisions, of a name, or of numbers."""


def compared(
    spec: Spec,
    counts: str | None = None,
    releases: int | None = None,
    delta: str = "1e-6",
    error: str = "0.001",
    wish: tuple[int, str] = (0, "0.9"),
) -> AnyReport:
    """Compare ways to answer the question of a spec; reads the public list and the ledger, never the data.

    Args:
        spec: of one question.
        counts: how many places hold how many people, as `leeward plan --counts` takes it; None if it is not known.
        releases: how many such releases there are in all; None for one a window.
        delta: δ at which their total is given, and of the rows that need one, where the spec has none.
        error: α for notions that can be wrong, where the spec has none.
        wish: places with so many people are to be called safe so often.

    Raises:
        LeewardError: the spec, or what is given beside it, is refused.
    """
    notion, chosen = spec.notion(), spec.query.mechanism

    def scenario(queries: Sequence[AnyQuestion]) -> Scenario:
        return _scenario(spec, queries, counts, releases, delta, error)

    if spec.names:
        from leeward.planner._selection_compare import compare_names
        from leeward.planner._selection_report import name_report

        named = spec.selections()
        return name_report(compare_names(named[0], notion, scenario([each.counts for each in named])))
    if spec.unlisted or not spec.decides:
        from leeward.planner._answer_compare import compare_answers
        from leeward.planner._answer_report import answer_report

        if spec.unlisted:
            groups = spec.unlisted_groups()
            return answer_report(compare_answers(groups[0], notion, scenario(groups), delta=spec.protect.delta))
        asked = spec.statistics()
        return answer_report(compare_answers(asked[0], notion, scenario(asked), mechanism=chosen))
    from leeward.planner._compare import compare_decisions
    from leeward.planner._plan_report import plan_report

    decided = spec.decided()
    compared = compare_decisions(decided[0], notion, spec.deciding(), scenario(decided))
    return plan_report(compared, count=wish[0], probability=wish[1])


def _scenario(
    spec: Spec,
    queries: Sequence[AnyQuestion],
    counts: str | None,
    releases: int | None,
    delta: str,
    error: str,
) -> Scenario:
    from leeward.engine import read_keys
    from leeward.session._standing import standing

    keys, windows = read_keys(queries[0]), len(queries)
    plans: Sequence[AnyPlan]
    try:
        plans = spec.plans()
    except RefusedError:  # which the comparison tells
        plans = []
    stands = standing(spec.ledger(), spec.notion(), plans, keys.digest(), rows=queries[0].of_rows)
    if releases is not None and releases < windows:
        raise InputError(
            f"--releases {releases}",
            f"the spec has {counted(windows, 'window')}, one release each",
            f"Give at least {windows}, or leave it out",
        )
    return Scenario(
        places=len(keys),
        counts=None if counts is None else read_counts(counts),
        releases=windows if releases is None else releases,
        delta=delta,
        assumed_error=error,
        counted_in=stands.counted_in,
        left=stands.left,
        answered=sum(stands.answered),
        left_delta=stands.left_delta,
        accept_useless=spec.query.accept_useless,
    )
