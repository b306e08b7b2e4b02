# SPDX-License-Identifier: Apache-2.0
"""Pages, filled from templates with the filters and the look of the reports; what is put into them is escaped."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import jinja2
from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import escape
from plotly.offline import get_plotlyjs

from leeward._plain import own_decimals
from leeward.desk._guard import HEADERS
from leeward.report._page import asset, embedded, environment

ASSETS: Final = Path(__file__).parent / "assets"


@functools.cache
def _environment() -> jinja2.Environment:
    made = environment().overlay(loader=jinja2.FileSystemLoader(ASSETS))
    made.filters["amount"] = amount
    made.filters["sent"] = escape  # what a form sends back is the name as it is, not as it is shown
    return made


@own_decimals()
def amount(exactly: Fraction | None) -> str:
    """Write an amount of a budget: as a decimal where it has few digits, else as the fraction that it is."""
    if exactly is None:
        return "–"
    decimal = format((Decimal(exactly.numerator) / Decimal(exactly.denominator)).normalize(), "f")
    return decimal if len(decimal) <= 8 and Fraction(decimal) == exactly else str(exactly)


def page(request: Request, name: str, status: int = 200, **shown: Any) -> Response:
    """Return a page.

    Args:
        request: what it answers.
        name: of the template, without its endings.
        status: of the answer.
        shown: what the template shows; ``figures`` are drawn.
    """
    figures = {key: embedded(figure.to_json()) for key, figure in shown.pop("figures", {}).items()}
    text = (
        _environment()
        .get_template(f"{name}.html.j2")
        .render(secret=request.app.state.secret, figures=figures, here=request.url.path, **shown)
    )
    drawn = {"Content-Security-Policy": HEADERS["Content-Security-Policy"].replace("style-src 'self'", _DRAWN)}
    return HTMLResponse(text, status, headers=drawn if figures else None)


_DRAWN: Final = "style-src 'self' 'unsafe-inline'"
"""Plotly writes styles into what it draws; scripts stay those of the desk alone."""


def refusal(status: int, message: str) -> Response:
    """Return the page that says why nothing is shown."""
    text = _environment().get_template("refused.html.j2").render(message=message, status=status, figures={})
    return HTMLResponse(text, status)


def see(path: str) -> Response:
    """Send a browser on after a form, so that going back and reloading send nothing again."""
    return RedirectResponse(path, 303)


@functools.cache
def static() -> Mapping[str, tuple[str, str]]:
    """Return the style and the scripts of the pages, each with its media type."""
    scripts, style = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
    return {
        "desk.css": (asset("report.css") + (ASSETS / "desk.css").read_text("utf-8"), style),
        "desk.js": ((ASSETS / "desk.js").read_text("utf-8"), scripts),
        "figures.js": (asset("plan.js"), scripts),
        "plotly.js": (get_plotlyjs(), scripts),
    }
