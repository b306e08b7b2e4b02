"""Exact statistics of numbers are the oracle's, from every kind of column and source, whatever the order of the rows."""

from __future__ import annotations

import math
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.asking import statistic_by
from tests.oracle import numbers as oracle

from leeward.engine import open_data, read_keys
from leeward.errors import BoundExceededError, DataError, SpecError
from leeward.notion import BoundedDP, UnboundedDP
from leeward.planner._number_plan import plan_number
from leeward.query import Kind, Statistic, records, statistic
from leeward.query._reasons import OF_NUMBERS

F = Fraction
COLUMNS: dict[str, tuple[Any, Any]] = {
    "int64": (pa.int64(), [-(2**62), -7, -1, 0, 1, 2, 3, 4, 5, 9, 2**62, None]),
    "int8": (pa.int8(), [-128, -7, -1, 0, 1, 2, 3, 4, 5, 9, 127, None]),
    "uint8": (pa.uint8(), [0, 1, 2, 3, 4, 5, 9, 255, None]),
    "uint64": (pa.uint64(), [0, 1, 2, 3, 4, 5, 9, 2**64 - 1, None]),
    "float64": (
        pa.float64(),
        [-math.inf, -1e300, -0.75, -0.5, 0.15, 0.29, 0.3, 0.35, 1.005, 2.5, 3.7, 1e300, math.inf],
    ),
    "float32": (pa.float32(), [-0.75, -0.5, 0.15, 0.29, 0.3, 0.7, 1.25, 2.5, 3.7, None]),
    "decimal": (
        pa.decimal128(12, 3),
        [Decimal(t) for t in ("-9.125", "-0.5", "0.005", "0.15", "1.5", "2.675")] + [None],
    ),
    "text": (pa.string(), ["-3", "", "0.15", "1.005", "2.5", "1e1", "many", "inf", "-inf", "nan", None]),
}
BOUNDS = [(0, 4, 1), (-2, 4, 2), ("1/3", "7/3", "1/2"), ("-1/2", "5/2", "1/4"), (0, "3", "1/10"), (1, 4, "3/2")]
KINDS = ["sum", "mean", "variance", "median", "min", "max", "percentile", "histogram"]


def draw(rng: random.Random, kind: str) -> tuple[pa.Table, list[dict[str, Any]]]:
    dtype, values = COLUMNS[kind]
    n = rng.choice([1, 5, 40])
    people = rng.choice([9, 10**6])
    rows = [
        {
            "person": rng.choice([None, *(rng.randrange(people) for _ in range(8))]),
            "group": rng.choice([None, "a", "b", "c"]),
            "number": rng.choice(values),
            "state": rng.choice([None, "in", "out"]),
        }
        for _ in range(n)
    ]
    if kind == "float64":
        for row in rows:
            row["number"] = rng.choice([row["number"], round(rng.uniform(-1, 5), rng.randint(0, 4)), math.nan, None])
    table = pa.table(
        {
            "person": pa.array([r["person"] for r in rows], pa.int64()),
            "group": pa.array([r["group"] for r in rows], pa.string()),
            "number": pa.array([r["number"] for r in rows], dtype),
            "state": pa.array([r["state"] for r in rows], pa.string()),
        }
    )
    if kind == "float32":  # what it prints as
        for row in rows:
            row["number"] = None if row["number"] is None else float(str(np.float32(row["number"])))
    return table, rows


def ask(rng: random.Random, kind: str) -> dict[str, Any]:
    lower, upper, step = map(F, rng.choice(BOUNDS[:2] if rng.random() < 0.3 else BOUNDS))
    made: dict[str, Any] = {"kind": kind, "lower": lower, "upper": upper, "step": step}
    if kind == "percentile":
        made["p"] = F(rng.choice(["0", "25", "33.3", "90", "99.9"]))
    if kind == "mean":
        made["grid"] = rng.choice([step, F(1, 2), F(1, 10)])
    if rng.random() < 0.5:
        made["groups"] = rng.choice([["a", "b"], ["c"], ["b", "a", "z"]])
        if rng.random() < 0.4:
            made["others"] = "else" if "c" in made["groups"] else "c"
    if rng.random() < 0.7:
        made["combine"] = rng.choice(["refuse", "sum", "min", "max"])
        if made["combine"] == "sum" and (kind == "histogram" or lower % step):
            made["combine"] = "max"
    if rng.random() < 0.3:
        made["keep"] = {"state": ["in"]}
    return made


