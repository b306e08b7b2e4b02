"""The shape of the package: imports run one way, never in a circle; modules stay small, start-up light, names documented."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import itertools
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import leeward

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "leeward"
MODULES = sorted(SOURCE.rglob("*.py"))
TOP = {SOURCE / "__init__.py", SOURCE / "__main__.py"}  # they hand on what is below, and stand in no layer

LAYERS = [
    *[
        "_plain",
        "_encodings",
        "errors",
        "_taught",
        "_private",
        "_displayed",
        "_buffers",
        "_progress",
        "_optional",
        "version",
        "_document",
        "_paths",
        "_postgres",
        "_spark_remote",
        "_spark",
        "_locks",
        "_scratch",
        "outputs",
        "tables",
    ],
    *[
        "_arrays",
        "_integers",
        "exact",
        "_toml",
        "distance",
        "notion",
        "query",
        "noise",
        "mechanism",
        "accounting",
        "verification",
    ],
    *[
        "analysis",
        "planner",
        "_statement",
        "engine",
        "ledger",
        "report",
        "session",
        "local",
        "papers",
        "demo",
        "spec",
        "_web",
        "desk",
        "service",
        "cli",
    ],
]
"""From the base up. A layer may import layers before it; the package's __init__ stands on top of all."""

ONLY_IN = {
    "ibis": {"engine"},
    "duckdb": {"engine"},
    "sqlalchemy": {"ledger"},
    "psycopg": {"_postgres"},
    "pyspark": {"_spark", "_spark_remote"},
    "typer": {"cli"},
    "fastapi": {"_web", "desk", "service"},
    "starlette": {"_web", "desk", "service"},
    "uvicorn": {"_web"},
}
"""Libraries that have one home each."""

APART = {"verification": {"mechanism", "noise", "query", "accounting"}}
"""What checks a thing shares no code with it, though it stands above it."""

HEAVY = {
    "pandas",
    "ibis",
    "duckdb",
    "scipy",
    "plotly",
    "sqlalchemy",
    "psycopg",
    "pyarrow",
    "pyspark",
    "pydantic",
    "typer",
    "fastapi",
    "rich",
    "h3",
}
"""What `import leeward` must leave until it is needed."""


