"""How many words are wrong, and how many right, held against sums over the laws by hand."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.deciding import decide_by

import leeward as lw
from leeward.planner._recommend import right_words
from leeward.session import privacy_statement

PLACES = 100


def question() -> lw.CountVisitors:
    seen = pa.table({"u": ["a"], "p": ["x"], "t": ["2026-01-01T10:00"]})
    visits = lw.visits(seen, person="u", place="p", time="t")
    listed = lw.places(pa.table({"p": [f"p{i}" for i in range(PLACES)]}), place="p")
    hour = {"start": "2026-01-01T10:00", "end": "2026-01-01T11:00"}
    return lw.count_visitors(visits, listed, **hour, places_per_person=1)


def at_most(k: int, rate: float) -> float:
    """Pr[two-sided geometric noise ≤ k]."""
    a = math.exp(-rate)
    return 1 - a ** (k + 1) / (1 + a) if k >= 0 else a**-k / (1 + a)


@pytest.mark.parametrize(("epsilon", "gap"), [*itertools.product(("1", "1/2", "2", "5"), (2, 1, 4))])
def test_a_place_between_both_thresholds_can_get_either_wrong_word(epsilon: str, gap: int) -> None:
    safe, alpha = 2, Fraction(1, 20)
    asked = {"safe_at_most": safe, "dangerous_at_least": safe + gap, "error_at_most": alpha}
    made = decide_by(lw.plan, question(), lw.UnboundedDP(epsilon), **asked)
    assert made.sanitizer is not None
    assert made.alarm is not None
    rate = float(Fraction(epsilon))
    wrong = 0.0
    for count in range(safe + gap + 6):
        said_safe = at_most(made.sanitizer.threshold - count, rate) if count > safe else 0.0
        said_dangerous = 1 - at_most(made.alarm.threshold - 1 - count, rate) if count < safe + gap else 0.0
        wrong = max(wrong, said_safe + said_dangerous)
    told = made.decisions.wrong_at_most
    assert wrong <= told == (alpha if gap == 1 else 2 * alpha)
    if (epsilon, gap) == ("1", 2):
        assert wrong > alpha  # what was told before is false
    reason = lw.recommend(
        decide_by(lw.compare, question(), lw.UnboundedDP(epsilon), **asked, scenario=lw.planner.Scenario(places=PLACES))
    ).reason
    found = re.search(r"at most (\S+) a place: at most (\S+) wrong answers are expected", reason)
    assert found is None or (float(found[1]), float(found[2])) == (float(told), float(told * PLACES))
    assert found is not None or "wrong" not in reason
    decision = privacy_statement(made, places=PLACES, dataset="d", version="1").decision
    assert Fraction(decision.error_at_most_over_all_places) == told * PLACES
    assert Fraction(decision.error_at_most) == alpha


def test_where_one_word_is_never_wrong_only_the_other_counts() -> None:
    made = lw.plan(question(), lw.Presence("1"), lw.Decide(safe_at_most=2, dangerous_at_least=5, error_at_most="1/20"))
    assert made.decisions.wrong_at_most == Fraction(1, 20)
    assert lw.plan(question(), lw.Presence("1"), lw.Decide(safe_at_most=2)).decisions.wrong_at_most == 0


@pytest.mark.parametrize(("stops", "places"), [*itertools.product((1, 3, 9), (10, 100))])
def test_the_sanitized_mechanism_is_told_to_call_as_many_places_safe_as_it_does(stops: int, places: int) -> None:
    asked = {"safe_at_most": 2, "mechanism": "sanitized", "stop_after": stops}
    compared = decide_by(lw.compare, question(), lw.Presence("5/3"), **asked, scenario=lw.planner.Scenario(places))
    chance = 1 - math.exp(-5 / 3) ** 3  # one-sided noise of at most 2
    going, safe = {stops: 1.0}, 0.0
    for _ in range(places):
        safe += sum(going.values()) * chance
        going = {
            left: going.get(left, 0) * chance + going.get(left + 1, 0) * (1 - chance) for left in range(1, stops + 1)
        }
    option = compared.find("presence", "sanitized")
    assert right_words(option, compared.asked) == pytest.approx(safe, rel=1e-9)


def test_what_is_lost_of_two_sides_is_not_told_as_both() -> None:
    """Presence protects that someone was at a place, as a graded notion does; it does not protect that they were not."""
    compared = lw.compare(
        question(),
        lw.notion.Graded("2", "4"),
        lw.Decide(safe_at_most=2, error_at_most="1/100"),
        scenario=lw.planner.Scenario(places=10),
    )
    lacks = {o.notion.name: what for o, what in lw.recommend(compared).gives_up}
    assert "it does not protect all that graded protects" in lacks["presence"]
    assert not any("gives up what" in what for what in lacks.values())