def describe(source: Any, asked: dict[str, Any]) -> Statistic:
    combine = asked.get("combine")
    table = records(
        source, person="person" if combine else "each row", combine=combine or "refuse", keep=asked.get("keep") or None
    )
    by = "group" if asked.get("groups") else None
    known = {
        key: asked[key] for key in ("lower", "upper", "step", "p", "people", "groups", "others", "grid") if key in asked
    }
    return statistic_by(table, asked["kind"], column="number", by=by, **known)


def exactly(query: Statistic) -> tuple[list[Fraction], Any]:
    """The engine's integers, in the units of the answer, by the plan's own scale."""
    with open_data(query, read_keys(query)) as opened:
        counted = opened.count(query)
    plan = plan_number(query, UnboundedDP("1") if query.people is None else BoundedDP("1"))
    whole = [F(int(k)) for k in counted.counts]
    return (whole if len(plan.parts) > 1 else [plan.scale.origin + plan.scale.unit * k for k in whole]), counted


def check(source: Any, rows: list[dict[str, Any]], asked: dict[str, Any]) -> bool:
    """Compare one answer with the oracle's; whether it was answered."""
    query = describe(source, asked)
    counted, dropped, several = oracle.records(rows, asked)
    if counted is None:
        with pytest.raises(BoundExceededError, match="more than one row"):
            exactly(query)
        return False
    found, notes = exactly(query)
    assert found == oracle.answer(counted, asked), (asked, rows)
    assert notes.dropped == dropped
    assert list(notes.dropped) == list(OF_NUMBERS)
    assert notes.people_over_bound == several
    return True


@pytest.mark.parametrize("kind", COLUMNS)
def test_answers_agree_with_the_oracle(kind: str) -> None:
    rng = random.Random(f"numbers {kind}")
    assert sum(check(*draw(rng, kind), ask(rng, asked)) for asked in KINDS) > 3


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["int64", "float64", "decimal", "text"])
def test_several_percentiles_are_those_asked_one_by_one(kind: str) -> None:
    rng, several = random.Random(f"several {kind}"), 0
    ps = [F("0"), F("33.3"), F("50"), F("100")]
    for _ in range(12):
        source, rows = draw(rng, kind)
        asked = ask(rng, "percentile") | {"combine": rng.choice(["min", "max"])}
        counted, _, _ = oracle.records(rows, asked)
        assert counted is not None
        each = [oracle.answer(counted, {**asked, "p": p} if p < 100 else {**asked, "kind": "max"}) for p in ps]
        query = describe(source, asked | {"p": ps})
        found, _ = exactly(query)
        assert found == [one for group in zip(*each, strict=True) for one in group]
        keys = read_keys(query).to_arrow()
        assert keys["percentile"].to_pylist() == [0, 33.3, 50, 100] * len(each[0])
        assert keys.num_rows == len(found)
        several += len(each[0]) > 1
    assert several


def test_the_public_keys_of_percentiles_are_their_own() -> None:
    def digest(p: Any, **groups: Any) -> str:
        table = records(pa.table({"x": [1]}), person="each row")
        return read_keys(statistic_by(table, "percentile", column="x", lower=0, upper=9, p=p, **groups)).digest()

    two = {"by": "g", "groups": ["a", "b"]}
    other = {"by": "g", "groups": ["a", "c"]}
    found = [
        digest("25"),
        digest(["25", "50"]),
        digest(["25", "75"]),
        digest(["25", "75"], **two),
        digest(["25", "75"], **other),
    ]
    assert len(set(found)) == len(found)
    assert digest(["25"]) == digest("25")


def tallied(rows: list[dict[str, Any]], asked: dict[str, Any]) -> list[tuple[int, int, int]]:
    """By the oracle: the place of a group, steps above the lower bound, and how many people; in this order."""
    counted, _, _ = oracle.records(rows, asked)
    assert counted is not None
    found = Counter((group, int((number - asked["lower"]) / asked["step"])) for group, number in counted)
    return sorted((group, place, people) for (group, place), people in found.items())


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["int64", "float64", "decimal", "text"])
def test_tallies_agree_with_the_oracle(kind: str) -> None:
    """What a percentile by rank is drawn from: refused where the answer is, and else the people by group and number."""
    rng, several, made = random.Random(f"tally {kind}"), 0, 0
    for _ in range(16):
        source, rows = draw(rng, kind)
        asked = ask(rng, rng.choice(["median", "min", "max", "percentile"]))
        query = describe(source, asked)
        with open_data(query, read_keys(query)) as table:
            if oracle.records(rows, asked)[0] is None:
                with pytest.raises(BoundExceededError):
                    table.tally(query)
                continue
            held = table.tally(query)
            assert held.counts.dtype == np.int64
            assert [tuple(row) for row in held.counts.tolist()] == tallied(rows, asked)
            assert (held.dropped, held.people_over_bound) == (
                (again := table.count(query)).dropped,
                again.people_over_bound,
            )
        several += len(asked.get("groups", ())) > 1 and len(held.counts) > 2
        made += 1
    assert made > 5
    assert several


