# SPDX-License-Identifier: Apache-2.0
"""How likely so many of many independent events are, to about twelve digits, however many there are.

Pr[at least a of n] = I_x(a, b), b = n − a + 1, the regularised incomplete beta function at the chance x of one event: by its
continued fraction (DLMF 8.17.22) where x is below (a + 1)/(a + b + 2), and as what is left by that of the complement, with
1 − x, elsewhere. Arb has the function too, but for long lists it takes seconds and is sure of no digit.
"""

from __future__ import annotations

import itertools

import flint

_BITS = 128
_EXACT = 1e-15


def at_least(least: int, of: int, chance: float, rest: float) -> float:
    """Return the probability of at least so many of so many independent events, 1 ≤ least ≤ of.

    Args:
        least: a.
        of: n.
        chance: of each event, above 0 and below 1.
        rest: 1 − chance, which a chance near 1 does not say in all its digits.
    """
    a, b = least, of - least + 1
    if chance * (a + b + 2) > a + 1:
        return 1 - at_least(b, of, rest, chance)
    with flint.ctx.workprec(_BITS):
        beta = flint.arb(a).lgamma() + flint.arb(b).lgamma() - flint.arb(a + b).lgamma()
        front = float((a * flint.arb(chance).log() + b * flint.arb(rest).log() - beta).exp() / a)
    value = upper = 1.0
    lower = 0.0
    for k in itertools.count(1):  # Lentz's algorithm
        m = k // 2
        if k % 2:
            term = -chance * (a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = chance * m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
        lower, upper = 1 / (1 + term * lower), 1 + term / upper
        value *= lower * upper
        if abs(lower * upper - 1) < _EXACT:
            break
    return front / value
