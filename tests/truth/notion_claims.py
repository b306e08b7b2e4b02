"""What the words of a notion say, and what makes them true.

Its inequality is held against the mechanism, the rest against the distance that the inequality generates on all tables.
Whether that distance is the package's own is checked apart (`test_the_words_of_a_notion_are_its_distance`).
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.truth.claims import Claims
from tests.truth.relations import facts, number, pairs

READ = r", where Pr\[answer \| data\] is how likely an answer is if the data are as described(, and e\^ε is about (?P<factor>[\d,.e+]*\d))?"
"""How a formula is read, after it."""


def is_factor(factor: str | None, epsilon: str) -> bool:
    """Whether a number is e^ε, in three digits."""
    return factor is None or math.isclose(float(factor.replace(",", "")), math.exp(number(epsilon)), rel_tol=5e-3)


TOLERANCE = 1e-9


def private(world: Any, definition: str, epsilon: float) -> bool:
    """Whether the inequality holds for all that is published, on every pair of tables it is about."""
    return all(world.loss(x, y) <= bound + TOLERANCE for x, y, bound in pairs(definition, world, epsilon))


@functools.cache
def distance(world: Any) -> NDArray[np.float64]:
    """The shortest paths along the pairs of the inequality, between all tables of a world."""
    tables = list(world.tables)
    place = {table: i for i, table in enumerate(tables)}
    costs = np.full((len(tables), len(tables)), np.inf)
    np.fill_diagonal(costs, 0)
    for x, y, bound in pairs(world.notion.words.definition, world, float(world.notion.epsilon)):
        i, j = place[x], place[y]
        costs[i, j] = min(costs[i, j], bound)
    for via in range(len(tables)):
        np.minimum(costs, costs[:, via, None] + costs[None, via, :], out=costs)
    return costs


def _between(world: Any, allowed: Callable[[Any, Any], bool]) -> list[float]:
    """The distances of all pairs of tables that differ in one person, by a change of this kind."""
    tables = list(world.tables)
    place, found = {table: i for i, table in enumerate(tables)}, []
    for table in tables:
        for i, before in enumerate(table):
            for after in world.records:
                cover = (*table[:i], after, *table[i + 1 :])
                if after != before and allowed(before, after) and cover in place:
                    found.append(float(distance(world)[place[table], place[cover]]))
    return found


def covered(world: Any, allowed: Callable[[Any, Any], bool]) -> bool:
    """Whether every change of this kind has a finite distance, and there is one."""
    found = _between(world, allowed)
    return bool(found) and all(math.isfinite(d) for d in found)


def bare(world: Any, allowed: Callable[[Any, Any], bool]) -> bool:
    """Whether no change of this kind has a finite distance, and there is one."""
    found = _between(world, allowed)
    return bool(found) and not any(math.isfinite(d) for d in found)


def people_public(world: Any) -> bool:
    """Whether tables with other numbers of people are at no finite distance, or there are none."""
    return None not in world.records or bare(world, lambda r, s: (r is None) != (s is None))


def register(claims: Claims) -> None:
    """Register the words of all notions."""
    says = claims.says
    for definition in (
        r"Pr\[(answer|report) \|.*",
        r"This promise holds for all answers to this question together, and for anything concluded from them\. It limits how much the chance of any answer depends on what is protected: (?P<definition>Pr\[.*), with ε = (?P<epsilon>[\w/]+)" + READ + r"\.?",
    ):  # fmt: skip

        @says(definition)
        def _(world: Any, definition: str = "", epsilon: str = "", factor: str | None = None) -> bool:
            return not definition or (
                private(world, definition, number(epsilon))
                and number(epsilon) == pytest.approx(float(world.price))
                and is_factor(factor, epsilon)
            )

    @says(r"whether any one person is in the data, and everything about them")
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: True)

    @says(
        r"everything about any one person's record; the number of people is public",
        r"everything about a person's record, from whoever collects the reports as well; the number of people is public",
    )
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: r is not None and s is not None) and people_public(world)

    @says(
        r"that any one person is in the data, and everything about them, where they are in it(?P<own>, each person up to an ε of their own)?"
    )
    def _(world: Any, own: str | None) -> bool:
        return covered(world, lambda r, s: s is None) and (len(set(world.own)) > 1) == bool(own)

    @says(r"that any one person is missing from the data")
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: r is None)

    @says(
        r"that any one person is in the data, and everything about them, where they are in it; and that any one person is missing from the data"
    )
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: (r is None) != (s is None))

    @says(
        r"everything about any one person's record; and that any one person is in the data, and everything about them, where they are in it"
    )
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: r is not None) and not people_public(world)

    @says(r"that any one person was at a listed place")
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: facts(s) < facts(r))

    @says(
        r"(?P<sides>that (a person|a single fact) (was|is)( not)? (at a listed place|in the data), up to ε_(presence|absence).*)"
    )
    def _(world: Any, sides: str) -> bool:
        rates = {"presence": world.notion.presence, "absence": world.notion.absence}
        told = dict.fromkeys(re.findall(r"ε_(presence|absence)", sides))
        right = all(("not" in part) == ("absence" in part) for part in sides.split("; "))
        ways = {"presence": lambda r, s: facts(s) < facts(r), "absence": lambda r, s: facts(r) < facts(s)}
        return right and all((covered if name in told else bare)(world, ways[name]) for name in rates)

    @says(
        r"everything about a person except which of (?P<name>.+) hold for their record; the number of people is public"
    )
    def _(world: Any, name: str) -> bool:
        return name == "was at a, was at b" and covered(world, world.keeps) and people_public(world)

    @says(r"everything about a sensitive record; the number of people is public")
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: None not in (r, s) and world.sensitive(r)) and people_public(world)

    @says(r"that a record is sensitive; the number of people is public")
    def _(world: Any) -> bool:
        return covered(
            world, lambda r, s: None not in (r, s) and world.sensitive(r) and not world.sensitive(s)
        ) and people_public(world)

    @says(r"everything about a whole group, however its members resemble each other; the number of people is public")
    def _(world: Any) -> bool:
        return covered(world, lambda r, s: None not in (r, s)) and people_public(world)

    @says(
        r"the accuracy of a value: that it is this one, and not another nearby(?P<public>; the number of people with a value is public)?"
    )
    def _(world: Any, public: str | None) -> bool:
        near = covered(world, lambda r, s: None not in (r, s))
        return near and (people_public(world) if public else covered(world, lambda r, s: True))

    # ---- what is not protected

    @says(r"(Not protected: )?that a person is not in the data may be concluded with certainty")
    def _(world: Any) -> bool:
        return bare(world, lambda r, s: r is None)

    @says(
        r"(Not protected: )?only what both of these say: whether a person is in the data may be concluded with certainty; that"
        r" a person is not in the data may be concluded with certainty"
    )
    def _(world: Any) -> bool:
        return bare(world, lambda r, s: r is None) and covered(world, lambda r, s: r is not None)

    @says(
        r"(Not protected: )?that a person is in the data, and what their records say, may be concluded with certainty"
    )
    def _(world: Any) -> bool:
        return bare(world, lambda r, s: r is not None)

    @says(
        r"(Not protected: )?that a person was not at a listed place may be concluded with certainty; so, to someone who knows that a"
        r" person was at one of several listed places, may which one it was"
    )
    def _(world: Any) -> bool:
        return bare(world, lambda r, s: not facts(s) <= facts(r))

    @says(
        r"(Not protected: )?that (a person|a single fact) (was|is) (?P<no>not )?(at a listed place|in the data) may be concluded with certainty"
    )
    def _(world: Any, no: str | None) -> bool:
        if not hasattr(world.notion, "presence"):
            return True  # said of another notion, with a predicate of its own
        return bare(world, (lambda r, s: facts(r) < facts(s)) if no else (lambda r, s: facts(s) < facts(r)))

    @says(r"(Not protected: )?that one of (?P<name>.+) holds for a person's record may be concluded with certainty")
    def _(world: Any, name: str) -> bool:
        return bare(world, lambda r, s: None not in (r, s) and not world.keeps(r, s))

    @says(r"(Not protected: )?everything about a person whose record is not sensitive may be concluded with certainty")
    def _(world: Any) -> bool:
        return bare(world, lambda r, s: r is not None and not world.sensitive(r))

    # ---- covers

    says(r"the same data with or without that person")(
        lambda world: covered(world, lambda r, s: (r is None) != (s is None))
    )
    says(r"the same data with any other record in its place", r"any other record")(
        lambda world: covered(
            world, lambda r, s: None not in (r, s) and (not hasattr(world.notion, "sensitive") or world.sensitive(r))
        )
    )
    says(r"the same data with that person's record changed in any way, or gone")(
        lambda world: covered(world, lambda r, s: r is not None)
    )
    says(r"the same data without that person(?P<also>, or the same data with that person added)?")(
        lambda world, also: (
            covered(world, lambda r, s: s is None) and (not also or covered(world, lambda r, s: r is None))
        )
    )
    says(r"the same data with any other record in its place, or the same data without that person")(
        lambda world: covered(world, lambda r, s: r is not None)
    )
    says(r"the same data with that person added")(lambda world: covered(world, lambda r, s: r is None))
    says(r"having been at no listed place \(not: having been at another one\)")(
        lambda world: (
            covered(world, lambda r, s: bool(facts(r)) and not facts(s))
            and bare(world, lambda r, s: bool(facts(s) - facts(r)))
        )
    )
    says(r"any other facts about that person")(
        lambda world: (
            math.isfinite(float(world.notion.presence))
            and math.isfinite(float(world.notion.absence))
            and covered(world, lambda r, s: facts(r) != facts(s))
        )
    )
    says(r"fewer facts about that person", r"the same data without that fact")(
        lambda world: (
            covered(world, lambda r, s: facts(s) < facts(r)) and bare(world, lambda r, s: bool(facts(s) - facts(r)))
        )
    )
    says(r"more facts about that person", r"the same data with one more fact")(
        lambda world: (
            covered(world, lambda r, s: facts(r) < facts(s)) and bare(world, lambda r, s: bool(facts(r) - facts(s)))
        )
    )
    says(r"the same data without that fact, or with one more")(
        lambda world: covered(world, lambda r, s: len(facts(r) ^ facts(s)) == 1)
    )
    says(r"a record for which at least the same policies hold")(
        lambda world: covered(world, lambda r, s: None not in (r, s) and world.keeps(r, s))
    )
    says(r"any record that is not sensitive")(
        lambda world: covered(world, lambda r, s: None not in (r, s) and world.sensitive(r) and not world.sensitive(s))
    )
    says(r"the same data with any other records for that group")(
        lambda world: covered(world, lambda r, s: None not in (r, s))
    )

    @says(r"a value (?P<unit>\S+)( \S+)? away at a factor of e\^ε, twice as far at e\^2ε, and so on")
    def _(world: Any, unit: str) -> bool:
        tables, size = list(world.tables), number(unit)
        place = {table: i for i, table in enumerate(tables)}
        epsilon = float(world.notion.epsilon)
        one = [
            (x, y) for x, y in itertools.permutations(tables, 2) if sum(r != s for r, s in zip(x, y, strict=True)) == 1
        ]
        plain = [
            (x, y)
            for x, y in one
            if all(
                None not in pair and pair[0][0] == pair[1][0] for pair in zip(x, y, strict=True) if pair[0] != pair[1]
            )
        ]
        return bool(plain) and all(
            abs(
                distance(world)[place[x], place[y]]
                - epsilon * sum(world.apart(r, s) for r, s in zip(x, y, strict=True)) / size
            )
            < 1e-9
            for x, y in plain
        )
