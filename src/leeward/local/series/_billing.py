# SPDX-License-Identifier: Apache-2.0
"""Bills that are never too low, and what is paid back at the end of the year.

A bill is the true amount plus exact geometric noise that is never negative (Chatzikokolakis et al., Section 6.1, on the
billing protocol of G. Danezis, M. Kohlweiss, A. Rial, *Differentially private billing with rebates*, 2011). What is promised
is one-sided, like addition-only DP: with d_Y = Line(rise=∞, fall=ε) on amounts,

    Pr[bills | truth] ≤ e^{ε·(y − y')} · Pr[bills | y']        for amounts y' ≤ y.

Protected: that an amount was as *high* as it was; any lower one is an alternative. Not protected: that it was not higher. A
bill is an upper bound on the truth, so a low bill shows a low consumption: "nobody was at home" can be read from it,
"somebody was at home" cannot.

At the end of the year money goes back. Two ways:

* ``"noisy"``: the year's true amount is published once more, with noise of its own that is never negative, and what the
  bills are above it is paid back. What was paid is min(sum of bills, noisy year): never below the truth. The price adds,
  and the promise stays one-sided.
* ``"exact"``: all noise is paid back, so exactly the truth is paid. Whoever sees the bills and the rebate then knows the
  exact year. Amounts of a year with another sum are distinguished for sure; and of those with the same sum, one of the bills
  is higher, which its own bill rules out. So nothing is protected from that reader: the distance is ∞ between any two years.
  It is only for a rebate that the reader of the bills does not see, which is what the cryptography of that paper is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, Real, exact, inf, positive, whole
from leeward.exact._weight import Weight
from leeward.local.series._documents import BillingStatement
from leeward.mechanism._geometric import Geometric, integers
from leeward.noise import Bits, Enclosure, SystemBits, add_saturating

Rebate = Literal["noisy", "exact"]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Settled:
    """What is settled at the end of the year, in steps, one entry a customer.

    Attributes:
        year: the published amount of the year: noisy, or for an exact rebate the truth.
        rebate: what is paid back, at least 0.
        paid: the bills less the rebate: never below the truth.
    """

    year: Integers
    rebate: Integers
    paid: Integers


@taught
class Billing:
    """Bills with noise that is never negative.

    Args:
        epsilon: ε for each ``unit`` that a bill falls, exact.
        unit: the amount that ε is for, in the unit of the bills, exact.
        step: the public step of bills, in the same unit; amounts and bills are integers, in steps.
        bills: how many bills a year.
        rebate: ``"noisy"`` or ``"exact"``; see above.
        year_epsilon: ε for each ``unit`` that the year falls, for a noisy rebate; by default ``epsilon``.

    Attributes:
        law: the mechanism of a bill.
        year_law: the mechanism of the year, or None.

    Raises:
        InexactError: for a float ε.
        InputError: for options that do not go together.
    """

    def __init__(
        self,
        epsilon: Exact,
        *,
        unit: Exact = 1,
        step: Exact = 1,
        bills: int = 12,
        rebate: Rebate = "noisy",
        year_epsilon: Exact | None = None,
    ) -> None:
        check_choice("rebate", rebate, get_args(Rebate), "there is no such rebate")
        if rebate == "exact" and year_epsilon is not None:
            raise InputError("year_epsilon for an exact rebate", "it has no noise", "Leave it out")
        bills = whole(bills, "bills", says="there is at least one")
        size = positive(step, "step").rational
        if size is None:
            raise InputError(f"step = {step}", "it is not a finite rational", 'Write step = "1/100"')
        self.unit, self.step, self.bills, self.rebate = positive(unit, "unit"), size, bills, rebate
        self.law = Geometric(Line(inf, positive(epsilon, "epsilon") / self.unit), step=self.step)
        year = positive(epsilon if year_epsilon is None else year_epsilon, "year_epsilon") / self.unit
        self.year_law = Geometric(Line(inf, year), step=self.step) if rebate == "noisy" else None

    def __repr__(self) -> str:
        year = "an exact rebate" if self.year_law is None else f"the year by {self.year_law!r}"
        return f"<Billing: {self.bills} bills by {self.law!r}, {year}>"

    @property
    def price(self) -> Real:
        """ε for each unit that bills fall, the year's settlement included; ∞ to whoever sees bills and exact rebate."""
        if self.year_law is None:
            return inf
        return (self.law.line.fall + self.year_law.line.fall) * self.unit

    @property
    def distance(self) -> Line:
        """The distance between years, as vectors of amounts in steps, for someone who sees all that is published.

        The year falls by as much as its bills together, so its price is added to that of each.

        Raises:
            InputError: for an exact rebate, where it is ∞ between any two years.
        """
        if self.year_law is None:
            raise InputError("The distance of an exact rebate", "it is ∞ between any two years", 'Use rebate = "noisy"')
        return Line(inf, self.price / self.unit * self.step)

    def bill(self, amounts: ArrayLike, bits: Bits | None = None) -> Integers:
        """Return bills for true amounts, in steps, any shape: never below them."""
        return self.law.noisy(amounts, bits or SystemBits())

    def settle(self, amounts: ArrayLike, billed: ArrayLike, bits: Bits | None = None) -> Settled:
        """Return what is published and paid back at the end of a year.

        Args:
            amounts: true amounts in steps, shape (customers, bills).
            billed: what `bill` gave for them.
            bits: the entropy source; by default a fresh cryptographic stream.

        Raises:
            InputError: for other shapes, a bill below its amount, or a year of 2⁶² steps or more.
        """
        truth, given = integers(amounts), integers(billed)
        if truth.shape != given.shape or truth.ndim != 2 or truth.shape[1] != self.bills:
            raise InputError(
                "Amounts and bills", f"each customer has {self.bills} of both a year", "Give (customers, bills)"
            )
        if (given < truth).any():
            raise InputError(
                "Bills below their amounts (for the curator only)",
                "no bill was drawn below its amount",
                "Give those sent out",
            )
        if (np.abs(truth.astype(np.float64)).sum(axis=1) >= 2.0**62).any():
            raise InputError(
                "Amounts of 2^62 steps or more a year (for the curator only)",
                "64 bits do not hold them",
                "Take a larger step",
            )
        total = truth.sum(axis=1)
        charged = np.zeros_like(total)
        for column in given.T:
            charged = add_saturating(charged, column)
        year = total if self.year_law is None else self.year_law.noisy(total, bits or SystemBits())
        rebate = np.maximum(charged - year, 0)
        return Settled(year, rebate, charged - rebate)

    def expected_surcharge(self) -> Weight:
        """Return by how much a bill is above the truth on average, in units, before the rebate."""
        return self.law.expected_error() * self.step

    def expected_overpaid(self) -> Enclosure:
        """Return by how much a year is overpaid on average, in units, after the rebate: enclosed as tightly as asked.

        With S the noise of all bills and G that of the year, E min(S, G) = Σ_{k ≥ 1} Pr[S ≥ k]·g^k = g/(1 − g)·(1 − E g^S),
        and E g^S = ((1 − b)/(1 − b·g))^bills, where b and g are e to minus the rate of a bill and of the year. It is not a
        `Weight`, for a power of many bills is not to be multiplied out.
        """
        if self.year_law is None:
            return Enclosure(lambda _: flint.arb(0))
        bill, year, step = self.law.law.up, self.year_law.law.up, exact(self.step)

        def enclose(precision: int) -> flint.arb:
            with flint.ctx.workprec(precision + 64):
                b, g = -bill.arb(precision + 64), -year.arb(precision + 64)
                shrunk = (-b.expm1() / -(b + g).expm1()).log() * self.bills
                return g.exp() / -g.expm1() * -shrunk.expm1() * step.arb(precision)

        return Enclosure(enclose)

    def statement(self) -> BillingStatement:
        """Return in words what is promised, what is not, and to whom."""
        if self.year_law is None:
            rebate = (
                "all of the noise is paid back. Whoever sees the bills and the rebate knows the exact year, and nothing is"
                f" protected from them; whoever sees the bills alone is held to ε = {self.law.line.fall * self.unit}"
            )
        else:
            rebate = (
                "what the bills are above the year's amount, which is published once more with noise that is never"
                " negative; the price of both is counted"
            )
        return BillingStatement(
            format=1,
            kind="billing",
            price=str(self.price),
            definition="Pr[bills | truth] ≤ e^(ε·c) · Pr[bills | lower amounts], c = how much the bills fall together /"
            f" {self.unit}",
            protects="that an amount was as high as it was: every lower one is an alternative",
            does_not_protect="that an amount was not higher: a bill is an upper bound, so a low bill shows a low"
            " consumption",
            guaranteed="no bill, and no year's payment, is ever below the true amount",
            rebate=rebate,
        )
