"""A plan as one HTML file that makes no network request: the table, the curves, and what speaks for and against each row.

It reads what `leeward.planner._view.tell` told: public things only.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from leeward.outputs import write_page
from leeward.planner._recommend import people, percent
from leeward.planner._words import head, label, refused, short
from leeward.report._figures import BLUE, FONT, RED, SAND
from leeward.report._page import asset, digest, embedded, template
from leeward.version import __version__

COLOURS = (BLUE, RED, "#009e73", "#cc79a7", SAND, "#56b4e9", "#7a6a00", "#6b4c9a", "#444444")
"""After Okabe and Ito; lines also differ in their marks."""

MARKS = ("circle", "diamond", "square", "triangle-up", "x", "star", "cross", "triangle-down", "hexagon")


def write_plan(told: dict[str, Any], path: str | Path) -> Path:
    """Write a told comparison as one HTML file and return its path.

    Raises:
        InputError: there is another file, or a page that was changed since it was written; or it cannot be written.
    """
    return write_page(path, plan_html(told))


def plan_html(told: dict[str, Any]) -> str:
    """Return a told comparison as one self-contained HTML page."""
    asked, advice, options = told["asked"], told["recommendation"], told["options"]
    chosen = None if advice["option"] is None else options[advice["option"]]
    shown = [option for option in options if not option["refused"] and "curve" in option]
    words = [w for w, key in (("safe", "safe_at_most"), ("dangerous", "dangerous_at_least")) if asked[key] is not None]
    figures = {word: curves(shown, word, chosen) for word in words}
    caption = (
        "By how many people were there. Each line is a notion with its mechanism; grey is the best that any decision about"
        " one count could do under the recommended notion with the same chance of error."
    )
    plots = [(word, f"How often a place is called {word}", caption) for word in words]
    if any(option["errors"] for option in shown):
        figures["errors"] = error_bars(shown)
        plots.append(
            (
                "errors",
                "How far a published count is off",
                "Half of the counts are at most as far off as the short bar.",
            )
        )
    scripts = [get_plotlyjs(), asset("plan.js")]
    text = json.dumps(told, ensure_ascii=False, indent=2)
    return template("plan.html.j2").render(
        told=told,
        asked=asked,
        advice=advice,
        chosen=chosen,
        headline=_headline(chosen),
        wish=f"{_percent(asked['wish']['probability'])} of the places with {people(asked['wish']['count'])}",
        head=list(head(asked)),
        columns=_columns(asked, words),
        rows=[{"chosen": option is chosen, "cells": _cells(option, asked, words)} for option in shown],
        uncovered=_uncovered(shown),
        refused=list(refused(options)),
        notes=[(name(option), option["note"]) for option in options if option["note"]],
        sides=_sides(shown),
        labels=[name(option) for option in options],
        plots=plots,
        figures={key: embedded(figure.to_json()) for key, figure in figures.items()},
        text=text,
        text_json=embedded(text),
        style=Markup(asset("report.css")),
        scripts=[Markup(script) for script in scripts],
        digests=[digest(script) for script in scripts],
        version=__version__,
    )


def name(option: dict[str, Any]) -> str:
    """Return a row's notion and mechanism."""
    return f"{label(option)}, {option['mechanism']}"


def curves(shown: list[dict[str, Any]], word: str, chosen: dict[str, Any] | None) -> go.Figure:
    """Draw how often each row says a word, by the true count; rows that say it alike share a line."""
    figure = go.Figure(layout=_look())
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for option in shown:
        alike.setdefault(tuple(entry[word] for entry in option["curve"]), []).append(option)
    if chosen is not None:
        best = [float(entry[f"best_{word}"]) for entry in chosen["curve"]]
        line = {"color": "#9a958c", "width": 7}
        figure.add_scatter(x=_counts(chosen), y=best, mode="lines", line=line, opacity=0.45, name="best possible")
    for i, (chances, group) in enumerate(alike.items()):
        mine = any(option is chosen for option in group)
        figure.add_scatter(
            x=_counts(group[0]),
            y=[float(chance) for chance in chances],
            customdata=chances,
            mode="lines+markers",
            line={"color": COLOURS[i % len(COLOURS)], "width": 3 if mine else 1.5},
            marker={"symbol": MARKS[i % len(MARKS)], "size": 9 if mine else 7},
            name="<br>".join(map(name, group)),
            hovertemplate="%{x} people: %{customdata}",
        )
    figure.update_layout(
        xaxis={
            "title": {"text": "people who were there"},
            "tickformat": "d",
            "range": [-0.3, max((_counts(option)[-1] for option in shown), default=1) + 0.3],
            "zeroline": False,
            "fixedrange": True,
        },
        legend=_ABOVE,
        yaxis={
            "title": {"text": f"chance of “{word}”"},
            "tickformat": ".0%",
            "rangemode": "tozero",
            "fixedrange": True,
        },
    )
    return figure


