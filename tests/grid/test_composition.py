"""Several answers, about the same data or about parts of it: no rule charges less than what all pairs of secrets cost.

Parts are cut by person, by what records say, or fact by fact. What part i sees of a table is the table with everything of
the other parts taken out of it. Two kinds of promise are composed: one kept between tables of a part alone
(`leeward.notion.compose.parallel`), and one kept between whole tables by an answer that looks at its part only
(`leeward.accounting.parallel`): the steps that leave the part alone cost such an answer nothing.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.grid.notions import BASES, BOTH, BY_NAME, OTHER_UNITS, PERSONALISED, Row
from tests.grid.test_prices import FEW, GRAPHS, whole
from tests.oracle import universe
from tests.oracle.universe import Matrix

from leeward.accounting import parallel as parallel_sum
from leeward.accounting import parts_touched
from leeward.errors import InputError, NotPrivateError
from leeward.notion import (
    ADP,
    CHANGES,
    OSDP,
    AdditionOnly,
    BoundedDP,
    GroupDP,
    Notion,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    has,
)
from leeward.notion.compose import group_price, parallel, people_touched, sequential
from leeward.notion.convert import (
    adp_to_osdp,
    bounded_to_adp,
    narrower_reading,
    one_sided_to_unbounded,
    replace_to_unbounded,
    unbounded_to_adp,
    unbounded_to_bounded,
    unbounded_to_one_sided,
    unbounded_to_replace,
)

ROWS = [*BASES, *OTHER_UNITS, *PERSONALISED, *BOTH[::3]]
FACTORS = (Fraction(3, 2), Fraction(1), Fraction(1, 2))
PARTS = len(FACTORS)
TABLES = [row for row in ROWS if row.kinds != frozenset({"graphs"})]


def by_person(table: tuple[Any, ...], part: int) -> tuple[Any, ...]:
    return tuple(record if person % PARTS == part else None for person, record in enumerate(table))


def by_record(table: tuple[Any, ...], part: int) -> tuple[Any, ...]:
    return tuple(record if record is not None and _place(record) == part else None for record in table)


def _place(record: Any) -> int:
    """In which part a record is: by the first letter or number in it."""
    if isinstance(record, frozenset):
        return sum(ord(fact) for fact in record) % PARTS
    return (ord(record) if isinstance(record, str) else getattr(record, "x", record)) % PARTS


def by_fact(table: tuple[Any, ...], part: int) -> tuple[Any, ...]:
    return tuple(frozenset(fact for fact in record or () if ord(fact) % PARTS == part) or None for record in table)


Cut = Callable[[Any, int], Any]


@functools.lru_cache(maxsize=256)
def secrets_of(row: Row, kind: str) -> tuple[Any, ...]:
    if kind == "graphs":
        return tuple(GRAPHS)
    few = [r for r in FEW[3][kind] if r is None or row.listed is None or r in row.listed]
    return tuple(universe.all_of(few, row.persons or 2))


def costs_in_parts(row: Row, kind: str, cut: Cut) -> Matrix:
    """What the answers cost together, if each keeps its multiple of the notion between tables of its part."""
    secrets = secrets_of(row, kind)
    total = []
    for part, factor in enumerate(FACTORS):
        seen, which = universe.codes([cut(secret, part) for secret in secrets])
        every = [*seen, *(secret for secret in secrets if secret not in set(seen))]  # a way may lead over any table
        between = row.between(every)[np.ix_(which, which)]
        total.append(
            np.where(between >= universe.NEVER, universe.NEVER, between * factor.numerator // factor.denominator)
        )
    return universe.added(*total)


def costs_of_looking(row: Row, kind: str, cut: Cut) -> Matrix:
    """What they cost together, if each keeps it between whole tables and looks at its part: other steps are free."""
    secrets = secrets_of(row, kind)
    single = row.single(secrets)
    total = []
    for part, factor in enumerate(FACTORS):
        _, which = universe.codes([cut(secret, part) for secret in secrets])
        costs = single * factor.numerator // factor.denominator
        free = (which[:, None] == which[None, :]) & (single < universe.NEVER)
        total.append(universe.closed(np.where(free, 0, np.where(single >= universe.NEVER, universe.NEVER, costs))))
    return universe.added(*total)


def facts_only(row: Row) -> Iterable[str]:
    return sorted(row.kinds & {"visits"})


# ---- a promise for each part


def too_cheap(row: Row, cut: str, rule: Callable[..., Any] = parallel) -> list[str]:
    """Where the rule charges less than the parts cost together; ∞ where it refuses."""
    try:
        claimed = Fraction((rule(row.notion, FACTORS, cut=cut).epsilon / row.notion.epsilon).rational)
    except NotPrivateError:
        return []
    ways: dict[str, tuple[Cut, Iterable[str]]] = {
        "person": (by_person, sorted(row.kinds)),
        "record": (by_record, sorted(row.kinds)),
        "fact": (by_fact, facts_only(row)),
    }
    made, kinds = ways[cut]
    found = []
    for kind in kinds:
        if kind == "graphs":
            continue
        truth = universe.price(costs_in_parts(row, kind, made), row.between(secrets_of(row, kind)))
        if truth > claimed:
            found.append(f"{row.name} cut by {cut} ({kind}): {claimed} is charged, and they cost {truth}")
    return found


@pytest.mark.parametrize("row", TABLES, ids=lambda row: row.name)
@pytest.mark.parametrize("cut", ["person", "record", "fact"])
def test_parts_are_never_charged_too_little(row: Row, cut: str) -> None:
    assert too_cheap(row, cut) == []


def test_what_parts_cost_where_the_rule_is_exact() -> None:
    for row in BASES:
        assert parallel(row.notion, FACTORS, cut="person") == row.notion.scale(FACTORS[0])
    assert parallel(GroupDP("1", [[0, 1]]), ["1", "1"], cut="person") == GroupDP(2, [[0, 1]])
    groups = BY_NAME["groups"]  # the largest has two members, in two of three parts
    assert parallel(groups.notion, FACTORS, cut="person") == groups.notion.scale(Fraction(5, 2))
    truth = universe.price(costs_in_parts(groups, "words", by_person), groups.between(secrets_of(groups, "words")))
    assert truth == Fraction(5, 2)
    for name in ("one group", "maximum", "edges", "nodes"):
        assert parallel(BY_NAME[name].notion, FACTORS, cut="person") == BY_NAME[name].notion.scale(3)


@pytest.mark.parametrize("name", ["groups", "one group", "maximum"])
def test_the_largest_factor_alone_is_rejected_where_a_step_changes_several_people(name: str) -> None:
    def largest(notion: Notion, factors: Iterable[Fraction], *, cut: str) -> Notion:
        return notion.scale(max(factors))

    assert too_cheap(BY_NAME[name], "person", largest)


@pytest.mark.parametrize("name", ["bounded", "replace", "presence", "adp, not at a", "manhattan", "local"])
def test_the_largest_factor_is_rejected_where_a_replacement_leaves_a_part(name: str) -> None:
    def largest(notion: Notion, factors: Iterable[Fraction], *, cut: str) -> Notion:
        return notion.scale(max(factors))

    assert too_cheap(BY_NAME[name], "record", largest)
    with pytest.raises(NotPrivateError, match="two parts"):
        parallel(BY_NAME[name].notion, FACTORS, cut="record")


# ---- a promise for the whole, by answers that look at parts


def spread(row: Row, kind: str, cut: Cut) -> int:
    """m: in how many parts one unit of the notion has data at most."""
    units = row.notion.groups if isinstance(row.notion, GroupDP) else [(p,) for p in range(row.persons or 2)]
    nothing = (None, frozenset())
    return max(
        sum(any(cut(secret, part)[p] not in nothing for p in unit) for part in range(PARTS))
        for secret in secrets_of(row, kind)
        for unit in units
    )


def too_cheap_for_the_whole(row: Row, touched: Callable[..., int | None] = parts_touched) -> list[str]:
    found = []
    for kind in sorted(row.kinds - {"members"}):  # of members without facts it is public that they are there
        for cut, made in (("people", by_person), ("records", by_fact if kind == "visits" else by_record)):
            m = 1 if cut == "people" else max(1, spread(row, kind, made))
            claimed = parallel_sum(FACTORS, touched(row.notion, cut=cut, parts_per_unit=m)).rational
            truth = universe.price(costs_of_looking(row, kind, made), row.between(secrets_of(row, kind)))
            assert claimed is not None
            if truth > claimed:
                found.append(f"{row.name} cut by {cut} ({kind}): {claimed} is charged, and they cost {truth}")
    return found


@pytest.mark.parametrize("row", TABLES, ids=lambda row: row.name)
def test_answers_that_look_at_parts_are_never_charged_too_little(row: Row) -> None:
    assert too_cheap_for_the_whole(row) == []


@pytest.mark.parametrize("name", ["groups", "one group", "maximum", "replace", "bounded", "graded"])
def test_one_part_a_step_is_rejected(name: str) -> None:
    assert too_cheap_for_the_whole(BY_NAME[name], lambda notion, *, cut, parts_per_unit: 1)


def test_edges_lie_in_one_part_each_and_a_node_in_several() -> None:
    """Parts of a graph: the edges of each are its own."""

    def part_of(graph: frozenset[Any], part: int) -> frozenset[Any]:
        return frozenset(edge for edge in graph if sum(map(ord, edge)) % PARTS == part)

    for name, most in (("edges", 1), ("nodes", PARTS)):
        row = BY_NAME[name]
        claimed = parallel_sum(FACTORS, parts_touched(row.notion, cut="records", parts_per_unit=most)).rational
        truth = universe.price(costs_of_looking(row, "graphs", part_of), row.between(GRAPHS))
        assert claimed is not None
        assert truth <= claimed
        assert people_touched(row.notion) is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda: parallel_sum(["1"], 0),
        lambda: parallel_sum(["1"], -1),
        lambda: parallel_sum(["1"], True),
        lambda: parallel_sum(["1", "-1"], 1),
        lambda: parallel(UnboundedDP(1), [], cut="person"),
        lambda: parallel(UnboundedDP(1), ["0"], cut="person"),
        lambda: parts_touched(UnboundedDP(1), cut="people", parts_per_unit=True),
        lambda: group_price(UnboundedDP(1), CHANGES[0], True),
    ],
)
def test_what_counts_nothing_is_refused(ask: Callable[[], Any]) -> None:
    with pytest.raises(InputError):
        ask()


# ---- two answers about the same data


@pytest.mark.parametrize("row", BASES, ids=lambda row: row.name)
def test_two_answers_cost_the_sum(row: Row) -> None:
    for other in BASES:
        for kind in sorted(row.kinds & other.kinds):
            known = [r for r in FEW[3][kind] if all(x.listed is None or r in x.listed for x in (row, other))]
            secrets = universe.all_of(known, 1)
            over_nobody = universe.all_of([*known, None] if None not in known else known, 1)
            at = np.ix_(*[[over_nobody.index(secret) for secret in secrets]] * 2)
            right = universe.added(row.between(over_nobody)[at], other.between(over_nobody)[at])
            made = sequential(row.notion, other.notion).on(secrets)
            assert (np.array([whole(value) for value in made.values])[made.codes] == right).all(), (other.name, kind)


# ---- a group of people


@pytest.mark.parametrize("row", [row for row in BASES if row.kinds >= {"words"}], ids=lambda row: row.name)
def test_a_group_costs_no_more_than_its_price(row: Row) -> None:
    secrets = secrets_of(row, "words")
    distances = row.between(secrets)
    for change in CHANGES:
        if change.of_facts:
            continue
        for i, j in itertools.permutations(range(len(secrets)), 2):
            moved = [(b, a) for b, a in zip(secrets[i], secrets[j], strict=True) if b != a]
            if all(change.allows(b, a) for b, a in moved):
                assert distances[i, j] <= whole(group_price(row.notion, change, len(moved)))


# ---- the conversions that have names


def test_named_conversions_are_covered_by_the_prices() -> None:
    away = [~has("a"), ~has("b")]
    bounded, unbounded, replace = BoundedDP("1/3"), UnboundedDP("1/3"), ReplaceDP("1/3")
    addition, removal = unbounded_to_one_sided(unbounded)
    adp = ADP("1/3", away[:1])
    pairs: list[tuple[Notion, Notion]] = [
        (bounded, bounded_to_adp(bounded, away)),
        (unbounded, unbounded_to_adp(unbounded, away)),
        (unbounded, unbounded_to_bounded(unbounded)),
        (unbounded, unbounded_to_replace(unbounded)),
        (replace, replace_to_unbounded(replace)),
        (unbounded, addition),
        (unbounded, removal),
        (adp, adp_to_osdp(adp)),
        (OSDP("1/3", has("a")), narrower_reading(OSDP("1/3", has("a")))),
    ]
    for given, promised in pairs:
        assert given.price_in(promised) == 1, (given, promised)
    once = AdditionOnly(1)._both(RemovalOnly(2))
    assert once.price_in(one_sided_to_unbounded(AdditionOnly(1), RemovalOnly(2))) == 1
