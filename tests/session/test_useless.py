"""Before anything is charged: noise that would leave practically nothing to be read is refused, for every table alike."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.deciding import decide_by
from tests.session.conftest import Town

import leeward as lw
from leeward.errors import LowUtilityError
from leeward.ledger import Ledger
from leeward.noise import SeededBitsForTests
from leeward.planner._useless import refuse_useless

FULL = pd.DataFrame(
    {"who": range(50), "p": ["a", "b"] * 25, "at": pd.Timestamp("2026-01-01T12:30"), "n": np.arange(50) % 4}
)
BARE = FULL.iloc[:1].assign(p="b", n=3)
MANY = pd.DataFrame({"p": [*"ab", *(f"x{i}" for i in range(998))]})


def places(table: Any, listed: Any = MANY, **bound: Any) -> Any:
    seen = lw.visits(table, person="who", place="p", time="at")
    day = {"start": "2026-01-01", "end": "2026-01-02"}
    return lw.count_visitors(seen, lw.places(listed, place="p"), **day, **bound)


def number(table: Any, kind: Any, **more: Any) -> Any:
    return statistic_by(lw.records(table, person="who"), kind, column="n", lower=0, upper=3, **more)


CASES: dict[str, tuple[Any, lw.Notion, dict[str, Any], tuple[str, ...]]] = {
    "a median of 0 ± 9 from 0 to 3": (
        lambda t: number(t, "median"), lw.UnboundedDP("1"), {"mechanism": "geometric"}, ("95 % error", "is 3", "its rank"),
    ),
    "a median of any rank": (
        lambda t: number(t, "median"), lw.UnboundedDP("1/20000"), {"mechanism": "rank"}, ("as many as 100,000", "by rank"),
    ),
    "a mean of 0 ± 3 from 0 to 3": (lambda t: number(t, "mean"), lw.UnboundedDP("1/100000"), {}, ("100,000 people", "is 3")),
    "a bound that was forgotten": (
        places, lw.Presence("1"), {"safe_at_most": 2}, ("places_per_person is missing", "of 1,000 places"),
    ),
    "a bound of more places than there are": (
        lambda t: places(t, MANY.iloc[:12], places_per_person=9000),
        lw.AdditionOnly("9000"), {"safe_at_most": 2}, ("places_per_person = 9000 with a list of 12 places", "= 12 or less"),
    ),
    "a chance of one in a hundred": (
        lambda t: places(t, places_per_person=1),
        lw.AdditionOnly("1/100"), {"safe_at_most": 0}, ("with probability 0.01 only",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_for_every_table_alike_and_charged_nothing(case: str, tmp_path: Path) -> None:
    asked, notion, decided, words = CASES[case]
    told = []
    for name, table in (("full", FULL), ("bare", BARE)):
        budget = lw.Budget(tmp_path / f"{name}.db", "d", "9000")
        with pytest.raises(LowUtilityError) as refused:
            lw.release(decide_by(lw.plan, asked(table), notion, **decided), budget)
        told.append(str(refused.value))
        assert Ledger(budget.ledger).show("d") == []
    assert told[0] == told[1]
    for word in (*words, "accept_useless=True", "--accept-useless"):
        assert word in told[0]
    made = lw.release(decide_by(lw.plan, asked(FULL), notion, **decided), budget, accept_useless=True)
    assert (
        lw.release(decide_by(lw.plan, asked(FULL), notion, **decided), budget).statement.entry == made.statement.entry
    )


@pytest.mark.parametrize(("epsilon", "useless"), [("3", True), ("4", False)])
def test_the_edge_is_the_range_itself(epsilon: str, useless: bool, tmp_path: Path) -> None:
    """A least value of 0 to 3 moves by 3 at most: its 95 % error is 3 at ε = 3 and less at ε = 4."""
    query, notion = number(FULL, "min"), lw.UnboundedDP(epsilon)
    planned = lw.plan(query, notion, mechanism="geometric")
    assert (planned.accuracy().within_95_percent >= 3) == useless
    budget = lw.Budget(tmp_path / "b.db", "d", "9")
    if useless:
        with pytest.raises(LowUtilityError):
            lw.release(planned, budget)
    else:
        lw.release(planned, budget)


@pytest.mark.parametrize("places", [1, 2, 12])
def test_the_bound_may_be_as_many_places_as_are_listed(places: int) -> None:
    listed = MANY.iloc[:places]
    for bound, useless in ((places, False), (places + 1, True)):
        made = lw.plan(places_asked(listed, bound), lw.AdditionOnly("50"), lw.Decide(safe_at_most=2))
        if useless:
            with pytest.raises(LowUtilityError, match=f"= {places} or less"):
                refuse_useless(made, places)
        else:
            refuse_useless(made, places)


def places_asked(listed: Any, bound: int) -> Any:
    return places(FULL, listed, places_per_person=bound)


def test_each_way_to_release_goes_on_where_that_is_accepted(tmp_path: Path) -> None:
    query = places(FULL, MANY.iloc[:2], places_per_person=1)
    plan = lw.plan(query, lw.AdditionOnly("1/100"), lw.Decide(safe_at_most=0))
    ways: dict[str, Any] = {
        "release": lambda **how: [lw.release(plan, **how)],
        "release_all": lambda **how: [*lw.release_all({"one": plan, "two": plan}, **how).values()],
        "check": lw.check,
    }
    for name, way in ways.items():
        budget = lw.Budget(tmp_path / f"{name}.db", "d", "9")
        if name == "check":
            assert "useful_from" in lw.check(plan, budget=budget).refusals[0]
            assert lw.check(plan, budget=budget, accept_useless=True).refusals == []
            continue
        with pytest.raises(LowUtilityError):
            way(budget=budget)
        assert {each.statement.dataset for each in way(budget=budget, accept_useless=True)} == {"d"}, name


def test_the_dry_run_prints_the_odds_and_refuses_what_the_release_would(town: Town) -> None:
    faint = (('epsilon = "1"', 'epsilon = "1/100"'), ("safe_at_most = 2", "safe_at_most = 0"))
    spec = town.spec(*faint)
    code, out, err = town.run("release", spec, "--dry-run")
    assert code == 2
    assert "0.00995" in out
    assert "with probability 0.01 only, below useful_from = 0.05" in err
    assert town.run("release", spec, "--out", town.out)[::2] == (2, err)
    assert not town.out.exists()
    assert town.run("release", spec, "--dry-run", "--accept-useless")[::2] == (0, "")
    town.spec(*faint, ("safe_at_most = 0", 'safe_at_most = 0\nuseful_from = "0.009"'))
    assert town.run("release", spec, "--dry-run")[::2] == (0, "")
    assert town.run("release", spec, "--out", town.out)[0] == 0
    assert town.run("release", town.spec(*faint), "--out", town.out)[0] == 0  # a stored answer is shown all the same


def test_a_later_round_of_a_monitor_is_judged_by_the_stops_that_are_left(tmp_path: Path) -> None:
    """Found by an attack: it was judged by all c of them. By the seed, the crowd is the one stop of the first round."""
    table = pd.DataFrame({"who": range(60), "p": "x0", "at": pd.Timestamp("2026-01-01T12:30")})
    plans = [
        lw.plan(
            lw.count_visitors(
                lw.visits(table, person="who", place="p", time="at"),
                lw.places(MANY.iloc[2:102], place="p"),
                start=f"2026-01-01T{hour}:00",
                end=f"2026-01-01T{hour + 1}:00",
            ),
            lw.Presence("3/2"),
            lw.Decide(safe_at_most=2, useful_from="7/10"),
            mechanism="sanitized",
            stop_after=2,
        )
        for hour in (12, 13)
    ]
    asked: dict[str, Any] = {"if_doubtful": "publish", "bits": SeededBitsForTests(1)}
    budget, done = lw.Budget(tmp_path / "b.db", "d", "9"), list[Any]()
    with pytest.raises(LowUtilityError, match="1 of its stops left after 1") as refused:
        lw.monitor(plans, budget, done=done, **asked)
    assert "about 61 of 100 places" in str(refused.value)
    assert "Let the monitor end here" in str(refused.value)
    assert len(done) == 1
    assert Ledger(budget.ledger).show("d")[0].spent == Fraction(3, 2)
    asked["bits"] = SeededBitsForTests(1)
    assert len(lw.monitor(plans, budget, accept_useless=True, **asked).releases) == 2
