"""Every sentence of every statement of safe and dangerous places is true, for every notion and mechanism."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.truth import notion_claims, visitor_claims
from tests.truth.claims import Claims
from tests.truth.notion_claims import distance, private
from tests.truth.relations import number
from tests.truth.visitor_claims import REQUIRED, STRUCTURE, leaves, structure
from tests.truth.visits import NOTIONS, World, worlds

from leeward.session import privacy_statement

CLAIMS = Claims()
notion_claims.register(CLAIMS)
visitor_claims.register(CLAIMS)
WORLDS = worlds()


def stated(world: World) -> dict[str, Any]:
    return privacy_statement(world.plan, places=world.places, dataset="town", version="1").to_dict()


def sentences(statement: dict[str, Any]) -> list[str]:
    """What a statement says in words; whatever is not a known part is a sentence."""
    return [value for path, value in leaves(statement) if path not in STRUCTURE and value not in ("", None)]


@pytest.mark.sweep
@pytest.mark.parametrize("notion", NOTIONS)
def test_every_sentence_is_true(notion: str) -> None:
    for world in [world for world in WORLDS if world.name.startswith(f"{notion},") or world.name == notion]:
        statement = stated(world)
        said = sentences(statement)
        CLAIMS.check_all(said, world)
        definition, epsilon = statement["notion"]["definition"], number(statement["notion"]["epsilon"])
        assert private(world, definition, epsilon), f"{world}: {definition} at ε = {epsilon}"
        assert epsilon == pytest.approx(float(world.price))
        assert structure(statement, world) == [], str(world)
        for name, pattern, so in REQUIRED:
            assert any(re.fullmatch(pattern, each) for each in said) == so(world), f"{world}: {name}"
        exposed = [f"Not protected: {statement['notion']['does_not_protect']}"]
        assert [each for each in said if each.startswith("Not protected: ")] in (exposed, []), str(world)
        assert (exposed == ["Not protected: "]) == (exposed[0] not in said), str(world)


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_words_of_a_notion_are_its_distance(notion: str) -> None:
    """The inequality in words generates the very distance that the package computes, on all tables."""
    world = next(world for world in WORLDS if world.name.split(", ")[-4:][0] and world.notion == NOTIONS[notion][0])
    tables = [tuple(None if r is None else frozenset(r) for r in table) for table in world.tables]
    index = {table: i for i, table in enumerate(tables)}
    ours = distance(world)
    theirs = world.notion.on(index)
    for x, i in index.items():
        for y, j in index.items():
            assert float(theirs(x, y)) == pytest.approx(min(ours[i, j], float("inf"))), f"{x} → {y}"


def test_every_claim_is_met_and_can_be_false() -> None:
    """A predicate that nothing makes false would let any sentence pass."""
    always = {  # of the curator or of the engine: nothing in a world decides them
        *(
            "One person's records.*",
            "The list of places.*",
            "Not counted are visits.*",
            r"Pr\[.*",
        ),
    }
    said = {sentence for world in WORLDS for sentence in sentences(stated(world))}
    unmet = {claim.pattern.pattern for claim in CLAIMS.claims} - CLAIMS.met(said)
    assert {pattern for pattern in unmet if not pattern.startswith(OF_NUMBERS)} == set()
    never = CLAIMS.never_false(said, WORLDS)
    assert [sentence for sentence in never if not any(re.match(text, sentence) for text in always)] == []


OF_NUMBERS = "the accuracy of a value", "a value (?P<unit>"
"""Words of notions that are about numbers; `tests.truth.test_number_truth` meets them."""
