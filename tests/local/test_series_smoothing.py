"""What a moving average over noisy readings costs whoever sees one window, and how far off readings are between grid points.

The oracle adds up the law of what is published of a window by hand, from its own weights of noise; `lw.Series` is asked
nothing but its statement, and to draw.
"""

from __future__ import annotations

import itertools
import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.flat_series import flat_series
from tests.statistical.gof import rejects

import leeward as lw
from leeward.local.series import Totals
from leeward.local.series._statement import statement
from leeward.noise import SeededBitsForTests

START = datetime(2026, 1, 1)
WIDE = 9
"""Noise beyond so many steps is left out of the oracle, and its mass counted against what is found."""

CASES = [
    *itertools.product(("independent",), (1, 2, 3), (3,)),
    ("independent", 1, 5),
    *itertools.product(("norm",), (1, 2), (3,)),
]


def series(hours: int, **more: Any) -> lw.Series:
    given: dict[str, Any] = {
        "epsilon": "1",
        "unit": "1 W",
        "values": "W",
        "step": "1 W",
        "lower": "0 W",
        "upper": "20 W",
        "start": START.isoformat(),
        "end": (START + timedelta(hours=hours)).isoformat(),
        "every": "1 h",
        "bits": SeededBitsForTests(5),
    }
    return flat_series(**{**given, **more})


def drawn(made: lw.Series, hours: int, watts: float, meters: int) -> np.ndarray:
    """Published readings, shape (meters, hours), of meters that all read the same."""
    rows = itertools.product(range(meters), range(hours))
    frame = pd.DataFrame([(m, START + timedelta(hours=h)) for m, h in rows], columns=["meter", "time"])
    out = made.perturb(frame.assign(watts=watts), time="time", value="watts", meter="meter")
    return out["watts"].to_numpy().reshape(meters, hours)


# ---- the law of what is published of a window, by hand

RATE = 2
"""Of the noise of one reading where each has its own, else of a window's."""


def epsilon_of(noise: str, window: int) -> int:
    return RATE * window if noise == "independent" else RATE


def weights(noise: str, window: int) -> np.ndarray:
    """The law of the noise of one window at `epsilon_of` it, an axis a reading; beyond `WIDE` nothing is there."""
    k = np.arange(-WIDE, WIDE + 1)
    if noise == "independent":
        a = math.exp(-RATE)
        one = (1 - a) / (1 + a) * a ** np.abs(k)
        law = np.ones(())
        for _ in range(window):
            law = np.multiply.outer(law, one)
        return law
    far = np.abs(np.stack(np.meshgrid(*[k] * window, indexing="ij"))).max(axis=0)
    shells = np.arange(400)
    inner = np.where(shells > 0, np.maximum(2 * shells - 1, 0) ** window, 0)
    whole = (((2 * shells + 1) ** window - inner) * np.exp(-RATE * shells)).sum()
    return np.exp(-RATE * far) / whole


def published_law(noise: str, window: int, smooth: int) -> tuple[dict[tuple[int, ...], float], float]:
    """The law of a published window in the middle of others, all readings 0, and the mass that is left out of it."""
    beside = smooth // 2
    around = math.ceil(beside / window)
    law = weights(noise, window)
    # the noisy readings within reach, window by window; those out of reach are summed over
    seen, low, high = np.ones(()), around * window - beside, (around + 1) * window + beside
    for at in range(2 * around + 1):
        out = [i for i in range(window) if not low <= at * window + i < high]
        seen = np.multiply.outer(seen, law.sum(axis=tuple(out)) if out else law)
    moves = np.stack(np.meshgrid(*[np.arange(-WIDE, WIDE + 1)] * seen.ndim, indexing="ij")).reshape(seen.ndim, -1)
    means = np.stack([np.floor(moves[i : i + smooth].sum(axis=0) / smooth + 0.5) for i in range(window)]).astype(int)
    code = ((means + 2 * WIDE) * (4 * WIDE + 1) ** np.arange(window)[:, None]).sum(axis=0)
    mass = np.bincount(code, weights=seen.ravel())
    found = {}
    for value in np.flatnonzero(mass):
        digits, rest = [], int(value)
        for _ in range(window):
            rest, digit = divmod(rest, 4 * WIDE + 1)
            digits.append(digit - 2 * WIDE)
        found[tuple(digits)] = float(mass[value])
    return found, 1 - float(seen.sum())


def least_loss(noise: str, window: int, smooth: int) -> float:
    """A log-ratio that some event of one published window surely has, if all readings are one step higher or not.

    The events: every published reading is at most z, or exactly these are published.
    """
    law, missing = published_law(noise, window, smooth)
    best = 0.0
    for z in range(-WIDE, 1):
        low = sum(p for out, p in law.items() if max(out) <= z)
        high = sum(p for out, p in law.items() if max(out) <= z - 1)
        best = max(best, math.log(low / (high + missing)))
    for out, p in law.items():
        best = max(best, math.log(p / (law.get(tuple(z - 1 for z in out), 0.0) + missing)))
    return best


