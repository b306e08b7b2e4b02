"""The threat model names an attack for each threat, and the attack is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.documents import ROOT


def missing(page: str, root: Path) -> list[str]:
    """Return what is wrong with the rows of the table: no test named, or one that is not there."""
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| who ", "|---"))]
    assert rows
    wrong = []
    for row in rows:
        *_, tests, _ = row.split("|")
        named = re.findall(r"`(tests/[^`]+)`", tests)
        wrong += [row] if not named else []
        for name in named:
            files = [root / name] if name.endswith(".py") else sorted((root / name).rglob("test_*.py"))
            if not any("\ndef test_" in file.read_text() for file in files if file.is_file()):
                wrong.append(name)
    return wrong


def test_every_threat_is_attacked_by_tests_that_are_there() -> None:
    assert missing((ROOT / "docs" / "threats.md").read_text(), ROOT) == []


@pytest.mark.parametrize("cell", ["", "`tests/ledger/test_none.py`", "`tests/docs/documents.py`", "`tests/nowhere`"])
def test_a_threat_without_a_test_is_found(cell: str) -> None:
    assert missing(f"| who | what |\n|---|---|\n| a thief | {cell} |\n", ROOT)
