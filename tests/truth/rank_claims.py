"""What the statement of a percentile by rank says, and what makes it true; what it rests on is said in `number_claims`."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from tests.oracle import ranks
from tests.truth.claims import Claims
from tests.truth.notion_claims import private
from tests.truth.number_claims import sorted_at
from tests.truth.ranks import POINTS
from tests.truth.relations import number
from tests.truth.selections import worst
from tests.truth.visitor_claims import steps

CROWDS = [people for n in range(1, 8) for people in itertools.combinations_with_replacement(range(3), n)]
"""Numbers of up to seven people."""

PAIRED = {n: [(0,) * i + (2,) * (n - i) for i in range(1, n)] for n in range(200)}
"""So many people, on two points."""

FEW = [people for people in CROWDS if len(people) < 4]


def kept(world: Any, most: int) -> float:
    """The least chance, over all crowds, that at most so many have a number strictly between the answer and the exact one."""
    found = 1.0
    for people in CROWDS:
        exact = int(sorted_at(world.p, list(people)))
        between = [sum(min(z, exact) < v < max(z, exact) for v in people) for z in range(3)]
        found = min(found, math.fsum(p for p, k in zip(world.named(people), between, strict=True) if k <= most))
    return found


def bound(world: Any, most: int) -> float:
    """The chance that follows for any crowd: the losses of one point are right, those of all others just too large."""
    parts = world.p / 100
    return worst(world.rate / parts.denominator, len(POINTS), most * parts.denominator)


def register(claims: Claims) -> None:
    """Register all sentences about percentiles by rank."""
    says = claims.says

    @says(
        r"(?P<groups>For each group, each|Each) of (?P<points>\d+) public grid points is accepted with probability e\^\(−(?P<rate>[\d/]+)·d\),"
        r" where d is how much larger its rank error is than the least one, and one of the accepted is published, each as likely\. Its rank"
        r" error is the number of people below it less (?P<low>[\d./]+) % of all but one, or the number above it less (?P<high>[\d./]+) % of all"
        r" but one, whichever is larger\. No count is published"
    )
    def _(world: Any, groups: str, points: str, rate: str, low: str, high: str) -> bool:
        def law(people: tuple[int, ...]) -> bool:
            below = [sum(v < z for v in people) - Fraction(low) / 100 * (len(people) - 1) for z in range(3)]
            above = [sum(v > z for v in people) - Fraction(high) / 100 * (len(people) - 1) for z in range(3)]
            told = ranks.first_accepted(number(rate), list(map(max, below, above)))
            counts = tuple(people.count(z) for z in range(3))
            exact = world.plan.mechanism.on([counts])  # the package's own law
            return all(math.isclose(float(exact.probability(counts, z)), told[z], rel_tol=1e-9) for z in range(3))

        return (groups == "Each") == (len(world.query.groups) < 2) and int(points) == len(POINTS) and all(map(law, FEW))

    @says(
        r"McKenna, Sheldon, Permute-and-Flip: A New Mechanism for Differentially Private Selection; and, for a directed distance: where a step"
        r" moves the rank errors of no two grid points of a group apart by more than s people, summed over all groups, the chance of each answer"
        r" changes by a factor of at most e\^\(rate·s\)\. No step of the notion costs less than rate·s"
    )
    def _(world: Any) -> bool:
        return all(
            world.loss(x, y) <= world.rate * float(world.spread(x, y)) + 1e-9 <= cost + 2e-9
            for x, y, cost in steps(world)
        )

    @says(r"One-Sided Differential Privacy \(differentialprivacy\.org\), Definition (?P<which>[12])")
    def _(world: Any, which: str) -> bool:
        return bool(world.notion.name == {"1": "addition-only", "2": "removal-only"}[which])

    @says(
        r"With probability at least (?P<chance>\d+) %, whatever the data are, (?P<k>no|at most [\d,]+) (person has|people have) a number strictly"
        r" between an answer and the exact (?P<point>.*?)(?P<own> of its group)?"
    )
    def _(world: Any, chance: str, k: str, point: str, own: str | None) -> bool:
        most = 0 if k == "no" else int(k.removeprefix("at most ").replace(",", ""))
        wanted, named = int(chance) / 100, {0: "least value", 50: "median", 100: "greatest value"}
        called = named.get(world.p, f"{float(world.p):g} % point") if world.p.denominator == 1 else f"{world.p} % point"
        return (
            min(kept(world, most), bound(world, most)) >= wanted - 1e-12 and (most == 0 or bound(world, most - 1) < wanted)
            and point == called and bool(own) == (len(world.query.groups) > 1)
        )  # fmt: skip

    @says(
        r"With probability at least 95 %, whatever the data are, at most (?P<low>[\d./]+) % of the people(?P<own> of its group)? and (?P<k>[\d,]+)"
        r" more have a number below an answer, and at most (?P<high>[\d./]+) % and (?P<same>[\d,]+) more one above it"
    )
    def _(world: Any, low: str, own: str | None, k: str, high: str, same: str) -> bool:
        def split(people: tuple[int, ...], z: int) -> bool:
            below, above = sum(v < z for v in people), sum(v > z for v in people)
            most, n = int(k.replace(",", "")), len(people)
            return below <= Fraction(low) / 100 * n + most and above <= Fraction(high) / 100 * n + most

        kept = [math.fsum(p for z, p in enumerate(world.named(some)) if split(some, z)) for some in CROWDS]
        parts = world.p / 100
        lost = world.plan.accuracy().within_95_percent * parts.denominator  # and the best point is off by one at most
        best = max(min(ranks.rank_error(tuple(map(Fraction, some)), z, world.p) for z in POINTS) for some in CROWDS)
        return (
            min(kept) >= 0.95 - 1e-12 and worst(world.rate / parts.denominator, len(POINTS), lost) >= 0.95 and best <= 1
            and k == same and Fraction(low) == world.p == 100 - Fraction(high) and bool(own) == (len(world.query.groups) > 1)
            and int(k.replace(",", "")) * parts.denominator == lost + parts.denominator
        )  # fmt: skip

    @says(
        r"With probability at least 95 %, that is so of all (?P<n>\d+) answers together with (?P<every>[\d,]+) in place of (?P<one>[\d,]+)"
    )
    def _(world: Any, n: str, every: str, one: str) -> bool:
        most, each = (int(number.replace(",", "")) - 1 for number in (every, one))  # as in the sentence before
        return (
            int(n) == len(world.cells) and kept(world, most) ** int(n) >= 0.95 and each == world.plan.accuracy().within_95_percent
            and (most == each or bound(world, most - 1) < 1 - 0.05 / int(n))
        )  # fmt: skip

    @says(
        r"Nothing is said of how far an answer is from the exact one as a number: where no person has a number for a long stretch, every point of"
        r" the stretch has one rank"
    )
    def _(world: Any) -> bool:
        far = [ranks.rank_error((Fraction(0), Fraction(9)), Fraction(z), world.p) for z in range(1, 9)]
        return len(set(far)) == 1

    @says(r"Where at most (?P<few>[\d,]+) people have a number, the 95 % say nothing: every grid point is so near")
    def _(world: Any, few: str) -> bool:
        k, few_ = world.plan.accuracy().within_95_percent, int(few.replace(",", ""))

        def furthest(people: tuple[int, ...]) -> int:
            exact = int(sorted_at(world.p, list(people)))
            return max(sum(min(z, exact) < v < max(z, exact) for v in people) for z in (-1, 0, 1, 2, 3))

        # so it is of every crowd of so many; and of one more it may not be so
        tried = [furthest(people) for n in range(1, few_ + 1) for people in ((0,) * n, (2,) * n, *PAIRED[n])]
        more = max(furthest(people) for people in PAIRED[few_ + 1])
        return max(tried, default=0) <= k < more and world.query.people is None

    @says(r"Where nobody has a number, each grid point is as likely to be the answer")
    def _(world: Any) -> bool:
        alike = world.named(())
        return (
            world.query.people is None and None in world.records and max(alike) - min(alike) < 1e-12
            and len({float(p) for p in world.plan.mechanism.on([(0, 0, 0)]).row((0, 0, 0)).values()}) == 1
        )  # fmt: skip

    @says(
        r"This promise holds for all that is published here together, and for anything concluded from it: (?P<definition>Pr\[.*), with ε = (?P<epsilon>[\w/]+)"
    )
    def _(world: Any, definition: str, epsilon: str) -> bool:
        return private(world, definition, number(epsilon)) and number(epsilon) == float(world.price)


REQUIRED = [
    ("the promise", r"This promise holds.*", lambda w: True),
    ("how near", r"With probability at least 95 %, whatever.*", lambda w: True),
    ("how even", r"With probability at least 95 %, whatever.*below an answer.*", lambda w: True),
    ("how near all are", r"With probability at least 95 %, that is so of all.*", lambda w: len(w.query.groups) > 1),
    ("what is not said", r"Nothing is said of how far.*", lambda w: True),
    ("what is not protected", r"Not protected: .*", lambda w: bool(w.notion.words.reveals)),
    ("clamping", r"Numbers are clamped.*", lambda w: True),
    ("one row each", r"Nobody has more.*", lambda w: w.query.records.combine == "refuse"),
    ("several rows", r"Someone with several rows.*", lambda w: w.query.records.combine != "refuse"),
    ("a public number", r"That \d+ people.*", lambda w: w.query.people is not None),
    ("too few", r"Where at most .*", lambda w: w.query.people is None and w.plan.accuracy().within_95_percent > 0),
    ("nobody there", r"Where nobody has.*", lambda w: w.query.people is None),
]  # fmt: skip
"""What must be said where it is so: a name, a pattern, and when."""
