"""Directed distances: the one idea.

A directed distance ``d(x → x')`` in [0, ∞] has ``d(x → x) = 0`` and the triangle inequality; it need not be symmetric, and
∞ is allowed. A mechanism K is *d-private* iff for all secrets x, x' and all sets of outputs Z

    Pr[K(x) ∈ Z] ≤ e^{d(x → x')} · Pr[K(x') ∈ Z].

Read ``d(x → x')`` as what it costs to pass the truth x off as x'. Finite: x has x' as its cover. ∞: no cover is promised,
outputs may rule x' out. With d = ε·(number of steps between tables) this is differential privacy in all its forms; with d
a metric it is d_X-privacy (Chatzikokolakis et al. 2013, Definition 1), whose symmetry nothing here needs.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, UndecidedError
from leeward.real import ZERO, Exact, Real, exact, inf

S = TypeVar("S")


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
        return Derived(f"{exact(factor)}·({self})", lambda x, y: self(x, y) * _factor(factor))

    def reverse(self) -> DirectedDistance[S]:
        """Return the distance read the other way round: ``(x, y) ↦ d(y → x)``."""
        return Derived(f"reverse({self})", lambda x, y: self(y, x))

    def __add__(self, other: DirectedDistance[S]) -> DirectedDistance[S]:
        """Return the pointwise sum, ∞ absorbing: the price of publishing two answers."""
        return Derived(f"({self}) + ({other})", lambda x, y: self(x, y) + other(x, y))

    def on(self, points: Iterable[S]) -> FiniteDistance[S]:
        """Return the distance between the given points as an exact matrix."""
        points = tuple(points)
        return FiniteDistance(points, [[self(x, y) for y in points] for x in points])

    def __str__(self) -> str:
        return type(self).__name__


class Derived(DirectedDistance[S]):
    """A distance given by a function; what the algebra returns where nothing simpler is known."""

    def __init__(self, name: str, function: Callable[[S, S], Exact]) -> None:
        self._name, self._function = name, function

    def __call__(self, x: S, y: S) -> Real:
        """Return the given function's value."""
        return exact(self._function(x, y))

    def __str__(self) -> str:
        return self._name


