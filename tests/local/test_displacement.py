"""How far reports are said to lie from the truth, measured on draws, snapping included."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from pyproj import Geod
from tests.statistical.gof import rejects

import leeward as lw
from leeward.distance import Plane
from leeward.exact import exact
from leeward.local.location._statement import facts
from leeward.mechanism import Displacement, PlanarMechanism
from leeward.noise import SeededBitsForTests

DRAWS = 40_000
BOX = (139.70, 35.65, 139.75, 35.70)


def misfit(away: np.ndarray, told: Displacement) -> str | None:
    """Why distances do not fit what is told: the right one is rejected with a probability below 3e-6.

    What is told is good to three digits: a part in five hundred of the mean is granted, and as much of the shares.
    """
    room = 5 * away.std() / math.sqrt(len(away)) + told.mean / 500
    if abs(away.mean() - told.mean) > room:
        return f"the mean is {away.mean()}"
    for value, share in ((told.median, 0.5), (told.within_95, 0.95)):
        if any(
            rejects([int((away <= value * by).sum())], [share], len(away), 1e-6) is None for by in (0.998, 1, 1.002)
        ):
            continue
        return f"{(away <= value).mean()} lie within {value}"
    return None


@pytest.mark.statistical
@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
@pytest.mark.parametrize(
    ("epsilon", "step"), [*itertools.product(["1/100", "1/10", "1"], ["1 m", "5 m", "20 m", "60 m"])]
)
def test_reports_lie_as_far_from_positions_anywhere_as_is_told(norm: Any, epsilon: str, step: str) -> None:
    mechanism = PlanarMechanism(Plane(epsilon, norm), step=step.split()[0])
    told = mechanism.displacement()
    chance = np.random.default_rng(4)
    truth = chance.uniform(-1_000, 1_000, (DRAWS, 2))
    noisy = mechanism.positions(mechanism.noisy(mechanism.snap(truth), SeededBitsForTests(3)))
    away = np.hypot(*(noisy - truth).T)
    assert misfit(away, told) is None
    # of noise alone, as if every position were on the grid
    bare = np.hypot(*(noisy - mechanism.positions(mechanism.snap(truth))).T)
    size, rate = float(exact(step.split()[0])), float(exact(epsilon))
    if rate * size >= 1:
        assert misfit(bare, told) is not None


@pytest.mark.statistical
def test_on_the_ground_and_through_the_box_it_is_the_same_within_the_box() -> None:
    geo = lw.PlanarLaplace(box=BOX, epsilon="1/9", unit="1 m", step="18 m", bits=SeededBitsForTests(6))
    chance = np.random.default_rng(5)
    north, east = chance.uniform(35.66, 35.69, DRAWS), chance.uniform(139.71, 139.74, DRAWS)
    there = geo.perturb_points(north, east)
    away = np.array(Geod(ellps="WGS84").inv(east, north, there[1], there[0])[2])
    assert misfit(away, geo.describe()) is None
    said = dict(facts(geo.statement()))["moves by"]
    assert said.startswith("16.33 m")
    assert "positions anywhere in their grid cells" in said
    assert misfit(away, Displacement(1.65e-7, 0.0, 0.0)) is not None  # what was said before


def test_a_fine_grid_adds_nothing_and_noise_that_is_gone_leaves_the_cell() -> None:
    # a position in a square of side 1 is (√2 + arsinh 1)/6 from its middle on average
    still = PlanarMechanism(lw.PlanarLaplace(box=BOX, epsilon="1").mechanism.distance, step=700).displacement()
    assert still.mean / 700 == pytest.approx((math.sqrt(2) + math.asinh(1)) / 6, rel=1e-3)
    assert still.median / 700 == pytest.approx(math.sqrt(1 / (2 * math.pi)), rel=1e-2)


@pytest.mark.parametrize(("bound", "repeat"), [*itertools.product((1, 2, 10), (False, True))])
def test_numbers_of_reports_are_told_in_grammar_and_repeated_ones_are_not_counted(bound: int, repeat: bool) -> None:
    from dataclasses import replace

    from leeward.local.location._statement import statement

    geo = lw.PlanarLaplace(box=BOX, within="200 m", factor="2", step="100 m")
    text = statement(geo, replace(geo.terms, reports_a_day=bound, repeats=repeat, days="as written")).not_guaranteed[0]
    new = "new " if repeat else ""
    assert (
        f"at most {bound} {new}report{'s' if bound > 1 else ''} of a person and day {'are' if bound > 1 else 'is'} made"
        in text
    )
    told = (
        float(text.split("a factor of ")[1].split(" for")[0]) if "e^" not in text.split("a factor of ")[1][:3] else None
    )
    # two positions 100 m apart can be snapped √2 · 100 m further apart, each time; ε is that of 200 + √2 · 100 metres
    kept = bound * math.log(2) / 342 * (100 + math.sqrt(2) * 100)
    if told is not None:
        assert math.log(told) >= kept
        assert math.log(told) <= kept * 1.01
