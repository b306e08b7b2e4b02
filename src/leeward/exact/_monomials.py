# SPDX-License-Identifier: Apache-2.0
"""What an exact real is a rational combination of, and when two combinations are one number.

A monomial is ``√n · a_1 · a_2 · …`` with a squarefree n and atoms a_i. An integer too large to be factored stays whole in
its logarithm, so one number may have several forms: `split` makes them alike, and `image` hashes all of them as one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from leeward._integers import MODULUS, additive, coprime, is_factored


class Atom(Protocol):
    """A real number that is not a rational combination of roots: it can be named, hashed and enclosed."""

    def arb(self) -> Any:
        """Enclose the value at the precision in force."""

    def __str__(self) -> str: ...

    def __hash__(self) -> int: ...


Monomial: TypeAlias = tuple[int, tuple[Atom, ...]]


def image(terms: Mapping[Monomial, Fraction]) -> int:
    """The hash of a number, whichever its form: Python's own where it is rational, else its image modulo a prime.

    The image of sums and products is the sum and product of images (`leeward._integers.additive` of logarithms), so however
    integers that were not factored are split inside logarithms, it is the same.
    """
    if all(is_factored(atom.prime) for _, atoms in terms for atom in atoms if hasattr(atom, "prime")):
        parts: Mapping[tuple[Any, ...], Fraction] = {(radicand, *atoms): c for (radicand, atoms), c in terms.items()}
    else:
        parts = split(terms)
    if not parts.keys() - {(1,)}:
        return hash(parts.get((1,), Fraction(0)))
    total = 0
    for (radicand, *atoms), coefficient in parts.items():
        top, bottom = coefficient.numerator, coefficient.denominator
        term = top * pow(bottom, -1, MODULUS) * hash((radicand,)) if bottom % MODULUS else 0
        for atom in atoms:
            number = atom if isinstance(atom, int) else getattr(atom, "prime", None)
            term *= hash(atom) if number is None else additive(number)
        total += term
    return hash(total % MODULUS)


def split(terms: Mapping[Monomial, Fraction]) -> dict[tuple[Any, ...], Fraction]:
    """Split the logarithms of integers that were not factored where integers share a part; leave out what cancels.

    Numbers without a common part are as good as primes: their logarithms are linearly independent over the rationals too.
    """
    base = coprime({atom.prime for _, atoms in terms for atom in atoms if hasattr(atom, "prime")})
    total: dict[Any, Fraction] = {}
    for (radicand, atoms), coefficient in terms.items():
        for several in itertools.product(*(_parts(atom, base) for atom in atoms)):
            found = radicand, *sorted((part for part, _ in several), key=str)
            total[found] = total.get(found, Fraction(0)) + coefficient * math.prod(power for _, power in several)
    return {found: coefficient for found, coefficient in total.items() if coefficient}


def _parts(atom: Any, base: list[int]) -> list[tuple[Any, int]]:
    """Write an atom ln n by the numbers of a base and their powers in n; another atom is itself."""
    if not hasattr(atom, "prime"):
        return [(atom, 1)]
    found = []
    for part in base:
        power, rest = 0, atom.prime
        while rest % part == 0:
            rest, power = rest // part, power + 1
        found += [(part, power)] if power else []
    return found
