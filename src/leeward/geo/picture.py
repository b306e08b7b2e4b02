"""A picture of what the noise does to positions: reports of made-up people, in metres, with no tiles and no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go

if TYPE_CHECKING:
    from leeward.geo import PlanarLaplace

REPORTS: Final = 400
"""Reports drawn for each made-up person."""

_COLOURS: Final = ("#0b6e6e", "#b3541e", "#5a4fa2")


def picture(geo: PlanarLaplace, people: list[tuple[float, float]] | None = None) -> go.Figure:
    """Draw reports of made-up people, with the circles that hold half and 95 % of them.

    Args:
        geo: the mechanism.
        people: latitudes and longitudes of the made-up people; by default one in the middle of the box, one half-way to its
            north-east corner, and one in the south-west corner, where reports pile up at the edge.
    """
    box, away = geo.box, geo.describe()
    if people is None:
        shares = ((0.5, 0.5), (0.75, 0.75), (0.02, 0.02))
        people = [
            (box.south + up * (box.north - box.south), (box.west + across * box.width + 180) % 360 - 180)
            for up, across in shares
        ]
    figure = go.Figure()
    west, south, east, north = geo.plane.extent()
    figure.add_shape(type="rect", x0=west, y0=south, x1=east, y1=north, line={"color": "#888", "dash": "dot"})
    turn = np.linspace(0, 2 * np.pi, 181)
    for number, (latitude, longitude) in enumerate(people):
        colour = _COLOURS[number % len(_COLOURS)]
        reports = geo.plane.project(*geo.perturb_points(np.full(REPORTS, latitude), np.full(REPORTS, longitude)))
        at = geo.plane.project(np.array([latitude]), np.array([longitude]))[0]
        name = f"person {number + 1}"
        figure.add_scatter(
            x=reports[:, 0], y=reports[:, 1], mode="markers", name=f"{REPORTS} reports of {name}",
            marker={"size": 4, "color": colour, "opacity": 0.45}, hoverinfo="skip",
        )  # fmt: skip
        for radius, share, dash in ((away.median, "half", "solid"), (away.within_95, "95 %", "dash")):
            figure.add_scatter(
                x=at[0] + radius * np.cos(turn), y=at[1] + radius * np.sin(turn), mode="lines",
                name=f"{share} within {radius:,.0f} m", line={"color": colour, "dash": dash, "width": 1.5},
                hoverinfo="name", showlegend=number == 0,
            )  # fmt: skip
        figure.add_scatter(
            x=[at[0]], y=[at[1]], mode="markers", name=f"where {name} is",
            marker={"symbol": "x", "size": 11, "color": colour, "line": {"color": "white", "width": 1}},
        )  # fmt: skip
    axis: dict[str, Any] = {"zeroline": False, "gridcolor": "#eee"}
    middle = box.middle
    figure.update_layout(
        title=f"Made-up people and their reports: {geo.promise}",
        template="plotly_white",
        xaxis={**axis, "title": f"metres east of {middle[1]:.4f}°"},
        yaxis={**axis, "title": f"metres north of {middle[0]:.4f}°", "scaleanchor": "x"},
        legend={"orientation": "v"},
        height=800,
    )
    return figure


def write_picture(geo: PlanarLaplace, path: Path) -> None:
    """Write the picture as one HTML file that needs nothing else."""
    picture(geo).write_html(path, include_plotlyjs=True, full_html=True)
