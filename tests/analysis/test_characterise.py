"""What d-privacy means to a Bayesian adversary: Theorems 1 to 4, Lemmas 1 to 3, Propositions 2, 9 and 10."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from leeward.analysis import (
    all_functions,
    all_sets,
    any_box,
    any_record,
    any_subset,
    bayes,
    chain_length,
    diameter,
    hidden,
    hide_one,
    hiding_bound,
    hiding_distance,
    is_tight,
    maximally_tight,
    measure_distance,
    restricted,
    substitute_all,
    substitute_one,
    tight,
    without_chain,
)
from leeward.distance import FiniteDistance, Line, Plane
from leeward.errors import InputError
from leeward.exact import Real, exact, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric, laplace_mechanism
from leeward.notion import Manhattan, Maximum, NormalisedManhattan, ReplaceDP, ValueGrid, all_tables
from leeward.query import Sum
from leeward.verification import verify

V = ValueGrid(0, 2)
RECORDS = V.points
TABLES = all_tables(RECORDS, 2)
HAMMING = ReplaceDP("1").on(TABLES)
MANHATTAN, NORMALISED, MAXIMUM = (n("1", V).on(TABLES) for n in (Manhattan, NormalisedManhattan, Maximum))


def test_propositions_2_9_10_which_families_are_canonical() -> None:
    assert not maximally_tight(HAMMING, hiding=hide_one(RECORDS, 2))  # Φ_h: a fixed value swaps nothing
    assert maximally_tight(HAMMING, neighbourhoods=any_record(RECORDS, 2))  # N_h wrt d_h (Prop. 9)
    for d in (MANHATTAN, NORMALISED):
        assert tight(d, any_record(RECORDS, 2))  # N_h is tight wrt d_1, d̃_1 (Prop. 9)
        assert not maximally_tight(d, neighbourhoods=any_record(RECORDS, 2))  # but not maximally
        assert maximally_tight(d, hiding=substitute_one(RECORDS, 2))  # Φ_1 (Prop. 2)
        assert maximally_tight(d, neighbourhoods=any_subset(RECORDS, 2))  # N_1 (Prop. 2)
    assert maximally_tight(MAXIMUM, hiding=substitute_all(RECORDS, 2))  # Φ_∞ (Prop. 10)
    assert maximally_tight(MAXIMUM, neighbourhoods=any_box(RECORDS, 2))  # N_∞ (Prop. 10)
    assert not maximally_tight(MAXIMUM, hiding=substitute_one(RECORDS, 2))  # one at a time is not enough for d_∞
    assert not maximally_tight(MAXIMUM, neighbourhoods=any_subset(RECORDS, 2))


def test_phi_2_and_n_2_are_maximally_tight_in_the_plane() -> None:
    points = [(0, 0), (1, 0), (0, 1), (2, 1)]
    plane = Plane("1").on(points)
    assert maximally_tight(plane, hiding=all_functions(points))
    assert maximally_tight(plane, neighbourhoods=all_sets(points))


def test_a_pair_without_a_chain_is_shown() -> None:
    missing = without_chain(MAXIMUM, neighbourhoods=any_subset(RECORDS, 2))
    assert missing is not None
    x, y = missing
    assert sum(a != b for a, b in zip(x, y, strict=True)) == 2
    assert without_chain(MAXIMUM, neighbourhoods=any_box(RECORDS, 2)) is None
    with pytest.raises(InputError, match="one is decided at a time"):
        without_chain(MAXIMUM)


@pytest.mark.parametrize("case", range(12))
def test_a_users_own_family_against_the_definition(case: int) -> None:
    """Definition 3 with chains tried one by one."""
    seed = random.Random(case)
    points = range(5)
    distance = FiniteDistance.closed(points, [[seed.choice([1, 1, 2, 3]) for _ in points] for _ in points])
    symmetric = FiniteDistance.closed(points, [[min(distance(x, y), distance(y, x)) for y in points] for x in points])
    family = [frozenset(seed.sample(points, seed.randint(2, 3))) for _ in range(seed.randint(4, 9))]

    def step(x: int, y: int) -> bool:
        return any({x, y} <= n and symmetric(x, y) == diameter(symmetric, n) for n in family)

    def joined(x: int, y: int) -> bool:
        inner = [z for z in points if z not in (x, y)]
        chains = ((x, *middle, y) for size in range(4) for middle in itertools.permutations(inner, size))
        return any(is_tight(symmetric, c) and all(step(*s) for s in itertools.pairwise(c)) for c in chains)

    expected = all(joined(x, y) for x, y in itertools.permutations(points, 2))
    assert maximally_tight(symmetric, neighbourhoods=family) == expected


def test_lemma_1_the_sup_over_sets_is_attained_at_a_point() -> None:
    seed = random.Random(1)
    for _ in range(20):
        one, two = ([seed.randint(1, 9) for _ in range(4)] for _ in range(2))
        first = {x: weight(Fraction(p, sum(one))) for x, p in enumerate(one)}
        second = {x: weight(Fraction(p, sum(two))) for x, p in enumerate(two)}
        over_sets = max(
            abs(math.log(sum(float(first[x]) for x in z) / sum(float(second[x]) for x in z)))
            for size in range(1, 5)
            for z in itertools.combinations(range(4), size)
        )
        assert float(measure_distance(first, second)) == pytest.approx(over_sets)
    assert measure_distance({0: weight(1), 1: weight(0)}, {0: weight(1), 1: weight(0)}) == 0
    assert measure_distance({0: weight(1), 1: weight(0)}, {0: weight("1/2"), 1: weight("1/2")}) == inf


@pytest.mark.parametrize("power", [1, 100, 200, 289, 291, 300, 400, 1000])
@pytest.mark.parametrize("factors", [(1, 500), (500, 1), (7, 1), (1, 7), (3, 4)], ids=str)
def test_a_point_that_floats_cannot_tell_hides_no_other_point(power: int, factors: tuple[int, int]) -> None:
    """One point of tiny probability, whose ratio is the first factor; another whose ratio is the second; and the rest."""
    tiny, rare = Fraction(1, 10**power), Fraction(1, 1000)
    first = {"tiny": tiny * factors[0], "rare": rare * factors[1]}
    second = {"tiny": tiny, "rare": rare}
    for measure in (first, second):
        measure["rest"] = 1 - sum(measure.values())
    ratios = [max(first[z] / second[z], second[z] / first[z]) for z in first]
    made = [{z: weight(p) for z, p in measure.items()} for measure in (first, second)]
    assert measure_distance(*made) == log(max(ratios)) == measure_distance(*made[::-1])


def rows(mechanism: FiniteMechanism, x: Any, y: Any) -> tuple[dict, dict]:
    return mechanism.row(x), mechanism.row(y)


def test_lemma_2_private_along_a_tight_chain() -> None:
    line = Line("1", "1").on(range(4))
    mechanism = laplace_mechanism(line)
    chain = (0, 1, 2, 3)
    assert is_tight(line, chain)
    assert not is_tight(line, (0, 2, 1, 3))
    assert chain_length(line, (0, 2, 1, 3)) == 5
    steps = [measure_distance(*rows(mechanism, x, y)) for x, y in itertools.pairwise(chain)]
    assert all(s <= 1 for s in steps)
    assert measure_distance(*rows(mechanism, 0, 3)) <= 3


def test_lemma_3_needs_tight_neighbourhoods() -> None:
    """Sensitivity within tight neighbourhoods is sensitivity; within ones that are not, it is not."""
    query = Sum(V)

    def within(distance: FiniteDistance[Any], family: Iterable[frozenset[Any]]) -> Fraction:
        moves = [(abs(query(x) - query(y)), distance(x, y)) for n in family for x, y in itertools.permutations(n, 2)]
        return max(Fraction(m) / (d.rational or 1) for m, d in moves)

    whole = within(MANHATTAN, [frozenset(TABLES)])
    assert within(MANHATTAN, any_record(RECORDS, 2)) == whole == 1
    assert not tight(MAXIMUM, any_record(RECORDS, 2))
    assert (within(MAXIMUM, any_record(RECORDS, 2)), within(MAXIMUM, [frozenset(TABLES)])) == (1, 2)


EPSILON = log(2)  # so that all probabilities are rational, and quick
SCALED = MANHATTAN.scale(EPSILON)


def noisy_sum(rate: Real) -> FiniteMechanism:
    """Private for rate·d_1: the sum is 1-sensitive."""
    return Geometric(Line(rate, rate), lower=0, upper=4).on(range(5)).pull_back(TABLES, lambda x: int(Sum(V)(x)))


PRIVATE, LOUD = noisy_sum(EPSILON), noisy_sum(EPSILON * 2)


def random_prior(seed: random.Random) -> list[Fraction]:
    weights = [seed.choice([0, 1, 1, 3, 20]) for _ in range(len(TABLES) - 1)] + [1]
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize("case", range(6))
def test_theorems_1_and_3_hiding_changes_little(case: int) -> None:
    seed = random.Random(case)
    prior, output = random_prior(seed), seed.sample(range(5), seed.randint(1, 3))
    known = bayes(PRIVATE, prior, output)
    families = [*hide_one(RECORDS, 2), *itertools.islice(substitute_one(RECORDS, 2), 0, None, 7)]
    for phi in families:
        changed = bayes(hidden(PRIVATE, phi), prior, output)
        assert measure_distance(known, changed) <= 2 * hiding_distance(SCALED, phi)


@pytest.mark.parametrize("case", range(6))
def test_theorems_2_and_4_who_knows_the_neighbourhood_learns_little(case: int) -> None:
    seed = random.Random(case)
    prior, output = random_prior(seed), seed.sample(range(5), 1)
    prior = [(p + Fraction(1, 9)) / 2 for p in prior]  # full support: every neighbourhood can be given
    known, before = bayes(PRIVATE, prior, output), dict(zip(TABLES, prior, strict=True))
    for n in itertools.chain(any_record(RECORDS, 2), any_subset(RECORDS, 2)):
        learned = measure_distance(restricted(before, n), restricted(known, n))
        assert learned <= diameter(SCALED, n)


def test_the_bounds_are_missed_by_a_mechanism_that_is_less_private() -> None:
    """The tests above can fail: twice the rate breaks Theorem 4's bound on a neighbourhood of N_1."""
    assert not verify(LOUD, SCALED)
    pair = frozenset([(Fraction(0), Fraction(0)), (Fraction(1), Fraction(0))])
    skew = {x: weight(Fraction(1, 1000)) if x == (0, 0) else weight(Fraction(999, 8000)) for x in TABLES}
    known = bayes(LOUD, [p.rational for p in skew.values()], [0])  # type: ignore[misc]
    assert measure_distance(restricted(skew, pair), restricted(known, pair)) > diameter(SCALED, pair)


