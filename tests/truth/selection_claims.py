"""What the statement of a released name says, and what makes it true."""

from __future__ import annotations

import itertools
import math
from typing import Any

from tests.truth.claims import Claims
from tests.truth.notion_claims import READ, is_factor, private
from tests.truth.number_claims import WHEN, so
from tests.truth.relations import number
from tests.truth.selections import OfVisits, named, worst
from tests.truth.visitor_claims import clock, steps

FURTHEST = 9
"""Gaps that are gone through; chances only shrink beyond."""


def kept(world: Any, most: int) -> float:
    """The least chance that the one named is at most so far off, over all gaps of three keys, and of as many as it has."""
    few = min(world.options, 3)
    tried = (
        math.fsum(p for p, gap in zip(named(world.rate, (0, *gaps)), (0, *gaps), strict=True) if gap <= most)
        for gaps in itertools.product(range(FURTHEST), repeat=few - 1)
    )
    return min(worst(world.rate, world.options, most), *tried)


def apart(world: Any) -> int:
    """How far one step moves two counts apart at most: what it raises one by, and lowers another by."""
    found = 0
    for x, y, _ in steps(world):
        moves = [after - before for before, after in zip(world.held(x), world.held(y), strict=True)]
        found = max(found, max(0, *moves) + max(0, *(-move for move in moves)))
    return found


def meant(world: Any, noun: str, than: str, end: str) -> bool:
    """Whether it is about what is named here, on the side that was asked for."""
    ends = {"busiest": "most", "quietest": "fewest", "most": "most", "fewest": "fewest"}
    fewer = {"fewer": "most", "more": "fewest"}.get(than, than)
    side = "most" if world.busiest else "fewest"
    return noun == nouns(world) and ends[end] == side == fewer


def nouns(world: Any) -> str:
    if isinstance(world, OfVisits):
        return "place"
    return "interval" if world.query.column else "group"


