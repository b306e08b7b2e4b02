# SPDX-License-Identifier: Apache-2.0
"""Frozen descriptions of what is asked: no data, no noise, and none of the heavy libraries."""

from leeward.query._counting import CountWhere, Domain, Histogram, Linear, SumOf, SumOverPeople
from leeward.query._effect import Effect, Query
from leeward.query._numeric import Mean, Numeric, Percentile, Sum, maximum, median, minimum, percentile
from leeward.query._records import Records, records
from leeward.query._sampling import PoissonSampling
from leeward.query._selection import Selection, select
from leeward.query._sensitivity import (
    Sensitivity,
    rank_rate,
    rate_between,
    sensitivity,
    sensitivity_each,
    sensitivity_lines,
)
from leeward.query._source import Grid, Places, Visits, grid, places, visits
from leeward.query._spread import Variance
from leeward.query._statistic import Statistic, statistic
from leeward.query._table import Source
from leeward.query._unlisted_groups import UnlistedGroups, unlisted_groups
from leeward.query._visitors import CountVisitors, IfMore, count_visitors
from leeward.query._window import Window, moment

__all__ = [
    "CountVisitors",
    "CountWhere",
    "Domain",
    "Effect",
    "Grid",
    "Histogram",
    "IfMore",
    "Linear",
    "Mean",
    "Numeric",
    "Percentile",
    "Places",
    "PoissonSampling",
    "Query",
    "Records",
    "Selection",
    "Sensitivity",
    "Source",
    "Statistic",
    "Sum",
    "SumOf",
    "SumOverPeople",
    "UnlistedGroups",
    "Variance",
    "Visits",
    "Window",
    "count_visitors",
    "grid",
    "maximum",
    "median",
    "minimum",
    "moment",
    "percentile",
    "places",
    "rank_rate",
    "rate_between",
    "records",
    "select",
    "sensitivity",
    "sensitivity_each",
    "sensitivity_lines",
    "statistic",
    "unlisted_groups",
    "visits",
]
