"""The geometric mechanism in all its forms: laws by summation, privacy at the knife edge, and the direction not promised."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.noise.scripted import Scripted
from tests.oracle.geometric import DirectedGeometricBySummation
from tests.statistical.gof import rejects

import leeward.mechanism._of_papers as forms
from leeward.distance import Line
from leeward.errors import InexactError, InputError, LowUtilityError
from leeward.exact import Weight, exact, exp, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import Geometric, rate_for
from leeward.mechanism._calibration import least_multiple
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

# ---- the names of the papers


@pytest.mark.parametrize(
    ("form", "line"),
    [
        (forms.two_sided("1/3"), Line("1/3", "1/3")),
        (forms.two_sided("1", sensitivity=4), Line("1/4", "1/4")),
        (forms.truncated_geometric("2", 6), Line(2, 2)),
        (forms.alap("1", sensitivity=2), Line(inf, "1/2")),
        (forms.alap("1", increasing=True), Line(1, inf)),
        (forms.ageo("1/2", 5), Line(inf, "1/2")),
        (forms.ageo("1/2", 5, increasing=True), Line("1/2", inf)),
        (forms.addition_only("0.1"), Line(inf, "0.1")),
        (forms.removal_only("0.1"), Line("0.1", inf)),
        (forms.osdp_laplace("0.1"), Line("0.1", inf)),
        (forms.graded(presence="1", absence="4"), Line(rise=4, fall=1)),
        (forms.graded(presence="1", absence=inf), Line(rise=inf, fall=1)),
    ],
    ids=repr,
)
def test_each_name_is_private_for_its_line_and_tight(form: Geometric, line: Line) -> None:
    assert form.line == line
    verdict = verify(form.on(range(6)), line)
    assert verdict
    assert verdict.tight
    less = line.scale("0.999")
    assert not verify(form.on(range(6)), less)


@pytest.mark.parametrize("form", [forms.ageo("1", 5), forms.alap("1"), forms.alap("1", centre="median")], ids=repr)
def test_the_direction_not_promised_is_ruled_out(form: Geometric) -> None:
    verdict = verify(form.on(range(6)), form.line.reverse())
    assert verdict.outcome == "not private"
    assert verdict.log_ratio is not None
    assert verdict.log_ratio[0] == float("inf")


def test_ageo_is_the_corrected_definition() -> None:
    """ADP, Definition VIII.1 with f ≤ λ < n in the middle branch, entry by entry."""
    n, e = 5, exp("-1/2")
    for f, z in itertools.product(range(n + 1), repeat=2):
        below = forms.ageo("1/2", n).probability(f, z)
        assert below == (e ** (n - f) if z == n else (1 - e) * e ** (z - f) if z >= f else 0)
        above = forms.ageo("1/2", n, increasing=True).probability(f, z)
        assert above == (e**f if z == 0 else (1 - e) * e ** (f - z) if z <= f else 0)


def test_tg_is_the_table_of_the_paper() -> None:
    """d-privacy, Figure 2 iv: inner outputs with (1 − x)/(1 + x), the two ends with 1/(1 + x)."""
    k, x = 4, exp("-1/3")
    tg = forms.truncated_geometric("1/3", k)
    for i, z in itertools.product(range(k + 1), repeat=2):
        scale = 1 / (1 + x) if z in (0, k) else (1 - x) / (1 + x)
        assert tg.probability(i, z) == scale * x ** abs(i - z)


def test_a_fine_grid_is_near_the_continuous_laplace_mechanism() -> None:
    fine = forms.alap("1", step="1/1000")
    assert abs(float(fine.expected_error()) / 1000 - 1) < 1e-3  # Corollary V.5: Δ/ε
    assert abs(float(fine.accuracy().variance()) / 1000**2 - 1) < 1e-3  # half of Laplace's 2
    median = forms.alap("1", step="1/1000", centre="median")
    assert abs(float(median.expected_error()) / 1000 - np.log(2)) < 1e-3


@pytest.mark.parametrize("build", [forms.two_sided, forms.alap, forms.removal_only, forms.osdp_laplace])
def test_no_float_and_no_infinite_epsilon(build: object) -> None:
    assert callable(build)
    with pytest.raises(InexactError, match="Write it as a string"):
        build(0.1)
    with pytest.raises(InputError, match="finite rate"):
        build(inf)


# ---- accuracy

LINES = [Line(1, 1), Line(inf, "1/2"), Line("1/3", inf), Line("2", "1/2")]
BOUNDS = [(None, None), (0, 6), (-3, None), (4, 4)]
CENTRES = [None, "mean", "median"]


def number(w: Weight) -> mpmath.mpf:
    return mpmath.mpf(w.arb(200).mid().str(40, radius=False))


@functools.cache
def summed(line: Line) -> dict[int, mpmath.mpf]:
    with mpmath.workprec(160):
        rates = [r.rational for r in (line.fall, line.rise)]
        up, down = (None if r is None else mpmath.mpf(r.numerator) / r.denominator for r in rates)
        noise = DirectedGeometricBySummation(up, down)
        return {k: noise.pmf(k) for k in range(-300, 301)}


def by_summation(mechanism: Geometric, truth: int) -> dict[int, mpmath.mpf]:
    """The law of the error: the oracle's noise, moved by the centre and clamped value by value."""
    shifts = [(shift, number(p)) for shift, p in mechanism.shifts]
    law: dict[int, mpmath.mpf] = {}
    for k, chance in summed(mechanism.line).items():
        for shift, p in shifts:
            z = truth + k - shift
            z = z if mechanism.lower is None else max(z, mechanism.lower)
            z = z if mechanism.upper is None else min(z, mechanism.upper)
            law[z - truth] = law.get(z - truth, mpmath.mpf(0)) + chance * p
    return law


