"""The documentation shows the numbers that are computed, and links that lead somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from leeward.papers import Recomputed

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def drawer() -> dict[str, object]:
    return runpy.run_path(str(DOCS / "papers_draw.py"))


def test_the_page_of_numbers_is_up_to_date(found: Recomputed, drawer: dict[str, object]) -> None:
    written = drawer["page"](found)  # type: ignore[operator]
    kept = (DOCS / "papers-numbers.md").read_text("utf-8")
    assert kept == written, "run: python docs/papers_draw.py docs"


def test_links_between_numbers_and_corrections_hold(drawer: dict[str, object]) -> None:
    numbers = (DOCS / "papers-numbers.md").read_text("utf-8")
    anchors = set(re.findall(r'<a id="([^"]+)">', numbers))
    assert set(re.findall(r"\]\(#([^)]+)\)", numbers)) <= anchors
    headings = re.findall(r"^### (.+)$", (DOCS / "corrections.md").read_text("utf-8"), flags=re.MULTILINE)
    slugs = {drawer["slug"](heading) for heading in headings}  # type: ignore[operator]
    linked = set(re.findall(r"\]\(corrections\.md#([^)]+)\)", numbers))
    assert linked == slugs


def test_the_pictures_shown_are_those_drawn(drawer: dict[str, object]) -> None:
    shown = set(re.findall(r"papers-figures/([\w-]+)\.png", (DOCS / "papers.md").read_text("utf-8")))
    assert shown == set(drawer["SHOWN"]) == {path.stem for path in (DOCS / "papers-figures").iterdir()}  # type: ignore[call-overload]


def test_the_table_of_readings_is_the_one_computed(found: Recomputed) -> None:
    (figure,) = [figure for figure in found.figures if figure.key == "adp-readings"]
    text = (DOCS / "papers.md").read_text("utf-8")
    for row in figure.data.itertuples(index=False):
        safe, few, most, likely, few_falling, most_falling, likely_falling, least, greatest = row
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {safe} |")]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1] == f"{few:.1f} to {most:.1f}"
        assert cells[3] == f"{few_falling:.1f} to {most_falling:.1f}"
        assert cells[5] == (f"{least:.2f}" if greatest == least else f"{least:.2f} to {greatest:.2f}")
        for cell, chance in ((cells[2], likely), (cells[4], likely_falling)):
            power = cell.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
            told = float("1e" + power[2:]) if power.startswith("10") else float(cell)
            assert (
                told / 3.2 <= chance <= told * 3.2 if "10" in cell else abs(told - chance) <= 0.5 * 10 ** -len(cell[2:])
            )
