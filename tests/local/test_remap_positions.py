"""Reports moved to places, cells, and the best mechanism: post-processing that helps, and promises that are kept."""

from __future__ import annotations

import itertools
from typing import Any

import h3
import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.distance import Plane
from leeward.errors import InputError
from leeward.local.location import BayesRemap, PlanarLaplace, PriorPlaces, compare_over_places
from leeward.local.location._after import h3_cells, h3_centres
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

GEO = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2)
RNG = np.random.default_rng(1)
LAT, LON = 39.9 + RNG.uniform(-0.01, 0.01, 12), 116.4 + RNG.uniform(-0.01, 0.01, 12)
WEIGHTS = RNG.uniform(0.1, 1, 12)


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
def test_the_remap_is_the_least_expected_distance_by_hand(norm: Any) -> None:
    places = PriorPlaces.of(GEO.plane, LAT, LON, WEIGHTS)
    remap = BayesRemap(places, places.at, 0.003, norm)
    seen = RNG.uniform(-2000, 2000, (50, 2)) + places.at[0]
    for z, chosen in zip(seen, remap(seen).tolist(), strict=True):
        moves = np.abs(z - places.at)
        away = moves.sum(axis=1) if norm == "manhattan" else np.sqrt((moves**2).sum(axis=1))
        belief = WEIGHTS * np.exp(-0.003 * away)
        losses = [sum(b * np.linalg.norm(x - w) for b, x in zip(belief, places.at, strict=True)) for w in places.at]
        assert losses[chosen] == pytest.approx(min(losses))


@pytest.mark.parametrize("step", ["10 m", "150 m", "300 m"])
def test_the_remap_weighs_places_from_where_their_noise_begins(step: str) -> None:
    """Found: on a coarse grid a place was weighed from where it lies, not from the grid point at which its noise begins.

    By hand, from the exact law: two places that share a grid point are equally likely after any report.
    """
    geo = PlanarLaplace(box=(139.70, 35.60, 139.74, 35.63), epsilon="1", unit="150 m", step=step)
    at = RNG.uniform(-1200, 1200, (6, 2))
    lat, lon = geo.plane.unproject(at)
    shown = geo.to_places(lat, lon, weights=WEIGHTS[:6]).shown
    starts = [tuple(point) for point in geo.mechanism.snap(geo.plane.project(lat, lon)).tolist()]
    law = geo.mechanism.noise
    for z in itertools.product(range(-4, 5, 2), repeat=2):
        belief = [w * float(law.pmf((z[0] - i, z[1] - j))) for w, (i, j) in zip(WEIGHTS, starts, strict=False)]
        losses = [sum(b * np.linalg.norm(x - w) for b, x in zip(belief, at, strict=True)) for w in at]
        found = shown(np.array([z]))
        chosen = int(np.argmin(np.abs(lat - found[0][0]) + np.abs(lon - found[1][0])))
        assert losses[chosen] == pytest.approx(min(losses), rel=1e-6)


def test_long_lists_are_weighed_near_the_report() -> None:
    lat, lon = 39.9 + RNG.uniform(-0.05, 0.05, 2000), 116.4 + RNG.uniform(-0.05, 0.05, 2000)
    places = PriorPlaces.of(GEO.plane, lat, lon, None)
    seen = places.at[:200] + RNG.normal(0, 300, (200, 2))
    chosen = places.at[BayesRemap(places, places.at, 0.1, "euclidean")(seen)]
    nearest = places.at[places.nearest(*GEO.plane.unproject(seen))]
    away, least = (np.hypot(*(seen - where).T) for where in (chosen, nearest))
    assert (away - least).max() < 60, "at this ε the posterior is within tens of metres"


