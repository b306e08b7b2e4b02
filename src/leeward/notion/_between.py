# SPDX-License-Identifier: Apache-2.0
"""The distances between records of one person as an exact matrix: each kind of pair is asked about once."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leeward.distance._paths import Coded, combine, merge, shortest_paths
from leeward.errors import InputError
from leeward.exact._real import ZERO, Real, inf
from leeward.notion._notion import ABSENT, Both
from leeward.notion._sees import Sees, Unseen


class PerPerson(Protocol):
    """What has a distance between two records of one person: a notion, or what a release really costs."""

    @property
    def sees(self) -> Sees:
        """What the distance may depend on."""

    def record(self, before: Any, after: Any) -> Real:
        """Return the distance from one record to another."""


def matrix(notion: PerPerson, records: tuple[Any, ...]) -> Coded:
    """Return d between these records of one person; ∞ from and to a record of which the notion says nothing.

    Raises:
        Unseen: if the notion cannot be asked about them.
    """
    if isinstance(notion, Both):
        return shortest_paths(*combine(matrix(notion.first, records), matrix(notion.second, records), min))
    sees, n = notion.sees, len(records)
    known = np.array([sees.knows(record) for record in records])
    if not any(k for k, record in zip(known, records, strict=True) if record is not ABSENT):
        raise Unseen("one of the two knows none of the records of the other")
    values = [ZERO, inf]
    codes = np.ones((n, n), dtype=np.intp)
    among = np.flatnonzero(known)
    try:
        alike = _alike(sees, tuple(records[i] for i in among))
        _, first, which = np.unique(alike, return_index=True, return_inverse=True)
        for at in first.tolist():
            i, j = (int(among[k]) for k in divmod(at, len(among)))
            values.append(notion.record(records[i], records[j]) if i != j else ZERO)
    except (AttributeError, KeyError, TypeError, ValueError, InputError) as problem:  # arrays are not equal or unequal
        raise Unseen(f"one of the two cannot be asked about the records of the other: {problem}") from None
    codes[np.ix_(among, among)] = which.reshape(alike.shape) + 2
    np.fill_diagonal(codes, 0)
    return merge(values, codes)


def _alike(sees: Sees, records: tuple[Any, ...]) -> NDArray[np.intp]:
    """Return equal numbers for pairs that are alike for a notion; a record beside itself is like no other pair."""
    n = len(records)
    if sees.values is not None or sees.records is not None:
        return np.arange(n * n).reshape(n, n)
    kinds: dict[Any, int] = {}
    held = [(record is ABSENT, *(condition(record) for condition in sees.conditions)) for record in records]
    which = np.array([kinds.setdefault(kind, len(kinds)) for kind in held])
    pairs: NDArray[np.intp] = which[:, None] * len(kinds) + which[None, :]
    if sees.facts:
        lost = _lost(records, counted=sees.counted)
        pairs = (pairs * (lost.max() + 1) + lost) * (lost.max() + 1) + lost.T
    np.fill_diagonal(pairs, pairs.max() + 1)
    return pairs


def _lost(records: tuple[Any, ...], *, counted: bool) -> NDArray[np.intp]:
    """Return how many facts of each record (row) each other one (column) lacks; only whether any if they are not counted."""
    facts = [frozenset(record) if isinstance(record, frozenset) else frozenset() for record in records]
    named = {fact: place for place, fact in enumerate(frozenset().union(*facts))}
    has = np.zeros((len(records), len(named)), dtype=np.intp)
    for row, record in enumerate(facts):
        has[row, [named[fact] for fact in record]] = 1
    lost: NDArray[np.intp] = has @ (1 - has).T
    return lost if counted else np.minimum(lost, 1)
