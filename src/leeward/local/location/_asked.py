# SPDX-License-Identifier: Apache-2.0
"""What is asked of positions: a factor within a length, or ε for each unit of length; and the ε a metre that keeps it.

A position is snapped to the grid before noise is added, which takes two positions apart by up to a length a. Noise of ε a
metre then gives, for positions d metres apart, odds of at most e^(ε·(d + a)): that is ε·d + s with s = ε·a.

* A factor F within a length W is about positions that are as far apart as W, wherever they lie in their grid cells. So what
  snapping costs is taken out of ε: with ε = ln F/(W + a) the odds are at most F for all d ≤ W. For d ≥ W they are at most
  F^(d/W), because (d + a)/(W + a) ≤ d/W. The denominator is rounded up, so that ε is short to write.
* ε for a unit of length is a rate. It is kept as it is, and s comes on top, as the statement says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from leeward._plain import echo
from leeward.errors import InputError, LowUtilityError, RefusedError
from leeward.exact._real import Exact, Real, positive
from leeward.exact._weight import log
from leeward.local._level_keys import read_factor
from leeward.local.location._length import on_earth, round_below


@dataclass(frozen=True)
class Asked:
    """What is asked of positions.

    Attributes:
        loss: the logarithm of the factor, or ε.
        length: in metres: within which the factor holds, or what ε is for.
        text: as it was asked for.
        factor: the factor, which holds within the length; None where ε is a rate.
    """

    loss: Real
    length: Real
    text: str
    factor: Real | None

    @classmethod
    def of(cls, within: str | None, factor: Exact | None, epsilon: Exact | None, unit: str | None) -> Asked:
        """Read a promise."""
        if (epsilon is None) == (within is None) or (within is None) != (factor is None):
            raise InputError(
                "The promise is given twice, or in part",
                "it is either within and factor, or epsilon and unit",
                'Write within = "200 m", factor = "2"; or epsilon = "0.01", unit = "1 m"',
            )
        if epsilon is not None:
            unit = "1 m" if unit is None else unit
            rate, length = positive(epsilon, "epsilon"), on_earth(unit, "unit")
            if rate.is_infinite:
                raise RefusedError("epsilon = inf", "it promises nothing", 'Write a finite one, such as "0.01"')
            return cls(rate, length, f'epsilon="{rate}", unit="{unit}"', None)
        assert within is not None
        assert factor is not None
        if unit is not None:
            raise InputError(
                f"unit = {echo(unit)} beside within and factor",
                "it is the length that an epsilon is for, and here that is within",
                'Leave it out; or write epsilon = "0.01", unit = "1 m"',
            )
        odds = read_factor(factor)
        return cls(log(odds), on_earth(within, "within"), f'within="{within}", factor="{odds}"', odds)

    @property
    def rate(self) -> Real:
        """ε a metre for positions that lie on the grid."""
        return self.loss / self.length

    def kept(self, apart: Real) -> Real:
        """Return the ε a metre that keeps what is asked, where snapping takes positions apart by so many metres."""
        if self.factor is None:
            return self.rate
        if apart > self.length:
            raise LowUtilityError(
                f"{self.text} on a grid that takes positions up to {float(apart):,.4g} metres apart",
                "that alone would cost more than half of what is asked, and noise would be more than twice as large",
                "Give a step of at most half of the length, or leave it out",
            )
        grain = Fraction(round_below(float(self.length) / 200))
        return self.loss / (math.ceil(Fraction((self.length + apart).bounds()[1]) / grain) * grain)


def check_rate(epsilon: Real, diagonal: float) -> None:
    """Refuse an ε a metre that shows positions, or leaves nothing of them in a box of this diagonal, in metres."""
    mean = 2 / rate if (rate := float(epsilon)) else math.inf
    if mean < 1:
        raise RefusedError(
            f"ε = {epsilon} a metre",
            f"a report would lie {mean:.2g} metres from the truth on average: it would show where people are, and two"
            f" positions 10 metres apart would be distinguished by odds of e^{10 * float(epsilon):.3g}",
            'Say what is to be indistinguishable: within = "200 m", factor = "2" is ε = ln 2/200 a metre',
        )
    if mean > diagonal:
        far = f"{mean:,.0f}" if mean < 1e9 else f"{mean:.3g}"
        raise LowUtilityError(
            f"ε = {epsilon} a metre",
            f"a report would lie {far} metres from the truth on average, and the box is only"
            f" {diagonal:,.0f} metres across: nearly all reports would be moved to its edge",
            "Take a larger ε, or a larger box",
        )
