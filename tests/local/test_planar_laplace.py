"""Planar Laplace on the Earth: the promise in true metres, what is asked for, refused and said; and threads."""

from __future__ import annotations

import concurrent.futures
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyproj
import pytest
from tests.statistical.gof import rejects

import leeward as lw
from leeward.errors import DataError, InexactError, InputError, LowUtilityError, RefusedError
from leeward.exact import exact, exp, log
from leeward.local.location import Box, PlanarLaplace
from leeward.local.location._length import metres, round_below
from leeward.local.location._tracks import Tracks
from leeward.noise import SeededBitsForTests

GROUND = pyproj.Geod(ellps="WGS84")
CITY = (116.2, 39.75, 116.6, 40.1)
NORTH = (24.5, 59.5, 25.5, 60.5)


def mechanism(**options: Any) -> PlanarLaplace:
    return PlanarLaplace(**{"box": CITY, "within": "200 m", "factor": 2} | options)


# ---- the promise


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
@pytest.mark.parametrize("box", [CITY, NORTH], ids=["city", "north"])
def test_the_promise_holds_in_metres_on_the_ground(box: Any, norm: Any) -> None:
    """Exact ratios of probabilities for positions and outputs anywhere in the box, against geodesic distances."""
    geo = mechanism(box=box, norm=norm)
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(box[1], box[3], 6), rng.uniform(box[0], box[2], 6)
    lat = np.append(lat, lat[0] + 0.001)
    lon = np.append(lon, lon[0] + 0.002)
    points = [tuple(point) for point in geo.to_grid(lat, lon).tolist()]
    worst = 0.0
    for x, y in itertools.permutations(range(len(points)), 2):
        ground = GROUND.inv(lon[x], lat[x], lon[y], lat[y])[2]
        allowed = geo.ground_epsilon * Fraction(ground) + geo.snapping
        for z in points:
            paid = geo.mechanism.noise.length((z[0] - points[y][0], z[1] - points[y][1])) - geo.mechanism.noise.length(
                (z[0] - points[x][0], z[1] - points[x][1])
            )
            assert paid * geo.mechanism.noise.rate <= allowed
            worst = max(worst, float(paid * geo.mechanism.noise.rate / 1) / float(allowed))
    assert worst > (0.99 if norm == "euclidean" else 0.7), "and it is no looser than it must be"


def test_a_factor_within_a_length_is_an_exact_rate() -> None:
    """What snapping costs is taken out: the grid takes positions √2 m further apart, and 202 is the next whole metre."""
    geo = mechanism()
    assert geo.epsilon == log(2) / 202
    assert exp(geo.epsilon * 200 + geo.snapping) < 2 < exp(geo.epsilon * 201 + geo.snapping)
    assert mechanism(within=None, factor=None, epsilon="1/2", unit="0.1 km").epsilon == Fraction(1, 200)
    assert mechanism(within="1/5 km", factor="2").epsilon == geo.epsilon
    assert mechanism(norm="manhattan").ground_epsilon > geo.epsilon == geo.ground_epsilon


def test_the_step_is_fine_and_its_price_is_said() -> None:
    geo = mechanism()
    assert geo.step == 1
    assert mechanism(within="2 km").step == 10
    assert geo.snapping > geo.mechanism.snapping, "the projection's rounding is counted too"
    assert float(geo.snapping) == pytest.approx(math.log(2) / 202 * math.sqrt(2), rel=1e-5)
    assert float(geo.snapping) < 0.0071
    assert mechanism(step="100 m").snapping > 50 * geo.snapping


@pytest.mark.parametrize(
    ("limit", "step"), [(1.44, "1"), (14.4, "10"), (0.7, "0.5"), (0.02, "0.02"), (2.0, "2"), (999, "500")]
)
def test_round_steps(limit: float, step: str) -> None:
    assert round_below(limit) == step


@pytest.mark.parametrize("text", ["200", "200 ft", "m", "-3 m", "0 m", "inf m", 200, "2 0 m"])
def test_what_is_no_length(text: Any) -> None:
    with pytest.raises(InputError):
        metres(text, "within")