@pytest.mark.parametrize("people", [2, 4])
def test_a_tally_of_a_wrong_number_of_people_is_refused(people: int) -> None:
    table = pa.table({"number": [1, 2, 3]})
    query = statistic(
        records(table, person="each row"), Kind("median", people=people), column="number", lower=0, upper=9
    )
    with open_data(query, read_keys(query)) as opened, pytest.raises(BoundExceededError, match="do not publish it"):
        opened.tally(query)


def test_every_source_gives_the_same_answers(tmp_path: Any) -> None:
    """CSV columns are text: the same numbers, read the same way."""
    rng = random.Random("sources")
    for kind in ("sum", "histogram"):
        table, rows = draw(rng, "float64")
        numbers = [v if v is None or math.isfinite(v) else None for v in table["number"].to_pylist()]
        table = table.set_column(2, "number", pa.array(numbers, pa.float64()))
        rows = [{**row, "number": number} for row, number in zip(rows, numbers, strict=True)]
        pq.write_table(table, tmp_path / "t.parquet")
        pa_csv.write_csv(table, tmp_path / "t.csv")
        asked = {**ask(rng, kind), "combine": "max"}
        for source in (
            tmp_path / "t.parquet",
            tmp_path / "t.csv",
            table.to_pandas(),
            table.take(pa.array(range(len(rows))[::-1])),
        ):
            check(source, rows, asked)


@pytest.mark.parametrize(("lower", "upper", "step"), [(-2, 20, 1), (10, 40, 5), ("-3/2", 9, "1/2")])
@pytest.mark.parametrize("combine", ["sum", "min", "max"])
def test_a_person_s_numbers_are_combined_where_0_is_not_the_least(
    lower: Any, upper: Any, step: Any, combine: str
) -> None:
    held = [(1, 13), (1, 4), (2, -1), (2, -1), (2, 7), (3, 11), (4, 30), (4, 30), (5, -9), (5, -9)]
    rows = [{"person": person, "number": number} for person, number in held]
    asked = {"kind": "sum", "lower": F(lower), "upper": F(upper), "step": F(step), "combine": combine}
    assert check(pa.Table.from_pylist(rows), rows, asked)


def test_the_order_of_rows_does_not_matter() -> None:
    """Floating sums would depend on it: 1e16 + 1 − 1e16."""
    numbers = [0.1] * 999 + [3.3] * 999 + [2.7] * 2
    asked = {"kind": "sum", "lower": F(0), "upper": F(4), "step": F(1, 10)}
    answers = []
    for seed in range(3):
        random.Random(seed).shuffle(numbers)
        answers.append(exactly(describe(pa.table({"number": numbers}), asked))[0])
    assert answers[0] == answers[1] == answers[2] == [F(999 * 34 + 54, 10)]


@pytest.mark.parametrize(
    ("number", "lower", "upper", "step", "expected"),
    [
        (0.5, 0, 4, 1, 1),  # half up, not to even
        (1.5, 0, 4, 1, 2),
        (2.5, 0, 4, 1, 3),
        (-0.5, -2, 2, 1, 0),  # up, not away from 0
        (-1.5, -2, 2, 1, -1),
        (0.15, 0, 1, "1/10", "1/5"),  # the decimal that it prints as, not the binary fraction below it
        (0.35, 0, 1, "1/10", "2/5"),
        (1.005, 0, 2, "1/100", "101/100"),
        (0.49999999999, 0, 4, 1, 1),  # to nine places, then half up
        (0.4999, 0, 4, 1, 0),
        (2.0, 1, 4, "3/2", "5/2"),  # a lower bound that is not a multiple of the step
        (1.7, 1, 4, "3/2", 1),
        (float("inf"), 0, 4, 1, 4),
        (float("-inf"), 0, 4, 1, 0),
        (1e300, 0, 4, 1, 4),
    ],
)
def test_rounding_is_half_up_on_decimals(number: float, lower: Any, upper: Any, step: Any, expected: Any) -> None:
    asked = {"kind": "max", "lower": F(lower), "upper": F(upper), "step": F(step)}
    (found,), _ = exactly(describe(pa.table({"number": [number]}), asked))
    assert found == F(expected)


