"""All that the README shows works after ``pip install .``; what does not is refused with the command that adds it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
from tests.private_files import write_private
from tests.shown import commands

import leeward as lw
from leeward._optional import EXTRAS, optional
from leeward.errors import InputError

ROOT = Path(__file__).parent.parent.parent
SOURCE = Path(lw.__file__).parent
SERVED = {"fastapi", "starlette", "uvicorn"}
ASKED_FOR_FIRST = {"_web": SERVED, "desk": SERVED, "service": SERVED, "papers": {"pandas", "scipy"}}
"""What a room asks for as optional before any other module of it is imported."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OPTIONAL = set(EXTRAS)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(requirements: list[str], extras: frozenset[str] = frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    """The distributions that requirements name here, without markers that are about another machine or extra."""
    from packaging.requirements import Requirement

    for text in requirements:
        one = Requirement(text)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield normal(one.name), frozenset(one.extras)


def closure() -> set[str]:
    """Every distribution that a plain install brings."""
    found, todo = set[str](), [*wanted(PROJECT["dependencies"])]
    while todo:
        name, extras = todo.pop()
        if name not in found or extras:
            found.add(name)
            todo += [one for one in wanted(metadata.requires(name) or [], extras) if one[0] not in found]
    return found


def modules_of(names: set[str]) -> set[str]:
    return {
        module for module, owners in metadata.packages_distributions().items() if {normal(o) for o in owners} & names
    }


def test_the_optional_libraries_are_those_of_the_extra() -> None:
    extras = PROJECT["optional-dependencies"]
    client_alone = "spark-connect"  # of what "spark" brings whole
    ours = set(extras) - {"dev", "docs", "bench", client_alone}
    brings = {re.split(r"[\[<>=]", text)[0].replace("-", "_"): extra for extra in ours for text in extras[extra]}
    assert brings == dict(EXTRAS)
    assert not {normal(library) for library in OPTIONAL} & closure()


@pytest.mark.sweep
def test_every_import_is_of_a_plain_install_or_asked_for_as_optional() -> None:
    plain = modules_of(closure()) | sys.stdlib_module_names | {"leeward"}
    for path in sorted(SOURCE.rglob("*.py")):
        known = plain | ASKED_FOR_FIRST.get(path.relative_to(SOURCE).parts[0], set())
        tree = ast.parse(path.read_text("utf-8"))
        for_types = {
            node
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for part in block.body
            for node in ast.walk(part)
        }
        for node in set(ast.walk(tree)) - for_types:  # what only a type checker reads is not imported
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "optional":
                argument = node.args[0]
                if isinstance(argument, ast.Constant):
                    assert argument.value.partition(".")[0] in OPTIONAL, path
                else:  # one of several that are listed
                    assert path.parent.name == "papers", path
            assert {name.partition(".")[0] for name in names} <= known, path


def test_every_distribution_of_a_plain_install_is_pinned() -> None:
    pins = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), flags=re.MULTILINE)
    assert closure() - {normal(pin) for pin in pins} == set()


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h3", None)
    with pytest.raises(InputError, match=r'pip install "leeward\[geo\]"'):
        optional("h3", "A grid of H3 cells")
    assert optional("shapely", "A geometry").__name__ == "shapely"


_WITHOUT = """
import importlib.abc, json, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

BLOCKED = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Missing())
from tests.shown.commands import House, Names
from pathlib import Path

made = House(Path(sys.argv[2]), Names())
said = {}
for name, words in json.loads(sys.argv[3]).items():
    said[name] = made.run(words)
import leeward as lw
for name in lw.__all__:
    getattr(lw, name)
