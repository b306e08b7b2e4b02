# SPDX-License-Identifier: Apache-2.0
"""Elastic distances: lengths that count for less where there is little to hide among.

K. Chatzikokolakis, C. Palamidessi, M. Stronati, *Constructing elastic distinguishability metrics for location privacy*, PETS
2015. Two people a street apart in a city have thousands to hide among, two in a village have a barn. So a distance is wanted
under which each place finds enough *mass* near it: for a level m of the distance, a ball of radius m holds mass of at least
a requirement that grows as the square of m, as it does where the mass is spread evenly (their Section 4.2).

The rule, with a direction. w(y) ≥ 0 is the public weight of the point y, and ``required(m) = least·(m/within)²`` what a
point is to find within m. From x to y costs, in one step, the smaller of

* the length from x to y, in whole units rounded down;
* the least whole m ≥ 1 with required(m) > the weight of all points that lie strictly nearer to x than y does, x included: so
  long as these are too few, y is wanted.

The distance is the cost of the cheapest walk. What it has, by construction:

1. it is a directed distance, in whole units, at most the length: nobody is protected less than by the length itself;
2. for every point x and every whole m ≥ 0 the points y with d(x → y) ≤ m weigh together min(required(m), Σ w) at least. For
   let y be wanted at m if the points nearer to x than y weigh less than required(m). Then its step costs at most m, and the
   points that are wanted weigh together at least required(m), or are all.

The paper draws edges at random where points are equally near, symmetric ones, until the requirement holds; here ties are
taken together, and a village may pass as the town without the town passing as the village at the same cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from leeward._taught import public_list, taught
from leeward.distance._directed import FiniteDistance
from leeward.distance._plane import Norm
from leeward.distance._whole_lengths import Lengths, rational
from leeward.errors import InputError
from leeward.exact._real import Exact


@taught
def elastic_distance(
    points: Iterable[Any], weights: Sequence[Exact], *, within: Exact, least: Exact, norm: Norm = "euclidean"
) -> FiniteDistance[Any]:
    """Return the elastic distance of a public density, in whole units such as metres; `scale` by ε makes it a promise.

    Args:
        points: pairs of exact rationals, such as metres; distinct.
        weights: of each point, a rational of at least 0, such as the people who live there. Public.
        within: the length for which ``least`` is said.
        least: weight that each point is to find within ``within`` of it, above 0; within twice that 4 times as much,
            and so on.
        norm: of lengths, ``"euclidean"`` or ``"manhattan"``.

    Raises:
        InputError: for malformed points or numbers, or another number of weights.
    """
    lengths = Lengths(points, norm)
    mass = [rational(weight, "a weight") for weight in public_list("weights", weights, in_order=True)]
    if len(mass) != len(lengths.points):
        raise InputError(f"{len(mass)} weights of {len(lengths.points)} points", "each point has one", "Give as many")
    needed, length = rational(least, "least"), rational(within, "within")
    if not needed or not length:
        raise InputError(
            "least = 0, or within = 0", "it asks for nothing", "Give numbers above 0, or take whole_lengths"
        )
    parts = math.lcm(*(each.denominator for each in mass))
    counted = [int(each * parts) for each in mass]
    area = length**2 / (needed * parts)  # m² is needed for each part of a unit of weight
    steps = []
    for squares, direct in zip(lengths.squares, lengths.whole(), strict=True):
        nearer, costs, before = 0, list(direct), 0
        order = sorted(range(len(squares)), key=squares.__getitem__)
        for place, y in enumerate(order):
            if place and squares[y] > squares[order[place - 1]]:
                before = nearer
            nearer += counted[y]
            costs[y] = min(costs[y], math.isqrt(before * area.numerator // area.denominator) + 1)
        steps.append(costs)
    return FiniteDistance.closed(lengths.points, steps)
