"""Directed distances: exact on every space, in both directions, and the algebra's laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.tables import Surd, closure

from leeward.analysis import outside_ball
from leeward.distance import (
    Derived,
    DirectedDistance,
    FiniteDistance,
    Line,
    Plane,
    SumOverPersons,
    both_hold,
    common_unit,
    graph_distance,
    pull_back,
)
from leeward.distance._paths import shortest_paths
from leeward.errors import InexactError, InputError
from leeward.exact import Real, exact, inf, log, sqrt
from leeward.mechanism import NormMechanism, SeriesMechanism, TreeMechanism

QUICK = settings(max_examples=60)

rationals = st.sampled_from([Fraction(k, d) for k in range(5) for d in (1, 3, 7)] + [math.inf, math.inf])
surds = st.builds(Surd, st.integers(0, 4), st.integers(0, 3)) | st.just(math.inf)


ROW_DISTANCES: list[DirectedDistance[Any]] = [
    Line(1, 2),
    SeriesMechanism("maximum", "1", window=2).distance,
    TreeMechanism("manhattan", "1", levels=[[1, 2]], spans=[2]).distance,
    NormMechanism(Line(1, inf), 2).distance,
]


@pytest.mark.parametrize("distance", ROW_DISTANCES, ids=str)
def test_rows_of_different_lengths_are_refused_in_words(distance: DirectedDistance[Any]) -> None:
    """Found by attack: the errors were Python's own, of zip."""
    assert distance((0, 1), (0, 1)) == 0
    with pytest.raises(InputError, match="not rows of as many"):
        distance((0, 1), (1,))
    with pytest.raises(InputError, match="not rows of as many"):
        outside_ball(1)((0, 1), (1,))


def test_what_promises_nothing_costs_nothing_in_itself() -> None:
    """Found by attack: of planes, it was a division by zero."""
    assert Plane(inf).price_in(Plane(inf, "manhattan")) == Line(inf, inf).price_in(Line(inf, inf)) == 0
    assert Plane(inf).price_in(Plane(1)) == inf


def test_triangles_of_the_least_floats_are_checked_exactly() -> None:
    """Found by attack: 2.6 and 7.3 of 10^-324 are one and one float, so that a broken triangle was none."""
    near, far = Fraction(26, 10**325), Fraction(73, 10**325)
    with pytest.raises(InputError, match="triangle"):
        FiniteDistance("xyz", [[0, near, far], [near, 0, near], [far, near, 0]])


def real(value: Any) -> Real:
    if isinstance(value, Surd):
        return exact(value.a) + sqrt(2) * value.b
    return inf if value == math.inf else exact(value)


@st.composite
def matrices(draw: Any, entries: Any = rationals, size: int | None = None) -> list[list[Any]]:
    n = size or draw(st.integers(1, 6))
    return [[0 if i == j else draw(entries) for j in range(n)] for i in range(n)]


def closed(costs: list[list[Any]]) -> FiniteDistance[int]:
    return FiniteDistance.closed(range(len(costs)), [[real(c) for c in row] for row in costs])


def as_lists(distance: FiniteDistance[Any]) -> list[list[Real]]:
    return [[distance(x, y) for y in distance.points] for x in distance.points]


def below(one: FiniteDistance[Any], other: FiniteDistance[Any]) -> bool:
    return all(one(x, y) <= other(x, y) for x in one.points for y in one.points)


# ---- closures


@QUICK
@given(matrices() | matrices(surds))
def test_a_closure_is_the_shortest_paths_exactly(costs: list[list[Any]]) -> None:
    assert as_lists(closed(costs)) == [[real(c) for c in row] for row in closure(costs)]


@pytest.mark.parametrize("step", [exact(1), exact("1/3"), exact("1e8")])  # the last: sums that need 64 bits
def test_the_shortest_paths_over_more_points_than_a_block_are_those_of_every_single_step(step: Real) -> None:
    """A ring, and a way back that costs 1 more a step; nobody comes back to the first point where it is cut."""
    n, back = 130, step + 1
    costs = {1: step, n - 1: back}
    made = closed([[costs.get((j - i) % n, inf) for j in range(n)] for i in range(n)])
    far = [0, 1, 63, 64, 65, 128, 129]
    assert all(made(i, j) == min(step * ((j - i) % n), back * ((i - j) % n)) for i in (0, 64, 129) for j in far)
    cut = closed([[step if j == i + 1 else inf for j in range(n)] for i in range(n)])
    assert (cut(0, n - 1), cut(n - 1, 0)) == (step * (n - 1), inf)


