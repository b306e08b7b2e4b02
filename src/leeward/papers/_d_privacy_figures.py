# SPDX-License-Identifier: Apache-2.0
"""d-privacy: Figures 1 to 4 and Examples 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.integrate import dblquad, quad

from leeward.analysis._usefulness import useful_within, usefulness
from leeward.distance import FiniteDistance, Line
from leeward.exact._weight import log, weighted_sum
from leeward.mechanism import FiniteMechanism, Geometric, NormMechanism, truncated_geometric
from leeward.noise import SeededBitsForTests
from leeward.notion import ABSENT, Manhattan, Maximum, ValueGrid, all_tables
from leeward.papers._claim import Chapter, Figure, Numbers
from leeward.papers._drawing import PURPLE, axes, lines, panels, place, points
from leeward.papers._household import household_power
from leeward.report._figures import BLUE, GREY, RED, SAND
from leeward.verification import verify

DAYS = 5_000
READINGS = 30
"""As many as in the paper's five minutes at 10 seconds; the household's are a minute apart."""
START = "2006-12-21 15:21:00"
UNIT = 10
"""Watts that ε is about in Example 2."""
SEED = 11


def chapter(full: bool) -> Chapter:
    """Return the figures and claims of the examples."""
    counter, counter_claims = _figure_1()
    constants, constants_claims = _figure_2()
    useful, useful_claims = _figure_3(full)
    signature, signature_claims = _figure_4()
    return Chapter(
        [*counter_claims, *constants_claims, *useful_claims, *signature_claims], [counter, constants, useful, signature]
    )


# ---- Figure 1


def _figure_1() -> tuple[Figure, Numbers]:
    """H is private for the path that f leaves behind, and not for d_Y: y_1, y_3 are at 1 there, but their secrets at 2."""
    answers = FiniteMechanism(["y1", "y2", "y3"], ["z1", "z2"], [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
    ln2 = log(2)
    path = FiniteDistance(["x1", "x2", "x3"], [[ln2 * abs(i - j) for j in range(3)] for i in range(3)])
    triangle = FiniteDistance(["y1", "y2", "y3"], [[ln2 * int(i != j) for j in range(3)] for i in range(3)])
    carried = answers.pull_back(["x1", "x2", "x3"], lambda x: "y" + x[1])
    composed, alone = verify(carried, path), verify(answers, triangle)
    data = pd.DataFrame(
        [(y, z, float(answers.probability(y, z))) for y in answers.inputs for z in answers.outputs],
        columns=["y", "z", "H"],
    )
    figure = panels(["H(y)(z)"])
    for z, colour in (("z1", BLUE), ("z2", SAND)):
        here = data[data["z"] == z]
        figure.add_trace(
            go.Bar(x=here["y"].tolist(), y=here["H"].tolist(), name=z, marker_color=colour), **place(figure, 0)
        )
    axes(figure, 0, "", "probability", y_range=[0, 1])
    return Figure("d-privacy-figure-1", data, figure), [
        ("d-privacy-1-composed", _scale(composed)),
        ("d-privacy-1-alone", _scale(alone)),
        ("d-privacy-1-bound", 2 * answers.probability("y3", "z1")),
    ]


def _scale(verdict: Any) -> float:
    return float(verdict.exact_scale) if verdict.exact_scale is not None else float(verdict.scale[1])


# ---- Figure 2


def _figure_2() -> tuple[Figure, Numbers]:
    e, q, k = 0.7, Fraction(1, 2), 6
    one = quad(lambda z: e / 2 * math.exp(-e * abs(z)), 0, math.inf)[0] * 2
    plane = quad(lambda r: e * e / (2 * math.pi) * math.exp(-e * r) * 2 * math.pi * r, 0, math.inf)[0]
    manhattan = 4 * dblquad(lambda y, x: e * e / 4 * math.exp(-e * (x + y)), 0, 60, 0, 60)[0]
    tg = truncated_geometric("7/10", k, step=q).on(range(k + 1))
    sums = [weighted_sum((p, 1) for p in tg.row(y).values()) for y in tg.inputs]
    step = math.exp(e * float(q))
    edge, inner = step / (step + 1), (step - 1) / (step + 1)
    off = max(
        abs(float(tg.probability(y, z)) - (inner if 0 < z < k else edge) * step ** -abs(y - z))
        for y in range(k + 1)
        for z in range(k + 1)
    )
    twice = truncated_geometric("2", 4).on(range(5))
    rows = [
        ("(i) the line, d_ℝ", "ε/2", one),
        ("(ii) the plane, d_2", "ε²/2π", plane),
        ("(iii) the plane, d_1", "ε²/4", manhattan),
        ("(iv) q[0..k], d_ℝ", "e^{qε}/(e^{qε}+1), (e^{qε}−1)/(e^{qε}+1)", float(min(sums))),
    ]
    data = pd.DataFrame(rows, columns=["mechanism", "scaling", "total probability"])
    return Figure("d-privacy-figure-2", data), [
        ("d-privacy-2-i", one),
        ("d-privacy-2-ii", plane),
        ("d-privacy-2-iii", manhattan),
        ("d-privacy-2-iv", sum(s == 1 for s in sums)),
        ("d-privacy-2-iv-law", round(off, 12)),
        ("d-privacy-2-iv-private", _scale(verify(tg, Line("7/20", "7/20")))),
        ("d-privacy-theorem-10-epsilon", _scale(verify(twice, Line(1, 1)))),
    ]


# ---- Figure 3 and Example 1


def _figure_3(full: bool) -> tuple[Figure, Numbers]:
    """The earliest of some dates in 0..5000: ε·d_h takes rate ε/5000, ε/5·d_1 rate ε/5."""
    hamming, close = (Geometric(Line(r, r)) for r in (Fraction(1, DAYS), Fraction(1, 5)))
    alphas = sorted({*range(21), *(round(10 ** (i / 20)) for i in range(75))})
    alphas = [a for a in alphas if a <= DAYS]
    rows = [
        (a, float(usefulness(hamming, a)), float(usefulness(close, a)), math.exp(-a / DAYS), math.exp(-a / 5))
        for a in alphas
    ]
    names = ["ε·d_h", "(ε/5)·d_1"]
    data = pd.DataFrame(rows, columns=["alpha_days", *names, "ε·d_h, continuous", "(ε/5)·d_1, continuous"])
    figure = panels(["ε = 1: the answer is within α days with probability 1 − δ"])
    lines(figure, 0, data, "alpha_days", names, dict(zip(names, (RED, BLUE), strict=True)))
    draws = 20_000 if full else 2_000
    bits = SeededBitsForTests(SEED)
    for mechanism, colour, name in ((hamming, RED, "ε·d_h, drawn"), (close, BLUE, "(ε/5)·d_1, drawn")):
        errors = np.abs(mechanism.law.sample(draws, bits))
        seen = [1, 3, 10, 30, 100, 300, 1000, 3000]
        points(figure, 0, seen, [float((errors > a).mean()) for a in seen], name, colour)
    axes(figure, 0, "α, days", "δ", x_type="log", y_range=[-0.02, 1.04])
    values = ValueGrid(0, DAYS)
    return Figure("d-privacy-figure-3", data, figure), [
        ("d-privacy-example-1-hamming", values.width),
        ("d-privacy-example-1-alpha-h", useful_within(hamming, "0.05")),
        ("d-privacy-example-1-alpha-1", useful_within(close, "0.05")),
        ("d-privacy-example-1-delta-h", usefulness(hamming, 30)),
        ("d-privacy-example-1-delta-1", usefulness(close, 30)),
        ("d-privacy-example-1-level", Manhattan(1, values, unit=5).record(0, 5)),
        ("d-privacy-example-1-presence", Manhattan(1, values, unit=5).record(0, ABSENT)),
    ]


# ---- Figure 4 and Example 2


def signature() -> pd.DataFrame:
    """Return the readings of Example 2: half an hour of the household."""
    power = household_power()
    start = power.index[power["datetime"] == START][0]
    return power.iloc[start : start + READINGS].reset_index(drop=True)


def _figure_4() -> tuple[Figure, Numbers]:
    data = signature()
    truth = data["watts"].to_numpy(np.int64)
    bits = SeededBitsForTests(SEED)

    def noisy(epsilon: Fraction) -> Any:
        return Geometric(Line(epsilon / UNIT, epsilon / UNIT)).noisy(truth, bits)

    tenth, half = Fraction(1, 10), Fraction(1, 2)
    shown = {"noise of ε = .1": noisy(tenth), "noise of ε = .5": noisy(half)}
    norm = NormMechanism(Line(half / UNIT, half / UNIT), READINGS)
    product = Geometric(Line(half / UNIT / READINGS, half / UNIT / READINGS))
    shown["ε·d_∞, ε = .5: norm noise"] = norm.noisy(truth[None, :], bits)[0]
    shown["ε·d_∞, ε = .5: independent noise"] = product.noisy(truth, bits)
    minute = list(range(READINGS))
    figure = panels(
        ["(a) true", "(b) as in the paper: noise of rate ε per 10 W", "(c) truly ε·d_∞"], horizontal_spacing=0.08
    )
    for panel in range(3):
        lines(figure, panel, pd.DataFrame({"minute": minute, "true": truth}), "minute", ["true"], {"true": GREY})
        axes(figure, panel, "minutes", "watts" if panel == 0 else "")
    for (name, values), panel, colour in zip(shown.items(), (1, 1, 2, 2), (BLUE, PURPLE, RED, SAND), strict=True):
        points(figure, panel, minute, np.asarray(values).tolist(), name, colour)
    drawn = data.assign(**{name: np.asarray(values) for name, values in shown.items()})
    errors = {e: float(Geometric(Line(e / UNIT, e / UNIT)).expected_error()) for e in (tenth, half)}
    two: Sequence[tuple[Fraction, ...]] = all_tables(ValueGrid(0, 2).points, 2)
    one = Geometric(Line(1, 1), lower=0, upper=2).on(range(3))
    pair = FiniteMechanism.product([one, one]).pull_back(two, lambda x: tuple(int(v) for v in x))
    series: FiniteDistance[Any] = Maximum("1", ValueGrid(0, 2), nobody=False).on(two)
    summed: FiniteDistance[Any] = Manhattan("1", ValueGrid(0, 2), nobody=False).on(two)
    return Figure("d-privacy-figure-4", drawn, figure), [
        ("d-privacy-example-2-d1", _scale(verify(pair, summed))),
        ("d-privacy-example-2-dinf", _scale(verify(pair, series))),
        ("d-privacy-example-2-hides", errors[tenth] / errors[half]),
        ("d-privacy-example-2-error-1", errors[tenth]),
        ("d-privacy-example-2-error-5", errors[half]),
        ("d-privacy-example-2-recognised-1", _correlation(truth, shown["noise of ε = .1"])),
        ("d-privacy-example-2-recognised-5", _correlation(truth, shown["noise of ε = .5"])),
        ("d-privacy-example-2-norm", float(norm.expected_error()) / float(product.expected_error())),
    ]


def _correlation(truth: Any, noisy: Any) -> float:
    return float(np.corrcoef(truth, noisy)[0, 1])


__all__ = ["chapter", "signature"]
