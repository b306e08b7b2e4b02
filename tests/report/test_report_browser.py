"""A real browser, with no network, draws the map, fills the table, and is asked for nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import release
from tests.report.pages import Visit, visit

from leeward.report import _html as html
from leeward.report import write_report


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    scratch = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(2)
    states = ["safe"] * 250 + ["obscure"] * 50
    names: list[str | None] = [
        "<img src=x onerror=\"document.title='owned'\">",
        "<script>document.title='owned'</script>",
    ]
    result = release(
        states,
        name=names + [f"name {i}" for i in range(298)],
        latitude=rng.normal(35.6, 0.05, 300),
        longitude=rng.normal(139.7, 0.05, 300),
    )
    return visit(write_report(result, scratch / "report.html"), scratch / "browser")


def classes(seen: Visit, name: str) -> int:
    return sum(name in element.attributes.get("class", "").split() for element in seen.page.elements)


@pytest.mark.sweep
def test_every_place_and_every_point_of_the_curve_is_drawn(city: Visit) -> None:
    assert classes(city, "point") == 300 + 7
    legend = [e.text for e in city.page.elements if "legendtext" in e.attributes.get("class", "")]
    assert legend == ["obscure (50)", "safe (250)", "said to be safe"]


def test_the_scale_bar_is_drawn(city: Visit) -> None:
    texts = [e.text for e in city.page.all("text")]
    assert [text for text in texts if re.fullmatch(r"\d+ k?m", text)] == ["5 km"]


def test_the_table_is_filled_and_counted(city: Visit) -> None:
    assert city.page.by_id("found").text == "300 places"
    assert city.page.by_id("page").text == "page 1 of 12"
    assert "hidden" not in city.page.by_id("tools").attributes


def test_names_run_nothing(city: Visit) -> None:
    (title,) = city.page.all("title")
    assert "250 of 300 places" in title.text
    assert not city.page.all("img")
    assert any(e.text.startswith("<img") for e in city.page.all("td"))


def test_the_page_has_no_complaints_and_no_wishes(city: Visit) -> None:
    assert city.console == []
    assert city.requests == []


def test_a_page_that_complains_and_wishes_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "loads.html"
    page.write_text("<!doctype html><img src='http://127.0.0.1:9/a.png'><script>throw new Error('b')</script>")
    seen = visit(page, tmp_path / "browser")
    assert seen.requests == ["http://127.0.0.1:9/a.png"]
    assert any("Uncaught Error: b" in line for line in seen.console)


@pytest.mark.sweep
def test_a_policy_stops_what_a_page_would_load(make_release: Callable[..., Any], tmp_path: Path) -> None:
    page = write_report(make_release(["safe", "obscure"]), tmp_path / "report.html")
    tampered = page.read_text().replace("<main>", "<main><img src='http://127.0.0.1:9/a.png'><script>boo()</script>")
    page.write_text(tampered)
    seen = visit(page, tmp_path / "browser")
    assert seen.requests == []
    assert any("Content Security Policy" in line for line in seen.console)
    assert not any("boo is not defined" in line for line in seen.console)


@pytest.mark.sweep
def test_cells_are_drawn_as_one_picture(make_release: Callable[..., Any], tmp_path: Path) -> None:
    north, east = (axis.ravel() for axis in np.mgrid[:30, :40])
    states = ["safe" if i % 9 else "obscure" for i in range(1200)]
    result = make_release(states, latitude=35 + north / 1000, longitude=139 + east / 1000)
    seen = visit(write_report(result, tmp_path / "report.html"), tmp_path / "browser")
    (picture,) = [e for e in seen.page.all("image") if e.attributes.get("xlink:href", "").startswith("data:image/png")]
    assert float(picture.attributes["width"]) > 300
    assert classes(seen, "point") == 7
    assert seen.console == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("carried", "told"),
    [(30, "30 places"), (29, "29 places among the first 29; the other 1 are only in answers.parquet")],
)
def test_what_the_search_leaves_out_is_said_beside_what_it_finds(
    make_release: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, carried: int, told: str
) -> None:
    monkeypatch.setattr(html, "MOST_ROWS", carried)
    seen = visit(write_report(make_release(["safe"] * 30), tmp_path / "report.html"), tmp_path / "browser")
    assert seen.page.by_id("found").text == told
    assert seen.console == []
