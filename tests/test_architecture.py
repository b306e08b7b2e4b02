"""The shape of the house: imports run one way, modules stay small, start-up stays light, public names are documented."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import leeward

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "leeward"
MODULES = sorted(SOURCE.rglob("*.py"))
ROOF = {SOURCE / "__init__.py", SOURCE / "__main__.py"}  # they hand on what is below, and stand on no floor

FLOORS = [
    *[
        "plain",
        "encodings",
        "errors",
        "taught",
        "private",
        "optional",
        "sheets",
        "version",
        "paths",
        "scratch",
        "outputs",
        "integers",
        "real",
        "exponential",
        "keys",
        "distance",
        "notion",
        "query",
        "sensitivity",
        "noise",
    ],
    *["mechanism", "accounting", "utility", "engine", "ledger", "statement", "report", "result", "release", "monitor"],
    *["verify", "optimum", "geo", "perturb", "papers", "city", "data", "spec", "cli", "web"],
]
"""From the ground up. A floor may import floors before it; the package's __init__ stands on top of all."""

ONLY_ON = {"ibis": {"engine"}, "duckdb": {"engine"}, "sqlalchemy": {"ledger"}, "typer": {"cli"}}
"""Libraries that have one home each."""

APART = {"verify": {"mechanism", "utility", "noise", "sensitivity"}}
"""What checks a thing shares no code with it, though it stands above it."""

HEAVY = {"pandas", "ibis", "duckdb", "scipy", "plotly", "sqlalchemy", "pyarrow", "pydantic", "typer", "rich", "h3"}
"""What `import leeward` must leave until it is needed."""


def imports(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Every module that a source imports, anywhere in it, as an absolute dotted name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from leeward import noise` may name a submodule: report the longer name, the floors are found in it
            yield from (f"{module}.{alias.name}" for alias in node.names)


def floor_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def wrong_imports(floor: str, names: Iterator[str]) -> list[str]:
    """Those of the imported names that the floor may not use."""
    wrong = []
    for name in names:
        top, *rest = name.split(".")
        if top != "leeward":
            if floor not in ONLY_ON.get(top, {floor}):
                wrong.append(f"{name} (only {', '.join(ONLY_ON[top])} may import {top})")
            continue
        target = rest[0] if rest else ""
        if target == floor:
            continue
        if target not in FLOORS:
            wrong.append(f"{name} (from the package's face; name the module it lives in)")
        elif FLOORS.index(target) > FLOORS.index(floor):
            wrong.append(f"{name} (upwards)")
        elif target in APART.get(floor, set()):
            wrong.append(f"{name} ({floor} checks {target} and must not share its code)")
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_keeps_the_house_rules(path: Path) -> None:
    source = path.read_text()
    assert path.stem not in {"utils", "util", "helpers", "common", "misc", "types"}, "name it after the idea it holds"
    assert len(source.splitlines()) <= 500, "does it still hold one idea?"
    if path not in ROOF:
        floor = floor_of(path)
        assert floor in FLOORS, "a new floor: add it to the list here and in docs/architecture.md"
        package = ("leeward", *path.relative_to(SOURCE).parent.parts)
        assert wrong_imports(floor, imports(source, package)) == []


@pytest.mark.parametrize(
    ("floor", "source"),
    [
        ("noise", "from leeward.ledger import Budget"),
        ("noise", "def late():\n    from leeward import release"),
        ("noise", "from .. import release"),
        ("report", "import ibis"),
        ("cli", "from duckdb import connect"),
        ("verify", "from leeward.mechanism.geometric import Geometric"),
        ("ledger", "from leeward import Geometric"),
        ("ledger", "import leeward"),
    ],
)
def test_the_rule_on_imports_can_fail(floor: str, source: str) -> None:
    assert len(wrong_imports(floor, imports(source, ("leeward", floor)))) == 1


def test_the_architecture_page_lists_the_floors_in_this_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE) == FLOORS


def modules_after(statement: str) -> set[str]:
    """The top-level modules loaded by a fresh interpreter that runs a statement."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_is_light() -> None:
    loaded = modules_after("import leeward")
    assert "leeward" in loaded
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    # Counting modules, not milliseconds: the same on a loaded machine. NumPy alone is about 170.
    assert len(loaded) <= 300, sorted(loaded)


def test_the_measure_of_lightness_can_fail() -> None:
    assert "scipy" in {name.split(".")[0] for name in modules_after("import scipy.sparse")}


def documented() -> set[str]:
    """What the reference pages hand to mkdocstrings."""
    pages = (ROOT / "docs" / "reference").rglob("*.md")
    return {name for page in pages for name in re.findall(r"^::: (\S+)", page.read_text(), flags=re.MULTILINE)}


STUB = (SOURCE / "__init__.pyi").read_text()
PUBLIC = {name: floor for floor, name in re.findall(r"^from \.(\w+)(?:\.\w+)* import (\w+) as", STUB, re.MULTILINE)}


def test_each_floor_has_its_page_in_the_reference() -> None:
    # the command has a page of its own: reference/command.md
    built = {f"leeward.{floor_of(path)}" for path in MODULES if path not in ROOF} - {"leeward.version", "leeward.cli"}
    assert built <= documented(), "a page in docs/reference, and its line in mkdocs.yml"


def constants_with_docstrings(floor: str) -> set[str]:
    """The names assigned at the top of a floor's modules with a string right after them, which the reference shows."""
    found = set()
    for path in (path for path in MODULES if floor_of(path) == floor):
        body = ast.parse(path.read_text()).body
        for statement, after in itertools.pairwise(body):
            if (
                isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                )
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize(("name", "floor"), sorted(PUBLIC.items()))
def test_a_public_name_is_documented(name: str, floor: str) -> None:
    value = getattr(leeward, name)
    assert name in leeward.__all__
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value), "it has no docstring"
    elif name != "__version__":
        assert name in constants_with_docstrings(floor), "a constant is documented by a string right after it"
    assert f"leeward.{floor}" in documented() or floor == "version", "its floor has no page in docs/reference"


WHOLE = set(re.findall(r"^from \. import (\w+) as", STUB, re.MULTILINE))
"""The floors that are public as they are, for the names that are not handed on to the top."""


def test_every_public_name_comes_from_the_stub() -> None:
    assert set(leeward.__all__) == set(PUBLIC) | WHOLE


@pytest.mark.parametrize("floor", sorted(WHOLE))
def test_a_public_floor_is_there_without_an_import_of_its_own(floor: str) -> None:
    assert floor in FLOORS
    assert f"leeward.{floor}" in modules_after(f"import leeward; leeward.{floor}")
