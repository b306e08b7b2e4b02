"""Text with a TOML key in it is made where specs are read: who calls Leeward from Python is told nothing of `[decide]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

import leeward
from leeward.local.location._spec import Location
from leeward.local.series._spec import Spec as SeriesSpec
from leeward.spec import Spec

SOURCE = Path(leeward.__file__).parent

SECTIONS = {"perturb", *(name for model in (Spec, Location, SeriesSpec) for name in model.model_fields)} - {"folder"}

OF_SPECS = {
    "_toml.py",
    "demo/_city.py",
    "local/_job.py",
    "local/_level_keys.py",
    "local/location/_job.py",
    "local/location/_level_sections.py",
    "local/location/_spec.py",
    "local/_stores.py",
    "local/series/_job.py",
    "local/series/_spec.py",
}
"""What reads specs, or writes one, below `spec` and `cli`."""

ABOVE = ("spec/", "service/", "cli/")
"""Rooms whose callers write specs: what an analyst sends to the service is sections of one."""

TOML = {
    "a section": re.compile(rf"\[\[?({'|'.join(sorted(SECTIONS))})\]"),
    "a table in braces": re.compile(r"\{ [\w…]+ = "),
    "a notion by its key": re.compile(r"\bnotion = [\"'…]"),
}
"""What only a spec is written like. (``mechanism = "sanitized"`` is an argument too, with or without spaces.)"""


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The texts of a source that are not docstrings, each with its line; what is filled into them stands as ``…``."""
    tree = ast.parse(source)
    apart = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    # a text right below a name says what it is for, and is shown to nobody
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)]
    apart |= {id(line.value) for body in bodies for line in body if isinstance(line, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.lineno, node.value


def spoken(source: str) -> list[str]:
    """What a source says in the spelling of a spec."""
    return [
        f"line {line}, {what}: {text}"
        for line, text in texts(source)
        for what, pattern in TOML.items()
        if pattern.search(text)
    ]


def below() -> list[Path]:
    """The modules of the rooms below `spec`, and of the desk, whose users write none."""
    every = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}
    return [path for name, path in every.items() if name not in OF_SPECS and not name.startswith(ABOVE)]


@pytest.mark.sweep
def test_no_room_below_speaks_of_the_keys_of_a_spec() -> None:
    found = {str(path.relative_to(SOURCE)): spoken(path.read_text(encoding="utf-8")) for path in below()}
    assert {name: said for name, said in found.items() if said} == {}


def test_the_sections_are_those_of_all_specs_and_the_readers_of_specs_exist() -> None:
    assert {"data", "places", "decide", "publish", "budget", "window", "box", "repeat", "values", "perturb"} <= SECTIONS
    assert all((SOURCE / name).exists() for name in OF_SPECS)
    assert all(issubclass(model, BaseModel) for model in (Spec, Location, SeriesSpec))
    assert len(below()) > 150


@pytest.mark.parametrize(
    "source",
    [
        'raise InputError("[decide] without a decision", "…", "…")',
        'say(f"Name a new version in [budget], {why}")',
        "Error('List them: [[windows]]')",
        'Error(f"keep = {{ {column} = … }} gives text")',
        "instead = 'Write keep = { column = [1] }'",
        "instead = 'Use notion = \"addition-only\"'",
        'given = f"notion = {name!r}"',
        'def f():\n    """Doc."""\n    return "Set stop_after in [publish]"',
    ],
)
def test_a_broken_message_is_seen(source: str) -> None:
    assert spoken(source) != []


@pytest.mark.parametrize(
    "source",
    [
        '"""`[decide]`: what safe means."""',
        'X = 1\n"""Keys of `[decide]`."""',
        "Error('Give safe_at_most, dangerous_at_least or both')",
        'Error(f"mechanism = {name}", "it is not known", \'Use mechanism = "sanitized"\')',
        "Error('allowed are [low, high]', f'{rows[place]} of [{low}, {high}]')",
    ],
)
def test_another_text_is_not(source: str) -> None:
    assert spoken(source) == []
