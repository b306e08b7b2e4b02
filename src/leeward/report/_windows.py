# SPDX-License-Identifier: Apache-2.0
"""One page over the windows of a question, with a slider over time: each window says what its own report would say.

Scripts, pictures and public keys are in the page once. What is said of a place is kept as one digit a place and window, so
that a year of a city fits into a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from leeward._buffers import as_numpy
from leeward._plain import counted
from leeward._statement import DecidingStatement, SelectionStatement, Statement, window_of
from leeward.planner._decisions import STATES
from leeward.report import _words as words
from leeward.report._figures import mapped, places_over_time
from leeward.report._html import MOST_ROWS, Shown, as_json, carried, columns_of, said, shown_of, text
from leeward.report._page import asset, embedded, environment, template
from leeward.report._words import Readable

MOST_ANSWERS = 4_000_000
"""Answers of all windows that a page carries; of more, the first rows of each window."""

_PARTS = ("headed", "read", "asked", "told")
"""The parts of a page that differ between windows."""

_SECONDS = re.compile(r"(?<=:[0-5][0-9]):00(?![0-9.])")
"""Seconds that say nothing; a date and an offset from UTC have none before them."""

_DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyz", np.uint8)


def windows_html(releases: Sequence[Readable]) -> str:
    """Return the page of the releases of several windows of one question, as one self-contained HTML page.

    Args:
        releases: one a window, in the order of time; all of one question, charged to one budget.
    """
    shown = [shown_of(one) for one in releases]
    first = releases[0]
    most = min(MOST_ROWS, MOST_ANSWERS // len(releases))
    cut = [_Cut(one.answers.slice(0, most), one.places, one.statement) for one in releases]
    each = [said(one, kind) for one, kind in zip(cut[:1], shown, strict=False)]
    every = [each[0], *(_without_rows(one, kind, each[0]) for one, kind in zip(releases[1:], shown[1:], strict=True))]
    statements = [one.statement for one in releases]
    if both := windows_together(statements):
        every = [{**one, "may": [*one["may"], both]} for one in every]
    when = [f"{_start(one.statement)} to {_end(one.statement)}" for one in releases]
    figures = dict(shown[0].figures())
    series: dict[str, Any] = {
        "when": when,
        **_rows_of([one.answers for one in cut], shown[0]),
        **_picture(releases, shown, figures, most),
    }
    windows = {
        "many": len(releases),
        "first": when[0],
        "title": windows_title(statements),
        "begin": _start(first.statement),
        "end": _end(releases[-1].statement),
        "price": _price(statements),
    }
    series["parts"] = _parts(shown[0].template, [{**one, "windows": windows} for one in every])
    numbers = [one.answers.num_rows for one in releases]
    of_all = {  # what stays as it is while windows change says nothing that holds of the first alone
        "all_rows": max(numbers),
        "here": max(one.answers.num_rows for one in cut),
        "fixed": len({*numbers}) == 1,
        **{name: max(kind.more[name] for kind in shown) for name in ("drawn", "height") if name in shown[0].more},
    }
    if "choices" in shown[0].more:
        of_all["choices"] = [state for state in STATES if any(state in kind.more["choices"] for kind in shown)]
    unfit = next((one.statement for one in releases if not one.statement.fit_for_release), first.statement)
    return template(shown[0].template).render(
        **{**every[0], "statement": unfit, **of_all},
        **carried(figures, [asset("report.js"), asset("windows.js")]),
        windows={**windows, "json": embedded(as_json(series))},
    )


def windows_title(statements: Sequence[Statement]) -> str:
    """Return what the releases of several windows are called together, by their statements in the order of time."""
    return f"{counted(len(statements), 'window')}, from {_start(statements[0])} to {_end(statements[-1])}"


def windows_together(statements: Sequence[Statement]) -> str:
    """Say what all windows keep together, where each keeps a promise of its own; nothing of a monitor, which keeps one."""
    if statements[0].monitor is not None:
        return ""
    price, _ = _price(statements)
    return f"Each window keeps that by itself. All {len(statements):,} together keep less: their prices add up, to {price}."


class _Cut:
    """The rows of a release that a page carries."""

    def __init__(self, answers: pa.Table, places: pa.Table, statement: Any) -> None:
        self.answers, self.places, self.statement = answers, places, statement


def _without_rows(one: Readable, kind: Shown, first: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of another window; its rows are in the series."""
    own = {"headline": kind.headline, "may": kind.may, "may_not": kind.may_not, "asked": kind.asked, **kind.more}
    return {**first, "statement": one.statement, **own}


