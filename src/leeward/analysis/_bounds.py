# SPDX-License-Identifier: Apache-2.0
"""How good a decision about a count can be at all: the bounds of the ADP paper, and the tight one.

A decision is (q, α, β)-one-sided (Takagi et al., ADP, Definition II.6, with one sanitizer for all unsafe tables and "≤"):
Pr[*safe* | unsafe] ≤ α, and Pr[*safe* | X] ≥ β at the safe table X. k is how many steps of the notion lead from an unsafe
table to X (Proposition IV.7 with the path the right way round); for "at most t" and the count c it is t + 1 − c.

The paper's bounds follow a single pair of tables k steps apart. Following the path one step at a time gives more: the
recursion of `best_decision`, which geometric noise with a threshold attains.

Machine-checked (docs/proved.md): `group_privacy_delta`, `best_bound`, `best_upward`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol

from leeward._integers import least_between
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, finite, integer, positive
from leeward.exact._weight import Weight, exp, exp_minus, log, weight


def epsilon_bound(epsilon: Exact, k: int, alpha: Exact) -> Weight:
    """Return the most β that ε-DP allows at distance k by Section III-A: ``min(1, e^{kε}·α)``."""
    return delta_bound(epsilon, 0, k, alpha)


def epsilon_bound_complement(epsilon: Exact, k: int, alpha: Exact) -> Weight:
    """Return the most β by the same step on *not safe*: ``1 − e^{−kε}·(1 − α)`` (Proposition IV.7).

    Along k steps from unsafe to safe, each costing ε. It needs nothing of the way back, so it holds under ADP too.
    """
    return delta_bound_complement(epsilon, 0, k, alpha)


def epsilon_needed(k: int, alpha: Exact, beta: Exact) -> Real:
    """Return the least ε that inequality (5) of Section III-A allows: ``ln(β/α)/k``; ∞ at α = 0."""
    a, b, k = _chance(alpha), _chance(beta), integer(k, "k")
    if not a:
        return exact("inf")
    return log(b / a) / k


def epsilon_needed_complement(k: int, alpha: Exact, beta: Exact) -> Real:
    """Return the least ε that Proposition IV.7 allows: ``ln((1 − α)/(1 − β))/k``; finite at α = 0."""
    a, b, k = _chance(alpha), _chance(beta), integer(k, "k")
    if b == 1:
        return exact("inf")
    return log((1 - a) / (1 - b)) / k


def delta_bound(epsilon: Exact, delta: Exact, k: int, alpha: Exact) -> Weight:
    """Return the most β that (ε, δ)-DP allows at distance k by Section III-B: ``e^{kε}·α + δ·Σ_{i<k} e^{iε}``, at most 1."""
    grown = exp(finite(epsilon, "epsilon") * integer(k, "k")) * _chance(alpha) + _chance(delta) * _powers(epsilon, k)
    return min(grown, weight(1))


def delta_bound_complement(epsilon: Exact, delta: Exact, k: int, alpha: Exact) -> Weight:
    """Return the most β by the same step on *not safe*: ``1 − e^{−kε}·(1 − α − δ·Σ_{i<k} e^{iε})``, at most 1."""
    left = 1 - _chance(alpha) - _chance(delta) * _powers(epsilon, k)
    return min(1 - exp_minus(finite(epsilon, "epsilon") * integer(k, "k")) * left, weight(1))


def delta_needed(epsilon: Exact, k: int, alpha: Exact, beta: Exact) -> Weight:
    """Return the least δ that inequality (7) of Section III-B allows: ``(β − α·e^{kε}) / Σ_{i<k} e^{iε}``, at least 0."""
    need = (_chance(beta) - _chance(alpha) * exp(finite(epsilon, "epsilon") * integer(k, "k"))) / _powers(epsilon, k)
    return max(need, weight(0))


@dataclass(frozen=True)
class BestDecision:
    """The best Pr[*safe*] at distance k from unsafe: the recursion of `best_decision`, solved.

    ``β ↦ e^r·β + δ`` has a slope above 1 and ``β ↦ 1 − e^{−f}·(1 − δ − β)`` one below 1, so the first is the least up to one
    value of β and the second from there on; β never falls. So there is one step m before which the first holds and from
    which the second holds: ``β_k = e^{rk}·α + δ·Σ_{i<k} e^{ri}`` up to m, and from there ``1 − β`` shrinks by e^{−f} a step,
    ``1 − β_{m+n} = e^{−fn}·(1 − β_m) − δ·Σ_{1≤i≤n} e^{−fi}``, at least 0. Any k costs the same work.

    Args:
        presence: f, what a step that lowers the count by 1 costs.
        absence: r, what a step that raises it costs; ∞ where that is not protected.
        alpha: α in [0, 1].
        delta: δ of every step, in [0, 1].

    Raises:
        InputError: if a probability is outside [0, 1].
    """

    fall: Real
    rise: Real
    alpha: Weight
    delta: Weight

    def __init__(self, presence: Exact, absence: Exact, alpha: Exact = 0, *, delta: Exact = 0) -> None:
        object.__setattr__(self, "fall", positive(presence, "presence"))
        object.__setattr__(self, "rise", positive(absence, "absence"))
        object.__setattr__(self, "alpha", _chance(alpha))
        object.__setattr__(self, "delta", _chance(delta))

    def at(self, k: int) -> Weight:
        """Return β_k."""
        if (k := integer(k, "k")) < 0:
            raise InputError(f"k = {k}", "it is a number of steps", "Give at least 0")
        rises = k if self._turn is None else min(k, self._turn)
        left, falls = 1 - self._risen(rises), k - rises
        if falls:
            shrunk = exp_minus(self.fall)
            left = exp_minus(self.fall * falls) * left
            if self.delta and shrunk:
                left = left - self.delta * shrunk * (1 - exp_minus(self.fall * falls)) / (1 - shrunk)
        return 1 - max(left, weight(0))

    def _risen(self, steps: int) -> Weight:
        """β after so many steps that are all bounded by what a rise costs."""
        if not steps or not (self.alpha or self.delta):
            return self.alpha
        grown = exp(self.rise * steps)
        return grown * self.alpha + (self.delta * _powers(self.rise, steps) if self.delta else 0)

    @functools.cached_property
    def _turn(self) -> int | None:
        """m, the first step that what a fall costs bounds; None if there is none."""
        if self.rise.is_infinite:
            return 0
        if not (self.alpha or self.delta):
            return None
        low, high = -1, 1
        while self._rise_bounds(high):
            low, high = high, 2 * high
        return least_between(lambda steps: not self._rise_bounds(steps), low, high)

    def _rise_bounds(self, steps: int) -> bool:
        last = self._risen(steps)
        return exp(self.rise) * last + self.delta < 1 - exp_minus(self.fall) * (1 - self.delta - last)


def best_decision(presence: Exact, absence: Exact, k: int, alpha: Exact = 0, *, delta: Exact = 0) -> tuple[Weight, ...]:
    """Return β_0, …, β_k: the best Pr[*safe*] at each distance from unsafe, given Pr[*safe* | unsafe] ≤ α.

    ``β_0 = α`` and ``β_{j+1} = min(e^{absence}·β_j + δ, 1 − e^{−presence}·(1 − δ − β_j), 1)``, the first dropped at
    absence = ∞. Both are the privacy of one step (of *safe* along a rise, of *not safe* along a fall), so no decision about
    one count is better anywhere; the clamped recursion is itself a decision, so the bound is attained everywhere at once.

    Args:
        presence: what a step that lowers the count by 1 costs.
        absence: what a step that raises it costs; ∞ where that is not protected.
        k: the largest distance wanted, at least 0.
        alpha: α in [0, 1].
        delta: δ of every step, in [0, 1].

    Raises:
        InputError: if a probability is outside [0, 1] or k is negative.
    """
    best = BestDecision(presence, absence, alpha, delta=delta)
    best.at(k)  # a negative one is refused
    return tuple(map(best.at, range(integer(k, "k") + 1)))


def alap_beta(rate: Exact, count: int, at_most: int) -> Weight:
    """Return Pr[safe | c] of upward geometric noise of this rate with the sanitizer z ≤ t: ``1 − e^{−rate·(t + 1 − c)}``.

    Corollary V.6 with k = t + 1 − c, which the continuous mechanism reaches only with the sanitizer z < t + 1.
    """
    k = integer(at_most, "at_most") + 1 - integer(count, "count")
    return 1 - exp_minus(positive(rate, "rate") * k) if k > 0 else weight(0)


def alap_epsilon(beta: Exact, count: int, at_most: int, *, sensitivity: Exact = 1) -> Real:
    """Return the ε from which ALap is (q, 0, β)-one-sided at this count: ``Δ·ln(1/(1 − β))/k`` (Corollary V.6)."""
    count, at_most = integer(count, "count"), integer(at_most, "at_most")
    if count > at_most:
        raise InputError(
            f"count = {count}", "it is not safe, so it must not be called safe", "Give a count of at most t"
        )
    return epsilon_needed_complement(at_most + 1 - count, 0, beta) * positive(sensitivity, "sensitivity")


class Rows(Protocol):
    """An exact finite mechanism: `leeward.mechanism.FiniteMechanism`."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The secrets."""

    def row(self, secret: Hashable) -> dict[Any, Weight]:
        """Return the exact distribution of the outputs for one secret."""


