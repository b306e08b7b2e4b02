# SPDX-License-Identifier: Apache-2.0
"""A whole curve of certain bounds on how many have at least a number: a histogram with one-sided noise, read from the top.

Theorem. Let every count of a histogram of a number have noise of its own that is never negative. Then for every interval,
the sum of its noisy count and those of all intervals above it is never below how many are in these intervals, which is how
many have a number from its lower end on (from the lowest interval on, all who have one). It costs what the histogram costs.

Proof. A sum of numbers that are never too low is never too low; sums of what is published are post-processing.

The counts of several groups are histograms of their own, each person being in one group, so each has such a curve, and all
of them cost one ε together.

Theorem. Under addition-only no mechanism says of a number z that at most a share s < 1 of the people are above it, without
ever being wrong, unless nobody is above z; under removal-only none does unless nobody can be. So what may be certain of a
percentile is about a public number of people: "at most t are above z", as `leeward.query._levels` asks it.

Proof. An answer that a table gives with positive probability is given by every table that its people can be withdrawn to
(whatever ε is). Withdraw all who are at z or below: of those who are left, if any, all are above z, which is more than the
share s. Under removal-only invent enough people above z. "At most t" stays true where people are withdrawn.

Such a sum of i counts is too high by a sum of i independent geometric numbers, which is a negative binomial number. A noisy
count for every level would need noise at ε/m for m levels, because withdrawing one person may lower all of them.
"""

from __future__ import annotations

import flint

from leeward._integers import least
from leeward.planner._number_plan import NumberPlan


def gives_curve(plan: NumberPlan) -> bool:
    """Whether a release gives such a curve: a histogram of a number whose counts are never too low."""
    query = plan.query
    return query.kind == "histogram" and query.values is not None and plan.parts[0].law.down.is_infinite


def too_high(plan: NumberPlan, intervals: int) -> int:
    """Return by how much the bound over so many intervals is too high at most, with probability at least 95 %."""
    with flint.ctx.workprec(_BITS):
        stays = 1 - (-plan.parts[0].law.up.arb(_BITS)).exp()  # the chance that a count has no noise

    def enough(most: int) -> bool:
        """Whether a negative binomial number is at most so large with probability at least 95 %."""
        with flint.ctx.workprec(_BITS):
            return bool(stays.beta_lower(intervals, most + 1, regularized=True) >= flint.arb("0.95"))

    return least(enough)


_BITS = 96
