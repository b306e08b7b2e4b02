"""A mutant: one deliberate mistake in one function, and the tests that must catch it.

A mutant names the module, the function (or class, or method; empty for the module itself) and the text in it, not a line,
so it outlives everything but a change of the very words it changes. Then it is an error, and `tests.mutants.test_table`
says so in the ordinary run.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """A mistake.

    Attributes:
        module: the dotted name of the module.
        within: the qualified name of the function or class whose text is changed; empty for all of the module.
        old: the text, which occurs there once.
        new: what takes its place.
        tests: pytest's names of the tests that must catch it, separated by spaces.
        why: what is wrong with it, in words; for an equivalent one, why it is not.
        equivalent: whether nothing can tell it from the original. It must then survive.
    """

    module: str
    within: str
    old: str
    new: str
    tests: str
    why: str
    equivalent: bool = False

    @property
    def room(self) -> str:
        """The room of the house that it is in: the part of the name after ``leeward``."""
        return self.module.split(".")[1]

    @property
    def key(self) -> str:
        """What tells it from others: a digest of the mistake and of the tests that must catch it."""
        told = "\n".join((self.module, self.within, self.old, self.new, self.tests, str(self.equivalent)))
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    @property
    def path(self) -> Path:
        """The file, from the root of the repository."""
        inside = Path("src", *self.module.split("."))
        package = inside / "__init__.py"
        return package if (ROOT / package).exists() else inside.with_suffix(".py")

    def __str__(self) -> str:
        return f"{self.module}:{self.within or 'module'}: {self.why}"

    def applied(self, source: str) -> str:
        """Return the source with the mistake in it.

        Raises:
            LookupError: there is no such function, or the text does not occur in it exactly once.
        """
        lines = source.splitlines(keepends=True)
        first, last = (1, len(lines)) if not self.within else _span(ast.parse(source), self.within)
        text = "".join(lines[first - 1 : last])
        if text.count(self.old) != 1:
            raise LookupError(f"{self}: the text occurs {text.count(self.old)} times in {self.within or self.path}")
        mutated = text.replace(self.old, self.new)
        if mutated == text:
            raise LookupError(f"{self}: it changes nothing")
        return "".join(lines[: first - 1]) + mutated + "".join(lines[last:])


def _span(tree: ast.AST, name: str) -> tuple[int, int]:
    """The first and the last line of a definition, its decorators included."""
    node: ast.AST = tree
    for part in name.split("."):
        inner = [
            each
            for each in ast.iter_child_nodes(node)
            if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == part
        ]
        if len(inner) != 1:
            raise LookupError(f"there are {len(inner)} definitions of {name}")
        node = inner[0]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return start, node.end_lineno or node.lineno
