"""Counts above levels against an oracle that reads every number as the fraction it is written as."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.engine import open_data, read_keys


def counted(frame: pd.DataFrame | pa.Table, **asked: Any) -> list[int]:
    query: Any = statistic_by(lw.records(frame, person="each row"), "above", column="v", **asked)
    with open_data(query, read_keys(query)) as table:
        return table.count(query).counts.tolist()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_above_a_level_or_they_are_not(seed: int) -> None:
    draw = random.Random(seed)
    levels = sorted(
        {Fraction(draw.randrange(-40, 400), draw.choice([1, 1, 2, 4, 10])) for _ in range(draw.randrange(1, 7))}
    )
    near = [float(level) + shift for level in levels for shift in (0, 0.25, -0.25, 1e-6, -1e-6)]
    values = [draw.choice([*near, draw.randrange(-60, 500) / 8, 1e9, -1e9]) for _ in range(300)] + [float("nan")] * 5
    kinds: list[tuple[Any, list[Any]]] = [("float64", values), ("str", [repr(v) for v in values if v == v])]
    whole = [int(v) for v in values if v == v]
    kinds.append(("int64", whole))
    for kind, column in kinds:
        group = [draw.choice("abz") for _ in column]
        frame = pd.DataFrame({"v": pd.Series(column, dtype=kind), "g": group})
        exact = [None if str(v) == "nan" else Fraction(str(v)) for v in column]
        one = [sum(x is not None and x > level for x in exact) for level in reversed(levels)]
        assert counted(frame, levels=[str(level) for level in levels]) == one, (kind, levels)
        two = [
            sum(x is not None and x > level and g == name for x, g in zip(exact, group, strict=True))
            for name in "ab" for level in reversed(levels)
        ]  # fmt: skip
        assert counted(frame, levels=[str(level) for level in levels], by="g", groups=["a", "b"]) == two, (kind, levels)


_LAST = {10**e: [f"{sign}1e-{13 - e}" for sign in "+-"] for e in range(1, 14)}
"""By how much a number of 15 digits differs from a level at least, by the size of levels."""


@pytest.mark.parametrize("seed", range(8))
def test_a_number_is_above_a_level_by_its_last_digit(seed: int) -> None:
    """A number beside a level, at any size: a float by its last bit, a decimal or a text by any of its fifteen digits.

    Nine places were too few: a hundred rows of 40.0000000004 were certainly not above 40. The same for intervals.
    """
    draw = random.Random(seed)
    size = 10 ** draw.randrange(1, 14)
    steps = sorted(draw.sample(range(1, 90), 5))
    levels = [Fraction(step * size, 100) for step in steps]
    beside = [math.nextafter(float(z), way) for z in levels for way in (-math.inf, math.inf)] + list(map(float, levels))
    written = [Decimal(f"{float(z):.15g}") + Decimal(sign) for z in levels for sign in (0, *_LAST[size])]
    for kind, column in (
        ("float", pa.array(beside)),
        ("decimal", pa.array(written, pa.decimal128(30, 14))),
        ("text", pa.array(map(str, written))),
    ):
        exact = [
            Fraction(repr(v)) if kind == "float" else Fraction(v) for v in (beside if kind == "float" else written)
        ]
        table = pa.table({"v": column})
        above = counted(table, levels=[str(level) for level in levels])
        assert above == [sum(x > z for x in exact) for z in reversed(levels)], kind
        bins: Any = lw.statistic(
            lw.records(table, person="each row"), "histogram", column="v", lower=0, upper=size, step=f"{size}/100"
        )
        with open_data(bins, read_keys(bins)) as opened:
            found = opened.count(bins).counts.tolist()  # type: ignore[attr-defined]
        assert found == [sum(i == math.floor(x * 100 / size) for x in exact) for i in range(100)], kind


def test_the_public_keys_come_from_the_highest_level_down(tmp_path: Path) -> None:
    frame = pd.DataFrame({"v": [1, 5, 9], "g": ["a", "a", "b"]})
    query: Any = lw.statistic(
        lw.records(frame, person="each row"), "above", column="v", lower=2, upper=8, step=3, by={"g": ["a", "b"]}
    )
    keys = read_keys(query)
    with open_data(query, keys) as table:
        survey = table.survey(query)
    assert survey.beyond is None  # of levels nothing is beyond a bound
    assert keys.to_arrow().to_pylist() == [{"group": g, "above": z} for g in "ab" for z in (8, 5, 2)]
    other: Any = lw.statistic(
        lw.records(frame, person="each row"), lw.query.Kind("above", levels=[2, 8]), column="v", by={"g": ["a", "b"]}
    )
    same: Any = lw.statistic(
        lw.records(frame, person="each row"),
        lw.query.Kind("above", levels=["2", "5", "8"]),
        column="v",
        by={"g": ["a", "b"]},
    )
    assert keys.digest() == read_keys(same).digest() != read_keys(other).digest()
    assert counted(frame, levels=[2, 5, 8], by="g", groups=["a", "b"]) == [0, 0, 1, 1, 1, 1]


def test_the_release_says_above_which_level_few_are_for_certain(tmp_path: Path) -> None:
    """At ε = 40 the noise is 0 but for a chance of e^-40."""
    frame = pd.DataFrame({"v": [*range(100)] * 2, "g": ["a"] * 100 + ["b"] * 100})
    frame.loc[frame.g == "b", "v"] = frame.v // 2
    query: Any = lw.statistic(
        lw.records(frame, person="each row"),
        lw.query.Kind("above", levels=[20, 40, 60, 80, 95]),
        column="v",
        by={"g": ["a", "b", "c"]},
    )
    budget = lw.Budget(f"sqlite:///{tmp_path}/b.db", dataset="numbers", cap="100")
    result = lw.release(lw.plan(query, lw.AdditionOnly("40"), lw.Decide(safe_at_most=12)), budget)
    assert result.curator.charged == "40"
    said = {
        (row["group"], row["above"]): (row["state"], row["answered"], row["count"])
        for row in result.answers.to_pylist()
    }
    assert said["a", 95] == ("safe", True, None)
    assert said["a", 80] == ("obscure", True, 19)
    assert said["a", 60] == said["b", 20] == ("obscure", False, None)
    assert [said["b", z][0] for z in (95, 80, 60, 40)] == ["safe"] * 3 + ["obscure"]
    assert said["b", 40][2] == 18
    assert {said["c", z] for z in (95, 80, 60, 40, 20)} == {("safe", True, None)}
    result.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "At most 12 rows have a ‘v’ above 95 in ‘a’, above 60 in ‘b’, above 20 in ‘c’: certain" in page
    assert (
        "certain of the lowest level that is called safe in each group: at most 12 rows are above the level among those"
        in page
    )


def test_where_not_all_rows_of_a_person_count_the_headline_says_so(tmp_path: Path) -> None:
    """Of one person's rows the least counts: a bound on how many have it above a level says nothing of their other rows."""
    frame = pd.DataFrame({"who": ["p", "p", "q"], "v": [1, 9, 2]})
    found = {}
    for combine, least in (("min", 0), ("max", 1)):
        people = lw.records(frame, person="who", combine=combine)  # type: ignore[arg-type]
        query: Any = lw.statistic(people, lw.query.Kind("above", levels=[5]), column="v")
        budget = lw.Budget(f"sqlite:///{tmp_path}/{combine}.db", dataset="numbers", cap="100")
        result = lw.release(lw.plan(query, lw.AdditionOnly("40"), lw.Decide(safe_at_most=least)), budget)
        assert result.answers["state"].to_pylist() == ["safe"]
        result.save(tmp_path / combine)
        found[combine] = (tmp_path / combine / "report.html").read_text()
    assert "Nobody has a ‘v’ above 5, as they are counted: certain" in found["min"]
    assert "‘Safe’ is never wrong, of people who are each counted once with the least of their numbers." in found["min"]
    assert "At most 1 person has a ‘v’ above 5: certain" in found["max"]


