"""Groups by several columns: all combinations of public lists, counted as if each combination were a value of one column.

The oracle (`tests.oracle.numbers`) is asked about one column that holds the combination, made in Python.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.oracle import numbers as oracle

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.errors import DataError, SpecError

LISTS: dict[str, list[Any]] = {"sex": ["m", "f"], "age": [30, 10, 20], "town": ["b"]}
BY: list[list[str]] = [["sex", "age"], ["age", "sex"], ["town", "age", "sex"], ["town", "sex"]]
KINDS: dict[str, dict[str, Any]] = {
    "sum": {"step": "1"}, "mean": {"step": "1/2"}, "median": {"step": "1/4"}, "histogram": {"step": "2"},
}  # fmt: skip


def rows_of(seed: int, size: int = 200) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "person": chance.choice([None, *range(60)]),
            "number": chance.choice([None, -3.0, 0.0, 0.25, 3.5, 7.0, 99.0]),
            "sex": chance.choice(["m", "f", "f", "x", None]),
            "age": chance.choice([10, 20, 20, 30, 40, -1, None]),
            "town": chance.choice(["a", "b", "b", "b", None]),
        }
        for _ in range(size)
    ]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    kinds = [("person", pa.int64()), ("number", pa.float64()), ("sex", pa.string())]
    return pa.Table.from_pylist(rows, pa.schema([*kinds, ("age", pa.int16()), ("town", pa.string())]))


def told(query: Any) -> tuple[list[int], dict[str, int], int]:
    with open_data(query, read_keys(query)) as opened:
        found = opened.exactly(query, "answer")
        return found.counts.tolist(), dict(found.dropped), found.people_over_bound


@pytest.mark.parametrize("by", BY, ids=" ".join)
@pytest.mark.parametrize("kind", KINDS)
def test_combinations_are_counted_as_values_of_one_column_would_be(kind: str, by: list[str]) -> None:
    rows = rows_of(len(by) + len(kind))
    groups = list(itertools.product(*(LISTS[column] for column in by)))
    ask: dict[str, Any] = {"kind": kind, "lower": Fraction(0), "upper": Fraction(8), "combine": "max"}
    ask |= {"step": Fraction(KINDS[kind]["step"]), "groups": groups}
    whole = [{**row, "group": tuple(row[column] for column in by)} for row in rows]
    counted, dropped, several = oracle.records(whole, ask)
    assert counted is not None
    people = lw.records(table(rows), person="person", combine="max")
    how = {"column": "number", "lower": 0, "upper": 8, **KINDS[kind], "by": {column: LISTS[column] for column in by}}
    answers, left_out, over = told(statistic_by(people, kind, **how))
    step = Fraction(KINDS[kind]["step"]) if kind in ("sum", "median") else 1
    assert [n * step for n in answers] == oracle.answer(counted, ask)
    assert (left_out, over) == (dropped, several)
    assert dropped["unknown_group"] > 20, "or nobody is left out"


def test_answers_name_each_column_in_the_order_written() -> None:
    people = lw.records(table(rows_of(1)), person="each row")
    asked = lw.statistic(people, "histogram", by={"sex": ["m", "f"], "age": [30, 10]})
    assert read_keys(asked).to_arrow().to_pydict() == {"sex": ["m", "m", "f", "f"], "age": [30, 10, 30, 10]}
    cut = lw.statistic(
        people, "histogram", column="number", lower=0, upper=4, step=2, by={"sex": ["m", "f"], "town": ["b"]}
    )
    assert read_keys(cut).to_arrow().to_pydict() == {
        "sex": ["m", "m", "f", "f"], "town": ["b"] * 4, "from": [0, 2, 0, 2], "to": [2, 4, 2, 4],
    }  # fmt: skip


def test_the_order_of_columns_is_the_order_of_keys() -> None:
    people = lw.records(table(rows_of(1)), person="each row")
    one = lw.statistic(people, "histogram", by={"sex": ["m", "f"]})
    turned = [
        lw.statistic(people, "histogram", by={c: LISTS[c] for c in by}) for by in (["sex", "age"], ["age", "sex"])
    ]
    assert len({read_keys(asked).digest() for asked in (one, *turned)}) == 3


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ({}, "it names no column"),
        ({"sex": ["m"], "age": []}, "A list of no groups"),
        ({"sex": ["m"], "age": [1, 1]}, "The group 1 twice"),
        ({"sex": ["m"], "age": [1, "1"]}, "texts and of whole numbers"),
        ({"sex": "m", "age": [1]}, "it is one text, not a list"),
        ({"sex": ["m"], "age": [True]}, "not texts or whole numbers"),
        ({"group_count": ["m"], "count": [1]}, "Give the column of the table another name"),
        ({"sex": range(1001), "age": range(1000)}, "1,001,000 groups"),
    ],
)
def test_lists_that_make_no_groups_are_refused(by: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        lw.statistic(lw.records("p.parquet", person="who"), "histogram", by=by)
    with pytest.raises(SpecError, match="never read from the data"):
        lw.statistic(lw.records("p.parquet", person="who"), "histogram", by="sex")  # type: ignore[arg-type]


def test_a_list_of_another_type_than_its_column_is_refused_by_name() -> None:
    people = lw.records(table(rows_of(1)), person="each row")
    asked = lw.statistic(people, "histogram", by={"sex": ["m"], "age": ["10"]})
    with pytest.raises(DataError, match="by = 'age'"):
        told(asked)


def test_closeness_of_any_of_the_columns_is_refused() -> None:
    people = lw.records("p.parquet", person="who")
    near = lw.statistic(people, "median", column="age", lower=0, upper=9, by={"sex": ["m", "f"], "age": [1, 2]})
    assert near.values is not None
    with pytest.raises(lw.errors.NotPrivateError, match="which also decides who counts"):
        lw.plan(near, lw.notion.Manhattan("1", near.values))
