# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file that makes no network request: everything it shows and runs is inside it.

Its Content-Security-Policy forbids every request, and every script but the three it carries, named by their digests:
a place whose name is a script stays a name. What all pages share is in ``base.html.j2``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, assert_never

import plotly.graph_objects as go
import pyarrow as pa
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from leeward._plain import at_most
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
from leeward.planner._people import those_there
from leeward.report import _levels as levels
from leeward.report import _names as names
from leeward.report import _numbers as numbers
from leeward.report import _unlisted as unlisted
from leeward.report import _words as words
from leeward.report._figures import decision_curve, joined, mapped, places_map
from leeward.report._number_figures import MOST_GROUPS, answers_figure, height, height_of
from leeward.report._page import asset, digest, embedded, embedded_as_it_is, template
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
    shown = shown_of(result)
    text = result.statement.to_json()
    return template(shown.template).render(
        **said(result, shown),
        **carried(shown.figures(), [asset("report.js")]),
        statement_json=embedded_as_it_is(text),
        statement_text=text,
        windows=None,
        fixed=True,
    )


def said(result: Readable, shown: Shown) -> dict[str, Any]:
    """Return what a page says of a release, by the names in the templates; pictures and scripts are `carried`."""
    rows, listed = _rows(result.answers, shown.columns), columns_of(result.answers, shown.columns)
    return {
        "statement": result.statement,
        "words": words,
        "headline": shown.headline,
        "may": shown.may,
        "may_not": shown.may_not,
        "asked": shown.asked,
        "columns": [shown.columns[name] for name in listed],
        "said": listed.index("state") if "state" in listed else None,
        "whole": [name == "state" or pa.types.is_primitive(result.answers[name].type) for name in listed],
        "nouns": (shown.noun, f"{shown.noun}s"),
        "find": shown.find,
        "rows": rows,
        "all_rows": result.answers.num_rows,
        "here": len(rows),
        "first_rows": rows[:ROWS_A_PAGE],
        "rows_json": embedded(as_json(rows)),
        **shown.more,
    }


def carried(figures: Mapping[str, go.Figure], own: Sequence[str]) -> dict[str, Any]:
    """Return the pictures of a page, its style, and its scripts: Plotly's and our own, with their digests."""
    scripts = [get_plotlyjs(), *own]
    return {
        "figures": {name: embedded(figure.to_json()) for name, figure in figures.items()},
        "map_ratio": _ratio(figures["map"]) if "map" in figures else None,
        "joined": "map" in figures and bool(figures["map"].data) and joined(figures["map"]),
        "style": Markup(asset("report.css")),
        "scripts": [Markup(script) for script in scripts],
        "digests": [digest(script) for script in scripts],
    }


def headline(result: Readable) -> str:
    """Return what the report of a release begins with."""
    return shown_of(result).headline


@dataclass(frozen=True)
class Shown:
    """What differs between the reports of different questions; pictures are made when they are asked for."""

    template: str
    headline: str
    asked: list[tuple[str, str]]
    figures: Callable[[], Mapping[str, go.Figure]]
    columns: Mapping[str, str]
    noun: str
    find: str
    more: Mapping[str, Any]
    may: Sequence[str] = ()
    """What may be concluded; by default what the statement guarantees."""
    may_not: Sequence[str] = ()
    """What may not; by default what it says so of."""


def shown_of(result: Readable) -> Shown:
    """Return what differs between the report of this release and those of other questions."""
    made, statement = _shown(result), result.statement
    return replace(
        made,
        asked=[*words.question(statement), *made.asked],
        may=made.may or [words.sentence(said) for said in statement.guaranteed],
        may_not=made.may_not or [words.sentence(said) for said in statement.not_guaranteed],
    )


def _shown(result: Readable) -> Shown:
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


def _names(result: Readable, statement: SelectionStatement) -> Shown:
    of, noun = statement.query.of, statement.query.noun
    columns = _COLUMNS if isinstance(of, VisitorQuery) else _of_groups(of)
    return Shown(
        "names.html.j2",
        names.headline(result),
        _taken(of),
        lambda: {"map": places_map(result)} if mapped(result) else {},
        columns,
        noun,
        noun,
        {
            "lead": names.lead(statement),
            "named": names.named(result),
        },
    )


def _taken(query: VisitorQuery | NumberQuery) -> list[tuple[str, str]]:
    return words.visited(query) if isinstance(query, VisitorQuery) else numbers.taken(query)


