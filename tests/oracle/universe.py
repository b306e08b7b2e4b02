"""Tiny universes on which a promise is checked by going through every pair of secrets. It imports nothing of `leeward`.

A secret is a table (one record a person, None for nobody), a set of events, or a graph. A notion is told by its *steps*:
what one neighbouring step from secret to secret costs, as the papers define it (`tests.oracle.tables` has those of single
records); its distance is the shortest paths over *whole* secrets, by Floyd's algorithm. Nothing is derived, nothing is
assumed about sums over persons, and no two notions are treated differently.

Costs are whole multiples of 1/720, kept as integers in arrays; `NEVER` is ∞. So everything is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.oracle.tables import Cost, Steps

Matrix = NDArray[np.int64]
"""Costs from each secret (row) to each other (column), in multiples of 1/720."""

PARTS = 720
NEVER = 1 << 40

# ---- secrets


@dataclass(frozen=True)
class Row:
    """A record with two columns."""

    x: Any
    y: Any = 0


@dataclass(frozen=True)
class Event:
    """One visit: who was where, on which day and at what time."""

    person: str
    day: str
    place: str
    time: str = ""


def subsets(of: Iterable[Hashable], *, at_most: int | None = None) -> list[frozenset[Any]]:
    """Every set of these things, smaller ones first."""
    of = list(of)
    sizes = range(min(len(of), len(of) if at_most is None else at_most) + 1)
    return [frozenset(chosen) for size in sizes for chosen in itertools.combinations(of, size)]


def all_of(records: Iterable[Any], persons: int) -> list[tuple[Any, ...]]:
    """Every table of so many persons with these records."""
    return list(itertools.product(list(records), repeat=persons))


def all_graphs(nodes: str) -> list[frozenset[Any]]:
    """Every graph on these nodes, as its set of edges."""
    return subsets(frozenset(pair) for pair in itertools.combinations(nodes, 2))


WORDS = [None, "s", "t", "n"]
NUMBERS = [None, 0, 1, 2]
ROWS = [None, *(Row(x, y) for x in range(3) for y in range(2))]
MISSING_OR_SOMEWHERE = [None, *subsets("ab")[1:]]
"""Sets of facts where nobody is the record without facts: a table of visits."""

PRESENT_SETS = subsets("ab")
"""Sets of facts of people whose number is public: some were nowhere."""

UNITS: dict[str, Callable[[Event], tuple[str, ...]]] = {
    "person": lambda e: (e.person,),
    "person-day": lambda e: (e.person, e.day),
    "person-place": lambda e: (e.person, e.place),
    "event": lambda e: (e.person, e.day, e.place, e.time),
}
"""Which events belong to one unit: those with the same key."""


def all_events(persons: str, days: str, places: str, times: Iterable[str] = ("",)) -> list[Event]:
    """Every event there can be."""
    return [Event(*event) for event in itertools.product(persons, days, places, times)]


def by_unit(secrets: Sequence[frozenset[Event]], unit: str) -> list[tuple[Any, ...]]:
    """Sets of events told as tables with one record for each unit that any of them has: its events, or None."""
    key = UNITS[unit]
    keys = sorted({key(event) for secret in secrets for event in secret})
    found = []
    for secret in secrets:
        held: dict[tuple[str, ...], set[Event]] = {}
        for event in secret:
            held.setdefault(key(event), set()).add(event)
        found.append(tuple(frozenset(held[k]) if k in held else None for k in keys))
    return found


def spread(secret: frozenset[Event], fine: str, coarse: str) -> int:
    """In how many fine units one coarse unit has events, at most."""
    fine_of: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for event in secret:
        fine_of.setdefault(UNITS[coarse](event), set()).add(UNITS[fine](event))
    return max(map(len, fine_of.values()), default=0)


# ---- exact costs and shortest paths


def whole(cost: Cost) -> int:
    """A cost in multiples of 1/720."""
    if cost == math.inf:
        return NEVER
    parts = Fraction(cost) * PARTS
    assert parts.denominator == 1, f"{cost} is not a multiple of 1/{PARTS}"
    return int(parts)


def closed(steps: Matrix) -> Matrix:
    """Shortest paths, by Floyd's algorithm."""
    made = np.minimum(steps, NEVER)
    np.fill_diagonal(made, 0)
    for via in range(len(made)):
        np.minimum(made, made[:, via, None] + made[None, via, :], out=made)
    return np.minimum(made, NEVER)


def matrix(steps: Callable[[Any, Any], Cost], secrets: Sequence[Any]) -> Matrix:
    """The cost of a single step between any two secrets; NEVER where there is none."""
    return np.array([[0 if x == y else whole(steps(x, y)) for y in secrets] for x in secrets], dtype=np.int64)


