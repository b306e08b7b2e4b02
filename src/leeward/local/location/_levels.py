# SPDX-License-Identifier: Apache-2.0
"""Each person's own ε for positions: every report is drawn at the level of ε that a public column names.

All levels share one grid: the same positions are the same grid points, and what differs is the noise alone, and what is done
with it (a Bayes remap, the best mechanism over places: each for its own ε). Each report is private at its own level's ε, and
the draws are independent, so all reports together are private for the sum of each one's own distance
(`leeward.notion.Personalised`). Who has which level is public. If it followed from where they are, it would tell where they
are; so a person has one level in a table, unless the spec says that each row has its own.

On one grid, snapping costs ε times one length. So n_l reports of each level l cost (Σ n_l·ε_l)·(d + that length): sums of ε
are sums of prices, and a day's budget is an ε.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.ledger._memoized_reports import Once
from leeward.local._levels import LevelsOfPeople, name_of_level
from leeward.local.location._box import Box
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._spec import Protect
from leeward.local.location._terms import Compared

Points = NDArray[np.int64]
Floats = NDArray[np.float64]

Made = tuple[PlanarLaplace, Compared | None]
"""A mechanism with what is done after the noise, and its expected distances over public places, if any."""


class Levels:
    """The mechanisms of the levels, on one grid; where everybody has one ε, that of one level without a name.

    Args:
        protect: the section, with a column of levels and what each asks for; what a level leaves out is the section's own.
        box: the public region.
        after: makes of a level's noise what its reports come from.

    Attributes:
        column: the public column; None where everybody has one ε.
        of: whether a person has one level, or each row its own.
        mechanisms: those of the levels, by name.
        compared: their expected distances over public places; None where they were not asked for.
        weakest: that with the largest ε.
    """

    def __init__(self, protect: Protect, box: Box, after: Callable[[PlanarLaplace], Made]) -> None:
        self.column, self.of = protect.level, protect.level_of
        asked = {name: protect.keys(name) for name in protect.levels or ("",)}
        made = {name: PlanarLaplace(box=box, **keys) for name, keys in asked.items()}
        if len(made) > 1:
            step = f"{min(geo.step for geo in made.values())} m"  # the finest: snapping costs all levels less
            made = {name: PlanarLaplace(box=box, **{**keys, "step": step}) for name, keys in asked.items()}
        found = {name: after(geo) for name, geo in made.items()}
        self.mechanisms = {name: geo for name, (geo, _) in found.items()}
        self.weakest = max(self.mechanisms.values(), key=lambda geo: geo.epsilon)
        self.compared = {name: compared for name, (_, compared) in found.items()}

    def people(self) -> LevelsOfPeople | None:
        """Return what looks at the levels of rows as they go by; None where there are none to look at."""
        if self.column is None:
            return None
        return LevelsOfPeople(self.column, self.mechanisms, "where they are", changes=self.of == "row")

    @property
    def law(self) -> str:
        """What all reports of a store have in common, as text that it keeps; how each is drawn is in the key of each."""
        geo = self.weakest
        if self.column is None:
            return geo.law
        return f"of levels, each by its own law; {geo.law.removeprefix(f'ε = {geo.epsilon} a metre, ')}"

    def laws(self, levels: Sequence[Any]) -> list[str] | None:
        """Return how the report of each row is drawn; None where all are in one way."""
        if self.column is None:
            return None
        by_name = {name: geo.law for name, geo in self.mechanisms.items()}
        return [by_name[name_of_level(level)] for level in levels]

    def places(self, levels: Sequence[Any]) -> list[int] | None:
        """Return the number of the level of each row, in the order of `mechanisms`; None where there is one."""
        if self.column is None:
            return None
        numbers = {name: number for number, name in enumerate(self.mechanisms)}
        return [numbers[name_of_level(level)] for level in levels]

    def draw(
        self, points: Points, levels: Sequence[Any], once: Once | None = None, people: Sequence[Any] | None = None
    ) -> Points:
        """Return noisy grid points, each at its level's ε.

        Args:
            points: grid points, shape (n, 2).
            levels: the level of each; of one level none need be given.
            once: what shows the same report for the same person, grid point and law again; None where each is drawn anew.
            people: whose report each is; needed with ``once``.
        """
        drawn = np.empty_like(points)
        for name, rows in self._rows(levels, len(points)):
            geo = self.mechanisms[name]
            if once is None or people is None:
                drawn[rows] = geo.draw(points[rows])
            else:
                law = None if self.column is None else geo.law
                drawn[rows] = once([people[row] for row in rows.tolist()], points[rows], geo.draw, law)
        return drawn

    def shown(self, noisy: Points, levels: Sequence[Any]) -> tuple[Floats, Floats]:
        """Return noisy grid points as they are shown, in degrees: post-processing, each for its level's ε."""
        found = np.empty((2, len(noisy)))
        for name, rows in self._rows(levels, len(noisy)):
            found[:, rows] = self.mechanisms[name].shown(noisy[rows])
        return found[0], found[1]

    def costs(self, levels: Sequence[Any], rows: int) -> list[float]:
        """Return ε a metre of the report of each row, for display."""
        if self.column is None:
            return [float(self.weakest.epsilon)] * rows
        known = {name: float(geo.epsilon) for name, geo in self.mechanisms.items()}
        return [known[name_of_level(level)] for level in levels]

    def _rows(self, levels: Sequence[Any], rows: int) -> list[tuple[str, NDArray[np.intp]]]:
        if self.column is None:
            return [("", np.arange(rows))]
        named = np.array(list(map(name_of_level, levels)), dtype=object)
        return [(name, np.flatnonzero(named == name)) for name in sorted(set(named.tolist()))]
