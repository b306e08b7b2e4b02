"""d-privacy's tables of optimality, recomputed, and its rows of the corrections: what is printed fails, what is right holds.

A mechanism on answers is private with a query iff it is private for the query's pushed distance (Theorem 6 and
`leeward.analysis._expansive`), so the best mechanism for the query is the best one there, found by linear programming.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle.least_loss import least_loss

from leeward.analysis import expansion, expected_loss, optimal, pushed, remap, shared
from leeward.distance import Derived, FiniteDistance, Line
from leeward.exact import Exact, exact
from leeward.mechanism import FiniteMechanism, Geometric
from leeward.notion import ABSENT, Manhattan, Maximum, NormalisedManhattan, Notion, ReplaceDP, ValueGrid, all_tables
from leeward.query import Mean, Numeric, Percentile, Sum, maximum, median, minimum
from leeward.verification import verify

V = ValueGrid(0, 2)
TABLES = [x for x in all_tables((*V.points, ABSENT), 2) if any(v is not ABSENT for v in x)]
REALS: Derived[Any] = Derived("d_R", lambda x, y: abs(x - y))


def best(query: Numeric, notion: Notion, loss: str = "absolute") -> float:
    """The least loss of any mechanism on the query's answers that keeps the notion, by the plainest program."""
    space = pushed(query, notion.on(TABLES))
    distance = [[float(space(x, y)) for y in space.points] for x in space.points]
    losses = [[abs(x - w) if loss == "absolute" else int(x != w) for w in space.points] for x in space.points]
    return least_loss(distance, [1 / len(losses)] * len(losses), losses)


def truncated(query: Numeric, rate: Exact, loss: str = "absolute") -> float:
    """The loss of TG on the grid of the query's answers, remapped."""
    answers = sorted({query(x) for x in TABLES})
    step = answers[1] - answers[0]
    places = {answer: int(answer / step) for answer in answers}
    mechanism = Geometric(Line(rate, rate), step=step, lower=0, upper=max(places.values()))
    on_answers = mechanism.on(range(max(places.values()) + 1)).pull_back(answers, places.__getitem__)
    return float(remap(on_answers, None, loss).loss)


NAMED = {"sum": Sum(V), "median": median(V), "min": minimum(V), "max": maximum(V)}


@pytest.mark.parametrize("loss", ["absolute", "zero-one"])
@pytest.mark.parametrize("name", NAMED)
def test_tg_is_optimal_for_the_queries_the_corollaries_name(name: str, loss: str) -> None:
    """Corollaries of Theorems 11 to 13 (TG_{ε/qk} for d̃_1, TG_ε for d_1, d_∞), for ε = 1; sum is not named for d_∞."""
    query = NAMED[name]
    assert truncated(query, 1, loss) == pytest.approx(best(query, Manhattan("1", V), loss), abs=1e-7)
    assert truncated(query, "1/2", loss) == pytest.approx(best(query, NormalisedManhattan("1", V), loss), abs=1e-7)
    if isinstance(query, Percentile):
        assert truncated(query, 1, loss) == pytest.approx(best(query, Maximum("1", V), loss), abs=1e-7)
    else:  # 2-sensitive wrt d_∞, and not uniformly
        assert truncated(query, "1/2", loss) > best(query, Maximum("1", V), loss) + 0.01


def test_tg_is_not_optimal_for_the_average_on_its_real_range() -> None:
    """N = 2, k = 2, d_∞, ε = 1: the optimum is .4507, TG with remap on the half grid .4704."""
    query = Mean(V)
    assert sorted({query(x) for x in TABLES}) == [0, Fraction(1, 2), 1, Fraction(3, 2), 2]
    assert best(query, Maximum("1", V)) == pytest.approx(0.4507, abs=5e-5)
    assert truncated(query, 1) == pytest.approx(0.4704, abs=5e-5)
    certified = optimal(sorted({query(x) for x in TABLES}), pushed(query, Maximum("1", V).on(TABLES)))
    assert float(certified.loss) == pytest.approx(0.4507, abs=5e-5)
    for grid in ("1/2", "1/4", "1"):  # privacy, however, holds on any grid whose step divides q
        half = Mean(V, grid=Fraction(grid))
        steps = int(2 / Fraction(grid))
        mechanism = Geometric(Line("1", "1"), step=grid, lower=0, upper=steps).on(range(steps + 1))
        carried = mechanism.pull_back(TABLES, lambda x, q=half, g=grid: int(q(x) / Fraction(g)))
        assert verify(carried, Maximum("1", V).on(TABLES))