def codes(column: Sequence[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The different things in a column, and which of them each is."""
    kinds = list(dict.fromkeys(column))
    place = {kind: code for code, kind in enumerate(kinds)}
    return kinds, np.array([place[entry] for entry in column], dtype=np.intp)


# ---- one neighbouring step, from whole secret to whole secret


def one_person(steps: Steps | Sequence[Steps], tables: Sequence[tuple[Any, ...]]) -> Matrix:
    """One person's record changes by a step (one function for everybody, or one for each person); no other record does."""
    persons = len(tables[0])
    each = [steps] * persons if callable(steps) else list(steps)
    assert len(each) == persons
    columns = [codes([table[person] for table in tables]) for person in range(persons)]
    differ = sum((which[:, None] != which[None, :]).astype(int) for _, which in columns)
    made = np.full((len(tables), len(tables)), NEVER, dtype=np.int64)
    for step, (kinds, which) in zip(each, columns, strict=True):
        costs = matrix(step, kinds)[np.ix_(which, which)]
        alone = (differ == 1) & (which[:, None] != which[None, :])
        made[alone] = costs[alone]
    return made


def of_units(promises: Iterable[tuple[Steps, str]], secrets: Sequence[frozenset[Event]]) -> Matrix:
    """One output keeps promises about several units: the shortest paths of the steps of all, each in tables of its unit."""
    each = [one_person(steps, by_unit(secrets, unit)) for steps, unit in promises]
    return closed(np.minimum.reduce(each))


def one_group(epsilon: Cost, groups: Sequence[Sequence[int]], tables: Sequence[tuple[Any, ...]]) -> Matrix:
    """All records of one group become any others, of as many people: nobody comes or goes."""

    def step(x: tuple[Any, ...], y: tuple[Any, ...]) -> Cost:
        changed = {i for i in range(len(x)) if x[i] != y[i]}
        stays = all((x[i] is None) == (y[i] is None) for i in changed)
        return epsilon if stays and any(changed <= set(group) for group in groups) else math.inf

    return matrix(step, tables)


def everybody(steps: Steps, tables: Sequence[tuple[Any, ...]]) -> Matrix:
    """Every record may change at once, each by a step: the dearest of them is paid for."""

    def step(x: tuple[Any, ...], y: tuple[Any, ...]) -> Cost:
        return max(steps(b, a) for b, a in zip(x, y, strict=True) if b != a)

    return matrix(step, tables)


def one_edge(epsilon: Cost, graphs: Sequence[frozenset[Any]]) -> Matrix:
    """One edge comes or goes."""
    return matrix(lambda x, y: epsilon if len(x ^ y) == 1 else math.inf, graphs)


def one_node(epsilon: Cost, graphs: Sequence[frozenset[Any]]) -> Matrix:
    """The edges at one node become any others."""
    nodes = frozenset().union(*(edge for graph in graphs for edge in graph))
    return matrix(lambda x, y: epsilon if any(all(n in e for e in x ^ y) for n in nodes) else math.inf, graphs)


def reversed_steps(steps: Steps) -> Steps:
    """Each step read the other way round."""
    return lambda r, s: steps(s, r)


def times(factor: Fraction | int, steps: Steps) -> Steps:
    """Each step at so many times its cost."""
    return lambda r, s: math.inf if steps(r, s) == math.inf else steps(r, s) * factor


def either(*several: Steps) -> Steps:
    """One output that keeps several promises: the steps of all, each at the least of its costs."""
    return lambda r, s: min(steps(r, s) for steps in several)


# ---- steps of single records that `tests.oracle.tables` does not have


def adp_with_absence(epsilon: Cost, policies: Sequence[Callable[[Any], bool]]) -> Steps:
    """As `tests.oracle.tables.adp`, where nobody is a record like any other."""
    return lambda r, s: epsilon if all(p(s) for p in policies if p(r)) else math.inf


def manhattan(rate: Cost, width: Cost | None) -> Steps:
    """``rate`` for each unit between two numbers; nobody is ``width`` from each, or not to be confused with any (None)."""

    def step(r: Any, s: Any) -> Cost:
        if r is None or s is None:
            return math.inf if width is None else rate * width
        return rate * abs(s - r)

    return step


def listed(costs: dict[tuple[Any, Any], Cost]) -> Steps:
    """The steps of a list, at the costs in it."""
    return lambda r, s: costs.get((r, s), math.inf)


# ---- what is claimed about them


def price(release: Matrix, budget: Matrix) -> Fraction | float:
    """The least c with release ≤ c·budget between any two secrets: 0/0 and ∞/∞ ask for nothing, a/0 and ∞/a for ∞."""
    asked = (budget < NEVER) & (release > 0)
    mine, theirs = release[asked], budget[asked]
    if (theirs == 0).any() or (mine >= NEVER).any():
        return math.inf
    largest = np.zeros(theirs.max(initial=0) + 1, dtype=np.int64)  # for each cost in the budget
    np.maximum.at(largest, theirs, mine)
    return max((Fraction(int(largest[b]), int(b)) for b in np.flatnonzero(largest)), default=Fraction(0))


def added(*distances: Matrix) -> Matrix:
    """What several answers promise together."""
    return np.minimum(sum(np.minimum(d, NEVER) for d in distances), NEVER)
