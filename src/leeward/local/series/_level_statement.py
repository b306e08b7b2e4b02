# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of readings, or totals, of meters that each have their own level of ε."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from leeward.local.series._documents import SeriesExchange, SeriesLevel, SeriesLevelsPart, SeriesStatement
from leeward.local.series._levels import SeriesLevels
from leeward.local.series._statement import statement
from leeward.local.series._totals import Totals


def statement_of_levels(
    levels: SeriesLevels,
    column: str,
    totals: Mapping[str, Totals] | None = None,
    others: Sequence[str] | None = None,
    *,
    grouped: bool = False,
) -> SeriesStatement:
    """Return the privacy statement: that of the largest ε, which holds of every meter, and what each level is held to.

    The column is the public one that names the level of each meter. Totals are those of each level, None for readings;
    where they are grouped, one may be of several meters.
    """
    every = {
        name: statement(series, None if totals is None else totals[name], others)
        for name, series in levels.each.items()
    }
    made = next(every[name] for name, series in levels.each.items() if series is levels.weakest)
    held = "That holds of every meter; each is held to the ε of its own level"
    each = "; ".join(f"{name}: {one.promise.asked}" for name, one in every.items())
    mixed = "A total of meters of several levels has the noise of the smallest ε among them"
    return made.model_copy(
        update={
            "promise": made.promise.model_copy(update={"text": f"{made.promise.text}. {held}. {each}"}),
            "unit": f"{made.unit}, at the ε of its level",
            "options": (),
            "levels": _part(levels, column, every),
            "post_processing": (*made.post_processing, *([mixed] if grouped else [])),
            "assumptions": (
                *made.assumptions,
                f"Which meter has which level ('{column}') is public, and does not follow from its readings",
            ),
            "not_guaranteed": (
                *made.not_guaranteed,
                "Levels are passed on, and readings of one level are further off than those of another: which meter has"
                " which is not protected",
            ),
        }
    )


def _part(levels: SeriesLevels, column: str, every: Mapping[str, SeriesStatement]) -> SeriesLevelsPart:
    by_amount = levels.weakest.mechanism.kind.by_amount
    per = f"1 {levels.weakest.grid.unit}" if by_amount else "reading"
    return SeriesLevelsPart(
        column=column,
        each=tuple(
            SeriesLevel(name=name, **{part: held for part, held in one if part in SeriesLevel.model_fields})
            for name, one in every.items()
        ),
        exchanges=tuple(
            SeriesExchange(levels=pair, epsilon=str(levels.exchange(*pair)), per=per)
            for pair in itertools.combinations(every, 2)
        ),
        text="That two people of different levels exchanged their readings is held to the ε of the one and that of the"
        " other, added up. That somebody had another level is not covered at all: levels are public",
    )
