"""The report as one HTML file that makes no network request: everything it shows and runs is inside it.

Its Content-Security-Policy forbids every request, and every script but the three it carries, named by their digests:
a place whose name is a script stays a name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from leeward.report import words
from leeward.report.figures import decision_curve, mapped, places_map
from leeward.report.page import asset, digest, embedded, template
from leeward.report.words import Readable, Tally

MOST_ROWS = 5_000
"""Rows of the answers carried in the report; the rest is in answers.parquet."""

ROWS_A_PAGE = 25

_COLUMNS = {"place": "Place", "name": "Name", "state": "Said to be", "count": "Noisy count", "answered": "Asked"}


def write_report(result: Readable, path: str | Path) -> Path:
    """Write the report of a release as one HTML file and return its path."""
    path = Path(path)
    path.write_text(report_html(result), encoding="utf-8")
    return path


def report_html(result: Readable) -> str:
    """Return the report of a release as one self-contained HTML page.

    Only published things are read: the answers, the public list of places, and the privacy statement.
    """
    statement, tally = result.statement, Tally.of(result.answers)
    figures = {"curve": decision_curve(statement)}
    if mapped(result):
        figures["map"] = places_map(result)
    rows = _rows(result.answers)
    scripts = [get_plotlyjs(), asset("report.js")]
    return template("report.html.j2").render(
        statement=statement,
        tally=tally,
        words=words,
        figures={name: embedded(figure.to_json()) for name, figure in figures.items()},
        map_ratio=_ratio(figures["map"]) if "map" in figures else None,
        undrawn=tally.places - mapped(result),
        columns=[_COLUMNS[name] for name in _listed(result.answers)],
        rows=rows,
        first_rows=rows[:ROWS_A_PAGE],
        rows_json=embedded(_json(rows)),
        statement_json=embedded(json.dumps(statement, ensure_ascii=False, indent=2)),
        statement_text=json.dumps(statement, ensure_ascii=False, indent=2),
        style=Markup(asset("report.css")),
        scripts=[Markup(script) for script in scripts],
        digests=[digest(script) for script in scripts],
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _listed(answers: pa.Table) -> list[str]:
    return [name for name in _COLUMNS if name in answers.column_names]


def _rows(answers: pa.Table) -> list[list[str]]:
    """Return the first answers as text: the keys of places may be integers that a browser would round."""
    first = answers.slice(0, MOST_ROWS)
    return [
        [_text(value) for value in row]
        for row in zip(*(first[name].to_pylist() for name in _listed(answers)), strict=True)
    ]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _ratio(figure: go.Figure) -> float:
    """Return the width of the map over its height, kept within what is pleasant on a page."""
    (left, right), (bottom, top) = (_pair(axis.range) for axis in (figure.layout.xaxis, figure.layout.yaxis))
    return min(max((right - left) / (top - bottom), 0.8), 2.2)


def _pair(ends: Sequence[float]) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])
