"""Whoever does what a message says is not refused for it."""

from __future__ import annotations

import pytest
from tests.deciding import decide_by
from tests.session.conftest import Town, town

import leeward as lw
from leeward.cli import LeewardError
from leeward.errors import BoundExceededError
from leeward.notion import Notion

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
