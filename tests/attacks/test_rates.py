# SPDX-License-Identifier: Apache-2.0
"""An attack on rates: percentiles by rank under notions that measure, and counts by several columns under policies.

Both oracles know the question and the promise only: how losses and counts are made is written down here anew, the law of
permute-and-flip in closed form, and every ordered pair of records is gone through.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.errors import LeewardError
from leeward.notion import ABSENT, Notion, ValueGrid
from leeward.notion._metric import Manhattan, NormalisedManhattan
from leeward.planner._rank_plan import plan_rank

WIDTH = 2
Table = list[tuple[str, int]]


def losses(p: Fraction, counts: tuple[int, ...]) -> list[Fraction]:
    """How many people each grid point is off the percentile."""
    more = sum(counts) - 1
    return [
        max(sum(counts[:z]) - p * more, sum(counts[z + 1 :]) - (1 - p) * more) for z in range(len(counts))
    ]  # fmt: skip


def law(rate: float, lost: list[Fraction]) -> list[float]:
    """Permute-and-flip: a point is named with a·Σ (−1)^|S|·∏ a_j/(|S| + 1) over sets S of the others."""
    accepted = [math.exp(-rate * float(one - min(lost))) for one in lost]
    found = []
    for at, own in enumerate(accepted):
        others = accepted[:at] + accepted[at + 1 :]
        sets = ((n, each) for n in range(len(others) + 1) for each in itertools.combinations(others, n))
        found.append(own * sum((-1) ** n * math.prod(each) / (n + 1) for n, each in sets))
    assert abs(sum(found) - 1) < 1e-9
    return found


@functools.cache
def apart(rate: float, p: Fraction, x: tuple[int, ...], y: tuple[int, ...]) -> float:
    """How far one answer tells two lists of numbers apart at most: a logarithm."""
    pairs = zip(law(rate, losses(p, x)), law(rate, losses(p, y)), strict=True)
    return max(math.log(one / other) for one, other in pairs)


def told_apart(rate: float, ps: list[str], groups: list[str], x: Table, y: Table) -> float:
    """The same for all groups and percentiles: their noise is independent."""
    counts = [[tuple(table.count((group, v)) for v in range(WIDTH + 1)) for table in (x, y)] for group in groups]
    return sum(apart(rate, Fraction(p) / 100, *two) for two in counts for p in ps)


NOTIONS: dict[str, Any] = {
    "in steps of 1": lambda grid, nobody: Manhattan("1", grid, unit="1", nobody=nobody),
    "in steps of 2": lambda grid, nobody: Manhattan("1", grid, unit="2", nobody=nobody),
    "of the width": lambda grid, nobody: NormalisedManhattan("1", grid, nobody=nobody),
}
UNITS = {"in steps of 1": 1, "in steps of 2": 2, "of the width": WIDTH}


@pytest.mark.parametrize("name", NOTIONS)
@pytest.mark.parametrize("groups", [["all"], ["a"], pytest.param(["a", "b"], marks=pytest.mark.sweep)])
@pytest.mark.parametrize(
    "ps",
    [
        ["25", "50", "75"],
        *(pytest.param(ps, marks=pytest.mark.sweep) for ps in (["50"], ["10", "90"], ["0", "100"], ["33.3", "34"])),
    ],
)
def test_percentiles_under_closeness_are_private_for_every_pair(name: str, groups: list[str], ps: list[str]) -> None:
    grouped: dict[str, Any] = {} if groups == ["all"] else {"by": "g", "groups": groups}
    for people in (None, 3) if not grouped else (None,):
        notion = NOTIONS[name](ValueGrid("0", str(WIDTH), "1"), people is None)
        table = lw.records("t.csv", person="who")
        asked = {"lower": "0", "upper": str(WIDTH), "p": ps if len(ps) > 1 else ps[0], "people": people, **grouped}
        rate = float(plan_rank(statistic_by(table, "percentile", column="n", **asked), notion).mechanism.rate)
        worst = 0.0
        full = [(group, v) for group in [*groups, *(["elsewhere"] if grouped else [])] for v in range(WIDTH + 1)]
        records = [*full, *([] if people else [None])]
        for n in (2,) if people else (0, 1, 2):
            for rest in itertools.combinations_with_replacement(full, n):
                for x, y in itertools.permutations(records, 2):
                    far = WIDTH if x is None or y is None or x[0] != y[0] else abs(x[1] - y[1])
                    tables = ([*rest, *([] if each is None else [each])] for each in (x, y))
                    worst = max(worst, told_apart(rate, ps, groups, *tables) * UNITS[name] / far)
                    assert worst <= 1 + 1e-9, (rest, x, y)
        assert worst > 0.5, "twice the rate would not be private"


COLUMNS: dict[str, list[Any]] = {
    "age": [-1, 0, 4, 5, 9, 10, None], "sex": ["f", "m", "x", None], "diag": ["flu", "ok", None]
}  # fmt: skip
ROWS = [dict(zip(COLUMNS, values, strict=True)) for values in itertools.product(*COLUMNS.values())]


def cell(row: dict[str, Any] | None, by: dict[str, Any], keep: dict[str, Any], others: str | None) -> Any:
    """Where a row is counted: in a combination, in ``others``, or nowhere; beyond the bounds in the outer intervals."""
    if row is None or any(row[column] not in values for column, values in keep.items()):
        return None
    at = [
        (None if row["age"] is None else min(max(row["age"], 0), 9) // 5) if column == "age"
        else row[column] if row[column] in values else None
        for column, values in by.items()
    ]  # fmt: skip
    return others if None in at else tuple(at)


def policies(rng: random.Random) -> list[Any]:
    """One or two propositions about the columns that are no numbers."""
    found = []
    for _ in range(rng.choice([1, 1, 2])):
        column = rng.choice(["sex", "diag"])
        known = [value for value in COLUMNS[column] if value is not None]
        stated = lw.notion.where(column, one_of=rng.sample(known, rng.randint(1, len(known))))
        found.append(~stated if rng.random() < 0.4 else stated)
    return found


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.sweep) for block in range(1, 40))])
def test_counts_by_columns_intervals_and_others_are_private_for_every_pair_of_rows(block: int) -> None:
    rng, planned, is_tight = random.Random(f"policies {block}"), 0, False
    choices: dict[str, list[Any]] = {
        "age": [{"lower": "0", "upper": "10", "step": "5"}],
        "sex": [["f"], ["f", "m"], ["m", "x"]],
        "diag": [["flu"], ["flu", "ok"]],
    }
    while planned < 3:
        by = {column: rng.choice(choices[column]) for column in rng.sample([*choices], rng.choice([1, 2, 2, 3]))}
        keep = rng.choice([{}, {}, {"sex": ["f", "m"]}, {"diag": ["flu"]}])
        others = rng.choice([None, "rest"])
        notion: Notion = rng.choice(
            [
                lw.ADP("1", policies(rng), absent_too=rng.random() < 0.5),
                lw.OSDP("1", policies(rng)[0]),
                *(kind("1") for kind in (lw.AdditionOnly, lw.RemovalOnly, lw.UnboundedDP, lw.BoundedDP)),
            ]
        )
        try:
            table = lw.records("t.csv", person="each row", keep=keep or None)
            made = lw.plan(lw.statistic(table, "count", by=lw.query.Groups(by, others=others)), notion)
        except LeewardError:
            continue
        planned += 1
        line = made.parts[0].line  # type: ignore[union-attr]
        for x, y in itertools.permutations([None, *ROWS], 2):
            before, after = (cell(row, by, keep, others) for row in (x, y))
            if before != after:
                spent = (line.rise if after is not None else 0) + (line.fall if before is not None else 0)
                allowed = notion.record(*(ABSENT if row is None else row for row in (x, y)))
                assert spent <= allowed, (notion, by, keep, others, x, y)
                is_tight = is_tight or spent == allowed
    assert is_tight, "a greater rate would not be private"
