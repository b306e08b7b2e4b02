"""Every note about a statistic fits what was asked: each statistic, combination, grouping, filter and unit, by an oracle."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.errors import SpecError
from leeward.planner._number_plan import plan_number
from leeward.planner._rank_plan import plan_rank
from leeward.session import privacy_statement

BOUNDS = {"column": "n", "lower": 2, "upper": 9}
KINDS: dict[str, dict[str, Any]] = {
    **{
        kind: {"kind": kind, **BOUNDS}
        for kind in ("sum", "mean", "variance", "standard deviation", "median", "min", "max", "histogram")
    },
    "percentile": {"kind": "percentile", "p": 90, **BOUNDS},
    "groups": {"kind": "histogram"},
}
HOW = {"sum": "the sum", "min": "the least", "max": "the greatest"}
GRID = list(itertools.product(KINDS, ("refuse", *HOW), (0, 1, 2), (False, True), ("who", "each row")))
GRID.append(GRID.pop(GRID.index(("sum", "min", 2, True, "who"))))  # the last is always run, and here much is said


def asked(name: str, combine: str, groups: int, keep: bool, person: str) -> Any:
    by = {"by": "g", "groups": ["a", "b"][:groups]} if groups else {}
    table = lw.records("t", person=person, combine=combine, keep={"k": [1]} if keep else None)  # type: ignore[arg-type]
    return statistic_by(table, **KINDS[name], **by)  # type: ignore[misc]


@pytest.mark.parametrize(("name", "combine", "groups", "keep", "person"), GRID)
def test_every_note_fits_what_was_asked(name: str, combine: str, groups: int, keep: bool, person: str) -> None:
    impossible = (
        (person == "each row" and combine != "refuse")
        or (name == "groups" and groups == 0)
        or (name == "histogram" and combine == "sum")
    )
    if impossible:
        with pytest.raises(SpecError):
            asked(name, combine, groups, keep, person)
        return
    query = asked(name, combine, groups, keep, person)
    told = privacy_statement(plan_number(query, lw.UnboundedDP(1)), places=query.cells, dataset="d", version="1")
    notes = [*told.assumptions, *told.guaranteed, *told.not_guaranteed]
    text = " ".join(notes)
    numbers, rows = name != "groups", person == "each row"

    assert "place" not in text.replace("replaced", "")
    assert ("in no listed group" in text) == (groups > 0)
    assert ("removed by the filter" in text) == keep
    assert ("without a person" in text) == (not rows)
    assert ("a number" in text.partition("Rows ")[2].partition(" are not counted")[0]) == numbers
    assert ("the groups" in text.lower()) == (groups > 0)
    assert ("the bounds" in text.lower().partition("chosen without")[0]) == numbers
    assert ("Nobody has more than one row" in text) == (combine == "refuse" and not rows)

    several = [note for note in notes if "several rows counts once" in note]
    assert len(several) == (combine != "refuse")
    for note in [*several, *([query.over_bound(3)] if combine != "refuse" else [])]:
        assert ("first listed group" in note) == (groups == 2)
        for each, how in HOW.items():
            assert (how in note) == (numbers and each == combine)
        assert "place" not in note
        assert "only" not in note
    assert ("clamped again" in text) == (numbers and combine == "sum")
    assert (" 0 stands in" in text) == (name in {"variance", "standard deviation"})
    assert (" 2 stands in" in text) == (name in {"mean", "median", "min", "max", "percentile"})
    assert query.over_bound(1).startswith("1 person has several rows")


BY_RANK = [each for each in GRID if each[0] in {"median", "min", "max", "percentile"}]


@pytest.mark.parametrize(("name", "combine", "groups", "keep", "person"), BY_RANK)
def test_every_note_by_rank_fits_what_was_asked(name: str, combine: str, groups: int, keep: bool, person: str) -> None:
    rows = person == "each row"
    if rows and combine != "refuse":
        return
    query = asked(name, combine, groups, keep, person)
    told = privacy_statement(plan_rank(query, lw.UnboundedDP(1)), places=query.cells, dataset="d", version="1")
    text = " ".join([*told.assumptions, *told.guaranteed, *told.not_guaranteed])
    assert "place" not in text.replace("replaced", "").replace("in place of", "")
    assert ("rows have" in text) == rows
    assert ("people have" in text) == (not rows)
    assert ("no row has" in text.lower()) == rows
    assert ("of its group" in text) == (groups > 1)
    assert ("answers together" in text) == (groups > 1)
    assert ("in no listed group" in text) == (groups > 0)
    assert ("removed by the filter" in text) == keep
    assert ("Nobody has more than one row" in text) == (combine == "refuse" and not rows)
    assert "stands in" not in text
    assert ("no row has a number, each grid point" in text) == rows
    assert ("nobody has a number, each grid point" in text) == (not rows)


@pytest.mark.parametrize("if_more", ["latest", "earliest"])
@pytest.mark.parametrize("k", [1, 2])
def test_what_becomes_of_people_at_more_places(if_more: Any, k: int) -> None:
    seen = lw.visits("t", person="who", place="p", time="at")
    query = lw.count_visitors(
        seen, lw.places("l", place="p"), start="2026-01-01", end="2026-01-02", places_per_person=k, if_more=if_more
    )
    kept = f"the {if_more} of them counts" if k == 1 else f"the 2 {if_more} of them count"
    assert query.over_bound(7) == f"7 people were at more than {k} listed place{'s' if k > 1 else ''}: only {kept}"
    assert query.over_bound(1).startswith("1 person was at more than")


@pytest.mark.parametrize("groups", [0, 1, 2])
def test_the_curve_is_about_the_groups_that_are_listed(groups: int) -> None:
    """With one listed group too: those in no listed group have numbers, and are not counted."""
    query = asked("histogram", "max", groups, False, "who")
    told = privacy_statement(plan_number(query, lw.AdditionOnly(1)), places=query.cells, dataset="d", version="1")
    (curve,) = (one for one in told.guaranteed if one.startswith("So it is certain"))
    assert ("no more people of its group have a number" in curve) == (groups > 0)
    assert "each counted once" in curve
