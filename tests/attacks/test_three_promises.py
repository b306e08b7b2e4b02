# SPDX-License-Identifier: Apache-2.0
"""Attack: three promises kept by one output, one inside the other, multiplied, and at an ε of each person's own.

Prices are compared with what every ordered pair of one person's records shows, sensitivities with every ordered pair of
tables. The steps are those of `tests.grid.notions`, of which nothing is worked out by the package.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from tests.grid.notions import BASES, OTHER_UNITS, RECORDS, Row, both, scaled
from tests.grid.queries import QUERIES
from tests.grid.test_sensitivities import Moves, answered, check, universes
from tests.oracle import universe

from leeward.errors import LeewardError
from leeward.exact import Real
from leeward.notion import Notion, Personalised

ON = RECORDS | {"visits": [None, *universe.subsets("abc")[1:]], "members": [None, *universe.subsets("abc")]}
"""Records that a, b and a third fact make; rows are left out of prices, for a promise is about other rows too."""


class Draw:
    """A reproducible stream of promises."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def base(self) -> Row:
        row = self.random.choice(BASES)
        return scaled(row, 2) if self.random.random() < 0.3 else row

    def nested(self, depth: int) -> Row:
        """One to three promises at once, perhaps a multiple of what they are together."""
        for _ in range(20 * min(depth, 1)):
            try:
                made = both(self.nested(depth - 1), self.base())
            except LeewardError:  # they list other records
                continue
            if made is not None and isinstance(made.notion, Notion):
                return scaled(made, 2) if self.random.random() < 0.25 else made
        return self.base()

    def promise(self) -> Row:
        """The same for everybody, or at an ε of each person's own."""
        row = self.nested(self.random.choice([1, 2, 2]))
        whole = row.notion.epsilon.rational
        if self.random.random() > 0.3 or whole is None:
            return row
        times = [self.random.choice([1, 2, 3]) for _ in range(2)]
        try:
            made = Personalised(row.notion, [whole * each for each in times])
        except LeewardError:
            return row
        assert callable(row.steps)
        steps = tuple(universe.times(each, row.steps) for each in times)
        return Row(f"{row.name} at {times}", made, steps, row.kinds, listed=row.listed, persons=2, numbers=row.numbers)


def of_one(row: Row, person: int, secrets: list[Any]) -> Any:
    """The distances between all records of one person."""
    steps = row.steps if callable(row.steps) else (row.steps or ())[person]
    return universe.closed(universe.one_person(steps, secrets))


def shown(mine: Row, other: Row) -> Fraction | float:
    """The least price that pairs of one person's records allow."""
    worst: Fraction | float = Fraction(0)
    for kind in (mine.kinds & other.kinds) - {"rows"}:
        listed = other.universe if other.universe is not None else mine.universe
        secrets = [(record,) for record in ON[kind] if record is None or listed is None or record in listed]
        for person in range(mine.persons or other.persons or 1):
            worst = max(worst, universe.price(of_one(mine, person, secrets), of_one(other, person, secrets)))
    return worst


def plain(cost: Real) -> Any:
    return math.inf if cost.is_infinite else cost.rational


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(3))
def test_no_price_of_three_promises_is_too_low(seed: int) -> None:
    draw, derived = Draw(seed), 0
    for _ in range(150):
        mine, other = draw.promise(), draw.promise()
        claimed = plain(mine.notion.priced_in(other.notion).cost)
        assert claimed >= shown(mine, other), f"{mine.name} in {other.name}"
        derived += claimed != math.inf
    assert derived >= 15


def test_the_pairs_find_a_price_that_is_too_low() -> None:
    named = {row.name: row for row in BASES}
    two = both(named["addition"], named["graded facts"])
    assert two is not None
    three = both(two, named["replace"])
    assert three is not None
    assert shown(three, named["unbounded"]) == plain(three.notion.priced_in(named["unbounded"].notion).cost) == 1
    assert shown(named["unbounded"], three) == 2
    assert shown(named["addition"], named["presence"]) == math.inf


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(3))
def test_no_rate_under_three_promises_is_too_large(seed: int) -> None:
    draw, found = Draw(100 + seed), ""
    for _ in range(12):
        row = draw.random.choice(OTHER_UNITS) if draw.random.random() < 0.1 else draw.promise()
        for query in draw.random.sample([query for query in QUERIES if query.kind in row.kinds], 3):
            secrets = [universe.all_of(records, persons) for records, persons in universes(row, query)]
            kinds = [answered(query.name, *each) for each in universes(row, query)]
            if query.kind == "graphs":
                continue
            moves = [Moves(row.between(tables), *each) for tables, each in zip(secrets, kinds, strict=True)]
            found += check(row, query, moves)
    assert found.count("=") + found.count("<") >= 8, found