@pytest.mark.parametrize("possible", [1, 20, 40, 600])
def test_reports_are_moved_to_no_place_that_the_prior_rules_out(possible: int) -> None:
    """Found: of a long list, the 32 nearest may all be impossible; then an arbitrary one of them was reported."""
    rng = np.random.default_rng(1)
    lat, lon = 39.8 + 0.2 * rng.random(600), 116.25 + 0.3 * rng.random(600)
    order = np.argsort(lat)  # the possible ones lie all in the south
    weights = np.zeros(600)
    weights[order[:possible]] = rng.uniform(0.5, 1, possible)
    places = PriorPlaces.of(GEO.plane, lat, lon, weights)
    seen = places.at[order[-200:]] + rng.normal(0, 50, (200, 2))
    chosen = BayesRemap(places, places.at, 0.01, "euclidean")(seen)
    assert weights[chosen].all()
    every = BayesRemap(places, places.at, 0.01, "euclidean").believed(seen) @ places.apart
    told = every[np.arange(200), chosen]
    assert (told <= every[:, np.flatnonzero(weights)].min(axis=1) + 1).all(), "within a metre of weighing all"


def test_weights_that_are_large_are_weights() -> None:
    places = PriorPlaces.of(GEO.plane, LAT[:2], LON[:2], [1e308, 1e308])
    assert places.prior.tolist() == [0.5, 0.5]


def test_a_picture_tells_shares_within_circles_of_planar_noise_alone() -> None:
    """Found: circles of the noise were drawn around reports that are centres of cells, and hold other shares of them."""
    middle = GEO.box.middle
    for geo in (
        GEO,
        GEO.to_h3(5),
        GEO.to_places(LAT, LON),
        GEO.to_places(LAT, LON).to_h3(7),
        GEO.best_over(LAT, LON)[0],
    ):
        drawn = [line.name for line in geo.picture().data if "within" in (line.name or "")]
        assert bool(drawn) == (geo is GEO)
        for name in drawn:
            reports = geo.plane.project(*geo.perturb_points(np.full(4000, middle[0]), np.full(4000, middle[1])))
            radius = float(name.split("within ")[1].split(" m")[0].replace(",", ""))
            inside = int((np.hypot(*reports.T) <= radius).sum())
            assert rejects([inside], [0.5 if "half" in name else 0.95], 4000) is None, name


def test_reports_are_places_and_nearer_to_the_truth() -> None:
    compared = compare_over_places(GEO, LAT, LON, WEIGHTS, draws=4000)
    assert compared.best is not None
    assert compared.best < compared.remapped - 5 * compared.remapped_error < compared.planar_laplace - 100
    moved = GEO.to_places(LAT, LON, WEIGHTS)
    reports = {
        *zip(*(axis.tolist() for axis in moved.perturb_points(np.full(300, LAT[0]), np.full(300, LON[0]))), strict=True)
    }
    assert len(reports) > 1
    assert reports <= {*zip(LAT.tolist(), LON.tolist(), strict=True)}
    assert "Bayes remap" in moved.statement().post_processing[0]
    assert moved.statement().displacement is not None


def test_distances_are_those_of_reports_as_they_are_shown() -> None:
    """Much noise in a small box: most reports are moved to its edge, and are nearer than the noise alone is.

    Distances on the ground are taken from degrees, a map's scale for each axis. Of 20,000 and 8,000 draws of at most 2.6 km,
    means differ by over 4 % once in 10¹² runs; the mean of the noise alone is twice as far.
    """
    geo = PlanarLaplace(box=(139.70, 35.60, 139.72, 35.616), epsilon="1", unit="1000 m")
    north, east = np.linspace(35.601, 35.615, 8), np.linspace(139.701, 139.719, 8)
    told = compare_over_places(geo, north, east).planar_laplace
    there = np.repeat(np.arange(8), 1000)
    latitude, longitude = geo.perturb_points(north[there], east[there])
    up, across = (latitude - north[there]) * 110_950, (longitude - east[there]) * 90_600
    away = np.hypot(up, across).mean()
    assert told == pytest.approx(away, rel=0.04)
    assert away < 0.6 * geo.describe().mean


