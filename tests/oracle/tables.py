"""Distances between records and between tables, straight from the definitions: slow, and sharing nothing with `leeward`.

Numbers are Fractions, `math.inf`, or `Surd` (a + b·√2, compared by squaring). A notion is a function from two records to
the cost of *one step* between them (∞ for no step); everything else is shortest paths, relaxed until nothing changes.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

Cost = Any
Steps = Callable[[Any, Any], Cost]


@functools.total_ordering
class Surd:
    """a + b·√2 with rational a and b."""

    def __init__(self, a: Fraction | int, b: Fraction | int = 0) -> None:
        self.a, self.b = Fraction(a), Fraction(b)

    def __add__(self, other: Any) -> Any:
        if other == math.inf:
            return math.inf
        other = other if isinstance(other, Surd) else Surd(other)
        return Surd(self.a + other.a, self.b + other.b)

    __radd__ = __add__

    def _sign(self) -> int:
        a, b = self.a, self.b
        if a >= 0 and b >= 0:
            return int(a > 0 or b > 0)
        if a <= 0 and b <= 0:
            return -1
        larger = a * a - 2 * b * b  # |a| against |b|·√2; equal only at 0, for √2 is irrational
        return (1 if a > 0 else -1) if larger > 0 else (1 if b > 0 else -1)

    def __eq__(self, other: object) -> bool:
        if other == math.inf:
            return False
        other = other if isinstance(other, Surd) else Surd(other)  # type: ignore[arg-type]
        return (self.a, self.b) == (other.a, other.b)

    def __lt__(self, other: Any) -> bool:
        if other == math.inf:
            return True
        other = other if isinstance(other, Surd) else Surd(other)
        return Surd(self.a - other.a, self.b - other.b)._sign() < 0

    __hash__ = None  # type: ignore[assignment]


def closure(costs: Sequence[Sequence[Cost]]) -> list[list[Cost]]:
    """Shortest paths by relaxing every triple until nothing gets shorter."""
    made = [list(row) for row in costs]
    for i in range(len(made)):
        made[i][i] = 0
    while True:
        before = [list(row) for row in made]
        for row in made:
            for j, first in enumerate(row):
                if first == math.inf:
                    continue
                for k, second in enumerate(made[j]):
                    if second != math.inf and first + second < row[k]:
                        row[k] = first + second
        if before == made:
            return made


def tables(records: Iterable[Any], persons: int) -> list[tuple[Any, ...]]:
    """All tables."""
    return list(itertools.product(list(records), repeat=persons))


def between_tables(steps: Steps, universe: Sequence[tuple[Any, ...]]) -> list[list[Cost]]:
    """Shortest paths between tables when one step changes one person's record."""

    def one_step(x: tuple[Any, ...], y: tuple[Any, ...]) -> Cost:
        changed = [i for i in range(len(x)) if x[i] != y[i]]
        return steps(x[changed[0]], y[changed[0]]) if len(changed) == 1 else math.inf

    return closure([[one_step(x, y) for y in universe] for x in universe])


# ---- the table of notions: one step from record r to record s; None is nobody, a set is a set of facts


def _when(condition: bool, cost: Cost) -> Cost:
    return cost if condition else math.inf


def facts(record: Any) -> frozenset[Any]:
    return frozenset(record or ())


def unbounded(eps: Cost) -> Steps:
    return lambda r, s: _when((r is None) != (s is None), eps)


def bounded(eps: Cost) -> Steps:
    return lambda r, s: _when(r is not None and s is not None, eps)


def replace(eps: Cost) -> Steps:
    return lambda r, s: eps


def addition_only(eps: Cost) -> Steps:
    return lambda r, s: _when(r is not None and s is None, eps)


def removal_only(eps: Cost) -> Steps:
    return lambda r, s: _when(r is None and s is not None, eps)


def presence(eps: Cost) -> Steps:
    return lambda r, s: _when(facts(s) <= facts(r), eps if facts(s) != facts(r) else 0)


def adp(eps: Cost, policies: Sequence[Callable[[Any], bool]]) -> Steps:
    """Every policy that is true before is true after; the number of people is public."""

    def step(r: Any, s: Any) -> Cost:
        if (r is None) != (s is None):
            return math.inf
        for policy in policies:
            if policy(r) and not policy(s):
                return math.inf
        return eps

    return step


def osdp(eps: Cost, sensitive: Callable[[Any], bool], *, to_any: bool) -> Steps:
    return lambda r, s: _when(
        r is not None and s is not None and sensitive(r) and (to_any or not sensitive(s)),
        eps,
    )


def graph(eps: Cost, edges: Iterable[tuple[Any, Any]]) -> Steps:
    joined = {frozenset(edge) for edge in edges}
    return lambda r, s: _when(frozenset({r, s}) in joined, eps)


def graded(pres: Cost, abse: Cost) -> Steps:
    def step(r: Any, s: Any) -> Cost:
        gone, new = bool(facts(r) - facts(s)), bool(facts(s) - facts(r))
        if gone and new:
            return max(abse, pres)
        return pres if gone else abse if new else 0

    return step


def graded_facts(pres: Cost, abse: Cost) -> Steps:
    """One fact at a time; nobody is the same as nobody with facts."""

    def step(r: Any, s: Any) -> Cost:
        gone, new = len(facts(r) - facts(s)), len(facts(s) - facts(r))
        return {(0, 0): 0, (1, 0): pres, (0, 1): abse}.get((gone, new), math.inf)

    return step


# ---- sensitivity by brute force


def moves(
    steps: Steps, records: Sequence[Any], answer: Callable[[Sequence[Any]], Sequence[int]], persons: int
) -> list[tuple[Cost, tuple[int, ...]]]:
    """(distance, change of every coordinate) for every ordered pair of tables that the notion protects."""
    universe = tables(records, persons)
    distance = between_tables(steps, universe)
    answers = [answer(table) for table in universe]
    found = []
    for i, j in itertools.permutations(range(len(universe)), 2):
        if distance[i][j] != math.inf:
            change = tuple(after - before for before, after in zip(answers[i], answers[j], strict=True))
            found.append((distance[i][j], change))
    return found


def spent(a: Cost, b: Cost, change: Iterable[int]) -> Cost:
    """What a change of the answers costs on the line of rates a and b: 0·∞ is 0."""
    return sum((a * c if c > 0 else b * -c) for c in change if c)
