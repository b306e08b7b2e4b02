"""`rate_for(safe=…)` returns the least multiple: against a scan of *every* smaller one, over a complete grid of wishes.

The scan shares no code with the search: it adds up the unnormalised weights of the noise one by one, in extended precision.
No wish of the grid is a knife edge (asserted), so its comparisons are beyond doubt and no false alarm is possible.
"""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from leeward import inf
from leeward.distance import Line
from leeward.errors import LowUtilityError
from leeward.exact import Exact
from leeward.exact._weight import Weight, weight
from leeward.mechanism import _least_rate as least_rate
from leeward.mechanism import rate_for
from leeward.mechanism._calibration import least_multiple
from leeward.mechanism._least_rate import SafeWish
from leeward.noise import DirectedGeometric

LINES = {"two-sided": (1, 1), "upward is rarer": (1, 3), "downward is rarer": (3, 1), "only downward": (1, inf)}
ERRORS = ["0.0001", "0.01", "0.2", "0.5", "0.7"]
CHANCES = ["0.1", "0.4", "0.5", "0.6", "0.9", "0.999"]
GAPS = [1, 2, 3, 7]
STEP = Fraction(1, 20)
REACH = 400  # multiples scanned: up to a scale of 20


@functools.cache
def sums(rise: int, fall: int | None, i: int) -> np.ndarray:
    """P(K ≤ k) for k = −2000..2000, of noise with rates i·STEP·fall upward and i·STEP·rise downward."""
    scale = np.longdouble(STEP.numerator * i) / STEP.denominator
    k = np.arange(-2000, 2001)
    weights = np.where(k < 0, np.exp(scale * rise * np.minimum(k, 0)), 0)
    if fall is None:
        weights[k == 0] = 1
    else:
        weights = np.where(k < 0, weights, np.exp(-scale * fall * np.maximum(k, 0)))
    total = np.cumsum(weights)
    return np.asarray(total / total[-1])


def scanned(rise: int, fall: int | None, gap: int, chance: str, error: str) -> int | None:
    """The least multiple that meets the wish, by looking at all of them from the smallest on; None beyond the reach."""
    for i in range(1, REACH + 1):
        total = sums(rise, fall, i)
        most = np.flatnonzero(total <= float(error))[-1]
        assert np.abs(total[most : most + 2] - float(error)).min() > 1e-12
        assert abs(total[most + gap] - float(chance)) > 1e-12
        if total[most + gap] >= float(chance):
            return i
    return None


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_no_smaller_multiple_meets_the_wish(line: tuple[int, Exact]) -> None:
    rise, fall = line
    seen = 0
    for gap, chance, error in itertools.product(GAPS, CHANCES, ERRORS):
        right = scanned(rise, None if fall is inf else int(str(fall)), gap, chance, error)
        asked = {"safe": (10 - gap, 9), "probability": chance, "error_at_most": error, "step": STEP}
        if right is not None:
            seen += 1
            assert rate_for(Line(rise, fall), **asked) == right * STEP, (gap, chance, error)  # type: ignore[arg-type]
    assert seen > 100  # of 120


def test_halving_would_miss_the_least() -> None:
    """The wish is not monotone in the rate: the search that was here before answers some wishes of this grid wrongly."""
    wrong = 0
    for (rise, fall), gap, chance, error in itertools.product(LINES.values(), GAPS, CHANCES, ERRORS):
        right = scanned(rise, None if fall is inf else int(str(fall)), gap, chance, error)

        def met(c: Fraction) -> bool:
            total = sums(rise, None if fall is inf else int(str(fall)), int(c / STEP))  # noqa: B023 - used at once
            return bool(total[np.flatnonzero(total <= float(error))[-1] + gap] >= float(chance))  # noqa: B023

        if right is not None:
            wrong += least_multiple(met, STEP) != right * STEP
    assert wrong >= 5


def test_rates_of_any_size_are_gone_through_by_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Millions of multiples take few looks, and those that would take too many are refused in words."""
    looks = []
    look = SafeWish._below
    monkeypatch.setattr(SafeWish, "_below", lambda self, i: looks.append(i) or look(self, i))
    found = rate_for(Line(1, 1), safe=(0, 10**6), probability="0.9", error_at_most="1e-9", step="1e-12")
    assert 0 < found < Fraction(1, 10**4)
    assert len(looks) < 10
    monkeypatch.setattr(least_rate, "MOST_STRETCHES", 2)
    with pytest.raises(LowUtilityError, match="stretches of rates"):
        rate_for(Line(1, 1), safe=(0, 9), probability="0.01000001", error_at_most="0.01", step="1e-13")


@pytest.mark.parametrize("tiny", ["1e-400", "1e-900"])
def test_probabilities_that_no_float_holds(tiny: str) -> None:
    found = rate_for(Line(1, inf), safe=(0, 9), probability="0.5", error_at_most=tiny, step="1/10")
    powers = {"1e-400": 400, "1e-900": 900}[tiny]
    # P(K <= -m) = e^(-cm): the largest k is -ceil(ln(1/error)/c), and k + 10 >= 0 or e^(c(k + 10)) >= 1/2
    right = next(
        c
        for i in range(1, 10**4)
        if ((c := Fraction(i, 10)) and (m := -(-powers * np.log(10) // float(c))) <= 10)
        or float(c) * (m - 10) <= np.log(2)
    )
    assert found == right


def exactly(line: Line, gap: int, chance: Weight, error: Weight) -> int:
    """The least multiple that meets the wish, where every comparison is exact."""
    for i in itertools.count(1):
        law = DirectedGeometric(up=line.fall * STEP * i, down=line.rise * STEP * i)
        below = next(k for k in range(-20, 60) if law.cdf(k + 1) > error)
        if law.cdf(below + gap) >= chance:
            return i
    raise AssertionError


@pytest.mark.parametrize("line", [Line(1, 1), Line(1, 3), Line(3, 1)], ids=str)
@pytest.mark.parametrize(("below", "gap"), [(-3, 2), (-3, 5), (-1, 1), (0, 2)])
def test_on_a_knife_edge_what_is_equal_is_kept_and_what_is_a_hair_less_is_not(line: Line, below: int, gap: int) -> None:
    """Nothing said so: what floats cannot decide was decided by a law that no test looked at."""
    law = DirectedGeometric(up=line.fall * STEP * 6, down=line.rise * STEP * 6)
    hair = weight(Fraction(1, 10**14))
    for chance, error in itertools.product(
        *([law.cdf(k) + by for by in (-hair, 0, hair)] for k in (below + gap, below))
    ):
        found = SafeWish(line, gap, chance, error, STEP, REACH).least()
        assert found == exactly(line, gap, chance, error)