def test_the_best_mechanism_is_certified_and_draws_from_its_matrix() -> None:
    moved, best = GEO.best_over(LAT, LON, WEIGHTS)
    assert best.optimal.bound <= best.loss * (1 + 1e-9)
    places = best.optimal.mechanism.inputs
    promise = Plane(GEO.epsilon * GEO.step).on(places)
    assert verify(best.optimal.mechanism, promise)
    assert not verify(best.optimal.mechanism, Plane(GEO.epsilon * GEO.step * "0.98").on(places))
    n = 20_000
    # a position near the third place, nearer than to any other
    lat, lon = moved.perturb_points(np.full(n, LAT[2] + 1e-6), np.full(n, LON[2]))
    row = best.optimal.mechanism.row(places[2])
    counts = [int(((lat == a) & (lon == o)).sum()) for a, o in zip(LAT, LON, strict=True)]
    assert rejects(counts, [float(row.get(z, 0)) for z in places], n) is None
    other = best.optimal.mechanism.row(places[3])
    assert rejects(counts, [float(other.get(z, 0)) for z in places], n) is not None
    assert moved.statement().mechanism.name == "best over places"
    assert moved.statement().displacement is None


@pytest.mark.parametrize("step", ["20 m", "400 m"])
@pytest.mark.statistical
def test_the_expected_distance_is_between_places_and_not_between_their_grid_points(step: str) -> None:
    """By simulation, within 5 standard errors (false alarm below 1e-6); between grid points it is 3 % less at 400 metres."""
    geo, rng = (
        PlanarLaplace(box=(139.7, 35.6, 139.8, 35.7), within="1 km", factor=2, step=step),
        np.random.default_rng(4),
    )
    lat, lon = 35.64 + 0.02 * rng.random(6), 139.74 + 0.02 * rng.random(6)
    while len({*map(tuple, geo.to_grid(lat, lon).tolist())}) < 6:
        lat, lon = 35.64 + 0.02 * rng.random(6), 139.74 + 0.02 * rng.random(6)
    moved, best = geo.best_over(lat, lon)
    who = rng.choice(6, 100_000)
    at = geo.plane.project(*moved.perturb_points(lat[who], lon[who])) - geo.plane.project(lat[who], lon[who])
    away = np.hypot(*at.T)
    assert abs(away.mean() - best.loss) < 5 * away.std() / len(who) ** 0.5
    snapped = float(geo.step) * np.linalg.norm(best.points[:, None] - best.points[None], axis=2)
    outputs = [best.optimal.mechanism.inputs.index(z) for z in best.optimal.mechanism.outputs]
    between_points = (best.optimal.mechanism.to_numpy() * snapped[:, outputs]).sum() / 6
    assert (abs(best.loss - between_points) > 10 * away.std() / len(who) ** 0.5) == (step == "400 m")


def test_every_ordered_pair_of_places_keeps_the_promise() -> None:
    _, best = GEO.best_over(LAT, LON)
    matrix, at = best.optimal.mechanism.to_numpy(), best.places.at
    for x, y in itertools.permutations(range(len(at)), 2):
        apart = np.hypot(*(np.round(at[x]) - np.round(at[y])))
        assert (matrix[x] <= matrix[y] * np.exp(float(GEO.epsilon) * apart) * (1 + 1e-9)).all()


def test_cells() -> None:
    moved = GEO.to_h3(8)
    lat, lon = moved.perturb_points(np.full(200, 39.9), np.full(200, 116.4))
    cells = h3_cells(lat, lon, 8)
    assert len(set(cells)) > 5
    for a, o, cell in zip(lat, lon, cells, strict=True):
        assert h3.cell_to_latlng(cell) == pytest.approx((a, o), abs=1e-6)
    gone = h3_centres([None, cells[0]])
    assert np.isnan(gone[0]).tolist() == [True, False]
    assert h3_cells(np.array([np.nan]), np.array([1.0]), 8) == [None]
    assert "H3 cell of resolution 8" in moved.statement().post_processing[-1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([], []), "none"),
        (([39.9], [116.4, 116.5]), "different lengths"),
        (([39.9], [16.4]), "outside the box"),
        (([39.9], [116.4], [-1]), "not weights"),
        (([39.9], [116.4], [np.nan]), "not weights"),
        (([39.9], [116.4], [0]), "not weights"),
    ],
)
def test_lists_of_places_that_are_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GEO.to_places(*given)


def test_too_many_places_or_two_at_one_point_have_no_best_mechanism() -> None:
    with pytest.raises(InputError, match="61 places"):
        GEO.best_over(np.linspace(39.8, 39.9, 61), np.full(61, 116.4))
    with pytest.raises(InputError, match="one grid point"):
        GEO.best_over([39.9, 39.9], [116.4, 116.4])


