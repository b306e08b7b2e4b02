"""What the statement of perturbed positions says, and what makes it true."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyproj
from scipy.optimize import isotonic_regression
from tests.truth.claims import Claims
from tests.truth.positions import GROUND, PLACES, WHO, Place, log_weight
from tests.truth.relations import number as rational

from leeward.noise import SeededBitsForTests

TOLERANCE = 1e-9
ABOUT = 0.02
"""What is told of an average or a share may be so far off, relatively."""


def number(text: str) -> float:
    """Read a number as statements write it: ``1/3``, ``log(2)/200``, ``3*log(3)/50``, ``e^34.66``."""
    logs = re.sub(r"log\((\d+)\)", lambda found: repr(math.log(int(found[1]))), text)
    if logs == text and not text.startswith("e^"):
        return float(rational(text.replace(",", "")))
    top, _, bottom = logs.removeprefix("e^").partition("/")
    value = math.prod(map(float, top.split("*"))) / float(bottom or 1)
    return math.exp(value) if text.startswith("e^") else value


def bounds(world: Any, epsilon: float, more: float, metres: Any) -> bool:
    """Whether every pair of positions is told apart by at most e^(ε·d + s)."""
    return all(world.loss(x, z) <= epsilon * metres(x, z) + more + TOLERANCE for x, z in world.pairs())


def largest(world: Any, metres: float) -> float:
    """The largest loss of positions of the box so far apart, snapping included: those of the plane's worst direction."""
    pairs = list(world.pairs(metres))
    return max(world.loss(x, z) for x, z in pairs) if pairs else math.nan


def tells_apart(world: Any, metres: float, told: float) -> bool:
    """Whether positions so far apart are told apart by odds of at most so much, and by hardly less."""
    if world.best:  # between its few places, by their own distances
        return all(
            world.loss(x, z) <= math.log(told) + TOLERANCE for x, z in world.pairs() if world.apart(x, z) <= metres
        )
    room = float(world.geo.snapping) * 2 + 0.25 * math.log(told) + 0.001
    return math.log(told) - room <= largest(world, metres) <= math.log(told) + TOLERANCE


def reports_of(world: Any, places: list[Place]) -> list[Place]:
    north, east = world.geo.perturb_points(*np.array(places).T)
    return list(zip(north.tolist(), east.tolist(), strict=True))


def as_published(world: Any, places: list[Place]) -> list[Place]:
    """Places, or the centres of their cells where cells are published."""
    import h3

    if (resolution := world.spec.get("output", {}).get("h3")) is None:
        return places
    centres = [h3.cell_to_latlng(h3.latlng_to_cell(*place, resolution)) for place in places]
    return [(round(north, 7), round(east, 7)) for north, east in centres]


def expected(world: Any, noisy: tuple[int, int]) -> np.ndarray[Any, Any]:
    """The expected distance of each public place from the truth, given a noisy grid point, up to one factor."""
    law, at = world.geo.mechanism.noise, [world.point((row.lat, row.lon)) for row in PLACES.itertuples()]
    logs = np.array([log_weight(law, x, noisy) for x in at]) + np.log(PLACES.weight)
    believed = np.exp(logs - logs.max())
    away = [[world.apart((r.lat, r.lon), (s.lat, s.lon)) for s in PLACES.itertuples()] for r in PLACES.itertuples()]
    return np.array(away) @ (believed / believed.sum())


def adds_up(world: Any) -> bool:
    """Whether a test and a new report cost more than a report, and the rows of a track more than one of them."""
    made = world.job.tracks.mechanism
    test, report = made.costs
    first, second = (max(told_apart(made, (1, 0), steps)) for steps in (1, 2))
    return test > 0 < report and second > first > 0


def told_apart(mechanism: Any, point: tuple[int, int], steps: int) -> list[float]:
    """The log-ratios of each run of two tracks over the origin and a grid point, by the exact law."""
    tracks = list(itertools.product([(0, 0), point], repeat=steps))
    matrix = mechanism.on(tracks)
    logs = [[float(chance.arb(120).log()) for chance in matrix.row(track).values()] for track in tracks]
    return [a - b for x, y in itertools.permutations(logs, 2) for a, b in zip(x, y, strict=True)]


