"""What comparisons say of many releases together, at so many places a person: against the composed laws themselves."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import pytest
from tests.deciding import decide_by
from tests.oracle import hockey_stick

import leeward as lw
from leeward.accounting import Accountant, Direction
from leeward.exact import inf
from leeward.planner import Scenario, compare
from leeward.query import CountVisitors

DELTA = "1/1000"


def query(bound: int | None) -> CountVisitors:
    visits = lw.visits("visits.parquet", person="user", place="venue", time="at")
    places = lw.places("places.parquet", place="venue")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    return lw.count_visitors(visits, places, **window, places_per_person=bound)


def decided(notion: lw.Notion) -> dict[str, Any]:
    never_wrong = isinstance(notion, lw.Presence | lw.AdditionOnly)
    return {"safe_at_most": 30} if never_wrong else {"safe_at_most": 30, "error_at_most": "1/2"}


def option(notion: lw.Notion, bound: int | None, mechanism: str = "geometric", **given: Any) -> Any:
    found = decide_by(compare, query(bound), notion, scenario=Scenario(releases=2), **decided(notion), **given)
    return next(o for o in found.options if (o.notion, o.mechanism) == (notion, mechanism))


def least(p: Any, q: Any) -> float:
    """The least ε with δ(ε) ≤ δ, by halving."""
    low, high = mpmath.mpf(0), mpmath.mpf(60)
    if hockey_stick.delta(p, q, high) > mpmath.mpf(1) / 1000:
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if hockey_stick.delta(p, q, middle) > mpmath.mpf(1) / 1000 else (low, middle)
    return float(high)


def laws(up: Any, down: Any, falls: int, rises: int) -> tuple[Any, Any]:
    """Two releases of noisy counts, of which so many fall by one person and so many rise.

    From 2 on, and up to 0, the odds of one count against the other are the same: such answers are taken together.
    """
    rates = tuple(math.inf if rate is inf or rate.is_infinite else float(rate) for rate in (up, down))
    one, none = (hockey_stick.geometric(c, *rates, 0, 2) for c in (1, 0))
    before = [one] * (2 * falls) + [none] * (2 * rises)
    after = [none] * (2 * falls) + [one] * (2 * rises)
    return hockey_stick.product(*before), hockey_stick.product(*after)


K = 2
CASES: list[tuple[lw.Notion, dict[Direction, tuple[int, int]]]] = [
    (lw.UnboundedDP("1"), {"withdraw": (K, 0), "insert": (0, K)}),
    (lw.AdditionOnly("1"), {"withdraw": (K, 0)}),
    (lw.RemovalOnly("1"), {"insert": (0, K)}),
    (lw.BoundedDP("2"), {"replace": (K, K)}),
    (lw.ReplaceDP("2"), {"withdraw": (K, 0), "insert": (0, K), "replace": (K, K)}),
    (lw.Presence("1"), {"withdraw": (K, 0)}),
    (lw.notion.Graded(presence="1", absence="2"), {"withdraw": (K, 0), "insert": (0, K), "replace": (K, K)}),
    (lw.notion.GradedFacts(presence="1", absence="2"), {"withdraw": (1, 0), "insert": (0, 1)}),
]
"""At most two places a person: how many counts fall and rise in each direction. A single fact is at one place."""


@pytest.mark.sweep
@pytest.mark.parametrize(("notion", "moves"), CASES, ids=lambda value: str(value)[:30])
def test_two_releases_at_two_places_a_person(notion: lw.Notion, moves: dict[Direction, tuple[int, int]]) -> None:
    found = option(notion, K)
    assert not found.refused
    assert set(found.composed(2, DELTA)) == set(moves)
    for way, (falls, rises) in moves.items():
        right = least(*laws(found.law.up, found.law.down, falls, rises))
        told = found.composed(2, DELTA)[way]
        assert told == right or right <= told <= right + 0.01, (way, told, right)


@pytest.mark.parametrize("notion", [lw.UnboundedDP("1"), lw.AdditionOnly("1")])
def test_what_is_only_known_by_its_price(notion: lw.Notion) -> None:
    """Norm noise: each change costs ε at most; the worst law with that price, twice."""
    found = decide_by(compare, query(3), notion, scenario=Scenario(places=3), **decided(notion))
    norm = next(o for o in found.options if (o.notion, o.mechanism) == (notion, "norm"))
    one_way = isinstance(notion, lw.AdditionOnly)
    p, q = (mpmath.exp(1) / (1 + mpmath.exp(1)), 1 / (1 + mpmath.exp(1))) if not one_way else (mpmath.mpf(1), 0)
    worst = ({"a": p, "b": q}, {"a": q, "b": p}) if not one_way else ({"a": p}, {"a": mpmath.exp(-1)})
    twice = [hockey_stick.product(law, law) for law in worst]
    composed = norm.composed(2, DELTA)
    for way, told in composed.items():
        assert told == pytest.approx(least(*twice), abs=0.01), way
    both: tuple[Direction, ...] = ("withdraw", "insert")
    event = norm.event(both[0])
    assert event is not None
    for way in both:
        lost = Accountant().compose(event).epsilon(DELTA, way)
        assert math.isinf(lost) == (way not in composed), way


def test_the_sanitized_mechanism_adds_up_its_stops() -> None:
    found = option(lw.Presence("1"), None, "sanitized", stop_after=3)
    assert found.composed(2, DELTA) == {"withdraw": pytest.approx(6 + math.log(0.999))}


# ---- whatever is told of one release is no less than one step can lose

PLACES = "abcd"
AT = [None, *(frozenset(some) for k in (1, 2) for some in itertools.combinations(PLACES, k))]
TABLES = list(itertools.product(AT, repeat=2))


def units() -> list[lw.Notion]:
    """One notion of each unit and shape that counts of visitors can be asked under."""
    one: list[lw.Notion] = [
        *(n("1") for n in (lw.UnboundedDP, lw.BoundedDP, lw.ReplaceDP, lw.AdditionOnly, lw.RemovalOnly, lw.Presence)),
        lw.notion.Graded("1", "2"),
        lw.notion.GradedFacts("1", "2"),
        lw.GroupDP("1", [[0], [1]]),
        lw.GroupDP("1", [[0, 1]]),
        lw.ADP("1", [~lw.has("a")]),
        lw.OSDP("1", lw.has("a")),
    ]
    return [*one, lw.Personalised(lw.UnboundedDP("1"), ["1/2", "1"]), *several_promises()]


def several_promises() -> list[Any]:
    """One output that keeps promises about persons and about single facts, in either order."""
    people = [n("1") for n in (lw.UnboundedDP, lw.AdditionOnly, lw.RemovalOnly, lw.Presence, lw.BoundedDP)]
    facts = [lw.notion.GradedFacts("1", "2"), lw.notion.GradedFacts("1/4", "3"), lw.notion.GradedFacts("inf", "1/2")]
    made = [lw.both_hold(*order) for pair in itertools.product(people, facts) for order in (pair, pair[::-1])]
    return [lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("2")), *made, lw.both_hold(made[2], lw.RemovalOnly("1"))]


def steps(notion: Any) -> Any:
    return steps(notion.first) | steps(notion.second) if hasattr(notion, "first") else notion.neighbours(TABLES)


@pytest.mark.parametrize("notion", units(), ids=str)
def test_one_release_is_told_to_cost_what_its_worst_step_loses(notion: lw.Notion) -> None:
    """A step of a group moves all its members: found by hand, what was told of it was that of one member."""
    found = decide_by(compare, query(2), notion, **decided(notion)).options[0]
    told = found.composed(1, "1e-12")
    worst: dict[Direction, float] = dict.fromkeys(told, 0.0)
    for x, y in zip(*steps(notion).nonzero(), strict=True):
        before, after = ([sum(place in (r or ()) for r in TABLES[i]) for place in PLACES] for i in (x, y))
        moves = [b - a for a, b in zip(before, after, strict=True)]
        lost = sum(float(found.law.down if m > 0 else found.law.up) * abs(m) for m in moves if m)
        gone, come = (any(sign * m > 0 for m in moves) for sign in (-1, 1))
        of = [w for w, sort in (("withdraw", not come), ("insert", not gone), ("replace", True)) if sort and w in told]
        for way in of:
            worst[way] = max(worst[way], lost)  # type: ignore[index]
    for way, epsilon in told.items():
        assert epsilon == pytest.approx(worst[way], abs=1e-6), way
    assert bool(told) == (type(notion) not in {lw.GroupDP, lw.ADP, lw.OSDP})


@pytest.mark.sweep
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_releases_are_told_to_cost_no_more_than_their_price(bound: int) -> None:
    """Whatever δ is granted: found by hand, a fact was told to move as many counts as a person of the other promise."""
    options = [decide_by(compare, query(bound), notion, **decided(notion)).options[0] for notion in units()]
    options += compare(
        query(bound), lw.Presence("1"), lw.Decide(safe_at_most=30), scenario=Scenario(places=3)
    ).options  # other mechanisms too
    for made in options:
        for way, epsilon in made.composed(4, "1e-9").items():
            assert epsilon <= float(made.price) * 4 * (1 + 1e-9), (str(made), way)
