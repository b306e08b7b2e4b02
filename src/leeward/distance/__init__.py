# SPDX-License-Identifier: Apache-2.0
"""Directed distances, the one idea of Leeward, and their algebra (see `leeward.distance._directed`)."""

from leeward.distance._directed import (
    Derived,
    DirectedDistance,
    FiniteDistance,
    both_hold,
    comparable,
    listed,
    pull_back,
)
from leeward.distance._graph import graph_distance
from leeward.distance._line import Line
from leeward.distance._paths import common_unit
from leeward.distance._persons import SumOverPersons
from leeward.distance._plane import Plane

__all__ = [
    "Derived",
    "DirectedDistance",
    "FiniteDistance",
    "Line",
    "Plane",
    "SumOverPersons",
    "both_hold",
    "common_unit",
    "comparable",
    "graph_distance",
    "listed",
    "pull_back",
]
