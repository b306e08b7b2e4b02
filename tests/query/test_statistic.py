"""Questions about numbers: what is malformed is refused in words that teach, and what is asked is described in public."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by

from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.exact import exact
from leeward.notion import (
    INSERT,
    REPLACE,
    SHRINK,
    WITHDRAW,
    AdditionOnly,
    BoundedDP,
    Notion,
    ReplaceDP,
    UnboundedDP,
    bounded_change,
)
from leeward.planner._number_plan import plan_number
from leeward.query import records, statistic
from leeward.query._source import MOST_CELLS
from leeward.session._question import about

TABLE = records("t.parquet", person="each row")
AGE: dict[str, Any] = {"column": "age", "lower": 0, "upper": 10}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"kind": "meen"}, "Did you mean 'mean'?"),
        ({"kind": "mean", "lower": 0, "upper": 1}, "Give the column"),
        ({"kind": "mean", "column": "age", "lower": 0}, "Give lower and upper"),
        ({"kind": "mean", "column": "age"}, "without bounds"),
        ({"kind": "mean", **AGE, "upper": -1}, "lower < upper"),
        ({"kind": "mean", **AGE, "step": 3}, "whole number of steps"),
        ({"kind": "mean", **AGE, "step": 0}, "that is not a grid"),
        ({"kind": "mean", **AGE, "step": 0.1}, "Write it as a string"),
        ({"kind": "mean", **AGE, "grid": "0"}, "positive step"),
        ({"kind": "mean", **AGE, "grid": "1e-30"}, "does not fit in 64 bits"),
        ({"kind": "mean", **AGE, "upper": 10**18, "step": "1/100"}, "do not fit in 64 bits"),
        ({"kind": "mean", **AGE, "p": 50}, "p = 50 for a mean"),
        ({"kind": "sum", **AGE, "grid": 1}, "grid = 1 for a sum"),
        ({"kind": "percentile", **AGE}, "without p"),
        ({"kind": "percentile", **AGE, "p": 100}, "0 ≤ p < 100"),
        ({"kind": "percentile", **AGE, "p": -1}, "0 ≤ p < 100"),
        ({"kind": "histogram"}, "A histogram of nothing"),
        ({"kind": "histogram", "lower": 0, "by": "g", "groups": ["a"]}, "people, and groups, have no bounds"),
        ({"kind": "histogram", **AGE, "people": 5}, "people = 5 for a histogram"),
        ({"kind": "histogram", **AGE, "upper": MOST_CELLS + 1}, "Use wider steps"),
        ({"kind": "sum", **AGE, "people": 0}, "nobody would be asked"),
        ({"kind": "sum", **AGE, "people": "5"}, "not a whole number"),
        ({"kind": "sum", **AGE, "people": True}, "not a whole number"),
        ({"kind": "sum", **AGE, "people": 5, "by": "g", "groups": ["a", "b"]}, "Leave people out"),
        ({"kind": "sum", **AGE, "by": "g"}, "Give them by column"),
        ({"kind": "sum", **AGE, "by": "g", "groups": []}, "List each once"),
        ({"kind": "sum", **AGE, "by": "g", "groups": ["a", "a"]}, "List each once"),
        ({"kind": "sum", **AGE, "by": "g", "groups": ["a", 1]}, "mix types"),
        ({"kind": "sum", **AGE, "by": "g", "groups": [1.5]}, "public keys"),
        ({"kind": "sum", **AGE, "by": "g", "groups": [True]}, "public keys"),
        ({"kind": "sum", **AGE, "by": "g", "groups": "ab"}, "not a list"),
    ],
)
def test_malformed_questions_are_refused_by_name(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        statistic_by(TABLE, asked.pop("kind"), **asked)
    assert said in str(refused.value)


def test_what_they_nearly_say_is_accepted() -> None:
    statistic_by(TABLE, "percentile", **AGE, p="99.9")
    statistic_by(TABLE, "mean", **AGE, grid="1/10", by="g", groups=("a",), people=3)
    statistic_by(TABLE, "histogram", **AGE, by="g", groups=[1, 2])
    assert statistic_by(TABLE, "histogram", **{**AGE, "upper": MOST_CELLS}).cells == MOST_CELLS


@pytest.mark.parametrize(
    ("table", "asked", "said"),
    [
        ({"combine": "mean", "person": "who"}, None, "not a known choice"),
        ({"combine": "sum"}, None, "there is nothing to combine"),
        ({"combine": "sum", "person": "who"}, {"kind": "histogram", **AGE}, 'Combine by "min" or "max"'),
        ({"combine": "sum", "person": "who"}, {"kind": "sum", **AGE, "lower": "1/2", "upper": "9/2"}, "Make lower"),
    ],
)
def test_tables_and_questions_that_do_not_go_together(table: Any, asked: Any, said: str) -> None:
    def made() -> None:
        statistic_by(records("t.parquet", **{"person": "each row", **table}), asked.pop("kind"), **asked)

    with pytest.raises(SpecError) as refused:
        made()
    assert said in str(refused.value)


def test_sums_of_a_person_s_numbers_where_they_stay_on_the_grid() -> None:
    by_person = records("t.parquet", person="who", combine="sum")
    assert statistic(by_person, "sum", column="age", lower="-1/2", upper="9/2", step="1/2").values is not None


def test_a_replacement_touches_two_groups_and_the_rest_one() -> None:
    one = statistic_by(TABLE, "sum", **AGE)
    two = statistic_by(TABLE, "sum", **AGE, by="g", groups=["a", "b"])
    assert (10, 10) in (two.effect(REPLACE).total or ())
    assert (10, 10) not in (one.effect(REPLACE).total or ())
    for change in (WITHDRAW, INSERT, bounded_change(1)):
        assert two.effect(change) == one.effect(change)


def test_a_replacement_may_take_the_number_away_unless_everybody_has_one() -> None:
    far = {"column": "age", "lower": 10, "upper": 14}
    assert max(fall for _, fall in statistic_by(TABLE, "sum", **far).effect(REPLACE).total or ()) == 14
    assert max(fall for _, fall in statistic_by(TABLE, "sum", **far, people=2).effect(REPLACE).total or ()) == 4


def test_a_nudge_moves_a_rounded_number_by_one_step() -> None:
    asked = statistic(TABLE, "sum", column="age", lower=0, upper=10, step=5)
    for size in ("1/10", 5):
        assert asked.effect(bounded_change(size)).total == ((5, 0), (0, 5))


@pytest.mark.parametrize(
    ("table", "grouped"),
    [({"keep": {"age": [3]}}, {}), ({"person": "age"}, {}), ({}, {"by": "age", "groups": [3, 4]})],
)
@pytest.mark.parametrize("kind", ["sum", "histogram"])
def test_closeness_of_a_number_that_decides_who_counts_is_refused(table: Any, grouped: Any, kind: Any) -> None:
    """A bounded change from 3 to 4 would take a person out of the answer: a withdrawal at the price of one step."""
    asked = statistic_by(records("t.parquet", **{"person": "each row", **table}), kind, **AGE, **grouped)
    for effect in (asked.effect, asked.effect_of_all):
        with pytest.raises(NotPrivateError, match="also decides who counts"):
            effect(bounded_change(1))
    assert asked.effect(WITHDRAW).total
    statistic_by(records("t.parquet", person="each row", keep={"other": [3]}), kind, **AGE).effect(bounded_change(1))


@pytest.mark.parametrize(
    ("kind", "asked", "said"),
    [
        ("count", {}, "A count under a notion whose steps are 'shrink': a person's record here is one group,"),
        ("histogram", {}, "A count under a notion whose steps are 'shrink': a person's record here is one group,"),
        ("histogram", AGE, "A histogram under a notion whose steps are 'shrink': a person's record here is a number,"),
        ("mean", AGE, "A mean under a notion whose steps are 'shrink': a person's record here is a number,"),
    ],
)
def test_a_refusal_calls_a_question_what_it_was_asked_as(kind: Any, asked: dict[str, Any], said: str) -> None:
    """Found: a count of groups was refused as a histogram, whose records were numbers."""
    with pytest.raises(NotPrivateError) as refused:
        statistic_by(TABLE, kind, **asked, by="g", groups=["a", "b"]).effect(SHRINK)
    assert said in str(refused.value)


def test_everything_public_that_changes_the_answer_is_in_its_key() -> None:
    base = {"column": "age", "lower": 0, "upper": 10, "grid": "1/2", "by": "g", "groups": ["a"]}
    changes = [{}, {"column": "hours"}, {"lower": 1}, {"step": "1/2"}, {"grid": 1}, {"by": "h"}, {"people": 7}]
    keys = [about(statistic_by(TABLE, "mean", **{**base, **change})) for change in changes]
    keys += [about(statistic_by(TABLE, "percentile", **AGE, p=p)) for p in (Fraction(1), 50)]
    keys += [
        about(statistic_by(records("t.parquet", **{"person": "each row", **table}), "sum", **AGE))
        for table in ({"person": "who"}, {"person": "id"}, {"person": "who", "combine": "max"}, {"keep": {"a": [1]}})
    ]
    written = [str(key) for key in keys]
    assert len(set(written)) == len(written) == 13


@pytest.mark.parametrize("groups", [["a"], ["a", "b"]])
@pytest.mark.parametrize("notion", [BoundedDP("1"), ReplaceDP("1"), UnboundedDP("1"), AdditionOnly("1")], ids=str)
def test_the_rate_of_counts_of_groups_is_the_largest_there_is(notion: Notion, groups: list[str]) -> None:
    """Over all ordered pairs of records, nobody and those of no listed group among them: noise is as small as it may be.

    A replaced row lowers one count and raises another where there are two; a single count goes one way.
    """
    line = plan_number(statistic(TABLE, "histogram", by={"g": groups}), notion).parts[0].line

    def counts(record: Any) -> list[int]:
        return [int(record is not None and record["g"] == group) for group in groups]

    costs = []
    for before, after in itertools.permutations([None, *({"g": group} for group in (*"abcd", None))], 2):
        far = notion.record(before, after)
        moves = [b - a for a, b in zip(counts(before), counts(after), strict=True)]
        lost = sum((line.rise * max(m, 0) + line.fall * max(-m, 0) for m in moves if m), start=exact(0))
        assert lost <= far
        costs += [] if far.is_infinite else [lost == far]
    assert any(costs), "a larger rate would be private too"
