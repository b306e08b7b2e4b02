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
from leeward._private import Private
from leeward.errors import DataError, SpecError
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
        named = np.array(list(map(_name, levels)), dtype=object)
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


class LevelsOfPeople(Private):
    """Whether each person has one level, looked at as rows go by."""

    __slots__ = ("_known", "_levels")

    def __init__(self, levels: Levels) -> None:
        self._levels, self._known = levels, dict[str, str]()

    def check(self, levels: Sequence[Any], people: Sequence[Any] | None) -> None:
        """Refuse a level that the spec does not know, and a person with two.

        Raises:
            DataError: there is one.
        """
        column = self._levels.column
        names = list(map(_name, levels))
        if unknown := sum(name not in self._levels.mechanisms for name in names):
            raise DataError(
                f"{unknown:,} rows with a level in '{column}' that the spec does not list, or none",
                "nothing says at which ε their reports are drawn (this is for the curator only)",
                "List it under [protect.levels], or correct the column",
            )
        for person, name in zip([] if people is None else people, names, strict=False):
            if self._known.setdefault(str(person), name) != name:
                raise DataError(
                    f"Somebody has several levels in '{column}'",
                    "a level that changes from row to row may follow from where they are (this is for the curator only)",
                    "Give each person one level",
                )


def _name(level: Any) -> str:
    """Return a level as TOML names it; nothing where it is missing."""
    return "" if level is None or level != level else str(level)


def refuse_unfit(protect: Protect, **sections: object) -> None:
    """Refuse what is about one ε beside levels of several, and levels without a column or the other way round.

    Raises:
        SpecError: it is there.
    """
    if (protect.level is None) != (protect.levels is None):
        raise SpecError(
            "[protect] level and levels",
            "one is the column that says each person's level, the other what a level asks for",
            'Give both: level = "tier" and [protect.levels.careful] within = "1 km"',
        )
    if protect.levels is None:
        return
    if not protect.levels:
        raise SpecError("[protect] levels", "there is none", 'Write, say, [protect.levels.careful] within = "1 km"')
    for name, given in sections.items():
        if given:
            raise SpecError(
                f"{name} with [protect] levels",
                "it is about one ε",
                "Leave one of them out, or perturb each level apart",
            )
