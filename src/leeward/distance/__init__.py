"""Directed distances, the one idea of the house, and their algebra (see `leeward.distance.directed`)."""

from leeward.distance.directed import (
    Derived,
    DirectedDistance,
    FiniteDistance,
    both_hold,
    comparable,
    listed,
    pull_back,
)
from leeward.distance.graph import graph_distance
from leeward.distance.line import Line
from leeward.distance.paths import common_unit
from leeward.distance.persons import SumOverPersons
from leeward.distance.plane import Plane

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
