"""No page is wider than a phone, and no column of the plan's table lies beyond a laptop's screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Browser, sync_playwright

import leeward as lw
from leeward.report import report_html, windows_html
from leeward.report._html import overview_html
from leeward.report._plan import plan_html
from leeward.session import monitor
from leeward.spec import check_spec
from leeward.spec._compared import compared

VENUES = ["a-venue-whose-key-has-no-place-to-break", *(f"venue {i}" for i in range(11))]
DAYS = {"start": "2026-03-02T18:00:00", "end": "2026-03-02T20:00:00"}
VISITS: dict[str, Any] = {
    "data": {"visits": "visits.csv", "person": "who", "place": "venue", "time": "at"},
    "places": {"table": "places.csv", "place": "venue", "name": "name", "latitude": "lat", "longitude": "lon"},
    "window": DAYS,
}
TABLE: dict[str, Any] = {"data": {"table": "visits.csv", "person": "who"}}
AGES = {"column": "age_in_whole_years_at_the_visit", "lower": "0", "upper": "100"}
INCOMES = ["at most 50,000 a year, of all who live in the household, before taxes", "more than that"]
GROUPS = {"by": {"sex": ["female", "male"], "income_of_the_household": INCOMES}}
PROMISE = {"notion": "addition-only", "epsilon": "1"}
DP = {**PROMISE, "notion": "dp"}
ONE_PLACE = {**PROMISE, "places_per_person": 1, "if_more": "latest"}
BOTH_WORDS = {"safe_at_most": 4, "dangerous_at_least": 9, "error_at_most": "0.01"}
SHORT = {"mechanism": "sanitized", "stop_after": 3}
KINDS: Mapping[str, dict[str, Any]] = {
    "a name": {**VISITS, "query": {"kind": "busiest"}, "protect": PROMISE},
    "places": {**VISITS, "protect": ONE_PLACE, "decide": {"safe_at_most": 2}, "publish": {"what": "counts"}},
    "everyone": {**VISITS, "protect": ONE_PLACE, "decide": {"safe_at_most": 20, "about": "everyone"}},
    "a scan": {**VISITS, "protect": PROMISE, "decide": {"safe_at_most": 2}, "publish": SHORT},
    "a monitor": {
        **VISITS, "window": {**DAYS, "every": "1h"}, "protect": PROMISE, "decide": {"safe_at_most": 2}, "publish": SHORT,
    },
    "windows": {**VISITS, "window": {**DAYS, "every": "1h"}, "protect": ONE_PLACE, "decide": {"safe_at_most": 2}},
    "levels": {
        **TABLE,
        "query": {"kind": "above", "column": AGES["column"], "levels": ["20", "60", "80"]},
        "protect": PROMISE,
        "decide": {"safe_at_most": 20},
    },
    "groups": {**TABLE, "query": {"kind": "count", **GROUPS}, "protect": DP, "decide": BOTH_WORDS},
    "numbers": {**TABLE, "query": {"kind": "mean", **AGES, **GROUPS}, "protect": DP},
    "ranks": {
        **TABLE, "query": {"kind": "percentile", "p": ["25", "50"], **AGES}, "protect": DP,
    },
    "unlisted": {
        **TABLE, "query": {"kind": "unlisted groups", "by": "venue"}, "protect": {**PROMISE, "delta": "1e-6"},
    },
    "several": {**TABLE, "query": {"kind": "sum", **AGES}, "protect": PROMISE},
    "the plan": {**TABLE, "query": {"kind": "count", **GROUPS}, "protect": DP, "decide": BOTH_WORDS},
}  # fmt: skip
"""A question for each kind of page."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    rows = pd.DataFrame({"who": [f"p{i}" for i in range(240)], "at": "2026-03-02T18:30:00"})
    rows["venue"] = [VENUES[i % 12] for i in rows.index]
    rows["sex"] = ["female" if i % 2 else "male" for i in rows.index]
    rows["income_of_the_household"] = [INCOMES[i // 3 % 2] for i in rows.index]
    rows[AGES["column"]] = [i % 90 for i in rows.index]
    rows.to_csv(folder / "visits.csv", index=False)
    listed = pd.DataFrame({"venue": VENUES, "name": [f"Donaudampfschifffahrtsgesellschaft, {v}" for v in VENUES]})
    listed.assign(lat=[35 + i / 100 for i in range(12)], lon=139.7).to_csv(folder / "places.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        yield made
        made.close()


def page_of(kind: str, folder: Path) -> str:
    """Make the page of a kind."""
    account = {
        "ledger": str(folder / f"{kind}.db"),
        "dataset": "a-data-set-with-a-long-name",
        "cap": "60",
        "cap_delta": "0.1",
    }
    spec = check_spec({**KINDS[kind], "budget": account}, folder=folder)
    if kind == "the plan":
        report: Any = compared(spec, None, None, "1e-6", "0.001", (0, "0.9"))
        return plan_html(report)
    plans: Any = spec.plans()
    if kind == "a monitor":
        return windows_html(monitor(plans, spec.ledger(), if_doubtful="publish").releases)
    made = [lw.release(one, spec.ledger(), if_doubtful="publish", accept_useless=True) for one in plans]
    if kind == "several":
        return overview_html(
            {"one-name/report.html": made, "a-name-that-has-no-place-to-break-anywhere/report.html": made}
        )
    return windows_html(made) if len(made) > 1 else report_html(made[0])


BEYOND = """() => [...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().width > 1 && !one.closest('.plot, svg, pre, .skip, .scroll'))
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1)
    .map(one => one.tagName + ' ' + one.textContent.slice(0, 40))"""
BROKEN = r"""() => [...document.querySelectorAll('#table td')]
    .filter(one => /^([-\d.,]+|safe|obscure|dangerous)$/.test(one.textContent))
    .filter(one => {
        const text = document.createRange();
        text.selectNodeContents(one.lastChild);
        return text.getClientRects().length > 1;
    })
    .map(one => one.textContent)"""
"""Numbers, and what is said of a place, that stand on several lines in the table of answers: a number reads as several."""
HIDDEN = "() => [...document.querySelectorAll('.scroll')].map(one => one.scrollWidth - one.clientWidth)"


def seen(browser: Browser, html: str, path: Path, width: int) -> tuple[int, list[str], list[int], list[str]]:
    """How wide a page is, what of it is beyond the screen, how much of its tables is, and what is broken in it."""
    path.write_text(html, "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_default_timeout(60_000)
    page.goto(path.as_uri())
    found = page.evaluate("document.documentElement.scrollWidth"), page.evaluate(BEYOND), page.evaluate(HIDDEN)
    broken = page.evaluate(BROKEN)
    page.close()
    return *found, broken


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_fits(kind: str, browser: Browser, town: Path, tmp_path: Path) -> None:
    html = page_of(kind, town)
    for width in (360, 390, 1280):
        assert seen(browser, html, tmp_path / "page.html", width) == (
            width,
            [],
            [0] * html.count('<div class="scroll'),
            [],
        ), width


def test_a_page_that_does_not_fit_is_noticed(browser: Browser, tmp_path: Path) -> None:
    page = '<meta name="viewport" content="width=device-width"><p style="width: 500px">x</p><div class="scroll" '
    page += 'style="width: 90px; overflow: auto"><p style="width: 100px">y</p></div>'
    page += '<b style="position: absolute; left: -9px">z</b>'
    page += (
        '<table id="table"><tr><td style="max-width: 2em; overflow-wrap: anywhere">27348882</td><td>1</td></tr></table>'
    )
    wide, beyond, hidden, broken = seen(browser, page, tmp_path / "page.html", 390)
    assert (wide > 390, beyond, hidden, broken) == (True, ["P x", "B z"], [10], ["27348882"])