@dataclass(frozen=True)
class OneSided:
    """How a mechanism and a sanitizer answer a proposition q, exactly.

    Attributes:
        alpha: the largest Pr[True | q is False]; 0 if q is never False.
        beta: Pr[True | x] for each secret x where q is True.
    """

    alpha: Weight
    beta: dict[Any, Weight]


def one_sided(
    mechanism: Rows,
    proposition: Callable[[Any], bool],
    says: Callable[[Any], bool | Weight | Exact],
) -> OneSided:
    """Return for which α and β a mechanism is (q, α, β)-one-sided with this sanitizer (ADP, Definition II.6).

    Args:
        mechanism: an exact finite mechanism; ``Geometric(…).on(range(…))`` gives one.
        proposition: q, for each secret.
        says: the sanitizer, for each output: whether it says True, or with which probability.
    """
    chance: dict[Any, Weight] = {}
    for secret in mechanism.inputs:
        total = weight(0)
        for output, p in mechanism.row(secret).items():
            said = says(output)
            total += p * (weight(int(said)) if isinstance(said, bool) else said)
        chance[secret] = total
    wrong = [p for secret, p in chance.items() if not proposition(secret)]
    return OneSided(max(wrong, default=weight(0)), {x: p for x, p in chance.items() if proposition(x)})


def _powers(epsilon: Exact, k: int) -> Weight:
    """Σ_{i<k} e^{iε}."""
    if (k := integer(k, "k")) < 1:
        raise InputError(f"k = {k}", "the bound is about tables at least one step apart", "Give at least 1")
    return (exp(finite(epsilon, "epsilon") * k) - 1) / (exp(finite(epsilon, "epsilon")) - 1)


def _chance(given: Exact) -> Weight:
    p = weight(given)
    if p < 0 or p > 1:
        raise InputError(f"{given} as a probability", "it does not lie in [0, 1]", "Check α, β and δ")
    return p