@pytest.mark.parametrize("text", ["1e400 km", "1000001 km", "1e-10 m", "1e-400 m"])
def test_what_is_no_length_on_the_earth(text: str) -> None:
    """Found by a fuzzer: lengths of tracks that no float holds ended in a defect."""
    assert metres(text, "within") > 0
    with pytest.raises(InputError, match="below a million km"):
        mechanism(within=text)
    for near, within in ((text, "200 m"), ("1 km", text)):
        with pytest.raises(InputError, match="below a million km"):
            Tracks(mechanism(), near=near, in_all={"within": within, "factor": "64"})


# ---- reports


@pytest.mark.statistical
def test_reports_lie_as_far_away_as_described_on_the_ground() -> None:
    geo = PlanarLaplace(box=NORTH, within="200 m", factor=2, bits=SeededBitsForTests(1))
    away = geo.describe()
    n = 40_000
    lat, lon = geo.perturb_points(np.full(n, 60.0), np.full(n, 25.0))
    ground = GROUND.inv(np.full(n, 25.0), np.full(n, 60.0), lon, lat)[2]
    assert rejects([(ground <= away.median).sum(), (ground <= away.within_95).sum()], [0.5, 0.95], n) is None
    east = GROUND.inv(np.full(n, 25.0), lat, lon, lat)[2]
    north = GROUND.inv(np.full(n, 25.0), np.full(n, 60.0), np.full(n, 25.0), lat)[2]
    assert east.mean() == pytest.approx(north.mean(), rel=0.03), "round in metres"
    assert np.abs(lon - 25).mean() == pytest.approx(2 * np.abs(lat - 60).mean(), rel=0.04), "and so not in degrees"
    far = rejects([(ground <= away.median * 0.9).sum()], [0.5], n)
    assert far is not None, "a rate 10 % off would be seen"
    assert not geo.fit_for_release


