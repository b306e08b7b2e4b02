# SPDX-License-Identifier: Apache-2.0
"""Worst pairs: the two laws of one event that are easiest to tell apart, with one person in the data and without.

A pair is a list of outcomes with their chances. Outcomes with the same ratio are one outcome. What is continuous is cut at
multiples of a public grid of losses, and each piece is moved to the two ends of its cell such that the chances of both laws
are kept. That makes the laws easier to tell apart, never harder (the connect-the-dots of Doroshenko, Ghazi, Kamath, Kumar
and Manurangsi, 2022), whatever is done with the pair afterwards: so one pair serves both directions, and subsampling.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward.accounting._events import (
    ComposedEvent,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
    UnknownKeysEvent,
)
from leeward.errors import InputError

Floats = NDArray[np.float64]

MOST_OUTCOMES = 200_000
"""The most outcomes a single event may have."""

_SAME = 12  # decimals of the loss to which two outcomes are one


@dataclass(frozen=True, eq=False)
class Pair:
    """Chances of each outcome with the person in the data (``present``) and without (``absent``), shape (n,) each."""

    present: Floats
    absent: Floats

    def losses(self) -> Floats:
        """Return ln(present/absent) for each outcome: ±∞ where one of them is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.present) - np.log(self.absent))

    def reverse(self) -> Pair:
        """Return the pair read the other way round."""
        return Pair(self.absent, self.present)

    @vanishing
    def beside(self, other: Pair) -> Pair:
        """Return the pair of both answers together; outcomes of one ratio are merged."""
        if self.present.size * other.present.size > MOST_OUTCOMES * 50:
            raise InputError(
                "A subsampled event of many answers",
                "its outcomes are too many to list one by one",
                "Subsample each answer on its own, or use a coarser grid",
            )
        present = np.outer(self.present, other.present).ravel()
        absent = np.outer(self.absent, other.absent).ravel()
        occurs = (present > 0) | (absent > 0)  # what neither of them ever says has no loss
        present, absent = present[occurs], absent[occurs]
        keys, place = np.unique(np.round(Pair(present, absent).losses(), _SAME), return_inverse=True)
        return Pair(*(np.bincount(place, side, keys.size).astype(np.float64) for side in (present, absent)))

    def subsampled(self, probability: float) -> Pair:
        """Return the pair where the person is in the sample with this probability."""
        return Pair(probability * self.present + (1 - probability) * self.absent, self.absent)


@functools.singledispatch
def pair(event: Event, grid: float) -> Pair:
    """Return the worst pair of an event; ``grid`` is the step of losses at which continuous laws are cut.

    Raises:
        InputError: for an event that is not known, or has too many outcomes.
    """
    raise InputError(f"{type(event).__name__} as an event", "it has no worst pair", "Use one of leeward.accounting")


@pair.register
def _(event: GeometricEvent, grid: float) -> Pair:
    return _power(_geometric(float(event.up), float(event.down), event.moves), event.places)


@pair.register
def _(event: LaplaceEvent, grid: float) -> Pair:
    return _power(_laplace(float(event.up), float(event.down), float(event.moves), grid), event.places)


