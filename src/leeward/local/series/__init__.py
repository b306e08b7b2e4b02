# SPDX-License-Identifier: Apache-2.0
"""Series of one's own readings, such as a meter's: noise for each, totals, bills that are never too low."""

from leeward.local.series._appliance import Appliance
from leeward.local.series._billing import Billing, Settled
from leeward.local.series._closeness import Closeness
from leeward.local.series._documents import BillingStatement, SeriesStatement
from leeward.local.series._grid import ReadingGrid
from leeward.local.series._levels import SeriesLevels
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._schedule import Schedule
from leeward.local.series._series import Series, SeriesChoice
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree

__all__ = [
    "Appliance",
    "Billing",
    "BillingStatement",
    "Closeness",
    "PostProcessing",
    "ReadingGrid",
    "Schedule",
    "Series",
    "SeriesChoice",
    "SeriesLevels",
    "SeriesStatement",
    "Settled",
    "Totals",
    "TotalsTree",
]
