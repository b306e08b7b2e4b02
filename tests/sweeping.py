"""Of a grid `make test` takes the first point and the last; `make sweeps`, which the build server runs too, all others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

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
