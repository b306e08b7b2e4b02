# SPDX-License-Identifier: Apache-2.0
from ._claim import Claim as Claim
from ._claim import Figure as Figure
from ._household import household_power as household_power
from ._peopleflow import Peopleflow as Peopleflow
from ._recompute import recompute as recompute
from ._recompute import write as write
from ._recomputed import Recomputed as Recomputed
from ._visits import VisitsFile as VisitsFile
