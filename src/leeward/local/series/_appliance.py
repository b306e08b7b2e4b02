# SPDX-License-Identifier: Apache-2.0
"""Whether an appliance ran, asked of noisy readings or totals by somebody who knows all else.

An appliance adds a public signature to readings while it runs (Chatzikokolakis et al., Example 2). The attacker knows every
reading but for that: the series is x, or x + s. Noise of rate r on a node that the signature moves by t has the log-odds

    ln Pr[z | x + s] − ln Pr[z | x] = Σ r·(|z − x| − |z − x − t|),

for norm noise with the largest move of each window in place of |·|. They are at most Σ r·|t|, with equality where z lies
beyond both: before anything is published that is known exactly, and nothing made of noisy values tells more. To whom both
are equally likely, the best guess is right with the chance ½ + ½·E[(1 − odds)⁺], the expectation over noise of a quiet x.

What is published of a tree is c, the least-squares fit to noisy totals y of variances v. Many y have one fit, and the sum of
their chances is not known, so the odds of c are not: they are bounded by Σ r·|t|. What can be done with c is to guess by
least squares, as if noise were normal: that the appliance ran if

    Σ t·(2·(c − x) − t)/v > 0.

The normal equations say Σ t·c/v = Σ t·y/v for moves t that add up, so that guess is the one made of y, before c is rounded
to whole steps. How often it is right is therefore told by the noise of moved nodes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._plain import counted
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

_DAY: Final = 86_400_000_000


@dataclass(frozen=True)
class _Part:
    """One draw of noise that is moved.

    Attributes:
        law: its law.
        rate: its rate for each step.
        at: where what it is about lies among the numbers that are published.
        moves: how far each of them is moved, in steps.
        variance: of a tree, its variance up to one common factor; 1 elsewhere.
    """

    law: Geometric | NormMechanism
    rate: Real
    at: slice
    moves: Integers
    variance: float = 1.0

    @property
    def farthest(self) -> int:
        return int(np.abs(self.moves).max())


class Chances(NamedTuple):
    """How often a guess is right, of somebody to whom both are equally likely.

    Attributes:
        best: the best guess from noisy values, which is right as often as any guess from what is published, or more often.
        error: the standard error of that.
        by_squares: of a tree, the guess by least squares from what is published, before it is rounded; None elsewhere.
    """

    best: float
    error: float
    by_squares: float | None


@taught
class Appliance:
    """An appliance's signature as an attack on what is published of one meter.

    Args:
        asked: what is published: a `Series`, `Totals` or a `TotalsTree`.
        adds: what the appliance adds to each reading while it runs, such as ``["2 kW", "2 kW"]``; whole steps of the grid.
        first: when the first of these readings is due, in ISO 8601.
        days: on how many days in a row it runs so, 24 hours apart.

    Raises:
        InputError: for amounts between grid points or of more than the public range, or readings outside the period.
    """

    def __init__(
        self, asked: Series | Totals | TotalsTree, *, adds: Sequence[str], first: str | datetime, days: int = 1
    ) -> None:
        totals = asked.totals if isinstance(asked, TotalsTree) else asked
        self._asked, self._series = asked, totals if isinstance(totals, Series) else totals.series
        series, clock = self._series, self._series.schedule
        steps = [quantity(add, "adds").into(series.grid.unit) / series.grid.step_value for add in adds]
        if not any(steps) or any(step.denominator > 1 for step in steps):
            raise InputError(
                f"adds = {', '.join(adds) or 'nothing'}",
                f"it adds something, in whole steps of {series.grid.step}",
                "Round it to the grid",
            )
        if max(map(abs, steps)) > series.grid.highest - series.grid.lowest:
            raise InputError(
                f"adds = {', '.join(adds)}",
                f"readings are from {series.grid.lower} to {series.grid.upper}, and none moves farther",
                "Give what the appliance adds to one reading",
            )
        self.days = whole(days, "days", says="it is on how many days in a row the appliance runs")
        apart, rest = divmod(_DAY, clock.step)
        if self.days > 1 and (rest or len(steps) > apart):
            raise InputError(
                f"days = {self.days}, of {len(steps)} readings, one every {clock.every}",
                "a run lasts at most a day, and a day is a whole number of readings",
                "Leave days out",
            )
        first_at = clock.slot_at(first)
        last = first_at + (self.days - 1) * apart + len(steps)
        if last > clock.slots:
            on = f" on {self.days} days" if self.days > 1 else ""
            raise InputError(
                f"{counted(len(steps), 'reading')} from {first}{on}", "the period ends before", "Name an earlier time"
            )
        added = np.zeros(clock.slots, np.int64)
        for day in range(self.days):
            at = first_at + day * apart
            added[at : at + len(steps)] += [int(step) for step in steps]
        self._readings = int(np.count_nonzero(added))
        self.moves = self.made_of(added)
        """How far each number that is published is moved, in steps."""
        self._parts = [part for part in self._all() if part.farthest]

    def made_of(self, readings: Integers) -> Integers:
        """Return what is published of exact readings, in steps: of a tree level by level, from the narrowest."""
        if isinstance(self._asked, Series):
            return readings
        if isinstance(self._asked, Totals):
            return np.add.reduceat(readings, [span.first for span in self._asked.spans], axis=-1)
        narrowest = np.add.reduceat(readings, [span.first for span in self._asked.spans[0]], axis=-1)
        return np.concatenate(self._asked.mechanism.totals(narrowest), axis=-1)

    def _all(self) -> list[_Part]:
        asked, moves = self._asked, self.moves
        if isinstance(asked, Series):
            made = asked.mechanism
            law, size = made.law, made.window if made.noise == "norm" else 1
            rate, padded = made.rate * made.step, np.pad(moves, (0, -len(moves) % size))
            cuts = np.unique(np.flatnonzero(moves) // size) * size  # a period has up to 2^31 readings: only those moved
            return [_Part(law, rate, slice(a, a + size), padded[a : a + size]) for a in cuts.tolist()]
        step = self._series.grid.step_value
        if isinstance(asked, Totals):
            laws = [(asked.law(span.readings), 1.0) for span in asked.spans]
        else:
            sizes = zip(asked.mechanism.laws, asked.consistency.variances, asked.spans, strict=True)
            laws = [(law, float(variance)) for law, variance, spans in sizes for _ in spans]
        return [
            _Part(law, law.line.rise * step, slice(at, at + 1), moves[at : at + 1], variance)
            for at, (law, variance) in enumerate(laws)
        ]

    @property
    def most(self) -> Real:
        """The exact log-odds that what is published can have at most, for or against the appliance: known beforehand."""
        return sum((part.rate * part.farthest for part in self._parts), ZERO)

    @property
    def bounds_only(self) -> bool:
        """Whether the odds of what is published are not known, but for `most`: those of totals that add up."""
        return isinstance(self._asked, TotalsTree)

    @property
    def drawn(self) -> int:
        """How many numbers one simulated publication draws."""
        return sum(len(part.moves) for part in self._parts)

    @property
    def reach(self) -> NDArray[np.bool_]:
        """Which numbers that are published have noise that the signature moves, or is drawn with what it moves."""
        found = np.zeros(len(self.moves), bool)
        for part in self._parts:
            found[part.at] = True
        return found

    def guessed_right(self, draws: int = 20_000, bits: Bits | None = None) -> float:
        """Return how often the best guess is right where both are equally likely: ½ where nothing is learnt, 1 where all is.

        Estimated from noise drawn for this alone, no data: its standard error is at most 1/(4·√draws). It is the guess of
        one who sees noisy readings before anything is done with them, and noisy totals of a tree before they are made to add
        up: right at least as often as that of one who sees what is published.
        """
        return self.chances(draws, bits).best

    def chances(self, draws: int, bits: Bits | None = None) -> Chances:
        """Return how often guesses are right, estimated from noise drawn for this alone."""
        bits, size = bits or SystemBits(), whole(draws, "draws")
        odds, squares = np.zeros(size), np.zeros(size)
        for part in self._parts:
            noise = part.law.noisy(np.zeros((size, len(part.moves)), np.int64), bits)
            odds += _odds(part, noise)
            squares += _by_squares(part, noise)
        gained = 0.5 * np.maximum(-np.expm1(np.minimum(odds, 0.0)), 0)
        by_squares = float(0.5 - 0.5 * np.sign(squares).mean()) if self.bounds_only else None
        return Chances(float(0.5 + gained.mean()), float(gained.std() / np.sqrt(size)), by_squares)

    def log_odds(self, published: ArrayLike, quiet: ArrayLike) -> float:
        """Return the log-odds of what was published: above 0 it speaks for the appliance. For the person's own machine.

        Args:
            published: what was published of the meter over the period, in its unit: every reading, or every total.
            quiet: the meter's true readings without the appliance, in the series' unit, one each time one is due.

        Raises:
            InputError: for other shapes, values that are missing, what was smoothed or clamped, a last window that the end
                of the period cuts, or a tree, whose totals that add up have no such law; `most` bounds them all.
        """
        if isinstance(self._asked, TotalsTree):
            raise InputError("The odds of totals that were made to add up", "their law is another", "See most")
        self.check_law()
        series = self._series
        shown, before = given_array(published, np.float64), given_array(quiet, np.float64)
        if before.shape != (series.schedule.slots,) or shown.shape != self.moves.shape:
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
        return float(self.weighed(noisy, self.made_of(truth)))

    def check_law(self) -> None:
        """Refuse readings of which the law of what is published is not that of noisy ones.

        Raises:
            InputError: they are such.
        """
        if not isinstance(self._asked, Series):
            return
        if self._asked.post_processing != PostProcessing():
            raise InputError(
                "The odds of readings that something was done with",
                "many noisy readings become the same, and the sum of their chances is not known",
                "Leave smooth, clamp and prior out; what is learnt is bounded in any case, as the plan says",
            )
        if self._parts[-1].at.stop > len(self.moves):
            raise InputError(
                "The odds of a window that the end of the period cuts",
                "noise is drawn for all of it, and the law of a part is another",
                "Name a period of whole windows, or an earlier time",
            )

    def weighed(self, shown: Integers, quiet: Integers) -> Any:
        """Return the log-odds of what was published; of a tree, half the sum that decides the guess by least squares.

        Args:
            shown: what was published in steps, shape (…, numbers), in the order of `moves`.
            quiet: the same of the true readings without the appliance.
        """
        noise, weigh = shown - quiet, _by_squares if self.bounds_only else _odds
        return sum(weigh(part, noise[..., part.at]) for part in self._parts)

    def __repr__(self) -> str:
        return f"<Appliance: {self._readings} readings of {self._asked!r}>"


def _odds(part: _Part, noise: Integers) -> Any:
    """Return the log-odds of some noise, of the last axis: that it came from moved truths rather than from quiet ones."""
    gained = np.abs(noise).max(axis=-1) - np.abs(noise - part.moves).max(axis=-1)
    return float(part.rate) * gained


def _by_squares(part: _Part, noise: Integers) -> Any:
    """Return the same as if noise were normal, of the part's variance."""
    return (part.moves * (2.0 * noise - part.moves)).sum(axis=-1) / (2 * part.variance)
