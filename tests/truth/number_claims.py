"""What the statement of a released sum, mean, percentile or histogram says, and what makes it true."""

from __future__ import annotations

import itertools
import math
import re
from datetime import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.truth.claims import Claims
from tests.truth.notion_claims import READ, is_factor, private
from tests.truth.numbers import NEAR, SPREADS
from tests.truth.relations import number
from tests.truth.visitor_claims import DIRECTION, goes

from leeward.engine._groups import GroupList

HOW_FAR = 10**9
"""Further than any bound of these worlds: what an answer with so much noise is clamped to."""

LISTS = [list(map(Fraction, each)) for n in range(4) for each in itertools.product((0, 1, 2), repeat=n)]


def sorted_at(p: Fraction, values: list[Fraction]) -> Fraction:
    """The value with so many per cent of all below it; the greatest at 100 %."""
    return sorted(values)[min(math.floor(p * len(values) / 100), len(values) - 1)]


NAMED: dict[str, Any] = {
    "sum": sum,
    "least value": min,
    "greatest value": max,
    "median": lambda values: sorted_at(Fraction(50), values),
}


def one(world: Any) -> Any:
    """The law of the only part."""
    (part,) = world.plan.parts
    return part.law


def published(world: Any, noisy: int) -> Fraction:
    """What is published where so much was drawn."""
    return Fraction(world.plan.scale.values(np.array([noisy]))[0])


def rounding(world: Any) -> float:
    """The most that publishing a mean or a spread on its grid adds: a spread of 0 … 2 is at most 1."""
    if world.query.kind in SPREADS:
        grid = world.query.numeric.grid
        return float(max(grid / 2, 1 % grid))
    return float(world.plan.scale.unit) / 2 if world.query.kind == "mean" else 0.0


def off(world: Any, noise: float) -> float:
    """How far what is published is off at most where noise is so large: of a root, by the root of it."""
    return (math.sqrt(noise) if world.query.kind == SPREADS[1] else noise) + rounding(world)


def a_step_less(world: Any, error: float) -> float:
    """The error where noise is one step smaller."""
    unit = float(world.plan.scale.unit)
    if world.query.kind != SPREADS[1]:
        return error - unit
    return off(world, max((error - rounding(world)) ** 2 - unit, 0.0))


def kept(world: Any, error: float) -> float:
    """How likely noise, and rounding at its worst, stay within an error; of clamping only that none is beyond the range."""
    unit = float(world.plan.scale.unit)
    if error >= widest(world):
        return 1.0
    return math.fsum(p for k, p in world.chances[0].items() if off(world, abs(k) * unit) <= error + 1e-12)


def widest(world: Any) -> float:
    """How far apart two numbers are at most that are published, or exact."""
    scale = world.plan.scale
    if None in (scale.lower, scale.upper):
        return math.inf
    range_of = float((scale.upper - scale.lower) * scale.unit)
    return math.sqrt(range_of) if world.query.kind == SPREADS[1] else range_of


def kept_mean(world: Any, error: float, people: int) -> float:
    """The same of a mean over so many people: at the worst place of their mean, over all noises of sum and number.

    The exact mean may lie anywhere, also just beside a place where the published grid rounds the other way.
    """
    (sums, numbers), grid = (world.chances), float(world.query.numeric.grid)
    x = np.array(list(sums))[:, None]
    y = np.array([k for k in numbers if people + k >= 1])[None, :]
    weight = np.array(list(sums.values()))[:, None] * np.array([numbers[k] for k in y[0].tolist()])[None, :]
    found = 1.0
    beside = [0.5 * grid + j / (2 * people) for j in (-9, -3, -1, 0, 1, 3, 9)]
    for worst in (0.0, *beside, 1.0, 2.0 - 0.5 * grid, 2.0):  # where the mean lies; the range is 0 … 2
        exact = round((worst - 1) * 2 * people) / (2 * people)  # from the middle; sums are in half steps
        noisy = np.clip((2 * people * exact + x) / (2 * (people + y)) + 1, 0.0, 2.0)
        shown = np.floor(noisy / grid + 0.5) * grid
        found = min(found, float(weight[np.abs(shown - (exact + 1)) <= error + 1e-9].sum()))
    return found


def drawn(law: Any, rng: np.random.Generator, size: int) -> Any:
    """Geometric noise of these rates, by NumPy."""
    up, down = ((rng.geometric(-math.expm1(-float(r)), size) - 1) * (not r.is_infinite) for r in (law.up, law.down))
    return up - down


