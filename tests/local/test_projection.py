"""The local plane against geodesics: no distance is longer than on the ground; the planes of many tools lengthen them."""

from __future__ import annotations

import math
import pickle
import threading
from typing import Any

import numpy as np
import pyproj
import pytest

from leeward.distance import Plane
from leeward.errors import InputError
from leeward.exact import exp
from leeward.local.location import Box, LocalPlane
from leeward.mechanism import PlanarMechanism

GROUND = pyproj.Geod(ellps="WGS84")  # Karney's geodesics: no projection is involved

BOXES = {
    "a city": Box(116.2, 39.75, 116.6, 40.1),
    "the equator": Box(10, -0.4, 10.4, 0.2),
    "wide, north": Box(-10, 59, 30, 61),
    "tall": Box(-5, 41, 3, 51),
    "wide, south": Box(20, -35, 40, -30),
    "over the antimeridian": Box(170, -47, -178, -34),
    "far north": Box(0, 70, 40, 75),
}


def pairs(box: Box, n: int = 20_000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions in a box, anywhere and metres apart, with many on its rim, where the scale is largest."""
    rng = np.random.default_rng(1)
    up, across = rng.uniform(size=(2, n)).round(2), rng.uniform(size=(2, n)).round(2)
    close = np.arange(n) < n // 2
    up[1, close] = np.clip(up[0, close] + rng.uniform(-1e-4, 1e-4, n // 2), 0, 1)
    across[1, close] = np.clip(across[0, close] + rng.uniform(-1e-4, 1e-4, n // 2), 0, 1)
    latitude = box.south + up * (box.north - box.south)
    longitude = (box.west + across * box.width + 180) % 360 - 180
    return latitude[0], longitude[0], latitude[1], longitude[1]


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_no_distance_is_longer_than_on_the_ground(box: Box) -> None:
    plane = LocalPlane(box)
    lat, lon, lat2, lon2 = pairs(box)
    ground = GROUND.inv(lon, lat, lon2, lat2)[2]
    apart = np.hypot(*(plane.project(lat, lon) - plane.project(lat2, lon2)).T)
    real = ground > 0.01
    ratio = apart[real] / ground[real]
    assert ratio.max() <= 1
    assert ratio.min() >= 1 - plane.shrinkage
    assert ratio.max() - ratio.min() > plane.shrinkage / 3, "the bound is not far above what is needed"
    assert plane.shrinkage < 0.006


def longest(project: Any, box: Box) -> float:
    """How much a plane lengthens the distances of a box at most, over the pairs tried."""
    lat, lon, lat2, lon2 = pairs(box)
    ground = GROUND.inv(lon, lat, lon2, lat2)[2]
    apart = np.hypot(*(project(lat, lon) - project(lat2, lon2)).T)
    return float((apart[ground > 1] / ground[ground > 1]).max())


def degrees_as_metres(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Degrees taken for equal lengths, as many tools do."""
    return np.column_stack([longitude, latitude]) * 111_195


def web_mercator(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    return np.column_stack(pyproj.Transformer.from_crs(4326, 3857, always_xy=True).transform(longitude, latitude))


@pytest.mark.parametrize("wrong", [degrees_as_metres, web_mercator])
def test_planes_of_tools_lengthen_distances_at_sixty_degrees_north(wrong: Any) -> None:
    """So noise that is ε·d-private in them is only 2ε·d-private on the ground."""
    box = Box(24.5, 59.5, 25.5, 60.5)
    assert longest(wrong, box) == pytest.approx(2, rel=0.03)
    assert longest(LocalPlane(box).project, box) <= 1


def test_noise_in_degrees_breaks_its_promise_and_the_local_plane_keeps_it() -> None:
    """The exact ratio of probabilities for two positions 200 metres apart, east and west, at 60° north."""
    east = 200 / (111_195 * math.cos(math.radians(60)))
    lat, lon = np.array([60.0, 60.0]), np.array([25.0, 25.0 + east])
    assert GROUND.inv(lon[0], lat[0], lon[1], lat[1])[2] == pytest.approx(200, rel=0.01)
    promise = PlanarMechanism(Plane("1/100"))  # e² for 200 metres
    for project, kept in ((degrees_as_metres, False), (LocalPlane(Box(24.5, 59.5, 25.5, 60.5)).project, True)):
        one, two = (tuple(point) for point in promise.snap(project(lat, lon)).tolist())
        ratio = promise.weight(one, one) / promise.weight(two, one)
        assert (ratio <= exp("2.01") * exp(promise.snapping)) == kept
        assert kept or ratio > exp("3.9")


def test_noise_around_the_centre_of_the_earth_is_not_noise_on_the_ground() -> None:
    """Laplace noise in Earth-centred coordinates, brought back to the surface, has lost a third of its displacement."""
    rng = np.random.default_rng(1)
    there = pyproj.Transformer.from_crs(4979, 4978, always_xy=True)
    centre = np.array(there.transform(25.0, 60.0, 0.0))
    radius, turn = rng.gamma(3, 200, 4000), rng.normal(size=(4000, 3))
    moved = centre + radius[:, None] * turn / np.linalg.norm(turn, axis=1, keepdims=True)
    lon, lat, _ = there.transform(*moved.T, direction="INVERSE")
    away = GROUND.inv(np.full(4000, 25.0), np.full(4000, 60.0), lon, lat)[2]
    assert away.mean() < 0.82 * radius.mean()


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_there_and_back(box: Box) -> None:
    plane = LocalPlane(box)
    lat, lon, _, _ = pairs(box, 1000)
    north, east = plane.unproject(plane.project(lat, lon))
    assert np.abs(north - lat).max() < 1e-9
    assert np.abs((east - lon + 180) % 360 - 180).max() < 1e-9
    west, south, east_edge, north_edge = plane.extent()
    at = plane.project(lat, lon)
    assert at[:, 0].min() >= west - 1e-6
    assert at[:, 0].max() <= east_edge + 1e-6
    assert at[:, 1].min() >= south - 1e-6
    assert at[:, 1].max() <= north_edge + 1e-6


def test_the_better_of_two_projections_is_taken() -> None:
    assert LocalPlane(BOXES["tall"]).name == "transverse Mercator"
    assert LocalPlane(BOXES["wide, north"]).name == "Lambert conformal conic"


@pytest.mark.parametrize("box", [Box(-40, 10, 40, 60), Box(0, -40, 60, 40)])
def test_a_box_too_large_for_one_plane_is_refused(box: Box) -> None:
    with pytest.raises(InputError, match="too much for one plane"):
        LocalPlane(box)


def test_a_plane_travels_and_serves_threads() -> None:
    plane = pickle.loads(pickle.dumps(LocalPlane(BOXES["a city"])))
    assert plane == LocalPlane(BOXES["a city"])
    expected = plane.project(np.array([39.9]), np.array([116.4]))
    right: list[bool] = []

    def work() -> None:
        right.extend((plane.project(np.array([39.9]), np.array([116.4])) == expected).all() for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 1600
    assert all(right)
