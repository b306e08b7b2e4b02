"""The data behind the figures, every point of every curve that has a formula, against derivations made afresh.

What is compared comes from the fixture ``found``, the recomputed papers; the rest uses nothing of the package.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from math import exp, floor, log
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from tests.papers.fresh import cities, one_sided
from tests.papers.fresh.guides import below

Chances = Callable[[int, float, int, float, float], float]
COMPETITORS: dict[str, Chances] = {  # Pr[safe] at a count, of ε, the greatest safe count, α and δ
    "ALap, corrected": lambda c, e, top, a, d: -float(np.expm1(-e * (top + 1 - c))),
    "(ε, δ)-DP, bound of III-B": lambda c, e, top, a, d: cities.bound(top + 1 - c, e, a, d),
    "(ε, δ)-DP, true optimum": lambda c, e, top, a, d: cities.possible(top + 1 - c, e, a, d),
    "ε-DP, bound of III-A": lambda c, e, top, a, d: cities.bound(top + 1 - c, e, a, 0),
    "ε-DP, true optimum": lambda c, e, top, a, d: cities.possible(top + 1 - c, e, a, 0),
}


def data(found: Any, key: str) -> Any:
    (figure,) = [figure for figure in found.figures if figure.key == key]
    return figure.data


@cache
def whole(safe: tuple[int, ...]) -> list[int]:
    """A city with its unsafe places: n·rank^{−a} people, rounded down, all 10,338 in all, the rest to the fullest place."""
    unsafe, least = cities.PLACES - sum(safe), len(safe)
    left = cities.PEOPLE - sum(c * n for c, n in enumerate(safe))
    ranks = [(i + 0.5) / unsafe for i in range(unsafe)]
    power = brentq(lambda a: sum(floor(least * r**-a) for r in ranks) - left, 0.01, 3, xtol=1e-6)
    many = [floor(least * r**-power) for r in ranks]
    return [*safe, *(sum(m == count for m in many) for count in range(least, 40))]


def chance(name: str, count: int, setting: dict[str, float], strict: bool) -> float:
    top = int(setting["t"]) - strict
    if name == "ALap as printed":  # continuous noise, and z ≤ t
        return cities.alap(count, int(setting["t"]), setting["epsilon"])
    return COMPETITORS[name](count, setting["epsilon"], top, setting["alpha"], setting["delta"])


@pytest.mark.sweep
@pytest.mark.parametrize("strict", [True, False])
def test_figure_4_of_adp(found: Any, strict: bool) -> None:
    city = whole(tuple(cities.caption_city() if strict else cities.text_city()))
    rows = data(found, f"adp-figure-4-{'strict' if strict else 'at-most'}")
    checked = 0
    for varied, value, name, beta in rows[["varied", "value", "competitor", "expected_beta"]].itertuples(index=False):
        if name != "ALap, drawn":
            setting = {"epsilon": 1.0, "t": 5.0, "alpha": 1e-3, "delta": 1e-4, varied: value}
            top = int(setting["t"]) - strict
            assert beta == pytest.approx(
                cities.mean(city[: top + 1], [chance(name, c, setting, strict) for c in range(top + 1)]), abs=1e-9
            ), (varied, value, name)
            checked += 1
    assert checked == 45 * 6


@pytest.mark.sweep
def test_figure_5_of_adp(found: Any) -> None:
    city, rows = cities.day_city(), data(found, "adp-figure-5")
    printed, corrected = [cities.alap(c, 5) for c in range(6)], [cities.alap(c, 6) for c in range(6)]
    assert list(rows["m"]) == list(range(61))
    for m in (*range(1, 21), 40, 60):
        assert rows["SALap as printed"][m] == pytest.approx(cities.right_in_row(city, printed, m), rel=1e-9)
        assert rows["SALap, corrected"][m] == pytest.approx(cities.right_in_row(city, corrected, m), rel=1e-9)


def test_figure_6_of_adp(found: Any) -> None:
    city = cities.day_city()
    rows = data(found, "adp-figure-6")
    for varied, value, name, beta, right in rows.itertuples(index=False):
        setting = {"epsilon": 1.0, "t": 5.0, "alpha": 1e-3, "delta": 1e-4, varied: value}
        chances = [chance(name, c, setting, False) for c in range(int(setting["t"]) + 1)]
        once = sum(n * p for n, p in zip(city, chances, strict=False)) / cities.PLACES
        assert (beta, right) == pytest.approx((cities.mean(city, chances), once / (1 - once)), rel=1e-8)


def test_in_a_random_order_there_are_a_few_right_answers_less(found: Any) -> None:
    """Σ over m of Pr[the first m places of a random order are safe and said to be], against q/(1 − q) with replacement."""
    city, chances = cities.day_city(), [cities.alap(c, 5) for c in range(6)]
    most = 300  # beyond it q^m is below 10⁻⁹
    generating, ways, expected = np.array([1.0]), 1.0, 0.0
    for n, p in zip(city, chances, strict=False):
        factor = np.cumprod([1.0, *((n - m) / (m + 1) * p / 100 if m < n else 0.0 for m in range(most))])
        generating = np.convolve(generating, factor)[: most + 1]
    for m in range(1, most + 1):
        ways *= (cities.PLACES - m + 1) / m / 100  # both in units of 100^m, which no float exceeds
        expected += generating[m] / ways
    once = sum(n * p for n, p in zip(city, chances, strict=False)) / cities.PLACES
    (figure,) = [figure for figure in found.figures if figure.key == "adp-figure-6"]
    assert f"it is {expected:.2f} instead of {once / (1 - once):.2f} at the defaults" in figure.ours


def test_figure_1_of_adp(found: Any) -> None:
    for _, count, truth, two, one in data(found, "adp-figure-1").itertuples(index=False):
        assert truth == ("safe" if count < 3 else "dangerous")
        assert (two, one) == pytest.approx((below(count, 1.0, 2), cities.alap(count, 3)))


def test_figure_3_of_d_privacy(found: Any) -> None:
    rows = data(found, "d-privacy-figure-3")
    for alpha, *numbers in rows.itertuples(index=False):
        right = [2 * exp(-r * (alpha + 1)) / (1 + exp(-r)) for r in (1 / 5000, 1 / 5)]
        assert numbers == pytest.approx([*right, exp(-alpha / 5000), exp(-alpha / 5)], rel=1e-9)


def test_amplification(found: Any) -> None:
    for p, *numbers in data(found, "one-sided-amplification").itertuples(index=False):
        addition, removal = log(1 + p * (exp(1) - 1)), -log(1 - p)
        both = max(addition, -log(1 - p * (1 - exp(-1))))
        assert numbers == pytest.approx([addition, removal, max(addition, removal), both], rel=1e-12)


def test_the_region_of_equation_3(found: Any) -> None:
    for epsilon, *numbers in data(found, "one-sided-region").itertuples(index=False):
        right = (
            one_sided.crossover(epsilon, 2),
            one_sided.crossover(epsilon, 4),
            one_sided.squared_error_crossover(epsilon),
        )
        assert numbers == pytest.approx(right, rel=1e-6)


def test_noise_and_its_halves(found: Any) -> None:
    rows = data(found, "one-sided-halves")
    laws = [law(0) for law in (one_sided.both, one_sided.up, one_sided.down)]
    for z, *chances in rows.iloc[:, :4].dropna().itertuples(index=False):
        assert chances == pytest.approx([law.get(int(z), 0.0) for law in laws], abs=1e-12)
    for epsilon, half, whole_, ratio, rate, _ in rows.iloc[:, 4:].dropna().itertuples(index=False):
        r = exp(-epsilon)
        assert (half, whole_, ratio) == pytest.approx((r / (1 - r) ** 2, 2 * r / (1 - r) ** 2, 2))
        assert rate == pytest.approx(log(1 + exp(epsilon)))


def test_sparse_histograms(found: Any) -> None:
    for epsilon, *numbers in data(found, "one-sided-sparse").itertuples(index=False):
        r = exp(-epsilon)
        above: list[Callable[[int], float]] = [
            lambda c, r=r: 1.0 if c else r,  # type: ignore[misc]
            lambda c, r=r: 1 - r**c,  # type: ignore[misc]
            lambda c, r=r: 1 - r**c / (1 + r),  # type: ignore[misc]
        ]
        right = [sum(n * f(c) for c, n in one_sided.BINS.items()) for f in above]
        assert numbers == pytest.approx(right, rel=1e-9)


def test_the_cities_bring_everybody_to_a_place() -> None:
    for safe in (cities.caption_city(), cities.text_city()):
        city = whole(tuple(safe))
        assert all(n > 0 for n in city[:12])
        assert all(more >= less for more, less in itertools.pairwise(city[len(safe) : 12]))