def _of_groups(query: NumberQuery) -> dict[str, str]:
    """Return the columns of public keys that are groups or intervals, and their headings."""
    ends = {"from": f"{query.column} from", "to": "up to", "above": f"{query.column} above"}
    return {**numbers.of_groups(query), **ends}


def _decided(result: Readable, statement: VisitorStatement | GroupStatement) -> Shown:
    tally, query = Tally.of(result.answers), statement.query
    return Shown(
        "decided.html.j2",
        levels.headline(result, statement) if query.noun == "level" else words.headline(statement, tally),
        _taken(query),
        lambda: {"curve": decision_curve(statement)} | ({"map": places_map(result)} if mapped(result) else {}),
        _COLUMNS if isinstance(query, VisitorQuery) else {**_of_groups(query), **_COLUMNS},
        query.noun,
        "place or name" if isinstance(query, VisitorQuery) else query.noun,
        {
            "tally": tally,
            "choices": [*tally.states],
            "noun": query.noun,
            "counted": those_there(query.noun, query.many, counted=words.of_counted(statement)),
            "undrawn": tally.places - mapped(result),
        },
        words.may_conclude(statement, tally),
        words.may_not_conclude(statement, tally),
    )


def _numbers(result: Readable, statement: NumberStatement) -> Shown:
    single, rows = numbers.single(result), result.answers.num_rows
    return Shown(
        "numbers.html.j2",
        numbers.headline(result),
        numbers.taken(statement.query),
        lambda: {} if single else {"answers": answers_figure(result)},
        numbers.columns(statement),
        "answer",
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


def _unlisted(result: Readable, statement: UnlistedStatement) -> Shown:
    return Shown(
        "unlisted.html.j2",
        unlisted.headline(result),
        unlisted.taken(statement.query),
        lambda: {"answers": unlisted.figure(result)} if result.answers.num_rows else {},
        {"group": statement.query.by, "count": "Noisy count"},
        "group",
        "group",
        {
            "lead": unlisted.lead(statement),
            "height": height_of(result.answers.num_rows),
            "drawn": min(result.answers.num_rows, MOST_GROUPS),
            "many": words.many(statement),
            "odds": unlisted.odds(statement),
        },
    )


def as_json(value: object) -> str:
    """Write a value as JSON, in as few characters as there are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def columns_of(answers: pa.Table, columns: Mapping[str, str]) -> list[str]:
    """Return the columns of answers that are listed, in the order of the page."""
    return [name for name in columns if name in answers.column_names]


def _rows(answers: pa.Table, columns: Mapping[str, str]) -> list[list[str]]:
    """Return the first answers as text: the keys of places may be integers that a browser would round."""
    first = answers.slice(0, MOST_ROWS)
    names = columns_of(answers, columns)
    return [
        [text(value, name) for name, value in zip(names, row, strict=True)]
        for row in zip(*(first[name].to_pylist() for name in names), strict=True)
    ]


def text(value: object, column: str) -> str:
    """Write a published value of a column as it stands in the table; an error that is kept is rounded up."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return at_most(value) if column == "within_95_percent" else numbers.plain(value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _ratio(figure: go.Figure) -> float:
    """Return the width of the map over its height, kept within what is pleasant on a page."""
    (left, right), (bottom, top) = (map(float, axis.range) for axis in (figure.layout.xaxis, figure.layout.yaxis))
    return min(max((right - left) / (top - bottom), 0.8), 2.2)


def overview_html(releases: Mapping[str, Sequence[Readable]]) -> str:
    """Return one self-contained HTML page, without scripts, that makes no network request.

    The releases, one a window, are given by the path of each question's report; all are charged to one budget.
    """
    each = [one for windows in releases.values() for one in windows]
    first = each[0].statement
    return template("overview.html.j2").render(
        statement=first,
        words=words,
        unfit=any(not one.statement.fit_for_release for one in each),
        asked=[
            {
                "path": path,
                "name": path.partition("/")[0],
                "headline": headline(windows[0]) if len(windows) == 1 else f"{len(windows):,} windows",
                "text": ("" if len(windows) == 1 else "In the first window: ") + windows[0].statement.query.text,
                "guaranteed": words.nearest(windows[0].statement.guaranteed),
                "notion": f"{windows[0].statement.notion.name} at {windows[0].statement.strength}"
                + ("" if len(windows) == 1 else " in each window, all together at the sum of their prices"),
                "price": words.together(one.statement for one in windows),
            }
            for path, windows in releases.items()
        ],
        total=words.together(one.statement for one in each),
        counted_in=None if first.budget is None else first.budget.notion,
        style=Markup(asset("report.css")),
    )