def spreads(kind: str, sums: Any, squares: Any, people: Any, grid: float) -> Any:
    """What follows from the three numbers of a group of numbers from 0 to 2, clamped, and rounded half up to a grid."""
    many = np.maximum(people, 1)
    variance = np.where(people >= 1, ((squares / many + 4) / 2 - (sums / many) ** 2) / 4, 0.0).clip(0.0, 1.0)
    shown = np.sqrt(variance) if kind == SPREADS[1] else variance
    return np.minimum(np.floor(shown / grid + 0.5), math.floor(1 / grid)) * grid


def kept_spread(world: Any, error: float, people: int) -> float:
    """How often a spread over so many people is kept, where it is kept least: seeded draws of all three noises."""
    rng, kind, grid, found = np.random.default_rng(people), world.query.kind, float(world.query.numeric.grid), 1.0
    x, z, y = (drawn(part.law, rng, 4_000) for part in world.plan.parts)
    for values in ([0], [2], [1], [0, 2], [0, 1, 1, 2], [2] * 9 + [0], [1] * 9 + [2]):
        here = (np.array(values) * 1.0)[np.arange(people) % len(values)]
        exactly = here.std() if kind == SPREADS[1] else here.var()
        sums, squares = (2 * here - 2).sum(), (2 * (2 * here - 2) ** 2 - 4).sum()
        shown = spreads(kind, sums + x, squares + z, people + y, grid)
        found = min(found, float((np.abs(shown - exactly) <= error + 1e-9).mean()))
    return found


POINT = r"(least value|greatest value|median|[\d./]+ % point)"


