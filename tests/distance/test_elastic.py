"""Elastic distances and policies of regions, against slow walks over all pairs and what they are defined to have."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from leeward.distance import FiniteDistance, Plane, Region, elastic_distance, region_distance, whole_lengths
from leeward.errors import InputError
from leeward.exact import inf, log

Point = tuple[int, int]
Cost = float | Fraction
GRID = [(300 * i, 300 * j) for i in range(4) for j in range(3)]
WEIGHTS = [0, 3, 1, 50, 400, 20, 7, 90, 2, 0, 1, 0]


def metres(x: Point, y: Point, norm: str) -> float:
    return abs(x[0] - y[0]) + abs(x[1] - y[1]) if norm == "manhattan" else math.dist(x, y)


def walks(points: Sequence[Point], step: Callable[[Point, Point], Cost]) -> dict[tuple[Point, Point], Cost]:
    """Floyd and Warshall, in the plainest way."""
    found = {(x, y): Fraction(0) if x == y else step(x, y) for x in points for y in points}
    for via, x, y in itertools.product(points, repeat=3):
        found[x, y] = min(found[x, y], found[x, via] + found[via, y])
    return found


def elastic_step(points: Sequence[Point], weights: Sequence[int], within: int, least: Fraction, norm: str) -> Any:
    """The rule by trying every whole m from 1 on."""

    def step(x: Point, y: Point) -> Cost:
        nearer = sum(w for z, w in zip(points, weights, strict=True) if metres(x, z, norm) < metres(x, y, norm) - 1e-6)
        wanted = next(m for m in itertools.count(1) if least * m * m > nearer * within**2)
        return min(Fraction(wanted), Fraction(math.floor(metres(x, y, norm) + 1e-9)))

    return step


def same(made: FiniteDistance[Any], known: dict[tuple[Point, Point], Cost]) -> bool:
    return all(made(x, y) == (inf if math.isinf(cost) else cost) for (x, y), cost in known.items())


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
def test_it_is_the_cheapest_walk_of_the_rule(norm: Any) -> None:
    """The oracle without the rule is another distance, so the comparison can fail."""
    made = elastic_distance(GRID, WEIGHTS, within=200, least="5/2", norm=norm)
    assert same(made, walks(GRID, elastic_step(GRID, WEIGHTS, 200, Fraction(5, 2), norm)))
    lengths = walks(GRID, lambda x, y: Fraction(math.floor(metres(x, y, norm) + 1e-9)))
    assert same(whole_lengths(GRID, norm), lengths)
    assert not same(made, lengths)


def short_of_weight(
    made: FiniteDistance[Any], weights: Sequence[int], within: int, least: int
) -> list[tuple[Point, int]]:
    """Where fewer weigh than is promised: of each point, at every whole m up to where all are wanted."""
    far = math.isqrt(sum(weights) * within**2 // least) + 2
    return [
        (x, m)
        for x, m in itertools.product(made.points, range(0, far, 7))
        if sum(w for y, w in zip(made.points, weights, strict=True) if made(x, y) <= m)
        < min(Fraction(least * m * m, within**2), sum(weights))
    ]


def test_each_point_finds_the_weight_that_is_promised_and_lengths_alone_do_not_give_it() -> None:
    drawn = random.Random(5)
    for _ in range(3):
        points = [(drawn.randrange(2000), drawn.randrange(2000)) for _ in range(9)]
        weights = [drawn.choice([0, 1, 5, 300]) for _ in points]
        made = elastic_distance(points, weights, within=200, least=40)
        assert short_of_weight(made, weights, 200, 40) == []
        assert short_of_weight(whole_lengths(points), weights, 200, 40) != []
        FiniteDistance(points, [[made(x, y) for y in points] for x in points])  # refuses a broken triangle
        assert made.price_in(Plane(1).on(points)) <= 1


def test_a_village_may_pass_as_the_town_and_not_the_town_as_the_village_at_that_cost() -> None:
    made = elastic_distance([(0, 0), (5000, 0)], [2, 900], within=200, least=100)
    assert made((0, 0), (5000, 0)) == 29  # floor(sqrt(2·200²/100)) + 1
    assert made((5000, 0), (0, 0)) == 601  # floor(sqrt(900·200²/100)) + 1


@pytest.mark.parametrize("back", ["usual", "alike", "never"])
def test_a_policy_is_the_cheapest_walk_of_what_it_says(back: Any) -> None:
    clinic = [GRID[0], GRID[1]]

    def step(x: Point, y: Point) -> Cost:
        usual, near = Fraction(math.floor(metres(x, y, "euclidean"))), metres(x, y, "euclidean") <= 650
        out, into = x in clinic, y in clinic
        if back == "never" and into and not out:
            return math.inf
        short = near and (out or (back == "alike" and into))
        return min(usual, Fraction(80)) if short else usual

    made = region_distance(GRID, [Region(clinic, 650, 80, back)])
    assert same(made, walks(GRID, step))
    assert made(GRID[1], GRID[2]) == 80
    assert made(GRID[2], GRID[1]) == {"usual": 300, "alike": 80, "never": inf}[back]
    # what lies around on two sides is near one another only if both ways count as short
    assert made(GRID[2], GRID[6]) == {"usual": 460, "alike": 160, "never": 848}[back]


def test_policies_shorten_another_distance_and_never_is_never_undone_by_another_region() -> None:
    usual = whole_lengths(GRID)
    both = [Region([GRID[0]], 650, 80, "never"), Region([GRID[4]], 1000, 10)]
    made = region_distance(GRID, both, usual=usual.scale("1/2"))
    assert made(GRID[11], GRID[10]) == 150
    assert made(GRID[4], GRID[0]) == inf
    assert made(GRID[0], GRID[4]) == 80


def test_it_scales_to_a_promise() -> None:
    made = elastic_distance(GRID, WEIGHTS, within=200, least=40).scale(log(2) / 200)
    assert made(GRID[0], GRID[1]) == log(2) / 200  # nobody lives there: anything passes at 1 metre


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: elastic_distance(GRID, [1], within=1, least=1), "1 weights of 12 points"),
        (lambda: elastic_distance(GRID, WEIGHTS, within=1, least=0), "asks for nothing"),
        (lambda: elastic_distance(GRID, [-1, *WEIGHTS[1:]], within=1, least=1), "a weight = -1"),
        (lambda: elastic_distance(GRID, WEIGHTS, within=log(2), least=1), "rational number"),
        (lambda: whole_lengths([(1, 2, 3)]), "no pair"),
        (lambda: Region([(0, 0)], 100, 0), "no one-sided promise has cost 0"),
        (lambda: Region([(0, 0)], 0, 1), "within = 0"),
        (lambda: Region([(0, 0)], 1, 1, "sometimes"), "back"),  # type: ignore[arg-type]
        (lambda: region_distance(GRID, [Region([(7, 7)], 1, 1)]), "not a point"),
    ],
)
def test_what_is_no_such_distance_is_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
