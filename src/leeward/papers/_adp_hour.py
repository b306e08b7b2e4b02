# SPDX-License-Identifier: Apache-2.0
"""ADP, Figures 1 to 4: one hour in a city, the low-sensitive query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from leeward.mechanism import alap, two_sided
from leeward.noise import SeededBitsForTests
from leeward.papers import _cities as cities
from leeward.papers._cities import City, caption_city, readings, text_city
from leeward.papers._claim import Chapter, Figure, Numbers
from leeward.papers._competitors import (
    ALL,
    CORRECTED,
    DELTA_BEST,
    DELTA_BOUND,
    EPSILON_BEST,
    EPSILON_BOUND,
    PRINTED,
    Setting,
    chances,
    expected_beta,
)
from leeward.papers._drawing import COLOURS, axes, lines, panels, place, points
from leeward.report._figures import BLUE, RED, SAND

GRID: Mapping[str, tuple[Any, ...]] = {
    "epsilon": tuple(Fraction(e) for e in ("0.1", "0.5", "1", "2", "5")),
    "t": (1, 2, 3, 5, 10),
    "alpha": tuple(Fraction(a) for a in ("0", "1e-4", "1e-3", "1e-2", "1e-1")),
    "delta": tuple(Fraction(d) for d in ("1e-5", "1e-4", "1e-3", "1e-2", "1e-1")),
}
"""The values the authors' own scripts vary."""
FINE: Mapping[str, tuple[Any, ...]] = {
    "epsilon": tuple(Fraction(e, 10) for e in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50)),
    "t": tuple(range(1, 11)),
    "alpha": tuple(Fraction(a) for a in ("1e-5", "3e-5", "1e-4", "3e-4", "1e-3", "3e-3", "1e-2", "3e-2", "1e-1")),
    "delta": tuple(Fraction(d) for d in ("1e-5", "3e-5", "1e-4", "3e-4", "1e-3", "3e-3", "1e-2", "3e-2", "1e-1")),
}
NAMES = {"epsilon": "ε", "t": "t", "alpha": "α", "delta": "δ"}
DRAWN = "ALap, drawn"
COLUMNS = ["varied", "value", "competitor", "expected_beta"]
SEED = 20131222


def chapter(full: bool) -> Chapter:
    """Return the figures and claims about one hour. The full set has all readings of Figure 3, and more draws."""
    caption, text = caption_city(), text_city()
    thousandth, ten_thousandth, never = Fraction(1, 1_000), Fraction(1, 10_000), Fraction(0)
    maps = [
        ("2", caption, never),
        ("2-text", text, never),
        ("3", text, thousandth),
        ("3-caption", caption, ten_thousandth),
    ]
    if full:
        maps += [("3-all-4", text, ten_thousandth), ("3-all-3", caption, thousandth)]
    of = {caption.name: Setting(t=3, strict=True), text.name: Setting()}
    drawn, off = _drawn({True: caption.histogram, False: text.histogram}, 50 if full else 5)
    return Chapter(
        _numbers(caption, text, off),
        [
            _two_sided(),
            Figure("adp-readings", readings()),
            *(_map(f"adp-figure-{key}", city, replace(of[city.name], alpha=alpha)) for key, city, alpha in maps),
            beta_figure("adp-figure-4-strict", [caption.histogram], True, drawn[True]),
            beta_figure("adp-figure-4-at-most", [text.histogram], False, drawn[False]),
        ],
    )


# ---- Figure 1


def _two_sided() -> Figure:
    """The four places of Figure 1, counts not printed: ours are two below the threshold 3, one at it, one above."""
    counts, t = {"a": 0, "b": 3, "c": 2, "d": 5}, 3
    dp, adp = two_sided("1").law, alap("1").law
    rows = [
        (name, c, "safe" if c < t else "dangerous", float(dp.cdf(t - 1 - c)), float(adp.cdf(t - 1 - c)))
        for name, c in counts.items()
    ]
    data = pd.DataFrame(rows, columns=["place", "count", "truth", "Pr[safe], 1-DP", "Pr[safe], ALap"])
    figure = panels(["an ε-DP answer", "ALap"])
    for panel, column in enumerate(data.columns[3:]):
        figure.add_trace(
            go.Bar(
                x=[f"{r[0]}<br>{r[2]}: {r[1]} people" for r in rows],
                y=data[column].tolist(),
                marker_color=[BLUE if r[2] == "safe" else RED for r in rows],
                text=[f"{v:.3f}" for v in data[column]],
                textposition="outside",
                cliponaxis=False,
                showlegend=False,
            ),
            **place(figure, panel),
        )
        axes(figure, panel, "", "chance of being called safe", y_range=[0, 1.12])
    return Figure("adp-figure-1", data, figure)


# ---- Figures 2 and 3


