# SPDX-License-Identifier: Apache-2.0
"""The pictures of plans, comparisons, accounts and releases, as plotly figures: what ``.plot()`` returns."""

from __future__ import annotations

from typing import get_args

import numpy as np
import plotly.graph_objects as go

from leeward._statement import DecidingStatement, DecisionStated, NumberStatement, UnlistedStatement
from leeward.accounting import Accountant, Direction
from leeward.errors import InputError
from leeward.planner._accuracy import MeanAccuracy
from leeward.planner._compare import Comparison
from leeward.planner._number_plan import NumberPlan
from leeward.planner._plan import Plan
from leeward.planner._plan_report import plan_report
from leeward.report import _unlisted as unlisted
from leeward.report._figures import ABOVE, BLUE, axis_of, chances, decision_curve, drawing, mapped, places_map
from leeward.report._number_figures import answers_figure
from leeward.report._plan import COLOURS, curves
from leeward.report._words import Readable

_DELTAS = tuple(10.0**-k for k in range(12, 1, -2))


def plot(shown: Plan | NumberPlan | Comparison | Accountant) -> go.Figure:
    """Return the picture of a plan, a comparison or an account.

    Raises:
        InputError: there is nothing to draw.
    """
    match shown:
        case Plan():
            places = 1 if shown.places is None else shown.places
            noun, many, how = shown.query.noun, shown.query.many, shown.query.counted_how
            of_whom = axis_of(noun, many, counted=shown.about == "counted" and how != "")
            return chances(DecisionStated.of(shown, places), of_whom=of_whom, many=many)
        case NumberPlan():
            return _errors(shown)
        case Comparison():
            return _compared(shown)
        case Accountant():
            return _account(shown)


def release_plot(result: Readable) -> go.Figure:
    """Return the picture of a release: the map of its places, or its answers; else how often each word is said.

    Raises:
        InputError: there is nothing to draw.
    """
    statement = result.statement
    if isinstance(statement, NumberStatement) and result.answers.num_rows > 1:
        return answers_figure(result)
    if isinstance(statement, UnlistedStatement) and result.answers.num_rows:
        return unlisted.figure(result)
    if mapped(result):
        return places_map(result)
    if isinstance(statement, DecidingStatement):
        return decision_curve(statement)
    raise InputError("A picture of this release", "a picture needs two answers or more", "Print it")


def _errors(plan: NumberPlan) -> go.Figure:
    """Draw how far answers are off: by how many people they are over, or how likely each error is."""
    accuracy, figure = plan.accuracy(), drawing()
    if isinstance(accuracy, MeanAccuracy):
        numbers, errors = zip(*((each.number, each.within_95_percent) for each in accuracy.by_number), strict=True)
        figure.add_scatter(x=numbers, y=errors, mode="lines+markers", line={"color": BLUE})
        return figure.update_layout(
            xaxis={"title": {"text": f"{accuracy.counted} in a group"}, "type": "log"},
            yaxis={"title": {"text": "off by at most, 95 %"}, "rangemode": "tozero"},
        )
    law, unit = plan.parts[0].law, float(plan.scale.unit)
    far = round(accuracy.all_within_95_percent / unit) + 1
    step = far // _MOST_BARS + 1
    off = np.arange(0 if law.down.is_infinite else -far, 1 + (0 if law.up.is_infinite else far), step)
    figure.add_bar(x=off * unit, y=law.pmf_array(off), marker={"color": BLUE})
    return figure.update_layout(
        xaxis={"title": {"text": "noise on an answer"}}, yaxis={"title": {"text": "chance"}, "rangemode": "tozero"}
    )


_MOST_BARS = 500


def _compared(compared: Comparison) -> go.Figure:
    report = plan_report(compared)
    if not report.shown:
        raise InputError("A picture of this comparison", "no row of it can be released", "Look at .options")
    return curves(report.shown, report.asked.words[0], report.chosen, report.asked)


def _account(accountant: Accountant) -> go.Figure:
    figure = drawing()
    for colour, direction in zip(COLOURS, get_args(Direction), strict=False):
        found = [accountant.epsilon(delta, direction) for delta in _DELTAS]
        if np.isfinite(found).any():
            figure.add_scatter(x=_DELTAS, y=found, mode="lines+markers", line={"color": colour}, name=direction)
    if not figure.data:
        raise InputError("A picture of this account", "no ε is enough in any direction", "Print its cost")
    return figure.update_layout(
        xaxis={"title": {"text": "δ"}, "type": "log", "exponentformat": "power"},
        yaxis={"title": {"text": "ε, at most"}, "rangemode": "tozero"},
        showlegend=True,
        legend=ABOVE,
    )