def imports(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Every module that a source imports, anywhere in it, as an absolute dotted name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from leeward import noise` may name a submodule: report the longer name, the layers are found in it
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def package_of(path: Path) -> tuple[str, ...]:
    return ("leeward", *path.relative_to(SOURCE).parent.parts)


def wrong_imports(layer: str, names: Iterator[str]) -> list[str]:
    """Those of the imported names that the layer may not use."""
    wrong = []
    for name in names:
        top, *rest = name.split(".")
        if top != "leeward":
            if layer not in ONLY_IN.get(top, {layer}):
                wrong.append(f"{name} (only {', '.join(ONLY_IN[top])} may import {top})")
            continue
        target = rest[0] if rest else ""
        if target == layer:
            continue
        if target not in LAYERS:
            wrong.append(f"{name} (from the package's face; name the module it lives in)")
        elif LAYERS.index(target) > LAYERS.index(layer):
            wrong.append(f"{name} (upwards)")
        elif target in APART.get(layer, set()):
            wrong.append(f"{name} ({layer} checks {target} and must not share its code)")
    return wrong


def module_name(path: Path) -> str:
    return ".".join(("leeward", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The circles of a graph of imports, as its strongly connected parts of more than one module (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in graph[module]:
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            part = [stack.pop()]
            while part[-1] != module:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    for module in graph:
        if module not in number:
            visit(module)
    return found


def import_graph() -> dict[str, set[str]]:
    """Who imports whom, anywhere in a module, under `TYPE_CHECKING` too. A name's own module is meant where there is one."""
    known = {module_name(path): path for path in MODULES}
    graph = {}
    for name, path in known.items():
        stub = path.with_suffix(".pyi")  # of a layer that hands on its names one by one, as if it handed on all at once
        source = path.read_text() + (stub.read_text() if stub.exists() else "")
        named = imports(source, package_of(path))
        found = {full if full in known else full.rpartition(".")[0] for full in named}
        graph[name] = {module for module in found if module in known} - {name, "leeward"}
    return graph


def test_there_is_no_circle_of_imports() -> None:
    assert circles(import_graph()) == []


@pytest.mark.parametrize(
    ("graph", "count"),
    [({"a": {"b"}, "b": {"a"}}, 1), ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, 1), ({"a": {"b"}, "b": ()}, 0)],
)
def test_the_rule_on_circles_can_fail(graph: dict[str, set[str]], count: int) -> None:
    assert len(circles(graph)) == count


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_keeps_the_rules(path: Path) -> None:
    source = path.read_text()
    assert path.stem not in {"utils", "util", "helpers", "common", "misc", "types"}, "name it after the idea it holds"
    assert len(source.splitlines()) <= 500, "does it still hold one idea?"
    if path not in TOP:
        layer = layer_of(path)
        assert layer in LAYERS, "a new layer: add it to the list here and in docs/architecture.md"
        assert wrong_imports(layer, imports(source, package_of(path))) == []


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("noise", "from leeward.ledger import Ledger"),
        ("noise", "def late():\n    from leeward import session"),
        ("noise", "from .. import session"),
        ("report", "import ibis"),
        ("cli", "from duckdb import connect"),
        ("verification", "from leeward.mechanism._geometric import Geometric"),
        ("ledger", "from leeward import Geometric"),
        ("ledger", "import leeward"),
    ],
)
def test_the_rule_on_imports_can_fail(layer: str, source: str) -> None:
    assert len(wrong_imports(layer, imports(source, ("leeward", layer)))) == 1


def test_the_architecture_page_lists_the_layers_in_this_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE) == LAYERS


def places_named(cell: str, roots: tuple[Path, ...]) -> Iterator[tuple[str, bool]]:
    """Each name in a cell of a table that says where things go, and whether there is such a file or folder.

    Names without a folder stand beside the one before, or in it.
    """
    at: Path | None = None
    for name in re.findall(r"`([\w./]+)`", cell):
        tried = [root / name for root in roots] + ([] if at is None else [at / name, at.parent / name])
        found = next((path for place in tried for path in (place, place.with_suffix(".py")) if path.exists()), None)
        at = found or at
        yield name, found is not None


def test_the_architecture_page_says_where_a_new_thing_goes() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page.split("| change |")[1], flags=re.MULTILINE)
    assert len(rows) >= 10
    for change, where, completed in rows:
        found = [*places_named(where, (SOURCE,)), *places_named(completed, (ROOT,))]
        assert [name for name, there in found if not there and name not in WORDS] == [], change


WORDS = {"lw.release", "format"}
"""What the page sets as code that is no file."""


def test_the_rule_on_where_things_go_can_fail() -> None:
    cell = "`notion/_named`, `_nothing`; `planner`: `_plan`"
    expected = [("notion/_named", True), ("_nothing", False), ("planner", True), ("_plan", True)]
    assert list(places_named(cell, (SOURCE,))) == expected


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
PUBLIC = {name: layer for layer, name in re.findall(r"^from \.(\w+)(?:\.\w+)* import (\w+) as", STUB, re.MULTILINE)}


def public_modules() -> set[str]:
    """The modules no part of whose name begins with an underscore."""
    names = {module_name(path) for path in MODULES if path not in TOP}
    return {name for name in names if not any(part.startswith("_") for part in name.split("."))}


def test_each_public_module_has_its_page_in_the_reference() -> None:
    # the command has a page of its own: reference/command.md
    own = {"leeward.version", "leeward.cli"}
    assert public_modules() - documented() == own, "a page in docs/reference, and its line in mkdocs.yml"


def test_the_reference_shows_public_modules_only() -> None:
    assert {name for name in documented() if "._" in name} == set()


def constants_with_docstrings(layer: str) -> set[str]:
    """The names assigned at the top of a layer's modules with a string right after them, which the reference shows."""
    found = set()
    for path in (path for path in MODULES if layer_of(path) == layer):
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


@pytest.mark.parametrize(("name", "layer"), sorted(PUBLIC.items()))
def test_a_public_name_is_documented(name: str, layer: str) -> None:
    value = getattr(leeward, name)
    assert name in leeward.__all__
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value), "it has no docstring"
    elif name != "__version__":
        assert name in constants_with_docstrings(layer), "a constant is documented by a string right after it"


WHOLE = set(re.findall(r"^from \. import (\w+) as", STUB, re.MULTILINE))
"""The submodules that are there after ``import leeward``."""


def test_every_public_name_comes_from_the_stub() -> None:
    assert set(leeward.__all__) == set(PUBLIC) | WHOLE


def test_no_name_of_the_face_is_a_module_that_turns_into_something_else() -> None:
    modules = {path.stem for path in SOURCE.glob("*.py")} | {path.name for path in SOURCE.iterdir() if path.is_dir()}
    assert set(PUBLIC) & modules == set()


@pytest.mark.parametrize("module", sorted(public_modules()))
def test_a_public_module_works_by_attribute_and_by_import_as(module: str) -> None:
    assert module in modules_after(f"import leeward; {module}")
    assert module in modules_after(f"import {module} as it; assert type(it).__name__ == 'module', it")


def choices(source: str) -> Iterator[frozenset[str]]:
    """Every list of two words or more that a source writes as a Literal."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
            listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            words = frozenset(str(each.value) for each in listed if isinstance(each, ast.Constant))
            if len(words) > 1:
                yield words


BY_CHANCE = {frozenset({"refuse", "keep"})}
"""What becomes of missing positions, and of missing readings: two choices with one spelling."""


def test_a_list_of_choices_is_written_once() -> None:
    """A second list is forgotten when a choice is added to the first, and then refuses or misreads it."""
    found: dict[frozenset[str], list[str]] = {}
    for path in MODULES:
        for words in choices(path.read_text()):
            found.setdefault(words, []).append(str(path.relative_to(SOURCE)))
    assert {words for words, where in found.items() if len(where) > 1} == BY_CHANCE
    assert [*choices('A = Literal["b", "a"]\nB = tuple[Literal["a", "b"]]\nC = Literal[1]')] == [frozenset("ab")] * 2


THERE = {"exists", "is_dir", "is_file", "is_symlink", "is_fifo", "is_socket", "is_mount", "is_block_device"}


def asks_a_path(source: str) -> list[int]:
    """The lines of a source that ask a path itself whether something is there."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in THERE
        and not (node.args or node.keywords)
    ]


def test_whether_something_is_there_is_asked_of_os_path() -> None:
    """Before Python 3.14 a `Path` raises what the system says of a folder that may not be looked into."""
    found = {str(path.relative_to(SOURCE)): asks_a_path(path.read_text()) for path in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert asks_a_path("a.is_dir()\nb.is_dir(follow_symlinks=False)\nos.path.exists(a)\n(a / b).exists()") == [1, 4]


MOST_ARGUMENTS = 9

OF_MORE = {
    "cli._init.init": "the options of a command are its arguments",
    "cli._monitor.monitor": "likewise",
    "cli._release.release": "likewise",
    "local.location._planar_laplace.PlanarLaplace.__init__": "its promise is said in one of two ways",
}
"""Functions of more arguments, and why; all others take a frozen object where several arguments are one idea."""


def of_more(source: str, most: int = MOST_ARGUMENTS) -> Iterator[str]:
    """The functions of a module that take more arguments, without ``self``; by name, within their classes."""

    def inside(node: ast.AST, prefix: str) -> Iterator[str]:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.ClassDef):
                yield from inside(each, f"{prefix}{each.name}.")
            elif isinstance(each, ast.FunctionDef):
                given = [one.arg for one in (*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs)]
                overload = any(ast.unparse(one) == "overload" for one in each.decorator_list)
                if len(given) - (given[:1] in (["self"], ["cls"])) > most and not overload:
                    yield f"{prefix}{each.name}"
                yield from inside(each, f"{prefix}{each.name}.")
            else:
                yield from inside(each, prefix)

    yield from inside(ast.parse(source), "")


def test_no_function_takes_more_arguments_than_one_can_keep_in_mind() -> None:
    found = {
        f"{module_name(path).removeprefix('leeward.')}.{name}" for path in MODULES for name in of_more(path.read_text())
    }
    assert found == OF_MORE.keys()


def test_the_rule_on_arguments_can_fail() -> None:
    many = ", ".join(f"a{n}" for n in range(MOST_ARGUMENTS))
    assert not [*of_more(f"def f({many}): ...\nclass A:\n    def g(self, {many}): ...")]
    assert [*of_more(f"class A:\n    def g(self, {many}, *, b): ...")] == ["A.g"]


def says_any(thing: object) -> Iterator[str]:
    """The arguments, results and attributes of a public function or class that its signature says nothing of but ``Any``."""
    held = [("", thing)]
    if isinstance(thing, type):
        own = [(name, getattr(each, "fget", getattr(each, "func", each))) for name, each in list(vars(thing).items())]
        shown = {"__call__"} if dataclasses.is_dataclass(thing) else {"__call__", "__init__"}
        held += [(f"{name}.", each) for name, each in own if name in shown or not name.startswith("_")]
    for prefix, each in held:
        function = getattr(each, "__func__", each)
        if isinstance(function, type) and prefix:
            continue
        said = getattr(inspect.unwrap(function) if callable(function) else function, "__annotations__", {})
        for name, kind in said.items():
            if not name.startswith("_") and "Any" in str(kind).split(" | "):
                yield f"{prefix}{name}"


ANY = {
    "Appliance": ({"weighed.return"}, "weights of NumPy, or exact ones"),
    "DirectedDistance": ({"price_in.other"}, "each family of distances has prices in its own"),
    "EdgeDP": ({"record.before", "record.after"}, "a record is a set of edges, of any kind"),
    "Enclosed": ({"arb.return"}, "a ball of python-flint, which is loaded when it is needed"),
    "FiniteMechanism": ({"release.return"}, "one of its outputs, or an array of them"),
    "GroupDP": ({"record.before", "record.after"}, "a record is a row for each member, of any kind"),
    "NodeDP": ({"record.before", "record.after"}, "a record is a set of edges, of any kind"),
    "Opened": (
        {f"{name}.query" for name in ["beyond", "exactly", "look", "matches", "survey"]},
        "each kind of table takes its own kind of question",
    ),
    "Plane": ({"__call__.x", "__call__.y"}, "points are pairs, or arrays of them"),
    "PriorPlaces": ({"tree.return"}, "a tree of SciPy, which has no types"),
    "Risk": ({"output"}, "an output of the mechanism, of any kind"),
    "Schedule": ({"starts.return"}, "a column of times of pandas, which has no types of its own"),
    "SeriesLevels": ({"of.column"}, "a column of Arrow, which has no types"),
    "Shuffled": ({"before", "after"}, "two secrets of the mechanism, of any kind"),
    "Source": ({"held.return"}, "whatever was given"),
    "perturb_in_spark": ({"frame"}, "a DataFrame of Spark, which is loaded when it is needed"),
    "Verdict": ({"worst_output"}, "an output of the mechanism, of any kind"),
}
"""Where a public signature says ``Any``, and why."""


def test_a_public_signature_says_what_it_takes() -> None:
    rooms = [importlib.import_module(module) for module in sorted(public_modules())]
    found = {name: {*says_any(getattr(room, name))} for room in rooms for name in getattr(room, "__all__", ())}
    assert {name: said for name, said in found.items() if said} == {name: said for name, (said, _) in ANY.items()}


def test_the_rule_on_any_can_fail() -> None:
    class Odd:
        field: Any
        fine: list[Any]

        def method(self, one: Any | None, two: int) -> Any: ...

    assert {*says_any(Odd)} == {"field", "method.one", "method.return"}