@pair.register
def _(event: PureEvent, grid: float) -> Pair:
    """Two outcomes that attain both costs: they dominate every mechanism with these costs (as randomized response does)."""
    up, down = float(event.withdraw), float(event.insert)
    if up == 0 or down == 0:  # no outcome may be likelier on one side only, so none may be on the other
        return Pair(np.ones(1), np.ones(1))
    if math.isinf(up) and math.isinf(down):
        return Pair(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return _geometric(up, down, 1)


@pair.register
def _(event: SanitizedEvent, grid: float) -> Pair:
    return _power(_geometric(float(event.up), math.inf, 1), event.stops)


@pair.register
def _(event: UnknownKeysEvent, grid: float) -> Pair:
    """The noisy counts of a key that is well above the threshold, with the person and without.

    Where both are above 0 people, what is published is read off such counts. Of a key with nobody else, "shown" has
    probability δ₁ and "nothing" the rest, against "nothing" for certain: its curve of (ε, δ) is max(δ₁, 1 − e^ε, 0), which
    is nowhere above that of the noisy counts.
    """
    return _power(_cut(float(event.up), event.reach, both_ways=not event.down.is_infinite), event.places)


@pair.register
def _(event: SubsampledEvent, grid: float) -> Pair:
    return pair(event.event, grid).subsampled(-math.expm1(-float(event.clear_price)))


@pair.register
def _(event: ComposedEvent, grid: float) -> Pair:
    return functools.reduce(Pair.beside, (pair(part, grid) for part in event.events), Pair(np.ones(1), np.ones(1)))


@pair.register
def _(event: SelfComposedEvent, grid: float) -> Pair:
    return _power(pair(event.event, grid), event.times)


@functools.singledispatch
def replaced(event: Event, grid: float) -> tuple[Pair, ...]:
    """Return worst pairs whose independent laws, side by side, are the worst of replacing one person's record by another.

    Noise on coordinates: the old record's coordinates fall and the new one's rise, at worst others, whose noise is
    independent; so a withdrawal beside an insertion. What is only known to be private at w for withdrawing a person and at i
    for inserting one may use one noise for both: see `pure_replaced`.

    Raises:
        InputError: for an event that is not known, and for subsampled ones.
    """
    if isinstance(event, SubsampledEvent):
        raise InputError(
            "The δ of replacing a person in a subsampled event",
            "one coin is in both worlds, and its worst case is not known here",
            "Ask for withdraw and insert, or use the exact pure cost",
        )
    raise InputError(f"{type(event).__name__} as an event", "it has no worst pair", "Use one of leeward.accounting")


@replaced.register(GeometricEvent)
@replaced.register(LaplaceEvent)
@replaced.register(UnknownKeysEvent)
def _(event: GeometricEvent | LaplaceEvent | UnknownKeysEvent, grid: float) -> tuple[Pair, ...]:
    both = pair(event, grid)
    return both, both.reverse()


@replaced.register
def _(event: PureEvent, grid: float) -> tuple[Pair, ...]:
    return (pure_replaced(float(event.withdraw), float(event.insert)),)


@replaced.register
def _(event: SanitizedEvent, grid: float) -> tuple[Pair, ...]:
    """It is private at c·ε for withdrawing a person; that is all that is used."""
    return (pure_replaced(float(event.up) * event.stops, math.inf),)


def pure_replaced(withdraw: float, insert: float) -> Pair:
    """Return the worst pair (P, P') of one record and another, where both are tied to a law Q of nobody.

    With w and i the two costs, ``P ≤ e^w·Q``, ``Q ≤ e^i·P``, and the same of P'. Theorem: with ``c = w + i`` and
    ``m = min(1 − e^{−i}, e^w − 1) / (1 − e^{−c})``, the worst P has chances m, 1 − m − m·e^{−c} and m·e^{−c} of three
    outcomes, P' the same in reverse: no (P, P') that is so tied is easier to tell apart.

    *Proof.* δ(ε) is the largest p − e^ε·p' over sets of outputs, p, q, p' being the chances of one set under P, Q, P'.
    Merging outputs keeps the ties, so that one set and its complement are enough:
    ``p ≤ min(e^w·q, 1 − e^{−i}(1 − q))`` and ``p' ≥ max(e^{−i}·q, 1 − e^w(1 − q))``. Between q = 0 and 1 the largest p and
    the least p' are linear but for one bend each, at ``q_1 = (1 − e^{−i})/(e^w − e^{−i})`` and at 1 − q_1. So δ is the
    largest of 0, 1 − e^ε and its values at the two bends. These are the (p', p) of the outcomes added up from the left, with
    likelihood ratios e^c, 1 and e^{−c}. It is attained, by the Q with chances m·e^{−w}, the rest, and m·e^{−w}. ∎
    """
    if not withdraw or not insert:  # equal, because neither may be likelier
        return Pair(np.ones(1), np.ones(1))
    above = math.expm1(withdraw) if withdraw < _LARGEST else math.inf
    most = min(-math.expm1(-insert), above) / -math.expm1(-(withdraw + insert))
    least = most * math.exp(-(withdraw + insert))
    one = np.array([most, max(1 - most - least, 0.0), least])
    there = (one > 0) | (one[::-1] > 0)
    return Pair(one[there], one[::-1][there])


_LARGEST = 700.0  # e to a larger power is not a float


def _power(base: Pair, times: int) -> Pair:
    made: Pair | None = None
    while times:  # by squaring
        if times & 1:
            made = base if made is None else made.beside(base)
        times >>= 1
        base = base.beside(base) if times else base
    return made or base


@vanishing
def _geometric(up: float, down: float, moves: int) -> Pair:
    """Noise around ``moves`` against noise around 0; all outcomes below 1 are one, and so are all from ``moves`` up."""
    if moves >= MOST_OUTCOMES:
        raise InputError(f"moves = {moves}", f"more than {MOST_OUTCOMES} outcomes", "Take a coarser grid of answers")
    inside = np.arange(1, moves, dtype=np.float64)
    # chances of exactly 0, and of 0 or more, and of 0 or less; e^{−∞·k} is 0 for k > 0
    total = -math.expm1(-(up + down))
    exactly, above, below = (
        math.expm1(-up) * math.expm1(-down) / total,
        -math.expm1(-down) / total,
        -math.expm1(-up) / total,
    )
    present = np.concatenate([[below * math.exp(-down * moves)], exactly * np.exp(-down * (moves - inside)), [above]])
    absent = np.concatenate([[below], exactly * np.exp(-up * inside), [above * math.exp(-up * moves)]])
    return Pair(present, absent)


def _cut(rate: float, reach: int, *, both_ways: bool) -> Pair:
    """Noise that is cut off, around 1 against noise around 0: the two ends, and what lies between, by its ratio."""
    q, tail = math.exp(-rate), math.exp(-rate * reach)
    up = math.expm1(-rate * reach) / math.expm1(-rate) if rate else float(reach)  # the weight of 0, …, reach − 1
    if both_ways:
        total = up + q * up + tail
        here, end = up / total, tail / total
        present, absent = np.array([end, here, q * here, 0.0]), np.array([0.0, q * here, here, end])
    else:
        total = up + tail
        here, end = up / total, tail / total
        present, absent = np.array([end, here, 0.0]), np.array([0.0, here * q, 1 - here * q])
    occurs = (present > 0) | (absent > 0)  # of a great rate the end has no float
    return Pair(present[occurs], absent[occurs])


@vanishing
def _laplace(up: float, down: float, moves: float, grid: float) -> Pair:
    if math.isinf(down):
        tail = math.exp(-up * moves)
        return Pair(np.array([0.0, 1.0]), np.array([1 - tail, tail]))
    if math.isinf(up):
        tail = math.exp(-down * moves)
        return Pair(np.array([tail, 1 - tail]), np.array([1.0, 0.0]))
    low, high = -down * moves, up * moves
    if max(-low, high) > _LARGEST:
        raise InputError(
            "Laplace noise of so little scale", f"losses beyond {_LARGEST:g} have no float", "Use the exact pure cost"
        )
    if (high - low) / grid > MOST_OUTCOMES:
        raise InputError("Laplace noise of little scale on a fine grid", "too many outcomes", "Take a coarser grid")
    inner = np.arange(math.floor(low / grid) + 1, math.ceil(high / grid)) * grid
    edges = np.concatenate([[low], inner, [high]])
    z = (edges - low) / (up + down)  # the loss grows linearly between the two centres
    present_cdf = up / (up + down) * np.exp(-down * (moves - z))
    absent_cdf = 1 - down / (up + down) * np.exp(-up * z)
    present = np.zeros_like(edges)
    present[0], present[-1] = present_cdf[0], down / (up + down)
    cells_present, cells_absent = np.diff(present_cdf), np.diff(absent_cdf)
    width = np.diff(edges)
    # a cell's chances (P, Q) as two atoms at its ends: P' + P'' = P and P'·e^{−low} + P''·e^{−high} = Q
    upper = (cells_present - cells_absent * np.exp(edges[:-1])) / -np.expm1(-width)
    upper = np.clip(upper, 0.0, cells_present)
    present[1:] += upper
    present[:-1] += cells_present - upper
    there = present > 0  # floats lose what cells hold that are hardly apart
    present, absent = present[there], present[there] * np.exp(-edges[there])
    return Pair(present / present.sum(), absent / absent.sum())
