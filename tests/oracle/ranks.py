"""Percentiles by rank, from sorted lists and every set of accepted points: slow, and sharing no code with `leeward`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction


def rank_error(numbers: Sequence[Fraction], point: Fraction, p: Fraction) -> Fraction:
    """By how many people a point misses the p per cent point of some numbers, 0 ≤ p ≤ 100."""
    below, above = sum(n < point for n in numbers), sum(n > point for n in numbers)
    others = len(numbers) - 1
    return max(below - p * others / 100, above - (100 - p) * others / 100)


def first_accepted(rate: float, errors: Sequence[Fraction]) -> tuple[float, ...]:
    """How likely each point is: each is accepted by how much worse than the best it is, and one of those is taken, alike."""
    heads = [math.exp(-rate * float(error - min(errors))) for error in errors]
    chances = [0.0] * len(errors)
    for accepted in itertools.product((False, True), repeat=len(errors)):
        if not any(accepted):
            continue
        odds = math.prod(h if yes else 1 - h for h, yes in zip(heads, accepted, strict=True))
        for i, yes in enumerate(accepted):
            chances[i] += odds / sum(accepted) if yes else 0.0
    return tuple(chances)


@functools.cache
def named(rate: float, p: Fraction, points: tuple[Fraction, ...], numbers: tuple[Fraction, ...]) -> tuple[float, ...]:
    """How likely each point of a grid is, where people have these numbers."""
    return first_accepted(rate, [rank_error(numbers, point, p) for point in points])


@functools.cache
def told_apart(
    rate: float, p: Fraction, points: tuple[Fraction, ...], these: tuple[Fraction, ...], those: tuple[Fraction, ...]
) -> float:
    """The largest log-ratio of one answer, of these numbers to those."""
    pairs = zip(named(rate, p, points, these), named(rate, p, points, those), strict=True)
    return max(math.log(a / b) for a, b in pairs)
