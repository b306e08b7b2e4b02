# SPDX-License-Identifier: Apache-2.0
"""The universally optimal mechanism of a path whose steps cost what they like: best for every prior and every monotone loss.

Answers 0, 1, …, n; the step from i to i+1 costs a up and b down, each in (0, ∞], and distances add up along the path. At an
optimum for a strict loss each two adjacent rows have a column t such that all columns before it fall as fast as a allows, by
e^{−a}, and all after it grow as fast as b allows, by e^b (docs/theorem.md, step 1). So for the shares F of columns up to r

    F_{i+1}(r) = g(F_i(r)),    g(u) = max(e^{−a}·u, 1 − e^b·(1 − u)),

which bends at u = φ = (1 − e^{−b})/(1 − e^{−a−b}). Hence every such optimum comes from one mechanism, with outputs u in
[0, 1] and Pr[≤ u | i] = g_{i−1}(…g_0(u)), by cutting [0, 1] into one interval a guess. Its densities are constant between
bends, so that n + 1 intervals will do for its outputs: each step cuts at the share φ of its row, lets what is before shrink
and what is after grow. Where b is ∞ all shrinks, and what is missing is a new interval at the end.
"""

from __future__ import annotations

import itertools
from typing import Any

from leeward.distance import FiniteDistance
from leeward.exact._real import Real
from leeward.exact._weight import Weight, exp, exp_minus, weight
from leeward.mechanism import FiniteMechanism


def is_path(distance: FiniteDistance[Any]) -> bool:
    """Whether the points in their order are a path: the distance between any two is the sum of the steps between them."""
    points = distance.points
    for start in range(len(points)):
        for step, order in ((1, range(start + 1, len(points))), (-1, range(start - 1, -1, -1))):
            far = distance(points[start], points[start])
            for at in order:
                far += distance(points[at - step], points[at])
                if far != distance(points[start], points[at]):
                    return False
    return True


def path_mechanism(distance: FiniteDistance[Any]) -> FiniteMechanism:
    """Return the mechanism of a path, exact; its outputs are named after the points, in their order, and may be remapped.

    Where the path has a Laplace mechanism it is that one: on q[0..k] the truncated geometric mechanism.

    Args:
        distance: of a path, 0 both ways where it is 0 one way.
    """
    points = distance.points
    columns: list[list[Weight]] = [[weight(1)]]
    for here, there in itertools.pairwise(points):
        up, down = distance(here, there), distance(there, here)
        columns = _step(columns, up, down)
    return FiniteMechanism(points, points, list(zip(*columns, strict=True)))


def _step(columns: list[list[Weight]], up: Real, down: Real) -> list[list[Weight]]:
    """Add a row, and cut one column in two where the row before it has reached the share that may fall."""
    falls = exp_minus(up)
    if not up:  # and so the way back: rows at distance 0 are equal; an empty column keeps their number
        return [[*column, column[-1]] for column in (*columns, [weight(0)] * len(columns[0]))]
    if down.is_infinite:
        new = [weight(0)] * len(columns[0])
        return [*([*column, column[-1] * falls] for column in columns), [*new, 1 - falls]]
    grows = exp(down)
    left = (1 - exp_minus(down)) / (1 - falls * exp_minus(down))
    place = 0
    while columns[place][-1] < left:
        left, place = left - columns[place][-1], place + 1
    share = left / columns[place][-1]
    first, second = [p * share for p in columns[place]], [p * (1 - share) for p in columns[place]]
    shrinking, growing = [*columns[:place], first], [second, *columns[place + 1 :]]
    return [[*column, column[-1] * falls] for column in shrinking] + [
        [*column, column[-1] * grows] for column in growing
    ]
