# SPDX-License-Identifier: Apache-2.0
"""The entries of an exact matrix: read from what is given, kept small, summed by rows in whole arrays."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, plainly
from leeward.exact._weight import Weight, weight

Entry: TypeAlias = Weight | Exact | float


class Rationals(Sequence[Weight]):
    """Rational values, made into weights one at a time when asked for: a million of them stay small."""

    @abstractmethod
    def fraction(self, at: int) -> Fraction:
        """Return one value."""

    @abstractmethod
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return floats (lower, upper) that enclose the values; 0 is exact."""

    @overload
    def __getitem__(self, at: int) -> Weight: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Weight]: ...
    def __getitem__(self, at: int | slice) -> Weight | Sequence[Weight]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        return weight(self.fraction(at))


class _Fractions(Rationals):
    """Rational values as they are."""

    def __init__(self, numbers: Sequence[Fraction]) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def fraction(self, at: int) -> Fraction:
        """Return one value."""
        return self._numbers[at]

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Enclose the values: Python divides integers with one correct rounding."""
        return _outward(np.array([n.numerator / n.denominator for n in self._numbers]), [not n for n in self._numbers])


class _Floats(Rationals):
    """Values that were floats: float / divisor."""

    def __init__(self, floats: NDArray[np.float64], divisors: Sequence[Fraction], which: NDArray[np.intp]) -> None:
        self._numbers, self._divisors, self._which = floats, divisors, which

    def __len__(self) -> int:
        return len(self._numbers)

    def fraction(self, at: int) -> Fraction:
        """Return one value."""
        return Fraction(float(self._numbers[at])) / self._divisors[int(self._which[at])]

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Enclose float / divisor: two correct roundings."""
        divisors = np.array([float(d) for d in self._divisors])[self._which]
        return _outward(self._numbers / divisors, self._numbers == 0)


