# SPDX-License-Identifier: Apache-2.0
"""The attacker of a spec, before anything is drawn: what he learns of one stop, from each number of its reports."""

from __future__ import annotations

from pathlib import Path

from leeward.local.location._attacker import AttackerView
from leeward.local.location._levels import Levels
from leeward.local.location._public_places import read_places
from leeward.local.location._spec import Attacker
from leeward.local.location._terms import AttackerPart, AttackerSees
from leeward.local.location._tracks import Tracks


def attacker_part(
    asked: Attacker, folder: Path, levels: Levels, tracks: Tracks | None, *, repeats: bool
) -> AttackerPart:
    """Simulate what the attacker of a spec learns; reads public places alone.

    With ``tracks`` a new report is drawn only if the last one has become wrong. Where one ``repeats`` on a grid point, a
    stop shows one, however long it is.
    """
    north, east, weights = read_places(asked, folder).columns
    if tracks is not None:
        assert asked.between is not None  # the spec was checked
        views = tracks.attacker(north, east, weights, between=asked.between, rows=asked.reports)
        return AttackerPart(
            places=len(north),
            text=f"who sees rows of one stop, {asked.between} apart, and which of them show the last report again",
            sees=_sees(None, views),
        )
    counts = [1] if repeats else asked.reports
    again = ", which show one report however many rows it has, if all are on one grid point" if repeats else ""
    return AttackerPart(
        places=len(north),
        text=f"who sees independent reports of one stop{again}",
        sees=tuple(
            each
            for level, noise in levels.mechanisms.items()
            for each in _sees(level or None, noise.attacker(north, east, weights, reports=counts))
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
