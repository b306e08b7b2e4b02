"""Public boxes: what is one, what lies in it, and what is said of positions that do not."""

from __future__ import annotations

import math

import numpy as np
import pyproj
import pytest

from leeward.errors import DataError, InputError
from leeward.local.location import Box

CITY = Box(116.2, 39.75, 116.6, 40.1)
FIJI = Box(177, -19, -178, -16)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ((1, 2, 1, 3), "degrees of longitude"),
        ((1, 3, 2, 3), "it is empty"),
        ((1, 4, 2, 3), "it is empty"),
        ((-60, 0, 60, 10), "120 degrees"),
        ((2, 0, 1, 10), "359 degrees"),
        ((0, 80, 40, 89.5), "pole"),
        ((0, -90, 40, -80), "pole"),
        ((0, 84, 89, 88.9), "pole"),
        ((0, 0, 10, 91), "from -90 to 90"),
        ((0, 0, 190, 10), "from -180 to 180"),
        ((0, math.nan, 1, 10), "south = nan"),
        ((0, 0, "1", 10), "east = '1'"),
    ],
)
def test_what_is_no_box(edges: tuple[float, float, float, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Box(*edges)


def test_a_box_over_the_antimeridian() -> None:
    assert FIJI.width == 5
    assert FIJI.middle == (-17.5, 179.5)
    inside = FIJI.holds(np.full(6, -17.0), np.array([177, 180, -180, -178, -177.9, 176.9]))
    assert inside.tolist() == [True, True, True, True, False, False]
    north, east = FIJI.nearest(np.array([-10.0, -17.0, -17.0]), np.array([179.0, -170.0, 170.0]))
    assert north.tolist() == [-16, -17, -17]
    assert np.allclose(east, [179, -178, 177])


@pytest.mark.parametrize("box", [CITY, Box(0, 50, 80, 60), Box(0, -60, 80, -50), Box(0, -5, 60, 40)])
def test_shortest_ways_stay_within_the_hull(box: Box) -> None:
    ground = pyproj.Geod(ellps="WGS84")
    south, north = box.hull()
    for a in (box.south, box.north):
        for b in (box.south, box.north):
            way = np.array(ground.npts(box.west, a, box.west + box.width, b, 200))
            assert way[:, 1].max() <= north
            assert way[:, 1].min() >= south
    top = np.array(ground.npts(box.west, box.north, box.west + box.width, box.north, 201))[:, 1].max()
    assert north - box.north <= 1.03 * max(top - box.north, 0) + 1e-9, "and the hull is no larger than they need"


def test_positions_in_the_box_pass_edges_included() -> None:
    CITY.check(np.array([39.75, 40.1]), np.array([116.2, 116.6]), clamp=False)


@pytest.mark.parametrize(
    ("latitude", "longitude", "clamp", "message"),
    [
        ([39.9, math.nan], [116.4, 116.4], True, "missing or not finite"),
        ([39.9, math.inf], [116.4, 116.4], True, "missing or not finite"),
        ([116.4, 116.5], [39.9, 39.8], True, "look swapped"),
        ([39.9, 41.0], [116.4, 116.4], False, "outside the public box"),
        ([4_400_000.0], [500_000.0], True, "not degrees"),
        ([39.9], [4000.0], True, "not degrees"),
    ],
)
def test_bad_positions_are_refused_without_saying_which(
    latitude: list[float], longitude: list[float], clamp: bool, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        CITY.check(np.array(latitude), np.array(longitude), clamp=clamp)
    assert "curator only" in str(caught.value)
    for value in [*latitude, *longitude]:
        assert not math.isfinite(value) or str(value) not in str(caught.value)


def test_positions_outside_may_be_clamped() -> None:
    CITY.check(np.array([39.9, 10.0]), np.array([116.4, -60.0]), clamp=True)
    assert [float(axis[0]) for axis in CITY.nearest(np.array([10.0]), np.array([100.0]))] == pytest.approx(
        [39.75, 116.2]
    )


EDGES = [(170, -45, 180, -40), (-180, -45, -170, -40), (175, -45, -175, -40), (179.9999, 10, 180, 10.0001)]
EDGES += [(170, 0, -180, 5), (-0.1, 51, 0.3, 52), (139.3, 35.3, 140.2, 36.1)]


@pytest.mark.parametrize("edges", EDGES)
def test_what_is_moved_into_a_box_lies_between_its_edges_as_numbers(edges: tuple[float, float, float, float]) -> None:
    """A reader compares longitudes with the edges: 180 and -180 are one meridian, but not one number."""
    west, south, east, north = edges
    box = Box(*edges)
    rows = [(lat, lon) for lat in (south - 1, south, north, north + 1) for lon in np.linspace(-180, 180, 721)]
    rows += [(south, lon + turn) for lon in (west, east, box.middle[1]) for turn in (-360, 0, 360)]
    up, along = box.nearest(*np.array(rows).T)
    assert ((up >= south) & (up <= north)).all()
    assert (((along >= west) & (along <= east)) if west < east else ((along >= west) | (along <= east))).all()
    assert box.holds(up, along).all()