def rounded(rule: Callable[[Fraction], int]) -> Callable[[Any], Fraction]:
    mean = Mean(V)
    return lambda x: Fraction(rule(mean(x)))


HALF_UP = rounded(lambda y: math.floor(y + Fraction(1, 2)))
HALF_DOWN = rounded(lambda y: math.ceil(y - Fraction(1, 2)))
HALF_TO_EVEN = rounded(round)


@pytest.mark.parametrize("query", [HALF_UP, HALF_DOWN], ids=["up", "down"])
def test_rounded_half_up_the_average_is_uniformly_sensitive_and_tg_optimal(query: Callable[[Any], Fraction]) -> None:
    """Theorems 11 to 13 and their corollaries as printed, Y = q[0..k], once averages are rounded to it."""
    for notion, sensitivity, rate, expected in (
        (Manhattan("1", V), 1, Fraction(1), 0.424547),
        (Maximum("1", V), 1, Fraction(1), 0.424547),
        (NormalisedManhattan("1", V), 2, Fraction(1, 2), 0.656048),
    ):
        found = expansion(query, notion.on(TABLES), REALS)
        assert (found.sensitivity, found.uniform) == (sensitivity, True)
        space = pushed(query, notion.on(TABLES))
        assert space.points == (0, 1, 2)
        distance = [[float(space(x, y)) for y in space.points] for x in space.points]
        for loss in ("absolute", "zero-one"):
            losses = [[abs(x - w) if loss == "absolute" else int(x != w) for w in range(3)] for x in range(3)]
            least = least_loss(distance, [1 / 3] * 3, losses)
            tg = remap(Geometric(Line(rate, rate), lower=0, upper=2), None, loss).loss
            assert float(tg) == pytest.approx(least, abs=1e-7)
            assert loss != "absolute" or least == pytest.approx(expected, abs=1e-6)


def test_rounded_half_to_even_it_is_not() -> None:
    """.5 → 0 and 1.5 → 2: when everybody moves by 1 the answer moves by 2, and TG is not even private."""
    found = expansion(HALF_TO_EVEN, Maximum("1", V).on(TABLES), REALS)
    assert (found.sensitivity, found.uniform) == (2, False)
    carried = Geometric(Line("1", "1"), lower=0, upper=2).on(range(3)).pull_back(TABLES, HALF_TO_EVEN)
    assert verify(carried, Maximum("1", V).on(TABLES)).exact_scale == 2
    assert verify(
        Geometric(Line("1", "1"), lower=0, upper=2).on(range(3)).pull_back(TABLES, HALF_UP), Maximum("1", V).on(TABLES)
    ).tight


def test_proposition_8_on_a_coarser_grid() -> None:
    """Its D′ has an inner λ for "0 < z < k" only. On 2[0..3] that leaves 4 without one; with 0 < z < qk rows sum to 1."""
    q, k, e = 2, 3, 2.718281828459045

    def row(y: int, inner: Callable[[int], bool]) -> float:
        scale = {True: (e - 1) / (e + 1), False: 0.0}
        ends = {0: e / (e + 1), q * k: e / (e + 1)}
        return sum(ends.get(z, scale[inner(z)]) * e ** (-abs(y - z) / q) for z in range(0, q * k + 1, q))

    assert all(row(y, lambda z: 0 < z < q * k) == pytest.approx(1) for y in range(0, q * k + 1, q))
    assert all(row(y, lambda z: 0 < z < k) < 0.99 for y in range(0, q * k + 1, q))