class Line(DirectedDistance[Any]):
    """The directed line: ``d(y → y') = rise·(y'−y)⁺ + fall·(y−y')⁺``; on vectors the sum over coordinates.

    ``rise`` is the price of pushing an answer up by 1, ``fall`` of pushing it down. A rate of 0 would mean that the answer
    may not depend on the data at all; ∞ means that this direction is not sheltered.

    Args:
        rise: rate a in (0, ∞].
        fall: rate b in (0, ∞].
    """

    def __init__(self, rise: Exact, fall: Exact) -> None:
        self.rise, self.fall = exact(rise), exact(fall)
        for name, rate in (("rise", self.rise), ("fall", self.fall)):
            if rate.sign() <= 0:
                raise InputError(
                    f"Line({name}={rate})",
                    "a rate of 0 means that the answer may not depend on the data: publish a constant instead",
                    f"Give {name} a positive rate, or lw.inf where that direction needs no cover",
                )

    def __call__(self, x: Any, y: Any) -> Real:
        """Return the price of moving from answer (or vector of answers) x to y."""
        total = ZERO
        for before, after in zip(_coordinates(x), _coordinates(y), strict=True):
            move = Fraction(after) - Fraction(before)
            total = total + (self.rise * move if move >= 0 else self.fall * -move)
        return total

    def scale(self, factor: Exact) -> Line:
        """Return the line with both rates multiplied."""
        return Line(self.rise * _factor(factor), self.fall * _factor(factor))

    def reverse(self) -> Line:
        """Return the line with rise and fall exchanged."""
        return Line(self.fall, self.rise)

    def __add__(self, other: DirectedDistance[Any]) -> DirectedDistance[Any]:
        if isinstance(other, Line):
            return Line(self.rise + other.rise, self.fall + other.fall)
        return super().__add__(other)

    def on(self, points: Iterable[Any]) -> FiniteDistance[Any]:
        """Return the exact matrix on the given points; integers are done in whole arrays."""
        points = tuple(points)
        if not all(isinstance(p, int | np.integer) for p in points):
            return super().on(points)
        grid = np.array(points, dtype=np.int64)
        moves = grid[None, :] - grid[:, None]
        distinct, codes = np.unique(moves, return_inverse=True)
        values = tuple(self.rise * int(m) if m >= 0 else self.fall * int(-m) for m in distinct)
        return FiniteDistance.coded(points, values, codes.reshape(moves.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and (self.rise, self.fall) == (other.rise, other.fall)

    def __hash__(self) -> int:
        return hash((Line, self.rise, self.fall))

    def __str__(self) -> str:
        return f"Line(rise={self.rise}, fall={self.fall})"

    __repr__ = __str__


class SumOverPersons(DirectedDistance[tuple[Any, ...]]):
    """The distance between two tables: the sum over persons of the distance between their records.

    A table is a tuple with one record a person (`leeward.notion.ABSENT` for nobody); persons are told apart by position.

    Args:
        per_person: the distance between two records of one person, or one such distance for each person (personalised).
    """

    def __init__(self, per_person: DirectedDistance[Any] | Sequence[DirectedDistance[Any]]) -> None:
        self.per_person = per_person

    def __call__(self, x: tuple[Any, ...], y: tuple[Any, ...]) -> Real:
        """Return the sum over persons."""
        if len(x) != len(y):
            raise InputError("Tables of different length", "a table has one record a person", "Fill with ABSENT")
        each = self.per_person
        distances = itertools.repeat(each) if isinstance(each, DirectedDistance) else each
        total = ZERO
        for distance, before, after in zip(distances, x, y, strict=False):
            total = total + distance(before, after)
        return total


class FiniteDistance(DirectedDistance[S]):
    """A directed distance on finitely many points, exact.

    The matrix is kept as codes into a tuple of distinct values, so that whole-array work stays fast and every entry stays
    an exact `Real`.

    Args:
        points: the n points, hashable and distinct.
        matrix: n × n exact numbers, row x to column y; must have a zero diagonal and the triangle inequality
            (`FiniteDistance.closed` makes one from steps that do not).

    Raises:
        InputError: if the matrix is no directed distance; the message names the points that break it.
    """

    def __init__(self, points: Iterable[S], matrix: Sequence[Sequence[Exact]]) -> None:
        points = tuple(points)
        values, codes = _encode(matrix, len(points))
        self._set(points, values, codes)
        self._check()

    def _set(self, points: tuple[S, ...], values: tuple[Real, ...], codes: NDArray[np.intp]) -> None:
        self.points, self.values, self.codes = points, values, codes
        self._row: dict[Any, int] = {point: row for row, point in enumerate(points)}
        if len(self._row) != len(points):
            raise InputError("Points that repeat", "a finite space lists each point once", "Drop the repeats")

    @classmethod
    def coded(cls, points: Iterable[S], values: Sequence[Real], codes: NDArray[np.intp]) -> FiniteDistance[S]:
        """Build from distinct values and a matrix of codes into them, trusting that it is a directed distance."""
        made = cls.__new__(cls)
        made._set(tuple(points), tuple(values), np.asarray(codes, dtype=np.intp))
        return made

    @classmethod
    def closed(cls, points: Iterable[S], matrix: Sequence[Sequence[Exact]]) -> FiniteDistance[S]:
        """Return the shortest-path closure of a matrix of step costs (∞ for no step; the diagonal is taken as 0)."""
        points = tuple(points)
        values, codes = _encode(matrix, len(points))
        return cls.coded(points, *_shortest_paths(values, codes))

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

    def scale(self, factor: Exact) -> FiniteDistance[S]:
        """Return factor · d on the same points."""
        return self._map([v * _factor(factor) for v in self.values], self.codes)

    def reverse(self) -> FiniteDistance[S]:
        """Return the transposed matrix."""
        return self._map(self.values, self.codes.T)

    def __add__(self, other: DirectedDistance[S]) -> FiniteDistance[S]:
        other = other.on(self.points) if not isinstance(other, FiniteDistance) else other
        return self._combine(other, lambda a, b: a + b)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteDistance) or set(other.points) != set(self.points):
            return NotImplemented if not isinstance(other, FiniteDistance) else False
        order = [other._row[p] for p in self.points]
        mine = np.array([hash(v) for v in self.values])[self.codes]
        theirs = np.array([hash(v) for v in other.values])[other.codes][np.ix_(order, order)]
        if not np.array_equal(mine, theirs):
            return False
        return all(self.values[a] == other.values[b] for a, b in self._paired(other, order))

    __hash__ = None  # type: ignore[assignment]

    def price_in(self, other: DirectedDistance[S]) -> Real:
        """Return the least c with ``d ≤ c·d'`` on these points: what a d-private answer costs in a budget kept in d'.

        ∞ means that no multiple of d' covers it: refuse. Prices add, but need not be tight for a sum.
        """
        other = other.on(self.points) if not isinstance(other, FiniteDistance) else other
        order = [other._row[p] for p in self.points]
        price = ZERO
        for a, b in self._paired(other, order):
            mine, theirs = self.values[a], other.values[b]
            if theirs.is_infinite or mine == 0:
                continue
            if mine.is_infinite or theirs == 0:
                return inf
            if mine > theirs * price:
                price = mine / theirs
        return price

    def _paired(self, other: FiniteDistance[S], order: list[int]) -> list[tuple[int, int]]:
        theirs = other.codes[np.ix_(order, order)]
        pairs = np.unique(self.codes.ravel() * len(other.values) + theirs.ravel())
        return [(int(p) // len(other.values), int(p) % len(other.values)) for p in pairs]

    def _combine(self, other: FiniteDistance[S], function: Callable[[Real, Real], Real]) -> FiniteDistance[S]:
        order = [other._row[p] for p in self.points]
        theirs = other.codes[np.ix_(order, order)]
        distinct, codes = np.unique(self.codes * len(other.values) + theirs, return_inverse=True)
        made = [function(self.values[p // len(other.values)], other.values[p % len(other.values)]) for p in distinct]
        return self._map(made, codes.reshape(theirs.shape))

    def _map(self, values: Iterable[Real], codes: NDArray[np.intp]) -> FiniteDistance[S]:
        merged: dict[Real, int] = {}
        renamed = np.array([merged.setdefault(v, len(merged)) for v in values], dtype=np.intp)
        return FiniteDistance.coded(self.points, tuple(merged), renamed[codes])

    def _check(self) -> None:
        zero = [value == ZERO for value in self.values]
        for row, point in enumerate(self.points):
            if not zero[self.codes[row, row]]:
                raise InputError(
                    f"d({point} → {point}) is not 0", "every secret is its own cover", "Set the diagonal to 0"
                )
        if any(v.sign() < 0 for v in self.values):
            raise InputError("A distance below 0", "a probability ratio is bounded by e^d with d ≥ 0", "Use costs ≥ 0")
        worst = _broken_triangle(self.values, self.codes)
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


def both_hold(first: DirectedDistance[S], second: DirectedDistance[S]) -> DirectedDistance[S]:
    """Return the distance for which an output is private when it is private for both: the closure of their minimum.

    It is a statement about *one* output. Publishing two answers, one private for each, is private only for the sum
    ``first + second``, which is ∞ wherever either is: an addition-only and a removal-only answer side by side protect
    nothing, while one answer that is both is unbounded DP.

    Raises:
        InputError: if the shortest paths cannot be found because the space is not finite; use ``.on(points)`` first.
    """
    if isinstance(first, Line) and isinstance(second, Line):
        return Line(min(first.rise, second.rise), min(first.fall, second.fall))
    if isinstance(first, SumOverPersons) and isinstance(second, SumOverPersons):
        one, other = first.per_person, second.per_person
        if isinstance(one, DirectedDistance) and isinstance(other, DirectedDistance):
            return cast(DirectedDistance[S], SumOverPersons(both_hold(one, other)))
    if not isinstance(first, FiniteDistance) or not isinstance(second, FiniteDistance):
        raise InputError(
            f"both_hold({first}, {second})",
            "the closure under shortest paths needs a space whose points are known",
            "Take both .on(points) of a finite space",
        )
    least = first._combine(second, min)
    return FiniteDistance.coded(first.points, *_shortest_paths(least.values, least.codes))


def _factor(factor: Exact) -> Real:
    number = exact(factor)
    if number.sign() < 0:
        raise InputError(f"scale({number})", "a distance cannot be negative", "Scale by a number of at least 0")
    return number


def _coordinates(x: Any) -> tuple[Any, ...]:
    if isinstance(x, np.ndarray):
        return tuple(x.ravel().tolist())
    return tuple(x) if isinstance(x, tuple | list) else (int(x) if isinstance(x, np.integer) else x,)


def _encode(matrix: Sequence[Sequence[Exact]], n: int) -> tuple[tuple[Real, ...], NDArray[np.intp]]:
    if len(matrix) != n or any(len(row) != n for row in matrix):
        raise InputError("A matrix of another size", f"{n} points need {n} rows of {n} numbers", "Give one row a point")
    seen: dict[Hashable, int] = {}
    values: dict[Real, int] = {}
    codes = np.empty((n, n), dtype=np.intp)
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            key = (type(entry), entry)  # the same object is read once: parsing is the slow part
            if key not in seen:
                seen[key] = values.setdefault(exact(entry), len(values))
            codes[i, j] = seen[key]
    return tuple(values), codes


def common_unit(values: Iterable[Real]) -> tuple[Real, list[int]] | None:
    """Write Reals as integer multiples of one unit (−1 for ∞), or return None if they are not commensurable."""
    values = tuple(values)
    finite = [v for v in values if not v.is_infinite and v]
    if not finite:
        return exact(1), [-1 if v.is_infinite else 0 for v in values]
    try:
        ratios = {v: (v / finite[0]).rational for v in finite}
    except UndecidedError:
        return None
    if any(r is None for r in ratios.values()):
        return None
    denominator = int(np.lcm.reduce([r.denominator for r in ratios.values() if r is not None], dtype=object))
    multiples = [-1 if v.is_infinite else int((ratios.get(v) or Fraction(0)) * denominator) for v in values]
    return finite[0] / denominator, multiples


def _shortest_paths(values: Sequence[Real], codes: NDArray[np.intp]) -> tuple[tuple[Real, ...], NDArray[np.intp]]:
    n = len(codes)
    unit = common_unit(values)
    if unit is not None and max(unit[1], default=0) * max(n, 1) < 2**53:
        from scipy.sparse import csgraph  # lazily: only finite spaces need it

        weights = np.array([np.inf if m < 0 else float(m) for m in unit[1]])[codes]
        np.fill_diagonal(weights, 0)
        graph = csgraph.csgraph_from_dense(weights, null_value=np.inf)
        paths = csgraph.shortest_path(graph, directed=True)  # integers below 2^53: the floats are exact
        distinct, coded = np.unique(paths, return_inverse=True)
        exactly = tuple(inf if np.isinf(m) else unit[0] * int(m) for m in distinct)
        return exactly, coded.reshape(n, n)
    matrix = [[values[c] for c in row] for row in codes]
    for i in range(n):
        matrix[i][i] = ZERO
    for via in range(n):
        through = matrix[via]
        for row in matrix:
            first = row[via]
            if first.is_infinite:
                continue
            for j in range(n):
                if not through[j].is_infinite and first + through[j] < row[j]:
                    row[j] = first + through[j]
    return _encode(matrix, n)


def _broken_triangle(values: Sequence[Real], codes: NDArray[np.intp]) -> tuple[int, int, int] | None:
    """Return (i, j, k) with d(i → k) > d(i → j) + d(j → k), or None; floats find the suspects, exact numbers decide."""
    rounded = np.array([float(v) for v in values])
    matrix = rounded[codes]
    n, size = len(codes), len(values)
    checked: set[int] = set()
    for j in range(n):
        with np.errstate(invalid="ignore"):
            slack = matrix[:, j, None] + matrix[None, j, :] - matrix
            suspect = slack <= 1e-9 * np.maximum(matrix, 1)
        rows, columns = np.nonzero(suspect & np.isfinite(slack) | (np.isinf(matrix) & (slack == -np.inf)))
        triple = (codes[rows, j] * size + codes[j, columns]) * size + codes[rows, columns]
        for key, at in zip(*np.unique(triple, return_index=True), strict=True):
            if int(key) in checked:
                continue
            checked.add(int(key))
            first, second, direct = (values[int(key) // size**p % size] for p in (2, 1, 0))
            if first + second < direct:
                return int(rows[at]), j, int(columns[at])
    return None
