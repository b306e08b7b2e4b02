# SPDX-License-Identifier: Apache-2.0
"""Blowfish: records that a policy graph joins may pass as each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from leeward._taught import in_order, taught
from leeward.distance import graph_distance
from leeward.exact._real import Exact
from leeward.notion._change import Change
from leeward.notion._notion import PrivacyDescription
from leeward.notion._record_distance import RecordDistance


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
        records = in_order("records", records)
        self.edges = in_order("edges", edges)
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
        return (self._moves("edge of the policy graph", both_ways),)


_MOST_NAMED = 20


def _named(edges: Sequence[tuple[Any, Any]]) -> str:
    """Name the edges of a policy graph, where they are few texts or numbers: the promise is about these."""
    plain = all(isinstance(record, str | int) for edge in edges for record in edge)
    if not edges or not plain or len(edges) > _MOST_NAMED:
        return ""
    return f": {', '.join(f'{x!r} – {y!r}' for x, y in edges)}"
