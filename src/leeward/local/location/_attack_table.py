# SPDX-License-Identifier: Apache-2.0
"""A table of positions and the reports that were published of it, row by row, under attack."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._paths import resolve
from leeward.errors import DataError
from leeward.local._levels import name_of_level
from leeward.local.location._after import PriorPlaces
from leeward.local.location._attacked import Attack, check_attackable
from leeward.local.location._files import PositionFile
from leeward.local.location._formats import open_positions
from leeward.local.location._levels import Levels
from leeward.local.location._public_places import read_places
from leeward.local.location._spec import Attacker, Location
from leeward.local.location._tracks import Tracks
from leeward.local.series._days import Days

Floats = NDArray[np.float64]


def attack_table(
    spec: Location,
    known: Attacker,
    folder: Path,
    levels: Levels,
    tracks: Tracks | None,
    published: Path,
) -> list[str]:
    """Return what the attacker makes of a file that was published, in sentences for the curator only.

    Its rows are those of the table, in their order.

    Raises:
        RefusedError: reports of which no exact law is known.
        DataError: a file that is not as described.
    """
    geo = levels.weakest
    for each in levels.mechanisms.values():
        check_attackable(each)
    data = spec.data
    private = open_positions(resolve(data.table, folder), data.latitude, data.longitude)
    seen = open_positions(published, data.latitude, data.longitude)
    asked = [name for name in (data.person, data.time, spec.protect.level) if name is not None]
    private.require(asked)
    places = PriorPlaces.of(geo.plane, *read_places(known, folder).columns)
    attack = Attack(places, tracks, repeats=spec.repeat is not None)
    calendar = Days(data.timezone)
    for north, east, extra, reports in _beside(private, seen, asked):
        named = dict(zip(asked, extra, strict=True))
        people, times = named.get(data.person or ""), named.get(data.time or "")
        at = [] if levels.column is None else [name_of_level(level) for level in named[levels.column]]
        there = geo.present(north, east)
        for level, noise in levels.mechanisms.items():
            rows = np.flatnonzero(there if levels.column is None else there & (np.array(at, dtype=object) == level))
            truth = places.nearest(*geo.box.nearest(north[rows], east[rows]))
            attack.take(
                noise,
                truth,
                None if people is None else [people[row] for row in rows.tolist()],
                None if times is None or tracks is None else calendar.moments([times[row] for row in rows.tolist()]),
                reports[:, rows],
            )
    private.file.check_unchanged()
    seen.file.check_unchanged()
    return attack.notes


def _beside(
    private: PositionFile, seen: PositionFile, asked: list[str]
) -> Iterator[tuple[Floats, Floats, list[list[Any]], Floats]]:
    """Read two files row by row beside one another: positions, other columns, and reports, shape (2, n)."""
    reports = (np.array([north, east]) for north, east, _ in seen.positions([]))
    held = np.empty((2, 0))
    for north, east, extra in private.positions(asked):
        while held.shape[1] < len(north):
            more = next(reports, None)
            if more is None:
                raise _other_rows()
            held = np.concatenate([held, more], axis=1)
        yield north, east, extra, held[:, : len(north)]
        held = held[:, len(north) :]
    if held.shape[1] or any(part.shape[1] for part in itertools.islice(reports, 1)):
        raise _other_rows()


def _other_rows() -> DataError:
    return DataError(
        "A published file with another number of rows than the table (this is for the curator only)",
        "a report is compared with the position of its own row",
        "Give the table that it was made of",
    )
