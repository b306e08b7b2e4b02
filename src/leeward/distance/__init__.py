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
from leeward.distance._elastic import elastic_distance
from leeward.distance._graph import graph_distance
from leeward.distance._line import Line
from leeward.distance._paths import common_unit
from leeward.distance._persons import SumOverPersons
from leeward.distance._plane import Plane
from leeward.distance._regions import Region, region_distance
from leeward.distance._whole_lengths import whole_lengths

__all__ = [
    "Derived",
    "DirectedDistance",
    "FiniteDistance",
    "Line",
    "Plane",
    "Region",
    "SumOverPersons",
    "both_hold",
    "common_unit",
    "comparable",
    "elastic_distance",
    "graph_distance",
    "listed",
    "pull_back",
    "region_distance",
    "whole_lengths",
]
