# SPDX-License-Identifier: Apache-2.0
"""Several percentiles in one release, or one release of each at the same price: which is nearer, before either is paid."""

from __future__ import annotations

from dataclasses import replace

from leeward.errors import LeewardError
from leeward.exact._real import ZERO
from leeward.mechanism import RankSelection
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.planner._selection_plan import AnyPlan
from leeward.query._numeric import Percentile


def one_each(made: AnyPlan) -> RankPlan | None:
    """Return the plan as it would be with a release of each percentile, ε divided so that all have one rate.

    With the rates r_i of each for the whole of ε, that is the rate 1/Σ(1/r_i): the i-th then costs its part of ε. Any other
    division makes one of the rates smaller, and the largest of the errors larger.

    Returns:
        The plan, whose rate is no larger than that of one release of all; None where it is not about several percentiles
        by rank, or the rate has no closed form.
    """
    if not isinstance(made, RankPlan) or not made.query.ps:
        return None
    assert isinstance(made.query.numeric, Percentile)
    shares = ZERO
    try:
        for p in made.query.ps:
            alone = replace(made.query, numeric=replace(made.query.numeric, p=p), ps=())
            shares += 1 / plan_rank(alone, made.notion).mechanism.rate
        return replace(made, mechanism=RankSelection(1 / shares, made.mechanism.p))
    except LeewardError:
        return None


def joint_or_each(made: AnyPlan) -> list[tuple[str, str]]:
    """Say how near the answers of one release of all percentiles are, beside those of one release of each, as facts."""
    apart = one_each(made)
    if apart is None:
        return []
    assert isinstance(made, RankPlan)
    joint, each, many = made.accuracy().within_95_percent, apart.accuracy().within_95_percent, made.query.many
    between = f"{many} between an answer and the exact percentile, with 95 %"
    return [
        ("in one release", f"at most {joint:,} {between}"),
        ("one release of each", f"at most {each:,}, at the same price in all, divided as well as it can be"),
    ]
