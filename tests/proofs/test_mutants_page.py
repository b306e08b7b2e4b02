"""The page lists every deliberate mistake, with what it costs and with the test that catches it."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from tests.proofs.mutants import ELSEWHERE, PROVED, SPARSE, VERIFY, measured
from tests.proofs.page import PAGE, by_verify, elsewhere, shown
from tests.verification import test_mutants

ROOT = Path(__file__).parents[2]


def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_tables_of_mistakes_are_those_of_the_page() -> None:
    page = PAGE.read_text()
    assert shown(page, "mutants") == by_verify(), "run python -m tests.proofs.page"
    assert shown(page, "elsewhere") == elsewhere(), "run python -m tests.proofs.page"


def test_every_mistake_that_verify_is_shown_is_listed() -> None:
    named = functions(VERIFY)
    catching = {
        name
        for name in named
        if name.startswith("test_") and "caught(" in inspect.getsource(getattr(test_mutants, name))
    }
    assert catching == {*PROVED, SPARSE}


@pytest.mark.parametrize(("mistake", "catcher", "test"), ELSEWHERE)
def test_the_test_that_catches_it_exists(mistake: str, catcher: str, test: str) -> None:
    path, _, name = test.partition("::")
    assert name in functions(path)


def test_a_test_that_catches_nothing_is_no_measurement() -> None:
    with pytest.raises(AssertionError, match="caught nothing"):
        measured("idle", lambda: None)
