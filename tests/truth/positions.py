"""Worlds of positions: small boxes with a mechanism, in which a claim is decided by going through pairs of positions.

Distances on the ground are those of `pyproj.Geod`, probabilities those of the mechanism between the grid points that it
snaps positions to; the package's own statement is asked nothing.
"""

from __future__ import annotations

import functools
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyproj import Geod
from tests.private_files import write_private

from leeward.local import check_job
from leeward.local.location import PlanarLaplace
from leeward.noise import SeededBitsForTests

GROUND = Geod(ellps="WGS84")
Place = tuple[float, float]
"""Latitude and longitude."""

BOX = {"west": 10.0, "south": 59.9, "east": 10.4, "north": 60.1}
PLACES = pd.DataFrame({"lat": [59.95, 60.0, 60.003, 60.05], "lon": [10.1, 10.2, 10.2, 10.3], "weight": [4, 2, 1, 1]})
WHO = pd.DataFrame(
    {
        "who": ["a", "a", "a", "b"],
        "lat": [60.0, 60.0, 59.95, 60.0],
        "lon": [10.2, 10.2, 10.1, 10.2],
        "kept": [1, 2, 3, 4],
        "when": pd.Timestamp("2026-03-01 12:00"),
    }
)
"""Two rows of one person at one place, one elsewhere, and one of another person at the first place."""


