"""Sums at the ends of 64 bits, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leeward.errors import InputError
from leeward.noise import add_saturating

LEAST, MOST = -(2**63), 2**63 - 1
EDGES = [LEAST, LEAST + 1, -(2**62) - 1, -1, 0, 1, 2**62, MOST - 1, MOST]
integers = st.sampled_from(EDGES) | st.integers(LEAST, MOST)


def test_every_pair_of_edges() -> None:
    pairs = [(c, z) for c in EDGES for z in EDGES]
    counts, noise = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    assert add_saturating(counts, noise).tolist() == [max(LEAST, min(MOST, c + z)) for c, z in pairs]


@settings(derandomize=True)
@given(integers, integers, integers, integers)
def test_it_is_the_clamped_integer_sum(count: int, noise: int, one: int, two: int) -> None:
    lower, upper = sorted((one, two))
    total = add_saturating(np.array([count]), np.array([noise]), lower, upper)
    assert total.dtype == np.int64
    assert total.tolist() == [max(lower, min(upper, count + noise))]


def test_one_number_is_no_exception() -> None:
    assert add_saturating(np.array(MOST), np.array(1)) == MOST


@pytest.mark.parametrize(("lower", "upper"), [(1, 0), (LEAST - 1, 0), (0, MOST + 1)])
def test_bounds_out_of_order_or_range_are_refused(lower: int, upper: int) -> None:
    with pytest.raises(InputError, match="Bounds"):
        add_saturating(np.zeros(1, np.int64), np.zeros(1, np.int64), lower, upper)
