"""Statistics, and groups that nobody has listed, under every notion and mechanism: each row is what a release would do."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by
from tests.report.pages import Page

import leeward as lw
from leeward._plain import at_most
from leeward.errors import InputError
from leeward.planner import AnswerComparison, NumberPlan, RankPlan, Scenario, answer_report
from leeward.planner._accuracy import MeanAccuracy, NumberAccuracy, UnlistedAccuracy
from leeward.planner._answer_cells import cells_of
from leeward.planner._answer_report import name_report
from leeward.planner._statistic_plan import plan_statistic
from leeward.query._statistic import Statistic

PEOPLE = lw.records("t.parquet", person="who")
ROWS = lw.records("t.parquet", person="each row")


def asked(kind: Any, table: Any = PEOPLE, **more: Any) -> Statistic:
    return statistic_by(table, kind, **{"column": "age", "lower": 0, "upper": 100, **more})


TOWNS = lw.unlisted_groups(PEOPLE, "town", groups_per_person=2, if_more="first")


def test_each_row_is_the_plan_of_its_notion_and_mechanism() -> None:
    query = asked("percentile", p=["25", "75"])
    compared = lw.compare(query, lw.UnboundedDP("1"))
    assert isinstance(compared, AnswerComparison)
    assert {option.notion.name for option in compared.options} == {
        *("dp", "addition-only", "removal-only", "bounded-dp", "add-remove-replace-dp", "normalised-manhattan"),
    }  # fmt: skip
    first = compared.options[0]
    assert (first.notion.name, first.mechanism) == ("dp", "rank")
    assert repr(first.plan) == repr(lw.plan(query, lw.UnboundedDP("1")))
    for option in compared.possible:
        assert repr(option.plan) == repr(plan_statistic(query, option.notion, option.mechanism))  # type: ignore[arg-type]
        assert isinstance(option.plan, RankPlan if option.mechanism == "rank" else NumberPlan)
    assert len({(option.notion, option.mechanism) for option in compared.options}) == len(compared.options)
    noisy = lw.compare(query, lw.UnboundedDP("1"), mechanism="geometric").options[0]
    assert (noisy.mechanism, noisy.useless != "") == ("geometric", True)


@pytest.mark.parametrize(
    ("query", "notion", "side"),
    [
        (asked("sum"), lw.AdditionOnly("1"), "never too low"),
        (asked("sum"), lw.RemovalOnly("1"), "never too high"),
        (asked("sum"), lw.UnboundedDP("1"), "both ways"),
        (asked("sum", lower=-5), lw.AdditionOnly("1"), "both ways"),
        (asked("mean"), lw.AdditionOnly("1"), "both ways"),
        (asked("median"), lw.AdditionOnly("1"), "both ways"),
        (TOWNS, lw.RemovalOnly("1"), "never too high"),
    ],
)
def test_a_row_says_on_which_side_answers_err(query: Any, notion: Any, side: str) -> None:
    assert lw.compare(query, notion).options[0].side == side


@pytest.mark.parametrize("epsilon", ["1/10", "1", "5"])
@pytest.mark.parametrize("asked_for", [lw.AdditionOnly, lw.RemovalOnly, lw.UnboundedDP, lw.BoundedDP])
def test_what_is_said_to_be_no_worse_errs_on_no_other_side_and_protects_all_of_it(asked_for: Any, epsilon: str) -> None:
    """At ε = 5 two-sided noise is as near as noise that is never too low; but it may be too low."""
    own_sides = set()
    for query in (asked("sum"), asked("sum", lower=-5), asked("sum", upper=0, lower=-9), asked("mean")):
        compared = lw.compare(query, asked_for(epsilon))
        own = compared.options[0]
        own_sides.add(own.side)
        said = {line.partition(" promises all of that")[0] for line in compared.advice if "is no worse" in line}
        better = {
            one.notion.name
            for one in compared.possible
            if one.mechanism == own.mechanism and one.notion != own.notion and not one.useless
            if one.in_asked <= 1 and (one.side, own.error is not None and one.error <= own.error) == (own.side, True)  # type: ignore[operator]
        }
        assert said == better
    assert own_sides - {"both ways", None} or asked_for in {lw.UnboundedDP, lw.BoundedDP}


def test_errors_and_prices_are_those_of_the_plans() -> None:
    compared = lw.compare(
        asked("sum"), lw.AdditionOnly("1/2"), scenario=Scenario(counted_in="dp/person", left=Fraction(2))
    )
    by_name = {option.notion.name: option for option in compared.options}
    told = by_name["addition-only"].accuracy
    assert isinstance(told, NumberAccuracy)
    assert by_name["addition-only"].error == told.within_95_percent
    assert by_name["dp"].in_budget == Fraction(1, 2)
    assert by_name["dp"].in_asked == 1
    assert by_name["removal-only"].in_asked.is_infinite
    report = answer_report(compared)
    left = {option.notion.name: option.releases_left for option in report.options}
    assert (report.asked.kind, report.asked.answers, left["dp"], left["addition-only"]) == ("sum", 1, 4, None)
    assert not any("removal-only" in said for said in report.advice)  # no nearer, and it gives up what is asked for
    advice = lw.compare(asked("sum"), lw.UnboundedDP("1/2")).advice
    assert any(said.startswith("addition-only: 95 % within 599, never too low; not protected: ") for said in advice)
    mean = lw.compare(asked("mean", ROWS), lw.UnboundedDP("1")).options[0]
    assert isinstance(mean.accuracy, MeanAccuracy)
    assert mean.error == mean.accuracy.by_number[1].within_95_percent


def test_groups_that_nobody_has_listed_have_a_delta_where_they_need_one() -> None:
    """Where none is given, as under removal-only, the other rows have that of the scenario."""
    given = lw.compare(TOWNS, lw.AdditionOnly("1"), delta="1e-7")
    assert {option.notion.name: option.delta for option in given.options} == {
        "addition-only": Fraction(1, 10**7),
        "removal-only": 0,
        "dp": Fraction(1, 10**7),
        "bounded-dp": Fraction(1, 10**7),
        "add-remove-replace-dp": Fraction(1, 10**7),
    }
    assert repr(given.options[0].plan) == repr(lw.plan(TOWNS, lw.AdditionOnly("1"), delta="1e-7"))
    assumed = lw.compare(TOWNS, lw.RemovalOnly("1"), scenario=Scenario(delta="1e-5"))
    assert assumed.find("dp").delta == Fraction(1, 10**5)
    with pytest.raises(InputError, match="was not compared"):
        assumed.find("presence")
    with pytest.raises(InputError, match="without delta"):
        lw.compare(TOWNS, lw.AdditionOnly("1"))
    refused = lw.compare(TOWNS, lw.Presence("1"), delta="1e-6")
    assert (refused.refusal != "", refused.advice) == (True, ("Nothing can be released as asked",))
    # 1e-5 of δ is left, so ε pays for nine releases and δ for one hundred
    left = Scenario(left=Fraction(9), left_delta=Fraction(1, 10**5))
    assert (
        answer_report(lw.compare(TOWNS, lw.AdditionOnly("1"), delta="1e-7", scenario=left)).options[0].releases_left
        == 9
    )
    less = Scenario(left=Fraction(9), left_delta=Fraction(1, 10**6))
    told = answer_report(lw.compare(TOWNS, lw.AdditionOnly("1"), delta="2e-7", scenario=less))
    assert [option.releases_left for option in told.options[:2]] == [5, None]
    told = answer_report(lw.compare(TOWNS, lw.AdditionOnly("1"), delta="3e-7", scenario=less))
    assert told.options[0].releases_left == 3, "a fourth would need more than is left"


NOTION = {"name": "dp", "epsilon": "2", "presence": None, "absence": None, "unit": "person"}
BUDGET = {"notion": "dp per person", "left": "13"}


def test_what_was_asked_is_told_as_it_was() -> None:
    """Every part has another value here, so that none stands in the place of another."""
    known = Scenario(releases=3, left=Fraction(13), left_delta=Fraction(1, 10**5))
    groups = lw.unlisted_groups(PEOPLE, "town", groups_per_person=7, if_more="first")
    made = answer_report(lw.compare(groups, lw.UnboundedDP("2"), delta="1e-6", scenario=known))
    assert made.asked.model_dump(mode="json") == {
        "kind": "unlisted groups",
        "many": "people",
        "column": None,
        "by": "town",
        "window": None,
        "answers": 1000,
        "groups_per_person": 7,
        "notion": NOTION,
        "releases": 3,
        "budget": BUDGET,
        "delta_left": "1/100000",
    }
    visits, places = lw.visits("v.parquet", person="u", place="p", time="t"), lw.places("p.parquet", place="p")
    hour = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    named = lw.select(lw.count_visitors(visits, places, **hour, places_per_person=5, if_more="latest"), "quietest")
    known = Scenario(40, {0: 30, 7: 10}, 3, left=Fraction(13))
    assert name_report(lw.compare(named, lw.UnboundedDP("2"), scenario=known)).asked.model_dump(mode="json") == {
        "which": "quietest",
        "noun": "place",
        "options": 40,
        "places_per_person": 5,
        "if_more": "latest",
        "notion": NOTION,
        "counts": {"0": 30, "7": 10},
        "releases": 3,
        "budget": BUDGET,
        "window": {"start": "2026-01-01T18:00:00", "end": "2026-01-01T19:00:00"},
    }


@pytest.mark.parametrize("counted_in", ["bounded-dp/person", "add-remove-replace-dp/person"])
def test_a_delta_is_not_said_to_be_paid_for_by_a_budget_whose_step_is_two_of_the_release(counted_in: str) -> None:
    """Their ε is doubled, and the δ would be too: a release is refused, so it has no price in that budget."""
    compared = lw.compare(TOWNS, lw.UnboundedDP("1"), delta="1e-6", scenario=Scenario(counted_in=counted_in))
    own, replacing = compared.find("dp"), compared.find("add-remove-replace-dp")
    assert (own.delta, own.in_budget) == (Fraction(1, 10**6), None)
    assert own.incomparable.startswith("a δ holds for one step of the release's notion")
    assert (replacing.delta, replacing.in_budget, replacing.incomparable) == (Fraction(1, 10**6), 1, "")


def test_what_would_say_next_to_nothing_is_told_so_and_not_advised() -> None:
    compared = lw.compare(asked("median"), lw.UnboundedDP("1/100"))
    noisy = compared.find("dp", "geometric")
    assert "whole public range is 100" in noisy.useless
    assert not any("95 % within 100" in said for said in compared.advice)
    assert "By geometric at the same price: it would say next to nothing" in compared.advice
    wanted = lw.compare(
        asked("median"), lw.UnboundedDP("1/100"), mechanism="geometric", scenario=Scenario(accept_useless=True)
    )
    assert [said.partition(",")[0].partition(":")[0] for said in wanted.advice] == [
        "As asked",
        "By rank at the same price",
    ], "no other notion, under which it would say next to nothing too"


def test_what_is_refused_has_a_price_and_no_releases_left() -> None:
    compared = lw.compare(asked("mean"), lw.Presence("1"), scenario=Scenario(left=Fraction(9)))
    told = {option.notion.name: option for option in answer_report(compared).options}
    assert (told["presence"].refused is None, told["presence"].price_in_budget) == (False, "1")
    assert (told["presence"].releases_left, told["dp"].releases_left) == (None, 4)


def test_cells_stand_under_what_they_are() -> None:
    groups = lw.compare(TOWNS, lw.RemovalOnly("1"))
    (headings, rows), _ = cells_of(answer_report(groups))
    found = groups.options[0].accuracy
    assert isinstance(found, UnlistedAccuracy)
    assert headings[4:] == ["half\nshown", "95%\nshown", "95%\noff", "errs"]
    numbers = [found.half_shown_from, found.mostly_shown_from, found.within_95_percent]
    assert rows[0][4:] == [*map(str, numbers), "not high"]
    assert len({*numbers}) == 3
    mean = lw.compare(asked("mean"), lw.UnboundedDP("1"))
    (headings, rows), _ = cells_of(answer_report(mean))
    off = mean.options[0].accuracy
    assert isinstance(off, MeanAccuracy)
    under = dict(zip(headings, rows[0], strict=True))
    assert [under[f"95% off,\n{each.number:,}"] for each in off.by_number[1:]] == [
        at_most(each.within_95_percent) for each in off.by_number[1:]
    ]


def test_a_notebook_shows_a_table_of_the_rows_and_what_speaks_for_which() -> None:
    query = asked("median")
    shown = lw.compare(query, lw.UnboundedDP("1/100"))
    page = Page(shown._repr_html_())
    heads = [cell.text for cell in page.all("th") if cell.attributes.get("scope") == "col"]
    assert heads == ["notion", "mechanism", "price ε", "in the budget", "95 % off", "errs"]
    rows = [cell.text for cell in page.all("th") if cell.attributes.get("scope") == "row"]
    assert rows[: len(shown.possible)] == [option.notion.name for option in shown.possible]
    assert "; the first row is what was asked for" in page.text()
    assert all(advice in page.text() for advice in shown.advice)
    refused = lw.compare(query, lw.UnboundedDP("1/100"), mechanism="geometric")
    assert "refused as asked" in refused._repr_html_()
    assert "row is what was asked for" not in refused._repr_html_()
    wanted = lw.compare(query, lw.UnboundedDP("1/100"), mechanism="geometric", scenario=Scenario(accept_useless=True))
    assert (wanted.refusal, refused.refusal == refused.options[0].useless != "") == ("", True)


def test_what_means_nothing_there_is_refused() -> None:
    for query in (asked("mean"), TOWNS):
        with pytest.raises(InputError, match="decisions are about counts of people"):
            lw.compare(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))  # type: ignore[call-overload]
    with pytest.raises(InputError, match="only groups that nobody has listed"):
        lw.compare(asked("mean"), lw.AdditionOnly("1"), delta="1e-6")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="only a percentile"):
        lw.compare(asked("mean"), lw.AdditionOnly("1"), mechanism="rank")
    with pytest.raises(InputError, match="not an amount of a budget"):
        Scenario(left_delta=Fraction(-1))
