"""Pages over groups that nobody has listed: windows have different groups, and the promise has a δ."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.report.pages import Page

import leeward as lw
from leeward._statement import Published
from leeward.report import FORMATS, report_html, windows_html
from leeward.report._html import overview_html
from leeward.report._windows import windows_together
from leeward.session import Release, privacy_statement

DELTA = "1/1000000"


def release(groups: Mapping[str, int], day: int = 1, notion: Any = None, *, fit: bool = True) -> Release:
    """A release of these groups with these noisy counts, on a day in January."""
    at = {"start": f"2030-01-{day:02}T00:00", "end": f"2030-01-{day + 1:02}T00:00"}
    asked = lw.unlisted_groups(lw.records("t.parquet", person="who", time="at"), "town", most_groups=1000, **at)
    notion = notion or lw.AdditionOnly("1")
    plan = lw.plan(asked, notion, delta=None if notion.name == "removal-only" else "1e-6")
    published = Published(entry=f"entry-{day}", fit_for_release=fit, budget=None, monitor=None)
    said = privacy_statement(plan, places=1000, dataset="town", version="1", published=published)
    answers = pa.table({"group": pa.array([*groups], pa.string()), "count": pa.array([*groups.values()], pa.int64())})
    return Release(answers, pa.table({}), said)


def test_no_number_of_the_first_window_is_said_of_the_others() -> None:
    """Found by an attack: "the first 3 of 6 groups are drawn", where each window drew all of its own."""
    few, many = release({"a": 20, "b": 20}), release(dict.fromkeys("abcdef", 20), day=2)
    text = Page(windows_html([few, many])).text()
    assert "2 of 6" not in text
    assert "groups are drawn" not in text
    assert "among the first" not in windows_html([few, many]).split("<script")[0]


def test_windows_that_are_cut_say_so_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leeward.report._windows.MOST_ANSWERS", 8)
    monkeypatch.setattr("leeward.report._html.MOST_GROUPS", 3)
    page = windows_html([release({"a": 20}), release(dict.fromkeys("abcdef", 20), day=2)])
    text = Page(page).text()
    assert "These are the first 4, at most." in text
    assert "The first 3 groups are drawn." in text
    assert "among the first 4; any others are only in answers.parquet" in page
    alike = windows_html([release(dict.fromkeys("abcdef", 20), day) for day in (1, 2)])
    assert "These are the first 4 of 6." in Page(alike).text()
    assert "The first 3 of 6 groups are drawn." in Page(alike).text()
    assert "among the first 4; the other 2 are only in answers.parquet" in alike


@pytest.mark.parametrize(
    "notion", [lw.AdditionOnly("1"), lw.UnboundedDP("1"), lw.RemovalOnly("1")], ids=lambda n: n.name
)
def test_the_promise_is_never_told_without_its_delta(notion: Any, tmp_path: Path) -> None:
    """Found by an attack: an overview, and what catalogues read, promised a pure ε."""
    one, other = release({"a": 20}, notion=notion), release({"a": 20}, day=2, notion=notion)
    pq.write_table(one.answers, tmp_path / "answers.parquet")
    told = {
        "page": f"{notion.name} {Page(report_html(one)).text().partition('The promise is')[2].partition('.')[0]}",
        "overview": Page(overview_html({"one/report.html": [one], "other/report.html": [other]})).text(),
        "repr": repr(one),
        "str": str(one).partition("guaranteed:")[0],
        "notebook": one._repr_html_().partition("guaranteed")[0],
    }
    for name, (file, write) in FORMATS.items():
        write([one], one.answers, tmp_path / file)
        told[name] = json.loads((tmp_path / file).read_text("utf-8")).get("description", "")
    told["opendp-registry"] = json.loads((tmp_path / "opendp-registry.yaml").read_text("utf-8"))["deployment"]["basic"][
        "description"
    ]
    strength = "ε = 1" if notion.name == "removal-only" else f"ε = 1 and δ = {DELTA}"
    for where, text in told.items():
        assert re.search(rf"{notion.name}( at|,) {re.escape(strength)}\b", " ".join(text.split())), where
        assert ("δ" in text) == (notion.name != "removal-only"), where
    together = "2" if notion.name == "removal-only" else "2 with δ = 1/500000"
    assert f"so their prices add up to {together}. An answer" in told["overview"]
    assert "in each window" not in told["overview"]
    windows = " ".join(Page(overview_html({"report.html": [one, other]})).text().split())
    assert f"{strength} in each window, all together at the sum of their prices, for each person" in windows
    assert "In the first window: Which groups" in windows
    assert windows_together([one.statement, other.statement]).endswith(f"add up, to {together}.")


def test_an_overview_says_that_one_of_its_releases_is_not_fit_and_how_near_each_answer_is() -> None:
    one, other = release({"a": 20}), release({"a": 20}, day=2, fit=False)
    page = Page(overview_html({"one/report.html": [one], "other/report.html": [other]})).text()
    assert "Not fit for release" in page
    assert "Not fit for release" not in Page(overview_html({"one/report.html": [one]})).text()
    near = next(said for said in one.statement.guaranteed if "95 %" in said)
    assert near != one.statement.guaranteed[0]
    assert " ".join(near.split()) in " ".join(page.split())
