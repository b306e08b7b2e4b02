"""What is installed is pinned, and the pins name no place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import leeward

ROOT = Path(__file__).parent.parent


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_requirement_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [requirement for group in (project["dependencies"], *extras) for requirement in group]
    names = {normal(match[0]) for r in wanted if (match := re.match(r"[\w.-]+", r))} - {"leeward"}
    pins = re.findall(r"^([\w.-]+)==[\w.]+$", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)
    assert names - {normal(pin) for pin in pins} == set()


def test_the_pins_hold_nothing_but_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line)] == []


def test_the_version_is_told_once_everywhere() -> None:
    assert f"\nversion: {leeward.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {leeward.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_make_help_and_the_contributors_page_name_the_same_commands() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    rows = re.findall(r"^\| `make ([a-z-]+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    assert rows == [target for target in targets if target != "help"]
    assert {"test", "sweeps", "long", "check"} <= set(rows)


def test_every_source_names_its_licence() -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.pyi")]
    assert len(sources) > 200
    assert [
        str(path) for path in sources if not path.read_text().startswith("# SPDX-License-Identifier: Apache-2.0\n")
    ] == []