def test_no_decimal_is_put_below_the_interval_that_it_begins() -> None:
    """0.29 · 100 is 28.999999999999996 in floats: cents must stand in their own interval all the same."""
    cents = [i / 100 for i in range(100)]
    asked = {"kind": "histogram", "lower": F(0), "upper": F(1), "step": F(1, 100)}
    assert exactly(describe(pa.table({"number": cents}), asked))[0] == [1] * 100
    assert [math.floor(c * 100) for c in cents] != list(range(100))  # what floats alone would do


def test_wide_universes_are_exact() -> None:
    """Quotients beyond 2^53, which floats would round, and sums beyond 2^63, which saturate."""
    top = 2**59

    def counted(kind: str, numbers: list[int]) -> list[int]:
        query = describe(pa.table({"number": numbers}), {"kind": kind, "lower": F(0), "upper": F(top), "step": F(1)})
        with open_data(query, read_keys(query)) as opened:
            return [int(k) for k in opened.count(query).counts]

    assert counted("max", [top - 1]) == [top - 1]
    assert counted("sum", [top - 1] * 5) == [5 * (top - 1)]
    assert counted("sum", [top] * 40) == [2**63 - 1]


@pytest.mark.parametrize("people", [2, 4])
def test_a_wrong_number_of_people_is_refused_for_the_curator(people: int) -> None:
    table = pa.table({"number": [1.0, 2.0, 3.0, None]})
    asked = {"kind": "mean", "lower": F(0), "upper": F(4), "step": F(1), "grid": F(1, 10), "people": people}
    with pytest.raises(BoundExceededError, match=f"3 rows have a number, and {people} were declared.*do not publish"):
        exactly(describe(table, asked))
    assert exactly(describe(table, {**asked, "people": 3}))[0] == [2]


def test_nobody_has_an_answer_too() -> None:
    table = pa.table({"number": pa.array([None, None], pa.float64())})
    for kind in KINDS:
        asked = {"kind": kind, "lower": F(1), "upper": F(4), "step": F(1), "grid": F(1), "p": F(90)}
        known = {k: v for k, v in asked.items() if k not in {"p", "grid"} or (k, kind) == ("p", "percentile")}
        expected = {"sum": [0], "mean": [0, 0], "variance": [0, 0, 0], "histogram": [0, 0, 0]}.get(kind, [1])
        assert exactly(describe(table, known))[0] == expected


def test_public_keys_have_one_shape() -> None:
    table = pa.table({"number": [1], "group": ["a"]})
    intervals = describe(table, {"kind": "histogram", "lower": F(0), "upper": F(3), "step": F(1), "groups": ["a", "b"]})
    assert read_keys(intervals).to_arrow().to_pydict() == {
        "group": ["a"] * 3 + ["b"] * 3,
        "from": [0, 1, 2] * 2,
        "to": [1, 2, 3] * 2,
    }
    one_sided_components = describe(table, {"kind": "histogram", "lower": F(0), "upper": F(1), "step": F(1, 2)})
    assert read_keys(one_sided_components).to_arrow().to_pydict() == {"from": [0, 0.5], "to": [0.5, 1]}
    assert read_keys(
        describe(table, {"kind": "sum", "lower": F(0), "upper": F(3), "step": F(1)})
    ).to_arrow().to_pydict() == {"group": ["all"]}
    assert len({read_keys(query).digest() for query in (intervals, one_sided_components)}) == 2


@pytest.mark.parametrize("values", [[True, False], ["2020-01-01"], [[1]]])
def test_columns_that_hold_no_numbers(values: Any) -> None:
    kind = pa.date32() if values == ["2020-01-01"] else None
    table = pa.table({"number": pa.array([0], pa.date32()) if kind else pa.array(values)})
    asked = {"kind": "sum", "lower": F(0), "upper": F(3), "step": F(1)}
    with pytest.raises(DataError, match=r"does not hold numbers|not single values"):
        exactly(describe(table, asked))


def test_groups_of_another_type_are_refused() -> None:
    table = pa.table({"number": [1], "group": [1]})
    asked = {"kind": "sum", "lower": F(0), "upper": F(3), "step": F(1), "groups": ["1"]}
    with pytest.raises(DataError, match="different types"):
        exactly(describe(table, asked))
    assert exactly(describe(table, {**asked, "groups": [1]}))[0] == [1]


