# SPDX-License-Identifier: Apache-2.0
"""The Laplace mechanism of a directed distance on a finite space, with its scaling function solved for exactly.

Definition 6 of Chatzikokolakis et al., with a direction: ``Pr[z | y] = λ(z)·e^{−d(z → y)}``, from the output z *to* the
truth y; truths y ∈ Y and outputs z ∈ Z are points of one space and need not be the same. It is d-private (Fact 7), because
``d(z → y') ≤ d(z → y) + d(y → y')``, provided that λ does not depend on y: normalising row by row breaks it. On a finite
space λ ≥ 0 must solve ``Σ_z λ(z)·e^{−d(z → y)} = 1`` for every y ∈ Y.

Points whose places are alike for the distance (the four corners of a square, two points at distance 0 from each
other) may share one λ: if there is any solution, its average over them is one. So the system is solved for classes of
points. Its coefficients are sums of products of powers of a few numbers e^{−m}; it is solved over polynomials in them, and λ
is exact. On q[0..k] with ε·d_R it is the Truncated Geometric mechanism (Figure 2 iv), on any directed line the clamped
`Geometric`. A space may have no such mechanism; then the reason is said, and `leeward.mechanism._exponential` or
`leeward.analysis._optimal` serve.

Machine-checked (docs/proved.md): `laplace_private`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._optional import optional
from leeward.distance import FiniteDistance, listed
from leeward.errors import InputError, RefusedError
from leeward.exact._monomials import Monomial
from leeward.exact._real import ZERO, Real
from leeward.exact._weight import Weight, exp_minus
from leeward.mechanism._finite import FiniteMechanism

_MOST_DEGREE = 2000
"""Powers up to which a common factor is divided out: finding it takes memory for each of them, and it only shortens."""
_OTHERS = "Use exponential_fallback(distance), or optimal(...) for a prior and a loss"
_MOST_WORK = 4 * 10**8
"""Products of terms, times the square of the number of indeterminates, after which solving is given up: under a minute."""


def laplace_mechanism(
    distance: FiniteDistance[Any], secrets: Iterable[Any] | None = None, outputs: Iterable[Any] | None = None
) -> FiniteMechanism:
    """Return the Laplace mechanism of a finite space, exact.

    Args:
        distance: d on all points, truths and outputs.
        secrets: Y, the truths; by default all points.
        outputs: Z, what may come out; by default all points. Where many scaling functions would do, one is chosen.

    Raises:
        InputError: if the distance has not its points listed, or does not know some of these.
        RefusedError: if the space has none, or it is too large to solve for exactly; the message says which.
    """
    distance = listed(distance)
    truths, answers = _among(distance, secrets, "secrets"), _among(distance, outputs, "outputs")
    scaling = scaling_function(distance, truths, answers)
    near = [exp_minus(value) for value in distance.values]
    made: dict[tuple[int, int], Weight] = {}  # outputs of one class share their λ, and so the product

    def entry(z: Any, code: int) -> Weight:
        key = id(scaling[z]), code
        if key not in made:
            made[key] = scaling[z] * near[code]
        return made[key]

    between = _codes(distance, truths, answers).tolist()
    return FiniteMechanism(
        truths, answers, [[entry(z, code) for z, code in zip(answers, row, strict=True)] for row in between]
    )


@vanishing
def scaling_function(
    distance: FiniteDistance[Any], secrets: Iterable[Any] | None = None, outputs: Iterable[Any] | None = None
) -> dict[Any, Weight]:
    """Return a λ ≥ 0 with ``Σ_z λ(z)·e^{−d(z → y)} = 1`` for every truth y; see `laplace_mechanism`."""
    truths, answers = _among(distance, secrets, "secrets"), _among(distance, outputs, "outputs")
    between = _codes(distance, truths, answers)
    kinds, classes = _classes(between)
    representatives = [int(np.flatnonzero(kinds == kind)[0]) for kind in range(kinds.max() + 1)]
    ring = _Ring(exp_minus(value) for value in distance.values)
    rows = [
        [
            sum((ring.read[code] for code in between[y, classes == one].tolist()), ring.zero)
            for one in range(classes.max() + 1)
        ]
        for y in representatives
    ]
    work = _Work(distance, len(rows), len(ring.atoms))
    chosen = list(range(len(rows[0])))
    solved = _solve([[*row, ring.one] for row in rows], ring, work)
    if solved is None:
        raise _none(distance, "the equations for its scaling function contradict each other")
    if len(solved.columns) < len(chosen):  # many solutions: one that is nowhere negative has few positive entries
        floats = np.exp([-float(v) if not v.is_infinite else -np.inf for v in distance.values])[
            between[representatives]
        ]
        sums = np.stack([floats[:, classes == one].sum(axis=1) for one in chosen], axis=1)
        chosen = _vertex(sums, distance)
        solved = _solve([[*(row[one] for one in chosen), ring.one] for row in rows], ring, work)
        if solved is None or len(solved.columns) < len(chosen):
            raise RefusedError(
                f"The Laplace mechanism on {distance}", "floats do not find which of its many scalings to take", _OTHERS
            )
    tops, bottom = solved.tops, solved.determinant
    if max(degree for each in (bottom, *tops) for degree in each.degrees()) <= _MOST_DEGREE:
        common = reduce(lambda a, b: a.gcd(b), tops, bottom)
        tops, bottom = [top // common for top in tops], bottom // common
    bottom = ring.weight(bottom)
    if bottom is None or not bottom:
        raise _none(distance, "the equations for its scaling function are singular")
    found = dict.fromkeys(range(classes.max() + 1), Weight({}))
    for column, top in zip(solved.columns, tops, strict=True):
        found[chosen[column]] = (ring.weight(top) or Weight({})) / bottom
    for one, value in found.items():
        if value.sign() < 0:
            point = answers[int(np.flatnonzero(classes == one)[0])]
            raise _none(distance, f"its scaling function would have to be negative, {float(value):.3g} at {point!r}")
    return {z: found[one] for z, one in zip(answers, classes.tolist(), strict=True)}


def _among(distance: FiniteDistance[Any], points: Iterable[Any] | None, name: str) -> tuple[Any, ...]:
    chosen = distance.points if points is None else tuple(points)
    missing = [point for point in chosen if point not in set(distance.points)]
    if missing or not chosen:
        raise InputError(
            f"{name} = {list(chosen)!r}" if not missing else f"{missing[0]!r} among the {name}",
            "the distance does not know it" if missing else "there are none",
            "Take the distance on all of them: distance.on((*secrets, *outputs))",
        )
    return chosen


def _codes(distance: FiniteDistance[Any], truths: Sequence[Any], answers: Sequence[Any]) -> NDArray[np.intp]:
    """Return the code of d(z → y) for each truth y (row) and output z (column)."""
    place = {point: row for row, point in enumerate(distance.points)}
    return distance.codes[np.ix_([place[z] for z in answers], [place[y] for y in truths])].T


def _classes(between: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the coarsest classes of rows and of columns such that all rows of a class have equal sums over each class.

    Rows are classified by the multiset of their entries with the class of the column, and columns likewise, until nothing
    changes (colour refinement). Then averaging over the classes commutes with the matrix.
    """
    rows, columns = (np.zeros(size, dtype=np.intp) for size in between.shape)
    while True:
        before = rows.max(), columns.max()
        for own, other, matrix in ((rows, columns, between), (columns, rows, between.T)):
            seen = np.sort(matrix * (other.max() + 1) + other, axis=1)
            own[:] = np.unique(np.column_stack([own, seen]), axis=0, return_inverse=True)[1].reshape(-1)
        if (rows.max(), columns.max()) == before:
            return rows, columns


