# SPDX-License-Identifier: Apache-2.0
"""How ε is shared between the counts and the bound on those left out: by the odds that a place with nobody is called safe.

Of the shares 1/20, …, 19/20 for the bound, the one with the best odds is taken, by exact comparison: so the same question
has the same noise on every machine. Odds near the best share hardly differ, and finer shares make longer fractions.
"""

from __future__ import annotations

import functools
from fractions import Fraction

import flint

from leeward.exact._real import Real
from leeward.mechanism._overshoot import Overshoot

SHARES = tuple(Fraction(j, 20) for j in range(1, 20))
"""The shares of ε that the bound on those left out may get."""


@functools.lru_cache(maxsize=256)
def best_share(counted: Real, left_out: Real, room: int) -> Fraction:
    """Return the share of ε for the bound on those left out with which a place with nobody is most often called safe.

    Args:
        counted: the rate of the counts' noise, if they had all of ε.
        left_out: the rate of the bound's noise, if it had all of ε.
        room: t − D, how much noise there may be; with less than none, the share for none is taken.
    """
    best, least = SHARES[0], None
    for share in _nearly_best(counted, left_out, max(room, 0) + 1):
        missed = Overshoot(counted * (1 - share), left_out * share).tail(max(room, 0) + 1)
        if least is None or missed < least:
            best, least = share, missed
    return best


_PRECISION = 96
"""Bits at which odds are enclosed: mostly enough to tell all shares apart, so that one alone is left to compare exactly."""


def _nearly_best(counted: Real, left_out: Real, k: int) -> list[Fraction]:
    """Return the shares of which enclosures of P(overshoot ≥ k), for k ≥ 1, do not show that another one is better.

    The formula is that of `Overshoot`, in ball arithmetic: where two rates are, or may be, the same, it divides by a ball
    that holds 0, which encloses nothing, and the share is kept.
    """
    with flint.ctx.workprec(_PRECISION):
        a, b = counted.arb(_PRECISION), left_out.arb(_PRECISION)
        odds = []
        for share in SHARES:
            part = flint.arb(flint.fmpq(share.numerator, share.denominator))
            up, over = -a * (1 - part), -b * part
            x, y = up.exp(), over.exp()
            odds.append(((over * (k + 1)).exp() * (1 - x) - (up * (k + 1)).exp() * (1 - y)) / (y - x))
        known = [each for each in odds if each.is_finite()]
        return [
            share
            for share, each in zip(SHARES, odds, strict=True)
            if not (each.is_finite() and any(other < each for other in known))
        ]
