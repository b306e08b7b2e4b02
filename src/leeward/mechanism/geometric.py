"""The geometric mechanism on the directed line, in all its forms.

Noise k has ``P(k) ∝ e^{−fall·k}`` for k ≥ 0 and ``e^{−rise·|k|}`` for k < 0: from the output back to the truth, every step
up the noise takes must be bought by the truth's fall, and every step down by its rise.

* rise = fall: the two-sided geometric mechanism of DP (Ghosh, Roughgarden, Sundararajan 2009); clamped, the Truncated
  Geometric mechanism (Chatzikokolakis et al., Figure 2 iv).
* rise = ∞: noise is never negative: ALap and AGeo for decreasing answers (Takagi et al., ADP, Definitions V.3, VIII.1),
  addition-only exponential noise (*One-Sided Differential Privacy*, Proposition 3): counts are never under-reported.
* fall = ∞: noise is never positive: removal-only (Proposition 4).
* both finite and different: graded asymmetry.

Theorem: on answers with ``d_Y = Line(rise, fall)`` the output z for truth y has
``Pr[z | y] / Pr[z | y'] ≤ e^{d_Y(y → y')}``, because the weight ``e^{−d(z → y)}`` obeys the triangle inequality and its
normaliser does not depend on y. Clamping to public bounds is post-processing. A query that moves at most ``d_X`` along the
steps of a notion carries it to that notion.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward.distance import Line
from leeward.errors import InputError
from leeward.exponential import Weight, weight
from leeward.mechanism.finite import FiniteMechanism
from leeward.noise import Bits, DirectedGeometric, SystemBits, add_saturating
from leeward.real import Exact, exact


class Geometric:
    """Answers in whole steps of a public grid, plus exact directed geometric noise, clamped to public bounds if given.

    Args:
        line: what a rise and a fall of the answer by 1 cost; `leeward.sensitivity` derives it from a notion and a query.
        step: the grid step q, in units of the answer. Truths and outputs are integers, in steps.
        lower: public lower bound of the outputs, in steps; None for none.
        upper: public upper bound of the outputs, in steps; None for none.

    Raises:
        InputError: if both rates are infinite (nothing is sheltered), or the bounds are reversed.
        NoiseError: if a rate is too small for 64-bit answers.
    """

    def __init__(self, line: Line, *, step: Exact = 1, lower: int | None = None, upper: int | None = None) -> None:
        if lower is not None and upper is not None and lower > upper:
            raise InputError(f"Bounds from {lower} to {upper}", "they are reversed", "Give lower ≤ upper")
        if line.rise.is_infinite and line.fall.is_infinite:
            raise InputError(
                f"{line}", "it shelters neither direction, so no noise is asked for", "Publish the answer itself"
            )
        self.line, self.step, self.lower, self.upper = line, exact(step), lower, upper
        self.law = DirectedGeometric(up=line.fall * self.step, down=line.rise * self.step)

    def noisy(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return truth + noise, not clamped: decisions are taken on this. Integers in, int64 out, the same shape."""
        answers = _integers(truth)
        return add_saturating(answers, self.law.sample(answers.size, bits or SystemBits()).reshape(answers.shape))

    def clamp(self, noisy: ArrayLike) -> NDArray[np.int64]:
        """Clamp noisy answers to the public bounds: post-processing."""
        return np.clip(_integers(noisy), self.lower, self.upper) if self._clamped else _integers(noisy)

    def release(self, truth: ArrayLike, bits: Bits | None = None) -> NDArray[np.int64]:
        """Return noisy, clamped answers.

        Args:
            truth: integers (any shape) in grid steps. Each coordinate gets independent noise.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        return self.clamp(self.noisy(truth, bits))

    def probability(self, truth: int, output: int) -> Weight:
        """Return Pr[output | truth], exactly, clamping included."""
        if (self.lower is not None and output < self.lower) or (self.upper is not None and output > self.upper):
            return weight(0)
        return self._entry(self._key(truth, output))

    def pmf(self, truth: int, outputs: Iterable[int]) -> dict[int, Weight]:
        """Return the exact probabilities of the given outputs for one truth."""
        return {z: self.probability(truth, z) for z in outputs}

    def on(self, truths: Iterable[int]) -> FiniteMechanism:
        """Return the exact matrix on the given truths.

        Where no bound is set, outputs beyond the truths' range are merged into its ends: out there the ratio of any two
        rows no longer changes, so merging hides nothing.
        """
        truths = tuple(int(t) for t in truths)
        bounded = self._within(min(truths), max(truths))
        outputs = range(bounded.lower, bounded.upper + 1)  # type: ignore[arg-type, operator]
        entry = functools.lru_cache(maxsize=None)(bounded._entry)
        keys = {(y, z): bounded._key(y, z) for y in truths for z in outputs}
        order = {key: code for code, key in enumerate(dict.fromkeys(keys.values()))}
        codes = np.array([[order[keys[y, z]] for z in outputs] for y in truths], dtype=np.intp)
        return FiniteMechanism.coded(truths, outputs, [entry(key) for key in order], codes)

    def expected_error(self) -> Weight:
        """Return E|noise| in grid steps, before clamping: for one-sided noise of rate s, 1/(e^s − 1)."""
        return self.law.mean_absolute()

    @property
    def _clamped(self) -> bool:
        return self.lower is not None or self.upper is not None

    def _within(self, low: int, high: int) -> Geometric:
        lower = low if self.lower is None else self.lower
        upper = high if self.upper is None else self.upper
        return Geometric(self.line, step=self.step, lower=lower, upper=max(lower, upper))

    def _key(self, truth: int, output: int) -> tuple[int, bool, bool]:
        return output - truth, output == self.lower, output == self.upper

    def _entry(self, key: tuple[int, bool, bool]) -> Weight:
        offset, at_lower, at_upper = key
        if at_lower and at_upper:
            return weight(1)
        if at_lower:
            return self.law.cdf(offset)
        return self.law.tail(offset) if at_upper else self.law.pmf(offset)

    def __repr__(self) -> str:
        bounds = f", lower={self.lower}, upper={self.upper}" if self._clamped else ""
        return f"Geometric({self.line}, step={self.step}{bounds})"


def _integers(values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.dtype == np.uint64:
        raise InputError(
            f"Answers of type {array.dtype}",
            "noise is added to exact integers: floating sums depend on their order and leak",
            "Give int64 counts in steps of the public grid",
        )
    return array.astype(np.int64, copy=False)
