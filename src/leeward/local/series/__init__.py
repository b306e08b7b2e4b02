"""Series of one's own readings, such as a meter's: noise for each, totals, bills that are never too low."""

from leeward.local.series._billing import Billing, Settled
from leeward.local.series._documents import BillingStatement, SeriesStatement
from leeward.local.series._series import Option, Series
from leeward.local.series._totals import Totals

__all__ = ["Billing", "BillingStatement", "Option", "Series", "SeriesStatement", "Settled", "Totals"]
