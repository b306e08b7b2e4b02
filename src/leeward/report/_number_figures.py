# SPDX-License-Identifier: Apache-2.0
"""The picture of a released statistic: bars for counts, points for numbers, each with the error that it keeps."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import plotly.graph_objects as go

from leeward._statement import CutStated
from leeward.report._figures import ABOVE, BLUE, LOOK, SAND
from leeward.report._numbers import Possible, certain_curve, crossed, group_of, named, plain, possible, reach, stated
from leeward.report._words import Readable, many

COLOURS = (BLUE, SAND, "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
"""After Okabe and Ito; groups beyond are drawn in the same colours again."""

MOST_GROUPS = 100
"""Groups beyond are in the table alone."""


def answers_figure(result: Readable) -> go.Figure:
    """Draw the answers of a statistic, with a line for the 95 % error of each where they are few enough.

    Groups are named down the side, where long names have room; intervals of a number stand in their order along the axis.
    """
    answers = result.answers
    names, lines = answers.column_names, reach(result)
    if "from" in names:
        figure = _intervals(result, lines)
    elif "percentile" in names:
        figure = _percentiles(result)
    elif crossed(result):
        figure = _crossed(result)
    else:
        figure = _groups(result, lines[:MOST_GROUPS])
    several = "from" in names and len(stated(result).query.groups) > 1
    figure.update_layout(
        **LOOK,
        margin={"l": 50, "r": 12, "t": 44 if several else 12, "b": 60},
        showlegend=several,
        legend=ABOVE,
    )
    return figure


def height(result: Readable) -> int:
    """Return how high the picture must be, in pixels: groups have a line each."""
    if "from" in result.answers.column_names or crossed(result):
        return 380
    ps = stated(result).query.p
    return (
        height_of(result.answers.num_rows // len(ps), 44)
        if isinstance(ps, tuple)
        else height_of(result.answers.num_rows)
    )


def height_of(groups: int, line: int = 28) -> int:
    """Return how high a picture must be, in pixels, whose groups have a line each."""
    return max(180, 80 + line * min(groups, MOST_GROUPS))


def _intervals(result: Readable, errors: list[float]) -> go.Figure:
    answers, query = result.answers, stated(result).query
    low, high, counts = (answers[name].to_pylist() for name in ("from", "to", "count"))
    groups = query.groups or (None,)
    bins, ends = len(low) // len(groups), possible(result)
    figure = go.Figure(layout={"barmode": "group", "bargap": 0.08 if bins <= 60 else 0})
    for i, group in enumerate(groups):
        part = slice(i * bins, (i + 1) * bins)
        colour = COLOURS[i % len(COLOURS)]
        figure.add_trace(
            go.Bar(
                x=[(a + b) / 2 for a, b in zip(low[part], high[part], strict=True)],
                y=counts[part],
                error_y=_lines(counts[part], errors[part], ends),
                marker={"color": colour},
                name="" if group is None else escape(named(group, query)),
                customdata=[f"{plain(a)} to {plain(b)}" for a, b in zip(low[part], high[part], strict=True)],
                hovertemplate="%{customdata}: %{y:,}<extra></extra>",
            )
        )
    if curves := certain_curve(result):
        for i, (group, curve) in enumerate(zip(groups, curves, strict=True)):
            whose = "" if group is None else f"{escape(named(group, query))}, "
            figure.add_trace(
                go.Scatter(
                    x=[*low[:bins], high[bins - 1]],
                    y=[*curve, curve[-1]],  # whoever is beyond the bounds counts in the last interval
                    mode="lines",
                    line={"color": SAND if len(curves) == 1 else COLOURS[i % len(COLOURS)], "width": 2, "shape": "hv"},
                    yaxis="y2",
                    name=f"{whose}at most, from here on",
                    hovertemplate=f"{whose}from %{{x}} on: at most %{{y:,}}<extra></extra>",
                )
            )
        highest = [float(curve[0]) for curve in curves]
        figure.update_layout(
            yaxis2={
                **_axis(
                    f"{many(result.statement)} at most, from here on",
                    _span(
                        [*highest, *(float(curve[-1]) for curve in curves)], [0.0] * 2 * len(curves), ends, zero=True
                    ),
                ),
                "overlaying": "y",
                "tickmode": "auto",
                "side": "right",
            }
        )
    figure.update_layout(
        xaxis=_axis(escape(str(query.column)), [low[0], high[-1]]),
        yaxis={
            **_axis(f"{many(result.statement)} (noisy)", _span(counts, errors, ends, zero=True)),
            "showgrid": True,
            "zeroline": True,
        },
    )
    return figure


def bars(labels: list[str], counts: list[int], title: str) -> go.Figure:
    """Draw counts as bars, a line each; labels are escaped already."""
    figure = go.Figure(
        go.Bar(
            orientation="h",
            x=counts,
            y=list(range(len(labels))),
            marker={"color": BLUE},
            customdata=[f"{label}: {plain(count)}" for label, count in zip(labels, counts, strict=True)],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_layout(
        **LOOK,
        margin={"l": 50, "r": 12, "t": 12, "b": 60},
        showlegend=False,
        xaxis={
            **_axis(
                title, _span([float(count) for count in counts], [0.0] * len(counts), Possible(least=0.0), zero=True)
            ),
            "showgrid": True,
        },
        yaxis=_down(labels),
    )
    return figure


def _groups(result: Readable, errors: list[float]) -> go.Figure:
    answers, query = result.answers.slice(0, MOST_GROUPS), stated(result).query
    counted = "count" in answers.column_names
    values = answers["count" if counted else "value"].to_pylist()
    labels = [escape(group_of(row, query) or str(row["group"])) for row in answers.to_pylist()]
    places, ends = list(range(len(labels))), possible(result)
    shown: dict[str, Any] = {
        "x": values,
        "y": places,
        "error_x": _lines(values, errors, ends),
        "marker": {"color": BLUE} if counted else {"color": BLUE, "size": 11},
        "customdata": [f"{label}: {plain(value)}" for label, value in zip(labels, values, strict=True)],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    figure = go.Figure(go.Bar(orientation="h", **shown) if counted else go.Scatter(mode="markers", **shown))
    named = f"{many(result.statement)} (noisy)" if counted else escape(str(query.column))
    figure.update_layout(
        xaxis={**_axis(named, _span(values, errors, ends, zero=counted)), "showgrid": True, "zeroline": counted},
        yaxis=_down(labels),
    )
    return figure


def _crossed(result: Readable) -> go.Figure:
    """Draw a histogram of two numbers: a cell for the intervals of both, the darker the more there are."""
    first, second = stated(result).query.intervals
    across, up = (_edges(one) for one in (first, second))
    counts = result.answers["count"].to_pylist()
    n = len(up) - 1
    columns = [counts[i : i + n] for i in range(0, len(counts), n)]
    figure = go.Figure(
        go.Heatmap(
            x=across,
            y=up,
            z=[list(row) for row in zip(*columns, strict=True)],
            colorscale=[[0, "#f7f7f2"], [1, BLUE]],
            zmin=min(0, *counts),
            colorbar={"title": {"text": f"{many(result.statement)} (noisy)"}},
            hovertemplate=f"{escape(first.column)} %{{x}}, {escape(second.column)} %{{y}}: %{{z:,}}<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis=_axis(escape(first.column), [across[0], across[-1]]), yaxis=_axis(escape(second.column), [up[0], up[-1]])
    )
    return figure


def _edges(cut: CutStated) -> list[float]:
    lower, upper, step = (Fraction(end) for end in (cut.lower, cut.upper, cut.step))
    return [float(lower + i * step) for i in range(int((upper - lower) / step) + 1)]


def _percentiles(result: Readable) -> go.Figure:
    """Draw each group as a line from its smallest percentile to its largest, with a point for each."""
    query = stated(result).query
    assert isinstance(query.p, tuple)
    rows = result.answers.slice(0, MOST_GROUPS * len(query.p)).to_pylist()
    groups = [rows[i : i + len(query.p)] for i in range(0, len(rows), len(query.p))]
    labels = [escape(group_of(group[0], query) or "all") for group in groups]
    figure = go.Figure()
    for place, (label, group) in enumerate(zip(labels, groups, strict=True)):
        said, at = [f"{plain(row['percentile'])} %" for row in group], [row["value"] for row in group]
        # points that lie on one another are named together
        named = [
            ", ".join(s for s, v in zip(said, at, strict=True) if v == x) if x not in at[:i] else ""
            for i, x in enumerate(at)
        ]
        figure.add_trace(
            go.Scatter(
                mode="lines+markers+text" if len(said) <= _MOST_NAMED else "lines+markers",
                x=at,
                y=[place] * len(group),
                text=named,
                textposition="top center",
                line={"color": BLUE, "width": 2},
                marker={"color": BLUE, "size": 10},
                customdata=[f"{label}, {p}: {plain(row['value'])}" for p, row in zip(said, group, strict=True)],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure.update_layout(
        xaxis={
            **_axis(
                escape(str(query.column)),
                _span([row["value"] for row in rows], [0.0] * len(rows), possible(result), zero=False),
            ),
            "showgrid": True,
        },
        yaxis=_down(labels),
    )
    return figure


_MOST_NAMED = 9
"""Percentiles of a group that are named beside their points."""


def _down(labels: list[str]) -> dict[str, Any]:
    """Return the axis down the side, with the name of each group."""
    return {
        **_axis("", [len(labels) - 0.4, -0.6]),
        "tickvals": list(range(len(labels))),
        "ticktext": [label if len(label) <= 24 else label[:23] + "…" for label in labels],
    }


def _lines(values: list[float], reach: list[float], ends: Possible) -> dict[str, Any]:
    """Lines on both sides of each answer that end where no answer without noise can be."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, min(r, ends.most - v)) if ends.above else 0.0 for v, r in zip(values, reach, strict=True)],
        "arrayminus": [
            max(0.0, min(r, v - ends.least)) if ends.below else 0.0 for v, r in zip(values, reach, strict=True)
        ],
        "visible": any(reach),
        "color": "#666666",
        "thickness": 1.5,
        "width": 4,
    }


def _span(values: list[float], reach: list[float], possible: Possible, *, zero: bool) -> list[float]:
    """Return a range that holds the answers and their lines, 0 too for counts, and a margin."""
    lines = _lines(values, reach, possible)
    ends = [v + up for v, up in zip(values, lines["array"], strict=True)]
    ends += [v - down for v, down in zip(values, lines["arrayminus"], strict=True)] + ([0.0] if zero else [])
    low, high = min(ends), max(ends)
    margin = 0.06 * (high - low) or 1
    return [low - (margin if low < 0 or not zero else 0), high + margin]


def _axis(title: str, span: list[float]) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 12},
        "range": [float(end) for end in span],
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
        "fixedrange": True,
    }
