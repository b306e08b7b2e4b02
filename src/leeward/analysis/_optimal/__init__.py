# SPDX-License-Identifier: Apache-2.0
"""Optimal mechanisms for a prior and a loss: linear programs whose answers are repaired and certified before use."""

from leeward.analysis._optimal._consumers import Shared, shared
from leeward.analysis._optimal._least_loss import Optimal, optimal
from leeward.analysis._optimal._universal import Universal, is_universally_optimal

__all__ = ["Optimal", "Shared", "Universal", "is_universally_optimal", "optimal", "shared"]
