# SPDX-License-Identifier: Apache-2.0
"""A statistic planned by the mechanism that is asked for, or by the better one of two, told from public things alone.

A percentile may be released by rank, or with noise on the percentile itself. The error of the first is a number of people,
the error of the second an amount of what is asked about; how much that is in people depends on the data. So both are set on
one scale by a public convention: as if so many people as are publicly known, or else `ASSUMED` in each group, were spread
evenly over the range. Then k of n people stand on k/n of the range. The one with the smaller error, kept with probability
95 %, is taken, and noise on the percentile where they are equal: at so large an ε both are 0, and it is then exact. People
crowd where percentiles are asked for more often than not, which
makes answers by rank nearer than that; the data are never looked at.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

from leeward.errors import InputError, NoiseError, NotPrivateError, check_choice
from leeward.notion import Notion
from leeward.planner._number_plan import NumberPlan, plan_number
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.query._numeric import Percentile
from leeward.query._statistic import Statistic

PercentileMechanism = Literal["auto", "rank", "geometric"]
"""How a percentile is released: by rank, with geometric noise on it, or as is better."""

ASSUMED = 1_000
"""People a group, where it is not public how many there are: for choosing between mechanisms, and for nothing else."""


def plan_statistic(query: Statistic, notion: Notion, mechanism: PercentileMechanism = "auto") -> NumberPlan | RankPlan:
    """Plan the release of a statistic: free, and private of nothing because it reads no data."""
    check_choice("mechanism", mechanism, get_args(PercentileMechanism), error=InputError)
    if query.levels:
        raise InputError(
            f"How many {query.many} are above each level, as numbers",
            "what is derived for levels is of which it is certain that few are above them",
            "Give safe_at_most: how many may be above a level that is called safe",
        )
    if not isinstance(query.numeric, Percentile):
        if mechanism != "auto":
            raise InputError(
                f'mechanism = "{mechanism}" for a {query.kind}',
                "only a percentile can be released in more than one way",
                "Leave it out",
            )
        return plan_number(query, notion)
    if mechanism == "auto":
        return _better(query, notion)
    return plan_rank(query, notion) if mechanism == "rank" else plan_number(query, notion)


def _better(query: Statistic, notion: Notion) -> NumberPlan | RankPlan:
    try:
        ranked = plan_rank(query, notion)
    except (NotPrivateError, InputError):  # such as a p of more digits than ranks are told apart in
        return plan_number(query, notion)
    try:
        noisy = plan_number(query, notion)
    except (NotPrivateError, NoiseError):  # so wide a range that its noise does not fit in 64 bits
        return ranked
    assert query.values is not None
    spread = float(query.values.width) * ranked.reach(Fraction(1, 20)) / (query.people or ASSUMED)  # if evenly
    # neither is cut to what the range allows: of two that say little, the one with less noise is taken
    return ranked if spread < noisy.noise_within_95_percent else noisy
