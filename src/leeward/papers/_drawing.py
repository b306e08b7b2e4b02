# SPDX-License-Identifier: Apache-2.0
"""How the figures look: the report's colours and font, curves as lines, what was simulated as points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from leeward.report._figures import BLUE, GREY, LOOK, RED, SAND

PURPLE, GREEN = "#8a4f9e", "#00806a"
COLOURS = {
    "ALap, corrected": BLUE,
    "ALap as printed": "#67b1de",
    "(ε, δ)-DP, bound of III-B": RED,
    "(ε, δ)-DP, true optimum": SAND,
    "ε-DP, bound of III-A": GREY,
    "ε-DP, true optimum": PURPLE,
}
"""Each competitor keeps its colour through all figures of ADP."""


def panels(titles: Sequence[str], columns: int | None = None, **options: Any) -> go.Figure:
    """Return an empty figure with a panel for each title, in the look of the report."""
    width = columns or len(titles)
    rows = -(-len(titles) // width)
    figure = make_subplots(rows=rows, cols=width, subplot_titles=list(titles), **options)
    figure.update_layout(
        **LOOK,
        margin={"l": 58, "r": 14, "t": 78, "b": 52},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yref": "container", "yanchor": "top"},
        hovermode="closest",
    )
    figure.update_xaxes(zeroline=False, showgrid=False, ticks="outside", automargin=True, title_standoff=6)
    figure.update_yaxes(zeroline=False, gridcolor="#e4e1da", automargin=True, title_standoff=6)
    return figure


def place(figure: go.Figure, number: int) -> dict[str, int]:
    """Return row and col of a panel, counted from 0 along the rows."""
    columns = len(figure._grid_ref[0])
    return {"row": number // columns + 1, "col": number % columns + 1}


def lines(
    figure: go.Figure,
    panel: int,
    data: pd.DataFrame,
    x: str,
    names: Iterable[str],
    colours: Mapping[str, str],
    *,
    dashed: Iterable[str] = (),
) -> None:
    """Draw columns of a table as lines over another column; a name is in the legend once, with the first panel."""
    for name in names:
        figure.add_trace(
            go.Scatter(
                x=data[x].tolist(),
                y=data[name].tolist(),
                name=name,
                legendgroup=name,
                showlegend=not any(trace.name == name for trace in figure.data),
                mode="lines",
                line={"color": colours[name], "width": 2, "dash": "dot" if name in set(dashed) else "solid"},
            ),
            **place(figure, panel),
        )


def points(figure: go.Figure, panel: int, x: Sequence[Any], y: Sequence[float], name: str, colour: str) -> None:
    """Draw what was simulated (or measured) as points."""
    figure.add_trace(
        go.Scatter(
            x=list(x),
            y=list(y),
            name=name,
            legendgroup=name,
            showlegend=not any(trace.name == name for trace in figure.data),
            mode="markers",
            marker={"color": colour, "size": 8, "symbol": "circle-open", "line": {"width": 2}},
        ),
        **place(figure, panel),
    )


def axes(figure: go.Figure, panel: int, x: str, y: str = "", **options: Any) -> None:
    """Name the axes of a panel; options are those of both axes, with the prefix x_ or y_."""
    here = place(figure, panel)
    figure.update_xaxes(title_text=x, **{k[2:]: v for k, v in options.items() if k.startswith("x_")}, **here)
    figure.update_yaxes(title_text=y, **{k[2:]: v for k, v in options.items() if k.startswith("y_")}, **here)