@QUICK
@given(matrices() | matrices(surds))
def test_a_closure_is_closed_and_closing_it_again_changes_nothing(costs: list[list[Any]]) -> None:
    made = closed(costs)
    again = FiniteDistance(made.points, as_lists(made))  # refuses what breaks the triangle inequality
    assert again == made == FiniteDistance.closed(made.points, as_lists(made))


def test_zeros_off_the_diagonal_are_steps_and_not_missing_ones() -> None:
    made = FiniteDistance.closed("abc", [[0, 0, inf], [inf, 0, 0], [5, inf, 0]])
    assert as_lists(made) == [[0, 0, 0], [5, 0, 0], [5, 5, 0]]


@pytest.mark.parametrize("cost", [exact(1), sqrt(2)])
def test_the_diagonal_of_step_costs_is_taken_as_0(cost: Real) -> None:
    made = FiniteDistance.closed("abc", [[inf, cost, inf], [inf, 5, 1], [inf, inf, 7]])
    assert as_lists(made) == [[0, cost, cost + 1], [inf, 0, 1], [inf, inf, 0]]


def test_a_detour_that_is_shorter_by_less_than_any_float_can_tell_is_taken() -> None:
    tiny = Fraction(1, 10**30)
    made = FiniteDistance.closed("abc", [[0, 1, sqrt(2) + 1 + tiny], [inf, 0, sqrt(2)], [inf, inf, 0]])
    assert made("a", "c") == sqrt(2) + 1
    direct = FiniteDistance.closed("abc", [[0, 1 + tiny, sqrt(2) + 1], [inf, 0, sqrt(2)], [inf, inf, 0]])
    assert direct("a", "c") == sqrt(2) + 1


def test_rows_made_on_the_fly_are_read_entry_by_entry() -> None:
    class Rows(list[Any]):
        def __iter__(self) -> Any:
            return ([Fraction(abs(i - j), 7) for j in range(30)] for i in range(30))

    lazily = tuple(Rows(range(30)))
    made = FiniteDistance(range(30), Rows(range(30)))
    assert made == FiniteDistance(range(30), lazily)
    assert made(29, 0) == Fraction(29, 7)


def test_integers_too_large_for_floats_stay_exact() -> None:
    big = 2**60
    made = FiniteDistance.closed("abc", [[0, big, 2 * big + 2], [inf, 0, big + 1], [1, inf, 0]])
    assert made("a", "c") == 2 * big + 1


@pytest.mark.parametrize("costs", [[[0, -1], [1, 0]], [[0, "-1/3"], [1, 0]], [[0, 1], [1 - sqrt(2), 0]]])
def test_a_negative_cost_is_refused(costs: list[list[Any]]) -> None:
    for build in (FiniteDistance, FiniteDistance.closed):
        with pytest.raises(InputError, match="below 0"):
            build("ab", costs)


def test_floats_are_refused() -> None:
    with pytest.raises(InexactError):
        FiniteDistance("ab", [[0, 0.1], [1, 0]])  # type: ignore[list-item]


@pytest.mark.parametrize("unit", [exact(1), sqrt(2), log(2), sqrt(2) + log(3) + Fraction(1, 3)])
def test_the_triangle_inequality_is_checked_at_the_knife_edge(unit: Real) -> None:
    tiny = Fraction(1, 10**25)
    FiniteDistance("abc", [[0, unit, unit * 3], [inf, 0, unit * 2], [inf, inf, 0]])
    with pytest.raises(InputError, match="d\\(a → c\\) > d\\(a → b\\) \\+ d\\(b → c\\)"):
        FiniteDistance("abc", [[0, unit, unit * 3 + tiny], [inf, 0, unit * 2], [inf, inf, 0]])


@pytest.mark.parametrize("third", [exact(2), sqrt(5)])
def test_an_infinite_entry_that_a_path_avoids_is_refused(third: Real) -> None:
    with pytest.raises(InputError, match="closed"):
        FiniteDistance("abc", [[0, 1, inf], [inf, 0, third], [inf, inf, 0]])


