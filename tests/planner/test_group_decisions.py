"""Decisions about counts of people, or rows, by public groups: what is planned, compared, refused, and when it is free."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.deciding import decide_by

import leeward as lw
from leeward.errors import InputError, LowUtilityError, NotPrivateError, SpecError
from leeward.mechanism import AdaptiveSanitized, Geometric, Sanitized
from leeward.notion import ValueGrid
from leeward.planner import NumberPlan, Plan, Scenario, plan_report, recommend
from leeward.planner._report import DecidingOption
from leeward.planner._words import wished
from leeward.session._monitor import monitor

WARDS = ["cardiology", "surgery", "maternity", "paediatrics"]


def wards(person: str = "patient", source: Any = "wards.csv", **more: Any) -> Any:
    return lw.statistic(lw.records(source, person=person, **more), "histogram", by={"ward": WARDS})


def ages() -> Any:
    return lw.statistic(
        lw.records("wards.csv", person="patient"), "histogram", column="age", lower=0, upper=100, step=25
    )


def test_a_histogram_alone_stays_numbers_and_with_a_threshold_it_is_decided() -> None:
    assert isinstance(lw.plan(wards(), lw.AdditionOnly("1")), NumberPlan)
    for decided in ({"safe_at_most": 4}, {"dangerous_at_least": 4, "error_at_most": "0.01"}):
        made: Any = decide_by(lw.plan, wards(), lw.AdditionOnly("1"), **decided)
        assert isinstance(made, Plan)
        assert isinstance(made.mechanism, Geometric)


@pytest.mark.parametrize(("notion", "never", "rates"), [
    (lw.AdditionOnly("1"), True, ("1", "inf")),
    (lw.RemovalOnly("1"), False, ("inf", "1")),
    (lw.UnboundedDP("1"), False, ("1", "1")),
    (lw.BoundedDP("1"), False, ("1/2", "1/2")),
    (lw.ReplaceDP("1"), False, ("1/2", "1/2")),
])  # fmt: skip
def test_the_noise_of_each_notion_is_derived(notion: Any, never: bool, rates: tuple[str, str]) -> None:
    """One person is in one group: who comes or goes moves one count by 1, who is replaced moves two."""
    made: Any = decide_by(lw.plan, wards(), notion, safe_at_most=4, **{} if never else {"error_at_most": "0.01"})
    assert (str(made.mechanism.law.up), str(made.mechanism.law.down)) == rates
    assert made.decisions.never_wrong == never


def test_the_mechanisms_that_stop_are_for_counts_that_only_fall() -> None:
    for kind, name in ((Sanitized, "sanitized"), (AdaptiveSanitized, "adaptive")):
        made: Any = lw.plan(wards(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=4), mechanism=name, stop_after=2)
        assert isinstance(made.mechanism, kind)
        assert (str(made.price), str(made.listing(1).price)) == ("2", "1")
        for notion in (lw.UnboundedDP("1"), lw.BoundedDP("1"), lw.RemovalOnly("1")):
            with pytest.raises(NotPrivateError, match="raise a count"):
                lw.plan(wards(), notion, lw.Decide(safe_at_most=4), mechanism=name)


def test_closeness_of_numbers_pays_for_going_from_one_group_to_another() -> None:
    """Under closeness a number moves by one step for ε, and goes to another group for as much as the largest change."""
    grid = ValueGrid(0, 100, 25)
    told = {"column": "age", "lower": 0, "upper": 100, "step": 25, "by": "ward", "groups": WARDS}
    query: Any = statistic_by(lw.records("w.csv", person="patient"), "histogram", **told)
    decided: Any = lw.plan(query, lw.Manhattan("1", grid, unit="25"), lw.Decide(safe_at_most=4, error_at_most="0.01"))
    plain = lw.plan(query, lw.Manhattan("1", grid, unit="25"))
    assert isinstance(plain, NumberPlan)
    assert decided.mechanism.line == plain.parts[0].line


@pytest.mark.parametrize("notion", [lw.Presence("1"), lw.notion.Graded("1", "4")])
def test_notions_about_single_facts_are_refused(notion: Any) -> None:
    with pytest.raises(NotPrivateError, match="not a set of facts"):
        lw.plan(wards(), notion, lw.Decide(safe_at_most=4))


def test_what_counts_nobody_is_not_decided() -> None:
    age: dict[str, Any] = {"column": "age", "lower": 0, "upper": 100}
    for kind in ("sum", "mean", "median"):
        query: Any = statistic_by(lw.records("w.csv", person="patient"), kind, **age)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="about counts of people"):
            lw.plan(query, lw.UnboundedDP("1"), lw.Decide(safe_at_most=4))
        with pytest.raises(InputError, match="about counts of people"):
            lw.compare(query, lw.UnboundedDP("1"), lw.Decide(safe_at_most=4))
    for asked in ({"what": "counts"}, {"useful_from": "0.1"}, {"stop_after": 2}):
        with pytest.raises(SpecError, match="No decision"):
            decide_by(lw.plan, wards(), lw.UnboundedDP("1"), **asked)  # type: ignore[call-overload]


def test_it_is_compared_and_recommended_in_its_own_words() -> None:
    compared = lw.compare(wards(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=4))
    assert {option.notion.name for option in compared.options} == {
        *("addition-only", "removal-only", "dp", "bounded-dp", "add-remove-replace-dp"),
    }  # fmt: skip
    report = plan_report(compared)
    assert (report.asked.noun, report.asked.many, report.asked.by) == ("group", "people", "ward")
    assert (report.asked.window, report.asked.places, report.asked.places_per_person) == (None, 4, None)
    assert report.chosen is not None
    assert (report.chosen.notion.name, report.chosen.mechanism) == ("addition-only", "geometric")
    assert "A group with nobody is called safe with probability 99.3 %" in report.recommendation.reason
    assert "place" not in report.recommendation.reason + report.recommendation.plain_dp
    of_ages = plan_report(lw.compare(ages(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=4)))
    assert (of_ages.asked.noun, of_ages.asked.column, of_ages.asked.places) == ("interval", "age", 4)


ONES = re.compile(r"\b(one|any|every|a) (person|people)\b|\bpeople\b")


@pytest.mark.parametrize("what", ["decisions", "counts"])
@pytest.mark.parametrize("name", ["UnboundedDP", "AdditionOnly", "RemovalOnly", "ReplaceDP", "BoundedDP"])
def test_of_rows_no_word_of_the_recommendation_is_about_people(name: str, what: Any) -> None:
    told: dict[str, Any] = {"column": "age", "lower": 0, "upper": 100, "step": 25}
    for person in ("each row", "patient"):
        query = statistic_by(lw.records("w.csv", person=person), "histogram", **told)
        wrong = None if name == "AdditionOnly" else "0.01"
        found = recommend(
            lw.compare(query, getattr(lw, name)("1"), lw.Decide(safe_at_most=9, error_at_most=wrong), what=what)
        )
        words = " ".join([found.reason, *found.cautions, *(lacks for _, lacks in found.gives_up), found.plain_dp])
        assert (ONES.search(words) is None) == (person == "each row"), words


def test_of_rows_with_the_same_words_that_with_the_nearer_counts_is_recommended() -> None:
    """Where counts are published: it was the one that protects more, with twice the error, as if it did as well."""
    told: dict[str, Any] = {"column": "age", "lower": 0, "upper": 100, "step": 25}
    query = statistic_by(lw.records("w.csv", person="patient"), "histogram", **told)
    wanted: tuple[tuple[Any, str], ...] = (("counts", "dp"), ("decisions", "add-remove-replace-dp"))
    for what, name in wanted:
        compared = lw.compare(query, lw.UnboundedDP("1"), lw.Decide(safe_at_most=500, error_at_most="0.001"), what=what)
        chosen = recommend(compared).option
        assert chosen is not None
        assert chosen.notion.name == name


def test_the_best_possible_is_attained_for_one_group_as_for_one_place() -> None:
    """Noise of rate ε upwards and a threshold: no decision about one count is better."""
    chosen = plan_report(lw.compare(wards(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=4))).chosen
    assert chosen is not None
    assert all(point.safe == point.best_safe for point in chosen.curve)


def test_a_budget_in_rows_pays_for_rows_and_not_for_people() -> None:
    report = plan_report(lw.compare(wards("each row"), lw.AdditionOnly("1"), lw.Decide(safe_at_most=4)))
    assert report.asked.budget.notion == "addition-only per row"
    assert report.chosen is not None
    assert report.chosen.price_in_budget == "1"
    assert report.asked.many == "rows"


def test_the_answer_is_decided_after_a_histogram_at_no_further_price(tmp_path: Path) -> None:
    """The same noise, under the same key: what is decided of it is post-processing."""
    rows = pd.DataFrame({"patient": range(40), "ward": ["surgery"] * 30 + ["maternity"] * 10})
    budget = lw.Budget(f"sqlite:///{tmp_path}/b.db", dataset="wards", cap="5")
    query = wards(source=rows)
    counts = lw.release(lw.plan(query, lw.AdditionOnly("1")), budget)
    decided = lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=20), what="counts"), budget)
    other = lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=9)), budget)
    assert [r.curator.charged for r in (counts, decided, other)] == ["1", "0", "0"]
    assert decided.answers["group"].to_pylist() == WARDS
    noisy = counts.answers["count"].to_pylist()
    assert decided.answers["count"].to_pylist() == noisy
    assert decided.answers["state"].to_pylist() == ["safe" if c <= 20 else "obscure" for c in noisy]
    assert other.answers["state"].to_pylist() == ["safe" if c <= 9 else "obscure" for c in noisy]
    stopped = lw.release(
        lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=20), mechanism="sanitized"), budget
    )
    assert stopped.curator.charged == "1"
    assert {"group", "state", "answered", "count"} == set(stopped.answers.column_names)
    assert stopped.answers["state"].to_pylist()[1] == "obscure"


def test_a_monitor_and_what_says_nothing_are_refused() -> None:
    made = lw.plan(wards(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=4), mechanism="sanitized")
    with pytest.raises(SpecError, match="a monitor is about visitors of places"):
        monitor([made], lw.Budget("sqlite:///none.db", dataset="wards", cap="1"))
    small = lw.plan(wards(), lw.UnboundedDP("1/100"), lw.Decide(safe_at_most=1, error_at_most="0.001"))
    with pytest.raises(LowUtilityError, match="a group with nobody") as refused:
        lw.planner._useless.refuse_useless(small, 4)  # type: ignore[attr-defined]
    assert "presence" not in str(refused.value)


@pytest.mark.parametrize(("count", "advice"), [(3, "or ask fewer levels"), (1, "Raise epsilon or safe_at_most;")])
def test_what_to_do_against_useless_levels_can_be_done(count: int, advice: str) -> None:
    """It was to lower places_per_person, which a number has not."""
    ages = lw.records(pd.DataFrame({"age": [1]}), person="each row")
    asked: Any = lw.statistic(ages, lw.query.Kind("above", levels=[*range(count)]), column="age")
    made = lw.plan(asked, lw.AdditionOnly("1/1000"), lw.Decide(safe_at_most=1), mechanism="geometric")
    with pytest.raises(LowUtilityError, match=advice) as refused:
        lw.planner._useless.refuse_useless(made, count)  # type: ignore[attr-defined]
    assert "places_per_person" not in str(refused.value)


@pytest.mark.parametrize(
    ("mechanism", "of"), [("sanitized", "levels that it reaches with"), ("geometric", "levels with")]
)
def test_the_wish_is_of_what_a_scan_reaches(mechanism: str, of: str) -> None:
    """Nine levels in ten of those reached are not nine in ten of all: a scan ends at the first that fails."""
    ages = lw.records(pd.DataFrame({"age": [1]}), person="each row")
    asked: Any = lw.statistic(ages, lw.query.Kind("above", levels=[*range(50)]), column="age")
    compared = lw.compare(asked, lw.AdditionOnly("1"), lw.Decide(safe_at_most=30), scenario=Scenario(places=50))
    report = plan_report(compared, count=0, probability="0.9")
    (option,) = [each for each in report.options if each.mechanism == mechanism and each.notion.name == "addition-only"]
    assert isinstance(option, DecidingOption)
    assert wished(option, report.asked) == f"90 % of the {of} no row"
