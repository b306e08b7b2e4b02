# SPDX-License-Identifier: Apache-2.0
"""Randomized response on one yes/no answer, and what it is private for.

* S. L. Warner, *Randomized response: a survey technique for eliminating evasive answer bias* (1965): tell the truth with
  probability e^ε/(1 + e^ε). Local DP: ε from *yes* to *no* and back.
* N. S. Mangat, *An improved randomized response strategy* (1994): *yes* is always said of a yes, and of a no with
  probability e^{−ε}. A *yes* costs ε to pass off as a *no*; the word "no" gives a no away. It is one-sided privacy on one
  bit (Takagi et al., ADP, Section I-A), and at the same ε its estimates are sharper than Warner's.

Each person draws alone, so nobody needs to be trusted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward.distance import FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, finite, inf
from leeward.exact._weight import Weight, exp_minus, log, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.noise import Bits, Coin, SystemBits


class RandomizedResponse:
    """Says *yes* with one probability of a yes, and with a smaller one of a no. `warner` and `mangat` are of this form.

    Args:
        if_yes: p = Pr[says yes | yes], exact.
        if_no: q = Pr[says yes | no], exact; below p.

    Raises:
        InputError: if 0 ≤ q < p ≤ 1 does not hold.
    """

    def __init__(self, if_yes: Weight | Exact, if_no: Weight | Exact) -> None:
        self.if_yes, self.if_no = weight(if_yes), weight(if_no)
        if not 0 <= self.if_no < self.if_yes <= 1:
            raise InputError(
                f"Randomized response saying yes with {float(self.if_yes):.6g} and {float(self.if_no):.6g}",
                "both must be probabilities, and a yes likelier from those for whom it is true",
                "Give 0 ≤ if_no < if_yes ≤ 1",
            )

    @property
    def distance(self) -> FiniteDistance[bool]:
        """The least directed distance on {False, True} that it is private for."""
        yes, no = self.if_yes, self.if_no
        up = max(_ratio(1 - no, 1 - yes), _ratio(no, yes))  # a no passed off as a yes
        return FiniteDistance((False, True), [[ZERO, up], [max(_ratio(yes, no), _ratio(1 - yes, 1 - no)), ZERO]])

    def release(self, answers: ArrayLike, bits: Bits | None = None) -> NDArray[np.bool_]:
        """Return what is said for each true answer (booleans of any shape).

        Raises:
            InputError: if the answers are not booleans.
        """
        truth = given_array(answers)
        if truth.dtype != np.bool_:
            raise InputError(f"Answers of type {truth.dtype}", "each is yes or no", "Give booleans")
        bits = bits or SystemBits()
        if_yes, if_no = (Coin(p).flip(truth.size, bits).reshape(truth.shape) for p in (self.if_yes, self.if_no))
        return np.where(truth, if_yes, if_no)

    def on(self, answers: tuple[bool, ...] = (False, True)) -> FiniteMechanism:
        """Return the exact matrix on the given true answers; outputs are False and True."""
        say = {False: self.if_no, True: self.if_yes}
        return FiniteMechanism(answers, (False, True), [[1 - say[x], say[x]] for x in answers])

    def estimate(self, said: ArrayLike) -> float:
        """Return the unbiased estimate of how many said-of people are a yes, from everything that was said.

        (number of yes said − n·q)/(p − q): it may lie below 0 or above n, else it would be biased.
        """
        heard = given_array(said, np.bool_)
        return float((weight(int(heard.sum())) - heard.size * self.if_no) / (self.if_yes - self.if_no))

    def variance(self, yes: int, people: int) -> Weight:
        """Return the variance of `estimate` when so many of so many people are a yes: exact."""
        p, q = self.if_yes, self.if_no
        return (yes * p * (1 - p) + (people - yes) * q * (1 - q)) / (p - q) ** 2

    def __repr__(self) -> str:
        return f"RandomizedResponse(if_yes={float(self.if_yes):.6g}, if_no={float(self.if_no):.6g})"


def warner(epsilon: Exact) -> RandomizedResponse:
    """Return Warner's randomized response, ε-private both ways: local DP on one bit."""
    lie = exp_minus(finite(epsilon, "epsilon"))
    return RandomizedResponse(1 / (1 + lie), lie / (1 + lie))


def mangat(epsilon: Exact) -> RandomizedResponse:
    """Return Mangat's randomized response: *yes* has *no* as its alternative, at ε; *no* has none.

    It is the addition-only geometric mechanism on one bit, clamped to 0..1 (`leeward.mechanism._of_papers.ageo` with n = 1).
    """
    return RandomizedResponse(1, exp_minus(finite(epsilon, "epsilon")))


def mangat_by_truth(truth: Exact) -> RandomizedResponse:
    """Return Mangat's randomized response in its own parameter: a no says "no" with probability p = 1 − e^{−ε}."""
    return RandomizedResponse(1, 1 - weight(truth))


def _ratio(top: Weight, bottom: Weight) -> Real:
    """ln(top/bottom), with 0 over anything as 0 (nothing to hide) and anything else over 0 as ∞."""
    if not top:
        return ZERO
    return log(top / bottom) if bottom else inf
