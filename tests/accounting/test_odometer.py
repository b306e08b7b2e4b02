"""A filter keeps its cap whatever an adversary chooses next; one that adds up wrongly is caught."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from leeward.accounting import Event, Filter, GeometricEvent, Odometer, SubsampledEvent, cost
from leeward.distance import Line
from leeward.errors import CapExceededError, InputError
from leeward.exact import ZERO, Weight, exact, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric
from leeward.notion import ABSENT, AdditionOnly, Presence, RemovalOnly, UnboundedDP
from leeward.verification import verify

GONE, HERE = (ABSENT,), ("a",)


def noisy(event: GeometricEvent) -> FiniteMechanism:
    return Geometric(Line(event.down, event.up)).on(range(2)).pull_back([GONE, HERE], lambda t: int(t == HERE))


def one_filter_with_cap_two() -> Filter:
    return Filter(AdditionOnly("1"), 2)


class Careless(Filter):
    """The broken variant: looks at each release alone."""

    def admits(self, event: Event) -> bool:
        return cost(event).within(self.notion, self.cap)


def adaptive(make: Any) -> FiniteMechanism:
    """Releases of rate 1/2 until a 1 is seen, then of rate 3/2, for as long as the filter lets them pass (at most 5)."""
    rows: dict[Any, dict[Any, Weight]] = {}
    for table in (GONE, HERE):
        done: dict[tuple[int, ...], Weight] = {(): weight(1)}
        for _ in range(5):
            extended: dict[tuple[int, ...], Weight] = {}
            for path, chance in done.items():
                guard = make()
                chosen = [GeometricEvent("3/2" if 1 in path[:i] else "1/2", inf) for i in range(len(path) + 1)]
                try:
                    for event in chosen:
                        guard.add(event)
                except CapExceededError:
                    extended[path] = extended.get(path, weight(0)) + chance
                    continue
                for z, p in noisy(chosen[-1]).row(table).items():
                    extended[*path, z] = chance * p
            done = extended
        rows[table] = done
    return FiniteMechanism.from_rows(rows)


def test_what_passes_the_filter_is_private_at_its_cap() -> None:
    mechanism = adaptive(one_filter_with_cap_two)
    assert max(len(z) for z in mechanism.outputs) == 4
    verdict = verify(mechanism, AdditionOnly("2"))
    assert verdict.tight, "four releases of 1/2, or 1/2 and 3/2, spend it all"
    assert not verify(mechanism, AdditionOnly("1.998"))


def test_a_filter_that_looks_at_each_release_alone_is_caught() -> None:
    assert not verify(adaptive(lambda: Careless(AdditionOnly("1"), 2)), AdditionOnly("2"))


def test_a_refused_event_leaves_no_trace_and_smaller_ones_still_pass() -> None:
    guard = one_filter_with_cap_two()
    guard.add(GeometricEvent("3/2", inf))
    assert not guard.admits(GeometricEvent("1", inf))
    with pytest.raises(CapExceededError, match="3/2 of 2"):
        guard.add(GeometricEvent("1", inf))
    assert guard.spent == exact("3/2")
    guard.add(GeometricEvent("1/2", inf))
    assert guard.spent == 2
    assert len(guard.events) == 2
    assert not guard.admits(GeometricEvent("1/1000000000000", inf))


def test_costs_are_exact_at_the_cap() -> None:
    guard = Filter(AdditionOnly("1"), 1)
    for _ in range(10):
        guard.add(GeometricEvent("0.1", inf))  # in binary floats ten tenths are not one
    assert guard.spent.rational == Fraction(1)
    assert Filter(AdditionOnly("1"), log(2)).admits(GeometricEvent(log(2), inf))


@pytest.mark.parametrize("notion", [RemovalOnly("1"), UnboundedDP("1")], ids=str)
def test_a_release_that_promises_nothing_here_never_passes(notion: Any) -> None:
    guard = Filter(notion, 10**9)
    assert not guard.admits(GeometricEvent("1/100", inf))
    assert guard.spent == ZERO


def test_facts_and_people_have_other_prices_for_a_sample() -> None:
    event = SubsampledEvent(GeometricEvent(1, inf, places=2, monotone=True), log(2))
    people, facts = Filter(AdditionOnly("1"), 10), Filter(Presence("1"), 10)
    people.add(event)
    facts.add(event)
    assert people.spent < facts.spent == 2


def test_an_odometer_only_counts() -> None:
    odometer = Odometer()
    odometer.add(GeometricEvent(1, inf))
    total = odometer.add(GeometricEvent(1, "1/2"))
    assert (total.withdraw, total.insert) == (exact(2), inf)
    assert odometer.total == total
    assert [e.kind for e in odometer.events] == ["geometric"] * 2
    with pytest.raises(InputError):
        Filter(AdditionOnly("1"), 0)


def test_they_show_what_is_spent() -> None:
    limited = Filter(AdditionOnly("1"), 3)
    limited.add(GeometricEvent(up="1/2", down=inf))
    assert repr(limited) == '<Filter after 1 events: 1/2 of 3 × AdditionOnly("1") spent>'
    assert repr(Odometer()) == f"<Odometer after 0 events: {Odometer().total}>"
