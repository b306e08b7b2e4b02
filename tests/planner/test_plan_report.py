"""The plan report as a document: read back it is the same, nothing in it changes, and what it does not know is refused."""

from __future__ import annotations

import html
import json
import re
import sys
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError
from tests.deciding import decide_by

import leeward as lw
from leeward._plain import probability, short_percent
from leeward.accounting import _privacy_loss
from leeward.errors import InputError
from leeward.exact import exp_minus
from leeward.exact._weight import weight
from leeward.notion import GradedFacts, Notion
from leeward.planner import PlanReport, Scenario, compare, plan_report
from leeward.planner._people import at_most_people, people, places
from leeward.planner._recommend import floor_of, share
from leeward.planner._report import DecidingOption
from leeward.planner._words import head, short, sides
from leeward.report._plan import plan_html

VISITS = lw.visits("visits.parquet", person="user", place="venue", time="at")
PLACES = lw.places("places.parquet", place="venue")
HOUR = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}

ASKED: dict[str, tuple[Notion, dict[str, Any], dict[str, Any]]] = {
    "presence": (lw.Presence("1"), {"safe_at_most": 2}, {}),
    "refused": (lw.Presence("1"), {"safe_at_most": 2}, {"if_more": "latest"}),
    "unbounded": (lw.Presence("1/3"), {"safe_at_most": 0, "stop_after": 3}, {"places_per_person": None}),
    "both": (lw.UnboundedDP("4"), {"safe_at_most": 2, "dangerous_at_least": 9, "error_at_most": "1/10"}, {}),
    "dangerous": (
        lw.RemovalOnly("2"),
        {"dangerous_at_least": 3, "scenario": Scenario(40, {0: 90, 4: 8, 20: 2}, 3)},
        {},
    ),
    "counts": (lw.AdditionOnly("1"), {"safe_at_most": 2, "scenario": Scenario(40, {0: 9, 3: 1}), "what": "counts"}, {}),
    "graded": (lw.notion.Graded(presence="1", absence="8"), {"safe_at_most": 2, "error_at_most": "1/50"}, {}),
    "facts": (GradedFacts(presence="1", absence="8"), {"safe_at_most": 2, "error_at_most": "1/50"}, {}),
    "far": (
        lw.AdditionOnly("1/10"),
        {"safe_at_most": 99, "scenario": Scenario(40, releases=2)},
        {"places_per_person": 3},
    ),
}


def report(name: str, **more: Any) -> PlanReport:
    notion, decided, asked = ASKED[name]
    query = lw.count_visitors(VISITS, PLACES, **HOUR, **({"places_per_person": 1} | asked))
    return plan_report(decide_by(compare, query, notion, **{"scenario": Scenario(40), **decided}), **more)


def test_what_was_asked_is_told_as_it_was() -> None:
    """Every part has another value here, so that none stands in the place of another."""
    counts = {0: 30, 7: 10}
    known = Scenario(40, counts, 3, "1/7", "1/11", left=Fraction(13), answered=2)
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=5, if_more="latest")
    decided = {"safe_at_most": 30, "dangerous_at_least": 90, "error_at_most": "1/17", "left_out": 6}
    made = plan_report(
        decide_by(compare, query, lw.UnboundedDP("19"), about="everyone", scenario=known, **decided),
        count=8,
        probability="3/4",
    )
    assert json.loads(made.to_json())["asked"] == {
        "noun": "place",
        "many": "people",
        "window": {"start": "2026-01-01T18:00:00", "end": "2026-01-01T19:00:00"},
        "column": None,
        "by": None,
        "places": 40,
        "places_per_person": 5,
        "if_more": "latest",
        "notion": {"name": "dp", "epsilon": "19", "presence": None, "absence": None, "unit": "person"},
        "safe_at_most": 30,
        "dangerous_at_least": 90,
        "error_at_most": "1/17",
        "assumed_error": "1/11",
        "what": "decisions",
        "counts": {"0": 30, "7": 10},
        "wish": {"count": 8, "probability": "3/4"},
        "releases": 3,
        "delta": "1/7",
        "budget": {"notion": "dp per person", "left": "13"},
        "answered": 2,
        "about": "everyone",
        "left_out": 6,
    }


def test_a_chance_that_others_are_to_reach_is_rounded_down() -> None:
    """Rounded up it would be more than was told, and next to 1 more than any ε gives."""
    for chance in (weight("1/3"), weight("2/3"), weight(1) - exp_minus(20), exp_minus(20), weight("1/2")):
        assert chance - weight("1/1000000") < weight(floor_of(chance)) <= chance


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1/7"])
def test_the_epsilon_at_a_delta_is_rounded_up(delta: str) -> None:
    """Found by an attack: nine digits rounded to the nearest lay below the ε that keeps that δ."""
    asked = {"error_at_most": "0.01", "scenario": Scenario(40, releases=10, delta=delta)}
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=2)
    compared = decide_by(compare, query, lw.UnboundedDP("1/2"), safe_at_most=30, **asked)
    checked = 0
    for option, written in zip(compared.options, plan_report(compared).options, strict=True):
        composed = getattr(written, "composed", None)  # a row that decides nothing has none
        told = {} if composed is None else composed.epsilon_at_delta
        exactly = option.composed(10, delta) if told else {}
        assert told.keys() == exactly.keys()
        for way, epsilon in exactly.items():
            assert epsilon - 1e-11 <= told[way] <= epsilon * (1 + 2e-8), (str(option), way)
            checked += 1
    assert checked > 5