def register(claims: Claims) -> None:
    """Register all sentences about numbers."""
    says = claims.says

    @says(
        r"The ((?P<name>sum|mean|variance|standard deviation|median|least value|greatest value)|(?P<p>[\d./]+) % point) of everybody's 'age'(, in each of (?P<n>\d+) public"
        rf" groups? by 'sex'(?P<town> and 'town')?(?P<more>, and of all others)?)?{WHEN}"
    )
    def _(world: Any, name: str | None, p: str | None, n: str | None, more: str | None, **when: str | None) -> bool:
        numeric = world.query.numeric
        groups = int(n or 0) + bool(more)
        if (
            numeric is None
            or groups != len(world.query.groups)
            or bool(more) != outside(world)
            or not so(world, **when)
        ):
            return False
        if name in SPREADS:
            exactly = [
                float(np.std(np.array(v, float)) if name == SPREADS[1] else np.var(np.array(v, float)))
                for v in LISTS
                if v
            ]
            shown = [float(numeric.published(numeric.answer(v))) for v in LISTS if v]
            near = [abs(a - b) <= rounding(world) + 1e-9 for a, b in zip(exactly, shown, strict=True)]
            return world.query.kind == name and all(near)
        if name == "mean":
            near = [abs(numeric.answer(v) - sum(v) / len(v)) <= numeric.grid / 2 for v in LISTS if v]
            return world.query.kind == "mean" and all(near)
        meant = NAMED[name] if name else lambda values: sorted_at(Fraction(str(p)), values)
        return all(numeric.answer(values) == meant(values) for values in LISTS if values)

    @says(
        rf"The (?P<points>{POINT}(, {POINT})* and {POINT}) of everybody's 'age'(, in each of (?P<n>\d+) public"
        rf" groups? by 'sex'(?P<town> and 'town')?(?P<more>, and of all others)?)?{WHEN}"
    )
    def _(world: Any, points: str, n: str | None, more: str | None, **when: str | None) -> bool:
        told = [called(each) for part in points.split(" and ") for each in part.split(", ")]
        asked = world.query.kind == "percentile" and len(told) > 1 and list(world.query.ps) == told
        groups = int(n or 0) + bool(more)
        return asked and groups == len(world.query.groups) and bool(more) == outside(world) and so(world, **when)

    @says(r"A larger percentile of a group never has a smaller answer")
    def _(world: Any) -> bool:
        return bool(world.query.ps) and ascending(world)

    @says(
        r"How many people have a 'age' in each of (?P<bins>\d+) public intervals(, in each of (?P<n>\d+) public groups? by 'sex'(?P<town> and 'town')?)?"
        + WHEN
    )
    def _(world: Any, bins: str, n: str | None, **when: str | None) -> bool:
        answers = len(world.exact(world.tables[0]))
        asked = world.query.kind == "histogram" and world.query.column == "age"
        return asked and answers == int(bins) * int(n or 1) and so(world, **when)

    @says(
        rf"How many people are in each of (?P<n>\d+) public groups? by 'sex'(?P<town> and 'town')?(?P<more>, and of all others)?{WHEN}"
    )
    def _(world: Any, n: str, more: str | None, **when: str | None) -> bool:
        answers = len(world.exact(world.tables[0]))
        return (
            world.query.column is None and answers == int(n) + bool(more) == len(world.query.groups)
            and bool(more) == outside(world) and so(world, **when)
        )  # fmt: skip

    @says(
        rf"Each answer, an integer on a public grid of step (?P<step>\S+), gets exact geometric noise, {DIRECTION}(?P<clamped>, then clamped to"
        r" the public bounds)?(?P<ordered>; those of a group are put in ascending order)?"
    )
    def _(world: Any, step: str, clamped: str | None, ordered: str | None, **rates: Any) -> bool:
        if len(world.plan.parts) != 1 or bool(ordered) != bool(world.query.ps) or (ordered and not ascending(world)):
            return False
        low, high = published(world, -HOW_FAR), published(world, HOW_FAR)
        total = 2 * (world.query.people or 1) if world.query.kind == "sum" else 2  # the range of the exact answers
        return (
            goes(world, one(world), **rates) and published(world, 1) - published(world, 0) == Fraction(step)
            and ((low, high) == (0, total) if clamped else high - low > HOW_FAR * Fraction(step))
        )  # fmt: skip

    @says(
        r"Two exact integers a group get exact geometric noise: the sum of distances from the middle of the range, in half steps"
        r" \((?P<sums>[^)]*)\), and the number of people \((?P<people>[^)]*)\); their quotient is published, clamped"
    )
    def _(world: Any, sums: str, people: str) -> bool:
        if len(world.plan.parts) != 2:
            return False
        laws = [part.law for part in world.plan.parts]
        for law, text in zip(laws, (sums, people), strict=True):
            told = re.fullmatch(DIRECTION, text)
            if told is None or not goes(world, law, **told.groupdict()):
                return False
        # three people at the mean 2, no noise: the distances from the middle, 1, are 2 half steps each
        return [float(v) for v in world.plan._means(np.array([6, 600, -600]), np.array([3, 3, 3]))] == [2.0, 2.0, 0.0]

    @says(
        r"Three exact integers a group get exact geometric noise: the sum of distances from the middle of the range, in half steps"
        r" \((?P<sums>[^)]*)\), the sum of their squares, each doubled and less the squared range in steps \((?P<squares>[^)]*)\), and the"
        r" number of people \((?P<people>[^)]*)\); the (?P<name>variance|standard deviation) that follows is published, clamped"
    )
    def _(world: Any, sums: str, squares: str, people: str, name: str) -> bool:
        import pyarrow as pa

        if len(world.plan.parts) != 3 or name != world.query.kind:
            return False
        for part, text in zip(world.plan.parts, (sums, squares, people), strict=True):
            told = re.fullmatch(DIRECTION, text)
            if told is None or not goes(world, part.law, **told.groupdict()):
                return False
        # the exact numbers of two people at 0 and 2, of three at 1, of nobody; and what no people have
        numbers = [(0, 8, 2), (0, -12, 3), (0, 0, 0), (0, 10**6, 3), (10**6, -(10**6), 3)]
        shown = [
            world.plan.answers(np.array(three * len(world.cells)), pa.table({"key": ["x"] * len(world.cells)}))[
                "value"
            ][0].as_py()
            for three in numbers
        ]
        grid = float(world.query.numeric.grid)
        return shown == [float(spreads(name, *map(np.float64, three), grid)) for three in numbers]

    @says(
        rf"Each variance, an integer on a public grid of step (?P<step>\S+), gets exact geometric noise, {DIRECTION}, then clamped to the"
        r" public bounds(?P<root>; its square root is published)?"
    )
    def _(world: Any, step: str, root: str | None, **rates: Any) -> bool:
        if world.query.kind != SPREADS[bool(root)] or len(world.plan.parts) != 1:
            return False
        low, high = published(world, -HOW_FAR), published(world, HOW_FAR)
        return goes(world, one(world), **rates) and published(world, 1) == Fraction(step) and (low, high) == (0, 1)

    # ---- what it rests on

    @says(r"One person's rows all carry the same id, and different people carry different ids")
    def _(world: Any) -> bool:
        return world.query.records.person is not None

    @says(r"Nobody has more than one row that counts: that was checked on the data, and is not protected")
    def _(world: Any) -> bool:
        return world.query.records.person is not None and world.query.records.combine == "refuse"

    @says(r"That (?P<n>\d+) (people have|person has) a number is publicly known: it was checked, and is not protected")
    def _(world: Any, n: str) -> bool:
        return all(len(table) - table.count(None) == int(n) for table in world.tables)

    @says(r"(?P<what>The bounds.*|The groups.*) were chosen without looking at the data")
    def _(world: Any, what: str) -> bool:  # of the curator: what public keys rest on
        told = [word in what.lower() for word in ("the groups", "the bounds", "the window")]
        return told == [bool(world.query.groups), bool(world.query.column), world.query.window is not None]

    @says(
        r"Chatzikokolakis, Andrés, Bordenabe, Palamidessi, Broadening the Scope of Differential Privacy Using Metrics, Fact 5 and Definition 6,"
        r" for a directed line: an exact integer answer that moves at most as far as the notion's distance, plus geometric noise of that line,"
        r" is private under the notion\."
    )
    def _(world: Any) -> bool:
        return private(world, world.notion.words.definition, float(world.notion.epsilon))

    # ---- what is guaranteed

    @says(
        r"This promise holds for all answers to this question together, and for anything concluded from them\. It limits how much the chance of any answer depends on what is protected: (?P<definition>Pr\[.*), with ε = (?P<epsilon>[\w/]+)"
        + READ
    )
    def _(world: Any, definition: str, epsilon: str, factor: str | None) -> bool:
        right = private(world, definition, number(epsilon)) and is_factor(factor, epsilon)
        return right and number(epsilon) == pytest.approx(float(world.price))

    @says(
        r"An answer is within (?P<each>\S+) of the exact one with probability at least 95 %(; all (?P<cells>\d+) are within (?P<every>\S+) with"
        r" that probability)?"
    )
    def _(world: Any, each: str, cells: str | None, every: str | None) -> bool:
        if len(world.plan.parts) != 1 or int(cells or 1) != len(world.exact(world.tables[0])):
            return False
        several = len(world.query.ps) or 1  # in order, each is as near as the furthest of its group was
        told = [(float(each), several), *([(float(every), int(cells or 1))] if every else [])]
        # true, and not idle: a step less would not be
        return all(
            kept(world, e) ** n >= 0.95 - 1e-12 and kept(world, a_step_less(world, e)) ** n < 0.95 for e, n in told
        )

    @says(
        r"With probability at least 95 %, an answer is off by at most so much, by how many people it is about:"
        r" (?P<known>.*)"
    )
    def _(world: Any, known: str) -> bool:
        if len(world.plan.parts) < 2:
            return False
        told = [part.split(" with ") for part in known.split(" people, ")]
        keeps = kept_mean if len(world.plan.parts) == 2 else kept_spread
        return len(told) == 4 and all(
            keeps(world, float(error), int(n.replace(",", "").removesuffix(" people"))) >= 0.95 for error, n in told
        )

    @says(r"No answer is (?P<side>below|above) the exact one: the noise is never (?P<sign>negative|positive)")
    def _(world: Any, side: str, sign: str) -> bool:
        way = -1 if side == "below" else 1
        return (sign == "negative") == (side == "below") and len(world.plan.parts) == 1 and world.query.kind != "mean" and not any(
            p for k, p in world.chances[0].items() if k * way > 0
        )  # fmt: skip

    @says(
        r"The number of people beside an answer is never (?P<side>below|above) how many it is about: its noise is never (?P<sign>negative|positive)"
    )
    def _(world: Any, side: str, sign: str) -> bool:
        way = -1 if side == "below" else 1
        return (sign == "negative") == (side == "below") and len(world.plan.parts) > 1 and not any(
            p for k, p in world.chances[-1].items() if k * way > 0
        )  # fmt: skip

    @says(
        r"So it is certain of each interval that no more people(?P<own> of its group)? have a number from its lower end on, (?P<so>among those counted|each counted"
        r" once (in the first listed group they are in and )?with the (?P<how>least|greatest) of their numbers), than its count and those"
        r" of the intervals above it( of its group)? add up to: that sum is too high by at most (?P<high>[\d,]+) at the highest interval and by at"
        r" most (?P<low>[\d,]+) at the lowest, each with probability at least 95 %"
    )
    def _(world: Any, own: str | None, so: str, how: str | None, high: str, low: str) -> bool:
        if how != {"min": "least", "max": "greatest"}.get(world.query.records.combine):
            return False  # whose least number counts may have a larger one
        if how and ("first listed group" in so) != (len(world.query.groups) > 1):
            return False
        bins = len(world.exact(world.tables[0])) // len(world.cells)
        noise = [world.chances[0].get(k, 0.0) for k in range(2 * NEAR)]

        def kept(most: int, counts: int) -> float:
            law = [1.0]
            for _ in range(counts):
                law = np.convolve(law, noise).tolist()
            return math.fsum(law[: most + 1])

        told = [(int(high.replace(",", "")), 1), (int(low.replace(",", "")), bins)]
        return (
            world.query.kind == "histogram" and world.query.column is not None and bool(own) == bool(world.query.groups)
            and not any(p for k, p in world.chances[0].items() if k < 0)
            and all(kept(most, n) >= 0.95 > kept(most - 1, n) for most, n in told)
        )  # fmt: skip

    # ---- what is not

    @says(
        r"Numbers are clamped to (?P<low>\S+) … (?P<high>\S+) and rounded half up to steps of (?P<step>\S+): the answer is about these"
    )
    def _(world: Any, low: str, high: str, step: str) -> bool:
        values = sorted({record[1] for table in world.tables for record in table if record is not None})
        return world.query.kind != "histogram" and values == list(range(int(low), int(high) + 1, int(step)))

    @says(r"Counts are not clamped: (?P<negative>a noisy count may be negative, and )?small ones say little")
    def _(world: Any, negative: str | None) -> bool:
        below = any(p for k, p in world.chances[0].items() if k < 0)
        return world.query.kind == "histogram" and below == bool(negative) and published(world, -HOW_FAR) == -HOW_FAR

    @says(r"Numbers of '(?P<column>\w+)' beyond (?P<low>\S+) … (?P<high>\S+) count in its first and last interval")
    def _(world: Any, column: str, low: str, high: str) -> bool:
        # that the engine counts them there, tests/engine counts
        ends = dict(world.query.intervals)[column]
        named = [f"{low} to ", f" to {high}"]
        return (
            (ends.lower, ends.upper) == (Fraction(low), Fraction(high)) and world.query.groups[0].startswith(named[0])
            and world.query.groups[-1].endswith(named[1])
        )  # fmt: skip

    @says(r"Numbers beyond the bounds count in the first and last interval")
    def _(world: Any) -> bool:
        return world.query.kind == "histogram" and world.query.column is not None

    @says(
        r"Closeness is measured between intervals: numbers in neighbouring intervals are one step apart, however near"
    )
    def _(world: Any) -> bool:
        return near(world) and world.query.kind == "histogram"

    @says(r"Closeness is measured between sums of each person's rounded numbers")
    def _(world: Any) -> bool:
        return near(world) and world.query.kind != "histogram" and world.query.records.combine == "sum"

    @says(
        r"Closeness is measured between rounded numbers: they may be up to one step further apart than the numbers were"
    )
    def _(world: Any) -> bool:
        return near(world) and world.query.kind != "histogram" and world.query.records.combine != "sum"

    @says(
        r"No two groups are nearer than others: which group somebody is in is protected like the largest change of a number"
    )
    def _(world: Any) -> bool:
        def moved(table: Any, record: Any) -> Any:
            return (record, *table[1:])

        f, m = (((group, 1), None) for group in world.query.groups) if len(world.query.groups) == 2 else ("", "")
        return near(world) and bool(f) and world.loss(f, m) <= world.apart(f[0], m[0]) * float(world.price) + 1e-9

    @says(
        r"Someone with several rows counts once(?P<among>, in the first listed group they are in)?(, with the (?P<how>sum|least|greatest) of"
        r" their numbers(?P<again>, clamped again)?)?"
    )
    def _(world: Any, among: str | None, how: str | None, again: str | None) -> bool:
        combine = world.query.records.combine
        words = {"sum": "sum", "min": "least", "max": "greatest"}
        return (
            words.get(combine) == (how or words.get(combine, "")) and combine != "refuse"
            and bool(among) == (len(world.query.groups) > 1) and bool(how) == (world.query.column is not None)
            and bool(again) == (combine == "sum" and world.query.column is not None)
        )  # fmt: skip

    @says(r"Where nobody has a number, (?P<value>\S+) stands in for the exact answer")
    def _(world: Any, value: str) -> bool:
        numeric = world.query.numeric
        return (
            world.query.kind not in {"histogram", "sum"} and None in world.records and numeric.answer([]) == Fraction(value)
            and (len(world.plan.parts) != 2 or world.plan._means(np.array([0]), np.array([0])) == [Fraction(value)])
        )  # fmt: skip

    @says(r"Rows without a person(?P<number>(,| or) a number)?(?P<more>.*) are not counted")
    def _(world: Any, number: str | None, more: str) -> bool:
        # that the engine leaves them out, for these reasons, tests/engine counts
        return (
            bool(number) == bool(world.query.column)
            and ("in no listed group" in more) == (bool(world.query.groups) and not outside(world))
            and ("removed by the filter" in more) == bool(world.query.records.keep)
            and ("outside the window" in more) == ("or a time that can be" in more) == (world.query.window is not None)
        )  # fmt: skip

    @says(r"'(?P<name>.*)' is of all people in no listed group, also of those that have none")
    def _(world: Any, name: str) -> bool:
        # that the engine counts them there, and none of the listed, tests/engine counts
        return world.query.groups.index(name) == len(world.query.listed) and outside(world)


