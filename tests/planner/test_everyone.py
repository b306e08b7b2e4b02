"""Whom *safe* is about: what a plan promises of everyone, where it refuses, how it splits ε, and what it recommends."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.deciding import decide_by
from tests.oracle.left_out import sum_of_two

import leeward as lw
from leeward.errors import InputError, LeewardError, LowUtilityError, NotPrivateError, SpecError
from leeward.exact import exact, inf
from leeward.mechanism import Everyone, Geometric, Sanitized
from leeward.notion import ADP, Graded, GradedFacts, Personalised
from leeward.planner import Scenario, plan_report
from leeward.planner._ask import remade
from leeward.planner._same_price import both_promises
from leeward.planner._useless import refuse_useless

OF_ALL: dict[str, Any] = {"safe_at_most": 5, "about": "everyone"}


def query(k: int | None = 1, if_more: Any = "latest") -> lw.query.CountVisitors:
    return lw.count_visitors(
        lw.visits("visits.parquet", person="user", place="venue", time="at"),
        lw.places("places.parquet", place="venue"),
        start="2026-01-01T18:00",
        end="2026-01-01T19:00",
        places_per_person=k,
        if_more=if_more,
    )


def test_the_rates_share_epsilon_by_the_odds() -> None:
    for k in (1, 2, 3):
        for t, guess in ((2, 0), (5, 3), (10, 1)):
            made = lw.plan(query(k), lw.AdditionOnly("1"), lw.Decide(safe_at_most=t, about="everyone", left_out=guess))
            rule = made.mechanism
            assert isinstance(rule, Everyone)
            assert rule.line.rise == inf
            assert rule.line.fall * k + rule.left_out == 1
            assert made.price == 1
            assert made.decisions.never_wrong
            share = float(rule.left_out)
            told = [float(made.sanitizer.probability(c)) for c in range(t + 2)]
            right = [sum_of_two((1 - share) / k, share, t - c - guess) if c + guess <= t else 0.0 for c in range(t + 2)]
            assert told == pytest.approx(right, abs=1e-12)
            odds = [sum_of_two((1 - j / 20) / k, j / 20, t - guess) for j in range(1, 20)]
            assert told[0] == pytest.approx(max(odds), abs=1e-12)
            by_left_out = [sum_of_two((1 - share) / k, share, t - most) for most in range(t + 1)]
            assert [float(p) for p in made.safe_if_left_out()] == pytest.approx(by_left_out, abs=1e-12)


@pytest.mark.parametrize(
    "notion",
    [
        lw.RemovalOnly("1"),
        lw.UnboundedDP("1"),
        lw.BoundedDP("1"),
        lw.ReplaceDP("1"),
        lw.Presence("1"),
        Graded(presence="1", absence="4"),
        Graded(presence="1", absence=inf),
        GradedFacts(presence="1", absence="4"),
        ADP("1", [lw.notion.where("age", equals=1)]),
        lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("1")),
        lw.both_hold(lw.AdditionOnly("1"), lw.Presence("1")),
    ],
    ids=str,
)
def test_where_nothing_is_certain_of_everyone_it_is_refused_with_the_reason(notion: Any) -> None:
    with pytest.raises(NotPrivateError, match="addition-only") as refused:
        decide_by(lw.plan, query(), notion, **OF_ALL)
    assert "certain only if" in str(refused.value)


def test_persons_with_an_epsilon_each_are_protected_by_the_smallest() -> None:
    made = decide_by(lw.plan, query(2), Personalised(lw.AdditionOnly("1"), ["1/2", "2"]), **OF_ALL)
    assert made.mechanism.line.fall * 2 + made.mechanism.left_out == exact("1/2")


def test_where_nobody_is_left_out_it_costs_nothing() -> None:
    for notion in (lw.AdditionOnly("1"), lw.Presence("1")):
        for asked, mechanism in ((query(1, "refuse"), Geometric), (query(None, "refuse"), Sanitized)):
            made, usual = (
                lw.plan(asked, notion, lw.Decide(safe_at_most=5, about=about)) for about in ("everyone", "counted")
            )
            assert isinstance(made.mechanism, mechanism)
            assert repr(made.mechanism) == repr(usual.mechanism)
            assert made.safe_if_left_out() == ()


def test_dangerous_alone_is_about_everyone_for_nothing() -> None:
    """Whoever was counted was there: at least T counted are at least T there, and a wrong word is wrong of both."""
    for notion, error in ((lw.RemovalOnly("1"), None), (lw.UnboundedDP("1"), "1/100"), (lw.AdditionOnly("1"), "1/100")):
        made = lw.plan(query(), notion, lw.Decide(dangerous_at_least=9, error_at_most=error, about="everyone"))
        assert isinstance(made.mechanism, Geometric)
        assert made.drawn_from == "answer"
        assert "left out" in made.counted_how


def test_both_words_at_once_are_read_off_their_own_bounds() -> None:
    import numpy as np
    import pyarrow as pa

    made = decide_by(lw.plan, query(), lw.AdditionOnly("1"), **OF_ALL, dangerous_at_least=9, error_at_most="1/10")
    high = made.alarm.threshold
    drawn = np.array([0, 3, high, high - 1, high - 2, 2], np.int64)  # the last was left out at most
    answers = made.answers(drawn, pa.table({"place": [*"abcde"]}))
    assert answers["state"].to_pylist() == ["safe", "safe", "dangerous", "obscure", "obscure"]
    assert float(made.alarm.error) <= 0.1
    assert made.alarm.law == made.mechanism.count_law
    for chances in made.decisions.curve(range(20)).values():
        assert chances.safe + chances.dangerous + chances.obscure == 1


def test_the_counts_that_are_shown_bound_everyone() -> None:
    import numpy as np
    import pyarrow as pa

    made = decide_by(lw.plan, query(), lw.AdditionOnly("1"), **OF_ALL, what="counts")
    answers = made.answers(np.array([0, 4, 3], np.int64), pa.table({"place": ["a", "b"]}))
    assert answers.to_pydict() == {
        "place": ["a", "b"],
        "state": ["safe", "obscure"],
        "count": [3, 7],
        "left_out": [3, 3],
    }


def test_the_plan_takes_the_k_with_the_best_odds() -> None:
    def taken(t: int, guesses: list[int]) -> tuple[int | None, int]:
        made = lw.plan(query(1), lw.AdditionOnly("1"), lw.Decide(safe_at_most=t, about="everyone", left_out=guesses))
        return made.query.places_per_person, made.left_out

    assert taken(5, [3, 2, 1]) == (1, 3)
    assert taken(2, [3, 2, 1]) == (3, 1)
    assert taken(2, [2, 0]) == (2, 0)
    assert taken(5, [4, 0, 0]) == (2, 0)
    odds = [sum_of_two(0.55 / 2, 0.45, 5), sum_of_two(0.5, 0.5, 1)]
    assert odds[0] > odds[1]


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"about": "world"}, SpecError, "counted, everyone"),
        ({"about": "counted", "left_out": -1}, InputError, "left_out"),
        ({"left_out": -1}, InputError, "left_out"),
        ({"left_out": "2"}, InputError, "left_out"),
        ({"left_out": True}, InputError, "left_out"),
        ({"left_out": 1.5}, InputError, "left_out"),
        ({"left_out": []}, InputError, "one for each k"),
        ({"left_out": [0] * 101}, InputError, "one for each k"),
        ({"left_out": [0, -1]}, InputError, "left_out"),
        ({"mechanism": "sanitized"}, SpecError, "Leave places_per_person and if_more out"),
        ({"mechanism": "adaptive"}, SpecError, "needs no bound"),
        ({"mechanism": "everyone"}, SpecError, "no such mechanism"),
        ({"stop_after": 2}, SpecError, "never stops"),
        ({"error_at_most": "1/10"}, InputError, "no error is granted"),
        ({"dangerous_at_least": 9}, NotPrivateError, "can be over-reported"),
    ],
    ids=str,
)
def test_what_has_no_meaning_is_refused(wrong: dict[str, Any], error: type[LeewardError], words: str) -> None:
    with pytest.raises(error) as refused:
        decide_by(lw.plan, query(), lw.AdditionOnly("1"), **OF_ALL | wrong)
    assert words in str(refused.value)


def test_groups_leave_nobody_out_because_of_others() -> None:
    people = lw.records("people.parquet", person="id", combine="max")
    counts = lw.statistic(people, "histogram", column="age", lower=0, upper=90, step=30)
    with pytest.raises(SpecError, match="Leave both out"):
        decide_by(lw.plan, counts, lw.AdditionOnly("1"), **OF_ALL)
    with pytest.raises(SpecError, match="where nobody is left out"):
        decide_by(lw.plan, query(1, "refuse"), lw.AdditionOnly("1"), **OF_ALL, left_out=1)


def test_an_altered_plan_is_refused() -> None:
    made = decide_by(lw.plan, query(2), lw.AdditionOnly("1"), **OF_ALL, left_out=1)
    assert repr(remade(made).mechanism) == repr(made.mechanism)
    for altered in (
        dataclasses.replace(made, mechanism=Everyone(lw.Line(inf, "1/2"), "1/2", guess=1)),
        dataclasses.replace(made, about="counted"),
        dataclasses.replace(made, query=query(3)),
    ):
        with pytest.raises(LeewardError):
            remade(altered)


def compared(k: int = 1, t: int = 5, about: Any = "counted", left_out: Any = 0, **more: Any) -> Any:
    beside = Scenario(places=100, **more)
    return lw.compare(
        query(k), lw.AdditionOnly("1"), lw.Decide(safe_at_most=t, about=about, left_out=left_out), scenario=beside
    )


def test_both_promises_are_among_the_rows_whichever_is_asked_for() -> None:
    for about in ("counted", "everyone"):
        rows = compared(about=about)
        counted, everyone = rows.find("addition-only"), rows.find("addition-only", "everyone")
        assert (counted.of_everyone, everyone.of_everyone) == (False, True)
        assert rows.options[0] is (counted if about == "counted" else everyone)
        assert [o.mechanism for o in rows.options].count("everyone") == 1
        assert float(everyone.probability_safe(0)) == pytest.approx(sum_of_two(0.5, 0.5, 5), abs=1e-12)


def test_who_asks_about_everyone_is_never_given_those_counted() -> None:
    rows = compared(about="everyone", counts={0: 80, 2: 10, 60: 10})
    advice = lw.recommend(rows)
    assert advice.option.of_everyone
    assert all(o.of_everyone for o in rows.options if o.mechanism == "sanitized")
    given_up = {option.mechanism: what for option, what in advice.gives_up}
    assert "and not about everyone who was there" in given_up["geometric"]
    assert advice.plain_dp_is_enough is False


def test_what_is_certain_of_everyone_is_recommended_where_the_odds_are_near() -> None:
    crowded = {"counts": {0: 50, 60: 50}}  # a mechanism that stops would soon
    far, near = lw.recommend(compared(t=5, **crowded)), lw.recommend(compared(t=10, **crowded))
    assert (far.option.mechanism, near.option.mechanism) == ("geometric", "everyone")
    assert "'Safe' is about those counted" in far.whom
    assert "'Safe' is about everyone" in near.whom
    assert "of everyone who was there" in near.reason
    assert any("cut to the bound" in caution for caution in far.cautions)
    assert not any("cut to the bound" in caution for caution in near.cautions)
    assert lw.recommend(compared(t=10, left_out=6, **crowded)).option.mechanism == "geometric"


def test_the_price_of_both_promises_is_told_and_is_the_least() -> None:
    advice = lw.recommend(compared(counts={0: 50, 60: 50}))
    told = float(advice.whom.rsplit("ε = ", 1)[1].split(" ")[0])
    chance = float(advice.option.probability_safe(0))

    def best(e: float) -> float:
        return max(sum_of_two(e * (1 - j / 20), e * j / 20, 5) for j in range(1, 20))

    assert best(told) >= chance - 1e-6 > best(told - 0.0011)


def test_the_report_has_the_odds_by_how_many_are_left_out() -> None:
    report = plan_report(compared(k=2, about="everyone", left_out=[3, 1], counts={0: 50, 60: 50}))
    assert (report.asked.about, report.asked.left_out) == ("everyone", (3, 1))
    row = report.shown[0]
    assert (row.mechanism, row.of_everyone, row.places_per_person) == ("everyone", True, 2)
    share = 9 / 20
    right = [sum_of_two((1 - share) / 2, share, 5 - most) for most in range(6)]
    assert [float(chance) for chance in row.safe_if_left_out] == pytest.approx(right, abs=1e-9)
    assert report.recommendation.whom
    assert report.to_json() == type(report).model_validate_json(report.to_json()).to_json()


def test_a_plan_says_both_promises_and_the_odds_by_those_left_out() -> None:
    everyone = decide_by(lw.plan, query(), lw.AdditionOnly("1"), **OF_ALL)
    counted = lw.plan(query(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=5))
    assert both_promises(everyone) == both_promises(counted)
    (_, one), (_, other) = both_promises(counted)
    assert one.endswith("99.7 %")
    assert "83.2 %, 75.6 %, 65.1 %, 51.3 %, 34.2 %, 15.4 % if at most 0, 1, 2, 3, 4, 5" in other
    assert "by how many are left out at most: 0: 0.8327" in str(everyone)
    assert both_promises(lw.plan(query(1, "refuse"), lw.AdditionOnly("1"), lw.Decide(safe_at_most=5))) == []
    assert both_promises(lw.plan(query(), lw.UnboundedDP("1"), lw.Decide(safe_at_most=5, error_at_most="1/10"))) == []


def test_what_is_useless_at_the_guess_says_what_else_may_be_guessed() -> None:
    made = lw.plan(query(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2, about="everyone", left_out=3))
    with pytest.raises(LowUtilityError, match="left_out = \\[3, 2, 1\\]"):
        refuse_useless(made, 100)


def test_several_releases_add_up() -> None:
    row = compared(releases=3).find("addition-only", "everyone")
    assert row.composed(3, "1e-6") == {"withdraw": pytest.approx(3, abs=1e-3)}
    assert row.safe_at_most_for(0, "0.9") == 7
    assert row.safe_at_most_for(1, "0.9") == 8
