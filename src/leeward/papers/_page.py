# SPDX-License-Identifier: Apache-2.0
"""The page: every claim beside its number, every figure, one file that asks nothing of the network."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from leeward.papers._claim import SOURCES, Figure, show
from leeward.papers._recomputed import Recomputed, rows
from leeward.version import __version__

MOST_ROWS = 60
"""Rows of a table shown on the page; its CSV has all."""


def page(found: Recomputed) -> str:
    """Return the page as HTML. It has the look of the report, and like it forbids every request and foreign script."""
    ours = files("leeward.papers").joinpath("assets")
    style = files("leeward.report").joinpath("assets/report.css").read_text("utf-8") + ours.joinpath(
        "papers.css"
    ).read_text("utf-8")
    scripts = [get_plotlyjs(), ours.joinpath("papers.js").read_text("utf-8")]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    chapters = [
        (key, title, [c for c in found.claims if c.source == key], [f for f in found.figures if f.source == key])
        for key, title in SOURCES.items()
    ]
    return environment.from_string(ours.joinpath("papers.html.j2").read_text("utf-8")).render(
        found=found,
        version=__version__,
        chapters=[chapter for chapter in chapters if chapter[2] or chapter[3]],
        corrections=rows(found.claims),
        drawings={f.key: _embedded(f.drawing.to_json()) for f in found.figures if f.drawing is not None},
        tables={f.key: table(f) for f in found.figures if f.drawing is None},
        most_rows=MOST_ROWS,
        numbers=_embedded(json.dumps(found.to_dict(), ensure_ascii=False, separators=(",", ":"))),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
        digests=["sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
    )


def table(figure: Figure) -> dict[str, Any]:
    """Return head and body of a table as text."""
    body = [[_text(value) for value in row] for row in figure.data.head(MOST_ROWS).itertuples(index=False)]
    return {"head": [str(name).replace("_", " ") for name in figure.data.columns], "body": body}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if pd.isna(value) else show(float(value))


def _embedded(text: str) -> Markup:
    """Make JSON safe inside a script element: only its strings can hold these characters."""
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
