# SPDX-License-Identifier: Apache-2.0
"""Whether an appliance ran, asked of noisy readings or totals by somebody who knows all else.

An appliance adds a public signature to readings while it runs (Chatzikokolakis et al., Example 2). The attacker knows every
reading but for that: the series is x, or x + s. Noise of rate r on a node that the signature moves by t has the log-odds

    ln Pr[z | x + s] − ln Pr[z | x] = Σ r·(|z − x| − |z − x − t|),

for norm noise with the largest move of each window in place of |·|. They are at most Σ r·|t|, with equality where z lies
beyond both: before anything is published that is known exactly. To whom both are equally likely, the best guess is right
with the chance ½ + ½·E[(1 − odds)⁺], the expectation over noise of a quiet x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leeward._arrays import given_array
from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import ZERO, Real, whole
from leeward.local.series._grid import Integers
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._quantities import quantity
from leeward.local.series._series import Series
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree
from leeward.mechanism import Geometric, NormMechanism
from leeward.noise import Bits, SystemBits


@dataclass(frozen=True)
class _Part:
    """One draw of noise: its law, its rate for each step, the readings that it is about, and how far each node is moved."""

    law: Geometric | NormMechanism
    rate: Real
    first: int
    stop: int
    moves: Integers

    @property
    def farthest(self) -> int:
        return int(np.abs(self.moves).max())


@taught
class Appliance:
    """An appliance's signature as an attack on what is published of one meter.

    Args:
        asked: what is published: a `Series` without post-processing, `Totals` or a `TotalsTree`.
        adds: what the appliance adds to each reading while it runs, such as ``["2 kW", "2 kW"]``; whole steps of the grid.
        first: when the first of these readings is due, in ISO 8601.

    Raises:
        InputError: for amounts between grid points, readings outside the period, or post-processing.
    """

    def __init__(self, asked: Series | Totals | TotalsTree, *, adds: Sequence[str], first: str) -> None:
        totals = asked.totals if isinstance(asked, TotalsTree) else asked
        self._asked, self._series = asked, totals if isinstance(totals, Series) else totals.series
        series = self._series
        if isinstance(asked, Series) and asked.post_processing != PostProcessing():
            raise InputError(
                "An attack on readings that something is done with", "their law is another", "Leave post-processing out"
            )
        steps = [quantity(add, "adds").into(series.grid.unit) / series.grid.step_value for add in adds]
        if not any(steps) or any(step.denominator > 1 for step in steps):
            raise InputError(
                f"adds = {', '.join(adds) or 'nothing'}",
                f"it adds something, in whole steps of {series.grid.step}",
                "Round it to the grid",
            )
        at = series.schedule.slot_at(first)
        if at + len(steps) > series.schedule.slots:
            raise InputError(f"{len(steps)} readings from {first}", "the period ends before", "Name an earlier time")
        self._added = np.zeros(series.schedule.slots, np.int64)
        self._added[at : at + len(steps)] = [int(step) for step in steps]
        self._parts = [part for part in self._all() if part.farthest]

    def _all(self) -> list[_Part]:
        asked, series, added = self._asked, self._series, self._added
        if isinstance(asked, Series):
            law, size = asked.mechanism.law, asked.mechanism.window if asked.mechanism.noise == "norm" else 1
            found = []
            for first in range(0, len(added), size):
                moves = np.zeros(size, np.int64)
                moves[: len(added[first : first + size])] = added[first : first + size]
                found.append(_Part(law, asked.mechanism.rate * asked.mechanism.step, first, first + size, moves))
            return found
        if isinstance(asked, Totals):
            nodes = [(asked.law(span.readings), span.first, span.stop) for span in asked.spans]
        else:
            nodes = [
                (law, first, stop)
                for law, stops in zip(asked.mechanism.laws, asked.mechanism.levels, strict=True)
                for first, stop in pairwise((0, *stops))
            ]
        step = series.grid.step_value
        return [_Part(law, law.line.rise * step, a, b, added[a:b].sum(keepdims=True)) for law, a, b in nodes]

    @property
    def most(self) -> Real:
        """The exact log-odds that what is published can have at most, for or against the appliance: known beforehand."""
        return sum((part.rate * part.farthest for part in self._parts), ZERO)

    def guessed_right(self, draws: int = 20_000, bits: Bits | None = None) -> float:
        """Return how often the best guess is right where both are equally likely: ½ where nothing is learnt, 1 where all is.

        Estimated from noise drawn for this alone, no data: its standard error is at most 1/(4·√draws). Of a tree, by one who
        sees its noisy totals before they are made to add up, which is at least as often.
        """
        bits, size = bits or SystemBits(), whole(draws, "draws")
        odds = np.zeros(size)
        for part in self._parts:
            noise = part.law.noisy(np.zeros((size, len(part.moves)), np.int64), bits)
            odds += _odds(part, noise)
        return float(0.5 + 0.5 * np.maximum(-np.expm1(np.minimum(odds, 0.0)), 0).mean())

    def told(self, published: ArrayLike, quiet: ArrayLike) -> float:
        """Return the log-odds of what was published: above 0 it speaks for the appliance. For the person's own machine.

        Args:
            published: what was published of the meter over the period, in its unit: every reading, or every total.
            quiet: the meter's true readings without the appliance, in the series' unit, one each time one is due.

        Raises:
            InputError: for other shapes, values that are missing, or a tree, whose totals that add up have no such law;
                `most` bounds it too.
        """
        if isinstance(self._asked, TotalsTree):
            raise InputError("The odds of totals that were made to add up", "their law is another", "See most")
        series = self._series
        shown, before = given_array(published, np.float64), given_array(quiet, np.float64)
        spans = None if isinstance(self._asked, Series) else self._asked.spans
        if before.shape != self._added.shape or shown.shape != (len(before) if spans is None else len(spans),):
            raise InputError(
                "Readings or totals of another number", "each is of the whole period", "Give all, in order"
            )
        if not (np.isfinite(before).all() and np.isfinite(shown).all()):
            raise InputError(
                "Readings or totals of which some are missing", "the odds are of all of them", "Attack a whole period"
            )
        truth, _ = series.grid.steps(before)
        step = series.grid.step_value if isinstance(self._asked, Series) else self._asked.step
        noisy = np.rint(shown / float(step)).astype(np.int64)
        odds = 0.0
        for part in self._parts:
            if spans is None:
                noise = np.zeros(len(part.moves), np.int64)
                here = noisy[part.first : part.stop] - truth[part.first : part.stop]
                noise[: len(here)] = here
            else:
                (at,) = (number for number, span in enumerate(spans) if span.first == part.first)
                noise = noisy[at : at + 1] - truth[part.first : part.stop].sum(keepdims=True)
            odds += float(_odds(part, noise))
        return odds

    def __repr__(self) -> str:
        return f"<Appliance: {int(np.count_nonzero(self._added))} readings of {self._asked!r}>"


def _odds(part: _Part, noise: Integers) -> Any:
    """Return the log-odds of some noise, of the last axis: that it came from moved truths rather than from quiet ones."""
    gained = np.abs(noise).max(axis=-1) - np.abs(noise - part.moves).max(axis=-1)
    return float(part.rate) * gained
