"""The prices and odds in statements of series, for a grid of jobs, held against sums over noisy readings by hand.

Noise of rate r on a reading tells two values apart by r for each unit between them, norm noise two windows by r for each
unit of their largest difference; a price is the sum over all noisy readings that somebody sees. Nothing else is used.
"""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from typing import Any

import pytest
from tests.flat_series import flat_series

from leeward.local.series import SeriesStatement, Totals
from leeward.local.series._statement import statement

HOURS, EPSILON, UNIT, WIDTH, STEP = 12, 0.75, 10.0, 400.0, 2.0
GRID = [
    (between, noise, window, smooth)
    for between, noise, window, smooth in itertools.product(
        ("maximum", "manhattan", "hamming"), ("norm", "independent"), (1, 3, 4, 5, 12), (1, 3, 7)
    )
    if between == "maximum" or noise == "independent"
]


def said(between: Any, noise: Any, window: int, smooth: int) -> SeriesStatement:
    units = {} if between == "hamming" else {"unit": "10 W"}
    public = {"values": "W", "step": "2 W", "lower": "0 W", "upper": "400 W", "every": "1 h"}
    period = {"start": "2026-01-01T00:00", "end": "2026-01-01T12:00"}
    given: dict[str, Any] = {**units, **public, **period, "epsilon": "3/4"}
    made = flat_series(between=between, noise=noise, window=window, smooth=smooth, **given)
    return statement(made)


def rate(between: str, noise: str, window: int) -> float:
    """Of the noise, for each watt."""
    if between == "hamming":
        return EPSILON / WIDTH
    return EPSILON / UNIT / (window if (between, noise) == ("maximum", "independent") else 1)


def loss(noise: str, window: int, per_watt: float, seen: set[int], moves: dict[int, float]) -> float:
    """How far two series are told apart by these noisy readings."""
    if noise == "independent":
        return per_watt * sum(moves.get(i, 0.0) for i in seen)
    return per_watt * sum(
        max(moves.get(i, 0.0) for i in range(w * window, (w + 1) * window)) for w in {i // window for i in seen}
    )


def number(text: str) -> float:
    return float(Fraction(text.replace(",", "")))


def up(told: str, exactly: float) -> bool:
    """Whether what is told is what is kept, rounded up in its last digit if at all."""
    value = math.exp(float(told[2:])) if told.startswith("e^") else number(told)
    return exactly * (1 - 1e-11) <= value <= exactly * 1.02


@pytest.mark.parametrize(("between", "noise", "window", "smooth"), GRID)
def test_prices_and_odds_are_what_noisy_readings_tell(between: str, noise: str, window: int, smooth: int) -> None:
    made, r, every = said(between, noise, window, smooth), rate(between, noise, window), set(range(HOURS))
    unit = WIDTH if between == "hamming" else UNIT
    windows = [set(range(i, min(i + window, HOURS))) for i in range(0, HOURS, window)]
    near = [{j for i in held for j in range(i - smooth // 2, i + smooth // 2 + 1)} & every for held in windows]
    one = max(loss(noise, window, r, every, dict.fromkeys(held, unit)) for held in windows)
    published = max(loss(noise, window, r, seen, dict.fromkeys(every, unit)) for seen in near)
    texts = made.price.texts
    (first,) = (re.search(r"ε = (\S+)", text)[1] for text in texts if text.startswith("d_1"))  # type: ignore[index]
    assert up(first, loss(noise, window, r, every, {0: unit}))
    (change,) = (re.search(r"ε = (\S+)", text)[1] for text in texts if text.startswith("d_h"))  # type: ignore[index]
    assert up(change, loss(noise, window, r, every, {0: WIDTH}))
    each = [re.search(r"ε = (\S+)", text)[1] for text in texts if text.startswith("d_∞")]  # type: ignore[index]
    assert up(each[0], one)
    # a window at the end may be shorter: the whole is told as if it were not
    total = loss(noise, window, r, every, dict.fromkeys(every, unit))
    assert total * (1 - 1e-9) <= number(each[-1]) <= one * len(windows) * 1.001
    mixed = published > one * (1 + 1e-9)
    if mixed:
        assert number(each[1]) >= published * (1 - 1e-9)
    assert len(each) >= 2 + mixed
    # the promise: of what is published of one window, if every reading may move
    text = made.promise.text
    told = re.findall(r"at most e\^(?:ε|\([^)]*\)) = (\S+?)[;:, ]", f"{text} ")
    if between == "maximum":
        assert up(told[0], math.exp(EPSILON))
        held = told[1] if "smoothing" in text else told[0]
        assert math.log(number(held)) >= published - 1e-9
        assert one <= EPSILON + 1e-9
        assert mixed <= ("smoothing" in text)
        if not mixed and "smoothing" not in text:
            assert up(held, math.exp(published))
    # rounding: two readings a step apart that were not
    snapped = loss(noise, window, r, every, dict.fromkeys(every, STEP))
    more = re.search(r"at most ε = (\S+) more", made.snapping.text)
    assert more is not None
    assert number(more[1]) >= snapped


@pytest.mark.parametrize(("between", "noise", "window", "smooth"), GRID)
def test_readings_astride_two_windows_cost_both_where_that_is_said_and_nowhere_else(
    between: str, noise: str, window: int, smooth: int
) -> None:
    made, r, every = said(between, noise, window, smooth), rate(between, noise, window), set(range(HOURS))
    unit = UNIT
    inside = loss(noise, window, r, every, dict.fromkeys(range(window), unit))
    worst = max(
        loss(noise, window, r, every, dict.fromkeys(range(i, i + window), unit)) for i in range(HOURS - window + 1)
    )
    told = [text for text in made.not_guaranteed if "both sides of a cut is held to 2ε" in text]
    assert worst in (pytest.approx(inside), pytest.approx(2 * inside))
    assert bool(told) == (worst > inside * 1.5)


def test_a_price_that_is_a_tenth_too_small_is_rejected() -> None:
    assert up("0.75", 0.75)
    assert up("2.118", math.exp(EPSILON))
    assert not up("0.675", 0.75)
    assert not up("2.117", math.exp(EPSILON))


@pytest.mark.parametrize("of_totals", [False, True])
@pytest.mark.parametrize("missing", ["keep", "refuse"])
def test_what_a_missing_reading_shows_is_told_where_one_may_be_missing(missing: Any, of_totals: bool) -> None:
    public = {"values": "W", "step": "2 W", "lower": "0 W", "upper": "400 W", "every": "1 h"}
    period = {"start": "2026-01-01T00:00", "end": "2026-01-01T12:00"}
    made = flat_series(between="manhattan", unit="10 W", epsilon="3/4", missing=missing, **public, **period)
    told = statement(made, Totals(made) if of_totals else None).not_guaranteed
    shown = "A missing reading adds nothing" if of_totals else "Where a reading is missing, none is published"
    assert [each.startswith(shown) for each in told if "missing" in each] == [True] * (missing == "keep")
    assert any(each.startswith("Series far apart are told apart") for each in told)
