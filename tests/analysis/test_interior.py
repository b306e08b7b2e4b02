"""The interior point method by columns: against the plainest program, and its bound against every rounding."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.least_loss import least_loss

from leeward.analysis import optimal
from leeward.analysis._optimal import _linear_program as program
from leeward.analysis._optimal._cover import irreducible
from leeward.analysis._optimal._interior_point import solve_by_columns
from leeward.distance import FiniteDistance, Line, Plane
from leeward.exact import exact, inf
from leeward.verification import verify

COSTS = [exact(c) for c in ("1/10", "1/2", "1", "2", "5")] + [inf]
GRID = [(i, j) for i in range(4) for j in range(4)]


@pytest.mark.parametrize("case", range(15))
def test_random_directed_spaces(case: int) -> None:
    seed = random.Random(case)
    n, m = seed.randint(2, 7), seed.randint(1, 7)
    distance = FiniteDistance.closed(range(n), [[seed.choice(COSTS) for _ in range(n)] for _ in range(n)])
    far = [[float(distance(x, y)) for y in range(n)] for x in range(n)]
    weights = [seed.choice([0, 1, 5]) for _ in range(n - 1)] + [1]
    prior = [w / sum(weights) for w in weights]
    loss = [[seed.randint(0, 9) for _ in range(m)] for _ in range(n)]
    pairs = irreducible(distance)
    factors = np.array([np.exp(-far[x][y]) for x, y in pairs])
    found = solve_by_columns(np.array(prior)[:, None] * np.array(loss, dtype=float), pairs, factors)
    optimum = least_loss(far, prior, loss)
    assert found.bound <= optimum + 1e-9
    assert abs(found.value - optimum) < 1e-5
    assert found.value - found.bound < 1e-4
    assert np.abs(found.matrix.sum(axis=1) - 1).max() < 1e-10
    slack = found.matrix[pairs[:, 1]] - factors[:, None] * found.matrix[pairs[:, 0]]
    assert slack.min(initial=1) > -1e-15  # strictly private, up to the last place


def test_the_bound_is_below_the_optimum_at_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped early, the bound is loose but true, and the columns are private but not yet best."""
    line = Line("1", "2").on(range(6))
    pairs = irreducible(line)
    far = [[float(line(x, y)) for y in range(6)] for x in range(6)]
    loss = np.array([[abs(x - w) for w in range(6)] for x in range(6)], dtype=float)
    optimum = least_loss(far, [1 / 6] * 6, loss)
    gaps = []
    for steps in (1, 3, 6, 12, 40):
        monkeypatch.setattr("leeward.analysis._optimal._interior_point.STEPS", steps)
        found = solve_by_columns(loss / 6, pairs, np.array([np.exp(-far[x][y]) for x, y in pairs]))
        assert found.bound <= optimum + 1e-12
        assert found.value >= optimum - 1e-9
        gaps.append(found.value - found.bound)
    assert gaps[0] > 0.1 > 1e-5 > gaps[-1]
    assert gaps == sorted(gaps, reverse=True)


def test_large_programs_without_symmetry_take_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = [Fraction(w, 136) for w in range(1, 17)]
    told: list[str] = []
    expected = optimal(GRID, Plane("1"), prior, "euclidean")
    monkeypatch.setattr(program, "LARGE", 0)
    found = optimal(GRID, Plane("1"), prior, "euclidean", progress=told.append)
    assert any("the least loss is between" in text for text in told)
    assert verify(found.mechanism, Plane("1").on(GRID))
    assert float(found.loss) == pytest.approx(float(expected.loss), abs=1e-6)
    assert expected.bound - 1e-6 < found.bound <= float(expected.loss)


def test_where_it_cannot_go_the_general_solver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets at distance 0 leave no strictly private matrix; a gap that stays wide is not taken."""
    monkeypatch.setattr(program, "LARGE", 0)
    equivalent = FiniteDistance.closed("abc", [[0, 0, 1], [0, 0, 1], [2, 2, 0]])
    prior = ["1/2", "1/3", "1/6"]
    assert optimal("abc", equivalent, prior, "zero-one").verdict
    monkeypatch.setattr("leeward.analysis._optimal._interior_point.STEPS", 2)
    line = Line("1", "2")
    found = optimal(range(5), line, ["1/5", "2/5", "1/5", "1/10", "1/10"], "absolute")
    assert float(found.loss) - found.bound < 1e-8


def test_long_solves_give_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "HEARTBEAT", 0.001)
    told: list[str] = []
    optimal(GRID, Plane("1"), [Fraction(w, 136) for w in range(1, 17)], "euclidean", progress=told.append)
    assert any(text.startswith("solving for 0 s") for text in told)


def test_a_grid_without_symmetry_to_its_known_optimum() -> None:
    """6 × 6, a prior from a seed: 1.2232314 by the general solver."""
    grid = [(i, j) for i in range(6) for j in range(6)]
    seed = random.Random(1)
    weights = np.array([seed.randint(1, 100) for _ in grid], dtype=float)
    plane = Plane("1").on(grid)
    far = np.array([float(v) for v in plane.values])[plane.codes]
    pairs = irreducible(plane)
    found = solve_by_columns(weights[:, None] / weights.sum() * far, pairs, np.exp(-far[pairs[:, 0], pairs[:, 1]]))
    assert found.value == pytest.approx(1.2232314, abs=2e-6)
    assert found.value - found.bound < 1e-5
