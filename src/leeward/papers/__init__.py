"""The sources' figures, tables and worked numbers, recomputed, beside what was printed."""

from leeward.papers.claim import Claim as Claim
from leeward.papers.claim import Figure as Figure
from leeward.papers.household import household_power as household_power
from leeward.papers.recompute import recompute as recompute
from leeward.papers.recompute import write as write
from leeward.papers.recomputed import Recomputed as Recomputed
from leeward.papers.visits import Visits as Visits
