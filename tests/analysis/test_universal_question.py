"""Is one mechanism best for every consumer? On every directed graph of three answers, and on the cases of the papers.

The oracle shares nothing with what it checks: extreme rays of the cone of private columns are found by trying all sets of
constraints in floats, and least losses by the plainest linear program.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.oracle.least_loss import least_loss

import leeward as lw
from leeward.analysis import Universal, is_universally_optimal, pushed, read_loss, remap
from leeward.analysis._prior import read_prior
from leeward.distance import FiniteDistance, graph_distance
from leeward.errors import InputError, RefusedError, UndecidedError
from leeward.exact import inf, log
from leeward.mechanism import FiniteMechanism
from leeward.notion import ABSENT, Maximum, NormalisedManhattan, all_tables

EDGES = [(a, b) for a in range(3) for b in range(3) if a != b]
GRAPHS = [edges for size in range(7) for edges in itertools.combinations(EDGES, size)]
TOLERANCE = 1e-7
V = lw.ValueGrid(0, 2)


def same(answer: Any) -> Any:
    return answer


def floats(space: FiniteDistance[Any]) -> list[list[float]]:
    return [[float(space(x, y)) for y in space.points] for x in space.points]


def number_of_rays(distance: list[list[float]]) -> int:
    n = len(distance)
    rows = [np.eye(n)[x] for x in range(n)]
    for x, y in itertools.permutations(range(n), 2):
        if math.isfinite(distance[x][y]):
            rows.append(math.exp(distance[x][y]) * np.eye(n)[y] - np.eye(n)[x])
    constraints, found = np.array(rows), []
    for chosen in itertools.combinations(range(len(rows)), n - 1):
        _, sizes, basis = np.linalg.svd(constraints[list(chosen)])
        ray = basis[-1] * (1 if basis[-1].sum() > 0 else -1)
        if sizes[-1] > 1e-9 and (constraints @ ray > -1e-9).all():
            ray = ray / ray.sum()
            if not any(np.allclose(ray, other) for other in found):
                found.append(ray)
    return len(found)


def monotone_loss(rng: random.Random, size: int) -> list[list[int]]:
    steps = [[rng.choice((0, 1, 2, 7)) for _ in range(size)] for _ in range(size)]
    return [
        [sum(row[truth + 1 : guess + 1]) + sum(row[guess:truth]) for guess in range(size)]
        for truth, row in enumerate(steps)
    ]


def serves(mechanism: FiniteMechanism, space: FiniteDistance[Any], *, monotone: bool, consumers: int = 12) -> bool:
    """Whether a mechanism reaches the least loss of as many random consumers, found without it."""
    size, rng = len(space.points), random.Random(1)
    for _ in range(consumers):
        weights = [rng.randrange(1, 9) for _ in range(size)]
        prior = [Fraction(w, sum(weights)) for w in weights]
        loss = monotone_loss(rng, size) if monotone else [[rng.randrange(9) for _ in range(size)] for _ in range(size)]
        if float(remap(mechanism, prior, loss).loss) > least_loss(floats(space), prior, loss) + TOLERANCE:
            return False
    return True


def cannot_share(found: Universal) -> bool:
    """Whether the two consumers lose by sharing, by linear programs of the oracle."""
    assert found.consumers is not None
    points, costs = found.answers.points, []
    for prior, loss in found.consumers:
        chances, matrix = read_prior(points, prior), read_loss(points, points, loss).to_numpy()
        costs.append(np.array([float(c) for c in chances])[:, None] * matrix)
    first, second = costs
    together = (first[:, :, None] + second[:, None, :]).reshape(len(points), -1)
    ones = [1.0] * len(points)
    distance = floats(found.answers)
    return least_loss(distance, ones, together) > sum(least_loss(distance, ones, cost) for cost in costs) + 1e-6


@pytest.mark.parametrize("edges", GRAPHS, ids=str)
def test_any_loss_on_every_graph_of_three_answers(edges: Sequence[tuple[int, int]]) -> None:
    """Yes iff as many extreme rays as answers; then H is private and best for all consumers tried; else two cannot share."""
    space = graph_distance(range(3), dict.fromkeys(edges, "1/2"), directed=True)
    found = is_universally_optimal(same, space, "any")
    assert bool(found) is (number_of_rays(floats(space)) == 3)
    if found.mechanism is not None:
        assert lw.verify(found.mechanism, space)
        assert serves(found.mechanism, space, monotone=False)
    else:
        assert cannot_share(found)
        assert found.witness is not None
        assert found.witness.missed[0] > 0


@pytest.mark.parametrize("edges", GRAPHS, ids=str)
def test_monotone_losses_on_every_graph_of_three_answers(edges: Sequence[tuple[int, int]]) -> None:
    space = graph_distance(range(3), dict.fromkeys(edges, "1/2"), directed=True)
    found = is_universally_optimal(same, space)
    if found.mechanism is not None:
        assert lw.verify(found.mechanism, space)
        assert serves(found.mechanism, space, monotone=True)
    else:
        assert cannot_share(found)
        assert found.consumers is not None
        assert all(read_loss(range(3), range(3), loss).monotone for _, loss in found.consumers)


STEPS = ["1/3", "1", inf]


@pytest.mark.parametrize("rise", list(itertools.product(STEPS, repeat=2)), ids=str)
def test_paths_whose_steps_cost_differently(rise: tuple[Any, Any]) -> None:
    """All 81 paths of two steps, with a Laplace mechanism and without, and 9 of three steps."""
    for fall in [*itertools.product(STEPS, repeat=2), ("1/3", inf, "1")]:
        costs = {(i, i + 1): cost for i, cost in enumerate((*rise, "1/2")[: len(fall)])}
        costs |= {(i + 1, i): cost for i, cost in enumerate(fall)}
        space = graph_distance(range(len(fall) + 1), costs, directed=True)
        found = is_universally_optimal(same, space, pairs=0)
        assert found.mechanism is not None
        assert lw.verify(found.mechanism, space)
        assert serves(found.mechanism, space, monotone=True, consumers=4)


def test_a_path_without_a_laplace_mechanism() -> None:
    """0 → 1 ← 2 below ln 2: one output speaks for both ends. By hand, at e^ε = 3/2."""
    valley = graph_distance(range(3), {(0, 1): log("3/2"), (2, 1): log("3/2")}, directed=True)
    with pytest.raises(RefusedError):
        lw.mechanism.laplace_mechanism(valley)
    found = is_universally_optimal(same, valley, pairs=0)
    assert found.mechanism is not None
    half, third = Fraction(1, 2), Fraction(1, 3)
    rows = [[p.rational for p in found.mechanism.row(x).values()] for x in range(3)]
    assert rows == [[half, half, 0], [third, third, third], [0, half, half]]
    assert serves(found.mechanism, valley, monotone=True, consumers=40)


@pytest.mark.sweep
@pytest.mark.long
def test_the_one_sided_line_is_best_for_any_loss_whatever() -> None:
    """More than ADP's Theorem VIII.3 says, remap put back: the loss need not grow with anything."""
    space = lw.Line(inf, "1/2").on(range(6))
    found = is_universally_optimal(same, space, "any")
    assert found.mechanism is not None
    clamped = lw.Geometric(lw.Line(inf, "1/2"), lower=0, upper=5).on(range(6))
    assert all(found.mechanism.row(y) == clamped.row(y) for y in range(6))
    assert serves(found.mechanism, space, monotone=False)
    assert not is_universally_optimal(same, lw.Line("1/2", "1/2").on(range(6)), "any")


