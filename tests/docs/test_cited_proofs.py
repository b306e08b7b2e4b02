"""Where a statement or a page says that a theorem or its proof is to be found, there it is.

A statement that is published cites `docs/guide/NAME`; the page then names the module that holds the proof. A page that says
that a proof is in a module names one whose text has it.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = re.compile(r"(?:theorem|proof)[^.]{0,60}? (?:is|are) in\s+`(leeward[\w.]+)`", re.IGNORECASE)
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guide").glob("*.md")])


def citations() -> list[str]:
    """What is said in the program's sentences to be in a page of the guide."""
    files = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "src").rglob("*.py"))]
    nodes = [node for text in files if '"Leeward, docs/guide/' in text for node in ast.walk(ast.parse(text))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and text.startswith("Leeward, docs/guide/")]


CITED = citations()

HELD_IN = {
    "the scans of all groups": "_scans",
    "left out at any place": "_everyone",
    "groups that occur": "_unknown_keys",
}
"""In what module the proof is of what a citation says in these words."""


def proves(module: str) -> bool:
    """Whether a module's own text holds a proof."""
    text = importlib.import_module(module).__doc__ or ""
    return "Proof" in text


def test_each_proof_is_cited() -> None:
    assert [words for words in HELD_IN for cited in CITED if words in cited] == list(HELD_IN)
    assert len(CITED) == len(HELD_IN)


@pytest.mark.parametrize("cited", CITED, ids=lambda cited: cited[8:40])
def test_a_page_that_a_statement_cites_says_where_the_proof_is(cited: str) -> None:
    page = cited.partition(": ")[0].removeprefix("Leeward, ") + ".md"
    held = {module for words, module in HELD_IN.items() if words in cited}
    named = MODULE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert held & {name.rpartition(".")[2] for name in named}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_where_a_page_says_that_a_proof_is_there_is_one(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert all(map(proves, MODULE.findall(text)))