def register(claims: Claims) -> None:
    """Register all sentences about names."""
    says = claims.says

    @says(
        r"Which of (?P<places>[\d,]+) public places? had the (?P<end>most|fewest) distinct people from (?P<start>\S+ \S+) up to, but not at,"
        r" (?P<stop>\S+ [\d:+]+)( \((?P<zone>\S+)\))?"
    )
    def _(world: Any, places: str, end: str, start: str, stop: str, zone: str | None) -> bool:
        window = world.plan.counted.window
        told = [clock(text) for text in (start, stop)]
        return (
            isinstance(world, OfVisits) and int(places.replace(",", "")) == world.places and meant(world, "place", end, end)
            and [each.replace(tzinfo=None) for each in told] == [each.replace(tzinfo=None) for each in (window.start, window.end)]
            and (zone is None or zone == str(world.plan.counted.visits.timezone or "UTC"))
        )  # fmt: skip

    @says(
        r"Which of (?P<n>[\d,]+) public (?P<noun>group|interval)s? (by|of) '(?P<column>sex|age)'(?P<town> and 'town')?"
        r"(, of (?P<groups>\d+) public groups? by 'sex',)? has the (?P<least>most|fewest) people" + WHEN
    )
    def _(
        world: Any, n: str, noun: str, column: str, town: str | None, groups: str | None, least: str, **when: Any
    ) -> bool:
        if isinstance(world, OfVisits) or not so(world, when["start"], when["end"], when["zone"], town):
            return False
        by = world.query.by[0] if isinstance(world.query.by, tuple) else world.query.by
        return (
            int(n) == world.options and meant(world, noun, least, least)
            and column == (world.query.column or by) and int(groups or 0) == (len(world.query.groups) if world.query.column else 0)
        )  # fmt: skip

    @says(
        r"Each (?P<noun>\w+) is accepted with probability e\^\(−(?P<rate>[\d/]+)·d\), where d is how many (?P<than>fewer|more) people it has than"
        r" the one with the (?P<end>most|fewest), and one of the accepted is named, each as likely: as if every count (?P<got>got|lost) exponential"
        r" noise of rate (?P<again>[\d/]+), and the (?P<then>largest|smallest) were named\. No count is published"
    )
    def _(world: Any, noun: str, rate: str, than: str, end: str, got: str, again: str, then: str) -> bool:
        exact = world.plan.mechanism.on([(0, 2), (1, 1), (3, 0)])  # the package's own law, whatever is named
        law = all(
            math.isclose(float(exact.probability(row, (i,))), p, rel_tol=1e-9)
            for row in ((0, 2), (1, 1), (3, 0))
            for i, p in enumerate(named(number(rate), [max(row) - count for count in row]))
        )
        noise = (got, then) == (("got", "largest") if world.busiest else ("lost", "smallest"))
        return meant(world, noun, than, end) and rate == again and number(rate) == world.rate and law and noise

    @says(
        r"Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang, The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with Exponential"
        r" Noise; and, for a directed distance: where a step raises no count by more than r and lowers none by more than f, the chance of each"
        r" name changes by a factor of at most e\^\(rate·\(r \+ f\)\), however many counts it moves\. No step of the notion costs less than"
        r" rate·\(r \+ f\)"
    )
    def _(world: Any) -> bool:
        for x, y, cost in steps(world):
            moves = [after - before for before, after in zip(world.held(x), world.held(y), strict=True)]
            far = world.rate * (max(0, *moves) + max(0, *(-move for move in moves)))
            if not world.loss(x, y) <= far + 1e-9 <= cost + 2e-9:
                return False
        return True

    @says(r"One-Sided Differential Privacy \(differentialprivacy\.org\), Definition (?P<which>[12])")
    def _(world: Any, which: str) -> bool:
        return bool(world.notion.name == {"1": "addition-only", "2": "removal-only"}[which])

    @says(
        r"With probability at least (?P<chance>\d+) %, whatever the counts are, the named (?P<noun>\w+) (?P<verb>had|has) (?P<k>no|at most [\d,]+)"
        r" (?P<than>fewer|more) people(?P<relative>, counted after the bound on places per person,| among those counted|, each counted once (in the first"
        r" listed group they are in)?( and )?(with the (least|greatest) of their numbers)?,) than the \w+ with the"
        r" (?P<end>most|fewest)"
    )
    def _(world: Any, chance: str, noun: str, verb: str, k: str, than: str, relative: str, end: str) -> bool:
        most = 0 if k == "no" else int(k.removeprefix("at most ").replace(",", ""))
        wanted = int(chance) / 100
        tight = most == 0 or worst(world.rate, world.options, most - 1) < wanted
        truncated = isinstance(world, OfVisits) and world.truncated
        combine = "refuse" if isinstance(world, OfVisits) else world.query.records.combine
        if ("each counted once" in relative) != (combine != "refuse"):
            return False  # of a group that is not the first that somebody is in, more people may be there
        return (
            meant(world, noun, than, end) and (verb == "had") == isinstance(world, OfVisits)
            and ("after the bound" in relative) == truncated and kept(world, most) >= wanted - 1e-12 and tight
        )  # fmt: skip

    @says(
        r"This promise holds for all answers to this question together, and for anything concluded from them\. It limits how much the chance of any answer depends on what is protected: (?P<definition>Pr\[.*), with ε = (?P<epsilon>[\w/]+)"
        + READ
    )
    def _(world: Any, definition: str, epsilon: str, factor: str | None) -> bool:
        right = private(world, definition, number(epsilon)) and is_factor(factor, epsilon)
        return right and number(epsilon) == float(world.price)

    @says(
        r"The named (?P<noun>\w+) need not be the (?P<end>busiest|quietest); nor is anything said of how many people it has, or of any other (?P=noun)"
    )
    def _(world: Any, noun: str, end: str) -> bool:
        wrong = world.options > 1 and named(world.rate, [0, 1])[1] > 0
        return meant(world, noun, "most" if world.busiest else "fewest", end) and (wrong or world.options == 1)

    @says(r"One (?P<noun>\w+) is always named: where all have as many people, each is as likely")
    def _(world: Any, noun: str) -> bool:
        alike = named(world.rate, [0] * min(world.options, 3))
        exact = world.plan.mechanism.on([(1, 1, 1)])
        same = {float(exact.probability((1, 1, 1), (i,))) for i in range(3)}
        return noun == nouns(world) and math.isclose(sum(alike), 1) and max(same) - min(same) < 1e-12


REQUIRED = [
    ("truncation", r"Someone at more than.*", lambda w: isinstance(w, OfVisits) and w.truncated),
    ("a bound that is checked", r"Nobody was at more than.*", lambda w: isinstance(w, OfVisits) and w.bound is not None and not w.truncated),
    ("what is not protected", r"Not protected: .*", lambda w: bool(w.notion.words.reveals)),
    ("the promise", r"This promise holds.*", lambda w: True),
    ("that it may be wrong", r"The named \w+ need not be .*", lambda w: True),
    ("one row each", r"Nobody has more.*", lambda w: not isinstance(w, OfVisits) and w.query.records.combine == "refuse"),
    ("several rows", r"Someone with several rows.*", lambda w: not isinstance(w, OfVisits) and w.query.records.combine != "refuse"),
]  # fmt: skip
"""What must be said where it is so: a name, a pattern, and when."""
