"""What an event costs when part of a person's visits goes or comes, for every bound and every way of keeping to it.

The oracle writes a person's visits as the places in the order of time, keeps the k first or last of them by hand, and takes
each count's loss from the noise rates: the rate of upward noise for each count that falls, of downward noise for each that
rises. Answers "safe" until a stop lose ∞ where a count rises.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.deciding import decide_by

import leeward as lw
from leeward.accounting import (
    Accountant,
    Event,
    Filter,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    cost,
)
from leeward.errors import InputError
from leeward.exact import Real, inf
from leeward.mechanism import Everyone
from leeward.planner import compare
from leeward.planner._option import Option

PLACES = "abc"
DIARIES = [None, *(d for n in range(4) for d in itertools.permutations(PLACES, n))]
"""All records of one person: absent, or at each place at most once, in the order of time."""

Diary = tuple[str, ...] | None
ASKED = [(None, "refuse"), *itertools.product((1, 2), ("refuse", "latest", "earliest"))]
NOTIONS = [
    lw.AdditionOnly("1"),
    lw.RemovalOnly("1"),
    lw.UnboundedDP("1"),
    lw.Presence("1"),
    lw.notion.GradedFacts("1", "2"),
]


def counted(diary: Diary, k: int | None, if_more: str) -> tuple[int, ...]:
    kept = diary or ()
    if k is not None:
        kept = kept[-k:] if if_more == "latest" else kept[:k]
    return tuple(int(place in kept) for place in PLACES)


def kind(before: Diary, after: Diary) -> str:
    """Which change of a record this is; "" for one that is not a part of the other."""
    if before is None or after is None:
        return "insert" if before is None else "withdraw"
    for name, small, large in (("shrink", after, before), ("grow", before, after)):
        if tuple(place for place in large if place in small) == small:
            return name
    return ""


def number(rate: Real) -> float:
    return math.inf if rate.is_infinite else float(rate)


def lost(event: Event, before: tuple[int, ...], after: tuple[int, ...]) -> float:
    fallen = sum(x > y for x, y in zip(before, after, strict=True))
    risen = sum(x < y for x, y in zip(before, after, strict=True))
    if isinstance(event, SanitizedEvent):
        return math.inf if risen else number(event.up) * min(event.stops, fallen)
    assert isinstance(event, GeometricEvent)
    return sum(number(rate) * n for rate, n in ((event.up, fallen), (event.down, risen)) if n)


Loss = Callable[[Diary, Diary], float]


def too_low(event: Event, k: int | None, if_more: str, loss: Loss | None = None) -> set[str]:
    """The kinds of change that cost less, as it is claimed, than the noise of these counts loses along one."""
    spent = cost(event)
    claimed = {name: number(getattr(spent, name)) for name in ("withdraw", "insert", "shrink", "grow")}
    known = [d for d in DIARIES if if_more != "refuse" or k is None or len(d or ()) <= k]
    found = set()
    for before, after in itertools.permutations(known, 2):
        change = kind(before, after)
        if not change:
            continue
        seen = counted(before, k, if_more), counted(after, k, if_more)
        if (lost(event, *seen) if loss is None else loss(before, after)) > claimed[change] + 1e-9:
            found.add(change)
    return found


def with_bound(counts: Real, left_out: Real, k: int, if_more: str) -> Loss:
    """What noise on the counts and on the most left out anywhere loses of somebody who is alone, and so moves most."""

    def loss(before: Diary, after: Diary) -> float:
        falls = 0.0
        seen = [(*counted(diary, k, if_more), int(len(diary or ()) > k)) for diary in (before, after)]
        for x, y, rate in zip(*seen, [counts] * len(PLACES) + [left_out], strict=True):
            falls += math.inf if x < y else number(rate) * (x - y)
        return falls

    return loss


def query(k: int | None, if_more: str) -> Any:
    visits = lw.visits("visits.parquet", person="user", place="venue", time="at")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    bound = {} if k is None else {"places_per_person": k, "if_more": if_more}
    return lw.count_visitors(visits, lw.places("places.parquet", place="venue"), **window, **bound)


def events() -> Iterator[tuple[Event, int | None, str, Option]]:
    for (k, if_more), notion in itertools.product(ASKED, NOTIONS):
        never_wrong = isinstance(notion, lw.Presence | lw.AdditionOnly)
        decided = {"safe_at_most": 30} if never_wrong else {"safe_at_most": 30, "error_at_most": "1/2"}
        for option in decide_by(compare, query(k, if_more), notion, **decided).options:
            for way in ("withdraw", "insert"):
                event = option.event(way) if option.plan is not None else None
                if event is not None:
                    yield event, k, if_more, option


@pytest.mark.sweep
def test_no_event_of_a_plan_is_priced_below_what_its_counts_lose() -> None:
    seen = list(events())
    assert {(type(event), k, if_more) for event, k, if_more, _ in seen} >= {
        *((GeometricEvent, k, if_more) for k, if_more in ASKED if k is not None),
        *((SanitizedEvent, k, if_more) for k, if_more in ASKED),
    }
    for event, k, if_more, option in seen:
        notion = option.notion
        if isinstance(event, PureEvent):  # of everyone's, below
            continue
        assert too_low(event, k, if_more) == set(), f"{notion}, {k} {if_more}: {event}"
        whole = k is None or if_more == "refuse"
        assert event.monotone == whole
        if not whole:  # what the mark is for
            assert too_low(replace(event, monotone=True), k, if_more), f"{notion}, {k} {if_more}"


def test_what_is_certain_of_everyone_costs_all_that_counts_and_bound_lose() -> None:
    seen = [(event, k, more, option) for event, k, more, option in events() if isinstance(event, PureEvent)]
    assert {(k, more) for _, k, more, _ in seen} == set(itertools.product((1, 2), ("latest", "earliest")))
    for event, k, if_more, option in seen:
        assert k is not None
        made = option.plan.mechanism if option.plan is not None else None
        assert isinstance(made, Everyone)
        right = with_bound(made.line.fall, made.left_out, k, if_more)
        assert too_low(event, k, if_more, right) == set(), f"{option.notion}, {k} {if_more}: {event}"
        dearer = with_bound(made.line.fall, made.left_out * Fraction(11, 10), k, if_more)
        assert "withdraw" in too_low(event, k, if_more, dearer), "the price is reached"


def test_counts_cut_at_a_bound_never_pass_a_budget_about_visits() -> None:
    """At a, then at b, and counted at the latest: without the visit to b, the count of a rises."""
    cut, whole = (
        compare(query(1, more), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)).options[0]
        for more in ("latest", "refuse")
    )
    event = cut.event("withdraw")
    assert event == GeometricEvent("1", inf)
    assert Accountant([event]).cost.price_in(lw.Presence("1")) == inf
    assert not Filter(lw.Presence("1"), 10**6).admits(event)
    assert Filter(lw.AdditionOnly("1"), 1).admits(event)
    assert Filter(lw.Presence("1"), 1).admits(whole.event("withdraw"))


@pytest.mark.parametrize(
    "event",
    [
        GeometricEvent("1/2", "1/3", moves=2, places=3),
        LaplaceEvent("1/2", "1/3", moves="5/2", places=3),
        SanitizedEvent("1/2", stops=3),
    ],
    ids=lambda event: event.kind,
)
def test_parts_cost_out_and_in_unless_the_event_says_more(event: Any) -> None:
    told, untold = cost(replace(event, monotone=True)), cost(event)
    assert (told.shrink, told.grow) == (told.withdraw, told.insert) == (untold.withdraw, untold.insert)
    assert untold.shrink == untold.grow == untold.withdraw + untold.insert
    assert Accountant([replace(event, monotone=True)]).cost == told
    for wrong in ("yes", 1, None):
        with pytest.raises(InputError, match="monotone"):
            replace(event, monotone=wrong)
