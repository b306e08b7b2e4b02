# SPDX-License-Identifier: Apache-2.0
"""A plan as one HTML file that makes no network request: the table, the curves, and what speaks for and against each row.

It reads a `leeward.planner.PlanReport`: public things only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import plotly.graph_objects as go

from leeward._plain import at_most, short_percent
from leeward.mechanism._threshold_rule import Word
from leeward.outputs import write_page
from leeward.planner._people import a
from leeward.planner._report import AskedPart, DecidingOption, PlanReport
from leeward.planner._words import (
    epsilon,
    head,
    if_left_out,
    label,
    name,
    not_composed,
    notes,
    refused,
    short,
    sides,
    wished,
)
from leeward.query._records import Many
from leeward.report._figures import ABOVE, BLUE, RED, SAND, axis_of, drawing
from leeward.report._html import carried
from leeward.report._page import asset, embedded_as_it_is, template
from leeward.version import __version__

COLOURS = (BLUE, RED, "#009e73", "#cc79a7", SAND, "#56b4e9", "#7a6a00", "#6b4c9a", "#444444")
"""After Okabe and Ito; lines also differ in their marks."""

MARKS = ("circle", "diamond", "square", "triangle-up", "x", "star", "cross", "triangle-down", "hexagon")


def write_plan(report: PlanReport, path: str | Path) -> Path:
    """Write a plan report as one HTML file and return its path."""
    return write_page(path, plan_html(report))


def plan_html(report: PlanReport) -> str:
    """Return a plan report as one self-contained HTML page."""
    asked, shown, chosen = report.asked, report.shown, report.chosen
    figures: dict[str, go.Figure] = {word: curves(shown, word, chosen, asked) for word in asked.words}
    caption = (
        f"By how many {_of_whom(asked)}."
        " Each line is a notion with its mechanism; grey is the best that any decision about"
        " one count could do under the recommended notion with the same chance of error."
    )
    plots: list[tuple[str, str, str]] = [
        (word, f"How often {a(asked.noun)} is called {word}", caption) for word in asked.words
    ]
    if shown:
        figures["errors"] = error_bars(shown, asked.many)
        plots.append(
            (
                "errors",
                "How far a published count is off",
                "Half of the counts are at most as far off as the short bar.",
            )
        )
    columns, rows = table_of(report)
    text = report.to_json()
    return template("plan.html.j2").render(
        report=report,
        asked=asked,
        advice=report.recommendation,
        chosen=chosen,
        headline=_headline(chosen),
        wish="" if chosen is None else wished(chosen, asked),
        head=list(head(asked)),
        columns=columns,
        rows=rows,
        uncovered=_uncovered(shown),
        not_composed=list(not_composed(shown)),
        left_out=list(if_left_out(shown, asked)),
        refused=list(refused(report.options)),
        notes=list(notes(report.options)),
        sides=list(sides(shown)),
        labels=[name(option) for option in report.options],
        plots=plots,
        text=text,
        text_json=embedded_as_it_is(text),
        **carried(figures, [asset("plan.js")]),
        version=__version__,
    )


def table_of(report: PlanReport) -> tuple[list[str], list[tuple[bool, list[str]]]]:
    """Return the headings of the rows that could be released; and of each whether it is recommended, and its cells."""
    return _columns(report.asked), [(each is report.chosen, _cells(each, report.asked)) for each in report.shown]


def curves(shown: Iterable[DecidingOption], word: Word, chosen: DecidingOption | None, asked: AskedPart) -> go.Figure:
    """Draw how often each row says a word, by the true count; rows that say it alike share a line."""
    figure = drawing()
    alike: dict[tuple[str, ...], list[DecidingOption]] = {}
    for option in shown:
        alike.setdefault(tuple(point.of(word)[0] for point in option.curve), []).append(option)
    if chosen is not None:
        best = [(point.count, float(most)) for point in chosen.curve if (most := point.of(word)[1]) is not None]
        line = {"color": "#9a958c", "width": 7}
        figure.add_scatter(
            x=[count for count, _ in best],
            y=[most for _, most in best],
            mode="lines",
            line=line,
            opacity=0.45,
            name="best possible",
        )
    for i, (chances, group) in enumerate(alike.items()):
        mine = any(option is chosen for option in group)
        figure.add_scatter(
            x=[point.count for point in group[0].curve],
            y=[float(chance) for chance in chances],
            customdata=chances,
            mode="lines+markers",
            line={"color": COLOURS[i % len(COLOURS)], "width": 3 if mine else 1.5},
            marker={"symbol": MARKS[i % len(MARKS)], "size": 9 if mine else 7},
            name="<br>".join(map(name, group)),
            hovertemplate=f"%{{x}} {asked.many}: %{{customdata}}",
        )
    figure.update_layout(
        xaxis={
            "title": {"text": _of_whom(asked)},
            "tickformat": "d",
            "range": [-0.3, max((option.curve[-1].count for option in shown), default=1) + 0.3],
            "zeroline": False,
            "fixedrange": True,
        },
        legend=ABOVE,
        yaxis={
            "title": {"text": f"chance of “{word}”"},
            "tickformat": ".0%",
            "rangemode": "tozero",
            "fixedrange": True,
        },
    )
    return figure


def _of_whom(asked: AskedPart) -> str:
    return axis_of(asked.noun, asked.many, counted=asked.about == "counted" and asked.if_more not in {None, "refuse"})


def error_bars(shown: Sequence[DecidingOption], many: Many) -> go.Figure:
    """Draw the median and the 95 % error of a published count for each row."""
    figure = drawing()
    rows = shown[::-1]
    for title, colour, errors in (
        ("95 % error", SAND, [option.errors.most for option in rows]),
        ("median error", BLUE, [option.errors.median for option in rows]),
    ):
        figure.add_bar(
            x=errors,
            y=[name(option).replace(", ", "<br>") for option in rows],
            orientation="h",
            marker={"color": colour},
            name=title,
        )
    figure.update_layout(
        barmode="overlay",
        legend=ABOVE,
        xaxis={"title": {"text": many}, "fixedrange": True},
        yaxis={"automargin": True, "fixedrange": True},
    )
    return figure


def _columns(asked: AskedPart) -> list[str]:
    found = ["Notion", "Mechanism", "Price ε", "In the budget"]
    for word in asked.words:
        found += [f"“{word}” at {c:,} (best)" for c in asked.ends(word)] + [f"“{word}” wrong at most"]
    found += ["Bias", "Mean error", "Median", "95 %"]
    if asked.counts:
        found += ["Right calls expected", "Loss after remap"]
    if asked.releases > 1:
        found += [f"ε of {asked.releases} at δ = {asked.delta}"]
    return found


def _cells(option: DecidingOption, asked: AskedPart) -> list[str]:
    at, budget, error = {point.count: point for point in option.curve}, option.price_in_budget, option.errors
    cells = [label(option.notion), option.mechanism, short(option.price)]
    cells.append("–" if budget is None else short(budget))
    for word in asked.words:
        for count in asked.ends(word):
            chance, best = at[count].of(word) if count in at else (None, None)
            written = "–" if chance is None else short_percent(float(chance))
            cells.append(written if best is None else f"{written} ({short_percent(float(best))})")
        decided = option.decided.of(word)
        wrong = None if decided is None else decided.wrong_at_most
        cells.append("never" if wrong is None else at_most(float(Fraction(wrong)), 6))
    cells += [f"{error.bias:.3g}", f"{error.mean:.3g}", str(error.median), str(error.most)]
    if option.expected is not None:
        loss = option.remapped_loss
        cells += [f"{option.expected.right:,.0f}", "–" if loss is None else f"{loss:.3g}"]
    if option.composed is not None:
        worst = option.composed.worst
        cells.append("–" if worst is None else at_most(worst, 4))
    return cells


def _uncovered(shown: Iterable[DecidingOption]) -> list[tuple[str, str]]:
    names: dict[str, list[str]] = {}
    for option in shown:
        if option.incomparable:
            names.setdefault(option.incomparable, []).append(name(option))
    return [("; ".join(rows), why) for why, rows in names.items()]


def _headline(chosen: DecidingOption | None) -> str:
    if chosen is None:
        return "Nothing is recommended"
    return f"Recommended: {label(chosen.notion)} with the {chosen.mechanism} mechanism, {epsilon(chosen.price)}"
