"""Distances in the plane: a rate a metre, straight or along the axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from leeward.distance.directed import DirectedDistance, FiniteDistance, comparable, factor_of
from leeward.errors import InputError, nearest
from leeward.real import Exact, Real, exact, positive, sqrt

Norm = Literal["euclidean", "manhattan"]


class Plane(DirectedDistance[Any]):
    """``d(x → x') = rate · ‖x' − x‖``: ε·d_2 or ε·d_1 on points of the plane (Chatzikokolakis et al., Figure 2 ii, iii).

    Points are pairs (or tuples of any length) of exact rationals in the unit of the rate, such as metres; roots stay exact.

    Args:
        rate: ε per unit of length, above 0.
        norm: ``"euclidean"`` or ``"manhattan"``.
    """

    def __init__(self, rate: Exact, norm: Norm = "euclidean") -> None:
        self.rate, self.norm = positive(rate, "rate"), norm
        if norm not in get_args(Norm):
            raise InputError(f"norm = {norm!r}", "it is not a norm of the plane", nearest(str(norm), get_args(Norm)))

    def __call__(self, x: Any, y: Any) -> Real:
        """Return the rate times the distance from point x to point y."""
        moves = [exact(after) - exact(before) for before, after in zip(x, y, strict=True)]
        if self.norm == "manhattan":
            return self.rate * sum((max(move, -move) for move in moves), start=exact(0))
        return self.rate * sqrt(sum((move * move for move in moves), start=exact(0)))

    def scale(self, factor: Exact) -> Plane:
        """Return the same norm with the rate multiplied; the factor must be above 0."""
        return Plane(self.rate * factor_of(factor), self.norm)

    def reverse(self) -> Plane:
        """Return itself: norms are symmetric."""
        return self

    def __add__(self, other: DirectedDistance[Any]) -> DirectedDistance[Any]:
        if isinstance(other, Plane) and other.norm == self.norm:
            return Plane(self.rate + other.rate, self.norm)
        return super().__add__(other)

    def on(self, points: Iterable[Any]) -> FiniteDistance[Any]:
        """Return the exact matrix on the given points."""
        points = tuple(points)
        known: dict[tuple[Any, ...], Real] = {}

        def between(x: Any, y: Any) -> Real:
            move = tuple(after - before for before, after in zip(x, y, strict=True))
            if move not in known:
                known[move] = self((0,) * len(move), move)
            return known[move]

        return FiniteDistance.trusted(points, [[between(x, y) for y in points] for x in points])

    def price_in(self, other: Plane) -> Real:
        """Return the least c with ``d ≤ c·d'`` in the plane: ‖·‖_2 ≤ ‖·‖_1 ≤ √2·‖·‖_2."""
        comparable(self, other, Plane)
        crooked = self.norm == "manhattan" and other.norm == "euclidean"
        return self.rate * (sqrt(2) if crooked else exact(1)) / other.rate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plane) and (self.rate, self.norm) == (other.rate, other.norm)

    def __hash__(self) -> int:
        return hash((Plane, self.rate, self.norm))

    def __str__(self) -> str:
        return f'Plane("{self.rate}", norm="{self.norm}")'

    __repr__ = __str__
