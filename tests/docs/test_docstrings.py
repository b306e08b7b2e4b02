"""What a docstring says of arguments and attributes is there, and no field of a document goes without a word.

Read from the source alone: an argument that was renamed stays in its docstring for ever, unless this fails.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import leeward

FILES = sorted(Path(leeward.__file__).parent.rglob("*.py"))


@functools.cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in FILES}


@functools.cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """Those of a name: two rooms may have classes of one name."""
    found: dict[str, list[ast.ClassDef]] = {}
    for made in (node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        found.setdefault(made.name, []).append(made)
    return found


def section(docstring: str, title: str) -> set[str]:
    """The names that a section of a docstring begins its entries with: ``name: …``, ``one, two: …``, ``**more: …``."""
    found = re.search(rf"^{title}:\n((?:    .*\n?|\n)+)", docstring, re.MULTILINE)
    entries = re.findall(r"^    \*{0,2}(\w+(?:, \w+)*): ", found[1], re.MULTILINE) if found else []
    return {name for entry in entries for name in entry.split(", ")}


def with_bases(node: ast.ClassDef, seen: tuple[ast.ClassDef, ...] = ()) -> Iterator[ast.ClassDef]:
    yield node
    for base in node.bases:
        name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
        for known in classes().get(name, []):
            if known not in (node, *seen):
                yield from with_bases(known, (node, *seen))


def fields(node: ast.ClassDef) -> set[str]:
    """What a dataclass or a document declares itself, but for what is private and what belongs to the class."""
    declared = [each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
    return {
        each.target.id  # type: ignore[union-attr]
        for each in declared
        if not each.target.id.startswith("_") and not ast.unparse(each.annotation).startswith("ClassVar")  # type: ignore[union-attr]
    }


def attributes(node: ast.ClassDef) -> set[str]:
    """All that an object of the class can be asked for, by what its body and its methods write."""
    found = set[str]()
    for each in with_bases(node):
        for part in ast.walk(each):
            match part:
                case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    found.add(name)
                case (
                    ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store())
                    | ast.Name(id=name, ctx=ast.Store())
                ):
                    found.add(name)
    return found


def arguments(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    if isinstance(node, ast.ClassDef):
        made = [part for each in with_bases(node) for part in each.body if isinstance(part, ast.FunctionDef)]
        made = [part for part in made if part.name == "__init__"]
        return arguments(made[0]) if made else {name for each in with_bases(node) for name in fields(each)}
    given = node.args
    several = [each.arg for each in (given.vararg, given.kwarg) if each is not None]
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)} | set(several)


def wrong(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        said = ast.get_docstring(node) or ""
        found += [f"{node.name} has no argument {name}" for name in section(said, "Args") - arguments(node)]
        if isinstance(node, ast.ClassDef) and (told := section(said, "Attributes")):
            found += [f"{node.name} has no attribute {name}" for name in told - attributes(node)]
            unsaid = fields(node) - told - section(said, "Args")
            found += [f"nothing is said of {node.name}.{name}" for name in unsaid if f"``{name}``" not in said]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FILES[0].parent).as_posix())
def test_arguments_and_attributes_are_those_that_are_there(path: Path) -> None:
    assert wrong(trees()[path]) == []


def test_what_is_renamed_or_left_out_is_found() -> None:
    text = '''
class Made:
    """A thing.

    Args:
        one: is there.
        gone: is not.

    Attributes:
        two: is there.
        lost: is not.
    """

    one: int
    two: int
    three: int
'''
    assert sorted(wrong(ast.parse(text))) == [
        "Made has no argument gone",
        "Made has no attribute lost",
        "nothing is said of Made.three",
    ]
