"""What promises combined at will, conditions and laws mean, from their definitions: for the attacks.

A promise is described by a tuple, such as ``("both", ("addition", 1), ("adp", 2, [("has", "a")], False))``; `steps` gives
what one person's change of record costs under it, ∞ for no step. Records are sets of facts, rows (dicts), or None: nobody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

INF = math.inf
Step = Callable[[Any, Any], Any]


def is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction) and value == value


def holds(condition: tuple[Any, ...], record: Any) -> bool:
    """Whether a described condition holds; nobody and missing values satisfy no atom."""
    kind = condition[0]
    if kind == "not":
        return not holds(condition[1], record)
    if kind in {"and", "or"}:
        both = [holds(part, record) for part in condition[1:]]
        return all(both) if kind == "and" else any(both)
    if record is None:
        return False
    if kind == "has":
        return condition[1] in record
    value = record[condition[1]]
    if kind == "among":
        return any(type(value) is type(v) is str and value == v for v in condition[2]) or any(
            is_number(value) and is_number(v) and value == v for v in condition[2]
        )
    least, most = condition[2:]
    return is_number(value) and (least is None or value >= least) and (most is None or value <= most)


def _facts(record: Any) -> frozenset[Any]:
    return frozenset() if record is None else frozenset(record)


def step(promise: tuple[Any, ...]) -> Step:
    """The cost of one step of one person under a promise that is the same for everybody."""
    kind, e = promise[0], promise[1]
    if kind == "both":
        one, two = step(promise[1]), step(promise[2])
        return lambda r, s: min(one(r, s), two(r, s))
    if kind == "scaled":
        of = step(promise[2])
        return lambda r, s: of(r, s) * e
    there: Mapping[str, Step] = {
        "unbounded": lambda r, s: e if (r is None) != (s is None) else INF,
        "bounded": lambda r, s: e if r is not None and s is not None else INF,
        "replace": lambda r, s: e,
        "addition": lambda r, s: e if s is None else INF,
        "removal": lambda r, s: e if r is None else INF,
        "presence": lambda r, s: e if _facts(s) <= _facts(r) else INF,
    }
    if kind in there:
        return there[kind]
    if kind == "graded":
        up = promise[2]
        return lambda r, s: max(e if _facts(r) - _facts(s) else 0, up if _facts(s) - _facts(r) else 0)
    if kind == "facts":
        up = promise[2]
        return lambda r, s: (
            e * len(_facts(r) - _facts(s)) + (up * len(_facts(s) - _facts(r)) if _facts(s) - _facts(r) else 0)
        )
    if kind == "adp":
        policies, absent = promise[2], promise[3]
        return lambda r, s: (
            e
            if (absent or (r is not None and s is not None)) and all(holds(p, s) or not holds(p, r) for p in policies)
            else INF
        )
    if kind == "osdp":
        hidden, reading = promise[2], promise[3]
        return lambda r, s: (
            e
            if r is not None and s is not None and holds(hidden, r) and (reading == "any" or not holds(hidden, s))
            else INF
        )
    listed = promise[2]
    return lambda r, s: e * listed.get((r, s), INF)


def largest(promise: tuple[Any, ...]) -> Any:
    """The ε by which a promise is called: the largest finite price in it."""
    kind = promise[0]
    if kind == "both":
        return max(largest(promise[1]), largest(promise[2]))
    if kind == "scaled":
        return promise[1] * largest(promise[2])
    finite = [p for p in promise[1:3] if is_number(p)] if kind in {"graded", "facts"} else [promise[1]]
    return max(finite)


def steps(promise: tuple[Any, ...]) -> list[Step]:
    """The steps of each of two persons."""
    if promise[0] != "each":
        return [step(promise)] * 2
    one, whole = step(promise[1]), largest(promise[1])
    return [lambda r, s, e=e: one(r, s) * e / whole for e in promise[2]]


def closed(one: Step, records: Sequence[Any]) -> list[list[Any]]:
    """Shortest paths over these records."""
    n = range(len(records))
    far = [[0 if i == j else one(records[i], records[j]) for j in n] for i in n]
    for k in n:
        onwards = [(j, cost) for j, cost in enumerate(far[k]) if cost != INF]
        for row in far:
            if (first := row[k]) != INF:
                for j, cost in onwards:
                    if first + cost < row[j]:
                        row[j] = first + cost
    return far


def price(mine: Sequence[Step], other: Sequence[Step], records: Sequence[Any]) -> Any:
    """The least c with d ≤ c·d' for each of the persons."""
    least: Any = 0
    for one, two in zip(mine, other, strict=True):
        for ours, theirs in zip(closed(one, records), closed(two, records), strict=True):
            for a, b in zip(ours, theirs, strict=True):
                if b == INF or a == 0:
                    continue
                least = INF if a == INF or b == 0 else max(least, Fraction(a) / Fraction(b))
                if least == INF:
                    return INF
    return least


def broken(
    promise: tuple[Any, ...],
    value: Callable[[Any], Sequence[int]],
    records: Sequence[Any],
    rise: Any,
    fall: Any,
    *,
    far: Sequence[list[list[Any]]] | None = None,
    each: bool = False,
) -> tuple[Any, Any] | None:
    """A pair of records whose move costs more, at these noise rates, than what is promised about it; None if there is none.

    What is promised is the cheapest way over all records there are, which may be more than these: ``far`` tells it, between
    these, for each person.
    """
    far = [closed(one, records) for one in steps(promise)] if far is None else far
    values = [value(record) for record in records]
    for one in far:
        for i, j in itertools.permutations(range(len(records)), 2):
            r, s, before, after, cost = records[i], records[j], values[i], values[j], one[i][j]
            if cost == INF:
                continue
            moves = [
                (rise * max(b - a, 0) if b > a else 0) + (fall * max(a - b, 0) if a > b else 0)
                for a, b in zip(before, after, strict=True)
            ]
            if (max(moves) if each else sum(moves)) > cost:
                return r, s
    return None


def hockey_stick(p: Mapping[Any, float], q: Mapping[Any, float], epsilon: float) -> float:
    """Σ max(P − e^ε·Q, 0): the δ that ε needs from P to Q."""
    return sum(max(p.get(z, 0.0) - math.exp(epsilon) * q.get(z, 0.0), 0.0) for z in p)


def geometric(up: float, down: float, centre: int, top: int) -> dict[int, float]:
    """The law of centre + two-sided geometric noise, clamped to 0 … top: the outcomes beyond show nothing more."""
    a, b = math.exp(-up), math.exp(-down)  # 0 for ∞
    law = dict.fromkeys(range(top + 1), 0.0)
    for k in range(-2000, 2001):
        chance = (1 - a) * (1 - b) / (1 - a * b) * (a**k if k >= 0 else b**-k)
        law[min(max(centre + k, 0), top)] += chance
    return law


def beside(*laws: Mapping[Any, float]) -> dict[Any, float]:
    """Independent answers together."""
    made: dict[Any, float] = {(): 1.0}
    for law in laws:
        made = {(*z, y): p * q for z, p in made.items() for y, q in law.items() if p * q > 0}
    return made
