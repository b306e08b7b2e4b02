"""What an answer is worth, before anything is spent."""

from leeward.utility.advice import (
    bounded_gain,
    cautions,
    crossover,
    extreme_reveals,
    filled_bins,
    region,
    variances,
)
from leeward.utility.plan import Plan, plan

__all__ = [
    "Plan",
    "bounded_gain",
    "cautions",
    "crossover",
    "extreme_reveals",
    "filled_bins",
    "plan",
    "region",
    "variances",
]
