# SPDX-License-Identifier: Apache-2.0
"""What ε means as a risk: how far a bettor who knows everyone else can move towards certainty about one person.

Of two cases of which the first is at most e^ε times as likely to give any answer as the second, the odds of the first grow
by at most the factor e^ε, whatever is published: a belief of p becomes at most p·e^ε / (1 − p + p·e^ε). This is the promise
itself, with Bayes' rule (Dwork and Roth 2014, after Definition 2.4).
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Final

from leeward._plain import own_decimals, percent
from leeward.exact._real import Exact
from leeward.exact._weight import exp, weight

PRIORS: Final = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""Beliefs before the answer for which the risk is shown."""


@own_decimals()
def belief_at_most(prior: Fraction, epsilon: Exact) -> Decimal:
    """Return the most that a belief can become, rounded up in the sixth digit: a probability.

    Args:
        prior: the belief before the answer, between 0 and 1.
        epsilon: of the promise.
    """
    grown = exp(epsilon) * prior
    _, most = (grown / (grown + weight(1 - prior))).bounds()
    return Decimal(most).quantize(Decimal("1e-6"), ROUND_CEILING) if most < 1 else Decimal(1)


def risks(epsilon: Exact) -> list[tuple[str, str, int]]:
    """Return beliefs before and at most after, in percent, and the second in whole percents for a bar."""
    found = [(prior, belief_at_most(prior, epsilon)) for prior in PRIORS]
    return [
        (percent(str(float(prior))), percent(after, ROUND_CEILING), round(float(after) * 100)) for prior, after in found
    ]
