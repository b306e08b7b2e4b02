"""One plan: what a release will do. The command's own tests are in tests/session."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.deciding import decide_by

import leeward as lw
from leeward.errors import InputError, LowUtilityError, NotPrivateError, SpecError
from leeward.exact import log
from leeward.exact._weight import weight
from leeward.mechanism import Geometric, Sanitized
from leeward.planner import plan
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors
from leeward.session._question import question


def query(bound: int | None = 1, if_more: Any = "refuse") -> CountVisitors:
    visits = lw.visits("visits.parquet", person="user", place="venue", time="at")
    places = lw.places("places.parquet", place="venue")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    return lw.count_visitors(visits, places, **window, places_per_person=bound, if_more=if_more)


def test_the_mechanism_follows_from_the_bound() -> None:
    assert isinstance(plan(query(), lw.Presence("1"), lw.Decide(safe_at_most=2)).mechanism, Geometric)
    made = plan(query(None), lw.Presence("1/2"), lw.Decide(safe_at_most=2), stop_after=3)
    assert isinstance(made.mechanism, Sanitized)
    assert (made.price, made.mechanism.stop_after) == (Fraction(3, 2), 3)
    assert plan(query(2), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)).mechanism.law.up == Fraction(1, 2)


def test_what_is_promised_of_several_stops_is_told_at_their_whole_price() -> None:
    graded = lw.notion.GradedFacts(presence="1/2", absence="inf")
    made = plan(query(None), graded, lw.Decide(safe_at_most=2), stop_after=3)
    assert "ε_presence = 3/2" in made.words.definition
    assert made.words.reveals
    assert f"not protected: {made.words.reveals}" in str(made)


def test_that_nothing_is_left_unprotected_is_told() -> None:
    made = plan(query(), lw.BoundedDP("1"), lw.Decide(safe_at_most=2, error_at_most="0.05"))
    assert str(made).endswith("not protected: nothing")


def test_with_both_decisions_the_error_is_granted_to_the_one_that_can_be_wrong() -> None:
    made = plan(query(), lw.Presence("1"), lw.Decide(safe_at_most=2, dangerous_at_least=6, error_at_most="0.05"))
    assert made.sanitizer is not None
    assert made.alarm is not None
    assert (made.sanitizer.error_at_most, made.alarm.error_at_most) == (None, Fraction(1, 20))
    assert made.error_at_most == Fraction(1, 20)
    assert (made.safe_at_most, made.dangerous_at_least) == (2, 6)
    noisy = np.arange(-2, 15)
    said = made.decisions.states(noisy).tolist()
    assert said == ["safe" if z <= 2 else "dangerous" if z >= made.alarm.threshold else "obscure" for z in noisy]
    curve = made.decision_curve()
    assert curve[3][0] == 0
    assert 0 < float(curve[5][1] or 0) <= 0.05


def test_the_curve_goes_to_where_dangerous_is_certain_however_many_that_are() -> None:
    """Of a large threshold all rows once said 0: the curve ended at 60."""
    made = plan(query(), lw.RemovalOnly("1"), lw.Decide(dangerous_at_least=5000))
    curve = {count: float(dangerous or 0) for count, (_, dangerous) in made.decision_curve().items()}
    assert (curve[4999], max(curve)) == (0, 5002)
    assert 0.6 < curve[5000] < curve[5001] < curve[5002]
    both = plan(
        query(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=100, dangerous_at_least=5000, error_at_most="0.01")
    ).decision_curve()
    assert list(both) == [*range(106), *range(4506, 5007)]
    assert 0.5 < float(both[100][0] or 0) < float(both[99][0] or 0)
    assert float(both[4999][1] or 0) <= 0.01 < 0.99 < float(both[5006][1] or 0)


def test_under_dp_both_share_the_error() -> None:
    made = plan(query(), lw.UnboundedDP("2"), lw.Decide(safe_at_most=2, dangerous_at_least=6, error_at_most="0.05"))
    assert [d.error_at_most for d in (made.sanitizer, made.alarm) if d] == [Fraction(1, 20)] * 2


@pytest.mark.parametrize(
    ("notion", "asked", "error"),
    [
        (lw.Presence("1"), {}, SpecError),
        (lw.Presence("1"), {"safe_at_most": -1}, InputError),
        (lw.Presence("1"), {"safe_at_most": True}, InputError),
        (lw.Presence("1"), {"safe_at_most": 2, "dangerous_at_least": 2}, InputError),
        (lw.Presence("1"), {"safe_at_most": 2, "error_at_most": "0.1"}, InputError),
        (lw.Presence("1"), {"safe_at_most": 2, "stop_after": 2}, SpecError),
        (lw.Presence("1"), {"safe_at_most": 2, "mechanism": "gaussian"}, SpecError),
        (lw.Presence("1"), {"safe_at_most": 2, "what": "everything"}, SpecError),
        (lw.Presence("1"), {"safe_at_most": 2, "dangerous_at_least": 6}, NotPrivateError),
        (lw.UnboundedDP("1"), {"safe_at_most": 2}, NotPrivateError),
        (lw.UnboundedDP("1"), {"safe_at_most": 2, "mechanism": "sanitized"}, NotPrivateError),
        (lw.Presence("1"), {"safe_at_most": 2, "useful_from": "1"}, InputError),
        (lw.UnboundedDP("1"), {"safe_at_most": 2, "dangerous_at_least": 3, "error_at_most": "0.9"}, InputError),
    ],
    ids=str,
)
def test_what_is_refused(notion: lw.Notion, asked: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        decide_by(plan, query(), notion, **asked)


def test_useful_from_is_a_knife_edge() -> None:
    asked: dict[str, Any] = {"safe_at_most": 2, "error_at_most": "0.01"}
    chance = decide_by(plan, query(), lw.UnboundedDP("1"), **asked).decision_curve()[0][0]
    assert chance is not None
    low, high = chance.bounds()
    refuse_useless(
        decide_by(plan, query(), lw.UnboundedDP("1"), **asked, useful_from=Fraction(low) - Fraction(1, 10**9)), None
    )
    with pytest.raises(LowUtilityError):
        refuse_useless(
            decide_by(plan, query(), lw.UnboundedDP("1"), **asked, useful_from=Fraction(high) + Fraction(1, 10**9)),
            None,
        )


def test_as_much_as_useful_from_asks_is_enough() -> None:
    """At ε = ln 2 a place with nobody is called safe, of at most 0 people, with a chance of 1/2 exactly."""
    for useful_from, enough in (("1/2", True), ("500000000001/1000000000000", False)):
        made = decide_by(plan, query(), lw.AdditionOnly(log(2)), safe_at_most=0, useful_from=useful_from)
        assert made.decision_curve()[0][0] == weight("1/2")
        if enough:
            refuse_useless(made, None)
        else:
            with pytest.raises(LowUtilityError):
                refuse_useless(made, None)


def test_an_answer_that_says_nothing_is_refused_even_if_it_is_never_wrong() -> None:
    asked: dict[str, Any] = {"safe_at_most": 2}
    chance = 1 - math.exp(-3)  # geometric noise of rate 1, at most 2
    refuse_useless(
        decide_by(plan, query(), lw.AdditionOnly("1"), **asked, useful_from=str(round(chance - 1e-6, 9))), None
    )
    with pytest.raises(LowUtilityError, match=r"probability 0.95 only, below useful_from.*Raise epsilon"):
        refuse_useless(
            decide_by(plan, query(), lw.AdditionOnly("1"), **asked, useful_from=str(round(chance + 1e-6, 9))), None
        )


@pytest.mark.parametrize(("stops", "places"), [(1, 40), (3, 40), (2, 7)])
def test_the_reach_of_what_stops_is_a_knife_edge(stops: int, places: int) -> None:
    """The share of places called safe, if nobody is anywhere: summed here over how many are before the c-th that is not."""
    bad = math.exp(-3)  # at most 2, at ε = 1: the threshold is passed with this chance
    good, share = 1 - bad, 0.0
    for k in range(places):  # the k-th place is called safe if fewer than c before it were not, and it is
        share += good * sum(math.comb(k, j) * bad**j * good ** (k - j) for j in range(stops)) / places
    asked: dict[str, Any] = {"safe_at_most": 2, "mechanism": "sanitized", "stop_after": stops}
    refuse_useless(
        decide_by(plan, query(None), lw.Presence("1"), **asked, useful_from=str(round(share - 1e-6, 9))), places
    )
    with pytest.raises(LowUtilityError, match=f"of {places} places before it stops"):
        refuse_useless(
            decide_by(plan, query(None), lw.Presence("1"), **asked, useful_from=str(round(share + 1e-6, 9))), places
        )


def test_promises_that_differ_have_keys_that_differ() -> None:
    notions = [
        lw.notion.Graded(presence="1", absence="4"),
        lw.notion.Graded(presence="2", absence="4"),
        lw.Presence("4"),
    ]
    keys = [
        plan(query(), n, lw.Decide(safe_at_most=2, error_at_most="0.05" if n.name == "graded" else None))
        for n in notions
    ]
    assert len({question(made, "").canonical() for made in keys}) == 3
    assert question(keys[2], "").notion.name == "presence"


def test_a_printed_plan_says_price_chances_and_what_is_protected() -> None:
    made = plan(query(), lw.Presence("1"), lw.Decide(safe_at_most=2, dangerous_at_least=6, error_at_most="0.05"))
    said = str(made).splitlines()
    assert said[0] == f'{made.mechanism} under Presence("1"), price 1'
    assert "safe: at most 2 people, never wrong" in said
    assert "dangerous: at least 6 people, wrong with probability at most 1/20" in said
    assert "    0:  0.9502 safe  0.0003355 dangerous" in said
    assert "mean error of a count: 0.582" in said
    assert said[-2:] == [f"protected: {made.notion.words.protects}", f"not protected: {made.notion.words.reveals}"]
    assert "mean error" not in str(plan(query(None), lw.Presence("1"), lw.Decide(safe_at_most=2)))


def test_one_plan_is_for_every_question() -> None:
    mean = lw.statistic(lw.records("people.parquet", person="each row"), "mean", column="age", lower=0, upper=9)
    assert isinstance(plan(mean, lw.UnboundedDP("1")), lw.planner.NumberPlan)
    for decided in ({"safe_at_most": 2}, {"what": "counts"}, {"stop_after": 3}):
        with pytest.raises(InputError, match="decisions are about counts"):
            decide_by(plan, mean, lw.UnboundedDP("1"), **decided)  # type: ignore[call-overload]
    with pytest.raises(InputError, match=r"mechanism = 'sanitized'.*Known: auto, rank, geometric"):
        plan(mean, lw.UnboundedDP("1"), mechanism="sanitized")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="not a question that can be released"):
        plan(lw.records("people.parquet", person="each row"), lw.UnboundedDP("1"))  # type: ignore[call-overload]
