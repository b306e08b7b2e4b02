"""Optimal mechanisms for a prior and a loss: linear programs whose answers are repaired and certified before use."""

from leeward.optimum.consumers import Shared, shared
from leeward.optimum.least_loss import Optimal, optimal

__all__ = ["Optimal", "Shared", "optimal", "shared"]
