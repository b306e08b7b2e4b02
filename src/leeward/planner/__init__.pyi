# SPDX-License-Identifier: Apache-2.0
from ._advice import bounded_gain, cautions, crossover, extreme_reveals, filled_bins, region, variances
from ._answer_compare import AnswerComparison, AnswerOption
from ._answer_report import AnswerReport, answer_report
from ._ask import plan
from ._compare import Comparison, Scenario
from ._decisions import Chances, Decisions, State, decisions
from ._number_plan import NumberPlan
from ._option import Option
from ._plan import Decide, Plan
from ._plan_report import plan_report
from ._rank_plan import RankPlan
from ._recommend import Recommendation, recommend
from ._report import PlanReport
from ._selection_compare import NameComparison, NameOption
from ._selection_plan import SelectionPlan
from ._selection_report import NameReport, name_report
from ._side_by_side import compare
from ._unlisted_plan import UnlistedPlan

__all__ = [
    "AnswerComparison",
    "AnswerOption",
    "AnswerReport",
    "Chances",
    "Comparison",
    "Decide",
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
