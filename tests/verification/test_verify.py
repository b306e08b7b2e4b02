"""`verify` against the definitions by brute force, at the knife edge, in both directions, and at size."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import time
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.oracle import privacy as oracle

from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError, UndecidedError
from leeward.exact import Real, exact, exp, exp_minus, inf, log, sqrt
from leeward.mechanism import FiniteMechanism, Geometric, Sanitized
from leeward.notion import AdditionOnly, RemovalOnly, UnboundedDP
from leeward.verification import verify
from leeward.verification._logs import enclosed_log, logs
from leeward.verification._steps import IrreduciblePairs

EPSILONS = [exact(e) for e in ("1", "1/3", "0.1", "20")]


# ---- against the oracle, on random rational matrices and distances that are logarithms of rationals


def random_case(rng: random.Random) -> tuple[list[list[Fraction]], list[list[Fraction | None]]]:
    """A matrix with zeros and repeats, and a closed distance with zeros and ∞, often at the knife edge."""
    n, m = rng.randint(2, 5), rng.randint(2, 4)
    rows = []
    for _ in range(n):
        parts = [rng.choice([0, 1, 1, 2, 3, 5, 8]) for _ in range(m)]
        parts[rng.randrange(m)] += 1
        rows.append([Fraction(p, sum(parts)) for p in parts])
    if rng.random() < 0.3:
        rows[1] = rows[0]
    factors: list[list[Fraction | None]] = [
        [
            Fraction(1) if x == y else rng.choice([None, Fraction(1), Fraction(2), Fraction(3), Fraction(9, 2), 40])
            for y in range(n)
        ]
        for x in range(n)
    ]
    if rng.random() < 0.7:  # make it private, exactly on the edge, where nothing is ruled out
        for x, y in itertools.permutations(range(n), 2):
            ratios = [p / q if q else None for p, q in zip(rows[x], rows[y], strict=True) if p]
            factors[x][y] = None if None in ratios else max([Fraction(1), *(r for r in ratios if r is not None)])
        if rng.random() < 0.5:
            x, y = rng.sample(range(n), 2)
            if factors[x][y] is not None and factors[x][y] > 1:  # type: ignore[operator]
                factors[x][y] *= Fraction(999_999_999_999, 10**12)  # type: ignore[operator]
    for via, x, y in itertools.product(range(n), repeat=3):
        first, second, whole = factors[x][via], factors[via][y], factors[x][y]
        if first is not None and second is not None and (whole is None or first * second < whole):
            factors[x][y] = first * second
    return rows, factors


def as_distance(factors: list[list[Fraction | None]]) -> FiniteDistance[int]:
    return FiniteDistance(range(len(factors)), [[inf if f is None else log(f) for f in row] for row in factors])


def encloses(interval: tuple[float, float], value: mpmath.mpf) -> bool:
    with mpmath.workdps(60):
        slack = mpmath.mpf(10) ** -45  # the oracle's own rounding
        return bool(interval[0] - slack <= value <= interval[1] + slack)


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    outcomes = {"private": 0, "not private": 0, "tight": 0, "ruled out": 0}
    for _ in range(60):
        rows, factors = random_case(rng)
        mechanism = FiniteMechanism(range(len(rows)), range(len(rows[0])), rows)
        found = verify(mechanism, as_distance(factors))
        assert found.outcome == ("private" if oracle.is_private(rows, factors) else "not private")
        assert found.tight == oracle.is_tight(rows, factors)
        assert found.pairs == len(oracle.ordered_pairs(factors))
        outcomes[found.outcome] += 1
        outcomes["tight"] += found.tight
        if not found.pairs:
            continue
        scale, excess = oracle.least_scale(rows, factors), oracle.largest_excess(rows, factors)
        outcomes["ruled out"] += mpmath.isinf(scale)
        assert encloses(found.scale, scale)
        assert mpmath.isinf(scale) or found.scale[1] - found.scale[0] < 1e-12 * (1 + scale)
        if found.exact_scale is not None and not found.exact_scale.is_infinite:
            assert abs(float(found.exact_scale) - float(scale)) < 1e-12 * (1 + float(scale))
        assert found.excess is not None
        assert encloses(found.excess, excess)
    assert min(outcomes.values()) > 5, outcomes  # every kind of case was met


@pytest.mark.parametrize("seed", range(3))
def test_the_same_delta_at_every_distance_agrees_with_its_definition(seed: int) -> None:
    rng = random.Random(100 + seed)
    met = 0
    for _ in range(40):
        rows, factors = random_case(rng)
        mechanism = FiniteMechanism(range(len(rows)), range(len(rows[0])), rows)
        if not oracle.ordered_pairs(factors):
            continue
        least = oracle.least_delta(rows, factors)
        at = verify(mechanism, as_distance(factors), same_delta=least)
        assert at
        assert at.exact_needed == least
        assert at.needed[0] <= least <= at.needed[1] <= least + 1e-12
        if least > 0:
            met += 1
            under = verify(mechanism, as_distance(factors), same_delta=least - Fraction(1, 10**18))
            assert under.outcome == "not private"
            assert under.worst_pair is not None
    assert met > 10


def test_delta_is_asked_of_both_directions() -> None:
    """The sampled-in-the-clear mechanism: removal-only with no δ, addition-only with δ = the sampling rate."""
    half = FiniteMechanism.from_rows({"absent": {"nothing": 1}, "present": {"nothing": "1/2", "record": "1/2"}})
    removal = FiniteDistance(["absent", "present"], [[0, log(2)], [inf, 0]])
    assert verify(half, removal, delta=0)
    assert verify(half, removal)
    assert verify(half, removal.reverse(), delta="1/2")
    assert verify(half, removal.reverse(), delta="0.4999999").outcome == "not private"


@pytest.mark.parametrize("rate", [exact("1/3"), exact(200)], ids=str)
def test_delta_of_one_sided_noise_in_closed_form(rate: Real) -> None:
    """Noise of rate b against a claim of b/2: 8 steps up need 1 − e^{−8·b}·e^{8·b/2}; at 200, e^d is not a float."""
    points = range(9)
    space = Line(inf, rate / 2).on(points)
    matrix = Geometric(Line(inf, rate)).on(points)
    least = 1 - exp_minus(rate * 4)  # x = 8 is sure to say 8; x' = 0 says so with e^{−8·b}, allowed e^{4·b} times
    found = verify(matrix, space, same_delta=least)
    assert found
    assert found.exact_needed == least
    assert found.worst_pair == (8, 0) or float(least) == 1.0
    assert found.needed[1] - found.needed[0] < 1e-9
    under = verify(matrix, space, same_delta=least - exp_minus(rate * 5))
    assert under.outcome == "not private"


# ---- the knife edge


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("clamps", [(None, None), (0, 7), (-2, 3), (2, 2)], ids=str)
@pytest.mark.parametrize("rates", [(1, 1), (inf, 1), (1, inf), (2, 1)], ids=str)
def test_the_geometric_mechanism_is_exactly_as_private_as_it_says(
    epsilon: Real, clamps: tuple[int | None, int | None], rates: tuple[Any, Any]
) -> None:
    line = Line(rise=epsilon * rates[0], fall=epsilon * rates[1])
    matrix = Geometric(line, lower=clamps[0], upper=clamps[1]).on(range(8))
    space = line.on(range(8))
    found = verify(matrix, space)
    assert found
    if clamps == (2, 2):  # one output: it says nothing at all
        assert found.exact_scale == 0
        return
    assert found.tight
    assert found.excess == (0.0, 0.0)
    for below in (Fraction(999, 1000), Fraction(10**30 - 1, 10**30)):  # one that floats see, one far below their error
        just_under = verify(matrix, space.scale(below))
        assert just_under.outcome == "not private"
        assert just_under.exact_scale == 1 / below
    if line.rise.is_infinite is not line.fall.is_infinite and clamps != (2, 2):
        back = verify(matrix, space.reverse())  # the direction that is not promised
        assert back.outcome == "not private"
        assert back.exact_scale == inf


def test_an_unordered_loop_would_pass_this() -> None:
    """Private upwards, ruled out downwards: only the pairs (2, 1), (1, 0), (2, 0) tell."""
    upward = Geometric(Line(1, inf)).on(range(3))
    assert verify(upward, Line(1, inf))
    assert not verify(upward, Line(1, 1))


def test_irrational_rates_and_distances() -> None:
    for rate in (log("2") / 200, sqrt("1/2"), log(1 + exp(1)), exact("1/3") * sqrt(2) + log("3/2")):
        matrix = Geometric(Line(rate, rate)).on(range(6))
        assert verify(matrix, Line(rate, rate)).tight
        assert not verify(matrix, Line(rate, rate).scale("0.999"))


def test_the_least_scale_in_closed_form() -> None:
    warner = FiniteMechanism("yn", "yn", [["3/4", "1/4"], ["1/4", "3/4"]])
    one = FiniteDistance("yn", [[0, 1], [1, 0]])
    found = verify(warner, one)
    assert found.exact_scale == log(3)
    assert found.outcome == "not private"  # ln 3 > 1
    assert found.worst_pair == ("y", "n")
    assert found.worst_output == "y"
    assert verify(warner, one.scale(log(3))).tight


def test_the_least_scale_is_proved_where_floats_cannot_tell() -> None:
    """Two pairs whose ratios, 3 and a little more, are the same float."""
    q = Fraction(1, 4) - Fraction(3, 2**72)
    rows = [["3/4", "1/4"], ["1/4", "3/4"], [1 - q, q]]
    found = verify(FiniteMechanism("xyz", "uv", rows), FiniteDistance("xyz", [[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
    assert found.exact_scale == log(Fraction(3, 4) / q)
    assert found.exact_scale > log(3)


def test_worst_pair_and_output_are_the_worst() -> None:
    matrix = FiniteMechanism(range(3), "uv", [["1/2", "1/2"], ["1/4", "3/4"], ["1/8", "7/8"]])
    found = verify(matrix, FiniteDistance(range(3), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
    assert found.worst_pair == (0, 2)
    assert found.worst_output == "u"
    assert found.exact_scale == log(4)
    assert found.log_ratio is not None
    assert found.log_ratio[0] <= math.log(4) <= found.log_ratio[1]


# ---- notions on tables, and where the secrets come from


def test_a_notion_is_a_distance_on_tables() -> None:
    people = list(itertools.product([None, frozenset("a")], repeat=2))
    counts = Geometric(Line(inf, 1)).on(range(3)).pull_back(people, lambda t: sum(r is not None for r in t))
    assert verify(counts, AdditionOnly(1)).tight
    assert verify(counts, RemovalOnly(1)).exact_scale == inf
    assert verify(counts, UnboundedDP(1)).exact_scale == inf


def test_the_secrets_come_from_the_distance_the_bounds_or_the_caller() -> None:
    clamped = Geometric(Line(1, 1), lower=0, upper=4)
    assert verify(clamped, Line(1, 1)).pairs == 20
    assert verify(clamped, Line(1, 1), range(3)).pairs == 6
    assert verify(clamped, Line(1, 1).on(range(7))).pairs == 42
    assert verify(clamped.on(range(3)), Line(1, 1).on([2, 5, 0, 1])).tight  # reordered, and with a point to spare
    with pytest.raises(InputError, match="points=range"):
        verify(Geometric(Line(1, 1)), Line(1, 1))
    with pytest.raises(InputError, match="Leave points out"):
        verify(clamped.on(range(3)), Line(1, 1), range(4))
    with pytest.raises(InputError, match="does not know every secret"):
        verify(clamped.on(range(3)), Line(1, 1).on(range(2)))
    for wrong in ({"delta": 2}, {"same_delta": 2}, {"delta": "-1/10"}):
        with pytest.raises(InputError, match="it is a probability"):
            verify(clamped, Line(1, 1).on(range(5)), **wrong)


# ---- undecided, vacuous, in words


def test_what_cannot_be_settled_is_undecided() -> None:
    """D = ½·ln(1 + 2e + e²) is ln(1 + e), but no form shows it and no precision proves it."""
    hidden = log(1 + exp(1) * 2 + exp(2)) / 2
    eighth = exact("1/8")
    p, q = (1 + exp(1)) / 8, 1 - (1 + exp(1)) / 8
    matrix = FiniteMechanism("xy", "uv", [[p, q], [eighth, exact("7/8")]])
    found = verify(matrix, FiniteDistance("xy", [[0, hidden], [hidden, 0]]))
    assert found.outcome == "undecided"
    assert not found
    assert "bits" in found.reason
    assert found.scale[0] <= 1 <= found.scale[1]
    plain = verify(matrix, FiniteDistance("xy", [[0, log(1 + exp(1))], [log(1 + exp(1)), 0]]))
    assert plain.tight


def test_nothing_promised_is_nothing_broken() -> None:
    found = verify(FiniteMechanism("xy", "uv", [[1, 0], [0, 1]]), FiniteDistance("xy", [[0, inf], [inf, 0]]))
    assert found
    assert found.pairs == 0
    assert found.worst_pair is None
    assert "nothing is promised" in str(found)


def test_zero_distance_means_equal_rows() -> None:
    rows = [["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"]]
    same = FiniteDistance("xyz", [[0, 0, 5], [0, 0, 5], [5, 5, 0]])
    assert verify(FiniteMechanism("xyz", "uv", rows), same)
    found = verify(FiniteMechanism("xzy", "uv", rows), same)
    assert found.outcome == "not private"
    assert found.exact_scale == inf


def test_no_scale_is_told_where_rows_at_distance_0_differ() -> None:
    """Found by a fuzzer: a pair without a closed form comes first, and a far one, or a small difference, hides it."""
    tiny, third = Fraction(1, 10**40), 1 / (1 + exp("1/3"))
    for far, other in ((Fraction(10) ** 30, Fraction(1, 3)), (Fraction(10), Fraction(1, 2) + tiny)):
        steps = [[0, "1/10", "1/10", far], ["1/10", 0, 0, far], ["1/10", 0, 0, far], [far, far, far, 0]]
        space = FiniteDistance.closed("wxyz", steps)
        rows = [[third, 1 - third], ["1/2", "1/2"], [other, 1 - other], ["1/2", "1/2"]]
        found = verify(FiniteMechanism("wxyz", "uv", rows), space)
        assert (found.outcome, found.scale) == ("not private", (math.inf, math.inf))
        alike = verify(FiniteMechanism("wxyz", "uv", [*rows[:2], rows[1], rows[3]]), space)
        assert 1.5 < alike.scale[1] < math.inf


def test_the_verdict_teaches() -> None:
    matrix = Geometric(Line(1, 1)).on(range(3))
    good, bad = verify(matrix, Line(1, 1)), verify(matrix, Line("1/2", 1))
    assert "private, and tight" in str(good)
    assert "least c such that it is c·d-private: 1\n" in str(good)
    assert "not private" in str(bad)
    assert "least c such that it is c·d-private: 2\n" in str(bad)
    assert (bad.outcome, bad.exact_scale) == ("not private", 2)
    never = verify(Geometric(Line(inf, 1)).on(range(3)), Line(1, 1))
    assert "possible from x, impossible from x'" in str(never)
    assert never.scale == (float("inf"), float("inf"))
    short = verify(matrix, Line("1/2", "1/2").on(matrix.inputs), delta="0.01")
    assert "asked: 0.01" in str(short)
    assert short.delta == Fraction(1, 100)


def test_a_note_on_floats_is_passed_on() -> None:
    rounded = FiniteMechanism.from_floats(range(2), "uv", [[0.1, 0.9], [0.3, 0.7]])
    assert "floats" in str(verify(rounded, FiniteDistance(range(2), [[0, 2], [2, 0]])))


# ---- the parts


@pytest.mark.parametrize("seed", range(3))
def test_irreducible_pairs_are_those_that_nothing_divides(seed: int) -> None:
    rng = random.Random(seed)
    for unit in (exact(1), sqrt(2), log(3)):
        n = rng.randint(3, 7)
        steps = [
            [unit * rng.choice([0, 1, 1, 2, 3]) if rng.random() < 0.6 else inf for _ in range(n)] for _ in range(n)
        ]
        space = FiniteDistance.closed(range(n), steps)
        check_irreducible(space)
    roots = Line(1, 1).on(range(4)) + FiniteDistance(
        range(4), [[abs(x - y) * sqrt(2) for y in range(4)] for x in range(4)]
    )
    check_irreducible(roots)
    plane = [(0, 0), (1, 1), (2, 2), (1, 2), (2, 1)]
    check_irreducible(FiniteDistance(plane, [[sqrt((a - c) ** 2 + (b - d) ** 2) for c, d in plane] for a, b in plane]))


def test_nearly_divided_is_not_divided() -> None:
    """√2 + 1 is more than the distance past it, by less than floats are asked to see."""
    whole = sqrt(2) + 1 - exact("1e-30")
    space = FiniteDistance(range(3), [[0, sqrt(2), whole], [inf, 0, 1], [inf, inf, 0]])
    assert IrreduciblePairs(space.values, space.codes).of(0).tolist() == [False, True, True]


def test_a_pair_of_which_it_is_not_settled_whether_a_point_divides_it_is_looked_at_itself() -> None:
    """Of these two forms of one number it is not known that they are one: a pair that was taken for divided had no proof."""
    half, whole = log(1 + exp(1)), log((1 + exp(1)) ** 2)
    with pytest.raises(UndecidedError):
        _ = half + half == whole
    codes = np.array([[0, 1, 2], [3, 0, 1], [3, 3, 0]])
    assert IrreduciblePairs([exact(0), half, whole, inf], codes).of(0).tolist() == [False, True, True]
    assert IrreduciblePairs([exact(0), half, half * 2, inf], codes).of(0).tolist() == [False, True, False]


def check_irreducible(space: FiniteDistance[Any]) -> None:
    pairs = IrreduciblePairs(space.values, space.codes)
    for x, here in enumerate(space.points):
        found = pairs.of(x)
        for y, there in enumerate(space.points):
            d = space(here, there)
            divided = any(
                space(here, via) + space(via, there) == d and space(here, via) > 0 and space(via, there) > 0
                for via in space.points
            )
            expected = x != y and not d.is_infinite and (d == 0 or not divided)
            assert expected <= found[y]  # none is left out …
            assert found[y] <= (x != y and not d.is_infinite)
            if space.values and d > 0 and divided and min(v for v in space.values if v > 0) * 2 < d:
                assert not found[y]  # … and few are looked at in vain


def test_logarithms_lie_within_their_error_bound() -> None:
    """Both ways of taking them, far below the smallest float too, against mpmath."""
    rng = np.random.default_rng(5)
    exponents = rng.uniform(0, 1, size=(160, 160))
    many, tiny = (FiniteMechanism.from_floats(range(160), range(160), np.exp(-top * exponents)) for top in (600, 744))
    assert len(many.values) > 20_000  # so whole arrays are used
    few = Geometric(Line(20, "1/3")).on(range(120))
    for matrix in (many, tiny, few):
        found = logs(matrix)
        with mpmath.workdps(60):
            for x, z in rng.integers(0, 120, size=(300, 2)).tolist():
                value = matrix.values[int(matrix.codes[x, z])]
                ball = value.arb(400)
                true = mpmath.log(mpmath.mpf(ball.mid().str(80, radius=False)))
                assert abs(found.at[x, z] - true) <= found.error
        assert 0 < found.error < 1e-11
    low, high = enclosed_log(exp_minus(30_000))
    assert low <= -30_000 <= high
    assert high - low < 1e-10


# ---- at size


@pytest.mark.sweep
def test_a_thousand_by_a_thousand() -> None:
    start = time.process_time()
    line = Line("1/2", "1")
    assert verify(Geometric(line).on(range(1000)), line.on(range(1000))).tight
    assert time.process_time() - start < 10  # with its construction; about 4 s on two cores of 2024


def test_a_thousand_by_a_thousand_floats() -> None:
    rng = np.random.default_rng(1)
    floats = rng.random((1000, 1000)) + 0.5
    start = time.process_time()
    found = verify(FiniteMechanism.from_floats(range(1000), range(1000), floats), Line("0.001", "0.001"))
    assert time.process_time() - start < 10
    shares = floats / floats.sum(axis=1, keepdims=True)
    steps = np.log(shares[1:] / shares[:-1])
    assert found.outcome == "not private"
    assert found.scale[1] * 0.001 >= np.abs(steps).max() * (1 - 1e-9)


def test_sanitized_vectors() -> None:
    vectors = list(itertools.product(range(4), repeat=3))
    matrix = Sanitized(Line(inf, "1/3"), at_most=1, stop_after=2).on(vectors)
    steps = [
        [exact("1/3") if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in vectors]
        for x in vectors
    ]
    space = FiniteDistance.closed(vectors, steps)
    assert verify(matrix, space.scale(2)).tight
    assert not verify(matrix, space.scale("1.999"))


def test_three_hundred_by_three_hundred_fractions() -> None:
    """Exact rationals, all different: they are summed, compared and decided without a weight for each."""
    rng = random.Random(1)
    parts = [[rng.randint(10**5, 10**6) for _ in range(300)] for _ in range(300)]
    rows = [[Fraction(p, sum(row)) for p in row] for row in parts]
    start = time.process_time()
    matrix = FiniteMechanism(range(300), range(300), rows)
    found = verify(matrix, Line(5, 5))
    assert time.process_time() - start < 3  # about 0.3 s on two cores of 2024
    assert found
    steps = max(max(p / q, q / p) for x, y in itertools.pairwise(rows) for p, q in zip(x, y, strict=True))
    assert verify(matrix, Line(log(steps), log(steps))).tight


def test_what_cannot_be_verified_is_told_what_to_give() -> None:
    with pytest.raises(InputError, match=r"a list: .*FiniteMechanism\(secrets, outputs, matrix\)"):
        verify([[1, 0], [0, 1]], Line(1, 1))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"not a table: .*pull_back\(tables, query\)"):
        verify(Geometric(Line(inf, 1), lower=0, upper=3), AdditionOnly("1"))


def test_a_distance_in_another_order_of_the_secrets_is_the_same_distance() -> None:
    """Private upwards only: a transposed distance would say the opposite."""
    mechanism = FiniteMechanism((0, 1), ("low", "high"), [[Fraction(1, 2), Fraction(1, 2)], [0, 1]])
    for points in ((0, 1), (1, 0)):
        assert verify(mechanism, Line(rise=inf, fall=log(2)).on(points))
        assert not verify(mechanism, Line(rise=log(2), fall=inf).on(points))


# ---- probabilities beyond floats


@pytest.mark.parametrize("power", [100, 139, 145, 151, 200, 300, 309, 400])
def test_what_rules_a_secret_out_is_never_called_private_however_rare_it_is(power: int) -> None:
    """Found by attack: from e^(-10^150) on, an output that can only come of x was taken for one that never comes."""
    rare = exp_minus(exact(10**power))
    made = FiniteMechanism("xy", [0, 1], [[rare, 1 - rare], [0, 1]])
    if power < 140:
        assert verify(made, FiniteDistance("xy", [[0, 1], [inf, 0]])).outcome == "not private"
    else:
        with pytest.raises(UndecidedError, match="probability below e"):
            verify(made, FiniteDistance("xy", [[0, 1], [inf, 0]]))


@pytest.mark.parametrize(("power", "cost"), [(100, 1), (139, 1), (151, 1), (309, 1), (309, "1/2"), (400, "999/1000")])
def test_ratios_beyond_floats_are_decided_or_left_open(power: int, cost: Any) -> None:
    """Found by attack: beyond 10^149 what is private was said not to be, and beyond floats the other way round."""
    far = exact(10**power)
    once, twice = exp_minus(far), exp_minus(far * 2)
    made = FiniteMechanism("xy", [0, 1], [[once, 1 - once], [twice, 1 - twice]])
    with pytest.raises(UndecidedError, match="probability below e") if power > 139 else contextlib.nullcontext():
        assert verify(made, FiniteDistance("xy", [[0, far * cost], [inf, 0]]))


@pytest.mark.parametrize("power", [18, 19, 100, 200, 400])
def test_rare_outputs_still_need_their_delta(power: int) -> None:
    """Found by attack: from e^(-10^19) on, the pair without a bound was compared too, and e^∞ is no number."""
    rare = exp_minus(exact(10**power))
    made = FiniteMechanism("xy", [0, 1], [[rare, 1 - rare], [0, 1]])
    assert verify(made, FiniteDistance("xy", [[0, 1], [inf, 0]]), delta=0).outcome == "not private"
    assert verify(made, FiniteDistance("xy", [[0, 1], [inf, 0]]), delta="1e-6")


@pytest.mark.parametrize("far", [10**300, 10**308, 10**309, 10**400])
@pytest.mark.parametrize(("near", "outcome"), [(1, "private"), ("1/2", "not private"), (log("5/2"), "private")])
def test_a_finite_distance_beyond_floats_leaves_the_others_as_they_are(far: int, near: Any, outcome: str) -> None:
    """Found by attack: NumPy's warnings were printed."""
    made = FiniteMechanism("xy", [0, 1], [["1/2", "1/2"], ["1/5", "4/5"]])
    found = verify(made, FiniteDistance("xy", [[0, near], [far, 0]]))
    assert found.outcome == outcome
    assert found.excess is not None
    assert not any(map(math.isnan, (*found.excess, *found.scale)))
    both = verify(made, FiniteDistance("xy", [[0, far], [far, 0]]))
    assert both
    assert both.excess is not None
    assert both.excess[0] < -1e299
