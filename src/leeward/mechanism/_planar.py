# SPDX-License-Identifier: Apache-2.0
"""The planar Laplace mechanism on a public grid: exact ε·d_2-privacy, or ε·d_1, between grid points.

P(z | x) ∝ e^{−d(x, z)}, d the distance of a `Plane`, over all points z of a grid whose step is public. The normaliser does
not depend on x, so it is d-private by the triangle inequality (Chatzikokolakis et al., Definition 6 and Section 6.2). A
position is first snapped to the nearest grid point, which moves two positions apart by at most √2·step (d_2; 2·step for
d_1): that is the price of snapping, and it is paid once for each report. What is outside the public bounds is then moved to
the nearest grid point inside: a remap, which is post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import clipped, given_array, vanishing
from leeward.distance import Plane
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, plainly, positive, sqrt
from leeward.exact._weight import Weight, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.mechanism._norm import merged_beyond
from leeward.noise import Bits, PlanarNoise, SystemBits, add_saturating

GridPoint = tuple[int, int]
Floats = NDArray[np.float64]

_FARTHEST: Final = 2**53  # in steps: floats do not resolve positions beyond
_FINEST: Final = 0.05  # rate at which the grid no longer shows in a displacement: about one part in a thousand
_NODES: Final = 1000  # along an axis, over which displacements are added up; a cell has at most …
_SQUARES: Final = 64


@dataclass(frozen=True)
class Displacement:
    """How far a report lies from the truth as the crow flies, before it is moved inside the bounds. For display.

    The truth is snapped to the grid first; it lies anywhere in the cell of its grid point alike.

    Attributes:
        mean: the expected distance.
        median: half of the reports lie within it.
        within_95: 95 % of the reports lie within it.
    """

    mean: float
    median: float
    within_95: float


class PlanarMechanism:
    """Points of the plane plus exact planar noise.

    Args:
        plane: the promise: ε for each unit of length, and the norm.
        step: the grid step, in that unit; the grid contains the origin.
        lower: public south-west corner of every output, in steps; None for none.
        upper: public north-east corner of every output, in steps; None for none.

    Attributes:
        noise: the law, in grid steps.
        distance: the distance between positions on the grid, in units of length, that it is private for.

    Raises:
        InputError: if the step is not above 0, or the corners are reversed.
        NoiseError: if the noise does not fit in 64 bits.
    """

    def __init__(
        self, plane: Plane, *, step: Exact = 1, lower: GridPoint | None = None, upper: GridPoint | None = None
    ) -> None:
        if (lower is None) != (upper is None) or (
            lower and upper and any(a > b for a, b in zip(lower, upper, strict=True))
        ):
            raise InputError(
                f"Bounds from {lower} to {upper}", "they are not a rectangle", "Give lower ≤ upper, or neither"
            )
        if plane.dimensions != 2:
            raise InputError(f"{plane} as planar noise", "a plane has two dimensions", "Use series noise, or a plane")
        self.distance, self.step, self.lower, self.upper = plane, positive(step, "step"), lower, upper
        self.noise = PlanarNoise(plane.rate * self.step, plane.norm)
        self._size = float(self.step)

    @property
    def snapping(self) -> Real:
        """What snapping to the grid adds to the price of one report: d ≤ d(x, x') + this for positions off the grid."""
        return self.noise.rate * (sqrt(2) if self.noise.norm == "euclidean" else 2)

    def snap(self, positions: Floats) -> NDArray[np.int64]:
        """Return the nearest grid points, in steps (half up): shape (…, 2).

        Raises:
            InputError: if a coordinate is not finite, or farther out than floats resolve grid points.
        """
        steps = np.floor(given_array(positions, np.float64) / self._size + 0.5)
        if not (np.abs(steps) < _FARTHEST).all():
            raise InputError("A position that is not finite or too far out", "it is on no grid", "Check the positions")
        return steps.astype(np.int64)

    def positions(self, points: NDArray[np.int64]) -> Floats:
        """Return grid points as positions in units of length."""
        return given_array(points, np.float64) * self._size

    def snapped(self, positions: Floats) -> Floats:
        """Return positions moved to the nearest grid points, in units of length."""
        return self.positions(self.snap(positions))

    def noisy(self, points: NDArray[np.int64], bits: Bits | None = None) -> NDArray[np.int64]:
        """Return grid points plus noise, before they are moved inside the bounds: shape (…, 2)."""
        points = integers(points)
        noise = self.noise.sample(points.size // 2, bits or SystemBits())
        return add_saturating(points, noise.reshape(points.shape))

    def release(self, points: NDArray[np.int64], bits: Bits | None = None) -> NDArray[np.int64]:
        """Return noisy grid points, each moved to the nearest one inside the public bounds (post-processing)."""
        noisy = self.noisy(points, bits)
        return noisy if self.lower is None or self.upper is None else clipped(noisy, self.lower, self.upper)

    def inside(self, point: GridPoint) -> bool:
        """Return whether a grid point lies strictly inside the bounds, so that no other one is moved there."""
        if self.lower is None or self.upper is None:
            return True
        return all(a < x < b for a, x, b in zip(self.lower, point, self.upper, strict=True))

    def weight(self, truth: GridPoint, output: GridPoint) -> Weight:
        """Return Pr[output | truth] before the bounds, up to the normaliser, which is the same for every truth."""
        return self.noise.weight(_move(truth, output))

    def probability(self, truth: GridPoint, output: GridPoint) -> Weight:
        """Return Pr[output | truth] before the bounds, exactly."""
        return self.noise.pmf(_move(truth, output))

    def on(self, points: Iterable[GridPoint]) -> FiniteMechanism:
        """Return the exact matrix on the given grid points, before the bounds; outputs far from all of them are one.

        Two rows differ most at the points themselves and beyond them on the line through both: the outputs around the points
        show it, and to join the others is post-processing.
        """
        points = tuple((plainly(x), plainly(y)) for x, y in points)
        low, high = ([pick(p[axis] for p in points) for axis in (0, 1)] for pick in (min, max))
        span = max(b - a for a, b in zip(low, high, strict=True))
        outputs = [*itertools.product(*(range(a - span, b + span + 1) for a, b in zip(low, high, strict=True)))]
        moves = np.sort(np.abs(np.array(outputs) - np.array(points)[:, None]), axis=2)  # the law has eight symmetries
        return merged_beyond(points, outputs, moves, lambda *move: self.noise.pmf(move))

    def posterior(self, output: GridPoint, prior: Mapping[GridPoint, Exact]) -> dict[GridPoint, Weight]:
        """Return, exactly, what someone with this prior believes after seeing an output strictly inside the bounds.

        Raises:
            InputError: if the prior is negative or nowhere positive, or the output is on the bounds, where what lies
                beyond is moved.
        """
        if not self.inside(output):
            raise InputError(
                f"The posterior after the output {output}",
                "it is on the bounds or beyond, and all outputs farther out are moved there too",
                "Give an output strictly inside the bounds",
            )
        chances = {point: exact(chance) for point, chance in prior.items()}
        if any(chance.sign() < 0 for chance in chances.values()) or not any(chances.values()):
            raise InputError(
                "A prior that is negative, or 0 everywhere",
                "its weights must be at least 0, and not all 0",
                "Give non-negative weights",
            )
        masses = {point: self.weight(point, output) * weight(chance) for point, chance in chances.items()}
        total = sum(masses.values(), start=weight(0))
        return {point: mass / total for point, mass in masses.items()}

    def displacement(self) -> Displacement:
        """Return the mean, median and 95 % displacement in units of length, snapping included, to about three digits."""
        rate = float(self.noise.rate)
        shown = max(rate, _FINEST)  # below, the law only scales
        mean, median, most = (length * shown / rate * self._size for length in _lengths(shown, self.noise.norm))
        return Displacement(mean, median, most)

    def __repr__(self) -> str:
        return f"PlanarMechanism({self.distance}, step={self.step})"


def _move(truth: GridPoint, output: GridPoint) -> GridPoint:
    return plainly(output[0]) - plainly(truth[0]), plainly(output[1]) - plainly(truth[1])


@vanishing
def _lengths(rate: float, norm: str) -> tuple[float, float, float]:
    """Mean, median and 95 % Euclidean length of noise and snapping together, in steps.

    Noise is added up over one quadrant, snapping over the middles of so many squares of a cell as show in three digits.
    """
    radius = np.arange(math.ceil(30 / rate) + 3)
    squares = min(max(_NODES // len(radius), 1), _SQUARES)
    offsets = (np.arange(squares) + 0.5) / squares - 0.5
    along = (radius[:, None] + offsets).ravel()
    away = np.hypot(*np.meshgrid(along, along))
    price = np.add.outer(radius, radius) if norm == "manhattan" else np.hypot(*np.meshgrid(radius, radius))
    twice = np.where(radius > 0, 2, 1)  # the quadrants are alike, and so are the halves of a cell
    mass = np.repeat(np.repeat(np.exp(-rate * price) * np.multiply.outer(twice, twice), squares, 0), squares, 1)
    order = np.argsort(away, axis=None)
    sorted_away = away.ravel()[order]
    share = np.cumsum(mass.ravel()[order])
    total = share[-1]
    found: list[Any] = [sorted_away[np.searchsorted(share, p * total)] for p in (0.5, 0.95)]
    return float((mass * away).sum() / total), float(found[0]), float(found[1])
