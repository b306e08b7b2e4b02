"""The names of the papers are where the glossary says they are."""

import importlib
import re
import sys
from pathlib import Path

import leeward

PAGE = Path(__file__).parents[2] / "docs/glossary.md"


def test_each_name_of_a_paper_is_in_the_file_that_is_named() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## Names in the papers")[1]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines() if row.startswith("| ") and "leeward." in row]
    assert len(rows) > 20
    for said, _, names, file in rows:
        held = Path(leeward.__file__).parent / file.strip("`")
        for name in re.findall(r"`leeward\.([\w.]+)`", names):
            module, _, last = name.rpartition(".")
            found = getattr(importlib.import_module(f"leeward.{module}"), last)
            assert Path(sys.modules[found.__module__].__file__ or "") == held, f"{said}: {name}"
