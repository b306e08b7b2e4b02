"""One page over many windows: each window says what its own report says, and a window adds little to the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import sync_playwright
from tests.report.conftest import FakeRelease
from tests.report.pages import Page

from leeward.report import report_html, windows_html
from leeward.report._windows import _column, windows_together

Make = Callable[..., FakeRelease]

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def windows(make: Make, states: list[list[str]], **more: Any) -> list[FakeRelease]:
    found = []
    for hour, said in enumerate(states):
        window = {"start": f"2026-01-01T{hour:02}:00:00", "end": f"2026-01-01T{hour + 1:02}:00:00", "timezone": None}
        query = {
            "kind": "visitors",
            "text": f"How many were there at {hour}?",
            "places": len(said),
            "window": window,
            "keep": {},
            "places_per_person": 1,
            "if_more": "latest",
        }
        found.append(make(said, query=query, entry=f"entry-{hour}", **more))
    return found


def rows(series: dict[str, Any], number: int) -> list[list[str]]:
    """The rows of a window, read as the script reads them."""
    columns = []
    for one in series["columns"]:
        if "codes" in one:
            columns.append([one["words"][int(digit, 36)] for digit in one["codes"][number]])
        else:
            columns.append(one.get("fixed") or one["each"][number])
    return [list(row) for row in zip(*columns, strict=True)]


def test_each_window_has_the_rows_and_the_words_of_its_own_report(make_release: Make) -> None:
    states = [["safe", "safe", "obscure"], ["safe", "obscure", "obscure"], ["obscure"] * 3]
    each = windows(make_release, states, name=["Mill", HOSTILE, "Quay"], count=[0, None, 40])
    page = Page(windows_html(each))
    series = page.data("series")
    assert len(series["when"]) == 3
    assert series["when"][1] == "2026-01-01 01:00 to 2026-01-01 02:00"
    for number, one in enumerate(each):
        own = Page(report_html(one))
        assert rows(series, number) == own.data("rows")
        headed, asked = (series["parts"][part] for part in ("headed", "asked"))
        assert own.all("h1")[0].text in headed["texts"][headed["of"][number]]
        assert f"How many were there at {number}?" in asked["texts"][asked["of"][number]]
    assert "read" not in series["parts"], "what may be concluded is the same in all windows, and stands there once"
    assert "price of all 3 windows together" in page.text()
    assert "Each window keeps that by itself. All 3 together keep less: their prices add up, to 3." in page.text()


@pytest.mark.parametrize(("entries", "together"), [("abc", "3"), ("aba", "2"), ("aaa", "1")])
def test_a_window_that_is_asked_twice_is_paid_for_once(make_release: Make, entries: str, together: str) -> None:
    """The ledger answers it from the entry that there is."""
    made = windows(make_release, [["safe"]] * 3)
    for one, entry in zip(made, entries, strict=True):
        one.told["entry"] = entry
    assert windows_together([one.statement for one in made]).endswith(f"add up, to {together}.")


def test_a_window_adds_a_digit_a_place(make_release: Make) -> None:
    said = [["safe", "obscure"] * 500, ["obscure", "safe"] * 500] * 10
    where = {"latitude": [35 + i / 9_000 for i in range(1000)], "longitude": [139 + i % 7 / 9 for i in range(1000)]}
    few, many = (len(windows_html(windows(make_release, said[:count], **where))) for count in (2, 12))
    assert 10 * 1_000 < many - few < 10 * 1_000 + 10 * 3_000


def test_a_seed_in_one_window_marks_the_page(make_release: Make) -> None:
    each = windows(make_release, [["safe"], ["safe"]])
    assert "Not fit for release" not in windows_html(each)
    each[1].told["fit_for_release"] = False
    assert "Not fit for release" in windows_html(each)


@pytest.mark.sweep
def test_the_slider_goes_through_the_windows_by_keyboard(make_release: Make, tmp_path: Path) -> None:
    states = [["safe", "safe", "obscure"], ["safe", "obscure", "obscure"], ["obscure"] * 3]
    where = {"latitude": [35.0, 35.1, 35.3], "longitude": [139.0, 139.1, 139.0]}
    path = tmp_path / "report.html"
    path.write_text(windows_html(windows(make_release, states, name=["Mill", HOSTILE, "Quay"], **where)), "utf-8")
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: asked.append(str(error)))
        page.set_default_timeout(120_000)
        page.goto(path.as_uri())
        seen = []
        for key, when in (("Home", "00:00"), ("ArrowRight", "01:00"), ("End", "02:00")):
            page.focus("#window")
            page.keyboard.press(key)
            page.wait_for_selector(f"#when:has-text('{when} to')")
            drawn = page.locator("#plot-map .legendtext").all_text_contents()
            said = page.locator("#table tbody td:last-child").all_inner_texts()
            seen.append(
                (page.inner_text(".headline")[:6], said, drawn, page.get_attribute("#window", "aria-valuetext"))
            )
        wide = page.evaluate("document.documentElement.scrollWidth")
        title = page.title()
        browser.close()
    assert [head for head, *_ in seen] == ["2 of 3", "1 of 3", "0 of 3"]
    assert [said for _, said, *_ in seen] == states
    assert seen[1][2] == ["obscure (2)", "safe (1)"]
    assert seen[1][3] == "2026-01-01 01:00 to 2026-01-01 02:00"
    assert asked == [path.as_uri()], "nothing is asked of the network, and no script fails"
    assert (wide, "owned" in title) == (390, False)


@pytest.mark.parametrize("lengths", [(2, 1)])
def test_windows_of_different_rows_are_written_out(make_release: Make, lengths: tuple[int, int]) -> None:
    each = windows(make_release, [["safe"] * count for count in lengths])
    series = Page(windows_html(each)).data("series")
    assert [len(one) for one in series["rows"]] == list(lengths)


def test_a_page_that_cannot_carry_all_rows_says_so(make_release: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leeward.report._windows.MOST_ANSWERS", 4)
    where = {"latitude": [35.0, 35.1, 35.3], "longitude": [139.0, 139.1, 139.0]}
    page = Page(windows_html(windows(make_release, [["safe"] * 3] * 2, **where)))
    assert "The first 2 of 3 places" in page.text()
    assert len(rows(page.data("series"), 1)) == 2
    assert "plot-map" not in {element.attributes.get("id") for element in page.elements}


@pytest.mark.parametrize("many", [2, 36, 37, 38])
def test_as_many_words_as_there_are_digits_are_coded_and_more_are_written_out(many: int) -> None:
    values = [[f"w{number}" for number in range(many)], ["w0"] * many]
    found = _column([pa.chunked_array([each]) for each in values], "word")
    assert ("codes" in found) == (many <= 36)
    read = found["each"] if "each" in found else [[found["words"][int(i, 36)] for i in one] for one in found["codes"]]
    assert read == values


def test_every_word_that_some_window_says_can_be_looked_for(make_release: Make) -> None:
    """Found by an attack: the words to choose from were those of the first window."""
    each = windows(make_release, [["safe"], ["dangerous"], ["safe"]])
    chosen = [option.text for option in Page(windows_html(each)).all("option")]
    assert chosen == ["anything", "safe", "obscure", "dangerous"]
    chosen = [option.text for option in Page(windows_html(each[:1])).all("option")]
    assert chosen == ["anything", "safe", "obscure"]