def test_the_converse_of_theorem_4_for_a_canonical_family() -> None:
    """What is not private shows on a pair, with a prior that all but rules the first secret out, as in the proof."""
    tiny = Fraction(1, 10**6)

    def broken(mechanism: FiniteMechanism) -> bool:
        for n in any_subset(RECORDS, 2):
            for x, y in itertools.permutations(n, 2) if len(n) == 2 else ():
                prior = {x: tiny, y: 1 - tiny}
                for z in mechanism.outputs:
                    gain = measure_distance(
                        {k: weight(v) for k, v in prior.items()}, restricted(bayes(mechanism, prior, [z]), n)
                    )
                    if gain > diameter(SCALED, n):
                        return True
        return False

    assert broken(LOUD)
    assert not broken(PRIVATE)


def test_a_posterior_is_bayes_rule() -> None:
    coin = FiniteMechanism("xy", "ab", [["1/4", "3/4"], ["1/2", "1/2"]])
    assert bayes(coin, ["1/3", "2/3"], "a") == {"x": Fraction(1, 5), "y": Fraction(4, 5)}
    assert measure_distance(bayes(coin, None, "ab"), {"x": weight("1/2"), "y": weight("1/2")}) == 0
    assert measure_distance(*rows(coin, "x", "y")) == log(2)
    with pytest.raises(InputError, match="rules them out"):
        bayes(FiniteMechanism("xy", "ab", [[1, 0], [0, 1]]), [1, 0], "b")
    with pytest.raises(InputError, match="probability 0"):
        restricted({"x": weight(1), "y": weight(0)}, "y")
    assert exact(1) == sum((p.rational or 0 for p in bayes(coin, None, "a").values()), Fraction(0))