@pytest.mark.parametrize(
    ("points", "matrix", "reason"),
    [
        ("ab", [[0, 1]], "another size"),
        ("ab", [[0, 1], [1]], "another size"),
        ("aa", [[0, 1], [1, 0]], "repeat"),
        ("ab", [[1, 1], [1, 0]], "not 0"),
    ],
)
def test_a_malformed_space_is_refused(points: str, matrix: list[list[int]], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        FiniteDistance(points, matrix)


def test_a_point_outside_the_space_is_refused() -> None:
    with pytest.raises(InputError, match="outside"):
        FiniteDistance("ab", [[0, 1], [1, 0]])("a", "z")


# ---- the algebra's laws


@QUICK
@given(st.integers(1, 5).flatmap(lambda n: st.tuples(matrices(size=n), matrices(surds, size=n))))
def test_sums_minima_and_reversals_are_directed_distances(pair: tuple[Any, Any]) -> None:
    one, other = map(closed, pair)
    total, least = one + other, both_hold(one, other)
    for made in (total, least, one.reverse(), one.scale("2/3")):
        FiniteDistance(made.points, as_lists(made))  # would refuse
    assert one.reverse().reverse() == one
    assert (one + other) == (other + one)
    assert total.reverse() == one.reverse() + other.reverse()
    assert below(least, one)
    assert below(least, other)
    smaller = [[min(one(x, y), other(x, y)) for y in one.points] for x in one.points]
    assert least == FiniteDistance.closed(one.points, smaller)
    for x, y in itertools.permutations(one.points, 2):
        assert total(x, y) == one(x, y) + other(x, y)
        assert one.reverse()(x, y) == one(y, x)


@QUICK
@given(st.integers(2, 5).flatmap(lambda n: st.tuples(*[matrices(size=n)] * 3)))
def test_a_price_is_the_least_factor_and_prices_compose(three: tuple[Any, Any, Any]) -> None:
    one, two, third = map(closed, three)
    price = one.price_in(two)
    pairs = [(one(x, y), two(x, y)) for x, y in itertools.permutations(one.points, 2)]
    if price.is_infinite:
        assert any(
            not theirs.is_infinite and (mine.is_infinite or (mine > 0 and theirs == 0)) for mine, theirs in pairs
        )
    else:
        assert all(mine <= theirs * price or theirs.is_infinite for mine, theirs in pairs)
        assert price == 0 or any(mine == theirs * price and mine > 0 for mine, theirs in pairs)
        if not two.price_in(third).is_infinite:
            assert one.price_in(third) <= price * two.price_in(third)


def test_a_distance_and_its_reverse_are_told_apart() -> None:
    one_way = FiniteDistance("ab", [[0, 1], [inf, 0]])
    assert one_way != one_way.reverse()
    assert (one_way("a", "b"), one_way("b", "a")) == (1, inf)
    assert one_way.price_in(one_way.reverse()) == inf
    assert one_way.price_in(one_way) == 1
    assert (one_way + one_way.reverse())("a", "b") == inf  # two one-sided answers side by side protect nothing
    assert both_hold(one_way, one_way.reverse())("a", "b") == 1


def test_points_in_another_order_are_the_same_space() -> None:
    one, other = FiniteDistance("ab", [[0, 1], [2, 0]]), FiniteDistance("ba", [[0, 2], [1, 0]])
    assert one == other
    assert (one + other)("a", "b") == 2
    assert one != FiniteDistance("ba", [[0, 1], [2, 0]])
    assert one != FiniteDistance("ac", [[0, 1], [2, 0]])
    with pytest.raises(InputError, match="different points"):
        one.price_in(FiniteDistance("ac", [[0, 1], [2, 0]]))


def test_a_negative_scale_is_refused_at_once() -> None:
    for distance in (Line(1, 1), FiniteDistance("ab", [[0, 1], [1, 0]]), Derived("d", lambda x, y: 1)):
        with pytest.raises(InputError, match="negative"):
            distance.scale(-1)


def test_a_closure_without_points_gives_no_single_value() -> None:
    derived = both_hold(Derived("d", lambda x, y: abs(x - y)), Derived("e", lambda x, y: 1 if x != y else 0))
    with pytest.raises(InputError, match="shortest paths"):
        derived(0, 1)
    assert derived.on(range(4))(0, 3) == 1


def test_bounds_enclose_the_exact_values() -> None:
    made = FiniteDistance("ab", [[0, sqrt(2)], [inf, 0]])
    lower, upper = made.bounds()
    assert lower[0, 0] == upper[0, 0] == 0
    assert lower[0, 1] < math.sqrt(2) * (1 + 1e-15)
    assert upper[0, 1] - lower[0, 1] < 1e-15
    assert lower[0, 1] ** 2 <= 2 <= upper[0, 1] ** 2
    assert math.isinf(lower[1, 0])


def test_a_common_unit_is_exact_or_there_is_none() -> None:
    unit, multiples = common_unit([exact("1/6"), exact("1/4"), inf, exact(0)]) or (exact(0), [])
    assert [unit * m if m >= 0 else inf for m in multiples] == [exact("1/6"), exact("1/4"), inf, 0]
    assert common_unit([exact(1), sqrt(2)]) is None


# ---- the line


@QUICK
@given(*[st.integers(-5, 5)] * 3, st.sampled_from(["1/3", "2", "inf"]), st.sampled_from(["1", "0.1", "inf"]))
def test_the_line_has_two_prices_and_the_triangle_inequality(x: int, y: int, z: int, rise: str, fall: str) -> None:
    line = Line(rise, fall)
    assert line(x, y) == (exact(rise) * (y - x) if y >= x else exact(fall) * (x - y))
    assert line(x, z) <= line(x, y) + line(y, z)
    assert line.reverse()(x, y) == line(y, x)


def test_the_line_on_vectors_adds_up_coordinates() -> None:
    line = Line("1/2", inf)
    assert line((0, 3), (4, 3)) == 2
    assert line(np.array([0, 3]), np.array([4, 2])) == inf
    assert line([Fraction(1, 2)], ["3/4"]) == Fraction(1, 8)
    points = list(itertools.product(range(3), repeat=2))
    made = line.on(points)
    assert made == FiniteDistance(points, [[line(x, y) for y in points] for x in points])


@pytest.mark.parametrize("points", [range(7), [0, 3, 1], [Fraction(1, 2), 1, 0]])
def test_the_line_on_points_is_the_line(points: Any) -> None:
    line = Line("1/3", sqrt(2))
    made = line.on(points)
    assert all(made(x, y) == line(x, y) for x in points for y in points)


def test_lines_compose_as_lines() -> None:
    line = Line(1, inf)
    assert line + Line("1/2", 2) == Line("3/2", inf)
    assert line.scale(3) == Line(3, inf)
    assert line.reverse() == Line(inf, 1)
    assert both_hold(line, line.reverse()) == Line(1, 1)
    assert line != line.reverse()
    assert Line(1, 2).price_in(Line("1/2", 4)) == 2
    assert Line(1, 2).price_in(line) == 1
    assert line.price_in(Line(1, 2)) == inf
    points = list(itertools.product(range(3), repeat=2))
    assert both_hold(Line(1, 4), Line(2, 3)).on(points) == both_hold(Line(1, 4).on(points), Line(2, 3).on(points))


@pytest.mark.parametrize("rate", [0, -1])
def test_a_rate_that_is_not_positive_is_refused(rate: int) -> None:
    with pytest.raises(InputError, match="constant"):
        Line(rate, 1)


def test_floating_answers_are_refused() -> None:
    with pytest.raises(InexactError):
        Line(1, 1)(0, 0.5)


# ---- the plane


def test_the_plane_is_exact_through_roots() -> None:
    straight, crooked = Plane("1/200"), Plane("1/200", norm="manhattan")
    assert straight((0, 0), (3, 4)) == Fraction(1, 40)
    assert straight((1, 1), (0, 0)) == sqrt(2) / 200
    assert crooked((0, 0), (3, -4)) == Fraction(7, 200)
    assert straight((0, Fraction(1, 3)), ("1/4", 0)) == Fraction(5, 12) / 200
    assert Plane(log(2) / 200)((0, 0), (200, 0)) == log(2)  # "a factor of 2 within 200 m"


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
def test_the_plane_on_a_grid_keeps_the_triangle_inequality(norm: Any) -> None:
    points = list(itertools.product(range(4), repeat=2))
    plane = Plane("2/3", norm)
    made = plane.on(points)
    assert FiniteDistance(points, as_lists(made)) == made  # many collinear triples: equality must pass
    assert all(made(x, y) == plane(x, y) for x, y in itertools.product(points, repeat=2))
    assert made.reverse() == made


def test_the_norms_of_the_plane_are_priced_tightly() -> None:
    straight, crooked = Plane(1), Plane(1, "manhattan")
    assert straight.price_in(crooked) == 1
    assert crooked.price_in(straight) == sqrt(2)
    points = list(itertools.product(range(3), repeat=2))
    assert crooked.on(points).price_in(straight.on(points)) == sqrt(2)
    assert straight + Plane(2) == Plane(3)
    assert straight.scale("1/2") == Plane("1/2")
    assert straight != crooked
    assert (straight + crooked)((0, 0), (1, 1)) == sqrt(2) + 2


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_in_space_the_norms_are_further_apart(dimensions: int) -> None:
    """√n in n dimensions, and no number at all for points of a length that is not said."""
    straight, crooked = (Plane(1, norm, dimensions=dimensions) for norm in ("euclidean", "manhattan"))  # type: ignore[arg-type]
    corners = list(itertools.product(range(2), repeat=dimensions))
    assert crooked.price_in(straight) == sqrt(dimensions) == crooked.on(corners).price_in(straight.on(corners))
    assert straight.price_in(crooked) == 1 == straight.on(corners).price_in(crooked.on(corners))
    assert (crooked + crooked).price_in(straight.scale(4)) == sqrt(dimensions) / 2
    other = Plane(1, dimensions=dimensions + 1)
    assert other != straight
    for ask in (
        lambda: crooked.price_in(other),
        lambda: straight((0,) * (dimensions + 1), (1,) * (dimensions + 1)),
        lambda: straight.on([(0,) * (dimensions + 1)]),
    ):
        with pytest.raises(InputError, match=r"dimensions|another length"):
            ask()
    assert "dimensions" in repr(Plane(1, dimensions=3))
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(InputError, match="dimensions"):
            Plane(1, dimensions=wrong)  # type: ignore[arg-type]


def test_an_unknown_norm_is_refused() -> None:
    with pytest.raises(InputError, match="euclidean"):
        Plane(1, "euclidian")  # type: ignore[arg-type]


# ---- graphs, tables, queries


@QUICK
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))), st.booleans())
def test_a_graph_distance_counts_the_edges_of_the_shortest_walk(edges: set[tuple[int, int]], directed: bool) -> None:
    made = graph_distance(range(6), edges, directed=directed)
    both_ways = edges if directed else edges | {(y, x) for x, y in edges}
    for start in range(6):
        reached, frontier, steps = {start: 0}, {start}, 0
        while frontier:
            steps += 1
            frontier = {y for x, y in both_ways if x in frontier} - set(reached)
            reached |= dict.fromkeys(frontier, steps)
        assert [made(start, y) for y in range(6)] == [reached.get(y, inf) for y in range(6)]