def register(claims: Claims) -> None:
    """Register the claims of positions."""
    says = claims.says

    @says(
        r"(promise: )?For (?P<new>one new report of a track, )?any two (?P<subject>.+?), d metres apart \((?P<price>.+)\), and any set of reports, probabilities"
        r" differ at most by the factor e\^\(ε·d \+ s\): ε = (?P<epsilon>\S+) a metre, s = (?P<more>[^\s;]+)"
        r"(; so within (?P<length>\S+) metres at most by the factor (?P<factor>[^\s,]+), snapping included)?"
        r"(?P<adds>\. A test before it costs more, and the rows of a track add up: what holds of all of them is said of the"
        r" track)?"
    )
    def _(
        world: Any,
        new: str | None,
        subject: str,
        price: str,
        epsilon: str,
        more: str,
        length: str | None,
        factor: str | None,
        adds: str | None,
    ) -> bool:
        if (new is None, adds is None) != ("track" not in world.spec,) * 2 or (adds and not adds_up(world)):
            return False
        metres = {"the distance on the ground": world.apart, "the plane's distance along its axes": world.along}[price]
        known = subject == ("of the public places" if world.best else "positions in the box")
        # and no promise that is far from what is kept: a tenth less would not be true
        return (
            known
            and bounds(world, number(epsilon), number(more), metres)
            and not bounds(world, 0.9 * number(epsilon), number(more), metres)
            and math.isclose(number(epsilon), world.epsilon)
            and (length is None) == ("epsilon" in world.spec["protect"])
            and (
                length is None
                or all(
                    world.loss(x, z) <= math.log(number(str(factor))) + TOLERANCE
                    for x, z in world.pairs()
                    if metres(x, z) <= number(length)
                )
            )
        )

    @says(r"factor for positions apart: (?P<listed>.+)")
    def _(world: Any, listed: str) -> bool:
        told = [part.split(" m: ") for part in listed.split(", ")]
        return len(told) == 4 and all(tells_apart(world, number(metres), number(factor)) for metres, factor in told)

    @says(
        r"(unit: )?one position of one row; n rows of one person( at n (?P<points>grid points))? together cost n times as much"
    )
    def _(world: Any, points: str | None) -> bool:
        again = same_again(world)
        return again is None or again == bool(points)  # one report alone is paid for: nothing is drawn again

    @says(
        r"(plane: )?(?P<name>.+) in the middle of the box\. No distance is longer in this plane than on the ground, so the"
        r" promise holds in true metres; distances are shorter by up to (?P<percent>\S+) %, so the noise is larger on the"
        r" ground by as much"
    )
    def _(world: Any, name: str, percent: str) -> bool:
        ratio, middle = [], (world.box["south"] + world.box["north"]) / 2
        for x, z in _everywhere(world.box):
            one, other = world.geo.plane.project(*np.array([x, z]).T)
            ratio.append(float(np.hypot(*(other - one))) / world.apart(x, z))
        kind = {"Transverse Mercator": "tmerc", "Lambert conformal conic": "lcc"}[name]
        text = f"+proj={kind} +lat_0={middle} +lat_1={middle} +lon_0={(world.box['west'] + world.box['east']) / 2} +ellps=WGS84"
        east, north = pyproj.Proj(text)(world.box["west"], world.box["north"])
        mine = world.geo.plane.project(np.array([world.box["north"]]), np.array([world.box["west"]]))[0]
        least = 1 - number(percent) / 100
        return (
            least - 1e-9 <= min(ratio)
            and max(ratio) <= 1 + 1e-9
            and least >= 1 - 10 * (1 - min(ratio)) - 1e-7
            and np.allclose(mine, (east, north), rtol=1e-4)
        )

    @says(
        r"(mechanism: )?Each position is snapped to a grid of (?P<step>\S+) metres and moved by noise of weight"
        r" e\^\(-ε·(?P<law>.+)\) over all points of the grid, drawn exactly, (?P<how>.+)"
    )
    def _(world: Any, step: str, law: str, how: str) -> bool:
        norm = {"distance": math.hypot, "(|east| + |north|)": lambda a, b: abs(a) + abs(b)}[law]
        mine, size = world.geo.mechanism, number(step)
        lawful = all(
            math.isclose(
                log_weight(mine.noise, (0, 0), z) - log_weight(mine.noise, (0, 0), (0, 0)),
                -world.epsilon * size * norm(*z),
                abs_tol=1e-9,
            )
            for z in itertools.product((-40, -3, 0, 1, 25), repeat=2)
        )
        place = (60.01, 10.21)
        snapped, there = np.array(world.point(place)) * size, world.geo.plane.project(*np.array([place]).T)[0]
        again = same_again(world)
        drawn = {"for each row on its own": False, "once for each person and grid point": True}.get(how)
        if (drawn is None) != ("track" in world.spec):
            return False
        if drawn is None:
            again = None
        return lawful and np.abs(snapped - there).max() <= size / 2 + 1e-6 and again in {None, drawn}

    @says(
        r"(mechanism: )?Each position is moved to the nearest of the public places, and the place that is reported is drawn"
        r" from the matrix of least expected distance; the promise is about the moved positions"
    )
    def _(world: Any) -> bool:
        listed = [(row.lat, row.lon) for row in PLACES.itertuples()]
        tried = [(59.96, 10.12), (60.01, 10.21), (60.002, 10.2), (60.08, 10.39)]
        nearest = [min(listed, key=lambda place: world.apart(one, place)) for one in tried]
        moved = all(world.point(one) == world.point(place) for one, place in zip(tried, nearest, strict=True))
        return moved and {*reports_of(world, tried * 20)} <= {*as_published(world, listed)}

    @says(
        r"moves by: (?P<mean>\S+) m on average; half of the reports by less than (?P<half>\S+) m, 95 % by less than (?P<most>\S+) m, with"
        r" positions anywhere in their grid cells, in metres of the plane, before anything is done with reports"
    )
    def _(world: Any, mean: str, half: str, most: str) -> bool:
        moves = world.moves  # 40,000 draws, seeded: their mean is off by 0.4 % in one of three seeds
        return (
            math.isclose(moves.mean(), number(mean), rel_tol=ABOUT)
            and abs((moves < number(half)).mean() - 0.5) < ABOUT
            and abs((moves < number(most)).mean() - 0.95) < ABOUT / 2
        )

    @says(
        r"expected distance: planar Laplace (?P<plain>\S+) m, with the Bayes remap (?P<remapped>\S+) m \(± (?P<error>\S+)\)"
        r"(, best mechanism over the places (?P<best>\S+) m)?; for someone at one of the places"
    )
    def _(world: Any, plain: str, remapped: str, error: str, best: str | None) -> bool:
        if "places" not in world.spec:
            return False
        found = world.expected_distances
        return (
            math.isclose(number(plain), found["plain"], rel_tol=0.075)  # six standard errors of 4,000 and 20,000 draws
            and abs(number(remapped) - found["remap"]) <= 6 * (number(error) + 1)
            and best is not None
            and abs(number(best) - found["best"]) <= 0.1 * found["best"] + 1
        )

    # ---- what is done afterwards

    @says(
        r"(then: )?Reports outside the box are moved to its edge, or to at most a step within it: of reports from the"
        r" middle of the box (?P<share>under 0\.1 %|about \S+ %), from its edges half or more"
    )
    def _(world: Any, share: str) -> bool:
        told = 0.0005 if share.startswith("under") else number(share.split()[1]) / 100
        n = 20_000
        noise = world.geo.mechanism.noise.sample(n, SeededBitsForTests(11)) * float(world.geo.step)
        half = np.array([GROUND.inv(10.0, 60.0, 10.2, 60.0)[2], GROUND.inv(10.2, 59.9, 10.2, 60.0)[2]])
        beyond = (np.abs(noise) > half).any(axis=1).mean()
        if abs(beyond - told) > 5 * math.sqrt(max(told, 0.001) / n) + 0.005 or (noise[:, 0] >= 0).mean() < 0.49:
            return False
        far = np.array([(i, j) for i in (-(10**6), 0, 10**6) for j in (-(10**6), 0, 10**6) if i or j])
        north, east = world.geo.shown(far)
        within = (
            (north >= world.box["south"])
            & (north <= world.box["north"])
            & (east >= world.box["west"])
            & (east <= world.box["east"])
        )
        step = float(world.geo.step) * 1.5 + 0.02
        edge = [
            min(
                abs(GROUND.inv(e, n, e, world.box["south"])[2]), abs(GROUND.inv(e, n, e, world.box["north"])[2]),
                abs(GROUND.inv(e, n, world.box["west"], n)[2]), abs(GROUND.inv(e, n, world.box["east"], n)[2]),
            )
            for n, e in zip(north, east, strict=True)
        ]  # fmt: skip
        if "h3" in world.spec.get("output", {}):
            return max(edge) < 1_000  # the centre of a cell at the edge
        return bool(within.all()) and max(edge) <= step

    @says(
        r"(then: )?Each report is moved to the public place with the least expected distance from the truth \(Bayes remap\)"
    )
    def _(world: Any) -> bool:
        noisy = [world.point((row.lat, row.lon)) for row in PLACES.itertuples()]
        noisy += [(x + dx, y + dy) for x, y in noisy for dx, dy in ((300, 0), (0, -400), (900, 900))]
        north, east = world.geo.shown(np.array(noisy))
        listed = as_published(world, [(row.lat, row.lon) for row in PLACES.itertuples()])
        for point, place in zip(noisy, zip(north.tolist(), east.tolist(), strict=True), strict=True):
            if place not in listed:
                return False
            away = expected(world, point)
            if min(far for far, one in zip(away, listed, strict=True) if one == place) > away.min() * (1 + ABOUT):
                return False
        return True

    @says(
        r"(then: )?Each report is given as an H3 cell of resolution (?P<resolution>\d+), and as the centre of that cell"
    )
    def _(world: Any, resolution: str) -> bool:
        import h3

        made = world.published.dropna()
        return "h3" in world.spec.get("output", {}) and all(
            h3.get_resolution(cell) == int(resolution) and np.allclose(h3.cell_to_latlng(cell), (lat, lon))
            for cell, lat, lon in zip(made.iloc[:, -1], made.lat, made.lon, strict=True)
        )

    # ---- what is not promised

    @says(
        r"(not guaranteed: )?(?P<which>Repeated reports|Reports of different grid points) add up: (the mean of n reports of one"
        r" place shows it √n times as sharply, and n reports cost|n of them cost) n times as much as one(; at most (?P<most>\d+)"
        r" (?P<new>new )?(report of a person and day is|reports of a person and day are) made: ε = (?P<epsilon>\S+) a metre \(a factor of (?P<factor>\S+) for"
        r" 100 metres\) a day, and as much again on every further day \((?P<days>.+)\))?"
    )
    def _(
        world: Any,
        which: str,
        most: str | None,
        new: str | None,
        epsilon: str | None,
        factor: str | None,
        days: str | None,
    ) -> bool:
        again, bound = same_again(world), world.spec.get("budget", {}).get("reports_a_day")
        if again is not None and again != (which == "Reports of different grid points"):
            return False
        if which == "Repeated reports" and not _sharper(world):
            return False
        if most is None or epsilon is None or factor is None or bound is None:
            return most is None and bound is None
        if int(most) != bound or bool(new) != ("repeat" in world.spec) or not _days_are(world, days or ""):
            return False
        per_day = _made_by_day(world) if "time" in world.spec["data"] else None
        right = per_day is None or (max(per_day) == bound and len(per_day) == 2)
        kept = bound * largest(world, 100)
        told = math.log(number(factor))
        return (
            right
            and kept <= told + TOLERANCE
            and kept >= 0.9 * told
            and (bound * world.epsilon - TOLERANCE <= number(epsilon) <= 1.001 * bound * world.epsilon)
        )

    @says(
        r"(not guaranteed: )?A track is more than its points: speeds, roads and habits tell positions apart that single"
        r" reports do not"
    )
    def _(world: Any) -> bool:
        # two positions a kilometre apart, seen once and ten times
        far = largest(world, 1_000) if not world.best else max(world.loss(x, z) for x, z in world.pairs())
        return 10 * far > far > 0

    @says(r"(not guaranteed: )?Positions far apart are told apart: 10 km apart, by odds of up to (?P<odds>\S+)")
    def _(world: Any, odds: str) -> bool:
        return tells_apart(world, 10_000, number(odds))

    @says(
        r"(not guaranteed: )?The order of rows, which stays: where many are sorted by position, it tells each position more"
        r" closely than the noisy one does"
    )
    def _(world: Any) -> bool:
        """Reports are put into the order of their rows, by least squares: 2,000 people from south to north are less far off."""
        box, rng = world.box, np.random.default_rng(6)
        lat = np.sort(rng.uniform(box["south"], box["north"], 2_000))
        north, _ = world.geo.perturb_points(lat, rng.uniform(box["west"], box["east"], 2_000))
        off, fitted = (np.median(np.abs(each - lat)) for each in (north, isotonic_regression(north).x))
        return world.published.kept.tolist() == WHO.kept.tolist() and bool(fitted < 0.9 * off)

    @says(
        r"(not guaranteed: )?Positions outside the box are moved to its edge first: the promise is about the moved positions,"
        r" and that somebody is near the edge or beyond it may show"
    )
    def _(world: Any) -> bool:
        return world.geo.outside == "clamp" and world.point((60.0, 12.0)) == world.point((60.0, world.box["east"]))

    @says(r"(not guaranteed: )?Where there is no position, none is reported: that it is missing shows")
    def _(world: Any) -> bool:
        made = world.rerun(WHO.assign(lat=[60.0, np.nan, 59.95, 60.0]))
        return made.lat.isna().tolist() == [False, True, False, False]

    @says(
        r"(not guaranteed: )?A report that is not paid for is missing: that a person had more (?P<new>new )?reports than are paid"
        r" for shows(?P<elsewhere>, and so that they were then on no grid point whose report is shown again)?"
    )
    def _(world: Any, new: str | None, elsewhere: str | None) -> bool:
        there = world.published.lat.notna()
        if not there[WHO.who == "b"].all() or there[WHO.who == "a"].all():
            return False
        # whoever comes back to the first place, or stays elsewhere: what is missing tells which
        came_back = _there(world, [0, 1, 0, 1, 0])
        return bool(new) == bool(elsewhere) == (came_back == [True, False] * 2 + [True])

    @says(
        r"(not guaranteed: )?The same person on the same grid point gives the same report, at no further cost\. Whoever sees two"
        r" equal reports may conclude that the person came back, and whoever sees two that differ that they did not: neither is"
        r" protected at all"
    )
    def _(world: Any) -> bool:
        return bool(same_again(world)) and _elsewhere_differs(world)

    # ---- assumptions

    @says(r"Who is in the table, how often, and all columns but the position are not protected")
    def _(world: Any) -> bool:
        made = world.published
        return made.who.tolist() == WHO.who.tolist() and made.kept.tolist() == WHO.kept.tolist()

    @says(
        r"An id is one person's, for good, in all tables whose reports one store keeps: two people of one id have the same"
        r" report at the same grid point, and whoever knows where one of them was learns whether the other was there"
    )
    def _(world: Any) -> bool:
        return "repeat" in world.spec and bool(same_again(world))  # of rows that may as well be two people's

    claims.neutral(
        r"The box, the list of places and every option were chosen without looking at the data",
        # where a proof is to be found
        r"Chatzikokolakis, Andrés, Bordenabe, Palamidessi, .*",
        r"The same, Fact 5: .*",
        r"Bordenabe, Chatzikokolakis, Palamidessi \(2014\): .*",
    )


