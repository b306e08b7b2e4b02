"""Mechanisms in exact fractions that are private for a distance and no better: the knife edge of every conversion.

Distances are whole multiples of ln 2 (or ∞), so that e^{-d} is a power of one half. For a pair (x, x') the witness has two
outputs with ``Pr[1 | y] = c·e^{-d(x → y)}``: its log-ratio from x to x' is d(x → x') exactly, and the triangle inequality
makes it private everywhere; c is small enough for the other output to be private too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

Law = Mapping[Any, Fraction]
Mechanism = Mapping[Any, Law]


def half_power(doublings: Any) -> Fraction:
    """e^{-d} for d = doublings·ln 2."""
    return Fraction(0) if doublings == math.inf else Fraction(1, 2 ** int(doublings))


def witnesses(points: Iterable[Any], doublings: Callable[[Any, Any], Any]) -> Iterator[tuple[Any, Any, Mechanism]]:
    """For every ordered pair: the pair, and a private mechanism whose log-ratio attains its distance, ∞ included."""
    points = list(points)
    for x, x_prime in itertools.permutations(points, 2):
        made = {}
        for y in points:
            chance = half_power(doublings(x, y)) / 2 if y != x else Fraction(1, 2)
            made[y] = {1: chance, 0: 1 - chance}
        yield x, x_prime, made


def log2_loss(mechanism: Mechanism, x: Any, y: Any) -> float:
    """The largest log2 of Pr[K(x) = z] / Pr[K(y) = z]; exact where the ratio is a power of 2."""
    worst = 0.0
    for z, p in mechanism[x].items():
        if p:
            q = mechanism[y].get(z, Fraction(0))
            worst = max(worst, math.inf if not q else math.log2(p / q))
    return worst


def is_private(mechanism: Mechanism, doublings: Callable[[Any, Any], Any], within: Fraction = Fraction(1)) -> bool:
    """Whether ``Pr[K(x) = z] ≤ e^{within·d(x → y)}·Pr[K(y) = z]`` over all ordered pairs, decided in fractions."""
    for x, y in itertools.permutations(mechanism, 2):
        d = doublings(x, y)
        if d == math.inf:
            continue
        allowed = Fraction(d) * within
        for z, p in mechanism[x].items():
            q = mechanism[y].get(z, Fraction(0))
            # p ≤ 2^(n/m)·q, both sides to the power m
            if p**allowed.denominator > 2**allowed.numerator * q**allowed.denominator:
                return False
    return True


def product(first: Mechanism, second: Callable[[Any], Mechanism]) -> Mechanism:
    """Both outputs; the second mechanism may be chosen by the first output."""
    return {x: {(z, w): p * q for z, p in first[x].items() for w, q in second(z)[x].items()} for x in first}


def post_process(mechanism: Mechanism, channel: Mapping[Any, Law]) -> Mechanism:
    """The law of what is computed from an output alone."""
    made: dict[Any, dict[Any, Fraction]] = {}
    for x, law in mechanism.items():
        made[x] = {}
        for z, p in law.items():
            for w, q in channel[z].items():
                made[x][w] = made[x].get(w, Fraction(0)) + p * q
    return made


def risk(mechanism: Mechanism, prior: Mapping[Any, Fraction], about: Callable[[Any], bool]) -> Any:
    """Risk_π(M, p) for one record (ADP, Section III-C): the largest posterior odds over prior odds; a/0 is ∞."""
    yes = sum(q for x, q in prior.items() if about(x))
    no = sum(q for x, q in prior.items() if not about(x))
    if not yes or not no:
        return 0
    worst: Any = 0
    for z in {z for law in mechanism.values() for z in law}:
        true = sum(q * mechanism[x].get(z, Fraction(0)) for x, q in prior.items() if about(x))
        false = sum(q * mechanism[x].get(z, Fraction(0)) for x, q in prior.items() if not about(x))
        if true:
            worst = max(worst, math.inf if not false else (true / false) / (yes / no))
    return worst
