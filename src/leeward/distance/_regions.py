# SPDX-License-Identifier: Apache-2.0
"""Policies of regions: a hospital is to pass as anything within a kilometre, and a street as usual.

A region is a public set of points. From a point of the region to any point within its reach it costs a fixed amount, or the
usual distance where that is less. What the other way costs, from outside into the region, is said by ``back``:

* ``"usual"``: the usual distance. Who is at the hospital may pass as somebody in a street a kilometre away; two streets on
  its two sides are at most as far apart as the usual way to the hospital, and that amount;
* ``"alike"``: as the way out, so that all points within reach of one of its points are within twice that amount of one
  another: the streets around are blurred too;
* ``"never"``: ∞. Who is outside need not pass as somebody inside, and reports may rule it out: what one-sided differential
  privacy calls non-sensitive (ADP, Definition II.4, with the region as what is sensitive).

The distance is the cost of the cheapest walk; under ``"never"`` no walk leads from outside into the region.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from leeward._taught import taught
from leeward.distance._directed import FiniteDistance
from leeward.distance._plane import Norm
from leeward.distance._whole_lengths import Lengths, rational, whole_lengths
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, Real, exact, inf

Back = Literal["usual", "alike", "never"]
"""What it costs to pass from outside a region as inside."""


@taught
@dataclass(frozen=True)
class Region:
    """A public set of points, and what passing out of it costs.

    Args:
        members: its points.
        within: how far a point of it may pass as any other, a length, rational.
        counts_as: the length that this counts as, at least 0, rational; in units of the usual distance.
        back: what the other way costs.

    Raises:
        InputError: for lengths that are none; or ``counts_as = 0`` with ``back`` not ``"alike"``.
    """

    members: Collection[Any]
    within: Exact
    counts_as: Exact
    back: Back = "usual"

    def __post_init__(self) -> None:
        check_choice("back", self.back, get_args(Back), "it is not an option")
        reach, cost = rational(self.within, "within"), rational(self.counts_as, "counts_as")
        if not reach:
            raise InputError("within = 0", "the region would pass as nothing else", "Give a length above 0")
        if not cost and self.back != "alike":
            raise InputError(
                f'counts_as = 0 with back = "{self.back}"',
                "rows of equal chances are equal both ways, for each sums to 1: no one-sided promise has cost 0",
                'Give a length above 0, or back = "alike"',
            )
        self.__dict__.update(within=reach, counts_as=cost)


@taught
def region_distance(
    points: Iterable[Any],
    regions: Iterable[Region],
    *,
    usual: FiniteDistance[Any] | None = None,
    norm: Norm = "euclidean",
) -> FiniteDistance[Any]:
    """Return the distance of policies about regions; `scale` by ε makes it a promise.

    Args:
        points: pairs of exact rationals, such as metres; distinct.
        regions: the policies. Where several speak of a pair, it costs the least of what they say, except that none makes
            passing into a region with ``back = "never"`` finite.
        usual: the distance of all other pairs on the same points; by default `whole_lengths`.
        norm: of the lengths ``within``.

    Raises:
        InputError: for malformed points, or members that are none of them.
    """
    lengths = Lengths(points, norm)
    base = whole_lengths(lengths.points, norm) if usual is None else usual
    row = {point: at for at, point in enumerate(lengths.points)}
    steps: list[list[Real]] = [[base(x, y) for y in lengths.points] for x in lengths.points]
    regions = tuple(regions)
    inside = []
    for region in regions:
        members = {row[point] for point in region.members if point in row}
        if len(members) < len(set(region.members)) or not members:
            raise InputError(
                "A region with no member, or with one that is not a point", "it is a set of the points", "Correct it"
            )
        inside.append(members)
    for region, members in zip(regions, inside, strict=True):
        cost = exact(region.counts_as)
        for x in members:
            for y, near in enumerate(lengths.reached(x, rational(region.within, "within"))):
                if near:
                    steps[x][y] = min(steps[x][y], cost)
                    if region.back == "alike":
                        steps[y][x] = min(steps[y][x], cost)
    for region, members in zip(regions, inside, strict=True):
        if region.back == "never":
            for y in set(range(len(steps))) - members:
                for x in members:
                    steps[y][x] = inf
    return FiniteDistance.closed(lengths.points, steps)