@pytest.mark.parametrize(("bounds", "centre"), list(itertools.product(BOUNDS, CENTRES)))
@pytest.mark.parametrize("line", LINES, ids=str)
def test_accuracy_agrees_with_summation(line: Line, bounds: tuple[int | None, int | None], centre: str | None) -> None:
    mechanism = Geometric(line, lower=bounds[0], upper=bounds[1], centre=centre)  # type: ignore[arg-type]
    with mpmath.workprec(160):
        for truth in {(4, 4): [4], (0, 6): [0, 5]}.get(bounds, [3]):
            accuracy, law = mechanism.accuracy(truth), by_summation(mechanism, truth)
            mean = sum(e * p for e, p in law.items())
            assert abs(number(accuracy.bias()) - mean) < 1e-18
            assert abs(number(accuracy.expected_error()) - sum(abs(e) * p for e, p in law.items())) < 1e-18
            assert abs(number(accuracy.variance()) - sum((e - mean) ** 2 * p for e, p in law.items())) < 1e-18
            for alpha in (-1, 0, 1, 5):
                inside = sum((p for e, p in law.items() if abs(e) <= alpha), mpmath.mpf(0))
                assert abs(number(accuracy.within(alpha)) - inside) < 1e-18
            for p in ("0.01", "1/2", "0.999"):
                q = accuracy.quantile(p)
                assert sum(v for e, v in law.items() if e < q) < number(weight(p)) - 1e-18
                assert sum(v for e, v in law.items() if e <= q) >= number(weight(p)) - 1e-18


def test_closed_forms_of_one_sided_noise() -> None:
    e, accuracy = exp("1/3"), forms.alap("1/3").accuracy()
    assert accuracy.bias() == accuracy.expected_error() == 1 / (e - 1)
    assert accuracy.variance() == e / (e - 1) ** 2
    assert accuracy.within(4) == 1 - exp_minus("5/3")


def test_before_clamping_the_truth_does_not_matter() -> None:
    mechanism = Geometric(Line(1, 2), lower=0, upper=3)
    assert mechanism.accuracy().expected_error() == mechanism.expected_error() == mechanism.law.mean_absolute()
    assert mechanism.accuracy(0).expected_error() < mechanism.expected_error()


def test_the_accuracy_at_a_truth_outside_the_bounds_is_refused() -> None:
    with pytest.raises(InputError, match="outside the public bounds"):
        forms.ageo("1", 3).accuracy(4)


# ---- centred


@pytest.mark.parametrize("line", LINES, ids=str)
def test_the_mean_centred_answer_has_no_bias_and_stays_an_integer(line: Line) -> None:
    centred = Geometric(line, centre="mean")
    assert centred.accuracy().bias() == 0
    assert verify(centred.on(range(3)), line)
    extra = centred.accuracy().variance() - centred.law.variance()
    assert 0 <= extra <= Fraction(1, 4)  # what the coin adds


