# SPDX-License-Identifier: Apache-2.0
"""The geometric mechanism on the directed line, in all its forms.

Noise k has ``P(k) ∝ e^{−fall·k}`` for k ≥ 0 and ``e^{−rise·|k|}`` for k < 0: from the output back to the truth, every step
up the noise takes must be bought by the truth's fall, and every step down by its rise.

* rise = fall: the two-sided geometric mechanism of DP (Ghosh, Roughgarden, Sundararajan 2009); clamped, the Truncated
  Geometric mechanism (Chatzikokolakis et al., Figure 2 iv).
* rise = ∞: noise is never negative: ALap and AGeo for decreasing answers (Takagi et al., ADP, Definitions V.3, VIII.1),
  addition-only exponential noise (*One-Sided Differential Privacy*, Proposition 3): counts are never under-reported.
* fall = ∞: noise is never positive: removal-only (Proposition 4).
* both finite and different: graded asymmetry.
* centred, for readers who want no bias: a public constant is subtracted, which is post-processing. A centred answer is
  below the truth as often as above, so its one-sided guarantee is gone.

Under the papers' own names: `leeward.mechanism._of_papers`.

Theorem: on answers with ``d_Y = Line(rise, fall)`` the output z for truth y has
``Pr[z | y] / Pr[z | y'] ≤ e^{d_Y(y → y')}``, because the weight ``e^{−d(z → y)}`` obeys the triangle inequality and its
normaliser does not depend on y. Clamping to public bounds is post-processing. A query that moves at most ``d_X`` along the
steps of a notion carries it to that notion.

Machine-checked (docs/proved.md): `geometric_private`, `geometric_tight`, `geometric_needs`, `clamped_private`,
`grid_private`, `resampling_two_sided`, `resampling_two_sided_breaks`, `resampling_one_sided`, `on_each_private`,
`clamped_at`, `clamped_tight`, `clamped_private_on`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, integer, plainly, positive
from leeward.exact._weight import Weight, weight, weighted_sum
from leeward.mechanism._accuracy import Accuracy
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._threshold_rule import ThresholdRule, alarm, sanitizer
from leeward.noise import Bits, Coin, DirectedGeometric, SystemBits, add_saturating, floor_digits

Centre = Literal["mean", "median"]
"""What is subtracted from the noise: its mean (the answer is unbiased) or its median (as often above as below)."""


@taught
class Geometric:
    """Answers in whole steps of a public grid, plus exact directed geometric noise, clamped to public bounds if given.

    Args:
        line: what a rise and a fall of the answer by 1 cost; `leeward.sensitivity` derives it from a notion and a query.
        step: the grid step q, in units of the answer. Truths and outputs are integers, in steps.
        lower: public lower bound of the outputs, in steps; None for none.
        upper: public upper bound of the outputs, in steps; None for none.
        centre: ``"median"`` subtracts the median of the noise. ``"mean"`` subtracts its mean m, on the integers: ⌊m⌋, and 1
            more with probability m − ⌊m⌋ by an exact public coin, so the answer stays an integer and has no bias (but for
            clamping). Either way the answer may err on both sides.

    Attributes:
        law: the noise, before centring.
        shifts: what centring subtracts: pairs (integer, probability).

    Raises:
        InputError: if both rates are infinite (nothing is protected), the step is not above 0, the bounds are reversed or
            no integers, or there is no such centre.
        NoiseError: if a rate is too small for 64-bit answers.
    """

    name: ClassVar[Literal["geometric"]] = "geometric"
    each_alone: ClassVar = False  # its rates are for all counts that a step of the notion moves together
    stop_after: ClassVar[None] = None  # it answers every count

    def __init__(
        self,
        line: Line,
        *,
        step: Exact = 1,
        lower: int | None = None,
        upper: int | None = None,
        centre: Centre | None = None,
    ) -> None:
        lower, upper = (
            None if bound is None else integer(bound, name) for name, bound in (("lower", lower), ("upper", upper))
        )
        if lower is not None and upper is not None and lower > upper:
            raise InputError(f"Bounds from {lower} to {upper}", "they are reversed", "Give lower ≤ upper")
        if line.rise.is_infinite and line.fall.is_infinite:
            raise InputError(
                f"{line}", "it protects neither direction, so it needs no noise", "Publish the answer itself"
            )
        if centre is not None:
            check_choice("centre", centre, get_args(Centre), "noise has no such centre")
        self.line, self.step, self.lower, self.upper, self.centre = line, positive(step, "step"), lower, upper, centre
        self.law = DirectedGeometric(up=line.fall * self.step, down=line.rise * self.step)
        self.shifts = _shifts(self.law, centre)

    @property
    def never_below(self) -> bool:
        """Whether no answer is ever below its truth (as long as that is at most ``upper``)."""
        return self.line.rise.is_infinite and self.centre is None

    @property
    def never_above(self) -> bool:
        """Whether no answer is ever above its truth (as long as that is at least ``lower``)."""
        return self.line.fall.is_infinite and self.centre is None

    def payments(self, counts: int | None) -> int:
        """Return how often ε is paid at most for so many counts (None: not known): once for all."""
        return 1

    def expected_answered_if_empty(self, counts: int) -> None:
        """Return None: all counts are always answered."""

    def stored(self, truth: ArrayLike, bits: Bits) -> NDArray[np.int64]:
        """Return what decides and is kept of a release: the `noisy` counts."""
        return self.noisy(truth, bits)

    def noisy(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return truth + noise, neither centred nor clamped: decisions are taken on this.

        Integers in, int64 out, the same shape.
        """
        answers = integers(truth)
        return add_saturating(answers, self.law.sample(answers.size, bits or SystemBits()).reshape(answers.shape))

    def clamp(self, noisy: ArrayLike) -> NDArray[np.int64]:
        """Clamp noisy answers to the public bounds: post-processing."""
        return np.clip(integers(noisy), self.lower, self.upper) if self._clamped else integers(noisy)

    def release(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return noisy answers, centred and clamped if so asked.

        Args:
            truth: integers (any shape) in grid steps. Each coordinate gets independent noise.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        bits = bits or SystemBits()
        return self.clamp(self._centred(self.noisy(truth, bits), bits))

    def _centred(self, noisy: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        least = self.shifts[0][0]
        if len(self.shifts) == 1:
            return add_saturating(noisy, np.full(noisy.shape, -least)) if least else noisy
        more = Coin(self.shifts[1][1]).flip(noisy.size, bits).reshape(noisy.shape)
        return add_saturating(noisy, -least - more.astype(np.int64))

    def probability(self, truth: int, output: int) -> Weight:
        """Return Pr[output | truth], exactly, centring and clamping included."""
        truth, output = plainly(truth), plainly(output)  # the differences of machine integers wrap
        if (self.lower is not None and output < self.lower) or (self.upper is not None and output > self.upper):
            return weight(0)
        return self._entry(self._key(truth, output))

    def pmf(self, truth: int, outputs: Iterable[int] | None = None) -> dict[int, Weight]:
        """Return the exact probabilities of the given outputs for one truth; by default of all from ``lower`` to ``upper``.

        Raises:
            InputError: if no outputs are given and their range is unbounded.
        """
        if outputs is None:
            if self.lower is None or self.upper is None:
                raise InputError(
                    f"All outputs of {self!r}",
                    "their range is unbounded",
                    "Name the outputs: pmf(truth, range(0, 20)); or give the mechanism lower and upper",
                )
            outputs = range(self.lower, self.upper + 1)
        return {z: self.probability(truth, z) for z in outputs}

    def sanitizer(self, at_most: int, error_at_most: Exact | None = None) -> ThresholdRule:
        """Return the best rule that reads "the count is at most t" off `noisy` counts; as `leeward.mechanism.sanitizer`."""
        return sanitizer(self.law, at_most, error_at_most)

    def alarm(self, at_least: int, error_at_most: Exact | None = None) -> ThresholdRule:
        """Return the best rule that reads "the count is at least T" off `noisy` counts; as `leeward.mechanism.alarm`."""
        return alarm(self.law, at_least, error_at_most)

    def on(self, truths: Iterable[int]) -> FiniteMechanism:
        """Return the exact matrix on the given truths.

        Where no bound is set, outputs beyond the truths' range are merged into its ends: out there the ratio of any two
        rows no longer changes, so merging hides nothing.
        """
        truths = tuple(int(t) for t in truths)
        shifts = [shift for shift, _ in self.shifts]
        bounded = self._within(min(truths) - max(shifts), max(truths) - min(shifts))
        outputs = range(bounded.lower, bounded.upper + 1)  # type: ignore[arg-type, operator]
        entry = functools.lru_cache(maxsize=None)(bounded._entry)
        keys = {(y, z): bounded._key(y, z) for y in truths for z in outputs}
        order = {key: code for code, key in enumerate(dict.fromkeys(keys.values()))}
        codes = np.array([[order[keys[y, z]] for z in outputs] for y in truths], dtype=np.intp)
        return FiniteMechanism.coded(truths, outputs, [entry(key) for key in order], codes)

    def accuracy(self, truth: int | None = None) -> Accuracy:
        """Return the exact law of the error, in grid steps: bias, variance, E|error|, quantiles, P(|error| ≤ α).

        Args:
            truth: the true answer, within the public bounds; clamping makes the error depend on it. None for the error
                before clamping, which is the same for every truth.

        Raises:
            InputError: if the truth is outside the public bounds.
        """
        if truth is None:
            return Accuracy(self.law, self.shifts)
        truth = plainly(truth)
        if (self.lower is not None and truth < self.lower) or (self.upper is not None and truth > self.upper):
            raise InputError(
                "The accuracy at a truth outside the public bounds",
                "clamping alone moves such an answer, however little noise there is",
                "Ask about a truth within the bounds, or widen them",
            )
        below = None if self.lower is None else truth - self.lower
        return Accuracy(self.law, self.shifts, below, None if self.upper is None else self.upper - truth)

    def expected_error(self) -> Weight:
        """Return E|error| in grid steps, before clamping: for one-sided noise of rate s, 1/(e^s − 1)."""
        return self.law.mean_absolute() if self.centre is None else self.accuracy().expected_error()

    @property
    def _clamped(self) -> bool:
        return self.lower is not None or self.upper is not None

    def _within(self, low: int, high: int) -> Geometric:
        lower = low if self.lower is None else self.lower
        upper = high if self.upper is None else self.upper
        return Geometric(self.line, step=self.step, lower=lower, upper=max(lower, upper), centre=self.centre)

    def _key(self, truth: int, output: int) -> tuple[int, bool, bool]:
        return output - truth, output == self.lower, output == self.upper

    def _entry(self, key: tuple[int, bool, bool]) -> Weight:
        offset, at_lower, at_upper = key
        if at_lower and at_upper:
            return weight(1)
        chance = self.law.cdf if at_lower else self.law.tail if at_upper else self.law.pmf
        if self.centre is None:
            return chance(offset)
        return weighted_sum((chance(offset + shift) * p, 1) for shift, p in self.shifts)

    def __repr__(self) -> str:
        bounds = f", lower={self.lower}, upper={self.upper}" if self._clamped else ""
        centre = f", centre={self.centre!r}" if self.centre else ""
        return f"Geometric({self.line}, step={self.step}{bounds}{centre})"


def _shifts(law: DirectedGeometric, centre: Centre | None) -> tuple[tuple[int, Weight], ...]:
    if centre is None:
        return ((0, weight(1)),)
    if centre == "median":
        return ((law.quantile("1/2"), weight(1)),)
    mean = law.mean()
    least = floor_digits(mean, 0)
    rest = mean - least
    return ((least, 1 - rest), (least + 1, rest)) if rest else ((least, weight(1)),)


def integers(values: ArrayLike) -> NDArray[np.int64]:
    """Return answers as int64, refusing what is not an exact integer."""
    array = given_array(values)
    if array.dtype.kind not in "iu" or array.dtype == np.uint64:
        raise InputError(
            f"Answers of type {array.dtype}",
            "noise is added to exact integers: floating sums depend on their order and leak",
            "Give int64 counts in steps of the public grid",
        )
    return array.astype(np.int64, copy=False)