ZERO_ONE_UNIFORM = (None, "zero-one")


def two_sure(n: int) -> tuple[list[Fraction], str]:
    """A consumer who knows that the answer is one of the two least."""
    return [Fraction(1, 2)] * 2 + [Fraction(0)] * (n - 2), "zero-one"


def by_pairs_of_guesses(distance: list[list[float]], priors: list[list[float]]) -> float:
    """The least sum of two zero-one losses with one mechanism: its outputs stand for pairs of guesses. Plainest program."""
    n = len(distance)
    pairs = list(itertools.product(range(n), repeat=2))
    cost = [[sum(n * p[x] * (x != w) for p, w in zip(priors, pair, strict=True)) for pair in pairs] for x in range(n)]
    return least_loss(distance, [1 / n] * n, cost)


@pytest.mark.parametrize("name", [*NAMED, "avg"])
def test_theorem_9_two_consumers_whom_no_mechanism_serves(name: str) -> None:
    """d_h, ε = 1/2 < ln 2: one who knows nothing, and one who knows that it is one of two answers, cannot both be served."""
    query = Mean(V) if name == "avg" else NAMED[name]
    space = pushed(query, ReplaceDP("1/2").on(TABLES))
    n = len(space.points)
    found = shared(space.points, space, [ZERO_ONE_UNIFORM, two_sure(n)])
    assert not found
    distance = [[float(space(x, y)) for y in space.points] for x in space.points]
    wrong = [[int(x != w) for w in range(n)] for x in range(n)]
    priors = [[1 / n] * n, [0.5, 0.5] + [0.0] * (n - 2)]
    alone = [least_loss(distance, prior, wrong) for prior in priors]
    gap = by_pairs_of_guesses(distance, priors) - sum(alone)
    assert found.missed[0] <= gap + 1e-7
    assert gap <= found.missed[1] + 1e-7
    assert found.missed[0] > 0.004


def test_theorem_8_a_count_serves_them_both() -> None:
    """The same two consumers, on a path: TG serves both, so nothing is missed."""
    space = pushed(sum, ReplaceDP("1/2").on(all_tables((0, 1), 3)))
    for others in (two_sure(4), ([Fraction(1, 8)] * 2 + [Fraction(3, 8)] * 2, "absolute")):
        found = shared(space.points, space, [ZERO_ONE_UNIFORM, others])
        assert found
        assert found.missed[1] < 1e-9


@pytest.mark.parametrize("name", NAMED)
def test_tg_is_not_optimal_where_theorem_9_forbids_it(name: str) -> None:
    """d_h, ε = 1/2 < ln 2: the induced graphs of these queries are not paths. TG at the rate of Proposition 4."""
    query, notion = NAMED[name], ReplaceDP("1/2")
    assert not expansion(query, notion.on(TABLES), REALS).uniform
    assert truncated(query, "1/4", "zero-one") > best(query, notion, "zero-one") + 1e-3


def test_a_count_has_one_under_hamming() -> None:
    """Theorem 8: counting is the case whose induced graph is a path."""
    tables = all_tables((0, 1), 3)
    notion = ReplaceDP("1/2")
    space = pushed(sum, notion.on(tables))
    assert space == Line("1/2", "1/2").on(range(4))
    optimum = least_loss(
        [[abs(x - y) / 2 for y in range(4)] for x in range(4)],
        [0.25] * 4,
        [[abs(x - y) for y in range(4)] for x in range(4)],
    )
    assert float(remap(Geometric(Line("1/2", "1/2"), lower=0, upper=3)).loss) == pytest.approx(optimum, abs=1e-8)


# ---- corrections


