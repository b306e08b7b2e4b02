"""Planar laws by adding up points, in plain floats or mpmath: slow, and sharing nothing with the library."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np


def length(i: int, j: int, norm: str) -> float:
    return abs(i) + abs(j) if norm == "manhattan" else math.sqrt(i * i + j * j)


def sums(rate: Any, norm: str, radius: int) -> tuple[Any, Any]:
    """Σ e^{−rate·‖z‖} and Σ ‖z‖·e^{−rate·‖z‖} over the square of a radius, in mpmath's precision."""
    total, first = mpmath.mpf(1), mpmath.mpf(0)
    for i, j in itertools.product(range(1, radius + 1), range(radius + 1)):  # a quarter turn of each other
        away = mpmath.mpf(i + j) if norm == "manhattan" else mpmath.sqrt(i * i + j * j)
        weight = 4 * mpmath.exp(-rate * away)
        total, first = total + weight, first + away * weight
    return total, first


def window(rate: float, norm: str, radius: int, far: int) -> np.ndarray:
    """Probabilities of the points with max |z_i| ≤ radius, shape (2·radius + 1, 2·radius + 1), summing out to ``far``."""
    axis = np.arange(-far, far + 1)
    across, up = np.meshgrid(axis, axis, indexing="ij")
    away = abs(across) + abs(up) if norm == "manhattan" else np.sqrt(across**2.0 + up**2.0)
    weight = np.exp(-rate * away)
    weight /= math.fsum(weight.ravel())
    return weight[far - radius : far + radius + 1, far - radius : far + radius + 1]
