"""What the documents say: the numbers of ``docs/papers-numbers.md`` by their anchors, and its tables."""

from __future__ import annotations

import math
import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
ROW = re.compile(r'^\| <a id="([^"]+)"></a>.* \| \*\*(.+?)\*\* \| .+ \|$')


def number(cell: str) -> float:
    """Read one cell: 5,031.0, ∞, −0.3422, 9.05e−05, ≈ 0."""
    plain = cell.strip().replace(",", "").replace("−", "-")
    return math.inf if plain == "∞" else 0.0 if plain == "≈ 0" else float(plain)


def cells() -> dict[str, str]:
    """Return the written number of every anchor, as it is written."""
    lines = (DOCS / "papers-numbers.md").read_text("utf-8").splitlines()
    found = [match.groups() for line in lines if (match := ROW.match(line))]
    assert len(found) == len({key for key, _ in found}) == sum("<a id=" in line for line in lines)
    return dict(found)


def table(heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading of the page, without its header."""
    text = (DOCS / "papers-numbers.md").read_text("utf-8").split(heading, 1)[1]
    lines = [line for line in text.split("\n## ")[0].split("\n### ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in lines[2:]]


def says(cell: str, value: float) -> bool:
    """Whether a written number is this one: to half a unit of its last digit (and exactly, where it has no point)."""
    written = number(cell)
    if math.isinf(written) or math.isinf(value):
        return written == value
    if cell.strip() == "≈ 0":
        return abs(value) < 1e-9
    mantissa, _, power = cell.strip().replace(",", "").replace("−", "-").partition("e")
    _, _, after = mantissa.partition(".")
    unit = 10.0 ** (int(power or 0) - len(after))
    return abs(value - written) <= 0.5000001 * unit + 1e-12


def code(guide: str) -> str:
    """Return the text of a guide."""
    return (DOCS / "guide" / guide).read_text("utf-8")
