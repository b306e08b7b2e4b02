# SPDX-License-Identifier: Apache-2.0
"""The norm mechanism for vectors of integers: one coin for the largest move, instead of noise on each coordinate.

Its weight is ``e^{−d(z → y)}`` for the distance of the largest coordinate, on all integer points, with the same normaliser
for every truth: so it is d-private by the triangle inequality, like every Laplace mechanism of a distance. Two forms:

* two-sided: ``P(z) ∝ e^{−ε·max_i |z_i − y_i|}``, private for ε·d_∞: a series of n readings, all of which may move by 1. The
  mean error a reading is about (n + 1)/(2ε), where independent noise of rate ε/n has n/ε;
* one-sided: ``P(z) ∝ e^{−ε·max_i (z_i − y_i)}`` on z ≥ y, private for ε·max_i (y_i − y'_i) where y' ≤ y: counts that one
  person may fall out of all at once. Never under-counts. (Its mirror image never over-counts.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._taught import taught
from leeward.distance import Derived, DirectedDistance, Line
from leeward.distance._directed import side_by_side
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, inf, integer, plainly, whole
from leeward.exact._weight import Weight, weight, weighted_sum
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.noise import Bits, NormNoise, SystemBits, add_saturating

BEYOND = "beyond"
"""The output that a finite matrix merges all far vectors into; see `NormMechanism.on`."""


@taught
class NormMechanism:
    """Vectors of integers plus exact norm noise.

    Args:
        line: what the largest rise and the largest fall by 1 cost: both the same, or one of them ∞.
        size: n, how many coordinates one vector has.
        step: the grid step q, in units of the answer; truths and outputs are integers, in steps.
        lower: public lower bound of every output, in steps; None for none.
        upper: public upper bound of every output, in steps; None for none.

    Attributes:
        noise: the law of the noise, before it is turned round for answers that only rise.

    Raises:
        InputError: if both rates are finite and different, both are infinite, or the bounds are reversed.
        NoiseError: if the rate is too small for 64-bit answers.
    """

    def __init__(
        self, line: Line, size: int, *, step: Exact = 1, lower: int | None = None, upper: int | None = None
    ) -> None:
        finite = [rate for rate in (line.rise, line.fall) if not rate.is_infinite]
        if not finite or len(set(finite)) > 1:
            raise InputError(
                f"Norm noise on {line}",
                "its two forms have equal rates, or one that is ∞",
                "Use Line(e, e), Line(inf, e) or Line(e, inf); for other rates, Geometric on each coordinate",
            )
        lower, upper = (
            None if bound is None else integer(bound, name) for name, bound in (("lower", lower), ("upper", upper))
        )
        size = whole(size, "size")
        if lower is not None and upper is not None and lower > upper:
            raise InputError(f"Bounds from {lower} to {upper}", "they are reversed", "Give lower ≤ upper")
        self.line, self.size, self.step, self.lower, self.upper = line, size, exact(step), lower, upper
        self.noise = NormNoise(finite[0] * self.step, size, one_sided=len(finite) == 1)
        self._sign = -1 if line.fall.is_infinite else 1

    @property
    def distance(self) -> DirectedDistance[tuple[int, ...]]:
        """The directed distance between vectors (in steps) that it is private for: the largest coordinate's cost."""
        return Derived(f"the largest coordinate of {self.line}", self._cost)

    def _cost(self, before: tuple[int, ...], after: tuple[int, ...]) -> Real:
        moves: list[int] = [plainly(b) - plainly(a) for a, b in side_by_side(before, after)]
        rise, fall = max(0, *moves), max(0, *(-m for m in moves))
        if rise and fall and (self.line.rise.is_infinite or self.line.fall.is_infinite):
            return inf
        return max((self.line.rise if rise else ZERO) * rise, (self.line.fall if fall else ZERO) * fall) * self.step

    def noisy(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return truth + noise, not clamped: decisions are taken on this.

        Args:
            truth: integers of shape (…, size); each vector gets its own noise.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        answers = integers(truth)
        if answers.shape[-1:] != (self.size,):
            raise InputError(
                "Answers whose last axis has another length", f"one vector has {self.size} entries", "Reshape them"
            )
        noise = self.noise.sample(answers.size // self.size, bits or SystemBits())
        return add_saturating(answers, self._sign * noise.reshape(answers.shape))

    def release(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return noisy vectors, clamped to the public bounds (post-processing). Arguments as for `noisy`."""
        noisy = self.noisy(truth, bits)
        return np.clip(noisy, self.lower, self.upper) if (self.lower, self.upper) != (None, None) else noisy

    def probability(self, truth: tuple[int, ...], output: tuple[int, ...]) -> Weight:
        """Return Pr[output | truth] before clamping, exactly."""
        return self.noise.pmf(tuple(self._sign * (plainly(z) - plainly(y)) for y, z in zip(truth, output, strict=True)))

    def on(self, vectors: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given vectors, before clamping.

        How two rows compare at z depends only on z as seen from the truths, and moving z further out changes nothing
        there. So every comparison occurs in a box around the truths; what lies beyond is merged into one output.
        """
        vectors = tuple(tuple(map(plainly, vector)) for vector in vectors)
        low, high = min(min(v) for v in vectors), max(max(v) for v in vectors)
        span = high - low
        if self.noise.one_sided:
            low, high = (low - span, high) if self._sign < 0 else (low, high + span)
        else:
            low, high = low - span, high + span
        outputs = list(itertools.product(range(low, high + 1), repeat=self.size))
        moves = self._sign * (np.array(outputs) - np.array(vectors)[:, None])
        far = np.abs(moves).max(axis=2)  # on which alone a chance depends, of vectors that are reached
        reached = (moves >= 0).all(axis=2) if self.noise.one_sided else np.ones_like(far, bool)
        radii = np.where(reached, far, -1)[..., None]
        return merged_beyond(
            vectors, outputs, radii, lambda radius: weight(0) if radius < 0 else self.noise.pmf((radius,) * self.size)
        )

    def expected_error(self) -> Weight:
        """Return E|error| of one coordinate in grid steps, before clamping."""
        return self.noise.marginal().mean_absolute()

    def __repr__(self) -> str:
        return f"NormMechanism({self.line}, size={self.size}, step={self.step})"


def merged_beyond(
    truths: Sequence[Any], outputs: Sequence[Any], keys: NDArray[np.int64], chance: Callable[..., Weight]
) -> FiniteMechanism:
    """Return the exact matrix of outputs around truths; all others are one, `BEYOND`.

    Args:
        truths: the rows.
        outputs: the columns but the last.
        keys: of each output for each truth, the numbers that its chance depends on, shape (truths, outputs, numbers).
        chance: the chance, from these numbers.
    """
    distinct, which = np.unique(keys.reshape(-1, keys.shape[-1]), axis=0, return_inverse=True)
    near, which = [chance(*key) for key in distinct.tolist()], which.reshape(keys.shape[:2])
    counts = [np.bincount(row, minlength=len(near)) for row in which]
    beyond = [1 - weighted_sum((near[code], int(each[code])) for code in np.flatnonzero(each)) for each in counts]
    codes = np.column_stack([which, len(near) + np.arange(len(truths))])
    return FiniteMechanism.coded(truths, [*outputs, BEYOND], [*near, *beyond], codes)
