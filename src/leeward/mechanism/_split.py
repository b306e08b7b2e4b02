# SPDX-License-Identifier: Apache-2.0
"""How ε is shared between the counts and the bound on those left out: by the odds that a place with nobody is called safe.

Of the shares 1/20, …, 19/20 for the bound, the one with the best odds is taken, by exact comparison: so the same question
has the same noise on every machine. Odds near the best share hardly differ, and finer shares make longer fractions.
"""

from __future__ import annotations

import functools
from fractions import Fraction

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
    for share in SHARES:
        missed = Overshoot(counted * (1 - share), left_out * share).tail(max(room, 0) + 1)
        if least is None or missed < least:
            best, least = share, missed
    return best
