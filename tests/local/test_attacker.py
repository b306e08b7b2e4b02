"""What an attacker learns from reports of one place: the simulation against sums over all noisy points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from leeward.errors import InputError, LeewardError
from leeward.local.location import AttackerView, PlanarLaplace
from leeward.noise import SeededBitsForTests

CITY = (139.70, 35.60, 139.80, 35.70)
PLACES = [(35.65, 139.75), (35.651, 139.75), (35.655, 139.742)]
PRIOR = [2.0, 1.0, 1.0]
SPREAD = 4.9
"""Standard errors: two figures of few settings, a false alarm in 1e-5; seeded, so that it never flickers."""


def noise(**options: Any) -> PlanarLaplace:
    given = {"box": CITY, "epsilon": "1/120", "step": "100 m", "bits": SeededBitsForTests(7)} | options
    return PlanarLaplace(**given)


def views(geo: PlanarLaplace, **options: Any) -> tuple[AttackerView, ...]:
    north, east = zip(*PLACES, strict=True)
    return geo.attacker(north, east, **{"weights": PRIOR, "reports": [1, 2], "trials": 4_000} | options)


def points_of(geo: PlanarLaplace) -> list[tuple[int, int]]:
    north, east = (np.array(column) for column in zip(*PLACES, strict=True))
    return [(int(i), int(j)) for i, j in geo.to_grid(north, east)]


def metres(geo: PlanarLaplace) -> list[list[float]]:
    at = [geo.plane.project(np.array([north]), np.array([east]))[0] for north, east in PLACES]
    return [[math.dist(a, b) for b in at] for a in at]


def law(geo: PlanarLaplace, point: tuple[int, int], rate: float) -> Iterator[tuple[tuple[int, int], float]]:
    """e^(-rate·length) over all noisy points near by, not yet divided by its sum."""
    for i, j in itertools.product(range(-16, 17), repeat=2):
        length = abs(i) + abs(j) if geo.norm == "manhattan" else math.hypot(i, j)
        yield (point[0] + i, point[1] + j), math.exp(-rate * length)


def exactly(geo: PlanarLaplace, reports: int, rate: float | None = None) -> tuple[float, float]:
    """The two figures, summed over all noisy points: of one report, or of two by their sufficient sums over pairs."""
    rate = float(geo.epsilon * geo.step) if rate is None else rate
    laws = [dict(law(geo, point, rate)) for point in points_of(geo)]
    laws = [{z: p / sum(each.values()) for z, p in each.items()} for each in laws]
    prior, away = [w / sum(PRIOR) for w in PRIOR], metres(geo)
    everywhere = sorted({z for each in laws for z in each})
    table = np.array([[each.get(z, 0.0) for z in everywhere] for each in laws])
    joint = table if reports == 1 else np.einsum("xa,xb->xab", table, table).reshape(len(laws), -1)
    joint = joint * np.array(prior)[:, None]
    return float(joint.max(axis=0).sum()), float((np.array(away).T @ joint).min(axis=0).sum())


@pytest.mark.statistical
@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
def test_the_figures_are_those_of_a_sum_over_all_reports(norm: str) -> None:
    """Half the ε, or a wrong number of reports, is rejected."""
    geo = noise(norm=norm)
    for view in views(geo)[1:]:
        right, distance = exactly(geo, view.reports)
        assert abs(view.right - right) < SPREAD * view.right_error
        assert abs(view.distance - distance) < SPREAD * view.distance_error
        half = exactly(geo, view.reports, float(geo.epsilon * geo.step) / 2)
        other = exactly(geo, 3 - view.reports)
        for wrong in (half, other):
            assert abs(view.right - wrong[0]) > SPREAD * view.right_error
            assert abs(view.distance - wrong[1]) > SPREAD * view.distance_error


def test_without_a_report_it_is_the_prior() -> None:
    geo = noise()
    first = views(geo, reports=[])[0]
    assert first == views(geo)[0]
    away = metres(geo)
    least = min(sum(w * row[g] for w, row in zip(PRIOR, away, strict=True)) / sum(PRIOR) for g in range(3))
    assert (first.reports, first.right, first.right_error, first.distance_error) == (0, 0.5, 0, 0)
    assert first.distance == pytest.approx(least)
    assert str(first) == f"0 reports: right 50% of the time, {least:,.0f} m off on average"


def test_many_reports_of_one_place_find_it() -> None:
    found = views(noise(within="500 m", factor=2, epsilon=None), reports=[1, 1000, 30], trials=200)
    assert [view.reports for view in found] == [0, 1, 30, 1000]
    assert found[1].right < 0.6
    assert found[-1].right > 0.9
    assert [view.right for view in found] == sorted(view.right for view in found)


def test_a_place_where_nobody_is_is_never_guessed() -> None:
    found = views(noise(), weights=[1, 0, 0], reports=[3], trials=20)
    assert [(view.right, view.distance) for view in found] == [(1, 0), (1, 0)]


def test_a_long_list_is_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = views(noise(bits=SeededBitsForTests(3)), reports=[1], trials=300)
    monkeypatch.setattr("leeward.local.location._attacker._AT_ONCE", 3 * 100)
    parts = views(noise(bits=SeededBitsForTests(3)), reports=[1], trials=300)
    assert abs(whole[1].right - parts[1].right) < SPREAD * whole[1].right_error * 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reports": [0]}, "reports"),
        ({"reports": 10}, "reports = 10"),
        ({"reports": [1.5]}, "reports"),
        ({"reports": [10_001]}, "simulated are at most 2,000 places and 10,000 reports"),
        ({"trials": 1}, "trials = 1"),
        ({"weights": [-1, 1, 1]}, "Weights of places"),
        ({"weights": [0, 0, 0]}, "Weights of places"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(LeewardError, match=said):
        views(noise(), **options)


def test_places_beyond_the_box_and_too_many_are_refused() -> None:
    geo = noise()
    with pytest.raises(InputError, match="outside the box"):
        geo.attacker([36.0], [139.75])
    with pytest.raises(InputError, match="2,001 places"):
        geo.attacker([35.65] * 2_001, [139.75] * 2_001)
    north, east = zip(*PLACES, strict=True)
    assert geo.best_over(north, east)[0].attacker(north, east, reports=[1])[1].right_error == 0
