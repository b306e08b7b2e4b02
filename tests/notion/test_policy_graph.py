"""Policy graphs of places (PGLP): the graph's distance says what the definition says along edges; places alone are free.

The oracle reads {ε, G}-location privacy word by word, on every graph of four places: Pr[z|x] ≤ e^ε·Pr[z|x'] along edges.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

import leeward as lw
from leeward.distance import FiniteDistance, graph_distance
from leeward.errors import RefusedError
from leeward.exact import log
from leeward.mechanism import FiniteMechanism, exponential_fallback, laplace_mechanism
from leeward.notion import Blowfish, all_tables

PLACES = range(4)
EDGES = list(itertools.combinations(PLACES, 2))
GRAPHS = [edges for size in range(7) for edges in itertools.combinations(EDGES, size)]
Edges = Sequence[tuple[int, int]]


def keeps(rows: Sequence[Sequence[Fraction]], edges: Edges, factor: Fraction) -> bool:
    both = [*edges, *((y, x) for x, y in edges)]
    return all(rows[x][z] <= factor * rows[y][z] for x, y in both for z in range(len(rows[0])))


def components(edges: Edges) -> list[set[int]]:
    found = [{x} for x in PLACES]
    for x, y in edges:
        joined = set().union(*(c for c in found if x in c or y in c))
        found = [*(c for c in found if x not in c and y not in c), joined]
    return found


def noise(space: FiniteDistance[int]) -> FiniteMechanism:
    try:
        return laplace_mechanism(space)
    except RefusedError:
        return exponential_fallback(space)[0]


@pytest.mark.parametrize("edges", GRAPHS, ids=str)
def test_every_graph_of_four_places(edges: Edges) -> None:
    space = graph_distance(PLACES, edges, directed=False).scale(log(2))
    made = noise(space)
    rows = [[float(made.probability(x, z)) for z in PLACES] for x in PLACES]
    assert lw.verify(made, space)
    assert keeps([[Fraction(p) for p in row] for row in rows], edges, Fraction(2) + Fraction(1, 10**9))
    for component in components(edges):
        for x in component:  # outputs never leave the component, so a place without edges is published as it is
            assert {z for z, p in enumerate(rows[x]) if p > 0} <= component


@pytest.mark.parametrize("edges", GRAPHS[::3], ids=str)
def test_the_distance_says_what_the_definition_says(edges: Edges) -> None:
    """Random matrices, private or not, at e^ε = 2: the verdict for the graph's distance is the definition's along edges."""
    space = graph_distance(PLACES, edges, directed=False).scale(log(2))
    rng, seen = random.Random(str(edges)), set()
    for _ in range(60):
        rows = []
        for _x in PLACES:
            parts = [rng.choice((3, 4, 4, 5, 6)) for _ in range(3)] if rng.random() < 0.8 else [2, 4, 8]
            rows.append([Fraction(part, sum(parts)) for part in parts])
        right = keeps(rows, edges, Fraction(2))
        assert bool(lw.verify(FiniteMechanism(PLACES, range(3), rows), space)) is right
        seen.add(right)
    assert seen == {True, False} or not edges  # the control: both answers occur wherever there is an edge


def test_a_graph_with_one_edge_less_is_another_promise() -> None:
    """Broken variant: noise for the smaller graph, for every edge of every graph that is not doubled by other paths."""
    for edges in GRAPHS[1:]:
        for edge in edges:
            smaller = graph_distance(PLACES, [e for e in edges if e != edge], directed=False)
            asked = graph_distance(PLACES, edges, directed=False)
            assert not lw.verify(noise(smaller.scale(log(2))), asked.scale(log(2))) or noise_spreads(smaller, edge)


def noise_spreads(smaller: FiniteDistance[int], edge: tuple[int, int]) -> bool:
    """Whether rows may be within e^ε although the edge is missing: never where it joins two components."""
    return not smaller(*edge).is_infinite


def test_blowfish_of_one_person_is_the_same_notion() -> None:
    edges = [(0, 1), (1, 2)]
    tables, space = all_tables(PLACES, 1), graph_distance(PLACES, edges, directed=False)
    blowfish = Blowfish(log(2), PLACES, edges).on(tables)
    for x, y in itertools.product(PLACES, repeat=2):
        assert blowfish((x,), (y,)) == space.scale(log(2))(x, y)
