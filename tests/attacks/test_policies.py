"""Attack: policies over rows, through a whole plan: groups by one or two columns, a filter, a group of all others.

The oracle goes through all pairs of rows (or absence) that the promise is about, and adds up what the noise of the plan
says of the answers to both. It knows neither sensitivities nor which records stand for others.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import leeward as lw
from leeward.errors import InputError, NotPrivateError

Row = tuple[Any, Any] | None
Says = Callable[[Row], bool]
ROWS = list(itertools.product(["a", "b", "c", None], ["u", "v", None]))
TABLE = pa.table({"x": ["a"], "y": ["u"]})


def proposition(draw: random.Random, depth: int = 1) -> tuple[Any, Says]:
    """A condition, and what it says of a row; nobody has nothing in any column."""
    if depth and draw.random() < 0.4:
        (one, says_one), (other, says_other) = (proposition(draw, 0) for _ in range(2))
        if draw.random() < 0.5:
            return one & other, lambda row: says_one(row) and says_other(row)
        return one | other, lambda row: says_one(row) or says_other(row)
    at = draw.randrange(2)
    values = draw.sample([["a", "b", "c"], ["u", "v"]][at], draw.choice([1, 2]))
    made, says = lw.where("xy"[at], one_of=values), lambda row: row is not None and row[at] in values
    return (~made, lambda row: not says(row)) if draw.random() < 0.3 else (made, says)


def promise(draw: random.Random) -> tuple[Any, Callable[[Row, Row], float], list[Row]]:
    """A notion, the most that it allows for a pair of rows, and all rows."""
    kind = draw.choice(["adp", "adp, absent too", "osdp", "osdp by others", "both"])
    policies = [proposition(draw) for _ in range(draw.choice([1, 2]))]
    sensitive, says = proposition(draw)
    absent = kind == "adp, absent too"

    def keeps(before: Row, after: Row) -> bool:
        return all(holds(after) or not holds(before) for _, holds in policies)

    adp = lw.ADP("1", [made for made, _ in policies], absent_too=absent)
    if kind.startswith("adp"):
        return adp, lambda b, a: 1 if keeps(b, a) else math.inf, [*ROWS, *([None] if absent else [])]
    if kind == "both":
        both: Any = lw.both_hold(adp, lw.OSDP("2", sensitive))
        return both, lambda b, a: 1 if keeps(b, a) else 2 if says(b) else math.inf, [*ROWS]
    any_other = kind == "osdp"
    made = lw.OSDP("1", sensitive, "any" if any_other else "non-sensitive")
    return made, lambda b, a: 1 if says(b) and (any_other or not says(a)) else math.inf, [*ROWS]


def asked(draw: random.Random) -> tuple[Any, Callable[[Row], list[int]]]:
    """A count of rows in groups, and what one row adds to it."""
    by, others = draw.choice(["x", "y", "xy"]), draw.random() < 0.4
    lists = {column: draw.sample({"x": ["a", "b"], "y": ["u", "v"]}[column], draw.choice([1, 2])) for column in by}
    keep = draw.choice([{}, {}, {"y": ["u"]}, {"x": ["a", "c"]}, {"y": ["u", "v"]}])
    groups = list(itertools.product(*lists.values()))
    source = lw.records(TABLE, person="each row", keep=keep)
    query = lw.statistic(source, "count", by=lw.query.Groups(lists, others="rest" if others else None))

    def adds(row: Row) -> list[int]:
        of = {} if row is None else dict(zip("xy", row, strict=True))
        if not of or any(of[column] not in allowed for column, allowed in keep.items()):
            return [0] * (len(groups) + others)
        key = tuple(of[column] for column in by)
        return [int(key == group) for group in groups] + [int(key not in groups)] * others

    return query, adds


def loss(line: Any, before: list[int], after: list[int]) -> float:
    steps = [b - a for a, b in zip(before, after, strict=True)]
    return float(sum(float(line.rise if step > 0 else line.fall) for step in steps if step))


@pytest.mark.parametrize("seed", range(2))
def test_no_two_rows_are_told_apart_by_more_than_a_policy_allows(seed: int) -> None:
    draw, apart = random.Random(seed), 0
    for _ in range(12):
        (query, adds), (notion, most, rows) = asked(draw), promise(draw)
        pairs = [(b, a) for b, a in itertools.permutations(rows, 2) if most(b, a) < math.inf and adds(b) != adds(a)]
        try:
            line = lw.plan(query, notion).parts[0].line
        except (InputError, NotPrivateError):  # no step of the notion changes the answer
            assert not pairs
            continue
        assert all(loss(line, adds(b), adds(a)) <= most(b, a) + 1e-9 for b, a in pairs), (notion, query)
        apart += len(pairs)
    assert apart > 100
