# SPDX-License-Identifier: Apache-2.0
"""Attack: one monitor that is led on in several ways from one ledger, to have more said for free than its answers cost.

The rounds of a monitor are kept under all windows so far, so whoever goes on with other windows shares what is answered and
goes on from there with the stops that are left, again and again. What all of them publish together is held here, over all
outputs and ordered neighbours, to what was charged for exactly these outputs: by a law that is written out anew.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import leeward as lw
from leeward.ledger import Ledger
from leeward.planner import Decide, Plan

TEN = dt.datetime(2026, 1, 1, 10)
PLACES = ("a", "b")
FACTS = [(place, hour) for place in PLACES for hour in range(3)]
PEOPLE = [frozenset(some) for some in itertools.chain(*(itertools.combinations(FACTS, n) for n in (2, 3, 6)))]
WAYS = ((0, 1, 2), (0, 2, 1), (0, 1), (2,), (0, 2))
SAFE_AT_MOST, STOPS, EPSILON = 1, 2, Fraction(1, 2)

Person = frozenset[tuple[str, int]]
Way = tuple[int, ...]


def plans(table: list[Person], way: Way) -> list[Plan]:
    rows = [
        (f"p{i}", place, TEN + dt.timedelta(hours=hour, minutes=5)) for i, of in enumerate(table) for place, hour in of
    ]
    who, place, at = zip(*rows, strict=True)
    visits = lw.visits(pa.table({"who": who, "place": place, "at": at}), person="who", place="place", time="at")
    listed = lw.places(pa.table({"place": PLACES}), place="place")
    made = []
    for hour in way:
        start = TEN + dt.timedelta(hours=hour)
        asked = lw.count_visitors(visits, listed, start=start, end=start + dt.timedelta(hours=1))
        how = Decide(safe_at_most=SAFE_AT_MOST)
        made.append(lw.plan(asked, lw.AdditionOnly(str(EPSILON)), how, mechanism="sanitized", stop_after=STOPS))
    return made


def led_on(table: list[Person], ledger: Path) -> dict[Way, int]:
    """Lead a monitor on in all ways, from one ledger; return the stops of each round, by the windows up to it."""
    stops: dict[Way, int] = {}
    for way in WAYS:
        budget = lw.Budget(str(ledger), "town", "100")
        made = lw.monitor(plans(table, way), budget, if_doubtful="publish", accept_useless=True)
        for number, release in enumerate(made.releases, 1):
            said = Counter(release.answers["count"].is_valid().to_pylist())[True]
            assert stops.setdefault(way[:number], said) == said, "what is answered is shown again"
        assert sum(stops[way[:n]] for n in range(1, len(made.releases) + 1)) <= STOPS
    return stops


@pytest.mark.sweep
def test_each_answer_of_each_way_is_charged_once(tmp_path: Path) -> None:
    table = [PEOPLE[5 * i] for i in range(3)]
    stops = led_on(table, tmp_path / "b.db")
    (account,) = Ledger(tmp_path / "b.db").show("town")
    assert account.spent == EPSILON * sum(stops.values())
    assert led_on(table, tmp_path / "b.db") == stops
    (account,) = Ledger(tmp_path / "b.db").show("town")
    assert account.spent == EPSILON * sum(stops.values())


def counts(table: list[Person], hour: int) -> list[int]:
    return [sum((place, hour) in person for person in table) for place in PLACES]


def worst(before: list[Person], after: list[Person], rounds: frozenset[Way], charge: float) -> float:
    """The largest log-ratio of any joint output of all ways, less what that output was charged for."""
    rate = float(EPSILON)

    def below(count: int) -> float:
        """Pr[count + noise ≤ t], of upward geometric noise."""
        return 1 - math.exp(-rate * max(SAFE_AT_MOST + 1 - count, 0))

    def onwards(way: Way, given: int) -> float:
        """All ways that go on from here share what was said so far, and nothing after it."""
        if given == STOPS:
            return 0.0
        return sum(place(longer, 0, given) for longer in rounds if longer[:-1] == way)

    def place(way: Way, at: int, given: int) -> float:
        if at == len(PLACES) or given == STOPS:
            return onwards(way, given)
        x, y = counts(before, way[-1])[at], counts(after, way[-1])[at]
        found = []
        if below(x):
            found.append((math.log(below(x) / below(y)) if below(y) else math.inf) + place(way, at + 1, given))
        # a published z is e^(rate·(x − y)) times as likely, and impossible where it is less than y
        lost = math.inf if y > max(x, SAFE_AT_MOST + 1) else rate * (x - y)
        found.append(lost - charge + place(way, at + 1, given + 1))
        return max(found)

    return onwards((), 0)


def test_all_ways_together_lose_no_more_than_what_is_charged() -> None:
    rounds = frozenset(way[:n] for way in WAYS for n in range(1, len(way) + 1))
    others = list(itertools.combinations_with_replacement(PEOPLE[::6], 2))
    pairs = [([*two, person], list(two)) for two in others for person in PEOPLE]
    assert max(worst(before, after, rounds, float(EPSILON)) for before, after in pairs) <= 1e-12
    # the charge is needed, all of it; and without the direction nothing holds
    somebody = [PEOPLE[-1], PEOPLE[-1]]
    assert worst(somebody, somebody[:1], rounds, float(EPSILON) * 0.99) > 0
    assert worst(somebody[:1], somebody, rounds, float(EPSILON)) == math.inf
