# SPDX-License-Identifier: Apache-2.0
"""Attack: groups that nobody has listed, names, scans of levels and decisions about groups, from tables to answers.

At a huge ε there is no noise, but that a group of one person is not shown: so each answer is what a few lines of Python say
about the rows.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leeward as lw
from leeward.errors import BoundExceededError
from leeward.query import Kind

DAY = dt.datetime(2024, 5, 1)
WORDS = ["a", "b", "ç", "A", "x" * 64, "x" * 65, "é" * 32, "é" * 33, "", " ", "0"]
WHOLE = [1, 2, -5, 2**62]
HEIGHTS = [-20.5, 0.0, 10.0, 22.5, 22.75, 50.0, 99.9, 100.0]


class World:
    """A table, as rows of who, group, kept, number and when; and which of them count."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.draw, self.folder = random.Random(seed), folder
        pick, n = self.draw.choice, self.draw.randint(5, 40)
        self.groups: list[Any] = pick([WORDS, WORDS, WHOLE])
        who, hours = [None, *range(n // 2)], [None, *range(30)]
        self.rows = [
            (pick(who), pick([None, *self.groups]), pick("yn"), pick([None, *HEIGHTS]), pick(hours)) for _ in range(n)
        ]
        self.keep = pick([None, None, {"kept": ["y"]}])
        first = self.draw.randint(0, 8)
        self.window = pick([None, (first, first + self.draw.randint(6, 30))])
        self.of_rows, self.combine = pick([True, False, False, False]), pick(["min", "max"])

    @property
    def table(self) -> Any:
        """The rows in one of the kinds of table that people have."""
        who, group, kept, height, hour = zip(*self.rows, strict=True)
        when = [None if h is None else DAY + dt.timedelta(hours=h) for h in hour]
        made = pa.table(
            {
                "who": pa.array(who, pa.int32()),
                "group": pa.array(group, pa.int64() if self.groups is WHOLE else pa.string()),
                "kept": list(kept),
                "height": pa.array(height, pa.float64()),
                "when": pa.array(when, pa.timestamp("us")),
            }
        )
        kind = self.draw.choice(["arrow", "parquet", "pandas", "polars", "duckdb"])
        if kind == "parquet":
            pq.write_table(made, self.folder / "t.parquet", row_group_size=7)
            return self.folder / "t.parquet"
        if kind == "duckdb":
            with duckdb.connect(self.folder / "t.duckdb") as file:
                file.execute("CREATE TABLE t AS SELECT * FROM made")
            return lw.query.Source(self.folder / "t.duckdb", table="t")
        frames = {"pandas": lambda: made.to_pandas(types_mapper=pd.ArrowDtype), "polars": lambda: pl.from_arrow(made)}
        return frames.get(kind, lambda: made)()

    def records(self, *, combined: bool) -> Any:
        """The table, described."""
        given: dict[str, Any] = {"person": "each row" if self.of_rows else "who", "keep": self.keep}
        given |= {"combine": self.combine} if combined and not self.of_rows else {}
        given |= {} if self.window is None else {"time": "when"}
        return lw.records(self.table, **given)

    @property
    def ends(self) -> dict[str, Any]:
        """The window, as questions take it."""
        if self.window is None:
            return {}
        start, end = (DAY + dt.timedelta(hours=h) for h in self.window)
        return {"start": start, "end": end}

    def counting(self) -> Iterator[tuple[Any, Any, float | None, int | None]]:
        """Who, group, number and hour of the rows that count."""
        for i, (who, group, kept, height, hour) in enumerate(self.rows):
            inside = self.window is None or (hour is not None and self.window[0] <= hour < self.window[1])
            if inside and (self.keep is None or kept == "y") and (self.of_rows or who is not None):
                yield i if self.of_rows else who, group, height, hour

    def in_first(self, listed: list[Any], numbers: bool) -> list[list[float]]:
        """Of each listed group, one number of everybody whose first listed group it is."""
        of_each: dict[Any, list[tuple[int, float]]] = defaultdict(list)
        for who, group, height, _ in self.counting():
            if group in listed and (height is not None or not numbers):
                of_each[who].append((listed.index(group), height or 0.0))
        found: list[list[float]] = [[] for _ in listed]
        for held in of_each.values():
            one = {"min": min, "max": max}[self.combine](height for _, height in held)
            found[min(place for place, _ in held)].append(one)
        return found

    def answers(self, plan: Any) -> dict[str, list[Any]]:
        """What a release of it says."""
        budget = lw.Budget(str(self.folder / "b.db"), dataset="d", cap="100000", cap_delta="1/2")
        made = lw.release(plan, budget, if_doubtful="publish", accept_useless=True)
        return made.answers.to_pydict()  # type: ignore[no-any-return]


SEEDS = pytest.mark.parametrize("seed", range(40))


@pytest.fixture
def world(seed: int, tmp_path: Path) -> World:
    return World(seed, tmp_path)


def some(world: World, most: int = 3) -> list[Any]:
    fit = [group for group in world.groups if not isinstance(group, str) or group.strip()]
    return world.draw.sample(fit, world.draw.randint(2, most))


@SEEDS
def test_groups_that_nobody_has_listed(world: World) -> None:
    most, pick = world.draw.choice([1000, 2]), world.draw.choice
    m, more = (1, "refuse") if world.of_rows else (pick([1, 2, 3]), pick(["refuse", "first"]))
    if not world.of_rows and world.window is not None:
        more = pick([more, "latest", "earliest"])
    held: dict[Any, dict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    for who, group, _, hour in world.counting():
        if group is not None and (world.groups is WHOLE or 1 <= len(group.encode()) <= 64):
            held[who][group].append(hour or 0)
    rules = {
        "latest": lambda groups: sorted(groups, key=lambda g: (-max(groups[g]), g)),
        "earliest": lambda groups: sorted(groups, key=lambda g: (min(groups[g]), g)),
    }
    counts = Counter(group for groups in held.values() for group in rules.get(more, sorted)(groups)[:m])
    asked = lw.unlisted_groups(
        world.records(combined=False), "group", groups_per_person=m, if_more=more, most_groups=most, **world.ends
    )
    notion = pick([lw.AdditionOnly, lw.UnboundedDP])("3000")
    plan = lw.plan(asked, notion, delta="1/1000")
    if more == "refuse" and any(len(groups) > m for groups in held.values()):
        with pytest.raises(BoundExceededError):
            world.answers(plan)
        return
    shown = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    answers = world.answers(plan)
    assert list(zip(answers["group"], answers["count"], strict=True)) == [pair for pair in shown if pair[1] > 1]


@SEEDS
def test_the_name_of_the_largest_group_or_the_smallest(world: World) -> None:
    listed, which = some(world, 4), world.draw.choice(["busiest", "quietest"])
    counts = [len(people) for people in world.in_first(listed, numbers=False)]
    asked = lw.statistic(world.records(combined=True), "histogram", by={"group": listed}, **world.ends)
    (name,) = world.answers(lw.plan(lw.select(asked, which), lw.UnboundedDP("5000")))["group"]  # type: ignore[call-overload]
    assert counts[listed.index(name)] == (max if which == "busiest" else min)(counts)


@SEEDS
def test_which_groups_are_safe(world: World) -> None:
    listed, most, stops = some(world), world.draw.randint(0, 4), world.draw.choice([None, 1, 2])
    asked = lw.statistic(world.records(combined=True), "histogram", by={"group": listed}, **world.ends)
    how: Any = {} if stops is None else {"mechanism": "sanitized", "stop_after": stops}
    decide = lw.Decide(safe_at_most=most)
    answers = world.answers(lw.plan(asked, lw.AdditionOnly("2000"), decide, **how))
    left, expected = stops or len(listed) + 1, list[str]()
    for people in world.in_first(listed, numbers=False):
        expected.append("safe" if len(people) <= most and left else "obscure")
        left -= left > 0 and len(people) > most
    assert answers["state"] == expected


@SEEDS
def test_how_far_down_levels_are_safe(world: World) -> None:
    listed, most = some(world), world.draw.randint(0, 3)
    levels = sorted(world.draw.sample([0.0, 10.0, 22.5, 50.0, 75.0, 100.0], 3))
    above = Kind("above", levels=[f"{level:g}" for level in levels])
    records, grouped = world.records(combined=True), {"by": {"group": listed}, **world.ends}
    asked = lw.statistic(records, above, column="height", **grouped)
    plan = lw.plan(asked, lw.AdditionOnly("2000"), lw.Decide(safe_at_most=most), what="counts")
    expected = list[tuple[str, int | None]]()
    for heights in world.in_first(listed, numbers=True):
        stopped = False
        for level in levels[::-1]:
            over = sum(height > level for height in heights)
            expected.append(("safe", None) if over <= most and not stopped else ("obscure", None if stopped else over))
            stopped |= over > most
    answers = world.answers(plan)
    assert list(zip(answers["state"], answers["count"], strict=True)) == expected
