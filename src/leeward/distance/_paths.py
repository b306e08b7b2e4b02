# SPDX-License-Identifier: Apache-2.0
"""Matrices of exact numbers, kept as codes into a tuple of distinct values, and shortest paths in them.

Whole-array work is done on codes, on machine integers whose sums fit, or on floats that only *suggest*: what is returned is
decided by exact numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, UndecidedError
from leeward.exact._real import ZERO, Exact, Real, exact, inf

Codes = NDArray[np.intp]
Integers = NDArray[np.signedinteger]
Coded = tuple[tuple[Real, ...], Codes]
"""Distinct values, and a matrix of codes into them."""


def encode(matrix: Sequence[Sequence[Exact]], n: int) -> Coded:
    """Read an n × n matrix of exact numbers.

    Raises:
        InputError: if it has another size, or an entry is below 0.
    """
    if len(matrix) != n or any(len(row) != n for row in matrix):
        raise InputError("A matrix of another size", f"{n} points need {n} rows of {n} numbers", "Give one row a point")
    kept = type(matrix) in (list, tuple)
    read: dict[Hashable, int] = {}
    values: dict[Real, int] = {}
    codes = np.empty((n, n), dtype=np.intp)
    for i, row in enumerate(matrix):
        held = kept and type(row) in (list, tuple)  # then no entry dies before the end, and its id tells it apart
        for j, entry in enumerate(row):
            key = id(entry) if held else (type(entry), entry)
            if key not in read:
                read[key] = values.setdefault(exact(entry), len(values))
            codes[i, j] = read[key]
    if any(v.sign() < 0 for v in values):
        raise InputError("A distance below 0", "a probability ratio is bounded by e^d with d ≥ 0", "Use costs ≥ 0")
    return tuple(values), codes


def combine(first: Coded, second: Coded, function: Callable[[Real, Real], Real]) -> Coded:
    """Return the matrix of ``function(a, b)`` over the entries, computed once for each pair of values that occurs."""
    size = len(second[0])
    distinct, codes = np.unique(first[1] * size + second[1], return_inverse=True)
    made = [function(first[0][p // size], second[0][p % size]) for p in distinct]
    return merge(made, codes.reshape(first[1].shape))


def merge(values: Iterable[Real], codes: Codes) -> Coded:
    """Give equal values one code."""
    merged: dict[Real, int] = {}
    renamed = np.array([merged.setdefault(v, len(merged)) for v in values], dtype=np.intp)
    return tuple(merged), renamed[codes]


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


def _multiples(values: Iterable[Real], n: int) -> tuple[Real, Integers, int] | None:
    """Write Reals as multiples of one unit, in machine integers in which n of them add up; None if there are none such.

    Returns:
        the unit, the multiples, and the one that stands for ∞: above all sums, and itself added to itself fits.
    """
    if (found := common_unit(values)) is None:
        return None
    unit, multiples = found
    for kind in (np.dtype(np.int32), np.dtype(np.int64)):
        never = int(np.iinfo(kind).max) // 2
        if max(multiples, default=0) * n < never:
            return unit, np.array([never if m < 0 else m for m in multiples], dtype=kind), never
    return None


def shortest_paths(values: Sequence[Real], codes: Codes) -> Coded:
    """Return the closure of a matrix of step costs (∞ for no step; the diagonal is taken as 0), exactly."""
    n = len(codes)
    values, codes = (*values, ZERO), codes.copy()
    np.fill_diagonal(codes, len(values) - 1)
    whole = _multiples(values, n)
    if whole is not None:
        unit, multiples, never = whole
        distinct, coded = np.unique(_closure(multiples[codes]), return_inverse=True)
        return tuple(inf if m == never else unit * int(m) for m in distinct), coded.reshape(n, n)
    made = _along_float_paths(values, codes)
    return made if _is_closure(made, (values, codes)) else _floyd(values, codes)


def broken_triangle(values: Sequence[Real], codes: Codes) -> tuple[int, int, int] | None:
    """Return (i, j, k) with d(i → k) > d(i → j) + d(j → k), or None; floats find the suspects, exact numbers decide."""
    whole = _multiples(values, len(codes))
    if whole is not None and _closed(whole[1][codes]):
        return None
    matrix = _floats(values, codes)
    finite = np.array([not v.is_infinite for v in values])[codes]  # also where a float is not
    size = len(values)
    kind = np.int64 if size**3 < 2**63 else object  # keys of three codes must not wrap
    checked: set[int] = set()
    for j in range(len(codes)):
        with np.errstate(invalid="ignore", over="ignore"):
            slack = matrix[:, j, None] + matrix[None, j, :] - matrix
            # a broken triangle has d(i → k) as its largest side, so a relative margin of it covers the rounding; floats
            # near the least there are have none
            suspect = (slack <= 1e-9 * matrix + 1e-300) & np.isfinite(slack)
            suspect |= np.isinf(matrix) & finite[:, j, None] & finite[None, j, :]
        suspect[j, :] = suspect[:, j] = False
        rows, columns = np.nonzero(suspect)
        triple = (codes[rows, j].astype(kind) * size + codes[j, columns]) * size + codes[rows, columns]
        for key, at in zip(*np.unique(triple, return_index=True), strict=True):
            if int(key) in checked:
                continue
            checked.add(int(key))
            first, second, direct = (values[int(key) // size**p % size] for p in (2, 1, 0))
            if first + second < direct:
                return int(rows[at]), j, int(columns[at])
    return None


def _floats(values: Sequence[Real], codes: Codes) -> NDArray[np.float64]:
    return np.array([float(v) for v in values])[codes]


def _shortest(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the lengths of shortest paths by floats, and the last point before the end of each (Floyd and Warshall)."""
    lengths, through = weights.copy(), np.empty_like(weights)
    before = np.broadcast_to(np.arange(len(weights))[:, None], weights.shape).copy()
    for via in range(len(weights)):
        if np.isfinite(lengths[via]).sum() > 1 and np.isfinite(lengths[:, via]).sum() > 1:
            np.add(lengths[:, via, None], lengths[via], out=through)
            shorter = through < lengths
            np.copyto(lengths, through, where=shorter)
            np.copyto(before, before[via], where=shorter)
    return lengths, before