def _vertex(matrix: NDArray[np.float64], distance: FiniteDistance[Any]) -> list[int]:
    """Return the columns that are positive in one basic solution λ ≥ 0 of matrix·λ = 1."""
    linprog = optional("scipy.optimize", "The Laplace mechanism of a distance without symmetries").linprog
    found = linprog(np.zeros(matrix.shape[1]), A_eq=matrix, b_eq=np.ones(len(matrix)), method="highs-ds")
    if found.status != 0:
        raise _none(distance, "every scaling function would be negative somewhere, a linear program says")
    solution: NDArray[np.float64] = np.asarray(found.x)
    return [int(column) for column in np.flatnonzero(solution > 1e-12)]


def _none(distance: FiniteDistance[Any], why: str) -> RefusedError:
    return RefusedError(f"The Laplace mechanism on {distance}", f"there is none: {why}", _OTHERS)


class _Ring:
    """Polynomials in the numbers e^{−m/D} from which all e^{−d} are made, one for each irrational part m of an exponent."""

    def __init__(self, weights: Iterable[Weight]) -> None:
        terms = [next(iter(w.numerator.items()), None) for w in weights]  # one exponential each, or 0 for ∞
        exponents = [-r for r, _ in (t for t in terms if t is not None)]
        self.atoms: list[Monomial] = sorted({m for r in exponents for m in r.terms}, key=str)
        self.unit: list[Fraction] = []  # the exponent of each indeterminate
        self.shift: list[int] = []  # powers are made non-negative
        for atom in self.atoms:
            parts = [r.terms.get(atom, Fraction(0)) for r in exponents]
            denominator = math.lcm(*(part.denominator for part in parts))
            self.unit.append(Fraction(1, denominator))
            self.shift.append(max(0, *(-int(part * denominator) for part in parts)))
        names = [f"t{i}" for i in range(max(1, len(self.atoms)))]
        self.ring = flint.fmpq_mpoly_ctx.get(names, "lex")
        self.one = self.ring.from_dict({self._powers(ZERO): 1})
        self.zero = self.ring.from_dict({})
        self.read = [
            self.ring.from_dict(
                {} if t is None else {self._powers(-t[0]): flint.fmpq(t[1].numerator, t[1].denominator)}
            )
            for t in terms
        ]

    def _powers(self, exponent: Real) -> tuple[int, ...]:
        known: Mapping[Monomial, Fraction] = exponent.terms
        return tuple(
            int(known.get(atom, Fraction(0)) / unit) + shift
            for atom, unit, shift in zip(self.atoms, self.unit, self.shift, strict=True)
        ) or (0,)

    def weight(self, polynomial: Any) -> Weight | None:
        """Return the value of a polynomial, None for the zero polynomial. A common shift of powers does not matter here."""
        sums: dict[Real, Fraction] = {}
        for powers, coefficient in polynomial.to_dict().items():
            exponent = Real(
                {a: -unit * int(p) for a, unit, p in zip(self.atoms, self.unit, powers, strict=False) if int(p)}
            )
            sums[exponent] = sums.get(exponent, Fraction(0)) + Fraction(int(coefficient.p), int(coefficient.q))
        return Weight(sums) if sums else None


