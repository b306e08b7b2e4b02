"""Every public notion beside its definition: what the package says it is, and the steps that the papers say it has.

A `Row` is a notion and, for each kind of record on which it is defined, the costs of one neighbouring step in
`tests.oracle.universe`. The two are written apart, and nothing here is computed from the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.oracle import tables, universe
from tests.oracle.universe import Matrix
from tests.oracle.universe import Row as Record

from leeward.distance import FiniteDistance, both_hold
from leeward.exact import inf
from leeward.notion import (
    ADP,
    OSDP,
    ULDP,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    ContextAwareLDP,
    EdgeDP,
    Graded,
    GradedFacts,
    GroupDP,
    InputDiscriminativeLDP,
    LocalDP,
    Manhattan,
    Maximum,
    NodeDP,
    NormalisedManhattan,
    Notion,
    Personalised,
    Presence,
    RecordDistance,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    has,
    where,
)

Steps = tables.Steps

WORDS = ("s", "t", "n")
FACTS = "abcde"
"""a and b are named by policies; three others stand for all the rest."""

RECORDS: dict[str, Sequence[Any]] = {
    "words": [None, *WORDS],
    "visits": [None, *universe.subsets(FACTS)[1:]],
    "members": [None, *universe.subsets("abc")],
    "numbers": universe.NUMBERS,
    "rows": universe.ROWS,
}
"""Opaque words, places visited (nobody has none), facts about members (who may have none), numbers, rows."""

ANYTHING = frozenset(RECORDS)
OF_FACTS = frozenset({"visits"})
OF_MEMBERS = frozenset({"visits", "members"})


@dataclass(frozen=True)
class Row:
    """A notion and its definition.

    Attributes:
        name: what it is called in the grid.
        notion: the package's.
        steps: one person's neighbouring steps, or one such function for each person; None where the unit is not a person.
        kinds: the kinds of record that it is defined on.
        tables: the neighbouring steps between whole secrets, where they are not those of one person.
        listed: all records it knows, where it lists them.
        persons: the number of persons it is about, where that is fixed.
        numbers: all numbers that it is about, where its values say so; a list of records says it by `listed`.
    """

    name: str
    notion: Any
    steps: Steps | Sequence[Steps] | None
    kinds: frozenset[str] = ANYTHING
    tables: Callable[[Any], Matrix] | None = None
    listed: frozenset[Any] | None = None
    persons: int | None = None
    parts: tuple[Row, ...] = field(default=(), repr=False)
    numbers: frozenset[Any] | None = None

    @property
    def universe(self) -> frozenset[Any] | None:
        """All records there are, as far as the notion says."""
        return self.numbers if self.listed is None else self.listed

    def single(self, secrets: Sequence[Any]) -> Matrix:
        """The costs of single steps between whole secrets."""
        if self.tables is not None:
            return self.tables(secrets)
        assert self.steps is not None
        return universe.one_person(self.steps, secrets)

    def between(self, secrets: Sequence[Any]) -> Matrix:
        """The oracle's distances between whole secrets."""
        return universe.closed(self.single(secrets))


def at(place: str) -> Callable[[Any], bool]:
    return lambda record: record is not None and place in record


def away(place: str) -> Callable[[Any], bool]:
    return lambda record: not at(place)(record)


def x_is(*values: int) -> Callable[[Any], bool]:
    return lambda record: record is not None and record.x in values


def x_is_not(*values: int) -> Callable[[Any], bool]:
    return lambda record: not x_is(*values)(record)


def among(*words: str) -> Callable[[Any], bool]:
    return lambda record: record in words


