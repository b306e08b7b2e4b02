# SPDX-License-Identifier: Apache-2.0
"""The comparison of notions and mechanisms for one spec, of whatever kind its question is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leeward._plain import counted
from leeward.errors import InputError, RefusedError
from leeward.planner._compare import Scenario
from leeward.planner._expected import read_counts
from leeward.planner._side_by_side import AnyReport, compare, report_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leeward.planner._selection_plan import AnyPlan
    from leeward.query._unlisted_groups import AnyQuestion
    from leeward.spec._spec import Spec


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
    """
    ask: Any = compare  # whose overloads know no question of every kind
    scenario = _scenario(spec, spec.counted(), counts, releases, delta, error)
    return report_of(ask(spec.questions()[0], spec.notion(), **spec.asking(), scenario=scenario), *wish)


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
