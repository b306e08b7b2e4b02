"""How many people are above each level: how far one person moves the counts, by going through all small tables."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.notion import INSERT, REPLACE, WITHDRAW, ValueGrid
from leeward.planner import Plan

TABLE = lw.records("t.csv", person="who")
NUMBERS = (0, 1, 2, 3)


def asked(levels: Any, groups: int = 0, **more: Any) -> Any:
    by: dict[str, Any] = {"by": "g", "groups": list("fmx"[:groups])} if groups else {}
    return statistic_by(TABLE, "above", column="v", levels=levels, **by, **more)


def counts(table: Any, levels: Any, groups: int) -> list[int]:
    """The oracle: one pass over the people for every group and level."""
    down = sorted(levels, reverse=True)
    return [
        sum(1 for person in table if person and person[0] == group and person[1] > level)
        for group in "fmx"[:groups] or "f" for level in down
    ]  # fmt: skip


def moves(change: str, levels: Any, groups: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The extreme (rise, fall) of all counts together, and of one, over all tables of two people and one change of one."""
    present = list(itertools.product("fmx"[: groups or 1], NUMBERS))
    # whoever stays may go where nobody is counted: to a group that is not listed, or to have no number
    anywhere = [*present, None] if groups != 1 else [*present, ("elsewhere", 3), None]
    pairs = {
        "withdraw": [(r, None) for r in present],
        "insert": [(None, r) for r in present],
        "replace": list(itertools.product(anywhere, anywhere)),
    }[change]
    total, each = set(), set()
    for other in anywhere:
        for before, after in pairs:
            tables = (counts([other, person], levels, groups) for person in (before, after))
            apart = [b - a for a, b in zip(*tables, strict=True)]
            total.add((sum(max(d, 0) for d in apart), sum(max(-d, 0) for d in apart)))
            each |= {(max(d, 0), max(-d, 0)) for d in apart}
    return _extreme(total), _extreme(each)


