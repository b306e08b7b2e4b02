# SPDX-License-Identifier: Apache-2.0
"""What an answer would cost and be worth, before anything is spent: plans, comparisons and recommendations."""

from leeward.planner._advice import bounded_gain, cautions, crossover, extreme_reveals, filled_bins, region, variances
from leeward.planner._answer_compare import AnswerComparison, AnswerOption
from leeward.planner._answer_report import AnswerReport, answer_report
from leeward.planner._ask import plan
from leeward.planner._compare import Comparison, Scenario
from leeward.planner._decisions import Chances, Decisions, State, decisions
from leeward.planner._number_plan import NumberPlan
from leeward.planner._option import Option
from leeward.planner._plan import Plan
from leeward.planner._plan_report import plan_report
from leeward.planner._rank_plan import RankPlan
from leeward.planner._recommend import Recommendation, recommend
from leeward.planner._report import PlanReport
from leeward.planner._selection_compare import NameComparison, NameOption
from leeward.planner._selection_plan import SelectionPlan
from leeward.planner._selection_report import NameReport, name_report
from leeward.planner._side_by_side import compare
from leeward.planner._unlisted_plan import UnlistedPlan

__all__ = [
    "AnswerComparison",
    "AnswerOption",
    "AnswerReport",
    "Chances",
    "Comparison",
    "Decisions",
    "NameComparison",
    "NameOption",
    "NameReport",
    "NumberPlan",
    "Option",
    "Plan",
    "PlanReport",
    "RankPlan",
    "Recommendation",
    "Scenario",
    "SelectionPlan",
    "State",
    "UnlistedPlan",
    "answer_report",
    "bounded_gain",
    "cautions",
    "compare",
    "crossover",
    "decisions",
    "extreme_reveals",
    "filled_bins",
    "name_report",
    "plan",
    "plan_report",
    "recommend",
    "region",
    "variances",
]