@pytest.mark.parametrize("name", ASKED)
def test_a_report_is_read_back_as_it_was_written(name: str) -> None:
    made = report(name)
    assert PlanReport.model_validate_json(made.to_json()) == made
    assert json.loads(made.to_json()) == json.loads(made.canonical()) == made.to_dict()
    assert made.format == 1
    with pytest.raises(ValidationError):
        made.asked.safe_at_most = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("format",), 2),
        (("asked", "safe_at_most"), "2"),
        (("asked", "safe_at_least"), 2),
        (("asked", "what"), "everything"),
        (("recommendation", "option"), 0.0),
        (("options", 0, "mechanism"), "gaussian"),
        (("options", 0, "price"), 1),
        (("options", 0, "curve", 0, "safe"), 0.5),
        (("options", 0, "curve"), None),
    ],
)
def test_a_broken_report_is_refused(path: tuple[Any, ...], wrong: Any) -> None:
    told = report("presence").to_dict()
    part = told
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = wrong
    with pytest.raises(ValidationError):
        PlanReport.model_validate_json(json.dumps(told))


def cells(page: str) -> tuple[int, list[int]]:
    """How many columns the table of a page has, and how many cells each of its rows."""
    table = page[page.index("<thead") : page.index("</tbody>")]
    return table.count('<th scope="col"'), [row.count("<td") for row in table.split("<tr")[2:]]


@pytest.mark.parametrize("name", ASKED)
def test_every_row_of_the_page_has_a_cell_for_every_column(name: str) -> None:
    """Chances beyond the curve that is told have their place too: a cell left out would move all that follow it."""
    made = report(name)
    columns, rows = cells(plan_html(made))
    assert rows == [columns] * len(made.shown)
    assert made.shown
    assert all(isinstance(option, DecidingOption) for option in made.shown)


THRESHOLDS = [
    (t, least)
    for t in (None, 0, 2, 12, 13, 20, 10**12)
    for least in (None, 1, 9, 14, 40, 10**6)
    if (t, least) != (None, None) and (t is None or least is None or t < least)
]


@pytest.mark.parametrize(("t", "least"), [(13, 40), *(each for each in THRESHOLDS if each != (13, 40))])
def test_chances_at_the_thresholds_are_told_however_far_out(t: int | None, least: int | None) -> None:
    """Found: the curve ended at 12, so that at the threshold itself nothing was told, and its row was a cell short."""
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=1)
    decided = {"safe_at_most": t, "dangerous_at_least": least, "error_at_most": "1/10"}
    made = plan_report(decide_by(compare, query, lw.UnboundedDP("1"), scenario=Scenario(places=40), **decided))  # type: ignore[arg-type]
    for option in made.shown:
        at = {point.count: point for point in option.curve}
        assert list(at) == sorted(at)
        for word in made.asked.words:
            for count in made.asked.ends(word):
                chance, best = at[count].of(word)
                assert chance is not None
                assert best is None or float(best) >= float(chance) - 1e-9
    columns, rows = cells(plan_html(made))
    assert rows == [columns] * len(made.shown)


def test_what_is_not_certain_never_reads_as_certain() -> None:
    """Found: 1 − e^−30 was told as 1, and so was a wish of 99.999999 %."""
    nearly = 1 - exp_minus(30)
    assert [probability(p) for p in (nearly, weight(1), weight(0))] == ["0.999999999999", "1", "0"]
    assert probability(exp_minus(1000)) == "1e-300" != probability(weight(0))
    far = 1 - exp_minus(90)  # a float is 1
    assert [short_percent(p) for p in (nearly, far, weight(1), 1.0, 0.9999)] == [
        "99.9 %",
        "99.9 %",
        "100.0 %",
        "100.0 %",
        "99.9 %",
    ]
    assert [share(p) for p in ("0.9", "1", "0.99999999")] == ["90 %", "100 %", "99.999999 %"]
    assert share("1/3") == "33.3333 % (1/3)"
    assert "99.999999 % of the places" in plan_html(report("counts", probability="0.99999999"))


def test_where_only_dangerous_is_asked_nothing_is_said_of_safe() -> None:
    """Found: "no ε is enough" for *safe*, which is not asked; and plain DP "was not compared", a row above."""
    made, page = report("dangerous"), plan_html(report("dangerous"))
    assert "no ε is enough" not in page
    assert any(option.notion.name == "dp" for option in made.options)
    assert "was not compared" not in made.recommendation.plain_dp


