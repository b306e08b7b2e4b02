"""Positions on the Earth: a public box, its local plane, planar Laplace noise in metres, tables, files and H3 cells.

The only floor that knows coordinate systems: pyproj, shapely and geopandas are imported here alone.
"""

from leeward.geo.box import Box
from leeward.geo.planar_laplace import PlanarLaplace
from leeward.geo.projection import LocalPlane

__all__ = ["Box", "LocalPlane", "PlanarLaplace"]
