"""Intervals of numbers as groups: everybody with a number is in exactly one; a histogram of two numbers.

The answers are worked out here from the rows, in fractions, and share nothing with the package.
"""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.errors import DataError, NotPrivateError, SpecError
from leeward.notion import INSERT, REPLACE, WITHDRAW
from leeward.notion._metric import bounded_change
from leeward.query._groups import named_intervals

AGES = {"lower": 0, "upper": 30, "step": 10}
HOURS = {"lower": "-1/2", "upper": "1", "step": "1/2"}
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "int32": (pa.int32(), [-5, 0, 9, 10, 29, 30, 31, None]),
    "uint64": (pa.uint64(), [0, 9, 10, 19, 2**63, None]),
    "float64": (
        pa.float64(),
        [-1.0, 0.0, 9.99, 9.99999999999, 10.0, 29.9999999999, 30.0, float("inf"), float("nan"), None],
    ),
    "float32": (pa.float32(), [9.5, 10.0, 20.0, None]),
    "decimal": (pa.decimal128(9, 3), [Decimal("9.999"), Decimal("10.000"), Decimal("30.000"), None]),
    "string": (pa.string(), ["9", "10", "29.5", "thirty", "", None]),
}


def fraction(value: Any) -> Fraction | None:
    """The number that a value is, if it is one."""
    try:
        return Fraction(str(value)) if value is not None else None
    except ValueError:
        infinite = str(value) in ("inf", "-inf")
        return Fraction(10**9) * (1 if value > 0 else -1) if infinite else None


def interval(value: Any, ends: dict[str, Any]) -> int | None:
    """In which interval a value is: beyond the bounds in the first and the last."""
    number, lower, upper, step = fraction(value), *(Fraction(ends[key]) for key in ("lower", "upper", "step"))
    if number is None:
        return None
    at = (number - lower) // step
    return int(min(max(at, 0), (upper - lower) / step - 1))


def counts(query: Any) -> tuple[list[int], dict[str, int]]:
    with open_data(query, read_keys(query)) as opened:
        found = opened.count(query)
        return found.counts.tolist(), dict(found.dropped)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_beyond_the_intervals_are_told_and_nothing_else(kind: str) -> None:
    """With all others every row counts: one whose value is no number is beyond nothing, NaN among them."""
    dtype, values = KINDS[kind]
    held = values * 3
    table = pa.table({"age": pa.array(held, dtype)})
    asked = lw.query.Groups({"age": AGES}, others="none")
    query = lw.statistic(lw.records(table, person="each row"), "count", by=asked)
    numbers = [number for number in map(fraction, held) if number is not None]
    with open_data(query, read_keys(query)) as opened:
        found = opened.beyond(query)
    assert found is not None
    below, above = sum(each < AGES["lower"] for each in numbers), sum(each > AGES["upper"] for each in numbers)
    assert (found.below, found.above, found.of) == (below, above, len(held))


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_with_a_number_is_in_one_interval(kind: str) -> None:
    dtype, values = KINDS[kind]
    rng = random.Random(kind)
    drawn = [rng.choice(values) for _ in range(60)]
    table = pa.table({"age": pa.array(drawn, dtype)})
    query = lw.statistic(lw.records(table, person="each row"), "histogram", by={"age": AGES})
    found, dropped = counts(query)
    places = [interval(value, AGES) for value in drawn]
    assert found == [places.count(i) for i in range(3)]
    misread = sum(value in ("thirty", "") for value in drawn)
    assert (dropped["unreadable_number"], dropped["unknown_group"]) == (misread, places.count(None) - misread)


def test_intervals_and_listed_groups_of_their_names_have_other_keys() -> None:
    people = lw.records("t.parquet", person="each row")
    names = ["0 to 10", "10 to 20", "20 to 30"]
    asked = [lw.statistic(people, "histogram", by={"age": by}) for by in (AGES, names)]
    other = lw.statistic(people, "histogram", by={"age": names, "sex": ["m", "f"]})
    assert asked[0].groups == asked[1].groups
    mixed = lw.statistic(people, "histogram", by={"age": AGES, "sex": ["m", "f"]})
    assert len({read_keys(each).digest() for each in (*asked, other, mixed)}) == 4


def test_a_histogram_of_two_numbers_and_a_list() -> None:
    rng = random.Random(4)
    rows = [
        {
            "age": rng.choice([None, -3, 0, 9, 10, 20, 29, 30, 44]),
            "hours": rng.choice([None, -2.0, -0.5, -0.25, 0.0, 0.4999, 0.5, 7.0]),
            "sex": rng.choice(["f", "m", "x"]),
        }
        for _ in range(300)
    ]
    people = lw.records(pa.Table.from_pylist(rows), person="each row")
    query = lw.statistic(people, "histogram", by={"age": AGES, "sex": ["m", "f"], "hours": HOURS})
    found, _ = counts(query)
    seen = [(interval(row["age"], AGES), row["sex"], interval(row["hours"], HOURS)) for row in rows]
    assert found == [seen.count(cell) for cell in itertools.product(range(3), ["m", "f"], range(3))]
    assert min(found) > 0
    keys = read_keys(query).to_arrow().to_pydict()
    assert list(keys) == ["age", "sex", "hours", "age_from", "age_to", "hours_from", "hours_to"]
    assert keys["age"][::6] == ["0 to 10", "10 to 20", "20 to 30"]
    assert (keys["age_from"][::6], keys["age_to"][::6]) == ([0, 10, 20], [10, 20, 30])
    assert (keys["hours_from"][:3], keys["hours_to"][:3]) == ([-0.5, 0, 0.5], [0, 0.5, 1])


