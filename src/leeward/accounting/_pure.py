# SPDX-License-Identifier: Apache-2.0
"""Pure accounting with direction: what events cost along each kind of change, as exact numbers that add up.

Sequential composition is the pointwise sum of distances with ∞ absorbing (Takagi et al., ADP, Theorem VIII.6), also when
every release is chosen after seeing those before it. So costs are kept per direction and never mixed before the end.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

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
from leeward.exact._real import ZERO, Exact, Real, exact, inf, whole
from leeward.exact._weight import exp_minus
from leeward.notion import ABSENT, Notion
from leeward.notion._price_rules import price
from leeward.notion._sees import Sees
from leeward.query._sampling import PoissonSampling


@dataclass(frozen=True)
class Cost:
    """The log-ratio that a change of one person may cause at most, for each kind of change.

    Attributes:
        withdraw: a person who is in the data is taken out.
        insert: a person is put in.
        shrink: some of a person's facts are taken away.
        grow: some facts about a person are invented.
    """

    withdraw: Real = ZERO
    insert: Real = ZERO
    shrink: Real = ZERO
    grow: Real = ZERO

    def __post_init__(self) -> None:
        if min(self.withdraw, self.insert, self.shrink, self.grow) < 0:
            raise InputError("A cost below 0", "privacy is never given back", "Give costs of at least 0")

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.withdraw + other.withdraw,
            self.insert + other.insert,
            self.shrink + other.shrink,
            self.grow + other.grow,
        )

    def times(self, count: int) -> Cost:
        """Return the cost of this many such releases.

        Raises:
            InputError: if that is not a whole number of at least 1.
        """
        count = whole(count, "count")
        return Cost(*(part * count for part in (self.withdraw, self.insert, self.shrink, self.grow)))

    def within(self, notion: Notion, cap: Exact = 1) -> bool:
        """Return whether everything so far is known to be cap·notion-private."""
        return self.price_in(notion) <= exact(cap)

    def price_in(self, notion: Notion) -> Real:
        """Return the least c such that everything so far is known to be c·notion-private; ∞ if none is."""
        sees = notion.sees
        of_facts = sees.about in {"", "sets of facts"}
        if sees.records is not None:
            of_facts = all(isinstance(record, frozenset | None) for record in sees.records)
        return price(_OnePerson(self, of_facts), notion).cost


@dataclass(frozen=True)
class _OnePerson:
    """What releases cost, as a distance between two records of one person, which are sets of facts or not."""

    cost: Cost
    of_facts: bool

    @property
    def sees(self) -> Sees:
        """Who is there, and which facts a record lacks."""
        return Sees(facts=self.of_facts)

    def record(self, before: Any, after: Any) -> Real:
        """Return the cost of the one kind of change that this is; anything else is a withdrawal and an insertion."""
        if before == after:
            return ZERO
        if after is ABSENT:
            return self.cost.withdraw
        if before is ABSENT:
            return self.cost.insert
        if self.of_facts and (after < before or after > before):
            return self.cost.shrink if after < before else self.cost.grow
        return self.cost.withdraw + self.cost.insert


def _directed(withdraw: Real, insert: Real, monotone: bool) -> Cost:
    """The cost of answers that one person moves one way only, whole records apart from parts of them.

    Where parts move the answers as the whole does, taking some facts away is never worse than taking all. Where that is not
    known, it may cost what being out and in again does.
    """
    parts = (withdraw, insert) if monotone else (withdraw + insert,) * 2
    return Cost(withdraw, insert, *parts)


@functools.singledispatch
def cost(event: Event) -> Cost:
    """Return what an event costs in each direction, exactly.

    Raises:
        InputError: for an event that is not known: it may cost anything.
    """
    raise InputError(f"{type(event).__name__} as an event", "it cannot be priced", "Use one of leeward.accounting")


@cost.register
def _(event: GeometricEvent) -> Cost:
    size = event.moves * event.places
    return _directed(event.up * size, event.down * size, event.monotone)


@cost.register
def _(event: LaplaceEvent) -> Cost:
    size = event.moves * event.places
    return _directed(event.up * size, event.down * size, event.monotone)


@cost.register
def _(event: PureEvent) -> Cost:
    return _directed(event.withdraw, event.insert, False)


@cost.register
def _(event: SanitizedEvent) -> Cost:
    return _directed(event.up * event.stops, inf, event.monotone)


@cost.register
def _(event: UnknownKeysEvent) -> Cost:
    """No ε covers that a key is shown; with a δ, see `leeward.accounting.Accountant`."""
    return _directed(inf, inf, False)


@cost.register
def _(event: SubsampledEvent) -> Cost:
    """The coin is about the person: taking away *some* facts costs what it did without, or being out and in again."""
    base, sampling = cost(event.event), PoissonSampling(1 - exp_minus(event.clear_price))
    withdraw, insert = sampling.addition(base.withdraw), sampling.removal(base.insert)
    return Cost(withdraw, insert, min(base.shrink, withdraw + insert), min(base.grow, withdraw + insert))


@cost.register
def _(event: ComposedEvent) -> Cost:
    return functools.reduce(Cost.__add__, (cost(part) for part in event.events), Cost())


@cost.register
def _(event: SelfComposedEvent) -> Cost:
    return cost(event.event).times(event.times)
