# SPDX-License-Identifier: Apache-2.0
"""The sources' figures, tables and worked numbers, recomputed, beside what was printed."""

from leeward.papers._claim import Claim as Claim
from leeward.papers._claim import Figure as Figure
from leeward.papers._household import household_power as household_power
from leeward.papers._peopleflow import Peopleflow as Peopleflow
from leeward.papers._recompute import recompute as recompute
from leeward.papers._recompute import write as write
from leeward.papers._recomputed import Recomputed as Recomputed
from leeward.papers._visits import Visits as Visits
