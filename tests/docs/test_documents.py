"""Every code block that a reader might copy from the README or the documentation runs, and prints what is shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.documents import ROOT, run, runs

DOCUMENTS = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if runs(p.read_text())]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_code_in_a_document_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(path)


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
        "```python\nfrom leeward.real import exact\nexact(0.1)\n```\n\n```text\nInexactError: ...\n```\n",
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
        "```python\nfrom leeward.real import exact\nexact(0.1)\n```\n",
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


def test_the_pictures_are_drawn_from_their_formulas(tmp_path: Path) -> None:
    pictures = ROOT / "docs" / "pictures"
    subprocess.run([sys.executable, pictures / "draw.py", tmp_path], check=True)
    drawn = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_text() for path in pictures.glob("*.svg")}, "run docs/pictures/draw.py"
