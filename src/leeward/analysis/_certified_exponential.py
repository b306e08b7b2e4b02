# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism of a directed distance on hundreds of points, in whole numbers, certified.

``Pr[z | x] = T(d(z → x)) / Σ_z T(d(z → x))`` with T(r) the whole part of 2^B·e^{−s·r} (McSherry, Talwar 2007): every chance
is a fraction, so that drawing is exact and quick. Rows are normalised one by one, so no s but a small one is private; how
small depends on the space; for a metric s = ½ always is. The largest s is looked for in floats, where it keeps

    s + ln(S(y')/S(y)) / d(y → y') ≤ 1 for all y ≠ y',  S(y) = Σ_z e^{−s·d(z → y)},

and the matrix, with all that rounding did to it, is believed only when `leeward.verify` has proved it over all ordered
pairs.

A distance with a direction may have no such s: where ∞ leaves some points far fewer outputs than others, the sums differ too
much. Then the weights are those of ``both_hold(d, d.reverse())``, a metric that is nowhere longer: more private than asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._taught import taught
from leeward.distance import FiniteDistance, both_hold, listed
from leeward.errors import UndecidedError
from leeward.exact._real import Real, whole_of
from leeward.mechanism import FiniteMechanism
from leeward.verification import Verdict, verify

S = TypeVar("S")

_BITS: Final = 48
"""To which the smallest weight is rounded."""

_HALVINGS: Final = 30
_LEAST: Final = 2.0**-10
_MARGIN: Final = 2.0**-20
_TRIES: Final = 8


@dataclass(frozen=True)
class CertifiedExponential:
    """An exponential mechanism with its proof.

    Attributes:
        mechanism: its exact matrix, of fractions; secrets and outputs are the points.
        scale: s.
        directed: whether the weights are those of the distance itself, not of the metric below it.
        verdict: the proof that it is private for the distance that was asked for.
    """

    mechanism: FiniteMechanism
    scale: float
    directed: bool
    verdict: Verdict


@taught
def certified_exponential(distance: FiniteDistance[S]) -> tuple[CertifiedExponential, ...]:
    """Return the exponential mechanisms of a distance that were proved private: of itself, and of the metric below it.

    Args:
        distance: d between the points, with its ε.

    Raises:
        InputError: if the distance has not its points listed.
        UndecidedError: none could be certified: never seen, and never passed over.
    """
    distance = listed(distance)
    below = both_hold(distance, distance.reverse())
    assert isinstance(below, FiniteDistance)
    found = [_certified(distance, metric, directed=metric is distance) for metric in _both(distance, below)]
    proved = tuple(each for each in found if each is not None)
    if not proved:
        raise UndecidedError(
            f"The exponential mechanism on {distance}",
            "it could not be certified at any scale",
            "Please report this with the space and the distance",
        )
    return proved


def _both(distance: FiniteDistance[Any], below: FiniteDistance[Any]) -> Sequence[FiniteDistance[Any]]:
    return [distance] if below == distance else [distance, below]


def _certified(
    distance: FiniteDistance[Any], weights: FiniteDistance[Any], *, directed: bool
) -> CertifiedExponential | None:
    scale = _largest(distance.to_numpy(), weights.to_numpy())
    for attempt in range(_TRIES if scale > _LEAST else 0):
        small = scale * (1 - _MARGIN * 4**attempt)
        mechanism = _matrix(weights, small)
        verdict = verify(mechanism, distance)
        if verdict:
            return CertifiedExponential(mechanism, small, directed, verdict)
    return None


@vanishing
def _largest(distance: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return about the largest s at which rows are private for the distance; 0 for none. By floats: a guess."""

    def private(s: float) -> bool:
        with np.errstate(under="ignore"):
            sums = np.log(np.exp(-s * weights).sum(axis=0))  # over outputs z of d(z → y)
        with np.errstate(invalid="ignore"):
            # the largest log-ratio of rows y and y' is at the output y itself: s·w(y → y') + ln S(y') − ln S(y)
            excess = s * weights + sums[None, :] - sums[:, None] - distance
        return bool((excess[np.isfinite(distance)] <= 1e-12).all())

    low, high = 0.0, 2.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if private(middle) else (low, middle)
    return low


def _matrix(weights: FiniteDistance[Any], scale: float) -> FiniteMechanism:
    """Return the matrix with whole weights."""
    finite = [value for value in weights.values if not value.is_infinite]
    s = Fraction(scale)
    most = max((float(value) for value in finite), default=0.0)
    bits = math.ceil(scale * most / math.log(2)) + _BITS
    whole = np.array([_weight(value, s, bits) for value in weights.values], dtype=object)[weights.codes.T]
    rows = [[Fraction(int(each), total) for each in row] for row, total in zip(whole, whole.sum(axis=1), strict=True)]
    return FiniteMechanism(weights.points, weights.points, rows)


def _weight(value: Real, scale: Fraction, bits: int) -> int:
    if value.is_infinite:
        return 0
    with flint.ctx.workprec(bits + 32):
        ball = (-(value * scale).arb(bits + 32)).exp() * flint.arb(2) ** bits
        found = ball.floor().unique_fmpz()
    # a weight is public, and any whole number near it does
    return whole_of(ball.mid().floor()) if found is None else int(found)
