"""The Laplace mechanism of a distance (Definition 6, Figure 2), and the exponential fallback with its true price."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.optimize import linprog

from leeward.distance import FiniteDistance, Line, Plane, graph_distance
from leeward.errors import InputError, RefusedError
from leeward.exact import exact, exp, exp_minus, inf, log, sqrt
from leeward.exact._weight import weight
from leeward.mechanism import (
    Geometric,
    exponential_fallback,
    exponential_mechanism,
    laplace_mechanism,
    scaling_function,
    true_scale,
)
from leeward.verification import verify

STAR = graph_distance("abcdef", [("a", leaf) for leaf in "bcdef"], directed=False)
SQUARE = [(i, j) for i in range(3) for j in range(3)]


@pytest.mark.parametrize(("q", "epsilon"), [("1", "1"), ("1/2", "1"), ("10", "1/3")])
def test_figure_2_iv_the_truncated_geometric_mechanism(q: str, epsilon: str) -> None:
    step, rate = exact(q), exact(epsilon)
    e = exp(step * rate)
    points = [step * i for i in range(5)]
    space = FiniteDistance(points, [[rate * max(y - x, x - y) for y in points] for x in points])
    found = scaling_function(space)
    for z in points:
        assert found[z] == (e / (e + 1) if z in (points[0], points[-1]) else (e - 1) / (e + 1))
    verdict = verify(laplace_mechanism(space), space)
    assert verdict
    assert verdict.tight


@pytest.mark.parametrize("rate", [0.3, 1.0, 2.5])
def test_figure_2_i_to_iii_the_densities_integrate_to_1(rate: float) -> None:
    """λ = ε/2 on the line, ε²/2π for d_2 and ε²/4 for d_1 in the plane (a quarter is integrated; polar for d_2)."""
    assert 2 * quad(lambda z: rate / 2 * math.exp(-rate * z), 0, np.inf)[0] == pytest.approx(1)
    polar = quad(lambda r: rate**2 / (2 * math.pi) * 2 * math.pi * r * math.exp(-rate * r), 0, np.inf)[0]
    assert polar == pytest.approx(1)
    quarter = dblquad(lambda u, v: rate**2 / 4 * math.exp(-rate * (u + v)), 0, 60 / rate, 0, 60 / rate)[0]
    assert 4 * quarter == pytest.approx(1)


LINES = [
    Line("1", "1"),
    Line(inf, "1"),
    Line("1/2", inf),
    Line("1/2", "3"),
    Line(log(2), log(3)),
    Line(log(2) / 2, "1"),
]


@pytest.mark.parametrize("line", LINES, ids=str)
def test_on_a_directed_line_it_is_the_clamped_geometric_mechanism(line: Line) -> None:
    found, expected = laplace_mechanism(line.on(range(5))), Geometric(line, lower=0, upper=4).on(range(5))
    for y in range(5):
        assert found.row(y) == expected.row(y)


SPACES: dict[str, FiniteDistance[Any]] = {
    "Manhattan grid": Plane("1", norm="manhattan").on(SQUARE),
    "Euclidean grid, three independent roots": Plane("1").on(SQUARE),
    "a star at a large rate": STAR.scale(2),
    "a cycle": graph_distance(range(5), [(i, (i + 1) % 5) for i in range(5)], directed=False).scale("1/2"),
    "a directed cycle": graph_distance(range(4), [(i, (i + 1) % 4) for i in range(4)], directed=True),
    "roots and logarithms": FiniteDistance("abc", [[0, sqrt(2), 1], [sqrt(2), 0, log(5)], [1, log(5), 0]]),
    "two islands": FiniteDistance("abc", [[0, 1, inf], [2, 0, inf], [inf, inf, 0]]),
}


@pytest.mark.parametrize("name", SPACES)
def test_it_is_private_and_its_scaling_solves_the_equations(name: str) -> None:
    space = SPACES[name]
    scaling = scaling_function(space)
    for y in space.points:
        assert sum((scaling[z] * exp_minus(space(z, y)) for z in space.points), weight(0)) == 1
    assert all(value >= 0 for value in scaling.values())
    assert verify(laplace_mechanism(space), space)


def test_from_the_output_to_the_truth_and_not_the_other_way() -> None:
    """Weights e^{−d(y → z)} are the broken variant: private for the reversed distance only."""
    space = Line("1/2", "2").on(range(4))
    backwards = laplace_mechanism(space.reverse())
    assert verify(backwards, space.reverse())
    assert not verify(backwards, space)


def test_a_space_without_a_laplace_mechanism_is_refused_with_the_reason() -> None:
    with pytest.raises(RefusedError, match=r"negative, -1.19 at 'a'"):
        laplace_mechanism(STAR.scale("1/4"))
    with pytest.raises(RefusedError, match=r"at \(1, 1\)"):
        laplace_mechanism(Plane("1/2").on(SQUARE))  # not every grid of the plane has one, although the whole plane does
    with pytest.raises(RefusedError, match="contradict each other"):
        laplace_mechanism(Line("1", "1").on(range(3)), outputs=[0, 2])


def by_linear_program(space: FiniteDistance[Any], truths: list[Any], answers: list[Any]) -> bool:
    """Whether some λ ≥ 0 makes all rows sum to 1, in floats and without any classes."""
    near = np.array(
        [[math.exp(-float(space(z, y))) if not space(z, y).is_infinite else 0.0 for z in answers] for y in truths]
    )
    return bool(linprog(np.zeros(len(answers)), A_eq=near, b_eq=np.ones(len(truths)), method="highs").status == 0)


@pytest.mark.sweep
def test_there_is_one_exactly_where_a_linear_program_finds_one() -> None:
    """Random spaces with a direction, ∞, zeros and twins; truths and outputs any of their points."""
    outcomes = {"all points": [0, 0], "others": [0, 0]}
    for case in range(150):
        seed = random.Random(case)
        points = list(range(5))
        costs = seed.choice([[0, 1, 2, inf], [1, 2, 3], [0, 1, 2], ["1/2", 2, inf], [log(2), 1, inf]])
        matrix = [[exact(seed.choice(costs)) for _ in points] for _ in points]
        if seed.random() < 0.5:
            matrix = [[min(matrix[x][y], matrix[y][x]) for y in points] for x in points]
        space = FiniteDistance.closed(points, matrix)
        whole = case % 2 == 0
        truths = points if whole else sorted(seed.sample(points, seed.randint(1, 5)))
        answers = points if whole else sorted(seed.sample(points, seed.randint(1, 5)))
        expected = by_linear_program(space, truths, answers)
        outcomes["all points" if whole else "others"][expected] += 1
        if not expected:
            with pytest.raises(RefusedError, match="there is none"):
                scaling_function(space, truths, answers)
            continue
        scaling = scaling_function(space, truths, answers)
        assert all(value >= 0 for value in scaling.values())
        for y in truths:
            assert sum((scaling[z] * exp_minus(space(z, y)) for z in answers), weight(0)) == 1
        assert verify(laplace_mechanism(space, truths, answers), space.on(truths))
    assert min(count for several in outcomes.values() for count in several) > 5, outcomes


def test_truths_and_outputs_need_not_be_the_same() -> None:
    """0..3 answered on −2..5: the interior is the geometric law, and what would fall outside is at the ends."""
    line = Line(1, 1)
    found = laplace_mechanism(line.on(range(-2, 6)), secrets=range(4), outputs=range(-2, 6))
    assert (found.inputs, found.outputs) == (tuple(range(4)), tuple(range(-2, 6)))
    assert verify(found, line.on(range(4))).tight
    assert laplace_mechanism(line.on(range(3)), secrets=[0, 2], outputs=[1]).row(0) == {1: weight(1)}
    with pytest.raises(InputError, match="9 among the outputs"):
        laplace_mechanism(line.on(range(3)), outputs=[0, 9])


def test_points_at_distance_0_share_what_one_of_them_would_have() -> None:
    """A pseudo-metric: the equations for a and b are one equation. It is not true that there is no such mechanism."""
    equivalent = FiniteDistance("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    scaling, alone = scaling_function(equivalent), scaling_function(FiniteDistance("ac", [[0, 1], [1, 0]]))
    assert scaling["a"] == scaling["b"] == alone["a"] / 2
    assert scaling["c"] == alone["c"]
    mechanism = laplace_mechanism(equivalent)
    assert mechanism.row("a") == mechanism.row("b")
    assert verify(mechanism, equivalent)
    assert laplace_mechanism(FiniteDistance.closed("ab", [[0, 0], [0, 0]])).row("a") == {
        "a": weight("1/2"),
        "b": weight("1/2"),
    }


def test_a_square_of_sixteen_points_is_solved_by_its_three_kinds() -> None:
    square = [(i, j) for i in range(4) for j in range(4)]
    plane, start = Plane("2").on(square), time.process_time()
    scaling = scaling_function(plane)
    assert time.process_time() - start < 20, "it took minutes when all sixteen were unknown"
    kinds = {(abs(2 * i - 3), abs(2 * j - 3)) for i, j in square}
    for kind in kinds:
        same = [scaling[i, j] for i, j in square if sorted((abs(2 * i - 3), abs(2 * j - 3))) == sorted(kind)]
        assert all(value is same[0] or value == same[0] for value in same)
    assert by_linear_program(plane, square, square)
    near = [sum(float(scaling[z]) * math.exp(-float(plane(z, y))) for z in square) for y in square]
    assert near == pytest.approx([1.0] * 16)


def test_what_would_take_too_long_is_refused_and_says_so() -> None:
    irregular = [(3 * i * i + 7 * i, 5 * i * i - 4 * i) for i in range(9)]
    start = time.process_time()
    with pytest.raises(RefusedError, match=r"9 kinds of points, at distances made of \d+ numbers"):
        scaling_function(Plane("1").on(irregular))
    assert time.process_time() - start < 30


def test_normalising_row_by_row_breaks_it() -> None:
    """One-sided on 0..4 at ε = 1: loss 1.313, not 1."""
    space = Line(inf, "1").on(range(5))
    low, high = true_scale(space, 1)
    assert low <= 1 + math.log(1 + math.exp(-1)) <= high
    assert high - low < 1e-12
    verdict = verify(exponential_mechanism(space, 1), space)
    assert verdict.outcome == "not private"
    assert verdict.scale[0] <= high
    assert low <= verdict.scale[1]


@pytest.mark.parametrize("name", [*SPACES, "a star"])
@pytest.mark.parametrize("scale", ["1/2", "1"])
def test_the_true_scale_of_the_fallback_is_what_the_verification_finds(name: str, scale: str) -> None:
    space = SPACES.get(name, STAR)
    low, high = true_scale(space, scale)
    verdict = verify(exponential_mechanism(space, scale), space)
    assert max(low, verdict.scale[0]) <= min(high, verdict.scale[1])
    assert bool(verdict) == (high <= 1) or abs(high - 1) < 1e-9


@pytest.mark.parametrize("name", SPACES)
def test_the_fallback_is_private_and_nearly_spends_what_it_may(name: str) -> None:
    space = SPACES[name]
    mechanism, scale = exponential_fallback(space)
    assert verify(mechanism, space)
    assert scale > 0
    just_more = scale + exact("1/100000")
    assert true_scale(space, just_more)[1] > 1 or scale >= 2 - exact("1/1000")


def test_half_the_scale_is_enough_for_a_metric() -> None:
    for space in (STAR, SPACES["a cycle"], SPACES["Euclidean grid, three independent roots"]):
        assert true_scale(space, "1/2")[1] <= 1


def test_no_fallback_where_infinity_leaves_some_points_alone() -> None:
    """From a every other point is cover, from the others none is: S(a) counts five points at any scale, S(b) one."""
    lonely = FiniteDistance("abcde", [[0, *["1/10"] * 4], *([inf] * i + [0] + [inf] * (4 - i) for i in range(1, 5))])
    with pytest.raises(RefusedError, match="normalised too differently"):
        exponential_fallback(lonely.reverse())


@pytest.mark.parametrize("of", [laplace_mechanism, exponential_fallback])
def test_a_space_that_is_not_listed_is_refused(of: Any) -> None:
    with pytest.raises(
        InputError, match=r"Line\(rise=1, fall=2\) on points that are not listed.*distance\.on\(points\)"
    ):
        of(Line(1, 2))


def test_a_far_point_beside_near_ones_costs_no_memory() -> None:
    """The common factor of polynomials of degree 10^9 ended the process; it only shortens what is returned."""
    edges = {("a", "b"): "1", ("b", "a"): "1", ("a", "c"): str(10**12)}
    space = graph_distance("abc", edges, directed=True)
    found = laplace_mechanism(space)
    assert verify(found, space)
    assert found.probability("a", "b") == exp(-1) / (1 + exp(-1))