@dataclass(frozen=True)
class Positions:
    """A spec of a job and what is asked of it.

    Attributes:
        name: of the world.
        changes: what its spec has besides or instead of the plain one.
    """

    name: str
    changes: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]

    def __str__(self) -> str:
        return self.name

    @property
    def spec(self) -> dict[str, dict[str, Any]]:
        made: dict[str, dict[str, Any]] = {
            "perturb": {"kind": "location"},
            "data": {"table": "positions.parquet", "latitude": "lat", "longitude": "lon", "person": "who"},
            "box": BOX,
            "protect": {"within": "200 m", "factor": "2"},
        }
        for section, keys in self.changes:
            held = {key: dict(value) if isinstance(value, tuple) else value for key, value in keys}
            made[section] = held if section == "protect" and "epsilon" in held else {**made.get(section, {}), **held}
        return made

    @functools.cached_property
    def folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="leeward-truth-"))
        PLACES.to_csv(folder / "places.csv", index=False)
        write_private(folder / "people.key", b"a key of the tests")
        return folder

    @functools.cached_property
    def job(self) -> Any:
        return check_job(self.spec, folder=self.folder)

    @property
    def geo(self) -> PlanarLaplace:
        made: PlanarLaplace = self.job.geo
        return made

    @property
    def box(self) -> dict[str, float]:
        return self.spec["box"]

    @property
    def best(self) -> bool:
        return dict(self.spec.get("places", {})).get("use") == "best"

    @property
    def epsilon(self) -> float:
        """ε a metre as the spec asks for it; of a factor within a length, what snapping costs is taken out."""
        asked = self.spec["protect"]
        if "within" in asked:
            length, step = float(asked["within"].split()[0]), float(self.geo.step)
            apart = step * (2 if asked.get("norm") == "manhattan" else math.sqrt(2)) * (1 + 2e-6)  # found so exactly
            grain = max(k * 10.0**p for k in (1, 2, 5) for p in range(-6, 6) if k * 10.0**p <= length / 200)
            return math.log(float(asked["factor"])) / (math.ceil((length + apart) / grain) * grain)
        return float(asked["epsilon"]) / float(asked.get("unit", "1 m").split()[0])

    # ---- the mechanism

    def point(self, place: Place) -> tuple[int, int]:
        i, j = self.geo.to_grid(np.array([place[0]]), np.array([place[1]]))[0]
        return int(i), int(j)

    def loss(self, one: Place, other: Place) -> float:
        return self._loss(self.point(one), self.point(other))

    @functools.cache  # noqa: B019 - a dozen worlds
    def _loss(self, x: tuple[int, int], z: tuple[int, int]) -> float:
        """The largest log-ratio of probabilities that any report has from two positions."""
        if self.best:
            matrix = self._matrix
            return max(
                math.log(float(matrix.probability(x, out)) / float(matrix.probability(z, out)))
                for out in matrix.outputs
            )
        law = self.geo.mechanism.noise
        around = {(p[0] + i, p[1] + j) for p in (x, z) for i, j in itertools.product((-1, 0, 1), repeat=2)}
        return max(log_weight(law, x, out) - log_weight(law, z, out) for out in around)

    @functools.cached_property
    def _matrix(self) -> Any:
        told = {"latitude": PLACES.lat, "longitude": PLACES.lon, "weights": PLACES.weight}
        plain = PlanarLaplace(box=tuple(BOX.values()), **self.spec["protect"])  # type: ignore[arg-type]
        return plain.best_over(**told)[1].optimal.mechanism  # type: ignore[arg-type]

    def pairs(self, metres: float | None = None) -> Iterator[tuple[Place, Place]]:
        """Pairs of positions: of the places for the best mechanism, else in many directions, at odd places of the grid."""
        if self.best:
            yield from itertools.permutations([(row.lat, row.lon) for row in PLACES.itertuples()], 2)
            return
        chance, box = np.random.default_rng(7), self.box
        for far in (0.4, 3.0, 30.0, 200.0, 1_500.0, 9_000.0) if metres is None else (metres,):
            for angle in chance.uniform(0, 360, 24):
                start = (
                    chance.uniform(self.box["south"], self.box["north"]),
                    chance.uniform(self.box["west"], self.box["east"]),
                )
                east, north, _ = GROUND.fwd(start[1], start[0], angle, far)
                if box["south"] <= north <= box["north"] and box["west"] <= east <= box["east"]:
                    yield start, (north, east)

    def apart(self, one: Place, other: Place) -> float:
        """Metres on the ground."""
        return float(GROUND.inv(one[1], one[0], other[1], other[0])[2])

    def along(self, one: Place, other: Place) -> float:
        """Metres along the axes of the plane."""
        there = self.geo.plane.project(*np.array([one, other]).T)
        return float(np.abs(there[1] - there[0]).sum())

    # ---- what comes of it

    @functools.cached_property
    def moves(self) -> Any:
        """Metres from the truth of many noisy points, before they are moved into the box, on the ground."""
        law, middle = self.geo.mechanism, np.array([[0, 0]] * 40_000)
        moved = law.positions(law.noisy(middle, SeededBitsForTests(5)))
        north, east = self.geo.plane.unproject(moved)
        start = self.geo.plane.unproject(np.zeros((1, 2)))
        return np.array(GROUND.inv(np.full(len(east), start[1][0]), np.full(len(east), start[0][0]), east, north)[2])

    @functools.cached_property
    def published(self) -> pd.DataFrame:
        return self.rerun(WHO)

    def rerun(self, rows: pd.DataFrame, time: str | None = None) -> pd.DataFrame:
        """Run the job on these rows in a folder of its own, and return what it publishes."""
        spec = self.spec
        if time is not None:
            spec["data"] = {**spec["data"], "time": time}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            PLACES.to_csv(folder / "places.csv", index=False)
            write_private(folder / "people.key", b"a key of the tests")
            rows.to_parquet(folder / "positions.parquet")
            check_job(spec, folder=folder).run(folder / "reports.parquet", lambda *_: None, new=True)
            return pd.read_parquet(folder / "reports.parquet")

    @functools.cached_property
    def expected_distances(self) -> dict[str, float]:
        """Mean distances on the ground for someone at one of the places: of 4,000 reports each, seeded."""
        told: Any = {"latitude": PLACES.lat, "longitude": PLACES.lon, "weights": PLACES.weight}
        held = PLACES.weight / PLACES.weight.sum()
        truth = PLACES.iloc[np.random.default_rng(3).choice(len(PLACES), 4_000, p=held)]
        found = {}
        for name in ("plain", "remap", "best"):
            plain = PlanarLaplace(
                box=tuple(BOX.values()),
                bits=SeededBitsForTests(4),
                **self.spec["protect"],  # type: ignore[arg-type]
            )
            made = plain
            if name != "plain":
                made = plain.to_places(**told) if name == "remap" else plain.best_over(**told)[0]
            if (h3 := self.spec.get("output", {}).get("h3")) is not None:
                made = made.to_h3(h3)
            north, east = made.perturb_points(truth.lat, truth.lon)
            found[name] = float(np.mean(GROUND.inv(truth.lon, truth.lat, east, north)[2]))
        return found


