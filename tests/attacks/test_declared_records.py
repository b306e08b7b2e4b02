"""A declaration may leave out the record over which a promise about two declared ones leads; noise keeps it, or is refused.

The distances here are written out anew, and closed over the whole of a small universe, whatever of it is declared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import leeward as lw
from leeward.errors import NotPrivateError
from leeward.notion import EdgeDP, GradedFacts, Manhattan, NodeDP, NormalisedManhattan, Notion
from leeward.query import CountWhere, Domain, Linear, rate_between

Distance = Callable[[Any, Any], float | Fraction]


def rates(notion: Notion, query: CountWhere | Linear) -> tuple[float | Fraction, float | Fraction] | None:
    """Rise and fall; none where the query is refused because of what is declared; 'without noise' is no noise at all."""
    try:
        line = lw.sensitivity(notion, query).line
    except NotPrivateError as error:
        return (math.inf, math.inf) if "Publish it without noise" in str(error) else None
    return tuple(math.inf if r.is_infinite else Fraction(str(r)) for r in (line.rise, line.fall))  # type: ignore[return-value]


def kept(notion: Notion, query: CountWhere | Linear, inside: Sequence[Any], distance: Distance) -> bool | None:
    """Whether the rates keep the distance between all pairs; None where they are refused."""
    found = rates(notion, query)
    if found is None:
        return None
    for x, y in itertools.permutations(inside, 2):
        moves = [after - before for before, after in zip(query.value(x), query.value(y), strict=True)]
        cost = sum(found[0] * m if m > 0 else found[1] * -m for m in moves if m)
        if cost > distance(x, y):
            return False
    return True


NUMBERS = tuple(range(5))
SETS = tuple(frozenset(s) for size in range(1, 4) for s in itertools.combinations("abc", size))
TIES = tuple(frozenset(pair) for pair in itertools.combinations(range(1, 5), 2))
GRAPHS = tuple(
    frozenset(graph)
    for graph in [
        (TIES[0],), (TIES[5],), (TIES[0], TIES[5]), (TIES[1], TIES[4]), (TIES[0], TIES[1]), (TIES[0], TIES[1], TIES[2]),
    ]
)  # fmt: skip


def cover(x: Any, y: Any) -> int:
    """The least number of people who are in each tie in which two graphs differ."""
    return next(
        size
        for size in range(5)
        for some in itertools.combinations(range(1, 5), size)
        if all(tie & set(some) for tie in x ^ y)
    )


def at_least_2(x: Any) -> bool:
    return x is not None and x >= 2


CASES: dict[str, tuple[Notion, Sequence[Any], Any, Distance]] = {
    "manhattan": (
        Manhattan("1", lw.ValueGrid(0, 4), nobody=False), NUMBERS, at_least_2, lambda x, y: abs(x - y),
    ),
    "manhattan, or nobody": (
        Manhattan("1", lw.ValueGrid(0, 4)), NUMBERS, at_least_2, lambda x, y: abs(x - y),
    ),
    "normalised": (
        NormalisedManhattan("1", lw.ValueGrid(0, 4)), NUMBERS, at_least_2,
        lambda x, y: Fraction(abs(x - y), 4),
    ),
    "facts": (GradedFacts("1", "3"), SETS, lw.has("a"), lambda x, y: len(x - y) + 3 * len(y - x)),
    "edges": (EdgeDP("1"), GRAPHS, lw.has(TIES[0]), lambda x, y: len(x ^ y)),
    "nodes": (NodeDP("1"), GRAPHS, lw.has(TIES[0]), cover),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_lists_that_leave_records_out(name: str) -> None:
    notion, every, asked, distance = CASES[name]
    found = [
        kept(notion, CountWhere((asked,), Domain(records=inside)), inside, distance)
        for size in (2, 3)
        for inside in itertools.combinations(every, size)
    ]
    assert False not in found
    assert None in found
    assert kept(notion, CountWhere((asked,), Domain(records=every)), every, distance) or name in {"edges", "nodes"}


def test_what_lies_between_is_enough() -> None:
    """What is next to each other is not refused, and a list that is long and whole is not either."""
    for inside in ((1, 2), (1, 2, 3)):
        assert rates(CASES["manhattan"][0], CountWhere((at_least_2,), Domain(records=inside)))
    long = Manhattan("1", lw.ValueGrid(0, 300))
    assert rates(long, CountWhere((lambda x: x is not None and x >= 7,), Domain(records=tuple(range(301))))) == (1, 1)
    assert rates(long, CountWhere((lambda x: x is not None and x >= 7,), Domain(records=(*range(290), 300)))) is None
    several = CountWhere((lw.has("a"), lw.has("b")), Domain(facts_per_person=1))
    assert rates(GradedFacts("1", "3"), several) == (3, 1)
    assert rates(lw.both_hold(lw.AdditionOnly("1"), lw.Presence("2")), several) == (math.inf, 1)


PLACES = (0, 1, 2, 5)
POLICIES = [frozenset(s) for size in (1, 2, 3) for s in itertools.combinations(PLACES, size)]


def closed(one: frozenset[int], two: frozenset[int]) -> dict[tuple[int, int], float]:
    """The closure of the smaller of two distances, 1 where a policy that holds still holds, over all that can be."""
    far = {
        (x, y): 0.0 if x == y else min(1.0 if (y in p or x not in p) else math.inf for p in (one, two))
        for x, y in itertools.product(PLACES, repeat=2)
    }
    for z, x, y in itertools.product(PLACES, repeat=3):
        far[x, y] = min(far[x, y], far[x, z] + far[z, y])
    return far


def test_two_promises_that_meet_at_a_record_that_is_left_out() -> None:
    found = []
    for one, two in itertools.combinations(POLICIES, 2):
        far = closed(one, two)
        both = lw.both_hold(
            lw.ADP("1", [lw.where("x", one_of=sorted(one))]), lw.ADP("1", [lw.where("x", one_of=sorted(two))])
        )
        for inside in ((0, 1), (0, 1, 2)):
            query = CountWhere((lw.where("x", equals=1),), Domain(columns={"x": inside}))
            rows = [{"x": x} for x in inside]
            found.append(kept(both, query, rows, lambda x, y, far=far: far[x["x"], y["x"]]))
    assert False not in found
    assert {None, True} <= set(found)


def listed(*pairs: tuple[int, int]) -> tuple[Notion, Distance]:
    """The steps between some numbers, each for 1."""
    far = [[0 if x == y else 1 if (x, y) in pairs else lw.inf for y in NUMBERS] for x in NUMBERS]
    made = lw.notion.RecordDistance("1", lw.distance.FiniteDistance.closed(NUMBERS, far))
    return made, lambda x, y: 1 if (x, y) in pairs else math.inf


def near(x: int | None, y: int | None, nobody: float) -> float:
    return nobody if x is None or y is None else abs(x - y)


STEPS: dict[str, tuple[Notion, Distance]] = {
    "manhattan": (CASES["manhattan"][0], lambda x, y: near(x, y, math.inf)),
    "manhattan, or nobody": (CASES["manhattan, or nobody"][0], lambda x, y: near(x, y, 4)),
    "addition-only": (lw.AdditionOnly("2"), lambda x, y: 2 if y is None else math.inf),
    "removal-only": (lw.RemovalOnly("1"), lambda x, y: 1 if x is None else math.inf),
    "bounded": (lw.BoundedDP("3"), lambda x, y: math.inf if None in (x, y) else 3),
    "listed": listed((0, 1), (3, 2)),
    "others listed": listed((1, 2), (2, 3), (4, 0)),
}


@pytest.mark.parametrize("pair", [*itertools.combinations(STEPS, 2)], ids=" and ".join)
def test_two_promises_about_numbers_of_which_one_may_list_them(pair: tuple[str, str]) -> None:
    """Found: a notion that lists its records was not looked at, also where another beside it did not."""
    (one, first), (two, second) = (STEPS[name] for name in pair)
    whole: tuple[int | None, ...] = (None, *NUMBERS)
    far = {(x, y): 0 if x == y else min(first(x, y), second(x, y)) for x in whole for y in whole}
    for z, x, y in itertools.product(whole, repeat=3):
        far[x, y] = min(far[x, y], far[x, z] + far[z, y])
    found = [
        kept(
            lw.both_hold(one, two),
            CountWhere((lambda x, least=least: x is not None and x >= least,), Domain(records=inside)),
            (None, *inside),
            lambda x, y: far[x, y],
        )
        for size in (1, 2, 3, 5)
        for inside in itertools.combinations(NUMBERS, size)
        for least in (1, 2, 4)
    ]
    assert False not in found
    assert True in found


def test_lists_beside_declared_columns_are_refused() -> None:
    both = lw.both_hold(STEPS["listed"][0], lw.BoundedDP("1"))
    with pytest.raises(NotPrivateError, match="records that it lists"):
        lw.sensitivity(both, CountWhere((lw.where("x", equals=1),), Domain(columns={"x": [0, 1]})))


def test_it_is_refused_for_comparisons_too() -> None:
    both = lw.both_hold(lw.ADP("1", [lw.where("x", one_of=[0, 5])]), lw.ADP("1", [lw.where("x", equals=0)]))
    counts = CountWhere((lw.where("x", equals=1), lw.where("x", equals=0)), Domain(columns={"x": [0, 1]}))
    with pytest.raises(NotPrivateError, match="a record that is left out"):
        rate_between(both, counts)
    with pytest.raises(NotPrivateError, match="a record that is left out"):
        lw.sensitivity(
            lw.Personalised(CASES["manhattan"][0], ["1", "2"]),
            CountWhere((at_least_2,), Domain(records=(0, 4))),
        )


FACTS = ("a", "b", "c", "d")
EVERY = tuple(frozenset(s) for size in range(5) for s in itertools.combinations(FACTS, size))
KEPT: dict[str, tuple[Any, Callable[[frozenset[str]], bool]]] = {
    "a": (lw.has("a"), lambda r: "a" in r),
    "not a": (~lw.has("a"), lambda r: "a" not in r),
    "a or not b": (lw.has("a") | ~lw.has("b"), lambda r: "a" in r or "b" not in r),
    "a and b": (lw.has("a") & lw.has("b"), lambda r: "a" in r and "b" in r),
}
BESIDE: dict[str, tuple[Notion, Callable[[frozenset[str], frozenset[str]], bool]]] = {
    "facts taken away": (GradedFacts("1", "inf"), lambda x, y: y <= x and len(x - y) == 1),
    "some facts taken away": (lw.Presence("1"), lambda x, y: y <= x),
    "withdrawn": (lw.AdditionOnly("1"), lambda x, y: not y),
    "replaced": (lw.BoundedDP("1"), lambda x, y: bool(x and y)),
}


def shortest(nodes: Sequence[Any], step: Callable[[Any, Any], bool]) -> dict[tuple[Any, Any], float]:
    far = {(x, y): 0.0 if x == y else 1.0 if step(x, y) else math.inf for x in nodes for y in nodes}
    for z, x, y in itertools.product(nodes, repeat=3):
        far[x, y] = min(far[x, y], far[x, z] + far[z, y])
    return far


def exactly(some: frozenset[str]) -> Any:
    a, b, c, d = (lw.has(fact) if fact in some else ~lw.has(fact) for fact in FACTS)
    return a & b & c & d


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("policy", KEPT)
def test_policies_on_facts_beside_another_promise(policy: str, beside: str) -> None:
    """Found: from {a} to {b, c}, of two facts at most, a way led over {a, b, c}, and noise was fitted to a longer one.

    What is asked is the hardest there is: how far each set is from one of them by ways over declared sets alone.
    """
    condition, holds = KEPT[policy]
    notion, step = BESIDE[beside]
    keeps = lw.ADP("1", [condition])

    def steps(x: frozenset[str], y: frozenset[str]) -> bool:
        return step(x, y) or bool(x and y and (holds(y) or not holds(x)))

    far, inside = shortest(EVERY, steps), [s for s in EVERY if len(s) <= 2]
    near = shortest(inside, steps)
    for start in inside[1:]:
        level = {s: near[start, s] for s in inside}
        most = max(v for v in level.values() if v < math.inf)
        weights = {s: int(min(v, most) - min(level[frozenset()], most)) for s, v in level.items()}
        asked = [s for s, weight in weights.items() if weight]
        if not asked:
            continue
        for declared in (Domain(facts_per_person=2), Domain(records=tuple(inside))):
            query = Linear(tuple(map(exactly, asked)), (tuple(weights[s] for s in asked),), declared)
            for both in (lw.both_hold(notion, keeps), lw.both_hold(keeps, notion)):
                assert kept(both, query, inside, lambda x, y: far[x, y]) is not False


def test_a_class_of_ones_own_about_facts_is_refused_unless_the_records_are_declared() -> None:
    class Mine(lw.Notion):
        """The same promise, of a class that nobody has read."""

        name, words, steps_of = "mine", lw.UnboundedDP.words, lw.ADP("1", [lw.has("a")])

        def record(self, before: Any, after: Any) -> Any:
            return self.steps_of.record(before, after)

        @property
        def changes(self) -> Any:
            return self.steps_of.changes

        def cost(self, change: Any) -> Any:
            return self.steps_of.cost(change)

    mine, few = Mine("1"), [frozenset("a"), frozenset("ab")]
    with pytest.raises(NotPrivateError, match="the records themselves"):
        lw.sensitivity(mine, CountWhere((lw.has("a"),), Domain(facts_per_person=2)))
    assert lw.sensitivity(mine, CountWhere((lw.has("b"),), Domain(records=tuple(few)))).monotone is False


def test_a_long_list_beside_very_many_numbers_is_answered_at_once() -> None:
    """Found: all numbers of the notion were written down first, of which there may be more than any machine holds."""
    asked = CountWhere((at_least_2,), Domain(records=tuple(range(250))))
    with pytest.raises(NotPrivateError, match="more than 200 records"):
        lw.sensitivity(Manhattan("1", lw.ValueGrid(0, 10**12)), asked)


def test_records_that_are_arrays_are_refused_in_words() -> None:
    both = lw.both_hold(lw.UnboundedDP("2"), lw.BoundedDP("1"))
    asked = CountWhere((lambda record: record[0] == 1,), Domain(records=(np.array([1, 2]), np.array([3, 4]))))
    with pytest.raises(NotPrivateError, match="cannot be asked"):
        lw.sensitivity(both, asked)


def test_a_proof_on_tables_without_nobody_knows_the_way_over_nobody() -> None:
    """Found: of unlike prices for leaving and joining, tables in which nobody was absent were said to be at distance ∞."""
    records = lw.mechanism.FiniteMechanism.from_rows({(0,): {"a": 1}, (2,): {"b": 1}})
    come_and_go = lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("2"))
    policies = lw.ADP("5", [lambda record: record == 0], records=[0, 2])
    for both in (come_and_go, lw.both_hold(come_and_go, policies)):
        assert both.on([(0,), (2,)])((0,), (2,)) == 3
        assert not lw.verify(records, both)
    listed = lw.notion.RecordDistance("1", lw.distance.FiniteDistance((0, 1), [[0, 1], [lw.inf, 0]]))
    assert (
        lw.both_hold(lw.AdditionOnly("1"), listed).on([(0,), (1,)])((1,), (0,)) == lw.inf
    )  # of nobody it knows nothing


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_of_three_promises_a_way_leads_over_nobody_in_whichever_order_they_are_kept(order: tuple[int, ...]) -> None:
    """Found: not beside one that lists its records without nobody, where the two others were not kept together first."""
    far = lw.distance.FiniteDistance.closed("stn", [[0, lw.inf, lw.inf], [lw.inf, 0, 1], [lw.inf, lw.inf, 0]])
    parts = [lw.AdditionOnly("1"), lw.RemovalOnly("2"), lw.notion.RecordDistance("1", far)]
    one, two, three = (parts[i] for i in order)
    for both in (lw.both_hold(lw.both_hold(one, two), three), lw.both_hold(one, lw.both_hold(two, three))):
        on = both.on([(r,) for r in "stn"])
        assert [[str(on((x,), (y,))) for y in "stn"] for x in "stn"] == [
            ["0", "3", "3"],
            ["3", "0", "1"],
            ["3", "3", "0"],
        ]
        assert on.points == (("s",), ("t",), ("n",))
