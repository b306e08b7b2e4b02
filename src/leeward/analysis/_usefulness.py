# SPDX-License-Identifier: Apache-2.0
"""(α, δ)-usefulness: an answer within α of the truth with probability at least 1 − δ (Blum, Ligett, Roth 2008).

d-privacy draws its Figure 3 with it: for the earliest of some dates in 0..5000, ε·d_h forces noise of rate ε/5000 and
(ε/5)·d_1 noise of rate ε/5; at the same ε the second is useful within days, the first within years.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from leeward._integers import least
from leeward.analysis._loss import absolute
from leeward.errors import InputError
from leeward.exact._real import Exact, exact
from leeward.exact._weight import Weight, weight, weighted_sum
from leeward.mechanism import FiniteMechanism, Geometric


def usefulness(mechanism: Geometric | FiniteMechanism, alpha: Exact) -> Weight:
    """Return the least δ for which the mechanism is (α, δ)-useful, exact.

    Args:
        mechanism: a `Geometric`, whose noise before clamping is meant (clamping brings no answer further from a truth
            within the bounds), or the matrix of a mechanism on numbers, for its worst secret.
        alpha: how far an answer may be off, in units of the answer.
    """
    radius = _radius(alpha)
    if isinstance(mechanism, Geometric):
        step = mechanism.step.rational
        if step is None:
            raise InputError(f"step = {mechanism.step}", "the grid has no rational step", "Give α in rational steps")
        steps = math.floor(radius / step)
        return 1 - mechanism.accuracy().within(steps)
    worst = weight(0)
    for secret in mechanism.inputs:
        row = mechanism.row(secret).items()
        worst = max(worst, weighted_sum((p, 1) for z, p in row if absolute(secret, z) > radius))
    return worst


def usefulness_curve(
    mechanism: Geometric | FiniteMechanism, alphas: Iterable[Exact]
) -> tuple[tuple[Fraction, Weight], ...]:
    """Return the pairs (α, δ) of Figure 3."""
    return tuple((_radius(alpha), usefulness(mechanism, alpha)) for alpha in alphas)


def useful_within(mechanism: Geometric, delta: Weight | Exact) -> Fraction:
    """Return the least α for which the mechanism is (α, δ)-useful, in units of the answer.

    Raises:
        InputError: if δ is not above 0 and below 1.
    """
    allowed, step = weight(delta), mechanism.step.rational
    if not 0 < allowed < 1 or step is None:
        raise InputError(f"delta = {delta}", "no finite α serves it", "Give δ above 0 and below 1")
    return least(lambda steps: usefulness(mechanism, steps * step) <= allowed) * step


def _radius(alpha: Exact) -> Fraction:
    radius = exact(alpha).rational
    if radius is None or radius < 0:
        raise InputError(f"alpha = {alpha}", "a distance is a rational of at least 0", "Give α ≥ 0")
    return radius
