# SPDX-License-Identifier: Apache-2.0
"""Each person's own ε for positions: every report is drawn at the level of ε that a public column names.

All levels share one grid: the same positions are the same grid points, and what differs is the noise alone. Each report is
private at its own person's ε, and the draws are independent, so all reports together are private for the sum over persons of
each one's own distance (`leeward.notion.Personalised`). Who has which level is public. If it followed from where they are,
it would tell where they are; so a person has one level in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._plain import at_most
from leeward.errors import SpecError
from leeward.local._level_keys import check_pair
from leeward.local._levels import name_of_level
from leeward.local.location._box import Box
from leeward.local.location._documents import LocationStatement
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._spec import Protect

Points = NDArray[np.int64]


class Levels:
    """The mechanisms of the levels, on one grid.

    Args:
        protect: the section, with a column of levels and what each asks for; what a level leaves out is the section's own.
        box: the public region.
    """

    def __init__(self, protect: Protect, box: Box) -> None:
        self.column = str(protect.level)
        asked = {name: protect.keys(name) for name in protect.levels or {}}
        made = {name: PlanarLaplace(box=box, **keys) for name, keys in asked.items()}
        self.weakest = max(made.values(), key=lambda geo: geo.epsilon)
        step = f"{self.weakest.step} m"
        self.mechanisms = {name: PlanarLaplace(box=box, **{**keys, "step": step}) for name, keys in asked.items()}

    def draw(self, points: Points, levels: Sequence[Any]) -> Points:
        """Return noisy grid points, each at its level's ε."""
        drawn = np.empty_like(points)
        named = np.array(list(map(name_of_level, levels)), dtype=object)
        for level in sorted(set(named.tolist())):
            rows = np.flatnonzero(named == level)
            drawn[rows] = self.mechanisms[level].draw(points[rows])
        return drawn

    def told(self, made: LocationStatement) -> LocationStatement:
        """Return a statement that says which levels there are, from that of the weakest of them."""
        away = {name: geo.describe() for name, geo in self.mechanisms.items()}
        each = "; ".join(
            f"{name}: ε = {geo.epsilon} a metre, s = {at_most(float(geo.snapping), 4)} ({geo.promise}), moved by"
            f" {away[name].mean:.4g} m on average, half of the reports by less than {away[name].median:.4g} m, 95 % by less"
            f" than {away[name].within_95:.4g} m"
            for name, geo in self.mechanisms.items()
        )
        weakest = "That holds of every report; each is private at the ε of its own person's level"
        return made.model_copy(
            update={
                "promise": made.promise.model_copy(update={"text": f"{made.promise.text}. {weakest}. {each}"}),
                "displacement": None,
                "unit": f"{made.unit}, each at the ε of that person's level",
                "assumptions": (
                    *made.assumptions,
                    f"Who has which level ('{self.column}') is public, and does not follow from where they are",
                ),
                "not_guaranteed": (
                    *made.not_guaranteed,
                    "Levels are passed on, and reports of one level lie further from the truth than those of another:"
                    " who has which is not protected",
                ),
            }
        )


def refuse_unfit(protect: Protect, **sections: object) -> None:
    """Refuse what is about one ε beside levels of several, and levels without a column or the other way round.

    Raises:
        SpecError: it is there.
    """
    check_pair(protect.level, protect.levels)
    if protect.levels is None:
        return
    for name, given in sections.items():
        if given:
            raise SpecError(
                f"{name} with [protect] levels",
                "it is about one ε",
                "Leave one of them out, or perturb each level apart",
            )
