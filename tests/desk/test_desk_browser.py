"""The desk in a real browser: by mouse and by keyboard alone, wide and narrow, light and dark, readable by everyone."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import BrowserContext, Page, Route, sync_playwright
from tests.desk.conftest import write_tables

from leeward.demo._census import write_census
from leeward.demo._city import write_city
from leeward.desk._jobs import Job
from leeward.desk._views import _environment

pytestmark = pytest.mark.sweep  # the walk alone takes half a minute

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text()
STEPS = ("visits", "places", "window", "promise", "strength", "check", "release")


@dataclass
class Open:
    """A desk that the command serves, and the browser that was let in.

    Attributes:
        origin: of the desk.
        context: of the browser.
        server: the process.
        asked: every address that the browser asked for.
        complaints: what pages said on the console.
        states: addresses of the pages of a walked path, by their names.
    """

    origin: str
    context: BrowserContext
    server: subprocess.Popen[str]
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)

    def page(self, **screen: Any) -> Page:
        """Return a fresh page."""
        page = self.context.new_page()
        page.set_default_timeout(60_000)
        page.set_viewport_size({"width": screen.get("width", 1280), "height": 900})
        page.emulate_media(color_scheme=screen.get("scheme", "light"))
        return page


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    folder = tmp_path_factory.mktemp("desk")
    write_city(folder / "city")
    write_census(folder / "census.parquet")
    (folder / "town").mkdir()
    write_tables(folder / "town")
    command = [sys.executable, "-m", "leeward", "desk", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = next(line.strip() for line in server.stdout if "/enter?" in line)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        made = Open(address.partition("/enter")[0], browser.new_context(), server)
        made.context.on("request", lambda request: made.asked.append(request.url))
        made.context.on("console", lambda said: made.complaints.append(said.text))
        made.context.on("weberror", lambda error: made.complaints.append(str(error.error)))
        first = made.page()
        first.goto(address)
        assert "token" not in first.url
        first.close()
        try:
            yield made
        finally:
            browser.close()
            server.send_signal(signal.SIGINT)
            assert "The desk is closed" in server.stdout.read()
            assert server.wait(30) == 0


def barriers(page: Page) -> list[str]:
    """What axe finds that keeps somebody from reading a page (WCAG 2, levels A and AA)."""
    # by the browser's own protocol: the page's policy lets no script in that is not of the desk
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": AXE})
    run = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']}).then(found => JSON.stringify(found.violations))"
    found = session.send("Runtime.evaluate", {"expression": run, "awaitPromise": True})["result"]["value"]
    session.detach()
    return [f"{one['id']}: {node['html'][:160]}" for one in json.loads(found) for node in one["nodes"]]


@pytest.fixture(scope="module")
def walked(opened: Open) -> Open:
    """The whole path on the demo city, by mouse alone."""
    page, states = opened.page(), opened.states

    def at(name: str) -> None:
        states[name] = page.url.removeprefix(opened.origin)

    page.goto(opened.origin)
    at("home")
    page.get_by_role("link", name="city/visits.parquet").click()
    page.wait_for_url("**/look?**")
    at("look")
    page.get_by_role("button", name="These are visits").click()
    page.wait_for_url("**/visits")
    at("visits")
    page.get_by_role("button", name="On to the places").click()
    page.wait_for_url("**/places")
    page.get_by_label("The public list").select_option("city/places.parquet")
    page.get_by_role("button", name="Look at this list").click()
    page.get_by_role("button", name="On to the time").wait_for()
    at("places")
    page.get_by_role("button", name="On to the time").click()
    page.wait_for_url("**/window")
    at("window")
    page.get_by_label("Start").fill("2013-12-22T18:00:00")
    page.get_by_label("End, which").fill("2013-12-22T18:01:00")
    page.get_by_role("button", name="On to the promise").click()
    page.wait_for_url("**/promise")
    at("promise")
    page.get_by_label("“Safe” is never wrong").check()
    page.get_by_role("button", name="On to strength").click()
    page.wait_for_url("**/strength")
    page.get_by_label("Percent of the places").fill("90")
    page.get_by_role("button", name="What ε is that?").click()
    page.get_by_role("link", name="Take it").click()
    page.wait_for_url("**epsilon=0.768**")
    page.locator(".plot .main-svg").first.wait_for()
    at("strength")
    _look(page, "city", "0.768")
    at("check")
    page.get_by_role("link", name="On to the release").click()
    page.wait_for_url("**/release")
    at("release")
    page.get_by_label(re.compile("This opens a new budget of 'city'")).check()
    page.get_by_role("button", name="Release for ε = 0.768").click()
    page.wait_for_url("**/releases/**")
    at("released")
    _ask_about_a_table(page, at)
    page.goto(f"{opened.origin}/history")
    at("history")
    page.close()
    return opened


def _look(page: Page, dataset: str, epsilon: str) -> None:
    """Name the data, keep what was tried, and look at the data."""
    page.get_by_label("A public name of the data").fill(dataset)
    page.get_by_role("button", name=re.compile(f"Keep ε = {epsilon}")).click()
    page.wait_for_url("**/check")
    page.get_by_role("button", name="Look at the data").click()
    page.get_by_role("link", name="On to the release").wait_for()


def _ask_about_a_table(page: Page, at: Callable[[str], None]) -> None:
    """The path of a number: the quartiles of the bundled census by sex, by mouse alone."""
    page.get_by_role("link", name="Leeward desk").click()
    page.get_by_role("link", name="census.parquet").click()
    page.get_by_role("button", name="Count people, or ask about a number").click()
    page.wait_for_url("**/table")
    page.get_by_label("Who is a person?").select_option("each row")
    at("table")
    page.get_by_role("button", name="On to the question").click()
    page.wait_for_url("**/question")
    at("kinds")
    page.get_by_role("link", name="Percentile").click()
    page.get_by_label("The column of the number").select_option("age")
    page.get_by_label("The least number").fill("0")
    page.get_by_label("The greatest number").fill("120")
    page.get_by_label("Which percentiles").fill("25, 50, 75")
    page.get_by_label("The column of the groups").select_option("sex")
    page.get_by_label("All groups there may be").fill("Female\nMale")
    at("question")
    page.get_by_role("button", name="Ask this").click()
    page.wait_for_url("**/promise")
    at("promise of a number")
    page.get_by_role("button", name="On to strength").click()
    page.wait_for_url("**/strength")
    page.get_by_label("Rows", exact=True).fill("50")
    page.get_by_role("button", name="What ε is that?").click()
    page.get_by_role("link", name="Take it").click()
    page.locator(".plot .main-svg").first.wait_for()
    at("strength of a number")
    _look(page, "census", "")
    page.goto(page.url.replace("/check", "/compare"))
    at("compare")
    page.goto(page.url.replace("/compare", "/release"))
    page.get_by_label(re.compile("This opens a new budget of 'census'")).check()
    page.get_by_role("button", name=re.compile("Release for ε = ")).click()
    page.wait_for_url("**/releases/**")
    assert "median and 75 % point of ‘age’ in 2 groups" in page.inner_text("h1")
    at("released number")


def test_the_whole_path_by_mouse_leads_to_an_open_report(walked: Open) -> None:
    page = walked.page()
    page.goto(walked.origin + walked.states["released"])
    assert re.search(r"of 5,835 places are said to be safe", page.inner_text("h1"))
    with walked.context.expect_page() as report:
        page.get_by_role("link", name="Open the report").click()
    report.value.locator(".plot.map .main-svg").first.wait_for(timeout=120_000)
    assert "5,835 places" in report.value.inner_text("h1")
    report.value.close()
    page.close()


def test_work_that_is_out_of_sight_is_not_said_to_go_on_and_is_seen_again(opened: Open) -> None:
    """A page whose desk does not answer for a while: a lid that was closed, a desk that was ended."""
    page, job, heard = opened.page(), Job(7, "A look at the data", "town"), list[str]()
    job.stages = ["counting"]
    path = f"{opened.origin}/jobs/7"

    def answered(route: Route) -> None:
        if heard[-1:] == ["lost"]:
            route.abort()
        else:
            shown = (
                _environment()
                .get_template("job.html.j2")
                .render(job=job, back="/", secret="", figures={}, here="/jobs/7")
            )
            route.fulfill(body=shown, content_type="text/html")

    ended = threading.Event()
    job.start(lambda _: ended.wait(60), lambda _: "", heard.append)
    page.route(path, answered)
    page.goto(path)
    assert not page.locator("#lost").is_visible()
    heard.append("lost")
    page.locator("#lost").wait_for()
    heard.append("found")
    job.stages.append("drawing")
    page.get_by_text("At work: drawing").wait_for()
    assert not page.locator("#lost").is_visible()
    heard.append("lost")
    page.locator("#lost").wait_for()
    job.refused = "It could not be read."
    ended.set()
    job.wait(60)
    heard.append("found")
    page.get_by_text("It could not be read.").wait_for()
    assert not page.locator("#lost").is_visible()
    assert page.get_by_role("button", name="Cancel").count() == 0
    page.close()
    opened.complaints[:] = [said for said in opened.complaints if "net::ERR_FAILED" not in said]  # as was meant


def test_going_back_and_reloading_lose_nothing(walked: Open) -> None:
    page = walked.page()
    page.goto(walked.origin + walked.states["window"])
    page.get_by_role("link", name="The promise").click()
    page.wait_for_url("**/promise")
    page.go_back()
    assert page.get_by_label("Start").input_value() == "2013-12-22T18:00"
    page.reload()
    assert page.get_by_label("Start").input_value() == "2013-12-22T18:00"
    page.close()


OTHERS = [("light", 1280), ("dark", 1280), ("light", 390)]
SQUEEZED = """() => [...document.querySelectorAll('th')]
    .filter(one => getComputedStyle(one.closest('thead') || one).position !== 'absolute')
    .map(one => [one.clientWidth, one.textContent.trim()])
    .filter(([width, said]) => said.length > 3 && width > 1 && width < 44)
    .map(([, said]) => said)"""
"""Headings of columns that are too narrow for a word."""
SCREENS = [("dark", 390), *OTHERS]


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_everyone_can_read_every_page(walked: Open, scheme: str, width: int) -> None:
    page = walked.page(scheme=scheme, width=width)
    for name, path in walked.states.items():
        page.goto(walked.origin + path)
        if name.startswith("strength"):
            page.locator(".plot .main-svg").first.wait_for()
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor").strip("rgb()").split(", ")
        assert (int(dark[0]) < 128) == (scheme == "dark")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
        assert page.evaluate(SQUEEZED) == [], name
        assert barriers(page) == [], name
    page.close()


def test_a_squeezed_column_is_found_out(walked: Open) -> None:
    page = walked.page(width=390)
    page.goto(walked.origin)
    page.evaluate(
        """() => {
        const main = document.querySelector("main");
        main.insertAdjacentHTML("beforeend", "<table><tr><th>Before</th><th>At</th></tr></table>");
        Object.assign(main.lastElementChild.style, { width: "60px", tableLayout: "fixed" });
        }"""
    )
    assert page.evaluate(SQUEEZED) == ["Before"]
    page.close()


def test_a_barrier_is_found_out(walked: Open) -> None:
    page = walked.page()
    page.goto(walked.origin)
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"data:,\">')")
    assert [found.partition(":")[0] for found in barriers(page)] == ["image-alt"]
    page.close()


def test_the_browser_asks_nobody_else_and_nothing_is_complained_of(walked: Open) -> None:
    assert walked.asked
    assert [url for url in walked.asked if not url.startswith((walked.origin, "data:", "blob:"))] == []
    assert walked.complaints == []


def to(page: Page, name: str) -> None:
    """Press Tab until what has the focus has this name, as its label, its id or its text."""
    script = "() => { const e = document.activeElement; return [e.id, e.name, e.innerText].map(s => (s || '').trim()) }"
    for _ in range(80):
        page.keyboard.press("Tab")
        if any(each == name or (len(each) > 8 and each.startswith(name)) for each in page.evaluate(script)):
            return
    raise AssertionError(f"nothing called {name} can be reached")


def test_the_whole_path_by_keyboard_alone(opened: Open) -> None:
    page = opened.page(width=390, scheme="dark")
    keys = page.keyboard
    page.goto(opened.origin)

    def press(name: str, key: str, then: str) -> None:
        to(page, name)
        keys.press(key)
        page.wait_for_url(then)

    press("town/visits.csv", "Enter", "**/look?**")
    press("These are visits to places", "Enter", "**/visits*/visits")
    press("On to the places", "Enter", "**/places")
    to(page, "file")
    keys.type("town/p")
    press("Look at this list", "Enter", "**/places?**")
    press("On to the time", "Enter", "**/window")
    for name, hours in (("start", "07"), ("end", "08")):
        to(page, name)
        keys.type("03142026")
        keys.press("Tab")
        keys.type(f"{hours}0000PM")
    press("On to the promise", "Enter", "**/promise")
    to(page, "never-safe")
    keys.press("Space")
    to(page, "people")
    keys.press("Control+A")
    keys.type("25")
    press("On to strength and budget", "Enter", "**/strength")
    to(page, "dataset")
    keys.press("Control+A")
    keys.type("a little town")
    press("Keep ε = 1, and look", "Enter", "**/check")
    to(page, "Look at the data")
    keys.press("Enter")
    page.wait_for_url("**/check")
    page.get_by_role("link", name="On to the release").wait_for()
    press("On to the release", "Enter", "**/release")
    to(page, "opens")
    keys.press("Space")
    press("Release for ε = 1", "Enter", "**/releases/**")
    assert "of 4 places" in page.inner_text("h1")
    page.close()
