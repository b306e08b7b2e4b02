# SPDX-License-Identifier: Apache-2.0
"""Times and positions that were rounded to more than a question asks.

A time that was cut to its day, or a position to two decimals, stands for a whole day, or a square kilometre. Taken for a
moment, or a point, it leaves all other hours, and the cells around, empty: they would be called safe. All of this is for the
curator only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from leeward._optional import optional
from leeward._plain import counted
from leeward._private import Private
from leeward.errors import DoubtfulDataError
from leeward.query import Grid
from leeward.query._source import METRES_PER_DEGREE

if TYPE_CHECKING:
    import ibis.expr.types as ir

_HOURS: Final = ((12, "twelve"), (8, "eight"), (6, "six"), (4, "four"), (3, "three"), (2, "two"))

UNITS: Final = (
    (86_400, "days", 0.1),
    *((hours * 3_600, f"stretches of {called} hours", 0.9) for hours, called in _HOURS),
    (3_600, "hours", 0.9),
    (1_800, "half hours", 0.9),
    (1_200, "stretches of twenty minutes", 0.9),
    (900, "quarters of an hour", 0.9),
    (720, "stretches of twelve minutes", 0.9),
    (600, "stretches of ten minutes", 0.9),
    (300, "stretches of five minutes", 0.9),
    (60, "minutes", 0.9),
)
"""Seconds, what so many are called, and up to which share of all times may lie at the start of one."""

_SHARE: Final = 0.9
"""Up to this share of all positions may have so few decimals."""

_SOME: Final = 10
"""Fewer than this many say nothing."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Coarse(Private):
    """How many of some rows hold a time or a position that may be rounded.

    Attributes:
        what: which of them, in words.
        stands_for: what one of these stands for, and what is left empty.
        instead: what else to ask.
        number: how many there are.
        of: of how many.
        share: up to which share of them is as it should be.
    """

    what: str
    stands_for: str
    instead: str
    number: int
    of: int
    share: float

    @property
    def doubtful(self) -> bool:
        """Whether there are so many that they must be rounded."""
        return self.number >= _SOME and self.number > self.share * self.of


def at_start(stamp: Any, unit: int, shifts: Sequence[int]) -> Any:
    """Return whether a stamp is at the start of a unit, on a clock that is ahead of it by one of some shifts."""
    found = stamp % unit == 0
    for shift in shifts:
        found = found | ((stamp + shift) % unit == 0)
    return found


def of_times(unit: str, share: float, number: int, of: int) -> Coarse:
    """Return how many of the times around some windows are at the start of a day, an hour or a minute."""
    return Coarse(
        f"times around the window are at the start of {'a day' if unit == 'days' else f'one of the {unit}'}",
        f"a time that was cut to {unit} does not say when in them somebody was there: the rest of each looks empty",
        f"Ask for windows that begin with one of the {unit}, or name a column of times that are not cut",
        number,
        of,
        share,
    )


def decimals_of(grid: Grid) -> tuple[tuple[str, int], ...]:
    """Return with how many decimals of a degree positions are further apart than the cells of a grid; none where with none.

    Returns:
        ``latitude`` and ``longitude``, and the most decimals that are too few.
    """
    if grid.h3 is None:
        steps = grid.step
    else:
        h3 = optional("h3", "A grid of H3 cells")
        across = math.sqrt(3) * h3.average_hexagon_edge_length(grid.h3, unit="m") / METRES_PER_DEGREE
        steps = across, across / math.cos(math.radians((grid.south + grid.north) / 2))
    found = (
        (axis, math.ceil(-math.log10(step)) - 1) for axis, step in zip(("latitude", "longitude"), steps, strict=True)
    )
    return tuple((axis, digits) for axis, digits in found if digits >= 0)


def of_few_decimals(degrees: ir.Value, digits: int) -> ir.Value:
    """Whether a number of degrees has at most so many decimals."""
    fine = degrees.clip(-180, 180) * 10**digits  # the engine takes no whole part of what is beyond 64 bits
    return (fine - (fine + 0.5).floor()).abs() < 1e-6


def of_positions(axis: str, digits: int, number: int, of: int) -> Coarse:
    """Return how many positions in some windows have at most so many decimals."""
    apart = METRES_PER_DEGREE / 10**digits
    return Coarse(
        f"positions have a {axis} of at most {counted(digits, 'decimal')}",
        f"they are rounded to some {apart:,.0f} metres, and a cell of the grid is smaller: most cells hold no such position",
        "Take a grid of larger cells, or name columns of positions that are not rounded",
        number,
        of,
        _SHARE,
    )


def refuse_coarse(found: Sequence[Coarse]) -> None:
    """Refuse times or positions that are rounded to more than what is asked.

    Raises:
        DoubtfulDataError: there are so many that they must be. For the curator only.
    """
    for each in found:
        if each.doubtful:
            raise DoubtfulDataError.stopping(
                f"{each.number:,} of the {each.of:,} {each.what}",
                f"{each.stands_for}, and a place where nobody counts is safe",
                each.instead,
                "they are as they should be",
            )