def same_again(world: Any) -> bool | None:
    """Whether two rows of one person at one place get one report; None where the second gets none.

    Two draws on a grid of 25 m are equal once in 3,000 runs; so what was equal is run a second time: once in 9 million.
    """
    found = []
    for made in (world.published, world.rerun(WHO)):
        first, second = ((made.lat[i], made.lon[i]) for i in (0, 1))
        if "repeat" not in world.spec and (
            math.isnan(second[0]) or world.best or "places" in world.spec or "output" in world.spec
        ):
            return None
        found.append(bool(first == second))
        if not found[-1]:
            break
    return all(found)


def _elsewhere_differs(world: Any) -> bool:
    """Whether a person at two places, five kilometres apart, has two reports, as far as both are shown."""
    made = world.rerun(WHO[WHO.who == "a"])
    return made.lat.notna().sum() < 3 or made.lat[2] != made.lat[0]


def _there(world: Any, places: list[int]) -> list[bool]:
    """For which rows of one person and day, at the first place or at the second, there is a report."""
    rows = pd.DataFrame({"who": "a", "lat": [(60.0, 59.95)[at] for at in places], "lon": 10.2, "kept": 0})
    found: list[bool] = world.rerun(rows.assign(when=WHO.when[0])).lat.notna().tolist()
    return found