def states(city: City, setting: Setting, name: str, seed: int) -> NDArray[np.int64]:
    """Return 1 safe, 2 obscure, 3 dangerous for each place: drawn as the authors draw, each with its own β.

    *Dangerous* is dual: Pr[dangerous | c] at distance c − at_most. ADP attains min(e^{kε}·α, 1), the bound of III-A, which
    ε-DP does not reach (Section IV-C2, corrected); at α = 0 both say nothing.
    """
    rng = np.random.default_rng([SEED, seed])
    top = setting.at_most
    beta = np.asarray(chances(setting, name))
    side = EPSILON_BOUND if name in (CORRECTED, PRINTED) else name
    far = replace(setting, t=40, strict=False)
    above = np.asarray((*chances(far, side)[::-1],))  # by distance 1, 2, …
    coin = rng.random(len(city.counts))
    safe = city.counts <= top
    chance = np.where(safe, beta[np.minimum(city.counts, top)], above[np.clip(city.counts - top - 1, 0, 40)])
    return np.where(coin < chance, np.where(safe, 1, 3), 2)


def answers(city: City, setting: Setting) -> dict[str, NDArray[np.int64]]:
    """Return the states of each place in truth, and as each way of answering says them."""
    return {
        "the truth": np.where(city.counts <= setting.at_most, 1, 3),
        "ε-DP": states(city, setting, EPSILON_BOUND, 1),
        "(ε, δ)-DP": states(city, setting, DELTA_BOUND, 2),
        "ADP": states(city, setting, CORRECTED if setting.strict else PRINTED, 3),
    }


def how_many(shown: Mapping[str, NDArray[np.int64]]) -> list[tuple[str, int, int, int]]:
    """Return how many places are called safe, obscure and dangerous by each."""
    return [(name, int((s == 1).sum()), int((s == 2).sum()), int((s == 3).sum())) for name, s in shown.items()]


def _map(key: str, city: City, setting: Setting) -> Figure:
    shown = answers(city, setting)
    truth = shown["the truth"]
    names = [
        f"<b>{name}</b><br>{int((s == 1).sum()):,}/{int((truth == 1).sum()):,} safe"
        f"<br>{int((s == 3).sum()):,}/{int((truth == 3).sum()):,} dangerous"
        for name, s in shown.items()
    ]
    figure = panels(names, horizontal_spacing=0.015)
    figure.update_layout(margin={"l": 4, "r": 4, "t": 96, "b": 8})
    for panel, state in enumerate(shown.values()):
        lattice = np.zeros(cities.SIDE**2, np.int8)
        lattice[city.cells] = state
        picture = lattice.reshape(cities.SIDE, cities.SIDE)
        figure.add_trace(
            go.Heatmap(
                z=np.where(picture == 0, np.nan, picture).astype(np.float32),
                zmin=1,
                zmax=3,
                colorscale=[[0, BLUE], [0.33, BLUE], [0.34, SAND], [0.66, SAND], [0.67, RED], [1, RED]],
                showscale=False,
                hoverinfo="skip",
                hoverongaps=False,
            ),
            **place(figure, panel),
        )
        figure.update_yaxes(scaleanchor="x" if panel == 0 else f"x{panel + 1}", **place(figure, panel))
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, constrain="domain")
    for label, colour in (("safe", BLUE), ("obscure", SAND), ("dangerous", RED)):
        figure.add_trace(
            go.Scatter(
                x=[None], y=[None], mode="markers", name=label, marker={"color": colour, "symbol": "square", "size": 11}
            ),
            **place(figure, 0),
        )
    return Figure(key, pd.DataFrame(how_many(shown), columns=["answers", "safe", "obscure", "dangerous"]), figure)


# ---- Figure 4


def beta_figure(
    key: str,
    histograms: Sequence[Mapping[int, int]],
    strict: bool,
    drawn: pd.DataFrame | None = None,
    **described: str,
) -> Figure:
    """Draw E[β] against ε, t, α, δ, averaged over hours, by formula; what was drawn at random as points on top."""
    rows = [
        (axis, float(value), n, float(np.mean([expected_beta(h, _at(axis, value, strict), n) for h in histograms])))
        for axis, values in FINE.items()
        for value in values
        for n in ALL
    ]
    data = pd.DataFrame(rows, columns=COLUMNS)
    titles = [f"against {NAMES[axis]}" for axis in FINE]
    figure = panels(titles, columns=2, vertical_spacing=0.16, horizontal_spacing=0.1)
    for panel, axis in enumerate(FINE):
        wide = data[data["varied"] == axis].pivot_table(index="value", columns="competitor", values="expected_beta")
        lines(figure, panel, wide.reset_index(), "value", ALL, COLOURS, dashed=(EPSILON_BOUND, EPSILON_BEST))
        if drawn is not None and (here := drawn[drawn["varied"] == axis]).size:
            points(figure, panel, here["value"].tolist(), here["expected_beta"].tolist(), DRAWN, COLOURS[CORRECTED])
        options: dict[str, Any] = (
            {"x_type": "log", "x_dtick": 1, "x_exponentformat": "power"} if axis in ("alpha", "delta") else {}
        )
        axes(figure, panel, NAMES[axis], "E[β]", y_range=[-0.02, 1.04], **options)
    figure.update_layout(margin={"t": 118})
    return Figure(key, data if drawn is None else pd.concat([data, drawn], ignore_index=True), figure, **described)


