"""What docs/proved.md lists: each theorem, what it says, the code that rests on it, and what it does not cover.

`python -m tests.machine_checked.catalogue` renews the list of links in docs/guide/proofs.md.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "proved.md"
GUIDE = ROOT / "docs" / "guide" / "proofs.md"
PROOFS = ROOT / "proofs"


@dataclass(frozen=True)
class Row:
    """One row of the page."""

    theorem: str
    says: str
    code: str
    not_covered: str


def rows(text: str) -> list[Row]:
    """The rows of all tables of theorems, in order. Each has an anchor of its own name."""
    found = re.findall(r'^\| <a id="(\w+)"></a>`\1` \| (.+) \| `([\w.]+)` \| (.+) \|$', text, re.MULTILINE)
    return [Row(*cells) for cells in found]


def links(text: str) -> str:
    """For each section of the page with theorems, a line with a link to each."""
    lines = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        listed = [f"[{row.theorem}](../proved.md#{row.theorem})" for row in rows(section)]
        if listed:
            title = re.sub(r"^\d+\. ", "", section.partition("\n")[0])
            lines.append(f"- **{title}**: {', '.join(listed)}.")
    return "\n".join(lines)


def filled(guide: str) -> str:
    """The guide with the links made anew, between the two comments."""
    return re.sub(
        r"(<!-- machine: .*? -->\n).*?(<!-- end -->)",
        lambda m: f"{m[1]}\n{links(PAGE.read_text())}\n\n{m[2]}",
        guide,
        flags=re.DOTALL,
    )


def named(dotted: str) -> Any:
    """The object of this dotted name: a module, or something in one."""
    module, rest = dotted, ""
    while module:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}".rstrip(".")
            continue
        for name in filter(None, rest.split(".")):
            found = getattr(found, name)
        return found
    raise AssertionError(f"docs/proved.md names {dotted}, which is not there")


if __name__ == "__main__":
    GUIDE.write_text(filled(GUIDE.read_text()))
