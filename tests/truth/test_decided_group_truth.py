"""Every sentence of every statement of safe and dangerous groups is true, for every notion and mechanism."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.truth import notion_claims, number_claims, numbers, visitor_claims
from tests.truth.claims import Claims
from tests.truth.decided_groups import OfGroups, worlds
from tests.truth.notion_claims import private
from tests.truth.relations import number
from tests.truth.visitor_claims import REQUIRED, STRUCTURE, leaves, structure

import leeward as lw
from leeward.session import privacy_statement

CLAIMS = Claims()
notion_claims.register(CLAIMS)
number_claims.register(CLAIMS)
visitor_claims.register(CLAIMS)
WORLDS = worlds()

PARTS = STRUCTURE | {
    f"query.{name}"
    for name in ("answers", "column", "p", "combine", "by", "lower", "upper", "step", "people", "groups")
}


def stated(world: OfGroups) -> dict[str, Any]:
    return privacy_statement(world.plan, places=world.places, dataset="town", version="1").to_dict()


def sentences(statement: dict[str, Any]) -> list[str]:
    return [value for path, value in leaves(statement) if path not in PARTS and value not in ("", None)]


@pytest.mark.parametrize("notion", numbers.NOTIONS)
def test_every_sentence_is_true(notion: str) -> None:
    for world in [world for world in WORLDS if world.name.startswith(f"{notion},") and world.query.records.person]:
        statement = stated(world)
        said = sentences(statement)
        CLAIMS.check_all(said, world)
        definition, epsilon = statement["notion"]["definition"], number(statement["notion"]["epsilon"])
        assert private(world, definition, epsilon), f"{world}: {definition} at ε = {epsilon}"
        assert epsilon == pytest.approx(float(world.price))
        assert structure(statement, world) == [], str(world)
        for name, pattern, so in REQUIRED:
            assert any(re.fullmatch(pattern, each) for each in said) == so(world), f"{world}: {name}"


def test_half_the_price_is_not_enough() -> None:
    """The knife edge: where all steps cost ε, what is published of some pair of tables tells them apart by all of it."""
    for world in WORLDS:
        if world.name.split(",")[0] in {"addition-only", "removal-only", "dp", "bounded-dp"} and world.stops is None:
            definition = world.notion.words.definition
            assert private(world, definition, float(world.price)), str(world)
            assert not private(world, definition, float(world.price) * 0.999), str(world)


@pytest.mark.parametrize(("notion", "decided"), [
    (lw.AdditionOnly("1"), {"safe_at_most": 0}), (lw.AdditionOnly("1"), {"safe_at_most": 1, "mechanism": "adaptive"}),
    (lw.UnboundedDP("1"), {"safe_at_most": 3, "dangerous_at_least": 5, "error_at_most": "0.1"}),
    (lw.BoundedDP("1"), {"dangerous_at_least": 1, "error_at_most": "0.1"}),
])  # fmt: skip
def test_of_rows_every_word_is_about_rows(notion: Any, decided: dict[str, Any]) -> None:
    rows: Any = lw.statistic(lw.records("r.csv", person="each row"), "histogram", by="ward", groups=["a", "b"])
    made: Any = lw.plan(rows, notion, **decided)
    statement = privacy_statement(made, places=2, dataset="town", version="1").to_dict()
    assert statement["notion"]["unit"] == "row"
    told = " ".join([*sentences(statement), str(made)])
    assert "rows are in each of" in told
    told = re.sub(r"Every row is a person of its own", "", told)
    assert not re.search(r"\b(people|persons?|nobody)\b", told.lower()), told


def test_there_are_worlds_of_all_mechanisms_and_both_nouns() -> None:
    assert {world.plan.mechanism.name for world in WORLDS} == {"geometric", "sanitized", "adaptive"}
    assert {world.noun for world in WORLDS} == {"group", "interval"}
    assert len(WORLDS) > 200
