"""Each sentence of a recommendation stands where it is true, and nowhere else; a budget is enough to the last bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.deciding import decide_by
from tests.planner.test_compare import TEN, query

import leeward as lw
from leeward.exact import inf
from leeward.planner import Comparison, Recommendation, Scenario, compare, recommend
from leeward.planner._recommend import implies, right_words
from leeward.query import CountVisitors

BIT = Fraction(1, 10**9)
ASKED = [each for each in TEN if "mechanism" not in each[2]]
NAMES = [f"{notion.name}-{number}" for number, (_, notion, _) in enumerate(ASKED)]
STOPPING = [each for each in ASKED if "stop_after" in each[2]]


def compared(asked: tuple[CountVisitors, lw.Notion, dict[str, Any]], **scenario: Any) -> Comparison:
    about, notion, decided = asked
    return decide_by(compare, about, notion, scenario=Scenario(places=50, **scenario), **decided)


def said(advised: Recommendation) -> str:
    return "\n".join([advised.reason, *advised.cautions])


@pytest.mark.parametrize("releases", [1, 3])
@pytest.mark.parametrize("asked", ASKED, ids=NAMES)
def test_what_must_be_known_is_said_of_what_it_is_true_of(
    asked: tuple[CountVisitors, lw.Notion, dict[str, Any]], releases: int
) -> None:
    both = compared(asked, releases=releases)
    advised, (about, notion, _) = recommend(both), asked
    chosen, text = advised.option, said(advised)
    assert chosen is not None
    assert chosen.plan is not None
    line = chosen.plan.mechanism.line
    one_sided = inf in (line.rise, line.fall)
    assert ("k releases cost" in text) == (one_sided and releases > 1)
    exactly = one_sided and chosen.mechanism not in ("geometric", "everyone")
    assert ("is the exact count with probability" in text) == exactly
    assert (f"the least of {releases} of the same count" in text) == (exactly and releases > 1)
    assert text.count("Not protected:") == one_sided, "of two-sided notions nothing of one person is left open here"
    assert ("were cut to the bound" in text) == (about.truncates and not chosen.of_everyone)
    assert ("Removal-only alone" in text) == (chosen.notion.name == "removal-only")
    other = chosen.notion != notion
    assert (f"It keeps all that {notion.name} protects" in text) == other
    stronger = other and implies(chosen.notion, notion) and not implies(notion, chosen.notion)
    assert ("it protects more" in text) == stronger
    assert ("Its decisions are never wrong" in text) == chosen.never_wrong
    words = right_words(chosen, both.asked)
    like = [
        o for o in both.possible if o.releasable and o.never_wrong == chosen.never_wrong and o.notion == chosen.notion
    ]
    if "does better at this price" in text:
        assert all(right_words(o, both.asked) <= words * (1 + 1e-9) for o in like if o.in_budget == chosen.in_budget)


@pytest.mark.parametrize("releases", [1, 4])
@pytest.mark.parametrize("asked", ASKED, ids=NAMES)
def test_what_is_left_is_enough_to_the_last_bit(
    asked: tuple[CountVisitors, lw.Notion, dict[str, Any]], releases: int
) -> None:
    free = recommend(compared(asked, releases=releases)).option
    assert free is not None
    assert free.in_budget is not None
    full = free.in_budget * releases
    enough, less = (recommend(compared(asked, releases=releases, left=left)) for left in (full, full - BIT))
    assert enough.option is not None
    assert (enough.option.notion, enough.option.mechanism) == (free.notion, free.mechanism)
    again = less.option
    assert again is None or (again.in_budget is not None and again.in_budget * releases <= full - BIT)
    if again is None:
        assert f"Only {full - BIT} is left of the budget" in less.reason
        assert "or ask for a smaller epsilon" in less.reason
        assert ("for fewer releases" in less.reason) == (releases > 1)
    spent = recommend(compared(asked, releases=releases, left=Fraction(0)))
    assert spent.option is None
    assert "The budget is spent" in spent.reason
    assert not any(word in spent.reason for word in ("smaller epsilon", "fewer releases"))
    written = compared(asked, releases=releases, left=Fraction(0), answered=releases)
    if written.as_written is not None:
        stored = recommend(written).option
        assert stored is not None, "what is stored costs nothing"
        assert stored.plan is written.as_written


@pytest.mark.parametrize("asked", STOPPING, ids=["presence", "addition-only"])
def test_a_monitor_is_advised_where_it_can_be_paid_for_and_windows_cannot(
    asked: tuple[CountVisitors, lw.Notion, dict[str, Any]],
) -> None:
    (price,) = {o.in_budget for o in compared(asked).possible if o.mechanism == "sanitized" and o.notion == asked[1]}
    assert price is not None
    for left, is_told in ((price, True), (price - BIT, False)):
        advised = recommend(compared(asked, releases=9, left=left))
        assert advised.option is None
        assert ("leeward monitor" in advised.reason) == is_told
        assert not is_told or f"at most {price} for all windows" in advised.reason


def test_what_is_certain_of_everyone_is_not_said_to_be_the_most_often_said() -> None:
    """It is taken if it is said nearly as often; of those counted alone it would be said more often."""
    both = compared((query(1, "latest"), lw.AdditionOnly("2"), {"safe_at_most": 9}))
    advised = recommend(both)
    assert advised.option is not None
    rivals = [o for o in both.possible if o.notion == advised.option.notion and o.mechanism == "geometric"]
    assert advised.option.mechanism == "everyone"
    assert all(right_words(o, both.asked) > right_words(advised.option, both.asked) * (1 + 1e-9) for o in rivals)
    assert "does better at this price" not in advised.reason
    assert "of everyone who was there" in advised.reason


def test_that_nothing_is_paid_for_is_not_said_of_rows_that_are_useless() -> None:
    """Found: the row as asked was at its price and within the budget; of it and a thousand places eight were reached."""
    decided = {"safe_at_most": 2, "mechanism": "sanitized"}
    about, notion = query(None), lw.Presence("1/10")
    many = decide_by(compare, about, notion, scenario=Scenario(places=1_000, left=Fraction(9)), **decided)
    advised = recommend(many)
    assert advised.option is None
    assert advised.reason.startswith(
        "Each row that keeps what is asked at its price, and can be paid from this budget, says"
    )
    poor = decide_by(compare, about, notion, scenario=Scenario(places=1_000, left=Fraction(1, 99)), **decided)
    assert "Each row" not in recommend(poor).reason