def _sharper(world: Any) -> bool:
    """Whether the mean of 16 noisy points is four times as near as one: 4,000 seeded draws, off by 3 % once in a thousand."""
    from leeward.noise import SeededBitsForTests

    noisy = world.geo.mechanism.noisy(np.zeros((64_000, 2), np.int64), SeededBitsForTests(2)).astype(float)
    means = noisy.reshape(-1, 16, 2).mean(axis=1)
    return math.isclose(noisy.std() / means.std(), 4, rel_tol=0.1)


def _made_by_day(world: Any) -> list[int]:
    """How many reports a person gets who moves on, five times a day for two days; the rest must not be paid for."""
    places = [(59.95 + 0.01 * i, 10.1) for i in range(10)]
    bound = world.spec["budget"]["reports_a_day"]
    each = min(5, bound) if world.spec["budget"].get("over") != "withhold" else 5
    rows = [(f"2026-03-0{day}", *places[5 * (day - 1) + i]) for day in (1, 2) for i in range(each)]
    if "repeat" in world.spec:
        rows += rows[:2]  # again, on the first day
    table = pd.DataFrame(rows, columns=["day", "lat", "lon"]).assign(who="a", kept=0)
    table["when"] = pd.to_datetime(table.day)
    made = world.rerun(table.drop(columns="day"), time="when")
    there = made.lat.notna()
    found = made[there].drop_duplicates(["lat", "lon", "when"]).groupby("when").size()
    return [int(count) for count in found]


