"""What an adversary believes after a report: exact after every step that reports go through, or refused with the reason."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.errors import InputError, LeewardError, RefusedError
from leeward.exact._weight import weight
from leeward.local.location import PlanarLaplace

CITY = (139.70, 35.60, 139.80, 35.70)
HOME, NEAR, FAR = (35.65, 139.75), (35.651, 139.75), (35.66, 139.76)
PLACES = [HOME, NEAR, FAR, (35.655, 139.742)]
PRIOR: dict[tuple[float, float], Any] = {HOME: "1/2", NEAR: "1/3", FAR: 2, (35.655, 139.742): 1}


def noise(**options: Any) -> PlanarLaplace:
    return PlanarLaplace(**{"box": CITY, "within": "500 m", "factor": 2, "step": "100 m"} | options)


def columns(places: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [place[0] for place in places], [place[1] for place in places]


@pytest.mark.parametrize("last", ["best", "best, then cells"])
@pytest.mark.statistical
def test_over_places_it_is_what_simulated_people_show(last: str) -> None:
    """Everybody of the prior reports; of those who gave one report, each place has its share. False alarm below 1e-5.

    The law of planar noise, which was told here, is rejected.
    """
    geo, n = noise(), 40_000
    made, _ = geo.best_over(*columns(PLACES))
    made = made.to_h3(6) if "cells" in last else made
    chances = np.array([float(Fraction(chance)) for chance in PRIOR.values()])
    who = np.random.default_rng(5).choice(len(PLACES), n, p=chances / chances.sum())
    north, east = made.perturb_points(*(np.array(axis)[who] for axis in columns(PLACES)))
    wrong = 0
    for report in sorted({*zip(north.tolist(), east.tolist(), strict=True)}):
        seen = who[(north == report[0]) & (east == report[1])]
        counts = np.bincount(seen, minlength=len(PLACES))
        believed = made.posterior(*report, PRIOR)
        assert sum(believed.values(), start=weight(0)) == 1
        assert rejects(counts, [float(p) for p in believed.values()], len(seen)) is None, report
        wrong += rejects(counts, [float(p) for p in geo.posterior(*report, PRIOR).values()], len(seen)) is not None
    assert wrong


def test_over_places_only_places_are_reported() -> None:
    made, _ = noise().best_over(*columns(PLACES))
    with pytest.raises(InputError, match="no public place"):
        made.posterior(35.6501, 139.75, PRIOR)


@pytest.mark.parametrize("step", ["places", "cells", "places, then cells"])
def test_where_a_report_is_many_noisy_points_it_is_refused(step: str) -> None:
    geo = noise()
    made = geo.to_places(*columns(PLACES)) if "places" in step else geo
    made = made.to_h3(8) if "cells" in step else made
    with pytest.raises(RefusedError, match="same report"):
        made.posterior(*made.perturb_one(*HOME), PRIOR)


@pytest.mark.parametrize(
    ("box", "step"), [((24.98, 60.0, 25.02, 60.02), "300 m"), ((116.39, -0.01, 116.41, 0.01), "250 m")], ids=str
)
def test_a_report_that_is_answered_for_comes_from_one_grid_point(box: Any, step: str) -> None:
    """All grid points far around the box, as they are reported: where two are reported alike, the posterior is refused."""
    geo = noise(box=box, step=step)
    assert geo.mechanism.lower is not None
    assert geo.mechanism.upper is not None
    ranges = (range(a - 9, b + 10) for a, b in zip(geo.mechanism.lower, geo.mechanism.upper, strict=True))
    grid = np.array([*itertools.product(*ranges)], np.int64)
    from_points: dict[tuple[float, float], list[list[int]]] = {}
    for z, *report in zip(grid.tolist(), *(axis.tolist() for axis in geo.shown(grid)), strict=True):
        from_points.setdefault((report[0], report[1]), []).append(z)
    middle = geo.box.middle
    other = float(geo.box.north), middle[1]
    answered = 0
    for report, points in from_points.items():
        try:
            believed = geo.posterior(*report, {middle: 1, other: 1})
        except RefusedError:
            continue
        answered += 1
        assert len(points) == 1, report
        ((a, b), (c, d)) = geo.to_grid(*np.array([middle, other]).T).tolist()
        likely = [geo.mechanism.weight(x, (points[0][0], points[0][1])) for x in ((a, b), (c, d))]
        assert believed[middle] == likely[0] / (likely[0] + likely[1])
    assert 20 < answered < len(from_points)


@pytest.mark.parametrize("report", [(35.70, 139.75), (35.60, 139.75), (35.65, 139.80), (35.65, 139.70), (36, 139.75)])
def test_at_the_edge_it_is_refused(report: tuple[float, float]) -> None:
    with pytest.raises(RefusedError, match="edge of the box"):
        noise().posterior(*report, PRIOR)


def test_reports_of_a_grid_finer_than_they_are_rounded_are_refused() -> None:
    fine: dict[str, Any] = {"within": None, "factor": None, "epsilon": 1}
    assert noise(**fine, step="0.06 m").posterior(*HOME, PRIOR)
    with pytest.raises(RefusedError, match="rounded to a centimetre"):
        noise(**fine, step="0.04 m").posterior(*HOME, PRIOR)


def test_after_several_reports_belief_is_the_prior_of_the_next() -> None:
    geo, first, second = noise(), (35.6509, 139.75), (35.653, 139.752)
    twice = geo.posterior(*second, geo.posterior(*first, PRIOR))
    points = dict(zip(PRIOR, map(tuple, geo.to_grid(*map(np.array, columns(PLACES))).tolist()), strict=True))
    seen = [tuple(geo.to_grid(*np.array([report]).T)[0].tolist()) for report in (first, second)]
    masses = {
        x: weight(PRIOR[x]) * geo.mechanism.weight(points[x], seen[0]) * geo.mechanism.weight(points[x], seen[1])  # type: ignore[arg-type]
        for x in PRIOR
    }
    total = sum(masses.values(), start=weight(0))
    assert all(twice[x] == mass / total for x, mass in masses.items())


@pytest.mark.parametrize(
    ("prior", "says"),
    [
        ({(36.0, 139.75): 1}, "outside the box"),
        ({(float("nan"), 139.75): 1}, "outside the box"),
        ({HOME: -1, NEAR: 2}, "negative"),
        ({HOME: 0}, "no such report"),
        ({}, "no such report"),
    ],
)
def test_priors_that_are_refused(prior: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        noise().posterior(*HOME, prior)
    if "nan" not in repr(prior):
        clamped = noise(outside="clamp")
        assert (36.0, 139.75) not in prior or clamped.posterior(*HOME, prior)


@pytest.mark.parametrize("first", ["best", "cells"])
@pytest.mark.parametrize("then", ["places", "best"])
def test_steps_come_in_one_order(first: str, then: str) -> None:
    """Found: places after cells, or over drawn places, took the report of the step before, and the statement told both."""
    made = noise().to_h3(8) if first == "cells" else noise().best_over(*columns(PLACES))[0]
    if (first, then) == ("best", "best"):
        assert made.best_over(*columns(PLACES))[0].terms.places == "best"  # nothing of the first is left
        return
    with pytest.raises(LeewardError, match="noise comes first, then places, then cells"):
        made.best_over(*columns(PLACES)) if then == "best" else made.to_places(*columns(PLACES))