print("DONE" + json.dumps(said))
"""


def without(folder: Path, blocked: set[str], words: dict[str, list[str]]) -> dict[str, tuple[int, str, str]]:
    """Run commands where some modules cannot be found."""
    given = [json.dumps(sorted(blocked)), str(folder), json.dumps(words)]
    run = subprocess.run(
        [sys.executable, "-c", _WITHOUT, *given], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, tuple[int, str, str]] = json.loads(run.stdout.partition("DONE")[2])
    return found


@pytest.mark.sweep
def test_what_needs_an_optional_library_is_refused_with_its_command(tmp_path: Path) -> None:
    import geopandas

    made = commands.house(tmp_path)
    release = (tmp_path / "release.toml").read_text("utf-8")
    cells = '[places.grid]\n"west" = 139.7\n"south" = 35.6\n"east" = 139.8\n"north" = 35.7\n"h3" = 8\n'
    on_map = release.replace("[places]", "[unused]").replace(
        '"place" = "venue"\n"time"', '"latitude" = "lat"\n"longitude" = "lon"\n"time"'
    )
    text = re.sub(r"\[unused\]\n(.*\n)*?\[window\]", f"{cells}[window]", on_map)
    (tmp_path / "cells.toml").write_text(text, "utf-8")
    location = (tmp_path / "location-parquet.toml").read_text("utf-8")
    paid = '[budget]\nstore = "people.db"\nsecret = "people.key"\nreports_a_day = 5\n'
    write_private(tmp_path / "people.key", bytes(32))
    (tmp_path / "h3.toml").write_text(f"{location}{paid}[output]\nh3 = 8\n", "utf-8")
    geometry = location.replace("visits.parquet", "points.parquet").replace(
        '"latitude" = "lat"\n"longitude" = "lon"\n', ""
    )
    (tmp_path / "geometry.toml").write_text(geometry + paid, "utf-8")
    visits = pd.read_parquet(tmp_path / "data" / "visits.parquet")
    points = geopandas.GeoDataFrame(
        visits[["user", "at"]], geometry=geopandas.points_from_xy(visits.lon, visits.lat), crs=4326
    )
    points.to_parquet(tmp_path / "data" / "points.parquet")
    words = {
        "h3 cells": ["release", "cells.toml", "--dry-run"],
        "h3 reports": ["perturb", "h3.toml", "--out", "o.parquet", "--yes"],
        "a geometry": ["perturb", "geometry.toml", "--out", "o.parquet", "--yes"],
    }
    found = without(tmp_path, set(OPTIONAL), words)
    for name, library in (("h3 cells", "h3"), ("h3 reports", "h3"), ("a geometry", "shapely")):
        code, out, err = found[name]
        assert (code, out) == (2, ""), (name, err)
        assert f'pip install "leeward[{EXTRAS[library]}]"' in err, name
        assert err.count("\n") == 1
    assert not (tmp_path / "people.db").exists(), "refused before anything is charged"
    assert not (tmp_path / "o.parquet").exists()
    for name, words_of_it in words.items():  # with the libraries, all three are answered
        code, _, err = made.run(words_of_it)
        assert code == 0, (name, err)


_COMMANDS = """
import json, sys
import leeward as lw
from leeward.__main__ import main

for name in lw.__all__:
    getattr(lw, name)
for words in json.loads(sys.argv[1]):
    sys.argv = ["leeward", *words]
    try:
        main()
    except SystemExit as stopped:
        if stopped.code:
            raise AssertionError(f"{words} ended with {stopped.code}") from None
print("the commands run")
"""

_TOUR = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.docs.documents import run
run(Path(sys.argv[1]) / "README.md")
print("the tour runs")
"""


@pytest.mark.sweep
def test_a_plain_install_in_an_empty_environment(tmp_path: Path) -> None:
    """All commands and names, and the README itself, where nothing but a plain install is."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = str(place / "bin" / "python")
    clean = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}}
    pip = [python, "-m", "pip", "install", "-qq", "--no-compile", "--disable-pip-version-check"]
    asked = [*pip, "-c", str(ROOT / "constraints.txt"), str(ROOT)]
    installed = subprocess.run(asked, env=clean, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    files = (path for path in place.rglob("*") if path.is_file() and not path.is_symlink())
    megabytes = sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6
    assert megabytes < 520  # what docs/limits.md tells, without bytecode
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=json"], env=clean, capture_output=True, text=True, check=True
    )
    names = {normal(one["name"]) for one in json.loads(listed.stdout)}
    assert not {normal(library) for library in OPTIONAL} & names
    assert "pytest" not in names

    command, work = str(place / "bin" / "leeward"), tmp_path / "work"
    work.mkdir()

    def run(*words: str, folder: Path = work) -> str:
        done = subprocess.run([*words], cwd=folder, env=clean, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        assert "ModuleNotFound" not in done.stderr
        return done.stdout

    assert lw.__version__ in run(command, "--version")
    assert "report.html" in run(command, "demo", "--out", "demo-out")
    made = commands.house(work)
    # one process for all of them: what they import is the same, and most of what one of them takes
    assert "the commands run" in run(python, "-c", _COMMANDS, json.dumps([*made.commands.values()]))
    tour = tmp_path / "tour"
    tour.mkdir()
    script = [python, "-c", _TOUR, str(ROOT)]
    assert "the tour runs" in run(*script, folder=tour)