@vanishing
def _outward(
    rounded: NDArray[np.float64], zero: NDArray[np.bool_] | list[bool]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Step three units in the last place to both sides: more than two roundings are ever off."""
    lower = upper = rounded
    for _ in range(3):
        lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
    return np.where(zero, 0.0, np.maximum(lower, 0.0)), np.where(zero, 0.0, upper)


def enclose(values: Sequence[Weight]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return floats (lower, upper) that enclose the values; 0 is exact."""
    if isinstance(values, Rationals):
        return values.bounds()
    pairs = np.array([(0.0, 0.0) if not value else value.bounds() for value in values]).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def row_sums(values: Sequence[Weight], codes: NDArray[np.intp]) -> list[Weight]:
    """Return the distinct exact row sums of a coded matrix.

    The coefficients of all exponentials are put on common denominators, so that the sums are of integers. Those that would
    not fit in 64 bits are summed one by one.
    """
    if isinstance(values, Rationals):
        return [weight(total) for total in _rational_sums(values, codes)]
    columns: dict[tuple[int, Real], int] = {}
    bottoms: dict[Any, int] = {}
    forms: list[tuple[int, int, Fraction]] = []  # (value, column, coefficient)
    denominators: list[Mapping[Real, Fraction]] = []
    for code in np.flatnonzero(np.bincount(codes.ravel(), minlength=len(values))).tolist():
        value = values[code]
        group = bottoms.setdefault(frozenset(value.denominator.items()), len(bottoms))
        if group == len(denominators):
            denominators.append(value.denominator)
        for r, c in value.numerator.items():
            forms.append((code, columns.setdefault((group, r), len(columns)), c))
    scale = math.lcm(*{c.denominator for _, _, c in forms})
    integers = [(code, column, c.numerator * (scale // c.denominator)) for code, column, c in forms]
    small = max((abs(c) for _, _, c in integers), default=0) * codes.shape[1] < 2**63
    names, sums = list(columns), []
    for row in (_small_totals if small else _big_totals)(integers, codes, max(len(names), 1)):
        tops: list[dict[Real, Fraction]] = [{} for _ in denominators]
        for j, total in row:
            group, r = names[j]
            tops[group][r] = Fraction(total, scale)
        parts = (Weight(top, bottom) for top, bottom in zip(tops, denominators, strict=True))
        sums.append(functools.reduce(Weight.__add__, parts, weight(0)))
    return sums


_Totals = set[tuple[tuple[int, int], ...]]
"""For each distinct row, its non-zero totals: (column, total)."""


def _small_totals(integers: list[tuple[int, int, int]], codes: NDArray[np.intp], width: int) -> _Totals:
    which, column, coefficient = np.array(integers, np.int64).reshape(-1, 3).T
    size = int(codes.max(initial=0)) + 1
    totals: _Totals = set()
    for row in codes:
        total = np.zeros(width, np.int64)
        np.add.at(total, column, np.bincount(row, minlength=size)[which] * coefficient)
        kept = np.flatnonzero(total)
        totals.add(tuple(zip(kept.tolist(), total[kept].tolist(), strict=True)))
    return totals


def _big_totals(integers: list[tuple[int, int, int]], codes: NDArray[np.intp], width: int) -> _Totals:
    terms: dict[int, list[tuple[int, int]]] = {}
    for code, column, coefficient in integers:
        terms.setdefault(code, []).append((column, coefficient))
    totals: _Totals = set()
    for row in codes.tolist():
        total = [0] * width
        for code in row:
            for column, coefficient in terms.get(code, ()):
                total[column] += coefficient
        totals.add(tuple((j, t) for j, t in enumerate(total) if t))
    return totals


def _rational_sums(values: Rationals, codes: NDArray[np.intp]) -> set[Fraction]:
    totals = set()
    for row in codes:
        parts: dict[int, int] = {}
        for code, count in zip(*(a.tolist() for a in np.unique(row, return_counts=True)), strict=True):
            number = values.fraction(code)
            parts[number.denominator] = parts.get(number.denominator, 0) + count * number.numerator
        totals.add(sum((Fraction(top, bottom) for bottom, top in parts.items()), Fraction(0)))
    return totals


def read_floats(matrix: NDArray[np.float64], *, divide: bool) -> tuple[_Floats, NDArray[np.intp], list[Fraction]]:
    """Return values, codes and exact row sums of a matrix of floats, divided by those sums or not."""
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError("A float that is not a probability", "it is negative, infinite or NaN", "Check the matrix")
    sums = [_exact_sum(row) for row in matrix]
    if not all(sums):
        raise InputError("A row without a positive probability", "something must be published", "Check the matrix")
    divisors = sums if divide else [Fraction(1)] * len(sums)
    known: dict[Fraction, int] = {}
    which = np.array([known.setdefault(d, len(known)) for d in divisors], dtype=np.intp)
    numbers, codes = np.unique(matrix, return_inverse=True)
    keys, codes = np.unique(codes.reshape(matrix.shape) * len(known) + which[:, None], return_inverse=True)
    values = _Floats(numbers[keys // len(known)], list(known), keys % len(known))
    return values, codes.reshape(matrix.shape), sums


def _exact_sum(floats: NDArray[np.float64]) -> Fraction:
    mantissas, exponents = np.frexp(floats)
    integers, shifts = (mantissas * 2.0**53).astype(np.int64).tolist(), exponents.tolist()
    low = min(shifts)
    total = sum(a << (s - low) for a, s in zip(integers, shifts, strict=True))
    power = low - 53
    return Fraction(total << power) if power >= 0 else Fraction(total, 1 << -power)


def read_entries(
    matrix: Sequence[Sequence[Entry]] | NDArray[Any], shape: tuple[int, int]
) -> tuple[Sequence[Weight], NDArray[np.intp]]:
    """Return the distinct exact values of a matrix, and the codes into them."""
    seen: dict[Any, int] = {}
    values: list[Weight | Fraction] = []
    codes = np.empty(shape, dtype=np.intp)
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            key, number = _key(entry)
            if key not in seen:
                seen[key] = len(values)
                values.append(_value(number))
            codes[i, j] = seen[key]
    fractions = [v for v in values if isinstance(v, Fraction)]
    return (_Fractions(fractions) if len(fractions) == len(values) else [weight(v) for v in values]), codes


def _key(entry: Any) -> tuple[Any, Any]:
    """Return what identifies an entry (cheaper than the hash of a Fraction), and the entry, floats as fractions."""
    if isinstance(entry, Weight):
        return form(entry), entry
    if isinstance(entry, float | np.floating) and math.isfinite(entry):
        entry = Fraction(float(entry))
    if isinstance(entry, Fraction):
        return (entry.numerator, entry.denominator), entry
    return entry, entry


def _value(entry: Any) -> Weight | Fraction:
    if isinstance(entry, Fraction):
        return cast(Fraction, plainly(entry))
    value = weight(entry)
    rational = None if isinstance(entry, Weight) else value.rational
    return value if rational is None else rational


def form(value: Weight) -> tuple[Any, ...]:
    """Return a hashable form of a weight; equal forms are equal weights."""
    return frozenset(value.numerator.items()), frozenset(value.denominator.items())
