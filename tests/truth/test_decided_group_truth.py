"""Every sentence of every statement of safe and dangerous groups is true, for every notion and mechanism."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.deciding import decide_by
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


@CLAIMS.says(
    r"How many people have a 'age' above each of (?P<n>\d+) public levels?"
    r"(, in each of (?P<groups>\d+) public groups? by 'sex')?"
)
def _(world: Any, n: str, groups: str | None) -> bool:
    return (
        world.noun == "level"
        and world.places == int(n) * int(groups or 1)
        and len(world.query.groups) == int(groups or 0)
    )


@CLAIMS.says(r"The levels( and (?P<groups>the groups))? were chosen without looking at the data")
def _(world: Any, groups: str | None) -> bool:  # of the curator: what public keys rest on
    return world.noun == "level" and bool(world.query.groups) == bool(groups)


@CLAIMS.says(
    r"Leeward, docs/guide/certain: where every step withdraws one person, who is in one group, the scans of all groups"
    r" together are as private as one\."
)
def _(world: Any) -> bool:
    """That all together cost what one does is gone through over all tables; here, that no step moves two groups."""
    each = world.places // world.scans
    for x, y, _ in visitor_claims.steps(world):
        moved = [c - d for c, d in zip(world.counts(x), world.counts(y), strict=True)]
        groups = [any(moved[i : i + each]) for i in range(0, len(moved), each)]
        if sum(groups) > 1 or min(moved) < 0:
            return False
    return (
        world.scans > 1
        and world.stops is not None
        and private(world, world.notion.words.definition, float(world.price))
    )


@CLAIMS.says(
    r"So it is certain of the lowest level that is called safe(?P<anew> in each group)?:"
    r" (?P<few>nobody|at most \d+ (person|people)) (is|are) above the level"
    r"(?P<relative> among those counted|, each counted once[^.]*?)"
)
def _(world: Any, few: str, relative: str, anew: str | None) -> bool:
    """Where a level above which more people are is never called safe, no more are above any that is."""
    most = 0 if few == "nobody" else int(few.split()[2])
    never = all(world.said("safe", count) == 0 for count in range(most + 1, most + 9))
    return never and most == world.plan.safe_at_most and (world.scans > 1) == bool(anew) and world.counted_so(relative)


SEVERAL = ("several rows", r"Someone with several rows.*", lambda world: world.query.records.combine != "refuse")
PARTS = STRUCTURE | {
    f"query.{name}"
    for name in (
        "answers",
        "column",
        "p",
        "combine",
        "by",
        "lower",
        "upper",
        "step",
        "people",
        "groups",
        "levels",
        "others",
    )
}


def stated(world: OfGroups) -> dict[str, Any]:
    return privacy_statement(world.plan, places=world.places, dataset="town", version="1").to_dict()


def sentences(statement: dict[str, Any]) -> list[str]:
    return [value for path, value in leaves(statement) if path not in PARTS and value not in ("", None)]


@pytest.mark.parametrize("notion", numbers.NOTIONS)
def test_every_sentence_is_true(notion: str) -> None:
    for world in [world for world in worlds() if world.name.startswith(f"{notion},") and world.query.records.person]:
        statement = stated(world)
        said = sentences(statement)
        CLAIMS.check_all(said, world)
        definition, epsilon = statement["notion"]["definition"], number(statement["notion"]["epsilon"])
        assert private(world, definition, epsilon), f"{world}: {definition} at ε = {epsilon}"
        assert epsilon == pytest.approx(float(world.price))
        assert structure(statement, world) == [], str(world)
        for name, pattern, so in [*REQUIRED, SEVERAL]:
            assert any(re.fullmatch(pattern, each) for each in said) == so(world), f"{world}: {name}"


def test_half_the_price_is_not_enough() -> None:
    """The knife edge: where all steps cost ε, what is published of some pair of tables tells them apart by all of it."""
    for world in worlds():
        tight = world.name.split(",")[0] in {"addition-only", "removal-only", "dp", "bounded-dp"}
        # one step moves all counts of a scan: a stop costs ε; of two stops the second may be out of reach here
        if tight and (world.stops is None or (world.noun == "level" and world.stops == 1)) and not world.looks:
            definition = world.notion.words.definition
            assert private(world, definition, float(world.price)), str(world)
            assert not private(world, definition, float(world.price) * 0.999), str(world)


@pytest.mark.parametrize(("notion", "decided"), [
    (lw.AdditionOnly("1"), {"safe_at_most": 0}), (lw.AdditionOnly("1"), {"safe_at_most": 1, "mechanism": "adaptive"}),
    (lw.UnboundedDP("1"), {"safe_at_most": 3, "dangerous_at_least": 5, "error_at_most": "0.1"}),
    (lw.BoundedDP("1"), {"dangerous_at_least": 1, "error_at_most": "0.1"}),
])  # fmt: skip
def test_of_rows_every_word_is_about_rows(notion: Any, decided: dict[str, Any]) -> None:
    rows: Any = lw.statistic(lw.records("r.csv", person="each row"), "histogram", by={"ward": ["a", "b"]})
    made: Any = decide_by(lw.plan, rows, notion, **decided)
    statement = privacy_statement(made, places=2, dataset="town", version="1").to_dict()
    assert statement["notion"]["unit"] == "row"
    told = " ".join([*sentences(statement), str(made)])
    assert "rows are in each of" in told
    told = re.sub(r"Every row is a person of its own", "", told)
    assert not re.search(r"\b(people|persons?|nobody)\b", told.lower()), told


def test_there_are_worlds_of_all_mechanisms_and_both_nouns() -> None:
    assert {world.plan.mechanism.name for world in worlds()} == {"geometric", "sanitized", "adaptive"}
    assert {world.noun for world in worlds()} == {"group", "interval", "level"}
    assert {(world.scans, world.stops) for world in worlds() if world.noun == "level"} >= {
        (1, None),
        (1, 1),
        (2, 1),
        (2, 2),
    }
    assert len(worlds()) > 200
