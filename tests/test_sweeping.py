"""What is thinned out of `make test` is a sweep, or a long one: no point of a grid is left out of all three."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.sweeping import ALIKE, COMPLETE, WHOLE, thin


def item(name: str, room: str = "session", *marked: str) -> Any:
    marks = list(marked)
    return SimpleNamespace(
        nodeid=f"tests/{room}/test_a.py::{name}",
        path=Path(f"/here/tests/{room}/test_a.py"),
        marks=marks,
        add_marker=lambda mark: marks.append(mark.name),
        get_closest_marker=lambda mark: mark if mark in marks else None,
    )


@pytest.mark.parametrize(
    ("items", "swept"),
    [
        ([item(f"f[{i}]") for i in range(5)], [1, 2, 3, 4]),
        ([item("f[0]"), item("f[1]")], [1]),
        ([item("f"), item("g"), item("h")], []),
        ([item(f"{test}[{i}]") for test in ("A::f", "B::f") for i in range(3)], [1, 2, 4, 5]),
        ([item(f"f[{i}]", "session", *(["sweep"] if i == 3 else [])) for i in range(4)], [1, 2, 3]),
        ([item(f"f[{i}]", "session", "sweep") for i in range(2)], [0, 1]),
        ([item(f"f[{i}]", "docs", "site") for i in range(4)], []),
        ([item(f"f[{i}]", room) for room in ("exact", "session") for i in range(3)], [4, 5]),
    ],
)
def test_the_first_point_of_a_grid_is_no_sweep(items: list[Any], swept: list[int]) -> None:
    thin(items)
    assert [number for number, each in enumerate(items) if "sweep" in each.marks] == swept


@pytest.mark.parametrize(("room", "long"), [("session", list(range(1, 19))), ("grid", [])])
def test_of_a_long_grid_the_build_server_takes_the_last_too(room: str, long: list[int]) -> None:
    items = [item(f"f[{i}]", room) for i in range(20)]
    thin(items)
    assert [number for number, each in enumerate(items) if "long" in each.marks] == long
    assert [number for number, each in enumerate(items) if "sweep" in each.marks] == list(range(1, 20))


def test_so_it_does_of_a_grid_that_is_a_sweep() -> None:
    items = [item(f"f[{i}]", "session", "sweep", *(["long"] if i > 9 else [])) for i in range(12)]
    thin(items)
    assert [number for number, each in enumerate(items) if "long" not in each.marks] == [5]


def test_of_a_complete_room_files_whose_points_are_alike_are_thinned_like_the_others() -> None:
    items = [item(f"f[{i}]", "attacks") for i in range(5)]
    for each in items:
        each.path = each.path.with_name("test_forms.py")
    thin(items)
    assert [number for number, each in enumerate(items) if "long" in each.marks] == [1, 2, 3]


def test_each_name_here_is_of_a_room_or_a_file() -> None:
    here = Path(__file__).parent
    files = {path.relative_to(here).with_suffix("") for path in here.rglob("test_*.py")}
    known = {str(file) for file in files} | {file.name for file in files} | {str(file.parent) for file in files}
    assert {*WHOLE, *COMPLETE, *ALIKE} <= known