def test_the_check_of_the_tests_rejects_what_is_not_optimal() -> None:
    """The control: the truncated geometric mechanism off its line, and a mechanism that is too noisy."""
    line = lw.Line(1, 1)
    clamped = lw.Geometric(line, lower=0, upper=3).on(range(4))
    assert serves(clamped, line.on(range(4)), monotone=True)
    assert not serves(clamped, line.on(range(4)), monotone=False)
    assert not serves(clamped, line.scale(2).on(range(4)), monotone=True)
    circle = graph_distance(range(4), [(0, 1), (1, 2), (2, 3), (3, 0)], directed=False)
    assert not serves(lw.mechanism.laplace_mechanism(circle), circle, monotone=True)


# ---- the papers

TABLES = all_tables(V.points, 2)
SOMEBODY = [x for x in all_tables((*V.points, ABSENT), 2) if any(v is not None for v in x)]
QUERIES = {
    "sum": lw.query.Sum(V),
    "average": lw.query.Mean(V),
    "average on the grid": lw.query.Mean(V, grid=1),
    "median": lw.query.median(V),
    "minimum": lw.query.minimum(V),
    "maximum": lw.query.maximum(V),
}


def test_theorem_8_counting_queries_have_one() -> None:
    found = is_universally_optimal(sum, lw.ReplaceDP("1/2").on(all_tables((0, 1), 3)))
    assert found.mechanism is not None
    tg = lw.mechanism.truncated_geometric("1/2", 3).on(range(4))
    assert all(found.mechanism.row(y) == tg.row(y) for y in range(4))


