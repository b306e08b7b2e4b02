# SPDX-License-Identifier: Apache-2.0
"""(ε, δ) with direction, by privacy loss distributions.

The two directions of a promise compose apart: what withdrawing a person may show and what inserting one may show are two
numbers, and for one-sided noise one of them is infinite. Convolutions are done by Google's *dp-accounting*, one direction at
a time. Its ``PrivacyLossDistribution`` assumes by default that both directions are the same; it is never used here.

One-sided noise has a *constant* loss: k releases cost exactly kε + ln(1 − δ), and no accounting trick gains more. Such
losses are added up exactly and never discretised.

All other losses are rounded to multiples of a grid by connect-the-dots, which is pessimistic, and what floating point may
take away is added to δ: 1e-13, and 1e-15 more for every release (thirty times what was seen, up to a million releases). So
ε and δ are upper bounds, and a δ that small is answered by the pure cost.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from leeward._arrays import vanishing
from leeward._displayed import Drawn
from leeward._optional import optional
from leeward._taught import public_list, taught
from leeward.accounting._dominating_pairs import Pair, pair, replaced
from leeward.accounting._events import (
    KINDS,
    ComposedEvent,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
)
from leeward.accounting._pure import Cost, cost
from leeward.errors import InputError, check_choice
from leeward.exact._real import ZERO, Exact, Real, exact, positive, whole
from leeward.exact._weight import Weight, exp, log, weight

Direction = Literal["withdraw", "insert", "replace"]
"""The truth → its alternative: a person in the data passed off as absent (addition-only's promise); the other way round; or
as having another record (see `leeward.accounting._dominating_pairs.replaced`)."""

TAIL = 1e-15
"""How much of a distribution each composition may move to infinite loss."""

ROUNDING, ROUNDING_EACH = 1e-13, 1e-15
"""What is added to a δ from distributions, and for each release in them: floating-point errors are smaller."""

GRID = "1e-4"
"""The step of losses, unless another is asked for."""

MOST_POINTS = 1 << 22
"""The most grid points that the losses of one part may spread over: at the usual grid, about ±200."""

_WHAT = "(ε, δ) of losses that are not constant"

_CLOSE = 1e-9  # ε from δ is rounded up by at most this


@taught
class Accountant(Drawn):
    """What a collection of events costs in total, in each direction. Immutable: `compose` returns a new one.

    Args:
        events: what was released, in any order; each as often as it was (`compose` takes how often).
        grid: the step of the losses, an exact number above 0: finer is tighter and slower. Losses that are multiples of it,
            and the constant losses of one-sided noise, are not rounded.
    """

    def __init__(self, events: Iterable[Event] = (), *, grid: Exact = GRID) -> None:
        self._counts: collections.Counter[Event] = collections.Counter()
        for event in public_list("events", events, in_order=True):
            _count(event, 1, self._counts)
        self.grid = positive(grid, "grid")
        self._made: dict[Direction, tuple[Real, _Rest | None]] = {}

    def __repr__(self) -> str:
        return f"<Accountant of {self._counts.total():,} events, {len(self._counts):,} distinct: {self.cost}>"

    @property
    def events(self) -> dict[Event, int]:
        """What was released, and how often each."""
        return dict(self._counts)

    def compose(self, event: Event, times: int = 1) -> Accountant:
        """Return an accountant that has seen this event too, so many times.

        Raises:
            InputError: if it cannot be priced, or ``times`` is not a whole number of at least 1.
        """
        times = whole(times, "times")
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
        if rest is None:  # here the loss is constant and more than at
            return min((1 - exp(at - constant)).bounds()[1], 1.0)
        return _delta(rest, float(at - constant))

    def epsilon(self, delta: Exact | float, direction: Direction) -> float:
        """Return an upper bound on the least ε ≥ 0 for this δ, in one direction; ∞ if no ε is enough."""
        chance = weight(_as_it_is(delta))
        closed = self.closed_form(chance, direction)
        if closed is not None:
            return _above(closed)
        asked, pure = float(chance), _above(self._pure(direction))
        constant, rest = self._parts(direction)
        assert rest is not None  # else there is a closed form
        if _delta(rest, math.inf) > asked:
            return pure
        low, high = -float(constant), 1.0
        while _delta(rest, high) > asked:
            low, high = high, high * 2
        if _delta(rest, low) <= asked:
            high = low
        while high - low > _CLOSE and low < (middle := (low + high) / 2) < high:
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

    def _parts(self, direction: Direction) -> tuple[Real, _Rest | None]:
        """Return the sum of the constant losses, and the rest (None if there is none)."""
        _check(direction)
        if direction in self._made:
            return self._made[direction]
        constant, rest, many = ZERO, [], 0
        grid = float(self.grid)
        for event, times in self._counts.items():
            value = _constant(event, direction)
            if value is None:
                rest.append(_self_composed(event, times, direction, grid))
                many += times
            else:
                constant = constant + value * times
        composed = _Rest(_composed(rest), ROUNDING + ROUNDING_EACH * many) if rest else None
        self._made[direction] = constant, composed
        return self._made[direction]


def _as_it_is(number: Exact | float) -> Exact:
    """Take a float for the binary fraction it is: a question may be asked in floats, a promise may not be made in them."""
    return Fraction(number) if isinstance(number, float) and math.isfinite(number) else exact(number)  # type: ignore[arg-type]


def _above(number: Real) -> float:
    """Return the float nearest to a number, or the next where that is less: an upper bound stays one."""
    near = float(number)
    while not math.isinf(near) and exact(Fraction(near)) < number:
        near = math.nextafter(near, math.inf)
    return near


def _check(direction: str) -> None:
    check_choice("direction", direction, get_args(Direction), "it must say which way")


def _count(event: Event, times: int, counts: collections.Counter[Event]) -> None:
    """Take compositions apart, so that equal events are counted together."""
    if isinstance(event, ComposedEvent):
        for part in event.events:
            _count(part, times, counts)
    elif isinstance(event, SelfComposedEvent):
        _count(event.event, times * event.times, counts)
    elif isinstance(event, GeometricEvent | LaplaceEvent):
        counts[replace(event, places=1)] += times * event.places
    elif isinstance(event, Event):
        counts[event] += times
    else:
        raise InputError(
            f"{type(event).__name__} as an event",
            "it cannot be priced",
            f"Give one of leeward.accounting: {', '.join(kind.__name__ for kind in KINDS.values())}. Geometric noise"
            " with the law `law` is GeometricEvent(up=law.up, down=law.down)",
        )


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


@functools.lru_cache(maxsize=128)
def _self_composed(event: Event, times: int, direction: Direction, grid: float) -> Any:
    if direction == "replace":
        return _composed([_repeated(_discretised(worst, grid), times, grid) for worst in replaced(event, grid)])
    worst = pair(event, grid)
    return _repeated(_discretised(worst if direction == "withdraw" else worst.reverse(), grid), times, grid)


@vanishing
def _repeated(losses: Any, times: int, grid: float) -> Any:
    """Compose one distribution with itself.

    Raises:
        InputError: if the result would spread over too many points.
    """
    if times == 1 or _certain(losses):
        return losses
    if times * math.log1p(-losses._infinity_mass) < _NOTHING:
        return _certainly(grid)
    common = optional("dp_accounting.pld.common", _WHAT)
    if times > _FEW or losses.size**times > 1000:  # fewer points are composed one by one
        losses = losses.to_dense_pmf()
        low, high = common.compute_self_convolve_bounds(losses._probs, times, TAIL)
        _check_points(high - low)
    return losses.self_compose(times, TAIL)


_FEW = 8
_NOTHING = math.log(TAIL)


def _certainly(grid: float) -> Any:
    """The distribution of a loss that is always infinite: nothing is hidden."""
    pld_pmf = optional("dp_accounting.pld.pld_pmf", _WHAT)
    return pld_pmf.create_pmf({0: 0.0}, grid, 1.0, pessimistic_estimate=True)


def _certain(losses: Any) -> bool:
    """Whether a loss is infinite but for a chance that may be cut off, which is then taken as infinite too."""
    return bool(losses._infinity_mass >= 1 - TAIL)


def _check_points(points: float) -> None:
    if points > MOST_POINTS:
        raise InputError(
            f"Losses spread over more than {MOST_POINTS:,} points of the grid",
            "each is kept, so time and memory run out",
            "Take a coarser grid, or use the exact pure cost",
        )


@vanishing
def _discretised(worst: Pair, grid: float) -> Any:
    """Return dp-accounting's distribution of the loss, connect-the-dots on the grid points next to each loss."""
    pld_pmf = optional("dp_accounting.pld.pld_pmf", _WHAT)
    losses = worst.losses()
    finite = np.isfinite(losses)
    if not finite.any() or worst.present[finite].sum() <= TAIL:
        return _certainly(grid)
    _check_points((losses[finite].max() - losses[finite].min()) / grid)
    _check_points(np.abs(losses[finite]).max() / grid / 2**20)  # further from 0 they are not exact integers
    at = losses[finite] / grid
    whole = np.round(at)
    exactly = np.abs(at - whole) < 1e-6  # a rate such as 1/10, a multiple of the grid: keep it one point
    points = np.unique(np.concatenate([whole[exactly], np.floor(at[~exactly]), np.ceil(at[~exactly])])).astype(int)
    order = np.argsort(losses)
    tops, bottoms = (np.concatenate([[0.0], np.cumsum(side[order][::-1])]) for side in (worst.present, worst.absent))
    above = losses.size - np.searchsorted(losses[order], points * grid, side="right")
    with np.errstate(divide="ignore"):  # e^loss alone may be too large for a float
        deltas = np.clip(tops[above] - np.exp(points * grid + np.log(bottoms[above])), 0.0, 1.0)
    return pld_pmf.create_pmf_pessimistic_connect_dots(grid, points, np.minimum.accumulate(deltas))


def _composed(parts: list[Any]) -> Any:
    """Compose the smallest two until one is left."""
    pld_pmf = optional("dp_accounting.pld.pld_pmf", _WHAT)
    if any(_certain(part) for part in parts):
        return next(part for part in parts if _certain(part))
    if sum(math.log1p(-part._infinity_mass) for part in parts) < _NOTHING:
        return _certainly(parts[0]._discretization)
    parts = sorted(parts, key=lambda p: p.size)
    while len(parts) > 1:
        _check_points(_spread(parts[0]) + _spread(parts[1]))
        parts = sorted([*parts[2:], pld_pmf.compose_pmfs(parts[0], parts[1], TAIL)], key=lambda p: p.size)
    return parts[0] if parts else None


def _spread(losses: Any) -> int:
    """Over how many points of the grid a distribution spreads."""
    places = getattr(losses, "_loss_probs", None)
    return int(losses.size if places is None else max(places) - min(places) + 1)


class _Rest(NamedTuple):
    """The distribution of the losses that are not constant, and what rounding may have taken from its δ."""

    losses: Any
    rounding: float


def _delta(rest: _Rest, epsilon: float) -> float:
    return float(min(max(rest.losses.get_delta_for_epsilon(epsilon), 0.0) + rest.rounding, 1.0))
