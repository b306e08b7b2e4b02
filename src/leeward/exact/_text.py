# SPDX-License-Identifier: Apache-2.0
"""Exact numbers written down so that they can be read back in ten years.

A rational is a string (``"1/3"``), infinity is ``"inf"``. Any other `Real` is a list of terms, each
``{"times": "1/2", "root": 3, "logs": [2, [["1", "0"], ["1", "1"]]]}`` for ½·√3·ln 2·ln(1·e^0 + 1·e^1): a number among the
logs is a prime, a list is a sum of [coefficient, exponent]. This form follows from the numbers and not from how the
package prints them, and its meaning never changes.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from leeward.errors import InputError
from leeward.exact._monomials import Atom
from leeward.exact._real import Real, exact, sqrt
from leeward.exact._weight import LogPrime, LogSum, Weight, log

Written = str | list[dict[str, Any]]
"""What JSON keeps of an exact number."""


def write(number: Real) -> Written:
    """Return the number as JSON-ready values."""
    if number.is_infinite:
        return "inf"
    if number.rational is not None:
        return _write_fraction(number.rational)
    terms = [
        {"times": _write_fraction(c), "root": radicand, "logs": sorted(map(_write_atom, atoms), key=json.dumps)}
        for (radicand, atoms), c in number.terms.items()
    ]
    return sorted(terms, key=lambda term: (term["root"], json.dumps(term["logs"])))


def _write_fraction(number: Fraction) -> str:
    top, bottom = int(number.numerator), int(number.denominator)
    return f"{top}" if bottom == 1 else f"{top}/{bottom}"


def read(written: object) -> Real:
    """Return the number that `write` wrote."""
    if isinstance(written, str):
        return exact(written)
    try:
        total = exact(0)
        for term in written:  # type: ignore[attr-defined]
            product = exact(term["times"]) * sqrt(term["root"])
            for atom in term["logs"]:
                product = product * _read_atom(atom)
            total = total + product
    except (TypeError, KeyError, ValueError) as problem:
        raise InputError(
            "A written number", "it is in no form that was ever written", "Restore the record"
        ) from problem
    return total


def _write_atom(atom: Atom) -> int | list[list[Any]]:
    if isinstance(atom, LogPrime):
        return atom.prime
    if isinstance(atom, LogSum):
        return sorted(([_write_fraction(c), write(r)] for r, c in atom.sum), key=json.dumps)
    raise InputError(
        f"The number {atom}", "it has no written form", "Use rationals, roots, logarithms and exponentials"
    )


def _read_atom(written: Any) -> Real:
    if isinstance(written, int):
        return log(written)
    return log(Weight({read(r): Fraction(c) for c, r in written}))