@pytest.mark.statistical
def test_directions_are_even() -> None:
    geo = mechanism(bits=SeededBitsForTests(2))
    n = 40_000
    lat, lon = geo.perturb_points(np.full(n, 39.9), np.full(n, 116.4))
    turn = GROUND.inv(np.full(n, 116.4), np.full(n, 39.9), lon, lat)[0]
    counts = np.bincount(((turn + 180) // 30).astype(int) % 12, minlength=12)
    assert rejects(counts, np.full(12, 1 / 12), n) is None


def test_reports_are_in_the_box_and_on_the_grid_whatever_the_position() -> None:
    geo = mechanism(box=(116.38, 39.89, 116.42, 39.91), within="1 km")
    corners = np.array([[39.89, 116.38], [39.91, 116.42], [39.9, 116.4]]).repeat(400, axis=0)
    lat, lon = geo.perturb_points(*corners.T)
    assert geo.box.holds(lat, lon).all()
    assert (lat > 39.9099).mean() > 0.05, "what falls outside is moved to the edge"
    on_grid = geo.mechanism.positions(geo.to_grid(lat, lon))
    away = np.abs(on_grid - geo.plane.project(lat, lon))
    inside = (lat > 39.8901) & (lat < 39.9099) & (lon > 116.3801) & (lon < 116.4199)
    assert inside.sum() > 50
    assert away[inside].max() < 0.02, "a centimetre of rounding"


def test_new_noise_each_time() -> None:
    geo = mechanism()
    assert len({geo.perturb_one(39.9, 116.4) for _ in range(50)}) > 45
    assert geo.fit_for_release


def test_across_the_antimeridian() -> None:
    geo = mechanism(box=(177, -19, -178, -16), within="20 km")
    lat, lon = geo.perturb_points(np.full(500, -17.0), np.full(500, 180.0))
    assert geo.box.holds(lat, lon).all()
    assert (lon > 0).any()
    assert (lon < 0).any()
    assert np.abs(lon).max() <= 180


@pytest.mark.parametrize("bad", [(math.nan, 116.4), (10.0, 10.0), (116.4, 39.9)])
def test_one_bad_position_is_refused(bad: tuple[float, float]) -> None:
    with pytest.raises(DataError):
        mechanism().perturb_one(*bad)


def test_missing_positions_stay_missing_where_that_is_asked_for() -> None:
    lat, lon = mechanism(missing="keep").perturb_points([39.9, math.nan, 39.9], [116.4, 116.4, math.nan])
    assert np.isnan(lat).tolist() == np.isnan(lon).tolist() == [False, True, True]
    with pytest.raises(DataError, match="missing"):
        mechanism().perturb_points([39.9, math.nan], [116.4, 116.4])


def test_positions_outside_are_clamped_where_that_is_asked_for() -> None:
    geo = mechanism(outside="clamp")
    assert (
        geo.to_grid(np.array([10.0]), np.array([100.0])).tolist()
        == geo.to_grid(np.array([39.75]), np.array([116.2])).tolist()
    )
    assert geo.box.holds(*(np.array([v]) for v in geo.perturb_one(10.0, 100.0))).all()
    assert any("moved to its edge first" in text for text in geo.statement().not_guaranteed)


@pytest.mark.parametrize("shape", [([1.0], [1.0, 2.0]), ([[1.0]], [[1.0]])])
def test_columns_must_match(shape: Any) -> None:
    with pytest.raises(InputError, match="different shapes"):
        mechanism().perturb_points(*shape)


def test_safe_in_threads() -> None:
    geo = mechanism()

    def work(_: int) -> list[tuple[float, float]]:
        return [geo.perturb_one(39.9, 116.4) for _ in range(100)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = [report for reports in pool.map(work, range(8)) for report in reports]
    assert len(found) == 800
    assert len(set(found)) > 790, "no two threads draw the same noise"


# ---- options


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"factor": 2.0}, InexactError, "float"),
        ({"factor": 1}, InputError, "above 1"),
        ({"factor": lw.inf}, InputError, "above 1"),
        ({"factor": None}, InputError, "in part"),
        ({"epsilon": "1"}, InputError, "twice"),
        ({"within": None, "factor": None, "epsilon": 0.01}, InexactError, "float"),
        ({"within": None, "factor": None, "epsilon": "0"}, InputError, "above 0"),
        ({"within": None, "factor": None, "epsilon": lw.inf}, RefusedError, "it promises nothing"),
        ({"within": None, "factor": None, "epsilon": "3"}, RefusedError, "would lie 0.67 metres"),
        ({"within": None, "factor": None, "epsilon": "0.00001"}, LowUtilityError, "200,000 metres"),
        ({"step": "1"}, InputError, "not a length"),
        ({"step": "200 km"}, LowUtilityError, "on the same grid point"),
        ({"step": "1e400 m"}, LowUtilityError, "on the same grid point"),
        ({"norm": "chebyshev"}, InputError, "not a norm"),
        ({"outside": "drop"}, InputError, "not an option"),
        ({"missing": "drop"}, InputError, "not an option"),
        ({"box": (0, 0, 0, 1)}, InputError, "degrees of longitude"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        mechanism(**options)


def test_the_posterior_is_exact_and_stays_within_the_promise() -> None:
    geo = mechanism()
    prior = {(39.9, 116.4): "1/2", (39.9018, 116.4): "1/2"}  # 200 metres apart
    seen = geo.posterior(39.9, 116.4, prior)
    near, far = seen.values()
    assert near + far == 1
    assert 1.98 < float(near / far) <= 2 * math.exp(float(geo.snapping))
    assert geo.posterior(39.95, 116.4, {(39.9, 116.4): 3}) == {(39.9, 116.4): exact(1)}
    with pytest.raises(InputError, match="no such report"):
        geo.posterior(39.9, 116.4, {(39.9, 116.4): 0})


def test_the_statement_says_what_is_promised_in_metres() -> None:
    made = mechanism().statement()
    assert made.promise.epsilon_per_metre == "log(2)/202"
    assert "within 200 metres at most by the factor 2, snapping included" in made.promise.text
    odds = 2 ** (100 / 202) * math.exp(float(mechanism().snapping))
    assert odds <= float(made.promise.factors["100 m"]) < odds + 0.001  # never less than what is kept
    assert made.displacement.median == pytest.approx(489, abs=1)
    assert made.fit_for_release is True
    assert "n reports cost n times as much as one" in made.not_guaranteed[0]
    assert Box(**made.box.model_dump()) == Box(*CITY)


def test_the_public_name() -> None:
    assert lw.PlanarLaplace is PlanarLaplace
    assert repr(mechanism()) == 'PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor="2")'
