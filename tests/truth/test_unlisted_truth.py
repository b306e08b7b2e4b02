"""Every sentence of the statement of groups that nobody has listed is true, for every notion that has one.

What each says is held against the oracle: noise in Fractions, tables one by one. ε is a multiple of ln 2, so that all of it
is rational.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle import unknown_keys as oracle
from tests.truth.claims import Claims
from tests.truth.notion_claims import READ, is_factor

import leeward as lw
from leeward.exact import log
from leeward.notion import Notion
from leeward.planner import UnlistedPlan
from leeward.report._unlisted import lead
from leeward.session import privacy_statement

NOTIONS: dict[str, tuple[type[Notion], str, int]] = {
    "addition-only": (lw.AdditionOnly, "up", 1),
    "removal-only": (lw.RemovalOnly, "down", 1),
    "dp": (lw.UnboundedDP, "both", 1),
    "bounded-dp": (lw.BoundedDP, "both", 2),
    "add-remove-replace-dp": (lw.ReplaceDP, "both", 2),
}
DEFINED = {
    "Pr[answer | with a person's records] ≤ e^ε · Pr[answer | without them]": "addition-only",
    "Pr[answer | without a person's records] ≤ e^ε · Pr[answer | with them]": "removal-only",
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one person added or removed]": "dp",
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one person's record replaced by any other]": "bounded-dp",
    "Pr[answer | data] ≤ e^ε · Pr[answer | data with one person added, removed or replaced]": "add-remove-replace-dp",
}
CLAIMS = Claims()
says = CLAIMS.says


@dataclass(frozen=True)
class World:
    """A plan, and what the oracle knows of it.

    Attributes:
        notion: its name.
        keys: m, in how many groups a person counts.
        reach: how far noise reaches; 0 where it has no end.
        if_more: what becomes of a person in more.
        most: how many groups are published at most.
        told: the reach that the oracle takes; another one makes sentences false.
    """

    notion: str
    keys: int
    reach: int
    if_more: Any = "first"
    most: int = 5
    told: int | None = None

    @property
    def kind(self) -> str:
        return NOTIONS[self.notion][1]

    @property
    def changed(self) -> int:
        return NOTIONS[self.notion][2] * self.keys

    @functools.cached_property
    def plan(self) -> UnlistedPlan:
        kind = NOTIONS[self.notion][0]
        delta = None if not self.reach else 1 - (1 - oracle.law(self.kind, self.reach)[self.reach]) ** self.changed
        table = lw.records("t.parquet", person="who", time="at", keep={"state": ["in"]})
        hour = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
        asked = lw.unlisted_groups(
            *(table, "town"), groups_per_person=self.keys, if_more=self.if_more, most_groups=self.most, **hour
        )
        return lw.plan(asked, kind(log(2) * self.changed), delta=delta)

    @property
    def noise(self) -> dict[int, Fraction]:
        return oracle.law(self.kind, self.reach if self.told is None else self.told)

    @property
    def threshold(self) -> int:
        return max(self.noise) + 1 if self.kind != "down" else 1

    def shown(self, people: int) -> Fraction:
        """How often a group with so many people is shown."""
        return sum((p for k, p in self.noise.items() if people and people + k >= self.threshold), Fraction(0))

    @functools.cached_property
    def worst(self) -> Fraction:
        """The least δ over all neighbours of so many people that every case occurs."""
        people = 2 * self.reach + 2 if self.keys == 1 else 2
        pairs = oracle.neighbours(self.notion, "ab", self.keys, min(people, 4))
        return oracle.worst(pairs, self.noise, self.threshold, 2**self.changed)


WORLDS = [
    World(name, m, 0 if name == "removal-only" else reach, rule, most)
    for name in NOTIONS
    for m, reach, rule, most in ((1, 1, "first", 5), (1, 3, "refuse", 1), (2, 1, "latest", 7), (2, 2, "refuse", 5))
    if not (m == 2 and NOTIONS[name][2] == 2 and reach == 2)
]


OF_ALL = r"A group that is shown is there|That a group is not shown|Rows without"
"""What holds of all worlds here: groups with nobody are not gone through, a single person is mostly hidden, and all worlds
have the same filter and window."""


def number(text: str) -> int:
    return int(text.replace(",", ""))


@says(r"A group that is shown is there: somebody that counts is in it")
def _(world: World) -> bool:
    return world.shown(0) == 0 < world.threshold


@says(r"A count is never below the exact one, and at most (?P<n>[\d,]+) above it")
def _(world: World, n: str) -> bool:
    return (min(world.noise), max(world.noise)) == (0, number(n))


@says(r"A count is within (?P<n>[\d,]+) of the exact one")
def _(world: World, n: str) -> bool:
    return (min(world.noise), max(world.noise)) == (-number(n), number(n))


@says(r"A count is never above the exact one, and within (?P<n>[\d,]+) of it with 95 %")
def _(world: World, n: str) -> bool:
    kept = [sum(p for k, p in world.noise.items() if -k <= far) for far in (number(n), number(n) - 1)]
    return max(world.noise) == 0 and kept[0] >= Fraction(19, 20) > kept[1]


@says(
    r"Where fewer than (?P<most>[\d,]+) groups are shown, every other group has at most (?P<n>[\d,]+) (?:people|person);"
    r" where (?P<again>[\d,]+) are, at most (?P<more>as many as|[\d,]+ more than) the least count that is shown"
)
def _(world: World, most: str, n: str, again: str, more: str) -> bool:
    hidden = [people for people in range(1, 3 * world.reach + 9) if world.shown(people) < 1]
    below = -min(world.noise)
    told = 0 if more == "as many as" else number(more.split()[0])
    return number(most) == number(again) == world.most and max(hidden) == number(n) and told == below


@says(
    r"A group with (?P<half>[\d,]+) (?:people|person) reaches the threshold with probability at least 50 %, one"
    r" with (?P<most>[\d,]+) with at least 95 %(, and one with (?P<always>[\d,]+) always)?"
)
def _(world: World, half: str, most: str, always: str | None) -> bool:
    for text, chance in ((half, Fraction(1, 2)), (most, Fraction(19, 20)), (always, Fraction(1))):
        if text is not None and not world.shown(number(text) - 1) < chance <= world.shown(number(text)):
            return False
    return (always is None) == (world.kind == "down")


@says(
    r"This promise holds for all answers to this question together, and for anything concluded from them\."
    r" It limits how much the chance of any answer depends on what is protected: "
    r"(?P<definition>.*),"
    r" with ε = (?P<epsilon>\S+?)( and δ = (?P<delta>\S+?))?" + READ
)
def _(world: World, definition: str, epsilon: str, delta: str | None, factor: str | None) -> bool:
    plain = definition.removesuffix(" + δ, for every set of answers")
    return (
        DEFINED[plain] == world.notion
        and (plain != definition) == (delta is not None)
        and epsilon == str(world.plan.price)
        and is_factor(factor, epsilon)
        and world.worst <= Fraction(delta or 0)
    )


@says(
    r"One with (?P<most>[\d,]+) (?:people|person) reaches the threshold with probability at least 95 %"
    r"(, and every group with (?P<always>[\d,]+) people or more always)?"
)
def _(world: World, most: str, always: str | None) -> bool:
    for text, chance in ((most, Fraction(19, 20)), (always, Fraction(1))):
        if text is not None and not world.shown(number(text) - 1) < chance <= world.shown(number(text)):
            return False
    return (always is None) == (world.kind == "down")


@says(
    r"Where more than (?P<most>[\d,]+) (?:group does, the one with the greatest noisy count is|groups do, those with the"
    r" greatest noisy counts are) shown"
)
def _(world: World, most: str) -> bool:
    return number(most) == world.most


@says(r"A count is off by at most (?P<n>[\d,]+)")
def _(world: World, n: str) -> bool:
    return world.kind != "down" and max(world.noise) == number(n)


@says(r"A count is never above the exact one")
def _(world: World) -> bool:
    return max(world.noise) == 0


@says(r"(?P<definition>Pr\[.*)")
def _(world: World, definition: str) -> bool:
    plain = definition.removesuffix(" + δ, for every set of answers")
    return DEFINED[plain] == world.notion and (plain != definition) == (world.worst > 0)


@says(
    r"That a group is not shown does not mean that it is not there: nothing is said of groups that are not shown, and not"
    r" how many there are"
)
def _(world: World) -> bool:
    return world.shown(1) < 1 and not any(
        len(answer) > 1 for answer in oracle.answers((frozenset("a"),), world.noise, 1)
    )


@says(r"Counts of groups with few people are shown only when their noise is large: the fewer, the further off")
def _(world: World) -> bool:
    if world.kind == "down":
        return False

    def off(people: int) -> Fraction:
        shown = {k: p for k, p in world.noise.items() if people + k >= world.threshold}
        return sum((k * p for k, p in shown.items()), Fraction(0)) / sum(shown.values())

    return all(off(people) > off(people + 1) for people in range(1, world.reach + 1))


@says(r"Someone in more than (?P<m>\d+) groups? counts only in (?P<which>.*): the counts are about these")
def _(world: World, m: str, which: str) -> bool:
    kept = {
        ("first", 1): "the first by name",
        ("first", 2): "the first 2 by name",
        ("latest", 1): "that of their latest row",
    }
    return int(m) == world.keys and which == kept.get((world.if_more, world.keys), "the 2 of their latest rows")


@says(r"Nobody is in more than (?P<m>\d+) groups?: that was checked on the data, and is not protected")
def _(world: World, m: str) -> bool:
    return int(m) == world.keys and world.if_more == "refuse"


@says(
    r"Rows without a person, a group or a time that can be compared with the window, with a group of more than 64 bytes, or"
    r" of more than 63 bits, outside the window or removed by the filter are not counted"
)
def _(world: World) -> bool:
    query = world.plan.query
    return query.window is not None and bool(query.records.keep) and not query.of_rows


@says(
    r"The count of each group that occurs gets exact geometric noise, (?P<how>never negative, of rate (?P<up>\S+) upwards,"
    r" and cut off at (?P<n>[\d,]+)|never positive, of rate (?P<down>\S+) downwards|of rate (?P<both>\S+) both ways, and cut"
    r" off at (?P<two>[\d,]+)), drawn for each group on its own\. A group is shown, with its noisy count, if that is at"
    r" least (?P<threshold>[\d,]+); of all others nothing is said, not even how many there are\. If more than"
    r" (?P<most>[\d,]+) are shown, those with the greatest noisy counts are published\. The greatest comes first, and"
    r" equal ones are in the order of their names"
)
def _(world: World, how: str, threshold: str, most: str, **parts: str | None) -> bool:
    rate, reach = parts["up"] or parts["down"] or parts["both"], parts["n"] or parts["two"]
    kind = "up" if parts["up"] else "down" if parts["down"] else "both"
    return (
        (kind, number(threshold), number(most)) == (world.kind, world.threshold, world.most)
        and rate == str(log(2))
        and (0 if reach is None else number(reach)) == (0 if world.kind == "down" else max(world.noise))
    )


@says(
    r"With probability at most (?P<most>\S+) an answer is drawn for which ε does not hold for a person: it may show that the"
    r" person is in the data\. Over all releases about the same data these probabilities add up\. A group with one person in"
    r" it is shown with probability (?P<one>\S+) at most"
)
def _(world: World, most: str, one: str) -> bool:
    near = Fraction(1001, 1000)
    return world.worst <= Fraction(most) and world.shown(1) <= Fraction(one) <= world.shown(1) * near


@says(r"None is needed: what is promised holds for every answer")
def _(world: World) -> bool:
    return world.worst == 0


@says(r"Not protected: (?P<what>.*)")
def _(world: World, what: str) -> bool:
    return what == world.plan.notion.words.reveals != ""


CLAIMS.neutral(
    r"One person's rows all carry the same id, and different people carry different ids",
    r"The column of the groups, its type, the bounds and the window were chosen without looking at the data",
    r"Leeward, docs/guide/unlisted: .*",
    r"Desfontaines, Voss, Gipson, Mandayam, .*",
    r"One-Sided Differential Privacy \(differentialprivacy\.org\), Definition [12]\.",
    r"Which groups by 'town' there are, and how many people are in each, from 2026-01-01 18:00 up to, but not at, 2026-01-01"
    r" 19:00",
    r"From 2026-01-01 18:00:00 until 2026-01-01 19:00:00\.",
    r"Groups were not listed beforehand\.",
    r"Of groups that are not shown nothing is said\.",
)


def made(world: World) -> Any:
    return privacy_statement(world.plan, places=world.most, dataset="d", version="1")


def stated(world: World) -> dict[str, Any]:
    told: dict[str, Any] = made(world).to_dict()
    return told


def sentences(world: World) -> list[str]:
    told = stated(world)
    found = [*told["guaranteed"], *told["not_guaranteed"], *told["assumptions"], *told["theorems"]]
    return [
        *found,
        told["mechanism"]["text"],
        told["delta"]["text"],
        told["query"]["text"],
        told["notion"]["definition"],
        *re.split(r"(?<=\.) ", lead(made(world))),
    ]


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_every_sentence_is_true(world: World) -> None:
    CLAIMS.check_all(sentences(world), world)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_the_numbers_of_a_statement_are_those_of_the_oracle(world: World) -> None:
    told = stated(world)
    accuracy, delta, made = told["accuracy"], told["delta"], told["mechanism"]
    for each in accuracy["odds"]:
        assert float(each["chance"]) == pytest.approx(float(world.shown(each["people"])), rel=1e-9, abs=1e-12)
    assert accuracy["shown_from"] == made["threshold"] == world.threshold
    assert accuracy["off_by_at_most"] == made["reach"] == (None if world.kind == "down" else max(world.noise))
    mean = sum(abs(k) * p for k, p in world.noise.items())
    assert accuracy["mean_absolute"] == pytest.approx(float(mean), rel=1e-6)
    within = accuracy["within_95_percent"]
    kept = [sum(p for k, p in world.noise.items() if abs(k) <= far) for far in (within, within - 1)]
    assert kept[0] >= Fraction(19, 20) > kept[1]
    assert world.worst <= Fraction(delta["needed"]) <= Fraction(delta["promised"]) * Fraction(10**5 + 1, 10**5)
    assert (told["price"], told["notion"]["epsilon"]) == (str(world.plan.price),) * 2
    assert ("but for a chance of δ" in told["notion"]["protects"]) == (world.kind != "down")


def test_every_claim_is_met_and_can_be_false() -> None:
    said = {sentence for world in WORLDS for sentence in sentences(world)}
    assert {claim.pattern.pattern for claim in CLAIMS.claims} == CLAIMS.met(said)
    others = [replace(world, told=world.reach + 1) for world in WORLDS if world.reach]
    claiming = {each for each in said if not any(claim.neutral for claim, _ in CLAIMS.matching(each))}
    never = CLAIMS.never_false(claiming, [*WORLDS, *others])
    assert [each for each in never if not re.match(OF_ALL, each)] == []
