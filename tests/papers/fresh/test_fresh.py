"""Every number of ``docs/papers-numbers.md``, and those that the guides of the papers print, derived afresh.

The derivations beside this file were made from the papers alone, before ours were read, and share no code with the package:
laws are written out, tables enumerated, optima found by plain linear programs. What is written is compared to half a unit of
its last digit. A number that nobody derived must stand in ``DRAWN`` with the reason.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest
from tests.papers.fresh import adp, cities, d_privacy, guides, one_sided, optima, written

DRAWN = {
    "adp-simulated-hour": "the worst of 20 seeded draws, in standard deviations",
    "adp-simulated-day": "the worst of 12 seeded draws, in standard deviations",
    "d-privacy-example-2-recognised-1": "a correlation in one seeded draw",
    "d-privacy-example-2-recognised-5": "a correlation in one seeded draw",
}
HERE = Path(__file__).parent


@functools.cache
def derived() -> dict[str, float]:
    found: dict[str, float] = {}
    for chapter in (adp, cities, one_sided, d_privacy, optima):
        numbers = chapter.derived()
        assert not found.keys() & numbers.keys()
        found.update(numbers)
    return found


@pytest.mark.sweep
def test_every_number_of_the_page_is_derived_here_or_is_drawn() -> None:
    assert derived().keys() | DRAWN.keys() == written.cells().keys()
    assert not derived().keys() & DRAWN.keys()


@pytest.mark.sweep
@pytest.mark.parametrize("anchor", sorted(written.cells().keys() - DRAWN.keys()))
def test_a_number_is_what_is_derived_afresh(anchor: str) -> None:
    cell = written.cells()[anchor]
    assert written.says(cell, derived()[anchor]), f"written {cell}, derived {derived()[anchor]}"


def test_every_correction_has_a_number_that_is_derived_here() -> None:
    """The rows of "By correction" are all the headings of the corrections; each links at least one number derived afresh."""
    text = (written.DOCS / "papers-numbers.md").read_text("utf-8").split("## By correction", 1)[1]
    rows = [re.findall(r"\]\(#([^)]+)\)", line) for line in text.splitlines() if "corrections.md#" in line]
    headings = (written.DOCS / "corrections.md").read_text("utf-8").count("\n### ")
    assert len(rows) == headings
    assert all(derived().keys() & set(row) for row in rows)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("0.4002", 0.40026), ("5,343", 5344), ("∞", 1e9), ("≈ 0", 1e-6), ("9.05e−05", 9.06e-5), ("−0.3422", 0.3422)],
)
def test_the_comparison_can_fail(cell: str, value: float) -> None:
    assert not written.says(cell, value)
    assert written.says(cell, written.number(cell))


def test_the_table_of_readings() -> None:
    rows = written.table("### What each meaning of “safe” allows")
    for row, numbers in zip(rows, cities.table(), strict=True):
        assert [written.says(c, v) for c, v in zip(row[1:], numbers, strict=True)] == [True] * len(numbers), row[0]


def test_the_table_of_variances() -> None:
    rows = written.table("### Equation (3): variances at ε = 1")
    assert [int(row[0]) for row in rows] == list(range(9))
    for row in rows:
        numbers = one_sided.variances(1.0, int(row[0]))
        assert all(written.says(cell, value) for cell, value in zip(row[1:], numbers, strict=True)), row


def test_the_table_of_sensitivities() -> None:
    rows = written.table("### Propositions 4, 5 and Theorems 11 to 13: sensitivities")
    for row, (metric, query, delta, uniform) in zip(rows, d_privacy.sensitivities(), strict=True):
        assert (row[1], row[2], row[6]) == (metric, query, "yes" if uniform else "no")
        assert written.says(row[4], delta)


def test_the_table_of_optima() -> None:
    rows = written.table("### Theorems 8 to 13: is the truncated geometric mechanism optimal?")
    for row, (theorem, query, metric, loss, least, ours) in zip(rows, optima.optima(), strict=True):
        assert (row[0], row[2], row[3], row[5]) == (theorem, query, metric, loss)
        assert all(written.says(c, v) for c, v in zip(row[6:], (least, ours, max(0.0, ours - least)), strict=True)), row


@pytest.mark.parametrize(("guide", "line"), guides.lines())
def test_a_printed_line_of_a_guide_is_what_is_derived_afresh(guide: str, line: str) -> None:
    assert line in written.code(guide).splitlines()


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.stem)
def test_nothing_here_uses_the_package(path: Path) -> None:
    names = [
        name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert not [n for n in names if n.split(".")[0] in ("leeward", "importlib", ".")]
    assert all(n.startswith("tests.papers.fresh") for n in names if n.startswith("tests"))
