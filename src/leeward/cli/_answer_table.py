# SPDX-License-Identifier: Apache-2.0
"""What is known before numbers, or groups that nobody has listed, are paid for: a table that fits 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leeward._plain import counted
from leeward.cli._output import facts, print_parts, table
from leeward.planner._accuracy import MeanAccuracy
from leeward.planner._answer_cells import answer_cells
from leeward.planner._words import epsilon, label, leaks, refused, short, useless
from leeward.query._group_names import columns_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from leeward.planner._answer_report import AnswerReport

_TITLE = 21


def print_answers(report: AnswerReport) -> None:
    """Print what is known before anything is spent."""
    print_parts(facts(_head(report), max_width=_TITLE))
    if report.refused_as_written:
        print_parts(f"\nAs written, `leeward release` refuses: {report.refused_as_written}")
    print_parts("", _rows(report))
    print_parts(_legend(report), style="dim")
    rest = [*(("advice", f"{said}.") for said in report.advice), *refused(report.options)]
    rest += useless(report.options)
    print_parts("", facts(rest, max_width=_TITLE), "", facts(leaks(report.shown), max_width=_TITLE))


def _head(report: AnswerReport) -> Iterable[tuple[str, str]]:
    asked = report.asked
    by = "" if asked.by is None else f" by {columns_named(asked.by)}"
    if asked.groups_per_person is not None:
        yield "question", f"groups{by} that nobody has listed, with how many {asked.many} are in each"
        each = "" if asked.many == "rows" else f"{asked.groups_per_person} a person at most; "
        yield "groups", f"{each}{asked.answers:,} are published at most"
    else:
        of = "" if asked.column is None else f" of '{asked.column}'"
        yield "question", f"{asked.kind}{of}{by}: {counted(asked.answers, 'answer')}"
    several = f", {asked.releases} releases" if asked.releases > 1 else ""
    if asked.window is not None:
        yield "window", f"{asked.window.start} to {asked.window.end}{several}"
    elif several:
        yield "releases", str(asked.releases)
    yield "asked for", f"{label(asked.notion)} at {epsilon(asked.notion.epsilon)}"
    left = "" if asked.budget.left is None else f"; {short(asked.budget.left)} left"
    if asked.groups_per_person is not None and asked.delta_left is not None:
        left += f", and {short(asked.delta_left)} of δ"
    yield "budget", f"counted in {asked.budget.notion}{left}"


def _rows(report: AnswerReport) -> Table:
    made = table(padding=(0, 1, 0, 0), header_style="bold")
    headings, rows = answer_cells(report)
    for heading in headings:
        text = heading in ("notion", "mechanism", "errs")
        made.add_column(heading, justify="left" if text else "right", no_wrap=True, vertical="bottom")
    for cells in rows:
        made.add_row(*cells)
    return made


def _legend(report: AnswerReport) -> str:
    many = report.asked.many
    said = list[str]()
    if report.asked.groups_per_person is not None:
        said.append(
            f"Half shown, 95% shown: a group with so many {many} is shown every second time, or 95 times in 100. 95% off:"
            " the count of a group that is shown is so near, with that probability."
        )
    else:
        mean = any(isinstance(option.accuracy, MeanAccuracy) for option in report.shown)
        over = f" over so many {many}" if mean else ""
        said.append(f"95% off: an answer{over} is so near the exact one, with that probability.")
        if report.asked.answers > 1 and not mean:
            said.append("All: every answer at once.")
    if any(option.mechanism == "rank" for option in report.shown):
        said.append(f"By rank: so many {many} stand between an answer and the exact one.")
    if any(option.side != "both ways" for option in report.shown):
        said.append("Errs: not low is never below the exact answer, not high never above it.")
    if any(option.price_in_budget is None for option in report.shown):
        said.append("–: the budget's notion cannot cover it, whatever the price.")
    return " ".join(said)