def test_a_graph_may_have_costs_and_must_have_its_nodes() -> None:
    made = graph_distance("abc", {("a", "b"): "1/2", ("b", "c"): sqrt(2), ("a", "c"): 3}, directed=True)
    assert (made("a", "c"), made("c", "a")) == (sqrt(2) + Fraction(1, 2), inf)
    with pytest.raises(InputError, match="unknown point"):
        graph_distance("ab", [("a", "z")], directed=True)


def test_tables_add_up_persons_each_with_their_own_distance() -> None:
    first, second = FiniteDistance("ab", [[0, 1], [inf, 0]]), FiniteDistance("ab", [[0, "1/2"], [3, 0]])
    points = list(itertools.product("ab", repeat=2))
    for each in (first, [first, second]):
        summed = SumOverPersons(each)
        made = summed.on(points)
        assert made == FiniteDistance(points, [[summed(x, y) for y in points] for x in points])
        assert summed.reverse().on(points) == made.reverse()
        assert summed.scale("2/3").on(points) == made.scale("2/3")
        assert (summed + summed).on(points) == made.scale(2)
    assert SumOverPersons([first, second])(("a", "b"), ("b", "a")) == 4
    one, other = SumOverPersons(first), SumOverPersons(second)
    assert both_hold(one, other).on(points) == both_hold(one.on(points), other.on(points))


