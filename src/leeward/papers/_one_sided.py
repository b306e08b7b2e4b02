# SPDX-License-Identifier: Apache-2.0
"""*One-Sided Differential Privacy*: its propositions verified, equation (3)'s region, and what noise does to histograms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from leeward.distance import FiniteDistance, Line
from leeward.exact._real import inf
from leeward.exact._weight import exp, exp_minus, log, weight, weighted_sum
from leeward.mechanism import (
    SubsampledCount,
    addition_only,
    as_postprocessing,
    removal_only,
    sample_tables,
    thinning,
    two_sided,
)
from leeward.noise import DirectedGeometric, SeededBitsForTests
from leeward.notion import ABSENT, RemovalOnly, all_tables
from leeward.papers._claim import Chapter, Figure, Numbers
from leeward.papers._drawing import GREEN, PURPLE, axes, lines, panels, place, points
from leeward.planner._advice import Estimate, bounded_gain, crossover, filled_bins, region, variances
from leeward.query._sampling import PoissonSampling
from leeward.report._figures import BLUE, GREY, RED, SAND
from leeward.verification import verify

SPARSE = {0: 9_900, 1: 60, 2: 30, 5: 10}
"""A sparse histogram: 10,000 bins, 100 of them not empty."""
SEED = 6
AS_PRINTED: Estimate = "as printed"
UNBIASED: Estimate = "unbiased"


def chapter(full: bool) -> Chapter:
    """Return the figures and claims of the article."""
    counts = 12 if full else 6
    return Chapter(
        [*_propositions(counts), *_subsampling(4 if full else 3, counts)],
        [_one_sided_components(), _sparse(full), *_equation_3(), _amplified()],
    )


def _scale(mechanism: Any, distance: Any) -> float:
    found = verify(mechanism, distance)
    return float(found.scale[1] if found.exact_scale is None else found.exact_scale)


def _propositions(n: int) -> Numbers:
    one, two = DirectedGeometric.one_sided(1), DirectedGeometric(1, 1)
    convolved = [weighted_sum((one.pmf(k + j) * one.pmf(j), 1) for j in range(60)) for k in range(4)]
    up = addition_only("1").on(range(n))
    removal = {"sensitive", "sensitive too"}
    records = [*removal, "other"]
    return [
        ("one-sided-3", _scale(up, Line(inf, 1))),
        ("one-sided-3-removal", _scale(up, Line(1, inf))),
        ("one-sided-4", _scale(removal_only("1").on(range(n)), Line(1, inf))),
        ("one-sided-two-sided", max(abs(float(c) - float(two.pmf(k))) for k, c in enumerate(convolved))),
        ("one-sided-half", two.variance() / one.variance()),
        ("one-sided-half-gain", bounded_gain(["1/10"])["ratio"][0]),
        ("one-sided-centred", addition_only("1", centre="mean").accuracy().bias()),
        ("one-sided-centred-private", _scale(addition_only("1", centre="mean").on(range(n)), Line(inf, 1))),
        ("one-sided-sparse-up", filled_bins(one, SPARSE)),
        ("one-sided-sparse-down", filled_bins(DirectedGeometric(inf, 1), SPARSE)),
        ("one-sided-negative", 1 - exp_minus(1)),
        ("one-sided-negative-exact", _hockey(removal_only("1").on(range(2)))),
        ("one-sided-osdp", sum(x in removal and x != y for x in records for y in records)),
    ]


def _hockey(matrix: Any) -> float:
    """Σ_z max(Pr[z | 1] − e^{−1}·Pr[z | 0], 0)."""
    terms = (matrix.probability(1, z) - exp(-1) * matrix.probability(0, z) for z in matrix.outputs)
    return float(weighted_sum((max(t, weight(0)), 1) for t in terms))


def _subsampling(persons: int, n: int) -> Numbers:
    half = PoissonSampling("1/2")
    tables = all_tables(("x", ABSENT), persons)
    sampled = sample_tables(tables, half)
    single = RemovalOnly("1").on(tables)
    third = SubsampledCount("1")
    base = addition_only("1").on(range(n))
    amplified = Line(inf, 1)
    at_half = half.line(amplified)
    thinned = thinning(range(n), half).then(base)
    return [
        ("one-sided-5", _scale(sampled, single)),
        (
            "one-sided-5-addition",
            _scale(sampled, FiniteDistance(single.points, [[single(y, x) for y in tables] for x in tables])),
        ),
        ("one-sided-5-small", (1 - exp_minus("0.01")) / Fraction(1, 100)),
        ("one-sided-amplified", _scale(thinned, Line(inf, 1))),
        ("one-sided-6-removal", _scale(thinned, Line(1, inf))),
        ("one-sided-6-line", at_half.rise),
        ("one-sided-equation-3-rate", 1 / float(log(1 + exp(1)))),
        ("one-sided-equation-3", _scale(third.on(range(n)), Line(1, 1))),
        *(
            (f"one-sided-crossover-{name}{e.replace('.', '-')}", sum(crossover(e, estimate)) / 2)
            for name, estimate in (("printed-", AS_PRINTED), ("", UNBIASED))
            for e in ("0.1", "1", "3")
        ),
        ("one-sided-postprocessing", _gap(n)),
    ]


def _gap(n: int) -> float:
    top = n + 2
    usual = two_sided("1")
    clamped = type(usual)(usual.line, lower=0, upper=top).on(range(n)).then(as_postprocessing("1", top))
    other = SubsampledCount("1").on(range(top + 1))
    return max(
        abs(float(clamped.probability(c, z)) - float(other.probability(c, z))) for c in range(n) for z in range(top)
    )


def _one_sided_components() -> Figure:
    noise = {
        "two-sided (unbounded DP)": (DirectedGeometric(1, 1), GREY),
        "upward (addition-only)": (DirectedGeometric.one_sided(1), BLUE),
        "downward (removal-only)": (DirectedGeometric(inf, 1), RED),
    }
    ks = list(range(-6, 7))
    data = pd.DataFrame({"noise": ks, **{name: [float(law.pmf(k)) for k in ks] for name, (law, _) in noise.items()}})
    figure = panels(["the law of the noise, ε = 1", "variance against ε"], horizontal_spacing=0.11)
    for name, (_, colour) in noise.items():
        figure.add_trace(go.Bar(x=ks, y=data[name].tolist(), name=name, marker_color=colour), **place(figure, 0))
    axes(figure, 0, "noise", "probability")
    gain = bounded_gain([Fraction(e, 10) for e in range(2, 31, 2)])
    shown = gain.rename(columns={"two_sided": "two-sided variance", "one_sided": "one-sided variance"})
    lines(figure, 1, shown, "epsilon", shown.columns[1:3], {shown.columns[1]: BLUE, shown.columns[2]: GREY})
    axes(figure, 1, "ε", "variance", y_type="log")
    return Figure("one-sided-halves", pd.concat([data, gain], axis=1), figure)


def _sparse(full: bool) -> Figure:
    rates = [Fraction(r, 10) for r in (1, 2, 5, 10, 15, 20, 30, 40, 50)]
    rows = []
    for r in rates:
        laws = (DirectedGeometric.one_sided(r), DirectedGeometric(inf, r), DirectedGeometric(r, r))
        rows.append((float(r), *(float(filled_bins(law, SPARSE)) for law in laws)))
    names = ["upward noise", "downward noise", "two-sided noise"]
    data = pd.DataFrame(rows, columns=["epsilon", *names])
    truth = np.repeat(list(SPARSE), list(SPARSE.values())).astype(np.int64)
    bits = SeededBitsForTests(SEED)
    draws = 20 if full else 3
    figure = panels(["bins published above 0, of 10,000 with 100 truly above 0"])
    colours = dict(zip(names, (BLUE, RED, GREY), strict=True))
    lines(figure, 0, data, "epsilon", names, colours)
    drawn: list[float] = []
    for r in (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)):
        law = DirectedGeometric.one_sided(r)
        drawn.append(float(np.mean([(truth + law.sample(len(truth), bits) > 0).sum() for _ in range(draws)])))
    points(figure, 0, [0.5, 1, 2, 4], drawn, "upward noise, drawn", BLUE)
    axes(figure, 0, "ε", "bins above 0", y_type="log")
    return Figure("one-sided-sparse", data, figure)


def _equation_3() -> list[Figure]:
    grid = [
        Fraction(e, 100) for e in (2, 4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100, 125, 150, 175, 200, 250, 300, 350, 400)
    ]
    data = region(grid)
    names = {"as_printed": "as printed", "squared_error": "as printed, squared error", "unbiased": "unbiased"}
    figure = panels(
        ["below the line equation (3) beats continuous Laplace", "variances at ε = 1"], horizontal_spacing=0.1
    )
    shown = data.rename(columns=names).assign(unbiased=data["unbiased"].where(data["unbiased"] > 0))
    colours = dict(zip(names.values(), (RED, SAND, BLUE), strict=True))
    lines(figure, 0, shown, "epsilon", colours, colours)
    axes(figure, 0, "ε", "true count", y_type="log", y_range=[-2, 5])
    here = variances("1", range(9)).set_axis(
        ["count", "Laplace", "geometric", "equation (3)", "its bias", "unbiased", "unbiased, on integers"], axis=1
    )
    colours = dict(
        zip(
            ["Laplace", "geometric", "equation (3)", "unbiased", "unbiased, on integers"],
            (GREY, GREEN, RED, BLUE, SAND),
            strict=True,
        )
    )
    lines(figure, 1, here, "count", colours, colours)
    axes(figure, 1, "true count", "variance")
    return [
        Figure("one-sided-region", data, figure),
        Figure("one-sided-variances", here),
    ]


def _amplified() -> Figure:
    shares = [Fraction(p, 50) for p in range(1, 50)]
    rows = []
    for p in shares:
        sampling = PoissonSampling(p)
        one, two = sampling.line(Line(inf, 1)), sampling.line(Line(1, 1))
        rows.append(
            (float(p), float(one.fall), float(one.rise), float(max(one.rise, one.fall)), float(max(two.rise, two.fall)))
        )
    names = ["addition", "removal (Theorem 5)", "both (Theorem 6)", "two-sided base, both"]
    data = pd.DataFrame(rows, columns=["p", *names])
    colours = dict(zip(names, (BLUE, RED, PURPLE, GREY), strict=True))
    figure = panels(["ε′ after Poisson sampling with p, base ε = 1"])
    lines(figure, 0, data, "p", names, colours, dashed=["both (Theorem 6)"])
    axes(figure, 0, "p", "ε′", y_range=[0, 2.2])
    meet = -math.expm1(-1)
    figure.add_vline(x=meet, line={"color": GREY, "dash": "dot", "width": 1})
    figure.add_annotation(x=meet, y=2.05, text="p = 1 − 1/e", showarrow=False, xanchor="left")
    return Figure("one-sided-amplification", data, figure)