def _extreme(found: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {m for m in found if not any(m != n and m[0] <= n[0] and m[1] <= n[1] for n in found)} - {(0, 0)}


@pytest.mark.parametrize("groups", [0, 1, 2])
@pytest.mark.parametrize("levels", [(0,), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize(("change", "name"), [(WITHDRAW, "withdraw"), (INSERT, "insert"), (REPLACE, "replace")])
def test_one_person_moves_the_counts_as_far_as_is_said(change: Any, name: str, levels: Any, groups: int) -> None:
    effect = asked(levels, groups).effect(change)
    total, each = moves(name, levels, groups)
    assert _extreme(set(effect.total or ())) == total
    assert set(effect.each) == each


def test_levels_hold_in_order_and_are_listed_or_stepped() -> None:
    assert asked(["1/2", "2", "5"]).levels == (Fraction(1, 2), Fraction(2), Fraction(5))
    stepped: Any = lw.statistic(TABLE, "above", column="v", lower=10, upper=30, step=10)
    assert stepped.levels == (10, 20, 30)
    assert (stepped.cells, stepped.most_counts, stepped.noun, stepped.counts_people) == (3, 3, "level", True)
    assert asked([1, 2], 3).cells == 6


def test_more_levels_than_there_may_be_are_refused_before_they_are_listed() -> None:
    """They were listed first: of 5·10^14 that takes all memory."""
    with pytest.raises(SpecError, match="500,000,000,000,001 levels: 1,000,000 answers are the most"):
        lw.statistic(TABLE, "above", column="v", lower=0, upper=10**15, step=2)


@pytest.mark.sweep
@pytest.mark.long
def test_as_many_levels_as_there_may_be_are_listed() -> None:
    assert len(lw.statistic(TABLE, "above", column="v", lower=1, upper=10**6, step=1).levels) == 10**6


@pytest.mark.parametrize("wrong", [
    {"levels": []}, {"levels": ["2", "1"]}, {"levels": ["1", "1"]}, {"levels": "12"}, {"levels": ["1"], "lower": 0}, {},
    {"lower": 0}, {"levels": ["1"], "people": 3}, {"levels": ["1"], "grid": "1"}, {"levels": ["1"], "p": "5"},
])  # fmt: skip
def test_what_is_no_list_of_levels_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        statistic_by(TABLE, "above", column="v", **wrong)
    with pytest.raises(SpecError, match="no meaning"):
        lw.statistic(TABLE, lw.query.Kind("sum", levels=["1"]), column="v", lower=0, upper=3)
    with pytest.raises(SpecError, match="people = 3 for a count above levels"):
        lw.statistic(TABLE, lw.query.Kind("above", levels=["1"], people=3), column="v")


def test_levels_are_scanned_for_one_price_however_many_there_are() -> None:
    for levels, groups in (([1], 0), (range(100), 0), (range(100), 3)):
        made: Any = lw.plan(asked(list(levels), groups), lw.AdditionOnly("1/2"), lw.Decide(safe_at_most=5))
        assert (made.mechanism.name, str(made.price), made.decisions.never_wrong) == ("sanitized", "1/2", True)
        assert str(made.listing(made.query.cells).price) == "1/2"
    nine: Any = lw.plan(asked([0, 1], 3), lw.AdditionOnly("1/2"), lw.Decide(safe_at_most=5), stop_after=9)
    assert (str(nine.price), str(nine.listing(6).price), nine.listing(6).may_stop) == ("9/2", "1", False)


@pytest.mark.parametrize(("notion", "rates"), [
    (lw.RemovalOnly("1"), ("inf", "1/3")), (lw.UnboundedDP("1"), ("1/3", "1/3")), (lw.BoundedDP("1"), ("1/3", "1/3")),
])  # fmt: skip
def test_elsewhere_every_level_pays_for_itself(notion: Any, rates: tuple[str, str]) -> None:
    """In one group who is replaced moves all counts one way, so that even then three levels cost three times one."""
    made: Any = lw.plan(asked([0, 1, 2]), notion, lw.Decide(safe_at_most=50, error_at_most="0.1"))
    assert (made.mechanism.name, str(made.mechanism.law.up), str(made.mechanism.law.down)) == ("geometric", *rates)
    if isinstance(notion, lw.BoundedDP):
        two: Any = lw.plan(asked([0, 1, 2], 2), notion, lw.Decide(safe_at_most=50, error_at_most="0.1"))
        assert (str(two.mechanism.law.up), str(two.mechanism.law.down)) == ("1/6", "1/6")


def test_what_is_not_derived_is_refused() -> None:
    grid = ValueGrid(0, 3, 1)
    for notion in (lw.Manhattan("1", grid), lw.notion.Maximum("1", grid), lw.Presence("1")):
        with pytest.raises(NotPrivateError):
            lw.plan(asked([0, 1]), notion, lw.Decide(safe_at_most=5, error_at_most="0.1"))
    with pytest.raises(NotPrivateError, match="each group by itself"):
        lw.plan(asked([0, 1], 2), lw.UnboundedDP("1"), lw.Decide(safe_at_most=5), mechanism="sanitized")
    with pytest.raises(InputError, match="Give safe_at_most"):
        lw.plan(asked([0, 1]), lw.AdditionOnly("1"))
    with pytest.raises(SpecError):
        lw.select(asked([0, 1]))
    with pytest.raises(InputError, match="highest down"):
        lw.compare(
            asked([0, 1]), lw.AdditionOnly("1"), lw.Decide(safe_at_most=5), scenario=lw.planner.Scenario(counts={0: 2})
        )


def test_people_of_several_prices_are_scanned_at_the_least_of_them() -> None:
    made: Any = lw.plan(
        asked([0, 1], 2), lw.Personalised(lw.AdditionOnly("1"), ["1", "1/2"]), lw.Decide(safe_at_most=5)
    )
    assert isinstance(made, Plan)
    assert (str(made.mechanism.law.up), str(made.price)) == ("1/2", "1")