def log_weight(noise: Any, truth: tuple[int, int], out: tuple[int, int]) -> float:
    """The logarithm of the weight of an output, which may be below every float."""
    return _log(noise.norm, noise.rate, out[0] - truth[0], out[1] - truth[1], noise.weight)


@functools.cache
def _log(norm: str, rate: Any, across: int, up: int, weight: Callable[[tuple[int, int]], Any]) -> float:
    ball = weight((across, up)).arb(200).log()
    return float(ball)


def world(name: str, **changes: Mapping[str, Any]) -> Positions:
    return Positions(name, tuple((section, tuple(keys.items())) for section, keys in changes.items()))


DATED = {"time": "when"}
BUDGET = {"store": "people.db", "secret": "people.key"}
REPEAT = {"store": "memo.db", "secret": "people.key"}
LIST = {"table": "places.csv", "latitude": "lat", "longitude": "lon", "weight": "weight"}
EIGHT = (("within", "200 m"), ("factor", "8"))
CLOSE = {"within": "200 m", "factor": "8", "step": "0.5 m"}

WORLDS = (
    world("plain"),
    world("fine steps", protect={"epsilon": "1", "unit": "60 m", "step": "1 m"}),
    world("coarse steps", protect={"within": "300 m", "factor": "3", "step": "25 m"}),
    world("manhattan", protect={"within": "200 m", "factor": "2", "norm": "manhattan", "step": "2 m"}),
    world("clamped", protect={"within": "200 m", "factor": "2", "outside": "clamp", "missing": "keep"}),
    world("remap", places={**LIST, "use": "remap"}),
    world("best", places={**LIST, "use": "best"}, protect=CLOSE),
    world("tall", box={"west": 10.05, "south": 58.5, "east": 10.35, "north": 61.5}),
    world("cells", output={"h3": 8}),
    world("remap in cells", places={**LIST, "use": "remap"}, output={"h3": 6}),
    world("best in cells", places={**LIST, "use": "best"}, protect=CLOSE, output={"h3": 6}),
    world("paid", data=DATED, budget={**BUDGET, "reports_a_day": 5}),
    world("withheld", data=DATED, budget={**BUDGET, "reports_a_day": 1, "over": "withhold"}),
    world("withheld, of the run's day", budget={**BUDGET, "reports_a_day": 1, "over": "withhold"}),
    world(
        "withheld in Tokyo",
        data={**DATED, "timezone": "Asia/Tokyo"},
        budget={**BUDGET, "reports_a_day": 1, "over": "withhold"},
    ),
    world("tracks", data=DATED, track={"near": "1 km", "test": "1/2", "in_all": EIGHT}),
    world(
        "tracks of a day",
        data=DATED,
        track={"near": "500 m", "every": "1 min", "in_window": EIGHT, "window": "1 d", "otherwise": "repeat"},
    ),
    world("repeated", repeat=REPEAT),
    world("repeated and paid", data=DATED, repeat=REPEAT, budget={**BUDGET, "reports_a_day": 2}),
    world(
        "repeated and withheld",
        data=DATED,
        repeat=REPEAT,
        budget={**BUDGET, "reports_a_day": 1, "over": "withhold"},
    ),
)
