"""Counts of keys that nobody has listed, in the accountant: its curve of (ε, δ) covers every pair of small tables.

The tables, their answers and the worst sets are the oracle's, in Fractions; noise halves with each step.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from tests.oracle import unknown_keys as oracle

import leeward as lw
from leeward.accounting import Accountant, Event, GeometricEvent, SelfComposedEvent, UnknownKeysEvent, cost
from leeward.errors import InputError
from leeward.exact import inf, log

FACTORS = [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(9)]
"""e^ε of the points at which curves are compared."""


GRID = 2e-4
"""What the accountant rounds up: losses lie on a grid of 1e-4."""


def event(kind: str, reach: int, keys: int) -> Event:
    return UnknownKeysEvent(log(2), inf if kind == "up" else log(2), reach=reach, places=keys)


@pytest.mark.parametrize(
    ("kind", "reach", "keys"), [("up", 1, 1), ("up", 3, 1), ("up", 1, 2), ("both", 1, 1), ("both", 2, 1)]
)
def test_the_curve_covers_all_neighbours_and_is_attained(kind: str, reach: int, keys: int) -> None:
    noise, accountant = oracle.law(kind, reach), Accountant([event(kind, reach, keys)])
    people = 2 * reach + 2 if keys == 1 else 3
    every = [*oracle.neighbours("addition-only", "ab"[:keys], keys, people)]
    known = {table: oracle.answers(table, noise, reach + 1) for pair in every for table in pair}
    for factor, way in itertools.product(FACTORS, ("withdraw", "insert")):
        pairs = [(x, y) if way == "withdraw" else (y, x) for x, y in every]
        worst = max(max(oracle.beyond(known[x], known[y], factor), 1 - factor) for x, y in pairs)  # type: ignore[arg-type]
        told = accountant.delta(math.log(factor), way)
        assert told >= float(worst) - 1e-9, (factor, way)
        if way == "withdraw" or kind == "both":
            assert told == pytest.approx(float(worst), abs=GRID), (factor, way)


def test_a_plan_says_its_event_and_several_add_up_as_the_theorem_says() -> None:
    asked = lw.unlisted_groups(lw.records("t.parquet", person="who"), "town", groups_per_person=2)
    plan = lw.plan(asked, lw.AdditionOnly("1"), delta="1e-4")
    needed = float(plan.exact_delta)
    for times in (1, 3, 20):
        found = Accountant([SelfComposedEvent(plan.event, times)]).delta(times * 1.001, "withdraw")
        assert found == pytest.approx(1 - (1 - needed) ** times, rel=1e-6)
        assert found <= times * float(plan.delta)
    pure = lw.plan(asked, lw.RemovalOnly("1"))
    assert pure.event == GeometricEvent(inf, "1/2", places=2)
    both = lw.plan(asked, lw.UnboundedDP("1"), delta="1e-4")
    assert Accountant([both.event]).delta(1.001, "insert") == pytest.approx(float(both.exact_delta), rel=1e-6)
    replaced = lw.plan(asked, lw.BoundedDP("1"), delta="1e-4")
    assert Accountant([replaced.event]).delta(1.001, "replace") == pytest.approx(float(replaced.exact_delta), rel=1e-6)


def test_no_pure_price_covers_it() -> None:
    made = UnknownKeysEvent("1/3", inf, reach=9, places=2)
    assert cost(made).withdraw == cost(made).insert == inf
    with pytest.raises(InputError, match="both ways at one rate"):
        UnknownKeysEvent(1, 2, reach=3)
    with pytest.raises(InputError, match="both ways at one rate"):
        UnknownKeysEvent(inf, 1, reach=3)