def test_a_point_that_only_the_second_measure_names_counts() -> None:
    """{a: 1} against {a: ½, b: ½} is ∞ by definition, read either way."""
    sure, half = {"a": weight(1)}, {"a": weight("1/2"), "b": weight("1/2")}
    assert measure_distance(sure, half) == measure_distance(half, sure) == inf
    assert measure_distance(sure, {"a": weight(1), "b": weight(0)}) == 0
    far = {"a": exp_minus(2000), "b": 1 - exp_minus(2000)}
    farther = {"a": exp_minus(2001), "b": 1 - exp_minus(2001)}
    assert measure_distance(far, farther) == measure_distance(farther, far) == 1, "where floats see only zeros"


@pytest.mark.parametrize("case", range(8))
def test_theorem_3_with_a_direction(case: int) -> None:
    """d(φ) there plus d(φ) back bounds the change; on a symmetric distance that is the paper's 2·d(φ)."""
    seed = random.Random(case)
    line = Line(log(4), log("3/2")).on(range(4))
    mechanism = laplace_mechanism(line)
    assert verify(mechanism, line).tight
    for _ in range(20):
        phi = {x: seed.randrange(4) for x in range(4)}
        weights = [seed.choice([1, 1, 3, 20, 1000]) for _ in range(4)]
        prior, output = [Fraction(w, sum(weights)) for w in weights], seed.sample(range(4), seed.randint(1, 3))
        change = measure_distance(bayes(mechanism, prior, output), bayes(hidden(mechanism, phi), prior, output))
        assert change <= hiding_bound(line, phi)
    one = {x: (x[0], Fraction(0)) for x in TABLES}
    assert hiding_bound(MANHATTAN, one) == 2 * hiding_distance(MANHATTAN, one)


