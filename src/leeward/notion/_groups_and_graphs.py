# SPDX-License-Identifier: Apache-2.0
"""Other things than one person as the unit: cohesive groups, and the edges and nodes of a friendship graph.

(The introduction of Chatzikokolakis et al. names databases that differ "in any number of individuals of the same group",
and "in a single edge"; each induces its graph distance.)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._plain import counted
from leeward._taught import in_order, taught
from leeward.distance import FiniteDistance, SumOverPersons
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, inf, whole
from leeward.notion._change import ADD_FACT, DROP_FACT, REPLACE, Change, facts
from leeward.notion._notion import Notion, PrivacyDescription, Step, one_person_apart, only_if, unless_equal
from leeward.notion._sees import Fixed, Sees

Graph = frozenset[frozenset[Any]]
"""A graph on public nodes: the set of its edges, each a set of two nodes."""


@taught
class GroupDP(Notion):
    """ε × the number of groups in which two tables differ: a whole group (a household) is replaced at once.

    The number of people and the groups are public. A change of a whole group of m is m replacements of one person, so what
    its steps allow is what replacement at ε/m allows.

    Args:
        epsilon: ε of one group.
        groups: the positions of the persons of each group; every person of a table is in exactly one.
    """

    name = "group-dp"
    words = PrivacyDescription(
        definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with all records of one group replaced by any others]",
        protects="everything about a whole group, however its members resemble each other; the number of people is public",
        reveals="",
        alternative="the same data with any other records for that group",
        unit="group",
    )
    sees = Fixed(Sees())
    changes = Fixed((REPLACE,))

    def __init__(self, epsilon: Exact, groups: Iterable[Iterable[int]]) -> None:
        says = "it is a position in the tables, counted from 0"
        each = (sorted(group) if isinstance(group, set | frozenset) else group for group in in_order("groups", groups))
        self.groups = tuple(tuple(whole(p, "A person of a group", 0, says=says) for p in group) for group in each)
        members = sorted(person for group in self.groups for person in group)
        if not members or members != list(range(len(members))):
            raise InputError(
                "Groups that overlap or leave someone out", "every person is in one group", "List each once"
            )
        super().__init__(epsilon)

    def __str__(self) -> str:
        return f'GroupDP("{self.epsilon}", {counted(len(self.groups), "group")} of {self.people} people)'

    @property
    def people(self) -> int:
        """How many people there are in all groups together."""
        return sum(map(len, self.groups))

    def _grouped(self, table: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(table[person] for person in group) for group in self.groups)

    def __call__(self, x: tuple[Any, ...], y: tuple[Any, ...]) -> Real:
        """Return ε for each group that differs."""
        return super().__call__(self._grouped(x), self._grouped(y))

    def on(self, points: Iterable[tuple[Any, ...]]) -> FiniteDistance[tuple[Any, ...]]:
        """Return the exact matrix on the given tables."""
        points = tuple(points)
        made = SumOverPersons(self.per_person).on(self._grouped(table) for table in points)
        return FiniteDistance.coded(points, made.values, made.codes)

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Return which ordered pairs of tables differ in one group only, with the same people present."""
        grouped = (self._grouped(table) for table in tables)
        return one_person_apart(grouped, lambda group, before, after: not self.record(before, after).is_infinite)

    def record(self, before: Any, after: Any) -> Real:
        """Return ε between any two states of one group with the same people present."""
        same_people = [b is None for b in before] == [a is None for a in after]
        return unless_equal(before, after, only_if(same_people, self.epsilon))

    @property
    def steps(self) -> tuple[Step, ...]:
        """Replacing one of the m members of the largest group, at ε/m."""
        return (Step(REPLACE, self.epsilon / max(map(len, self.groups))),)

    def cost(self, change: Change) -> Real:
        """Return ε for every change of one person's record, ∞ for adding or removing a person."""
        return only_if(not change.moves_people, self.epsilon)


def _of_one_node(before: Any, after: Any) -> bool:
    edges = facts(before) ^ facts(after)
    if not all(isinstance(edge, frozenset) for edge in edges):
        raise InputError(
            "Facts that are not edges, under a notion about graphs",
            "a graph is a set of edges, and an edge a frozenset of two nodes",
            'Ask about edges: has(frozenset({"a", "b"}))',
        )
    return not edges or bool(frozenset.intersection(*edges))


REWIRE = Change("rewire a node", "the edges at one node become any others", _of_one_node, of_facts=True)
"""A change of a graph: all edges that differ meet in one node."""


class _OnGraphs(Notion):
    """A notion whose secret is one graph, not a table of persons."""

    def __call__(self, x: Any, y: Any) -> Real:
        """Return the distance between two graphs, each a set of edges."""
        return self.record(frozenset(x), frozenset(y))

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Return which ordered pairs of graphs are one step apart."""
        graphs = ((frozenset(graph),) for graph in tables)
        return one_person_apart(graphs, lambda _, before, after: self.one_step(before, after))


class EdgeDP(_OnGraphs):
    """ε × the number of edges in which two graphs differ: the unit is one friendship.

    Args:
        epsilon: ε of one edge.
        nodes: the public number of nodes, where known: it bounds what one node can change.
    """

    name = "edge-dp"
    words = PrivacyDescription(
        definition="Pr[answer | graph] ≤ e^ε · Pr[answer | graph with one edge added or removed]",
        protects="whether any two people are joined",
        reveals="",
        alternative="the same graph with or without that edge",
        unit="edge",
    )
    changes = Fixed((DROP_FACT, ADD_FACT))

    def __init__(self, epsilon: Exact, nodes: int | None = None) -> None:
        self.nodes = nodes
        super().__init__(epsilon)

    def record(self, before: Any, after: Any) -> Real:
        """Return ε for each edge that differs."""
        return self.epsilon * len(before ^ after)

    def cost(self, change: Change) -> Real:
        """Return ε for an edge, ε·(nodes − 1) to rewire a node, ∞ for changes of any number of edges."""
        if change in {DROP_FACT, ADD_FACT}:
            return self.epsilon
        return self.epsilon * (self.nodes - 1) if change == REWIRE and self.nodes is not None else inf


class NodeDP(_OnGraphs):
    """ε × the least number of nodes whose rewiring turns one graph into the other: the unit is a person with all ties.

    That number is the size of the smallest set of nodes that meets every edge in which the two graphs differ.
    """

    name = "node-dp"
    words = PrivacyDescription(
        definition="Pr[answer | graph] ≤ e^ε · Pr[answer | graph with the edges at one node replaced by any others]",
        protects="all the ties of any one person; who the people are is public",
        reveals="",
        alternative="the same graph with any other ties for that person",
        unit="node",
    )
    changes = Fixed((REWIRE,))

    def record(self, before: Any, after: Any) -> Real:
        """Return ε times the size of the smallest cover, by trying sets of growing size."""
        edges = before ^ after
        nodes = sorted(frozenset().union(*edges), key=str)
        sizes = (
            size
            for size in range(len(nodes) + 1)
            for cover in itertools.combinations(nodes, size)
            if all(edge & frozenset(cover) for edge in edges)
        )
        return self.epsilon * next(sizes)

    def cost(self, change: Change) -> Real:
        """Return ε where the change is at one node, else ∞."""
        return only_if(change in {REWIRE, DROP_FACT, ADD_FACT}, self.epsilon)
