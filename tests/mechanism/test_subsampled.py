"""*One-Sided Differential Privacy* by enumeration: both directions of everything, each at its knife edge.

The universe is every table of at most three persons with a record "a" or "b"; the counts are of "a".
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.oracle import hockey_stick
from tests.statistical.gof import rejects, rejects_law

from leeward.distance import DirectedDistance, Line, both_hold
from leeward.errors import InputError
from leeward.exact import Real, exact, exp, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import (
    FiniteMechanism,
    Geometric,
    SubsampledCount,
    as_postprocessing,
    centred,
    one_sided_components,
    sample_tables,
    sampled_rows,
    subsampled,
    thin,
    thinning,
)
from leeward.noise import DirectedGeometric, SeededBitsForTests
from leeward.notion import ABSENT, AdditionOnly, BoundedDP, RemovalOnly, UnboundedDP, all_tables
from leeward.notion.convert import other_side
from leeward.query import PoissonSampling
from leeward.verification import verify

TABLES = all_tables((ABSENT, "a", "b"), 3)
PAIRS = all_tables((ABSENT, "a"), 2)
ALMOST = "0.999"


def count(table: tuple[Any, ...]) -> int:
    return sum(record == "a" for record in table)


def at_most_two(table: tuple[Any, ...]) -> int:
    """Another monotone query of sensitivity 1."""
    return min(sum(record is not ABSENT for record in table), 2)


def answered(line: Line, query: Any = count, tables: Any = TABLES) -> FiniteMechanism:
    return Geometric(line).on(range(4)).pull_back(tables, query)


def is_exactly(mechanism: FiniteMechanism, notion: Any, epsilon: Real | str) -> bool:
    """Private at ε, and not at 0.999 ε."""
    epsilon = exact(epsilon)
    return bool(verify(mechanism, notion(epsilon))) and not verify(mechanism, notion(epsilon * ALMOST))


EPSILONS = ["1", "1/10", log(3), log(2) / 200]


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("query", [count, at_most_two])
def test_proposition_3_upward_noise_is_private_for_addition(epsilon: Real, query: Any) -> None:
    upward = answered(Line(rise=inf, fall=epsilon), query)
    assert is_exactly(upward, AdditionOnly, epsilon)
    assert verify(upward, RemovalOnly(100)).exact_scale == inf


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("query", [count, at_most_two])
def test_proposition_4_downward_noise_is_private_for_removal(epsilon: Real, query: Any) -> None:
    downward = answered(Line(rise=epsilon, fall=inf), query)
    assert is_exactly(downward, RemovalOnly, epsilon)
    assert verify(downward, AdditionOnly(100)).exact_scale == inf


def test_propositions_3_and_4_need_a_monotone_query() -> None:
    def parity(table: tuple[Any, ...]) -> int:
        return count(table) % 2

    for line in (Line(rise=inf, fall=1), Line(rise=1, fall=inf)):
        for notion in (AdditionOnly, RemovalOnly):
            assert verify(answered(line, parity), notion("1")).exact_scale == inf


@pytest.mark.parametrize(("line", "notion"), [(Line(inf, 1), AdditionOnly), (Line(1, inf), RemovalOnly)])
def test_definitions_1_and_2_with_delta(line: Line, notion: Any) -> None:
    mechanism = answered(line, tables=PAIRS)
    delta = 1 - exp("-1/10")  # at 9/10 of ε every output breaks the bound by the same factor
    verdict = verify(mechanism, notion("9/10"), delta=delta)
    assert verdict
    assert verdict.exact_needed == delta
    assert not verify(mechanism, notion("9/10"), delta=delta * Fraction(999, 1000))


def test_each_direction_is_the_other_in_another_regime() -> None:
    """Removal-only (ε, δ) is addition-only (−ε, 1 − e^{−ε} + e^{−ε}δ): the least δ of one gives the least of the other."""
    low, high = (hockey_stick.geometric(c, 1, 2, 0, 4) for c in (1, 2))
    for epsilon in (mpmath.mpf("0.3"), mpmath.mpf("1.1")):
        removal = hockey_stick.delta(low, high, epsilon)
        _, converted = other_side(str(epsilon), Fraction(int(removal * 10**30), 10**30))
        addition = hockey_stick.delta_by_sets(high, low, -epsilon)
        assert abs(addition - mpmath.mpf(float(converted))) < 1e-15
        assert addition > 0.2


# ---- remarks: both halves, bias, variance


def test_one_output_that_is_both_halves_is_two_sided() -> None:
    both = both_hold(AdditionOnly("1"), RemovalOnly("1")).on(TABLES)
    assert both == UnboundedDP("1").on(TABLES)
    assert both_hold(Line(inf, 1), Line(1, inf)) == Line(1, 1)
    laplace = answered(Line(1, 1))
    assert verify(laplace, both).tight
    assert not verify(laplace, both.scale(ALMOST))


@pytest.mark.parametrize("notion", [AdditionOnly("5"), RemovalOnly("5"), UnboundedDP("5")], ids=str)
def test_publishing_the_halves_apart_protects_nothing(notion: DirectedDistance[Any]) -> None:
    up, down = one_sided_components(Geometric(Line(1, 1)))
    assert (up.line, down.line) == (Line(inf, 1), Line(1, inf))
    assert up.line + down.line == Line(inf, inf)
    apart = answered(up.line).beside(answered(down.line))
    verdict = verify(apart, notion)
    assert not verdict
    assert verdict.exact_scale == inf


@pytest.mark.parametrize(("a", "b"), [("1", "1"), ("1/2", "2")])
def test_two_sided_noise_is_upward_minus_downward_noise(a: str, b: str) -> None:
    up, down = one_sided_components(Geometric(Line(rise=a, fall=b)))
    whole = DirectedGeometric(up=b, down=a)
    for k in range(-3, 4):
        known = [up.law.pmf(k + j) * down.law.pmf(-j) for j in range(max(-k, 0), 100)]
        gap = float(whole.pmf(k)) - sum(map(float, known))
        assert 0 <= gap + 1e-12 <= 1e-10, "the sum, cut where less than e^-50 is left"


def test_halves_refuse_what_has_none() -> None:
    for mechanism in (Geometric(Line(inf, 1)), Geometric(Line(1, 1), lower=0)):
        with pytest.raises(InputError):
            one_sided_components(mechanism)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_one_sided_noise_has_half_the_variance(epsilon: str) -> None:
    assert DirectedGeometric.one_sided(epsilon).variance() * 2 == DirectedGeometric(epsilon, epsilon).variance()


def test_centring_takes_the_bias_away_and_the_side_with_it() -> None:
    law = DirectedGeometric.one_sided("1")
    noisy = law.sample(200_000, SeededBitsForTests(3)) + 7
    answers = centred(noisy, law)
    spread = float(law.variance()) ** 0.5 / len(answers) ** 0.5
    assert abs(answers.mean() - 7) < 5.5 * spread, "a right law fails with probability below 1e-7"
    assert abs(noisy.mean() - 7) > 5.5 * spread, "without centring it is biased, and the test sees it"
    assert (noisy >= 7).all()
    assert (answers < 7).any()


# ---- subsampling


PROBABILITIES = [weight("1/10"), weight("1/2"), 1 - exp_minus("1")]


@pytest.mark.parametrize("p", PROBABILITIES, ids=lambda p: f"{float(p):.3g}")
def test_theorem_5_a_sample_in_the_clear_is_removal_only_private(p: Any) -> None:
    sampling = PoissonSampling(p)
    clear = sample_tables(TABLES, sampling)
    assert is_exactly(clear, RemovalOnly, -log(1 - p))
    assert sampling.clear_price == -log(1 - p)
    assert verify(clear, AdditionOnly(100)).exact_scale == inf, "it shows who is in the sample"


@pytest.mark.parametrize("p", PROBABILITIES, ids=lambda p: f"{float(p):.3g}")
@pytest.mark.parametrize("base", [Line(inf, 1), Line("1/2", 2), Line(1, inf)], ids=str)
def test_theorem_6_both_directions_of_any_base(p: Any, base: Line) -> None:
    sampling = PoissonSampling(p)
    mechanism = subsampled(answered(base, tables=PAIRS), sampling)
    line = sampling.line(base)
    if base.fall.is_infinite:
        assert verify(mechanism, AdditionOnly(100)).exact_scale == inf
    else:
        assert line.fall == log(1 + p * (exp(base.fall) - 1))
        assert is_exactly(mechanism, AdditionOnly, line.fall)
    assert is_exactly(mechanism, RemovalOnly, line.rise)
    if not (base.fall.is_infinite or line.rise.is_infinite):
        assert is_exactly(mechanism, UnboundedDP, max(line.rise, line.fall))


def test_theorem_6_as_printed_is_the_case_of_a_base_that_promises_no_removal() -> None:
    half = PoissonSampling("1/2")
    assert half.removal(inf) == log(2)
    assert half.addition("1") == log((1 + exp("1")) / 2)
    assert half.removal("1") < log(2), "a base with a removal side of its own gains more than the theorem says"


def test_amplification_with_delta() -> None:
    """Addition-only (b, δ) becomes (ln(1 + p(e^b − 1)), p·δ), and removal-only likewise: exact at the base's worst set.

    δ is about neighbours: two people in the universe change nothing.
    """
    p = Fraction(1, 4)
    sampling, base = PoissonSampling(p), answered(Line("1", "1"), tables=PAIRS)
    mechanism = subsampled(base, sampling)
    b = exact("1/2")
    for notion, amplified, delta_of in (
        (AdditionOnly, sampling.addition(b), sampling.addition_delta),
        (RemovalOnly, sampling.removal(b), lambda d: sampling.removal_delta(b, d)),
    ):
        delta = verify(base, notion(b), delta=1).exact_needed
        assert delta is not None
        least = delta_of(delta)
        assert verify(mechanism, notion(amplified), delta=least)
        assert not verify(mechanism, notion(amplified), delta=least * Fraction(999, 1000))


def test_sampling_with_certainty_changes_nothing_and_hides_nothing() -> None:
    sure = PoissonSampling(1)
    assert sure.clear_price == inf
    assert sure.line(Line("1/3", "2")) == Line("1/3", "2")
    assert sure.removal_delta(inf, "1/2") == 0


@pytest.mark.parametrize("p", [0, "-1/2", "3/2", 0.5])
def test_no_probability_is_refused(p: Any) -> None:
    with pytest.raises(InputError):
        PoissonSampling(p)


def test_a_base_that_does_not_know_the_sample_is_refused() -> None:
    with pytest.raises(InputError):
        subsampled(FiniteMechanism.from_rows({("a",): {0: 1}}), PoissonSampling("1/2"))


# ---- equation (3)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
@pytest.mark.parametrize("step", ["1", "1/3"])
def test_equation_3_is_unbounded_dp_at_exactly_epsilon(epsilon: str, step: str) -> None:
    count = SubsampledCount(epsilon, step=step)
    assert count.line == Line(epsilon, epsilon)
    matrix = count.on(range(3))
    almost = exact(epsilon) * ALMOST
    assert verify(matrix, Line(epsilon, epsilon)).tight
    assert not verify(matrix, Line(rise=epsilon, fall=almost))
    assert not verify(matrix, Line(rise=almost, fall=epsilon))


AB = frozenset("ab")
AT_TWO_PLACES = all_tables((ABSENT, frozenset("a"), frozenset("b"), AB), 1)


def test_over_two_places_the_rate_is_halved_and_one_coin_serves_both() -> None:
    matrix = SubsampledCount("1", places_per_person=2).on_tables(AT_TWO_PLACES, "ab")
    assert is_exactly(matrix, AdditionOnly, "1")
    assert is_exactly(matrix, RemovalOnly, "1")


def test_replacing_a_record_costs_twice_as_much() -> None:
    tables = all_tables((frozenset("a"), frozenset("b")), 1)
    matrix = SubsampledCount("1").on_tables([*tables, (ABSENT,)], "ab")
    rows = FiniteMechanism(tables, matrix.outputs, [list(matrix.row(t).values()) for t in tables])
    assert is_exactly(rows, BoundedDP, "2")


def test_a_coin_a_visit_costs_twice_as_much() -> None:
    """The broken variant: the same noise, each visit thinned on its own."""
    count = SubsampledCount("1", places_per_person=2)
    kept = [(PoissonSampling.at_price("1").probability, 1), (exp_minus("1"), 0)]
    rows: dict[Any, dict[Any, Any]] = {}
    noise = {n: count.noise.on(range(2)).row(n) for n in range(2)}
    for table in ((ABSENT,), (AB,)):
        rows[table] = {z: weight(0) for z in itertools.product(range(2), repeat=2)}
        for (p, a), (q, b) in itertools.product(kept if table[0] else [(weight(1), 0)], repeat=2):
            for x, y in itertools.product(range(2), repeat=2):
                rows[table][x, y] += p * q * noise[a][x] * noise[b][y]
    broken = FiniteMechanism.from_rows(rows)
    assert verify(broken, RemovalOnly("2")).tight
    assert not verify(broken, RemovalOnly("1.999"))


@pytest.mark.parametrize("epsilon", ["1/10", "1", log(3)], ids=str)
def test_equation_3_is_a_postprocessing_of_the_two_sided_geometric(epsilon: Real) -> None:
    top = 4
    usual = Geometric(Line(epsilon, epsilon)).on(range(top + 1))
    made, right = usual.then(as_postprocessing(epsilon, top)), SubsampledCount(epsilon).on(range(top + 1))
    for c, z in itertools.product(range(top + 1), repeat=2):
        assert made.probability(c, z) == right.probability(c, z)


def test_no_other_channel_would_do_and_a_wrong_one_is_noticed() -> None:
    channel = as_postprocessing("1", 3)
    usual, right = Geometric(Line(1, 1)).on(range(4)), SubsampledCount("1").on(range(4))
    wrong = thinning(range(4), PoissonSampling.at_price("1"))  # without the one that is always kept
    assert any(usual.then(wrong).probability(0, z) != right.probability(0, z) for z in range(4))
    solved = np.linalg.solve(usual.to_numpy(), right.to_numpy())  # the matrix of the usual one is invertible
    assert np.abs(solved - channel.to_numpy()).max() < 1e-12


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_its_variance_meets_the_usual_one_at_one_person(epsilon: str) -> None:
    usual = DirectedGeometric(epsilon, epsilon).variance()
    mine = [SubsampledCount(epsilon).variance(c) for c in range(4)]
    assert [(v - usual).sign() for v in mine] == [-1, 0, 1, 1]


# ---- samplers


@pytest.mark.statistical
def test_thinning_real_counts_fits_the_exact_law() -> None:
    """False-alarm rate 1e-6; a coin of .31 instead of .3 is rejected."""
    truth, n = 6, 60_000
    row = [float(w) for w in thinning([truth], PoissonSampling("3/10")).row(truth).values()]
    for p, broken in (("3/10", False), ("31/100", True)):
        kept = thin(np.full(n, truth), PoissonSampling(p), SeededBitsForTests(11))
        assert (rejects(np.bincount(kept, minlength=7), row, n) is not None) == broken


def test_each_count_is_thinned_by_its_own_people() -> None:
    bits = SeededBitsForTests(5)
    counts = np.array([[0, 3_000_000], [7, 0]])  # more than one batch of coins
    kept = thin(counts, PoissonSampling("1/2"), bits)
    assert kept.shape == counts.shape
    assert kept[0, 0] == kept[1, 1] == 0
    assert 0 <= kept[1, 0] <= 7
    assert abs(kept[0, 1] - 1_500_000) < 6 * 866, "six standard deviations: a right coin fails with probability 2e-9"
    assert thin(counts, PoissonSampling(1), bits).tolist() == counts.tolist()
    with pytest.raises(InputError):
        thin([-1], PoissonSampling("1/2"), bits)


@pytest.mark.statistical
def test_released_counts_fit_the_exact_law() -> None:
    """False-alarm rate 1e-6; without thinning they are rejected."""
    count, truth, n = SubsampledCount("1"), 3, 60_000
    bits = SeededBitsForTests(17)
    matrix = count.on(range(truth + 6))
    cdf = np.cumsum([float(w) for w in matrix.row(truth).values()])
    released = count.release(np.full(n, truth), bits)
    assert rejects_law(released, lambda z: cdf[z], range(truth + 5)) is None
    unthinned = count.noise.noisy(np.full(n, truth), bits)
    assert rejects_law(unthinned, lambda z: cdf[z], range(truth + 5)) is not None
    estimates = count.unbiased(released)
    spread = (float(count.variance(truth)) / n) ** 0.5
    assert abs(estimates.mean() - truth) < 5.5 * spread
    assert abs(estimates.var() / float(count.variance(truth)) - 1) < 0.05


@pytest.mark.statistical
def test_one_coin_decides_about_all_visits_of_a_person() -> None:
    """All 400 people were at both places: what sampling adds to the two counts must be the same, so it cancels."""
    people = np.arange(400)
    count = SubsampledCount(log(2), places_per_person=2)
    kept = []
    for seed in range(200):
        visits = count.release_visits(
            np.concatenate([people, people]), np.repeat([0, 1], 400), places=2, bits=SeededBitsForTests(seed)
        )
        kept.append(visits)
    difference = np.diff(np.array(kept, float), axis=1).ravel()
    noise = 2 * float(count.noise.law.variance())  # of the difference of the two places: all sampling noise cancels
    assert difference.var() < noise * 1.8, "about 8 standard deviations of a sample variance of 200"
    assert difference.var() < (noise + 200) / 4, "a coin a visit would add 2·400/4"


@pytest.mark.statistical
def test_rows_of_one_person_are_kept_or_dropped_together() -> None:
    """Six standard deviations of 10,000 coins: a right sampler fails with probability 2e-9."""
    names = np.array([f"p{i}" for i in range(10_000)])
    kept = sampled_rows(np.concatenate([names, names[::-1]]), PoissonSampling("1/5"), SeededBitsForTests(8))
    assert (kept[:10_000] == kept[:9_999:-1]).all()
    assert abs(kept.sum() / 2 - 2_000) < 6 * 40


def test_visits_beyond_the_bound_are_refused() -> None:
    for k, person, place in ((1, [1, 1], [0, 1]), (1, [1, 1], [0, 0]), (2, [1, 1], [0, 0]), (2, [1, 2, 1], [1, 1, 1])):
        with pytest.raises(InputError, match="curator"):
            SubsampledCount("1", places_per_person=k).release_visits(person, place, places=2)
    with pytest.raises(InputError, match="release_visits"):
        SubsampledCount("1", places_per_person=2).release([3])


def test_only_whole_people_are_counted() -> None:
    with pytest.raises(InputError, match="Answers of type float64"):
        SubsampledCount("1").release([1.5])


@pytest.mark.parametrize("places", [[0, 2], [-1, 0], [0.5, 1.0], ["a", "b"]])
def test_the_list_of_places_is_public(places: list[Any]) -> None:
    """A place beyond it would show in the length of the answer."""
    with pytest.raises(InputError, match=r"the list of places is public|Answers of type"):
        SubsampledCount("1").release_visits([1, 2], places, places=2)
