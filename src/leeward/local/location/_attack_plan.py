# SPDX-License-Identifier: Apache-2.0
"""The attacker of a spec, before anything is drawn: what he learns of one stop, from each number of its reports."""

from __future__ import annotations

from pathlib import Path

from leeward.local.location._attacker import AttackerView
from leeward.local.location._levels import Levels
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._public_places import read_places
from leeward.local.location._spec import Attacker
from leeward.local.location._terms import AttackerPart, AttackerSees
from leeward.local.location._tracks import Tracks

Columns = tuple[list[float], list[float], list[float] | None]


def attackers_places(asked: Attacker, folder: Path) -> Columns:
    """Read where people may be, and how often: latitudes, longitudes, weights."""
    return read_places(asked, folder).columns


def attacker_part(
    asked: Attacker, folder: Path, geo: PlanarLaplace, levels: Levels | None, tracks: Tracks | None, *, repeats: bool
) -> AttackerPart:
    """Simulate what the attacker of a spec learns; reads public places alone.

    With ``tracks`` a new report is drawn only if the last one has become wrong. Where one ``repeats`` on a grid point, a
    stop shows one, however long it is.
    """
    places = attackers_places(asked, folder)
    north, east, weights = places
    if tracks is not None:
        assert asked.between is not None  # the spec was checked
        views = tracks.attacker(north, east, weights, between=asked.between, rows=asked.reports)
        return AttackerPart(
            places=len(north),
            text=f"who sees rows of one stop, {asked.between} apart, and which of them show the last report again",
            sees=_sees(None, views),
        )
    counts = [1] if repeats else asked.reports
    made = {None: geo} if levels is None else dict(levels.mechanisms)
    again = ", which show one report however many rows it has, if all are on one grid point" if repeats else ""
    return AttackerPart(
        places=len(north),
        text=f"who sees independent reports of one stop{again}",
        sees=tuple(
            each
            for level, noise in made.items()
            for each in _sees(level, noise.attacker(north, east, weights, reports=counts))
        ),
    )


def _sees(level: str | None, views: tuple[AttackerView, ...]) -> tuple[AttackerSees, ...]:
    most = 1.0 if views[0].right == 1 else 0.9999  # but for one place alone, nobody is certain
    return tuple(
        AttackerSees(
            level=level,
            reports=view.reports,
            right=min(float(f"{view.right:.4g}"), most),
            right_error=float(f"{view.right_error:.2g}"),
            distance=float(f"{view.distance:.4g}"),
            distance_error=float(f"{view.distance_error:.2g}"),
        )
        for view in views
    )