def test_a_position_outside_goes_to_the_place_nearest_to_where_it_is_clamped() -> None:
    geo = PlanarLaplace(box=(4.8, 52.3, 5.0, 52.4), within="1 km", factor=2, outside="clamp")
    made, _ = geo.best_over([52.36, 52.31], [4.95, 4.999])
    asked = made.to_grid(np.array([52.36, 52.36, 52.31]), np.array([20.0, 4.95, 4.999])).tolist()
    assert asked[0] == asked[1] != asked[2], "as the crow flies the other place is nearer"


@pytest.mark.parametrize("resolution", [-1, 16, True, 8.0])
def test_what_is_no_resolution(resolution: Any) -> None:
    with pytest.raises(InputError, match="resolutions 0 to 15"):
        GEO.to_h3(resolution)


def test_the_best_mechanism_draws_from_the_bits_that_it_was_given() -> None:
    def reports(seed: int) -> list[float]:
        seeded = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2, bits=SeededBitsForTests(seed))
        moved, _ = seeded.best_over(LAT, LON, WEIGHTS)
        assert not moved.fit_for_release
        return list(moved.perturb_points(np.full(100, LAT[2]), np.full(100, LON[2]))[0])

    assert reports(1) == reports(1)
    assert reports(1) != reports(2)  # false alarm: the chance that 100 reports agree, below 1e-10


def test_of_places_on_one_grid_point_only_the_remap_is_compared() -> None:
    geo = PlanarLaplace(box=(139.3, 35.3, 140.2, 36.1), within="200 m", factor=2, step="50 m")
    compared = compare_over_places(geo, [35.6, 35.6, 35.7], [139.7, 139.70001, 139.8], draws=500)
    assert compared.best is None
    assert compared.remapped > 0


def test_distances_are_those_of_the_cells_that_are_published() -> None:
    """Noise of a few metres, and cells of six kilometres: what is told is the way to the centres of the cells."""
    import h3

    geo = PlanarLaplace(box=(139.3, 35.3, 140.2, 36.1), within="10 m", factor=4)
    north, east = np.array([35.6, 35.61, 35.7]), np.array([139.7, 139.71, 139.8])
    centres = np.array([h3.cell_to_latlng(h3.latlng_to_cell(*at, 6)) for at in zip(north, east, strict=True)])
    away = np.hypot(*(geo.plane.project(*centres.T) - geo.plane.project(north, east)).T).mean()
    told = compare_over_places(geo.to_h3(6), north, east)
    assert away > 500
    for each in (told.planar_laplace, told.remapped, told.best):
        assert each == pytest.approx(away, rel=0.05)
    assert compare_over_places(geo, north, east).planar_laplace < 50


@pytest.mark.parametrize("weights", [[1, 2, 0], [1, 1000, 1], [1, 1, 1]])
def test_a_place_that_the_best_mechanism_never_reports_is_told_of_in_cells_too(weights: list[int]) -> None:
    """Of places 140 m apart, those of no weight or of little are never reported."""
    geo = PlanarLaplace(box=(139.3, 35.3, 140.2, 36.1), within="200 m", factor=2)
    north, east = np.array([35.6, 35.601, 35.602]), np.array([139.7, 139.701, 139.702])
    made, best = geo.best_over(north, east, weights)
    rows, at = best.optimal.mechanism, np.array(best.optimal.mechanism.inputs)
    assert (len(rows.outputs) < 3) is (weights != [1, 1, 1])
    centres = np.array([h3.cell_to_latlng(h3.latlng_to_cell(*place, 9)) for place in zip(north, east, strict=True)])
    away = np.hypot(*(geo.plane.project(*centres.T)[None] - geo.plane.project(north, east)[:, None]).transpose(2, 0, 1))
    expected = sum(
        float(best.places.prior[x])
        * float(rows.row(tuple(at[x].tolist()))[z])
        * away[x, [*map(tuple, at.tolist())].index(z)]
        for x in range(3)
        for z in rows.outputs
    )
    assert compare_over_places(geo.to_h3(9), north, east, weights, draws=500).best == pytest.approx(expected, rel=1e-4)
    assert "H3 cell of resolution 9" in made.to_h3(9).statement().post_processing[-1]
