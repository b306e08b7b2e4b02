"""Conditions on records, and the records that stand for all."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import leeward as lw
from leeward.errors import InputError
from leeward.exact import exact
from leeward.exact._real import integer, whole
from leeward.notion import ABSENT, Condition, has, where
from leeward.notion._condition import MOST_RECORDS, stand_ins
from leeward.query import Histogram


@pytest.mark.parametrize(
    ("condition", "holds", "fails"),
    [
        (where("x", equals="a"), ["a"], ["b", None]),
        (where("x", one_of=["a", "b"]), ["a", "b"], ["c", None]),
        (where("x", at_least=2), [2, 3, 2.5], [1, None, "3", float("nan")]),
        (where("x", at_most=2), [2, -9], [3, None]),
        (where("x", at_least=1, at_most=2), [1, 2], [0, 3, None]),
        (where("x", equals=False), [False], [True, None]),
        (~where("x", equals="a"), ["b", None], ["a"]),
        (where("x", at_least=1) & ~where("x", equals=2), [1, 3], [2, 0, None]),
        (where("x", equals=1) | where("x", equals=2), [1, 2], [0, None]),
    ],
)
def test_a_condition_on_a_column(condition: Condition, holds: list[Any], fails: list[Any]) -> None:
    for wrap in (lambda v: {"x": v}, lambda v: SimpleNamespace(x=v)):
        assert [condition(wrap(value)) for value in holds + fails] == [True] * len(holds) + [False] * len(fails)


def test_nobody_and_a_missing_column_satisfy_nothing() -> None:
    for atom in (where("x", equals=1), where("x", at_most=9), has("a")):
        assert not atom(ABSENT)
        assert (~atom)(ABSENT)
    assert not where("x", equals=1)({"y": 1})


def test_facts_are_members_of_a_set() -> None:
    assert has("a")({"a", "b"})
    assert not has("c")(frozenset("ab"))
    assert (has("a") & ~has("b"))(frozenset("a"))


def test_conditions_are_values_and_read_as_sentences() -> None:
    assert where("x", one_of=["a", "b"]) == where("x", one_of=("b", "a"))
    assert len({has("a"), has("a"), ~has("a"), ~~has("a")}) == 3
    text = str(~(where("x", one_of=["b", "a"]) & has("c")) | where("y", at_least=2) | where("y", at_most=1))
    assert text == "((not ((x in {'a', 'b'}) and (has 'c'))) or (2 <= y <= inf)) or (-inf <= y <= 1)"


@pytest.mark.parametrize(
    "build",
    [
        lambda: where("x"),
        lambda: where("x", equals=1, at_least=1),
        lambda: where("x", equals=1, one_of=[1]),
        lambda: where("x", at_least=0.5),  # type: ignore[arg-type]
        lambda: where("x", at_most=True),
        lambda: where("x", at_most="3"),  # type: ignore[arg-type]
    ],
)
def test_a_condition_that_says_nothing_or_compares_floats_is_refused(build: Any) -> None:
    with pytest.raises(InputError):
        build()


def draw(rng: random.Random, depth: int = 2) -> Condition:
    kind = rng.randrange(4 if depth else 3)
    low = rng.randint(-2, 4)
    if kind == 0:
        return where("x", equals=low)
    if kind == 1:
        return where("x", at_least=low, at_most=low + rng.randint(0, 3))
    if kind == 2:
        return where("y", one_of=rng.sample("abc", rng.randint(1, 2)))
    return rng.choice([lambda c: ~c, lambda c: c & draw(rng, 0), lambda c: c | draw(rng, 0)])(draw(rng, depth - 1))


def test_the_stand_ins_hold_in_every_way_that_records_can() -> None:
    rng = random.Random("stand-ins")
    everything = [{"x": x, "y": y} for x in [*range(-6, 12), None] for y in ["a", "b", "c", "d", None]]
    between = [{"x": x + 0.5, "y": y} for x in range(-6, 12) for y in ["a", "b", "c", "d", None]]
    for _ in range(300):
        conditions = [draw(rng) for _ in range(rng.randint(1, 4))]
        ways = {tuple(c(r) for c in conditions) for r in everything}
        really = ways | {tuple(c(r) for c in conditions) for r in between}  # nobody said that the numbers are whole
        assert {tuple(c(r) for c in conditions) for r in stand_ins(conditions)} == really
        clamp = (rng.randint(-3, 0), rng.randint(1, 5))
        bounded = stand_ins(conditions, bounds={"x": clamp})
        for way in ways:  # a clamped value takes its extremes among the stand-ins, whatever else holds

            def values(records: Any, way: Any = way, conditions: Any = conditions, clamp: Any = clamp) -> list[int]:
                alike = [r["x"] for r in records if tuple(c(r) for c in conditions) == way]
                return [min(max(x or 0, clamp[0]), clamp[1]) for x in alike]  # what is missing counts as 0

            assert (min(values(everything), default=0), max(values(everything), default=0)) == (
                min(values(bounded), default=0),
                max(values(bounded), default=0),
            )


def test_declared_columns_leave_out_what_cannot_be() -> None:
    conditions = [where("x", at_least=2), where("y", equals="a")]
    made = stand_ins(conditions, columns={"x": range(5), "y": ["a", "b"]})
    assert {(r["x"] >= 2, r["y"]) for r in made} == set(itertools.product([True, False], "ab"))
    assert all(r["x"] in range(5) for r in made)
    assert {r["x"] for r in stand_ins(conditions, columns={"x": range(2, 5)})} == {2}
    bounded = stand_ins(conditions, columns={"x": range(2, 5)}, bounds={"x": (0, 9)})
    assert {r["x"] for r in bounded} == {2, 4}
    assert stand_ins([]) == ({},)


def test_sets_of_facts_stop_at_the_declared_number() -> None:
    facts = [has(p) for p in "abc"]
    assert len(stand_ins(facts)) == 8
    assert {len(s) for s in stand_ins(facts, facts_per_person=1)} == {0, 1}
    assert len(stand_ins([has(i) for i in range(40)], facts_per_person=1)) == 41


def test_too_many_records_are_refused() -> None:
    assert len(stand_ins([has(i) for i in range(10)])) == MOST_RECORDS
    with pytest.raises(InputError, match="more than 1024"):
        stand_ins([has(i) for i in range(11)])
    with pytest.raises(InputError, match="more than 1024"):
        stand_ins([has(i) for i in range(20_000)])
    with pytest.raises(InputError, match="more than 1024"):
        stand_ins([where(f"x{i}", equals=1) for i in range(11)])
    with pytest.raises(InputError, match="one kind"):
        stand_ins([has("a"), where("x", equals=1)])


@pytest.mark.parametrize(
    "given", ["STAY", b"STAY", pd.DataFrame({"state": ["STAY"]}), pa.table({"state": ["STAY"]}), 5]
)
def test_what_is_no_list_is_not_taken_apart(given: Any) -> None:
    """Python goes through a text by letters and through a data frame by names: a policy would be about nobody."""
    records = lw.records(pa.table({"state": ["STAY"]}), person="each row")
    asked: list[Callable[[], object]] = [
        lambda: lw.where("state", one_of=given),
        lambda: Histogram("state", given),
        lambda: lw.query.Domain(columns={"state": given}),
        lambda: lw.statistic(records, "count", by={"state": given}),
    ]
    if not isinstance(given, str | int):  # which are one value there
        asked.append(lambda: lw.records(pa.table({"state": ["STAY"]}), person="each row", keep={"state": given}))
    for ask in asked:
        with pytest.raises(InputError, match=r"not a list\b"):
            ask()


@pytest.mark.parametrize(
    ("given", "why"), [("10", "one text, not a list"), ({1: "1/10"}, "it is not a list"), ({"1", "2"}, "no order")]
)
def test_what_is_no_list_is_no_list_of_costs(given: Any, why: str) -> None:
    asked: list[Callable[[], object]] = [
        lambda: lw.Personalised(lw.AdditionOnly("1"), given),
        lambda: lw.accounting.parallel(given, 1),
        lambda: lw.notion.compose.parallel(lw.AdditionOnly("1"), given, cut="person"),
        lambda: lw.distance.elastic_distance([(0, 0), (0, 1)], given, within="1", least="1"),
    ]
    for ask in asked:
        with pytest.raises(InputError, match=why):
            ask()


def test_a_set_is_no_list_where_the_order_counts() -> None:
    """It has another order in each process: the same script would ask another question, or give rows to other secrets."""
    table, places = pa.table({"state": ["STAY"]}), {"a", "b"}
    same, points = [[1, 0], [0, 1]], {(0, 0), (0, 1)}
    asked: list[Callable[[], object]] = [
        lambda: lw.statistic(lw.records(table, person="each row"), "count", by={"state": places}),
        lambda: lw.statistic(lw.records(table, person="each row"), "count", by={"state": frozenset(places)}),
        lambda: Histogram("state", places),  # type: ignore[arg-type]
        lambda: lw.mechanism.FiniteMechanism(places, ["a", "b"], same),
        lambda: lw.mechanism.FiniteMechanism(["a", "b"], places, same),
        lambda: lw.mechanism.FiniteMechanism.from_floats(places, ["a", "b"], [[1.0, 0.0], [0.0, 1.0]]),
        lambda: lw.mechanism.FiniteMechanism.from_floats(["a", "b"], places, [[1.0, 0.0], [0.0, 1.0]]),
        lambda: lw.mechanism.FiniteMechanism.coded(places, ["a", "b"], (), np.zeros((2, 2), np.intp)),
        lambda: lw.mechanism.FiniteMechanism.coded(["a", "b"], places, (), np.zeros((2, 2), np.intp)),
        lambda: lw.distance.FiniteDistance(places, [[0, 1], [1, 0]]),
        lambda: lw.distance.FiniteDistance.closed(places, [[0, 1], [1, 0]]),
        lambda: lw.distance.elastic_distance(points, [1, 2], within="1", least="1"),
        lambda: lw.distance.region_distance(points, []),
        lambda: lw.distance.whole_lengths(points),
        lambda: lw.distance.graph_distance(places, [("a", "b")], directed=False),
        lambda: lw.Line(1, 1).on({1, 2}),
        lambda: lw.distance.Plane(1).on(points),
        lambda: lw.both_hold(lw.Line(1, 2), lw.Line(2, 1)).on({1, 2}),
        lambda: lw.Line(1, 1).reverse().on({1, 2}),
        lambda: lw.ADP("1", {~has("a"), ~has("b")}),
        lambda: lw.ADP("1", [~has("a")], records=places),
        lambda: lw.OSDP("1", has("a"), records=places),
        lambda: lw.notion.ULDP("1", has("a"), records=places),
        lambda: lw.notion.Blowfish("1", places, [("a", "b")]),
        lambda: lw.notion.Blowfish("1", ["a", "b"], {("a", "b")}),
        lambda: lw.notion.ContextAwareLDP("1", places, {}),
        lambda: lw.notion.GroupDP("1", {(0, 1), (2,)}),
        lambda: lw.monitor(set(), lw.Budget("b.db", dataset="d", cap="1")),
    ]
    for ask in asked:
        with pytest.raises(InputError, match="it has no order"):
            ask()
    assert lw.where("state", one_of=places) == lw.where("state", one_of=["b", "a"])
    rest = range(1, 8)
    assert lw.notion.GroupDP("1", [{8, 0}, rest]) == lw.notion.GroupDP("1", [{0, 8}, rest])  # a group has no order


def test_values_of_arrow_are_those_of_python() -> None:
    listed = pa.array(["STAY", "GO"]).dictionary_encode()
    assert lw.where("state", one_of=listed) == lw.where("state", one_of=["STAY", "GO"])
    assert lw.where("state", one_of=listed)({"state": "GO"})
    assert Histogram("state", listed).value({"state": "GO"}) == (0, 1)
    keep = lw.records(pa.table({"state": ["STAY"]}), person="each row", keep={"state": listed}).keep
    assert keep == {"state": ("GO", "STAY")}


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")])
def test_what_is_missing_is_no_value_of_a_condition(missing: Any) -> None:
    """A missing value satisfies none, so a policy that named it would be about nobody."""
    with pytest.raises(InputError, match="NaN or None"):
        lw.where("state", one_of=["STAY", missing])
    assert not lw.where("state", one_of=["STAY"])({"state": missing})


@pytest.mark.parametrize("held", [[1], {"a": 1}, np.array([1, 2]), np.ma.masked, Decimal("sNaN")])
def test_what_is_no_single_value_satisfies_no_condition(held: Any) -> None:
    assert not lw.where("x", one_of=[1, "a"])({"x": held})
    assert (~lw.where("x", one_of=[1, "a"]))({"x": held})


def test_a_column_is_named_by_a_text() -> None:
    with pytest.raises(InputError, match="a column has a name"):
        lw.where(5, equals=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("fact", [["a"], {"a": 1}, np.array(["a"]), (["a"],)])
def test_a_fact_is_what_a_set_may_hold(fact: Any) -> None:
    with pytest.raises(InputError, match="a set of facts"):
        has(fact)


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_a_moment_of_numpy_is_that_moment_in_any_unit(unit: str) -> None:
    """NumPy says a moment in nanoseconds, the unit of pandas, as a bare number: no row would ever hold that."""
    moment = np.datetime64("2024-01-01").astype(f"M8[{unit}]")
    condition = lw.where("at", equals=moment)
    assert condition == lw.where("at", equals=date(2024, 1, 1) if unit == "D" else datetime(2024, 1, 1))
    assert condition({"at": moment})
    assert condition != lw.where("at", equals=int(moment.astype(np.int64)))
    if unit != "D":
        assert all(condition({"at": at}) for at in (pd.Timestamp("2024-01-01"), moment.astype("M8[ns]")))
    length = lw.where("for", equals=np.timedelta64(1, "D").astype(f"m8[{unit}]"))
    assert length == lw.where("for", equals=timedelta(days=1))


def test_what_python_has_no_moment_for_stays_what_it_is() -> None:
    instants = [
        np.datetime64(1, "ns"),
        np.datetime64(2, "ns"),
        np.datetime64(10**12, "s"),
        np.timedelta64(1, "Y"),
        np.timedelta64(5, "ps"),
    ]
    for one in instants:
        assert [lw.where("at", equals=one)({"at": other}) for other in instants] == [one is other for other in instants]
        assert not lw.where("at", equals=one)({"at": int(one.astype(np.int64))})
    with pytest.raises(InputError, match="NaN or None"):
        lw.where("at", equals=np.datetime64("NaT", "ns"))


def test_a_small_float_of_numpy_is_compared_as_the_number_that_it_is() -> None:
    """NumPy would round the bound to 32 bits first: 16,777,217 to 16,777,216."""
    assert not lw.where("x", at_least=2**24 + 1)({"x": np.float32(2**24)})
    assert lw.where("x", at_least=2**24)({"x": np.float32(2**24)})


@pytest.mark.parametrize("unit", ["ns", "us", "generic"])
def test_a_span_of_time_is_no_number(unit: str) -> None:
    span = np.timedelta64(5, unit)
    for ask in (exact, lambda v: whole(v, "n"), lambda v: integer(v, "n"), lambda v: lw.where("x", at_least=v)):
        with pytest.raises(InputError):
            ask(span)
    assert not lw.where("x", at_least=3)({"x": span})


def test_a_fact_of_numpy_is_that_of_python() -> None:
    """A machine number that is compared with a tuple answers with an array."""
    facts = [np.int64(1), np.float32(0.5), np.str_("a"), np.bool_(False)]
    for fact in facts:
        assert has(fact) == has(fact.item())
        assert has(fact)({fact})
        assert [has(fact) == has(other) for other in ((1, 2), ((1,),), (), 2**70)] == [False] * 4
