"""Of a grid `make test` takes the first point and the last, `make sweeps` some of the others, and `make long` those left.

The build server runs the first two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

WHOLE = ("accounting", "benchmarks", "distance", "exact", "noise", "notion", "oracle")
"""Rooms whose tests take seconds in all: `make test` runs them whole."""

COMPLETE = ("grid", "keys", "mutants", "proofs", "shown", "spec", "truth")
"""Rooms whose grids are complete lists of what must hold: the build server runs them whole."""

MOST = 4
"""So many of the other points of any other grid the build server takes; `make long` takes those that are left."""


def thin(items: Iterable[pytest.Item]) -> None:
    """Mark as sweeps all but the first and the last point of each parametrised test, and as long most of a long grid.

    Those of the built documentation are run with it, and whole.
    """
    grids = defaultdict[tuple[Path, str], list[pytest.Item]](list)
    for item in items:
        name, parameters, _ = item.nodeid.partition("[")
        elsewhere = any(item.get_closest_marker(mark) for mark in ("sweep", "site"))
        if parameters and item.path.parent.name not in WHOLE and not elsewhere:
            grids[item.path, name].append(item)
    for points in grids.values():
        between = points[1:-1]
        every = 1 if points[0].path.parent.name in COMPLETE else -(-len(between) // MOST)
        for number, item in enumerate(between):
            item.add_marker(pytest.mark.sweep)
            if number % every:
                item.add_marker(pytest.mark.long)


def spread(points: Iterable[Any], every: int) -> list[Any]:
    """Return the points of a sweep, of which the build server takes one in so many; `make long` takes the others."""
    return [
        point if number % every == 0 else pytest.param(*_values(point), marks=pytest.mark.long)
        for number, point in enumerate(points)
    ]


def _values(point: Any) -> tuple[Any, ...]:
    return point if isinstance(point, tuple) else (point,)
