"""(ε, δ) with direction, by privacy loss distributions.

The two directions of a promise compose apart: what withdrawing a person may show and what inserting one may show are two
numbers, and for one-sided noise one of them is infinite. Convolutions are done by Google's *dp-accounting*, one direction at
a time. Its ``PrivacyLossDistribution`` assumes by default that both directions are the same; it is never used here.

One-sided noise has a *constant* loss: k releases cost exactly kε + ln(1 − δ), and no accounting trick gains more. Such
losses are added up exactly and never discretised.

All other losses are rounded to multiples of a grid by connect-the-dots, which is pessimistic: ε and δ are upper bounds, up
to floating-point errors and cut tails of about 1e-13 in δ. So do not read anything into a δ below 1e-11.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from leeward.accounting.events import (
    ComposedEvent,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
)
from leeward.accounting.pairs import Pair, pair
from leeward.accounting.pure import Cost, cost
from leeward.errors import InputError, nearest
from leeward.exponential import Weight, log, weight
from leeward.real import ZERO, Exact, Real, exact, positive

Direction = Literal["withdraw", "insert", "replace"]
"""The truth → its cover: a person in the data passed off as absent (addition-only's promise); the other way round; or as
having another record, which is taken for a withdrawal in some coordinates and an insertion in others."""

TAIL = 1e-15
"""How much of a distribution each composition may move to infinite loss."""

GRID = "1e-4"
"""The step of losses, unless another is asked for."""

_CLOSE = 1e-9  # ε from δ is rounded up by at most this


class Accountant:
    """What a collection of events costs in total, in each direction. Immutable: `compose` returns a new one.

    Args:
        events: what was released, in any order.
        grid: the step of the losses, an exact number above 0: finer is tighter and slower. Losses that are multiples of it,
            and the constant losses of one-sided noise, are not rounded.
    """

    def __init__(self, events: Iterable[Event] = (), *, grid: Exact = GRID) -> None:
        self._counts: collections.Counter[Event] = collections.Counter()
        for event in events:
            _count(event, 1, self._counts)
        self.grid = positive(grid, "grid")
        self._made: dict[Direction, tuple[Real, Any]] = {}

    def __repr__(self) -> str:
        return f"<Accountant of {self._counts.total():,} events, {len(self._counts):,} distinct: {self.cost}>"

    def compose(self, event: Event, times: int = 1) -> Accountant:
        """Return an accountant that has seen this event too, so many times."""
        made = Accountant(grid=self.grid)
        made._counts = self._counts.copy()
        _count(event, times, made._counts)
        return made

    @property
    def cost(self) -> Cost:
        """The exact pure cost: δ = 0."""
        return functools.reduce(Cost.__add__, (cost(e).times(n) for e, n in self._counts.items()), Cost())

    def delta(self, epsilon: Exact | float, direction: Direction) -> float:
        """Return an upper bound on the least δ for this ε, in one direction. ε may be negative."""
        at = exact(_as_it_is(epsilon))
        if not at.is_infinite and at >= self._pure(direction):
            return 0.0
        constant, rest = self._parts(direction)
        return _delta(rest, float(at - constant))

    def epsilon(self, delta: Exact | float, direction: Direction) -> float:
        """Return an upper bound on the least ε ≥ 0 for this δ, in one direction; ∞ if no ε is enough."""
        chance = weight(_as_it_is(delta))
        closed = self.closed_form(chance, direction)
        if closed is not None:
            return float(closed)
        asked, pure = float(chance), float(self._pure(direction))
        constant, rest = self._parts(direction)
        if _delta(rest, math.inf) > asked:
            return pure
        low, high = -float(constant), 1.0
        while _delta(rest, high) > asked:
            low, high = high, high * 2
        if _delta(rest, low) <= asked:
            high = low
        while high - low > _CLOSE:
            middle = (low + high) / 2
            low, high = (middle, high) if _delta(rest, middle) > asked else (low, middle)
        return min(max(high + float(constant), 0.0), pure)

    def closed_form(self, delta: Weight | Exact, direction: Direction) -> Real | None:
        """Return the least ε ≥ 0 exactly, kε + ln(1 − δ), where every loss is constant in this direction; else None."""
        left = 1 - weight(delta)
        if left <= 0 or left > 1:
            raise InputError("delta outside [0, 1)", "it is a probability below 1", 'Give, say, "1e-6"')
        _check(direction)
        constants = [(_constant(event, direction), times) for event, times in self._counts.items()]
        total = ZERO
        for value, times in constants:
            if value is None:
                return None
            total = total + value * times
        return max(total + log(left), ZERO)

    def _pure(self, direction: Direction) -> Real:
        _check(direction)
        total = self.cost
        return {"withdraw": total.withdraw, "insert": total.insert}.get(direction, total.withdraw + total.insert)

    def _parts(self, direction: Direction) -> tuple[Real, Any]:
        """Return the sum of the constant losses, and the distribution of the rest (None if there is none)."""
        _check(direction)
        if direction in self._made:
            return self._made[direction]
        constant, rest = ZERO, []
        grid = float(self.grid)
        for event, times in self._counts.items():
            value = _constant(event, direction)
            if value is None:
                rest.append(_self_composed(event, times, direction, grid))
            else:
                constant = constant + value * times
        self._made[direction] = constant, _composed(rest)
        return self._made[direction]


def _as_it_is(number: Exact | float) -> Exact:
    """Take a float for the binary fraction it is: a question may be asked in floats, a promise may not be made in them."""
    return Fraction(number) if isinstance(number, float) and math.isfinite(number) else exact(number)  # type: ignore[arg-type]


def _check(direction: str) -> None:
    if direction not in get_args(Direction):
        raise InputError(
            f"direction = {direction!r}", "it must say which way", nearest(str(direction), get_args(Direction))
        )


def _count(event: Event, times: int, counts: collections.Counter[Event]) -> None:
    """Take compositions apart, so that equal events are counted together."""
    if isinstance(event, ComposedEvent):
        for part in event.events:
            _count(part, times, counts)
    elif isinstance(event, SelfComposedEvent):
        _count(event.event, times * event.times, counts)
    elif isinstance(event, GeometricEvent) and event.places > 1:
        counts[GeometricEvent(event.up, event.down, moves=event.moves)] += times * event.places
    elif isinstance(event, LaplaceEvent) and event.places > 1:
        counts[LaplaceEvent(event.up, event.down, moves=event.moves)] += times * event.places
    elif isinstance(event, Event):
        counts[event] += times
    else:
        raise InputError(f"{type(event).__name__} as an event", "it cannot be priced", "Use one of leeward.accounting")


def _constant(event: Event, direction: Direction) -> Real | None:
    """Return the loss of an event in this direction if it is one number, exactly; else None."""
    size: Real | int
    if direction == "replace":
        return None
    if isinstance(event, GeometricEvent | LaplaceEvent):
        rates, size = (event.up, event.down), event.moves
    elif isinstance(event, PureEvent):
        rates, size = (event.withdraw, event.insert), 1
    elif isinstance(event, SanitizedEvent):
        return event.up * event.stops if direction == "withdraw" else None
    else:
        return None
    mine, other = rates if direction == "withdraw" else rates[::-1]
    if mine.is_infinite or not (other.is_infinite or mine == 0):
        return None
    return mine * size


@functools.lru_cache(maxsize=1024)
def _self_composed(event: Event, times: int, direction: Direction, grid: float) -> Any:
    if direction == "replace":
        if isinstance(event, SubsampledEvent):
            raise InputError(
                "The δ of replacing a person in a subsampled event",
                "one coin is in both worlds, and its worst case is not known here",
                "Ask for withdraw and insert, or use the exact pure cost",
            )
        return _composed([_self_composed(event, times, way, grid) for way in ("withdraw", "insert")])
    worst = pair(event, grid)
    losses = _discretised(worst if direction == "withdraw" else worst.reverse(), grid)
    return losses if times == 1 else losses.self_compose(times, TAIL)


def _discretised(worst: Pair, grid: float) -> Any:
    """Return dp-accounting's distribution of the loss, connect-the-dots on the grid points next to each loss."""
    from dp_accounting.pld import pld_pmf  # lazily: only (ε, δ) accounting needs it

    losses = worst.losses()
    finite = np.isfinite(losses)
    if not finite.any():
        return pld_pmf.create_pmf({0: 0.0}, grid, float(worst.present.sum()), pessimistic_estimate=True)
    at = losses[finite] / grid
    whole = np.round(at)
    exactly = np.abs(at - whole) < 1e-6  # a rate such as 1/10, a multiple of the grid: keep it one point
    points = np.unique(np.concatenate([whole[exactly], np.floor(at[~exactly]), np.ceil(at[~exactly])])).astype(int)
    order = np.argsort(losses)
    tops, bottoms = (np.concatenate([[0.0], np.cumsum(side[order][::-1])]) for side in (worst.present, worst.absent))
    above = losses.size - np.searchsorted(losses[order], points * grid, side="right")
    deltas = np.clip(tops[above] - np.exp(points * grid) * bottoms[above], 0.0, 1.0)
    return pld_pmf.create_pmf_pessimistic_connect_dots(grid, points, np.minimum.accumulate(deltas))


def _composed(parts: list[Any]) -> Any:
    """Compose the smallest two until one is left."""
    from dp_accounting.pld import pld_pmf

    parts = sorted(parts, key=lambda p: p.size)
    while len(parts) > 1:
        parts = sorted([*parts[2:], pld_pmf.compose_pmfs(parts[0], parts[1], TAIL)], key=lambda p: p.size)
    return parts[0] if parts else None


def _delta(rest: Any, epsilon: float) -> float:
    if rest is None:
        return -math.expm1(epsilon) if epsilon < 0 else 0.0
    return float(min(max(rest.get_delta_for_epsilon(epsilon), 0.0), 1.0))
