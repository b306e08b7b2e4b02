"""The sparse vector technique: its exact matrix against summation, its promise, and the variants known to be broken."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.oracle.sparse_vector import broken, chance
from tests.statistical.gof import rejects

from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError
from leeward.exact import exact, inf
from leeward.mechanism import FiniteMechanism, Sanitized, SparseVector
from leeward.mechanism._sparse_vector import patterns
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

SQUARE = list(itertools.product(range(2), repeat=2))


def neighbours(points: list[tuple[int, ...]], *, monotonic: bool) -> FiniteDistance[tuple[int, ...]]:
    """Each count moves by at most 1 a step; all the same way if monotonic."""

    def step(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
        moves = [b - a for a, b in zip(x, y, strict=True)]
        return max(map(abs, moves)) <= 1 and not (monotonic and min(moves) < 0 < max(moves))

    return FiniteDistance.closed(points, [[1 if step(x, y) else inf for y in points] for x in points])


@pytest.mark.parametrize(("stop_after", "monotonic"), [(1, False), (2, True)])
def test_the_matrix_agrees_with_summation(stop_after: int, monotonic: bool) -> None:
    made = SparseVector("1", at_most=[1, 0], stop_after=stop_after, monotonic=monotonic)
    rate = 0.5 / stop_after / (1 if monotonic else 2)
    matrix = made.on([(0, 0), (2, 1), (0, 3)])
    for x in matrix.inputs:
        for z, p in matrix.row(x).items():
            said = [(c - t, word == "above") for c, t, word in zip(x, (1, 0), z, strict=True) if word is not None]
            counts, words = zip(*said, strict=True)
            assert float(p) == pytest.approx(chance(counts, words, threshold=0.5, count=rate), rel=1e-9), (x, z)


@pytest.mark.parametrize(("stop_after", "monotonic"), [(1, False), (1, True), (2, False)])
def test_it_is_private_under_dp(stop_after: int, monotonic: bool) -> None:
    made = SparseVector("1", at_most=0, stop_after=stop_after, monotonic=monotonic)
    assert verify(made.on(SQUARE), neighbours(SQUARE, monotonic=monotonic))
    assert made.price == exact(1)


def test_it_comes_near_its_bound() -> None:
    """With many counts, ε is nearly used up: a promise of 0.8 would be false."""
    far, above = [False] * 30, [True]
    x, y = [0] * 30 + [1], [1] * 30 + [0]
    rows = [[p := chance(v, far + above, threshold=0.5, count=0.25), 1 - p] for v in (x, y)]
    matrix = FiniteMechanism.from_floats(("x", "y"), ("pattern", "other"), rows)
    assert verify(matrix, FiniteDistance(("x", "y"), [[0, 1], [1, 0]]))
    assert not verify(matrix, FiniteDistance(("x", "y"), [[0, "0.7"], ["0.7", 0]]))


@pytest.mark.parametrize("variant", broken(1.0))
def test_the_broken_variants_are_caught(variant: str) -> None:
    law, x, y = broken(1.0)[variant]
    assert max(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1
    rows = [[law(v), 1 - law(v)] for v in (x, y)]
    matrix = FiniteMechanism.from_floats(("x", "y"), ("telling output", "other"), rows)
    assert not verify(matrix, FiniteDistance(("x", "y"), [[0, 1], [1, 0]]))


def test_one_sided_notions_answer_more() -> None:
    """ADP, Section V-B, Remark: at the same ε, on empty places, sanitized says safe where sparse vector doubts."""
    sparse, sanitized = SparseVector("1", at_most=2, monotonic=True), Sanitized(Line(inf, 1), at_most=2)
    says_below = sparse.on([(0,)]).row((0,))[("below",)]
    assert sanitized.law.cdf(2) > says_below
    assert sparse.on([(3,)]).row((3,))[("below",)] > 0  # and sparse vector can be wrong
    assert sanitized.law.cdf(2 - 3) == 0


def test_patterns_are_all_that_can_be_said() -> None:
    assert patterns(2, 1) == [("below", "below"), ("below", "above"), ("above", None)]
    assert len(patterns(3, 2)) == 1 + 3 + 3  # the third of three is None after two above


@pytest.mark.sweep
@pytest.mark.statistical
def test_releases_follow_the_matrix() -> None:
    """False alarm below 1e-6; a fresh threshold for each count is rejected."""
    made, truth, n = SparseVector("1", at_most=0, monotonic=True), np.array([0, 0]), 4000
    row = made.on([(0, 0)]).row((0, 0))
    bits = SeededBitsForTests(1)
    keys = [[word == "above" for word in z] for z in row]  # the third pattern has stopped before the second count
    chances = [float(p) for p in row.values()]
    said = [made.release(truth, bits).above.tolist() for _ in range(n)]
    assert rejects([said.count(k) for k in keys], chances, n) is None
    fresh = np.array([made.release(truth[:1], bits).above[0] for _ in range(2 * n)]).reshape(n, 2)
    fresh[:, 1] &= ~fresh[:, 0]
    assert rejects([fresh.tolist().count(k) for k in keys], chances, n)


def test_it_stops() -> None:
    answers = SparseVector("1", at_most=0).release([10**6, 10**6, 0], SeededBitsForTests(0))
    assert answers.answered.tolist() == [True, False, False]
    assert answers.above.tolist() == [True, False, False]


def test_what_has_no_meaning_is_refused() -> None:
    for arguments in ({"epsilon": inf}, {"epsilon": 0}, {"stop_after": 0}, {"stop_after": True}):
        with pytest.raises(InputError):
            SparseVector(**{"epsilon": "1", "at_most": 1, **arguments})  # type: ignore[arg-type]


def test_mechanisms_of_many_answers_show_what_they_are() -> None:
    assert (
        repr(Sanitized(Line(inf, "1/2"), at_most=2)) == "Sanitized(Line(rise=inf, fall=1/2), at_most=2, stop_after=1)"
    )
    assert repr(SparseVector("1/3", at_most=2)) == 'SparseVector("1/3", at_most=2, stop_after=1, monotonic=False)'


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [[1, 2]], [[1], [2]], [1.0, 2.0]])
def test_no_noise_is_spread_over_several_counts(counts: list[Any]) -> None:
    """Two thresholds: NumPy would make one noise serve several counts, or fail in the middle of a draw."""
    for mechanism in (Sanitized(Line(inf, 1), at_most=[1, 2]), SparseVector("1", at_most=[1, 2])):
        with pytest.raises(InputError, match=r"each count has one|one public order|Answers of type"):
            mechanism.release(counts)
        assert len(mechanism.release([1, 2]).answered) == 2
