"""Privacy of small matrices by brute force, written apart from the package: over outcomes, and over all sets of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import mpmath

Row = Mapping[Any, Any]

mpmath.mp.dps = 40


def delta(p: Row, q: Row, epsilon: Any) -> Any:
    """The largest Pr_p[Z] − e^ε·Pr_q[Z] over sets Z: the outcomes that gain are all in it. ε may be negative."""
    factor = mpmath.exp(mpmath.mpf(epsilon))
    return mpmath.fsum(max(p[z] - factor * q[z], mpmath.mpf(0)) for z in p)


def delta_by_sets(p: Row, q: Row, epsilon: Any) -> Any:
    """The same over every set of outcomes, one by one."""
    factor, outcomes = mpmath.exp(mpmath.mpf(epsilon)), list(p)
    return max(
        mpmath.fsum(p[z] - factor * q[z] for z in chosen)
        for size in range(len(outcomes) + 1)
        for chosen in itertools.combinations(outcomes, size)
    )


def product(*rows: Row) -> dict[Any, Any]:
    """Independent answers side by side."""
    made: dict[Any, Any] = {(): mpmath.mpf(1)}
    for row in rows:
        made = {(*z, y): a * b for z, a in made.items() for y, b in row.items()}
    return made


def geometric(center: int, up: float, down: float, low: int, high: int) -> dict[int, Any]:
    """Directed geometric noise around a centre, everything outside low … high merged into the ends; inf for no such side."""
    a, b = mpmath.exp(-mpmath.mpf(up)), mpmath.exp(-mpmath.mpf(down))
    scale = (1 - a) * (1 - b) / (1 - a * b)
    row = {}
    for z in range(low, high + 1):
        k = z - center
        row[z] = scale * (a**k if k >= 0 else b**-k)
    row[high] = (
        scale * a ** (high - center) / (1 - a) if high >= center else 1 - mpmath.fsum(row[z] for z in row if z < high)
    )
    row[low] = 1 - mpmath.fsum(row[z] for z in row if z > low)
    return row
