"""Warner, Mangat and OSDP's randomized response: matrices, promises, estimators, samplers."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.distance import FiniteDistance
from leeward.errors import InexactError, InputError
from leeward.exact import exact, exp, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import OSDPRandomizedResponse, RandomizedResponse, ageo, mangat, warner
from leeward.mechanism._osdp import WITHHELD
from leeward.mechanism._randomized_response import mangat_by_truth
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

BITS = (False, True)


@pytest.mark.parametrize("epsilon", ["1", "1/3", "0.1", "20"])
def test_warner_is_local_dp_and_tight(epsilon: str) -> None:
    made = warner(epsilon)
    assert made.if_yes == exp(epsilon) / (1 + exp(epsilon))
    local = FiniteDistance(BITS, [[0, epsilon], [epsilon, 0]])
    assert made.distance == local
    verdict = verify(made.on(), local)
    assert verdict
    assert verdict.tight
    assert not verify(made.on(), local.scale("0.999"))


@pytest.mark.parametrize("epsilon", ["1", "1/3", "0.1", "20"])
def test_mangat_is_one_sided_and_tight(epsilon: str) -> None:
    made = mangat(epsilon)
    one_sided = FiniteDistance(BITS, [[0, inf], [epsilon, 0]])
    assert made.distance == one_sided
    verdict = verify(made.on(), one_sided)
    assert verdict
    assert verdict.tight
    assert not verify(made.on(), one_sided.scale("0.999"))
    away = verify(made.on(), one_sided.reverse())
    assert not away
    assert away.log_ratio == (float("inf"), float("inf"))
    # a yes always says yes: it is AGeo on one bit
    assert all(made.on().probability(x, z) == ageo(epsilon, 1).probability(x, z) for x in BITS for z in BITS)


def test_mangat_in_his_own_words() -> None:
    """A yes says yes; a no says "no" with probability p and "yes" with 1 − p: ε = −ln(1 − p)."""
    made = mangat_by_truth("3/4")
    assert made.on().row(True) == {False: weight(0), True: weight(1)}
    assert made.on().row(False) == {False: weight("3/4"), True: weight("1/4")}
    assert made.distance(True, False) == log(4)
    assert made.distance(False, True).is_infinite


@pytest.mark.parametrize("made", [warner("1"), mangat("1"), RandomizedResponse("3/4", "1/8")], ids=repr)
def test_the_estimator_is_unbiased_with_the_variance_it_says(made: RandomizedResponse) -> None:
    """By enumerating what 3 yes and 2 no can say."""
    yes, people = 3, 5
    chances: dict[int, float] = {}
    for a, b in itertools.product(range(yes + 1), range(people - yes + 1)):
        p, q = float(made.if_yes), float(made.if_no)
        chance = comb(yes, a) * p**a * (1 - p) ** (yes - a) * comb(2, b) * q**b * (1 - q) ** (2 - b)
        chances[a + b] = chances.get(a + b, 0) + chance
    guess = {k: made.estimate([True] * k + [False] * (people - k)) for k in chances}
    mean = sum(guess[k] * chance for k, chance in chances.items())
    assert mean == pytest.approx(yes)
    square = sum((guess[k] - mean) ** 2 * chance for k, chance in chances.items())
    assert float(made.variance(yes, people)) == pytest.approx(square)


def test_mangat_estimates_better_than_warner_at_the_same_epsilon() -> None:
    for epsilon, yes in itertools.product(["0.1", "1", "5"], range(11)):
        assert mangat(epsilon).variance(yes, 10) < warner(epsilon).variance(yes, 10)


@pytest.mark.statistical
def test_what_is_said_follows_the_matrix() -> None:
    """False alarm below 2e-6 each; said backwards it is rejected."""
    for made in (warner("1"), mangat("1")):
        truth = np.tile([True, False], 5000)
        said = made.release(truth, SeededBitsForTests(3))
        counts = [int(said[truth].sum()), int(said[~truth].sum())]
        chances = [float(made.if_yes), float(made.if_no)]
        assert rejects(counts, chances, 5000) is None
        assert rejects(counts[::-1], chances, 5000)


@pytest.mark.parametrize(("yes", "no"), [("1/2", "1/2"), ("1/4", "1/2"), ("5/4", 0), (1, "-1/4")])
def test_what_is_no_response_is_refused(yes: str, no: str) -> None:
    with pytest.raises(InputError, match="if_no < if_yes"):
        RandomizedResponse(yes, no)


def test_arguments_are_exact_and_answers_are_booleans() -> None:
    for build in (warner, mangat):
        with pytest.raises(InexactError):
            build(0.5)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="promises nothing"):
            build(inf)
    with pytest.raises(InputError, match="booleans"):
        warner("1").release([0, 1])


# ---- OSDP

RECORDS = ("ill", "hidden", "well", "away")


def sensitive(record: object) -> bool:
    return record in ("ill", "hidden")


def osdp(epsilon: object) -> FiniteDistance[str]:
    """ADP, Definition II.4: ε from a sensitive record to any other."""
    return FiniteDistance(
        RECORDS,
        [[0 if x == y else exact(epsilon) if sensitive(x) else inf for y in RECORDS] for x in RECORDS],  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("epsilon", ["1", "1/3", "20"])
def test_osdp_randomized_response_is_osdp_and_tight(epsilon: str) -> None:
    matrix = OSDPRandomizedResponse(epsilon, sensitive).on(RECORDS)
    verdict = verify(matrix, osdp(epsilon))
    assert verdict
    assert verdict.tight
    assert not verify(matrix, osdp(epsilon).scale("0.999"))
    assert verify(matrix, osdp(epsilon).reverse()).scale[0] == float("inf")  # a published record is there for sure


def test_two_people_are_two_independent_records() -> None:
    from leeward.mechanism import FiniteMechanism

    one = OSDPRandomizedResponse("1", sensitive).on(RECORDS)
    both = FiniteMechanism.product([one, one])
    distance = FiniteDistance(
        both.inputs, [[osdp(1)(x[0], y[0]) + osdp(1)(x[1], y[1]) for y in both.inputs] for x in both.inputs]
    )
    assert verify(both, distance)
    assert not verify(both, distance.scale("0.999"))


@pytest.mark.statistical
def test_published_records_are_true_and_kept_as_often_as_said() -> None:
    """False alarm below 1e-6; publishing each with e^{−ε} instead is rejected."""
    made = OSDPRandomizedResponse("1/2", sensitive)
    published = made.release(["well", "ill"] * 5000, SeededBitsForTests(8))
    assert set(published) == {"well"}
    assert rejects([len(published)], [float(made.kept)], 5000) is None
    assert rejects([len(published)], [float(exp_minus("1/2"))], 5000)
    assert made.on(["well"]).row("well")[WITHHELD] == exp_minus("1/2")


def test_the_osdp_estimator_is_unbiased_with_the_variance_it_says() -> None:
    made, n = OSDPRandomizedResponse("1", sensitive), 6
    p = float(made.kept)
    chances = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert sum(made.estimate(k) * c for k, c in enumerate(chances)) == pytest.approx(n)
    assert sum((made.estimate(k) - n) ** 2 * c for k, c in enumerate(chances)) == pytest.approx(float(made.variance(n)))


def test_osdp_laplace_is_private_for_counts_of_non_sensitive_records() -> None:
    """All tables of two people: the count of "well" may only rise when a sensitive record is replaced."""
    from leeward.mechanism import osdp_laplace

    tables = list(itertools.product(RECORDS, repeat=2))
    counts = [sum(r == "well" for r in t) for t in tables]
    matrix = osdp_laplace("1").on(range(3)).pull_back(tables, lambda t: counts[tables.index(t)])
    distance = FiniteDistance(tables, [[osdp(1)(x[0], y[0]) + osdp(1)(x[1], y[1]) for y in tables] for x in tables])
    assert verify(matrix, distance)
    ill = osdp_laplace("1").on(range(3)).pull_back(tables, lambda t: sum(r == "ill" for r in t))
    assert not verify(ill, distance)  # a count of sensitive records falls: this noise is not for it


def test_osdp_needs_a_finite_epsilon() -> None:
    with pytest.raises(InputError, match="promises nothing"):
        OSDPRandomizedResponse(inf, sensitive)


def test_a_rule_that_is_no_function_is_refused() -> None:
    with pytest.raises(InputError, match="as a policy"):
        OSDPRandomizedResponse("1", "secret")  # type: ignore[arg-type]


def test_nobody_is_no_published_record_and_the_rule_is_not_asked_about_it() -> None:
    made = OSDPRandomizedResponse("1", lambda record: record > 1)  # type: ignore[operator]  # a rule that knows only numbers
    assert None not in made.release([None, 0, 0, 2, None] * 20)
    assert made.on([None, 0, 2]).probability(None, None) == 1
