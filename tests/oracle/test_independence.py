"""An oracle shares no code with what it checks: nothing here imports the package, nor anything of the tests that does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ORACLES = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_"))


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def shared(source: str) -> list[str]:
    """What it imports that may share code with the package."""
    return [
        name
        for name in imported(source)
        if name.split(".")[0] in {"leeward", ".", "importlib"}
        or (name.split(".")[0] == "tests" and not name.startswith("tests.oracle"))
    ]


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: path.stem)
def test_an_oracle_imports_nothing_of_ours(path: Path) -> None:
    assert shared(path.read_text()) == []


@pytest.mark.parametrize(
    "source", ["import leeward as lw", "def f():\n    from leeward.real import exact", "from tests.proofs import pairs"]
)
def test_the_rule_can_fail(source: str) -> None:
    assert shared(source)