@pytest.mark.parametrize("name", [name for name in QUERIES if name != "average on the grid"])
@pytest.mark.parametrize("epsilon", ["1/10", "1/2"])
def test_theorem_9_the_others_have_none(name: str, epsilon: str) -> None:
    found = is_universally_optimal(QUERIES[name], lw.ReplaceDP(epsilon).on(TABLES))
    assert not found
    assert cannot_share(found)
    assert "no one mechanism serves them all" in str(found)


@pytest.mark.parametrize(
    ("name", "notion"),
    [
        *((name, NormalisedManhattan("1/2", V)) for name in ("sum", "average on the grid", "median")),
        *((name, lw.Manhattan("1/2", V)) for name in ("sum", "average on the grid", "median", "minimum", "maximum")),
        *((name, Maximum("1/2", V)) for name in ("average on the grid", "median", "minimum", "maximum")),
    ],
    ids=str,
)
def test_theorems_11_to_13_sums_averages_and_percentiles_have_one(name: str, notion: lw.notion.Notion) -> None:
    space = notion.on(SOMEBODY)
    found = is_universally_optimal(QUERIES[name], space)
    assert found.mechanism is not None
    assert lw.verify(found.mechanism.pull_back(SOMEBODY, QUERIES[name]), space)
    assert found.answers == pushed(QUERIES[name], space)


# ---- what is refused


def test_what_is_not_known_is_said() -> None:
    circle = graph_distance(range(3), [(0, 1), (1, 2), (2, 0)], directed=False)
    with pytest.raises(UndecidedError, match="none of 0 pairs of consumers shows the opposite"):
        is_universally_optimal(same, circle, pairs=0)
    assert not is_universally_optimal(same, circle)
    words = graph_distance("abc", [("a", "b"), ("c", "b")], directed=False)
    with pytest.raises(InputError, match='losses="any"'):
        is_universally_optimal(same, words)
    assert not is_universally_optimal(same, words, "any")
    with pytest.raises(InputError, match="Did you mean 'monotone'"):
        is_universally_optimal(same, words, "monoton")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not listed"):
        is_universally_optimal(same, lw.Line(1, 1))  # type: ignore[arg-type]
    many = graph_distance(range(28), [(i, j) for i in range(28) for j in range(i)], directed=False)
    with pytest.raises(InputError, match="too many of them"):
        is_universally_optimal(same, many)


def test_without_a_pair_the_answer_about_any_loss_stands() -> None:
    found = is_universally_optimal(same, lw.Line(1, 1).on(range(4)), "any", pairs=0)
    assert not found
    assert found.witness is None
    assert str(found) == "no: none is best for every prior and every loss"


def test_secrets_at_distance_0_are_one() -> None:
    """One way is enough: rows that may not rise, and have equal sums, are equal."""
    zero = FiniteDistance.closed(range(3), [[0, 0, inf], [1, 0, inf], [inf, 1, 0]])
    found = is_universally_optimal(same, zero, "any")
    assert found.mechanism is not None
    assert lw.verify(found.mechanism, zero)
    assert found.mechanism.row(0) == found.mechanism.row(1)
    assert serves(found.mechanism, zero, monotone=False)
    monotone = is_universally_optimal(same, zero)
    assert monotone.mechanism is not None
    assert lw.verify(monotone.mechanism, zero)
    assert serves(monotone.mechanism, zero, monotone=True)
    assert is_universally_optimal(lambda x: 0, zero, "any", pairs=0)
