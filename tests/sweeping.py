"""Of a grid `make test` takes the first few points, and `make sweeps`, which the build server runs too, all others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(points: Iterable[Any], count: int = 1) -> list[Any]:
    """Return the points of a parametrisation, all but the first few marked as sweeps."""
    return [
        point if number < count else pytest.param(point, marks=pytest.mark.sweep) for number, point in enumerate(points)
    ]
