# SPDX-License-Identifier: Apache-2.0
"""What else the price of a plan would buy, before it is paid.

Where a bound leaves people out, *safe* can be about those counted or about everyone. Several percentiles can be asked in
one release, or in one of each.
"""

from __future__ import annotations

from dataclasses import replace

from leeward._plain import short_percent
from leeward.errors import LeewardError
from leeward.exact._real import ZERO
from leeward.exact._weight import Weight
from leeward.mechanism import RankSelection
from leeward.planner._everyone import About
from leeward.planner._plan import Plan, plan_decisions
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.planner._selection_plan import AnyPlan
from leeward.query._numeric import Percentile

_MOST = 6


def same_price(made: AnyPlan) -> list[tuple[str, str]]:
    """Say what else the price of a plan would buy, as terms and their values; nothing where it buys nothing else."""
    return both_promises(made) if isinstance(made, Plan) else joint_or_each(made)


def both_promises(made: Plan) -> list[tuple[str, str]]:
    """Return how often a place with nobody is called safe of those counted, and of everyone, as terms and their values.

    Nothing where nobody is left out, nothing is called safe, or only one of the two can be had.
    """
    if not made.query.truncates:
        return []
    counted, everyone = _about(made, "counted"), _about(made, "everyone")
    if counted is None or everyone is None or counted.sanitizer is None or everyone.sanitizer is None:
        return []
    odds = everyone.safe_if_left_out()[:_MOST]
    numbers = ", ".join(map(str, range(len(odds))))
    return [
        ("of those counted", _called([counted.sanitizer.probability(0)])),
        ("of everyone", f"{_called(list(odds))} if at most {numbers} of those there are left out at any one place"),
    ]


def _called(odds: list[Weight]) -> str:
    return f"a place where nobody was is called safe with {', '.join(short_percent(p) for p in odds)}"


def _about(made: Plan, about: About) -> Plan | None:
    """Return the plan with one of the two promises; None where it cannot be had."""
    if made.about == about:
        return made
    try:
        return plan_decisions(made.query, made.notion, replace(made.how, about=about, left_out=0))
    except LeewardError:
        return None


def one_each(made: AnyPlan) -> RankPlan | None:
    """Return the plan as it would be with a release of each percentile, ε divided so that all have one rate.

    With the rates r_i of each for the whole of ε, that is the rate 1/Σ(1/r_i): the i-th then costs its part of ε. Any other
    division makes one of the rates smaller, and the largest of the errors larger. None where it is not about several
    percentiles by rank, or the rate has no closed form.
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
