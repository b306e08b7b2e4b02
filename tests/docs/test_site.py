"""The documentation as a reader opens it: from a folder, without a network, in light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as TookTooLong

pytestmark = pytest.mark.site

SITE = Path(__file__).parents[2] / "site"
AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
PAGES = ["index.html", "idea.html", "theorem.html", "spec.html", "guide/numbers.html", "reference/verification.html"]
"""One of each kind: pictures, formulas, tables, code, reference."""
SCREENS = [("light", 1280), ("dark", 390)]
"""Colours are those of a scheme, and what is clipped is of a width: both of each are seen."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


def opened(browser: Browser, name: str, asked: list[str], **screen: Any) -> Page:
    page = browser.new_context(**screen).new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE / name).as_uri(), wait_until="load")
    return page


def barriers(page: Page) -> list[str]:
    """What axe finds that keeps somebody from reading a page (WCAG 2, levels A and AA)."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']})")
    return [f"{one['id']}: {node['html'][:120]}" for one in found["violations"] for node in one["nodes"]]


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_pages_can_be_read_by_everyone_and_ask_no_network(browser: Browser, scheme: Any, width: int) -> None:
    asked: list[str] = []
    for name in PAGES:
        page = opened(browser, name, asked, color_scheme=scheme, viewport={"width": width, "height": 900})
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor").strip("rgb()").split(", ")
        assert (int(dark[0]) < 128) == (scheme == "dark")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
        assert barriers(page) == [], name
        page.context.close()
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_page_with_a_barrier_is_found_out(browser: Browser) -> None:
    page = opened(browser, "idea.html", [])
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"\"><p style=\"color:#ddd\">Pale</p>')")
    assert {found.split(":")[0] for found in barriers(page)} == {"image-alt", "color-contrast"}


def test_search_works_where_pages_are_opened_from_a_folder(browser: Browser) -> None:
    for name in ("index.html", "guide/numbers.html"):
        page = opened(browser, name, [])
        first = page.locator(".md-search-result__link").first
        for _ in range(20):  # what is typed before the page listens is lost; it listens to keys
            for typed in ("", "truncation"):
                page.fill("input[name=query]", typed)
                page.press("input[name=query]", "End")
            with suppress(TookTooLong):
                first.wait_for(state="attached", timeout=3_000)
                break
        link = str(first.get_attribute("href"))
        assert urlsplit(urljoin((SITE / name).as_uri(), link)).path.endswith(".html"), link
        page.context.close()


def test_formulas_are_set_without_a_script(browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((SITE / "theorem.html").as_uri())
    formulas = page.locator("math")
    assert formulas.count() == 5
    box = formulas.first.bounding_box()
    assert box is not None
    assert box["height"] > 10
