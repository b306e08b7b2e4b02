"""How queries carry distances: Definitions 4 and 5, Theorem 6, Proposition 7, and the counterexample of Figure 1."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from leeward.analysis import expansion, expansive_chain, induced_edges, pushed
from leeward.analysis._expansive import near
from leeward.distance import FiniteDistance, Line, graph_distance
from leeward.errors import InputError
from leeward.exact import exact, inf, log
from leeward.mechanism import FiniteMechanism
from leeward.notion import ABSENT, AdditionOnly, Graded, Manhattan, ReplaceDP, UnboundedDP, ValueGrid, all_tables
from leeward.verification import verify


def brute_force(query: dict, space: FiniteDistance, answers: FiniteDistance, by: Fraction) -> bool:
    """Uniform Δ-sensitivity straight from Definition 5: a tight expansive chain for every pair, all orders tried."""
    labels = sorted(set(query.values()))
    expansive = {
        (y, z)
        for x, w in itertools.product(space.points, repeat=2)
        for y, z in [(query[x], query[w])]
        if answers(y, z) == space(x, w) * by
    }
    for y, z in itertools.product(labels, repeat=2):
        inner = [v for v in labels if v not in (y, z)]
        chains = ((y, *middle, z) for size in range(len(inner) + 1) for middle in itertools.permutations(inner, size))
        if not any(
            all(step in expansive for step in itertools.pairwise(chain))
            and sum((answers(*step) for step in itertools.pairwise(chain)), exact(0)) == answers(y, z)
            for chain in chains
        ):
            return False
    return True


@pytest.mark.parametrize("case", range(30))
def test_uniform_sensitivity_agrees_with_its_definition(case: int) -> None:
    seed = random.Random(case)
    points = range(6)
    costs = [exact(c) for c in (1, 1, 2, 3)] + [inf]
    space = FiniteDistance.closed(points, [[seed.choice(costs) for _ in points] for _ in points])
    query = {x: x % 4 if seed.random() < 0.7 else seed.randrange(4) for x in points}
    if case % 2:  # the pushed distance is uniform by construction: half of the cases would be trivial
        answers = pushed(query.__getitem__, space)
    else:
        answers = FiniteDistance.closed(range(4), [[seed.choice([1, 2]) for _ in range(4)] for _ in range(4)])
    found = expansion(query.__getitem__, space, answers)
    if found.sensitivity.is_infinite or not found.sensitivity:
        return
    rational = found.sensitivity.rational
    assert rational is not None
    assert found.uniform == brute_force(query, space, answers, rational)
    labels = sorted(set(query.values()))
    chains = {
        (y, z): expansive_chain(query.__getitem__, space, answers, y, z, rational)
        for y, z in itertools.product(labels, repeat=2)
        if not answers(y, z).is_infinite
    }
    if found.uniform:
        assert None not in chains.values()
    elif found.refuted in chains:
        assert chains[found.refuted] is None


FIG1 = FiniteMechanism(["y1", "y2", "y3"], ["z1", "z2"], [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
PATH = graph_distance(["x1", "x2", "x3"], [("x1", "x2"), ("x2", "x3")], directed=False)
ALL_ONE = FiniteDistance(["y1", "y2", "y3"], [[0, 1, 1], [1, 0, 1], [1, 1, 0]])


def test_figure_1_the_converse_of_fact_5_fails() -> None:
    query = {"x1": "y1", "x2": "y2", "x3": "y3"}.__getitem__
    assert verify(FIG1.pull_back(PATH.points, query), PATH.scale(log(2)))  # H ∘ f is (ln 2)-private
    assert expansion(query, PATH, ALL_ONE).sensitivity == 1  # f is 1-sensitive
    verdict = verify(FIG1, ALL_ONE.scale(log(2)))
    assert verdict.outcome == "not private"  # and H is not
    low, high = verdict.scale
    assert low <= math.log2(3) <= high < 1.585
    assert Fraction(3, 4) > 2 * Fraction(1, 4)  # the caption's "2^{1/4}" is 1.19 > 3/4: it means 2·(1/4)
    assert Fraction(3, 4) < Fraction(2) ** Fraction(1, 4)
    assert not expansion(query, PATH, ALL_ONE).uniform  # because y1, y3 have no tight expansive chain
    assert expansion(query, PATH, ALL_ONE).refuted in {("y1", "y3"), ("y3", "y1")}
    assert expansive_chain(query, PATH, ALL_ONE, "y1", "y3", 1) is None


def test_theorem_6_both_ways_by_random_mechanisms() -> None:
    """H is private for the pushed distance iff H ∘ f is private: no counterexample, and both outcomes occur."""
    seed = random.Random(6)
    outcomes = []
    space = Line("1/2", "1").on(range(6))
    query = lambda x: min(x, 3)  # noqa: E731
    for _ in range(40):
        rows = []
        for _ in range(4):
            parts = [seed.randint(2, 5) for _ in range(3)]
            rows.append([Fraction(p, sum(parts)) for p in parts])
        mechanism = FiniteMechanism(range(4), "abc", rows)
        on_answers = bool(verify(mechanism, pushed(query, space)))
        assert on_answers == bool(verify(mechanism.pull_back(range(6), query), space))
        outcomes.append(on_answers)
    assert set(outcomes) == {True, False}


@pytest.mark.parametrize(
    "query",
    [sum, max, lambda x: x[0] ^ (x[1] > 0), lambda x: sum(v * v for v in x)],
    ids=["sum", "max", "xor", "squares"],
)
def test_proposition_7_the_metric_of_the_induced_graph(query: object) -> None:
    tables = all_tables(range(3), 2)
    hamming = ReplaceDP("1").on(tables)
    edges = {
        (query(x), query(y))  # type: ignore[operator]
        for x, y in itertools.permutations(tables, 2)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1 and query(x) != query(y)  # type: ignore[operator]
    }
    labels = sorted({query(x) for x in tables})  # type: ignore[operator]
    assert induced_edges(query, hamming) == edges  # type: ignore[arg-type]
    assert pushed(query, hamming) == graph_distance(labels, edges, directed=False)  # type: ignore[arg-type]
    found = expansion(query, hamming, pushed(query, hamming))  # type: ignore[arg-type]
    assert (found.sensitivity, found.uniform) == (1, True)


def test_the_least_distance_between_fibres() -> None:
    labels, least = near(lambda x: x // 2, Line("1", inf).on(range(6)))
    assert labels == (0, 1, 2)
    assert least == [[0, 1, 3], [inf, 0, 1], [inf, inf, 0]]


def test_a_query_that_moves_secrets_at_distance_zero_has_no_sensitivity() -> None:
    pseudo = FiniteDistance.closed("ab", [[0, 0], [0, 0]])
    found = expansion({"a": 0, "b": 1}.__getitem__, pseudo, Line("1", "1"))
    assert found.sensitivity == inf
    assert expansion(lambda _: 7, pseudo, Line("1", "1")).sensitivity == 0


# ---- extended and one-sided distances


def by_definition_4(query: dict, space: FiniteDistance, answers: FiniteDistance) -> Fraction | None:
    """The least Δ with d_Y ≤ Δ·d_X over all ordered pairs of secrets, None for ∞; pairs at d_X = ∞ ask nothing."""
    least = Fraction(0)
    for x, w in itertools.product(space.points, repeat=2):
        near, far = space(x, w), answers(query[x], query[w])
        if near.is_infinite or far == 0:
            continue
        if far.is_infinite or near == 0:
            return None
        least = max(least, far.rational / near.rational)
    return least


def tight_chain_by_definition_5(query: dict, space: FiniteDistance, answers: FiniteDistance, by: Fraction) -> bool:
    """As `brute_force`, with ∞: 0·∞ = ∞, and ∞ + anything = ∞."""

    def value(number: object) -> float | Fraction:
        return math.inf if number.is_infinite else number.rational  # type: ignore[attr-defined, no-any-return]

    labels = sorted(set(query.values()))
    d_y = {(y, z): value(answers(y, z)) for y, z in itertools.product(labels, repeat=2)}
    expansive = set()
    for x, w in itertools.product(space.points, repeat=2):
        far = value(space(x, w))
        if d_y[query[x], query[w]] == (far if far == math.inf else far * by):
            expansive.add((query[x], query[w]))
    for y, z in itertools.permutations(labels, 2):
        inner = [v for v in labels if v not in (y, z)]
        chains = ((y, *middle, z) for size in range(len(inner) + 1) for middle in itertools.permutations(inner, size))
        if not any(
            all(step in expansive for step in itertools.pairwise(chain))
            and sum(d_y[step] for step in itertools.pairwise(chain)) == d_y[y, z]
            for chain in chains
        ):
            return False
    return True


def test_definitions_4_and_5_on_every_kind_of_distance() -> None:
    """Random directed distances with ∞ and 0 on both sides, in every order of the secrets: the order must not matter."""
    kinds = {"infinite": 0, "zero": 0, "uniform": 0, "not uniform": 0}
    for case in range(400):
        seed = random.Random(case)
        points = list(range(4))
        costs = seed.choice([[exact(1), inf], [exact(1), exact(2), inf, inf], [exact(0), exact(1), inf]])
        space = FiniteDistance.closed(points, [[seed.choice(costs) for _ in points] for _ in points])
        query = {x: seed.randrange(3) for x in points}
        labels = sorted(set(query.values()))
        steps = seed.choice([[exact(1), inf], [exact(1), exact(2), inf], [exact(0), exact(1), inf], [exact(0), inf]])
        answers = FiniteDistance.closed(labels, [[seed.choice(steps) for _ in labels] for _ in labels])
        if case % 3 == 0:
            answers = pushed(query.__getitem__, space)
        expected = by_definition_4(query, space, answers)
        for order in (points, points[::-1]):
            found = expansion(query.__getitem__, space if order == points else on(space, order), answers)
            if expected is None:
                assert found.sensitivity == inf
                assert not found.uniform
                continue
            assert found.sensitivity == expected
            assert found.uniform == tight_chain_by_definition_5(query, space, answers, expected)
        kinds["infinite"] += expected is None
        kinds["zero"] += expected == 0
        kinds["uniform"] += found.uniform
        kinds["not uniform"] += expected is not None and not found.uniform
    assert min(kinds.values()) > 20, kinds


def on(space: FiniteDistance, order: list[int]) -> FiniteDistance:
    return FiniteDistance(order, [[space(x, y) for y in order] for x in order])


def test_a_pair_that_is_far_on_both_sides_asks_nothing() -> None:
    """One-sided counting: rises cost ∞ on tables and on answers. The query is 1-sensitive, uniformly."""
    tables = all_tables((ABSENT, "a"), 2)
    count = lambda t: t.count("a")  # noqa: E731
    found = expansion(count, AdditionOnly("1").on(tables), Line(inf, 1))
    assert (found.sensitivity, found.uniform) == (1, True)
    apart = FiniteDistance("ab", [[0, inf], [inf, 0]])
    assert expansion(lambda x: x, apart, apart).sensitivity == 0
    assert expansion(lambda x: x, apart, apart).uniform
    chain = expansive_chain(count, AdditionOnly("1").on(tables), Line(inf, 1), 0, 2, 1)
    assert chain is not None, "0 → 2 is at ∞, and so are its tables: one step, tight and expansive"
    assert expansive_chain(count, AdditionOnly("1").on(tables), Line(inf, 1), 2, 0, 1) == (2, 0)


def test_theorem_6_on_one_sided_distances() -> None:
    """Uniformly sensitive: H is private iff H ∘ f is. Both outcomes occur."""
    seed, outcomes = random.Random(8), []
    tables = all_tables((ABSENT, "a"), 2)
    count = lambda t: t.count("a")  # noqa: E731
    space, answers = AdditionOnly(log(3)).on(tables), Line(inf, log(3)).on(range(3))
    assert expansion(count, space, answers).uniform
    for _ in range(60):
        parts = [[seed.randint(0, 3) for _ in range(3)] for _ in range(3)]
        rows = [[Fraction(p, sum(several)) for p in several] if sum(several) else [1, 0, 0] for several in parts]
        mechanism = FiniteMechanism(range(3), "abc", rows)
        private = bool(verify(mechanism, answers))
        assert private == bool(verify(mechanism.pull_back(tables, count), space))
        outcomes.append(private)
    assert set(outcomes) == {True, False}


@pytest.mark.parametrize("epsilon", ["1", "1/3", log(2)], ids=str)
def test_the_induced_graph_does_not_depend_on_epsilon(epsilon: object) -> None:
    tables = all_tables((ABSENT, 0, 1), 2)
    total = lambda t: sum(v or 0 for v in t)  # noqa: E731
    assert induced_edges(total, ReplaceDP(epsilon).on(tables)) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert induced_edges(total, UnboundedDP(epsilon).on(tables)) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    present = lambda t: sum(v is not None for v in t)  # noqa: E731
    assert induced_edges(present, AdditionOnly(epsilon).on(tables)) == {(1, 0), (2, 1)}, "it has a direction"


def test_a_distance_of_no_graph_has_no_adjacency() -> None:
    sets = [frozenset(s) for s in ("", "a", "b", "ab")]
    with pytest.raises(InputError, match="who is adjacent"):
        induced_edges(lambda t: len(t[0]), Graded(1, 2).on(all_tables(sets, 1)))
    values = ValueGrid(0, 2)
    with pytest.raises(InputError, match="who is adjacent"):
        induced_edges(sum, FiniteDistance(range(3), [[0, 1, 3], [1, 0, 3], [3, 3, 0]]))
    steps = Manhattan("1/5", values, nobody=False).on(all_tables(values.points, 1))
    assert len(induced_edges(sum, steps)) == 4, "steps of one unit induce it"
