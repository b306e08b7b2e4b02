# SPDX-License-Identifier: Apache-2.0
"""The kinds of change of one person's record, from the truth to its alternative.

Each is a relation between two records. Whether it holds between a record and itself is of no account: such a change costs
and moves nothing. Where a record stands for all of its kind, ``allows(r, r)`` is about two records of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.notion._condition import Condition

Relation = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Change:
    """A kind of change of one person's record.

    Attributes:
        name: how it is called.
        text: what it does, in words.
        allows: whether it may lead from one record to another.
        conditions: what ``allows`` looks at, where it looks at conditions only.
        records: all records there are, where the universe is finite and listed.
        moves_people: whether it may take a person out of the data or put one in.
        of_facts: whether it is about records that are sets of facts.
    """

    name: str
    text: str
    allows: Relation = field(repr=False)
    conditions: tuple[Condition, ...] = field(default=(), repr=False)
    records: tuple[Any, ...] | None = field(default=None, repr=False)
    moves_people: bool = False
    of_facts: bool = False


def allowed_among(change: Change, records: Sequence[Any]) -> NDArray[np.bool_]:
    """Return which of the records the change may lead from (rows) to which (columns).

    A relation that looks at each record by itself says so by a method ``among``, which asks every record only once.
    """
    among = getattr(change.allows, "among", None)
    pairs = [[change.allows(r, s) for s in records] for r in records] if among is None else among(records)
    return np.array(pairs, dtype=np.bool_).reshape(len(records), len(records))


def facts(record: Any) -> frozenset[Any]:
    """Return a record as its set of facts; nobody has none."""
    return frozenset() if record is None else frozenset(record)


def _withdraws(before: Any, after: Any) -> bool:
    return after is None


def _inserts(before: Any, after: Any) -> bool:
    return before is None


def _replaces(before: Any, after: Any) -> bool:
    return before is not None and after is not None


def _shrinks(before: Any, after: Any) -> bool:
    return facts(after) <= facts(before)


def _grows(before: Any, after: Any) -> bool:
    return facts(after) >= facts(before)


def _drops(before: Any, after: Any) -> bool:
    return _shrinks(before, after) and len(facts(before) - facts(after)) <= 1


def _adds(before: Any, after: Any) -> bool:
    return _drops(after, before)


WITHDRAW = Change(
    "withdraw", "a person who is in the data is taken out with all records", _withdraws, moves_people=True
)
INSERT = Change("insert", "a person who is not in the data is put in with some records", _inserts, moves_people=True)
REPLACE = Change("replace", "a person's record becomes any other record", _replaces)
SHRINK = Change(
    "shrink", "some of the facts about a person are taken away, and none is invented", _shrinks, of_facts=True
)
GROW = Change("grow", "some facts about a person are invented, and none is taken away", _grows, of_facts=True)
DROP_FACT = Change("drop a fact", "one fact about one person is taken away", _drops, of_facts=True)
ADD_FACT = Change("add a fact", "one fact about one person is invented", _adds, of_facts=True)

CHANGES = (WITHDRAW, INSERT, REPLACE, SHRINK, GROW, DROP_FACT, ADD_FACT)
"""The kinds that need no policy to describe them."""
