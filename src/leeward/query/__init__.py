"""Frozen descriptions of what is asked: no data, no noise, and none of the heavy libraries."""

from leeward.query.sampling import PoissonSampling
from leeward.query.source import Grid, Places, Visits, grid, places, visits
from leeward.query.visitors import CountVisitors, IfMore, Window, count_visitors, moment

__all__ = [
    "CountVisitors",
    "Grid",
    "IfMore",
    "Places",
    "PoissonSampling",
    "Visits",
    "Window",
    "count_visitors",
    "grid",
    "moment",
    "places",
    "visits",
]
