"""The page is whole, asks nothing of the network, runs nothing but its own scripts, and says what the release says."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotly.offline import get_plotlyjs
from tests.report.pages import Page

from leeward.report import _html as html
from leeward.report import report_html, write_report
from leeward.report._page import embedded

NASTY = [
    "<script>document.title='owned'</script>",
    "</script><img src=x onerror=alert(1)>",
    '"><b>&amp;',
    "}}{{ 7*7 }}",
]


@pytest.fixture
def located(make_release: Callable[..., Any]) -> Any:
    states = ["safe", "obscure", "safe", "safe"]
    return make_release(states, name=NASTY, latitude=[35, 35.1, 35.3, 35.2], longitude=[139, 139.5, 139.2, 139.4])


def urls(page: Page) -> list[str]:
    """Everything a page would load or lead to."""
    loading = {
        "src",
        "href",
        "srcset",
        "action",
        "formaction",
        "data",
        "poster",
        "background",
        "manifest",
        "xlink:href",
    }
    found = [value for e in page.elements for key, value in e.attributes.items() if key in loading]
    styles = [e.text for e in page.all("style")] + [e.attributes.get("style", "") for e in page.elements]
    found += [match for style in styles for match in re.findall(r"@import[^;]*|url\([^)]*\)", style)]
    return [url for url in found if not url.startswith("#")]


def policy(page: Page) -> dict[str, list[str]]:
    (content,) = [
        e.attributes["content"] for e in page.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    return {name: sources for name, *sources in (part.split() for part in content.split(";"))}


def test_nothing_is_loaded_from_elsewhere(located: Any) -> None:
    page = Page(report_html(located))
    assert urls(page) == []
    assert policy(page)["default-src"] == ["'none'"]
    assert set(policy(page)["img-src"]) == {"data:", "blob:"}
    assert not any(e.tag in {"link", "iframe", "base", "object", "embed"} for e in page.elements)


@pytest.mark.parametrize(
    "loads",
    [
        '<script src="https://cdn.plot.ly/plotly.js"></script>',
        "<style>@import 'a.css';</style>",
        '<p style="background:url(http://a)">',
        '<a href="http://a">a</a>',
    ],
)
def test_a_page_that_loads_would_be_noticed(loads: str) -> None:
    assert urls(Page(f"<html>{loads}</html>"))


def test_only_its_own_scripts_may_run(located: Any) -> None:
    page = Page(report_html(located))
    allowed = policy(page)["script-src"]
    running = [e.text for e in page.all("script") if "type" not in e.attributes]
    digests = ["'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in running]
    assert digests == allowed
    assert not any(key.startswith("on") for e in page.elements for key in e.attributes)


def test_names_stay_names(located: Any) -> None:
    page = Page(report_html(located))
    assert [row[1] for row in page.data("rows")] == NASTY
    cells = [e.text for e in page.all("td")]
    assert set(NASTY) <= set(cells)
    assert not page.all("img")
    shown = [text for trace in page.data("figure-map")["data"] for text in trace["text"]]
    assert not any("<script" in text or "<img" in text for text in shown)


def test_public_words_of_the_statement_are_escaped_too(make_release: Callable[..., Any]) -> None:
    page = Page(report_html(make_release(["safe"], dataset=NASTY[0], guaranteed=[NASTY[1]])))
    assert NASTY[0] in page.text()
    assert page.data("release.json")["dataset"] == NASTY[0]
    assert not page.all("img")


TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Marks that turn the direction of writing around."""


@pytest.mark.parametrize("turn", TURNS, ids=[f"u{ord(turn):04x}" for turn in TURNS])
def test_no_name_turns_the_words_of_the_page_around(turn: str, make_release: Callable[..., Any]) -> None:
    name = f"a{turn}b\\{turn}{turn}c"
    page = report_html(make_release(["safe"], dataset=name, version=name))
    ours = page.replace(get_plotlyjs(), "")
    assert not set(TURNS) & set(ours)
    assert Page(page).data("release.json")["dataset"] == name, "for programs it is the name itself"
    written = f"\\u{ord(turn):04x}"
    assert f"a{written}b" in ours
    for text in (json.dumps({"x": name}), json.dumps({"x": name}, ensure_ascii=False)):
        carried = json.loads(embedded(text))["x"]
        assert carried == f"a{written}b\\{written}{written}c"
    plain = {"x": ["\\u202e", "\\\\u202e", "é", "<b>&"]}
    assert json.loads(embedded(json.dumps(plain))) == plain


@pytest.mark.parametrize("control", ["\x00", "\x07", "\x1b", "\x7f", "\x9b"], ids=ascii)
def test_no_name_steers_a_terminal_that_the_page_is_printed_to(control: str, make_release: Callable[..., Any]) -> None:
    """Found by an attack: escape sequences in the name of a data set stood in the page as they are."""
    name = f"a{control}]0;b"
    page = report_html(make_release(["safe"], dataset=name, version=name))
    assert control not in page.replace(get_plotlyjs(), "")
    assert f"a\\u{ord(control):04x}]0;b" in page
    assert Page(page).data("release.json")["dataset"] == name