class _Work:
    """Counts products of terms of polynomials, and gives up when there are too many."""

    def __init__(self, distance: FiniteDistance[Any], classes: int, atoms: int) -> None:
        self.distance, self.classes, self.atoms, self.done = distance, classes, atoms, 0

    def add(self, products: int) -> None:
        self.done += products * max(1, self.atoms) ** 2
        if self.done > _MOST_WORK:
            raise RefusedError(
                f"The Laplace mechanism on {self.distance}",
                f"solving for its scaling function exactly takes too long: {self.classes} kinds of points, at distances"
                f" made of {self.atoms} numbers without a common measure",
                _OTHERS,
            )


class _Solved(NamedTuple):
    """The determinant D of the chosen columns, and the numerators N of the solution N/D; the other unknowns are 0."""

    determinant: Any
    columns: list[int]
    tops: list[Any]


def _solve(rows: list[list[Any]], ring: _Ring, work: _Work) -> _Solved | None:
    """Solve rows of coefficients and right-hand side by fraction-free elimination (Bareiss); None if they contradict."""
    previous = ring.ring.from_dict({(0,) * max(1, len(ring.atoms)): 1})
    columns: list[int] = []
    for column in range(len(rows[0]) - 1):
        k = len(columns)
        pivot = next((i for i in range(k, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[k], rows[pivot] = rows[pivot], rows[k]
        head, lead = rows[k], rows[k][column]
        for i, row in enumerate(rows):
            factor = row[column]
            if i == k or (not factor and lead == previous):
                continue
            work.add(sum(len(lead) * len(a) + len(factor) * len(b) for a, b in zip(row, head, strict=True)))
            rows[i] = [(lead * a - factor * b) // previous for a, b in zip(row, head, strict=True)]
        previous = lead
        columns.append(column)
    if any(row[-1] for row in rows[len(columns) :]):
        return None
    return _Solved(previous, columns, [row[-1] for row in rows[: len(columns)]])
