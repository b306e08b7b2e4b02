# SPDX-License-Identifier: Apache-2.0
"""Public levels, and how far one person moves how many are above each of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from leeward._plain import echo
from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.exact._real import Exact, exact
from leeward.notion import INSERT, REPLACE, WITHDRAW, Change
from leeward.notion._metric import BoundedChange
from leeward.query._effect import Effect, Move
from leeward.query._public_values import public_values
from leeward.query._source import MOST_CELLS


def listed_levels(levels: object, *, bounds: bool = False) -> tuple[Fraction, ...]:
    """Return the public levels as they are listed, ascending."""
    if bounds:
        raise SpecError(
            "Levels, and bounds or a step too", "the levels say where they lie", "Leave lower, upper and step out"
        )
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise SpecError(f"levels = {echo(levels)}", "it is not a list", 'Give a list: ["20", "40", "60"]')
    found = tuple(exact(level).rational for level in levels)
    rational = tuple(level for level in found if level is not None)
    if len(rational) < len(found):
        raise InputError("A level that is not rational", "numbers are held against it", "Give decimals or fractions")
    if not found:
        raise SpecError("levels = []", "there is no level to answer about", 'List those that are public: ["20", "40"]')
    if any(high <= low for low, high in itertools.pairwise(rational)):
        raise SpecError(
            "levels that repeat or do not ascend", "each is a public key", "List each once, the lowest first"
        )
    return rational


def asked_levels(levels: object, lower: Exact | None, upper: Exact | None, step: Exact | None) -> tuple[Fraction, ...]:
    """Return the levels that are listed, or that lie one step from another."""
    if levels is not None:
        return listed_levels(levels, bounds=(lower, upper, step) != (None, None, None))
    if lower is None or upper is None:
        raise SpecError(
            "Levels that are not listed",
            "what is asked about is public, never read from the data",
            'Give levels = ["20", "40", "60"], or lower, upper and step',
        )
    values = public_values(lower, upper, 1 if step is None else step)
    if (many := values.steps + 1) > MOST_CELLS:  # before they are listed
        raise SpecError(f"{many:,} levels", f"{MOST_CELLS:,} answers are the most", "Ask for fewer")
    return values.points


def common_step(levels: Sequence[Fraction]) -> Fraction:
    """Return the widest step on whose grid, from the lowest on, all levels lie; 1 for one level."""
    gaps = [high - low for low, high in itertools.pairwise(levels)]
    if not gaps:
        return Fraction(1)
    whole = math.lcm(*(gap.denominator for gap in gaps))
    return Fraction(math.gcd(*(int(gap * whole) for gap in gaps)), whole)


def nested(change: Change, levels: int, groups: int) -> Effect:
    """Return what one person's change does to how many are above each level.

    Each count moves by 1 at most. Who comes or goes moves those of one group one way; so does who stays in one group, or
    leaves it for none: a larger number is above all levels that the smaller one is above. Between two groups counts of one
    fall and of the other rise.

    Raises:
        NotPrivateError: for small changes of a number: how many levels lie so near together is not used.
    """
    if isinstance(change, BoundedChange):
        raise NotPrivateError(
            "Closeness of numbers, above levels",
            "what a small change of a number does to counts above levels is not derived",
            "Use a notion about whole records, such as addition-only or dp",
        )
    down, up = (0, 1), (1, 0)
    if change == WITHDRAW:
        return Effect(total=((0, levels),), each=(down,))
    if change == INSERT:
        return Effect(total=((levels, 0),), each=(up,))
    one_way: tuple[Move, ...] = ((levels, 0), (0, levels))
    both = change != REPLACE or groups > 1
    return Effect(total=(*one_way, (levels, levels)) if both else one_way, each=(up, down))
