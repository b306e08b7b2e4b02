# SPDX-License-Identifier: Apache-2.0
"""Mechanisms under the names of the papers.

Each but SALap is a `Geometric`: there is one law and one class. Answers are integers in steps of a public grid; a "Laplace"
mechanism is the geometric one on a fine grid, because floating-point noise leaks (see `leeward.noise`). ``sensitivity`` is
how far the *whole* answer moves along one step of the notion, in L1; `leeward.sensitivity` derives the line for a query.
"""

from __future__ import annotations

from collections.abc import Sequence

from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact._real import Exact, inf, positive
from leeward.mechanism._geometric import Centre, Geometric
from leeward.mechanism._sanitized import Sanitized


def two_sided(
    epsilon: Exact,
    *,
    sensitivity: Exact = 1,
    step: Exact = 1,
    lower: int | None = None,
    upper: int | None = None,
) -> Geometric:
    """Return the two-sided geometric mechanism of DP (Ghosh, Roughgarden and Sundararajan 2009).

    With a fine step it is the Laplace mechanism on a grid (Dwork et al. 2006).
    """
    rate = _rate(epsilon, sensitivity)
    return Geometric(Line(rise=rate, fall=rate), step=step, lower=lower, upper=upper)


def truncated_geometric(epsilon: Exact, upper: int, *, step: Exact = 1) -> Geometric:
    """Return the Truncated Geometric mechanism TG on q[0..k] (Chatzikokolakis et al., Figure 2 iv); k is ``upper``.

    It is universally optimal for a query whose answers fill 0..k (their Proposition 8, after Ghosh et al.).
    """
    return two_sided(epsilon, step=step, lower=0, upper=upper)


@taught
def alap(
    epsilon: Exact,
    *,
    sensitivity: Exact = 1,
    increasing: bool = False,
    step: Exact = 1,
    centre: Centre | None = None,
) -> Geometric:
    """Return the asymmetric Laplace mechanism ALap on a grid (Takagi et al., ADP, Definition V.3).

    Args:
        epsilon: ε of the notion.
        sensitivity: Δ_p, the most that the whole answer moves along one step, in L1.
        increasing: whether answers only rise along the notion's steps (Sign_p = +1), so that noise only lowers them; by
            default they only fall, as counts do under presence and addition-only, and noise only raises them.
        step: the grid step; a finer one is nearer to the paper's continuous law.
        centre: ``"mean"`` or ``"median"`` gives up the one-sided guarantee for a smaller error.
    """
    rate = _rate(epsilon, sensitivity)
    line = Line(rise=rate, fall=inf) if increasing else Line(rise=inf, fall=rate)
    return Geometric(line, step=step, centre=centre)


@taught
def ageo(epsilon: Exact, n: int, *, increasing: bool = False) -> Geometric:
    """Return the asymmetric geometric mechanism AGeo on 0..n (ADP, Definition VIII.1, with both ends clamped).

    Corrected: the middle branch is f ≤ λ < n, and the otherwise-branch, which is `truncated_geometric`, is clamped too.
    Followed by the Bayes remap it has the least expected loss for every prior (Theorem VIII.3, made right).
    """
    form = alap(epsilon, increasing=increasing)
    return Geometric(form.line, lower=0, upper=n)


def salap(epsilon: Exact, at_most: int | Sequence[int], *, stop_after: int = 1) -> Sanitized:
    """Return the sanitized mechanism SALap (ADP, Algorithm 1), for counts that fall by at most 1 each along a step.

    A release costs ``stop_after``·ε, with one person at any number of places (Theorem V.7).

    Args:
        epsilon: ε of the notion, for each count that is published.
        at_most: the threshold t, one for all counts or one for each: at most t people are *safe*.
        stop_after: c, how many counts above their threshold are published before it stops.
    """
    return Sanitized(alap(epsilon).line, at_most=at_most, stop_after=stop_after)


def addition_only(epsilon: Exact, *, sensitivity: Exact = 1, centre: Centre | None = None) -> Geometric:
    """Return the addition-only exponential mechanism (*One-Sided Differential Privacy*, Proposition 3).

    For answers that only fall when a person is taken out: noise is never negative.
    """
    return alap(epsilon, sensitivity=sensitivity, centre=centre)


def removal_only(epsilon: Exact, *, sensitivity: Exact = 1, centre: Centre | None = None) -> Geometric:
    """Return the removal-only exponential mechanism (*One-Sided Differential Privacy*, Proposition 4).

    For answers that only rise when a person is added: noise is never positive.
    """
    return alap(epsilon, sensitivity=sensitivity, increasing=True, centre=centre)


def osdp_laplace(epsilon: Exact, *, centre: Centre | None = None) -> Geometric:
    """Return OSDPLaplace on a grid (Doudalis et al.): for counts of *non-sensitive* records only.

    A sensitive record replaced by anything adds at most one non-sensitive record, so such counts only rise, by at most 1 in
    all: noise is never positive. ``centre="median"`` undoes most of its bias, as their refinement does.
    """
    return alap(epsilon, increasing=True, centre=centre)


def graded(presence: Exact, absence: Exact) -> Geometric:
    """Return the graded mechanism: ε ``presence`` protects a fall by 1, ε ``absence`` a rise by 1.

    absence = ∞ is `alap`; absence = presence is `two_sided`.
    """
    return Geometric(Line(rise=absence, fall=presence))


def _rate(epsilon: Exact, sensitivity: Exact) -> Exact:
    number, moves = positive(epsilon, "epsilon"), positive(sensitivity, "sensitivity")
    if number.is_infinite or moves.is_infinite:
        raise InputError(
            f"epsilon = {number}, sensitivity = {moves}", "noise needs a finite rate above 0", "Give finite numbers"
        )
    return number / moves
