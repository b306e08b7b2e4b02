"""In a notebook: the examples run, plans and releases are tables, and nothing of the data is shown. One kernel for all."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from tests.notebooks import NOTEBOOKS, cell, read, run
from tests.report.pages import Page

FIGURE = "application/vnd.plotly.v1+json"
CANARY = "Zebedee"

PRIVATE = [
    cell(
        f"""
import pandas as pd
import leeward as lw
frame = pd.DataFrame({{"who": ["{CANARY[:4]}" "{CANARY[4:]}"] * 40, "age": ["41x"] * 40}})
own = lw.records(frame, person="who")
asked = lw.statistic(own, "mean", column="age", lower=0, upper=90)
spent = lw.Budget("own.db", dataset="own", cap="1")
"""
    ),
    cell("print(own, asked); own"),
    cell("lw.release(lw.plan(asked, lw.UnboundedDP(1)), spent)", fails=True),
    cell("import pickle; pickle.dumps(own)", fails=True),
    cell("import sys; sorted({'ipywidgets', 'anywidget'} & {name.partition('.')[0] for name in sys.modules})"),
    cell(
        """
import types
import duckdb
from leeward.engine._bind import _connection
sys.modules["ipywidgets"] = types.ModuleType("ipywidgets")
asked = "SELECT current_setting('enable_progress_bar')"
with _connection(".") as ours:
    bars = duckdb.connect().execute(asked).fetchone(), ours.execute(asked).fetchone()
bars
"""
    ),
]
"""A table in memory whose rows no output may show, in an error's either."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    notebooks = [*map(read, NOTEBOOKS), nbformat.v4.new_notebook(cells=PRIVATE)]
    run(notebooks, tmp_path_factory.mktemp("notebook"))
    return notebooks


def outputs(notebook: Any) -> list[Any]:
    return [output for one in notebook.cells if one.cell_type == "code" for output in one.outputs]


def shown(notebook: Any, kind: str) -> list[Any]:
    return [output.data[kind] for output in outputs(notebook) if kind in output.get("data", {})]


@pytest.mark.sweep
def test_the_examples_run(ran: list[Any]) -> None:
    assert [path.stem for path in NOTEBOOKS] == ["census", "first_release"]
    assert {output.output_type for one in ran[:2] for output in outputs(one)} == {"execute_result", "display_data"}
    census, first = ("".join(shown(one, "text/html")) for one in ran[:2])
    for caption in (
        "mean of &#39;age&#39; by &#39;income&#39;",
        "The budget of census",
        "The first 6 of 6",
        "3 releases",
    ):
        assert (caption in census) == (caption != "The first 6 of 6"), caption
    for caption in (
        "price 1",
        "What could be released",
        "A release of town",
        "The first 10 of 40 answers",
        "budget.db",
    ):
        assert caption in first, caption
    assert "/tmp" not in first + census
    assert [len(shown(one, FIGURE)) for one in ran[:2]] == [3, 2]


@pytest.mark.sweep
def test_what_is_stored_was_made_by_running(ran: list[Any]) -> None:
    for path, again in zip(NOTEBOOKS, ran, strict=False):
        stored = read(path)
        assert [one.source for one in stored.cells] == [one.source for one in again.cells]
        for before, after in zip(stored.cells, again.cells, strict=True):
            if before.cell_type == "code":
                kinds = [[sorted(output.data) for output in one.outputs] for one in (before, after)]
                assert kinds[0] == kinds[1], f"{path.name}: run `python -m tests.notebooks`"


def test_tables_have_captions_and_headings(ran: list[Any]) -> None:
    tables = [html for one in ran[:2] for html in shown(one, "text/html")]
    assert len(tables) >= 10
    for html in tables:
        page = Page(html)
        assert len(page.all("caption")) == len(page.all("table")) >= 1
        assert all("scope" in heading.attributes for heading in page.all("th"))
        assert {element.tag for element in page.elements} <= {
            *("div", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong")
        }


def test_nothing_of_the_data_is_shown(ran: list[Any]) -> None:
    printed = outputs(ran[2])
    assert [output.output_type for output in printed].count("error") == 2
    assert CANARY not in str(printed)
    assert "41x" not in str([output for output in printed if output.output_type == "error"])


def test_no_widgets_are_needed(ran: list[Any]) -> None:
    assert outputs(ran[2])[-2].data["text/plain"] == "[]"


def test_where_there_are_widgets_duckdb_draws_no_bar_for_us(ran: list[Any]) -> None:
    """It draws one for others, as soon as there is a module of this name."""
    assert outputs(ran[2])[-1].data["text/plain"] == "((True,), (False,))"
