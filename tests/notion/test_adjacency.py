"""Groups, edges and nodes as the unit: the distances that their adjacencies induce."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle.tables import closure

from leeward.distance import Line, both_hold
from leeward.errors import InputError, NotPrivateError
from leeward.exact import exact, inf
from leeward.notion import (
    ABSENT,
    ADD_FACT,
    ADP,
    DROP_FACT,
    REPLACE,
    REWIRE,
    SHRINK,
    BoundedDP,
    EdgeDP,
    GroupDP,
    NodeDP,
    Personalised,
    UnboundedDP,
    all_tables,
    has,
    where,
)
from leeward.query import CountWhere, Linear, count_visitors, places, sensitivity, visits

GRAPHS = [
    frozenset(map(frozenset, edges))
    for size in range(7)
    for edges in itertools.combinations(list(itertools.combinations("wxyz", 2)), size)
]
"""All 64 graphs on four nodes."""


def induced(points: list[Any], adjacent: Any) -> list[list[Any]]:
    return closure([[1 if adjacent(x, y) else float("inf") for y in points] for x in points])


def differ_in_one_edge(x: Any, y: Any) -> bool:
    return len(x ^ y) == 1


def differ_at_one_node(x: Any, y: Any) -> bool:
    return any(all(node in edge for edge in x ^ y) for node in "wxyz")


@pytest.mark.parametrize(
    ("notion", "adjacent"), [(EdgeDP("1/3"), differ_in_one_edge), (NodeDP("1/3"), differ_at_one_node)]
)
def test_edges_and_nodes_induce_their_graph_distances(notion: Any, adjacent: Any) -> None:
    made = notion.on(GRAPHS)
    assert [[made(x, y) for y in GRAPHS] for x in GRAPHS] == [
        [Fraction(steps, 3) for steps in row] for row in induced(GRAPHS, adjacent)
    ]
    assert notion(GRAPHS[1], GRAPHS[5]) == made(GRAPHS[1], GRAPHS[5])
    for x, y in itertools.permutations(GRAPHS, 2):  # and the steps are the adjacencies
        step = min((s.cost for s in notion.steps if s.change.allows(x, y)), default=inf)
        assert step == (Fraction(1, 3) if adjacent(x, y) else inf)


def test_one_node_is_as_many_edges_as_there_are_others() -> None:
    edge, node = EdgeDP(1, nodes=4), NodeDP(1)
    assert edge.on(GRAPHS).price_in(node.on(GRAPHS)) == 3 == edge.price_in(node)
    assert node.on(GRAPHS).price_in(edge.on(GRAPHS)) == 1 == node.price_in(edge)
    assert EdgeDP(1).price_in(node) == inf  # nobody said how many nodes there are
    assert edge.cost(SHRINK) == node.cost(SHRINK) == inf
    assert node.cost(REWIRE) == edge.cost(DROP_FACT) == edge.cost(ADD_FACT) == 1


def test_a_group_is_replaced_at_once() -> None:
    groups = [(0, 2), (1,)]
    notion = GroupDP("1/2", groups)
    tables = all_tables("st", 3)
    made = notion.on(tables)

    def one_group(x: Any, y: Any) -> bool:
        return sum(any(x[i] != y[i] for i in group) for group in groups) == 1

    assert [[made(x, y) for y in tables] for x in tables] == [
        [Fraction(steps, 2) for steps in row] for row in induced(list(tables), one_group)
    ]
    assert notion(("s", "s", "s"), ("t", "s", "t")) == Fraction(1, 2)
    assert notion(("s", "s", "s"), ("t", "s", ABSENT)) == inf  # the number of people is public
    assert BoundedDP(1).price_in(notion) == 4 == BoundedDP(1).on(tables).price_in(made)
    assert notion.price_in(BoundedDP(1)) == Fraction(1, 2) == made.price_in(BoundedDP(1).on(tables))
    assert notion.price_in(UnboundedDP(1)) == inf
    assert notion.cost(REPLACE) == Fraction(1, 2)
    assert notion.scale(2) == GroupDP(1, groups)
    assert notion.words.unit == "group"


@pytest.mark.parametrize("notion", [GroupDP(1, [(0, 2), (1,)]), NodeDP(1), EdgeDP(1, nodes=4)])
def test_what_is_no_sum_over_persons_is_not_taken_for_one(notion: Any) -> None:
    points = all_tables([ABSENT, "s"], 3) if notion.name == "group-dp" else GRAPHS[:40]
    made = notion.on(points)
    assert notion.reverse().on(points) == made.reverse() == made
    other = notion.scale(2)
    assert both_hold(notion, other).on(points) == made
    assert (notion + other).on(points) == made.scale(3)
    with pytest.raises(InputError, match="not a sum over persons"):
        Personalised(notion, [1])
    people = UnboundedDP(1)
    if notion.name == "group-dp":
        assert both_hold(people, notion).on(points) == both_hold(people.on(points), made)


def test_counts_of_edges_follow_from_the_steps_of_graphs() -> None:
    edges = [frozenset(pair) for pair in itertools.combinations("wxyz", 2)]
    all_edges = Linear(tuple(has(edge) for edge in edges), ((1,) * 6,))
    assert sensitivity(EdgeDP(1), all_edges).line == Line(1, 1)
    assert sensitivity(NodeDP(1), all_edges).line == Line("1/3", "1/3")  # all three edges at one node
    each = CountWhere(tuple(has(edge) for edge in edges))
    assert sensitivity(EdgeDP(1), each).line == Line(1, 1)
    assert sensitivity(NodeDP(1), each).line == Line("1/3", "1/3")
    with pytest.raises(NotPrivateError, match="not a set of facts"):
        sensitivity(NodeDP(1), CountWhere((where("x", equals=1),)))
    visitors = count_visitors(
        visits("v", person="p", place="q", time="t"), places("l", place="q"), start="2020-01-01", end="2020-01-02",
        places_per_person=1,
    )  # fmt: skip
    with pytest.raises(NotPrivateError, match="rewire"):
        sensitivity(NodeDP(1), visitors)
    assert sensitivity(ADP(1, [~has("a")]), visitors).line == Line("1/2", "1/2")


@pytest.mark.parametrize("groups", [[], [(0, 1), (1, 2)], [(0,), (2,)], [(-1, 0)], [(0.0, 1)], [(False, True)]])
def test_groups_that_overlap_or_leave_someone_out_are_refused(groups: Any) -> None:
    with pytest.raises(InputError, match=r"one group|a position in the tables"):
        GroupDP(1, groups)


@pytest.mark.parametrize(
    "groups", [[[0, 1]], [[0], [1, 2, 3]], [[0, 1, 2], [3]], [[0], [1]], [[0, 1], [2, 3, 4, 5, 6]]]
)
def test_the_members_of_the_largest_group_together_pay_for_one_group(groups: list[list[int]]) -> None:
    """Noise for one step of ε/m, m times: a whole group changes at ε, and noise for fewer members would not cover it."""
    notion = GroupDP("6/5", groups)
    assert sum(step.cost * max(map(len, groups)) for step in notion.steps) == exact("6/5")
