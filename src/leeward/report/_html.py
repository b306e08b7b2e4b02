# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file that makes no network request: everything it shows and runs is inside it.

Its Content-Security-Policy forbids every request, and every script but the three it carries, named by their digests:
a place whose name is a script stays a name. What all pages share is in ``base.html.j2``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

import plotly.graph_objects as go
import pyarrow as pa
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from leeward._statement import (
    GroupStatement,
    NumberQuery,
    NumberStatement,
    SelectionStatement,
    UnlistedStatement,
    VisitorQuery,
    VisitorStatement,
)
from leeward.outputs import write_page
from leeward.planner._people import there
from leeward.report import _levels as levels
from leeward.report import _names as names
from leeward.report import _numbers as numbers
from leeward.report import _unlisted as unlisted
from leeward.report import _words as words
from leeward.report._figures import decision_curve, joined, mapped, places_map
from leeward.report._number_figures import MOST_GROUPS, answers_figure, height
from leeward.report._page import asset, digest, embedded, template
from leeward.report._words import Readable, Tally

MOST_ROWS = 50_000
"""Rows of the answers carried in the report, and searched there; the rest is in answers.parquet, and the search says so."""

ROWS_A_PAGE = 25

_COLUMNS = {
    "place": "Place",
    "name": "Name",
    "state": "Said to be",
    "count": "Noisy count",
    "answered": "Asked",
    "look": "Look",
    "left_out": "Left out at most",
}


def write_report(result: Readable, path: str | Path) -> Path:
    """Write the report of a release as one HTML file and return its path.

    Raises:
        InputError: there is another file, or a report that was changed since it was written; or it cannot be written.
    """
    return write_page(path, report_html(result))


def report_html(result: Readable) -> str:
    """Return the report of a release as one self-contained HTML page.

    Only published things are read: the answers, the public list of their keys, and the privacy statement.
    """
    statement = result.statement
    shown = _shown(result)
    scripts = [get_plotlyjs(), asset("report.js")]
    rows, listed = _rows(result.answers, shown.columns), _listed(result.answers, shown.columns)
    text = statement.to_json()
    return template(shown.template).render(
        statement=statement,
        words=words,
        headline=shown.headline,
        may=shown.may,
        may_not=shown.may_not,
        asked=shown.asked,
        figures={name: embedded(figure.to_json()) for name, figure in shown.figures.items()},
        columns=[shown.columns[name] for name in listed],
        said=listed.index("state") if "state" in listed else None,
        nouns=shown.nouns,
        find=shown.find,
        rows=rows,
        all_rows=result.answers.num_rows,
        first_rows=rows[:ROWS_A_PAGE],
        rows_json=embedded(_json(rows)),
        statement_json=embedded(text),
        statement_text=text,
        style=Markup(asset("report.css")),
        scripts=[Markup(script) for script in scripts],
        digests=[digest(script) for script in scripts],
        **shown.more,
    )


def headline(result: Readable) -> str:
    """Return what the report of a release begins with."""
    return _shown(result).headline


@dataclass(frozen=True)
class _Shown:
    """What differs between the reports of different questions."""

    template: str
    headline: str
    may: list[str]
    may_not: list[str]
    asked: list[tuple[str, str]]
    figures: Mapping[str, go.Figure]
    columns: Mapping[str, str]
    nouns: tuple[str, str]
    find: str
    more: Mapping[str, Any]


def _shown(result: Readable) -> _Shown:
    match result.statement:
        case (VisitorStatement() | GroupStatement()) as statement:
            return _decided(result, statement)
        case NumberStatement() as statement:
            return _numbers(result, statement)
        case SelectionStatement() as statement:
            return _names(result, statement)
        case UnlistedStatement() as statement:
            return _unlisted(result, statement)
        case never:
            assert_never(never)


def _names(result: Readable, statement: SelectionStatement) -> _Shown:
    figures = {"map": places_map(result)} if mapped(result) else {}
    of, noun = statement.query.of, statement.query.noun
    columns = _COLUMNS if isinstance(of, VisitorQuery) else _of_groups(of)
    return _Shown(
        "names.html.j2",
        names.headline(result),
        [words.sentence(said) for said in statement.guaranteed],
        [words.sentence(said) for said in statement.not_guaranteed],
        names.asked(statement),
        figures,
        columns,
        (noun, f"{noun}s"),
        noun,
        {
            "lead": names.lead(statement),
            "named": names.named(result),
            "map_ratio": _ratio(figures["map"]) if figures else None,
        },
    )


