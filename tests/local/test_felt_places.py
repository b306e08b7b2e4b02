"""Reports over public places whose distances are elastic, or short around a region: the spec, Python, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from leeward.errors import DataError, InputError, LeewardError, SpecError
from leeward.local import check_job
from leeward.local.location import Felt, PlaceRegion, PlanarLaplace
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

BOX = {"west": 116.2, "south": 39.8, "east": 116.5, "north": 40.0}
CELLS = [(39.90 + 0.01 * i, 116.30 + 0.012 * j) for i in range(4) for j in range(3)]
PEOPLE = [900.0, 700, 40, 500, 300, 20, 60, 30, 5, 8, 4, 1]
NORTH, EAST = (list(column) for column in zip(*CELLS, strict=True))
ELASTIC = Felt(within="500 m", least="300")
CLINIC = PlaceRegion("clinic", [4], "1500 m", "500 m")


def noise(**options: Any) -> PlanarLaplace:
    given = {
        "box": tuple(BOX.values()),
        "within": "500 m",
        "factor": 2,
        "step": "1 m",
        "bits": SeededBitsForTests(2),
    } | options
    return PlanarLaplace(**given)


@pytest.mark.parametrize(
    "felt", [ELASTIC, Felt(regions=[CLINIC]), Felt("500 m", "300", [CLINIC])], ids=["e", "r", "both"]
)
def test_both_mechanisms_keep_the_felt_distance_and_metres(felt: Felt) -> None:
    geo = noise()
    best, exponential = (
        geo.best_over(NORTH, EAST, PEOPLE, felt=felt),
        geo.exponential_over(NORTH, EAST, PEOPLE, felt=felt),
    )
    points = [(int(i), int(j)) for i, j in best[1].points]
    promise = felt.promise(geo, points, PEOPLE)
    for made in (best[1], exponential[1]):
        assert verify(made.mechanism, promise)
        plain = Felt().promise(geo, points)
        assert promise.price_in(plain) <= 1  # so nobody is protected less than without
        assert not verify(noise(factor=4).best_over(NORTH, EAST, PEOPLE)[1].mechanism, promise)
    assert best[1].loss <= exponential[1].loss + 1e-6
    where = set(zip(NORTH, EAST, strict=True))
    assert {exponential[0].perturb_one(39.905, 116.31) for _ in range(20)} <= where


def test_a_village_is_moved_farther_than_a_square_and_less_so_without() -> None:
    elastic = noise().exponential_over(NORTH, EAST, PEOPLE, felt=ELASTIC)[1]
    plain = noise().exponential_over(NORTH, EAST, PEOPLE)[1]
    gained = elastic.displaced / plain.displaced
    assert gained[-3:].min() > gained[:2].max()
    told = elastic.displaced_by(ELASTIC)
    assert [each.places for each in told] == [3, 3, 3, 3]
    for part, quarter in zip(told, ([11, 10, 8], [9, 5, 7], [2, 6, 4], [3, 1, 0]), strict=True):
        weights = [PEOPLE[place] for place in quarter]
        assert (part.lightest, part.heaviest) == (min(weights), max(weights))
        assert part.mean == pytest.approx(elastic.displaced[quarter].mean(), rel=1e-3)
    assert told[0].mean > told[-1].mean


def test_places_of_one_weight_are_told_of_together() -> None:
    made = noise().exponential_over(NORTH, EAST, [7.0] * len(CELLS), felt=ELASTIC)[1]
    (told,) = made.displaced_by(ELASTIC)
    assert (told.name, told.places, told.lightest, told.heaviest) == ("all places", 12, 7, 7)
    assert told.mean == pytest.approx(made.displaced.mean(), rel=1e-3)


def test_of_the_private_mechanisms_the_nearest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that are proved, one of which is the other with half its ε left unused, the better."""
    from leeward.local.location import _over_places

    proved = _over_places.certified_exponential
    worse: list[Any] = []

    def both(promise: Any) -> list[Any]:
        (*_, weak), strong = proved(promise.scale("1/4")), proved(promise)
        worse.append(weak)
        return [*strong, weak] if len(worse) % 2 else [weak, *strong]

    alone = noise().exponential_over(NORTH, EAST, PEOPLE, felt=ELASTIC)[1]
    monkeypatch.setattr(_over_places, "certified_exponential", both)
    for _ in range(2):
        assert noise().exponential_over(NORTH, EAST, PEOPLE, felt=ELASTIC)[1].loss == alone.loss


