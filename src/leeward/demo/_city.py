# SPDX-License-Identifier: Apache-2.0
"""A synthetic city of the size in Takagi et al. (ADP, Figure 2): 5,835 places and 10,338 people on one December day.

The generator, so that nobody need read the code to trust the demonstration:

* Places lie around 40 centres scattered over a 30 km square: a centre's weight is Zipf(1), a place's distance from its
  centre is exponential with mean 1.5 km.
* How popular a place is at a given hour is log-normal, with σ chosen so that about as many places hold at most two people
  at 6 p.m. as the paper prints (5,343 of 5,835).
* Every person is at one place at each full hour from 8 a.m. to 9 p.m.: with probability 0.35 still at the place of the hour
  before, else at one drawn by popularity. So nobody is at two places at 6 p.m., as the paper assumes for its low-sensitive
  query.

The seed fixes the city. It never touches the noise of a release.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from leeward._taught import taught
from leeward.errors import InputError
from leeward.outputs import Write, prepared

PLACES, PEOPLE = 5_835, 10_338
SIGMA = 2.5
"""Spread of the logarithm of popularity."""

_DAY = datetime(2013, 12, 22)
_HOURS = range(8, 22)
_KINDS = ("Café", "Noodle bar", "Grocery", "Cinema", "Museum", "School", "Bookshop", "Bakery", "Gym", "Market")

_SPEC = """\
# Which places of a synthetic city are safe at 6 p.m.: at most two people there?
[data]
visits = "visits.parquet"
person = "person"
place = "place"
time = "time"

[places]
table = "places.parquet"
place = "place"
latitude = "latitude"
longitude = "longitude"
name = "name"

[window]
start = 2013-12-22T18:00:00
end = 2013-12-22T18:01:00

[protect]
notion = "presence"        # nobody can be sure that a person was at a listed place
epsilon = "1"
places_per_person = 1      # a fact of this city: one place at one instant

[decide]
safe_at_most = 2

[publish]
what = "decisions"         # or "counts": the noisy counts too, at no further price

[budget]
ledger = "sqlite:///budget.db"
cap = "5"
dataset = "synthetic-city-{seed}"
"""


@taught
def synthetic_places(seed: int = 1) -> pa.Table:
    """Return the public list: ``place`` (int64), ``name``, ``latitude``, ``longitude``, one row a place."""
    rng = _generator(seed, 0)
    centres = rng.uniform(-15, 15, (40, 2))  # kilometres
    weight = 1 / np.arange(1, 41)
    home = rng.choice(40, PLACES, p=weight / weight.sum())
    angle, distance = rng.uniform(0, 2 * np.pi, PLACES), rng.exponential(1.5, PLACES)
    east, north = (centres[home] + distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])).T
    kinds = rng.choice(_KINDS, PLACES)
    return pa.table(
        {
            "place": np.arange(PLACES),
            "name": [f"{kind} {number}" for number, kind in enumerate(kinds)],
            "latitude": (35.68 + north / 111.195).round(6),
            "longitude": (139.76 + east / (111.195 * np.cos(np.radians(35.68)))).round(6),
        }
    )


@taught
def synthetic_visits(seed: int = 1) -> pa.Table:
    """Return the private table: ``person`` (int64), ``place`` (int64), ``time``, one row a person and hour."""
    rng = _generator(seed, 1)
    habit = rng.normal(0, SIGMA, PLACES)
    rows: list[NDArray[np.int64]] = []
    at = np.zeros(PEOPLE, dtype=np.int64)
    for hour in _HOURS:
        popularity = np.exp(habit + rng.normal(0, 0.3, PLACES))
        moved = rng.choice(PLACES, PEOPLE, p=popularity / popularity.sum())
        stays = (rng.random(PEOPLE) < 0.35) & (hour > _HOURS.start)
        at = np.where(stays, at, moved)
        rows.append(at)
    times = np.array([np.datetime64(_DAY + timedelta(hours=h), "us") for h in _HOURS])
    return pa.table(
        {
            "person": np.tile(np.arange(PEOPLE), len(_HOURS)),
            "place": np.concatenate(rows),
            "time": np.repeat(times, PEOPLE),
        }
    )


def _generator(seed: int, part: int) -> np.random.Generator:
    """Return what makes a part of a city.

    Raises:
        InputError: the seed is below 0.
    """
    if seed < 0:
        raise InputError(f"The seed {seed}", "it is below 0, and cities are numbered from 0 on", "Write, say, 2")
    return np.random.default_rng([seed, part])


@taught
def write_city(directory: str | os.PathLike[str], seed: int = 1) -> Path:
    """Write visits.parquet, places.parquet and spec.toml, and return the path of the spec.

    Files of an earlier city are replaced, but not if they were changed since.

    Raises:
        InputError: the directory holds something else, or what would be lost, or cannot be written; the seed is below 0.
    """
    text = _SPEC.replace("{seed}", str(seed))
    files: dict[str, Write] = {
        "places.parquet": lambda path: pq.write_table(synthetic_places(seed), path),
        "visits.parquet": lambda path: pq.write_table(synthetic_visits(seed), path),
        "spec.toml": lambda path: path.write_text(text, "utf-8"),
    }
    with prepared(directory, "a synthetic city", names=files) as folder:
        return folder.write(files) / "spec.toml"
