"""The attacker after publishing, and in the plan: against exact chances, row by row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from leeward.errors import DataError, LeewardError, RefusedError, SpecError
from leeward.exact._weight import Weight, weight
from leeward.local import check_job
from leeward.local.location import Felt, PlanarLaplace, PriorPlaces, Tracks
from leeward.local.location._attacked import Attack, Attacked
from leeward.local.location._seen import SeenTracks
from leeward.local.location._tracks import TrackPlace
from leeward.mechanism._predictive import TrackState
from leeward.noise import SeededBitsForTests

BOX = (116.2, 39.8, 116.6, 40.1)
PLACES = [(39.90, 116.40), (39.9036, 116.40), (39.91, 116.42)]
PRIOR = [2, 1, 1]
NORTH, EAST = (np.array(column) for column in zip(*PLACES, strict=True))


def noise(**options: Any) -> PlanarLaplace:
    given = {"box": BOX, "within": "400 m", "factor": 2, "bits": SeededBitsForTests(11)} | options
    return PlanarLaplace(**given)


def known(geo: PlanarLaplace) -> PriorPlaces:
    return PriorPlaces.of(geo.plane, NORTH, EAST, PRIOR)


def figures(beliefs: Iterable[tuple[list[float], int]], places: PriorPlaces) -> list[float]:
    """The four figures from beliefs and truths, added up in the plainest way."""
    sums, many = [0.0] * 4, 0
    for belief, truth in beliefs:
        off = [sum(b * places.apart[x, g] for x, b in enumerate(belief)) for g in range(len(belief))]
        guess = off.index(min(off))
        each = belief[truth], float(guess == truth), off[guess], float(places.apart[guess, truth])
        sums, many = [a + b for a, b in zip(sums, each, strict=True)], many + 1
    return [each / many for each in sums]


def told(found: Attacked) -> list[float]:
    return [found.believed, found.right, found.expected, found.off]


def shown(geo: PlanarLaplace, truth: list[int]) -> np.ndarray[Any, Any]:
    return np.array(geo.perturb_points(NORTH[truth], EAST[truth]))


TRUTH = [0, 0, 2, 1, 0, 2]
WHO = ["a", "a", "a", "b", "b", "b"]


@pytest.mark.parametrize("kind", ["planar", "manhattan", "best", "exponential"])
def test_beliefs_after_one_report_and_after_all_of_a_stop_are_the_exact_posteriors(kind: str) -> None:
    """Against `posterior`, which is exact: with a report too few the figures are others."""
    geo = noise(norm="manhattan") if kind == "manhattan" else noise()
    if kind == "best":
        geo = geo.best_over(NORTH, EAST)[0]
    if kind == "exponential":
        geo = geo.exponential_over(NORTH, EAST, [5, 1, 1], felt=Felt(within="400 m", least="2"))[0]
    reports = shown(geo, TRUTH)
    attack, places = Attack(known(geo), None, repeats=False), known(geo)
    attack.take(geo, np.array(TRUTH[:4]), WHO[:4], None, reports[:, :4])
    attack.take(geo, np.array(TRUTH[4:]), WHO[4:], None, reports[:, 4:])
    none, one, every = attack.found()
    start = dict(zip(PLACES, PRIOR, strict=True))
    each = [list(map(float, geo.posterior(*at, start).values())) for at in reports.T.tolist()]
    assert told(none) == pytest.approx(figures([([0.5, 0.25, 0.25], t) for t in TRUTH], places))
    assert told(one) == pytest.approx(figures(zip(each, TRUTH, strict=True), places))
    stops: dict[tuple[str, int], Any] = {}
    for row, stop in enumerate(zip(WHO, TRUTH, strict=True)):
        stops[stop] = geo.posterior(*reports.T.tolist()[row], stops.get(stop, start))
    after = [(list(map(float, belief.values())), at) for (_, at), belief in stops.items()]
    assert told(every) == pytest.approx(figures(after, places))
    assert every.many == 5
    assert told(every) != pytest.approx(told(one))


def test_a_report_that_is_shown_again_is_seen_once() -> None:
    geo = noise()
    reports = shown(geo, [0])[:, [0, 0, 0]]
    alone, again = (Attack(known(geo), None, repeats=repeats) for repeats in (False, True))
    for attack in (alone, again):
        attack.take(geo, np.array([0, 0, 0]), ["a", "a", "a"], None, reports)
    assert told(again.found()[2]) == pytest.approx(told(again.found()[1]))
    assert told(alone.found()[2]) != pytest.approx(told(alone.found()[1]))


def test_reports_at_the_edge_of_the_box_are_left_out_and_counted() -> None:
    geo = noise()
    attack = Attack(known(geo), None, repeats=False)
    inside = shown(geo, [1])[:, 0]
    attack.take(geo, np.array([0, 1, 2]), None, None, np.array([[40.1, inside[0], np.nan], [116.4, inside[1], np.nan]]))
    assert attack.found()[1].many == 1
    assert "left out: 1 row," in attack.notes[-1]
    assert all(note.startswith("for the curator only") for note in attack.notes)
    for private in (attack, attack.found()[1]):
        assert repr(private) == f"<{type(private).__name__}: for the curator only>"
        assert not hasattr(private, "__dict__")


LIMIT = {"within": "400 m", "factor": 2**9}


def track(**options: Any) -> Tracks:
    given = {"near": "300 m", "in_all": LIMIT, "every": "1 min", "bits": SeededBitsForTests(4)} | options
    return Tracks(noise(), **given)


def exactly(tracks: Tracks, before: TrackState, last: Any, done: str, point: tuple[int, int]) -> Weight:
    """Pr[what is seen of a row | place], from the exact law of test and report."""
    made, found = tracks.mechanism, weight(1)
    if done in ("new", "held") and before.last is not None:
        holds = made.chance(point, before.last)
        found = found * (holds if done == "held" else 1 - holds)
    return found * made.noise.probability(point, last) if done == "new" else found


MANY = LIMIT | {"factor": 2**40}


@pytest.mark.parametrize("limit", [{"in_all": MANY}, {"in_all": None, "in_window": MANY, "window": "1 d"}])
def test_new_reports_that_are_moved_to_one_corner_of_the_box_are_no_file_of_another_spec(limit: dict[str, Any]) -> None:
    """Found: the second was taken for the last one that held, so what was left seemed to pay for a row without a report."""
    tracks, geo, minute = track(near="1 m", every=None, **limit), noise(), 60_000_000
    north, east = np.full(90, 39.8), np.full(90, 116.2)
    at = [(int(i), int(j)) for i, j in geo.to_grid(north, east)]
    kept, reports, new = TrackPlace(), [], []
    for row, truth in enumerate(at):
        point, kept, done = tracks.step(kept, truth, row * minute)
        new.append(done == "new")
        reports.append((np.nan, np.nan) if point is None else tuple(float(x[0]) for x in geo.shown(np.array([point]))))
    assert any(is_new and one == before for is_new, one, before in zip(new[1:], reports[1:], reports, strict=False))
    assert np.isnan(reports[-1][0])
    attack = Attack(known(geo), tracks, repeats=False)
    attack.take(geo, np.zeros(90, np.intp), ["a"] * 90, [row * minute for row in range(90)], np.array(reports).T)
    assert attack.found()[0].many + attack._beyond == sum(~np.isnan(np.array(reports)[:, 0]))
    with pytest.raises(DataError, match="without a report that was paid for"):
        tracks.replayed(TrackPlace(), 0, None)


@pytest.mark.parametrize("otherwise", ["withhold", "repeat"])
def test_a_track_is_replayed_from_what_went_out_and_weighed_by_the_exact_law(otherwise: Any) -> None:
    """Rows that are not asked for or not paid for say nothing: every kind of row comes up here, and each is told apart."""
    tracks, geo = track(otherwise=otherwise), noise()
    points = [(int(i), int(j)) for i, j in geo.to_grid(NORTH, EAST)]
    seen_by = SeenTracks(tracks.mechanism, np.array(points), tracks.step, TrackPlace(), 1)
    minute, kept, again, dones = 60_000_000, TrackPlace(), TrackPlace(), set()
    reports, beliefs = [], {at: [weight(p) for p in PRIOR] for at in (0, 2)}
    truth, times = [0] * 12 + [2] * 28, [row * minute // 2 for row in range(40)]
    for at, time in zip(truth, times, strict=True):
        before = kept.state
        point, kept, done = tracks.step(kept, points[at], time)
        again, told_done = tracks.replayed(again, time, point)
        assert (again, told_done) == (kept, done)
        dones.add(done)
        chances = [exactly(tracks, before, kept.state.last, done, each) for each in points]
        logs = seen_by.of(before, kept.state.last, done)
        apart = [math.log(float(chance / chances[0])) for chance in chances]
        assert (logs - logs[0]).tolist() == pytest.approx(apart, abs=1e-9)
        beliefs[at] = [belief * chance for belief, chance in zip(beliefs[at], chances, strict=True)]
        reports.append((np.nan, np.nan) if point is None else tuple(float(x[0]) for x in geo.shown(np.array([point]))))
    assert dones == {"new", "held", "unasked", "unpaid"}
    attack = Attack(known(geo), tracks, repeats=False)
    attack.take(geo, np.array(truth), ["a"] * 40, times, np.array(reports).T)
    after = [([float(b / sum(belief, start=weight(0))) for b in belief], at) for at, belief in beliefs.items()]
    assert told(attack.found()[2]) == pytest.approx(figures(after, known(geo)))


def test_rows_of_a_track_are_left_out_while_its_last_report_is_at_the_edge() -> None:
    tracks, geo = track(every=None), noise()
    inside = shown(geo, [0, 0, 0])
    reports = np.array([[40.1, 116.4], [40.1, 116.4], *inside.T.tolist()]).T
    attack = Attack(known(geo), tracks, repeats=False)
    attack.take(geo, np.zeros(5, np.intp), ["a"] * 5, list(range(5)), reports)
    assert attack.found()[1].many == 2  # the first three say what the edge does not
    assert "left out: 3 rows," in attack.notes[-1]


def test_a_file_of_another_spec_is_refused() -> None:
    tracks, geo = track(), noise()
    attack = Attack(known(geo), tracks, repeats=False)
    with pytest.raises(DataError, match="that was paid for"):
        attack.take(geo, np.array([0]), ["a"], [0], np.array([[np.nan], [np.nan]]))
    over, attack = geo.best_over(NORTH, EAST)[0], Attack(known(geo), None, repeats=False)
    with pytest.raises(DataError, match="none of the public places"):
        attack.take(over, np.array([0]), None, None, np.array([[39.9], [116.5]]))


# ---- in the plan


def test_one_report_over_places_is_exact_in_the_plan() -> None:
    geo, made = noise().exponential_over(NORTH, EAST)
    _, one, many = geo.attacker(NORTH, EAST, PRIOR, reports=[1, 20], trials=100)
    rows = [made.mechanism.row(x) for x in made.mechanism.inputs]
    joint = [[p / 4 * float(row[z]) for z in made.mechanism.outputs] for p, row in zip(PRIOR, rows, strict=True)]
    assert one.right == pytest.approx(sum(map(max, zip(*joint, strict=True))))
    assert (one.right_error, one.distance_error) == (0, 0)
    assert many.right > one.right
    assert many.right_error > 0


def test_rows_of_a_track_teach_less_than_as_many_reports() -> None:
    """Two places 666 m apart, by noise of 1 km, and a test that nearly always holds: seeded; 5 standard errors."""
    wide, north, east = noise(within="1 km"), [39.9, 39.906], [116.4, 116.4]
    limits = {"near": "10 km", "in_all": {"within": "1 km", "factor": 2**30}, "bits": SeededBitsForTests(4)}
    reports = wide.attacker(north, east, reports=[30], trials=150)[1]
    tracks = Tracks(wide, **limits)  # type: ignore[arg-type]
    rows = tracks.attacker(north, east, between="1 min", rows=[30], trials=150)[1]
    assert reports.right - rows.right > 5 * math.hypot(rows.right_error, reports.right_error)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = pd.DataFrame({"lat": NORTH[TRUTH], "lon": EAST[TRUTH], "who": WHO, "tier": ["x", "x", "x", "y", "y", "y"]})
    people["when"] = pd.date_range("2026-03-01", periods=6, freq="1min")
    people.to_parquet(tmp_path / "p.parquet")
    pd.DataFrame({"lat": NORTH, "lon": EAST, "w": PRIOR}).to_csv(tmp_path / "places.csv", index=False)
    return tmp_path


def spec(**sections: Any) -> dict[str, Any]:
    west, south, east, north = BOX
    known_to_him = {"table": "places.csv", "latitude": "lat", "longitude": "lon", "weight": "w", "reports": [1]}
    given = {
        "perturb": {"kind": "location"},
        "data": {"table": "p.parquet", "latitude": "lat", "longitude": "lon", "person": "who", "time": "when"},
        "box": {"west": west, "south": south, "east": east, "north": north},
        "protect": {"within": "400 m", "factor": "2"},
        "attacker": known_to_him,
    } | sections
    return {name: section for name, section in given.items() if section is not None}


LEVELS = {"within": "400 m", "factor": "2", "level": "tier", "levels": {"x": {}, "y": {"within": "1 km"}}}
DRAWN = {"table": "places.csv", "latitude": "lat", "longitude": "lon", "use": "exponential"}
TRACK = {"near": "1 km", "in_all": LIMIT}


@pytest.mark.parametrize(
    ("sections", "views"),
    [
        ({}, [None, None]),
        ({"protect": LEVELS}, ["x", "x", "y", "y"]),
        ({"places": DRAWN}, [None, None]),
        ({"track": TRACK, "attacker": spec()["attacker"] | {"between": "1 min"}}, [None, None]),
    ],
)
def test_the_plan_and_the_look_at_what_was_published(sections: dict[str, Any], views: list[Any], folder: Path) -> None:
    job = check_job(spec(**sections), folder=folder)
    assert [each["level"] for each in job.statement().to_dict()["attacker"]["sees"]] == views
    assert sum(title == "attacker" for title, _ in job.facts()) == len(views) + 1
    job.run(folder / "o.parquet", lambda *_: None)
    notes = job.attack(folder / "o.parquet")
    assert [note.split("(")[0] for note in notes[:3]] == [
        "for the curator only: after no row ",
        "for the curator only: after one row ",
        "for the curator only: after all rows of a person at one place ",
    ]


def test_places_of_more_digits_than_csv_has_are_known_again(folder: Path) -> None:
    """Found: reports over places such as 39.900000000000006 were written as 39.9000000, and were none of the places."""
    places = pd.DataFrame({"lat": NORTH + 4e-8, "lon": EAST - 3e-9})
    places.to_csv(folder / "places.csv", index=False)
    pd.read_parquet(folder / "p.parquet").to_csv(folder / "p.csv", index=False)
    attacker = {key: held for key, held in spec()["attacker"].items() if key != "weight"}
    notes = []
    for table in ("p.csv", "p.parquet"):
        given = spec(places=DRAWN, attacker=attacker, data=spec()["data"] | {"table": table})
        job = check_job(given, folder=folder)
        job.run(folder / f"o{table[1:]}", lambda *_: None)
        notes.append(job.attack(folder / f"o{table[1:]}"))
    assert [len(each) for each in notes] == [3, 3]


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"track": TRACK}, "how often rows come"),
        ({"attacker": spec()["attacker"] | {"between": "1 min"}}, "there is none"),
        ({"attacker": spec()["attacker"] | {"reports": [0]}}, "reports"),
    ],
)
def test_an_attacker_who_sees_nothing_that_there_is_is_refused(
    sections: dict[str, Any], said: str, folder: Path
) -> None:
    with pytest.raises(LeewardError, match=said):
        check_job(spec(**sections), folder=folder)


def test_what_has_no_exact_law_is_refused_after_publishing(folder: Path) -> None:
    out = folder / "o.parquet"
    check_job(spec(), folder=folder).run(out, lambda *_: None)
    remap = spec(places=DRAWN | {"use": "remap"})
    for sections, said in ((remap, "moved to public places"), (spec(output={"h3": 8}), "H3 cells")):
        with pytest.raises(RefusedError, match=said):
            check_job(sections, folder=folder).attack(out)
    with pytest.raises(SpecError, match="--attack without"):
        check_job(spec(attacker=None), folder=folder).attack(out)
    pd.read_parquet(out).iloc[:4].to_parquet(folder / "few.parquet")
    pd.concat([pd.read_parquet(out)] * 2).to_parquet(folder / "many.parquet")
    for name in ("few", "many"):
        with pytest.raises(DataError, match="another number of rows"):
            check_job(spec(), folder=folder).attack(folder / f"{name}.parquet")


@pytest.mark.parametrize("sections", [{}, {"protect": {"within": "400 m", "factor": "2", "step": "30 m"}}])
def test_reports_that_are_no_grid_points_were_made_by_another_spec(sections: dict[str, Any], folder: Path) -> None:
    """Found: the table itself, or a file of another grid, was attacked as if this spec had written it."""
    out = folder / "o.parquet"
    check_job(spec(), folder=folder).run(out, lambda *_: None)
    given = out if sections else folder / "p.parquet"
    with pytest.raises(DataError, match="on no point of the grid"):
        check_job(spec(**sections), folder=folder).attack(given)
