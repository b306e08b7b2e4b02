"""Where somebody may be there who is not counted there, no heading, axis or table is about all who were there."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
from tests.report.pages import Page

import leeward as lw
from leeward.cli._dry_run import _print_statement
from leeward.planner import Decide
from leeward.report import report_html
from leeward.session import Release, privacy_statement

VISITS = {"person": "who", "place": "place", "time": "at"}
HOUR = {"start": "2030-01-01T09:00", "end": "2030-01-01T10:00"}
ONCE = ", each counted once in the first listed group they are in"


def of_groups(combine: Any, **asked: Any) -> Any:
    rows = lw.records("t.parquet", person="who", combine=combine)
    return lw.plan(lw.statistic(rows, "histogram", **asked), lw.AdditionOnly("1"), Decide(safe_at_most=3))


def of_places(if_more: Any, **about: Any) -> Any:
    places = lw.places(pa.table({"place": ["a", "b"]}), place="place")
    visits = lw.visits("v.parquet", **VISITS)
    asked = lw.count_visitors(visits, places, places_per_person=1, if_more=if_more, **HOUR)
    return lw.plan(asked, lw.AdditionOnly("1"), Decide(safe_at_most=3, **about))


TWO, ONE = {"by": {"g": ["a", "b"]}}, {"by": {"g": ["a"]}}
WORLDS = {
    # the plan; what the heading says of those who count; whom numbers beside chances are of
    "groups, each person in one": (of_groups("refuse", **TWO), "", "people in the group"),
    "groups, people in several": (of_groups("max", **TWO), ONCE, "people counted in the group"),
    "one group": (of_groups("max", **ONE), ", each counted once", "people counted in the group"),
    "places, checked": (of_places("refuse"), "", "people there"),
    "places, the latest": (of_places("latest"), " among those counted", "people counted there"),
    "places, of everyone": (of_places("latest", about="everyone"), " of all who were there", "people there"),
}


@pytest.mark.parametrize("world", WORLDS)
def test_numbers_are_of_those_who_count(world: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Found by an attack: "2 of 3 groups are said to be safe (at most 3 people)", with 500 people in one of them."""
    plan, so, whom = WORLDS[world]
    key = "group" if "group" in world else "place"
    keys = pa.table({key: ["a", "b"][: 1 if world == "one group" else 2]})
    statement = privacy_statement(plan, places=len(keys), dataset="d", version="1")
    answers = keys.append_column("state", pa.array(["safe"] * len(keys)))
    page = Page(report_html(Release(answers, keys, statement)))
    assert page.all("h1")[0].text.endswith(f"said to be safe (at most 3 people{so})")
    assert page.data("figure-curve")["layout"]["xaxis"]["title"]["text"].removesuffix(" (true count)") in (
        whom,
        whom.replace("people there", "people who were there"),
    )
    assert whom.capitalize() in page.text()
    caption = next(text for text in re.split(r"(?<=\.)\s", page.text()) if "The decision curve" in text)
    assert ("counted" in caption) == ("counted" in whom)
    assert plan.plot().layout.xaxis.title.text == page.data("figure-curve")["layout"]["xaxis"]["title"]["text"]
    _print_statement(statement)
    assert whom in capsys.readouterr().out
