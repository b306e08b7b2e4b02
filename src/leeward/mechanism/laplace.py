"""The Laplace mechanism of a directed distance on a finite space, with its scaling function solved for exactly.

Definition 6 of Chatzikokolakis et al., with a direction: ``Pr[z | y] = λ(z)·e^{−d(z → y)}``, from the output z *to* the
truth y. It is d-private (Fact 7), because ``d(z → y') ≤ d(z → y) + d(y → y')``, provided that λ does not depend on y:
normalising row by row breaks it. On a finite space λ ≥ 0 must solve ``Σ_z λ(z)·e^{−d(z → y)} = 1`` for every y. That is a
linear system whose coefficients are products of powers of a few numbers e^{−m}; it is solved over polynomials in them, so λ
is exact. On q[0..k] with ε·d_R it is the Truncated Geometric mechanism (Figure 2 iv), on any directed line the clamped
`Geometric`. A space may have no such mechanism; then the reason is said, and `leeward.mechanism.fallback` or
`leeward.optimum` serve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import flint

from leeward.distance import FiniteDistance, listed
from leeward.errors import RefusedError
from leeward.exponential import Weight, exp_minus
from leeward.mechanism.finite import FiniteMechanism
from leeward.real import ZERO, Monomial, Real

_OTHERS = "Use exponential_fallback(distance), or optimal(...) for a prior and a loss"


def laplace_mechanism(distance: FiniteDistance[Any]) -> FiniteMechanism:
    """Return the Laplace mechanism on all points of a finite space, exact.

    Raises:
        InputError: if the distance has not its points listed.
        RefusedError: if the space has none; the message says why.
    """
    distance = listed(distance)
    scaling = scaling_function(distance)
    near = [exp_minus(value) for value in distance.values]
    points = distance.points
    matrix = [[scaling[z] * near[distance.codes[i, j]] for i, z in enumerate(points)] for j in range(len(points))]
    return FiniteMechanism(points, points, matrix)


def scaling_function(distance: FiniteDistance[Any]) -> dict[Any, Weight]:
    """Return the λ with ``Σ_z λ(z)·e^{−d(z → y)} = 1`` for every point y.

    Raises:
        RefusedError: if there is none, or it is negative somewhere.
    """
    points, n = distance.points, len(distance.points)
    ring = _Ring(exp_minus(value) for value in distance.values)
    rows = [[ring.read[distance.codes[z, y]] for z in range(n)] + [ring.one] for y in range(n)]
    determinant, solution = _solve(rows, ring)
    common = reduce(lambda a, b: a.gcd(b), solution, determinant)
    bottom = ring.weight(determinant // common)
    if bottom is None or not bottom:
        raise _singular()
    found = {z: (ring.weight(top // common) or Weight({})) / bottom for z, top in zip(points, solution, strict=True)}
    for z, value in found.items():
        if value.sign() < 0:
            raise RefusedError(
                f"The Laplace mechanism on {distance}",
                f"its scaling function would have to be negative, {float(value):.3g} at {z!r}",
                _OTHERS,
            )
    return found


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


def _solve(rows: list[list[Any]], ring: _Ring) -> tuple[Any, list[Any]]:
    """Return the determinant D and the numerators N_z of the solution N_z/D, by fraction-free elimination (Bareiss)."""
    n, previous = len(rows), ring.ring.from_dict({(0,) * max(1, len(ring.atoms)): 1})
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            raise _singular()
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i == k or (not rows[i][k] and rows[k][k] == previous):
                continue
            head = rows[i][k]
            rows[i] = [(rows[k][k] * a - head * b) // previous for a, b in zip(rows[i], rows[k], strict=True)]
        previous = rows[k][k]
    return previous, [row[n] for row in rows]


def _singular() -> RefusedError:
    return RefusedError(
        "The Laplace mechanism of this distance",
        "no scaling function makes all rows sum to 1: the equations for it are singular",
        _OTHERS,
    )
