# SPDX-License-Identifier: Apache-2.0
"""Notions given by a distance between the records of a finite universe, which need not be symmetric."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from leeward._taught import taught
from leeward.distance import FiniteDistance
from leeward.exact._real import ZERO, Exact, Real, inf
from leeward.notion._change import REPLACE, Change
from leeward.notion._notion import ABSENT, Notion, PrivacyDescription
from leeward.notion._sees import Sees


@taught
class RecordDistance(Notion):
    """ε·d between the records of one person, summed over persons, for any directed distance d on a finite universe.

    This is d_X-privacy on tables with d_X = ε·Σ d (Chatzikokolakis et al., Definition 1), without asking d to be
    symmetric: closeness of values counts. Extended (∞) and pseudo-distances (0 between two records) are welcome.

    Args:
        epsilon: what a distance of 1 costs.
        distance: between any two of the records there are.
        words: the promise, if there is something plainer to say than the inequality.
    """

    name = "record-distance"

    def __init__(self, epsilon: Exact, distance: FiniteDistance[Any], words: PrivacyDescription | None = None) -> None:
        self.distance = distance
        super().__init__(epsilon)
        words = words or PrivacyDescription(
            definition="Pr[answer | data] ≤ e^(ε·d(r, r')) · Pr[answer | data with one record r replaced by r']",
            protects="a person's record among all those near it",
            reveals="that a person's record is not one at distance ∞ may be concluded with certainty",
            alternative="any record, the better the nearer",
        )
        public = "" if ABSENT in distance.points else "; the number of people is public"
        told_apart = any(far.is_infinite for far in distance.values)
        self.words = replace(words, protects=words.protects + public, reveals=words.reveals if told_apart else "")

    @property
    def universe(self) -> tuple[Any, ...]:
        """All records there are."""
        return self.distance.points

    @property
    def sees(self) -> Sees:
        """All records there are."""
        return Sees(records=self.universe)

    def record(self, before: object, after: object) -> Real:
        """Return ε times the distance between two records of the universe."""
        return self.epsilon * self.distance(before, after)

    @property
    def changes(self) -> tuple[Change, ...]:
        """One kind of change for each distance that occurs: all pairs of records that are so far apart."""
        pairs: dict[Real, list[tuple[Any, Any]]] = {}
        for code, far in enumerate(self.distance.values):
            rows, columns = np.nonzero(self.distance.codes == code)
            moves = [(self.universe[i], self.universe[j]) for i, j in zip(rows, columns, strict=True) if i != j]
            if moves and not far.is_infinite:
                pairs[far] = moves
        return tuple(self._moves(f"move by {far}", pairs[far]) for far in sorted(pairs))

    def _moves(self, name: str, pairs: Iterable[tuple[Any, Any]]) -> Change:
        text = "a person's record becomes another one of the universe"
        moves = ABSENT in self.universe
        return Change(name, text, _AmongPairs(pairs), records=self.universe, moves_people=moves)

    def cost(self, change: Change) -> Real:
        """Return the largest ε·d over the pairs of records that the change allows; ∞ with a record outside the universe."""
        if change.moves_people and ABSENT not in self.universe:
            return inf
        if change.records is not None and not set(change.records) <= set(self.universe):
            known = set(self.universe)
            if any(
                b != a and change.allows(b, a) and not {b, a} <= known for b in change.records for a in change.records
            ):
                return inf
        if change.of_facts and not all(isinstance(record, frozenset | set | None) for record in self.universe):
            change = REPLACE  # records that are not sets of facts: any change of facts may be any change
        pairs = itertools.permutations(self.universe, 2)
        return max(
            (self.record(before, after) for before, after in pairs if change.allows(before, after)), default=ZERO
        )


class _AmongPairs:
    """The relation that holds between the listed pairs."""

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        self.pairs = frozenset(pairs)

    def __call__(self, before: Any, after: Any) -> bool:
        return (before, after) in self.pairs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _AmongPairs) and other.pairs == self.pairs

    def __hash__(self) -> int:
        return hash(self.pairs)