def _days_are(world: Any, told: str) -> bool:
    """Whether two evenings of one day in Tokyo, and of two in UTC and as written, are of as many days as is told."""
    zone = re.fullmatch(r"a day is one in (\S+), where times without an offset are read", told)
    of_the_run = re.fullmatch(r"all reports of a run are of the day on which it charges them, in (\S+)", told)
    if bool(of_the_run) != ("time" not in world.spec["data"]):
        return False
    if of_the_run:
        evenings = pd.DataFrame({"who": "a", "lat": [60.0, 60.01, 60.02], "lon": 10.2, "kept": 0})
        made = world.rerun(evenings.assign(when=pd.date_range("2026-03-01", periods=3))).lat.notna()
        return of_the_run[1] == world.spec["data"].get("timezone", "UTC") and made.tolist() == [True, False, False]
    plain = told == "a time with an offset belongs to its day in UTC, a time without one to the date that is written"
    if not zone and not plain:
        return False
    if world.spec["budget"].get("over") != "withhold" or "repeat" in world.spec:
        return (zone[1] if zone else None) == world.spec["data"].get("timezone")
    evenings = pd.DataFrame({"who": "a", "lat": [60.0, 60.01], "lon": 10.2, "kept": 0})
    for offset in ("+00:00", ""):
        times = [f"2026-03-01T20:00{offset}", f"2026-03-02T01:00{offset}"]
        made = world.rerun(evenings.assign(when=times), time="when").lat.notna().tolist()
        days = 2
        if zone and offset:
            days = len({datetime.fromisoformat(time).astimezone(ZoneInfo(zone[1])).date() for time in times})
        if made != [True, days == 2]:
            return False
    return True


def _everywhere(box: Mapping[str, float]) -> list[tuple[Place, Place]]:
    """Pairs of near and far positions all over the box."""
    rows = [
        (box["south"] + a * (box["north"] - box["south"]), box["west"] + b * (box["east"] - box["west"]))
        for a in np.linspace(0, 0.99, 12)
        for b in np.linspace(0, 0.99, 12)
    ]
    near = [(at, (at[0] + 1e-3 * up, at[1] + 1e-3 * across)) for at in rows for up, across in ((1, 0), (0, 1))]
    return [*near, *itertools.pairwise(rows)]
