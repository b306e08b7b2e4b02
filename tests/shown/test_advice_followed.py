"""Whoever does what a message says is not refused for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.deciding import decide_by
from tests.session.conftest import SPEC, Town, town

import leeward as lw
from leeward.cli import LeewardError
from leeward.errors import BoundExceededError
from leeward.notion import Notion
from leeward.planner._useless import refuse_useless
from leeward.spec import read_spec

__all__ = ["town"]

HOUR = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}


def two_places(town: Town) -> tuple[lw.Visits, lw.Places]:  # type: ignore[name-defined]
    """A table in which everybody was at two places."""
    import pandas as pd

    visits = pd.read_parquet(town.folder / "visits.parquet")
    both = pd.concat([visits, visits.assign(venue="v39")])
    places = lw.places(town.folder / "places.parquet", place="venue")
    return lw.visits(both, person="user", place="venue", time="at"), places


NOTIONS: dict[str, tuple[Notion, dict[str, str]]] = {
    "addition-only": (lw.AdditionOnly("1"), {}),
    "removal-only": (lw.RemovalOnly("9"), {"error_at_most": "1/5"}),
    "presence": (lw.Presence("1"), {}),
    "dp": (lw.UnboundedDP("9"), {"error_at_most": "1/5"}),
    "bounded": (lw.BoundedDP("20"), {"error_at_most": "1/5"}),
    "graded": (lw.notion.Graded(presence="9", absence="9"), {"error_at_most": "1/5"}),
    "graded facts": (lw.notion.GradedFacts(presence="9", absence="9"), {"error_at_most": "1/5"}),
}
WAYS = {"Raise places_per_person": {"places_per_person": 2}, "if_more": {"if_more": "latest"}, "sanitized": None}


@pytest.mark.parametrize("name", NOTIONS)
def test_people_over_the_bound_are_told_of_ways_that_are_open(town: Town, name: str) -> None:
    notion, decide = NOTIONS[name]
    visits, places = two_places(town)
    budget = lw.Budget(f"sqlite:///{town.folder / 'b.db'}", dataset="d", cap="500", new=True)

    def ask(mechanism: str = "auto", **changed: object) -> None:
        asked = {"places_per_person": 1, "if_more": "refuse"} | changed
        query = lw.count_visitors(visits, places, **HOUR, **asked)  # type: ignore[arg-type]
        chosen = decide if mechanism == "auto" else {}
        lw.release(decide_by(lw.plan, query, notion, safe_at_most=2, mechanism=mechanism, **chosen), budget)  # type: ignore[arg-type]

    with pytest.raises(BoundExceededError) as refused:
        ask()
    offered = {way for way in WAYS if way in refused.value.instead}
    assert "Raise places_per_person" in offered
    open_ways = set()
    for way, changed in WAYS.items():
        try:
            ask(**changed) if changed else ask("sanitized", places_per_person=None)
        except LeewardError:
            continue
        open_ways.add(way)
    assert offered == open_ways


def test_a_plan_says_that_the_budget_is_spent_and_what_would_help(town: Town) -> None:
    town.spec(('cap = "5"', 'cap = "3/2"'))
    assert town.run("release", town.folder / "spec.toml", "--out", town.out)[0] == 0
    town.spec(('cap = "5"', 'cap = "3/2"'), ("T18:00", "T17:00"))
    for smaller in (False, True):
        code, out, _ = town.run("plan", town.folder / "spec.toml")
        said = " ".join(out.split())
        assert code == 0
        assert "Only 1/2 is left of the budget: of the rows that keep what is asked, the cheapest costs 1." in said
        if smaller:
            assert "or ask for a smaller epsilon, which costs at most 1/2." in said
            town.spec(('cap = "5"', 'cap = "3/2"'), ("T18:00", "T17:00"), ('epsilon = "1"', 'epsilon = "1/2"'))
            assert "recommended" in town.run("plan", town.folder / "spec.toml")[1]
            assert town.run("release", town.folder / "spec.toml", "--out", town.folder / "less")[0] == 0
    town.spec(('cap = "5"', 'cap = "3/2"'), ("T18:00", "T16:00"))
    said = " ".join(town.run("plan", town.folder / "spec.toml")[1].split())
    assert "The budget is spent: of the rows that keep what is asked, the cheapest costs 1. Raise the cap" in said
    assert "smaller" not in said
    assert "`leeward budget set-cap`" in said
    assert town.run("budget", "set-cap", "--ledger", town.folder / "budget.db", "town", "5/2")[0] == 0
    town.spec(('cap = "5"', 'cap = "5/2"'), ("T18:00", "T16:00"))
    assert "The budget is spent" not in town.run("plan", town.folder / "spec.toml")[1]
    assert town.run("release", town.folder / "spec.toml", "--out", town.folder / "more")[0] == 0


def test_the_cap_of_a_budget_that_is_not_open_is_raised_where_it_is_given(town: Town) -> None:
    """``leeward budget set-cap`` finds no budget there, so it cannot be all that is said."""
    dear = [('epsilon = "1"', 'epsilon = "6"')]
    code, _, err = town.run("release", town.spec(*dear), "--out", town.out)
    assert code == 2
    assert "Ask for at most 5, or raise the cap on purpose (" in err
    assert "before the first release, where it is given)" in err
    assert town.run("budget", "set-cap", "--ledger", town.folder / "budget.db", "town", "6")[0] == 2
    assert town.run("release", town.spec(*dear, ('cap = "5"', 'cap = "6"')), "--out", town.out)[0] == 0


NUMBERS = """
[data]
table = "table.parquet"
person = "id"

