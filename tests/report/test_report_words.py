"""Words follow from the statement and the published answers, and never claim more than those do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.report.conftest import stated

from leeward._plain import percent
from leeward.report import _words as words
from leeward.report._words import Tally

ERRS = {
    "safe_at_most": 2,
    "threshold": -7,
    "never_wrong": False,
    "error_at_most": "1/10000",
    "error_at_most_over_all_places": "4331/10000",
    "curve": [{"count": 0, "safe": "0.0005"}, {"count": 1, "safe": "0.00018"}],
}
SANITIZED = {
    "name": "sanitized",
    "text": "…",
    "rate_up": "1",
    "rate_down": "inf",
    "stop_after": 1,
    "expected_answered_if_empty": 20.1,
}


def test_states_are_counted(make_release: Callable[..., Any]) -> None:
    tally = Tally.of(make_release(["safe", "obscure", "safe"]).answers)
    assert (tally.places, dict(tally.states), tally.answered, tally.counted) == (
        3,
        {"safe": 2, "obscure": 1},
        None,
        False,
    )


def test_a_state_nobody_has_is_still_counted_and_an_unused_one_is_not_named(make_release: Callable[..., Any]) -> None:
    assert dict(Tally.of(make_release(["obscure"]).answers).states) == {"safe": 0, "obscure": 1}
    assert dict(Tally.of(make_release(["dangerous"]).answers).states) == {"safe": 0, "obscure": 0, "dangerous": 1}


def test_answered_places_and_published_counts_are_noticed(make_release: Callable[..., Any]) -> None:
    result = make_release(["safe", "obscure", "obscure"], answered=[True, True, False], count=[None, 4, None])
    tally = Tally.of(result.answers)
    assert (tally.answered, tally.counted) == (2, True)


@pytest.mark.parametrize(
    ("safe", "places", "limit", "said"),
    [
        (4089, 4331, 2, "4,089 of 4,331 places are said to be safe (at most 2 people among those counted)"),
        (1, 5835, 1, "1 of 5,835 places is said to be safe (at most 1 person among those counted)"),
        (0, 1, 0, "0 of 1 place are said to be safe (nobody among those counted)"),
    ],
)
def test_the_headline(
    safe: int, places: int, limit: int, said: str, make_statement: Callable[..., dict[str, Any]]
) -> None:
    made = make_statement(places)
    made["decision"]["safe_at_most"] = limit
    assert words.headline(stated(made), Tally(places, {"safe": safe, "obscure": places - safe}, None, False)) == said


def test_never_wrongly_is_relative_where_counts_are_truncated(make_statement: Callable[..., dict[str, Any]]) -> None:
    made = make_statement(9)
    assert (
        words.certainty(stated(made))
        == "‘Safe’ is never wrong, of the people counted there: someone at more than 1 place is counted only at the place"
        " visited last."
    )
    for unbounded in ({"places_per_person": 1, "if_more": "refuse"}, {"places_per_person": None, "if_more": None}):
        whole = make_statement(9, query={**made["query"], **unbounded})
        assert words.certainty(stated(whole)) == "‘Safe’ is never wrong."


def test_a_notion_that_can_err_says_how_often(make_statement: Callable[..., dict[str, Any]]) -> None:
    made = make_statement(4331, decision=ERRS)
    said = words.certainty(stated(made))
    assert "at most 0.0001:" in said
    assert "all 4,331 places, at most 0.4331 wrong answers" in said
    assert "never" not in said.lower()
    everything = Tally(4331, {"safe": 2, "obscure": 4329}, None, False)
    assert words.may_not_conclude(stated(made), everything)[0].startswith("'Safe' is not certain")
    assert not any("not certain" in each for each in words.may_not_conclude(stated(make_statement(4331)), everything))


def test_the_statement_s_own_promises_come_first(make_statement: Callable[..., dict[str, Any]]) -> None:
    made = make_statement(5, guaranteed=["a is promised"], not_guaranteed=["b is not"])
    tally = Tally(5, {"safe": 5, "obscure": 0}, None, False)
    assert words.may_conclude(stated(made), tally) == ["A is promised."]
    assert words.may_not_conclude(stated(made), tally) == [
        "B is not.",
        "With probability 5.0 %, even a place where nobody was is not called safe.",
    ]


@pytest.mark.parametrize(
    ("up", "down", "said"),
    [("1", "inf", "never below"), ("inf", "1", "never above"), ("1", "1", "above or below")],
)
def test_published_counts_lie_on_the_side_of_the_noise(
    up: str, down: str, said: str, make_statement: Callable[..., dict[str, Any]]
) -> None:
    made = make_statement(5)
    made["mechanism"] |= {"rate_up": up, "rate_down": down}
    counted, decided = (Tally(5, {"safe": 5, "obscure": 0}, None, counted) for counted in (True, False))
    assert said in words.may_conclude(stated(made), counted)[-1]
    assert not any("noisy count" in each for each in words.may_conclude(stated(made), decided))


def test_places_after_the_stop_are_explained(make_statement: Callable[..., dict[str, Any]]) -> None:
    made = make_statement(900, mechanism=SANITIZED)
    tally = Tally(900, {"safe": 21, "obscure": 879}, 22, True)
    assert "22 of 900 places got an answer" in words.stopped(stated(made), tally)
    assert "about 20.1 would have been answered" in words.stopped(stated(made), tally)
    assert any(
        "place that is asked and where nobody was" in each for each in words.may_not_conclude(stated(made), tally)
    )


def test_an_empty_place_that_is_always_safe_is_not_called_obscure(
    make_statement: Callable[..., dict[str, Any]],
) -> None:
    made = make_statement(5, not_guaranteed=[])
    made["decision"]["curve"] = [{"count": 0, "safe": "1"}]
    assert words.may_not_conclude(stated(made), Tally(5, {"safe": 5, "obscure": 0}, None, False)) == []


def test_the_factor_is_e_to_the_epsilon(make_statement: Callable[..., dict[str, Any]]) -> None:
    made = make_statement(5)
    assert "about 2.72" in words.factor(stated(made))
    made["notion"]["epsilon"] = "1/10"
    assert "about 1.11" in words.factor(stated(made))
    made["notion"]["epsilon"] = "ln(2)"
    assert words.factor(stated(made)) == (
        "Here Pr[answer | data] is how likely an answer is if the data are as described. The smaller ε, the better people"
        " are protected."
    )


def test_a_lowered_threshold_is_said_to_be_lowered(make_statement: Callable[..., dict[str, Any]]) -> None:
    assert "at most −7, which is below 2" in words.decided(stated(make_statement(3, decision=ERRS)))
    assert words.decided(stated(make_statement(3))) == (
        "A place is said to be safe when its noisy count is at most 2; otherwise it is obscure."
    )


def test_the_question_lists_filter_window_and_bound(make_statement: Callable[..., dict[str, Any]]) -> None:
    made = make_statement(7)
    made["query"] |= {"keep": {"state": ["STAY", "REST"]}, "places_per_person": 2, "if_more": "earliest"}
    asked = dict([*words.question(stated(made)), *words.visited(stated(made).query)])
    assert asked["Only records with"] == "state = STAY or REST"
    assert asked["From"] == "2012-04-04 19:00:00"
    assert asked["A person at more than 2 places"] == "counted only at the 2 places visited first"
    made["query"] |= {"keep": {}, "if_more": "refuse"}
    asked = dict([*words.question(stated(made)), *words.visited(stated(made).query)])
    assert "Only records with" not in asked
    assert asked["A person at more than 2 places"] == "never seen: checked"


@pytest.mark.parametrize(
    ("probability", "written", "complement"),
    [
        ("1", "100 %", "0 %"),
        ("0", "0 %", "100 %"),
        ("0.9502", "95.0 %", "5.0 %"),
        ("0.99999", "99.9990 %", "0.0010 %"),
        ("0.0005", "0.050 %", "99.950 %"),
        ("0.63212", "63.2 %", "36.8 %"),
        ("1e-9", "under 0.0001 %", "over 99.9999 %"),
        ("0.999999999", "over 99.9999 %", "under 0.0001 %"),
    ],
)
def test_what_is_not_certain_never_reads_as_certain(probability: str, written: str, complement: str) -> None:
    assert (percent(probability), words.missed(probability)) == (written, complement)


def test_exact_numbers_read_as_decimals() -> None:
    assert [words.decimal(text) for text in ("1/10000", "1e-4", "4331/10000", "3")] == [
        "0.0001",
        "0.0001",
        "0.4331",
        "3",
    ]
