# SPDX-License-Identifier: Apache-2.0
"""Series of readings, such as a meter's: what noise on each reading promises about all of them, and what it does not.

A window is n readings, integers on a public grid. Three distances between windows (Chatzikokolakis et al., Section 6.1 and
Figure 2), each read as ε for every unit:

* ε·d_1, ``"manhattan"``: the changes of all readings add up;
* ε·d_∞, ``"maximum"``: the largest change counts, though all readings may change by as much at once. It is what 6.1 asks
  for, because the adversary knows every reading roughly;
* ε·d_h, ``"hamming"``: ε for each reading that changes, however far: the baseline of 6.1. It is done with d_1 and a unit
  as wide as the public range, which is at least as strong.

Two noises. *Independent* noise of rate r on each reading is r·d_1-private, hence n·r·d_∞-private and no better: for ε·d_∞
its rate is ε/n. (Example 2 of the paper draws noise of rate ε on every reading: that is ε·d_1, and n·ε·d_∞.) *Norm* noise
of rate ε on the whole window is ε·d_∞-private, and ε·d_1-private because d_∞ ≤ d_1; a reading's mean error is about half.

Windows share no reading, so their distances add up: m windows that are each ε·d_∞-private are m·ε·d_∞-private together.

A *total* of n readings moves by at most d_1, but by up to n times d_∞.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import vanishing
from leeward._plain import echo
from leeward.distance import Derived, DirectedDistance, Line
from leeward.distance._directed import side_by_side
from leeward.errors import InputError, check_choice, nearest
from leeward.exact._real import Exact, Real, exact, inf, plainly, positive, whole
from leeward.exact._weight import Weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import Geometric, integers
from leeward.mechanism._norm import NormMechanism
from leeward.noise import Bits, SystemBits

Between = Literal["maximum", "manhattan", "hamming"]
"""The distances between series: d_∞, d_1 and d_h."""

SeriesNoise = Literal["norm", "independent"]
"""One draw for a whole window, or one for each reading."""

WIDEST_NORM: Final = 256
"""The longest window that norm noise is drawn for: preparing it takes the cube of its length."""

_AT_ONCE: Final = 1 << 18


@dataclass(frozen=True)
class SeriesDistance:
    """A distance between series, and what follows from it. All of them are in `DISTANCES`.

    Attributes:
        symbol: as the paper writes it.
        moved: how far a series has moved, from how many steps each of its readings has.
        share: what ε is divided by for noise that hides n readings moving at once: from n and the public range of one.
        rate: the rate of such noise in words.
        promise: what is promised of two series; ``unit`` is what ε is for, ``span`` what is published, and ``factor`` e^ε.
        noises: what noise serves, the best first.
        by_amount: whether ε is for an amount by which readings differ; else for each reading that differs, however far.
    """

    symbol: str
    moved: Callable[[Iterable[int]], int]
    share: Callable[[int, Real], Real]
    rate: str
    promise: str
    noises: tuple[SeriesNoise, ...] = ("independent",)
    by_amount: bool = True

    @property
    def by_window(self) -> bool:
        """Whether what is promised depends on how many readings may move together."""
        return "norm" in self.noises


def _each(readings: int, _width: Real) -> Real:  # a function with a name, like those below: it is pickled by it
    return exact(readings)


def _one(_readings: int, _width: Real) -> Real:
    return exact(1)


def _range(_readings: int, width: Real) -> Real:
    return width


def _how_many(steps: Iterable[int]) -> int:
    return sum(step > 0 for step in steps)


DISTANCES: Final[dict[Between, SeriesDistance]] = {
    "maximum": SeriesDistance(
        "d_∞",
        moved=max,
        share=_each,
        rate="ε/n",
        promise="Two series that differ by at most {unit} in every reading are told apart, by what is published of {span},"
        " by odds of at most e^ε = {factor}; by at most twice as much at e^(2ε), and so on; ε = {epsilon}",
        noises=("norm", "independent"),
    ),
    "manhattan": SeriesDistance(
        "d_1",
        moved=sum,
        share=_one,
        rate="ε",
        promise="Two series whose readings differ by {unit} in all, added up, are told apart by odds of at most e^ε ="
        " {factor}, by twice as much at e^(2ε), and so on; ε = {epsilon}",
    ),
    "hamming": SeriesDistance(
        "d_h",
        moved=_how_many,
        share=_range,
        rate="ε/range",
        promise="Any reading may have been any other: by what is published, two series that differ in one reading are told"
        " apart by odds of at most e^ε = {factor}, in k readings by e^(k·ε); ε = {epsilon}",
        by_amount=False,
    ),
}
"""The distances between series, in the order in which they are compared."""


@dataclass(frozen=True)
class SeriesPrice:
    """What a mechanism costs in each distance: ε for every unit of the answer (for d_h: for every reading).

    Attributes:
        readings: in d_1: for each unit that any reading moves.
        window: in d_∞: for each unit that all readings of one window move.
        total: in d_∞: for each unit that all readings of all windows move.
    """

    readings: Real
    window: Real
    total: Real


class SeriesMechanism:
    """Windows of readings on a public grid, plus exact noise.

    Args:
        between: which distance ε is about.
        epsilon: ε for each unit of the answer, exact; for d_h, for each reading.
        window: n, the readings of one window: those that d_∞ lets move together.
        noise: ``"norm"`` (for d_∞ only) or ``"independent"``; by default norm for d_∞, up to `WIDEST_NORM` readings.
        step: the grid step, in units of the answer; truths and outputs are integers, in steps.
        width: the public range of one reading, in units of the answer; needed for d_h.

    Attributes:
        kind: that distance, and what follows from it.
        rate: ε for each unit, as the noise has it: of each reading, or of the largest move of a window.
        law: the mechanism of one reading, or of one window.

    Raises:
        InputError: for options that do not go together.
        NoiseError: if the noise does not fit in 64 bits.
    """

    def __init__(
        self,
        between: Between,
        epsilon: Exact,
        *,
        window: int = 1,
        noise: SeriesNoise | None = None,
        step: Exact = 1,
        width: Exact | None = None,
    ) -> None:
        check_between(between)
        window = whole(window, "window")
        self.between, self.window, self.step = between, window, positive(step, "step")
        self.kind = DISTANCES[between]
        self.noise: SeriesNoise = _noise(between, window, noise)
        self.epsilon = positive(epsilon, "epsilon")
        if width is None and not self.kind.by_amount:
            raise InputError(
                "No width", f"{self.kind.symbol} lets a reading change by all of its public range", "Give the range"
            )
        self.width = inf if width is None else positive(width, "width")
        self.rate = self.epsilon if self.noise == "norm" else self.epsilon / self.kind.share(window, self.width)
        line = Line(self.rate, self.rate)
        self.law: Geometric | NormMechanism = (
            NormMechanism(line, window, step=self.step) if self.noise == "norm" else Geometric(line, step=self.step)
        )

    def price(self, windows: int = 1) -> SeriesPrice:
        """Return what it costs over so many windows, in each distance."""
        window = self.rate if self.noise == "norm" else self.rate * self.window
        return SeriesPrice(self.rate, window, window * windows)

    @property
    def distance(self) -> DirectedDistance[tuple[int, ...]]:
        """The distance between two windows, in steps, that ε is about."""
        each = self.epsilon * (self.step if self.kind.by_amount else 1)
        return Derived(
            self.kind.symbol,
            lambda x, y: each * self.kind.moved(abs(plainly(b) - plainly(a)) for a, b in side_by_side(x, y)),
        )

    def release(self, windows: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return noisy readings, not clamped.

        Args:
            windows: integers in steps, shape (…, window); independent noise takes any shape.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        truth, bits = integers(windows), bits or SystemBits()
        if self.noise == "independent":
            return self.law.noisy(truth, bits)
        if truth.shape[-1:] != (self.window,):
            raise InputError("Windows of another length", f"each has {self.window} readings", "Fill up the last one")
        flat = truth.reshape(-1, self.window)
        made = np.empty_like(flat)
        some = max(_AT_ONCE // self.window, 1)
        for start in range(0, len(flat), some):
            made[start : start + some] = self.law.noisy(flat[start : start + some], bits)
        return made.reshape(truth.shape)

    def on(self, windows: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given windows, which for independent noise must be a full box of readings."""
        windows = tuple(windows)
        if isinstance(self.law, NormMechanism):
            return self.law.on(windows)
        sides = [sorted(set(side)) for side in zip(*windows, strict=True)]
        if math.prod(len(side) for side in sides) != len(windows):
            raise InputError("Windows that fill no box", "readings are independent here", "Give all combinations")
        return FiniteMechanism.product(self.law.on(side) for side in sides)

    def expected_error(self) -> Weight:
        """Return E|error| of one reading in steps, exactly, before anything is done with it."""
        return self.law.expected_error()

    def total(self, readings: int) -> Geometric:
        """Return the mechanism for the total of so many readings, private for the same distance between them.

        The total moves by at most d_1, but by up to ``readings`` times d_∞; a reading that changes (d_h), by the range.

        Args:
            readings: how many are added up: public, and at most the window for d_∞ per window to be meant.
        """
        if readings < 1:
            raise InputError(f"A total of {readings} readings", "it says nothing", "Give at least 1")
        rate = self.epsilon / self.kind.share(readings, self.width)
        return Geometric(Line(rate, rate), step=self.step)

    def typical_error(self, *, between: bool = False) -> float:
        """Return E|error| of one reading in units of the answer as a float: fast for long windows too, for display.

        Args:
            between: for a reading halfway between two grid points, which is rounded to one of them first. Noise that moves
                it is as likely to make up for that as to add to it; only noise of 0, of probability p, does neither. So a
                reading that is b off the grid is off by E|noise| + b·p on average.
        """
        rate, step = float(self.rate * self.step), float(self.step)
        if self.noise == "independent":
            error, stays = (1 / math.sinh(rate) if rate < 700 else 0.0), math.tanh(rate / 2)
        else:
            error, stays, _ = _norm_error(rate, self.window)
        return step * (error + stays / 2) if between else step * error

    def typical_deviation(self) -> float:
        """The standard deviation of the noise of one reading in units of the answer, as a float, for display."""
        rate, step = float(self.rate * self.step), float(self.step)
        if self.noise == "independent":
            return step / (math.sqrt(2) * math.sinh(rate / 2)) if rate < 700 else 0.0
        return step * math.sqrt(_norm_error(rate, self.window)[2])

    def __repr__(self) -> str:
        return f"SeriesMechanism({self.between!r}, {str(self.epsilon)!r}, window={self.window}, noise={self.noise!r})"


