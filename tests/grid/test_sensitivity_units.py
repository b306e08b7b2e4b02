"""The same events told by person, person-day, person-place or event: counts of these units at places, under each notion.

Whatever the unit, a table has one record for each unit that has events, and what one unit adds to the counts is bounded by
how many places it can be at. Sets of events that are not a table of the unit do not occur, so fewer pairs can fool us.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.grid.queries import asked
from tests.grid.test_sensitivities import Moves, plain
from tests.oracle import tables, universe
from tests.oracle.universe import Matrix

from leeward.cli import LeewardError
from leeward.exact import inf
from leeward.notion import AdditionOnly, BoundedDP, Graded, GradedFacts, Presence, RemovalOnly, ReplaceDP, UnboundedDP
from leeward.query import sensitivity, sensitivity_each

SECRETS = universe.subsets(universe.all_events("pq", "12", "ab"))
NOTIONS: dict[str, tuple[Any, Any]] = {
    "unbounded": (UnboundedDP(1), tables.unbounded(1)),
    "bounded": (BoundedDP(1), tables.bounded(1)),
    "replace": (ReplaceDP(1), tables.replace(1)),
    "addition": (AdditionOnly(1), tables.addition_only(1)),
    "removal": (RemovalOnly(1), tables.removal_only(1)),
    "presence": (Presence(1), tables.presence(1)),
    "graded": (Graded(1, 4), tables.graded(1, 4)),
    "graded, one way": (Graded(inf, 2), tables.graded(math.inf, 2)),
    "facts": (GradedFacts(1, 2), tables.graded_facts(1, 2)),
}
PLACES = {"person": 2, "person-day": 2, "person-place": 1, "event": 1}
"""At how many places one unit can be."""


@functools.cache
def between(name: str, unit: str) -> Matrix:
    return universe.closed(universe.one_person(NOTIONS[name][1], universe.by_unit(SECRETS, unit)))


@functools.cache
def moves(name: str, unit: str) -> Moves:
    """How many units were at each place."""
    key = universe.UNITS[unit]
    answers = [[len({key(e) for e in secret if e.place == place}) for place in "ab"] for secret in SECRETS]
    return Moves(between(name, unit), np.array(answers, dtype=np.int64), 1, np.ones(len(SECRETS), dtype=np.bool_))


def allowed(name: str, unit: str, k: int | None) -> bool | None:
    """Whether the rates claimed for units of at most k places are allowed; None where there are none."""
    try:
        line = (sensitivity if k else sensitivity_each)(NOTIONS[name][0], asked(k, "refuse")).line
    except LeewardError:
        return None
    up, down = plain(line.rise), plain(line.fall)
    if k:
        return moves(name, unit).spent([up] * 2, [down] * 2)[0]
    return all(moves(name, unit).spent(*([x, 0] if i else [0, x] for x in (up, down)))[0] for i in range(2))


@pytest.mark.parametrize("unit", universe.UNITS)
def test_rates_for_every_unit(unit: str) -> None:
    for name in NOTIONS:
        assert allowed(name, unit, PLACES[unit]), (name, unit)
        assert allowed(name, unit, None), (name, unit)


def test_a_bound_that_a_unit_exceeds_is_noticed() -> None:
    """A person at two places, under the noise for one.

    It does no harm where single facts come and go, nor where any record may become any other: that noise is for two places
    anyhow, one that loses the person and one that gains them.
    """
    found = {name for name in NOTIONS if not allowed(name, "person", 1)}
    assert found == set(NOTIONS) - {"facts", "bounded", "replace"}
    assert {name for name in NOTIONS if not allowed(name, "event", 1)} == set()
    assert (
        Fraction(moves("unbounded", "person-day").distance.max(), universe.PARTS) == 8
    )  # four days of people are replaced
