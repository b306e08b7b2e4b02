"""How queries carry distances: Definitions 4 and 5, Theorem 6, Proposition 7, and the counterexample of Figure 1."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from leeward.distance import FiniteDistance, Line, graph_distance
from leeward.exponential import log
from leeward.mechanism import FiniteMechanism
from leeward.notion import ReplaceDP, all_tables
from leeward.query.expansive import expansion, expansive_chain, induced_edges, near, pushed
from leeward.real import exact, inf
from leeward.verify import verify


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
