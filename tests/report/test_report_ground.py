"""Degrees on a plane: distances, the antimeridian, grids and squares."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leeward.report._ground import Ground, is_lattice, round_length, squares


def ground(latitude: list[float], longitude: list[float]) -> Ground:
    return Ground.of(np.array(latitude), np.array(longitude))


def haversine(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Great-circle distance in kilometres: an independent check of the plane."""
    (p, l), (q, m) = (tuple(map(math.radians, point)) for point in (a, b))
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((m - l) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(h))


@pytest.mark.parametrize("middle", [(35.68, 139.76), (-33.9, 18.4), (0.0, 0.0), (64.1, -21.9)])
def test_distances_over_a_city_are_right_within_a_part_in_a_thousand(middle: tuple[float, float]) -> None:
    north, east = middle
    points = [(north - 0.05, east - 0.05), (north + 0.05, east + 0.08), (north + 0.01, east + 0.02)]
    plane = ground([p[0] for p in points], [p[1] for p in points])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        drawn = math.hypot(plane.east[i] - plane.east[j], plane.north[i] - plane.north[j])
        assert drawn == pytest.approx(haversine(points[i], points[j]), rel=1e-3)


def test_a_list_across_the_antimeridian_stays_together() -> None:
    plane = ground([-17.0, -17.0], [179.9, -179.9])
    assert plane.width == pytest.approx(haversine((-17.0, 179.9), (-17.0, -179.9)), rel=1e-4)
    assert abs(plane.longitude) == pytest.approx(180)
    assert plane.east[0] < plane.east[1]


def test_one_place_is_its_own_middle() -> None:
    plane = ground([35.0], [139.0])
    assert (plane.width, plane.height, plane.latitude) == (0, 0, 35)
    assert plane.longitude == pytest.approx(139)


def grid(rows: int, columns: int) -> Ground:
    north, east = np.mgrid[:rows, :columns]
    return Ground.of(35 + north.ravel() * 0.001, 139 + east.ravel() * 0.0011)


def test_grids_are_recognised_and_scattered_places_are_not() -> None:
    assert is_lattice(grid(6, 9))
    assert not is_lattice(Ground.of(*np.random.default_rng(4).uniform(30, 31, (2, 60))))
    assert not is_lattice(ground([35.0, 35.1, 35.2], [139.0, 139.0, 139.0]))


def test_a_small_grid_keeps_its_cells() -> None:
    cells = squares(grid(3, 4))
    assert cells.one_each
    assert (len(cells.north), len(cells.east)) == (3, 4)
    assert cells.index.tolist() == list(range(12))


def test_a_large_grid_joins_whole_cells() -> None:
    cells = squares(grid(10, 15), most=5)
    assert (len(cells.north), len(cells.east)) == (5, 5)
    assert not cells.one_each
    assert (cells.total() == 6).all()


def test_scattered_places_all_fall_in_a_square_that_holds_them() -> None:
    plane = Ground.of(*np.random.default_rng(5).uniform(30, 31, (2, 4_000)))
    cells = squares(plane, most=50)
    assert max(len(cells.north), len(cells.east)) <= 50
    assert cells.total().sum() == 4_000
    row, column = np.divmod(cells.index, len(cells.east))
    side = cells.east[1] - cells.east[0]
    assert np.abs(plane.east - cells.east[column]).max() <= side / 2 * (1 + 1e-9)
    assert np.abs(plane.north - cells.north[row]).max() <= side / 2 * (1 + 1e-9)


def test_places_on_a_line_fall_in_squares_too() -> None:
    plane = Ground.of(np.full(100, 35.0), np.linspace(139, 140, 100))
    cells = squares(plane, most=10)
    assert cells.total().sum() == 100
    assert len(cells.north) == 1


def test_places_all_in_one_spot_fall_in_one_square() -> None:
    cells = squares(Ground.of(np.full(5, 35.0), np.full(5, 139.0)))
    assert cells.total().tolist() == [[5]]


@pytest.mark.parametrize(("limit", "length"), [(9.9, 5), (10, 10), (0.49, 0.2), (0.2, 0.2), (1999, 1000), (2.4, 2)])
def test_scale_bars_are_round(limit: float, length: float) -> None:
    assert round_length(limit) == pytest.approx(length)
