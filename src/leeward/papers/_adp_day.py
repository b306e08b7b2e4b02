# SPDX-License-Identifier: Apache-2.0
"""ADP, Figures 5 and 6: one day, the high-sensitive query, answered by SALap in a public random order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from leeward.distance import Line
from leeward.exact._real import inf
from leeward.mechanism import Sanitized
from leeward.noise import SeededBitsForTests
from leeward.papers._adp_hour import GRID, SEED
from leeward.papers._cities import day_city
from leeward.papers._claim import Chapter, Figure, Numbers
from leeward.papers._competitors import (
    CORRECTED,
    DELTA_BOUND,
    PRINTED,
    Setting,
    chances,
    expected_beta,
    right_at_random,
)
from leeward.papers._drawing import COLOURS, GREEN, axes, lines, panels, place, points
from leeward.report._figures import GREY

MOST = 60
"""Right answers shown in Figure 5."""
DAY = Setting()
SALAP_PRINTED, SALAP = "SALap as printed", "SALap, corrected"
AGAIN = "SALap as in the authors' scripts"
ONE_PLACE = "ALap at one place"


def chapter(full: bool) -> Chapter:
    """Return the figures and claims about one day."""
    city = day_city()
    histogram = city.histogram
    runs = 10_000 if full else 1_000
    exact = cumulative(histogram, DAY)
    shares, off = simulated(city.counts, DAY, runs)
    figures = [right_figure("adp-figure-5", exact, shares, runs), number_figure("adp-figure-6", histogram)]
    return Chapter(_claims(histogram, exact, off), figures)


def at_least(histogram: Mapping[int, int], beta: tuple[float, ...], most: int = MOST) -> list[float]:
    """Return Pr[at least m right answers] for m = 0, …, most, in a uniformly random order of all places.

    The first m places of the order are all safe and all called so: e_m(β)/C(N, m), the elementary symmetric mean, read off
    the product of (1 + β_c·x)^{n_c} up to x^most.
    """
    product = np.zeros(most + 1)
    product[0] = 1.0
    for c, b in enumerate(beta):
        n = histogram.get(c, 0)
        factor = np.array([math.comb(n, m) * b**m for m in range(most + 1)])
        product = np.convolve(product, factor)[: most + 1]
    places = sum(histogram.values())
    return [float(product[m] / math.comb(places, m)) if m <= places else 0.0 for m in range(most + 1)]


def cumulative(histogram: Mapping[int, int], setting: Setting, most: int = MOST) -> pd.DataFrame:
    """Return the curves of Figure 5, exact: m, and for each way of answering the chance of at least m right answers."""
    one = chances(setting, PRINTED)
    right = right_at_random(histogram, setting, PRINTED)
    return pd.DataFrame(
        {
            "m": range(most + 1),
            SALAP_PRINTED: at_least(histogram, one, most),
            SALAP: at_least(histogram, chances(setting, CORRECTED), most),
            AGAIN: [right ** max(m - 1, 0) for m in range(most + 1)],
            ONE_PLACE: [1.0, right] + [0.0] * (most - 1),
        }
    )


def simulated(counts: np.ndarray[Any, Any], setting: Setting, runs: int) -> tuple[dict[int, float], float]:
    """Run Leeward's SALap on random orders; return shares of runs with at least m answers, and the worst deviation."""
    mechanism = Sanitized(Line(inf, setting.epsilon), at_most=setting.at_most)
    rng, bits = np.random.default_rng([SEED, 5]), SeededBitsForTests(SEED)
    first = min(len(counts), 400)
    right = np.array(
        [int(mechanism.release(rng.choice(counts, first, replace=False), bits).safe.sum()) for _ in range(runs)]
    )
    values, places = np.unique(counts, return_counts=True)
    exact = at_least(dict(zip(values.tolist(), places.tolist(), strict=True)), chances(setting, CORRECTED), MOST)
    shares = {m: float((right >= m).mean()) for m in range(0, MOST + 1, 5)}
    off = max(
        (
            abs(share - exact[m]) / math.sqrt(exact[m] * (1 - exact[m]) / runs)
            for m, share in shares.items()
            if 0.002 < exact[m] < 0.998
        ),
        default=0.0,
    )
    return shares, off