def test_theorem_10_the_epsilon_that_is_missing() -> None:
    """TG_ε is f-εΔd_X-optimal; for Δ·d_X, as printed, with ε = 1/2 it is not: TG_1 does better there."""
    query = median(V)
    delta = expansion(query, NormalisedManhattan("1", V).on(TABLES), REALS).sensitivity
    assert delta == 2
    right = NormalisedManhattan(delta / 2, V)  # ε·Δ·d̃_1 with ε = 1/2
    printed = NormalisedManhattan(delta, V)
    assert truncated(query, "1/2") == pytest.approx(best(query, right), abs=1e-7)
    assert truncated(query, "1/2") > best(query, printed) + 0.05
    assert truncated(query, 1) == pytest.approx(best(query, printed), abs=1e-7)


def test_definition_7_less_loss_is_better() -> None:
    """Printed: U(H) ≥ U(H') for the optimal H and a loss. The constant answer has more loss than TG, which is optimal."""
    mechanism = Geometric(Line("1", "1"), lower=0, upper=4)
    constant = FiniteMechanism(range(5), ["no answer"], [[1]] * 5)
    assert remap(mechanism).loss < remap(constant).loss
    assert not remap(mechanism).loss >= remap(constant).loss


def test_the_sum_lives_on_nk_steps() -> None:
    """Appendix C takes y, y' from q[0..nk]; Section 5's TG for the sum therefore has nk + 1 answers, not k + 1."""
    answers = {Sum(V)(x) for x in TABLES}
    assert answers == set(range(2 * 2 + 1))
    assert not answers <= set(V.points)


def test_example_2_noise_on_every_reading_is_manhattan_private() -> None:
    """Rate ε on each of n = 2 readings: exactly ε·d_1, hence n·ε·d_∞ and no less; so rate ε/n is needed for ε·d_∞."""
    readings = all_tables(V.points, 2)

    def noisy(rate: Exact) -> FiniteMechanism:
        one = Geometric(Line(rate, rate), lower=0, upper=2).on(range(3))
        rows = [
            [one.probability(x, u) * one.probability(y, v) for u, v in itertools.product(range(3), repeat=2)]
            for x, y in readings
        ]
        return FiniteMechanism(readings, list(itertools.product(range(3), repeat=2)), rows)

    series: FiniteDistance[Any] = Maximum("1", V, nobody=False).on(readings)
    assert verify(noisy(1), Manhattan("1", V, nobody=False).on(readings)).tight
    assert verify(noisy(1), series).exact_scale == 2
    assert verify(noisy("1/2"), series).tight


def test_example_2_the_smaller_epsilon_hides_more() -> None:
    """The caption has it that ε = .5 hides the signature "especially": ε = .1 adds five times the noise."""
    errors = {e: float(Geometric(Line(e, e)).expected_error()) for e in ("0.1", "0.5")}
    assert errors["0.1"] > 4.9 * errors["0.5"]


def test_theorem_13s_average_runs_over_those_who_are_present() -> None:
    """Printed over I, the positions of the null values; right over its complement, else there is nothing to average."""
    table = (0, 2, ABSENT)
    null = [i for i, v in enumerate(table) if v is ABSENT]
    present = [v for v in table if v is not ABSENT]
    assert [table[i] for i in null] == [ABSENT]
    assert Mean(V)(table) == Fraction(sum(present), len(present)) == 1


def test_a_noisy_mean_of_the_census_kind_needs_no_remap_to_be_private() -> None:
    """1/m-sensitive with m public: TG on the grid q/m is private for ε·d_1, and at twice the rate it is not."""
    tables = all_tables(V.points, 2)
    mean = Mean(V, people=2, grid=Fraction(1, 2))
    notion: FiniteDistance[Any] = Manhattan("1", V, nobody=False).on(tables)
    for rate, private in ((2, True), (3, False)):
        mechanism = Geometric(Line(rate, rate), step="1/2", lower=0, upper=4).on(range(5))
        verdict = verify(mechanism.pull_back(tables, lambda x: int(2 * mean(x))), notion)
        assert bool(verdict) == private
        assert verdict.exact_scale == exact(rate) / 2
    assert float(expected_loss(Geometric(Line("2", "2"), lower=0, upper=4))) < 2
