# SPDX-License-Identifier: Apache-2.0
"""Directed distances: the one idea.

A directed distance ``d(x → x')`` in [0, ∞] has ``d(x → x) = 0`` and the triangle inequality; it need not be symmetric, and
∞ is allowed. A mechanism K is *d-private* iff for all secrets x, x' and all sets of outputs Z

    Pr[K(x) ∈ Z] ≤ e^{d(x → x')} · Pr[K(x') ∈ Z].

Read ``d(x → x')`` as what it costs to pass the truth x off as x'. Finite: x' is an alternative to x. ∞: no alternative is
promised, outputs may rule x' out. With d = ε·(number of steps between tables) this is differential privacy in all its forms;
with d a metric it is d_X-privacy (Chatzikokolakis et al. 2013, Definition 1), whose symmetry nothing here needs.

Machine-checked (docs/proved.md): `plus_hemimetric`, `reverse_hemimetric`, `shortest_exists`, `shortest_hemimetric`,
`shortest_greatest`, `private_monotone`, `both_hold`, `pull_back`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._plain import echo
from leeward._taught import in_order, taught
from leeward.distance._paths import Codes, broken_triangle, combine, encode, merge, shortest_paths
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, inf

if TYPE_CHECKING:
    import pandas as pd

S = TypeVar("S")
Y = TypeVar("Y")


class DirectedDistance(ABC, Generic[S]):
    """What it costs to pass the truth off as something else. Subclasses define ``__call__``; the algebra is here.

    Each operation is a theorem: if mechanism K is d-private and K' is d'-private, then

    * K is ``d.scale(c)``-private for c ≥ 1, and k releases by K together are ``d.scale(k)``-private;
    * publishing both is ``(d + d')``-private (sequential composition; Takagi et al., ADP, Theorem VIII.6);
    * one output that is both d- and d'-private is ``both_hold(d, d')``-private;
    * ``d ≤ c·d'`` pointwise makes K ``d'.scale(c)``-private (Chatzikokolakis et al., Proposition 1): see `price_in`.
    """

    @abstractmethod
    def __call__(self, x: S, y: S) -> Real:
        """Return d(x → y): the cost of passing the truth ``x`` off as ``y``."""

    def scale(self, factor: Exact) -> DirectedDistance[S]:
        """Return factor · d. The factor must be at least 0."""
        number = factor_of(factor)
        return Derived(f"{number}·({self})", lambda x, y: self(x, y) * number)

    def reverse(self) -> DirectedDistance[S]:
        """Return the distance read the other way round: ``(x, y) ↦ d(y → x)``."""
        return Derived(f"reverse({self})", lambda x, y: self(y, x))

    def __add__(self, other: DirectedDistance[S]) -> DirectedDistance[S]:
        """Return the pointwise sum, ∞ absorbing: the price of publishing two answers."""
        if not isinstance(other, DirectedDistance):
            return NotImplemented
        return Derived(f"({self}) + ({other})", lambda x, y: self(x, y) + other(x, y))

    def on(self, points: Iterable[S]) -> FiniteDistance[S]:
        """Return the distance between the given points as an exact matrix.

        Raises:
            InputError: if it is not a directed distance on them.
        """
        points = in_order("points", points)
        return FiniteDistance(points, [[self(x, y) for y in points] for x in points])

    def price_in(self, other: Any) -> Real:
        """Refuse: the least c with ``d ≤ c·d'`` is known on listed points, between lines, planes and named notions.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"The price of {self} in {echo(other)}",
            "it is not known over all points there may be",
            "Take both .on(points) of one finite space; on tables, compare two notions",
        )

    def _both(self, other: DirectedDistance[S]) -> DirectedDistance[S]:
        return _Closure(self, other)

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self}>"


class Derived(DirectedDistance[S]):
    """A distance given by a function; what the algebra returns where nothing simpler is known."""

    def __init__(self, name: str, function: Callable[[S, S], Exact]) -> None:
        self._name, self._function = name, function

    def __call__(self, x: S, y: S) -> Real:
        """Return the given function's value."""
        return exact(self._function(x, y))

    def __str__(self) -> str:
        return self._name


