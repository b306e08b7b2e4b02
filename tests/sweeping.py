"""Of a grid `make test` takes the first point and the last; `make sweeps`, which the build server runs too, all others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

WHOLE = ("accounting", "benchmarks", "distance", "exact", "noise", "notion", "oracle")
"""Rooms whose tests take seconds in all."""


def thin(items: Iterable[pytest.Item]) -> None:
    """Mark as sweeps all but the first and the last point of each parametrised test, outside the rooms that are quick."""
    grids = defaultdict[tuple[Path, str], list[pytest.Item]](list)
    for item in items:
        name, parameters, _ = item.nodeid.partition("[")
        if parameters and item.path.parent.name not in WHOLE and item.get_closest_marker("sweep") is None:
            grids[item.path, name].append(item)
    for points in grids.values():
        for item in points[1:-1]:
            item.add_marker(pytest.mark.sweep)


def spread(points: Iterable[Any], every: int) -> list[Any]:
    """Return the points of a sweep, of which the build server takes one in so many; `make long` takes the others."""
    return [
        point if number % every == 0 else pytest.param(*_values(point), marks=pytest.mark.long)
        for number, point in enumerate(points)
    ]


def _values(point: Any) -> tuple[Any, ...]:
    return point if isinstance(point, tuple) else (point,)
