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
    from leeward.spec._spec import Spec


def compared(
    spec: Spec,
    counts: str | None = None,
    releases: int | None = None,
    delta: str = "1e-6",
    error: str = "0.001",
    wish: tuple[int, str] = (0, "0.9"),
) -> AnyReport:
    """Compare ways to answer the one question of a spec; reads the public list and the ledger, never the data.

    What is given beside it is what the options of `leeward plan` say; by default there is one release a window.
    """
    from leeward.engine import read_keys
    from leeward.session._standing import standing

    queries = spec.counted()
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
    scenario = Scenario(
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
    ask: Any = compare  # whose overloads know no question of every kind
    return report_of(ask(spec.questions()[0], spec.notion(), **spec.asking(), scenario=scenario), *wish)
