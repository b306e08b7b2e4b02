"""The norm mechanism: private for the largest coordinate, tight, and better than independent noise of the same promise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.distance import Derived, Line
from leeward.errors import InputError
from leeward.exact import Real, exact, exp_minus, inf
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric, NormMechanism, sanitizer
from leeward.mechanism._norm import BEYOND
from leeward.noise import SeededBitsForTests
from leeward.verification import verify


def largest(rise: object, fall: object) -> Derived[tuple[int, ...]]:
    """The cost of the largest move, written out anew."""

    def cost(x: tuple[int, ...], y: tuple[int, ...]) -> Real:
        up = max(max(b - a for a, b in zip(x, y, strict=True)), 0)
        down = max(max(a - b for a, b in zip(x, y, strict=True)), 0)
        return max(exact(rise) * up, exact(fall) * down)  # type: ignore[arg-type]

    return Derived("largest move", cost)


@pytest.mark.parametrize(("rise", "fall"), [(1, 1), (inf, "1/3"), ("1/2", inf)])
@pytest.mark.parametrize(("size", "values"), [(1, 4), (2, 3), (3, 2)])
def test_it_is_private_for_the_largest_move_and_tight(rise: object, fall: object, size: int, values: int) -> None:
    mechanism = NormMechanism(Line(rise, fall), size)  # type: ignore[arg-type]
    vectors = list(itertools.product(range(values), repeat=size))
    matrix = mechanism.on(vectors)
    expected = largest(rise, fall).on(vectors)
    assert mechanism.distance.on(vectors) == expected
    verdict = verify(matrix, expected)
    assert verdict
    assert verdict.tight
    assert not verify(matrix, largest(exact(rise) * exact("0.99"), exact(fall) * exact("0.99")).on(vectors))  # type: ignore[arg-type]
    if inf in (rise, fall):
        assert verify(matrix, expected.reverse()).scale[0] == float("inf")


@pytest.mark.parametrize("line", [Line(1, 1), Line(inf, 1), Line(1, inf)], ids=str)
def test_a_matrix_says_what_the_law_says(line: Line) -> None:
    mechanism = NormMechanism(line, 2)
    vectors = [(0, 0), (2, 1), (1, 2)]
    matrix = mechanism.on(vectors)
    for truth in vectors:
        row = matrix.row(truth)
        shown = [(z, p) for z, p in row.items() if z != BEYOND]
        assert all(p == mechanism.probability(truth, z) for z, p in shown)
        reached = {z for z, p in shown if p}
        assert reached == {
            z
            for z, _ in shown
            if (line.rise != inf or all(a >= b for a, b in zip(z, truth, strict=True)))
            and (line.fall != inf or all(a <= b for a, b in zip(z, truth, strict=True)))
        }


@pytest.mark.parametrize("line", [Line(1, 1), Line(inf, 1)], ids=str)
def test_every_comparison_occurs_in_the_box(line: Line) -> None:
    """A wider box finds no new ratio of two rows."""
    mechanism, x, y = NormMechanism(line, 2), (0, 0), (1, 2)

    def ratio(z: tuple[int, ...]) -> tuple[bool, bool, int]:
        far = [max(abs(a - b) for a, b in zip(z, v, strict=True)) for v in (x, y)]
        zero = [not mechanism.probability(v, z) for v in (x, y)]
        return zero[0], zero[1], 0 if any(zero) else far[0] - far[1]

    inside = {ratio(z) for z in mechanism.on([x, y]).outputs if z != BEYOND}
    wide = {ratio(z) for z in itertools.product(range(-7, 11), repeat=2)}
    assert wide - {(True, True, 0)} == inside - {(True, True, 0)}  # what neither row can say compares nothing


def test_three_places_at_one_half() -> None:
    """A person may be at all three: .472 of empty places are called safe, not .393, and both are never wrong."""
    norm, each = NormMechanism(Line(inf, "1/2"), 3), Geometric(Line(inf, "1/6"))
    chances = [sanitizer(law, 2) for law in (norm.noise.marginal(), each.law)]
    assert [round(float(s.probability(0)), 3) for s in chances] == [0.472, 0.393]
    assert all(s.never_wrong and s.error == 0 for s in chances)
    assert [round(float(m.expected_error()), 2) for m in (norm, each)] == [3.50, 5.51]


@pytest.mark.statistical
def test_releases_follow_the_matrix() -> None:
    """False alarm below 1e-6 a form; noise with its sign turned is rejected."""
    vectors = [(1, 0)]
    for line in (Line(1, 1), Line(inf, 1), Line(1, inf)):
        mechanism = NormMechanism(line, 2)
        row = mechanism.on([*vectors, (0, 0)]).row((1, 0))
        drawn = mechanism.noisy(np.tile([1, 0], (10_000, 1)), SeededBitsForTests(4))
        cells = [z for z in row if z != BEYOND]
        chances = [float(row[z]) for z in cells]
        assert rejects([int((drawn == z).all(axis=1).sum()) for z in cells], chances, 10_000) is None
        turned = 2 * np.array([1, 0]) - drawn
        if line != Line(1, 1):
            assert rejects([int((turned == z).all(axis=1).sum()) for z in cells], chances, 10_000)


def test_releases_are_clamped_and_keep_their_shape() -> None:
    mechanism = NormMechanism(Line(inf, "0.1"), 3, lower=0, upper=9)
    drawn = mechanism.release(np.full((2, 5, 3), 2), SeededBitsForTests(0))
    assert drawn.shape == (2, 5, 3)
    assert (drawn.min(), drawn.max()) == (2, 9)
    assert NormMechanism(Line(1, 1), 1).release(np.array([[3]])).shape == (1, 1)


def test_a_coarser_step_needs_less_noise() -> None:
    assert NormMechanism(Line(1, 1), 2, step=5).noise.rate == 5


def test_a_row_normalised_norm_is_caught() -> None:
    """Cut to a box and normalised row by row, which is not post-processing."""
    points = list(itertools.product(range(3), repeat=2))
    rows = []
    for y in points:
        weights = [
            exp_minus(max(a - b for a, b in zip(z, y, strict=True)))
            if all(a >= b for a, b in zip(z, y, strict=True))
            else weight(0)
            for z in points
        ]
        total = sum(weights, weight(0))
        rows.append([w / total for w in weights])
    assert not verify(FiniteMechanism(points, points, rows), largest(inf, 1).on(points))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"line": Line(1, 2)}, "equal rates"),
        ({"line": Line(inf, inf)}, "equal rates"),
        ({"line": Line(1, 1), "lower": 2, "upper": 1}, "reversed"),
        ({"line": Line(1, 1), "size": 0}, "at least 1"),
    ],
)
def test_what_makes_no_mechanism_is_refused(arguments: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        NormMechanism(**{"size": 2, **arguments})  # type: ignore[arg-type]


def test_vectors_of_another_size_are_refused() -> None:
    with pytest.raises(InputError, match="Reshape"):
        NormMechanism(Line(1, 1), 3).release(np.zeros((4, 2), np.int64))
