"""Of a grid `make test` takes the first point and the last, `make sweeps` some of the others, and `make long` those left.

The build server runs the first two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

WHOLE = ("accounting", "benchmarks", "distance", "exact", "noise", "notion", "oracle")
"""Rooms whose tests take seconds in all: `make test` runs them whole."""

COMPLETE = ("grid", "keys", "mutants", "proofs", "spec")
"""Rooms whose grids are complete lists of what must hold: the build server runs them whole."""

MOST = 2
"""So many of the points that are swept of any other grid the build server takes; `make long` takes those that are left."""


def thin(items: Iterable[pytest.Item]) -> None:
    """Mark as sweeps all but the first and the last point of each parametrised test, and as long most of what is swept.

    Those of the built documentation are run with it, and whole.
    """
    grids = defaultdict[tuple[Path, str], list[pytest.Item]](list)
    for item in items:
        name, parameters, _ = item.nodeid.partition("[")
        if parameters and item.path.parent.name not in WHOLE and not item.get_closest_marker("site"):
            grids[item.path, name].append(item)
    for points in grids.values():
        for point in [each for each in points if not each.get_closest_marker("sweep")][1:-1]:
            point.add_marker(pytest.mark.sweep)
        swept = [each for each in points if each.get_closest_marker("sweep") and not each.get_closest_marker("long")]
        every = 1 if points[0].path.parent.name in COMPLETE else -(-len(swept) // MOST)
        for number, point in enumerate(swept):
            if number % every:
                point.add_marker(pytest.mark.long)
