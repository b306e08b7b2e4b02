# SPDX-License-Identifier: Apache-2.0
"""What is done with noisy readings: all of it post-processing, which costs nothing in all and reads no true reading.

In this order: a Bayes remap to a public prior, a moving average over the readings of a meter, a clamp to the public bounds.
A moving average mixes windows: who looks at one published window sees noisy readings of its neighbours (`Series.published`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._plain import echo
from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Exact, exact, plainly
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._readings import Readings
from leeward.mechanism._series import SeriesMechanism
from leeward.noise import DirectedGeometric

_MOST_POINTS: Final = 20_000
_LEAST_RATE: Final = 1e-5


@taught
@dataclass(frozen=True)
class PostProcessing:
    """What is done with noisy readings before they are published.

    Attributes:
        smooth: each reading becomes the mean of the readings there are among so many around it (an odd number), to the
            nearest grid point; 1 for none.
        clamp: whether readings beyond the public bounds are moved to them. It takes the mean of readings near a bound away
            from the truth, so it is done only where asked.
        prior: a public prior, pairs (value in the column's unit, weight); each reading becomes the median of what it leaves
            to believe, on its own. None for none.

    Raises:
        InexactError: for floats in a prior.
        InputError: for a span without a middle, or a prior that is not a belief.
    """

    smooth: int = 1
    clamp: bool = False
    prior: Iterable[tuple[Exact, Exact]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "smooth", plainly(self.smooth))
        if isinstance(self.smooth, bool) or not isinstance(self.smooth, int) or self.smooth < 1 or self.smooth % 2 == 0:
            raise InputError(
                f"smooth = {echo(self.smooth)}", "a moving average has a middle", "Give an odd number of readings"
            )
        if not isinstance(self.clamp, bool):
            raise InputError(f"clamp = {echo(self.clamp)}", "it says whether readings are moved", "Give True or False")
        if self.prior is not None:
            object.__setattr__(self, "prior", read_prior(self.prior))

    def __call__(self, noisy: Integers, readings: Readings, grid: ReadingGrid, mechanism: SeriesMechanism) -> Integers:
        """Return what is published for noisy readings, in steps."""
        if self.prior is not None:
            guesses = bayes_guesses(mechanism, grid, read_prior(self.prior))
            noisy = guesses[np.clip(noisy, grid.lowest, grid.highest) - grid.lowest]
        if self.smooth > 1:
            noisy = _smoothed(noisy, readings, self.smooth)
        return np.clip(noisy, grid.lowest, grid.highest) if self.clamp else noisy


def read_prior(pairs: Iterable[tuple[Exact, Exact]]) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return a prior given as pairs (value, weight); a negative weight, or none above 0, is refused."""
    found = [(exact(value).rational, exact(chance).rational) for value, chance in pairs]
    known = tuple((v, w) for v, w in found if v is not None and w is not None and w >= 0)
    if len(known) < len(found) or not any(w for _, w in known):
        raise InputError(
            "A prior that is not rational, negative, or 0 everywhere",
            "its weights must be at least 0, and not all 0",
            "Give fractions ≥ 0",
        )
    return known


def bayes_guesses(
    mechanism: SeriesMechanism, grid: ReadingGrid, prior: Iterable[tuple[Fraction, Fraction]]
) -> NDArray[np.int64]:
    """Return the best guess (least mean absolute error) for each noisy reading from lower to upper, in steps.

    A noisy reading at a bound stands for all beyond it. In floats, which post-processing may use.
    """
    top = grid.highest - grid.lowest
    rate = float(mechanism.rate * mechanism.step)
    if top > _MOST_POINTS or rate < _LEAST_RATE:
        raise InputError(
            f"A remap on {top + 1:,} grid points", f"it is made for at most {_MOST_POINTS:,}", "Take a larger step"
        )
    belief = np.zeros(top + 1)
    for value, chance in prior:
        at = math.floor(value / grid.step_value + Fraction(1, 2))
        belief[min(max(at, grid.lowest), grid.highest) - grid.lowest] += float(chance)
    mass, tail = _marginal(mechanism, rate, top)
    places = np.arange(top + 1)
    guesses = np.empty(top + 1, np.int64)
    for z in range(top + 1):
        likely = tail[places] if z == 0 else tail[top - places] if z == top else mass[np.abs(places - z)]
        # far from every possible value all likelihoods may vanish: the nearest possible one is then the guess
        below = np.cumsum(belief * likely)
        possible = np.flatnonzero(belief)
        nearest = possible[np.argmin(np.abs(possible - z))]
        guesses[z] = np.searchsorted(below, below[-1] / 2) if below[-1] > 0 else nearest
    return guesses + grid.lowest


@vanishing
def _marginal(mechanism: SeriesMechanism, rate: float, top: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(z = k) and P(z ≥ k) of the noise of one reading for k = 0..top, as floats."""
    away = np.arange(top + 1)
    if mechanism.noise == "independent":
        law = DirectedGeometric(mechanism.rate * mechanism.step, mechanism.rate * mechanism.step)
        mass = law.pmf_array(away)
        return mass, mass / -math.expm1(-rate)
    size = mechanism.window
    edge = max(top, math.ceil((size + 40 * math.sqrt(size + 1)) / rate)) + 10
    radius = np.arange(edge + 1, dtype=np.float64)
    logs = size * np.log(2 * radius + 1) - rate * radius
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    share = weights / (2 * radius + 1)
    mass, reach = (np.cumsum(part[::-1])[::-1] for part in (share, share * (radius + 1)))
    return mass[: top + 1], (reach - radius * mass)[: top + 1]


def _smoothed(noisy: Integers, readings: Readings, width: int) -> Integers:
    """Return the mean over the readings there are within a centred span of slots of the same meter, half up."""
    if not len(readings):
        return noisy
    order = np.lexsort((readings.slot, readings.meter))
    last_slot = int(readings.slot.max())
    reach = min(width // 2, last_slot)  # no span reaches further than over all there is
    gap = last_slot + reach + 1  # meters are put so far apart that no span reaches over
    keys = readings.meter[order] * gap + readings.slot[order]
    there = readings.there[order]
    sums = np.concatenate([[0.0], np.cumsum(np.where(there, noisy[order], 0).astype(np.float64))])
    counts = np.concatenate([[0], np.cumsum(there)])
    first = np.searchsorted(keys, keys - reach, side="left")
    last = np.searchsorted(keys, keys + reach, side="right")
    total, count = sums[last] - sums[first], counts[last] - counts[first]
    smoothed = np.empty_like(noisy)
    smoothed[order] = np.floor(total / np.maximum(count, 1) + 0.5).astype(np.int64)
    return smoothed