def test_as_many_places_as_are_said_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from leeward.local.location import _over_places

    monkeypatch.setattr(_over_places, "MOST", len(CELLS))
    assert len(noise().exponential_over(NORTH, EAST, PEOPLE)[1].points) == 12
    monkeypatch.setattr(_over_places, "MOST", len(CELLS) - 1)
    with pytest.raises(InputError, match=r"12 places.*for 11 at most"):
        noise().exponential_over(NORTH, EAST, PEOPLE)


def test_figures_and_the_posterior_are_those_of_the_matrix() -> None:
    geo, made = noise().exponential_over(NORTH, EAST, PEOPLE, felt=ELASTIC)
    assert np.allclose(made.chances.sum(axis=1), 1)
    truth = CELLS[4]
    seen = [geo.perturb_one(*truth) for _ in range(300)]
    expected = made.chances[4]
    counted = np.array([seen.count(cell) for cell in CELLS]) / 300
    assert np.abs(counted - expected).max() < 0.16  # seeded; Hoeffding: 12 of 2·e^(−2·300·.16²), below 1e-5
    prior = dict.fromkeys(CELLS, 1)
    shown = CELLS[int(expected.argmax())]
    believed = geo.posterior(*shown, prior)
    column = made.chances[:, CELLS.index(shown)]
    assert [float(believed[cell]) for cell in CELLS] == pytest.approx((column / column.sum()).tolist())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cells = pd.DataFrame(
        {"lat": NORTH, "lon": EAST, "people": PEOPLE, "kind": ["street"] * 4 + ["clinic"] + ["street"] * 7}
    )
    cells.to_csv(tmp_path / "cells.csv", index=False)
    pd.DataFrame({"lat": NORTH[:5], "lon": EAST[:5]}).to_parquet(tmp_path / "p.parquet")
    square = [[116.305, 39.905], [116.32, 39.905], [116.32, 39.915], [116.305, 39.915], [116.305, 39.905]]
    shape = {
        "type": "Feature",
        "properties": {"use": "clinic"},
        "geometry": {"type": "Polygon", "coordinates": [square]},
    }
    (tmp_path / "zones.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [shape]}))
    return tmp_path


def spec(**sections: Any) -> dict[str, Any]:
    given = {
        "perturb": {"kind": "location"},
        "data": {"table": "p.parquet", "latitude": "lat", "longitude": "lon"},
        "box": BOX,
        "protect": {"within": "500 m", "factor": "2"},
        "places": {
            "table": "cells.csv",
            "latitude": "lat",
            "longitude": "lon",
            "weight": "people",
            "use": "exponential",
        },
    } | sections
    return {name: section for name, section in given.items() if section is not None}


POLICY = {"within": "1500 m", "counts_as": "500 m"}


def test_the_plan_says_how_far_by_density_before_anything_is_read(folder: Path) -> None:
    (folder / "p.parquet").unlink()
    regions = {"column": "kind", "of": {"clinic": POLICY}}
    job = check_job(spec(elastic={"within": "500 m", "least": "300"}, regions=regions), folder=folder)
    said = [text for title, text in job.facts() if title == "reports lie off"]
    assert len(said) == 5
    assert said[-1].startswith("clinic (1 place,")
    promise = job.statement().to_dict()["promise"]["text"]
    assert "as places of weight 300·(m/500)² together" in promise
    assert "within 1500 m as if it were 500 m away, a factor of 1.9" in promise


def test_a_region_by_a_column_and_by_polygons_is_the_same_law(folder: Path) -> None:
    by_column = check_job(spec(regions={"column": "kind", "of": {"clinic": POLICY}}), folder=folder)
    polygons = {"column": "use", "geojson": "zones.geojson", "of": {"clinic": POLICY}}
    by_shape = check_job(spec(regions=polygons), folder=folder)
    assert by_shape.geo.law == by_column.geo.law  # type: ignore[attr-defined]
    out = folder / "o.parquet"
    by_shape.run(out, lambda *_: None)
    assert len(pd.read_parquet(out)) == 5


def test_what_is_never_passed_into_is_excepted_from_the_promise(folder: Path) -> None:
    text = {}
    for back in ("usual", "never"):
        job = check_job(spec(regions={"column": "kind", "of": {"clinic": POLICY | {"back": back}}}), folder=folder)
        text[back] = job.statement().to_dict()["promise"]["text"]
    assert "All this excepts passing from a place outside clinic as one inside" in text["never"]
    assert "excepts" not in text["usual"]


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"places": None, "elastic": {"within": "1 km", "least": "3"}}, "public places are felt"),
        ({"regions": {"column": "kind", "of": {"castle": POLICY}}}, "no public place lies in it"),
        ({"regions": {"column": "kind", "of": {}}}, "names none"),
        ({"regions": {"column": "kind", "of": {"clinic": POLICY | {"counts_as": "0 m"}}}}, "counts_as"),
        ({"regions": {"column": "use", "geojson": "none.geojson", "of": {"clinic": POLICY}}}, "none.geojson"),
        ({"regions": {"column": "kind", "geojson": "zones.geojson", "of": {"clinic": POLICY}}}, "no public place"),
        (
            {
                "elastic": {"within": "1 km", "least": "3"},
                "regions": {"column": "kind", "of": {"clinic": POLICY | {"back": "never"}}},
            },
            "beside a region",
        ),
    ],
)
def test_what_cannot_be_promised_is_refused(sections: dict[str, Any], said: str, folder: Path) -> None:
    with pytest.raises(LeewardError, match=said):
        check_job(spec(**sections), folder=folder)