def test_tables_of_another_length_are_refused() -> None:
    distance = FiniteDistance("ab", [[0, 1], [1, 0]])
    with pytest.raises(InputError, match="length"):
        SumOverPersons(distance)(("a",), ("a", "b"))
    with pytest.raises(InputError, match="length"):
        SumOverPersons(distance).on([("a",), ("a", "b")])
    with pytest.raises(InputError, match="each of 2"):
        SumOverPersons([distance, distance])(("a",), ("b",))


def test_a_query_pulls_a_distance_back_to_the_secrets() -> None:
    tables = list(itertools.product((0, 1), repeat=3))
    pulled = pull_back(Line(inf, 1), sum, "the count").on(tables)
    assert pulled((1, 1, 0), (0, 1, 0)) == 1
    assert pulled((0, 1, 0), (1, 1, 0)) == inf
    assert pulled((1, 0, 0), (0, 1, 0)) == 0  # the answer does not tell them apart: a pseudo-distance


def test_a_distance_shows_what_it_is() -> None:
    assert repr(Line(1, 2).on(range(3))) == "<FiniteDistance on 3 points>"
    assert repr(Line(1, inf)) == "Line(rise=1, fall=inf)"


def test_a_matrix_of_distances_can_be_looked_at() -> None:
    line = Line(rise=inf, fall="1/2").on(range(3))
    assert line.to_numpy().tolist() == [[0, math.inf, math.inf], [0.5, 0, math.inf], [1, 0.5, 0]]
    assert line.to_pandas().loc[2, 0] == 1
    pairs = Line(1, 1).on([(0, 0), (1, 1)]).to_pandas()
    assert pairs[(1, 1)].tolist() == [2, 0]


