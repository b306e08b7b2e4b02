# SPDX-License-Identifier: Apache-2.0
"""The page: every claim beside its number, every figure, one file that asks nothing of the network."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pandas as pd
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from leeward.papers._claim import SOURCES, Figure, show
from leeward.papers._recomputed import Recomputed, rows
from leeward.report._page import asset, digest, embedded, environment
from leeward.version import __version__

MOST_ROWS = 60
"""Rows of a table shown on the page; its CSV has all."""


def page(found: Recomputed) -> str:
    """Return the page as HTML. It has the look of the report, and like it forbids every request and foreign script."""
    ours = files("leeward.papers").joinpath("assets")
    style = asset("report.css") + ours.joinpath("papers.css").read_text("utf-8")
    scripts = [get_plotlyjs(), ours.joinpath("papers.js").read_text("utf-8")]
    chapters = [
        (key, title, [c for c in found.claims if c.source == key], [f for f in found.figures if f.source == key])
        for key, title in SOURCES.items()
    ]
    return (
        environment()
        .from_string(ours.joinpath("papers.html.j2").read_text("utf-8"))
        .render(
            found=found,
            version=__version__,
            chapters=[chapter for chapter in chapters if chapter[2] or chapter[3]],
            corrections=rows(found.claims),
            drawings={f.key: embedded(f.drawing.to_json()) for f in found.figures if f.drawing is not None},
            tables={f.key: table(f) for f in found.figures if f.drawing is None},
            most_rows=MOST_ROWS,
            numbers=embedded(json.dumps(found.to_dict(), ensure_ascii=False, separators=(",", ":"))),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            digests=[digest(script) for script in scripts],
        )
    )


def table(figure: Figure) -> dict[str, Any]:
    """Return head and body of a table as text."""
    body = [[_text(value) for value in row] for row in figure.data.head(MOST_ROWS).itertuples(index=False)]
    return {"head": [str(name).replace("_", " ") for name in figure.data.columns], "body": body}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if pd.isna(value) else show(float(value))