@pytest.mark.parametrize(
    "shape",
    [
        None,
        "Polygon",
        {"type": 7},
        {"type": "Point", "coordinates": [116.31, 39.91]},
        {
            "type": "Polygon",
            "coordinates": [[[116.3, 39.9], [116.32, 39.92], [116.32, 39.9], [116.3, 39.92], [116.3, 39.9]]],
        },
    ],
)
def test_a_region_that_is_no_polygon_is_refused_in_words(shape: Any, folder: Path) -> None:
    """The last one's edges cross: which places it holds is anybody's guess."""
    held = {"type": "Feature", "properties": {"use": "clinic"}, "geometry": shape}
    (folder / "zones.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [held]}))
    with pytest.raises(DataError, match=r"Give a collection of polygons|its edges cross"):
        check_job(spec(regions={"column": "use", "geojson": "zones.geojson", "of": {"clinic": POLICY}}), folder=folder)


def ring(west: float, east: float, half: float = 0.05) -> list[list[float]]:
    south, north = -17 - half, -17 + half
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def near_180(folder: Path, shape: dict[str, Any], places: list[float]) -> Any:
    pd.DataFrame({"lat": [-17.0] * 4, "lon": places, "people": [1] * 4}).to_csv(folder / "cells.csv", index=False)
    held = {"type": "Feature", "properties": {"use": "clinic"}, "geometry": shape}
    (folder / "zones.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [held]}))
    box = {"west": 179.9, "south": -17.1, "east": -179.9, "north": -16.9}
    regions = {"column": "use", "geojson": "zones.geojson", "of": {"clinic": POLICY}}
    return check_job(spec(box=box, regions=regions), folder=folder)


@pytest.mark.parametrize("places", [[179.93, 179.97, -179.97, -179.93], [179.93, 179.97, 180.03, 180.07]])
@pytest.mark.parametrize(
    "shape",
    [
        {"type": "Polygon", "coordinates": [ring(179.95, 180.05)]},
        {"type": "Polygon", "coordinates": [ring(-180.05, -179.95)]},
        {"type": "MultiPolygon", "coordinates": [[ring(179.95, 180)], [ring(-180, -179.95)]]},
    ],
    ids=["on", "back", "cut"],
)
def test_a_polygon_across_180_degrees_holds_the_places_on_both_sides(
    shape: dict[str, Any], places: list[float], folder: Path
) -> None:
    """Found by attack: it held those of one side alone, and nobody was told."""
    assert "felt [1, 2] within" in near_180(folder, shape, places).geo.law


def test_a_polygon_that_may_go_round_the_earth_is_refused(folder: Path) -> None:
    """Found by attack: one from 179.95 to -179.95 held the places outside it, and none inside."""
    shape = {"type": "Polygon", "coordinates": [ring(179.95, -179.95)]}
    hole = {"type": "MultiPolygon", "coordinates": [[ring(-180, 180), ring(-179.95, 179.95, 0.02)]]}
    for each in (shape, hole):
        with pytest.raises(DataError, match="spans more than 180 degrees"):
            near_180(folder, each, [179.93, 179.97, -179.97, -179.93])
    everywhere = {"type": "Polygon", "coordinates": [ring(-180, 180)]}
    assert "felt [0, 1, 2, 3] within" in near_180(folder, everywhere, [179.93, 179.97, -179.97, -179.93]).geo.law


def test_weights_are_named_and_levels_have_one_distance(folder: Path) -> None:
    elastic = {"within": "1 km", "least": "3"}
    places = spec()["places"]
    with pytest.raises(SpecError, match="none is named"):
        check_job(spec(elastic=elastic, places={k: v for k, v in places.items() if k != "weight"}), folder=folder)
    levels = {"within": "500 m", "factor": "2", "level": "who", "levels": {"a": {}, "b": {"within": "1 km"}}}
    with pytest.raises(SpecError, match="one ε for everybody"):
        check_job(spec(elastic=elastic, protect=levels), folder=folder)


def test_places_that_are_too_many_or_on_one_point_are_refused() -> None:
    with pytest.raises(InputError, match="for 256 at most"):
        noise().exponential_over([39.9] * 257, [116.3] * 257)
    with pytest.raises(InputError, match="one grid point"):
        noise().exponential_over([39.9, 39.9], [116.3, 116.3])
    with pytest.raises(InputError, match="within without least"):
        Felt(within="1 km")


def test_a_region_that_nobody_passes_into_is_said_to_be_left_out_of_what_others_say() -> None:
    barracks = PlaceRegion("barracks", [1], "1500 m", "100 m", "never")
    said = Felt(regions=[CLINIC, barracks]).texts(noise().epsilon)
    promise = Felt(regions=[CLINIC, barracks]).promise(noise(), [(1000 * i, 0) for i in range(5)])
    assert promise((4000, 0), (1000, 0)).is_infinite
    assert "From outside, no place may pass as one of barracks" in said[-1]
    assert not any("no place may pass" in text for text in Felt(regions=[CLINIC]).texts(noise().epsilon))


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([-1], "members = -1"),
        ([0.0], "members = 0.0"),
        (None, "members = None"),
        ("4", "members = '4'"),
        ([12], "not listed"),
    ],
)
def test_a_region_is_of_places_that_are_listed(members: Any, said: str) -> None:
    """Found: a number below 0 was one of the last places, and others failed somewhere inside."""
    with pytest.raises(InputError, match=said):
        noise().best_over(NORTH, EAST, felt=Felt(regions=[PlaceRegion("clinic", members, "1500 m", "500 m")]))


