# SPDX-License-Identifier: Apache-2.0
"""Poisson subsampling: every person is kept with the same exact probability, independently, before anything is asked.

What it does to the two directions of a promise (*One-Sided Differential Privacy*, "Subsampling" and Theorems 5 and 6;
with both rates of the base: ours). A base that costs b to pass someone present off as absent, and a the other way round,
costs after subsampling with probability p

    present → absent    ln(1 + p·(e^b − 1))
    absent → present    −ln(1 − p·(1 − e^{−a}))

The second is at most −ln(1 − p) even for a = ∞, that is, for a base that hides nothing: see `PoissonSampling.clear_price`.
"""

from __future__ import annotations

from dataclasses import dataclass

from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, inf, positive
from leeward.exact._weight import Weight, exp, exp_minus, log, weight


@dataclass(frozen=True, eq=False)
class PoissonSampling:
    """Keep each *person*, with all records, with probability p: one coin for each person, never one for each record.

    A coin for each visit keeps a person of k visits more often, and more of them the more visits there are: at k = 2 the
    same noise then costs 2ε instead of ε.

    Args:
        probability: p, exactly: ``"1/10"``, or a `Weight` such as ``1 - lw.exact.exp("-1/2")``.

    Raises:
        InexactError: for a float.
        InputError: if p is not above 0 and at most 1.
    """

    probability: Weight

    def __init__(self, probability: Weight | Exact) -> None:
        p = weight(probability)
        if p <= 0 or p > 1:
            raise InputError(
                f"Subsampling with probability {float(p):.6g}",
                "it must be above 0 and at most 1",
                'Give, say, probability = "1/10", or PoissonSampling.at_price("1")',
            )
        object.__setattr__(self, "probability", p)

    @classmethod
    def at_price(cls, epsilon: Exact) -> PoissonSampling:
        """Return the sampling with p = 1 − e^{−ε}, whose removal-only price is exactly ε (Theorem 5)."""
        return cls(1 - exp_minus(positive(epsilon, "epsilon")))

    @property
    def clear_price(self) -> Real:
        """−ln(1 − p): the removal-only ε of publishing the sample itself (Theorem 5); ∞ at p = 1.

        Warning: that release shows every record of every sampled person *in the clear*. Removal-only privacy permits it
        because all it promises is that nobody can be sure of your absence. Theorem 5 says more about the definition than
        about the safety of samples.
        """
        left = 1 - self.probability
        return -log(left) if left else inf

    def addition(self, base: Exact) -> Real:
        """Return ln(1 + p(e^b − 1)): what passing present off as absent costs when the base costs ``b``; ∞ for ∞."""
        b = exact(base)
        return inf if b.is_infinite else log(1 + self.probability * (exp(b) - 1))

    def removal(self, base: Exact) -> Real:
        """Return −ln(1 − p(1 − e^{−a})): what passing absent off as present costs when the base costs ``a``."""
        a = exact(base)
        return self.clear_price if a.is_infinite else -log(1 - self.probability * (1 - exp_minus(a)))

    def line(self, base: Line) -> Line:
        """Return the directed line of a base on counts after subsampling the people counted: one step is one person."""
        return Line(rise=self.removal(base.rise), fall=self.addition(base.fall))

    def addition_delta(self, delta: Weight | Exact) -> Weight:
        """Return p·δ: the δ that goes with `addition` for a base that is (b, δ)-private for addition."""
        return self.probability * delta

    def removal_delta(self, base: Exact, delta: Weight | Exact) -> Weight:
        """Return p·e^{−a}·δ / (1 − p(1 − e^{−a})): the δ that goes with `removal` for an (a, δ)-private base (ours)."""
        decay = exp_minus(base)
        return self.probability * decay * delta / (1 - self.probability * (1 - decay)) if decay else weight(ZERO)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PoissonSampling) and self.clear_price == other.clear_price

    def __hash__(self) -> int:
        return hash((PoissonSampling, self.clear_price))

    def __str__(self) -> str:
        return f"a Poisson sample of people (p = {float(self.probability):.6g})"