@pytest.mark.parametrize("line", LINES, ids=str)
def test_the_median_centred_answer_is_as_often_above_as_below(line: Line) -> None:
    accuracy = Geometric(line, centre="median").accuracy()
    assert accuracy.cdf(-1) < Fraction(1, 2) <= accuracy.cdf(0)
    least = min(Geometric(line).accuracy().expected_error(), Geometric(line, centre="mean").accuracy().expected_error())
    assert accuracy.expected_error() <= least


def test_centring_gives_up_the_one_sided_guarantee() -> None:
    plain, centred = forms.alap("1/2"), forms.alap("1/2", centre="median")
    assert plain.never_below
    assert not centred.never_below
    assert plain.accuracy().cdf(-1) == 0
    assert centred.accuracy().cdf(-1) > 0
    assert forms.removal_only("1/2").never_above
    assert not forms.two_sided("1").never_below


def test_a_centred_release_subtracts_the_shift_and_the_coin() -> None:
    """Rate ln 2: P(k) = 2^−(k+1), mean 1 and median 0; rate ln(3/2): mean 2, median 1."""
    assert Geometric(Line(inf, log(2)), centre="mean").shifts == ((1, weight(1)),)
    assert Geometric(Line(inf, log(weight("3/2"))), centre="median").shifts == ((1, weight(1)),)
    third = Geometric(Line(inf, log(4)), centre="mean")  # mean 1/3
    assert third.shifts == ((0, weight("2/3")), (1, weight("1/3")))
    answers = third.release(np.zeros(4000, np.int64), SeededBitsForTests(5))
    chances = [float(third.probability(0, z)) for z in (-1, 0, 1)]
    counts = [int((answers == z).sum()) for z in (-1, 0, 1)]
    assert rejects(counts, chances, 4000) is None  # false alarm below 1e-6
    assert rejects([int((answers == z).sum()) for z in (0, 1, 2)], chances, 4000)  # forgetting the coin is noticed


def test_an_unknown_centre_is_refused() -> None:
    with pytest.raises(InputError, match="Did you mean 'median'"):
        Geometric(Line(1, 1), centre="medium")  # type: ignore[arg-type]


# ---- releasing


def test_noise_never_wraps_and_bounds_clamp() -> None:
    most = np.iinfo(np.int64).max
    up = forms.alap("1")
    words = np.zeros((7, 1), np.uint32)  # every digit is 1
    assert up.release(np.array([most - 1]), Scripted(words, then=2**64 - 1)).tolist() == [most]
    drawn = forms.ageo("0.01", 7).release(np.full((50, 2), 3), SeededBitsForTests(1))
    assert drawn.shape == (50, 2)
    assert drawn.min() >= 3
    assert drawn.max() == 7


@pytest.mark.parametrize("answers", [np.array([1.0]), np.array(["1"]), np.array([1], np.uint64), np.array([True])])
def test_only_integers_are_answered(answers: np.ndarray) -> None:
    with pytest.raises(InputError, match="exact integers"):
        forms.alap("1").release(answers)


# ---- mutants that a verification must catch


def test_resampling_until_in_range_is_not_clamping() -> None:
    """One-sided noise on 0..4 at ε = 1, normalised row by row: loss 1.313."""
    from leeward.mechanism import FiniteMechanism

    weights = [[exp_minus(z - y) if z >= y else weight(0) for z in range(5)] for y in range(5)]
    rows = [[w / sum(row, weight(0)) for w in row] for row in weights]
    verdict = verify(FiniteMechanism(range(5), range(5), rows), Line(inf, 1).on(range(5)))
    assert verdict.outcome == "not private"
    assert verdict.scale[0] == pytest.approx(1.313, abs=5e-4)


def test_ten_per_cent_too_high_a_rate_is_caught() -> None:
    assert not verify(Geometric(Line(inf, "1.1")).on(range(4)), Line(inf, 1))
    assert not verify(Geometric(Line("1.1", 1)).on(range(4)), Line(1, 1))


# ---- calibration


