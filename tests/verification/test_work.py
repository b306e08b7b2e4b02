"""Verification does bounded work: matrices read from floats give ratios of integers of hundreds of bits."""

from __future__ import annotations

import flint
import numpy as np
import pytest

from leeward import Line, Real, verify
from leeward import _integers as integers
from leeward.mechanism import FiniteMechanism

EASY_BITS = 128


@pytest.fixture
def no_large_factoring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factoring is the only step whose work is not bounded by the size of the numbers: large ones fail at once."""
    whole = flint.fmpz

    def small(number: int) -> flint.fmpz:
        assert int(number).bit_length() <= EASY_BITS
        return whole(number)

    monkeypatch.setattr(integers.flint, "fmpz", small)


def weights(points: int, rate: float) -> np.ndarray:
    at = np.arange(points)
    return np.exp(-rate * np.abs(at[:, None] - at))


def from_floats(points: int, rate: float) -> FiniteMechanism:
    matrix = weights(points, rate)
    return FiniteMechanism.from_floats(range(points), range(points), matrix / matrix.sum(axis=1, keepdims=True))


@pytest.mark.usefixtures("no_large_factoring")
@pytest.mark.parametrize("points", [2, 5, 20])
@pytest.mark.parametrize("rate", ["15", "4", "1"])
def test_no_large_integer_is_factored(points: int, rate: str) -> None:
    verdict = verify(from_floats(points, 5), Line(rate, rate))
    logs = np.log(weights(points, 5) / weights(points, 5).sum(axis=1, keepdims=True))
    pairs = [(x, y) for x in range(points) for y in range(points) if x != y]
    least = max((logs[x] - logs[y]).max() / (float(rate) * abs(x - y)) for x, y in pairs)
    assert bool(verdict) == (least <= 1)  # never within rounding of 1 here
    assert verdict.scale == pytest.approx((least, least), rel=1e-9)


@pytest.mark.usefixtures("no_large_factoring")
def test_a_knife_edge_of_small_numbers_keeps_its_closed_form() -> None:
    rows = {0: {0: "2/3", 1: "1/3"}, 1: {0: "1/3", 1: "2/3"}}
    found = verify(FiniteMechanism.from_rows(rows), Line("1", "1"))
    assert isinstance(found.exact_scale, Real)
    assert str(found.exact_scale) == "log(2)"