def _parts(name: str, contexts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Render the parts of a page that differ between windows: each text once, and which one each window has."""
    page, base = template(name), environment().get_template("base.html.j2")
    texts: dict[str, list[str]] = {part: [] for part in _PARTS}
    for values in contexts:
        context = page.new_context(values)
        for block, render in base.blocks.items():
            context.blocks.setdefault(block, []).append(render)
        for part in _PARTS:
            if part in context.blocks:
                texts[part].append("".join(context.blocks[part][0](context)))
    found = {}
    for part, rendered in texts.items():
        known = list(dict.fromkeys(rendered))
        if len(known) > 1:
            at = {one: number for number, one in enumerate(known)}
            found[part] = {"texts": known, "of": [at[one] for one in rendered]}
    return found


def _rows_of(answers: Sequence[pa.Table], kind: Shown) -> dict[str, Any]:
    """Return the answers of all windows: by column where all have the same rows, or else written out."""
    listed = columns_of(answers[0], kind.columns)
    if len({table.num_rows for table in answers}) > 1:
        columns = [[_texts(one[name], name) for name in listed] for one in answers]
        return {"rows": [list(zip(*each, strict=True)) for each in columns]}
    return {"columns": [_column([table[name] for table in answers], name) for name in listed]}


def _texts(values: pa.ChunkedArray | pa.Array, name: str) -> list[str]:
    return [text(value, name) for value in values.to_pylist()]


def _column(windows: Sequence[pa.ChunkedArray], name: str) -> dict[str, Any]:
    first = windows[0]
    if all(one.equals(first) for one in windows):
        return {"fixed": _texts(first, name)}
    whole = pa.concat_arrays([chunk for one in windows for chunk in one.chunks])
    coded = pc.dictionary_encode(whole, null_encoding="encode")
    words, places, size = _texts(coded.dictionary, name), as_numpy(coded.indices), len(first)
    if len(words) > len(_DIGITS):
        each = np.array(words, object)[places].tolist()  # one text a value, however often it stands in the page
        return {"each": [each[i : i + size] for i in range(0, len(each), size)]}
    digits = _DIGITS[places].tobytes().decode("ascii")
    return {"words": words, "codes": [digits[i : i + size] for i in range(0, len(digits), size)]}


def _picture(
    releases: Sequence[Readable], shown: Sequence[Shown], figures: dict[str, go.Figure], most: int
) -> dict[str, Any]:
    """Return what pictures are drawn from, window by window; a picture that would be of the first alone is left out."""
    first = releases[0]
    if "map" not in figures and not isinstance(first.statement, DecidingStatement):
        drawn = [kind.figures().get("answers", go.Figure()) for kind in shown]
        figures |= (
            {"answers": next((one for one in drawn if one.data), drawn[0])} if any(one.data for one in drawn) else {}
        )
        return {"figures": [json.loads(figure.to_json()) for figure in drawn]}
    if "map" not in figures:
        return {}
    over_time = None
    if not isinstance(first.statement, SelectionStatement) and first.answers.num_rows <= most and mapped(first):
        over_time = places_over_time(first)
    if over_time is None:
        del figures["map"]
        return {}
    figures["map"] = go.Figure(layout=figures["map"].layout)
    listed = columns_of(first.answers, shown[0].columns)
    where = {
        key: listed.index(name) if name in listed else -1
        for key, name in (("state", "state"), ("answered", "answered"), ("count", "count"))
    }
    return {"map": {**over_time, **where}}


def _price(statements: Sequence[Statement]) -> tuple[str, str]:
    """Return what all windows take from the budget together, and what that number is; of a monitor, what it may take."""
    first = statements[0]
    if first.monitor is not None:  # a stop is paid once, in whichever window it is
        return words.charged(first)
    return words.together(statements), f"price of all {len(statements):,} windows together"


def _start(statement: Statement) -> str:
    return _SECONDS.sub("", words.between(window_of(statement))[0][1])


def _end(statement: Statement) -> str:
    return _SECONDS.sub("", words.between(window_of(statement))[1][1])
