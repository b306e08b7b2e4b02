"""Attack: what is meant is written otherwise in a policy, in a later hour of a monitor, or at a time nobody asks for."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import leeward as lw
from leeward.errors import DoubtfulDataError, InputError
from leeward.notion import Blowfish

DAY = dt.datetime(2020, 1, 1)


def rows(**columns: Any) -> pa.Table:
    return pa.table({"ill": ["flu", "cold", "ok"], "age": ["60", "70", "7"], "ward": [1, 2, 3], **columns})


MISSED = {
    "a capital": ("ill", ["flu", "cold"], lw.OSDP("1", lw.where("ill", equals="Flu"))),
    "a space, in one of several": ("ill", ["flu", "cold"], lw.ADP("1", [~lw.where("ill", one_of=["cold", "flu "])])),
    "letters in another form": ("ill", ["gripp\u00e9"], lw.OSDP("1", lw.where("ill", equals="grippe\u0301"))),
    "a number, of texts": ("age", ["60", "70"], lw.OSDP("1", lw.where("age", equals=60))),
    "a text, of numbers": ("ward", [1, 2], lw.OSDP("1", lw.where("ward", one_of=["1"]))),
    "a range of numbers, of texts": ("age", ["60", "70"], lw.OSDP("1", lw.where("age", at_least=65))),
    "the end of an edge": ("ill", ["flu", "cold"], Blowfish("1", ["flu", "cold", "Flu"], [("Flu", "cold")])),
}


@pytest.mark.parametrize("meant", MISSED)
def test_a_policy_about_what_groups_spell_otherwise_is_refused(meant: str) -> None:
    """Noise would be for rows that do not occur, and those that were meant would have none in one direction."""
    by, groups, notion = MISSED[meant]
    query = lw.statistic(lw.records(rows(), person="each row"), "count", by={by: groups})
    with pytest.raises(InputError, match="about none of the rows"):
        lw.plan(query, notion)


def test_so_is_one_about_what_the_filter_spells_otherwise() -> None:
    table = lw.records(rows(state=["STAY"] * 3), person="each row", keep={"state": ["STAY"]})
    query = lw.statistic(table, "count", by={"ill": ["flu", "cold"]})
    with pytest.raises(InputError, match="'STAY' in the filter"):
        lw.plan(query, lw.OSDP("1", lw.where("state", equals="stay")))
    lw.plan(query, lw.OSDP("1", lw.where("state", equals="gone")))


def test_spellings_that_are_all_listed_are_different_things() -> None:
    query = lw.statistic(lw.records(rows(), person="each row"), "count", by={"ill": ["flu", "Flu"]})
    lw.plan(query, lw.OSDP("1", lw.where("ill", equals="Flu")))


def visits(hours: dict[int, str], states: dict[int, str] | None = None) -> pa.Table:
    """Four people an hour at a place, and one in the park."""
    all_of = [(hour, *each) for hour, place in hours.items() for each in [*((place, i) for i in range(4)), ("park", 4)]]
    return pa.table(
        {
            "who": [f"{hour} {i}" for hour, _, i in all_of],
            "where": [place for _, place, _ in all_of],
            "when": pa.array([DAY + dt.timedelta(hours=hour, minutes=i) for hour, _, i in all_of], pa.timestamp("us")),
            "state": ["STAY" if i == 4 else (states or {}).get(hour, "STAY") for hour, _, i in all_of],
        }
    )


def plan_of(table: pa.Table, hour: int) -> Any:
    seen = lw.visits(table, person="who", place="where", time="when", keep={"state": ["STAY"]})
    public = lw.places(pa.table({"place": ["park", "zoo"]}), place="place")
    start, end = (DAY + dt.timedelta(hours=each) for each in (hour, hour + 1))
    query = lw.count_visitors(seen, public, start=start, end=end)
    return lw.plan(query, lw.AdditionOnly("5"), lw.Decide(safe_at_most=2), mechanism="sanitized", stop_after=9)


LATER = {
    "places": visits({8: "park", 9: "zoo ", 10: "zoo"}),
    "the filter": visits({8: "park", 9: "zoo", 10: "zoo"}, {9: "Stay"}),
}


@pytest.mark.parametrize("what", LATER)
def test_a_later_hour_of_a_monitor_is_looked_at_as_the_first_is(what: str, tmp_path: Path) -> None:
    """The zoo has four visitors at nine, whose rows are written otherwise than at any other time."""
    budget, first = lw.Budget(tmp_path / "budget.db", "walks", "99"), plan_of(LATER[what], 8)
    lw.monitor([first], budget)
    with pytest.raises(DoubtfulDataError, match="made no difference"):
        lw.monitor([first, plan_of(LATER[what], 9)], budget)
    assert len(lw.monitor([first, plan_of(LATER[what], 10)], budget).releases) == 2


@pytest.mark.parametrize("what", LATER)
def test_rows_of_another_time_stop_no_release(what: str, tmp_path: Path) -> None:
    budget, after = lw.Budget(tmp_path / "budget.db", "walks", "99"), plan_of(LATER[what], 10)
    assert not lw.check(after, budget).refusals
    assert lw.check(plan_of(LATER[what], 9), budget).refusals
    lw.release(after, budget)


def test_nor_do_rows_between_windows(tmp_path: Path) -> None:
    table = LATER["places"]
    lw.monitor([plan_of(table, 8), plan_of(table, 10)], lw.Budget(tmp_path / "budget.db", "walks", "99"))
