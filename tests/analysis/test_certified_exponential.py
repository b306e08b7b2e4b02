"""The exponential mechanism in whole numbers: its chances, its proof, and that a larger scale would not be private."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from leeward.analysis import certified_exponential
from leeward.analysis._certified_exponential import _matrix
from leeward.distance import FiniteDistance, Region, elastic_distance, region_distance
from leeward.exact import inf, log
from leeward.mechanism import FiniteMechanism
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

GRID = [(300 * i, 300 * j) for i in range(4) for j in range(3)]
ELASTIC = elastic_distance(GRID, [0, 3, 1, 50, 400, 20, 7, 90, 2, 0, 1, 0], within=200, least=10).scale(log(2) / 200)
POLICY = region_distance(GRID, [Region(GRID[:2], 650, 80)]).scale("1/200")
ONE_WAY = region_distance(GRID, [Region(GRID[:2], 650, 80, "never")]).scale("1/200")
SPACES = {"elastic": ELASTIC, "policy": POLICY, "one way": ONE_WAY}


def worst_excess(mechanism: FiniteMechanism, distance: FiniteDistance[tuple[int, int]]) -> float:
    """The largest log-ratio less the distance, over all ordered pairs and outputs, from the fractions themselves."""
    found = -math.inf
    for x, y in itertools.permutations(mechanism.inputs, 2):
        if distance(x, y).is_infinite:
            continue
        for z in mechanism.outputs:
            one, other = (mechanism.probability(at, z).rational or Fraction(0) for at in (x, y))
            if one:
                found = max(found, math.log(one / other) - float(distance(x, y)) if other else math.inf)
    return found


@pytest.mark.parametrize("name", SPACES)
def test_it_is_proved_private_for_what_was_asked_and_is_what_it_says(name: str) -> None:
    space = SPACES[name]
    for each in certified_exponential(space):
        assert each.verdict
        assert verify(each.mechanism, space)
        assert worst_excess(each.mechanism, space) <= 0
        weights = space if each.directed else space._both(space.reverse())
        away = weights.to_numpy()
        kept = np.exp(-each.scale * away).T
        assert np.allclose(each.mechanism.to_numpy(), kept / kept.sum(axis=1, keepdims=True), rtol=1e-9)
        larger = _matrix(weights, each.scale * 1.001)
        assert not verify(larger, space) or not each.directed
        assert each.scale > 0.5 or each.directed


def test_where_the_way_back_is_never_promised_only_the_metric_below_serves() -> None:
    assert [each.directed for each in certified_exponential(ONE_WAY)] == [False]
    assert [each.directed for each in certified_exponential(ELASTIC)] == [True, False]
    metric = ELASTIC._both(ELASTIC.reverse())
    assert [each.directed for each in certified_exponential(metric)] == [True]


def test_chances_of_the_one_way_kind_are_zero_where_distances_are_infinite() -> None:
    space = FiniteDistance("ab", [[0, 3], [inf, 0]])
    assert _matrix(space, 0.5).probability("a", "b") == 0  # d(b → a) = ∞
    assert _matrix(space, 0.5).probability("b", "a") > 0


def test_fractions_are_drawn_as_weights_are() -> None:
    """The quick way to the cumulative chances of fractions gives those of the way for all weights."""
    made = certified_exponential(POLICY)[0].mechanism
    slow = FiniteMechanism(made.inputs, made.outputs, [[made.probability(x, z) for z in GRID] for x in GRID])
    quick = made.sample(GRID[4], 50, SeededBitsForTests(1))
    assert quick == slow.sample(GRID[4], 50, SeededBitsForTests(1))
    sums, floors = made._cumulative(GRID[4])
    assert [math.floor(each.rational * 2**32) for each in sums if each.rational is not None] == floors.tolist()