_BLOCK = 64
"""So many rows of a matrix stay in a processor's cache while others are added to them."""


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def _closure(lengths: Integers) -> Integers:
    """Return the lengths of shortest paths: Floyd and Warshall, through a block of points at a time.

    First the ways from the points of a block are closed under ways through the block, then all others are.
    """
    blocks, room = _blocks(len(lengths)), np.empty_like(lengths[:_BLOCK])
    for block in blocks:
        for rows in (block, *(other for other in blocks if other is not block)):
            part, through = lengths[rows], room[: rows.stop - rows.start]
            for via in range(block.start, block.stop):
                np.add(part[:, via, None], lengths[via], out=through)
                np.minimum(part, through, out=part)
    return lengths


def _closed(lengths: Integers) -> bool:
    """Whether no way through another point is shorter."""
    return not any(
        (lengths[rows, via, None] + lengths[via] < lengths[rows]).any()
        for rows in _blocks(len(lengths))
        for via in range(len(lengths))
    )


def _along_float_paths(values: Sequence[Real], codes: Codes) -> Coded:
    """Add up exactly along the paths that floats take for the shortest."""
    n = len(codes)
    lengths, before = _shortest(_floats(values, codes))
    known = [inf, ZERO]
    found = {inf: 0, ZERO: 1}
    sums: dict[tuple[int, int], int] = {}
    made = np.zeros((n, n), dtype=np.intp)
    for i in range(n):
        made[i, i] = 1
        done = {i}
        for target in np.argsort(lengths[i], kind="stable"):
            if np.isinf(lengths[i, target]):
                break
            trail = [int(target)]
            while trail[-1] not in done:
                # rounding may close a circle: then the way from i itself is taken, and exact numbers see that it is longer
                trail.append(int(before[i, trail[-1]]) if len(trail) <= n else i)
            for via, j in zip(reversed(trail[1:]), reversed(trail[:-1]), strict=True):
                key = int(made[i, via]), int(codes[via, j])
                if key not in sums:
                    total = known[key[0]] + values[key[1]]
                    if total not in found:
                        found[total] = len(known)
                        known.append(total)
                    sums[key] = found[total]
                made[i, j] = sums[key]
                done.add(j)
    return tuple(known), made


def _is_closure(made: Coded, steps: Coded) -> bool:
    """Sums along paths are the closure if none is above the direct step and the triangle inequality holds."""
    size = len(steps[0])
    pairs = np.unique(made[1] * size + steps[1])
    below = all(made[0][p // size] <= steps[0][p % size] for p in pairs)
    return below and broken_triangle(*made) is None


def _floyd(values: Sequence[Real], codes: Codes) -> Coded:
    matrix = [[values[c] for c in row] for row in codes]
    n = len(matrix)
    for via in range(n):
        through = matrix[via]
        for row in matrix:
            first = row[via]
            if first.is_infinite:
                continue
            for j in range(n):
                if not through[j].is_infinite and first + through[j] < row[j]:
                    row[j] = first + through[j]
    return encode(matrix, n)