@pytest.mark.parametrize(("noise", "window", "smooth"), CASES)
def test_what_is_published_of_a_window_is_told_apart_by_what_is_stated_and_mostly_by_more_than_epsilon(
    noise: Any, window: int, smooth: int
) -> None:
    epsilon = epsilon_of(noise, window)
    made = series(window * 5, window=window, smooth=smooth, noise=noise, epsilon=epsilon)
    found, told = least_loss(noise, window, smooth), float(made.published)
    assert found <= told
    # the promise without smoothing would be false; by how much, is too close to say where three readings are seen of five
    assert (found > epsilon) == ((noise, window) != ("independent", 3))
    text = statement(made).promise.text
    assert f"e^({made.published}) = " in text
    assert "differ by at most" not in text
    if window == 1:
        assert found > 0.7 * told  # and hardly less is true


def test_the_oracle_has_the_law_that_is_drawn() -> None:
    # an exact binomial test of each of two events; false alarm 2e-6
    for noise, window in (("independent", 1), ("norm", 2)):
        law, missing = published_law(noise, window, 3)
        made = series(window * 3, window=window, smooth=3, noise=noise, epsilon=epsilon_of(noise, window))
        out = drawn(made, window * 3, 10, 20_000)[:, window : 2 * window] - 10
        seen = int((out.max(axis=1) <= -1).sum())
        p = sum(mass for z, mass in law.items() if max(z) <= -1)
        assert missing < 1e-3
        assert rejects([seen], [p], len(out), 1e-6) is None
        assert rejects([seen], [1.3 * p], len(out), 1e-6) is not None


@pytest.mark.parametrize("noise", ["independent", "norm"])
def test_what_a_published_window_comes_from_is_counted_reading_by_reading(noise: Any) -> None:
    for window, smooth, hours in itertools.product((1, 2, 3, 5), (1, 3, 5, 9), (5, 6, 11)):
        made = series(hours, window=window, smooth=smooth, noise=noise)
        most = 0
        for first in range(0, hours, window):
            held = range(first, min(first + window, hours))
            near = {j for i in held for j in range(max(i - smooth // 2, 0), min(i + smooth // 2 + 1, hours))}
            most = max(most, len({j // window for j in near}) if noise == "norm" else len(near))
        exactly = most * float(made.mechanism.rate)
        told = float(made.published)
        assert told >= exactly - 1e-12
        room = 1 if noise == "norm" else window  # at the ends of a short period there is less to see
        assert told <= float(made.mechanism.rate) * max(min(most + 2 * (smooth // 2), hours), room) + 1e-12
        if hours >= window * (2 * math.ceil(smooth // 2 / window) + 1):
            assert told == pytest.approx(exactly)
        assert (told > float(made.price.window) + 1e-12) == ("smoothing" in statement(made).promise.text)
        # nothing else that is promised changes
        plain = series(hours, window=window, noise=noise)
        assert made.price == plain.price


def test_promises_about_the_whole_series_and_about_totals_do_not_change_by_smoothing() -> None:
    for given in ({"between": "manhattan"}, {"between": "hamming", "unit": None}):
        made, plain = series(6, smooth=3, **given), series(6, **given)
        assert statement(made).promise == statement(plain).promise
        assert float(statement(made).price.maximum_published_window) == pytest.approx(3 * float(plain.price.window))
    totals = Totals(series(48, smooth=3), "day")
    assert "smoothing" not in statement(totals.series, totals).promise.text
    assert statement(totals.series, totals) == statement(series(48), Totals(series(48), "day"))


# ---- how far off a reading is


@pytest.mark.parametrize("noise", ["independent", "norm"])
@pytest.mark.parametrize("epsilon", ["1/3", "1", "5/2"])
def test_a_reading_between_grid_points_is_off_by_what_is_told(noise: Any, epsilon: str) -> None:
    # means of 80,000 readings, tested at five deviations each: false alarm 3e-6 in all
    made = series(4, window=2, noise=noise, epsilon=epsilon)
    told = statement(made).mean_error
    for watts, expected in ((10.0, told.reading), (10.5, told.reading_halfway)):
        off = np.abs(drawn(made, 4, watts, 20_000) - watts)
        room = 5 * off.std() / math.sqrt(len(off) / 2)  # readings of a window share their radius
        assert abs(off.mean() - expected) < room
        if watts == 10.5:
            assert epsilon == "1/3" or abs(off.mean() - told.reading) > room  # what was told before is rejected
    assert f"{told.reading_halfway:,.4g} W" in told.text
