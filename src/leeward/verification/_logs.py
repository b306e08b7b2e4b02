# SPDX-License-Identifier: Apache-2.0
"""Logarithms of exact matrices as floats with a proved error bound: the fast half of a verification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward.errors import UndecidedError
from leeward.exact._real import PRECISIONS, Real, outward
from leeward.exact._weight import Weight

_ONE_BY_ONE = 20_000
"""Up to so many distinct values each logarithm is enclosed by interval arithmetic; beyond, in whole arrays."""

_ULPS = 16
"""Assumed worst error of NumPy's logarithm in units of the last place; its kernels claim at most 4."""


class Matrix(Protocol):
    """An exact matrix of probabilities: rows are secrets, columns outputs, entries codes into distinct exact values."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    codes: NDArray[np.intp]

    @property
    def values(self) -> Sequence[Weight]:
        """The exact values the codes point at."""

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Enclose the entries by floats (lower, upper)."""


class Logs(NamedTuple):
    """Approximate logarithms: ``|at[x, z] − ln Pr[z | x]| ≤ error`` wherever not ``zero[x, z]``; −∞ where floats end."""

    at: NDArray[np.float64]
    zero: NDArray[np.bool_]
    error: float


@vanishing
def logs(matrix: Matrix) -> Logs:
    """Return the logarithms of a matrix with one error bound for all of them."""
    if len(matrix.values) <= _ONE_BY_ONE:
        pairs = np.array([enclosed_log(value) for value in matrix.values]).reshape(-1, 2)
        zero = np.array([not value for value in matrix.values], np.bool_)
        middle, radius = _ball(np.where(zero[:, None], 0.0, pairs))
        return Logs(middle[matrix.codes], zero[matrix.codes], float(radius.max(initial=0)))
    lower, upper = matrix.bounds()
    zero, plain = upper == 0, lower > 1e-290
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log((lower + upper) / 2)
        radius = (upper - lower) / lower + np.abs(middle) * (_ULPS * 2.0**-52)
    for x, z in np.argwhere(~zero & ~plain).tolist():  # underflow: too rare to be worth an array
        ball, spread = _ball(np.array([enclosed_log(matrix.values[int(matrix.codes[x, z])])]))
        middle[x, z], radius[x, z] = ball[0], spread[0]
    middle[zero] = 0.0
    return Logs(middle, zero, float(np.nextafter(radius[~zero].max() * (1 + 2.0**-40), np.inf)))


def enclosed_log(value: Weight, over: Weight | None = None) -> tuple[float, float]:
    """Enclose ln(value), or ln(value / over), by floats; (−∞, −∞) if the value is zero.

    Raises:
        UndecidedError: if interval arithmetic does not tell the value from 0.
    """
    if not value:
        return -np.inf, -np.inf
    for precision in PRECISIONS[1:]:
        with flint.ctx.workprec(precision):
            ball = value.arb(precision) if over is None else value.arb(precision) / over.arb(precision)
            if ball > 0 and ball.rel_accuracy_bits() >= 60:
                return outward(ball.log())
    raise UndecidedError("The logarithm of a probability", "refinement does not tell it from 0", "Use other parameters")


def enclosed(values: Iterable[Real]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the middles of Reals and the radii around them that hold the exact values; ∞ has radius 0."""
    return _ball(np.array([v.bounds() for v in values]).reshape(-1, 2))


@vanishing
def _ball(pairs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    finite = np.isfinite(pairs[:, 0])
    low, high = np.where(finite, pairs[:, 0], 0.0), np.where(finite, pairs[:, 1], 0.0)
    middle = low / 2 + high / 2  # somewhere between the two, so the whole width is a radius
    return np.where(finite, middle, pairs[:, 0]), high - low