@pytest.mark.parametrize(
    ("wish", "line"),
    [
        ({"expected_error": "2"}, Line(inf, 1)),
        ({"expected_error": "0.3"}, Line(1, 1)),
        ({"within": 3, "probability": "0.95"}, Line(1, 1)),
        ({"within": 0, "probability": "0.9"}, Line(1, inf)),
        ({"safe": (0, 2), "probability": "0.9"}, Line(inf, 1)),
        ({"safe": (1, 4), "probability": "0.9", "error_at_most": "1e-4"}, Line(4, 1)),
    ],
    ids=str,
)
def test_the_rate_meets_the_wish_and_a_step_less_does_not(wish: dict[str, object], line: Line) -> None:
    from leeward.mechanism import sanitizer

    c = rate_for(line, **wish, step="0.01")  # type: ignore[arg-type]

    def value(scale: Fraction) -> bool:
        made = Geometric(line.scale(scale))
        if "expected_error" in wish:
            return float(made.expected_error()) <= float(str(wish["expected_error"]))
        if "within" in wish:
            chance = float(made.accuracy().within(int(str(wish["within"]))))
        else:
            count, at_most = wish["safe"]  # type: ignore[misc]
            chance = float(sanitizer(made.law, at_most, wish.get("error_at_most")).probability(count))  # type: ignore[arg-type]
        return chance >= float(str(wish["probability"]))

    assert value(c)
    assert not value(c - Fraction(1, 100))


def test_closed_forms_of_the_rate() -> None:
    """One-sided noise: E|error| ≤ 2 from ln 3/2 on; P(error ≤ 3) ≥ 0.95 from ln 20/4 on."""
    assert rate_for(Line(inf, 1), expected_error=2, step="0.0001") == Fraction("0.4055")
    assert rate_for(Line(inf, 1), within=3, probability="0.95", step="0.0001") == Fraction("0.7490")


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"expected_error": 1, "within": 1, "probability": "0.5"},
        {"within": 1},
        {"expected_error": 1, "probability": "0.5"},
        {"within": -1, "probability": "0.5"},
        {"within": 1, "probability": 1},
        {"expected_error": 0},
        {"safe": (3, 2), "probability": "0.5"},
        {"expected_error": 1, "step": 0},
    ],
    ids=str,
)
def test_wishes_without_meaning_are_refused(wish: dict[str, object]) -> None:
    with pytest.raises(InputError):
        rate_for(Line(inf, 1), **wish)  # type: ignore[arg-type]


def test_what_no_rate_reaches_is_refused() -> None:
    with pytest.raises(LowUtilityError, match="no rate"):
        least_multiple(lambda _: False, 1)


def test_all_outputs_of_a_clamped_mechanism_are_its_grid() -> None:
    mechanism = Geometric(Line(inf, 1), lower=2, upper=9)
    whole = mechanism.pmf(5)
    assert list(whole) == list(range(2, 10))
    assert sum(whole.values(), weight(0)) == 1
    assert mechanism.pmf(5, [7]) == {7: exp(-2) * (1 - exp(-1))}
    with pytest.raises(InputError, match="unbounded"):
        Geometric(Line(inf, 1), lower=0).pmf(5)


def test_decisions_are_read_off_the_unclamped_law() -> None:
    for bounds in ({}, {"lower": 0, "upper": 3}):
        decision = Geometric(Line(inf, 1), **bounds).sanitizer(at_most=2)
        assert decision.never_wrong
        assert decision.curve(range(4)) == {0: 1 - exp(-3), 1: 1 - exp(-2), 2: 1 - exp(-1), 3: weight(0)}
    two_sided = Geometric(Line(1, 1), lower=0).sanitizer(2, "0.01")
    assert two_sided.threshold < 0  # below the clamp
    assert two_sided.error <= weight("0.01") < two_sided.law.cdf(two_sided.threshold - 2)
    assert Geometric(Line(1, inf)).alarm(at_least=4).probability(3) == 0


def test_bounds_the_wrong_way_round_and_nothing_protected_are_refused() -> None:
    with pytest.raises(InputError, match="reversed"):
        Geometric(Line(1, 1), lower=3, upper=2)
    with pytest.raises(InputError, match="protects neither"):
        Geometric(Line(inf, inf))
    assert exact(1) == Geometric(Line(1, 1)).step


def test_bounds_and_steps_that_make_no_grid_are_refused() -> None:
    for bounds in ({"lower": 0.5}, {"upper": Fraction(5, 2)}, {"lower": "0"}):
        with pytest.raises(InputError, match="not a whole number"):
            Geometric(Line(1, 1), **bounds)  # type: ignore[arg-type]
    for step in (0, -1):
        with pytest.raises(InputError, match=r"step = .*above 0"):
            Geometric(Line(1, 1), step=step)
    assert Geometric(Line(1, 1), upper=np.int64(3)).upper == 3  # type: ignore[arg-type]