def test_releases_that_are_too_many_to_compose_have_their_price() -> None:
    """Found: a million releases were refused whole, with advice that the command has no option for."""
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=1)
    asked = compare(
        query,
        lw.UnboundedDP("1"),
        lw.Decide(safe_at_most=2, error_at_most="1/100"),
        scenario=Scenario(places=3, releases=10**6),
    )
    together = [option.composed for option in plan_report(asked).shown if option.notion.name == "dp"]
    assert together
    for one in together:
        assert one is not None
        assert one.price == "1000000"
        assert (one.worst is None) == (one.not_composed is not None)
    assert any(one is not None and "points of the grid" in f"{one.not_composed}" for one in together)
    assert plan_html(plan_report(asked)).count("No ε at δ is given: it would take too much work") == 1
    few = compare(
        query,
        lw.UnboundedDP("1"),
        lw.Decide(safe_at_most=2, error_at_most="1/100"),
        scenario=Scenario(places=3, releases=2),
    )
    assert "too much work" not in plan_html(plan_report(few))
    with pytest.raises(InputError, match="More than a trillion releases"):
        Scenario(releases=10**310)


def test_a_plain_install_compares_several_releases_and_names_what_the_epsilon_at_a_delta_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for library in ("dp_accounting.pld.pld_pmf", "dp_accounting.pld.common", "dp_accounting"):
        monkeypatch.setitem(sys.modules, library, None)
    _privacy_loss._self_composed.cache_clear()
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=1)
    made = plan_report(
        compare(query, lw.UnboundedDP("2/7"), lw.Decide(safe_at_most=2), scenario=Scenario(places=3, releases=11))
    )
    assert {option.composed.price for option in made.shown if option.composed is not None} >= {"22/7"}
    assert html.unescape(plan_html(made)).count('pip install "leeward[analysis]"') == 1


def test_the_unit_of_rows_is_a_row() -> None:
    for person, unit in (("each row", "row"), ("who", "person")):
        rows = lw.records("r.parquet", person=person)
        groups = lw.statistic(rows, "histogram", by={"ward": ["a", "b"]})
        told = plan_report(compare(groups, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)))
        assert {told.asked.notion.unit, *(option.notion.unit for option in told.shown)} == {unit}


@pytest.mark.parametrize(
    ("exact", "shown"),
    [
        ("1", "1"),
        ("227/100", "2.27"),
        ("1/3", "1/3"),
        ("3333333/1000000", "≈3.33333"),
        ("9" * 400, "9" * 400),
        ("inf", "inf"),
    ],
)
def test_numbers_of_a_table_are_short_and_one_that_is_rounded_says_so(exact: str, shown: str) -> None:
    """Found: an ε of sixty digits filled the table, and no other column could be read."""
    assert short(exact) == shown


def test_a_long_epsilon_stretches_nothing_on_the_page_but_its_data() -> None:
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=1)
    made = compare(
        query,
        lw.Presence("0." + "3" * 90),
        lw.Decide(safe_at_most=2),
        scenario=Scenario(places=3, left=Fraction(10**90 - 1, 10**89)),
    )
    page = plan_html(plan_report(made))
    shown = page[page.index("<main") : page.index("<pre")] if "<pre" in page else page[page.index("<main") :]
    assert "ε ≈ 0.333333" in shown
    assert "3" * 40 not in re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)


def test_a_row_whose_noise_is_too_wide_is_refused_alone() -> None:
    """Found: one row beyond 64 bits ended the whole comparison, though the row asked for was fine."""
    query = lw.count_visitors(VISITS, PLACES, **HOUR, places_per_person=1)
    made = compare(
        query,
        lw.UnboundedDP("1e-15"),
        lw.Decide(safe_at_most=2, error_at_most="0.3", useful_from="0"),
        scenario=Scenario(places=1),
    )
    assert made.as_written is not None
    assert any("64 bits" in option.refused for option in made.options)


def test_what_is_asked_is_told_in_words() -> None:
    told = list(head(report("unbounded").asked))
    assert ("decide", "safe: nobody") in told
    assert ("decide", "dangerous: at least 3 people") in list(head(report("dangerous").asked))
    assert [people(n) for n in (0, 1, 2, 1234)] == ["nobody", "1 person", "2 people", "1,234 people"]
    assert [at_most_people(n) for n in (0, 1)] == ["nobody", "at most 1 person"]
    assert [places(n) for n in (1, 1234)] == ["1 place", "1,234 places"]


def test_notions_that_promise_alike_share_an_entry_and_only_they() -> None:
    shown = report("presence").shown
    for names, protects, lacks in sides(shown):
        mine = {
            option.notion.name for option in shown if (option.protects, option.does_not_protect) == (protects, lacks)
        }
        assert {name.split()[0] for name in names.split(", ")} == mine


def test_a_wish_that_means_nothing_is_refused() -> None:
    for wrong in ({"count": -1}, {"count": "2"}, {"probability": "3/2"}, {"probability": 0.9}):
        with pytest.raises(InputError):
            report("presence", **wrong)