def right_figure(key: str, exact: pd.DataFrame, shares: dict[int, float], runs: int, **described: str) -> Figure:
    """Draw how likely at least so many right answers are: the curves, and the runs as points on top."""
    figure = panels(["one day, t = 5, ε = 1, α = 0"])
    colours = {SALAP: COLOURS[CORRECTED], SALAP_PRINTED: COLOURS[PRINTED], AGAIN: GREEN, ONE_PLACE: GREY}
    lines(figure, 0, exact, "m", colours, colours, dashed=[AGAIN])
    points(figure, 0, list(shares), list(shares.values()), f"SALap, {runs:,} runs", COLOURS[CORRECTED])
    axes(figure, 0, "at least so many right answers", "probability", y_range=[-0.02, 1.04], x_range=[-0.5, MOST])
    drawn = exact.assign(**{"SALap, drawn": exact["m"].map(shares)})
    return Figure(key, drawn, figure, **described)


def number_figure(key: str, histogram: Mapping[int, int], **described: str) -> Figure:
    """Draw E[β] and the expected number of right answers: q/(1 − q) where a random place is answered right with chance q."""
    names = (CORRECTED, PRINTED, DELTA_BOUND)
    rows = []
    for axis in ("alpha", "epsilon", "t"):
        for value in GRID[axis]:
            setting = replace(DAY, **{axis: value})
            for n in names:
                q = right_at_random(histogram, setting, n)
                rows.append(
                    (axis, float(value), n, expected_beta(histogram, setting, n), q / (1 - q) if q < 1 else math.inf)
                )
    data = pd.DataFrame(rows, columns=["varied", "value", "competitor", "expected_beta", "right_answers"])
    figure = panels(
        ["against α", "against ε", "against t"], specs=[[{"secondary_y": True}] * 3], horizontal_spacing=0.09
    )
    for panel, axis in enumerate(("alpha", "epsilon", "t")):
        here = data[data["varied"] == axis]
        ticks = [f"{v:g}" for v in GRID[axis]] if axis == "t" else [f"{float(v):g}" for v in GRID[axis]]
        for n in names:
            one = here[here["competitor"] == n]
            shared = {"legendgroup": n, "showlegend": panel == 0, "name": n}
            figure.add_trace(
                go.Bar(
                    x=ticks,
                    y=one["right_answers"].tolist(),
                    marker_color=COLOURS[n],
                    opacity=0.45,
                    **{**shared, "showlegend": False},
                ),
                **place(figure, panel),
                secondary_y=False,
            )
            figure.add_trace(
                go.Scatter(
                    x=ticks, y=one["expected_beta"].tolist(), mode="lines+markers", line={"color": COLOURS[n]}, **shared
                ),
                **place(figure, panel),
                secondary_y=True,
            )
        figure.update_xaxes(
            title_text={"alpha": "α", "epsilon": "ε", "t": "t"}[axis], type="category", **place(figure, panel)
        )
        figure.update_yaxes(
            title_text="right answers (bars)" if not panel else "",
            range=[0, None],
            **place(figure, panel),
            secondary_y=False,
        )
        figure.update_yaxes(
            title_text="E[β] (lines)" if panel == 2 else "",
            range=[0, 1.04],
            tickmode="array",
            tickvals=[0, 0.25, 0.5, 0.75, 1],
            showgrid=False,
            **place(figure, panel),
            secondary_y=True,
        )
    return Figure(key, data, figure, **described)


def _claims(histogram: Mapping[int, int], exact: pd.DataFrame, off: float) -> Numbers:
    places = sum(histogram.values())

    def right(**change: Any) -> float:
        q = right_at_random(histogram, replace(DAY, **change), PRINTED)
        return q / (1 - q)

    # ALap on all places at once: ε/N for each
    spread = sum(histogram.get(c, 0) * -math.expm1(-(5 - c) / places) for c in range(6))

    return [
        ("adp-ten", exact[SALAP_PRINTED][10]),
        ("adp-ten-corrected", exact[SALAP][10]),
        ("adp-ten-scripts", exact[AGAIN][10]),
        ("adp-alap-one", exact[ONE_PLACE][1]),
        ("adp-alap-all", spread),
        ("adp-t-1-day", expected_beta(histogram, replace(DAY, t=1), PRINTED)),
        ("adp-salap-expected", right()),
        ("adp-collapse-epsilon", right(epsilon=GRID["epsilon"][1]) / right()),
        ("adp-collapse-epsilon-10", right(epsilon=GRID["epsilon"][0]) / right()),
        ("adp-collapse-t", right(t=2) / right()),
        ("adp-simulated-day", off),
    ]