def error_bars(shown: list[dict[str, Any]]) -> go.Figure:
    """Draw the median and the 95 % error of a published count for each row."""
    figure = go.Figure(layout=_look())
    rows = [option for option in shown if option["errors"]][::-1]
    for key, title, colour in (("most", "95 % error", SAND), ("median", "median error", BLUE)):
        figure.add_bar(
            x=[option["errors"][key] for option in rows],
            y=[name(option).replace(", ", "<br>") for option in rows],
            orientation="h",
            marker={"color": colour},
            name=title,
        )
    figure.update_layout(
        barmode="overlay",
        legend=_ABOVE,
        xaxis={"title": {"text": "people"}, "fixedrange": True},
        yaxis={"automargin": True, "fixedrange": True},
    )
    return figure


_ABOVE = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
"""A legend beside the drawing would take most of a narrow screen."""


def _counts(option: dict[str, Any]) -> list[int]:
    return [entry["count"] for entry in option["curve"]]


def _columns(asked: dict[str, Any], words: list[str]) -> list[str]:
    found = ["Notion", "Mechanism", "Price ε", "In the budget"]
    for word in words:
        found += [f"“{word}” at {c} (best)" for c in _ends(asked, word)] + [f"“{word}” wrong at most"]
    found += ["Bias", "Mean error", "Median", "95 %"]
    if asked["counts"]:
        found += ["Right words expected", "Loss after remap"]
    if asked["releases"] > 1:
        found += [f"ε of {asked['releases']} at δ = {asked['delta']}"]
    return found


def _cells(option: dict[str, Any], asked: dict[str, Any], words: list[str]) -> list[str]:
    at = {entry["count"]: entry for entry in option["curve"]}
    budget, error = option["price_in_budget"], option["errors"]
    cells = [label(option), option["mechanism"], short(option["price"])]
    cells.append("–" if budget is None else short(budget))
    for word in words:
        ends = [at[c] for c in _ends(asked, word) if c in at]
        cells += [f"{percent(float(e[word]))} ({percent(float(e[f'best_{word}']))})" for e in ends]
        wrong = option["decided"][word]["wrong_at_most"]
        cells.append("never" if wrong is None else f"{float(Fraction(wrong)):g}")
    cells += [f"{error['bias']:.3g}", f"{error['mean']:.3g}", str(error["median"]), str(error["most"])]
    if expected := option["expected"]:
        loss = option["remapped_loss"]
        cells += [f"{expected['safe'] + expected['dangerous']:,.0f}", "–" if loss is None else f"{loss:.3g}"]
    if option["composed"]:
        worst = max(option["composed"]["epsilon_at_delta"].values(), default=None)
        cells.append("–" if worst is None else f"{worst:.4g}")
    return cells


def _ends(asked: dict[str, Any], word: str) -> list[int]:
    if word == "safe":
        return list(dict.fromkeys((0, asked["safe_at_most"])))
    return [asked["dangerous_at_least"], asked["dangerous_at_least"] + 2]


def _sides(shown: list[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    leaks = {option["protects"]: option["leaks"] for option in shown}
    names: dict[str, dict[str, None]] = {}
    for option in shown:
        names.setdefault(option["protects"], {})[label(option)] = None
    return [(", ".join(labels), protects, leaks[protects]) for protects, labels in names.items()]


def _uncovered(shown: list[dict[str, Any]]) -> list[tuple[str, str]]:
    names: dict[str, list[str]] = {}
    for option in shown:
        if option["incomparable"]:
            names.setdefault(option["incomparable"], []).append(name(option))
    return [("; ".join(rows), why) for why, rows in names.items()]


def _headline(chosen: dict[str, Any] | None) -> str:
    if chosen is None:
        return "Nothing is recommended"
    return f"Recommended: {label(chosen)} with the {chosen['mechanism']} mechanism, ε = {short(chosen['price'])}"


def _percent(exact: str) -> str:
    return f"{float(Fraction(exact)) * 100:g} %"


def _look() -> dict[str, Any]:
    return {
        "template": "none",
        "font": {"family": FONT, "size": 13, "color": "#333"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 60, "r": 12, "t": 20, "b": 60},
        "autosize": True,
    }