def test_twice_the_distance_there_is_no_bound_with_a_direction() -> None:
    """What an older version promised: hiding 1 as 0 costs ln(3/2), but the conclusion can move by nearly ln 4 + ln(3/2)."""
    line = Line(log(4), log("3/2")).on(range(2))
    mechanism, phi = laplace_mechanism(line), {0: 0, 1: 0}
    worst = exact(0)
    for tiny in (Fraction(1, 10**6), 1 - Fraction(1, 10**6)):
        for z in range(2):
            known, changed = (bayes(m, [tiny, 1 - tiny], [z]) for m in (mechanism, hidden(mechanism, phi)))
            worst = max(worst, measure_distance(known, changed))
    assert 2 * hiding_distance(line, phi) == log("9/4") < worst <= hiding_bound(line, phi) == log(6)


@pytest.mark.parametrize("case", range(4))
def test_theorem_4_with_a_direction(case: int) -> None:
    seed = random.Random(case)
    line = Line(log(4), log("3/2")).on(range(4))
    mechanism = laplace_mechanism(line)
    for n in all_sets(range(4)):
        weights = [seed.choice([1, 1, 3, 20, 1000]) for _ in range(4)]
        prior = {x: weight(Fraction(w, sum(weights))) for x, w in enumerate(weights)}
        known = bayes(mechanism, [p.rational for p in prior.values()], [seed.randrange(4)])  # type: ignore[misc]
        assert measure_distance(restricted(prior, n), restricted(known, n)) <= diameter(line, n)


def test_hiding_functions_need_a_symmetric_distance() -> None:
    one_sided = Line(inf, 1).on(range(3))
    with pytest.raises(InputError, match="swap two secrets"):
        maximally_tight(one_sided, hiding=all_functions(range(3)))
    with pytest.raises(InputError, match="swap two secrets"):
        without_chain(one_sided, hiding=all_functions(range(3)))
    assert maximally_tight(Line(1, 1).on(range(3)), hiding=all_functions(range(3)))


def test_the_families_have_all_of_their_members() -> None:
    """Sets of one secret too: whoever knows of somebody that the record is this one has such a set."""
    records, persons = ("a", "b", "c"), 2
    sets = [frozenset(chosen) for size in (1, 2, 3) for chosen in itertools.combinations(records, size)]
    assert sorted(map(sorted, all_sets(records))) == sorted(map(sorted, sets))
    boxes = {frozenset(itertools.product(one, other)) for one, other in itertools.product(sets, repeat=persons)}
    assert set(any_box(records, persons)) == boxes
    assert len(boxes) == 49
    of_one = {box for box in boxes if min(len({table[i] for table in box}) for i in range(persons)) == 1}
    assert set(any_subset(records, persons)) == of_one
    assert set(any_record(records, persons)) == {box for box in of_one if len(box) == 3}
