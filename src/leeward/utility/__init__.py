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
from leeward.utility.characterise import (
    bayes,
    hidden,
    hiding_bound,
    maximally_tight,
    measure_distance,
    restricted,
    tight,
    without_chain,
)
from leeward.utility.compare import Comparison, compare
from leeward.utility.decisions import Chances, Decisions, State, decisions
from leeward.utility.loss import LOSSES, LossMatrix, outside_ball, read_loss
from leeward.utility.option import Option
from leeward.utility.plan import Plan, plan
from leeward.utility.prior import read_prior
from leeward.utility.recommend import Recommendation, recommend
from leeward.utility.remapping import Remapped, expected_loss, remap
from leeward.utility.risk import Risk, posterior, risk
from leeward.utility.useful import useful_within, usefulness, usefulness_curve

__all__ = [
    "LOSSES",
    "Chances",
    "Comparison",
    "Decisions",
    "LossMatrix",
    "OneSided",
    "Option",
    "Plan",
    "Recommendation",
    "Remapped",
    "Risk",
    "State",
    "bayes",
    "best_decision",
    "bounded_gain",
    "cautions",
    "compare",
    "crossover",
    "decisions",
    "expected_loss",
    "extreme_reveals",
    "filled_bins",
    "hidden",
    "hiding_bound",
    "maximally_tight",
    "measure_distance",
    "one_sided",
    "outside_ball",
    "plan",
    "posterior",
    "read_loss",
    "read_prior",
    "recommend",
    "region",
    "remap",
    "restricted",
    "risk",
    "tight",
    "useful_within",
    "usefulness",
    "usefulness_curve",
    "variances",
    "without_chain",
]
