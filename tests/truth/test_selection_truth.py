"""Every sentence of every statement of a name is true, for every notion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.truth import notion_claims, number_claims, numbers, selection_claims, visitor_claims, visits
from tests.truth.claims import Claims
from tests.truth.notion_claims import private
from tests.truth.relations import number
from tests.truth.selection_claims import REQUIRED, apart
from tests.truth.selections import Named, worlds
from tests.truth.visitor_claims import leaves

from leeward.session import privacy_statement

OWN = Claims()
selection_claims.register(OWN)
OF_VISITS, OF_NUMBERS = Claims(list(OWN.claims)), Claims(list(OWN.claims))
notion_claims.register(OF_VISITS)
notion_claims.register(OF_NUMBERS)
visitor_claims.register(OF_VISITS)
number_claims.register(OF_NUMBERS)
WORLDS = worlds()

PARTS = {
    *("format", "leeward", "created", "dataset", "version", "price", "notion.name", "notion.epsilon", "notion.unit"),
    *("query.kind", "query.noun", "query.options", "query.of.kind", "query.of.places", "query.of.window.start"),
    *("query.of.window.end", "query.of.window.timezone", "query.of.keep.state", "query.of.places_per_person"),
    *("query.of.if_more", "query.of.answers", "query.of.column", "query.of.p", "query.of.combine", "query.of.by"),
    *("query.of.lower", "query.of.upper", "query.of.step", "query.of.people", "query.of.groups", "query.of.others"),
    *("mechanism.name", "mechanism.rate", "accuracy.options", "accuracy.within_50_percent"),
    *("accuracy.within_95_percent", "accuracy.within_99_percent"),
}
"""The parts that are not sentences."""

NOTIONS = sorted({world.name.split(", busiest")[0].split(", quietest")[0] for world in WORLDS})


def stated(world: Any) -> dict[str, Any]:
    return privacy_statement(world.plan, places=world.options, dataset="town", version="1").to_dict()


def sentences(statement: dict[str, Any]) -> list[str]:
    return [value for path, value in leaves(statement) if path not in PARTS and value not in ("", None)]


def claims(world: Named) -> Claims:
    return OF_VISITS if isinstance(world, visits.World) else OF_NUMBERS


@pytest.mark.parametrize("question", NOTIONS)
def test_every_sentence_is_true(question: str) -> None:
    for world in [w for w in WORLDS if w.name.startswith((f"{question}, busiest", f"{question}, quietest"))]:
        statement = stated(world)
        said = sentences(statement)
        claims(world).check_all(said, world)
        assert private(world, statement["notion"]["definition"], number(statement["notion"]["epsilon"])), str(world)
        for name, pattern, so in REQUIRED:
            assert any(re.fullmatch(pattern, each) for each in said) == so(world), f"{world}: {name}"
        exposed = [f"Not protected: {statement['notion']['does_not_protect']}"]
        assert [each for each in said if each.startswith("Not protected: ")] in (exposed, []), str(world)
        assert (exposed == ["Not protected: "]) == (exposed[0] not in said), str(world)
        assert statement["price"] == str(world.price)
        assert statement["mechanism"]["rate"] == str(world.plan.mechanism.rate)
        assert statement["query"]["options"] == world.options == statement["accuracy"]["options"]


def test_the_rate_is_the_largest_that_the_notion_allows() -> None:
    """Where all steps cost ε: ε over how far one step moves two counts apart. Of policies it is only no larger."""
    for world in WORLDS:
        name = world.name.split(",")[0]
        if name in {"addition-only", "removal-only", "dp", "bounded-dp", "replace", "presence"}:
            far = apart(world)
            assert far, str(world)
            assert world.rate == pytest.approx(float(world.price) / far), str(world)


@pytest.mark.sweep
def test_every_claim_is_met_and_can_be_false() -> None:
    """A predicate that nothing makes false would let any sentence pass."""
    said = {sentence for world in WORLDS for sentence in sentences(stated(world))}
    assert {claim.pattern.pattern for claim in OWN.claims} == OWN.met(said)
    never = OWN.never_false(said, [*WORLDS, *map(_louder, WORLDS[::7])])
    assert never == []


def _louder(world: Any) -> Any:
    """The same world, where the mechanism names at twice the rate that it has: its noise is too small."""
    made = type(world)(**{name: getattr(world, name) for name in world.__dataclass_fields__})
    object.__setattr__(made, "name", f"{world.name}, twice as loud")
    object.__setattr__(made, "plan", _Doubled(world.plan))
    return made


class _Doubled:
    def __init__(self, plan: Any) -> None:
        self._plan = plan
        self.mechanism = type(plan.mechanism)(plan.mechanism.rate * 2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plan, name)


def test_the_worlds_are_of_both_kinds() -> None:
    assert {visits.World, numbers.World} == {type(world).__mro__[2] for world in WORLDS}
    assert len(WORLDS) > 250
