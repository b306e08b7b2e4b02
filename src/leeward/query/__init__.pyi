# SPDX-License-Identifier: Apache-2.0
from ._ask_statistic import Kind, statistic
from ._counting import CountWhere, Domain, Histogram, Linear, SumOf, SumOverPeople
from ._effect import Effect, Query
from ._groups import Groups
from ._numeric import Mean, Numeric, Percentile, Sum, maximum, median, minimum, percentile
from ._records import Records, records
from ._sampling import PoissonSampling
from ._selection import Selection, select
from ._sensitivity import Sensitivity, rank_rate, rate_between, sensitivity, sensitivity_each, sensitivity_lines
from ._source import Grid, Places, Visits, grid, places, visits
from ._spread import Variance
from ._statistic import Statistic
from ._table import Source, Spark
from ._unlisted_groups import UnlistedGroups, unlisted_groups
from ._visitors import CountVisitors, IfMore, count_visitors
from ._window import Window, moment

__all__ = [
    "CountVisitors",
    "CountWhere",
    "Domain",
    "Effect",
    "Grid",
    "Groups",
    "Histogram",
    "IfMore",
    "Kind",
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
    "Spark",
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