def test_no_message_holds_a_number_of_the_data() -> None:
    table = pa.table({"number": [123456, 123456], "person": [777, 777]})
    asked = {"kind": "sum", "lower": F(0), "upper": F(3), "step": F(1), "combine": "refuse"}
    with pytest.raises(BoundExceededError) as refused:
        exactly(describe(table, asked))
    assert "123456" not in str(refused.value)
    assert "777" not in str(refused.value)


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(20, 0), pa.string()], ids=str)
def test_more_steps_than_floats_tell_apart_are_read_from_whole_numbers_only(kind: pa.DataType) -> None:
    """Found by hand: 2^52 + 1 became 2^52 + 2, and the decimal 2^53 + 1 became 2^53."""
    many = 2**50
    for upper, refused in ((many, False), (many + 1, True)):
        for values in ([0], [1], [many - 1], [many]):
            as_kind = [
                str(v) if kind == pa.string() else Decimal(v) if pa.types.is_decimal(kind) else v for v in values
            ]
            table = pa.table({"number": pa.array(as_kind, kind)})
            asked = statistic(records(table, person="each row"), "max", column="number", lower=0, upper=upper)
            if refused:
                with (
                    pytest.raises(DataError, match="more than floating point resolves"),
                    open_data(asked, read_keys(asked)),
                ):
                    pass
                continue
            with open_data(asked, read_keys(asked)) as opened:
                assert opened.count(asked).counts.tolist() == values


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(38, 18), pa.string()], ids=str)
@pytest.mark.parametrize("exponent", range(16))
def test_numbers_in_tiny_steps_are_counted_in_these(kind: pa.DataType, exponent: int) -> None:
    """Found by an attack: steps of picofarads ended the release, because ten to the nineteenth is no machine integer."""
    step, held = F(1, 10**exponent), [0, 1, 2, 99, 100, 250]
    numbers = [Decimal(n).scaleb(-exponent) for n in held]
    as_kind = [str(n) if kind == pa.string() else n if pa.types.is_decimal(kind) else float(n) for n in numbers]
    table = pa.table({"number": pa.array(as_kind, kind)})
    asked = statistic(records(table, person="each row"), "sum", column="number", lower=0, upper=100 * step, step=step)
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.count(asked).counts.tolist() == [sum(min(n, 100) for n in held)]


@pytest.mark.parametrize("exponent", [16, 19, 25])
def test_steps_that_no_float_resolves_are_refused_before_any_table_is_looked_at(exponent: int) -> None:
    with pytest.raises(SpecError, match="not read exactly"):
        statistic(records("a.csv", person="id"), "sum", column="x", lower=0, upper=F(1, 10**8), step=F(1, 10**exponent))


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_listed_integers_meet_every_integer_column(dtype: str) -> None:
    """Groups at and beyond the ends of every type, against a dictionary."""
    held = np.iinfo(dtype)
    values = [held.min, held.max, 0, 5, 5, None]
    groups = [min(int(held.max), 2**63 - 1), -1, 0, -(2**63), 2**63 - 1, 7, 5, int(held.min)]
    groups = list(dict.fromkeys(groups))
    table = pa.table({"p": [f"u{i}" for i in range(len(values))], "g": pa.array(values, pa.type_for_alias(dtype))})
    query = statistic(records(table, person="p"), "histogram", by={"g": groups})
    with open_data(query, read_keys(query)) as opened:
        assert opened.count(query).counts.tolist() == [sum(v == g for v in values) for g in groups]


@pytest.mark.parametrize("column", ["text", "whole numbers", "nothing"])
def test_a_long_list_of_groups_is_that_of_a_dictionary(column: str) -> None:
    """Found: each listed group was a branch of one expression, and some thousands took minutes."""
    rng = random.Random(5)
    write = str if column == "text" else int
    groups = [write(g) for g in rng.sample(range(30_000), 20_000)]
    values = [None if column == "nothing" else write(rng.randrange(30_000)) for _ in range(3000)]
    table = pa.table({"p": [f"u{i}" for i in range(3000)], "g": pa.nulls(3000) if column == "nothing" else values})
    query = statistic(records(table, person="p"), "histogram", by={"g": groups})
    with open_data(query, read_keys(query)) as opened:
        answer = opened.count(query).counts
    expected = dict.fromkeys(groups, 0)
    for value in values:
        if value in expected:
            expected[value] += 1
    assert answer.tolist() == list(expected.values())


def test_more_groups_than_answers_may_be_are_refused() -> None:
    table = records(pa.table({"p": ["u"], "g": [1]}), person="p")
    with pytest.raises(SpecError, match="1,000,000 answers are the most"):
        statistic(table, "histogram", by={"g": range(10**6 + 1)})