def test_the_answer_is_in_the_title_and_the_heading(located: Any) -> None:
    page = Page(report_html(located))
    (title,), (heading,) = page.all("title"), page.all("h1")
    assert heading.text == "3 of 4 places are said to be safe (at most 2 people among those counted)"
    assert title.text.endswith(heading.text)
    of_whom = "of the people counted there: someone at more than 1 place is counted only at the place visited last."
    assert f"‘Safe’ is never wrong, {of_whom}" in page.text()
    (bar,) = [e for e in page.elements if e.attributes.get("class") == "bar"]
    assert bar.attributes["aria-label"] == "3 safe, 1 obscure"


def test_the_whole_statement_is_carried_and_spoken(located: Any) -> None:
    page = Page(report_html(located))
    assert page.data("release.json") == located.statement.to_dict()
    (shown,) = page.all("pre")
    assert json.loads(shown.text) == located.statement.to_dict()
    text, told = page.text(), located.statement.to_dict()
    for part in ("definition", "protects", "does_not_protect", "alternative"):
        assert told["notion"][part] in text
    for part in ("assumptions", "theorems", "guaranteed", "not_guaranteed"):
        assert all(each in text for each in told[part])
    assert located.statement.mechanism.text in text
    assert located.statement.sensitivity.text in text
    assert "0.9502" in [e.text for e in page.all("td")]


def test_the_page_can_be_read_by_a_machine_voice(located: Any) -> None:
    page = Page(report_html(located))
    assert page.all("html")[0].attributes["lang"] == "en"
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert {e.attributes["aria-labelledby"] for e in page.all("section")} <= set(ids)
    assert {e.attributes["href"].lstrip("#") for e in page.all("a")} <= set(ids)
    assert all(e.attributes.get("aria-label") for e in page.elements if e.attributes.get("role") == "img")
    assert all(e.attributes.get("scope") for e in page.all("th"))
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_without_coordinates_there_is_no_map(make_release: Callable[..., Any]) -> None:
    page = Page(report_html(make_release(["safe", "obscure"])))
    assert not any(e.attributes.get("id") in {"plot-map", "figure-map", "h-map"} for e in page.elements)
    assert page.by_id("plot-curve")


def test_places_without_coordinates_are_mentioned(make_release: Callable[..., Any]) -> None:
    result = make_release(["safe"] * 3, latitude=[35, None, 35.1], longitude=[139, 139, 139.1])
    assert "1 place without coordinates is not drawn" in Page(report_html(result)).text()
    assert "without coordinates" not in Page(report_html(make_release(["safe"] * 3))).text()


def test_a_seeded_release_is_marked_unfit(make_release: Callable[..., Any]) -> None:
    assert "Not fit for release" in Page(report_html(make_release(["safe"], fit_for_release=False))).text()
    assert "Not fit for release" not in Page(report_html(make_release(["safe"]))).text()


def test_keys_beyond_a_browser_s_integers_are_kept(make_release: Callable[..., Any]) -> None:
    key = 2**60 + 1
    assert Page(report_html(make_release(["safe"], place=[key]))).data("rows") == [[str(key), "safe"]]


def test_columns_follow_what_is_published(make_release: Callable[..., Any]) -> None:
    stops = {
        "text": "it stops",
        "rate_up": "1",
        "rate_down": "inf",
        "stop_after": 1,
        "expected_answered_if_empty": 20.1,
    }
    result = make_release(
        ["safe", "obscure", "obscure"], answered=[True, True, False], count=[None, 4, None], mechanism=stops
    )
    page = Page(report_html(result))
    assert page.data("rows") == [
        ["p0", "safe", "–", "yes"],
        ["p1", "obscure", "4", "yes"],
        ["p2", "obscure", "–", "no"],
    ]
    assert "2 of 3 places got an answer" in page.text()
    assert [e.text for e in page.all("th")][-4:] == ["Place", "Said to be", "Noisy count", "Asked"]


def test_long_lists_carry_the_first_rows_and_count_the_rest(
    make_release: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "MOST_ROWS", 5_000)
    page = Page(report_html(make_release(["safe"] * (html.MOST_ROWS + 1_234))))
    assert len(page.data("rows")) == html.MOST_ROWS
    assert "The first 5,000 of 6,234 places" in page.text()
    assert "The other 1,234 are in" in page.text()


def test_a_million_cells_make_a_small_page(make_release: Callable[..., Any]) -> None:
    north, east = (axis.ravel() for axis in np.mgrid[:1000, :1000])
    states = np.where((north // 7 + east // 5) % 3 == 0, "obscure", "safe").tolist()
    page = report_html(make_release(states, latitude=35 + north / 1000, longitude=139 + east / 1000))
    assert len(page) < 9_000_000


def test_the_file_is_what_is_returned(located: Any, tmp_path: Path) -> None:
    path = write_report(located, tmp_path / "report.html")
    page = report_html(located).rstrip("\n") + "\n"
    seal = hashlib.sha256(page.encode()).hexdigest()
    assert path.read_text(encoding="utf-8") == f"{page}<!-- written by Leeward, SHA-256 {seal} -->\n"


def test_tags_are_balanced(located: Any) -> None:
    open_tags: list[str] = []

    class Balance(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in {"meta", "input"}:
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Balance().feed(report_html(located))
    assert open_tags == []
