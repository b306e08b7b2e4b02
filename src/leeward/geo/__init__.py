"""Positions on the Earth: a public box, its local plane, planar Laplace noise in metres, tables, files and H3 cells.

The only floor that knows coordinate systems: pyproj, shapely and geopandas are imported here alone.
"""

from leeward.geo.best import BestOverPlaces, compare_over_places
from leeward.geo.box import Box
from leeward.geo.planar_laplace import PlanarLaplace
from leeward.geo.projection import LocalPlane
from leeward.geo.remap import BayesRemap, Places
from leeward.geo.terms import Compared

__all__ = [
    "BayesRemap",
    "BestOverPlaces",
    "Box",
    "Compared",
    "LocalPlane",
    "Places",
    "PlanarLaplace",
    "compare_over_places",
]
