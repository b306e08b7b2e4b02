"""The oracle's universes against what can be worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from tests.oracle import tables, universe
from tests.oracle.universe import NEVER, PARTS, Event


def test_prices_that_the_articles_state() -> None:
    """One-Sided DP, after Definition 2, and ADP, Section IV-A."""
    secrets = universe.all_of(universe.WORDS, 2)
    bounded, unbounded, replace, addition, removal = (
        universe.closed(universe.one_person(step(1), secrets))
        for step in (tables.bounded, tables.unbounded, tables.replace, tables.addition_only, tables.removal_only)
    )
    assert universe.price(unbounded, bounded) == 2
    assert universe.price(bounded, unbounded) == math.inf
    assert universe.price(unbounded, replace) == 2
    assert universe.price(replace, unbounded) == 1
    assert universe.price(unbounded, addition) == 1
    assert universe.price(addition, unbounded) == math.inf
    assert universe.price(universe.added(addition, removal), unbounded) == math.inf
    either = universe.either(tables.addition_only(1), tables.removal_only(1))
    assert (universe.closed(universe.one_person(either, secrets)) == unbounded).all()


def test_a_table_is_the_sum_of_its_persons_and_the_way_may_lead_over_any_table() -> None:
    secrets = universe.all_of(universe.NUMBERS, 2)
    made = universe.closed(universe.one_person([universe.manhattan(1, 2), universe.manhattan(3, None)], secrets))
    at = {secret: i for i, secret in enumerate(secrets)}
    assert made[at[0, 0], at[2, 1]] == (2 + 3) * PARTS
    assert made[at[None, 0], at[1, 2]] == (2 + 6) * PARTS
    assert made[at[0, None], at[0, 1]] == NEVER
    all_at_once = universe.closed(universe.everybody(universe.manhattan(1, 2), secrets))
    assert all_at_once[at[0, 1], at[2, 2]] == 2 * PARTS


def test_groups_edges_and_nodes() -> None:
    secrets = universe.all_of("st", 3)
    made = universe.closed(universe.one_group(1, [(0, 2), (1,)], secrets))
    assert made[secrets.index(("s", "s", "s")), secrets.index(("t", "s", "t"))] == PARTS
    assert made[secrets.index(("s", "s", "s")), secrets.index(("t", "t", "t"))] == 2 * PARTS
    graphs = universe.all_graphs("xyz")
    edges, nodes = (universe.closed(step(1, graphs)) for step in (universe.one_edge, universe.one_node))
    assert len(graphs) == 8
    assert edges[0, 7] == 3 * PARTS
    assert nodes[0, 7] == 2 * PARTS
    assert universe.price(edges, nodes) == 2


def test_units_regroup_the_same_events() -> None:
    events = universe.all_events("p", "12", "ab")
    one, all_four = frozenset({Event("p", "1", "a")}), frozenset(events)
    assert universe.by_unit([one, all_four], "person") == [(one,), (all_four,)]
    days = universe.by_unit([one, all_four], "person-day")
    assert days[0] == (one, None)
    assert [len(record) for record in days[1]] == [2, 2]
    assert [universe.spread(all_four, fine, "person") for fine in universe.UNITS] == [1, 2, 2, 4]
    assert [universe.spread(one, fine, "person-day") for fine in universe.UNITS] == [1] * 4


def test_zero_and_infinity_in_prices() -> None:
    def price(mine: int, theirs: int) -> Fraction | float:
        return universe.price(*(np.array([[0, d], [0, 0]], dtype=np.int64) for d in (mine, theirs)))

    assert price(0, 0) == price(0, 3) == price(5, NEVER) == price(NEVER, NEVER) == 0
    assert price(5, 0) == price(NEVER, 0) == price(NEVER, 5) == math.inf
    assert price(5, 3) == Fraction(5, 3)
