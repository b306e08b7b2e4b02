# SPDX-License-Identifier: Apache-2.0
"""The three steps of a report: a position goes to a grid point, that is drawn anew, and what is drawn is shown in degrees.

Only the second is private; it may be drawn over public places in place of the plane. The third is post-processing, to which
public places or H3 cells may be added: noise comes first, then places, then cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError
from leeward.exact._real import Real
from leeward.local.location._after import PriorPlaces, check_resolution, h3_cells, h3_centres
from leeward.local.location._box import Box
from leeward.local.location._felt import Felt
from leeward.local.location._over_places import OverPlaces, said_of
from leeward.local.location._terms import Drawn, Terms
from leeward.noise import Bits

Floats = NDArray[np.float64]
Points = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Steps:
    """How reports are made of positions.

    Attributes:
        to_grid: the grid points of positions, moved into the box first.
        draw: noisy grid points for grid points.
        shown: noisy grid points in degrees.
        terms: what is done besides noise.
        over: the places that reports are drawn over; None where it is the plane.
        among: then which places, and how, as text that stores keep.
    """

    to_grid: Callable[[Floats, Floats], Points]
    draw: Callable[[Points], Points]
    shown: Callable[[Points], tuple[Floats, Floats]]
    terms: Terms = field(default_factory=Terms)
    over: OverPlaces | None = None
    among: str = ""

    def to_places(self, places: PriorPlaces, remap: Callable[[Points], NDArray[np.intp]]) -> Steps:
        """Show the places whose numbers a remap gives for noisy points."""

        def shown(noisy: Points) -> tuple[Floats, Floats]:
            best = remap(noisy)
            return places.latitude[best], places.longitude[best]

        return replace(self, shown=shown, terms=replace(self.terms, places="remap"))

    def to_h3(self, resolution: int) -> Steps:
        """Show the centres of the H3 cells that reports lie in."""
        check_resolution(resolution)
        return replace(
            self,
            shown=lambda noisy: h3_centres(h3_cells(*self.shown(noisy), resolution)),
            terms=replace(self.terms, h3=resolution),
        )

    def drawn_over(self, best: OverPlaces, how: Drawn, felt: Felt, epsilon: Real, box: Box, bits: Bits) -> Steps:
        """Draw and show public places, for positions that are moved to the nearest one first."""
        said = None if how == "best" and felt.plain else said_of(best, felt, epsilon)
        never = tuple(region.name for region in felt.regions if region.back == "never")
        law = "the best" if how == "best" else f"the exponential mechanism, of scale {said and said.scale!r},"
        return Steps(
            lambda north, east: best.points[best.places.nearest(*box.nearest(north, east))],
            lambda points: best.report(points, bits),
            best.degrees,
            replace(self.terms, places=how, felt=said, never=never),
            best,
            f", {law} over the places {best.places.digest()}{felt.law}",
        )

    def check_places(self, *, after: bool) -> None:
        """Refuse places that would undo a step; ``after`` the draw they may come, if it was not over places."""
        drawn = after and self.over is not None
        if drawn or self.terms.h3 is not None:
            done = "drawn over public places" if drawn else "given as H3 cells"
            raise InputError(
                f"Places for reports that are {done}",
                "noise comes first, then places, then cells",
                "Begin with the mechanism before that step",
            )
