"""The tests of fit themselves: how often they cry wolf, and what they catch."""

from __future__ import annotations

import numpy as np
import pytest
from tests.statistical.gof import rejects, rejects_law

pytestmark = pytest.mark.statistical


def test_a_right_law_is_rejected_no_more_often_than_stated() -> None:
    """2,000 tests at a rate of 1 in 20: at most 100 rejections expected; over 150 has probability below 1e-6."""
    rng = np.random.default_rng(1)
    law = np.array([0.5, 0.3, 0.15, 0.05])
    rejected = sum(rejects(rng.multinomial(200, law), law, 200, 0.05) is not None for _ in range(2_000))
    assert 10 < rejected <= 150  # and over 10: a test that never rejects would be no test


def test_a_small_shift_of_one_cell_is_caught() -> None:
    n, law, wrong = 200_000, np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.5, 0.29, 0.16, 0.05])
    rng = np.random.default_rng(2)
    assert rejects(rng.multinomial(n, law), law, n) is None
    assert "event" in str(rejects(rng.multinomial(n, wrong), law, n))


def test_what_cannot_happen_is_caught_at_once() -> None:
    assert rejects([999_999, 1], [1.0, 0.0], 1_000_000) is not None
    assert rejects([1_000_000, 0], [1.0, 0.0], 1_000_000) is None


def test_cells_of_integers_hold_their_upper_edge() -> None:
    sample = np.repeat([0, 1, 2, 3], 25_000)
    assert rejects_law(sample, lambda k: min(max((k + 1) / 4, 0), 1), range(-1, 5)) is None
    assert rejects_law(sample, lambda k: min(max(k / 4, 0), 1), range(-1, 5)) is not None
    assert rejects_law(sample + 1, lambda k: min(max((k + 1) / 4, 0), 1), range(-1, 5)) is not None
