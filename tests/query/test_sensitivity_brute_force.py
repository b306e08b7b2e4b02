"""Derived noise rates against brute force: allowed on every pair of tables, and no larger ones would be."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle import tables as oracle

from leeward.errors import NotPrivateError
from leeward.exact import Real, inf
from leeward.notion import (
    ADP,
    OSDP,
    WITHDRAW,
    AdditionOnly,
    BoundedDP,
    Change,
    Graded,
    GradedFacts,
    Notion,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    has,
    where,
)
from leeward.query import (
    CountWhere,
    Domain,
    Effect,
    Histogram,
    Linear,
    SumOf,
    SumOverPeople,
    count_visitors,
    places,
    sensitivity,
    sensitivity_each,
    sensitivity_lines,
    visits,
)

Answer = Callable[[Any], Sequence[int]]
"""What one person adds, written without the library."""


def plain(rate: Real) -> Any:
    return math.inf if rate.is_infinite else rate.rational


def added_up(value: Answer) -> Callable[[Sequence[Any]], tuple[int, ...]]:
    return lambda table: tuple(map(sum, zip(*map(value, table), strict=True)))


# ---- random cases. Everything is drawn twice: for the library, and as plain functions for the brute force.


def draw_epsilon(rng: random.Random) -> Fraction | int:
    """Mostly whole, for the sake of time."""
    return rng.randint(1, 9) if rng.random() < 0.8 else Fraction(rng.randint(1, 9), rng.randint(2, 7))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | Decimal)


ONES = [-1, 0, 1, 2, 3, 0.5, "w", Decimal("1.5")]
"""Values that conditions on x name."""


def draw_condition(rng: random.Random) -> tuple[Any, Callable[[Any], bool]]:
    """A condition on rows with a number x (or a word, or nothing) and a word y."""
    kind = rng.randrange(9)
    if kind in {0, 6}:
        value, is_not = rng.choice("abc"), kind == 6
        atom = where("y", equals=value)
        return (~atom if is_not else atom), lambda r: (r is not None and r[1] == value) != is_not
    if kind == 1:
        low = rng.randrange(3)
        return where("x", at_least=low), lambda r: r is not None and is_number(r[0]) and r[0] >= low
    if kind == 2:
        low, high = rng.randrange(2), rng.randrange(1, 3)
        return where(
            "x", at_least=low, at_most=high
        ), lambda r: r is not None and is_number(r[0]) and low <= r[0] <= high
    if kind == 7:
        several = rng.sample(ONES, rng.randint(1, 3))
        return where("x", one_of=several), lambda r: r is not None and r[0] in several
    if kind == 8:
        high = rng.randrange(-1, 3)
        return where("x", at_most=high), lambda r: r is not None and is_number(r[0]) and r[0] <= high
    one, one_plain = draw_condition(rng)
    if kind == 3:
        return ~one, lambda r: not one_plain(r)
    two, two_plain = draw_condition(rng)
    if kind == 4:
        return one & two, lambda r: one_plain(r) and two_plain(r)
    return one | two, lambda r: one_plain(r) or two_plain(r)


def draw_column(rng: random.Random) -> tuple[Any, list[Any]]:
    """What is declared of x (None for nothing), and everything that it can hold as far as any condition here can tell."""
    kind = rng.random()
    if kind < 0.6:
        known = range(rng.randint(0, 1), rng.randint(2, 3) + 1)
    elif kind < 0.8:
        known = range(rng.randint(-3, 1), rng.randint(2, 5), rng.randint(2, 3))
        known = known[::-1] if rng.random() < 0.3 else known
    elif kind < 0.99:
        several = rng.sample([*ONES, 4, -7, 2.5, None, "v"], rng.randint(2, 4))
        return several, several
    else:
        return None, [None, "v", "w", -9, 9, 1.5, *(low + half for low in range(-3, 5) for half in (0, 0.5))]
    return known, list(known)


class Row(tuple):  # type: ignore[type-arg]
    """A row (x, y), for the library and the brute force alike."""

    x = property(lambda self: self[0])
    y = property(lambda self: self[1])


SUM = 0
"""The kind of query that adds x up: then x holds whole numbers, words or nothing."""


def draw_row_query(rng: random.Random, declared: Domain, kind: int) -> tuple[SumOverPeople, Answer]:
    if kind == SUM:
        low, high = sorted(rng.sample(range(-1, 4), 2))
        among, among_plain = draw_condition(rng) if rng.random() < 0.5 else (None, lambda r: True)

        def total(r: Any) -> Sequence[int]:
            if r is None or not among_plain(r):
                return (0,)
            return (max(low, min(high, r[0] if isinstance(r[0], int) else 0)),)

        return SumOf("x", low, high, among, declared), total
    if kind == 1:
        place = rng.randrange(2)
        bins = tuple(rng.sample(["abc", ONES][1 - place], rng.randint(1, 3)))
        return Histogram("xy"[place], bins, declared), lambda r: [int(r is not None and r[place] == v) for v in bins]
    drawn = [draw_condition(rng) for _ in range(rng.randint(1, 3))]
    conditions, tests = tuple(c for c, _ in drawn), [t for _, t in drawn]
    if kind == 2:
        weights = tuple(tuple(rng.randint(-2, 2) for _ in drawn) for _ in range(rng.randint(1, 2)))
        return Linear(conditions, weights, declared), lambda r: [
            sum(w for w, t in zip(row, tests, strict=True) if r is not None and t(r)) for row in weights
        ]
    return CountWhere(conditions, declared), lambda r: [int(r is not None and t(r)) for t in tests]


def draw_row_case(rng: random.Random) -> tuple[Notion, oracle.Steps, SumOverPeople, Answer, list[Any]]:
    eps, kind = draw_epsilon(rng), rng.randrange(4)
    while True:
        known, xs = draw_column(rng)
        if kind != SUM or all(x is None or isinstance(x, int | str) for x in xs):
            break
        if known is None:
            xs = [x for x in xs if x is None or isinstance(x, int | str)]
            break
    words = ["a", "z", None] if known is None or len(xs) > 4 else ["a", "b", "c"][: rng.choice([1, 2, 2, 3])]
    ys: list[Any] = list(words)
    declared = Domain({"y": ys} if known is None else {"x": known, "y": ys})
    if known is not None and len(xs) < 3 and rng.random() < 0.1:
        declared, ys = Domain({"x": known}), ["a", "b", "c", "z", None]  # y is not declared
    if known is None or rng.random() < 0.5:
        query, answer = draw_row_query(rng, declared, kind)
    else:  # the same facts, given as a list of all records
        listed = tuple(Row(r) for r in itertools.product(xs, ys))
        query, answer = draw_row_query(rng, Domain(records=(*listed, None)), kind)
    records = [*(Row(r) for r in itertools.product(xs, ys)), None]
    drawn = [draw_condition(rng) for _ in range(rng.randint(1, 3))]
    (c, t), policies, tests = drawn[0], [c for c, _ in drawn], [t for _, t in drawn]
    steps: oracle.Steps
    notion, steps = rng.choice(
        [
            lambda: (BoundedDP(eps), oracle.bounded(eps)),
            lambda: (UnboundedDP(eps), oracle.unbounded(eps)),
            lambda: (ReplaceDP(eps), oracle.replace(eps)),
            lambda: (AdditionOnly(eps), oracle.addition_only(eps)),
            lambda: (RemovalOnly(eps), oracle.removal_only(eps)),
            lambda: (ADP(eps, policies), oracle.adp(eps, tests)),
            lambda: (ADP(eps, policies), oracle.adp(eps, tests)),
            lambda: (
                ADP(eps, policies, absent_too=True),
                lambda r, s: eps if all(q(s) or not q(r) for q in tests) else math.inf,
            ),
            lambda: (OSDP(eps, c), oracle.osdp(eps, t, to_any=True)),
            lambda: (OSDP(eps, c, "non-sensitive"), oracle.osdp(eps, t, to_any=False)),
        ]
    )()
    return notion, steps, query, answer, records


IN, OUT = "2020-01-01T12:00", "2020-01-02T12:00"


def draw_fact_case(rng: random.Random) -> tuple[Notion, oracle.Steps, Any, Answer, list[Any], bool]:
    """A pipeline of filter (window), map (visit to place), bound and count; a fact is a visit (place, when)."""
    eps, other = draw_epsilon(rng), draw_epsilon(rng)
    pool = [("a", IN), ("b", IN), ("c", IN), ("a", OUT), ("z", IN)]
    made = rng.sample(pool, rng.randint(2, 3))
    listed = [p for p in "abc" if (p, IN) in made]
    k = rng.choice([None, 1, 1, 2]) if listed else None
    if_more = "refuse" if k is None else rng.choice(["refuse", "refuse", "latest", "earliest"])

    def kept(record: Any) -> list[str]:
        seen = {place for place, when in record or () if when == IN}
        return [place for place in "abc" if place in seen][: k if if_more != "refuse" else None]

    sets = [frozenset(s) for size in range(len(made) + 1) for s in itertools.combinations(made, size)]
    if k is not None and if_more == "refuse":
        sets = [s for s in sets if len(kept(s)) <= k]
    query: Any
    if rng.random() < 0.7:
        query = count_visitors(
            visits("v", person="p", place="q", time="t"),
            places("l", place="q"),
            start="2020-01-01",
            end="2020-01-02",
            places_per_person=k,
            if_more=if_more,  # type: ignore[arg-type]
        )
        claims_maximum = k is not None
        answer: Answer = lambda r: [int(p in kept(r)) for p in "abc"]  # noqa: E731
    else:  # conditions on facts, at most k facts in all
        k, if_more = rng.choice([None, 1, 2]), "refuse"
        sets = [frozenset(s) for size in range(len(made) + 1) for s in itertools.combinations(made, size)]
        sets = [s for s in sets if k is None or len(s) <= k]
        one, two = rng.choice(made), rng.choice(made)
        asked = [(has(one), lambda s: one in s), (has(one) & has(two), lambda s: one in s and two in s)]
        asked += [(has(one) & ~has(two), lambda s: one in s and two not in s), (has(two), lambda s: two in s)]
        chosen = rng.sample(asked, rng.randint(1, 3))
        tests = [t for _, t in chosen]
        query = CountWhere(tuple(c for c, _ in chosen), Domain(facts_per_person=k))
        answer = lambda r: [int(t(r or frozenset())) for t in tests]  # noqa: E731
        claims_maximum = True
    notion, steps = rng.choice(
        [
            lambda: (Presence(eps), oracle.presence(eps)),
            lambda: (Graded(eps, other), oracle.graded(eps, other)),
            lambda: (Graded(inf, other), oracle.graded(math.inf, other)),
            lambda: (GradedFacts(eps, other), oracle.graded_facts(eps, other)),
            lambda: (GradedFacts(eps, inf), oracle.graded_facts(eps, math.inf)),
            lambda: (AdditionOnly(eps), oracle.addition_only(eps)),
            lambda: (RemovalOnly(eps), oracle.removal_only(eps)),
            lambda: (UnboundedDP(eps), oracle.unbounded(eps)),
            lambda: (BoundedDP(eps), oracle.bounded(eps)),
        ]
    )()
    if claims_maximum and not isinstance(query, CountWhere):  # k is reached only where there are enough places
        both_ways = isinstance(notion, BoundedDP) or (isinstance(notion, Graded) and not notion.presence.is_infinite)
        claims_maximum = k is not None and k * (1 + both_ways) <= len(listed)
    return notion, steps, query, answer, [None, *sets], claims_maximum


def check(notion: Notion, steps: oracle.Steps, query: Any, answer: Answer, records: Sequence[Any], persons: int) -> Any:
    """Return None if the rates were refused rightly, else (moves, a, b) after seeing that they are allowed."""
    moves = oracle.moves(steps, records, added_up(answer), persons)
    try:
        derived = sensitivity(notion, query)
    except NotPrivateError as error:
        if "no step" in str(error):
            assert not any(any(change) for _, change in moves), (notion, query)
        return None
    a, b = plain(derived.line.rise), plain(derived.line.fall)
    for distance, change in moves:
        assert oracle.spent(a, b, change) <= distance, (notion, query, change)
    if derived.monotone:
        assert {(c > 0) - (c < 0) for _, change in moves for c in change} <= {0, derived.sign}
    if len(moves) % 3 == 0:
        check_coordinates(notion, query, moves)
    return moves, a, b


def check_coordinates(notion: Notion, query: Any, moves: list[Any]) -> None:
    """The rates for one coordinate at a time, and the lines for coordinates of different signs."""
    each = sensitivity_each(notion, query).line
    a_each, b_each = plain(each.rise), plain(each.fall)
    for distance, change in moves:
        assert all(oracle.spent(a_each, b_each, [c]) <= distance for c in change), (notion, query, change)
    if isinstance(query, SumOverPeople):
        lines = [(plain(line.rise), plain(line.fall)) for line in sensitivity_lines(notion, query)]
        for distance, change in moves:
            total = sum(oracle.spent(up, down, [c]) for (up, down), c in zip(lines, change, strict=True))
            assert total <= distance, (notion, query, change)


def is_maximal(moves: list[Any], a: Any, b: Any) -> bool:
    """Whether neither rate can be raised by a thousandth."""
    more = Fraction(1001, 1000)
    raised = [pair for rate, pair in ((a, (a * more, b)), (b, (a, b * more))) if rate != math.inf]
    return all(any(oracle.spent(*pair, change) > distance for distance, change in moves) for pair in raised)


BLOCKS, CASES_A_BLOCK = 10, 600


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(BLOCKS))
def test_derived_rates_are_allowed_and_maximal_by_brute_force(block: int) -> None:
    rng = random.Random(f"sensitivity {block}")
    answered = tight = 0
    for _ in range(CASES_A_BLOCK):
        if rng.random() < 0.7:
            notion, steps, query, answer, records = draw_row_case(rng)
            claims_maximum = True
        else:
            notion, steps, query, answer, records, claims_maximum = draw_fact_case(rng)
        found = check(notion, steps, query, answer, records, 1)
        if found is None:
            continue
        answered += 1
        if claims_maximum:
            assert is_maximal(*found), (notion, query)
            tight += 1
    assert answered > 0.6 * CASES_A_BLOCK
    assert tight > 0.5 * CASES_A_BLOCK


def test_derived_rates_are_allowed_for_tables_of_two_people() -> None:
    rng = random.Random("two people")
    answered = 0
    while answered < 60:
        if rng.random() < 0.5:
            notion, steps, query, answer, records = draw_row_case(rng)
        else:
            notion, steps, query, answer, records, _ = draw_fact_case(rng)
        if len(records) <= 5 and check(notion, steps, query, answer, records, 2) is not None:
            answered += 1


class Mutant:
    """A query that tells a lie about its effect."""

    def __init__(self, query: Any, lie: Callable[[Effect, Change, Any], Effect]) -> None:
        self.query, self.lie = query, lie

    def effect(self, change: Change) -> Effect:
        return self.lie(self.query.effect(change), change, self.query)


SETS = [None, *(frozenset(s) for s in ("", "a", "b", "c", "ab", "ac", "bc", "abc"))]
ABC = CountWhere((has("a"), has("b"), has("c")))


def counts(record: Any) -> list[int]:
    return [int(p in (record or ())) for p in "abc"]


@pytest.mark.parametrize(
    ("name", "notion", "steps", "lie"),
    [
        ("none", Presence(1), oracle.presence(1), lambda effect, change, query: effect),
        ("a sensitivity one too small", Presence(1), oracle.presence(1), lambda e, c, q: Effect(((0, 2),), e.each)),
        ("the wrong sign", Presence(1), oracle.presence(1), lambda e, c, q: Effect(((3, 0),), e.each)),
        ("all counts as if one", UnboundedDP(1), oracle.unbounded(1), lambda e, c, q: Effect(e.each, e.each)),
        ("replacing as if withdrawing", BoundedDP(1), oracle.bounded(1), lambda e, c, q: q.effect(WITHDRAW)),
        (
            "rise and fall of different people",
            Graded(1, 4),
            oracle.graded(1, 4),
            lambda e, c, q: Effect(((0, 3),), e.each),
        ),
    ],
)
def test_the_brute_force_catches_a_wrong_derivation(name: str, notion: Notion, steps: Any, lie: Any) -> None:
    def caught() -> bool:
        try:
            check(notion, steps, Mutant(ABC, lie), counts, SETS, 1)
        except AssertionError:
            return True
        return False

    assert caught() == (name != "none")