def _of_groups(query: NumberQuery) -> dict[str, str]:
    """Return the columns of public keys that are groups or intervals, and their headings."""
    ends = {"from": f"{query.column} from", "to": "up to", "above": f"{query.column} above"}
    return {**numbers.of_groups(query), **ends}


def _decided(result: Readable, statement: VisitorStatement | GroupStatement) -> _Shown:
    tally, query = Tally.of(result.answers), statement.query
    of_visits = isinstance(query, VisitorQuery)
    asked = words.visited(query) if isinstance(query, VisitorQuery) else numbers.taken(query, query.many)
    figures = {"curve": decision_curve(statement)}
    if mapped(result):
        figures["map"] = places_map(result)
    return _Shown(
        "decided.html.j2",
        levels.headline(result, statement) if query.noun == "level" else words.headline(statement, tally),
        words.may_conclude(statement, tally),
        words.may_not_conclude(statement, tally),
        [*words.question(statement), *asked],
        figures,
        _COLUMNS if isinstance(query, VisitorQuery) else {**_of_groups(query), **_COLUMNS},
        (query.noun, f"{query.noun}s"),
        "place or name" if of_visits else query.noun,
        {
            "tally": tally,
            "noun": query.noun,
            "counted": f"{query.many} {there(query.noun)}",
            "map_ratio": _ratio(figures["map"]) if "map" in figures else None,
            "undrawn": tally.places - mapped(result),
            "joined": "map" in figures and joined(figures["map"]),
        },
    )


def _numbers(result: Readable, statement: NumberStatement) -> _Shown:
    single, rows = numbers.single(result), result.answers.num_rows
    return _Shown(
        "numbers.html.j2",
        numbers.headline(result),
        [words.sentence(said) for said in statement.guaranteed],
        [words.sentence(said) for said in statement.not_guaranteed],
        numbers.asked(statement),
        {} if single else {"answers": answers_figure(result)},
        numbers.columns(statement),
        ("answer", "answers"),
        "group" if statement.query.groups else "number",
        {
            "single": single,
            "height": height(result),
            "drawn": rows if "from" in result.answers.column_names else min(rows, MOST_GROUPS),
            "lead": numbers.lead(result),
            "caption": numbers.caption(result),
            "errors": numbers.errors(statement),
            "by_number": numbers.by_number(statement),
            "kind": statement.query.kind,
            "many": words.many(statement),
        },
    )


def _unlisted(result: Readable, statement: UnlistedStatement) -> _Shown:
    return _Shown(
        "unlisted.html.j2",
        unlisted.headline(result),
        [words.sentence(said) for said in statement.guaranteed],
        [words.sentence(said) for said in statement.not_guaranteed],
        unlisted.asked(statement),
        {"answers": unlisted.figure(result)} if result.answers.num_rows else {},
        {"group": statement.query.by, "count": "Noisy count"},
        ("group", "groups"),
        "group",
        {
            "lead": unlisted.lead(statement),
            "height": unlisted.height(result),
            "drawn": min(result.answers.num_rows, MOST_GROUPS),
            "many": words.many(statement),
            "odds": unlisted.odds(statement),
        },
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _listed(answers: pa.Table, columns: Mapping[str, str]) -> list[str]:
    return [name for name in columns if name in answers.column_names]


def _rows(answers: pa.Table, columns: Mapping[str, str]) -> list[list[str]]:
    """Return the first answers as text: the keys of places may be integers that a browser would round."""
    first = answers.slice(0, MOST_ROWS)
    return [
        [_text(value) for value in row]
        for row in zip(*(first[name].to_pylist() for name in _listed(answers, columns)), strict=True)
    ]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return numbers.plain(value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _ratio(figure: go.Figure) -> float:
    """Return the width of the map over its height, kept within what is pleasant on a page."""
    (left, right), (bottom, top) = (_pair(axis.range) for axis in (figure.layout.xaxis, figure.layout.yaxis))
    return min(max((right - left) / (top - bottom), 0.8), 2.2)


def _pair(ends: Sequence[float]) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])
