"""Every sentence of every statement of a sum, mean, percentile or histogram is true, for every notion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.truth import notion_claims, number_claims, visitor_claims
from tests.truth.claims import Claims
from tests.truth.notion_claims import private
from tests.truth.number_claims import REQUIRED, kept, outside
from tests.truth.numbers import NOTIONS, World, worlds
from tests.truth.relations import number
from tests.truth.visitor_claims import leaves

from leeward.session import privacy_statement

OWN = Claims()
number_claims.register(OWN)
OTHERS = Claims()
notion_claims.register(OTHERS)
visitor_claims.register(OTHERS)
CLAIMS = Claims(
    [*OWN.claims, *(c for c in OTHERS.claims if c.pattern.pattern not in {o.pattern.pattern for o in OWN.claims})]
)
WORLDS = worlds()

PARTS = {
    *("format", "leeward", "created", "dataset", "version", "price", "notion.name", "notion.epsilon", "notion.unit"),
    *("query.kind", "query.answers", "query.column", "query.p", "query.combine", "query.by", "query.groups", "query.lower"),
    *("query.upper", "query.step", "query.people", "query.keep.state", "query.others", "mechanism.name"),
    *("mechanism.lower", "mechanism.upper"),
    *("mechanism.parts.rate_up", "mechanism.parts.rate_down", "mechanism.parts.step", "accuracy.mean_absolute"),
    *("accuracy.within_95_percent", "accuracy.all_within_95_percent", "accuracy.counted", "accuracy.by_number.number"),
    "accuracy.by_number.within_95_percent",
    "query.window.start", "query.window.end", "query.window.timezone",
    "query.intervals.column", "query.intervals.lower", "query.intervals.upper", "query.intervals.step",
}  # fmt: skip
"""The parts that are not sentences."""


def stated(world: World) -> dict[str, Any]:
    return privacy_statement(world.plan, places=world.query.cells, dataset="town", version="1").to_dict()


def sentences(statement: dict[str, Any]) -> list[str]:
    return [value for path, value in leaves(statement) if path not in PARTS and value not in ("", None)]


@pytest.mark.sweep
@pytest.mark.parametrize("notion", NOTIONS)
def test_every_sentence_is_true(notion: str) -> None:
    for world in [world for world in WORLDS if world.name.startswith(f"{notion}, ")]:
        statement = stated(world)
        said = sentences(statement)
        CLAIMS.check_all(said, world)
        assert private(world, statement["notion"]["definition"], number(statement["notion"]["epsilon"])), str(world)
        for name, pattern, so in REQUIRED:
            assert any(re.fullmatch(pattern, each) for each in said) == so(world), f"{world}: {name}"
        exposed = [f"Not protected: {statement['notion']['does_not_protect']}"]
        assert [each for each in said if each.startswith("Not protected: ")] in (exposed, []), str(world)
        assert (exposed == ["Not protected: "]) == (exposed[0] not in said), str(world)


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_parts_are_true(notion: str) -> None:
    for world in [world for world in WORLDS if world.name.startswith(f"{notion}, ")]:
        statement, query = stated(world), world.query
        assert statement["price"] == statement["notion"]["epsilon"] == str(world.price)
        assert statement["notion"]["unit"] == world.unit
        assert statement["query"]["answers"] == len(world.exact(world.tables[0])) // len(world.plan.parts)
        assert statement["query"]["others"] == (query.groups[-1] if outside(world) else None)
        window, told = query.window, statement["query"]["window"]
        assert (told is None) == (window is None)
        if told is not None:
            assert (told["start"], told["end"]) == (window.start.isoformat(), window.end.isoformat())
            assert told["timezone"] == query.records.timezone
        assert statement["query"]["combine"] == (query.records.combine if query.records.person else None)
        for told, part in zip(statement["mechanism"]["parts"], world.plan.parts, strict=True):
            assert (told["rate_up"], told["rate_down"]) == (str(part.law.up), str(part.law.down))
        accuracy = statement["accuracy"]
        if "mean_absolute" in accuracy:
            unit = float(world.plan.scale.unit)
            mean = number_claims.off(world, sum(abs(k) * p for k, p in world.chances[0].items()) * unit)
            assert accuracy["mean_absolute"] == pytest.approx(min(mean, number_claims.widest(world)), rel=1e-3)
            assert kept(world, accuracy["within_95_percent"]) >= 0.95


@pytest.mark.sweep
def test_every_claim_is_met_and_can_be_false() -> None:
    """A predicate that nothing makes false would let any sentence pass."""
    of_others = (
        "One person's rows",
        "The bounds, the grid",
        "Rows without a person",
        "Chatzikokolakis",
        "This promise",
    )
    said = {sentence for world in WORLDS for sentence in sentences(stated(world))}
    assert {claim.pattern.pattern for claim in OWN.claims} == OWN.met(said)
    assert [sentence for sentence in OWN.never_false(said, WORLDS) if not sentence.startswith(of_others)] == []