def adp(eps: Any, *policies: Callable[[Any], bool]) -> Steps:
    return tables.adp(eps, policies)


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
PATH = {("s", "t"): 1, ("t", "s"): 1, ("t", "n"): 1, ("n", "t"): 1}
BOUNDS = {("s", "t"): 1, ("t", "n"): HALF, ("n", "t"): 2, ("s", "n"): 9}
EACH = {"s": 1, "t": 3, "n": 4}
APART = [[0, 1, 3], [2, 0, 2], [math.inf, math.inf, 0]]
WITH_ABSENT = [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
ITINERARIES = [None, frozenset("a"), frozenset("c"), frozenset("ac")]
LONGER = [[0, 2, 2, 5], [1, 0, 2, 3], [1, 2, 0, 3], [2, 1, 1, 0]]
GROUPED = [(0, 1), (2,)]
OTHERWISE = [(0,), (1, 2)]
WEIGHED = ValueGrid(0, 2)


def _exactly(costs: list[list[Any]]) -> list[list[Any]]:
    return [[inf if cost == math.inf else cost for cost in row] for row in costs]


def _of(points: Sequence[Any], costs: list[list[Any]], eps: Any = 1) -> Steps:
    pairs = itertools.product(range(len(points)), repeat=2)
    return universe.listed({(points[i], points[j]): costs[i][j] * eps for i, j in pairs if i != j})


def _words(name: str, notion: Any, steps: Steps, *known: str) -> Row:
    return Row(name, notion, steps, frozenset({"words"}), listed=frozenset(known or WORDS))


def _numbers(name: str, notion: Any, steps: Steps, *known: int | None) -> Row:
    return Row(name, notion, steps, NUMBERS, listed=frozenset(known))


def _even(steps: Steps) -> Steps:
    """The steps between even numbers; of odd ones nothing is said."""
    return lambda r, s: math.inf if 1 in (r, s) else steps(r, s)


NUMBERS = frozenset({"numbers"})
ALL = frozenset(universe.NUMBERS)

BASES: list[Row] = [
    Row("unbounded", UnboundedDP(1), tables.unbounded(1)),
    Row("bounded", BoundedDP(HALF), tables.bounded(HALF)),
    Row("replace", ReplaceDP(1), tables.replace(1)),
    Row("addition", AdditionOnly(1), tables.addition_only(1)),
    Row("removal", RemovalOnly(2), tables.removal_only(2)),
    Row("local", LocalDP(2), tables.bounded(2)),
    Row("presence", Presence(1), tables.presence(1), OF_FACTS),
    Row("graded", Graded(1, 4), tables.graded(1, 4), OF_FACTS),
    Row("graded, absence only", Graded(inf, 2), tables.graded(math.inf, 2), OF_FACTS),
    Row("graded, alike", Graded(3, 3), tables.graded(3, 3), OF_FACTS),
    Row("graded facts", GradedFacts(1, 2), tables.graded_facts(1, 2), OF_FACTS),
    Row("graded facts, one way", GradedFacts(2, inf), tables.graded_facts(2, math.inf), OF_FACTS),
    Row("adp, not at a", ADP(1, [~has("a")]), adp(1, away("a")), OF_MEMBERS),
    Row("adp, not at a nor at b", ADP(2, [~has("a"), ~has("b")]), adp(2, away("a"), away("b")), OF_MEMBERS),
    Row("adp, one of two", ADP(1, [~has("a") | ~has("b")]), adp(1, lambda r: away("a")(r) or away("b")(r)), OF_MEMBERS),
    Row("adp, at a", ADP(1, has("a")), adp(1, at("a")), OF_MEMBERS),
    Row(
        "adp, not at a, absent too",
        ADP(1, [~has("a")], absent_too=True),
        universe.adp_with_absence(1, [away("a")]),
        OF_MEMBERS,
    ),
    Row(
        "adp, at a, not at b, absent too",
        ADP(1, [has("a"), ~has("b")], absent_too=True),
        universe.adp_with_absence(1, [at("a"), away("b")]),
        OF_MEMBERS,
    ),
    Row("adp of rows", ADP(1, [where("x", equals=1)]), adp(1, x_is(1)), frozenset({"rows"})),
    Row(
        "adp of rows, two policies, absent too",
        ADP(1, [~where("x", at_least=1), where("x", one_of=[0, 2])], absent_too=True),
        universe.adp_with_absence(1, [x_is_not(1, 2, 3), x_is(0, 2)]),
        frozenset({"rows"}),
    ),
    _words("adp of words", ADP(1, [among("n")], records=WORDS), adp(1, among("n"))),
    Row(
        "adp of words, absent too",
        ADP(1, [lambda record: record not in {"s", "t"}], records=WORDS, absent_too=True),
        universe.adp_with_absence(1, [lambda record: record not in {"s", "t"}]),
        frozenset({"words"}),
        listed=frozenset({None, *WORDS}),
    ),
    Row("osdp, any", OSDP(1, has("a")), tables.osdp(1, at("a"), to_any=True), OF_MEMBERS),
    Row(
        "osdp, non-sensitive",
        OSDP(HALF, has("a") | has("b"), "non-sensitive"),
        tables.osdp(HALF, lambda r: at("a")(r) or at("b")(r), to_any=False),
        OF_MEMBERS,
    ),
    Row("osdp of rows", OSDP(1, where("x", equals=1)), tables.osdp(1, x_is(1), to_any=True), frozenset({"rows"})),
    Row(
        "osdp of rows, non-sensitive",
        OSDP(1, where("x", at_most=1), "non-sensitive"),
        tables.osdp(1, x_is(0, 1), to_any=False),
        frozenset({"rows"}),
    ),
    Row("uldp", ULDP(1, has("a")), tables.osdp(1, at("a"), to_any=True), OF_MEMBERS),
    _words("uldp of words", ULDP(1, among("s", "t"), records=WORDS), tables.osdp(1, among("s", "t"), to_any=True)),
    _words("blowfish", Blowfish(1, WORDS, [("s", "t"), ("t", "n")]), universe.listed(PATH)),
    Row(
        "blowfish, absent too",
        Blowfish(2, [None, *WORDS], [("s", None), ("t", "n")]),
        universe.listed(dict.fromkeys([("s", None), (None, "s"), ("t", "n"), ("n", "t")], 2)),
        frozenset({"words"}),
        listed=frozenset({None, *WORDS}),
    ),
    _words("record distance", RecordDistance(1, FiniteDistance(WORDS, _exactly(APART))), _of(WORDS, APART)),
    Row(
        "record distance, absent too, with a zero",
        RecordDistance(HALF, FiniteDistance(["s", "t", None], WITH_ABSENT)),
        _of(["s", "t", None], WITH_ABSENT, HALF),
        frozenset({"words"}),
        listed=frozenset({"s", "t", None}),
    ),
    _words(
        "record distance of two",
        RecordDistance(1, FiniteDistance("st", [[0, 2], [1, 0]])),
        universe.listed({("s", "t"): 2, ("t", "s"): 1}),
        "s",
        "t",
    ),
    _words("context-aware", ContextAwareLDP(1, WORDS, BOUNDS), universe.listed(BOUNDS)),  # type: ignore[arg-type]
    _words(
        "input-discriminative",
        InputDiscriminativeLDP(EACH),
        universe.listed({(x, y): min(EACH[x], EACH[y]) for x, y in itertools.permutations(EACH, 2)}),
    ),
    Row(
        "record distance of visits",
        RecordDistance(1, FiniteDistance(ITINERARIES, _exactly(LONGER))),
        _of(ITINERARIES, LONGER),
        OF_MEMBERS,
        listed=frozenset(ITINERARIES),
    ),
    Row("manhattan", Manhattan(1, WEIGHED), universe.manhattan(1, 2), NUMBERS, numbers=ALL),
    Row(
        "manhattan, people public",
        Manhattan(1, WEIGHED, unit=2, nobody=False),
        universe.manhattan(HALF, None),
        NUMBERS,
        numbers=ALL - {None},
    ),
    Row(
        "normalised manhattan",
        NormalisedManhattan(3, WEIGHED),
        universe.manhattan(Fraction(3, 2), 2),
        NUMBERS,
        numbers=ALL,
    ),
    _numbers(
        "manhattan of even numbers", Manhattan(1, ValueGrid(0, 2, 2)), _even(universe.manhattan(1, 2)), None, 0, 2
    ),
    _numbers("blowfish of numbers", Blowfish(1, (0, 1, 2), [(0, 1), (1, 2)]), universe.manhattan(1, None), 0, 1, 2),
    _numbers(
        "record distance of even numbers",
        RecordDistance(1, FiniteDistance((0, 2), [[0, 2], [1, 0]])),
        _of((0, 2), [[0, 2], [1, 0]]),
        *(0, 2),
    ),
]
"""The notions whose unit is a person, each with an ε of its own."""


def _largest(steps: Steps) -> Callable[[Any], Matrix]:
    return lambda secrets: universe.everybody(steps, secrets)


def _grouped(eps: Any, groups: Any) -> Callable[[Any], Matrix]:
    return lambda secrets: universe.one_group(eps, groups, secrets)


OTHER_UNITS: list[Row] = [
    Row("maximum", Maximum(1, WEIGHED), None, NUMBERS, _largest(universe.manhattan(1, 2)), numbers=ALL),
    Row(
        "maximum, people public",
        Maximum(2, WEIGHED, nobody=False),
        None,
        NUMBERS,
        _largest(universe.manhattan(2, None)),
        numbers=ALL - {None},
    ),
    Row("groups", GroupDP(1, GROUPED), None, ANYTHING, _grouped(1, GROUPED), persons=3),
    Row("groups, cut otherwise", GroupDP(HALF, OTHERWISE), None, ANYTHING, _grouped(HALF, OTHERWISE), persons=3),
    Row("one group", GroupDP(1, [(0, 1, 2)]), None, ANYTHING, _grouped(1, [(0, 1, 2)]), persons=3),
    Row("groups of one", GroupDP(2, [(0,), (1,), (2,)]), None, ANYTHING, _grouped(2, [(0,), (1,), (2,)]), persons=3),
    Row("edges", EdgeDP(1, nodes=4), None, frozenset({"graphs"}), lambda graphs: universe.one_edge(1, graphs)),
    Row("nodes", NodeDP(2), None, frozenset({"graphs"}), lambda graphs: universe.one_node(2, graphs)),
]  # fmt: skip

BY_NAME = {row.name: row for row in [*BASES, *OTHER_UNITS]}


def personalised(row: Row, *epsilons: Any) -> Row:
    """A base in which each person has an ε of their own."""
    assert row.steps is not None
    assert callable(row.steps)
    each = tuple(universe.times(Fraction(eps) / row.notion.epsilon.rational, row.steps) for eps in epsilons)
    name = f"{row.name}, at {' and '.join(map(str, epsilons))}"
    made = Personalised(row.notion, epsilons)
    return Row(name, made, each, row.kinds, listed=row.listed, persons=len(epsilons), numbers=row.numbers)


def both(one: Row, two: Row) -> Row | None:
    """One output that keeps two promises; None where they are about no records in common."""
    kinds = one.kinds & two.kinds
    if not kinds:
        return None
    assert callable(one.steps)
    assert callable(two.steps)
    listed = one.listed if two.listed is None else two.listed if one.listed is None else one.listed & two.listed
    steps = universe.either(one.steps, two.steps)
    numbers = one.numbers if two.numbers is None else two.numbers
    name, made = f"{one.name}; and {two.name}", both_hold(one.notion, two.notion)
    return Row(name, made, steps, kinds, listed=listed, parts=(one, two), numbers=numbers)


def scaled(row: Row, factor: Any) -> Row:
    """A multiple of a promise."""
    assert callable(row.steps)
    return Row(
        f"{factor} × {row.name}",
        row.notion.scale(factor),
        universe.times(Fraction(factor), row.steps),
        row.kinds,
        listed=row.listed,
        numbers=row.numbers,
    )


PERSONALISED = [personalised(row, 1, Fraction(1, 10)) for row in BASES]
SCALED = [scaled(row, Fraction(3, 2)) for row in BASES]
_TWICE = [
    *("unbounded", "bounded", "addition", "removal", "presence", "graded", "graded facts", "graded facts, one way"),
    *("adp, not at a", "adp, at a, not at b, absent too", "osdp, any", "osdp, non-sensitive"),
    *("adp of rows", "osdp of rows", "manhattan", "manhattan, people public", "normalised manhattan"),
    *("manhattan of even numbers", "blowfish of numbers", "record distance of even numbers"),
    *("adp of words", "record distance", "record distance of two", "blowfish, absent too", "context-aware"),
]


def _pairs() -> Iterator[Row]:
    for one, two in itertools.combinations(_TWICE, 2):
        made = both(BY_NAME[one], BY_NAME[two])
        if made is not None:
            yield made
    wider = Row("adp of rows, wider", ADP(1, [where("x", one_of=[1, 2])]), adp(1, x_is(1, 2)), frozenset({"rows"}))
    meets = both(BY_NAME["adp of rows"], wider)  # from 1 the second leads to 2, and from there the first to 0
    assert meets is not None
    yield meets


BOTH = [row for row in _pairs() if isinstance(row.notion, Notion)]

ROWS = [*BASES, *OTHER_UNITS, *PERSONALISED, *SCALED, *BOTH]

__all__ = [
    "BASES",
    "BOTH",
    "OTHER_UNITS",
    "PERSONALISED",
    "RECORDS",
    "ROWS",
    "SCALED",
    "Record",
    "Row",
    "both",
    "scaled",
]
