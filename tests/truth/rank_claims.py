"""What the statement of a percentile by rank says, and what makes it true; what it rests on is said in `number_claims`."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from tests.oracle import ranks
from tests.truth.claims import Claims
from tests.truth.notion_claims import READ, is_factor, private
from tests.truth.number_claims import ascending, sorted_at
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
    """The least chance, over all crowds, that at most so many have a number strictly between each answer and the exact one."""
    found = 1.0
    for people in crowds(world):
        exact = [int(sorted_at(p, list(people))) for p in world.ps]
        near = [[sum(min(z, q) < v < max(z, q) for v in people) <= most for z in range(3)] for q in exact]
        chances = world.outcomes(people).items()
        found = min(found, math.fsum(p for zs, p in chances if all(ok[z] for ok, z in zip(near, zs, strict=True))))
    return found


def crowds(world: Any) -> list[tuple[int, ...]]:
    """The crowds that there may be: where their number is public, those of so many."""
    return [people for people in CROWDS if world.query.people in (None, len(people))]


def all_of_them(world: Any, most: int) -> bool:
    """Whether no more than so many can have a number between two points: n people are public, ⌊p·n⌋ or the rest."""
    n = world.query.people
    return n is not None and most == max(max(at := min(int(p * n / 100), n - 1), n - 1 - at) for p in world.ps)


def alone(world: Any, most: int) -> float:
    """The chance that follows for one percentile and any crowd: one point is right, and all others are just too far off."""
    parts = [(p / 100).denominator for p in world.ps]
    return min(worst(world.rate / part, len(POINTS), most * part) for part in parts)


def bound(world: Any, most: int) -> float:
    """The chance that follows for all percentiles of a group: each misses alike."""
    return 1 - len(world.ps) * (1 - alone(world, most))


def register(claims: Claims) -> None:
    """Register all sentences about percentiles by rank."""
    says = claims.says

    @says(
        r"(?P<groups>For each group, each|Each|For each (group and )?percentile p, with noise of its own, each) of (?P<points>\d+) public grid points is accepted with probability e\^\(−(?P<rate>[\d/]+)·d\),"
        r" where d is how much larger its rank error is than the least one, and one of the accepted is published, each as likely\. Its rank"
        r" error is the number of people below it less (?P<low>[\d./]+|p) % of all but one, or the number above it less"
        r" (?P<high>[\d./]+|\(100 − p\)) % of all but one, whichever is larger\.(?P<ordered> The answers of a group are then put in ascending"
        r" order\.)? No count is published"
    )
    def _(world: Any, groups: str, points: str, rate: str, low: str, high: str, ordered: str | None) -> bool:
        def law(people: tuple[int, ...], p: Fraction, mechanism: Any) -> bool:
            below = [sum(v < z for v in people) - p / 100 * (len(people) - 1) for z in range(3)]
            above = [sum(v > z for v in people) - (100 - p) / 100 * (len(people) - 1) for z in range(3)]
            told = ranks.first_accepted(number(rate), list(map(max, below, above)))
            counts = tuple(people.count(z) for z in range(3))
            exact = mechanism.on([counts])  # the package's own law
            return all(math.isclose(float(exact.probability(counts, z)), told[z], rel_tol=1e-9) for z in range(3))

        several = low == "p"
        shares = world.ps if several else (Fraction(low),)
        each = zip(shares, world.plan.mechanisms, strict=True)
        return (
            ("group" in groups) == (len(world.query.groups) > 1) and int(points) == len(POINTS)
            and several == ("percentile" in groups) == (high == "(100 − p)") == bool(ordered) == (len(world.ps) > 1)
            and (several or Fraction(low) == world.ps[0] == 100 - Fraction(high)) and (not ordered or ascending(world))
            and all(law(people, p, mechanism) for p, mechanism in each for people in FEW)
        )  # fmt: skip

    @says(
        r"McKenna, Sheldon, Permute-and-Flip: A New Mechanism for Differentially Private Selection; and, for a directed distance: where a step"
        r" moves the rank errors of no two grid points of a group apart by more than s people, summed over all groups(?P<several> and percentiles)?,"
        r" the chance of each answer changes by a factor of at most e\^\(rate·s\)\. No step of the notion costs less than rate·s"
    )
    def _(world: Any, several: str | None) -> bool:
        return bool(several) == (len(world.ps) > 1) and all(
            world.loss(x, y) <= world.rate * float(world.spread(x, y)) + 1e-9 <= cost + 2e-9
            for x, y, cost in steps(world)
        )

    @says(r"One-Sided Differential Privacy \(differentialprivacy\.org\), Definition (?P<which>[12])")
    def _(world: Any, which: str) -> bool:
        return bool(world.notion.name == {"1": "addition-only", "2": "removal-only"}[which])

    @says(
        r"With probability at least (?P<chance>\d+) %, whatever the data are, (?P<k>no|at most [\d,]+) (person has|people have) a number strictly"
        r" between an answer and the exact (?P<point>.*?)(?P<own> of its group)?(?P<every>: all percentiles(?P<its> of its group)? keep that at once)?"
    )
    def _(world: Any, chance: str, k: str, point: str, own: str | None, every: str | None, its: str | None) -> bool:
        most, p = 0 if k == "no" else int(k.removeprefix("at most ").replace(",", "")), world.ps[0]
        wanted, named = int(chance) / 100, {0: "least value", 50: "median", 100: "greatest value"}
        called = named.get(p, f"{float(p):g} % point") if p.denominator == 1 else f"{p} % point"
        called = "percentile" if len(world.ps) > 1 else called
        return bool(every) == (len(world.ps) > 1) and bool(its) == bool(every and own) and (
            kept(world, most) >= wanted - 1e-12 and (bound(world, most) >= wanted - 1e-12 or all_of_them(world, most))
            and (most == 0 or bound(world, most - 1) < wanted)
            and point == called and bool(own) == (len(world.query.groups) > 1)
        )  # fmt: skip

    @says(
        r"With probability at least 95 %, whatever the data are, at most (?P<low>[\d./]+|p) % of the people(?P<own> of its group)? and (?P<k>[\d,]+)"
        r" more have a number below an answer, and at most (?P<high>[\d./]+|\(100 − p\)) % and (?P<same>[\d,]+) more one above it"
    )
    def _(world: Any, low: str, own: str | None, k: str, high: str, same: str) -> bool:
        shares = world.ps if low == "p" else (Fraction(low),)

        def split(people: tuple[int, ...], zs: tuple[int, ...]) -> bool:
            most, n, even = int(k.replace(",", "")), len(people), True
            for p, z in zip(shares, zs, strict=True):
                below, above = sum(v < z for v in people), sum(v > z for v in people)
                even = even and below <= p / 100 * n + most and above <= (100 - p) / 100 * n + most
            return even

        kept = [math.fsum(p for zs, p in world.outcomes(some).items() if split(some, zs)) for some in crowds(world)]
        off = [
            min(ranks.rank_error(tuple(map(Fraction, some)), z, p) for z in POINTS) for some in CROWDS for p in world.ps
        ]
        lost = world.plan.accuracy().within_95_percent  # and the best point is off by one at most
        return (
            min(kept) >= 0.95 - 1e-12 and (bound(world, lost) >= 0.95 - 1e-12 or all_of_them(world, lost)) and max(off) <= 1 and k == same
            and (len(world.ps) > 1 if low == "p" else Fraction(low) == world.ps[0] == 100 - Fraction(high))
            and (low == "p") == (high == "(100 − p)") and bool(own) == (len(world.query.groups) > 1)
            and int(k.replace(",", "")) == lost + 1
        )  # fmt: skip

    @says(
        r"With probability at least 95 %, that is so of all (?P<n>\d+) answers together with (?P<every>[\d,]+) in place of (?P<one>[\d,]+)"
    )
    def _(world: Any, n: str, every: str, one: str) -> bool:
        most, each = (int(number.replace(",", "")) - 1 for number in (every, one))  # as in the sentence before
        return (
            int(n) == len(world.cells) * len(world.ps) and kept(world, most) ** len(world.cells) >= 0.95
            and each == world.plan.accuracy().within_95_percent
            and (most == each or alone(world, most - 1) < 1 - 0.05 / int(n))
        )  # fmt: skip

    @says(
        r"Nothing is said of how far an answer is from the exact one as a number: where no person has a number for a long stretch, every point of"
        r" the stretch has one rank"
    )
    def _(world: Any) -> bool:
        far = [[ranks.rank_error((Fraction(0), Fraction(9)), Fraction(z), p) for z in range(1, 9)] for p in world.ps]
        return all(len(set(each)) == 1 for each in far)

    @says(
        r"The (?P<name>least|greatest) value may come out as any point of the grid (?P<side>below|above) all numbers: its rank error is larger by 1"
        r" at most, however far it lies\. Of (?P<enough>[\d,]+) people or more the (?P<instead>1|99) % point, asked for instead, lies (?P=side) all"
        r" numbers with probability at most 5 %"
    )
    def _(world: Any, name: str, side: str, enough: str, instead: str) -> bool:
        least, n = name == "least", int(enough.replace(",", ""))
        p, far, beyond = (0, -9, (0, 1)) if least else (100, 9, (1, 2))
        lost = [ranks.rank_error(tuple(map(Fraction, people)), Fraction(far), Fraction(p)) for people in CROWDS]
        best = [min(ranks.rank_error(tuple(map(Fraction, some)), z, Fraction(p)) for z in POINTS) for some in CROWDS]

        def beyond_all(people: int) -> float:
            """All are on the last point."""
            at = (POINTS[2 if least else 0],) * people
            return math.fsum(ranks.named(world.rate, Fraction(instead), POINTS, at)[z] for z in beyond)

        return (
            p in world.ps and (side, instead) == (("below", "1") if least else ("above", "99"))
            and max(x - y for x, y in zip(lost, best, strict=True)) == 1
            and max(beyond_all(people) for people in (n, n + 1, n + 50, 2 * n)) <= 0.05
            and n % 100 == 1 and bound(world, n // 100 - 1) >= 0.95 - 1e-12
            and (n // 100 == 1 or bound(world, n // 100 - 2) < 0.95)
        )  # fmt: skip

    @says(
        r"Where at most (?P<few>[\d,]+) (?:people have|person has) a number, the 95 % say nothing(?P<some> of one percentile or more)?: every grid point is so near"
    )
    def _(world: Any, few: str, some: str | None) -> bool:
        k, few_ = world.plan.accuracy().within_95_percent, int(few.replace(",", ""))

        def furthest(people: tuple[int, ...], p: Fraction) -> int:
            exact = int(sorted_at(p, list(people)))
            return max(sum(min(z, exact) < v < max(z, exact) for v in people) for z in (-1, 0, 1, 2, 3))

        def least(crowds: list[tuple[int, ...]]) -> int:
            return min(max(furthest(people, p) for people in crowds) for p in world.ps)

        # so it is of every crowd of so many; and of one more it may not be so
        tried = [least([(0,) * n, (2,) * n, *PAIRED[n]]) for n in range(1, few_ + 1)]
        more = least(PAIRED[few_ + 1])
        return max(tried, default=0) <= k < more and world.query.people is None and bool(some) == (len(world.ps) > 1)

    @says(
        r"Where nobody has a number, each grid point is as likely to be the answer(?P<before>, before they are put in order)?"
    )
    def _(world: Any, before: str | None) -> bool:
        laws = [ranks.named(world.rate, p, POINTS, ()) for p in world.ps]
        return (
            world.query.people is None and None in world.records and all(max(law) - min(law) < 1e-12 for law in laws)
            and all(len({float(p) for p in one.on([(0, 0, 0)]).row((0, 0, 0)).values()}) == 1 for one in world.plan.mechanisms)
            and bool(before) == (len(world.ps) > 1)
        )  # fmt: skip

    @says(r"A larger percentile of a group never has a smaller answer")
    def _(world: Any) -> bool:
        return bool(world.query.ps) and ascending(world)

    @says(
        r"This promise holds for all answers to this question together, and for anything concluded from them\. It limits how much the chance of any answer depends on what is protected: (?P<definition>Pr\[.*), with ε = (?P<epsilon>[\w/]+)"
        + READ
    )
    def _(world: Any, definition: str, epsilon: str, factor: str | None) -> bool:
        right = private(world, definition, number(epsilon)) and is_factor(factor, epsilon)
        return right and number(epsilon) == float(world.price)


REQUIRED = [
    ("the promise", r"This promise holds.*", lambda w: True),
    ("how near", r"With probability at least 95 %, whatever.*", lambda w: True),
    ("how even", r"With probability at least 95 %, whatever.*below an answer.*", lambda w: True),
    ("how near all are", r"With probability at least 95 %, that is so of all.*", lambda w: len(w.query.groups) > 1),
    ("an order", r"A larger percentile.*", lambda w: bool(w.query.ps)),
    ("what is not said", r"Nothing is said of how far.*", lambda w: True),
    ("what is not protected", r"Not protected: .*", lambda w: bool(w.notion.words.reveals)),
    ("clamping", r"Numbers are clamped.*", lambda w: True),
    ("one row each", r"Nobody has more.*", lambda w: w.query.records.combine == "refuse"),
    ("several rows", r"Someone with several rows.*", lambda w: w.query.records.combine != "refuse"),
    ("a public number", r"That \d+ people.*", lambda w: w.query.people is not None),
    ("too few", r"Where at most .*", lambda w: w.query.people is None and w.plan.accuracy().within_95_percent > 0),
    ("the least", r"The least value may.*below.*", lambda w: 0 in w.ps),
    ("the greatest", r"The greatest value may.*above.*", lambda w: 100 in w.ps),
    ("nobody there", r"Where nobody has.*", lambda w: w.query.people is None),
]  # fmt: skip
"""What must be said where it is so: a name, a pattern, and when."""
