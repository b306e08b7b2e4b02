"""What docs/proved.md lists: each theorem, what it says, the code that rests on it, and what it does not cover."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "proved.md"
PROOFS = ROOT / "proofs"


@dataclass(frozen=True)
class Row:
    """One row of the page."""

    theorem: str
    says: str
    code: str
    not_covered: str


def rows(text: str) -> list[Row]:
    """The rows of all tables of theorems, in order."""
    found = re.findall(r"^\| `(\w+)` \| (.+) \| `([\w.]+)` \| (.+) \|$", text, re.MULTILINE)
    return [Row(*cells) for cells in found]


def named(dotted: str) -> Any:
    """The object of this dotted name: a module, or something in one."""
    module, _, rest = dotted, "", ""
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
