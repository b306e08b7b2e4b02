"""Every code block that a reader might copy from the README or the documentation runs, and prints what is shown."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel
from tests.docs.documents import ROOT, blocks, run, runs

from leeward._optional import EXTRAS
from leeward._toml import Section
from leeward.local.location import _spec as location_spec
from leeward.local.series import _job as series_job
from leeward.notion._named import NAMED
from leeward.spec import GRADED, NUMBER_NOTIONS, POLICY_NOTIONS, Spec, _sections

DOCUMENTS = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if runs(p.read_text())]


GUIDES = [path for path in DOCUMENTS if path.parent.name == "guide"]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.sweep] if path in GUIDES else []) for path in DOCUMENTS],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_the_code_in_a_document_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(path)


def lacking(code: str) -> Iterator[str]:
    """The extras that code asks for: of what it imports, and of what it makes frames with."""
    for node in ast.walk(ast.parse(code)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
        elif isinstance(node, ast.Attribute) and node.attr == "to_pandas":
            names = ["pandas"]
        for name in names:
            if name == "leeward.papers":
                yield from ("analysis", "frames")
            elif library := EXTRAS.get(name.partition(".")[0]):
                yield library


@pytest.mark.parametrize("path", [*DOCUMENTS, *sorted((ROOT / "examples").glob("*.py"))], ids=lambda p: p.name)
def test_what_needs_more_than_a_plain_install_says_so(path: Path) -> None:
    text = path.read_text()
    code = [text] if path.suffix == ".py" else [block.body for block in blocks(text) if block.language == "python"]
    named = {extra for found in re.findall(r"leeward\[([\w,-]+)\]", text) for extra in found.split(",")}
    assert {extra for part in code for extra in lacking(part)} - named == set()


def document(folder: Path, text: str) -> Path:
    path = folder / "document.md"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n2\n```\n",
        '```toml title="a.toml"\nb = 1\n```\n\n```console\n$ cat a.toml\nb = 1\n$ echo one two three\none ... three\n```\n',
        '- in a list\n\n    ```python\n    print("a")\n    ```\n\n    ```text\n    a\n    ```\n',
        "```python\nfrom leeward.exact import exact\nexact(0.1)\n```\n\n```text\nInexactError: ...\n```\n",
        "```console\n$ make test\n$ false # exit 1\n```\n",
    ],
)
def test_a_true_document_passes(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs(text)
    run(document(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nassert False\n```\n",
        "```python\nprint(undefined)\n```\n\n```text\n...\n```\n",
        "```python\nfrom leeward.exact import exact\nexact(0.1)\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ true # exit 1\n```\n",
        "```console\n$ make no-such-target\n```\n",
        "- in a list\n\n    ```python\n    assert False\n    ```\n",
    ],
)
def test_a_false_document_is_caught(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, NameError, ValueError)):
        run(document(tmp_path, text))


@pytest.mark.parametrize("script", ["pictures/draw.py", "reference/draw_command.py", "schemas/write.py"])
def test_what_a_script_draws_is_up_to_date(script: str, tmp_path: Path) -> None:
    drawer = ROOT / "docs" / script
    subprocess.run([sys.executable, drawer, tmp_path], check=True)
    for drawn in tmp_path.iterdir():
        assert drawn.read_text() == (drawer.parent / drawn.name).read_text(), f"run: {script} {drawer.parent.name}"


def keys(model: type[BaseModel]) -> set[str]:
    """The keys of a spec's section, and of the tables in it."""
    found = set()
    for name, field in model.model_fields.items():
        inner = [field.annotation, *get_args(field.annotation)]
        inner += [under for kind in inner for under in get_args(kind)]
        found |= {name}.union(*(keys(kind) for kind in inner if isinstance(kind, type) and issubclass(kind, BaseModel)))
    return found


def test_the_page_of_the_spec_knows_its_keys() -> None:
    quoted = re.findall(r"`[^`]+`", (ROOT / "docs" / "spec.md").read_text())
    named = set(re.findall(r"\w+", " ".join(quoted)))
    assert keys(Spec) - {"folder"} <= named


def choices(kind: object) -> Iterator[str]:
    """The words that a key may have."""
    if get_origin(kind) is Literal:
        yield from (word for word in get_args(kind) if isinstance(word, str))
    for inner in get_args(kind):
        yield from choices(inner)


@pytest.mark.parametrize(
    ("module", "page"),
    [(_sections, "spec.md"), (location_spec, "guide/locations.md"), (series_job, "guide/meters.md")],
    ids=["release", "positions", "series"],
)
def test_the_pages_know_every_choice(module: ModuleType, page: str) -> None:
    """A notion, a kind of question or an option that no page names is one that nobody finds."""
    sections = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Section)]
    words = {word for kind in sections for hint in get_type_hints(kind).values() for word in choices(hint)}
    words |= {*NAMED, *GRADED, *NUMBER_NOTIONS, *POLICY_NOTIONS} if module is _sections else set()
    assert len(words) > 5
    text = (ROOT / "docs" / page).read_text()
    assert sorted(word for word in words if not re.search(rf'[`"]{re.escape(word)}[`"]', text)) == []
