"""Privacy by the definitions alone, on lists of fractions: slow, and sharing no code with `leeward.verify` or `.utility`.

A distance is given by its factors e^d, rational numbers or None for ∞, so that everything is decided exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import mpmath

Rows = Sequence[Sequence[Fraction]]
Factors = Sequence[Sequence[Fraction | None]]


def ordered_pairs(factors: Factors) -> list[tuple[int, int, Fraction]]:
    n = len(factors)
    return [(x, y, f) for x in range(n) for y in range(n) if x != y and (f := factors[x][y]) is not None]


def is_private(rows: Rows, factors: Factors) -> bool:
    """Pr[z | x] ≤ e^d · Pr[z | x'] for all ordered pairs at finite distance and all z."""
    return all(p <= f * q for x, y, f in ordered_pairs(factors) for p, q in zip(rows[x], rows[y], strict=True))


def is_tight(rows: Rows, factors: Factors) -> bool:
    """Private, and with equality somewhere at a positive distance and a positive probability."""
    equal = any(
        p == f * q and p > 0 and f > 1
        for x, y, f in ordered_pairs(factors)
        for p, q in zip(rows[x], rows[y], strict=True)
    )
    return is_private(rows, factors) and equal


def largest_excess(rows: Rows, factors: Factors) -> mpmath.mpf:
    """Max ln(p/q) − d, to 50 digits; ∞ where q = 0 < p."""
    with mpmath.workdps(50):
        return max(
            _log(p, q) - _log(f, Fraction(1)) for x, y, f in ordered_pairs(factors) for p, q in _shown(rows, x, y)
        )


def least_scale(rows: Rows, factors: Factors) -> mpmath.mpf:
    """The least c such that ln(p/q) ≤ c·d everywhere, to 50 digits."""
    with mpmath.workdps(50):
        scale = mpmath.mpf(0)
        for x, y, f in ordered_pairs(factors):
            for p, q in _shown(rows, x, y):
                ratio = _log(p, q)
                if ratio > 0:
                    scale = max(scale, ratio / _log(f, Fraction(1)) if f > 1 else mpmath.inf)
        return scale


def least_delta(rows: Rows, factors: Factors) -> Fraction:
    """The largest Pr[Z | x] − e^d · Pr[Z | x'], by going through every set Z of outputs."""
    outputs = range(len(rows[0]))
    return max(
        sum((rows[x][z] - f * rows[y][z] for z in chosen), Fraction(0))
        for x, y, f in ordered_pairs(factors)
        for size in range(len(rows[0]) + 1)
        for chosen in itertools.combinations(outputs, size)
    )


def largest_odds(rows: Rows, prior: Sequence[Fraction], about: Sequence[bool]) -> Fraction | None:
    """Risk_π(M, p) by Bayes' rule, output by output; None for ∞."""

    def side(weights: Sequence[Fraction], held: bool) -> Fraction:
        return sum((w for w, a in zip(weights, about, strict=True) if a is held), Fraction(0))

    if side(prior, True) == 0 or side(prior, False) == 0:
        return Fraction(0)
    worst = Fraction(0)
    for z in range(len(rows[0])):
        chance = sum((p * row[z] for p, row in zip(prior, rows, strict=True)), Fraction(0))
        if chance == 0:
            continue
        posterior = [p * row[z] / chance for p, row in zip(prior, rows, strict=True)]
        if side(posterior, False) == 0:
            return None
        after = side(posterior, True) / side(posterior, False)
        worst = max(worst, after / (side(prior, True) / side(prior, False)))
    return worst


def _shown(rows: Rows, x: int, y: int) -> list[tuple[Fraction, Fraction]]:
    return [(p, q) for p, q in zip(rows[x], rows[y], strict=True) if p > 0]


def _log(p: Fraction, q: Fraction) -> mpmath.mpf:
    return mpmath.log(mpmath.mpf(p.numerator) * q.denominator / p.denominator / q.numerator) if q else mpmath.inf