[query]
kind = "median"
column = "age"
lower = "0"
upper = "3"

[protect]
notion = "maximum"
epsilon = "1/100"

[budget]
ledger = "budget.db"
cap = "5"
dataset = "ages"
"""


def refused(spec: Path, text: str, *changes: tuple[str, str]) -> str:
    """What to do instead of a spec that is refused, in the words of the refusal; empty where it is not refused."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    spec.write_text(text)
    try:
        for made in read_spec(spec).plans():
            refuse_useless(made, 9)
    except LeewardError as error:
        return error.instead
    return ""


@pytest.mark.parametrize("kind", ["sum", "mean", "variance", "standard deviation"])
def test_a_number_of_people_is_asked_for_where_it_may_be_given(kind: str, tmp_path: Path) -> None:
    """Of groups none may be declared, so those who have some are told to leave them out."""
    spec, small = tmp_path / "spec.toml", ('"1/100"', '"500"')
    grouped = (f'"{kind}"\nby = {{ sex = ["f", "m"] }}', f'"{kind}"\nby = {{ sex = ["f", "m"] }}\npeople = 9')
    for asked in grouped:
        assert refused(spec, NUMBERS, small, ('"median"', asked))
    said = refused(spec, NUMBERS, small, ('"median"', grouped[0]))
    assert "if" in said
    assert "public and there are no groups" in said
    assert "ask a percentile" in said
    assert "mean" not in said
    assert not refused(spec, NUMBERS, small, ('"median"', f'"{kind}"\npeople = 9'))
    assert not refused(spec, NUMBERS, small, ('"median"', '"percentile"\np = "50"'))


@pytest.mark.parametrize("name", ["maximum", "manhattan", "normalised-manhattan", "bounded-dp", "dp"])
def test_what_is_named_in_the_place_of_a_useless_percentile_can_be_asked(name: str, tmp_path: Path) -> None:
    spec, large = tmp_path / "spec.toml", ('"1/100"', '"50"')
    notion, by_noise = ('"maximum"', f'"{name}"'), ('"median"', '"median"\nmechanism = "geometric"')
    said = refused(spec, NUMBERS, notion, by_noise)
    assert "Raise epsilon" in said
    ways = {"rank": ('"median"', '"median"\nmechanism = "rank"'), "a histogram": ('"median"', '"histogram"')}
    for word, way in ways.items():
        assert (word in said) == (not refused(spec, NUMBERS, notion, large, way)), word
    assert ("such as manhattan" in said) == (name != "manhattan")


def test_a_mechanism_that_needs_no_bound_is_named_with_what_is_to_be_left_out(tmp_path: Path) -> None:
    spec, presence = tmp_path / "spec.toml", ('"addition-only"', '"presence"')
    stops = ('what = "counts"', 'mechanism = "sanitized"')
    said = refused(spec, SPEC, presence, stops)
    assert "leave places_per_person and if_more out and use the sanitized mechanism" in said
    assert not refused(spec, SPEC, presence, stops, ('places_per_person = 1\nif_more = "latest"\n', ""))


@pytest.mark.parametrize(("name", "stops"), [("addition-only", True), ("dp", False)])
def test_a_mechanism_that_stops_is_named_where_it_may_be_used(name: str, stops: bool, tmp_path: Path) -> None:
    spec, wrong = tmp_path / "spec.toml", "" if stops else '\nerror_at_most = "1/5"'
    changes = [('"addition-only"', f'"{name}"'), ("safe_at_most = 2", f"safe_at_most = 2{wrong}")]
    places = ('what = "counts"', 'mechanism = "geometric"\nstop_after = 2')
    assert ('mechanism = "sanitized"' in refused(spec, SPEC, *changes, places)) == stops


def test_a_budget_about_visits_says_that_it_is_no_promise_for_numbers() -> None:
    with pytest.raises(LeewardError, match=r"Release under presence \(for sets of facts, such as visits\), or keep"):
        lw.price(lw.BoundedDP("1"), lw.Presence("1"))
    with pytest.raises(LeewardError, match=r"Release under addition-only, or keep"):
        lw.price(lw.RemovalOnly("1"), lw.AdditionOnly("1"))


def test_a_cap_that_was_changed_is_not_said_to_be_the_first(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    town.run("budget", "set-cap", "--ledger", town.folder / "budget.db", "town", "6")
    _, _, err = town.run("release", town.spec(), "--out", town.out)
    assert (
        "The cap of 'town' is 6, and this release says 5: it was fixed by the first release, or changed on purpose"
        in err
    )
