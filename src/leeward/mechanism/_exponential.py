# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism of a directed distance, with its true price: the general fallback.

``Pr[z | y] = e^{−s·d(z → y)}/S(y)``, ``S(y) = Σ_z e^{−s·d(z → y)}``, exists on every finite space (McSherry, Talwar 2007).
Because its rows are normalised one by one it is *not* s·d-private. The largest ratio of rows y and y' is at the output y
itself, ``e^{s·d(y → y')}·S(y')/S(y)``, so it is c·d-private for exactly

    c = max over y ≠ y' of  s + ln(S(y')/S(y)) / d(y → y').

For a metric c ≤ 2s. On the answers 0..4 with d = Line(∞, 1) and s = 1 it is 1.313.
"""

from __future__ import annotations

from typing import Any

import flint

from leeward._integers import least_between
from leeward.distance import FiniteDistance, listed
from leeward.errors import RefusedError
from leeward.exact._real import Exact, Real, exact, outward, positive
from leeward.exact._weight import exp_minus, weighted_sum
from leeward.mechanism._finite import FiniteMechanism

PRECISION = 128
HALVINGS = 20


def exponential_mechanism(distance: FiniteDistance[Any], scale: Exact = "1/2") -> FiniteMechanism:
    """Return the exponential mechanism with weights e^{−scale·d}; `true_scale` says how private it is."""
    near = [exp_minus(value * exact(scale)) for value in distance.values]
    rows = []
    for y in range(len(distance.points)):
        column = distance.codes[:, y].tolist()
        total = weighted_sum((near[code], 1) for code in column)
        rows.append([near[code] / total for code in column])
    return FiniteMechanism(distance.points, distance.points, rows)


def true_scale(distance: FiniteDistance[Any], scale: Exact = "1/2") -> tuple[float, float]:
    """Return floats (lower, upper) that enclose the least c for which the exponential mechanism is c·d-private."""
    s = positive(scale, "scale")
    sums = _sums(distance, s)
    worst = flint.arb(0)
    finite = [(code, value) for code, value in enumerate(distance.values) if not value.is_infinite and value]
    zero = {code for code, value in enumerate(distance.values) if not value}
    with flint.ctx.workprec(PRECISION):
        rate = s.arb(PRECISION)
        far = {code: value.arb(PRECISION) for code, value in finite}
        for y, row in enumerate(distance.codes.tolist()):
            for other, code in enumerate(row):
                if code in far:
                    worst = worst.max(rate + (sums[other] - sums[y]) / far[code])
                elif code in zero and y != other and not (sums[other] - sums[y]).contains(0):
                    return float("inf"), float("inf")
    return outward(worst)


def exponential_fallback(distance: FiniteDistance[Any]) -> tuple[FiniteMechanism, Real]:
    """Return a d-private exponential mechanism and its scale: the largest multiple of 2^−20 found that is proved private.

    Raises:
        InputError: if the distance has not its points listed.
        RefusedError: if no scale is: where ∞ leaves some points far fewer alternatives than others.
    """
    distance = listed(distance)
    best = least_between(lambda steps: true_scale(distance, _dyadic(steps))[1] > 1, 0, 2 << HALVINGS) - 1
    if not best:
        raise RefusedError(
            f"An exponential mechanism on {distance}",
            "at every scale some row is normalised too differently from the next",
            "Use optimal(...) for a prior and a loss",
        )
    return exponential_mechanism(distance, _dyadic(best)), _dyadic(best)


def _dyadic(steps: int) -> Real:
    return exact(steps) / (1 << HALVINGS)


def _sums(distance: FiniteDistance[Any], scale: Real) -> list[Any]:
    """Return ln S(y) for every point, as Arb balls."""
    with flint.ctx.workprec(PRECISION):
        near = [flint.arb(0) if v.is_infinite else (-(v * scale).arb(PRECISION)).exp() for v in distance.values]
        return [sum((near[code] for code in column), flint.arb(0)).log() for column in distance.codes.T.tolist()]
