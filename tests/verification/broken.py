"""Broken mechanisms, each a mistake somebody makes or has published, as exact matrices. They live here and nowhere else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from leeward.distance import FiniteDistance, Line
from leeward.exact import Real, Weight, exp_minus, inf
from leeward.exact._weight import weight, weighted_sum
from leeward.mechanism import FiniteMechanism, Geometric, Sanitized
from leeward.notion import ABSENT

A, B, C = "a", "b", "c"


def records(places: Sequence[str]) -> list[Any]:
    """Nobody, and every set of visited places."""
    sets = [frozenset(s) for k in range(len(places) + 1) for s in itertools.combinations(places, k)]
    return [ABSENT, *sets]


def tables(places: Sequence[str], people: int) -> list[tuple[Any, ...]]:
    return list(itertools.product(records(places), repeat=people))


def visitors(
    places: Sequence[str], keep: Callable[[Any], Any] = lambda record: record
) -> Callable[[Any], tuple[int, ...]]:
    """The query: distinct visitors of each place, of records passed through ``keep``."""
    return lambda table: tuple(sum(p in keep(r) for r in table if r is not ABSENT) for p in places)


def noisy_counts(line: Line, places: Sequence[str], people: int) -> FiniteMechanism:
    """Independent directed noise on one count a place, for vectors of counts up to the number of people."""
    return FiniteMechanism.product([Geometric(line).on(range(people + 1))] * len(places))


def first(k: int) -> Callable[[Any], Any]:
    """Truncation: the k places that come first in the public order."""
    return lambda record: frozenset(sorted(record)[:k])


# ---- mechanisms on the line


def conditioned(line: Line, top: int) -> FiniteMechanism:
    """Draw again until the output lies in 0..top: every row is divided by its own chance of that."""
    full = Geometric(line)
    rows = {y: full.pmf(y, range(top + 1)) for y in range(top + 1)}
    return FiniteMechanism.from_rows(
        {y: {z: p / weighted_sum((q, 1) for q in row.values()) for z, p in row.items()} for y, row in rows.items()}
    )


def row_normalised(distance: Line, top: int) -> FiniteMechanism:
    """The exponential weights e^{−d(z → y)} on 0..top, each row divided by its own sum."""
    weights = {y: {z: exp_minus(distance(z, y)) for z in range(top + 1)} for y in range(top + 1)}
    return FiniteMechanism.from_rows(
        {y: {z: w / weighted_sum((v, 1) for v in row.values()) for z, w in row.items()} for y, row in weights.items()}
    )


HALVES = [Fraction(k, 2) for k in range(8)]


def within_one(epsilon: Real) -> FiniteDistance[Fraction]:
    """Values in half units; one step of the notion changes a value by at most 1."""
    steps = [[epsilon if abs(x - y) <= 1 else inf for y in HALVES] for x in HALVES]
    return FiniteDistance.closed(HALVES, steps)


def half_up(x: Fraction) -> int:
    return math.floor(x + Fraction(1, 2))


# ---- streams of counts


def one_each(epsilon: Real, vectors: Sequence[tuple[int, ...]]) -> FiniteDistance[tuple[int, ...]]:
    """A step lowers any of the counts by 1 each: one person leaves, who may be at several places."""
    steps = [
        [epsilon if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in vectors] for x in vectors
    ]
    return FiniteDistance.closed(vectors, steps)


def goes_on_asking(rate: Real, at_most: int, vectors: Sequence[tuple[int, ...]]) -> FiniteMechanism:
    """Withholds the counts that exceed, charges one answer, and goes on asking."""
    decide = Sanitized(Line(inf, rate), at_most=at_most).sanitizer()
    top = max(max(v) for v in vectors)
    single = FiniteMechanism.from_rows(
        {c: {"safe": decide.probability(c), "not safe": 1 - decide.probability(c)} for c in range(top + 1)}
    )
    return FiniteMechanism.product([single] * len(vectors[0])).pull_back(vectors, lambda v: v)


def one_noise_for_all(rate: Real, at_most: int, vectors: Sequence[tuple[int, ...]]) -> FiniteMechanism:
    """The sanitized mechanism with one noise draw used for every count; exceeding counts above 6 are merged."""
    top = 6

    def row(counts: tuple[int, ...]) -> dict[Any, Weight]:
        found: dict[Any, Weight] = {}
        for noise in range(top + 1):
            chance = (1 - exp_minus(rate)) * exp_minus(rate * noise) if noise < top else exp_minus(rate * top)
            output: list[Any] = []
            for c in counts:
                stopped = any(isinstance(o, int) for o in output)
                output.append(None if stopped else "safe" if c + noise <= at_most else min(c + noise, top))
            found[tuple(output)] = found.get(tuple(output), weight(0)) + chance
        return found

    return FiniteMechanism.from_rows({v: row(v) for v in vectors})
