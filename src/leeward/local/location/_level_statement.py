# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of positions that are each reported at a level of ε of their own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from leeward._plain import at_most
from leeward.local.location._documents import (
    LocationStatement,
    PositionExchange,
    PositionLevel,
    PositionLevelsPart,
)
from leeward.local.location._levels import Levels
from leeward.local.location._statement import statement
from leeward.local.location._terms import Terms


def statement_of_levels(levels: Levels, terms: Terms, others: Sequence[str] | None = None) -> LocationStatement:
    """Return the privacy statement: that of the largest ε, which holds of every report, and what each level is held to."""
    every = {
        name: statement(geo, replace(terms, compared=levels.compared[name]), others)
        for name, geo in levels.mechanisms.items()
    }
    made = next(every[name] for name, geo in levels.mechanisms.items() if geo is levels.weakest)
    whose = "that person's level" if levels.of == "person" else "the level of its own row"
    own = "its own person's level" if levels.of == "person" else "its row's level"
    held = f"That holds of every report; each is private at the ε of {own}"
    each = "; ".join(_in_short(levels, name, one) for name, one in every.items())
    return made.model_copy(
        update={
            "promise": made.promise.model_copy(update={"text": f"{made.promise.text}. {held}. {each}"}),
            "displacement": None,
            "expected_loss": None,
            "unit": f"{made.unit}, each at the ε of {whose}",
            "levels": _part(levels, every),
            "assumptions": (*made.assumptions, _assumed(levels)),
            "not_guaranteed": (
                *made.not_guaranteed,
                *(
                    [
                        "At another level the same person on the same grid point has another report, at its own price: two"
                        " of different levels do not show that the person moved"
                    ]
                    if terms.repeats
                    else []
                ),
                "Levels are passed on, and reports of one level lie further from the truth than those of another:"
                " who has which is not protected",
            ),
        }
    )


def _in_short(levels: Levels, name: str, one: LocationStatement) -> str:
    geo, away = levels.mechanisms[name], one.displacement
    moved = (
        ""
        if away is None
        else f", moved by {away.mean:.4g} m on average, half of the reports by less than {away.median:.4g} m, 95 % by less"
        f" than {away.within_95:.4g} m"
    )
    return f"{name}: ε = {geo.epsilon} a metre, s = {at_most(float(geo.snapping), 4)} ({geo.promise}){moved}"


def _assumed(levels: Levels) -> str:
    if levels.of == "person":
        return f"Who has which level ('{levels.column}') is public, and does not follow from where they are"
    return (
        f"Which row has which level ('{levels.column}') is public, and does not follow from where its person is, though it"
        " may change from one row of a person to the next"
    )


def _part(levels: Levels, every: Mapping[str, LocationStatement]) -> PositionLevelsPart:
    geos = levels.mechanisms
    return PositionLevelsPart(
        column=str(levels.column),
        of=levels.of,
        each=tuple(
            PositionLevel(
                name=name, promise=one.promise, displacement=one.displacement, expected_loss=one.expected_loss
            )
            for name, one in every.items()
        ),
        exchanges=tuple(
            PositionExchange(
                levels=(one, other),
                epsilon_per_metre=str(geos[one].epsilon + geos[other].epsilon),
                snapping=str(geos[one].snapping + geos[other].snapping),
            )
            for one, other in itertools.combinations(geos, 2)
        ),
        text="That two people of different levels exchanged their positions is held to the ε of the one and that of the"
        " other, added up. That somebody had another level is not covered at all: levels are public",
    )
