"""Frozen descriptions of what is asked: no data, no noise, and none of the heavy libraries."""

from leeward.query.expansive import Expansion, expansion, expansive_chain, in_class_c, induced_edges, pushed
from leeward.query.numeric import Mean, Numeric, Percentile, Sum, maximum, median, minimum, percentile
from leeward.query.sampling import PoissonSampling
from leeward.query.source import Grid, Places, Visits, grid, places, visits
from leeward.query.table import Source
from leeward.query.visitors import CountVisitors, IfMore, Window, count_visitors, moment

__all__ = [
    "CountVisitors",
    "Expansion",
    "Grid",
    "IfMore",
    "Mean",
    "Numeric",
    "Percentile",
    "Places",
    "PoissonSampling",
    "Source",
    "Sum",
    "Visits",
    "Window",
    "count_visitors",
    "expansion",
    "expansive_chain",
    "grid",
    "in_class_c",
    "induced_edges",
    "maximum",
    "median",
    "minimum",
    "moment",
    "percentile",
    "places",
    "pushed",
    "visits",
]
