# SPDX-License-Identifier: Apache-2.0
"""Distances induced by a graph: the cost of the cheapest walk (Chatzikokolakis et al., Section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from leeward._taught import in_order, taught
from leeward.distance._directed import FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import Exact, exact, inf

S = TypeVar("S")


@taught
def graph_distance(
    points: Iterable[S], edges: Iterable[tuple[S, S]] | Mapping[tuple[S, S], Exact], *, directed: bool
) -> FiniteDistance[S]:
    """Return the cost of the cheapest walk from each point to each other; ∞ where none leads there.

    Args:
        points: the nodes.
        edges: pairs (from, to), each of cost 1, or a mapping from pairs to exact costs of at least 0.
        directed: whether an edge leads one way only. There is no default: direction is what Leeward is about.

    Raises:
        InputError: if an edge names an unknown point, or a cost is below 0.
    """
    points = in_order("points", points)
    row = {point: index for index, point in enumerate(points)}
    costs = edges if isinstance(edges, Mapping) else dict.fromkeys(edges, 1)
    steps = [[inf] * len(points) for _ in points]
    for (x, y), cost in costs.items():
        if x not in row or y not in row:
            raise InputError(
                "An edge to an unknown point", "every end must be one of the points", "Add it to the points"
            )
        for a, b in ((x, y),) if directed else ((x, y), (y, x)):
            steps[row[a]][row[b]] = min(steps[row[a]][row[b]], exact(cost))
    return FiniteDistance.closed(points, steps)
