# SPDX-License-Identifier: Apache-2.0
"""Notions given by a distance between the records of a finite universe: Blowfish, and any metric on records."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leeward._taught import taught
from leeward.distance import FiniteDistance, graph_distance
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

    def record(self, before: Any, after: Any) -> Real:
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
        return tuple(self._change(f"move by {far}", pairs[far]) for far in sorted(pairs))

    def _change(self, name: str, pairs: Iterable[tuple[Any, Any]]) -> Change:
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


@taught
class Blowfish(RecordDistance):
    """(ε, G)-Blowfish: ε × the shortest path between two records in a policy graph (ADP, Definition II.3).

    The graph is undirected: a pair of records is protected both ways or not at all, so Blowfish cannot be one-sided. Records
    in different components may be distinguished. The number of people is public unless `ABSENT` is a node.

    Of one person's place it is {ε, G}-location privacy under a location policy graph G (Cao et al. 2020, PGLP): what it asks
    along edges gives, by induction along paths, its distance; a place without edges may be published as it is.

    Args:
        epsilon: ε of one edge.
        records: the nodes: all records there are.
        edges: pairs of records that are to be indistinguishable.
    """

    name = "blowfish"

    def __init__(self, epsilon: Exact, records: Iterable[Any], edges: Iterable[tuple[Any, Any]]) -> None:
        self.edges = tuple(edges)
        words = PrivacyDescription(
            definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with one record replaced by a neighbour of it in the"
            " policy graph]",
            protects="which of the records that the policy graph joins is a person's",
            reveals="which component of the policy graph a person's record lies in may be concluded with certainty",
            alternative=f"a record joined to it by an edge{_named(self.edges)}",
        )
        super().__init__(epsilon, graph_distance(records, self.edges, directed=False), words)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The edges, both ways: they generate all paths."""
        both_ways = [pair for x, y in self.edges for pair in ((x, y), (y, x))]
        return (self._change("edge of the policy graph", both_ways),)


_MOST_NAMED = 20


def _named(edges: Sequence[tuple[Any, Any]]) -> str:
    """Name the edges of a policy graph, where they are few texts or numbers: the promise is about these."""
    plain = all(isinstance(record, str | int) for edge in edges for record in edge)
    if not edges or not plain or len(edges) > _MOST_NAMED:
        return ""
    return f": {', '.join(f'{x!r} – {y!r}' for x, y in edges)}"


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
