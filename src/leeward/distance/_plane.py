# SPDX-License-Identifier: Apache-2.0
"""Distances in the plane, and in space: a rate a metre, straight or along the axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from leeward._taught import in_order, taught
from leeward.distance._directed import DirectedDistance, FiniteDistance, comparable, factor_of
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, Real, exact, plainly, positive, sqrt, whole

Norm = Literal["euclidean", "manhattan"]


@taught
class Plane(DirectedDistance[Any]):
    """``d(x → x') = rate · ‖x' − x‖``: ε·d_2 or ε·d_1 on points of the plane (Chatzikokolakis et al., Figure 2 ii, iii).

    Points are pairs of exact rationals in the unit of the rate, such as metres; roots stay exact. In space, or for a series
    of readings, they are tuples of another public length.

    Args:
        rate: ε per unit of length, above 0.
        norm: ``"euclidean"`` or ``"manhattan"``.
        dimensions: how many numbers a point has.

    Raises:
        InputError: if the norm is not one of the two, or ``dimensions`` counts nothing.
    """

    def __init__(self, rate: Exact, norm: Norm = "euclidean", *, dimensions: int = 2) -> None:
        self.rate, self.norm, self.dimensions = positive(rate, "rate"), norm, whole(dimensions, "dimensions")
        check_choice("norm", norm, get_args(Norm), "it is not a norm of the plane")

    def __call__(self, x: Any, y: Any) -> Real:
        """Return the rate times the distance from point x to point y.

        Raises:
            InputError: if a point has another number of dimensions.
        """
        for point in (x, y):
            if len(point) != self.dimensions:
                raise InputError(
                    f"A point of {len(point)} numbers in {self}",
                    f"it is about points of {self.dimensions}, and prices between norms depend on how many there are",
                    f"Say Plane(…, dimensions={len(point)})",
                )
        moves = [exact(after) - exact(before) for before, after in zip(x, y, strict=True)]
        if self.norm == "manhattan":
            return self.rate * sum((max(move, -move) for move in moves), start=exact(0))
        return self.rate * sqrt(sum((move * move for move in moves), start=exact(0)))

    def scale(self, factor: Exact) -> Plane:
        """Return the same norm with the rate multiplied; the factor must be above 0."""
        return Plane(self.rate * factor_of(factor), self.norm, dimensions=self.dimensions)

    def reverse(self) -> Plane:
        """Return itself: norms are symmetric."""
        return self

    def __add__(self, other: DirectedDistance[Any]) -> DirectedDistance[Any]:
        if isinstance(other, Plane) and (other.norm, other.dimensions) == (self.norm, self.dimensions):
            return Plane(self.rate + other.rate, self.norm, dimensions=self.dimensions)
        return super().__add__(other)

    def on(self, points: Iterable[Any]) -> FiniteDistance[Any]:
        """Return the exact matrix on the given points."""
        points = in_order("points", points)
        known: dict[tuple[Any, ...], Real] = {}

        def between(x: Any, y: Any) -> Real:
            move = tuple(plainly(after) - plainly(before) for before, after in zip(x, y, strict=True))
            if move not in known:
                known[move] = self((0,) * len(move), move)
            return known[move]

        for point in points:
            self(point, point)  # refuses points of another length
        return FiniteDistance.trusted(points, [[between(x, y) for y in points] for x in points])

    def price_in(self, other: Plane) -> Real:
        """Return the least c with ``d ≤ c·d'``: in n dimensions ‖·‖_2 ≤ ‖·‖_1 ≤ √n·‖·‖_2, with equality on the diagonals.

        Raises:
            InputError: if the other is no such distance, or between points of another number of dimensions.
        """
        comparable(self, other, Plane)
        if self.dimensions != other.dimensions:
            raise InputError(
                f"The price of {self} in {other}", "they are about points of another length", "Take the same dimensions"
            )
        if other.rate.is_infinite:  # between any two points it promises nothing
            return exact(0)
        crooked = self.norm == "manhattan" and other.norm == "euclidean"
        return self.rate * (sqrt(self.dimensions) if crooked else exact(1)) / other.rate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plane) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash((Plane, *self._parts))

    @property
    def _parts(self) -> tuple[Real, Norm, int]:
        return self.rate, self.norm, self.dimensions

    def __str__(self) -> str:
        length = "" if self.dimensions == 2 else f", dimensions={self.dimensions}"
        return f'Plane("{self.rate}", norm="{self.norm}"{length})'

    __repr__ = __str__