@pytest.mark.parametrize(
    ("groups", "title"),
    [
        (
            ["a", "b"],
            "At most 1 row has a ‘v’ above 2 in ‘b’: certain among those counted. Of ‘a’ no level can be called safe",
        ),
        (["a"], "Of no level it is said that at most 1 row has a ‘v’ above it"),
        (["b"], "At most 1 row has a ‘v’ above 2 in ‘b’: certain among those counted"),
    ],
)
def test_the_headline_leaves_out_groups_of_which_nothing_is_certain(
    tmp_path: Path, groups: list[str], title: str
) -> None:
    """Five rows of 'a' are above all levels, and nobody of 'b' is above the lowest; at so large an ε noise is 0."""
    frame = pd.DataFrame({"g": ["a"] * 5 + ["b"] * 3, "v": [9.0] * 5 + [1.0] * 3})
    people = lw.records(frame, person="each row")
    query: Any = lw.statistic(people, lw.query.Kind("above", levels=["2", "2.5", "3"]), column="v", by={"g": groups})
    budget = lw.Budget(f"sqlite:///{tmp_path}/b.db", dataset="numbers", cap="100")
    lw.release(lw.plan(query, lw.AdditionOnly("40"), lw.Decide(safe_at_most=1)), budget).save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<h1>{title}" in page