@taught
class FiniteDistance(DirectedDistance[S]):
    """A directed distance on finitely many points, exact.

    The matrix is kept as codes into a tuple of distinct values, so that whole-array work stays fast and every entry stays
    an exact `Real`.

    Args:
        points: the n points, hashable and distinct.
        matrix: n × n exact numbers, row x to column y; must have a zero diagonal and the triangle inequality
            (`FiniteDistance.closed` makes one from steps that do not).

    Raises:
        InputError: if the matrix is not a directed distance; the message names the points that break it.
    """

    def __init__(self, points: Iterable[S], matrix: Sequence[Sequence[Exact]]) -> None:
        points = in_order("points", points)
        self._set(points, *encode(matrix, len(points)))
        self._check()

    def _set(self, points: tuple[S, ...], values: tuple[Real, ...], codes: Codes) -> None:
        self.points, self.values, self.codes = points, values, codes
        self._row: dict[Any, int] = {point: row for row, point in enumerate(points)}
        if len(self._row) != len(points):
            raise InputError("Points that repeat", "a finite space lists each point once", "Drop the repeats")

    @classmethod
    def coded(cls, points: Iterable[S], values: Sequence[Real], codes: Codes) -> FiniteDistance[S]:
        """Build from distinct values and a matrix of codes into them, trusting that it is a directed distance."""
        made = cls.__new__(cls)
        made._set(tuple(points), tuple(values), np.asarray(codes, dtype=np.intp))
        return made

    @classmethod
    def closed(cls, points: Iterable[S], matrix: Sequence[Sequence[Exact]]) -> FiniteDistance[S]:
        """Return the shortest-path closure of a matrix of step costs (∞ for no step; the diagonal is taken as 0)."""
        points = in_order("points", points)
        return cls.coded(points, *shortest_paths(*encode(matrix, len(points))))

    @classmethod
    def trusted(cls, points: Iterable[S], matrix: Sequence[Sequence[Exact]]) -> FiniteDistance[S]:
        """Build from a matrix that is known to be a directed distance: nothing is checked."""
        points = tuple(points)
        return cls.coded(points, *encode(matrix, len(points)))

    def __call__(self, x: S, y: S) -> Real:
        """Return the matrix entry."""
        try:
            return self.values[int(self.codes[self._row[x], self._row[y]])]
        except KeyError:
            raise InputError(
                "A point outside the finite space", "its distance is not known", "Add it to the points"
            ) from None

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix as floats (lower, upper) that enclose the exact values."""
        pairs = np.array([v.bounds() for v in self.values], dtype=np.float64)
        exactly = np.array([v == ZERO for v in self.values])
        pairs[exactly] = 0.0
        return pairs[self.codes, 0], pairs[self.codes, 1]

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the matrix rounded to floats: row x, column x' is d(x → x')."""
        return np.array([float(v) for v in self.values])[self.codes]

    def to_pandas(self) -> pd.DataFrame:
        """Return the matrix rounded to floats as a DataFrame: one row a truth, one column a secret it is passed off as."""
        pandas = optional("pandas", "A matrix as a DataFrame")
        labels = pandas.Index(list(self.points), tupleize_cols=False)
        made: pd.DataFrame = pandas.DataFrame(self.to_numpy(), index=labels, columns=labels)
        return made

    def scale(self, factor: Exact) -> FiniteDistance[S]:
        """Return factor · d on the same points."""
        number = factor_of(factor)
        return self._map([v * number for v in self.values], self.codes)

    def reverse(self) -> FiniteDistance[S]:
        """Return the transposed matrix."""
        return self._map(self.values, self.codes.T)

    def __add__(self, other: DirectedDistance[S]) -> FiniteDistance[S]:
        if not isinstance(other, DirectedDistance):
            return NotImplemented
        other = other.on(self.points) if not isinstance(other, FiniteDistance) else other
        return self._combine(other, lambda a, b: a + b)

    def _both(self, other: DirectedDistance[S]) -> FiniteDistance[S]:
        least = self._combine(other if isinstance(other, FiniteDistance) else other.on(self.points), min)
        return FiniteDistance.coded(self.points, *shortest_paths(least.values, least.codes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteDistance) or set(other.points) != set(self.points):
            return NotImplemented if not isinstance(other, FiniteDistance) else False
        return all(self.values[a] == other.values[b] for a, b in self._paired(other))

    __hash__ = None  # type: ignore[assignment]

    def price_in(self, other: DirectedDistance[S]) -> Real:
        """Return the least c with ``d ≤ c·d'`` on these points: what a d-private answer costs in a budget counted in d'.

        ∞ means that no multiple of d' covers it: refuse. Prices add, but need not be tight for a sum.
        """
        other = other.on(self.points) if not isinstance(other, FiniteDistance) else other
        price = ZERO
        for a, b in self._paired(other):
            mine, theirs = self.values[a], other.values[b]
            if theirs.is_infinite or mine == 0:
                continue
            if mine.is_infinite or theirs == 0:
                return inf
            if mine > theirs * price:
                price = mine / theirs
        return price

    def _paired(self, other: FiniteDistance[S]) -> list[tuple[int, int]]:
        order = self._order(other)
        theirs = other.codes[np.ix_(order, order)]
        pairs = np.unique(self.codes.ravel() * len(other.values) + theirs.ravel())
        return [(int(p) // len(other.values), int(p) % len(other.values)) for p in pairs]

    def _combine(self, other: FiniteDistance[S], function: Callable[[Real, Real], Real]) -> FiniteDistance[S]:
        order = self._order(other)
        theirs = other.values, other.codes[np.ix_(order, order)]
        return FiniteDistance.coded(self.points, *combine((self.values, self.codes), theirs, function))

    def _order(self, other: FiniteDistance[S]) -> list[int]:
        if set(other.points) != set(self.points):
            raise InputError(
                "Two finite spaces with different points", "their distances cannot be compared", "Take the same"
            )
        return [other._row[p] for p in self.points]

    def _map(self, values: Iterable[Real], codes: Codes) -> FiniteDistance[S]:
        return FiniteDistance.coded(self.points, *merge(values, codes))

    def _check(self) -> None:
        zero = [value == ZERO for value in self.values]
        for row, point in enumerate(self.points):
            if not zero[self.codes[row, row]]:
                raise InputError(
                    f"d({point} → {point}) is not 0",
                    "every secret passes as itself at no cost",
                    "Set the diagonal to 0",
                )
        worst = broken_triangle(self.values, self.codes)
        if worst is not None:
            i, j, k = (self.points[index] for index in worst)
            raise InputError(
                f"d({i} → {k}) > d({i} → {j}) + d({j} → {k})",
                "a directed distance has the triangle inequality; a mechanism that is private for these numbers is private"
                " for their shortest paths anyway",
                "Use FiniteDistance.closed(points, matrix)",
            )

    def __str__(self) -> str:
        return f"FiniteDistance on {len(self.points)} points"


class _Closure(DirectedDistance[S]):
    """The closure of the smaller of two distances, on whatever points it is taken."""

    def __init__(self, first: DirectedDistance[S], second: DirectedDistance[S]) -> None:
        self._first, self._second = first, second

    def __call__(self, x: S, y: S) -> Real:
        """Refuse: the cheapest way may lead over other points."""
        raise InputError(
            f"A single value of {self}",
            "the closure under shortest paths needs a space whose points are known",
            "Take it .on(points) of a finite space",
        )

    def on(self, points: Iterable[S]) -> FiniteDistance[S]:
        """Return the shortest paths over the given points."""
        points = in_order("points", points)
        return self._first.on(points)._both(self._second.on(points))

    def scale(self, factor: Exact) -> DirectedDistance[S]:
        """Return the closure of both multiples."""
        return _Closure(self._first.scale(factor), self._second.scale(factor))

    def reverse(self) -> DirectedDistance[S]:
        """Return the closure of both read the other way round."""
        return _Closure(self._first.reverse(), self._second.reverse())

    def __str__(self) -> str:
        return f"both_hold({self._first}, {self._second})"


@taught
def both_hold(first: DirectedDistance[S], second: DirectedDistance[S]) -> DirectedDistance[S]:
    """Return the distance for which an output is private when it is private for both: the closure of their minimum.

    It is a statement about *one* output. Publishing two answers, one private for each, is private only for the sum
    ``first + second``, which is ∞ wherever either is: an addition-only and a removal-only answer side by side protect
    nothing, while one answer that is both is unbounded DP.

    Where the cheapest way may lead over points that are not named, the result has no value before it is taken ``.on`` a
    finite space, which is then all there can be (of two notions, with nobody and the records that both list); on the
    line, on vectors and between some named notions it is known at once.
    """
    return first._both(second)


def pull_back(distance: DirectedDistance[Y], query: Callable[[S], Y], name: str = "the query") -> DirectedDistance[S]:
    """Return ``(x, x') ↦ d(f(x) → f(x'))``: what a d-private mechanism on the answers of f promises about the secrets.

    (Chatzikokolakis et al., Fact 5: if it is at most d_X, the mechanism after f is d_X-private.)
    """
    return Derived(f"{distance} of {name}", lambda x, y: distance(query(x), query(y)))


def listed(distance: DirectedDistance[S]) -> FiniteDistance[S]:
    """Return a distance whose points are listed as it is, for what goes through all of them.

    Raises:
        InputError: for any other distance.
    """
    if not isinstance(distance, FiniteDistance):
        raise InputError(
            f"{echo(distance)} on points that are not listed",
            "all of them are needed here",
            "Take the distance on a finite space: distance.on(points)",
        )
    return distance


def comparable(first: object, second: object, kind: type) -> None:
    """Refuse to price a distance in one between other secrets.

    Raises:
        InputError: if the second is not of this kind.
    """
    if not isinstance(second, kind):
        raise InputError(
            f"The price of {first} in {echo(second)}",
            "they are distances between different things, such as tables and answers",
            "Take both .on(points) of one finite space; from a notion to answers leads leeward.sensitivity(notion, query)",
        )


def side_by_side(x: Any, y: Any) -> Iterable[tuple[Any, Any]]:
    """Return the coordinates of two secrets in pairs.

    Raises:
        InputError: if they are not rows of as many.
    """
    try:
        return tuple(zip(x, y, strict=True))
    except (TypeError, ValueError):
        raise InputError(
            "Two secrets that are not rows of as many numbers",
            "this distance goes from each coordinate to the one in its place",
            "Give two tuples of one length",
        ) from None


def factor_of(factor: Exact) -> Real:
    """Read what a distance is scaled by: an exact number of at least 0."""
    number = exact(factor)
    if number.sign() < 0:
        raise InputError(f"scale({number})", "a distance cannot be negative", "Scale by a number of at least 0")
    return number
