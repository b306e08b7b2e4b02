"""The table of mutants cannot rot: each still applies, to code that still parses, and is to be caught by tests that exist.

Running them takes long and is `make mutants`; this reads files only.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.results import Result, read, write
from tests.mutants.table import MUTANTS

ROOMS = {
    *("noise", "mechanism", "notion", "distance", "accounting", "query", "engine", "ledger", "session", "spec", "cli"),
    *("local", "analysis", "verification", "planner", "_toml"),
}
"""Rooms in which at least one mistake must be tried."""


BY_FILE = defaultdict[str, list[Mutant]](list)
for each in MUTANTS:
    BY_FILE[str(each.path)].append(each)


@pytest.mark.parametrize("path", BY_FILE)
def test_all_mutants_of_a_file_still_apply(path: str) -> None:
    source = (ROOT / path).read_text("utf-8")
    tree = ast.dump(ast.parse(source))
    assert [found for mutant in BY_FILE[path] if (found := broken(mutant, source, tree))] == []


def broken(mutant: Mutant, source: str, tree: str) -> str:
    """Why a mutant applies no more; empty if it does."""
    try:
        same = ast.dump(ast.parse(mutant.applied(source))) == tree
    except (LookupError, SyntaxError) as error:
        return f"{mutant}: {error}"
    return f"{mutant}: it is the same code" if same else ""


def test_a_mutant_that_is_no_code_or_the_same_code_is_found() -> None:
    source = "def f(x):\n    return x + 1\n"
    tree = ast.dump(ast.parse(source))
    for new, why in (("x - 1", ""), ("(x + 1)", "same code"), ("x +", "invalid syntax")):
        made = Mutant("leeward.exact._real", "f", "x + 1", new, "tests/exact/test_real.py", "a sign")
        assert why in broken(made, source, tree)
        assert bool(broken(made, source, tree)) == bool(why)


@functools.cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("test", sorted({test for mutant in MUTANTS for test in mutant.tests.split()}))
def test_the_tests_that_must_catch_it_exist(test: str) -> None:
    path, _, name = test.partition("::")
    assert (ROOT / path).exists()
    assert not name or name.partition("[")[0] in functions(path)


def test_there_are_enough_in_every_room_and_none_twice() -> None:
    assert len(MUTANTS) >= 150
    assert {mutant.room for mutant in MUTANTS} >= ROOMS
    assert max(Counter((m.module, m.within, m.old, m.new) for m in MUTANTS).values()) == 1
    assert all(mutant.why for mutant in MUTANTS)


def test_a_mutant_that_no_longer_applies_is_an_error() -> None:
    source = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 1\n"
    made = Mutant("leeward.exact._real", "g", "x + 1", "x - 1", "tests/exact/test_real.py", "a sign")
    assert made.applied(source) == "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x - 1\n"
    for within, old in (("h", "x + 1"), ("g", "x + 2"), ("", "x + 1")):
        with pytest.raises(LookupError):
            Mutant("leeward.exact._real", within, old, "x - 1", "tests/exact/test_real.py", "a sign").applied(source)


def test_the_results_are_of_this_table() -> None:
    """One line a mutant, in the table's order; one that was changed since it was tried is not run."""
    known = read()
    assert list(known) == [mutant.key for mutant in MUTANTS], "run: python -m tests.mutants.run --list"
    assert {found.outcome for found in known.values()} <= {
        *("caught", "equivalent", "survived", "not equivalent", "broken", "not run"),
    }
    assert all((found.date == "-") == (found.outcome == "not run") for found in known.values())
    assert all(found.by for found in known.values() if found.outcome == "caught")
    kept = {found.by.partition("::")[0] for found in known.values() if found.outcome in {"caught", "broken"}} - {
        "it hangs"
    }
    assert {by for by in kept if not by.startswith("tests/")} == set(), (
        "a result names tests, and nothing of the machine"
    )
    caught = [mutant for mutant in MUTANTS if known[mutant.key].outcome == "caught"]
    assert len(caught) >= 150
    assert len({mutant.room for mutant in caught}) >= 15


def test_results_outlive_a_change_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (
        Mutant("leeward.exact._real", "g", "x", new, "tests/exact/test_real.py", "a sign") for new in ("y", "z")
    )
    monkeypatch.setattr("tests.mutants.results.FILE", tmp_path / "results.tsv")
    assert read() == {}
    write({one.key: Result("caught", "2026-01-02", "tests/exact/test_real.py::test_a_b[c d]")}, [two, one])
    assert read() == {
        two.key: Result(),
        one.key: Result("caught", "2026-01-02", "tests/exact/test_real.py::test_a_b[c d]"),
    }
    write(read(), [two])
    assert list(read()) == [two.key]