def test_numbers_of_another_column_or_the_same_are_taken_by_interval() -> None:
    table = pa.table({"age": [5, 5, 15, 40, None], "pay": [1.0, 2.0, 3.0, 4.0, 5.0]})
    people = lw.records(table, person="each row")
    ends: dict[str, Any] = {"lower": 0, "upper": 100}
    assert counts(statistic_by(people, "sum", column="pay", **ends, by={"age": AGES}))[0] == [3, 3, 4]
    assert counts(statistic_by(people, "sum", column="age", **ends, by={"age": AGES}))[0] == [10, 15, 40]
    cut = lw.statistic(people, "histogram", column="pay", lower=0, upper=4, step=2, by={"age": AGES})
    assert counts(cut)[0] == [1, 1, 0, 1, 0, 1]
    levels = lw.statistic(people, lw.query.Kind("above", levels=[1, 3]), column="pay", by={"age": AGES})
    assert counts(levels)[0] == [0, 1, 0, 1, 1, 1]


def test_a_person_with_rows_in_several_is_in_the_first() -> None:
    table = pa.table({"who": ["a", "a", "b"], "age": [25, 5, 15]})
    query = lw.statistic(lw.records(table, person="who", combine="max"), "histogram", by={"age": AGES})
    assert counts(query)[0] == [1, 1, 0]


def test_one_person_moves_what_they_move_of_as_many_listed_groups() -> None:
    people = lw.records("t.parquet", person="each row")
    number: dict[str, Any] = {"column": "pay", "lower": 0, "upper": 9}
    for kind in ("sum", "median", "histogram"):
        cut = statistic_by(people, kind, **number, by={"age": AGES})  # type: ignore[arg-type]
        listed = statistic_by(people, kind, **number, by={"age": ["a", "b", "c"]})  # type: ignore[arg-type]
        assert all(cut.effect(change) == listed.effect(change) for change in (WITHDRAW, INSERT, REPLACE))
        near = bounded_change(Fraction(1))
        assert cut.effect(near) == listed.effect(near)
    with pytest.raises(NotPrivateError, match="also decides who counts"):
        lw.statistic(people, "sum", column="age", lower=0, upper=30, by={"age": AGES}).effect(
            bounded_change(Fraction(1))
        )


def test_public_keys_tell_intervals_from_a_list_of_the_same_names() -> None:
    people = lw.records(pa.table({"age": ["0 to 10"]}), person="each row")
    cut = lw.statistic(people, "histogram", by={"age": AGES})
    listed = lw.statistic(people, "histogram", by={"age": ["0 to 10", "10 to 20", "20 to 30"]})
    assert cut.groups == listed.groups == ("0 to 10", "10 to 20", "20 to 30")
    assert read_keys(cut).digest() != read_keys(listed).digest()
    finer = lw.statistic(people, "histogram", by={"age": {**AGES, "step": 5}})
    assert read_keys(cut).digest() != read_keys(finer).digest()
    assert len(set(named_intervals(lw.ValueGrid("1/3", "10/3", "1/3")))) == 9


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ({"age": {"lower": 0, "upper": 30}}, "step is missing"),
        ({"age": {**AGES, "width": 3}}, "the key 'width'"),
        ({"age": {**AGES, "step": 7}}, "not a grid"),
        ({"age": {"lower": 0, "upper": 10**7, "step": 1}}, "groups are the most"),
        ({"age": AGES, "age_from": ["x"]}, "by 'age_from' and another column"),
        ({"age": {**AGES, "step": 0.5}}, "float"),
    ],
)
def test_intervals_that_are_none_are_refused(by: Any, said: str) -> None:
    with pytest.raises((SpecError, ValueError), match=said):
        lw.statistic(lw.records("t.parquet", person="each row"), "histogram", by=by)


def test_others_are_all_who_are_in_none_of_the_combinations() -> None:
    """Without a number, or with another value beside it: counted once, and last."""
    ages = [5, 15, None, 15, 25, None]
    people = lw.records(pa.table({"age": ages, "sex": ["f", "m", "f", "x", None, None]}), person="each row")
    asked = lw.statistic(people, "histogram", by=lw.query.Groups({"age": AGES, "sex": ["f", "m"]}, others="else"))
    found, dropped = counts(asked)
    assert not any(dropped.values())
    assert sum(found) == len(ages)
    assert found[-1] == 4
    assert [n for n in found if n][:-1] == [1, 1]
    keys = read_keys(asked).to_arrow().to_pylist()
    assert keys[-1] == {"age": "else", "sex": "else", "age_from": None, "age_to": None}
    assert keys[0]["age_from"] == AGES["lower"]
    where = [(key["age_from"], key["sex"]) for key, n in zip(keys, found, strict=True) if n]
    assert where == [(0, "f"), (10, "m"), (None, "else")]
    alone = lw.statistic(people, "histogram", by=lw.query.Groups({"age": AGES}, others="no age"))
    assert counts(alone)[0][-1] == 2
    with pytest.raises(SpecError, match="it stands in a column with listed groups, which are whole numbers"):
        lw.statistic(people, "histogram", by=lw.query.Groups({"age": AGES, "ward": [1, 2]}, others="else"))
    with pytest.raises(SpecError, match="a listed group is called so"):
        lw.statistic(people, "histogram", by=lw.query.Groups({"age": AGES, "sex": ["f", "else"]}, others="else"))


def test_columns_that_hold_no_numbers_are_refused() -> None:
    people = lw.records(pa.table({"age": [True]}), person="each row")
    with pytest.raises(DataError, match="by = 'age': it does not hold numbers"):
        counts(lw.statistic(people, "histogram", by={"age": AGES}))
