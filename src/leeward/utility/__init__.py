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
from leeward.utility.bounds import OneSided, best_decision, one_sided
from leeward.utility.decisions import Chances, Decisions, State, decisions
from leeward.utility.plan import Plan, plan

__all__ = [
    "Chances",
    "Decisions",
    "OneSided",
    "Plan",
    "State",
    "best_decision",
    "bounded_gain",
    "cautions",
    "crossover",
    "decisions",
    "extreme_reveals",
    "filled_bins",
    "one_sided",
    "plan",
    "region",
    "variances",
]
