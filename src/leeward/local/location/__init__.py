# SPDX-License-Identifier: Apache-2.0
"""Positions on the Earth: a public box, its local plane, planar Laplace noise in metres, tables, files and H3 cells.

The only layer that knows coordinate systems: pyproj, shapely and geopandas are imported here alone.
"""

from leeward.local.location._after import BayesRemap, PriorPlaces
from leeward.local.location._attacker import AttackerView
from leeward.local.location._box import Box
from leeward.local.location._compare import BestOverPlaces, compare_over_places
from leeward.local.location._documents import LocationStatement
from leeward.local.location._felt import Felt, PlaceRegion
from leeward.local.location._in_spark import perturb_in_spark
from leeward.local.location._over_places import ExponentialOverPlaces, OverPlaces
from leeward.local.location._own_reports import OwnReports
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._projection import LocalPlane
from leeward.local.location._terms import Compared
from leeward.local.location._tracks import TrackPlace, Tracks

__all__ = [
    "AttackerView",
    "BayesRemap",
    "BestOverPlaces",
    "Box",
    "Compared",
    "ExponentialOverPlaces",
    "Felt",
    "LocalPlane",
    "LocationStatement",
    "OverPlaces",
    "OwnReports",
    "PlaceRegion",
    "PlanarLaplace",
    "PriorPlaces",
    "TrackPlace",
    "Tracks",
    "compare_over_places",
    "perturb_in_spark",
]
