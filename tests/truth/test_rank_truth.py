"""Every sentence of every statement of a percentile by rank is true, for every notion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.truth import notion_claims, number_claims, rank_claims, visitor_claims
from tests.truth.claims import Claims
from tests.truth.notion_claims import private
from tests.truth.numbers import NOTIONS
from tests.truth.rank_claims import REQUIRED
from tests.truth.ranks import World, worlds
from tests.truth.relations import number
from tests.truth.visitor_claims import leaves, steps

from leeward.mechanism import RankSelection
from leeward.session import privacy_statement

OWN = Claims()
rank_claims.register(OWN)
CLAIMS = Claims(list(OWN.claims))
for others in (number_claims, notion_claims, visitor_claims):
    more = Claims()
    others.register(more)
    known = {claim.pattern.pattern for claim in CLAIMS.claims}
    CLAIMS.claims += [claim for claim in more.claims if claim.pattern.pattern not in known]
WORLDS = worlds()

PARTS = {
    *("format", "leeward", "created", "dataset", "version", "price", "notion.name", "notion.epsilon", "notion.unit"),
    *("query.kind", "query.answers", "query.column", "query.p", "query.combine", "query.by", "query.groups", "query.lower"),
    *("query.upper", "query.step", "query.people", "query.keep.state", "mechanism.name", "query.others"),
    *("mechanism.rate", "mechanism.points", "mechanism.lower", "mechanism.step", "accuracy.counted", "accuracy.points"),
    *("accuracy.within_50_percent", "accuracy.within_95_percent", "accuracy.within_99_percent"),
    "accuracy.all_within_95_percent", "query.window.start", "query.window.end", "query.window.timezone",
    "query.intervals.column", "query.intervals.lower", "query.intervals.upper", "query.intervals.step",
}  # fmt: skip
"""The parts that are not sentences."""


def stated(world: World) -> dict[str, Any]:
    return privacy_statement(world.plan, places=world.query.cells, dataset="town", version="1").to_dict()


def sentences(statement: dict[str, Any]) -> list[str]:
    return [value for path, value in leaves(statement) if path not in PARTS and value not in ("", None)]


@pytest.mark.sweep
@pytest.mark.parametrize("notion", [notion for notion in NOTIONS if notion != "maximum"])
def test_every_sentence_is_true(notion: str) -> None:
    here = [world for world in WORLDS if world.name.startswith(f"{notion}, ")]
    assert here
    for world in here:
        statement = stated(world)
        said = sentences(statement)
        CLAIMS.check_all(said, world)
        assert private(world, statement["notion"]["definition"], number(statement["notion"]["epsilon"])), str(world)
        for name, pattern, so in REQUIRED:
            assert any(re.fullmatch(pattern, each) for each in said) == so(world), f"{world}: {name}"
        exposed = [f"Not protected: {statement['notion']['does_not_protect']}"]
        assert [each for each in said if each.startswith("Not protected: ")] in (exposed, []), str(world)
        assert (exposed == ["Not protected: "]) == (exposed[0] not in said), str(world)
        assert statement["price"] == statement["notion"]["epsilon"] == str(world.price)
        assert statement["mechanism"]["rate"] == str(world.plan.mechanism.rate)
        assert statement["mechanism"]["points"] == statement["accuracy"]["points"] == 3
        assert statement["accuracy"]["counted"] == "people"
        window, told = world.query.window, statement["query"]["window"]
        assert (window is None) == (told is None)
        if window is not None:
            ends = {"start": window.start.isoformat(), "end": window.end.isoformat()}
            assert told == ends | {"timezone": world.query.records.timezone}


def test_nothing_is_planned_where_all_numbers_may_change_at_once() -> None:
    assert not any(world.name.startswith("maximum") for world in WORLDS)


@pytest.mark.sweep
@pytest.mark.long
def test_the_rate_is_the_largest_that_the_bound_allows() -> None:
    """Of the universe of two people: no smaller than that of any number of them, and it is where two suffice."""
    found = {}
    for world in WORLDS:
        largest = min(cost / float(world.spread(x, y)) for x, y, cost in steps(world) if world.spread(x, y))
        found[world.name] = world.rate / largest
    assert max(found.values()) <= 1 + 1e-9
    assert found["dp, median"] == pytest.approx(1)
    assert found["addition-only, percentile"] == pytest.approx(1)
    assert found["bounded-dp, median in groups"] == pytest.approx(1)


@pytest.mark.sweep
def test_every_claim_is_met_and_can_be_false() -> None:
    """A predicate that nothing makes false would let any sentence pass; of what is so of all, twice the rate is tried."""
    of_all = ("Nothing is said of how far",)
    said = {sentence for world in WORLDS for sentence in sentences(stated(world))}
    assert {claim.pattern.pattern for claim in OWN.claims} == OWN.met(said)
    never = OWN.never_false(said, [*WORLDS, *map(_louder, WORLDS[::5])])
    assert [sentence for sentence in never if not sentence.startswith(of_all)] == []


def _louder(world: World) -> World:
    """The same world, where points are named at twice the rate: its noise is too small."""
    return World(f"{world.name}, twice as loud", _Doubled(world.plan))  # type: ignore[arg-type]


class _Doubled:
    def __init__(self, plan: Any) -> None:
        self._plan = plan
        self.mechanism = RankSelection(plan.mechanism.rate * 2, plan.mechanism.p)
        self.mechanisms = tuple(RankSelection(one.rate * 2, one.p) for one in plan.mechanisms)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plan, name)


def test_the_worlds_are_many() -> None:
    assert len(WORLDS) > 70
