"""What the inequalities in statements say: for each text, the pairs of tables it is about and the factor of each.

Written from the texts alone; nothing is asked of the package's notions. Tables are tuples of one record a person, None for
nobody. A record of visits is the tuple of the places somebody was at, in the order of their visits; a record of a number is
a pair (group, number).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

Table = tuple[Any, ...]
Pairs = Iterator[tuple[Table, Table, float]]
"""The truth, its cover, and by what ε is multiplied (or, where ``ε`` itself is told in the text, ε)."""


def one_person(tables: Sequence[Table], allowed: Callable[[Any, Any], float | None]) -> Pairs:
    """All pairs of tables that differ in one person whose change is allowed; the factor is what ``allowed`` says."""
    known = set(tables)
    records = {record for table in tables for record in table}
    for table in tables:
        for i, before in enumerate(table):
            for after in records - {before}:
                factor = allowed(before, after)
                cover = (*table[:i], after, *table[i + 1 :])
                if factor is not None and cover in known:
                    yield table, cover, factor


def facts(record: Any) -> frozenset[Any]:
    return frozenset() if record is None else frozenset(record)


def _if(condition: bool, factor: float = 1.0) -> float | None:
    return factor if condition else None


PLAIN: dict[str, Callable[[Any, Any], float | None]] = {
    "Pr[answer | with a person's records] ≤ e^ε · Pr[answer | without them]": lambda r, s: _if(s is None),
    "Pr[answer | without a person's records] ≤ e^ε · Pr[answer | with them]": lambda r, s: _if(r is None),
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one person added or removed]": lambda r, s: _if(
        (r is None) != (s is None)
    ),
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one person's record replaced by any other]": lambda r, s: _if(
        r is not None and s is not None
    ),
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one person added, removed or replaced]": lambda r, s: 1.0,
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with some of one person's visits to listed places removed]": lambda r, s: (
        _if(facts(s) < facts(r))
    ),
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with some facts about one person taken away]": lambda r, s: _if(
        facts(s) < facts(r)
    ),
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with some facts about one person invented]": lambda r, s: _if(
        facts(r) < facts(s)
    ),
    "Pr[report | record] ≤ e^ε · Pr[report | any other record]": lambda r, s: _if(r is not None and s is not None),
}

GRADED = re.compile(
    r"Pr\[answer \| data\] ≤ e\^c · Pr\[answer \| data with the facts about one person changed\], where c is"
    r" ε_presence = (?P<presence>\S+) if facts are only taken away, ε_absence = (?P<absence>\S+) if they are only"
    r" invented, the larger of both otherwise"
)
FACTS = re.compile(
    r"Pr\[answer \| data\] ≤ e\^\((ε_presence·w)?( \+ )?(ε_absence·i)?\) · Pr\[answer \| data with (w facts taken away)?"
    r"( and )?(i facts invented)?\], where (ε_presence = (?P<presence>\S+))?( and )?(ε_absence = (?P<absence>\S+))?"
)
METRIC = re.compile(
    r"Pr\[answer \| data\] ≤ e\^\(ε·c\) · Pr\[answer \| data changed\], c = (?P<total>the sum of all changes of values|the"
    r" largest change of any value) / (?P<unit>\S+)( \S+)?"
)
POLICIES = (
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one record r replaced by r'], for all r, r' such that every policy that"
    " holds for r holds for r'"
)
MASKED = re.compile(
    r"Pr\[answer \| data\] ≤ e\^ε · Pr\[answer \| data with one sensitive record replaced by any (?P<alternative>.+)\]"
)
GROUPS = "Pr[answer | data] ≤ e^ε · Pr[answer | data with all records of one group replaced by any others]"


def number(text: str) -> float:
    return math.inf if text == "inf" else float(Fraction(text))


def pairs(definition: str, world: Any, epsilon: float) -> Pairs:
    """Yield the pairs of tables that an inequality is about, and the most that its log-ratio may be.

    Raises:
        KeyError: if the text is not known.
    """
    tables = world.tables
    if found := re.search(r"e\^\((\S+)·ε\)", definition):  # one of two promises, told in the ε of both
        parts = definition.split("; and ")
        for part in parts:
            share = re.search(r"e\^\((\S+)·ε\)", part)
            plain = part.replace(share[0], "e^ε") if share else part
            yield from pairs(plain, world, epsilon * (number(share[1]) if share else 1.0))
        return
    if "; and " in definition:
        for part in definition.split("; and "):
            yield from pairs(part, world, epsilon)
        return
    if found := GRADED.fullmatch(definition):
        low, high = number(found["presence"]), number(found["absence"])

        def price(r: Any, s: Any) -> float | None:
            gone, new = facts(r) - facts(s), facts(s) - facts(r)
            cost = max(low, high) if gone and new else low if gone else high
            return _if(bool(gone or new) and not math.isinf(cost), cost)

        yield from one_person(tables, price)
    elif found := FACTS.fullmatch(definition):
        low, high = (math.inf if found[side] is None else number(found[side]) for side in ("presence", "absence"))
        for x, y in itertools.permutations(tables, 2):
            gone = sum(len(facts(r) - facts(s)) for r, s in zip(x, y, strict=True))
            new = sum(len(facts(s) - facts(r)) for r, s in zip(x, y, strict=True))
            cost = (low * gone if gone else 0) + (high * new if new else 0)
            if not math.isinf(cost):
                yield x, y, cost
    elif found := METRIC.fullmatch(definition):
        for x, y in itertools.permutations(tables, 2):
            moves = [world.apart(r, s) for r, s in zip(x, y, strict=True)]
            total = sum(moves) if "sum" in found["total"] else max(moves)
            if not math.isinf(total):
                yield x, y, epsilon * total / number(found["unit"])
    elif definition == POLICIES:
        for x, y, factor in one_person(tables, lambda r, s: _if(world.keeps(r, s))):
            yield x, y, epsilon * factor
    elif found := MASKED.fullmatch(definition):
        narrow = found["alternative"] == "record that is not sensitive"
        assert narrow or found["alternative"] == "other record"
        for x, y, factor in one_person(
            tables, lambda r, s: _if(None not in (r, s) and world.sensitive(r) and not (narrow and world.sensitive(s)))
        ):
            yield x, y, epsilon * factor
    elif definition == GROUPS:
        for x, y in itertools.permutations(tables, 2):
            present = [(r is None) == (s is None) for r, s in zip(x, y, strict=True)]
            changed = {world.group_of(i) for i, (r, s) in enumerate(zip(x, y, strict=True)) if r != s}
            if all(present) and len(changed) == 1:
                yield x, y, epsilon
    else:
        each = definition.removesuffix(", each person at an ε of their own, at most ε")
        if (each != definition) != bool(world.own):
            raise ValueError(
                f"{definition!r} is said where people have {'an ε of their own' if world.own else 'one ε'}"
            )
        for x, y, factor in one_person(tables, PLAIN[each]):
            person = next(i for i, (r, s) in enumerate(zip(x, y, strict=True)) if r != s)
            share = world.own[person] / max(world.own) if world.own else 1.0
            yield x, y, epsilon * share * factor
