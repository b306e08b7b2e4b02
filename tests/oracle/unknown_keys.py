"""Keys that nobody has listed, in Fractions, by going through whole tables: slow, and sharing no code with `leeward`.

The noise has e^{−rate} = 1/2, so every probability is a Fraction and e^ε a power of two. A table is one record a person, a
record is a set of keys; an answer is a tuple of pairs (key, noisy count), sorted: keys that are not shown are not in it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)
Table = tuple[frozenset[str], ...]
Law = dict[int, Fraction]
Answer = tuple[tuple[str, int], ...]

ENOUGH = 40
"""Noise without an end is summed up to here; what is beyond is put on the last value."""


def law(kind: str, reach: int) -> Law:
    """The noise: weights of one half to the power of its distance, made to sum to 1."""
    ends = {"up": (0, reach), "both": (-reach, reach), "down": (-ENOUGH, 0), "up without end": (0, ENOUGH)}[kind]
    weights = {k: HALF ** abs(k) for k in range(ends[0], ends[1] + 1)}
    if "without" in kind or kind == "down":  # the rest of a geometric series is as much as its last term
        weights[max(weights, key=abs)] *= 2
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}


def answers(table: Table, noise: Law, threshold: int) -> dict[Answer, Fraction]:
    """All that may be published of a table, and how likely it is: one factor a key that somebody has."""
    held = Counter(key for record in table for key in record)
    found: dict[Answer, Fraction] = {(): Fraction(1)}
    for key in sorted(held):
        more: dict[Answer, Fraction] = {}
        for before, p in found.items():
            for k, chance in noise.items():
                z = held[key] + k
                after = (*before, (key, z)) if z >= threshold else before
                more[after] = more.get(after, Fraction(0)) + p * chance
        found = more
    return found


def beyond(x: dict[Answer, Fraction], y: dict[Answer, Fraction], factor: int) -> Fraction:
    """By how much the worst set of answers breaks Pr[Z | x] ≤ factor · Pr[Z | y]."""
    return sum((max(p - factor * y.get(z, Fraction(0)), Fraction(0)) for z, p in x.items()), Fraction(0))


def records(keys: str, most: int) -> list[frozenset[str]]:
    """All sets of at most so many keys; the empty one stands for nobody, and for somebody without a key."""
    return [frozenset(c) for n in range(most + 1) for c in itertools.combinations(keys, n)]


STEPS: dict[str, Callable[[frozenset[str], frozenset[str]], bool]] = {
    "addition-only": lambda r, s: bool(r) and not s,
    "removal-only": lambda r, s: bool(s) and not r,
    "dp": lambda r, s: bool(r) != bool(s),
    "bounded-dp": lambda r, s: r != s,
    "add-remove-replace-dp": lambda r, s: r != s,
}
"""Which record a person may pass as."""


def neighbours(notion: str, keys: str, most: int, people: int) -> Iterator[tuple[Table, Table]]:
    """All ordered pairs of tables one step apart, in which the first person changes: who it is makes no difference."""
    every = records(keys, most)
    for others in itertools.combinations_with_replacement(every, people - 1):
        for before, after in itertools.permutations(every, 2):
            if STEPS[notion](before, after):
                yield (before, *others), (after, *others)


def worst(pairs: Iterable[tuple[Table, Table]], noise: Law, threshold: int, factor: int) -> Fraction:
    """The least δ for all these pairs."""
    known: dict[Any, dict[Answer, Fraction]] = {}

    def of(table: Table) -> dict[Answer, Fraction]:
        held = tuple(sorted(Counter(key for record in table for key in record).items()))
        if held not in known:
            known[held] = answers(table, noise, threshold)
        return known[held]

    return max(beyond(of(x), of(y), factor) for x, y in pairs)


def best_chances(notion: str, delta: Fraction, factor: int, people: int) -> Sequence[Fraction]:
    """The greatest chance to show a key with 0, 1, … people that (ε, δ) allows, one count after another."""
    chances = [Fraction(0)]
    for _ in range(people):
        last = chances[-1]
        falls, rises = factor * last + delta, 1 - (1 - last - delta) / factor
        allowed = {"addition-only": [falls], "removal-only": [rises], "dp": [falls, rises]}[notion]
        chances.append(min([*allowed, Fraction(1)]))
    return chances
