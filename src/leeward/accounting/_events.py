# SPDX-License-Identifier: Apache-2.0
"""What was released, as frozen descriptions that an accountant can price.

The meaning of a kind and of its fields never changes: a change of meaning is a new kind. (The habit is that of Google's
*dp-accounting*, ``dp_event.py``.)

Every event says how much one *person* moves its answers: ``moves`` steps at each of at most ``places`` coordinates, and
all one way: down when the person is withdrawn, up when one is inserted. Of *part* of a person's facts that says nothing:
where each person counts at the latest place alone, taking that visit away lets the count of an earlier place rise. Only a
``monotone`` event says that parts move its answers as the whole does: that taking facts away lowers them, by no more than
withdrawing the person would, and that inventing facts raises them, by no more than inserting the person would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from leeward._plain import echo
from leeward._taught import public_list
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, positive, whole


@dataclass(frozen=True)
class Event:
    """A release, as accountants see it. Subclasses are frozen and hashable."""

    kind: ClassVar[str]

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class GeometricEvent(Event):
    """Directed geometric noise on integer answers: rates ``up`` and ``down`` a step, ∞ where there is no such noise.

    Args:
        up: the rate of upward noise, which pays for withdrawals.
        down: the rate of downward noise, which pays for insertions.
        moves: how many steps one person moves one coordinate at most.
        places: how many coordinates one person moves at most.
        monotone: whether parts of a person's facts move the answers one way too.
    """

    kind = "geometric"
    up: Real
    down: Real
    moves: int
    places: int
    monotone: bool

    def __init__(self, up: Exact, down: Exact, *, moves: int = 1, places: int = 1, monotone: bool = False) -> None:
        self._set(up=positive(up, "up"), down=positive(down, "down"), monotone=_truth(monotone))
        self._set(moves=whole(moves, "moves"), places=whole(places, "places"))


@dataclass(frozen=True)
class LaplaceEvent(Event):
    """Directed Laplace noise on the real line: density ∝ e^{−up·z} above 0 and e^{−down·|z|} below; ∞ for no such side.

    Leeward does not draw it. It is for what others have released, and for comparison.

    Args:
        up: the rate of upward noise.
        down: the rate of downward noise.
        moves: how far one person moves one coordinate at most, an exact positive number.
        places: how many coordinates one person moves at most.
        monotone: whether parts of a person's facts move the answers one way too.
    """

    kind = "laplace"
    up: Real
    down: Real
    moves: Real
    places: int
    monotone: bool

    def __init__(self, up: Exact, down: Exact, *, moves: Exact = 1, places: int = 1, monotone: bool = False) -> None:
        self._set(up=positive(up, "up"), down=positive(down, "down"), monotone=_truth(monotone))
        self._set(moves=positive(moves, "moves"), places=whole(places, "places"))


@dataclass(frozen=True)
class PureEvent(Event):
    """Anything that is private at ``withdraw`` for withdrawing a person and at ``insert`` for inserting one; ∞ for none."""

    kind = "pure"
    withdraw: Real
    insert: Real

    def __init__(self, withdraw: Exact, insert: Exact) -> None:
        costs = exact(withdraw), exact(insert)
        if min(costs) < 0:
            raise InputError("A cost below 0", "privacy is never given back", "Give costs of at least 0")
        self._set(withdraw=costs[0], insert=costs[1])


@dataclass(frozen=True)
class SanitizedEvent(Event):
    """One run of the sanitized mechanism: counts at rate ``up`` until ``stops`` of them could not be called safe.

    How many answers were reached does not matter; whether the stops were used up does not either: they were reserved.
    """

    kind = "sanitized"
    up: Real
    stops: int
    monotone: bool

    def __init__(self, up: Exact, *, stops: int = 1, monotone: bool = False) -> None:
        self._set(up=positive(up, "up"), stops=whole(stops, "stops"), monotone=_truth(monotone))


@dataclass(frozen=True)
class UnknownKeysEvent(Event):
    """Counts of keys that nobody has listed (`leeward.mechanism.UnknownKeys`): noise that is cut off, above a threshold.

    Without an end (removal-only) it is a `GeometricEvent`.

    Args:
        up: the rate of upward noise, finite.
        down: the rate of downward noise: the same, or ∞ for none.
        reach: how far noise goes at most; the threshold is one more.
        places: how many keys one person has at most.
    """

    kind = "unknown keys"
    up: Real
    down: Real
    reach: int
    places: int

    def __init__(self, up: Exact, down: Exact, *, reach: int, places: int = 1) -> None:
        self._set(up=positive(up, "up"), down=positive(down, "down"))
        self._set(reach=whole(reach, "reach"), places=whole(places, "places"))
        if self.up.is_infinite or not (self.down.is_infinite or self.down == self.up):
            raise InputError(
                f"Noise of rates {self.up} and {self.down} for keys that nobody has listed",
                "it goes upwards, or both ways at one rate",
                "Give down = inf, or the same rate twice",
            )


@dataclass(frozen=True)
class SubsampledEvent(Event):
    """Another event on a Poisson sample: one coin a person, kept with probability 1 − e^{−clear_price}.

    The sample is fresh and nobody outside knows it. ``clear_price`` is what publishing the sample itself would cost for
    removal (*One-Sided Differential Privacy*, Theorem 5; `leeward.query._sampling.PoissonSampling.clear_price`).
    """

    kind = "subsampled"
    event: Event
    clear_price: Real

    def __init__(self, event: Event, clear_price: Exact) -> None:
        self._set(event=_event(event), clear_price=positive(clear_price, "clear_price"))


@dataclass(frozen=True)
class ComposedEvent(Event):
    """Several releases about the same people, each chosen after seeing those before it or not."""

    kind = "composed"
    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        self._set(events=tuple(map(_event, public_list("events", events, in_order=True))))


@dataclass(frozen=True)
class SelfComposedEvent(Event):
    """The same release so many times, with fresh noise each."""

    kind = "self-composed"
    event: Event
    times: int

    def __init__(self, event: Event, times: int) -> None:
        self._set(event=_event(event), times=whole(times, "times"))


KINDS: Mapping[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        GeometricEvent,
        LaplaceEvent,
        PureEvent,
        SanitizedEvent,
        UnknownKeysEvent,
        SubsampledEvent,
        ComposedEvent,
        SelfComposedEvent,
    )
}
"""Every kind that can be priced."""


def _truth(monotone: bool) -> bool:
    if not isinstance(monotone, bool):
        raise InputError(
            f"monotone = {echo(monotone)}",
            "it says whether any part of a person's facts moves the answers one way",
            "Give True or False",
        )
    return monotone


def _event(value: Event) -> Event:
    if not isinstance(value, Event):
        raise InputError(f"{type(value).__name__} as an event", "it is not an event", f"Known: {', '.join(KINDS)}")
    return value