def check_between(between: str) -> None:
    """Refuse what is no distance between series."""
    if not isinstance(between, str) or between not in DISTANCES:
        raise InputError(echo(between), "it is not a distance between series", nearest(str(between), DISTANCES))


def _noise(between: Between, window: int, noise: SeriesNoise | None) -> SeriesNoise:
    serves = DISTANCES[between].noises
    if noise is None:
        return serves[0] if 1 < window <= WIDEST_NORM else "independent"
    check_choice("noise", noise, get_args(SeriesNoise), "there is no such noise")
    if noise not in serves:
        raise InputError(
            f"Norm noise for {between}", "it is one draw for the largest change", 'Use "maximum", or independent noise'
        )
    if noise == "norm" and window > WIDEST_NORM:
        raise InputError(
            f"Norm noise on a window of {window:,} readings",
            f"it is prepared for at most {WIDEST_NORM}",
            'Take a shorter window, or noise = "independent" at about twice the error',
        )
    return noise


@vanishing
def _norm_error(rate: float, size: int) -> tuple[float, float, float]:
    """E|z_1|, Pr[z_1 = 0] and E[z_1²] of norm noise.

    Given the cube's radius R, of weight (2R + 1)^n·e^{−rate·R}, they are R(R + 1)/(2R + 1), 1/(2R + 1) and R(R + 1)/3.
    """
    peak, spread = size / rate, math.sqrt(size + 1) / rate
    if rate < 1e-4:  # the grid no longer shows: R is Gamma(n + 1), and |z_1| uniform below it
        return (size + 1) / (2 * rate), rate / (2 * size), (size + 1) * (size + 2) / (3 * rate * rate)
    radius = np.arange(max(0, math.floor(peak - 40 * spread)), math.ceil(peak + 40 * spread) + 10, dtype=np.float64)
    logs = size * np.log(2 * radius + 1) - rate * radius
    mass = np.exp(logs - logs.max())
    mass /= mass.sum()
    sides = 2 * radius + 1
    far = radius * (radius + 1)
    return float((mass * far / sides).sum()), float((mass / sides).sum()), float((mass * far / 3).sum())