def test_a_region_has_a_name_and_may_count_as_any_length() -> None:
    with pytest.raises(InputError, match="name = None"):
        PlaceRegion(None, [4], "1500 m", "500 m")  # type: ignore[arg-type]
    far = Felt(regions=[PlaceRegion("clinic", [4], "1500 m", "1e400 m")])
    assert "a factor of e^∞" in noise().best_over(NORTH, EAST, felt=far)[0].statement().felt.text[0]


def test_each_part_of_a_felt_distance_tells_its_reports_apart() -> None:
    """Stores keep the law: of two that differ in one part alone, the reports of one are never shown as the other's."""
    quiet = {"name": "quiet", "members": [0, 1], "within": "1 km", "counts_as": "200 m", "back": "usual"}
    parts = {"members": [0, 2], "within": "2 km", "counts_as": "300 m", "back": "alike"}
    regions = [PlaceRegion(**quiet | {name: value}) for name, value in {"name": "quiet", **parts}.items()]  # type: ignore[arg-type]
    made = [
        Felt(),
        *(Felt(within=within, least=least) for within in ("200 m", "300 m") for least in ("4", "5")),
        *(Felt(regions=[region]) for region in regions),
        Felt(regions=regions[:2]),
        Felt(within="200 m", least="4", regions=regions[:1]),
    ]
    assert len({felt.law for felt in made}) == len(made)
    assert Felt(regions=[PlaceRegion(**quiet | {"name": "still"})]).law == made[5].law  # type: ignore[arg-type]
