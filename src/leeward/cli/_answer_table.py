# SPDX-License-Identifier: Apache-2.0
"""What is known before numbers, a name, or groups that nobody has listed are paid for: a table that fits 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leeward._plain import counted
from leeward.cli._output import facts, print_parts, table_of_options
from leeward.planner._accuracy import MeanAccuracy
from leeward.planner._answer_cells import Cells, cells_of
from leeward.planner._answer_report import AnswerReport, AnswersAsked, NameAsked, NameReport
from leeward.planner._people import people, places
from leeward.planner._words import epsilon, label, leaks, refused, short, useless
from leeward.query._group_names import columns_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    Facts: TypeAlias = Iterable[tuple[str, str]]

_TITLE = 21
_TEXTS = ("notion", "mechanism", "errs")


def print_answers(report: AnswerReport | NameReport) -> None:
    """Print what is known before numbers, a name, or groups that nobody has listed, are paid for."""
    cells, advice = cells_of(report)
    rest = [*(("advice", f"{each}.") for each in advice), *refused(report.options)]
    if isinstance(report, NameReport):
        _print(report, _of_names(report.asked), cells, _legend_of_names(report.asked))
        print_parts("", facts(rest, max_width=_TITLE))
        return
    _print(report, _of_answers(report.asked), cells, _legend_of_answers(report))
    rest += useless(report.options)
    print_parts("", facts(rest, max_width=_TITLE), "", facts(leaks(report.shown), max_width=_TITLE))


def _print(report: AnswerReport | NameReport, head: Facts, cells: Cells, legend: Iterable[str]) -> None:
    print_parts(facts(head, max_width=_TITLE))
    if report.refused_as_written:
        print_parts(f"\nAs written, `leeward release` refuses: {report.refused_as_written}")
    print_parts("", _rows(*cells))
    uncovered = any(option.price_in_budget is None for option in report.shown)
    said = [*legend, *(["–: the budget's notion cannot cover it, whatever the price."] if uncovered else [])]
    print_parts(" ".join(said), style="dim")


def _rows(headings: list[str], rows: list[list[str]]) -> Table:
    made = table_of_options((heading, heading in _TEXTS) for heading in headings)
    for cells in rows:
        made.add_row(*cells)
    return made


def _of_answers(asked: AnswersAsked) -> Facts:
    by = "" if asked.by is None else f" by {columns_named(asked.by)}"
    of_delta = ""
    if asked.groups_per_person is not None:
        yield "question", f"groups{by} that nobody has listed, with how many {asked.many} are in each"
        each = "" if asked.many == "rows" else f"{asked.groups_per_person} a person at most; "
        yield "groups", f"{each}{asked.answers:,} are published at most"
        of_delta = "" if asked.delta_left is None else f", and {short(asked.delta_left)} of δ"
    else:
        of = "" if asked.column is None else f" of '{asked.column}'"
        yield "question", f"{asked.kind}{of}{by}: {counted(asked.answers, 'answer')}"
    yield from _when(asked)
    yield from _asked_for(asked, of_delta)


def _of_names(asked: NameAsked) -> Facts:
    of = "" if asked.options is None else f" of {counted(asked.options, asked.noun)}"
    yield "question", f"the {asked.which}{of or f' {asked.noun}'}, by name alone"
    yield from _when(asked)
    if asked.places_per_person is not None:
        yield "bound", f"one person counts at {places(asked.places_per_person)} at most"
    yield from _asked_for(asked)
    if asked.counts:
        yield "counts", ", ".join(f"{n:,} with {people(count)}" for count, n in asked.counts.items()) + " (as given)"


def _when(asked: AnswersAsked | NameAsked) -> Facts:
    several = f", {asked.releases} releases" if asked.releases > 1 else ""
    if asked.window is not None:
        yield "window", f"{asked.window.start} to {asked.window.end}{several}"
    elif several:
        yield "releases", str(asked.releases)


def _asked_for(asked: AnswersAsked | NameAsked, of_delta: str = "") -> Facts:
    yield "asked for", f"{label(asked.notion)} at {epsilon(asked.notion.epsilon)}"
    left = "" if asked.budget.left is None else f"; {short(asked.budget.left)} left"
    yield "budget", f"counted in {asked.budget.notion}{left}{of_delta}"


def _legend_of_answers(report: AnswerReport) -> Iterable[str]:
    many = report.asked.many
    if report.asked.groups_per_person is not None:
        yield (
            f"Half shown, 95% shown: a group with so many {many} is shown every second time, or 95 times in 100, if not too"
            " many groups are. 95% off: the noise of a count is at most so large, with that probability."
        )
    else:
        mean = any(isinstance(option.accuracy, MeanAccuracy) for option in report.shown)
        over = f" over so many {many}" if mean else ""
        yield f"95% off: an answer{over} is so near the exact one, with that probability."
        if report.asked.answers > 1 and not mean:
            yield "All: every answer at once."
    if any(option.mechanism == "rank" for option in report.shown):
        yield f"By rank: so many {many} stand between an answer and the exact one."
    if any(option.side != "both ways" for option in report.shown):
        yield "Errs: not low is never below the exact answer, not high never above it."


def _legend_of_names(asked: NameAsked) -> Iterable[str]:
    so = ", counted after the bound," if asked.if_more not in {None, "refuse"} else ""
    busiest = asked.which == "busiest"
    largest, than = ("largest", f"fewer{so} than") if busiest else ("smallest", f"more{so} than")
    yield (
        f"95% within: with that probability, whatever the counts are, the named {asked.noun} has at most so many {than} the"
        f" {asked.which}."
    )
    yield f"Noisy counts: all are published, and the {largest} of them names."
    if asked.counts:
        yield "Right, off by: how often it is the right one, and how far off on average, for the counts given."
        given = sum(asked.counts.values())
        if asked.options is not None and given != asked.options:
            yield f"These are of {counted(given, asked.noun)}, and not of those listed."
