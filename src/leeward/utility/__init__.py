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
from leeward.utility.risk import Risk, posterior, risk

__all__ = [
    "Chances",
    "Decisions",
    "OneSided",
    "Plan",
    "Risk",
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
    "posterior",
    "region",
    "risk",
    "variances",
]
