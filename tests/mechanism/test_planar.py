"""The planar mechanism on its grid: private over all ordered pairs, tight, and honest about snapping."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.oracle.planar import window

from leeward.distance import Plane
from leeward.errors import InputError
from leeward.exact import exp, exp_minus, log, sqrt
from leeward.exact._weight import weight
from leeward.mechanism import PlanarMechanism
from leeward.noise import SeededBitsForTests

GRID = list(itertools.product(range(3), range(3)))
FAR = [*itertools.product(range(-2, 5), range(-2, 5)), (9, -9), (0, 30)]


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
def test_private_for_every_ordered_pair_and_tight(norm: Any) -> None:
    mechanism = PlanarMechanism(Plane(log(2) / 10, norm), step="5/2")
    promise, size = mechanism.distance, Fraction(5, 2)
    tight = 0
    for x, y in itertools.permutations(GRID, 2):
        bound = exp(promise(tuple(size * k for k in x), tuple(size * k for k in y)))
        ratios = [mechanism.weight(x, z) / mechanism.weight(y, z) for z in FAR]
        assert all(ratio <= bound for ratio in ratios), (x, y)
        tight += any(ratio == bound for ratio in ratios)
    assert tight == len(GRID) * (len(GRID) - 1), "some output on the ray through both attains the bound exactly"


def test_a_sharper_promise_is_not_kept() -> None:
    mechanism = PlanarMechanism(Plane(log(2) / 10), step="5/2")
    claimed = Plane(log(2) / 10 * Fraction(99, 100))
    bound = exp(claimed((0, 0), (Fraction(5, 2), 0)))
    assert mechanism.weight((0, 0), (0, 0)) / mechanism.weight((1, 0), (0, 0)) > bound


@pytest.mark.parametrize(("norm", "worst"), [("euclidean", sqrt(2)), ("manhattan", 2)])
def test_snapping_costs_what_it_says_and_a_smaller_price_is_wrong(norm: Any, worst: Any) -> None:
    mechanism = PlanarMechanism(Plane("1/10", norm), step="1")
    assert mechanism.snapping == worst * Fraction(1, 10)
    # two positions that are all but one: each on its side of a corner where four cells meet
    gap = 1e-9
    one, two = mechanism.snap(np.array([[0.5 - gap, 0.5 - gap], [0.5 + gap, 0.5 + gap]])).tolist()
    assert (one, two) == ([0, 0], [1, 1])
    ratio = mechanism.weight((0, 0), (0, 0)) / mechanism.weight((1, 1), (0, 0))
    assert ratio == exp(mechanism.snapping)
    assert ratio > exp(mechanism.snapping * Fraction(99, 100))


def test_snapping_goes_to_the_nearest_point_half_up_and_stays_within_half_a_step() -> None:
    mechanism = PlanarMechanism(Plane("1/10"), step="5/2")
    positions = np.random.default_rng(1).uniform(-100, 100, (1000, 2))
    away = np.abs(mechanism.positions(mechanism.snap(positions)) - positions)
    assert away.max() <= 1.25
    assert mechanism.snap(np.array([[1.25, -1.25]])).tolist() == [[1, 0]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e18])
def test_positions_on_no_grid_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="on no grid"):
        PlanarMechanism(Plane("1")).snap(np.array([[0.0, bad]]))


def test_reports_stay_within_the_bounds_and_are_the_clamped_noisy_points() -> None:
    mechanism = PlanarMechanism(Plane("1/10"), lower=(-5, -3), upper=(5, 3))
    points = np.zeros((2000, 2), np.int64)
    noisy = mechanism.noisy(points, SeededBitsForTests(1))
    assert np.abs(noisy).max() > 20
    held = mechanism.release(points, SeededBitsForTests(1))
    assert (held == np.clip(noisy, [-5, -3], [5, 3])).all()
    assert held.shape == (2000, 2)


@pytest.mark.parametrize("bounds", [((0, 0), None), (None, (0, 0)), ((1, 0), (0, 5))])
def test_bounds_that_are_no_rectangle_are_refused(bounds: Any) -> None:
    with pytest.raises(InputError, match="rectangle"):
        PlanarMechanism(Plane("1"), lower=bounds[0], upper=bounds[1])


def test_the_posterior_is_exact_and_bounded_by_the_promise() -> None:
    mechanism = PlanarMechanism(Plane(log(2) / 2))
    prior = {(0, 0): "1/2", (2, 0): "1/4", (0, 4): "1/4"}
    believed = mechanism.posterior((0, 0), prior)
    # likelihoods 1, 1/2, 1/4
    assert believed == {(0, 0): Fraction(8, 11), (2, 0): Fraction(2, 11), (0, 4): Fraction(1, 11)}
    for z in FAR:
        seen = mechanism.posterior(z, prior)
        for x, y in itertools.permutations(prior, 2):
            before = Fraction(prior[x]) / Fraction(prior[y])
            assert seen[x] / seen[y] <= before * exp(mechanism.distance(x, y))


@pytest.mark.parametrize("prior", [{}, {(0, 0): 0}, {(0, 0): 1, (1, 1): -1}])
def test_what_is_no_belief_is_refused(prior: Any) -> None:
    with pytest.raises(InputError, match="not all 0"):
        PlanarMechanism(Plane("1")).posterior((0, 0), prior)


@pytest.mark.parametrize("output", [(0, 0), (3, 1), (1, 3), (4, 1)])
def test_an_output_on_the_bounds_may_be_any_beyond(output: Any) -> None:
    bounded = PlanarMechanism(Plane("1"), lower=(0, 0), upper=(3, 3))
    with pytest.raises(InputError, match="on the bounds"):
        bounded.posterior(output, {(1, 1): 1, (2, 2): 1})
    assert sum(bounded.posterior((1, 2), {(1, 1): 1, (2, 2): 1}).values(), start=weight(0)) == 1


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
@pytest.mark.parametrize("rate", ["1/3", "3"])
def test_displacement_against_adding_up(rate: str, norm: Any) -> None:
    number = float(Fraction(rate))
    found = PlanarMechanism(Plane(rate, norm)).displacement()
    radius = int(20 / number) + 2
    chance = window(number, norm, radius, radius).ravel()
    axis = np.arange(-radius, radius + 1)
    across, up = (side.ravel() for side in np.meshgrid(axis, axis))
    offsets = (np.arange(50) + 0.5) / 50 - 0.5  # the truth is anywhere in the cell of its grid point
    means, medians, most = [], [], []
    for x, y in itertools.product(offsets, offsets):
        away = np.hypot(across - x, up - y)
        means.append((away * chance).sum())
        medians.append(chance[away <= found.median].sum())
        most.append(chance[away <= found.within_95].sum())
    assert found.mean == pytest.approx(np.mean(means), rel=1e-3)
    assert np.mean(medians) == pytest.approx(0.5, abs=8e-3)
    assert np.mean(most) == pytest.approx(0.95, abs=8e-3)


def test_displacement_of_a_fine_grid_is_that_of_the_plane() -> None:
    found = PlanarMechanism(Plane(log(2) / 200)).displacement()
    scale = 200 / math.log(2)
    assert found.mean == pytest.approx(2 * scale, rel=2e-3)
    assert found.median == pytest.approx(1.67835 * scale, rel=2e-3)  # 1 − e^{−r}(1 + r) = 1/2
    assert found.within_95 == pytest.approx(4.74386 * scale, rel=2e-3)
    coarse = PlanarMechanism(Plane(log(2) / 200), step="1/10").displacement()
    assert coarse.mean == pytest.approx(found.mean, rel=1e-9)


def test_one_normaliser_for_every_truth() -> None:
    """What makes the Laplace mechanism of a distance private: normalising row by row on a finite grid does not."""
    chance = exp_minus("1")
    rows = {x: sum((chance ** abs(z - x) for z in range(5)), start=exp("0") - 1) for x in (0, 2)}
    ratio = (1 / rows[0]) / (chance**2 / rows[2])
    assert ratio > exp("2")
