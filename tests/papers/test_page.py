"""The page holds every number, figure and link; the folder holds their data; nothing points outside."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.pages import Page

from leeward.papers import Recomputed, write


@pytest.fixture(scope="module")
def folder(found: Recomputed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("papers")
    assert write(found, where) == where / "papers.html"
    return where


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "papers.html").read_text("utf-8"))


def test_every_claim_has_its_row_and_every_figure_its_place(found: Recomputed, page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for claim in found.claims:
        assert page.by_id(claim.key).tag == "tr"
    for figure in found.figures:
        assert page.by_id(figure.key).tag == "figure"
    drawn = {e.attributes["data-figure"] for e in page.all("div") if "data-figure" in e.attributes}
    assert drawn == {figure.key for figure in found.figures if figure.drawing is not None}
    for key in drawn:
        assert page.data(f"figure-{key}")["data"]


def test_every_number_is_shown_beside_what_was_printed(found: Recomputed, page: Page) -> None:
    text = page.text()
    for claim in found.claims:
        assert " ".join(claim.printed.split()) in text
        assert claim.shown in text


def test_every_correction_links_to_its_numbers(found: Recomputed, page: Page) -> None:
    links = {e.attributes["href"] for e in page.all("a")}
    ids = {element.attributes.get("id") for element in page.elements}
    for claim in found.claims:
        assert (f"#{claim.key}" in links) == bool(claim.row)
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    assert not [link for link in links if not link.startswith(("#", "data/"))]


def test_the_page_asks_for_nothing(folder: Path, page: Page) -> None:
    (policy,) = [e for e in page.all("meta") if "Content-Security-Policy" in e.attributes.get("http-equiv", "")]
    assert policy.attributes["content"].startswith("default-src 'none'")
    assert not [e for e in page.elements if e.tag in {"link", "img", "iframe"} or "src" in e.attributes]
    assert (folder / "papers.html").read_text("utf-8").count("Plotly.newPlot") >= 1


def test_the_numbers_for_machines_are_all_there(found: Recomputed, folder: Path, page: Page) -> None:
    numbers = json.loads((folder / "papers.json").read_text("utf-8"))
    assert numbers == page.data("papers.json")
    by_key = {claim["key"]: claim for claim in numbers["claims"]}
    assert set(by_key) == {claim.key for claim in found.claims}
    assert by_key["adp-iii-a-zero"]["ours"] == "inf"
    assert by_key["adp-iii-a"]["ours"] == pytest.approx(math.log(5000))
    assert numbers["moved"] == []


def test_every_figure_has_its_data(found: Recomputed, folder: Path) -> None:
    for figure in found.figures:
        with (folder / "data" / f"{figure.key}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
        assert lines[0] == [str(name) for name in figure.data.columns]
        assert len(lines) == len(figure.data) + 1


def test_a_moved_number_is_an_alarm_on_the_page(found: Recomputed, tmp_path: Path) -> None:
    wrong = Recomputed(False, [replace(found.claims[0], ours=99.0)], [])
    text = Page(write(wrong, tmp_path).read_text("utf-8")).text()
    assert "1 moved" in text
    assert re.search(r"moved from 3", text)
