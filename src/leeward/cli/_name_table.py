# SPDX-License-Identifier: Apache-2.0
"""What is known before a name is paid for, as a table that fits a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leeward._plain import counted
from leeward.cli._output import facts, print_parts, table
from leeward.planner._answer_cells import name_cells
from leeward.planner._people import people, places
from leeward.planner._words import epsilon, label, refused, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from leeward.planner._selection_report import NameReport

_TITLE = 21


def print_names(report: NameReport) -> None:
    """Print what is known before anything is spent."""
    asked = report.asked
    print_parts(facts(_head(report), max_width=_TITLE))
    if report.refused_as_written:
        print_parts(f"\nAs written, `leeward release` refuses: {report.refused_as_written}")
    so = ", counted after the bound," if asked.if_more not in {None, "refuse"} else ""
    than = f"fewer{so} than the busiest" if asked.which == "busiest" else f"more{so} than the quietest"
    print_parts("", _rows(report))
    said = f"95% within: with that probability, whatever the counts are, the named {asked.noun} has at most so many {than}."
    said += (
        " Noisy counts: all are published, and the largest of them names."
        if asked.which == "busiest"
        else (" Noisy counts: all are published, and the smallest of them names.")
    )
    if asked.counts:
        said += " Right, off by: how often it is the right one, and how far off on average, for the counts given."
        given = sum(asked.counts.values())
        if asked.options is not None and given != asked.options:
            said += f" These are of {counted(given, asked.noun)}, and not of those listed."
    if any(option.price_in_budget is None for option in report.shown):
        said += " –: the budget's notion cannot cover it, whatever the price."
    print_parts(said, style="dim")
    print_parts("", facts([("advice", f"{report.advice}."), *refused(report.options)], max_width=_TITLE))


def _head(report: NameReport) -> Iterable[tuple[str, str]]:
    asked = report.asked
    of = "" if asked.options is None else f" of {counted(asked.options, asked.noun)}"
    yield "question", f"the {asked.which}{of or f' {asked.noun}'}, by name alone"
    if asked.window is not None:
        several = f", {asked.releases} releases" if asked.releases > 1 else ""
        yield "window", f"{asked.window.start} to {asked.window.end}{several}"
    if asked.places_per_person is not None:
        yield "bound", f"one person counts at {places(asked.places_per_person)} at most"
    yield "asked for", f"{label(asked.notion)} at {epsilon(asked.notion.epsilon)}"
    left = "" if asked.budget.left is None else f"; {short(asked.budget.left)} left"
    yield "budget", f"counted in {asked.budget.notion}{left}"
    if asked.counts:
        yield "counts", ", ".join(f"{n:,} with {people(count)}" for count, n in asked.counts.items()) + " (as given)"


def _rows(report: NameReport) -> Table:
    made = table(padding=(0, 1, 0, 0), header_style="bold")
    headings, rows = name_cells(report)
    for i, heading in enumerate(headings):
        made.add_column(heading, justify="left" if i < 2 else "right", no_wrap=True, vertical="bottom")
    for cells in rows:
        made.add_row(*cells)
    return made