def test_distances_between_different_things_have_no_price_and_no_sum_with_a_number() -> None:
    for first, second in ((Line(1, 1), Plane(1)), (Plane(1), Line(1, 1))):
        with pytest.raises(InputError, match=r"between different things.*\.on\(points\)"):
            first.price_in(second)  # type: ignore[arg-type]
    for distance in (Line(1, 1), Line(1, 1).on(range(2)), Plane(1)):
        with pytest.raises(TypeError):
            distance + 1  # type: ignore[operator]


def test_two_releases_add_up_in_each_direction_apart() -> None:
    assert Line(rise="1", fall="2") + Line(rise="10", fall="30") == Line(rise="11", fall="32")


@pytest.mark.parametrize("diagonal", [inf, log(2)])
def test_a_secret_is_its_own_cover_whatever_the_diagonal_says(diagonal: Real) -> None:
    """With costs that have a common unit, and with costs that have none."""
    for one, two in ((exact(1), exact(2)), (log(2), sqrt(3))):
        values, codes = shortest_paths((diagonal, one, two), np.array([[0, 1], [2, 0]]))
        assert [values[code] for code in codes.ravel().tolist()] == [0, one, two, 0]
    # floats cannot tell the way round from the straight one here: exact numbers go through all ways
    way = log(2) + sqrt(3)
    near = Fraction(2)
    for bit in range(1, 90):
        near += Fraction(1, 2**bit) if way > near + Fraction(1, 2**bit) else 0
    for straight in (exact(near), exact(near + Fraction(1, 2**88))):
        given = np.array([[0, 1, 3], [4, 0, 2], [4, 4, 0]])
        values, codes = shortest_paths((diagonal, log(2), sqrt(3), straight, inf), given)
        found = [values[code] for code in codes.ravel().tolist()]
        assert found == [0, log(2), min(way, straight), inf, 0, sqrt(3), inf, inf, 0]


@pytest.mark.parametrize("kind", [int, np.int64])
def test_the_line_on_integers_of_any_size_does_not_wrap(kind: Callable[[int], int]) -> None:
    ends = [-(2**63), -(2**62) - 1, -1, 0, 2**62 + 1, 2**63 - 1]
    on = Line("1", "2").on([kind(end) for end in ends])
    for x, y in itertools.product(ends, repeat=2):
        assert on(x, y) == (y - x if y >= x else 2 * (x - y))


def test_the_line_on_integers_beyond_64_bits() -> None:
    assert Line("1", inf).on([0, 10**30])(0, 10**30) == 10**30


def test_truth_values_are_no_answers_on_a_line() -> None:
    for pair in ([True, False], [np.True_, np.False_]):
        with pytest.raises(InputError):
            Line(1, 1).on(pair)
