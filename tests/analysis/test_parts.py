"""The parts of the optimiser, each against a slow and independent account of what it should do."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from leeward.analysis._optimal._cover import irreducible, spanner
from leeward.analysis._optimal._linear_program import Program
from leeward.analysis._optimal._repair import EXTRA_BITS, FAR, factor_below, repair
from leeward.analysis._optimal._symmetry import symmetries
from leeward.distance import FiniteDistance, Line, Plane
from leeward.exact import exact, exp, inf, log, sqrt
from leeward.verification import verify

GRID = [(i, j) for i in range(4) for j in range(4)]


def test_irreducible_pairs_of_a_grid_are_those_with_coprime_moves() -> None:
    expected = {
        (x, y)
        for x, y in itertools.permutations(range(16), 2)
        if np.gcd(GRID[y][0] - GRID[x][0], GRID[y][1] - GRID[x][1]) == 1
    }
    assert {(int(x), int(y)) for x, y in irreducible(Plane("1").on(GRID))} == expected


@pytest.mark.parametrize("case", range(20))
def test_shortest_paths_along_irreducible_pairs_give_the_distance_back(case: int) -> None:
    seed = random.Random(case)
    points = range(6)
    costs = [exact(0), exact(1), exact(2), sqrt(2), exact(3), inf]
    distance = FiniteDistance.closed(points, [[seed.choice(costs) for _ in points] for _ in points])
    kept = {(int(x), int(y)) for x, y in irreducible(distance)}
    steps = [[distance(x, y) if (x, y) in kept else inf for y in points] for x in points]
    assert FiniteDistance.closed(points, steps) == distance


def test_fewer_pairs_than_the_irreducible_ones_would_lose_something() -> None:
    line = Line("1", inf).on(range(4))
    kept = [(int(x), int(y)) for x, y in irreducible(line)]
    assert kept == [(0, 1), (1, 2), (2, 3)]
    steps = [[line(x, y) if (x, y) in kept[1:] else inf for y in range(4)] for x in range(4)]
    assert FiniteDistance.closed(range(4), steps) != line


@pytest.mark.parametrize("dilation", [1.0, 1.1, 1.5, 3.0])
def test_a_spanner_is_no_longer_than_it_says_and_keeps_the_symmetries(dilation: float) -> None:
    plane = Plane("1").on(GRID)
    uniform = np.zeros(16, dtype=np.intp)
    group = symmetries(plane.codes, uniform, plane.codes)
    pairs = spanner(plane, group.orbits(slice(0, 16), slice(0, 16)), dilation)
    steps = [[inf] * 16 for _ in range(16)]
    for x, y in pairs:
        steps[x][y] = plane(GRID[x], GRID[y])
    along = FiniteDistance.closed(GRID, steps)
    ratios = [float(along(x, y)) / float(plane(x, y)) for x, y in itertools.permutations(GRID, 2)]
    assert max(ratios) <= dilation * (1 + 1e-9)
    turned = [GRID.index((j, i)) for i, j in GRID]
    assert {(turned[x], turned[y]) for x, y in pairs} == {(int(x), int(y)) for x, y in pairs}


def test_symmetries_of_the_square_and_none_of_a_lopsided_one() -> None:
    plane = Plane("1").on(GRID)
    group = symmetries(plane.codes, np.zeros(16, dtype=np.intp), plane.codes)
    secrets = slice(0, 16)
    assert len(np.unique(group.orbits(secrets, secrets).diagonal())) == 3  # corners, edges, middles
    lopsided = symmetries(plane.codes, np.arange(16), plane.codes)
    assert lopsided.generators == []


RENAMINGS = (
    *((((0, 1, 2, 3, 4), (1, 0, 2)),), (((1, 0, 2, 3, 4), (0, 1, 2)),), (((1, 2, 0, 3, 4), (1, 2, 0)),)),
    *((((1, 0, 3, 2, 4), (0, 2, 1)),), (((1, 2, 3, 4, 0), (0, 1, 2)),), (((1, 0, 2, 4, 3), (1, 0, 2)),)),
    (((1, 0, 2, 3, 4), (0, 1, 2)), ((0, 1, 3, 4, 2), (1, 2, 0))),
)
"""Renamings of five secrets and of three guesses that change nothing; random tables seldom have any."""


@pytest.mark.parametrize("case", range(15))
def test_orbits_are_those_of_the_whole_group_found_by_trying_every_renaming(case: int) -> None:
    seed = random.Random(case)
    n, m = 5, 3
    distance = np.array([[seed.choice([0, 1]) for _ in range(n)] for _ in range(n)])
    loss = np.array([[seed.choice([0, 0, 1]) for _ in range(m)] for _ in range(n)])
    prior = np.array([seed.choice([0, 0, 1]) for _ in range(n)])
    kept = (*RENAMINGS, ())[case % (len(RENAMINGS) + 1)]
    for _ in range(30):  # what such a renaming exchanges is made alike
        for rows, columns in kept:
            distance = np.minimum(distance, distance[np.ix_(rows, rows)])
            loss = np.minimum(loss, loss[np.ix_(rows, columns)])
            prior = np.minimum(prior, prior[list(rows)])
    np.fill_diagonal(distance, 2)
    group = symmetries(distance, prior, loss)
    assert not kept or group.generators
    for g in group.generators:
        rows, columns = g[:n], g[n:] - n
        assert (distance[np.ix_(rows, rows)] == distance).all()
        assert (loss[np.ix_(rows, columns)] == loss).all()
        assert (prior[rows] == prior).all()
    orbits = group.orbits(slice(0, n), slice(n, n + m))
    together = np.arange(n * m).reshape(n, m)
    for rows in itertools.permutations(range(n)):
        if (distance[np.ix_(rows, rows)] != distance).any() or (prior[list(rows)] != prior).any():
            continue
        for columns in itertools.permutations(range(m)):
            if (loss[np.ix_(rows, columns)] == loss).all():
                for x, w in itertools.product(range(n), range(m)):
                    one, other = together[x, w], together[rows[x], columns[w]]
                    together[together == max(one, other)] = min(one, other)
    pairs = {*zip(orbits.ravel().tolist(), together.ravel().tolist(), strict=True)}
    assert len(pairs) == len(np.unique(orbits)) == len(np.unique(together)), "the same parts"


def test_a_factor_below_is_below_and_close() -> None:
    for cost in (exact("1/1000"), exact(1), log(2), sqrt(2), exact(44)):
        below = exp(0) * Fraction(factor_below(cost), 2**EXTRA_BITS) if not cost.is_infinite else None
        assert below is not None
        assert below < exp(cost)
        assert exp(cost) * (1 - Fraction(1, 2 ** (EXTRA_BITS - 2))) < below
    assert factor_below(exact(0)) == 2**EXTRA_BITS
    assert factor_below(exact(700)) == 2 ** (EXTRA_BITS + FAR)  # larger ones forbid no less


def test_the_repair_mends_what_solvers_break() -> None:
    line = Line("1", "1").on(range(3))
    pairs = irreducible(line)
    costs = [line(int(x), int(y)) for x, y in pairs]
    broken = np.array(
        [[0.9, 0.1, -1e-9], [0.3, 0.4, 0.3000001], [0.0, 0.1, 0.9]]
    )  # negative, over 1, 0 beside .3, over e
    mended = repair(range(3), "abc", broken, pairs, costs)
    assert verify(mended, line)
    assert all(value.rational is not None for value in mended.values)


def test_the_repair_gives_up_no_more_than_needed() -> None:
    """A matrix that is private already comes back unchanged, up to its rounding to 60 bits."""
    line = Line("1", "1").on(range(2))
    pairs = irreducible(line)
    fine = np.array([[0.75, 0.25], [0.5, 0.5]])
    mended = repair(range(2), "ab", fine, pairs, [line(int(x), int(y)) for x, y in pairs])
    assert mended.row(0) == {"a": Fraction(3, 4), "b": Fraction(1, 4)}


def test_the_bound_holds_even_for_useless_duals() -> None:
    """The program's bound is proved from whatever the solver says; it must be below the optimum of every solve."""
    program = Program(
        orbits=np.arange(4).reshape(2, 2),
        pairs=np.array([[0, 1], [1, 0]]),
        factors=np.array([np.exp(-1), np.exp(-1)]),
        prior=np.array([0.5, 0.5]),
        loss=np.array([[0.0, 1.0], [1.0, 0.0]]),
    )
    optimum = 1 / (1 + np.e)
    solution = program.solve()
    assert optimum - 1e-9 < solution.bound <= optimum
