"""The numbers of the honest advice, each worked out another way."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from leeward.distance import Line, both_hold
from leeward.errors import InputError
from leeward.exact import exp_minus, inf
from leeward.mechanism import Geometric, sample_tables
from leeward.noise import DirectedGeometric, SeededBitsForTests
from leeward.notion import AdditionOnly, Notion, Personalised, Presence, RemovalOnly, UnboundedDP
from leeward.planner import bounded_gain, cautions, crossover, extreme_reveals, filled_bins, region, variances
from leeward.query import PoissonSampling
from leeward.verification import verify


@pytest.mark.parametrize(("rate", "releases", "chance"), [("1", 1, 0.632), ("1", 5, 0.993), ("1/5", 5, 0.632)])
def test_the_extreme_of_repeated_releases_reveals_the_count(rate: str, releases: int, chance: float) -> None:
    assert float(extreme_reveals(rate, releases)) == pytest.approx(chance, abs=5e-4)
    pmf = DirectedGeometric.one_sided(rate).pmf(0)
    assert extreme_reveals(rate, releases) == 1 - (1 - pmf) ** releases


@pytest.mark.statistical
def test_it_does_so_in_released_answers() -> None:
    """20,000 trials of 5 releases; false-alarm rate below 1e-6 (5 standard deviations, two-sided)."""
    trials = 20_000
    for line, end in ((Line(inf, "1/2"), np.min), (Line("1/2", inf), np.max)):
        answers = Geometric(line).release(np.full((trials, 5), 9), SeededBitsForTests(1))
        hits = float((end(answers, axis=1) == 9).mean())
        right = float(extreme_reveals("1/2", 5))
        spread = math.sqrt(right * (1 - right) / trials)
        assert abs(hits - right) < 5 * spread
        assert abs(hits - float(extreme_reveals("1/2", 4))) > 5 * spread, "one release fewer would be noticed"


def test_positive_noise_fills_empty_bins_and_negative_noise_leaves_them() -> None:
    bins = {0: 9_900, 1: 60, 2: 40}
    up = filled_bins(DirectedGeometric.one_sided("1"), bins)
    down = filled_bins(DirectedGeometric.one_sided("1").reverse(), bins)
    assert up == 9_900 * exp_minus(1) + 100
    assert down == 60 * (1 - exp_minus(1)) + 40 * (1 - exp_minus(2))
    assert filled_bins(DirectedGeometric.one_sided("1").reverse(), {0: 10**6}) == 0
    both = filled_bins(DirectedGeometric("1", "1"), bins)
    assert down < both < up
    with pytest.raises(InputError):
        filled_bins(DirectedGeometric("1", "1"), {-1: 3})


def law_of_equation_3(epsilon: str, count: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and variance of Binomial(c, p) + Exp(s), from the sums that define them."""
    e = mpmath.mpf(epsilon)
    p, s = 1 - mpmath.exp(-e), mpmath.log(1 + mpmath.exp(e))
    kept = [mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
    mean = sum(w * (k + 1 / s) for k, w in enumerate(kept))
    second = sum(w * (k * k + 2 * k / s + 2 / s**2) for k, w in enumerate(kept))
    return mean, second - mean**2


@pytest.mark.parametrize(
    ("epsilon", "printed", "unbiased"), [("0.1", 2301.74, 0.08), ("1", 6.11, 0.94), ("3", 2.42, 1.97)]
)
def test_where_equation_3_beats_continuous_laplace(epsilon: str, printed: float, unbiased: float) -> None:
    """Two estimates, two answers: at ε = 1 the equation as printed wins below 6.11 people, the unbiased one below 0.94."""
    e = mpmath.mpf(epsilon)
    p, laplace = 1 - mpmath.exp(-e), 2 / e**2
    for estimate, expected, scale in (("as printed", printed, 1), ("unbiased", unbiased, p)):
        low, high = crossover(epsilon, estimate)  # type: ignore[arg-type]
        assert low <= high < low + 1e-9
        assert low == pytest.approx(expected, abs=5e-3)
        for count in {0, math.floor(low), math.floor(low) + 1}:
            wins = law_of_equation_3(epsilon, count)[1] / scale**2 < laplace
            assert wins == (count < low), (estimate, count)


def test_equation_3_as_printed_is_biased_and_its_error_counts_that() -> None:
    table = region(["1/10", "1", "3"]).set_index("epsilon")
    for epsilon in ("0.1", "1", "3"):
        below = table.squared_error[float(epsilon)]
        for count in {0, math.floor(below), math.floor(below) + 1}:
            mean, variance = law_of_equation_3(epsilon, count)
            assert (variance + (mean - count) ** 2 < 2 / mpmath.mpf(epsilon) ** 2) == (count < below)
        assert below < table.as_printed[float(epsilon)]
    here = variances("1", range(4)).set_index("count")
    for count in range(4):
        mean, variance = law_of_equation_3("1", count)
        assert here.as_printed[count] == pytest.approx(float(variance))
        assert here.bias[count] == pytest.approx(float(mean - count))
    assert round(here.as_printed[0], 3) == 0.580
    with pytest.raises(InputError, match="two ways"):
        crossover("1", "rescaled")  # type: ignore[arg-type]


def test_the_unbiased_region_is_empty_for_small_epsilon() -> None:
    table = region(["0.05", "0.085", "0.095", "1", "3"])
    assert list(table.unbiased > 0) == [False, False, True, True, True]
    assert table.unbiased.is_monotonic_increasing
    assert (table.as_printed > 2).all()


def test_variances_side_by_side() -> None:
    table = variances("1", range(8)).set_index("count")
    assert list(table.unbiased < table.laplace) == [True] + [False] * 7
    assert list(table.as_printed < table.laplace) == [True] * 7 + [False]
    assert list(np.sign((table.unbiased_grid - table.geometric).round(9)))[:4] == [-1, 0, 1, 1]
    assert (table.geometric < table.laplace).all()
    samples = DirectedGeometric.one_sided("1").sample(400_000, SeededBitsForTests(2))
    assert np.var(samples) * 2 == pytest.approx(table.geometric[0], rel=0.02)


def test_the_gain_is_two_and_theorem_6_takes_it_back() -> None:
    table = bounded_gain(["1/10", "1", "3"])
    assert list(table.ratio) == [2.0, 2.0, 2.0]
    assert np.allclose(table.converted, table.two_sided, rtol=1e-12)
    assert np.allclose(table.theorem_6_rate, np.log1p(np.exp(table.epsilon)))


def test_cautions_are_for_one_sided_noise() -> None:
    assert cautions(UnboundedDP("1"), Line("1", "1")) == ()
    for releases in (1, 5):
        first = cautions(AdditionOnly("1"), Line(inf, "1"), releases, above=1200)[0]
        assert first.startswith(
            "One release of a place with over 1,200 people is the exact count with probability 63.2%"
        )
        assert ("the least of 5 of the same count with 99.3%" in first) is (releases == 5)
    said = " ".join(cautions(AdditionOnly("1"), Line(inf, "1"), releases=5))
    assert AdditionOnly("1").words.reveals in said
    assert "in the clear" not in said
    removal = " ".join(cautions(RemovalOnly("1"), Line("1", inf)))
    assert "63% of all people" in removal
    assert "probability 63.2%" in removal
    assert "in the clear" not in " ".join(cautions(Presence("1"), Line(inf, "1")))


def test_a_count_of_each_window_is_released_once() -> None:
    """24 hours are 24 counts: of each the chance is that of one release, and not of the least of 24."""
    law = DirectedGeometric.one_sided("1")
    day = cautions(AdditionOnly("1"), Line(inf, "1"), releases=24)[0]
    once, _, again = day.partition(", and the least of 24 of the same count with ")
    assert once == f"One release is the exact count with probability {float(law.pmf(0)):.1%}"
    assert again.startswith("over 99.9%")


def test_malformed_questions_are_refused() -> None:
    for ask in (lambda: extreme_reveals("1", 0), lambda: extreme_reveals("0"), lambda: crossover("-1")):
        with pytest.raises(InputError):
            ask()


REMOVAL_ONLY = [
    RemovalOnly("3"),
    Personalised(RemovalOnly("1"), ["1", "3"]),
    Personalised(RemovalOnly("1"), ["3", "1/2"]),
    both_hold(RemovalOnly("1"), RemovalOnly("3")),
    both_hold(RemovalOnly("3"), both_hold(RemovalOnly("2"), RemovalOnly("3/2"))),
    Personalised(both_hold(RemovalOnly("1"), RemovalOnly("4")), ["1", "2"]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("notion", REMOVAL_ONLY, ids=str)
def test_the_share_that_may_be_published_in_the_clear_is_private_and_more_is_not(notion: Notion) -> None:
    """Found by hand: of several ε the largest was told, at which the sample is not private for everybody."""
    said = next(c for c in cautions(notion, Line(1, "inf")) if "in the clear" in c)
    share = int(said.split("%")[0].rpartition(" ")[2])
    tables = [(one, two) for one in (None, 1) for two in (None, 1)]
    private = [bool(verify(sample_tables(tables, PoissonSampling(Fraction(share + s, 100))), notion)) for s in (-1, 1)]
    assert private == [True, False]