def _drawn(cities_of: Mapping[bool, Mapping[int, int]], draws: int) -> tuple[dict[bool, pd.DataFrame], float]:
    """Draw ALap at the authors' values of ε and t; return the shares called safe, and the worst deviation of all."""
    found, worst = {}, 0.0
    for strict, histogram in cities_of.items():
        rows = []
        for axis in ("epsilon", "t"):
            for value in GRID[axis]:
                share, off = simulate(histogram, _at(axis, value, strict), draws)
                rows.append((axis, float(value), DRAWN, share))
                worst = max(worst, off)
        found[strict] = pd.DataFrame(rows, columns=COLUMNS)
    return found, worst


def _at(axis: str, value: Any, strict: bool) -> Setting:
    return replace(Setting(strict=strict), **{axis: value})


def simulate(histogram: Mapping[int, int], setting: Setting, draws: int) -> tuple[float, float]:
    """Draw ALap on all safe places; return the share called safe and its distance from E[β] in standard deviations."""
    law = alap(setting.epsilon).law
    counts = np.repeat(
        np.arange(setting.at_most + 1), [histogram.get(c, 0) for c in range(setting.at_most + 1)]
    ).astype(np.int64)
    bits = SeededBitsForTests(SEED + _number_of(setting))
    said = np.mean([np.mean(counts + law.sample(len(counts), bits) <= setting.at_most) for _ in range(draws)])
    beta = np.asarray(chances(setting, CORRECTED))[counts]
    spread = float(np.sqrt((beta * (1 - beta)).sum() / draws)) / len(counts)
    return float(said), abs(float(said) - float(beta.mean())) / spread if spread else 0.0


def _number_of(setting: Setting) -> int:
    """Return a number that names a setting, the same in every run."""
    return int(setting.epsilon * 100) * 1000 + setting.t * 10 + setting.strict


# ---- numbers


def _numbers(caption: City, text: City, worst: float) -> Numbers:
    table = readings().set_index("safe")
    strict, at_most = Setting(t=3, alpha=Fraction(0), strict=True), Setting(alpha=Fraction(0))
    safe_c = sum(n for c, n in caption.histogram.items() if c <= 2)
    safe_t = sum(n for c, n in text.histogram.items() if c <= 5)
    unsafe = cities.PLACES - cities.SAFE
    loose, tight = (
        expected_beta(text.histogram, replace(Setting(), delta=Fraction(1, 10)), name)
        for name in (DELTA_BOUND, DELTA_BEST)
    )
    alpha = {
        name: expected_beta(text.histogram, replace(Setting(), alpha=Fraction(1, 100)), name)
        for name in (DELTA_BOUND, DELTA_BEST, CORRECTED)
    }
    return [
        ("adp-places", len(caption.counts)),
        ("adp-people", caption.counts.sum()),
        ("adp-safe", safe_c if safe_c == safe_t else -1),
        ("adp-found-caption", safe_c * expected_beta(caption.histogram, strict, CORRECTED)),
        ("adp-found-text", safe_t * expected_beta(text.histogram, at_most, PRINTED)),
        ("adp-found-text-corrected", safe_t * expected_beta(text.histogram, at_most, CORRECTED)),
        ("adp-delta-caption", safe_c * expected_beta(caption.histogram, strict, DELTA_BOUND)),
        ("adp-delta-caption-best", safe_c * expected_beta(caption.histogram, strict, DELTA_BEST)),
        ("adp-delta-text", safe_t * expected_beta(text.histogram, at_most, DELTA_BOUND)),
        ("adp-readings-fewest", table["fewest_delta_answers"].iloc[0]),
        ("adp-readings-fewest-5", table["fewest_delta_answers"].iloc[4]),
        ("adp-readings-fewest-4", table["fewest_delta_answers"].iloc[3]),
        ("adp-epsilon-zero", safe_c * expected_beta(caption.histogram, strict, EPSILON_BEST)),
        ("adp-t-1", expected_beta(text.histogram, replace(at_most, t=1), PRINTED)),
        ("adp-t-1-corrected", expected_beta(text.histogram, replace(at_most, t=1), CORRECTED)),
        ("adp-t-1-strict", expected_beta(caption.histogram, replace(strict, t=1), CORRECTED)),
        *(
            (f"adp-7-attained{name}", _attained(city.histogram, name != ""))
            for name, city in (("", text), ("-strict", caption))
        ),
        ("adp-alpha-errors", unsafe * 0.01),
        ("adp-alpha-bound", alpha[DELTA_BOUND]),
        ("adp-alpha-best", alpha[DELTA_BEST]),
        ("adp-delta-bound", loose),
        ("adp-delta-best", tight),
        ("adp-simulated-hour", worst),
    ]


def _attained(histogram: Mapping[int, int], strict: bool) -> int:
    """Return in how many settings of Figure 4 the bound of III-B is the true optimum, for the counts of a histogram."""
    settings = [_at(axis, value, strict) for axis, values in FINE.items() for value in values]
    gaps = (expected_beta(histogram, s, DELTA_BOUND) - expected_beta(histogram, s, DELTA_BEST) for s in settings)
    return sum(gap < 1e-12 for gap in gaps)
