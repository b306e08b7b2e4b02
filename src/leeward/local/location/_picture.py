# SPDX-License-Identifier: Apache-2.0
"""A picture of what the noise does to positions: reports of made-up people, in metres, with no tiles and no network."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from leeward.local.location._terms import PositionNoise

REPORTS: Final = 600
"""Reports drawn for each made-up person."""

_LOOKS: Final = (("#0b6e6e", "circle"), ("#b3541e", "triangle-up"), ("#5a4fa2", "square"))
_TURN: Final = np.linspace(0, 2 * np.pi, 181)


def picture(geo: PositionNoise, people: list[tuple[float, float]] | None = None) -> go.Figure:
    """Draw reports of made-up people, with the circles that hold half and 95 % of those of the first.

    There are no circles where reports are moved to places or cells: they hold other shares of those. People are given as
    latitudes and longitudes; by default one is in the middle of the box, and one as far to the east as half of the reports
    lie away: it is hard to say which report is whose.
    """
    away, box = geo.describe(), geo.box
    west, south, east, north = geo.plane.extent()
    if people is None:
        pair = geo.plane.unproject(np.array([[0.0, 0.0], [min(away.median, east / 2), 0.0]]))
        people = [*zip(pair[0].tolist(), pair[1].tolist(), strict=True)]
    at = geo.plane.project(*np.array(people, np.float64).T)
    figure = go.Figure()
    figure.add_shape(type="rect", x0=west, y0=south, x1=east, y1=north, line={"color": "#888", "dash": "dot"})
    for number, (latitude, longitude) in enumerate(people):
        colour, symbol = _LOOKS[number % len(_LOOKS)]
        reports = geo.plane.project(*geo.perturb_points(np.full(REPORTS, latitude), np.full(REPORTS, longitude)))
        figure.add_scatter(
            x=reports[:, 0], y=reports[:, 1], mode="markers", name=f"{REPORTS} reports of person {number + 1}",
            marker={"size": 5, "color": colour, "opacity": 0.5, "symbol": symbol}, hoverinfo="skip",
        )  # fmt: skip
    if geo.terms.places is None and geo.terms.h3 is None:
        for radius, share, dash in ((away.median, "half", "solid"), (away.within_95, "95 %", "dash")):
            figure.add_scatter(
                x=at[0, 0] + radius * np.cos(_TURN), y=at[0, 1] + radius * np.sin(_TURN), mode="lines",
                name=f"{share} of reports within {radius:,.0f} m", line={"color": _LOOKS[0][0], "dash": dash},
                hoverinfo="skip",
            )  # fmt: skip
    for number, (x, y) in enumerate(at.tolist()):
        colour, symbol = _LOOKS[number % len(_LOOKS)]
        figure.add_scatter(
            x=[x], y=[y], mode="markers", name=f"where person {number + 1} is", hoverinfo="name",
            marker={"symbol": symbol, "size": 14, "color": colour, "line": {"color": "black", "width": 2}},
        )  # fmt: skip
    reach = 1.4 * away.within_95
    axis: dict[str, Any] = {"zeroline": False, "gridcolor": "#eee"}
    figure.update_layout(
        title=f"What the noise does to made-up people: {geo.promise}",
        template="plotly_white",
        xaxis={
            **axis,
            "title": f"metres east of {box.middle[1]:.4f}°",
            "range": [at[:, 0].min() - reach, at[:, 0].max() + reach],
        },
        yaxis={
            **axis,
            "title": f"metres north of {box.middle[0]:.4f}°",
            "range": [at[:, 1].min() - reach, at[:, 1].max() + reach],
            "scaleanchor": "x",
        },
        height=780,
    )
    return figure


def write_pictures(levels: Mapping[str, PositionNoise], path: Path) -> None:
    """Write one picture for each level of ε, one below the other, as one HTML file that needs nothing else."""
    if "" in levels:  # one, without a name
        picture(levels[""]).write_html(path, include_plotlyjs=True, full_html=True)
        return
    parts = [
        f"<h2>Level {escape(name)}</h2>\n{picture(geo).to_html(full_html=False, include_plotlyjs=number == 0)}"
        for number, (name, geo) in enumerate(levels.items())
    ]
    page = '<html>\n<head><meta charset="utf-8" /></head>\n<body>\n' + "\n".join(parts) + "\n</body>\n</html>\n"
    path.write_text(page, encoding="utf-8")
