"""The plan report as a document: read back it is the same, nothing in it changes, and what it does not know is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

import leeward as lw
from leeward.cli import InputError
from leeward.notion import GradedFacts, Notion
from leeward.planner import PlanReport, compare, plan_report
from leeward.planner._people import at_most_people, people, places
from leeward.planner._report import DecidingOption
from leeward.planner._words import head, sides
from leeward.report._plan import plan_html

VISITS = lw.visits("visits.parquet", person="user", place="venue", time="at")
PLACES = lw.places("places.parquet", place="venue")
HOUR = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}

ASKED: dict[str, tuple[Notion, dict[str, Any], dict[str, Any]]] = {
    "presence": (lw.Presence("1"), {"safe_at_most": 2}, {}),
    "refused": (lw.Presence("1"), {"safe_at_most": 2}, {"if_more": "latest"}),
    "unbounded": (lw.Presence("1/3"), {"safe_at_most": 0, "stop_after": 3}, {"places_per_person": None}),
    "both": (lw.UnboundedDP("4"), {"safe_at_most": 2, "dangerous_at_least": 9, "error_at_most": "1/10"}, {}),
    "dangerous": (lw.RemovalOnly("2"), {"dangerous_at_least": 3, "counts": {0: 90, 4: 8, 20: 2}, "releases": 3}, {}),
    "counts": (lw.AdditionOnly("1"), {"safe_at_most": 2, "counts": {0: 9, 3: 1}, "what": "counts"}, {}),
    "graded": (lw.notion.Graded(presence="1", absence="8"), {"safe_at_most": 2, "error_at_most": "1/50"}, {}),
    "facts": (GradedFacts(presence="1", absence="8"), {"safe_at_most": 2, "error_at_most": "1/50"}, {}),
    "far": (lw.AdditionOnly("1/10"), {"safe_at_most": 99, "releases": 2}, {"places_per_person": 3}),
}


def report(name: str, **more: Any) -> PlanReport:
    notion, decided, asked = ASKED[name]
    query = lw.count_visitors(VISITS, PLACES, **HOUR, **({"places_per_person": 1} | asked))
    return plan_report(compare(query, notion, places=40, **decided), **more)


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


@pytest.mark.parametrize("name", ASKED)
def test_every_row_of_the_page_has_a_cell_for_every_column(name: str) -> None:
    """Chances beyond the curve that is told have their place too: a cell left out would move all that follow it."""
    made = report(name)
    page = plan_html(made)
    table = page[page.index("<thead>") : page.index("</tbody>")]
    columns = table.count('<th scope="col">')
    rows = [row.count("<td>") for row in table.split("<tr")[2:]]
    assert rows == [columns] * len(made.shown)
    assert made.shown
    assert all(isinstance(option, DecidingOption) for option in made.shown)


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
