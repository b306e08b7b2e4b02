# SPDX-License-Identifier: Apache-2.0
"""What an adversary believes after one report of a position: exact where the chances of the report are, else refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, RefusedError
from leeward.exact._real import Exact
from leeward.exact._weight import Weight, weight
from leeward.local.location._over_places import OverPlaces
from leeward.local.location._terms import PositionNoise

Points = NDArray[np.int64]
Position = tuple[float, float]

FINEST: Final = Fraction(1, 20)
"""Metres of a grid step from which on reports, rounded to a centimetre, show the grid point."""

_ROUNDED: Final = 1e-6  # degrees: more than rounding moves a report


def posterior(
    geo: PositionNoise,
    report: Position,
    prior: Mapping[Position, Weight | Exact],
    best: OverPlaces | None,
) -> dict[Position, Weight]:
    """Return what someone with this prior believes after a report. See `PlanarLaplace.posterior`.

    Args:
        geo: the mechanism.
        report: latitude and longitude in degrees, as reported.
        prior: weights by position.
        best: where reports are drawn over public places, that mechanism; None where they are planar Laplace noise.
    """
    chances = {place: _chance(value) for place, value in prior.items()}
    north, east = (np.array([place[axis] for place in chances], np.float64) for axis in (0, 1))
    there = np.isfinite(north) & np.isfinite(east) & (geo.box.holds(north, east) | (geo.outside == "clamp"))
    if not there.all():
        raise InputError(
            "A prior over positions outside the box",
            "no report comes from there",
            "Leave them out, or give them the box",
        )
    points = [(int(i), int(j)) for i, j in geo.to_grid(north, east)]
    likely = _planar(geo, report) if best is None else _over_places(geo, report, best)
    known = {point: likely(point) for point in dict.fromkeys(points)}
    masses = {place: known[point] * chance for (place, chance), point in zip(chances.items(), points, strict=True)}
    total = sum(masses.values(), start=weight(0))
    if not total:
        raise InputError(
            "A prior under which there is no such report",
            "it is 0 everywhere, or none of its positions is ever reported as this one",
            "Give positive weights, to positions from which the report can come",
        )
    return {place: mass / total for place, mass in masses.items()}


def _planar(geo: PositionNoise, report: Position) -> Callable[[tuple[int, int]], Weight]:
    """Pr[report | grid point], up to the normaliser: a report is one grid point, if nothing else becomes that report."""
    changed = (
        "moved to a public place" if geo.terms.places else "given as an H3 cell" if geo.terms.h3 is not None else ""
    )
    if changed:
        raise RefusedError(
            "The posterior after a report that was " + changed,
            "many noisy points become the same report, and the sum of their chances is not exact",
            "Ask about the noisy position before that step, which reveals as much or more; or take best_over",
        )
    if geo.step < FINEST:
        raise RefusedError(
            f"The posterior after a report on a grid of {geo.step} metres",
            "reports are rounded to a centimetre, so one report stands for several points of that grid",
            f"Give a step of at least {float(FINEST)} metres",
        )
    north, east = np.array([report[0]], np.float64), np.array([report[1]], np.float64)
    if not (np.isfinite(north).all() and np.isfinite(east).all()):
        raise InputError(f"A report at {report[0]!r}, {report[1]!r}", "it is not a position", "Give degrees")
    at = geo.mechanism.snap(geo.plane.project(*geo.box.nearest(north, east)))
    seen = int(at[0, 0]), int(at[0, 1])
    reports = np.array([[*north, *east], np.ravel(geo.shown(at))])  # as given, and as that grid point is reported
    if not geo.box.inside(*reports.T, margin=_ROUNDED).all() or not geo.mechanism.inside(seen):
        raise RefusedError(
            "The posterior after a report at the edge of the box, or beyond it",
            "all noisy points that lie farther out are moved there too, and the sum of their chances is not exact",
            "Ask about a report inside the box, or give a larger box",
        )
    return lambda point: geo.mechanism.weight(point, seen)


def _over_places(geo: PositionNoise, report: Position, best: OverPlaces) -> Callable[[tuple[int, int]], Weight]:
    """Pr[report | grid point of a place]: the chances of all places that are shown as this report."""
    outputs = best.mechanism.outputs
    north, east = geo.shown(np.array(outputs, np.int64))
    same = [z for z, a, b in zip(outputs, north.tolist(), east.tolist(), strict=True) if (a, b) == tuple(report)]
    if not same:
        raise InputError(
            f"A report at {report[0]!r}, {report[1]!r}",
            "no public place is reported as this position",
            "Give latitude and longitude of a report exactly as it was made",
        )
    chance: Any = best.mechanism.probability
    return lambda point: sum((chance(point, z) for z in same), start=weight(0))


def _chance(value: Any) -> Weight:
    number = weight(value)
    if number.sign() < 0:
        raise InputError(
            "A prior with a negative weight",
            "its weights must be at least 0, and not all 0",
            "Give numbers of at least 0",
        )
    return number
