# SPDX-License-Identifier: Apache-2.0
"""The comparison of notions and mechanisms for one spec, printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leeward.planner import PlanReport

if TYPE_CHECKING:
    from leeward.spec._compared import AnyReport


def print_compared(report: AnyReport) -> None:
    """Print a comparison as tables that fit a terminal of 80 columns."""
    if isinstance(report, PlanReport):
        from leeward.cli._plan_table import print_plan

        print_plan(report)
        return
    from leeward.cli._answer_table import print_answers, print_names
    from leeward.planner import NameReport

    if isinstance(report, NameReport):
        print_names(report)
    else:
        print_answers(report)