def called(point: str) -> Fraction:
    """Which percentile has this name."""
    named = {"least value": 0, "median": 50, "greatest value": 100}
    return Fraction(named[point] if point in named else point.removesuffix(" % point"))


def ascending(world: Any) -> bool:
    """Whether percentiles of a group are published in order, however they were drawn."""
    keys, m = GroupList(world.query).to_arrow(), len(world.query.ps)
    draws = itertools.islice(itertools.product(range(3), repeat=world.query.cells), 100)
    for drawn in draws:
        shown = world.plan.answers(np.array(drawn), keys)["value"].to_pylist()
        groups = [slice(i, i + m) for i in range(0, len(drawn), m)]
        if any(shown[group] != sorted(drawn[group]) for group in groups):
            return False
    return keys["percentile"].to_pylist() == [float(p) for p in world.query.ps] * (world.query.cells // m)


def outside(world: Any) -> bool:
    """Whether somebody whose key is listed nowhere is in an answer."""
    return bool(world.query.others)


WHEN = r"(, from (?P<start>[-\d]+ [\d:]+) up to, but not at, (?P<end>[-\d]+ [\d:]+)( \((?P<zone>\S+)\))?)?"


def so(world: Any, start: str | None, end: str | None, zone: str | None, town: str | None) -> bool:
    """Whether a question is about this window, of no other zone than the table names, and by these columns."""
    window = world.query.window
    if bool(town) != isinstance(world.query.by, tuple):
        return False
    if window is None or start is None or end is None:
        return window is None and start is None
    ends = datetime.fromisoformat(start), datetime.fromisoformat(end)
    return ends == (window.start, window.end) and zone == world.query.records.timezone


def near(world: Any) -> bool:
    """Whether the notion is about how near values are: moving one by less costs less."""
    words = world.notion.words.definition
    return "changes of values" in words or "change of any value" in words


REQUIRED = [
    ("the promise", r"This promise holds.*", lambda w: True),
    ("what is not protected", r"Not protected: .*", lambda w: bool(w.notion.words.reveals)),
    ("clamping", r"Numbers are clamped.*", lambda w: w.query.kind != "histogram"),
    ("an order", r"A larger percentile.*", lambda w: bool(w.query.ps)),
    ("outer intervals", r"Numbers of 'sex' beyond.*", lambda w: bool(w.query.intervals)),
    ("a side", r"No answer is .*", lambda w: len(w.plan.parts) == 1 and (one(w).up.is_infinite or one(w).down.is_infinite)),
    ("a curve", r"So it is certain of each.*", lambda w: w.query.kind == "histogram" and bool(w.query.column) and one(w).down.is_infinite),
    ("one row each", r"Nobody has more.*", lambda w: w.query.records.combine == "refuse" and w.query.records.person is not None),
    ("several rows", r"Someone with several rows.*", lambda w: w.query.records.combine != "refuse"),
    ("a public number", r"That \d+ people.*", lambda w: w.query.people is not None),
    ("closeness", r"Closeness is.*", near),
    ("far groups", r"No two groups are nearer.*", lambda w: near(w) and len(w.query.groups) > 1),
    ("others", r"'else' is of all.*", lambda w: w.query.others),
    ("nobody there", r"Where nobody has.*", lambda w: w.query.kind in {"mean", "percentile", *SPREADS} and w.query.people is None),
]  # fmt: skip
"""What must be said where it is so: a name, a pattern, and when."""
